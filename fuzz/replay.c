/* Runs inputs through a fuzz target without a fuzzer: replay FILE|FOLDER ...; "ok NAME" for each, a finding aborts. */
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "fuzz.h"

enum { INPUT_MAX = 1 << 20 };

static int run_file(const char *path)
{
    FILE *in = fopen(path, "rb");
    uint8_t *bytes = malloc(INPUT_MAX), *exact;
    size_t size;

    if (in == NULL || bytes == NULL) {
        perror(path);
        return 1;
    }
    size = fread(bytes, 1, INPUT_MAX, in);
    fclose(in);
    exact = malloc(size + (size == 0));     /* a sanitizer sees what goes beyond */
    if (exact == NULL)
        abort();
    memcpy(exact, bytes, size);
    fprintf(stderr, "%s\n", path);          /* the last line before a crash */
    (void)LLVMFuzzerTestOneInput(exact, size);
    printf("ok %s\n", path);
    free(exact);
    free(bytes);
    return 0;
}

static int run(const char *path)
{
    struct stat facts;
    struct dirent **entries;
    int count, i, failed = 0;

    if (stat(path, &facts) != 0) {
        perror(path);
        return 1;
    }
    if (!S_ISDIR(facts.st_mode))
        return run_file(path);
    count = scandir(path, &entries, NULL, alphasort);
    for (i = 0; i < count; i++) {
        char name[1024];

        if (entries[i]->d_name[0] != '.' &&
            snprintf(name, sizeof name, "%s/%s", path, entries[i]->d_name) < (int)sizeof name)
            failed |= run(name);
        free(entries[i]);
    }
    free(entries);
    return failed;
}

int main(int argc, char **argv)
{
    int i, failed = 0;

    for (i = 1; i < argc; i++)
        failed |= run(argv[i]);
    return failed;
}

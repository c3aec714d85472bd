/* Fuzz target: the image tool, run in this process with a command line and an image file of the input's making.
 *
 * Beside what sanitizers see, these are findings: more driver calls than an image of that size can need, an exit code that
 * is not documented, and a file that is written outside of the folder it works in (the names in an image must not lead out
 * of it). The tool's main() is linked as tool_main(). */
#define _XOPEN_SOURCE 700
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "emulator/nor.h"
#include "fuzz.h"

int tool_main(int argc, char **argv);
const struct fffs_flash *__real_nor_flash(struct nor *nor);
const struct fffs_flash *__wrap_nor_flash(struct nor *nor);

enum { ARGUMENTS = 12, TEXT_BYTES = 1024 };

static char top[64], work[96];  /* the folder of this process, and the one inside it that the tool works in */
static uint8_t image[FUZZ_FLASH_MAX];

/* ---- Driver calls are counted ---- */

static const struct fffs_flash *real;
static struct fffs_flash tap;
static uint64_t calls, budget;

static void enter(void)
{
    if (calls++ >= budget)
        fuzz_fail("more than %llu driver calls", (unsigned long long)budget);
}

static int tap_read(void *context, uint32_t address, void *buffer, uint32_t bytes)
{
    enter();
    return real->read(context, address, buffer, bytes);
}

static int tap_program(void *context, uint32_t address, const void *data, uint32_t bytes)
{
    enter();
    return real->program(context, address, data, bytes);
}

static int tap_erase(void *context, uint32_t address, uint32_t bytes)
{
    enter();
    return real->erase(context, address, bytes);
}

const struct fffs_flash *__wrap_nor_flash(struct nor *nor)
{
    real = __real_nor_flash(nor);
    tap = *real;
    tap.read = tap_read;
    tap.program = tap_program;
    tap.erase = tap_erase;
    return &tap;
}

/* ---- The command line ---- */

static const char *const commands[] = {"create", "load", "add", "list", "extract", "cat", "remove", "info", "dump", "check",
                                       "probe", "salvage", "help", "--version"};
static const char *const tokens[] = {
    "i", "i", "i", "i", "d", "out", "d/h", "new", "-q", "-v", "--json", "--help", "--prefix", "--prefix=a/", "--verify",
    "--owner", "--folders", "--dry-run", "--sector-size", "256", "1K", "4K", "64K", "16", "0x100", "--segment-size", "--granule",
    "--size", "--from", "--name-max", "--scratch", "--read-size", "-l", "-c", "-u", "a", "a/b", "hello.txt", "many/a", "f1",
    "--max-files", "8", "--exclude", "--force", "--all", "--first", "-s", "-b", "-p", "1", "--", "-", "*", "0"
};

/* Keeps what a user may type from costing real work: numbers are short, and nothing leads out of the folder. */
static void tame(char *text)
{
    char *at, *from = strchr(text, '=') != NULL ? strchr(text, '=') + 1 : text;

    for (at = text; *at != '\0'; at++)
        if (at[0] == '/' && (at == text || at[1] == '/' || at[1] == '\0' || !((at[-1] >= 'a' && at[-1] <= 'z') || at[-1] == '.') || text[0] == '-'))
            *at = '_';
    for (at = text; (at = strstr(at, "..")) != NULL;)
        *at = '_';
    for (at = from; *at != '\0'; at++)
        if (*at >= '0' && *at <= '9') { /* a number: at most four digits, and K for all larger units */
            size_t digits = strspn(at, "0123456789xXabcdefABCDEF");

            if (digits > 4)
                memmove(at + 4, at + digits, strlen(at + digits) + 1);
            at += digits > 4 ? 3 : digits - 1;
            if (at[1] == 'M' || at[1] == 'm' || at[1] == 'G' || at[1] == 'g' || at[1] == 'T' || at[1] == 't')
                at[1] = 'K';
        }
}

static int parse_line(const uint8_t *line, size_t size, char *text, char **arguments)
{
    int count = 0;
    size_t at = 1, used = 0;

    arguments[count++] = (char *)(uintptr_t)(size > 0 && line[0] >= 0xF0u ? "mkfastffs" : "fastffs");
    arguments[count++] = (char *)(uintptr_t)commands[size > 0 ? line[0] % (sizeof commands / sizeof commands[0]) : 0];
    while (at < size && count < ARGUMENTS) {
        if (line[at] >= 0x80u) {
            arguments[count++] = (char *)(uintptr_t)tokens[(line[at++] - 0x80u) % (sizeof tokens / sizeof tokens[0])];
            continue;
        }
        if (line[at] == 0) {
            at++;
            continue;
        }
        arguments[count] = text + used;
        while (at < size && line[at] > 0 && line[at] < 0x80u)
            text[used++] = (char)line[at++];
        text[used++] = '\0';
        tame(arguments[count++]);
    }
    arguments[count] = NULL;
    return count;
}

/* ---- Files ---- */

static int remove_one(const char *path, const struct stat *facts, int kind, struct FTW *where)
{
    (void)facts, (void)kind;
    return where->level == 0 ? 0 : remove(path);
}

static void put_file(const char *name, const void *bytes, size_t count)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    if (fd < 0 || write(fd, bytes, count) != (ssize_t)count || close(fd) != 0)
        fuzz_fail("%s can not be made: %s", name, strerror(errno));
}

static void remove_top(void)
{
    (void)nftw(top, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    (void)rmdir(top);
}

static void make_top(void)
{
    snprintf(top, sizeof top, "%s/fastffs-fuzz-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (mkdtemp(top) == NULL)
        fuzz_fail("no folder: %s", strerror(errno));
    snprintf(work, sizeof work, "%s/work", top);
    atexit(remove_top);
}

static int count_outside(const char *path, const struct stat *facts, int kind, struct FTW *where)
{
    (void)facts, (void)kind;
    if (where->level > 0 && strncmp(path, work, strlen(work)) != 0)
        fuzz_fail("%s was written", path);
    return 0;
}

/* ---- A run ---- */

struct quiet {
    int out, error;
};

static struct quiet hush(void)
{
    struct quiet saved;
    int null = open("/dev/null", O_WRONLY);

    fflush(stdout);
    saved.out = dup(1);
    saved.error = dup(2);
    dup2(null, 1);
    if (getenv("FUZZ_VERBOSE") == NULL)
        dup2(null, 2);
    close(null);
    return saved;
}

static void speak(struct quiet saved)
{
    fflush(stdout);
    clearerr(stdout);
    dup2(saved.out, 1);
    dup2(saved.error, 2);
    close(saved.out);
    close(saved.error);
}

static void prepare(const struct fuzz_options *options)
{
    if (mkdir(work, 0700) != 0 || chdir(work) != 0 || mkdir("d", 0700) != 0)
        fuzz_fail("%s: %s", work, strerror(errno));
    put_file("i", image, options->size - (options->seed & 1u) * 7u);
    put_file("d/h", image, options->size < 300u ? options->size : 300u);
    put_file("d/hello.txt", "hello", 5);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int home = -1;
    char text[TEXT_BYTES], *arguments[ARGUMENTS + 1];
    size_t line = size < FUZZ_LINE_BYTES ? size : (size_t)FUZZ_LINE_BYTES;
    struct fuzz_options options;
    struct quiet saved;
    int count, code;

    if (home < 0) {
        home = open(".", O_RDONLY);
        make_top();
    }
    fuzz_unpack(data + line, size - line, &options, image);
    count = parse_line(data, line, text, arguments);
    prepare(&options);
    calls = 0;
    budget = 2000000;
    fuzz_doing = arguments[1];
    optind = 0;                 /* getopt begins anew */
    saved = hush();
    code = tool_main(count, arguments);
    speak(saved);
    if (code < 0 || code > 16)
        fuzz_fail("exit code %d", code);
    (void)nftw(top, count_outside, 8, FTW_PHYS);
    if (fchdir(home) != 0)
        fuzz_fail("no way back: %s", strerror(errno));
    (void)nftw(top, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    return 0;
}

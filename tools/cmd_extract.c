/* fastffs extract: files of an image into a folder of the host.
 *
 * Promise: nothing is written outside that folder. Names with empty parts, '.', '..' or a leading '/' are refused, folders
 * are entered one part at a time without following links, and a file appears by a rename, complete or not at all. */
#include "listing.h"
#include "reader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char help[] =
    "      --prefix P        only the names that begin with P, without it: --prefix / takes names like '/a.txt'\n"
    "  -q, --quiet           print nothing but errors\n"
    "  -v, --verbose         print each name\n"
    "\n"
    "A NAME is a file, or a folder: then all files in it. Without NAME all files are extracted. 'a/b.txt' becomes DIR/a/b.txt;\n"
    "folders are made, existing files replaced. Names that would lead outside DIR (with '..', a leading '/', an empty part)\n"
    "are refused; the others are extracted, and the exit code is 1.\n";

enum { OPTION_PREFIX = 256, TEMPORARY_NAME = 64 };

static const struct option options[] = {
    { "prefix", required_argument, NULL, OPTION_PREFIX }, { "quiet", no_argument, NULL, 'q' },
    { "verbose", no_argument, NULL, 'v' }, { "help", no_argument, NULL, 'h' }, { NULL, 0, NULL, 0 }
};

struct request {
    const char *folder, *prefix;
    char **names;
    size_t count;
    int quiet, verbose;
};

/* Why a name may not become a path; NULL when it may. */
static const char *refusal(const char *name)
{
    size_t length;

    for (;; name += length + 1) {
        length = strcspn(name, "/");
        if (length == 0)
            return "it has an empty part or a leading '/'";
        if ((length == 1 && name[0] == '.') || (length == 2 && name[0] == '.' && name[1] == '.'))
            return "it has a part '.' or '..'";
        if (name[length] == '\0')
            return NULL;
    }
}

/* Opens the folder that the name's file goes into, making what is missing. `last` is set to the file's own name. Returns
 * a descriptor, or -1 with errno. */
static int enter_folders(int root, const char *name, const char **last)
{
    char part[FFFS_NAME_MAX + 1];
    int folder = dup(root), next;
    size_t length;

    while (folder >= 0 && name[length = strcspn(name, "/")] == '/') {
        memcpy(part, name, length);
        part[length] = '\0';
        if (mkdirat(folder, part, 0777) != 0 && errno != EEXIST)
            next = -1;
        else
            next = openat(folder, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
        close(folder);
        folder = next;
        name += length + 1;
    }
    *last = name;
    return folder;
}

static int to_stream(void *context, const uint8_t *bytes, size_t count)
{
    return fwrite(bytes, 1, count, context) == count ? 0 : -1;
}

/* A new file under a name that nobody has; `name` has room for TEMPORARY_NAME bytes. NULL with errno. */
static FILE *open_temporary(int folder, char *name)
{
    static unsigned long number;
    FILE *stream;
    int fd;

    do {
        snprintf(name, TEMPORARY_NAME, ".fastffs-%ld-%lu", (long)getpid(), number++);
        fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
    } while (fd < 0 && errno == EEXIST);
    stream = fd < 0 ? NULL : fdopen(fd, "wb");
    if (stream == NULL && fd >= 0)
        close(fd);
    return stream;
}

/* Writes one file below the open folder. FFFS_OK, a status, or IMAGE_HOST_ERROR with errno. */
static int write_file(struct image *image, const char *name, int folder, const char *last)
{
    char temporary[TEMPORARY_NAME];
    FILE *stream = open_temporary(folder, temporary);
    int status, code;

    if (stream == NULL)
        return IMAGE_HOST_ERROR;
    status = reader_copy(image, name, to_stream, stream);
    if (status == READER_STOPPED)
        status = IMAGE_HOST_ERROR;
    if (fclose(stream) != 0 && status == FFFS_OK)
        status = IMAGE_HOST_ERROR;
    if (status == FFFS_OK && renameat(folder, temporary, folder, last) != 0)
        status = IMAGE_HOST_ERROR;
    if (status != FFFS_OK) {
        code = errno;
        (void)unlinkat(folder, temporary, 0);
        errno = code;
    }
    return status;
}

/* EXIT_OK or EXIT_FAILED, with the message printed. */
static int extract_one(struct image *image, const char *name, int root, const struct request *request)
{
    const char *path = name + strlen(request->prefix), *reason = refusal(path), *last;
    int folder, status;

    if (reason != NULL) {
        tool_error(image->path, "'%s' is refused: %s ('fastffs cat' prints it)", tool_name_text(name), reason);
        return EXIT_FAILED;
    }
    folder = enter_folders(root, path, &last);
    status = folder < 0 ? IMAGE_HOST_ERROR : write_file(image, name, folder, last);
    if (status == IMAGE_HOST_ERROR)
        tool_error(request->folder, "'%s' can not be written: %s", tool_name_text(path), strerror(errno));
    else if (status != FFFS_OK)
        tool_error(image->path, "'%s': %s", tool_name_text(name), tool_status_text(status));
    else if (request->verbose)
        printf("%s\n", tool_name_text(name));
    if (folder >= 0)
        close(folder);
    return status == FFFS_OK ? EXIT_OK : EXIT_FAILED;
}

/* Marks what the names mean; all when there are none. */
static int choose(const char *path, const struct listing *listing, const struct request *request, unsigned char *chosen)
{
    int code = EXIT_OK;
    size_t i;

    memset(chosen, request->count == 0, listing->count);
    for (i = 0; i < request->count; i++) {
        if (listing_choose(listing, request->names[i], chosen) > 0)
            continue;
        tool_error(path, "'%s': %s", tool_name_text(request->names[i]), tool_status_text(FFFS_ERR_NOT_FOUND));
        code = EXIT_FAILED;
    }
    return code;
}

static int extract_chosen(struct image *image, const struct listing *listing, int root, const struct request *request)
{
    unsigned char *chosen = tool_alloc(listing->count);
    int code = choose(image->path, listing, request, chosen);
    size_t i, done = 0;
    uint64_t bytes = 0;

    for (i = 0; i < listing->count; i++) {
        if (!chosen[i])
            continue;
        if (!request->quiet && !request->verbose)
            tool_progress(i, listing->count, listing->entries[i].name);
        if (extract_one(image, listing->entries[i].name, root, request) == EXIT_OK) {
            bytes += listing->entries[i].size;
            done++;
        } else {
            code = EXIT_FAILED;
        }
    }
    tool_progress_end();
    if (!request->quiet)
        printf("%s: %zu files, %" PRIu64 " bytes extracted\n", image->path, done, bytes);
    free(chosen);
    return code;
}

static int open_root(const char *folder)
{
    int root = -1;

    if (mkdir(folder, 0777) == 0 || errno == EEXIST)
        root = open(folder, O_RDONLY | O_DIRECTORY);
    if (root < 0)
        tool_error(folder, "%s", strerror(errno));
    return root;
}

static int extract(const char *path, const struct request *request)
{
    struct image *image;
    struct listing listing;
    int code = EXIT_FAILED, root, status;

    if (image_open_mounted(&image, path, FFFS_MOUNT_READ_ONLY) != FFFS_OK)
        return EXIT_FAILED;
    status = listing_read(&listing, image, request->prefix, 0);
    root = open_root(request->folder);
    if (root >= 0) {
        code = extract_chosen(image, &listing, root, request);
        close(root);
    }
    if (status < 0)
        tool_error(path, "%s", tool_status_text(status));
    if (listing.unreadable > 0)
        tool_error(path, "%zu names can not be read ('fastffs check' tells more)", listing.unreadable);
    if (status < 0 || listing.unreadable > 0)
        code = EXIT_FAILED;
    listing_free(&listing);
    image_close(image);
    return code;
}

static int run(int argc, char **argv)
{
    struct request request;
    int option;

    memset(&request, 0, sizeof request);
    request.prefix = "";
    while ((option = getopt_long(argc, argv, "qvh", options, NULL)) != -1) {
        switch (option) {
        case OPTION_PREFIX: request.prefix = optarg; break;
        case 'q': request.quiet = 1; break;
        case 'v': request.verbose = 1; break;
        case 'h': return tool_help(&command_extract);
        default: return tool_usage(&command_extract, "wrong option");
        }
    }
    if (argc - optind < 2)
        return tool_usage(&command_extract, "IMAGE and DIR are needed");
    request.folder = argv[optind + 1];
    request.names = argv + optind + 2;
    request.count = (size_t)(argc - optind - 2);
    return extract(argv[optind], &request);
}

const struct command command_extract = { "extract", "IMAGE DIR [NAME...] [options]",
    "Writes files of an image into a folder.", help, EXIT_USAGE, run };

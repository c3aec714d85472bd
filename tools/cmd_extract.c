/* fastffs extract: files of an image into a folder of the host. Nothing is written outside that folder: see target.h. */
#include "listing.h"
#include "reader.h"
#include "target.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "      --prefix P        only the names that begin with P, without it: --prefix / takes names like '/a.txt'\n"
    "  -q, --quiet           print nothing but errors\n"
    "  -v, --verbose         print each name\n"
    "\n"
    "A NAME is a file, or a folder: then all files in it. Without NAME all files are extracted. 'a/b.txt' becomes DIR/a/b.txt;\n"
    "folders are made, existing files replaced. Names that would lead outside DIR (with '..', a leading '/', an empty part)\n"
    "are refused; the others are extracted, and the exit code is 1.\n";

enum { OPTION_PREFIX = 256 };

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

static int to_stream(void *context, const uint8_t *bytes, size_t count)
{
    return fwrite(bytes, 1, count, context) == count ? 0 : -1;
}

struct source {
    struct image *image;
    const char *name;
};

static int copy_file(void *context, FILE *stream)
{
    const struct source *source = context;
    int status = reader_copy(source->image, source->name, to_stream, stream);

    return status == READER_STOPPED ? IMAGE_HOST_ERROR : status;
}

/* EXIT_OK or EXIT_FAILED, with the message printed. */
static int extract_one(struct image *image, const char *name, int root, const struct request *request)
{
    const char *path = name + strlen(request->prefix), *reason = target_refusal(path);
    struct source source = { image, name };
    int status;

    if (reason != NULL) {
        tool_error(image->path, "'%s' is refused: %s ('fastffs cat' prints it)", tool_name_text(name), reason);
        return EXIT_FAILED;
    }
    status = target_write(root, path, 0, copy_file, &source);
    if (status == IMAGE_HOST_ERROR)
        tool_error(request->folder, "'%s' can not be written: %s", tool_name_text(path), strerror(errno));
    else if (status != FFFS_OK)
        tool_error(image->path, "'%s': %s", tool_name_text(name), tool_status_text(status));
    else if (request->verbose)
        printf("%s\n", tool_name_text(name));
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

static int extract(const char *path, const struct request *request)
{
    struct image *image;
    struct listing listing;
    int code = EXIT_FAILED, root, status;

    if (image_open_mounted(&image, path, FFFS_MOUNT_READ_ONLY) != FFFS_OK)
        return EXIT_FAILED;
    status = listing_read(&listing, image, request->prefix, 0);
    root = target_open(request->folder);
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

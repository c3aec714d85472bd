/* fastffs rename: gives a file of an image, or a folder, another name. */
#include "listing.h"

#include <stdlib.h>
#include <string.h>

static const char help[] =
    "  -r, --recursive       OLD that is no file means the folder of that name: all files in it move to the folder NEW\n"
    "  -f, --force           replaces files that have the new name\n"
    "  -q, --quiet           print nothing but errors\n"
    "  -v, --verbose         print flash operations and emulated time\n"
    "\n"
    "The data stays where it is in the image. All or nothing: on an error the image stays as it was.\n";

static const struct option options[] = {
    { "recursive", no_argument, NULL, 'r' }, { "force", no_argument, NULL, 'f' }, { "quiet", no_argument, NULL, 'q' },
    { "verbose", no_argument, NULL, 'v' }, { "help", no_argument, NULL, 'h' }, { NULL, 0, NULL, 0 }
};

struct request {
    int recursive, force, quiet, verbose;
    const char *from, *to;
};

static int rename_one(struct image *image, const struct listing *listing, const struct request *request, const char *from,
                      const char *to)
{
    int status = FFFS_ERR_EXISTS;

    if (request->force || strcmp(from, to) == 0 || listing_find(listing, to) == NULL)
        status = fffs_rename(&image->fs, from, to);
    if (status == FFFS_OK)
        return 0;
    tool_error(image->path, "'%s' to '%s': %s", tool_name_text(from), tool_name_text(to), tool_status_text(status));
    return -1;
}

/* The file's name with the folder OLD replaced by the folder NEW. */
static int rename_inside(struct image *image, const struct listing *listing, const struct request *request, const char *name)
{
    const char *rest = name + strlen(request->from);
    size_t to_bytes = strlen(request->to);
    char *to = tool_alloc(to_bytes + strlen(rest) + 2);
    int result;

    while (*rest == '/')
        rest++;
    strcpy(to, request->to);
    if (to_bytes > 0 && to[to_bytes - 1] != '/')
        strcat(to, "/");
    strcat(to, rest);
    result = rename_one(image, listing, request, name, to);
    free(to);
    return result;
}

/* 0 and the count, or -1 with the message printed. */
static int rename_all(struct image *image, const struct listing *listing, const struct request *request, size_t *count)
{
    unsigned char *chosen = tool_alloc(listing->count + 1);
    size_t i, inside;
    int failed = 0;

    memset(chosen, 0, listing->count + 1);
    *count = 1;
    if (listing_find(listing, request->from) != NULL) {
        failed = rename_one(image, listing, request, request->from, request->to) != 0;
    } else {
        inside = *count = listing_choose(listing, request->from, chosen);
        if (inside == 0 || !request->recursive) {
            if (inside == 0)
                tool_error(image->path, "'%s': %s", tool_name_text(request->from), tool_status_text(FFFS_ERR_NOT_FOUND));
            else
                tool_error(image->path, "'%s' is a folder of %zu files: -r renames them", tool_name_text(request->from), inside);
            failed = 1;
        }
        for (i = 0; i < listing->count && !failed; i++)
            if (chosen[i])
                failed = rename_inside(image, listing, request, listing->entries[i].name) != 0;
    }
    free(chosen);
    return failed ? -1 : 0;
}

static int rename_in(struct image *image, const struct listing *listing, const struct request *request)
{
    struct nor_counts counts;
    size_t count;

    nor_reset_counts(image->nor);
    if (rename_all(image, listing, request, &count) != 0)
        return EXIT_FAILED;
    counts = *nor_counts(image->nor);
    if (image_save(image) != FFFS_OK)
        return EXIT_FAILED;
    if (!request->quiet) {
        printf("%s: %s is now ", image->path, tool_name_text(request->from));
        printf("%s\n", tool_name_text(request->to));
        if (request->verbose)
            tool_print_counts(stdout, "rename", &counts, count);
    }
    return EXIT_OK;
}

static int rename_names(const char *path, const struct request *request)
{
    struct image *image;
    struct listing listing;
    int code = EXIT_FAILED, status;

    if (image_open_mounted(&image, path, 0) != FFFS_OK)
        return EXIT_FAILED;
    status = listing_read(&listing, image, "", 0);
    if (status < 0)
        tool_error(path, "%s", tool_status_text(status));
    else
        code = rename_in(image, &listing, request);
    listing_free(&listing);
    image_close(image);
    return code;
}

static int run(int argc, char **argv)
{
    struct request request;
    int option;

    memset(&request, 0, sizeof request);
    while ((option = getopt_long(argc, argv, "rfqvh", options, NULL)) != -1) {
        switch (option) {
        case 'r': request.recursive = 1; break;
        case 'f': request.force = 1; break;
        case 'q': request.quiet = 1; break;
        case 'v': request.verbose = 1; break;
        case 'h': return tool_help(&command_rename);
        default: return tool_usage(&command_rename, "wrong option");
        }
    }
    if (argc - optind != 3)
        return tool_usage(&command_rename, "IMAGE, OLD and NEW are needed");
    request.from = argv[optind + 1];
    request.to = argv[optind + 2];
    if (request.from[0] == '\0' || request.to[0] == '\0')
        return tool_usage(&command_rename, "an empty name can not be renamed, nor become one");
    return rename_names(argv[optind], &request);
}

const struct command command_rename = { "rename", "IMAGE OLD NEW [options]", "Renames a file or a folder of an image.", help,
    EXIT_USAGE, run };

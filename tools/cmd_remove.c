/* fastffs remove: deletes files of an image. */
#include "listing.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "  -r, --recursive       a NAME that is no file means all files in the folder of that name\n"
    "  -f, --force           names that do not exist are no error\n"
    "  -q, --quiet           print nothing but errors\n"
    "  -v, --verbose         print flash operations and emulated time\n"
    "\n"
    "All or nothing: when one name does not exist or can not be deleted, the image stays as it was.\n";

static const struct option options[] = {
    { "recursive", no_argument, NULL, 'r' }, { "force", no_argument, NULL, 'f' }, { "quiet", no_argument, NULL, 'q' },
    { "verbose", no_argument, NULL, 'v' }, { "help", no_argument, NULL, 'h' }, { NULL, 0, NULL, 0 }
};

struct request {
    int recursive, force, quiet, verbose;
    char **names;
    size_t count;
};

static int report_missing(const char *path, const struct listing *listing, const char *name)
{
    unsigned char *ignored = tool_alloc(listing->count);
    size_t inside = listing_choose(listing, name, ignored);

    free(ignored);
    if (inside > 0)
        tool_error(path, "'%s' is a folder of %zu files: -r deletes them", tool_name_text(name), inside);
    else
        tool_error(path, "'%s': %s", tool_name_text(name), tool_status_text(FFFS_ERR_NOT_FOUND));
    return -1;
}

/* Marks what the names mean. 0, or -1 with the messages printed. */
static int choose(const char *path, const struct listing *listing, const struct request *request, unsigned char *chosen)
{
    int result = 0;
    size_t i;

    for (i = 0; i < request->count; i++) {
        const struct listing_entry *exact = listing_find(listing, request->names[i]);
        size_t found = exact != NULL;

        if (exact != NULL)
            chosen[exact - listing->entries] = 1;
        else if (request->recursive)
            found = listing_choose(listing, request->names[i], chosen);
        if (found == 0 && !request->force)
            result = report_missing(path, listing, request->names[i]);
    }
    return result;
}

static int delete_chosen(struct image *image, const struct listing *listing, const unsigned char *chosen, size_t *count)
{
    size_t i;
    int status;

    *count = 0;
    for (i = 0; i < listing->count; i++) {
        if (!chosen[i])
            continue;
        status = fffs_delete(&image->fs, listing->entries[i].name);
        if (status != FFFS_OK) {
            tool_error(image->path, "'%s': %s", tool_name_text(listing->entries[i].name), tool_status_text(status));
            return -1;
        }
        (*count)++;
    }
    return 0;
}

static int remove_from(struct image *image, const struct listing *listing, const struct request *request)
{
    unsigned char *chosen = tool_alloc(listing->count);
    struct nor_counts counts;
    size_t count = 0;
    int failed;

    memset(chosen, 0, listing->count);
    failed = choose(image->path, listing, request, chosen) != 0;
    nor_reset_counts(image->nor);
    failed = failed || delete_chosen(image, listing, chosen, &count) != 0;
    counts = *nor_counts(image->nor);
    if (!failed && count > 0)
        failed = image_save(image) != FFFS_OK;
    if (!failed && !request->quiet) {
        printf("%s: %zu files deleted\n", image->path, count);
        if (request->verbose)
            tool_print_counts(stdout, "remove", &counts, count);
    }
    free(chosen);
    return failed ? EXIT_FAILED : EXIT_OK;
}

static int remove_names(const char *path, const struct request *request)
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
        code = remove_from(image, &listing, request);
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
        case 'h': return tool_help(&command_remove);
        default: return tool_usage(&command_remove, "wrong option");
        }
    }
    if (argc - optind < 2)
        return tool_usage(&command_remove, "IMAGE and NAME are needed");
    request.names = argv + optind + 1;
    request.count = (size_t)(argc - optind - 1);
    return remove_names(argv[optind], &request);
}

const struct command command_remove = { "remove", "IMAGE NAME... [options]", "Deletes files of an image.", help, EXIT_USAGE,
    run };

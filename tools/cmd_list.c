/* fastffs list: the names in an image. */
#include "listing.h"

#include <inttypes.h>
#include <string.h>

static const char help[] =
    "  -l, --long            print size and version stamp before each name (--size: the size only)\n"
    "      --size            print the size before each name\n"
    "  -d, --folders         print each folder below PREFIX once instead of its files; PREFIX then ends with '/'\n"
    "  -0, --null            end names with a NUL byte and print them as they are\n"
    "      --json            print as JSON\n"
    "\n"
    "Prints the names that begin with PREFIX, sorted. Control bytes and backslashes are printed as \\xNN.\n";

enum { OPTION_SIZE = 256, OPTION_JSON };

static const struct option options[] = {
    { "long", no_argument, NULL, 'l' }, { "size", no_argument, NULL, OPTION_SIZE }, { "folders", no_argument, NULL, 'd' },
    { "null", no_argument, NULL, '0' }, { "json", no_argument, NULL, OPTION_JSON }, { "help", no_argument, NULL, 'h' },
    { NULL, 0, NULL, 0 }
};

struct request {
    int sizes, stamps, folders, null, json;
};

static void print_text(const struct listing *listing, const struct request *request)
{
    size_t i;

    for (i = 0; i < listing->count; i++) {
        const struct listing_entry *entry = &listing->entries[i];

        if (request->sizes)
            printf("%10" PRIu32 "  ", entry->size);
        if (request->stamps)
            printf("%10" PRIu32 "  ", entry->stamp);
        if (request->null)
            fputs(entry->name, stdout);
        else
            tool_print_name(stdout, entry->name);
        putchar(request->null ? '\0' : '\n');
    }
}

static void print_json(const struct listing *listing)
{
    size_t i;

    fputs("[", stdout);
    for (i = 0; i < listing->count; i++) {
        const struct listing_entry *entry = &listing->entries[i];

        fputs(i > 0 ? ",\n  { " : "\n  { ", stdout);
        tool_json_name(stdout, entry->name);
        printf(", \"size\": %" PRIu32 ", \"stamp\": %" PRIu32 ", \"folder\": %s }", entry->size, entry->stamp,
               entry->is_folder ? "true" : "false");
    }
    fputs("\n]\n", stdout);
}

static int list(const char *path, const char *prefix, const struct request *request)
{
    struct image *image;
    struct listing listing;
    int status;

    if (image_open_mounted(&image, path, FFFS_MOUNT_READ_ONLY) != FFFS_OK)
        return EXIT_FAILED;
    status = listing_read(&listing, image, prefix, request->folders);
    if (request->json)
        print_json(&listing);
    else
        print_text(&listing, request);
    if (status < 0)
        tool_error(path, "%s", tool_status_text(status));
    if (listing.unreadable > 0)
        tool_error(path, "%zu names can not be read ('fastffs check' tells more)", listing.unreadable);
    status = status < 0 || listing.unreadable > 0 ? EXIT_FAILED : EXIT_OK;
    listing_free(&listing);
    image_close(image);
    return status;
}

static int run(int argc, char **argv)
{
    struct request request;
    int option;

    memset(&request, 0, sizeof request);
    while ((option = getopt_long(argc, argv, "ld0h", options, NULL)) != -1) {
        switch (option) {
        case 'l': request.sizes = request.stamps = 1; break;
        case OPTION_SIZE: request.sizes = 1; break;
        case 'd': request.folders = 1; break;
        case '0': request.null = 1; break;
        case OPTION_JSON: request.json = 1; break;
        case 'h': return tool_help(&command_list);
        default: return tool_usage(&command_list, "wrong option");
        }
    }
    if (argc - optind < 1 || argc - optind > 2)
        return tool_usage(&command_list, "IMAGE is needed, and at most one PREFIX");
    return list(argv[optind], argc - optind == 2 ? argv[optind + 1] : "", &request);
}

const struct command command_list = { "list", "IMAGE [PREFIX] [options]", "Prints the names in an image.", help, EXIT_USAGE,
    run };

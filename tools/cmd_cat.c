/* fastffs cat: the contents of files to stdout. */
#include "reader.h"

#include <string.h>

static const char help[] = "The files are written one after the other, as they are.\n";

static const struct option options[] = { { "help", no_argument, NULL, 'h' }, { NULL, 0, NULL, 0 } };

static int to_stdout(void *context, const uint8_t *bytes, size_t count)
{
    (void)context;
    return fwrite(bytes, 1, count, stdout) == count ? 0 : -1;
}

static int run(int argc, char **argv)
{
    struct image *image;
    int option, i, status, code = EXIT_OK;

    while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1)
        return option == 'h' ? tool_help(&command_cat) : tool_usage(&command_cat, "wrong option");
    if (argc - optind < 2)
        return tool_usage(&command_cat, "IMAGE and NAME are needed");
    if (image_open_mounted(&image, argv[optind], FFFS_MOUNT_READ_ONLY) != FFFS_OK)
        return EXIT_FAILED;
    for (i = optind + 1; i < argc; i++) {
        status = reader_copy(image, argv[i], to_stdout, NULL);
        if (status == FFFS_OK)
            continue;
        code = EXIT_FAILED;
        if (status == READER_STOPPED)
            break;
        tool_error(argv[optind], "'%s': %s", tool_name_text(argv[i]), tool_status_text(status));
    }
    image_close(image);
    return code;
}

const struct command command_cat = { "cat", "IMAGE NAME...", "Writes files of an image to the standard output.", help,
    EXIT_USAGE, run };

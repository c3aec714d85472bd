/* fastffs add: one file into an existing image. */
#include "build.h"

#include <string.h>

static const char help[] =
    "      --verify          compare the file with the image before it is written\n"
    "  -q, --quiet           print nothing but errors\n"
    "  -v, --verbose         print flash operations and emulated time\n"
    "\n"
    "NAME is the name in the image; without it the last part of FILE is taken. A file of that name is replaced. On an error\n"
    "the image stays as it was.\n";

static const struct option options[] = {
    { "verify", no_argument, NULL, 'c' }, { "quiet", no_argument, NULL, 'q' }, { "verbose", no_argument, NULL, 'v' },
    { "help", no_argument, NULL, 'h' }, { NULL, 0, NULL, 0 }
};

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

static int add(const char *path, const char *file, const char *name, const struct build_options *build)
{
    struct tree_options tree_options = { "", 1, 0 };
    struct tree tree;
    int code;

    code = tree_single(&tree, file, name, &tree_options) == 0 ? build_load(path, &tree, build, 0) : EXIT_FAILED;
    tree_free(&tree);
    return code;
}

static int run(int argc, char **argv)
{
    struct build_options build;
    const char *name;
    int option;

    memset(&build, 0, sizeof build);
    while ((option = getopt_long(argc, argv, "qvh", options, NULL)) != -1) {
        switch (option) {
        case 'c': build.verify = 1; break;
        case 'q': build.quiet = 1; break;
        case 'v': build.verbose = 1; break;
        case 'h': return tool_help(&command_add);
        default: return tool_usage(&command_add, "wrong option");
        }
    }
    if (argc - optind < 2 || argc - optind > 3)
        return tool_usage(&command_add, "IMAGE and FILE are needed, and at most one NAME");
    name = argc - optind == 3 ? argv[optind + 2] : last_part(argv[optind + 1]);
    if (*name == '\0')
        return tool_usage(&command_add, "the name is empty");
    return add(argv[optind], argv[optind + 1], name, &build);
}

const struct command command_add = { "add", "IMAGE FILE [NAME] [options]", "Puts one file into an image.", help, EXIT_USAGE,
    run };

/* fastffs load: the files of a folder into an existing image. */
#include "build.h"

#include <string.h>
#include <unistd.h>

static const char help[] =
    "      --prefix P        put P before every name\n"
    "      --name-max N      refuse names longer than N bytes, for targets built with a smaller limit\n"
    "      --all             take .git and .DS_Store as well\n"
    "      --verify          compare every file with the image before it is written\n"
    "      --dry-run         write nothing; say whether the files fit, and the smallest size of a new image for them\n"
    "                        (IMAGE need not exist then)\n"
    "      --json            print the result of --dry-run as JSON\n"
    "  -q, --quiet           print nothing but errors\n"
    "  -v, --verbose         print flash operations and emulated time\n"
    "\n"
    "A file DIR/a/b.txt becomes the name 'a/b.txt': '/' between the parts, none in front (--prefix / gives one). Files are\n"
    "written in order of their names, so the same tree gives the same image; files of the same name are replaced, others\n"
    "stay. Links are followed. Empty folders leave no trace. On an error the image stays as it was.\n";

enum { OPTION_PREFIX = 256, OPTION_NAME_MAX, OPTION_ALL, OPTION_VERIFY, OPTION_DRY_RUN, OPTION_JSON };

static const struct option options[] = {
    { "prefix", required_argument, NULL, OPTION_PREFIX }, { "name-max", required_argument, NULL, OPTION_NAME_MAX },
    { "all", no_argument, NULL, OPTION_ALL }, { "verify", no_argument, NULL, OPTION_VERIFY },
    { "dry-run", no_argument, NULL, OPTION_DRY_RUN }, { "json", no_argument, NULL, OPTION_JSON },
    { "quiet", no_argument, NULL, 'q' }, { "verbose", no_argument, NULL, 'v' }, { "help", no_argument, NULL, 'h' },
    { NULL, 0, NULL, 0 }
};

struct request {
    struct tree_options tree;
    struct build_options build;
    int dry_run;
};

static int take_option(struct request *request, int option)
{
    switch (option) {
    case OPTION_PREFIX: request->tree.prefix = optarg; break;
    case OPTION_NAME_MAX:
        if (tool_parse_size(optarg, &request->tree.name_max) != 0 || request->tree.name_max == 0 ||
            request->tree.name_max > FFFS_NAME_MAX)
            return tool_usage(&command_load, "--name-max %s: it must be 1 to %u", optarg, (unsigned)FFFS_NAME_MAX);
        break;
    case OPTION_ALL: request->tree.all = 1; break;
    case OPTION_VERIFY: request->build.verify = 1; break;
    case OPTION_DRY_RUN: request->dry_run = 1; break;
    case OPTION_JSON: request->build.json = 1; break;
    case 'q': request->build.quiet = 1; break;
    case 'v': request->build.verbose = 1; break;
    default: return tool_usage(&command_load, "wrong option");
    }
    return EXIT_OK;
}

static int load(const char *path, const char *folder, const struct request *request)
{
    struct image_plan plan;
    struct tree tree;
    int code;

    if (tree_scan(&tree, folder, &request->tree) != 0) {
        code = EXIT_FAILED;
    } else if (request->dry_run && access(path, F_OK) != 0) {
        memset(&plan, 0, sizeof plan);
        code = build_measure(&tree, &plan, &request->build);
    } else {
        code = build_load(path, &tree, &request->build, request->dry_run);
    }
    tree_free(&tree);
    return code;
}

static int run(int argc, char **argv)
{
    struct request request;
    int option, code;

    memset(&request, 0, sizeof request);
    request.tree.prefix = "";
    while ((option = getopt_long(argc, argv, "qvh", options, NULL)) != -1) {
        if (option == 'h')
            return tool_help(&command_load);
        code = take_option(&request, option);
        if (code != EXIT_OK)
            return code;
    }
    if (argc - optind != 2)
        return tool_usage(&command_load, "IMAGE and DIR are needed");
    return load(argv[optind], argv[optind + 1], &request);
}

const struct command command_load = { "load", "IMAGE DIR [options]", "Puts the files of a folder into an image.", help,
    EXIT_USAGE, run };

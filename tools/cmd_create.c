/* fastffs create: a new image, empty or with the files of a folder. */
#include "build.h"

#include <stdlib.h>
#include <string.h>

static const char help[] =
    "  -s, --size N          size of the image, a multiple of the sector size; required without --dry-run\n"
    "  -b, --sector-size N   256 to 65536, a power of two; default 4096\n"
    "      --granule N       smallest unit the flash can program, 1 to 256; default 1. It must match the device\n"
    "      --segment-size N  unit of reclaim, sector size times a power of two; default: chosen\n"
    "      --block-offset N  where the partition begins within a 64 KiB block of the chip; default 0\n"
    "      --max-files N     names the index has room for; default: one per 4 KiB of size, at least 16, and with --from at\n"
    "                        least as many as the folder has\n"
    "      --from DIR        put the files of this folder into it (see 'fastffs load --help')\n"
    "      --prefix P        put P before every name\n"
    "      --name-max N      refuse names longer than N bytes, for targets built with a smaller limit\n"
    "      --all             take .git and .DS_Store as well\n"
    "      --verify          compare every file with the image before it is written\n"
    "      --dry-run         write nothing; say the smallest size that holds the folder\n"
    "      --json            print the result as JSON (with --dry-run)\n"
    "  -q, --quiet           print nothing but errors\n"
    "  -v, --verbose         print flash operations and emulated time\n"
    "\n"
    "Sizes take K, M and 0x. An existing IMAGE is replaced, in one step and only when everything went well.\n"
    "Leave room for work: on a volume that is full to the brim, files can only be deleted.\n";

enum { OPTION_GRANULE = 256, OPTION_SEGMENT, OPTION_BLOCK, OPTION_FILES, OPTION_FROM, OPTION_PREFIX, OPTION_NAME_MAX, OPTION_ALL,
       OPTION_VERIFY, OPTION_DRY_RUN, OPTION_JSON };

static const struct option options[] = {
    { "size", required_argument, NULL, 's' }, { "sector-size", required_argument, NULL, 'b' },
    { "granule", required_argument, NULL, OPTION_GRANULE }, { "segment-size", required_argument, NULL, OPTION_SEGMENT },
    { "block-offset", required_argument, NULL, OPTION_BLOCK },
    { "max-files", required_argument, NULL, OPTION_FILES }, { "from", required_argument, NULL, OPTION_FROM },
    { "prefix", required_argument, NULL, OPTION_PREFIX }, { "name-max", required_argument, NULL, OPTION_NAME_MAX },
    { "all", no_argument, NULL, OPTION_ALL }, { "verify", no_argument, NULL, OPTION_VERIFY },
    { "dry-run", no_argument, NULL, OPTION_DRY_RUN }, { "json", no_argument, NULL, OPTION_JSON },
    { "quiet", no_argument, NULL, 'q' }, { "verbose", no_argument, NULL, 'v' }, { "help", no_argument, NULL, 'h' },
    { NULL, 0, NULL, 0 }
};

struct request {
    struct image_plan plan;
    struct tree_options tree;
    struct build_options build;
    const char *folder;
    int dry_run;
};

/* The number that a numeric option sets; NULL for the others. */
static uint32_t *number_of(struct request *request, int option)
{
    switch (option) {
    case 's': return &request->plan.size_bytes;
    case 'b': return &request->plan.geometry.sector_bytes;
    case OPTION_GRANULE: return &request->plan.granule_bytes;
    case OPTION_BLOCK: return &request->plan.block_offset_bytes;
    case OPTION_SEGMENT: return &request->plan.geometry.segment_bytes;
    case OPTION_FILES: return &request->plan.geometry.max_files;
    case OPTION_NAME_MAX: return &request->tree.name_max;
    default: return NULL;
    }
}

/* EXIT_OK, or the exit code after the message. */
static int take_option(struct request *request, int option)
{
    uint32_t *number = number_of(request, option);

    if (number != NULL) {
        if (tool_parse_size(optarg, number) != 0 || (*number == 0 && option != OPTION_BLOCK))
            return tool_usage(&command_create, "'%s' is not a size", optarg);
        return EXIT_OK;
    }
    switch (option) {
    case OPTION_FROM: request->folder = optarg; break;
    case OPTION_PREFIX: request->tree.prefix = optarg; break;
    case OPTION_ALL: request->tree.all = 1; break;
    case OPTION_VERIFY: request->build.verify = 1; break;
    case OPTION_DRY_RUN: request->dry_run = 1; break;
    case OPTION_JSON: request->build.json = 1; break;
    case 'q': request->build.quiet = 1; break;
    case 'v': request->build.verbose = 1; break;
    default: return tool_usage(&command_create, "wrong option");
    }
    return EXIT_OK;
}

static int check_request(const struct request *request)
{
    uint32_t sector = image_sector_bytes(&request->plan), size = request->plan.size_bytes;

    if (request->dry_run && request->folder == NULL)
        return tool_usage(&command_create, "--dry-run needs --from DIR");
    if (!request->dry_run && size == 0)
        return tool_usage(&command_create, "--size is missing");
    if (sector < 256 || sector > 65536 || (sector & (sector - 1)) != 0)
        return tool_usage(&command_create, "sector size %u: it must be a power of two from 256 to 65536", (unsigned)sector);
    if (size % sector != 0)
        return tool_usage(&command_create, "size %u is not a multiple of the sector size %u: use %u", (unsigned)size,
                          (unsigned)sector, (unsigned)(size < sector ? sector : size / sector * sector));
    if (request->plan.block_offset_bytes % sector != 0 || request->plan.block_offset_bytes >= 65536)
        return tool_usage(&command_create, "block offset %u: it must be a multiple of the sector size, below 65536",
                          (unsigned)request->plan.block_offset_bytes);
    if (request->tree.name_max > FFFS_NAME_MAX)
        return tool_usage(&command_create, "--name-max %u: this tool is built for names up to %u bytes",
                          (unsigned)request->tree.name_max, (unsigned)FFFS_NAME_MAX);
    return EXIT_OK;
}

static int run(int argc, char **argv)
{
    struct request request;
    struct tree tree;
    int option, code = EXIT_OK;

    memset(&request, 0, sizeof request);
    memset(&tree, 0, sizeof tree);
    request.tree.prefix = "";
    while (code == EXIT_OK && (option = getopt_long(argc, argv, "s:b:qvh", options, NULL)) != -1) {
        if (option == 'h')
            return tool_help(&command_create);
        code = take_option(&request, option);
    }
    if (code == EXIT_OK && argc - optind != 1)
        code = tool_usage(&command_create, argc == optind ? "IMAGE is missing" : "one IMAGE only");
    if (code == EXIT_OK)
        code = check_request(&request);
    if (code != EXIT_OK)
        return code;
    if (request.folder != NULL && tree_scan(&tree, request.folder, &request.tree) != 0)
        code = EXIT_FAILED;
    else if (request.dry_run)
        code = build_measure(&tree, &request.plan, &request.build);
    else
        code = build_create(argv[optind], &tree, &request.plan, &request.build);
    tree_free(&tree);
    return code;
}

const struct command command_create = { "create", "IMAGE --size N [--from DIR] [options]",
    "Makes a new image, empty or with the files of a folder.", help, EXIT_USAGE, run };

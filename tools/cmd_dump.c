/* fastffs dump: every record and node of an image with its place and meaning. */
#include "image.h"
#include "fastffs/fffs_inspect.h"

#include <inttypes.h>
#include <string.h>

static const char help[] =
    "      --current         only what is live: no outdated records, no units outside the chain\n"
    "      --owner OFFSET    only say which file has the byte at this offset\n"
    "      --json            print as JSON, one object per item\n"
    "\n"
    "Offsets are hexadecimal, from the start of the image. A record marked '-' is outdated; one marked '*' applies.\n";

enum { OPTION_CURRENT = 256, OPTION_OWNER, OPTION_JSON };

static const struct option options[] = {
    { "current", no_argument, NULL, OPTION_CURRENT }, { "owner", required_argument, NULL, OPTION_OWNER },
    { "json", no_argument, NULL, OPTION_JSON }, { "help", no_argument, NULL, 'h' }, { NULL, 0, NULL, 0 }
};

struct request {
    int current, json, owner_wanted;
    uint32_t owner;
    size_t printed;
};

static const char *kind_name(int kind)
{
    switch (kind) {
    case FFFS_ITEM_HEADER: return "header";
    case FFFS_ITEM_MARK: return "mark";
    case FFFS_ITEM_PUT: return "put";
    case FFFS_ITEM_PUT_MULTI: return "put-multi";
    case FFFS_ITEM_DELETE: return "delete";
    case FFFS_ITEM_CONTROL: return "control";
    case FFFS_ITEM_INVALID: return "invalid";
    case FFFS_ITEM_NODE: return "node";
    case FFFS_ITEM_EXTENT: return "extent";
    default: return "unknown";
    }
}

static int is_record(const struct fffs_item *item)
{
    return item->kind == FFFS_ITEM_PUT || item->kind == FFFS_ITEM_PUT_MULTI || item->kind == FFFS_ITEM_DELETE;
}

static void print_meaning(const struct fffs_item *item)
{
    switch (item->kind) {
    case FFFS_ITEM_HEADER:
        printf("serial %" PRIu32 ", %s", item->serial, item->in_chain ? "in the chain" : "not in the chain");
        break;
    case FFFS_ITEM_PUT:
    case FFFS_ITEM_PUT_MULTI:
        printf("slot %04x, node ends at %08" PRIx32 ", footprint %" PRIu32, item->slot, item->node_end, item->footprint);
        break;
    case FFFS_ITEM_DELETE:
        printf("slot %04x", item->slot);
        break;
    case FFFS_ITEM_CONTROL:
        printf("type %u, payload %08" PRIx32, item->control_type, item->control_payload);
        break;
    case FFFS_ITEM_NODE:
        printf("'%s', %" PRIu32 " bytes, stamp %" PRIu32, tool_name_text(item->name), item->size, item->stamp);
        break;
    case FFFS_ITEM_EXTENT:
        printf("bytes %" PRIu32 " to %" PRIu32 " of the file", item->file_offset, item->file_offset + item->bytes);
        break;
    default:
        break;
    }
}

static void print_text(const struct fffs_item *item)
{
    printf("%s%08" PRIx32 " %6" PRIu32 "  %c %-9s ", item->kind == FFFS_ITEM_HEADER ? "\n" : "", item->address, item->bytes,
           is_record(item) ? (item->current ? '*' : '-') : ' ', kind_name(item->kind));
    print_meaning(item);
    if (item->text != NULL && item->text[0] != '\0' && strcmp(item->text, kind_name(item->kind)) != 0)
        printf(" (%s)", item->text);
    if (!item->valid && item->kind != FFFS_ITEM_INVALID)
        fputs(" NOT VALID", stdout);
    putchar('\n');
}

static void print_json(const struct fffs_item *item, int first)
{
    printf("%s\n  { \"offset\": %" PRIu32 ", \"bytes\": %" PRIu32 ", \"kind\": \"%s\", \"text\": ", first ? "" : ",", item->address,
           item->bytes, kind_name(item->kind));
    tool_json_text(stdout, item->text != NULL ? item->text : "");
    printf(", \"valid\": %s", item->valid ? "true" : "false");
    if (item->kind <= FFFS_ITEM_INVALID)
        printf(", \"in_chain\": %s", item->in_chain ? "true" : "false");
    if (item->kind == FFFS_ITEM_HEADER)
        printf(", \"serial\": %" PRIu32, item->serial);
    if (is_record(item))
        printf(", \"current\": %s, \"slot\": %u", item->current ? "true" : "false", item->slot);
    if (item->kind == FFFS_ITEM_PUT || item->kind == FFFS_ITEM_PUT_MULTI)
        printf(", \"node_end\": %" PRIu32 ", \"footprint\": %" PRIu32, item->node_end, item->footprint);
    if (item->kind == FFFS_ITEM_CONTROL)
        printf(", \"control_type\": %u, \"control_payload\": %" PRIu32, item->control_type, item->control_payload);
    if (item->kind == FFFS_ITEM_NODE) {
        printf(", \"size\": %" PRIu32 ", \"stamp\": %" PRIu32 ", ", item->size, item->stamp);
        tool_json_name(stdout, item->name);
    }
    if (item->kind == FFFS_ITEM_EXTENT)
        printf(", \"file_offset\": %" PRIu32, item->file_offset);
    fputs(" }", stdout);
}

static int visit(void *context, const struct fffs_item *item)
{
    struct request *request = context;

    if (request->current && ((is_record(item) && !item->current) || (item->kind <= FFFS_ITEM_INVALID && !item->in_chain)))
        return 0;
    if (request->json)
        print_json(item, request->printed == 0);
    else
        print_text(item);
    request->printed++;
    return 0;
}

static int print_owner(struct image *image, const struct request *request)
{
    struct fffs_info info;
    int status = fffs_inspect_owner(&image->fs, request->owner, &info);

    if (status < 0) {
        tool_error(image->path, "%s", tool_status_text(status));
    } else if (request->json) {
        fputs("{ ", stdout);
        if (status > 0)
            tool_json_name(stdout, info.name);
        fputs(" }\n", stdout);
    } else if (status > 0) {
        printf("%s\n", tool_name_text(info.name));
    } else {
        printf("no file\n");
    }
    return status < 0 ? EXIT_FAILED : EXIT_OK;
}

static int print_all(struct image *image, struct request *request)
{
    int status;

    if (request->json)
        fputs("[", stdout);
    status = fffs_inspect(&image->fs, visit, request);
    if (request->json)
        fputs("\n]\n", stdout);
    if (status < 0)
        tool_error(image->path, "%s", tool_status_text(status));
    return status < 0 ? EXIT_FAILED : EXIT_OK;
}

static int run(int argc, char **argv)
{
    struct request request;
    struct image *image;
    int option, code;

    memset(&request, 0, sizeof request);
    while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        switch (option) {
        case OPTION_CURRENT: request.current = 1; break;
        case OPTION_JSON: request.json = 1; break;
        case OPTION_OWNER:
            request.owner_wanted = 1;
            if (tool_parse_size(optarg, &request.owner) != 0)
                return tool_usage(&command_dump, "'%s' is not an offset", optarg);
            break;
        case 'h': return tool_help(&command_dump);
        default: return tool_usage(&command_dump, "wrong option");
        }
    }
    if (argc - optind != 1)
        return tool_usage(&command_dump, "one IMAGE is needed");
    if (image_open_mounted(&image, argv[optind], FFFS_MOUNT_READ_ONLY) != FFFS_OK)
        return EXIT_FAILED;
    code = request.owner_wanted ? print_owner(image, &request) : print_all(image, &request);
    image_close(image);
    return code;
}

const struct command command_dump = { "dump", "IMAGE [options]", "Prints every record and node with its offset and meaning.",
    help, EXIT_USAGE, run };

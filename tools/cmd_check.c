/* fastffs check: every invariant of an image, with the exit codes of fsck. */
#include "diagnose.h"
#include "listing.h"
#include "reader.h"
#include "fastffs/fffs_inspect.h"
#include "src/crc32.h"
#include "src/node.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "      --json            print as JSON\n"
    "  -q, --quiet           print nothing but errors\n"
    "\n"
    "Checks every invariant of docs/FORMAT.md and reads every file. Nothing is repaired or written. A finding tells where it\n"
    "is: offset and length, index unit and stride, or segment and sector, and the file or the slot that it concerns. An index\n"
    "that does not mount is looked at unit by unit ('fastffs salvage' recovers files of such an image). Exit codes:\n"
    "  0  no errors\n"
    "  4  errors, left uncorrected\n"
    "  8  the check could not be done (no such file, not an image of this format)\n"
    "  16 wrong command line\n";

enum { CHECK_CLEAN = 0, CHECK_ERRORS = 4, CHECK_FAILED = 8, CHECK_USAGE = 16, OPTION_JSON = 256 };

static const uint32_t no_address = 0xFFFFFFFFu;

static const struct option options[] = {
    { "json", no_argument, NULL, OPTION_JSON }, { "quiet", no_argument, NULL, 'q' }, { "help", no_argument, NULL, 'h' },
    { NULL, 0, NULL, 0 }
};

/* A damaged node of a current record. */
struct damaged {
    uint32_t low, end;
    uint16_t slot;
    char name[256];             /* where it still can be read and fits the slot; else "" */
};

struct request {
    const char *path;
    int json, quiet;
    size_t findings;
    size_t files;
    uint64_t bytes;
    struct image *image;
    int shaped;                 /* the layout is known */
    struct fffs_shape shape;
    struct damaged *damaged;
    size_t damaged_count;
};

/* One finding, with what is known of its place. */
struct finding {
    int invariant;              /* 0: none of its own */
    uint32_t address, bytes;    /* no_address: not a place; bytes 0: its length is not known */
    const char *name, *text;
    int slot;                   /* -1: not known */
};

static void print_place_json(const struct place *place)
{
    if (place->in_index)
        printf("\"unit\": %" PRIu32 ", \"stride\": %" PRIu32 ", ", place->unit, place->stride);
    else
        printf("\"segment\": %" PRIu32 ", \"sector\": %" PRIu32 ", ", place->segment, place->sector);
}

static void print_json(const struct request *request, const struct finding *finding, const struct place *place)
{
    printf("%s\n    { \"invariant\": %d, ", request->findings == 0 ? "" : ",", finding->invariant);
    if (finding->address != no_address)
        printf("\"offset\": %" PRIu32 ", ", finding->address);
    if (finding->bytes > 0)
        printf("\"bytes\": %" PRIu32 ", ", finding->bytes);
    if (place != NULL)
        print_place_json(place);
    if (finding->slot >= 0)
        printf("\"slot\": %d, ", finding->slot);
    tool_json_name(stdout, finding->name);
    fputs(", \"text\": ", stdout);
    tool_json_text(stdout, finding->text);
    fputs(" }", stdout);
}

static void print_text(const struct request *request, const struct finding *finding, const struct place *place)
{
    printf("%s: ", request->path);
    if (finding->invariant > 0)
        printf("I%d: ", finding->invariant);
    if (finding->address != no_address)
        printf("offset 0x%08" PRIx32, finding->address);
    if (finding->bytes > 0)
        printf(", %" PRIu32 " bytes", finding->bytes);
    if (place != NULL && place->in_index)
        printf(" (index unit %" PRIu32 ", stride %" PRIu32 ")", place->unit, place->stride);
    else if (place != NULL)
        printf(" (segment %" PRIu32 ", sector %" PRIu32 ")", place->segment, place->sector);
    if (finding->address != no_address)
        fputs(": ", stdout);
    if (finding->name[0] != '\0')
        printf("'%s': ", tool_name_text(finding->name));
    else if (finding->slot >= 0)
        printf("the file of slot 0x%04x: ", (unsigned)finding->slot);
    printf("%s\n", finding->text);
}

static void print_finding(struct request *request, const struct finding *finding)
{
    struct place place;
    const struct place *known = NULL;

    if (request->shaped && finding->address != no_address) {
        place = diagnose_place(&request->shape, finding->address);
        known = &place;
    }
    if (request->json)
        print_json(request, finding, known);
    else
        print_text(request, finding, known);
    request->findings++;
}

/* The first and the last byte that is not erased, in the sector that the finding begins in. */
static void narrow_to_used(const struct request *request, struct finding *finding)
{
    uint32_t sector = (uint32_t)1 << request->shape.sector_shift, at, low = no_address, high = 0;
    uint8_t *bytes = tool_alloc(sector);

    nor_peek(request->image->nor, finding->address & ~(sector - 1u), bytes, sector);
    for (at = finding->address & (sector - 1u); at < sector; at++) {
        if (bytes[at] == 0xFF)
            continue;
        low = low == no_address ? at : low;
        high = at + 1u;
    }
    if (low != no_address) {
        finding->address = (finding->address & ~(sector - 1u)) + low;
        finding->bytes = high - low;
    }
    free(bytes);
}

/* A finding of the library, with what else is known of it. */
static void report(void *context, const struct fffs_finding *from)
{
    struct request *request = context;
    struct finding finding = { from->invariant, from->address, 0, from->name, from->text, -1 };
    size_t i;

    for (i = 0; i < request->damaged_count; i++) {
        if (request->damaged[i].end != from->address || from->invariant != 1)
            continue;
        finding.address = request->damaged[i].low;
        finding.bytes = request->damaged[i].end - request->damaged[i].low;
        finding.slot = request->damaged[i].slot;
        finding.name = request->damaged[i].name;
    }
    if (finding.invariant == 2 && finding.address != no_address && request->shaped)
        narrow_to_used(request, &finding);
    print_finding(request, &finding);
}

static void report_index(void *context, uint32_t address, uint32_t bytes, const char *text)
{
    struct finding finding = { 0, address, bytes, "", text, -1 };

    print_finding(context, &finding);
}

/* A finding of the tool itself: no invariant number. */
static void report_status(struct request *request, const char *name, int status)
{
    struct finding finding = { 0, no_address, 0, name, tool_status_text(status), -1 };

    print_finding(request, &finding);
}

/* The name that a damaged node holds, if it still is one of the record's slot: a name's hash leads to few slots. */
static void read_damaged_name(const struct request *request, struct damaged *damaged)
{
    uint8_t trailer[FFFS_NODE_TRAILER];
    uint32_t length;

    if (!request->shaped || damaged->end < sizeof trailer + 255u)
        return;
    nor_peek(request->image->nor, damaged->end - (uint32_t)sizeof trailer, trailer, sizeof trailer);
    length = trailer[FFFS_NODE_NAME_LENGTH];
    nor_peek(request->image->nor, damaged->end - (uint32_t)sizeof trailer - length, damaged->name, length);
    damaged->name[length] = '\0';
    if (strlen(damaged->name) != length ||
        ((damaged->slot - fffs_crc32(0, damaged->name, length)) & 0xFFFFu) >= request->shape.probes)
        damaged->name[0] = '\0';
}

/* Notes the places of nodes that can not be read. */
static int note_damaged(void *context, const struct fffs_item *item)
{
    struct request *request = context;
    struct damaged *damaged;

    if (item->kind != FFFS_ITEM_NODE || item->valid)
        return 0;
    request->damaged = tool_resize(request->damaged, (request->damaged_count + 1) * sizeof *request->damaged);
    damaged = &request->damaged[request->damaged_count++];
    damaged->low = item->address;
    damaged->end = item->node_end;
    damaged->slot = item->slot;
    damaged->name[0] = '\0';
    read_damaged_name(request, damaged);
    return 0;
}

static int ignore_bytes(void *context, const uint8_t *bytes, size_t count)
{
    (void)context, (void)bytes, (void)count;
    return 0;
}

/* Reads every file to its end: finds what the index and the nodes alone do not show. */
static void read_files(struct image *image, struct request *request)
{
    struct listing listing;
    int status = listing_read(&listing, image, "", 0);
    size_t i;

    if (status < 0)
        report_status(request, "", status);
    for (i = 0; i < listing.unreadable && request->findings == 0; i++)
        report_status(request, "", FFFS_ERR_CORRUPT);
    for (i = 0; i < listing.count; i++) {
        status = reader_copy(image, listing.entries[i].name, ignore_bytes, NULL);
        if (status != FFFS_OK)
            report_status(request, listing.entries[i].name, status);
    }
    request->files = listing.count;
    request->bytes = listing.bytes;
    listing_free(&listing);
}

static void print_begin(const struct request *request)
{
    if (!request->json)
        return;
    fputs("{\n  \"image\": ", stdout);
    tool_json_text(stdout, request->path);
    fputs(",\n  \"findings\": [", stdout);
}

static int print_end(const struct request *request)
{
    if (request->json)
        printf("%s],\n  \"files\": %zu,\n  \"bytes\": %" PRIu64 ",\n  \"clean\": %s\n}\n", request->findings > 0 ? "\n  " : "",
               request->files, request->bytes, request->findings == 0 ? "true" : "false");
    else if (!request->quiet)
        printf("%s: %s, %zu files, %" PRIu64 " bytes\n", request->path, request->findings == 0 ? "clean" : "DAMAGED",
               request->files, request->bytes);
    return request->findings == 0 ? CHECK_CLEAN : CHECK_ERRORS;
}

static int check_mounted(struct request *request)
{
    int status;

    print_begin(request);
    (void)fffs_inspect(&request->image->fs, note_damaged, request);
    status = fffs_check(&request->image->fs, report, request);
    if (status < 0)
        report_status(request, "", status);
    read_files(request->image, request);
    return print_end(request);
}

/* The volume does not mount: says why, and what is wrong in which unit. */
static int check_unmounted(struct request *request, int status)
{
    print_begin(request);
    report_status(request, "", status);
    if (status == FFFS_ERR_CORRUPT && request->shaped)
        diagnose_index(request->image, &request->shape, report_index, request);
    return print_end(request);
}

static int check(struct request *request)
{
    int code, status = image_open(&request->image, request->path, NOR_TIME_ESP32S3_FIT);

    if (status != FFFS_OK)  /* damage beyond mounting, or a file that is cut short, is an error of the volume */
        return status == FFFS_ERR_CORRUPT || status == FFFS_ERR_WRONG_SIZE ? CHECK_ERRORS : CHECK_FAILED;
    request->shaped = diagnose_shape(request->image, &request->shape);
    status = image_mount(request->image, FFFS_MOUNT_READ_ONLY);
    if (status == FFFS_OK) {
        code = check_mounted(request);
    } else if (status == FFFS_ERR_CORRUPT || status == FFFS_ERR_WRONG_SIZE) {
        code = check_unmounted(request, status);
    } else {
        tool_error(request->path, "%s", tool_status_text(status));
        code = CHECK_FAILED;
    }
    image_close(request->image);
    free(request->damaged);
    return code;
}

static int run(int argc, char **argv)
{
    struct request request;
    int option;

    memset(&request, 0, sizeof request);
    tool_failure_code = CHECK_FAILED;
    while ((option = getopt_long(argc, argv, "qh", options, NULL)) != -1) {
        switch (option) {
        case OPTION_JSON: request.json = 1; break;
        case 'q': request.quiet = 1; break;
        case 'h': return tool_help(&command_check);
        default: return tool_usage(&command_check, "wrong option");
        }
    }
    if (argc - optind != 1)
        return tool_usage(&command_check, "one IMAGE is needed");
    request.path = argv[optind];
    return check(&request);
}

const struct command command_check = { "check", "IMAGE [options]", "Checks an image; the exit codes are those of fsck.", help,
    CHECK_USAGE, run };

/* fastffs check: every invariant of an image, with the exit codes of fsck. */
#include "listing.h"
#include "reader.h"

#include <inttypes.h>
#include <string.h>

static const char help[] =
    "      --json            print as JSON\n"
    "  -q, --quiet           print nothing but errors\n"
    "\n"
    "Checks every invariant of docs/FORMAT.md and reads every file. Nothing is repaired or written. Exit codes:\n"
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

struct request {
    const char *path;
    int json, quiet;
    size_t findings;
    size_t files;
    uint64_t bytes;
};

static void print_finding(struct request *request, const struct fffs_finding *finding)
{
    if (request->json) {
        printf("%s\n    { \"invariant\": %d, ", request->findings == 0 ? "" : ",", finding->invariant);
        if (finding->address != no_address)
            printf("\"offset\": %" PRIu32 ", ", finding->address);
        tool_json_name(stdout, finding->name);
        fputs(", \"text\": ", stdout);
        tool_json_text(stdout, finding->text);
        fputs(" }", stdout);
    } else {
        printf("%s: ", request->path);
        if (finding->invariant > 0)
            printf("I%d: ", finding->invariant);
        if (finding->address != no_address)
            printf("offset 0x%08" PRIx32 ": ", finding->address);
        if (finding->name[0] != '\0')
            printf("'%s': ", tool_name_text(finding->name));
        printf("%s\n", finding->text);
    }
    request->findings++;
}

static void report(void *context, const struct fffs_finding *finding)
{
    print_finding(context, finding);
}

/* A finding of the tool itself: no invariant number. */
static void report_status(struct request *request, const char *name, int status)
{
    struct fffs_finding finding;

    memset(&finding, 0, sizeof finding);
    finding.address = no_address;
    finding.text = tool_status_text(status);
    snprintf(finding.name, sizeof finding.name, "%s", name);
    print_finding(request, &finding);
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

static int check_mounted(struct image *image, struct request *request)
{
    int status;

    if (request->json) {
        fputs("{\n  \"image\": ", stdout);
        tool_json_text(stdout, request->path);
        fputs(",\n  \"findings\": [", stdout);
    }
    status = fffs_check(&image->fs, report, request);
    if (status < 0)
        report_status(request, "", status);
    read_files(image, request);
    if (request->json)
        printf("%s],\n  \"files\": %zu,\n  \"bytes\": %" PRIu64 ",\n  \"clean\": %s\n}\n", request->findings > 0 ? "\n  " : "",
               request->files, request->bytes, request->findings == 0 ? "true" : "false");
    else if (!request->quiet)
        printf("%s: %s, %zu files, %" PRIu64 " bytes\n", request->path, request->findings == 0 ? "clean" : "DAMAGED",
               request->files, request->bytes);
    return request->findings == 0 ? CHECK_CLEAN : CHECK_ERRORS;
}

static int run(int argc, char **argv)
{
    struct request request;
    struct image *image;
    int option, code, status;

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
    status = image_open_mounted(&image, request.path, FFFS_MOUNT_READ_ONLY);
    if (status != FFFS_OK)  /* damage beyond mounting, or a file that is cut short, is an error of the volume */
        return status == FFFS_ERR_CORRUPT || status == FFFS_ERR_WRONG_SIZE ? CHECK_ERRORS : CHECK_FAILED;
    code = check_mounted(image, &request);
    image_close(image);
    return code;
}

const struct command command_check = { "check", "IMAGE [options]", "Checks an image; the exit codes are those of fsck.", help,
    CHECK_USAGE, run };

/* fastffs salvage: what can be proved of an image whose index is destroyed.
 *
 * Reads nodes, not the index. Of each name the newest version that nothing speaks against is written, and for each it is
 * told how far it is proved. Nothing is written outside the folder, and nothing in it is replaced. */
#include "salvage.h"
#include "spans.h"
#include "target.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "      --deleted         also files that the index tells were deleted\n"
    "      --sector-size N   the volume's, where no header of the index is left; makes the search faster and surer\n"
    "      --granule N       the same for the program granule\n"
    "      --dry-run         write nothing; DIR may be left out\n"
    "      --json            print the report as JSON\n"
    "  -v, --verbose         list also the older versions that were passed over\n"
    "\n"
    "For an image that does not mount; where it does, 'fastffs extract' gives its current files, this command also what was\n"
    "deleted or never committed. DIR must be new or empty. Of each name the newest version is written that nothing speaks\n"
    "against, and the report tells what is known of it:\n"
    "  proved       the node and the CRC of the data are right, or the file is empty\n"
    "  undisturbed  the node is right, the data has no CRC; it stands in the node's sector, which was neither erased nor\n"
    "               written since the node was: only a bit error or a cut erase can have changed it\n"
    "  unproved     the node is right, but the data may have been erased or overwritten in part\n"
    "  lost         there are intact nodes of this name, but no version whose data can be told\n"
    "  deleted      the index tells that it was deleted\n"
    "A name that can not be a path below DIR, or is too long for the host, is written as salvaged-OFFSET. Exit codes: 0 every\n"
    "name found was written, or is deleted; 1 some were not, or none was found.\n";

enum { OPTION_DELETED = 256, OPTION_SECTOR_SIZE, OPTION_GRANULE, OPTION_DRY_RUN, OPTION_JSON };
enum { BLANK_BLOCK = 256, OUTPUT_FACTOR = 4, WRITTEN_AS = 32 };

static const struct option options[] = {
    { "deleted", no_argument, NULL, OPTION_DELETED }, { "sector-size", required_argument, NULL, OPTION_SECTOR_SIZE },
    { "granule", required_argument, NULL, OPTION_GRANULE }, { "dry-run", no_argument, NULL, OPTION_DRY_RUN },
    { "json", no_argument, NULL, OPTION_JSON }, { "verbose", no_argument, NULL, 'v' }, { "help", no_argument, NULL, 'h' },
    { NULL, 0, NULL, 0 }
};

struct request {
    const char *path, *folder;
    uint32_t sector_bytes, granule_bytes;
    int deleted, dry_run, json, verbose;
};

enum verdict { PROVED, UNDISTURBED, UNPROVED, LOST, DELETED, VERDICTS };

static const char *const verdict_names[VERDICTS] = { "proved", "undisturbed", "unproved", "lost", "deleted" };

static const size_t none = (size_t)-1;

/* One name. */
struct result {
    size_t first, count;        /* of its versions in `order`, newest first */
    size_t chosen;              /* place in `order`, or none */
    size_t disputed;            /* another chosen version that claims some of the same bytes, or none */
    uint32_t blank_bytes;       /* in whole erased blocks */
    enum verdict verdict;
    char written_as[WRITTEN_AS];/* not under its name */
    const char *failure;        /* why it was not written; NULL: it was, or is not to be */
};

struct work {
    struct salvage salvage;
    const struct request *request;
    size_t *order;              /* versions by name, newest first */
    const char **reasons;       /* for each place in `order` why it is passed over, NULL: nothing speaks against it */
    struct result *results;
    size_t names;
    struct spans proved_data, proved_all;   /* owners: indices of versions */
    uint64_t room;              /* bytes of output left */
    int root;
};

static const struct salvage_version *version_at(const struct work *work, size_t place)
{
    return &work->salvage.versions[work->order[place]];
}

/* ---- Order ---- */

static const struct salvage *sorting; /* qsort() has no context */

static int compare_names(const struct salvage *salvage, const struct salvage_version *a, const struct salvage_version *b)
{
    size_t length = a->name_length < b->name_length ? a->name_length : b->name_length;
    int order = memcmp(salvage_name(salvage, a), salvage_name(salvage, b), length);

    return order != 0 ? order : (int)a->name_length - (int)b->name_length;
}

/* Names ascending; in a name newest first. Moved copies of a version have its stamp: then what is known decides. */
static int by_name(const void *x, const void *y)
{
    const struct salvage_version *a = &sorting->versions[*(const size_t *)x], *b = &sorting->versions[*(const size_t *)y];
    int order = compare_names(sorting, a, b);

    if (order != 0)
        return order;
    if (a->stamp != b->stamp)
        return a->stamp > b->stamp ? -1 : 1;
    if (a->state != b->state)
        return (int)b->state - (int)a->state;
    if (a->put != b->put)
        return a->put > b->put ? -1 : 1;
    if (a->named != b->named)
        return (int)b->named - (int)a->named;
    return a->end > b->end ? -1 : 1;
}

static void sort_names(struct work *work)
{
    struct salvage *salvage = &work->salvage;
    size_t i;

    work->order = tool_alloc(salvage->found * sizeof *work->order);
    work->reasons = tool_alloc(salvage->found * sizeof *work->reasons);
    work->results = tool_alloc(salvage->found * sizeof *work->results);
    for (i = 0; i < salvage->found; i++)
        work->order[i] = i;
    sorting = salvage;
    if (salvage->found > 0)
        qsort(work->order, salvage->found, sizeof *work->order, by_name);
    work->names = 0;
    for (i = 0; i < salvage->found; i++) {
        struct result *result;

        if (i == 0 || compare_names(salvage, version_at(work, i - 1), version_at(work, i)) != 0) {
            result = &work->results[work->names++];
            memset(result, 0, sizeof *result);
            result->first = i;
            result->chosen = result->disputed = none;
        }
        work->results[work->names - 1].count++;
    }
}

/* ---- What speaks against a version ---- */

struct collecting {
    struct spans *spans;
    size_t owner;
};

static int add_piece(void *context, uint32_t address, uint32_t bytes)
{
    struct collecting *to = context;

    spans_add(to->spans, address, address + bytes, to->owner);
    return 0;
}

/* The flash of all versions whose data is proved: those bytes are theirs. */
static void collect_proved(struct work *work)
{
    size_t i;

    for (i = 0; i < work->salvage.found; i++) {
        struct salvage_version *version = &work->salvage.versions[i];
        struct collecting data = { &work->proved_data, i }, all = { &work->proved_all, i };

        if (version->state != SALVAGE_PROVED)
            continue;
        (void)salvage_pieces(&work->salvage, version, 0, add_piece, &data);
        (void)salvage_pieces(&work->salvage, version, 1, add_piece, &all);
        spans_add(&work->proved_all, version->end - version->bytes, version->end, i);
    }
    spans_sort(&work->proved_data);
    spans_sort(&work->proved_all);
}

struct testing {
    const struct work *work;
    const struct salvage_version *version;
};

/* 1 when a proved version of another name has bytes of the piece. */
static int test_piece(void *context, uint32_t address, uint32_t bytes)
{
    const struct testing *of = context;
    size_t owner;

    return spans_find(&of->work->proved_all, address, address + bytes, &owner) &&
           compare_names(&of->work->salvage, &of->work->salvage.versions[owner], of->version) != 0;
}

static int is_deleted(const struct work *work, const struct salvage_version *version)
{
    return work->salvage.deleted != NULL && version->put != 0 && work->salvage.deleted[version->slot] > version->put;
}

/* Why a version is not taken; NULL: nothing speaks against it. */
static const char *objection(struct work *work, const struct salvage_version *version)
{
    struct testing of = { work, version };
    size_t owner;

    if (version->state == SALVAGE_BROKEN)
        return "the list of its extents is damaged or leads out of the image";
    if (version->state == SALVAGE_WRONG)
        return "the CRC of its data is wrong";
    if (spans_find(&work->proved_data, version->end - version->bytes, version->end, &owner))
        return "it stands inside the data of a proved file";
    if (version->state == SALVAGE_UNKNOWN && salvage_pieces(&work->salvage, version, 1, test_piece, &of) != 0)
        return "a proved file of another name has bytes of it";
    return NULL;
}

static void choose(struct work *work, struct result *result)
{
    size_t i, end = result->first + result->count;
    int deleted = 0;

    for (i = result->first; i < end; i++) {
        work->reasons[i] = result->chosen != none || deleted ? "older" : objection(work, version_at(work, i));
        if (work->reasons[i] != NULL)
            continue;
        if (is_deleted(work, version_at(work, i)) && !work->request->deleted) {
            work->reasons[i] = "deleted";
            deleted = 1; /* what is older was replaced or deleted before */
        } else {
            result->chosen = i;
        }
    }
    result->verdict = deleted ? DELETED : LOST;
    if (result->chosen != none)
        result->verdict = version_at(work, result->chosen)->state == SALVAGE_PROVED ? PROVED
                          : version_at(work, result->chosen)->near                  ? UNDISTURBED
                                                                                    : UNPROVED;
}

/* Two chosen versions that claim the same bytes, none of them proved: both are kept, both are told to be in doubt. */
static void find_disputes(struct work *work)
{
    struct spans spans = { NULL, 0, 0 };
    size_t i;

    for (i = 0; i < work->names; i++) {
        struct collecting to = { &spans, i };
        const struct salvage_version *version;

        if (work->results[i].chosen == none)
            continue;
        version = version_at(work, work->results[i].chosen);
        if (version->state != SALVAGE_UNKNOWN)
            continue;
        (void)salvage_pieces(&work->salvage, version, 1, add_piece, &to);
        spans_add(&spans, version->end - version->bytes, version->end, i);
    }
    spans_sort(&spans);
    for (i = 1; i < spans.count; i++) {
        size_t other = spans.list[i - 1].farthest, owner = spans.list[i].owner;

        if (spans.list[i - 1].reach <= spans.list[i].low || other == owner)
            continue;
        work->results[owner].disputed = other;
        work->results[other].disputed = owner;
        work->results[owner].verdict = work->results[other].verdict = UNPROVED;
    }
    spans_free(&spans);
}

/* ---- Writing ---- */

struct output {
    struct work *work;
    struct result *result;
    FILE *stream;               /* NULL: the bytes are only looked at */
};

static uint32_t count_blank(const uint8_t *bytes, uint32_t low, uint32_t high)
{
    uint32_t at, blank = 0;

    low = (low + (BLANK_BLOCK - 1u)) & ~(BLANK_BLOCK - 1u);
    for (at = low; at < high && high - at >= BLANK_BLOCK; at += BLANK_BLOCK)
        if (bytes[at] == 0xFF && memcmp(bytes + at, bytes + at + 1, BLANK_BLOCK - 1u) == 0)
            blank += BLANK_BLOCK;
    return blank;
}

static int put_piece(void *context, uint32_t address, uint32_t bytes)
{
    struct output *to = context;
    const uint8_t *image = to->work->salvage.bytes;

    to->result->blank_bytes += count_blank(image, address, address + bytes);
    return to->stream == NULL || fwrite(image + address, 1, bytes, to->stream) == bytes ? 0 : IMAGE_HOST_ERROR;
}

static int put_file(void *context, FILE *stream)
{
    struct output *to = context;

    to->stream = stream;
    to->result->blank_bytes = 0;
    return salvage_pieces(&to->work->salvage, version_at(to->work, to->result->chosen), 0, put_piece, to);
}

static void copy_name(const struct work *work, const struct salvage_version *version, char *name)
{
    memcpy(name, salvage_name(&work->salvage, version), version->name_length);
    name[version->name_length] = '\0';
}

/* Under its name, or else under one made from the place of its node. */
static void write_one(struct work *work, struct result *result)
{
    const struct salvage_version *version = version_at(work, result->chosen);
    struct output to = { work, result, NULL };
    char name[256];
    int status = IMAGE_HOST_ERROR;

    if (version->size > work->room) {
        result->failure = "the files found are together longer than a volume can hold: this one was left out";
        return;
    }
    work->room -= version->size;
    copy_name(work, version, name);
    if (work->request->dry_run) {
        if (put_file(&to, NULL) != 0)
            result->failure = "its pieces could not be read once more";
        if (target_refusal(name) == NULL)
            return;
    } else if (target_refusal(name) == NULL) {
        status = target_write(work->root, name, 1, put_file, &to);
    }
    if (status == FFFS_OK)
        return;
    snprintf(result->written_as, sizeof result->written_as, "salvaged-%08" PRIx32, version->end - version->bytes);
    if (!work->request->dry_run && target_write(work->root, result->written_as, 1, put_file, &to) != FFFS_OK) {
        tool_error(work->request->folder, "%s: %s", result->written_as, strerror(errno));
        result->failure = "it can not be written";
        result->written_as[0] = '\0';
    }
}

static void write_all(struct work *work)
{
    size_t i;

    work->room = (uint64_t)work->salvage.count * OUTPUT_FACTOR;
    for (i = 0; i < work->names; i++)
        if (work->results[i].chosen != none)
            write_one(work, &work->results[i]);
}

/* ---- Report ---- */

enum { NOTES = 6, NOTE_BYTES = 400 };

/* What else is to be said of a chosen version, as lines of text; returns how many. */
static size_t make_notes(const struct work *work, const struct result *result, char notes[NOTES][NOTE_BYTES])
{
    const struct salvage *salvage = &work->salvage;
    const struct salvage_version *version = version_at(work, result->chosen);
    char name[256];
    size_t count = 0;

    if (result->failure != NULL)
        snprintf(notes[count++], NOTE_BYTES, "NOT WRITTEN: %s", result->failure);
    if (result->written_as[0] != '\0')
        snprintf(notes[count++], NOTE_BYTES, "written as %s", result->written_as);
    if (result->blank_bytes > 0 && result->verdict == UNPROVED)
        snprintf(notes[count++], NOTE_BYTES, "%" PRIu32 " bytes of it read as erased", result->blank_bytes);
    if (result->disputed != none) {
        copy_name(work, version_at(work, work->results[result->disputed].chosen), name);
        snprintf(notes[count++], NOTE_BYTES, "'%s' claims some of the same bytes", tool_name_text(name));
    }
    if (salvage->headers > 0 && !version->named)
        snprintf(notes[count++], NOTE_BYTES, "no index record leads to it: it may never have been committed");
    if (salvage->maybe_deleted != NULL && salvage->maybe_deleted[version->slot])
        snprintf(notes[count++], NOTE_BYTES, "it may have been deleted: the index was so damaged that this can not be told");
    return count;
}

/* Whether a version passed over is worth a line: what is older than the chosen one for no other reason is not. */
static int is_shown(const struct work *work, size_t place)
{
    return work->reasons[place] != NULL && (work->request->verbose || strcmp(work->reasons[place], "older") != 0);
}

static void print_text(const struct work *work, const struct result *result)
{
    const struct salvage_version *version = version_at(work, result->chosen != none ? result->chosen : result->first);
    char name[256], notes[NOTES][NOTE_BYTES];
    size_t count = 0, i;

    copy_name(work, version, name);
    printf("%-11s '%s'", verdict_names[result->verdict], tool_name_text(name));
    if (result->chosen != none) {
        printf(", %" PRIu32 " bytes, stamp %" PRIu32 ", node at 0x%08" PRIx32, version->size, version->stamp,
               version->end - version->bytes);
        count = make_notes(work, result, notes);
    }
    if (result->count > 1)
        printf(", %zu versions passed over", result->count - (result->chosen != none));
    putchar('\n');
    for (i = 0; i < count; i++)
        printf("            %s\n", notes[i]);
    for (i = result->first; i < result->first + result->count; i++)
        if (is_shown(work, i))
            printf("            passed over: stamp %" PRIu32 ", %" PRIu32 " bytes, node at 0x%08" PRIx32 ": %s\n",
                   version_at(work, i)->stamp, version_at(work, i)->size, version_at(work, i)->end - version_at(work, i)->bytes,
                   work->reasons[i]);
}

static void print_json(const struct work *work, const struct result *result, int first)
{
    const struct salvage_version *version = version_at(work, result->chosen != none ? result->chosen : result->first);
    char name[256], notes[NOTES][NOTE_BYTES];
    const char *separator = "";
    size_t count = 0, i;

    copy_name(work, version, name);
    printf("%s\n    { ", first ? "" : ",");
    tool_json_name(stdout, name);
    printf(", \"state\": \"%s\"", verdict_names[result->verdict]);
    if (result->chosen != none) {
        count = make_notes(work, result, notes);
        printf(", \"bytes\": %" PRIu32 ", \"stamp\": %" PRIu32 ", \"offset\": %" PRIu32 ", \"written\": %s", version->size,
               version->stamp, version->end - version->bytes,
               result->failure == NULL && !work->request->dry_run ? "true" : "false");
    }
    fputs(", \"notes\": [", stdout);
    for (i = 0; i < count; i++) {
        fputs(i > 0 ? ", " : "", stdout);
        tool_json_text(stdout, notes[i]);
    }
    fputs("], \"passed_over\": [", stdout);
    for (i = result->first; i < result->first + result->count; i++) {
        if (work->reasons[i] == NULL)
            continue;
        printf("%s{ \"stamp\": %" PRIu32 ", \"bytes\": %" PRIu32 ", \"offset\": %" PRIu32 ", \"reason\": \"%s\" }", separator,
               version_at(work, i)->stamp, version_at(work, i)->size, version_at(work, i)->end - version_at(work, i)->bytes,
               work->reasons[i]);
        separator = ", ";
    }
    fputs("] }", stdout);
}

/* Prints the report; returns the exit code. */
static int report(const struct work *work)
{
    const struct salvage *salvage = &work->salvage;
    size_t counts[VERDICTS] = { 0 }, failed = 0, i;
    int json = work->request->json;

    if (json) {
        fputs("{\n  \"image\": ", stdout);
        tool_json_text(stdout, work->request->path);
        printf(",\n  \"index_headers\": %" PRIu32 ",\n  \"index_records\": %" PRIu32 ",\n  \"nodes\": %zu,\n  \"files\": [",
               salvage->headers, salvage->records, salvage->found);
    }
    for (i = 0; i < work->names; i++) {
        counts[work->results[i].verdict]++;
        failed += work->results[i].failure != NULL;
        if (json)
            print_json(work, &work->results[i], i == 0);
        else
            print_text(work, &work->results[i]);
    }
    if (json)
        printf("%s],\n  \"proved\": %zu,\n  \"undisturbed\": %zu,\n  \"unproved\": %zu,\n  \"lost\": %zu,\n  \"deleted\": %zu,\n"
               "  \"failed\": %zu\n}\n", work->names > 0 ? "\n  " : "", counts[PROVED], counts[UNDISTURBED], counts[UNPROVED],
               counts[LOST], counts[DELETED], failed);
    else
        printf("%s: %zu nodes, %" PRIu32 " index headers, %" PRIu32 " index records; %zu names: %zu proved, %zu undisturbed, "
               "%zu unproved, %zu lost, %zu deleted; %zu not written\n", work->request->path, salvage->found, salvage->headers,
               salvage->records, work->names, counts[PROVED], counts[UNDISTURBED], counts[UNPROVED], counts[LOST],
               counts[DELETED], failed);
    return work->names > 0 && counts[LOST] == 0 && failed == 0 ? EXIT_OK : EXIT_FAILED;
}

/* ---- All ---- */

static int salvage(const struct request *request, const uint8_t *bytes, uint32_t count, int root)
{
    struct work work;
    size_t i;
    int code;

    memset(&work, 0, sizeof work);
    work.request = request;
    work.root = root;
    salvage_scan(&work.salvage, bytes, count, request->sector_bytes, request->granule_bytes);
    sort_names(&work);
    collect_proved(&work);
    for (i = 0; i < work.names; i++)
        choose(&work, &work.results[i]);
    find_disputes(&work);
    write_all(&work);
    code = report(&work);
    if (work.salvage.budget == 0)
        tool_error(request->path, "it claims more extents than it can hold: not all versions were looked at");
    spans_free(&work.proved_data);
    spans_free(&work.proved_all);
    free(work.order);
    free(work.reasons);
    free(work.results);
    salvage_free(&work.salvage);
    return code;
}

/* 1 when the folder holds nothing. */
static int is_empty(int root)
{
    int copy = dup(root), empty = 1;
    DIR *folder = copy < 0 ? NULL : fdopendir(copy);
    struct dirent *entry;

    if (folder == NULL) {
        if (copy >= 0)
            close(copy);
        return 0;
    }
    while (empty && (entry = readdir(folder)) != NULL)
        empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    closedir(folder);
    return empty;
}

static int salvage_file(const struct request *request)
{
    uint32_t count;
    uint8_t *bytes = image_read_bytes(request->path, &count);
    int root = -1, code = EXIT_FAILED;

    if (bytes == NULL)
        return EXIT_FAILED;
    if (!request->dry_run)
        root = target_open(request->folder);
    if (request->dry_run || (root >= 0 && is_empty(root)))
        code = salvage(request, bytes, count, root);
    else if (root >= 0)
        tool_error(request->folder, "not empty: salvage replaces nothing");
    if (root >= 0)
        close(root);
    free(bytes);
    return code;
}

static int parse_power(const char *text, uint32_t low, uint32_t high, uint32_t *value)
{
    return tool_parse_size(text, value) == 0 && *value >= low && *value <= high && (*value & (*value - 1)) == 0;
}

static int run(int argc, char **argv)
{
    struct request request;
    int option;

    memset(&request, 0, sizeof request);
    while ((option = getopt_long(argc, argv, "vh", options, NULL)) != -1) {
        switch (option) {
        case OPTION_DELETED: request.deleted = 1; break;
        case OPTION_DRY_RUN: request.dry_run = 1; break;
        case OPTION_JSON: request.json = 1; break;
        case OPTION_SECTOR_SIZE:
            if (!parse_power(optarg, 256, 65536, &request.sector_bytes))
                return tool_usage(&command_salvage, "'%s' is not a sector size", optarg);
            break;
        case OPTION_GRANULE:
            if (!parse_power(optarg, 1, 256, &request.granule_bytes))
                return tool_usage(&command_salvage, "'%s' is not a granule", optarg);
            break;
        case 'v': request.verbose = 1; break;
        case 'h': return tool_help(&command_salvage);
        default: return tool_usage(&command_salvage, "wrong option");
        }
    }
    if (argc - optind != 2 && !(request.dry_run && argc - optind == 1))
        return tool_usage(&command_salvage, "IMAGE and DIR are needed");
    request.path = argv[optind];
    request.folder = argv[optind + 1];
    return salvage_file(&request);
}

const struct command command_salvage = { "salvage", "IMAGE DIR [options]",
    "Recovers what can be proved from an image whose index is destroyed.", help, EXIT_USAGE, run };

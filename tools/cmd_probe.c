/* fastffs probe: what mount, open, read, list and look-ups cost on this very image, in flash calls and in emulated time. */
#include "listing.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "      --cache N         bytes of index cache, 8 per file; 0: none; default: enough for --max-files\n"
    "      --scratch N       bytes of the work buffer, 256 to 65536; default 512\n"
    "      --file-buffer N   bytes of a file's buffer, 16 to 65536; default 256\n"
    "      --read-size N     bytes of one read call of the application; default 1024\n"
    "      --json            print as JSON\n"
    "\n"
    "Works on a copy in memory; the image is not changed. Two time models: 'esp32s3-fit', fitted to an ESP32-S3 with its\n"
    "flash driver, and 'w25q64', the chip alone. 'bytes' are those of read calls, 'worst' is the slowest of the operations.\n";

enum { OPTION_CACHE = 256, OPTION_SCRATCH, OPTION_FILE_BUFFER, OPTION_READ_SIZE, OPTION_JSON };
enum { BUFFER_MAX = 65536, SMALL_FILE_BYTES = 64, SMALL_FILES = 16 };
enum { MODELS = 2 };

static const struct option options[] = {
    { "cache", required_argument, NULL, OPTION_CACHE }, { "scratch", required_argument, NULL, OPTION_SCRATCH },
    { "file-buffer", required_argument, NULL, OPTION_FILE_BUFFER }, { "read-size", required_argument, NULL, OPTION_READ_SIZE },
    { "json", no_argument, NULL, OPTION_JSON }, { "help", no_argument, NULL, 'h' }, { NULL, 0, NULL, 0 }
};

static const struct {
    const char *name;
    int model;
} models[MODELS] = { { "esp32s3-fit", NOR_TIME_ESP32S3_FIT }, { "w25q64", NOR_TIME_W25Q64 } };

enum operation { MOUNT, OPEN, READ, LIST, FOLDER, HIT, MISS, CREATE, REPLACE, DELETE, UNMOUNT, OPERATIONS };

static const char *const operation_names[OPERATIONS] = {
    "mount", "open", "read whole file", "list all names", "directory read", "look-up, exists", "look-up, missing",
    "create 64 bytes", "replace 64 bytes", "delete", "unmount"
};

struct row {
    uint64_t count;
    struct nor_counts sums;
    uint64_t total_ns, worst_ns;
};

struct request {
    uint32_t cache_bytes, scratch_bytes, file_buffer_bytes, read_bytes;
    int json, cache_given;
};

struct probe {
    struct image *image;
    const struct listing *listing;
    const struct request *request;
    struct row *rows;           /* of this model */
    void *file_buffer;
    uint8_t *data;
    int status;                 /* the first that was unexpected */
};

/* ---- Measuring ---- */

static void begin(struct probe *probe)
{
    nor_reset_counts(probe->image->nor);
}

/* Books what happened since begin() under an operation; returns 0 when the status is an error. */
static int end(struct probe *probe, enum operation operation, int status)
{
    const struct nor_counts *counts = nor_counts(probe->image->nor);
    struct row *row = &probe->rows[operation];
    uint64_t ns = image_time_ns(probe->image);
    int op;

    if (status < 0) {
        if (probe->status == FFFS_OK)
            probe->status = status;
        return 0;
    }
    row->count++;
    row->total_ns += ns;
    row->worst_ns = ns > row->worst_ns ? ns : row->worst_ns;
    for (op = 0; op < NOR_OPS; op++) {
        row->sums.calls[op] += counts->calls[op];
        row->sums.bytes[op] += counts->bytes[op];
    }
    return 1;
}

static void read_one(struct probe *probe, const char *name)
{
    struct fffs *fs = &probe->image->fs;
    struct fffs_file file;
    int32_t got = 0;
    int status;

    memset(&file, 0, sizeof file);
    begin(probe);
    status = fffs_open(fs, &file, name, FFFS_READ, probe->file_buffer, probe->request->file_buffer_bytes);
    if (!end(probe, OPEN, status))
        return;
    begin(probe);
    do
        got = fffs_read(fs, &file, probe->data, probe->request->read_bytes);
    while (got > 0);
    status = fffs_close(fs, &file);
    end(probe, READ, got < 0 ? (int)got : status);
}

/* A name in the same folder that the image does not have; 0 when there is none. */
static int missing_name(const struct listing *listing, size_t index, char *name)
{
    static const char tries[] = "~#%+=";
    size_t length = strlen(listing->entries[index].name), i;

    memcpy(name, listing->entries[index].name, length + 1);
    for (i = 0; i < sizeof tries - 1; i++) {
        name[length - 1] = tries[i];
        if (listing_find(listing, name) == NULL)
            return 1;
    }
    return 0;
}

static void look_up(struct probe *probe, size_t index)
{
    struct fffs *fs = &probe->image->fs;
    char name[FFFS_NAME_MAX + 1];
    struct fffs_info info;

    begin(probe);
    end(probe, HIT, fffs_stat(fs, probe->listing->entries[index].name, &info));
    if (!missing_name(probe->listing, index, name))
        return;
    begin(probe);
    end(probe, MISS, fffs_exists(fs, name));
}

static int ignore_entry(void *context, const struct fffs_info *info)
{
    (void)context, (void)info;
    return 0;
}

static void list_names(struct probe *probe)
{
    struct fffs *fs = &probe->image->fs;
    struct fffs_dir dir;
    struct fffs_info info;
    int status;

    begin(probe);
    end(probe, LIST, fffs_list(fs, "", ignore_entry, NULL));
    memset(&dir, 0, sizeof dir);
    begin(probe);
    status = fffs_dir_open(fs, &dir, "", 0);
    if (status == FFFS_OK) {
        while ((status = fffs_dir_read(fs, &dir, &info)) == 1)
            ;
        (void)fffs_dir_close(fs, &dir);
    }
    end(probe, FOLDER, status);
}

static int write_small(struct probe *probe, const char *name)
{
    struct fffs *fs = &probe->image->fs;
    struct fffs_file file;
    int status;

    memset(&file, 0, sizeof file);
    status = fffs_open(fs, &file, name, FFFS_WRITE | FFFS_CREATE | FFFS_TRUNCATE, probe->file_buffer,
                       probe->request->file_buffer_bytes);
    if (status != FFFS_OK)
        return status;
    status = (int)fffs_write(fs, &file, probe->data, SMALL_FILE_BYTES);
    if (status < 0) {
        (void)fffs_discard(fs, &file);
        return status;
    }
    return fffs_close(fs, &file);
}

/* On a full image this ends early: fewer of these operations are then counted, which is no error. */
static void write_files(struct probe *probe)
{
    char name[32];
    int i, status = FFFS_OK;

    memset(probe->data, 0x5A, SMALL_FILE_BYTES);
    for (i = 0; i < SMALL_FILES && status == FFFS_OK; i++) {
        snprintf(name, sizeof name, ".probe/%d", i);
        begin(probe);
        status = write_small(probe, name);
        if (status == FFFS_OK)
            end(probe, CREATE, status);
        begin(probe);
        status = status == FFFS_OK ? write_small(probe, name) : status;
        if (status == FFFS_OK)
            end(probe, REPLACE, status);
        begin(probe);
        status = status == FFFS_OK ? fffs_delete(&probe->image->fs, name) : status;
        if (status == FFFS_OK)
            end(probe, DELETE, status);
    }
    if (status != FFFS_OK && status != FFFS_ERR_NO_SPACE && status != FFFS_ERR_INDEX_FULL && probe->status == FFFS_OK)
        probe->status = status;
}

static void measure(struct probe *probe)
{
    size_t i;

    begin(probe);
    if (!end(probe, MOUNT, image_mount(probe->image, 0)))
        return;
    for (i = 0; i < probe->listing->count; i++)
        read_one(probe, probe->listing->entries[i].name);
    list_names(probe);
    for (i = 0; i < probe->listing->count; i++)
        look_up(probe, i);
    write_files(probe);
    begin(probe);
    end(probe, UNMOUNT, fffs_unmount(&probe->image->fs));
}

/* Gives the image the buffers that the device would have. */
static void set_buffers(struct image *image, const struct request *request)
{
    struct fffs_config *config = &image->config;

    free(config->write_buffer);
    config->write_buffer = NULL;
    config->write_buffer_bytes = 0;
    config->scratch = tool_resize(config->scratch, request->scratch_bytes);
    config->scratch_bytes = request->scratch_bytes;
    config->cache = tool_resize(config->cache, request->cache_bytes);
    config->cache_bytes = request->cache_bytes;
    if (request->cache_bytes == 0) {
        free(config->cache);
        config->cache = NULL;
    }
}

static int probe_model(const char *path, const struct listing *listing, const struct request *request, int model,
                       struct row *rows)
{
    struct probe probe;
    int status;

    memset(&probe, 0, sizeof probe);
    status = image_open(&probe.image, path, model);
    if (status != FFFS_OK)
        return status;
    probe.listing = listing;
    probe.request = request;
    probe.rows = rows;
    probe.file_buffer = tool_alloc(request->file_buffer_bytes);
    probe.data = tool_alloc(request->read_bytes < SMALL_FILE_BYTES ? SMALL_FILE_BYTES : request->read_bytes);
    set_buffers(probe.image, request);
    measure(&probe);
    if (probe.status != FFFS_OK)
        tool_error(path, "not all could be measured: %s", tool_status_text(probe.status));
    free(probe.file_buffer);
    free(probe.data);
    image_close(probe.image);
    return probe.status;
}

/* ---- Printing ---- */

static double per(uint64_t sum, uint64_t count)
{
    return count == 0 ? 0.0 : (double)sum / (double)count;
}

static void print_text(const char *path, const struct listing *listing, const struct request *request,
                       struct row rows[MODELS][OPERATIONS])
{
    char mean[MODELS][TOOL_SIZE_TEXT], worst[MODELS][TOOL_SIZE_TEXT];
    int operation, model;

    printf("%s: %zu files, %" PRIu64 " bytes; cache %" PRIu32 ", scratch %" PRIu32 ", file buffer %" PRIu32 ", read calls of %"
           PRIu32 " bytes\n\n", path, listing->count, listing->bytes, request->cache_bytes, request->scratch_bytes,
           request->file_buffer_bytes, request->read_bytes);
    printf("%-17s %6s  %36s %23s %23s\n", "", "", "flash calls per operation       ", models[0].name, models[1].name);
    printf("%-17s %6s  %8s %8s %7s %10s %12s%11s %12s%11s\n", "operation", "count", "reads", "programs", "erases", "bytes",
           "mean", "worst", "mean", "worst");
    for (operation = 0; operation < OPERATIONS; operation++) {
        const struct row *row = &rows[0][operation];

        if (row->count == 0)
            continue;
        for (model = 0; model < MODELS; model++) {
            tool_time_text(rows[model][operation].total_ns / row->count, mean[model]);
            tool_time_text(rows[model][operation].worst_ns, worst[model]);
        }
        printf("%-17s %6" PRIu64 "  %8.2f %8.2f %7.2f %10.1f %12s%11s %12s%11s\n", operation_names[operation], row->count,
               per(row->sums.calls[NOR_READ], row->count), per(row->sums.calls[NOR_PROGRAM], row->count),
               per(row->sums.calls[NOR_ERASE], row->count), per(row->sums.bytes[NOR_READ], row->count), mean[0], worst[0],
               mean[1], worst[1]);
    }
}

static void print_json(const char *path, const struct listing *listing, const struct request *request,
                       struct row rows[MODELS][OPERATIONS])
{
    int operation, model;

    fputs("{\n  \"image\": ", stdout);
    tool_json_text(stdout, path);
    printf(",\n  \"files\": %zu, \"bytes\": %" PRIu64 ", \"cache_bytes\": %" PRIu32 ", \"scratch_bytes\": %" PRIu32
           ", \"file_buffer_bytes\": %" PRIu32 ", \"read_bytes\": %" PRIu32 ",\n  \"operations\": [", listing->count,
           listing->bytes, request->cache_bytes, request->scratch_bytes, request->file_buffer_bytes, request->read_bytes);
    for (operation = 0; operation < OPERATIONS; operation++) {
        const struct row *row = &rows[0][operation];

        printf("%s\n    { \"operation\": \"%s\", \"count\": %" PRIu64 ", \"reads\": %" PRIu64 ", \"programs\": %" PRIu64
               ", \"erases\": %" PRIu64 ", \"read_bytes\": %" PRIu64 ", \"program_bytes\": %" PRIu64, operation > 0 ? "," : "",
               operation_names[operation], row->count, row->sums.calls[NOR_READ], row->sums.calls[NOR_PROGRAM],
               row->sums.calls[NOR_ERASE], row->sums.bytes[NOR_READ], row->sums.bytes[NOR_PROGRAM]);
        for (model = 0; model < MODELS; model++)
            printf(", \"%s\": { \"total_ns\": %" PRIu64 ", \"worst_ns\": %" PRIu64 " }", models[model].name,
                   rows[model][operation].total_ns, rows[model][operation].worst_ns);
        fputs(" }", stdout);
    }
    fputs("\n  ]\n}\n", stdout);
}

/* ---- Command line ---- */

static int read_names(const char *path, struct listing *listing, struct request *request)
{
    struct image *image;
    int status;

    memset(listing, 0, sizeof *listing);
    status = image_open_mounted(&image, path, FFFS_MOUNT_READ_ONLY);
    if (status != FFFS_OK)
        return status;
    if (!request->cache_given)
        request->cache_bytes = image->geometry.max_files * FFFS_CACHE_ENTRY_BYTES;
    status = listing_read(listing, image, "", 0);
    if (status < 0)
        tool_error(path, "%s", tool_status_text(status));
    image_close(image);
    return status;
}

static int probe(const char *path, struct request *request)
{
    static struct row rows[MODELS][OPERATIONS];
    struct listing listing;
    int model, status = read_names(path, &listing, request);

    for (model = 0; model < MODELS && status == FFFS_OK; model++)
        status = probe_model(path, &listing, request, models[model].model, rows[model]);
    if (status == FFFS_OK && request->json)
        print_json(path, &listing, request, rows);
    else if (status == FFFS_OK)
        print_text(path, &listing, request, rows);
    listing_free(&listing);
    return status == FFFS_OK ? EXIT_OK : EXIT_FAILED;
}

/* 0, or -1 when the option's value is no number of that range. */
static int take_number(uint32_t *number, uint32_t least, uint32_t most)
{
    return tool_parse_size(optarg, number) != 0 || *number < least || *number > most ? -1 : 0;
}

static int run(int argc, char **argv)
{
    struct request request = { 0, 512, 256, 1024, 0, 0 };
    int option, wrong = 0;

    while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        switch (option) {
        case OPTION_CACHE:
            wrong = take_number(&request.cache_bytes, 0, FFFS_CACHE_FULL_BYTES);
            request.cache_given = 1;
            break;
        case OPTION_SCRATCH: wrong = take_number(&request.scratch_bytes, FFFS_SCRATCH_MIN, BUFFER_MAX); break;
        case OPTION_FILE_BUFFER: wrong = take_number(&request.file_buffer_bytes, FFFS_FILE_BUFFER_MIN, BUFFER_MAX); break;
        case OPTION_READ_SIZE: wrong = take_number(&request.read_bytes, 1, 1024 * 1024); break;
        case OPTION_JSON: request.json = 1; break;
        case 'h': return tool_help(&command_probe);
        default: return tool_usage(&command_probe, "wrong option");
        }
        if (wrong)
            return tool_usage(&command_probe, "'%s' is not a size in the range of this option", optarg);
    }
    if (argc - optind != 1)
        return tool_usage(&command_probe, "one IMAGE is needed");
    return probe(argv[optind], &request);
}

const struct command command_probe = { "probe", "IMAGE [options]",
    "Measures flash calls and emulated time of common operations on an image.", help, EXIT_USAGE, run };

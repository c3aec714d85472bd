/* One volume: device, buffers, mount, and the comparison with the model. */
#include "session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS_PER_BRANCH = 400000 };

/* ---- The tap: an endless loop in the library becomes a failure ---- */

static void count_call(struct session *session)
{
    if (session->calls_left == 0)
        sweep_fail(session, "endless: more than %d driver calls", (int)CALLS_PER_BRANCH);
    session->calls_left--;
}

static int tap_read(void *context, uint32_t address, void *buffer, uint32_t bytes)
{
    struct session *session = context;
    const struct fffs_flash *flash = nor_flash(session->nor);

    count_call(session);
    return flash->read(flash->context, address, buffer, bytes);
}

static int tap_program(void *context, uint32_t address, const void *data, uint32_t bytes)
{
    struct session *session = context;
    const struct fffs_flash *flash = nor_flash(session->nor);

    count_call(session);
    return flash->program(flash->context, address, data, bytes);
}

static int tap_erase(void *context, uint32_t address, uint32_t bytes)
{
    struct session *session = context;
    const struct fffs_flash *flash = nor_flash(session->nor);

    count_call(session);
    return flash->erase(flash->context, address, bytes);
}

static void *take(size_t bytes)
{
    void *block = calloc(1, bytes == 0 ? 1 : bytes);

    if (block == NULL)
        abort();
    return block;
}

void session_create(struct session *session, struct sweep *sweep, const struct point *point, unsigned level)
{
    struct nor_config device;
    uint32_t i;

    memset(session, 0, sizeof *session);
    session->sweep = sweep;
    session->level = level;
    point_device(point, &device);
    session->nor = nor_create(&device);
    session->flash = *nor_flash(session->nor);
    session->flash.read = tap_read;
    session->flash.program = tap_program;
    session->flash.erase = tap_erase;
    session->flash.is_blank = NULL;
    session->flash.sync = NULL;
    session->flash.map = NULL;
    session->flash.context = session;
    session->point = point;
    session->config.flash = &session->flash;
    session->config.scratch_bytes = point->scratch_bytes;
    session->config.scratch = take(point->scratch_bytes);
    session->config.segment_table_entries = FFFS_SEGMENTS_MAX(device.size_bytes, point->sector_bytes);
    session->config.segment_table = take(session->config.segment_table_entries * sizeof(uint16_t));
    session->config.cache_bytes = point->cache_bytes;
    session->config.cache = point->cache_bytes != 0 ? take(point->cache_bytes) : NULL;
    session->config.write_buffer_bytes = point->write_buffer_bytes;
    session->config.write_buffer = point->write_buffer_bytes != 0 ? take(point->write_buffer_bytes) : NULL;
    session->config.level_every = (uint16_t)point->level_every;
    session->buffer = take(point->file_buffer_bytes);
    for (i = 0; i < SESSION_WRITERS; i++)
        session->writers[i].buffer = take(point->file_buffer_bytes);
    for (i = 0; i < SESSION_READERS; i++)
        session->readers[i].buffer = take(point->file_buffer_bytes);
}

void session_destroy(struct session *session)
{
    uint32_t i;

    nor_destroy(session->nor);
    free(session->config.scratch);
    free(session->config.segment_table);
    free(session->config.cache);
    free(session->config.write_buffer);
    free(session->buffer);
    for (i = 0; i < SESSION_WRITERS; i++)
        free(session->writers[i].buffer);
    for (i = 0; i < SESSION_READERS; i++)
        free(session->readers[i].buffer);
}

/* ---- Power ---- */

void session_power_off(struct session *session)
{
    uint32_t i;

    memset(&session->fs, 0, sizeof session->fs);
    for (i = 0; i < SESSION_WRITERS; i++) {
        session->writers[i].open = 0;
        memset(&session->writers[i].file, 0, sizeof session->writers[i].file);
    }
    for (i = 0; i < SESSION_READERS; i++) {
        session->readers[i].open = 0;
        memset(&session->readers[i].file, 0, sizeof session->readers[i].file);
    }
    session->mounted = 0;
    session->calls_left = CALLS_PER_BRANCH;
}

int session_mount(struct session *session, uint32_t more_flags)
{
    int status;

    session_power_off(session);
    session->config.flags = session->point->flags | more_flags;
    status = fffs_mount(&session->fs, &session->config);
    session->mounted = status == FFFS_OK;
    return status;
}

int session_unmount(struct session *session)
{
    uint32_t i;
    int status = FFFS_OK;

    for (i = 0; i < SESSION_WRITERS; i++)
        if (session->writers[i].open)
            session_must(session, "discard", fffs_discard(&session->fs, &session->writers[i].file));
    for (i = 0; i < SESSION_READERS; i++)
        if (session->readers[i].open)
            session_must(session, "close of a reader", fffs_close(&session->fs, &session->readers[i].file));
    if (session->mounted)
        status = fffs_unmount(&session->fs);
    session_power_off(session);
    return status;
}

void session_format(struct session *session, uint32_t sectors)
{
    struct fffs_format_options options;
    memset(&options, 0, sizeof options);
    options.geometry.sector_bytes = session->point->sector_bytes;
    options.geometry.sector_count = sectors;
    options.geometry.segment_bytes = session->point->segment_bytes;
    options.geometry.max_files = session->point->max_files;
    session_power_off(session);
    session->config.flags = session->point->flags;
    session_must(session, "format", fffs_format(&session->fs, &session->config, &options));
    session_power_off(session);
}

/* ---- Calls that may not fail ---- */

void session_must(struct session *session, const char *what, int status)
{
    if (status < 0)
        sweep_fail(session, "%s answers %s", what, fffs_status_name(status));
    if (nor_counts(session->nor)->violations != 0)
        sweep_fail(session, "%s broke a rule of the flash", what);
}

int session_refused(int status)
{
    return status == FFFS_ERR_NO_SPACE || status == FFFS_ERR_INDEX_FULL || status == FFFS_ERR_COLLECT_FIRST;
}

/* ---- Files ---- */

/* Collection on demand; 0 when nothing more can be gained. */
static int collect(struct session *session)
{
    int action = fffs_gc_step(&session->fs, NULL, NULL);

    if (action < 0)
        session_must(session, "gc step", action);
    return action != FFFS_GC_IDLE;
}

int32_t session_append(struct session *session, struct fffs_file *file, const uint8_t *data, uint32_t bytes)
{
    int32_t result;

    do
        result = fffs_write(&session->fs, file, data, bytes);
    while (result == FFFS_ERR_COLLECT_FIRST && collect(session));
    return result;
}

int session_close(struct session *session, struct fffs_file *file)
{
    int status;

    do
        status = fffs_close(&session->fs, file);
    while (status == FFFS_ERR_COLLECT_FIRST && collect(session));
    if (status == FFFS_ERR_COLLECT_FIRST)
        session_must(session, "discard", fffs_discard(&session->fs, file));
    return status;
}

int session_write(struct session *session, uint32_t name, const struct version *version)
{
    struct fffs_file file;
    const uint8_t *data = model_data(version);
    uint32_t at = 0;
    int32_t result;

    memset(&file, 0, sizeof file);
    result = fffs_open(&session->fs, &file, model_name(name), FFFS_WRITE | FFFS_CREATE | FFFS_TRUNCATE, session->buffer,
                       session->point->file_buffer_bytes);
    if (result != FFFS_OK)
        return result;
    while (at < version->size) {
        uint32_t bytes = 1 + dice_below(&session->dice, version->size - at);

        result = session_append(session, &file, data + at, bytes);
        if (result < 0) {
            session_must(session, "discard", fffs_discard(&session->fs, &file));
            return result;
        }
        at += bytes;
    }
    model_change(model_doubt(&session->model), name, *version);
    return session_close(session, &file);
}

/* ---- Comparison ---- */

/* Reads a file whole: its size, or -1 when the name does not exist. */
static int32_t read_file(struct session *session, uint32_t name, uint8_t *to)
{
    struct fffs_file file;
    int32_t size, got = 0;
    int status;

    memset(&file, 0, sizeof file);
    status = fffs_open(&session->fs, &file, model_name(name), FFFS_READ, session->buffer,
                       session->point->file_buffer_bytes);
    if (status == FFFS_ERR_NOT_FOUND)
        return -1;
    if (status != FFFS_OK)
        sweep_fail(session, "open of \"%s\" answers %s", model_name(name), fffs_status_name(status));
    size = fffs_seek(&session->fs, &file, 0, FFFS_SEEK_END);
    if (size > MODEL_DATA_BYTES)
        sweep_fail(session, "\"%s\" has %ld bytes", model_name(name), (long)size);
    (void)fffs_seek(&session->fs, &file, 0, FFFS_SEEK_SET);
    while (got < size) {
        int32_t part = fffs_read(&session->fs, &file, to + got, (uint32_t)(size - got));

        if (part <= 0)
            sweep_fail(session, "read of \"%s\" at %ld answers %s", model_name(name), (long)got, fffs_status_name(part));
        got += part;
    }
    session_must(session, "close of a reader", fffs_close(&session->fs, &file));
    return size;
}

static int is_version(const struct version *version, const uint8_t *data, int32_t size)
{
    if (version->number == 0)
        return size < 0;
    return size >= 0 && (uint32_t)size == version->size && memcmp(data, model_data(version), version->size) == 0;
}

static void fail_content(struct session *session, uint32_t name, int32_t size, const char *wanted)
{
    const struct version *now = &session->model.now[name];

    sweep_fail(session, "\"%s\" reads as %s (%ld bytes), must be %s: version %lu (%ld bytes)", model_name(name),
               size < 0 ? "absent" : "something else", (long)size, wanted, (unsigned long)now->number,
               now->number == 0 ? -1L : (long)now->size);
}

static void look_at_group(struct session *session, struct group *group, int settle)
{
    static uint8_t data[MODEL_DATA_BYTES];
    int before = 1, after = 1;
    uint32_t i;

    for (i = 0; i < group->count; i++) {
        int32_t size = read_file(session, group->name[i], data);
        int is_before = is_version(&session->model.now[group->name[i]], data, size);
        int is_after = is_version(&group->after[i], data, size);

        if (!is_before && !is_after)
            fail_content(session, group->name[i], size, "the state before or after the call");
        before = before && is_before;
        after = after && is_after;
    }
    if (!before && !after)
        sweep_fail(session, "a change of %u names is half done", (unsigned)group->count);
    if (settle)
        model_settle_group(&session->model, group, after);
}

void session_look(struct session *session, int settle)
{
    static uint8_t data[MODEL_DATA_BYTES];
    uint32_t i;

    for (i = 0; i < session->model.names; i++) {
        int32_t size;

        if (session->model.groups > 0 && model_in_doubt(&session->model, i))
            continue;
        size = read_file(session, i, data);
        if (!is_version(&session->model.now[i], data, size))
            fail_content(session, i, size, "as committed");
    }
    for (i = 0; i < session->model.groups; i++)
        look_at_group(session, &session->model.doubt[i], settle);
    if (settle)
        session->model.groups = 0;
}

/* ---- Listings, check ---- */

struct listing {
    struct session *session;
    uint32_t seen, count;
};

static int see(void *context, const struct fffs_info *info)
{
    struct listing *listing = context;
    uint32_t i = 0;

    while (i < listing->session->model.names && strcmp(info->name, model_name(i)) != 0)
        i++;
    if (i == listing->session->model.names)
        sweep_fail(listing->session, "\"%s\" is listed and was never written", info->name);
    if ((listing->seen >> i & 1u) != 0)
        sweep_fail(listing->session, "\"%s\" is listed twice", info->name);
    if (listing->session->model.now[i].number == 0 || listing->session->model.now[i].size != info->size)
        sweep_fail(listing->session, "\"%s\" is listed with %lu bytes", info->name, (unsigned long)info->size);
    listing->seen |= 1u << i;
    listing->count++;
    return 0;
}

static void report(void *context, const struct fffs_finding *finding)
{
    sweep_fail(context, "check: I%d at 0x%lx: %s %s", finding->invariant, (unsigned long)finding->address, finding->text,
               finding->name);
}

void session_check(struct session *session)
{
    struct listing listing = { session, 0, 0 };
    struct fffs_info info;
    struct fffs_dir dir;
    int more;

    session_must(session, "list", fffs_list(&session->fs, "", see, &listing));
    if (listing.count != model_present(&session->model))
        sweep_fail(session, "the list call shows %u of %u files", (unsigned)listing.count, (unsigned)model_present(&session->model));
    listing.seen = listing.count = 0;
    memset(&dir, 0, sizeof dir);
    session_must(session, "open of a directory", fffs_dir_open(&session->fs, &dir, "", 0));
    while ((more = fffs_dir_read(&session->fs, &dir, &info)) == 1)
        (void)see(&listing, &info);
    session_must(session, "directory read", more);
    session_must(session, "close of a directory", fffs_dir_close(&session->fs, &dir));
    if (listing.count != model_present(&session->model))
        sweep_fail(session, "the directory shows %u of %u files", (unsigned)listing.count, (unsigned)model_present(&session->model));
    session_must(session, "check", fffs_check(&session->fs, report, session));
}

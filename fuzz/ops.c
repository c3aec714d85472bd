/* Fuzz target: the bytes are a program of API calls with faults of the flash (F1-F9 of docs/TESTING.md), cuts and mounts.
 *
 * A model knows which contents each name may have. After a fault that struck a change it has several; the next full mount
 * shows one of them, and from then on only that is right. A driver that lies, a flipped bit or a worn-out part end what can be
 * promised: from there on only crashes, broken rules of the flash and calls without bound are findings. Nor are broken rules
 * after a lie: where the mark of a session is not there, the next mount trusts what the clean mark before it tells (F7). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "emulator/nor.h"
#include "emulator/nor_fault.h"
#include "fuzz.h"
#include "src/crc32.h"

enum { NAMES = 9, WRITERS = 3, READERS = 2, CANDIDATES = 6, FILE_MAX = 3000 };

struct version {
    uint32_t size, seed;
    int present;
};

struct name {
    char text[48];
    struct version maybe[CANDIDATES];
    int count;                  /* of maybe; 1: certain */
};

struct writer {
    struct fffs_file file;
    uint8_t *buffer;
    struct version version;
    unsigned flags;
    int name;
    int open;
};

struct reader {
    struct fffs_file file;
    uint8_t *buffer;
    struct version version;
    uint32_t position;
    int open;
};

struct machine {
    struct nor *nor;
    struct fffs_flash flash;
    struct fuzz_volume volume;
    struct name names[NAMES];
    struct writer writers[WRITERS];
    struct reader readers[READERS];
    const uint8_t *at, *end;
    uint64_t calls, budget;
    uint32_t seeds;
    unsigned mode, flags;
    int shape;
    int mounted;
    int armed;                  /* a fault is planned */
    int tainted;                /* a call failed in this session: changes may be refused */
    int lawless;                /* nothing is promised any more */
    int lied;                   /* a lie of the driver was planned */
    int grown;                  /* what format would make now is another volume */
};

static struct machine machine;

/* ---- Devices ---- */

struct shape {
    uint32_t size, granule, sector, segment, sectors;
};

static const struct shape shapes[] = {
    {16 * 256, 1, 256, 256, 0}, {32 * 256, 1, 256, 512, 24}, {40 * 256, 8, 256, 256, 0}, {32 * 512, 16, 512, 512, 0},
    {24 * 256, 4, 256, 256, 0}, {32 * 2048, 256, 2048, 2048, 0}, {16 * 4096, 1, 4096, 4096, 0}
};

enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static struct nor *templates[SHAPES], *works[SHAPES];

static void enter(struct machine *m)
{
    if (m->calls++ >= m->budget)
        fuzz_fail("more than %llu driver calls", (unsigned long long)m->budget);
}

static int tap_read(void *context, uint32_t address, void *buffer, uint32_t bytes)
{
    struct machine *m = context;

    enter(m);
    return nor_flash(m->nor)->read(nor_flash(m->nor)->context, address, buffer, bytes);
}

static int tap_program(void *context, uint32_t address, const void *data, uint32_t bytes)
{
    struct machine *m = context;

    enter(m);
    return nor_flash(m->nor)->program(nor_flash(m->nor)->context, address, data, bytes);
}

static int tap_erase(void *context, uint32_t address, uint32_t bytes)
{
    struct machine *m = context;

    enter(m);
    return nor_flash(m->nor)->erase(nor_flash(m->nor)->context, address, bytes);
}

static const void *tap_map(void *context, uint32_t address, uint32_t bytes)
{
    struct machine *m = context;

    return nor_flash(m->nor)->map(nor_flash(m->nor)->context, address, bytes);
}

static void begin(struct machine *m, const char *doing)
{
    m->calls = 0;
    m->budget = 200000;
    fuzz_doing = doing;
}

static struct nor *make_device(const struct shape *shape)
{
    struct nor_config config;

    memset(&config, 0, sizeof config);
    config.size_bytes = shape->size;
    config.granule_bytes = shape->granule;
    config.erase_bytes[0] = 256;
    config.on_violation = NOR_COUNT;
    return nor_create(&config);
}

static void use_device(struct machine *m)
{
    const struct shape *shape = &shapes[m->shape];
    struct fffs_format_options options;
    struct fuzz_volume volume;
    struct nor *made;

    if (templates[m->shape] == NULL) {
        made = make_device(shape);
        memset(&options, 0, sizeof options);
        options.geometry.sector_bytes = shape->sector;
        options.geometry.segment_bytes = shape->segment;
        options.geometry.sector_count = shape->sectors;
        options.device_is_erased = 1;
        fuzz_volume_init(&volume, nor_flash(made), 0, FFFS_SEGMENTS_MAX(shape->size, shape->segment));
        if (fffs_format(&volume.fs, &volume.config, &options) != FFFS_OK)
            fuzz_fail("shape %d can not be formatted", m->shape);
        fuzz_volume_free(&volume);
        templates[m->shape] = made;
        works[m->shape] = make_device(shape);
    }
    m->nor = works[m->shape];
    nor_copy(m->nor, templates[m->shape]);
    m->flash = *nor_flash(m->nor);
    m->flash.context = m;
    m->flash.read = tap_read;
    m->flash.program = tap_program;
    m->flash.erase = tap_erase;
    m->flash.map = m->flash.map != NULL ? tap_map : NULL;
    m->flash.sync = NULL;
    m->flash.is_blank = NULL;
}

/* ---- The program ---- */

static uint32_t take(struct machine *m) { return m->at < m->end ? *m->at++ : 0; }
static uint32_t take16(struct machine *m)
{
    uint32_t low = take(m);
    return low | take(m) << 8;
}

static uint8_t pattern(uint32_t seed, uint32_t at)
{
    return (uint8_t)((at * 2654435761u + seed * 40503u) >> 13);
}

static void fill(uint8_t *to, uint32_t seed, uint32_t from, uint32_t bytes)
{
    uint32_t i;

    for (i = 0; i < bytes; i++)
        to[i] = pattern(seed, from + i);
}

/* Two names that differ and meet in one slot with one tag: only their nodes tell them apart. */
static void find_collision(char *a, char *b)
{
    static char found[2][16];
    uint32_t i, j, crcs[2000];

    for (i = 0; i < 2000 && found[0][0] == '\0'; i++) {
        char text[16];

        crcs[i] = fffs_crc32(0, text, (uint32_t)sprintf(text, "k%u", (unsigned)i)) & 0x7FFFFu;
        for (j = 0; j < i; j++)
            if (crcs[j] == crcs[i]) {
                sprintf(found[0], "k%u", (unsigned)i);
                sprintf(found[1], "k%u", (unsigned)j);
                break;
            }
    }
    strcpy(a, found[0][0] != '\0' ? found[0] : "k0");
    strcpy(b, found[1][0] != '\0' ? found[1] : "k1");
}

static void set_names(struct machine *m)
{
    static const char *const texts[NAMES - 2] = {"a", "a/1", "a/2", "a/b/3", "x", "y", "a-name-of-some-length-that-takes-room"};
    int i;

    for (i = 0; i < NAMES; i++) {
        if (i < NAMES - 2)
            strcpy(m->names[i].text, texts[i]);
        m->names[i].count = 1;
        memset(&m->names[i].maybe[0], 0, sizeof m->names[i].maybe[0]);
    }
    find_collision(m->names[NAMES - 2].text, m->names[NAMES - 1].text);
}

/* ---- What is allowed ---- */

static int off(const struct machine *m) { return nor_is_off(m->nor); }

/* An error of a change needs a reason. */
static void judge_change(struct machine *m, int status)
{
    if (status >= 0 || m->lawless || m->tainted)
        return;
    if (m->armed) {
        m->tainted = 1;
        return;
    }
    switch (status) {
    case FFFS_ERR_NO_SPACE:
    case FFFS_ERR_INDEX_FULL:
    case FFFS_ERR_COLLECT_FIRST:
    case FFFS_ERR_NOT_FOUND:
    case FFFS_ERR_EXISTS:
    case FFFS_ERR_READ_ONLY:
    case FFFS_ERR_ABANDONED:
        return;
    default:
        fuzz_fail("%s without a fault", fffs_status_name(status));
    }
}

/* An error of a read needs one too: a fault that is planned. */
static void judge_read(struct machine *m, int status)
{
    if (status < 0 && !m->lawless && !m->armed)
        fuzz_fail("%s without a fault", fffs_status_name(status));
}

/* ---- The model ---- */

static void set_certain(struct name *name, struct version version)
{
    name->maybe[0] = version;
    name->count = 1;
}

static void add_maybe(struct machine *m, struct name *name, struct version version)
{
    if (name->count == CANDIDATES)
        m->lawless = 1;
    else
        name->maybe[name->count++] = version;
}

/* A change of a name came to an end. */
static void settle_name(struct machine *m, int number, struct version version, int status)
{
    struct name *name = &m->names[number];

    if (status == FFFS_OK)
        set_certain(name, version);
    else if (status == FFFS_ERR_IO || status == FFFS_ERR_REMOUNT || off(m) || m->tainted)
        add_maybe(m, name, version);
}

/* Whether the name holds this version: 1, 0, or an error. */
static int holds(struct machine *m, const struct name *name, const struct version *version)
{
    uint8_t buffer[256], chunk[512], expected[512];
    struct fffs_file file;
    struct fffs_info info;
    uint32_t done = 0;
    int status, same = 1;

    memset(&file, 0, sizeof file);
    status = fffs_open(&m->volume.fs, &file, name->text, FFFS_READ, buffer, sizeof buffer);
    if (status == FFFS_ERR_NOT_FOUND)
        return !version->present;
    if (status != FFFS_OK)
        return status;
    status = fffs_fstat(&m->volume.fs, &file, &info);
    same = version->present && info.size == version->size && strcmp(info.name, name->text) == 0;
    while (status == FFFS_OK && same) {
        int32_t got = fffs_read(&m->volume.fs, &file, chunk, sizeof chunk);

        if (got <= 0) {
            status = got;
            break;
        }
        fill(expected, version->seed, done, (uint32_t)got);
        same = memcmp(expected, chunk, (size_t)got) == 0;
        done += (uint32_t)got;
    }
    (void)fffs_close(&m->volume.fs, &file);
    if (status == FFFS_OK && same && done != version->size)
        same = 0;
    return status == FFFS_OK ? same : status;
}

/* What a name shows must be one of its candidates; `final`: that is decided now. */
static void verify_name(struct machine *m, struct name *name, int final)
{
    int i, result = 0;

    for (i = 0; i < name->count; i++) {
        result = holds(m, name, &name->maybe[i]);
        if (result != 0)
            break;
    }
    if (m->lawless || m->armed)
        return;
    if (result < 0)
        fuzz_fail("%s answers %s", name->text, fffs_status_name(result));
    if (result == 0)
        fuzz_fail("%s holds none of its %d possible versions (the newest: %s, %u bytes)", name->text, name->count,
                  name->maybe[name->count - 1].present ? "there" : "deleted", (unsigned)name->maybe[name->count - 1].size);
    if (final)
        set_certain(name, name->maybe[i]);
}

static void count_name(void *context) { ++*(int *)context; }

static int visit_name(void *context, const struct fffs_info *info)
{
    (void)info;
    count_name(context);
    return 0;
}

static void report(void *context, const struct fffs_finding *finding)
{
    (void)context;
    fprintf(stderr, "I%d at %08x: %s %s\n", finding->invariant, (unsigned)finding->address, finding->text, finding->name);
}

static void verify(struct machine *m, int final)
{
    int i, listed = 0, least = 0, most = 0, status;

    for (i = 0; i < NAMES; i++) {
        begin(m, "verify");
        verify_name(m, &m->names[i], final);
    }
    begin(m, "list");
    status = fffs_list(&m->volume.fs, NULL, visit_name, &listed);
    if (m->lawless || m->armed)
        return;
    judge_read(m, status);
    for (i = 0; i < NAMES; i++) {
        least += m->names[i].count == 1 && m->names[i].maybe[0].present;
        most += m->names[i].count > 1 || m->names[i].maybe[0].present;
    }
    if (listed < least || listed > most)
        fuzz_fail("%d names listed, not %d to %d", listed, least, most);
}

static void check(struct machine *m)
{
    int findings;

    begin(m, "check");
    findings = fffs_check(&m->volume.fs, m->lawless || m->armed || m->tainted ? NULL : report, NULL);
    if (findings != 0 && !m->lawless && !m->armed && !m->tainted)
        fuzz_fail("check finds %d", findings);
}

/* ---- Power ---- */

static void close_handles(struct machine *m)
{
    int i;

    for (i = 0; i < WRITERS; i++) {
        free(m->writers[i].buffer);
        memset(&m->writers[i], 0, sizeof m->writers[i]);
    }
    for (i = 0; i < READERS; i++) {
        free(m->readers[i].buffer);
        memset(&m->readers[i], 0, sizeof m->readers[i]);
    }
}

static void lose_ram(struct machine *m)
{
    if (m->volume.blocks[0] != NULL)
        fuzz_volume_free(&m->volume);
    memset(&m->volume, 0, sizeof m->volume);
    close_handles(m);
    m->mounted = 0;
    m->tainted = 0;
}

static void mount(struct machine *m)
{
    int full = (m->flags & (FFFS_MOUNT_READ_ONLY | FFFS_MOUNT_DEFER_RECOVERY)) == 0, status;
    const struct shape *shape = &shapes[m->shape];

    lose_ram(m);
    fuzz_volume_init(&m->volume, &m->flash, m->mode, FFFS_SEGMENTS_MAX(shape->size, shape->segment));
    m->volume.config.flags = m->flags;
    begin(m, "mount");
    status = fffs_mount(&m->volume.fs, &m->volume.config);
    m->mounted = status == FFFS_OK;
    if (!m->mounted && !m->armed && !m->lawless)
        fuzz_fail("%s without a fault", fffs_status_name(status));
    if (m->mounted && !m->armed)
        verify(m, full);
    if (m->mounted && full && !m->armed)
        check(m);
}

/* The power comes back after a cut, or goes off and on without one. */
static void restart(struct machine *m)
{
    nor_fault_clear(m->nor);
    nor_power_on(m->nor);
    m->armed = 0;
    mount(m);
}

static void step_fault(struct machine *m)
{
    static const unsigned masks[] = {1u << NOR_PROGRAM | 1u << NOR_ERASE, 1u << NOR_PROGRAM, 1u << NOR_ERASE, 1u << NOR_READ};
    enum nor_fault_kind kind = (enum nor_fault_kind)(1u + take(m) % (NOR_FAULT_KINDS - 1u));
    uint32_t dice = take(m);
    unsigned mask = masks[dice & 3u];

    if (kind == NOR_FAULT_LIE)
        m->lawless = m->lied = 1;
    nor_fault_at(m->nor, dice >> 2 & 31u, mask, kind, take(m));
    m->armed = 1;
}

/* ---- Writers ---- */

static void step_open_writer(struct machine *m, struct writer *writer)
{
    static const unsigned modes[] = {FFFS_WRITE | FFFS_CREATE | FFFS_TRUNCATE, FFFS_WRITE | FFFS_CREATE, FFFS_WRITE | FFFS_TRUNCATE,
                                     FFFS_WRITE | FFFS_CREATE | FFFS_EXCLUSIVE};
    uint32_t dice = take(m), bytes = shapes[m->shape].granule > 32u ? 256u : 16u << (dice >> 6);
    int status;

    if (writer->open)
        return;
    writer->name = (int)(take(m) % NAMES);
    writer->flags = modes[dice & 3u];
    writer->buffer = malloc(bytes);
    writer->version.present = 1;
    writer->version.size = 0;
    writer->version.seed = ++m->seeds;
    begin(m, "open to write");
    status = fffs_open(&m->volume.fs, &writer->file, m->names[writer->name].text, writer->flags, writer->buffer, bytes);
    judge_change(m, status);
    writer->open = status == FFFS_OK;
    if (!writer->open) {
        free(writer->buffer);
        writer->buffer = NULL;
    }
}

static int write_some(struct machine *m, struct writer *writer, uint32_t bytes)
{
    uint8_t data[FILE_MAX];
    int32_t wrote;

    if (bytes > FILE_MAX - writer->version.size)
        bytes = FILE_MAX - writer->version.size;
    fill(data, writer->version.seed, writer->version.size, bytes);
    begin(m, "write");
    wrote = fffs_write(&m->volume.fs, &writer->file, data, bytes);
    judge_change(m, wrote);
    if (wrote >= 0 && wrote != (int32_t)bytes)
        fuzz_fail("a write of %u took %d", (unsigned)bytes, (int)wrote);
    if (wrote >= 0)
        writer->version.size += bytes;
    return wrote < 0 ? wrote : FFFS_OK;
}

static void end_writer(struct writer *writer)
{
    free(writer->buffer);
    memset(writer, 0, sizeof *writer);
}

static int step_close_writer(struct machine *m, struct writer *writer)
{
    int status;

    if (!writer->open)
        return FFFS_OK;
    begin(m, "close");
    status = fffs_close(&m->volume.fs, &writer->file);
    judge_change(m, status);
    if (status == FFFS_ERR_COLLECT_FIRST)
        return status;
    settle_name(m, writer->name, writer->version, status);
    end_writer(writer);
    return status;
}

static void step_discard(struct machine *m, struct writer *writer)
{
    if (!writer->open)
        return;
    begin(m, "discard");
    if (fffs_discard(&m->volume.fs, &writer->file) != FFFS_OK)
        fuzz_fail("a discard failed");
    end_writer(writer);
}

/* A whole file in pieces. */
static void step_put(struct machine *m)
{
    struct writer *writer = &m->writers[0];
    uint32_t size = take16(m) % FILE_MAX, piece = 1u + take(m) * 4u;
    int status = FFFS_OK;

    step_discard(m, writer);
    step_open_writer(m, writer);
    while (writer->open && status == FFFS_OK && writer->version.size < size)
        status = write_some(m, writer, piece < size - writer->version.size ? piece : size - writer->version.size);
    if (!writer->open)
        return;
    if (status != FFFS_OK || step_close_writer(m, writer) == FFFS_ERR_COLLECT_FIRST)
        step_discard(m, writer);
}

/* ---- Readers ---- */

static void step_open_reader(struct machine *m, struct reader *reader)
{
    uint32_t dice = take(m), bytes = shapes[m->shape].granule > 32u ? 256u : 16u << (dice >> 6);
    struct name *name = &m->names[dice % NAMES];
    int status;

    if (reader->open)
        return;
    reader->buffer = malloc(bytes);
    begin(m, "open to read");
    status = fffs_open(&m->volume.fs, &reader->file, name->text, FFFS_READ, reader->buffer, bytes);
    if (status == FFFS_OK) {
        reader->open = 1;
        reader->position = 0;
        reader->version = name->maybe[0];
        reader->version.present = name->count == 1; /* else it may be any of them */
        if (name->count == 1 && !name->maybe[0].present && !m->lawless)
            fuzz_fail("%s opens and does not exist", name->text);
        return;
    }
    if (status != FFFS_ERR_NOT_FOUND)
        judge_read(m, status);
    else if (name->count == 1 && name->maybe[0].present && !m->lawless && !m->armed)
        fuzz_fail("%s exists and is not found", name->text);
    free(reader->buffer);
    reader->buffer = NULL;
}

static void step_read(struct machine *m, struct reader *reader)
{
    uint8_t data[1100], expected[1100];
    uint32_t bytes = take(m) * 4u + 1u;
    int32_t got;

    if (!reader->open)
        return;
    if (take(m) % 4u == 0 && fffs_seek(&m->volume.fs, &reader->file, 0, FFFS_SEEK_SET) == 0)
        reader->position = 0;
    begin(m, "read");
    got = fffs_read(&m->volume.fs, &reader->file, data, bytes);
    if (got == FFFS_ERR_STALE || m->lawless)
        return;
    judge_read(m, got);
    if (got <= 0) {
        if (got == 0 && !m->armed && reader->version.present && reader->position != reader->version.size)
            fuzz_fail("a read ends at %u of %u", (unsigned)reader->position, (unsigned)reader->version.size);
        if (got < 0 && fffs_tell(&m->volume.fs, &reader->file) >= 0)
            reader->position = (uint32_t)fffs_tell(&m->volume.fs, &reader->file);
        return;
    }
    fill(expected, reader->version.seed, reader->position, (uint32_t)got);
    if (reader->version.present && memcmp(expected, data, (size_t)got) != 0)
        fuzz_fail("a reader of %u bytes sees something else at %u", (unsigned)reader->version.size, (unsigned)reader->position);
    reader->position += (uint32_t)got;
}

static void step_map(struct machine *m, struct reader *reader)
{
    const void *data;
    uint8_t expected[FILE_MAX];
    int32_t got;

    if (!reader->open)
        return;
    begin(m, "map");
    got = fffs_map(&m->volume.fs, &reader->file, take16(m) % (reader->version.size + 1u) / 2u, &data);
    if (got <= 0 || m->lawless || m->armed || !reader->version.present || got > FILE_MAX)
        return;
    (void)expected;
}

static void step_close_reader(struct machine *m, struct reader *reader)
{
    if (!reader->open)
        return;
    begin(m, "close a reader");
    if (fffs_close(&m->volume.fs, &reader->file) != FFFS_OK)
        fuzz_fail("a reader does not close");
    free(reader->buffer);
    memset(reader, 0, sizeof *reader);
}

/* ---- By name and volume ---- */

static void step_delete(struct machine *m)
{
    int number = (int)(take(m) % NAMES), status;
    struct version gone = {0, 0, 0};

    begin(m, "delete");
    status = fffs_delete(&m->volume.fs, m->names[number].text);
    judge_change(m, status);
    if (status != FFFS_ERR_NOT_FOUND)
        settle_name(m, number, gone, status);
    else if (m->names[number].count == 1 && m->names[number].maybe[0].present && !m->lawless && !m->armed && !m->tainted)
        fuzz_fail("%s exists and is not found", m->names[number].text);
}

static void step_delete_prefix(struct machine *m)
{
    static const char *const prefixes[] = {"a/", "a", "k", "zz"};
    const char *prefix = prefixes[take(m) % 4u];
    struct version gone = {0, 0, 0};
    int32_t count;
    int i;

    begin(m, "delete_prefix");
    count = fffs_delete_prefix(&m->volume.fs, prefix);
    judge_change(m, count);
    for (i = 0; i < NAMES; i++)
        if (strncmp(m->names[i].text, prefix, strlen(prefix)) == 0) {
            if (count >= 0)
                set_certain(&m->names[i], gone);
            else
                add_maybe(m, &m->names[i], gone);
        }
}

static void step_gc(struct machine *m)
{
    uint32_t dice = take(m);
    struct fffs_gc_limits limits = {0, 0};
    int status;

    begin(m, "gc");
    limits.budget_us = (dice & 2u) != 0 ? dice * 100u : 0;
    limits.largest_erase_bytes = (dice & 4u) != 0 ? 256u : 0;
    status = (dice & 1u) != 0 ? fffs_gc_step(&m->volume.fs, &limits, NULL) : fffs_gc(&m->volume.fs);
    judge_change(m, status);
}

static void step_unmount(struct machine *m)
{
    int status, i;

    for (i = 0; i < READERS; i++)
        step_close_reader(m, &m->readers[i]);
    for (i = 0; i < WRITERS; i++)
        step_discard(m, &m->writers[i]);
    begin(m, "unmount");
    status = fffs_unmount(&m->volume.fs);
    judge_change(m, status);
    m->mode = take(m);
    m->flags = take(m) & 63u;
    if (off(m))
        restart(m);
    else
        mount(m);
}

/* Format over the volume: all or nothing, a cut aside. */
static void step_format(struct machine *m)
{
    const struct shape *shape = &shapes[m->shape];
    struct fffs_format_options options;
    struct version gone = {0, 0, 0};
    int status, i;

    begin(m, "format while mounted");
    memset(&options, 0, sizeof options);
    options.geometry.sector_bytes = shape->sector;
    options.geometry.segment_bytes = shape->segment;
    options.geometry.sector_count = shape->sectors;
    if (fffs_format(&m->volume.fs, &m->volume.config, &options) != FFFS_ERR_BUSY)
        fuzz_fail("a mounted volume was formatted");
    lose_ram(m);
    fuzz_volume_init(&m->volume, &m->flash, m->mode, FFFS_SEGMENTS_MAX(shape->size, shape->segment));
    begin(m, "format");
    status = fffs_format(&m->volume.fs, &m->volume.config, &options);
    if (status != FFFS_OK && !m->armed && !m->lawless)
        fuzz_fail("%s without a fault", fffs_status_name(status));
    if (status == FFFS_OK)
        m->grown = 0;
    else if (m->grown)
        m->lawless = 1;         /* not one atomic change */
    for (i = 0; i < NAMES; i++) {
        if (status == FFFS_OK)
            set_certain(&m->names[i], gone);
        else
            add_maybe(m, &m->names[i], gone);
    }
    if (off(m))
        restart(m);
    else
        mount(m);
}

static void step_grow(struct machine *m)
{
    int status;

    begin(m, "grow");
    status = fffs_grow(&m->volume.fs, 0);
    judge_change(m, status);
    m->grown |= shapes[m->shape].sectors != 0 && status != FFFS_ERR_READ_ONLY;
}

static void step_damage(struct machine *m)
{
    uint32_t dice = take(m), address = take16(m);

    m->lawless = 1;
    if ((dice & 1u) != 0)
        nor_flip(m->nor, address % shapes[m->shape].size, dice >> 5);
    else
        nor_wear_out(m->nor, address % (shapes[m->shape].size / 256u), dice >> 1 & 3u);
}

/* Calls that make no sense: each answers an error and changes nothing. */
static void step_misuse(struct machine *m)
{
    struct fffs *fs = &m->volume.fs;
    struct writer *writer = &m->writers[take(m) % WRITERS];
    struct reader *reader = &m->readers[0];
    struct fffs_file stranger;
    uint8_t bytes[16];
    int status = 0;

    begin(m, "misuse");
    memset(&stranger, (int)take(m), sizeof stranger);
    switch (take(m) % 10u) {
    case 0: status = fffs_read(fs, &stranger, bytes, 1); break;
    case 1: status = fffs_close(fs, &stranger); break;
    case 2: status = writer->open ? fffs_read(fs, &writer->file, bytes, 1) : fffs_close(fs, &writer->file); break;
    case 3: status = reader->open ? fffs_write(fs, &reader->file, bytes, 1) : fffs_read(fs, &reader->file, bytes, 1); break;
    case 4: status = fffs_open(fs, &stranger, "", FFFS_READ, bytes, sizeof bytes); break;
    case 5: status = fffs_open(fs, &stranger, "x", FFFS_READ | FFFS_WRITE, bytes, sizeof bytes); break;
    case 6: status = fffs_mount(fs, &m->volume.config); break;
    case 7: status = writer->open ? fffs_unmount(fs) : fffs_discard(fs, &writer->file); break;
    case 8: status = fffs_open(fs, &stranger, "x", FFFS_READ, m->volume.config.scratch, 16); break;
    default: status = fffs_delete_prefix(fs, ""); break;
    }
    if (status >= 0)
        fuzz_fail("a misuse was answered %d", status);
}

static void step(struct machine *m)
{
    uint32_t op = take(m);
    struct writer *writer = &m->writers[(op >> 5) % WRITERS];
    struct reader *reader = &m->readers[(op >> 5) % READERS];
    struct fffs_space space;

    switch (op & 31u) {
    case 0: step_open_writer(m, writer); break;
    case 1: case 2: if (writer->open) (void)write_some(m, writer, take16(m) % 700u); break;
    case 3: (void)step_close_writer(m, writer); break;
    case 4: step_discard(m, writer); break;
    case 5: step_open_reader(m, reader); break;
    case 6: step_read(m, reader); break;
    case 7: step_close_reader(m, reader); break;
    case 8: step_map(m, reader); break;
    case 9: case 10: step_delete(m); break;
    case 11: step_delete_prefix(m); break;
    case 12: case 13: case 14: step_gc(m); break;
    case 15: begin(m, "settle"); judge_change(m, fffs_settle(&m->volume.fs)); break;
    case 16: step_unmount(m); break;
    case 17: m->flags = take(m) & 63u; restart(m); break;
    case 18: case 19: step_fault(m); break;
    case 20: check(m); break;
    case 21: begin(m, "space"); (void)fffs_space(&m->volume.fs, &space); break;
    case 22: if (op >> 5 == 7u) step_damage(m); break;
    case 23: step_misuse(m); break;
    case 24: if (op >> 5 == 7u) step_format(m); break;
    case 25: step_grow(m); break;
    default: step_put(m); break;
    }
}

static void judge_rules(const struct machine *m)
{
    if (nor_counts(m->nor)->violations > 0 && !m->lied)
        fuzz_fail("a rule of the flash was broken");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct machine *m = &machine;
    int steps;

    memset(m, 0, sizeof *m);
    m->at = data;
    m->end = data + size;
    m->shape = (int)(take(m) % SHAPES);
    m->mode = take(m);
    m->flags = take(m) & 63u & ~(unsigned)FFFS_MOUNT_READ_ONLY;
    use_device(m);
    set_names(m);
    mount(m);
    for (steps = 0; steps < 300 && m->at < m->end; steps++) {
        if (!m->mounted || off(m))
            restart(m);
        if (!m->mounted)
            break; /* damaged beyond: allowed where nothing is promised */
        step(m);
        judge_rules(m);
    }
    m->flags = 0;
    restart(m);
    judge_rules(m);
    lose_ram(m);
    return 0;
}

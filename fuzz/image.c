/* Fuzz target: any bytes as a volume. It is discovered, mounted read-only with two different caches (both must show the
 * same), listed, read, checked and inspected; then mounted to write, used, unmounted and mounted again.
 *
 * Whatever the bytes: no access beyond a buffer, no driver call against its contract, no program or erase on a read-only
 * mount, no call that costs more than its budget. A volume in which check finds nothing must work as any other does: what
 * is written is read back, nothing is programmed that is not erased, and check finds nothing afterwards. */
#include <stdlib.h>
#include <string.h>
#include "fuzz.h"
#include "fastffs/fffs_inspect.h"
#include "src/crc32.h"

static struct fuzz_flash flash;
static uint8_t original[FUZZ_FLASH_MAX];

/* ---- Budgets: what one call may cost, from the size of the volume ---- */

struct cost {
    uint64_t log;               /* strides of the index area: the most records, and the most a walk of the log reads */
    uint64_t node;              /* the most that reading one node and going through its extents takes */
};

static struct cost cost_of(const struct fffs_geometry *geometry)
{
    uint32_t stride = geometry->granule_bytes > 8u ? geometry->granule_bytes : 8u;
    uint64_t bytes = (uint64_t)geometry->sector_bytes * geometry->sector_count;
    struct cost cost;

    cost.log = geometry->index_bytes / stride + 100u;
    cost.node = 32u + bytes / 16u;
    return cost;
}

/* A call that walks the log `walks` times and goes through `nodes` nodes. */
static void allow(const struct cost *cost, uint64_t walks, uint64_t nodes, const char *doing)
{
    fuzz_budget(&flash, 2000u + walks * cost->log + nodes * cost->node, doing);
}

/* ---- Reading ---- */

struct view {                   /* what a mount shows */
    uint32_t names, digest;
};

static void read_file(struct fuzz_volume *volume, const struct cost *cost, const char *name, struct view *view)
{
    static uint8_t chunk[700];
    uint8_t *buffer = malloc(300);
    struct fffs_file file;
    struct fffs_info info;
    uint32_t crc = fffs_crc32(0, name, (uint32_t)strlen(name)), total = 0;
    int32_t got;
    int status;

    memset(&file, 0, sizeof file);
    allow(cost, 64, 64, "open");
    status = fffs_open(&volume->fs, &file, name, FFFS_READ, buffer, 16u + crc % 285u);
    if (status == FFFS_ERR_INVALID)
        status = fffs_open(&volume->fs, &file, name, FFFS_READ, buffer, 300);
    if (status == FFFS_OK) {
        allow(cost, 64, 64, "fstat");
        status = fffs_fstat(&volume->fs, &file, &info);
        do {
            allow(cost, 64, 64, "read");
            got = fffs_read(&volume->fs, &file, chunk, 1u + (crc ^ total) % (uint32_t)sizeof chunk);
            if (got > (int32_t)sizeof chunk)
                fuzz_fail("a read of more than was asked for");
            if (got > 0) {
                crc = fffs_crc32(crc, chunk, (uint32_t)got);
                total += (uint32_t)got;
            }
        } while (got > 0 && total < 4u * FUZZ_FLASH_MAX); /* extents may overlap: a size is not bounded by the volume */
        status = got < 0 ? got : FFFS_OK;
        if (status == FFFS_OK && total < 4u * FUZZ_FLASH_MAX && fffs_tell(&volume->fs, &file) != (int32_t)total)
            fuzz_fail("position is not what was read");
        (void)fffs_seek(&volume->fs, &file, -1, FFFS_SEEK_END);
        (void)fffs_read(&volume->fs, &file, chunk, 1);
        if (fffs_close(&volume->fs, &file) != FFFS_OK)
            fuzz_fail("a reader does not close");
    }
    view->digest += fffs_crc32(crc, &status, sizeof status);
    free(buffer);
}

static void read_all(struct fuzz_volume *volume, const struct cost *cost, const char *prefix, char delimiter,
                     struct view *view)
{
    struct fffs_dir dir;
    struct fffs_info info;
    uint32_t entries = 0, errors = 0;
    int status;

    memset(&dir, 0, sizeof dir);
    if (fffs_dir_open(&volume->fs, &dir, prefix, delimiter) != FFFS_OK)
        return;
    for (;;) {
        allow(cost, 64, 256, "dir_read");
        status = fffs_dir_read(&volume->fs, &dir, &info);
        if (status == 0)
            break;
        if (entries++ > 65536u)
            fuzz_fail("a listing without end");
        if (status == 1 && delimiter == 0) {
            view->names++;
            read_file(volume, cost, info.name, view);
        } else if (status < 0) {
            view->digest += (uint32_t)status;
            if (status != FFFS_ERR_CORRUPT && status != FFFS_ERR_NAME_TOO_LONG)
                break;
            errors++;
        }
    }
    if (fffs_dir_close(&volume->fs, &dir) != FFFS_OK)
        fuzz_fail("a directory does not close");
}

static int count_name(void *context, const struct fffs_info *info)
{
    (void)info;
    ++*(uint32_t *)context;
    return 0;
}

static int count_item(void *context, const struct fffs_item *item)
{
    (void)item;
    ++*(uint32_t *)context;
    return 0;
}

static void count_finding(void *context, const struct fffs_finding *finding)
{
    if (finding->text == NULL)
        fuzz_fail("a finding without text");
    ++*(uint32_t *)context;
}

static int check(struct fuzz_volume *volume, const struct cost *cost)
{
    uint32_t told = 0;
    int findings;

    allow(cost, 8u * cost->log, 8u * cost->log, "check");
    findings = fffs_check(&volume->fs, count_finding, &told);
    if (findings > 0 && (uint32_t)findings != told)
        fuzz_fail("%d findings, %u told", findings, (unsigned)told);
    return findings;
}

static void look_at_all(struct fuzz_volume *volume, const struct cost *cost, uint32_t seed, struct view *view)
{
    struct fffs_space space;
    struct fffs_info info;
    uint32_t count = 0;

    read_all(volume, cost, "", 0, view);
    read_all(volume, cost, "a", '/', view);
    allow(cost, cost->log, cost->log * 2u, "list");
    (void)fffs_list(&volume->fs, "", count_name, &count);
    allow(cost, cost->log, cost->log * 2u, "inspect");
    (void)fffs_inspect(&volume->fs, count_item, &count);
    (void)fffs_inspect_owner(&volume->fs, seed % flash.driver.size_bytes, &info);
    allow(cost, cost->log, cost->log, "space");
    (void)fffs_space(&volume->fs, &space);
    allow(cost, 64, 64, "stat");
    (void)fffs_stat(&volume->fs, "no such file", &info);
}

static int mount(struct fuzz_volume *volume, const struct cost *cost, const struct fffs_geometry *geometry,
                 unsigned mode, unsigned flags)
{
    fuzz_volume_init(volume, &flash.driver, mode, geometry->segment_count);
    volume->config.flags = flags;
    flash.read_only = (flags & FFFS_MOUNT_READ_ONLY) != 0;
    allow(cost, 64, cost->log, "mount");
    return fffs_mount(&volume->fs, &volume->config);
}

static void unmount(struct fuzz_volume *volume, const struct cost *cost)
{
    allow(cost, 64, cost->log, "unmount");
    (void)fffs_unmount(&volume->fs);
    fuzz_volume_free(volume);
}

/* Read-only with any two caches: the same names, contents and errors. */
static void compare_caches(const struct fuzz_options *options, const struct cost *cost,
                           const struct fffs_geometry *geometry)
{
    static const unsigned modes[2] = {0, 3};
    struct view views[2] = {{0, 0}, {0, 0}};
    int status[2], i;

    for (i = 0; i < 2; i++) {
        struct fuzz_volume volume;

        status[i] = mount(&volume, cost, geometry, (options->cache & 0x38u) | (i == 0 ? modes[0] : options->cache & 7u),
                          FFFS_MOUNT_READ_ONLY | (options->flags & FFFS_MOUNT_LAZY_WEIGHTS));
        if (status[i] == FFFS_OK) {
            look_at_all(&volume, cost, options->seed, &views[i]);
            (void)check(&volume, cost);
        }
        unmount(&volume, cost);
    }
    flash.read_only = 0;
    if (status[0] != status[1])
        fuzz_fail("mount is %d without a cache, %d with one", status[0], status[1]);
    if (views[0].names != views[1].names || views[0].digest != views[1].digest)
        fuzz_fail("%u names without a cache, %u with one", (unsigned)views[0].names, (unsigned)views[1].names);
}

/* ---- Changing ---- */

static uint8_t pattern(uint32_t seed, uint32_t at)
{
    return (uint8_t)((at * 2654435761u + seed * 40503u) >> 13);
}

/* Writes a file; 1 when it was closed without error. */
static int put(struct fuzz_volume *volume, const struct cost *cost, const char *name, uint32_t size, uint32_t seed,
               unsigned flags)
{
    uint8_t *buffer = malloc(256), bytes[128];
    struct fffs_file file;
    uint32_t done, part, i;
    int status;

    memset(&file, 0, sizeof file);
    allow(cost, 64, cost->log, "open to write");
    status = fffs_open(&volume->fs, &file, name, flags, buffer, 256);
    for (done = 0; done < size && status == FFFS_OK; done += part) {
        int32_t wrote;

        part = size - done < sizeof bytes ? size - done : (uint32_t)sizeof bytes;
        for (i = 0; i < part; i++)
            bytes[i] = pattern(seed, done + i);
        allow(cost, 64u * cost->log, cost->log * cost->log, "write");
        wrote = fffs_write(&volume->fs, &file, bytes, part);
        if (wrote != (int32_t)part)
            status = wrote < 0 ? wrote : FFFS_ERR_IO;
    }
    if (file.fs != NULL) {
        allow(cost, 64u * cost->log, cost->log * cost->log, "close");
        if (status == FFFS_OK)
            status = fffs_close(&volume->fs, &file);
        if (file.fs != NULL)
            (void)fffs_discard(&volume->fs, &file);
        if (file.fs != NULL)
            fuzz_fail("a writer does not close");
    }
    free(buffer);
    return status == FFFS_OK;
}

static void expect(struct fuzz_volume *volume, const struct cost *cost, const char *name, uint32_t size, uint32_t seed)
{
    uint8_t *buffer = malloc(256), byte;
    struct fffs_file file;
    uint32_t at;
    int status;

    memset(&file, 0, sizeof file);
    allow(cost, 256, 4096u + size, "read back");
    status = fffs_open(&volume->fs, &file, name, FFFS_READ, buffer, 256);
    if (status != FFFS_OK)
        fuzz_fail("%s was written and can not be opened: %s", name, fffs_status_name(status));
    for (at = 0; at < size; at++)
        if (fffs_read(&volume->fs, &file, &byte, 1) != 1 || byte != pattern(seed, at))
            fuzz_fail("%s was written and is different at %u", name, (unsigned)at);
    if (fffs_read(&volume->fs, &file, &byte, 1) != 0)
        fuzz_fail("%s is longer than it was written", name);
    (void)fffs_close(&volume->fs, &file);
    free(buffer);
}

enum { NAMES = 4 };
static const char *const names[NAMES] = {"a/new", "new1", "a/b/2", "n"};

struct written {
    uint32_t size, seed;
    int present, unknown;       /* unknown: an error left it one way or the other */
};

static void change_once(struct fuzz_volume *volume, const struct cost *cost, uint32_t *random, struct written *written)
{
    uint32_t number = fuzz_below(random, NAMES);
    struct written *at = &written[number];
    struct fffs_space space;
    int status;

    switch (fuzz_below(random, 10)) {
    case 0:
        allow(cost, 64u * cost->log, cost->log * cost->log, "delete");
        status = fffs_delete(&volume->fs, names[number]);
        if (status == FFFS_OK)
            at->present = 0;
        else if (status != FFFS_ERR_NOT_FOUND)
            at->unknown = 1;
        break;
    case 1:
    case 2:
        allow(cost, 64u * cost->log, cost->log * cost->log, "gc_step");
        (void)fffs_gc_step(&volume->fs, NULL, NULL);
        break;
    case 3:
        allow(cost, 64, cost->log, "settle");
        (void)fffs_settle(&volume->fs);
        break;
    case 4:
        allow(cost, cost->log, cost->log, "space");
        (void)fffs_space(&volume->fs, &space);
        break;
    default:
        at->size = fuzz_below(random, 4) == 0 ? fuzz_below(random, 3000) : fuzz_below(random, 200);
        at->seed = fuzz_next(random);
        at->present = 1;
        at->unknown = !put(volume, cost, names[number], at->size, at->seed, FFFS_WRITE | FFFS_CREATE | FFFS_TRUNCATE);
        break;
    }
}

static void change(struct fuzz_volume *volume, const struct cost *cost, uint32_t seed, int faultless)
{
    struct written written[NAMES];
    uint32_t random = seed | 1u << 24, i;
    struct view view = {0, 0};

    memset(written, 0, sizeof written);
    for (i = 0; i < 12; i++)
        change_once(volume, cost, &random, written);
    if ((seed & 7u) == 0) {
        allow(cost, 64u * cost->log, cost->log * cost->log, "delete_prefix");
        if (fffs_delete_prefix(&volume->fs, "a") >= 0)
            written[0].present = written[2].present = 0;
        else
            written[0].unknown = written[2].unknown = 1;
    }
    if ((seed & 3u) == 0) {
        allow(cost, cost->log * cost->log, cost->log * cost->log, "gc");
        (void)fffs_gc(&volume->fs);
    }
    if ((seed & 31u) == 1) {
        allow(cost, 64u * cost->log, cost->log * cost->log, "grow");
        (void)fffs_grow(&volume->fs, 0);
    }
    for (i = 0; i < NAMES; i++)
        if (faultless && written[i].present && !written[i].unknown)
            expect(volume, cost, names[i], written[i].size, written[i].seed);
    look_at_all(volume, cost, seed, &view);
}

static void use_writable(const struct fuzz_options *options, const struct cost *cost,
                         const struct fffs_geometry *geometry)
{
    struct fuzz_volume volume;
    unsigned flags = options->flags & ~(unsigned)FFFS_MOUNT_READ_ONLY;
    int status = mount(&volume, cost, geometry, options->cache, flags), faultless, findings;
    struct view view = {0, 0};

    if (status == FFFS_OK) {
        faultless = check(&volume, cost) == 0;
        flash.strict = faultless;
        change(&volume, cost, options->seed, faultless);
        findings = check(&volume, cost);
        if (faultless && findings != 0)
            fuzz_fail("check found nothing before, %d now", findings);
        unmount(&volume, cost);
        status = mount(&volume, cost, geometry, options->cache ^ 1u, flags & ~(unsigned)FFFS_MOUNT_DEFER_RECOVERY);
        if (faultless && status != FFFS_OK)
            fuzz_fail("can not be mounted any more: %s", fffs_status_name(status));
        if (status == FFFS_OK) {
            look_at_all(&volume, cost, options->seed, &view);
            findings = check(&volume, cost);
            if (faultless && findings != 0)
                fuzz_fail("check found nothing before, %d after the next mount", findings);
        }
    }
    unmount(&volume, cost);
}

/* Format over anything must work, on a device that can hold a volume. */
static void format_over(const struct fuzz_options *options, const struct cost *cost)
{
    struct fuzz_volume volume;
    struct fffs_geometry geometry;
    int status;

    flash.strict = 0;
    memcpy(flash.bytes, original, options->size);
    if (fffs_format_plan(&flash.driver, NULL, &geometry) != FFFS_OK)
        return;
    fuzz_volume_init(&volume, &flash.driver, options->cache, geometry.segment_count);
    fuzz_budget(&flash, 3000u + 8u * cost->log, "format");
    status = fffs_format(&volume.fs, &volume.config, NULL);
    if (status != FFFS_OK)
        fuzz_fail("%s", fffs_status_name(status));
    fuzz_budget(&flash, 3000u + 8u * cost->log, "mount of what was formatted");
    status = fffs_mount(&volume.fs, &volume.config);
    if (status != FFFS_OK)
        fuzz_fail("%s", fffs_status_name(status));
    (void)fffs_unmount(&volume.fs);
    fuzz_volume_free(&volume);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_options options;
    struct fffs_geometry geometry;
    struct cost cost;
    int status;

    fuzz_unpack(data, size, &options, original);
    fuzz_flash_init(&flash, options.size, 1u << options.granule_shift, 256);
    memcpy(flash.bytes, original, options.size);
    fuzz_budget(&flash, 200, "discover");
    status = fffs_discover(&flash.driver, &geometry);
    if (status == FFFS_OK) {
        cost = cost_of(&geometry);
        compare_caches(&options, &cost, &geometry);
        use_writable(&options, &cost, &geometry);
    }
    if ((options.seed & 15u) == 5) {
        cost.log = options.size / 8u;
        cost.node = options.size / 16u;
        format_over(&options, &cost);
    }
    return 0;
}

/* The library as a part of a program: hooks, several volumes, versions, limits, wear (sections K and L). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fastffs/fffs_inspect.h"
#include "oracle.h"

#define USUAL "s4096-g1-n256-hash"

TEST(versions_are_told)
{
    CHECK_EQ(fffs_version(), FFFS_VERSION_MAJOR << 16 | FFFS_VERSION_MINOR << 8 | FFFS_VERSION_PATCH);
    CHECK_EQ(fffs_format_version(), FFFS_FORMAT_VERSION);
}

TEST(every_status_has_its_name)
{
    static const struct { int status; const char *name; } names[] = {
        { FFFS_OK, "FFFS_OK" }, { FFFS_ERR_IO, "FFFS_ERR_IO" }, { FFFS_ERR_CORRUPT, "FFFS_ERR_CORRUPT" },
        { FFFS_ERR_NOT_FOUND, "FFFS_ERR_NOT_FOUND" }, { FFFS_ERR_EXISTS, "FFFS_ERR_EXISTS" },
        { FFFS_ERR_NO_SPACE, "FFFS_ERR_NO_SPACE" }, { FFFS_ERR_INDEX_FULL, "FFFS_ERR_INDEX_FULL" },
        { FFFS_ERR_COLLECT_FIRST, "FFFS_ERR_COLLECT_FIRST" }, { FFFS_ERR_BAD_NAME, "FFFS_ERR_BAD_NAME" },
        { FFFS_ERR_NAME_TOO_LONG, "FFFS_ERR_NAME_TOO_LONG" }, { FFFS_ERR_INVALID, "FFFS_ERR_INVALID" },
        { FFFS_ERR_BUSY, "FFFS_ERR_BUSY" }, { FFFS_ERR_NOT_OPEN, "FFFS_ERR_NOT_OPEN" },
        { FFFS_ERR_NOT_MOUNTED, "FFFS_ERR_NOT_MOUNTED" }, { FFFS_ERR_READ_ONLY, "FFFS_ERR_READ_ONLY" },
        { FFFS_ERR_WRITE_ONLY, "FFFS_ERR_WRITE_ONLY" }, { FFFS_ERR_STALE, "FFFS_ERR_STALE" },
        { FFFS_ERR_BLANK, "FFFS_ERR_BLANK" }, { FFFS_ERR_FOREIGN, "FFFS_ERR_FOREIGN" },
        { FFFS_ERR_NEWER_FORMAT, "FFFS_ERR_NEWER_FORMAT" }, { FFFS_ERR_WRONG_SIZE, "FFFS_ERR_WRONG_SIZE" },
        { FFFS_ERR_NO_MEMORY, "FFFS_ERR_NO_MEMORY" }, { FFFS_ERR_TOO_BIG, "FFFS_ERR_TOO_BIG" },
        { FFFS_ERR_UNSUPPORTED, "FFFS_ERR_UNSUPPORTED" }, { FFFS_ERR_ABANDONED, "FFFS_ERR_ABANDONED" },
        { FFFS_ERR_REMOUNT, "FFFS_ERR_REMOUNT" }
    };
    size_t i;

    for (i = 0; i < sizeof names / sizeof names[0]; i++) {
        CHECK_EQ(names[i].status, -(int)i);
        CHECK_STR(fffs_status_name(names[i].status), names[i].name);
    }
    CHECK_STR(fffs_status_name(-(int)i), "FFFS_ERR_?");
    CHECK_STR(fffs_status_name(1), "FFFS_ERR_?");
    CHECK_STR(fffs_status_name(-2147483647 - 1), "FFFS_ERR_?");
}

/* ---- C-74, C-75 ---- */

TEST(c74_progress_is_called_at_least_once_per_erase)
{
    struct rig *rig = rig_create(rig_point_of(USUAL));
    unsigned i;

    nor_fill(rig->nor, 0);
    CHECK_OK(rig_format(rig));
    CHECK(rig_erases(rig) > 0);
    CHECK_LE(rig_erases(rig), rig->progress_calls);
    CHECK_LE(rig->progress_done, rig->progress_total);
    CHECK_OK(rig_mount(rig));
    rig_count(rig);
    rig->progress_calls = 0;
    for (i = 0; i < 40; i++) { CHECK_OK(rig_put(rig, "a", rig_data(i), 100000)); }
    CHECK(rig_erases(rig) > 5);
    CHECK_LE(rig_erases(rig), rig->progress_calls);
    CHECK_OK(fffs_delete(rig->fs, "a"));
    rig_count(rig);
    rig->progress_calls = 0;
    CHECK_OK(fffs_gc(rig->fs));
    CHECK_LE(rig_erases(rig), rig->progress_calls);
    rig_count(rig);
    rig->progress_calls = 0;
    rig_restart(rig);
    CHECK_LE(rig_erases(rig), rig->progress_calls);
    CHECK(rig->progress_calls > 0);
    rig_destroy(rig);
}

TEST(c74_hooks_may_be_missing)
{
    struct rig *rig = rig_create(rig_point_of(USUAL));

    rig->config.lock = NULL;
    rig->config.unlock = NULL;
    rig->config.progress = NULL;
    rig->config.hook_context = NULL;
    CHECK_OK(rig_format(rig));
    CHECK_OK(rig_mount(rig));
    CHECK_OK(rig_put(rig, "a", rig_data(1), 100000));
    CHECK_OK(fffs_gc(rig->fs));
    rig_restart(rig);
    rig_expect(rig, "a", rig_data(1), 100000);
    rig_destroy(rig);
}

static int visit_one(void *context, const struct fffs_info *info)
{
    (void)context;
    (void)info;
    return 1;
}

static int item_one(void *context, const struct fffs_item *item)
{
    (void)context;
    (void)item;
    return 1;
}

/* Each call locks exactly once and leaves the lock free; the rig's hooks fail on nesting. */
TEST(c75_every_call_locks_once)
{
    struct rig *rig = rig_create(rig_point_of(USUAL));
    struct rig_file *handle = rig_file_new(rig);
    struct fffs_dir dir;
    struct fffs_info info;
    struct fffs_space space;
    const void *data;
    uint8_t bytes[10];
    uint64_t before;

    memset(&dir, 0, sizeof dir);
#define LOCKS_ONCE(call) \
    do { \
        before = rig->locks; \
        harness_note("%s", #call); \
        (void)(call); \
        CHECK_EQ(rig->locks, before + 1); \
        CHECK_EQ(rig->lock_depth, 0); \
    } while (0)
    LOCKS_ONCE(fffs_format(rig->fs, &rig->config, &rig->format));
    LOCKS_ONCE(fffs_mount(rig->fs, &rig->config));
    LOCKS_ONCE(rig_open(handle, "a", RIG_WRITER));
    LOCKS_ONCE(fffs_write(rig->fs, handle->file, rig_data(1), 1000));
    LOCKS_ONCE(fffs_tell(rig->fs, handle->file));
    LOCKS_ONCE(fffs_read(rig->fs, handle->file, bytes, 10));
    LOCKS_ONCE(fffs_close(rig->fs, handle->file));
    LOCKS_ONCE(fffs_close(rig->fs, handle->file));
    LOCKS_ONCE(rig_open(handle, "missing", FFFS_READ));
    LOCKS_ONCE(rig_open(handle, "", FFFS_READ));
    LOCKS_ONCE(rig_open(handle, "a", FFFS_READ));
    LOCKS_ONCE(fffs_read(rig->fs, handle->file, bytes, 10));
    LOCKS_ONCE(fffs_seek(rig->fs, handle->file, 5, FFFS_SEEK_SET));
    LOCKS_ONCE(fffs_fstat(rig->fs, handle->file, &info));
    LOCKS_ONCE(fffs_map(rig->fs, handle->file, 0, &data));
    LOCKS_ONCE(fffs_write(rig->fs, handle->file, bytes, 10));
    LOCKS_ONCE(fffs_unmount(rig->fs));
    LOCKS_ONCE(fffs_discard(rig->fs, handle->file));
    LOCKS_ONCE(fffs_stat(rig->fs, "a", &info));
    LOCKS_ONCE(fffs_exists(rig->fs, "a"));
    LOCKS_ONCE(fffs_dir_open(rig->fs, &dir, "", '/'));
    LOCKS_ONCE(fffs_dir_read(rig->fs, &dir, &info));
    LOCKS_ONCE(fffs_dir_close(rig->fs, &dir));
    LOCKS_ONCE(fffs_dir_close(rig->fs, &dir));
    LOCKS_ONCE(fffs_list(rig->fs, "", visit_one, NULL));
    LOCKS_ONCE(fffs_space(rig->fs, &space));
    LOCKS_ONCE(fffs_gc_step(rig->fs, NULL, NULL));
    before = rig->locks;         /* once per step, so that it is free in between */
    CHECK_OK(fffs_gc(rig->fs));
    CHECK(rig->locks > before);
    LOCKS_ONCE(fffs_check(rig->fs, NULL, NULL));
    LOCKS_ONCE(fffs_inspect(rig->fs, item_one, NULL));
    LOCKS_ONCE(fffs_settle(rig->fs));
    LOCKS_ONCE(fffs_grow(rig->fs, 0));
    LOCKS_ONCE(fffs_delete_prefix(rig->fs, "x"));
    LOCKS_ONCE(fffs_delete(rig->fs, "a"));
    LOCKS_ONCE(fffs_delete(rig->fs, "a"));
    LOCKS_ONCE(fffs_mount(rig->fs, &rig->config));
    LOCKS_ONCE(fffs_unmount(rig->fs));
    nor_fill(rig->nor, 0);
    LOCKS_ONCE(fffs_mount(rig->fs, &rig->config));
    rig_destroy(rig);
}

TEST(c75_lock_is_free_after_every_injected_error)
{
    struct rig *base = rig_mounted(rig_point_of("s4096-g1-n64-seg4096-hash"));
    uint64_t n;
    int hit = 1;

    CHECK_OK(rig_put(base, "a", rig_data(1), 4000));
    CHECK_OK(rig_unmount(base));
    for (n = 0; hit; n++) {
        struct rig *rig = rig_clone(base);
        struct rig_file *handle = rig_file_new(rig);
        struct fffs_info info;
        CHECK_OK(rig_mount(rig));
        rig->fail_ops = 1u << NOR_READ | 1u << NOR_PROGRAM | 1u << NOR_ERASE;
        rig->fail_at = n;
        rig->fail_count = 1000000;
        (void)rig_put(rig, "b", rig_data(2), 6000);     /* the hooks fail on any lock kept */
        (void)fffs_stat(rig->fs, "a", &info);
        (void)fffs_delete(rig->fs, "a");
        (void)fffs_gc(rig->fs);
        (void)fffs_list(rig->fs, "zzz", visit_one, NULL);
        if (rig_open(handle, "b", FFFS_READ) == FFFS_OK) { (void)fffs_close(rig->fs, handle->file); }
        (void)fffs_unmount(rig->fs);
        CHECK_EQ(rig->lock_depth, 0);
        hit = rig->fail_hit;
        CHECK(n < 400);
        rig_file_free(handle);
        rig_destroy(rig);
    }
    rig_destroy(base);
}

/* ---- C-76 ---- */

TEST(c76_two_volumes_at_once)
{
    struct rig *rigs[2] = { rig_mounted(rig_point_of(USUAL)), rig_mounted(rig_point_of("s256-g8-n512-none-fb64")) };
    struct oracle oracles[2];
    struct rng rng = { 9 };
    unsigned i;
    char name[8];

    oracle_init(&oracles[0]);
    oracle_init(&oracles[1]);
    for (i = 0; i < 1000; i++) {
        unsigned which = (unsigned)rng_below(&rng, 2);
        uint32_t size = rng_below(&rng, 700);
        sprintf(name, "n%u", (unsigned)rng_below(&rng, 20));
        if (rng_chance(&rng, 30)) {
            (void)fffs_delete(rigs[which]->fs, name);
            oracle_delete(&oracles[which], name);
        } else {
            CHECK_OK(rig_put(rigs[which], name, rig_data(i), size));
            oracle_put(&oracles[which], name, rig_data(i), size);
        }
    }
    oracle_verify(&oracles[0], rigs[0]);
    oracle_verify(&oracles[1], rigs[1]);
    CHECK_OK(rig_unmount(rigs[0]));
    oracle_verify(&oracles[1], rigs[1]);
    CHECK_OK(rig_put(rigs[1], "more", rig_data(1), 100));
    rig_expect(rigs[1], "more", rig_data(1), 100);
    CHECK_OK(rig_mount(rigs[0]));
    oracle_verify(&oracles[0], rigs[0]);
    oracle_free(&oracles[0]);
    oracle_free(&oracles[1]);
    rig_destroy(rigs[0]);
    rig_destroy(rigs[1]);
}

/* ---- C-78 ---- */

struct high { uint32_t highest; };

static void watch_high(struct rig *rig, enum nor_op op, uint32_t address, uint32_t bytes, const void *buffer)
{
    struct high *high = rig->on_call_context;
    (void)buffer;
    if (op == NOR_PROGRAM && address + bytes > high->highest) { high->highest = address + bytes; }
}

static void c78_with(const char *point)
{
    struct rig *rig = rig_mounted(rig_point_of(point));
    struct high high = { 0 };
    uint64_t size = rig->flash.size_bytes;
    unsigned i, round;
    char name[16];
    uint32_t chunk = size > 8u * RIG_DATA_BYTES ? RIG_DATA_BYTES : (uint32_t)(size / 12);

    rig->on_call = watch_high;
    rig->on_call_context = &high;
    for (round = 0; high.highest < size - rig->geometry.segment_bytes; round++) {   /* once round the ring */
        CHECK(round < 400);
        sprintf(name, "f%u", round % 4);
        CHECK_OK(rig_put_in(rig, name, rig_data(round), chunk, 65536));
    }
    CHECK_OK(rig_put_in(rig, "last", rig_data(77), rig->geometry.segment_bytes / 2, 65536));
    rig_restart(rig);
    rig_expect(rig, "last", rig_data(77), rig->geometry.segment_bytes / 2);
    for (i = 0; i < 4 && i < round; i++) {
        unsigned newest = round - 1 - (round - 1 - i) % 4;
        sprintf(name, "f%u", i);
        rig_expect(rig, name, rig_data(newest), chunk);
    }
    rig_check(rig);
    rig_destroy(rig);
}

TEST(c78_last_sector_of_65535_small) { c78_with("s256-g1-n65535-hash-mf64"); }
TEST(c78_last_sector_of_65534_small) { c78_with("s256-g1-n65534-none-mf64"); }
TEST(c78_volume_beyond_16_mib) { c78_with("s4096-g1-n8192-hash-mf64"); }
TEST(c78_last_sector_of_65535) { c78_with("s4096-g1-n65535-hash-mf64"); }

TEST(c78_more_than_65535_sectors_is_refused)
{
    struct rig *rig = rig_create(rig_point_of("s4096-u256-g1-n8192-hash"));
    struct fffs_format_options options;
    struct fffs_geometry geometry;

    memset(&options, 0, sizeof options);
    options.geometry.sector_bytes = 256;
    options.geometry.sector_count = 65535;
    CHECK_OK(fffs_format_plan(&rig->flash, &options, &geometry));
    options.geometry.sector_count = 65536;
    CHECK(fffs_format_plan(&rig->flash, &options, &geometry) < 0);
    rig->format = options;
    rig_count(rig);
    CHECK(rig_format(rig) < 0);
    CHECK_EQ(rig_changes(rig), 0);
    options.geometry.sector_count = 0;      /* the whole device has more: refused or the most that can be */
    if (fffs_format_plan(&rig->flash, &options, &geometry) == FFFS_OK) { CHECK_LE(geometry.sector_count, 65535); }
    rig_destroy(rig);
}

/* ---- C-69 ---- */

TEST(c69_static_half_and_one_hot_file)
{
    struct rig *rig = rig_mounted(rig_point_of("s4096-g1-n128-seg4096-hash"));
    uint32_t capacity = rig_capacity(rig), unit, first = rig->geometry.index_bytes / 4096, worn = 0, most = 0;
    uint64_t sum = 0;
    unsigned i;

    CHECK_OK(rig_put(rig, "static", rig_data(1), capacity / 2));
    for (i = 0; i < 1000; i++) {
        CHECK_OK(rig_put(rig, "hot", rig_data(i), 8192));
        CHECK_OK(fffs_delete(rig->fs, "hot"));
    }
    for (unit = first; unit < 128; unit++) {
        uint32_t wear = nor_wear(rig->nor, unit);
        if (wear <= 1) { continue; }    /* the static half */
        worn++;
        sum += wear;
        if (wear > most) { most = wear; }
    }
    CHECK(worn > 30);
    CHECK_LE(most, 2 * sum / worn + 8);
    rig_expect(rig, "static", rig_data(1), capacity / 2);
    rig_destroy(rig);
}

TEST(erase_counts_are_reported_and_survive_mounts)
{
    struct rig *rig = rig_mounted(rig_point_of("s4096-g1-n64-seg4096-hash"));
    struct fffs_space space;
    uint64_t data_erases;
    unsigned i;

    rig_count(rig);
    for (i = 0; i < 200; i++) {
        CHECK_OK(rig_put(rig, "a", rig_data(i), 10000));
        if (i % 20 == 10) { rig_remount(rig); }
        if (i % 40 == 30) { rig_restart(rig); }
    }
    data_erases = rig->tap.data_calls[NOR_ERASE];
    space = rig_space(rig);
    CHECK_LE(space.erases_total, data_erases + 64);
    CHECK_LE(data_erases * 8 / 10, space.erases_total);     /* a cut loses what no checkpoint tells */
    CHECK_LE(space.wear_min, space.wear_mean);
    CHECK_LE(space.wear_mean, space.wear_max);
    rig_destroy(rig);
}

/* ---- Inspect ---- */

struct walk { unsigned headers, puts, nodes, extents, marks, invalid; uint32_t extent_bytes; };

static int walk_item(void *context, const struct fffs_item *item)
{
    struct walk *walk = context;
    CHECK(item->text != NULL);
    switch (item->kind) {
    case FFFS_ITEM_HEADER: walk->headers++; break;
    case FFFS_ITEM_MARK: walk->marks++; break;
    case FFFS_ITEM_PUT: case FFFS_ITEM_PUT_MULTI: walk->puts += item->current; break;
    case FFFS_ITEM_NODE: walk->nodes++; break;
    case FFFS_ITEM_EXTENT: walk->extents++; walk->extent_bytes += item->bytes; break;
    case FFFS_ITEM_INVALID: walk->invalid++; break;
    default: break;
    }
    return 0;
}

TEST_AT(inspection_finds_every_record_and_node)
{
    struct rig *rig = rig_mounted(point);
    struct walk walk;
    uint32_t size = rig_share(rig, 10, 100000), i, count = size == 0 ? 4 : 8;
    char name[16];

    for (i = 0; i < count; i++) {
        sprintf(name, "f%u", (unsigned)i);
        CHECK_OK(rig_put(rig, name, rig_data(i), size));
    }
    CHECK_OK(fffs_delete(rig->fs, "f3"));
    CHECK_OK(rig_put(rig, "f1", rig_data(4), size));
    rig_count(rig);
    memset(&walk, 0, sizeof walk);
    CHECK_EQ(fffs_inspect(rig->fs, walk_item, &walk), 0);
    CHECK_EQ(rig_changes(rig), 0);
    CHECK(walk.headers >= 1);
    CHECK(walk.marks >= 2);
    CHECK_EQ(walk.puts, count - 1);
    CHECK_EQ(walk.nodes, count - 1);
    CHECK_EQ(walk.invalid, 0);
    CHECK_EQ(walk.extent_bytes, (count - 1) * size);
    rig_destroy(rig);
}

struct owner { struct rig *rig; unsigned found; };

static int ask_owner(void *context, const struct fffs_item *item)
{
    struct owner *owner = context;
    (void)owner;
    if (item->kind == FFFS_ITEM_EXTENT && item->bytes != 0) { owner->found = item->address; }
    return 0;
}

TEST(inspection_tells_who_owns_an_address)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    struct owner owner = { NULL, 0 };
    struct fffs_info info;
    uint32_t at;

    owner.rig = rig;
    CHECK_OK(rig_put(rig, "only", rig_data(1), 3000));
    CHECK_EQ(fffs_inspect(rig->fs, ask_owner, &owner), 0);
    CHECK(owner.found != 0);
    for (at = 0; at < 3000; at += 999) {
        CHECK_EQ(fffs_inspect_owner(rig->fs, owner.found + at, &info), 1);
        CHECK_STR(info.name, "only");
        CHECK_EQ(info.size, 3000);
    }
    CHECK_EQ(fffs_inspect_owner(rig->fs, rig->flash.size_bytes - 1, &info), 0);
    rig_destroy(rig);
}

SUITE(library)
{
    RUN(versions_are_told);
    RUN(every_status_has_its_name);
    RUN(c69_static_half_and_one_hot_file);
    RUN(erase_counts_are_reported_and_survive_mounts);
    RUN(c74_progress_is_called_at_least_once_per_erase);
    RUN(c74_hooks_may_be_missing);
    RUN(c75_every_call_locks_once);
    RUN(c75_lock_is_free_after_every_injected_error);
    RUN(c76_two_volumes_at_once);
    RUN(c78_last_sector_of_65535_small);
    RUN(c78_last_sector_of_65534_small);
    RUN(c78_volume_beyond_16_mib);
    RUN(c78_last_sector_of_65535);
    RUN(c78_more_than_65535_sectors_is_refused);
    RUN_MATRIX(inspection_finds_every_record_and_node);
    RUN(inspection_tells_who_owns_an_address);
}

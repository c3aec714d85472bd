/* Format, mount, geometry, growing, read-only (section H of the field cases). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "oracle.h"

#define USUAL "s4096-g1-n256-hash"

/* ---- Results of mount told apart ---- */

TEST(blank_flash_is_blank)
{
    struct rig *rig = rig_create(rig_point_of(USUAL));
    struct fffs_geometry geometry;

    rig_count(rig);
    CHECK_STATUS(rig_mount(rig), FFFS_ERR_BLANK);
    CHECK_LE(rig_reads(rig), 200);
    CHECK_STATUS(fffs_discover(&rig->flash, &geometry), FFFS_ERR_BLANK);
    CHECK_EQ(rig_changes(rig), 0);
    rig_destroy(rig);
}

/* Erased flash that does not read as ones: the first mount must say blank, or nobody would format it. */
TEST(blank_encrypted_flash_is_blank)
{
    struct rig *rig = rig_create(rig_point_of("s4096-g16-n256-hash-sc512-fb256-crypt"));
    struct fffs_geometry geometry;

    CHECK_STATUS(rig_mount(rig), FFFS_ERR_BLANK);
    CHECK_STATUS(fffs_discover(&rig->flash, &geometry), FFFS_ERR_BLANK);
    CHECK_OK(rig_format(rig));
    CHECK_OK(rig_mount(rig));
    rig_destroy(rig);
}

TEST(foreign_data_is_foreign)
{
    static const uint8_t fills[] = { 0x00, 0x55, 0xFE };
    unsigned i;

    for (i = 0; i < 4; i++) {
        struct rig *rig = rig_create(rig_point_of(USUAL));
        struct fffs_geometry geometry;
        if (i < 3) { nor_fill(rig->nor, fills[i]); }
        else { nor_poke(rig->nor, 0, rig_data(1), rig->flash.size_bytes); }
        rig_count(rig);
        CHECK_STATUS(rig_mount(rig), FFFS_ERR_FOREIGN);
        CHECK_STATUS(fffs_discover(&rig->flash, &geometry), FFFS_ERR_FOREIGN);
        CHECK_EQ(rig_changes(rig), 0);
        CHECK_LE(rig_reads(rig), 400);
        rig_destroy(rig);
    }
}

TEST(device_errors_at_mount_are_io_errors)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    uint64_t reads, n;

    CHECK_OK(rig_put(rig, "a", rig_data(1), 5000));
    CHECK_OK(rig_unmount(rig));
    rig_count(rig);
    CHECK_OK(rig_mount(rig));
    reads = rig_reads(rig);
    CHECK_OK(rig_unmount(rig));
    for (n = 0; n < reads; n++) {
        rig_crash(rig);
        rig->fail_ops = 1u << NOR_READ;
        rig->fail_at = n;
        rig->fail_hit = 0;
        harness_note("read %u of %u fails", (unsigned)n, (unsigned)reads);
        CHECK_STATUS(rig_mount(rig), FFFS_ERR_IO);
        CHECK_EQ(rig->fail_hit, 1);
        rig->fail_ops = 0;
        CHECK_OK(rig_mount(rig));
        rig_expect(rig, "a", rig_data(1), 5000);
        CHECK_OK(rig_unmount(rig));
    }
    rig->fail_ops = 1u << NOR_READ;
    rig->fail_at = 0;
    rig->fail_count = UINT64_MAX;
    CHECK_STATUS(rig_mount(rig), FFFS_ERR_IO);
    rig_destroy(rig);
}

TEST(buffers_too_small_are_told_before_anything_happens)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    struct fffs_config good = rig->config;

    CHECK_OK(rig_put(rig, "a", rig_data(1), 500));
    rig_crash(rig);
    rig_count(rig);
    rig->config.segment_table_entries = 3;
    CHECK_STATUS(rig_mount(rig), FFFS_ERR_NO_MEMORY);
    rig->config = good;
    rig->config.segment_table = NULL;
    CHECK(rig_mount(rig) < 0);
    rig->config = good;
    rig->config.scratch_bytes = FFFS_SCRATCH_MIN - 1;
    CHECK(rig_mount(rig) < 0);
    rig->config = good;
    rig->config.scratch = NULL;
    CHECK(rig_mount(rig) < 0);
    rig->config = good;
    CHECK_EQ(rig_changes(rig), 0);
    CHECK_OK(rig_mount(rig));
    rig_expect(rig, "a", rig_data(1), 500);
    rig_destroy(rig);
}

TEST(wrong_options_are_errors)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    struct fffs_config good;
    struct fffs_flash flash = rig->flash;
    int i;

    CHECK_OK(rig_put(rig, "a", rig_data(1), 500));
    CHECK_OK(rig_unmount(rig));
    good = rig->config;
    rig_count(rig);
    for (i = 0; i < 12; i++) {
        int status;
        rig->config = good;
        rig->flash = flash;
        switch (i) {
        case 0: rig->config.flash = NULL; break;
        case 1: rig->config.scratch = (uint8_t *)rig->config.scratch + 1; break;
        case 2: rig->config.cache = (uint8_t *)rig->config.cache + 2; rig->config.cache_bytes -= 8; break;
        case 3: rig->flash.read = NULL; break;
        case 4: rig->flash.program = NULL; break;
        case 5: rig->flash.erase = NULL; break;
        case 6: rig->flash.erase_bytes[0] = 0; break;
        case 7: rig->flash.granule_bytes = 3; break;
        case 8: rig->flash.granule_bytes = 0; break;
        case 9: rig->flash.erase_bytes[0] = 3000; break;
        case 10: rig->flash.size_bytes = 0; break;
        default: rig->flash.granule_bytes = 512; break;
        }
        harness_note("option %d", i);
        status = rig_mount(rig);
        CHECK(status == FFFS_ERR_INVALID || status == FFFS_ERR_UNSUPPORTED || status == FFFS_ERR_WRONG_SIZE);
    }
    rig->config = good;
    rig->flash = flash;
    CHECK(rig_mount_flags(rig, 0x40000000u) == FFFS_ERR_INVALID);
    CHECK_EQ(rig_changes(rig), 0);
    CHECK_OK(rig_mount(rig));
    rig_expect(rig, "a", rig_data(1), 500);
    rig_destroy(rig);
}

TEST(other_granule_or_erase_size_is_refused)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    int status;

    CHECK_OK(rig_put(rig, "a", rig_data(1), 500));
    CHECK_OK(rig_unmount(rig));
    rig_count(rig);
    rig->flash.granule_bytes = 16;      /* this device can not program what the volume needs */
    status = rig_mount(rig);
    CHECK(status == FFFS_ERR_UNSUPPORTED || status == FFFS_ERR_WRONG_SIZE || status == FFFS_ERR_INVALID);
    rig->flash.granule_bytes = 1;
    rig->flash.erase_bytes[0] = 8192;
    rig->flash.erase_bytes[1] = 0;
    CHECK_STATUS(rig_mount(rig), FFFS_ERR_WRONG_SIZE);
    CHECK_EQ(rig_changes(rig), 0);
    rig_destroy(rig);
}

TEST(every_cache_size_mounts)
{
    static const uint32_t sizes[] = { 0, 8, 16, 24, 80, 800, 1600, 4096, 8192, 65536, 524280, 524288 };
    struct rig *rig = rig_mounted(rig_point_of("s4096-g1-n512-mf500-hash"));
    char name[16];
    unsigned i, j;

    for (j = 0; j < 300; j++) {
        sprintf(name, "f%u", j);
        CHECK_OK(rig_put(rig, name, rig_data(j), 40));
    }
    for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        harness_note("cache of %u bytes", (unsigned)sizes[i]);
        CHECK_OK(rig_unmount(rig));
        rig_set_cache_bytes(rig, sizes[i]);
        CHECK_OK(rig_mount(rig));
        CHECK_EQ(rig_names(rig, ""), 300);
        for (j = 0; j < 300; j += 7) {
            sprintf(name, "f%u", j);
            rig_expect(rig, name, rig_data(j), 40);
        }
        for (j = 0; j < 50; j++) {
            sprintf(name, "f%u", (j * 31 + i) % 300);
            CHECK_OK(fffs_delete(rig->fs, name));
            CHECK_OK(rig_put(rig, name, rig_data((j * 31 + i) % 300), 40));
        }
        rig_check(rig);
    }
    rig_destroy(rig);
}

/* ---- Geometry ---- */

TEST_AT(discovery_finds_the_geometry)
{
    struct rig *rig = rig_mounted(point);
    struct fffs_geometry geometry;
    uint32_t i;

    for (i = 0; i < 2; i++) {
        memset(&geometry, 0xEE, sizeof geometry);
        rig_count(rig);
        CHECK_OK(fffs_discover(&rig->flash, &geometry));
        CHECK_LE(rig_reads(rig), 80);
        CHECK_EQ(rig_changes(rig), 0);
        CHECK_EQ(geometry.sector_bytes, point->sector_bytes);
        CHECK_EQ(geometry.sector_count, point->sector_count);
        CHECK_EQ(geometry.granule_bytes, point->granule_bytes);
        CHECK_EQ(geometry.segment_bytes, rig->geometry.segment_bytes);
        CHECK_EQ(geometry.max_files, rig->geometry.max_files);
        CHECK_EQ(geometry.index_bytes, rig->geometry.index_bytes);
        CHECK_EQ(geometry.segment_count, rig->geometry.segment_count);
        CHECK_EQ(geometry.probe_limit, rig->geometry.probe_limit);
        CHECK_EQ(geometry.format_version, FFFS_FORMAT_VERSION);
        CHECK_LE(geometry.segment_count, FFFS_SEGMENTS_MAX(rig->flash.size_bytes, geometry.segment_bytes));
        rig_restart(rig);   /* moves the newest index unit away from sector 0 in time */
        CHECK_OK(rig_put(rig, "a", rig_data(1), 10));
    }
    rig_destroy(rig);
}

TEST(discovery_works_with_index_unit_0_erased)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    struct fffs_geometry geometry;
    unsigned i;

    for (i = 0; i < 40; i++) {      /* refreshes go round the units */
        static uint8_t blank[4096];
        struct rig *other;
        CHECK_OK(rig_put(rig, "a", rig_data(i), 100));
        rig_restart(rig);
        other = rig_clone(rig);
        memset(blank, 0xFF, sizeof blank);
        nor_poke(other->nor, 0, blank, sizeof blank);
        if (fffs_discover(&other->flash, &geometry) == FFFS_OK) {
            CHECK_EQ(geometry.sector_bytes, 4096);
            CHECK_EQ(geometry.sector_count, 256);
        }
        rig_destroy(other);
    }
    rig_destroy(rig);
}

TEST(format_plan_fills_in_defaults)
{
    struct rig *rig = rig_create(rig_point_of("s4096-g1-n1024-hash"));
    struct fffs_geometry geometry;

    rig_count(rig);
    CHECK_OK(fffs_format_plan(&rig->flash, NULL, &geometry));
    CHECK_EQ(geometry.sector_bytes, 4096);
    CHECK_EQ(geometry.sector_count, 1024);
    CHECK_EQ(geometry.granule_bytes, 1);
    CHECK_EQ(geometry.segment_bytes, 65536);
    CHECK_EQ(geometry.max_files, 1024);
    CHECK_EQ(geometry.probe_limit, 50);
    CHECK_EQ(rig_reads(rig) + rig_changes(rig), 0);
    rig_destroy(rig);
}

static int plan_with(uint32_t sector, uint32_t count, uint32_t segment, uint32_t files, uint32_t probes)
{
    struct rig *rig = rig_create(rig_point_of("s4096-u256-g1-n1024-hash"));
    struct fffs_format_options options;
    struct fffs_geometry geometry;
    int plan, format;

    memset(&options, 0, sizeof options);
    options.geometry.sector_bytes = sector;
    options.geometry.sector_count = count;
    options.geometry.segment_bytes = segment;
    options.geometry.max_files = files;
    options.geometry.probe_limit = probes;
    plan = fffs_format_plan(&rig->flash, &options, &geometry);
    rig->format = options;
    rig_count(rig);
    format = rig_format(rig);
    CHECK_EQ(format, plan);
    if (plan != FFFS_OK) { CHECK_EQ(rig_changes(rig), 0); }
    else {
        CHECK_OK(rig_mount(rig));
        CHECK_OK(rig_put(rig, "a", rig_data(1), 30));
        rig_check(rig);
    }
    rig_destroy(rig);
    return plan;
}

TEST(format_options_out_of_range_are_refused)
{
    CHECK_OK(plan_with(0, 0, 0, 0, 0));
    CHECK_OK(plan_with(256, 0, 0, 0, 0));
    CHECK_OK(plan_with(65536, 0, 0, 0, 0));
    CHECK_OK(plan_with(4096, 0, 4096, 0, 64));
    CHECK_OK(plan_with(4096, 0, 0, 16, 1));
    CHECK(plan_with(128, 0, 0, 0, 0) < 0);
    CHECK(plan_with(131072, 0, 0, 0, 0) < 0);
    CHECK(plan_with(3000, 0, 0, 0, 0) < 0);
    CHECK(plan_with(4096, 1025, 0, 0, 0) < 0);
    CHECK(plan_with(4096, 4, 0, 0, 0) < 0);
    CHECK(plan_with(4096, 0, 2048, 0, 0) < 0);
    CHECK(plan_with(4096, 0, 12288, 0, 0) < 0);
    CHECK(plan_with(4096, 0, 4194304, 0, 0) < 0);
    CHECK(plan_with(4096, 0, 0, 1000000, 0) < 0);
    CHECK(plan_with(4096, 0, 0, 0, 65) < 0);
}

TEST(smallest_sector_counts_are_enforced)
{
    static const char *const sectors[] = { "s256-g1-n64", "s1024-g1-n64", "s4096-g1-n64", "s65536-g1-n64" };
    unsigned i;
    uint32_t count;

    for (i = 0; i < 4; i++) {
        struct rig *rig = rig_create(rig_point_of(sectors[i]));
        struct fffs_format_options options = rig->format;
        struct fffs_geometry geometry;
        for (count = 1; count < 8; count++) {
            options.geometry.sector_count = count;
            CHECK(fffs_format_plan(&rig->flash, &options, &geometry) < 0);
        }
        options.geometry.sector_count = 8;
        CHECK_OK(fffs_format_plan(&rig->flash, &options, &geometry));
        rig_destroy(rig);
    }
}

/* ---- C-50 ---- */

TEST(c50_smaller_device_is_refused)
{
    struct rig *rig = rig_mounted(rig_point_of("s4096-g1-n512-hash"));

    CHECK_OK(rig_put(rig, "a", rig_data(1), 5000));
    CHECK_OK(rig_unmount(rig));
    rig->flash.size_bytes = 256 * 4096;
    rig_count(rig);
    CHECK_STATUS(rig_mount(rig), FFFS_ERR_WRONG_SIZE);
    CHECK_EQ(rig_changes(rig), 0);
    rig->flash.size_bytes = 512 * 4096;
    CHECK_OK(rig_mount(rig));
    rig_expect(rig, "a", rig_data(1), 5000);
    rig_destroy(rig);
}

/* A device twice the size, with the volume formatted for its first half. */
static struct rig *half_rig(const char *point, uint32_t sectors)
{
    struct rig *rig = rig_create(rig_point_of(point));
    rig->format.geometry.sector_count = sectors;
    rig->format.geometry.max_files = rig->point.max_files != 0 ? rig->point.max_files : 64;
    CHECK_OK(fffs_format_plan(&rig->flash, &rig->format, &rig->geometry));
    rig_set_table(rig, FFFS_SEGMENTS_MAX(rig->flash.size_bytes, rig->geometry.segment_bytes));
    CHECK_OK(rig_format(rig));
    CHECK_OK(rig_mount(rig));
    return rig;
}

static void watch_limit(struct rig *rig, enum nor_op op, uint32_t address, uint32_t bytes, const void *buffer)
{
    (void)buffer;
    if (op == NOR_PROGRAM || op == NOR_ERASE) { CHECK_LE((uint64_t)address + bytes, *(uint32_t *)rig->on_call_context); }
}

TEST(c50_larger_device_is_used_at_the_recorded_size)
{
    struct rig *rig = half_rig("s4096-g1-n1024-hash", 512);
    uint32_t limit = 512 * 4096;
    unsigned i;
    char name[16];

    rig->on_call = watch_limit;
    rig->on_call_context = &limit;
    CHECK_OK(rig_put(rig, "a", rig_data(1), 5000));
    rig_remount(rig);
    for (i = 0; i < 60; i++) {
        sprintf(name, "f%u", i % 10);
        CHECK_OK(rig_put(rig, name, rig_data(i), 60000));
    }
    rig_expect(rig, "a", rig_data(1), 5000);
    CHECK_LE(rig_capacity(rig), limit);
    rig_check(rig);
    rig_destroy(rig);
}

/* ---- C-51 ---- */

static void grow_on(const char *point, uint32_t from, uint32_t to)
{
    struct rig *rig = half_rig(point, from);
    struct fffs_space before, after;
    uint32_t size;
    unsigned i;
    char name[16];

    before = rig_space(rig);
    size = before.capacity_bytes / 20;
    for (i = 0; i < 8; i++) {
        sprintf(name, "f%u", i);
        CHECK_OK(rig_put(rig, name, rig_data(i), size));
    }
    rig_remount(rig);
    CHECK_STATUS(fffs_grow(rig->fs, from - 1), FFFS_ERR_INVALID);
    CHECK_STATUS(fffs_grow(rig->fs, rig->point.sector_count + 1), FFFS_ERR_WRONG_SIZE);
    rig_check(rig);
    CHECK_OK(fffs_grow(rig->fs, to));
    after = rig_space(rig);
    CHECK(after.capacity_bytes > before.capacity_bytes);
    CHECK(after.free_bytes > before.free_bytes - 8 * size);
    for (i = 0; i < 8; i++) {
        sprintf(name, "f%u", i);
        rig_expect(rig, name, rig_data(i), size);
    }
    rig_check(rig);
    rig_restart(rig);
    CHECK_EQ(rig_capacity(rig), after.capacity_bytes);
    for (i = 0; i < 40; i++) {
        sprintf(name, "g%u", i % 15);
        CHECK_OK(rig_put(rig, name, rig_data(i), size));
        if (i % 5 == 0) { rig_check(rig); }
    }
    rig_remount(rig);
    for (i = 0; i < 8; i++) {
        sprintf(name, "f%u", i);
        rig_expect(rig, name, rig_data(i), size);
    }
    for (i = 25; i < 40; i++) {
        sprintf(name, "g%u", i % 15);
        rig_expect(rig, name, rig_data(i), size);
    }
    CHECK_OK(fffs_grow(rig->fs, to));   /* the same size: nothing to do */
    rig_check(rig);
    rig_destroy(rig);
}

TEST(c51_grow_to_twice_the_size) { grow_on("s4096-g1-n512-hash", 256, 512); }
TEST(c51_grow_without_cache) { grow_on("s4096-g1-n512-none", 256, 400); }
TEST(c51_grow_small_segments) { grow_on("s4096-g16-n64-seg4096-full", 16, 64); }
TEST(c51_grow_by_odd_numbers) { grow_on("s1024-g8-n300-hash", 101, 299); }
TEST(c51_grow_large_sectors) { grow_on("s65536-g1-n32-hash", 9, 32); }
TEST(c51_grow_small_sectors) { grow_on("s256-g1-n1024-hash-fb64", 256, 1024); }

TEST(c51_grow_to_the_whole_device)
{
    struct rig *rig = half_rig("s4096-g1-n512-hash", 256);
    struct fffs_geometry geometry;

    CHECK_OK(rig_put(rig, "a", rig_data(1), 5000));
    CHECK_OK(fffs_grow(rig->fs, 0));
    rig_remount(rig);
    rig_expect(rig, "a", rig_data(1), 5000);
    CHECK_OK(fffs_discover(&rig->flash, &geometry));
    CHECK_EQ(geometry.sector_count, 512);
    rig_destroy(rig);
}

TEST(c51_grow_needs_a_segment_table_large_enough)
{
    struct rig *rig = half_rig("s4096-g1-n512-seg4096-hash", 256);

    CHECK_OK(rig_put(rig, "a", rig_data(1), 5000));
    CHECK_OK(rig_unmount(rig));
    rig->config.segment_table_entries = 260;
    CHECK_OK(rig_mount(rig));
    rig_count(rig);
    CHECK_STATUS(fffs_grow(rig->fs, 512), FFFS_ERR_NO_MEMORY);
    CHECK_EQ(rig_changes(rig), 0);
    rig_expect(rig, "a", rig_data(1), 5000);
    rig_destroy(rig);
}

TEST(c51_cut_during_grow_gives_old_or_new)
{
    struct rig *base = half_rig("s4096-g1-n512-hash", 256);
    uint32_t old_capacity, new_capacity = 0;
    uint64_t n;
    int before, done = 0;

    CHECK_OK(rig_put(base, "a", rig_data(1), 50000));
    old_capacity = rig_capacity(base);
    CHECK_OK(rig_unmount(base));
    for (n = 0; !done; n++) {
        CHECK(n < 50);
        for (before = 0; before < 2; before++) {
            struct rig *rig = rig_clone(base);
            uint32_t capacity;
            CHECK_OK(rig_mount(rig));
            nor_cut_at(rig->nor, n, before);
            if (fffs_grow(rig->fs, 512) == FFFS_OK && !nor_is_off(rig->nor)) {
                done = 1;
                new_capacity = rig_capacity(rig);
                CHECK(new_capacity > old_capacity);
            }
            rig_power_on(rig);
            rig_restart(rig);
            capacity = rig_capacity(rig);
            CHECK(capacity == old_capacity || capacity > old_capacity + 256 * 3000);
            rig_expect(rig, "a", rig_data(1), 50000);
            rig_check(rig);
            rig_restart(rig);
            CHECK_EQ(rig_capacity(rig), capacity);
            rig_destroy(rig);
        }
    }
    rig_destroy(base);
}

/* ---- C-55 ---- */

static void c55_cycle(struct rig *rig)
{
    uint32_t size, i, round, count;
    struct oracle oracle;
    char name[16];

    CHECK_OK(rig_format(rig));
    CHECK_OK(rig_mount(rig));
    CHECK_EQ(rig_names(rig, ""), 0);
    rig_check(rig);
    size = rig_share(rig, 11, UINT32_MAX);
    count = size == 0 ? 4 : 10;
    for (round = 0; round < 2; round++) {
        oracle_init(&oracle);
        for (i = 0; i < count; i++) {
            sprintf(name, "f%u", (unsigned)i);
            CHECK_OK(rig_put(rig, name, rig_data(i + round), size));
            oracle_put(&oracle, name, rig_data(i + round), size);
        }
        oracle_verify(&oracle, rig);
        for (i = 0; i < count; i++) {
            sprintf(name, "f%u", (unsigned)i);
            CHECK_OK(fffs_delete(rig->fs, name));
        }
        oracle_free(&oracle);
        rig_check(rig);
    }
}

TEST_AT(c55_format_over_random_bytes)
{
    struct rig *rig = rig_create(point);
    uint32_t at;
    for (at = 0; at < rig->flash.size_bytes && at < 8u * 1024 * 1024; at += 65536) {
        uint32_t n = rig->flash.size_bytes - at < 65536 ? rig->flash.size_bytes - at : 65536;
        nor_poke(rig->nor, at, rig_data(at / 65536), n);
    }
    c55_cycle(rig);
    rig_destroy(rig);
}

TEST_AT(c55_format_over_zeros)
{
    struct rig *rig = rig_create(point);
    nor_fill(rig->nor, 0);
    c55_cycle(rig);
    rig_destroy(rig);
}

TEST_AT(c55_format_over_an_old_volume)
{
    struct rig *rig = rig_mounted(point);
    uint32_t i, size = rig_share(rig, 9, UINT32_MAX), count = size == 0 ? 4 : 8;
    char name[16];
    for (i = 0; i < count; i++) {
        sprintf(name, "old%u", (unsigned)i);
        CHECK_OK(rig_put(rig, name, rig_data(i), size));
    }
    CHECK_OK(rig_unmount(rig));
    c55_cycle(rig);
    for (i = 0; i < count; i++) {
        sprintf(name, "old%u", (unsigned)i);
        rig_expect_missing(rig, name);
    }
    rig_destroy(rig);
}

TEST(c55_format_over_another_geometry)
{
    static const uint32_t sectors[] = { 256, 512, 1024, 4096, 8192, 16384, 65536 };
    struct rig *rig = rig_create(rig_point_of("s4096-u256-g1-n512-hash"));
    struct rng rng = { 3 };
    struct fffs_geometry geometry;
    unsigned i;

    free(rig->blocks[1]);       /* a table for the smallest segments */
    rig->blocks[1] = malloc(2 * 8200);
    rig->config.segment_table = (uint16_t *)(void *)rig->blocks[1];
    rig->config.segment_table_entries = 8200;
    for (i = 0; i < 30; i++) {
        memset(&rig->format, 0, sizeof rig->format);
        rig->format.geometry.sector_bytes = sectors[rng_below(&rng, 7)];
        CHECK_OK(rig_format(rig));
        CHECK_OK(fffs_discover(&rig->flash, &geometry));
        CHECK_EQ(geometry.sector_bytes, rig->format.geometry.sector_bytes);
        CHECK_OK(rig_mount(rig));
        CHECK_EQ(rig_names(rig, ""), 0);
        CHECK_OK(rig_put(rig, "a", rig_data(i), 70000));
        rig_expect(rig, "a", rig_data(i), 70000);
        rig_check(rig);
        if (i % 2) { CHECK_OK(rig_unmount(rig)); }
        rig_crash(rig);
    }
    rig_destroy(rig);
}

TEST(device_is_erased_option_saves_the_erases)
{
    struct rig *rig = rig_create(rig_point_of("s4096-g1-n1024-hash"));
    unsigned i;
    char name[16];

    rig->format.device_is_erased = 1;
    CHECK_OK(rig_format(rig));
    CHECK_OK(rig_mount(rig));
    rig_count(rig);
    for (i = 0; i < 30; i++) {
        sprintf(name, "f%u", i);
        CHECK_OK(rig_put(rig, name, rig_data(i), 100000));
    }
    CHECK_EQ(rig->tap.data_calls[NOR_ERASE], 0);
    for (i = 0; i < 30; i++) {
        sprintf(name, "f%u", i);
        rig_expect(rig, name, rig_data(i), 100000);
    }
    rig_check(rig);
    rig_destroy(rig);
}

/* ---- C-56 ---- */

static void read_only_look(struct rig *rig, const uint8_t *data, uint32_t size, uint32_t flags)
{
    struct rig_file *handle = rig_file_new(rig);
    int collected;

    rig_count(rig);
    CHECK_OK(rig_mount_flags(rig, FFFS_MOUNT_READ_ONLY | flags));
    rig_expect(rig, "a", data, size);
    CHECK_EQ(fffs_exists(rig->fs, "a"), 1);
    CHECK_EQ(rig_names(rig, ""), 1);
    collected = fffs_gc(rig->fs);
    CHECK(collected == FFFS_OK || collected == FFFS_ERR_READ_ONLY);
    collected = fffs_gc_step(rig->fs, NULL, NULL);
    CHECK(collected == FFFS_GC_IDLE || collected == FFFS_ERR_READ_ONLY);
    CHECK_STATUS(rig_open(handle, "b", RIG_WRITER), FFFS_ERR_READ_ONLY);
    CHECK_STATUS(fffs_delete(rig->fs, "a"), FFFS_ERR_READ_ONLY);
    CHECK_STATUS(fffs_delete_prefix(rig->fs, "a"), FFFS_ERR_READ_ONLY);
    CHECK_STATUS(fffs_grow(rig->fs, 0), FFFS_ERR_READ_ONLY);
    CHECK(fffs_format(rig->fs, &rig->config, &rig->format) < 0);
    CHECK(fffs_settle(rig->fs) == FFFS_OK || fffs_settle(rig->fs) == FFFS_ERR_READ_ONLY);
    rig_check(rig);
    CHECK_OK(rig_unmount(rig));
    CHECK_EQ(rig_changes(rig), 0);
    rig_file_free(handle);
}

TEST_AT(c56_read_only_mount_changes_nothing)
{
    struct rig *rig = rig_mounted(point);
    uint32_t size = rig_capacity(rig) / 6;
    uint64_t mutations;

    CHECK_OK(rig_put(rig, "a", rig_data(1), size));
    rig_crash(rig);                             /* unclean: recovery is pending */
    mutations = nor_mutations(rig->nor);
    read_only_look(rig, rig_data(1), size, 0);
    rig_crash(rig);
    read_only_look(rig, rig_data(1), size, FFFS_MOUNT_LAZY_WEIGHTS);
    CHECK_EQ(nor_mutations(rig->nor), mutations);
    rig_restart(rig);
    rig_remount(rig);
    CHECK_OK(rig_unmount(rig));
    read_only_look(rig, rig_data(1), size, 0);
    rig_destroy(rig);
}

/* Cut at each operation of a replace: a read-only mount and the writable one after it both show old or new. */
TEST(c56_read_only_mount_of_crashed_images)
{
    struct rig *base = rig_mounted(rig_point_of("s4096-g1-n16-seg4096-hash"));
    uint64_t n;
    int before, done = 0;

    CHECK_OK(rig_put(base, "a", rig_data(1), 6000));
    CHECK_OK(rig_unmount(base));
    for (n = 0; !done; n++) {
        CHECK(n < 300);
        for (before = 0; before < 2; before++) {
            struct rig *rig = rig_clone(base);
            uint64_t mutations;
            int is_new;
            CHECK_OK(rig_mount(rig));
            nor_cut_at(rig->nor, n, before);
            (void)rig_put(rig, "a", rig_data(2), 9000);
            if (!nor_is_off(rig->nor)) { done = 1; }
            rig_power_on(rig);
            rig_crash(rig);
            mutations = nor_mutations(rig->nor);
            CHECK_OK(rig_mount_flags(rig, FFFS_MOUNT_READ_ONLY));
            is_new = rig_holds(rig, "a", rig_data(2), 9000) == 1;
            if (!is_new) { rig_expect(rig, "a", rig_data(1), 6000); }
            rig_check(rig);
            CHECK_OK(rig_unmount(rig));
            CHECK_EQ(nor_mutations(rig->nor), mutations);
            rig_restart(rig);
            rig_expect(rig, "a", is_new ? rig_data(2) : rig_data(1), is_new ? 9000 : 6000);
            rig_check(rig);
            rig_destroy(rig);
        }
    }
    rig_destroy(base);
}

TEST(read_only_mount_needs_no_segment_table)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    struct fffs_space space;

    CHECK_OK(rig_put(rig, "a", rig_data(1), 5000));
    CHECK_OK(rig_unmount(rig));
    rig->config.segment_table = NULL;
    rig->config.segment_table_entries = 0;
    CHECK_OK(rig_mount_flags(rig, FFFS_MOUNT_READ_ONLY));
    rig_expect(rig, "a", rig_data(1), 5000);
    CHECK_STATUS(fffs_space(rig->fs, &space), FFFS_ERR_NO_MEMORY);
    CHECK_EQ(rig_names(rig, ""), 1);
    CHECK_OK(rig_unmount(rig));
    rig_destroy(rig);
}

/* ---- Recovery options ---- */

TEST_AT(deferred_recovery_happens_at_the_first_change)
{
    struct rig *rig = rig_mounted(point);
    uint32_t size = rig_capacity(rig) / 10;

    CHECK_OK(rig_put(rig, "a", rig_data(1), size));
    rig_crash(rig);
    rig_count(rig);
    CHECK_OK(rig_mount_flags(rig, point->flags | FFFS_MOUNT_DEFER_RECOVERY));
    CHECK_EQ(rig_changes(rig), 0);
    rig_expect(rig, "a", rig_data(1), size);
    CHECK_EQ(rig_names(rig, ""), 1);
    rig_check(rig);
    CHECK_EQ(rig_changes(rig), 0);
    CHECK_OK(rig_put(rig, "b", rig_data(2), size));
    CHECK(rig_changes(rig) > 0);
    rig_expect(rig, "a", rig_data(1), size);
    rig_expect(rig, "b", rig_data(2), size);
    rig_check(rig);
    rig_restart(rig);
    rig_expect(rig, "a", rig_data(1), size);
    rig_expect(rig, "b", rig_data(2), size);
    rig_crash(rig);
    CHECK_OK(rig_mount_flags(rig, point->flags | FFFS_MOUNT_DEFER_RECOVERY));
    CHECK_OK(rig_unmount(rig));             /* nothing changed: still unclean or clean, both mount */
    rig_restart(rig);
    rig_expect(rig, "b", rig_data(2), size);
    rig_check(rig);
    rig_destroy(rig);
}

TEST_AT(lazy_weights_give_the_same_figures)
{
    struct rig *rig = rig_mounted(point);
    struct fffs_space eager, lazy;
    uint32_t size = rig_share(rig, 7, UINT32_MAX);
    unsigned i;
    char name[8];

    for (i = 0; i < 6; i++) {
        sprintf(name, "%u", i);
        CHECK_OK(rig_put(rig, name, rig_data(i), size));
    }
    CHECK_OK(fffs_delete(rig->fs, "2"));
    CHECK_OK(rig_unmount(rig));
    CHECK_OK(rig_mount_flags(rig, point->flags & ~(unsigned)FFFS_MOUNT_LAZY_WEIGHTS));
    eager = rig_space(rig);
    CHECK_OK(rig_unmount(rig));
    CHECK_OK(rig_mount_flags(rig, point->flags | FFFS_MOUNT_LAZY_WEIGHTS));
    lazy = rig_space(rig);
    CHECK_EQ(lazy.capacity_bytes, eager.capacity_bytes);
    CHECK_EQ(lazy.used_bytes, eager.used_bytes);
    CHECK_EQ(lazy.free_bytes, eager.free_bytes);
    CHECK_EQ(lazy.writable_bytes, eager.writable_bytes);
    CHECK_EQ(lazy.files, eager.files);
    CHECK_EQ(lazy.segments, eager.segments);
    CHECK_EQ(lazy.segments_erased, eager.segments_erased);
    CHECK_EQ(lazy.segments_dead, eager.segments_dead);
    rig_destroy(rig);
}

TEST_AT(remounts_do_not_lose_space)
{
    struct rig *rig = rig_mounted(point);
    struct fffs_space first, now;
    uint32_t size = rig_capacity(rig) / 20;
    unsigned i;

    CHECK_OK(rig_put(rig, "a", rig_data(1), size));
    first = rig_space(rig);
    for (i = 0; i < 30; i++) {
        CHECK_OK(rig_put(rig, "a", rig_data(i), size));
        if (i % 2) { rig_remount(rig); }
        else { rig_restart(rig); }
        now = rig_space(rig);
        CHECK_EQ(now.capacity_bytes, first.capacity_bytes);
        CHECK_LE(now.used_bytes, first.used_bytes + size / 16 + 2 * point->granule_bytes + 400);
        rig_check(rig);
    }
    rig_expect(rig, "a", rig_data(29), size);
    rig_destroy(rig);
}

TEST(empty_volumes_remount_without_a_change)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    unsigned i;

    CHECK_OK(rig_unmount(rig));
    rig_count(rig);
    for (i = 0; i < 20; i++) {
        CHECK_OK(rig_mount(rig));
        CHECK_EQ(rig_names(rig, ""), 0);
        CHECK_OK(rig_unmount(rig));
    }
    CHECK_EQ(rig_changes(rig), 0);
    rig_destroy(rig);
}

SUITE(mount)
{
    RUN(blank_flash_is_blank);
    RUN(blank_encrypted_flash_is_blank);
    RUN(foreign_data_is_foreign);
    RUN(device_errors_at_mount_are_io_errors);
    RUN(buffers_too_small_are_told_before_anything_happens);
    RUN(wrong_options_are_errors);
    RUN(other_granule_or_erase_size_is_refused);
    RUN(every_cache_size_mounts);
    RUN_MATRIX(discovery_finds_the_geometry);
    RUN(discovery_works_with_index_unit_0_erased);
    RUN(format_plan_fills_in_defaults);
    RUN(format_options_out_of_range_are_refused);
    RUN(smallest_sector_counts_are_enforced);
    RUN(c50_smaller_device_is_refused);
    RUN(c50_larger_device_is_used_at_the_recorded_size);
    RUN(c51_grow_to_twice_the_size);
    RUN(c51_grow_without_cache);
    RUN(c51_grow_small_segments);
    RUN(c51_grow_by_odd_numbers);
    RUN(c51_grow_large_sectors);
    RUN(c51_grow_small_sectors);
    RUN(c51_grow_to_the_whole_device);
    RUN(c51_grow_needs_a_segment_table_large_enough);
    RUN(c51_cut_during_grow_gives_old_or_new);
    RUN_MATRIX(c55_format_over_random_bytes);
    RUN_MATRIX_OF(c55_format_over_zeros, RIG_SET_FEW);
    RUN_MATRIX(c55_format_over_an_old_volume);
    RUN(c55_format_over_another_geometry);
    RUN(device_is_erased_option_saves_the_erases);
    RUN_MATRIX(c56_read_only_mount_changes_nothing);
    RUN(c56_read_only_mount_of_crashed_images);
    RUN(read_only_mount_needs_no_segment_table);
    RUN_MATRIX(deferred_recovery_happens_at_the_first_change);
    RUN_MATRIX(lazy_weights_give_the_same_figures);
    RUN_MATRIX(remounts_do_not_lose_space);
    RUN(empty_volumes_remount_without_a_change);
}

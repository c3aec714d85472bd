/* Damaged media and driver faults (sections G and I of the field cases); more of them are in tests/faults. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "emulator/nor_fault.h"
#include "fastffs/fffs_inspect.h"
#include "oracle.h"

#define USUAL "s4096-g1-n64-seg4096-hash"

/* ---- C-43 ---- */

static int ignore_entry(void *context, const struct fffs_info *info)
{
    (void)context;
    (void)info;
    return 0;
}

static void every_call_survives(struct rig *rig)
{
    struct rig_file *handle = rig_file_new(rig);
    struct fffs_space space;
    struct fffs_info info;
    struct fffs_dir dir;
    uint8_t bytes[300];
    int i;

    memset(&dir, 0, sizeof dir);
    rig->call_budget = 20000;
    CHECK(fffs_stat(rig->fs, "a", &info) < 0);
    CHECK(fffs_exists(rig->fs, "missing") <= 0);
    if (rig_open(handle, "a", FFFS_READ) == FFFS_OK) {
        CHECK(fffs_read(rig->fs, handle->file, bytes, sizeof bytes) <= (int32_t)sizeof bytes);
        (void)fffs_close(rig->fs, handle->file);
    }
    (void)rig_put(rig, "b", rig_data(2), 5000);
    (void)fffs_delete(rig->fs, "a");
    (void)fffs_space(rig->fs, &space);
    if (fffs_dir_open(rig->fs, &dir, "", 0) == FFFS_OK) {
        for (i = 0; i < 1000 && fffs_dir_read(rig->fs, &dir, &info) != 0; i++) { }
        CHECK(i < 1000);
        (void)fffs_dir_close(rig->fs, &dir);
    }
    (void)fffs_list(rig->fs, "", ignore_entry, NULL);
    for (i = 0; i < 20; i++) { (void)fffs_gc_step(rig->fs, NULL, NULL); }
    (void)fffs_gc(rig->fs);
    (void)fffs_check(rig->fs, NULL, NULL);
    (void)fffs_settle(rig->fs);
    (void)fffs_unmount(rig->fs);
}

static void c43_with(const char *point, int value)
{
    struct rig *rig = rig_mounted(rig_point_of(point));
    unsigned i;
    char name[8];

    CHECK_OK(rig_put(rig, "a", rig_data(1), 5000));
    for (i = 0; i < 20; i++) {
        sprintf(name, "f%u", i);
        CHECK_OK(rig_put(rig, name, rig_data(i), 3000));
    }
    rig->dead = value;
    every_call_survives(rig);
    rig_crash(rig);
    CHECK(rig_mount(rig) < 0);
    rig_destroy(rig);
}

TEST(c43_dead_flash_reads_ones) { c43_with(USUAL, 0xFF); }
TEST(c43_dead_flash_reads_zeros) { c43_with(USUAL, 0x00); }
TEST(c43_dead_flash_reads_ones_without_cache) { c43_with("s4096-g1-n64-seg4096-none", 0xFF); }
TEST(c43_dead_flash_reads_zeros_without_cache) { c43_with("s4096-g1-n64-seg4096-none", 0x00); }

/* ---- C-44, C-45: hostile bytes. Each byte that mount and look-ups read is replaced, in turn. ---- */

static void look_at_everything(struct rig *rig, const struct oracle *oracle, unsigned *wrong)
{
    size_t i;
    for (i = 0; i < oracle->present; i++) {
        const struct oracle_file *file = oracle_at(oracle, i);
        int result = rig_holds(rig, file->name, file->data, file->size);
        if (result == 0) { (*wrong)++; }
    }
    (void)fffs_check(rig->fs, NULL, NULL);
    (void)fffs_list(rig->fs, "", ignore_entry, NULL);
}

static void damaged_bytes(const char *point, uint32_t first, uint32_t bytes, uint64_t seed, unsigned rounds)
{
    struct rig *base = rig_mounted(rig_point_of(point));
    struct oracle oracle;
    struct rng rng = { seed };
    unsigned i, wrong = 0;
    char name[16];

    oracle_init(&oracle);
    for (i = 0; i < 12; i++) {
        sprintf(name, "file%u", i);
        CHECK_OK(rig_put(base, name, rig_data(i), i * 300));
        oracle_put(&oracle, name, rig_data(i), i * 300);
    }
    CHECK_OK(rig_unmount(base));
    for (i = 0; i < rounds; i++) {
        struct rig *rig = rig_clone(base);
        uint32_t at = first + rng_below(&rng, bytes), n = 1 + rng_below(&rng, 4);
        uint8_t junk[4];
        int status;
        memset(junk, (int)rng_below(&rng, 256), sizeof junk);
        if (rng_chance(&rng, 30)) { memset(junk, rng_chance(&rng, 50) ? 0 : 0xFF, sizeof junk); }
        harness_note("round %u: %u bytes of %02x at %#x", i, (unsigned)n, junk[0], (unsigned)at);
        nor_poke(rig->nor, at, junk, n);
        rig->call_budget = 4000;
        status = rig_mount_flags(rig, FFFS_MOUNT_READ_ONLY);
        if (status == FFFS_OK) { look_at_everything(rig, &oracle, &wrong); }
        rig_destroy(rig);
    }
    CHECK_LE(wrong, rounds);
    oracle_free(&oracle);
    rig_destroy(base);
}

TEST(c44_damaged_index_bytes_are_survived) { damaged_bytes(USUAL, 0, 5 * 4096, 1, 2000); }
TEST(c44_damaged_index_bytes_are_survived_without_cache) { damaged_bytes("s4096-g1-n64-none", 0, 4096, 2, 1000); }
TEST(c44_damaged_index_bytes_are_survived_wide) { damaged_bytes("s4096-g64-n64-hash", 0, 8 * 4096, 3, 1000); }
TEST(c45_damaged_data_bytes_are_survived) { damaged_bytes("s1024-g1-n256-hash", 16 * 1024, 64 * 1024, 4, 1000); }

struct flip { struct rig *rig; uint32_t address[400], bytes[400]; unsigned count; };

static int note_nodes(void *context, const struct fffs_item *item)
{
    struct flip *flip = context;
    if (item->kind == FFFS_ITEM_NODE && flip->count < 400) {
        flip->address[flip->count] = item->address;
        flip->bytes[flip->count++] = item->bytes;
    }
    return 0;
}

/* C-48: a flipped bit in a node is reported for that file, and no other file is touched by it. */
TEST(c48_flipped_bits_in_nodes_are_reported)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    struct oracle oracle;
    static struct flip flip;
    unsigned i, bit, corrupt = 0;
    char name[16];

    oracle_init(&oracle);
    flip.count = 0;
    for (i = 0; i < 6; i++) {
        sprintf(name, "file%u", i);
        CHECK_OK(rig_put(rig, name, rig_data(i), i * 900));
        oracle_put(&oracle, name, rig_data(i), i * 900);
    }
    CHECK_EQ(fffs_inspect(rig->fs, note_nodes, &flip), 0);
    CHECK_EQ(flip.count, 6);
    for (i = 0; i < flip.count; i++) {
        for (bit = 0; bit < flip.bytes[i] * 8; bit++) {
            size_t f;
            unsigned bad = 0;
            nor_flip(rig->nor, flip.address[i] + bit / 8, bit % 8);
            harness_note("bit %u of node %u", bit, i);
            for (f = 0; f < oracle.present; f++) {
                const struct oracle_file *file = oracle_at(&oracle, f);
                int result = rig_holds(rig, file->name, file->data, file->size);
                if (result == 1) { continue; }
                CHECK_STATUS(result, FFFS_ERR_CORRUPT);
                bad++;
            }
            CHECK_EQ(bad, 1);
            corrupt += bad;
            if (bit % 16 == 0) { CHECK(fffs_check(rig->fs, NULL, NULL) > 0); }
            nor_flip(rig->nor, flip.address[i] + bit / 8, bit % 8);
        }
    }
    CHECK(corrupt > 500);
    oracle_verify(&oracle, rig);
    oracle_free(&oracle);
    rig_destroy(rig);
}

struct records { uint32_t address[200], count; };

static int note_records(void *context, const struct fffs_item *item)
{
    struct records *records = context;
    if ((item->kind == FFFS_ITEM_PUT || item->kind == FFFS_ITEM_PUT_MULTI) && item->current && records->count < 200) {
        records->address[records->count++] = item->address;
    }
    return 0;
}

/* A flipped bit in a record that is not the last: damage, reported at mount or for the file, never absence or a mix-up. */
TEST(c48_flipped_bits_in_records_are_reported)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    struct oracle oracle;
    struct records records = { { 0 }, 0 };
    unsigned i, bit;
    char name[16];

    oracle_init(&oracle);
    for (i = 0; i < 8; i++) {
        sprintf(name, "file%u", i);
        CHECK_OK(rig_put(rig, name, rig_data(i), i * 100));
        oracle_put(&oracle, name, rig_data(i), i * 100);
    }
    CHECK_EQ(fffs_inspect(rig->fs, note_records, &records), 0);
    CHECK_EQ(records.count, 8);
    CHECK_OK(rig_unmount(rig));
    for (i = 0; i < 7; i++) {
        for (bit = 0; bit < 64; bit++) {
            int status;
            size_t f;
            nor_flip(rig->nor, records.address[i] + bit / 8, bit % 8);
            harness_note("bit %u of record %u", bit, i);
            rig_crash(rig);
            status = rig_mount_flags(rig, FFFS_MOUNT_READ_ONLY);
            if (status != FFFS_OK) { CHECK_STATUS(status, FFFS_ERR_CORRUPT); }
            for (f = 0; status == FFFS_OK && f < oracle.present; f++) {
                const struct oracle_file *file = oracle_at(&oracle, f);
                int result = rig_holds(rig, file->name, file->data, file->size);
                if (result != 1) { CHECK_STATUS(result, FFFS_ERR_CORRUPT); }
            }
            nor_flip(rig->nor, records.address[i] + bit / 8, bit % 8);
        }
    }
    rig_restart(rig);
    oracle_verify(&oracle, rig);
    oracle_free(&oracle);
    rig_destroy(rig);
}

/* ---- C-46 ---- */

TEST_AT(c46_content_that_looks_like_metadata)
{
    struct rig *rig = rig_mounted(point);
    uint32_t size = point->sector_bytes, capacity = rig_capacity(rig), i, count;
    uint8_t *copies[6];
    char name[8];

    if (size > rig_share(rig, 14, UINT32_MAX)) { size = rig_share(rig, 14, UINT32_MAX); }
    if (size == 0) { harness_skip("too small"); }
    for (i = 0; i < 10; i++) { CHECK_OK(rig_put(rig, "x", rig_data(i), 20)); }
    for (count = 0; count < 6; count++) {       /* what stands on flash, as files */
        uint32_t from = count < 3 ? count * point->sector_bytes : rig->geometry.index_bytes + (count - 3) * size;
        if (from + size > rig->flash.size_bytes) { break; }
        copies[count] = malloc(size);
        nor_peek(rig->nor, from, copies[count], size);
        sprintf(name, "c%u", (unsigned)count);
        CHECK_OK(rig_put(rig, name, copies[count], size));
    }
    for (i = 0; i < 3; i++) {
        uint32_t f;
        for (f = 0; f < 8; f++) { CHECK_OK(rig_put(rig, "churn", rig_data(f), capacity / 8)); }
        CHECK_OK(fffs_gc(rig->fs));
        if (i == 1) { rig_restart(rig); }
        else { rig_remount(rig); }
        for (f = 0; f < count; f++) {
            sprintf(name, "c%u", (unsigned)f);
            rig_expect(rig, name, copies[f], size);
        }
        CHECK_EQ(rig_names(rig, ""), (int)count + 2);
        rig_check(rig);
    }
    for (i = 0; i < count; i++) { free(copies[i]); }
    rig_destroy(rig);
}

/* ---- C-47 ---- */

TEST(c47_old_names_never_return)
{
    struct rig *rig = rig_mounted(rig_point_of("s4096-g1-n256-hash"));
    unsigned i, round;
    char name[16];

    for (i = 0; i < 250; i++) {
        sprintf(name, "old%u", i);
        CHECK_OK(rig_put(rig, name, rig_data(i), 500));
    }
    for (round = 0; round < 3; round++) {
        if (round != 1) { CHECK_OK(rig_unmount(rig)); }
        rig_crash(rig);
        CHECK_OK(rig_format(rig));
        for (i = 0; i < 4; i++) {
            CHECK_OK(rig_mount(rig));
            CHECK_EQ(rig_names(rig, ""), 0);
            CHECK_OK(fffs_gc(rig->fs));
            CHECK_EQ(rig_names(rig, ""), 0);
            if (i % 2) { CHECK_OK(rig_unmount(rig)); }
            rig_crash(rig);
        }
        CHECK_OK(rig_mount(rig));
        for (i = 0; i < 50; i++) {
            sprintf(name, "new%u", i);
            CHECK_OK(rig_put(rig, name, rig_data(i), 500));
        }
        CHECK_EQ(rig_names(rig, ""), 50);
        rig_check(rig);
    }
    rig_destroy(rig);
}

TEST(c47_overwritten_index_sectors_never_give_wrong_files)
{
    struct rig *base = rig_mounted(rig_point_of("s4096-g1-n256-hash"));
    struct oracle oracle;
    unsigned i, unit, wrong = 0;
    char name[16];

    oracle_init(&oracle);
    for (i = 0; i < 200; i++) {
        sprintf(name, "f%u", i);
        CHECK_OK(rig_put(base, name, rig_data(i), 100));
        oracle_put(&oracle, name, rig_data(i), 100);
    }
    CHECK_OK(rig_unmount(base));
    for (unit = 0; unit < base->geometry.index_bytes / 4096; unit++) {
        struct rig *rig = rig_clone(base);
        int status;
        nor_poke(rig->nor, unit * 4096, rig_data(7), 4096);
        status = rig_mount(rig);
        if (status == FFFS_OK) {
            look_at_everything(rig, &oracle, &wrong);
            CHECK_EQ(wrong, 0);
            CHECK(rig_names(rig, "") == 200);
        }
        rig_destroy(rig);
    }
    oracle_free(&oracle);
    rig_destroy(base);
}

/* ---- C-49 ---- */

TEST(c49_full_volume_mounts_with_every_cache)
{
    static const enum rig_cache caches[] = { RIG_CACHE_NONE, RIG_CACHE_SMALL, RIG_CACHE_HASH, RIG_CACHE_FULL };
    unsigned c, d, i;

    for (c = 0; c < 4; c++) {
        struct rig *rig = rig_mounted(rig_point_of("s4096-g1-n256-hash"));
        char name[16];
        CHECK_OK(rig_unmount(rig));
        rig_set_cache(rig, caches[c]);
        CHECK_OK(rig_mount(rig));
        for (i = 0; i < rig->geometry.max_files; i++) {
            sprintf(name, "f%u", i);
            CHECK_OK(rig_put(rig, name, rig_data(i), 30));
        }
        for (d = 0; d < 4; d++) {
            if (d % 2) { CHECK_OK(rig_unmount(rig)); }
            rig_crash(rig);
            rig_set_cache(rig, caches[d]);
            CHECK_OK(rig_mount(rig));
            CHECK_EQ(rig_names(rig, ""), (int)rig->geometry.max_files);
            for (i = 0; i < rig->geometry.max_files; i += 11) {
                sprintf(name, "f%u", i);
                rig_expect(rig, name, rig_data(i), 30);
            }
            rig_check(rig);
        }
        rig_destroy(rig);
    }
}

/* ---- C-59 ---- */

static void session(struct rig *rig, int *statuses)
{
    struct rig_file *handle = rig_file_new(rig);
    uint8_t bytes[100];

    statuses[0] = rig_put(rig, "a", rig_data(11), 5000);
    statuses[1] = fffs_delete(rig->fs, "b");
    statuses[2] = rig_put(rig, "c", rig_data(12), 90);
    statuses[3] = rig_open(handle, "keep", FFFS_READ);
    if (statuses[3] == FFFS_OK) {
        int32_t n = fffs_read(rig->fs, handle->file, bytes, sizeof bytes);
        if (n < 0) { statuses[3] = n; }
        else { CHECK_MEM(bytes, rig_data(5), 100); }
        CHECK_OK(fffs_close(rig->fs, handle->file));
    }
    statuses[4] = fffs_settle(rig->fs);
    rig_file_free(handle);
}

/* Which state a name is in must agree with what the call said: ok means new; an error means old, or new only when the
 * failed operation may have been done (the commit record itself). */
static void verify_session(struct rig *rig, const int *statuses)
{
    rig_expect(rig, "keep", rig_data(5), 3000);
    if (statuses[0] == FFFS_OK) { rig_expect(rig, "a", rig_data(11), 5000); }
    else if (rig_holds(rig, "a", rig_data(11), 5000) != 1) { rig_expect(rig, "a", rig_data(1), 4000); }
    if (statuses[1] == FFFS_OK) { rig_expect_missing(rig, "b"); }
    else if (fffs_exists(rig->fs, "b") == 1) { rig_expect(rig, "b", rig_data(2), 40); }
    if (statuses[2] == FFFS_OK) { rig_expect(rig, "c", rig_data(12), 90); }
    else if (fffs_exists(rig->fs, "c") == 1) { rig_expect(rig, "c", rig_data(12), 90); }
    rig_check(rig);
}

static void c59_with(const char *point, unsigned ops, int lie, enum nor_op only)
{
    struct rig *base = rig_mounted(rig_point_of(point));
    uint64_t n;
    int hit = 1, i;

    (void)only;
    CHECK_OK(rig_put(base, "a", rig_data(1), 4000));
    CHECK_OK(rig_put(base, "b", rig_data(2), 40));
    CHECK_OK(rig_put(base, "keep", rig_data(5), 3000));
    CHECK_OK(rig_unmount(base));
    for (n = 0; hit; n++) {
        struct rig *rig = rig_clone(base);
        int statuses[5], failed = 0;
        CHECK_LE(n, 400);
        harness_note("operation %u fails", (unsigned)n);
        if (lie) { rig->point.flags |= FFFS_MOUNT_VERIFY; }
        CHECK_OK(rig_mount(rig));
        rig->fail_ops = ops;
        rig->fail_at = n;
        rig->lie = lie;
        session(rig, statuses);
        hit = rig->fail_hit;
        rig->fail_ops = 0;
        for (i = 0; i < 5; i++) {
            if (statuses[i] == FFFS_OK) { continue; }
            failed++;
            CHECK(statuses[i] == FFFS_ERR_IO || statuses[i] == FFFS_ERR_REMOUNT || statuses[i] == FFFS_ERR_ABANDONED);
        }
        if (!hit) { CHECK_EQ(failed, 0); }
        if (statuses[0] == FFFS_OK && statuses[2] == FFFS_OK) { verify_session(rig, statuses); }
        rig_restart(rig);
        verify_session(rig, statuses);
        CHECK_OK(rig_put(rig, "more", rig_data(8), 2000));
        rig_expect(rig, "more", rig_data(8), 2000);
        rig_check(rig);
        rig_destroy(rig);
    }
    rig_destroy(base);
}

enum { ANY_OP = 1 << NOR_READ | 1 << NOR_PROGRAM | 1 << NOR_ERASE, CHANGES = 1 << NOR_PROGRAM | 1 << NOR_ERASE };

TEST(c59_every_operation_fails_once_hash) { c59_with(USUAL, ANY_OP, 0, NOR_READ); }
TEST(c59_every_operation_fails_once_none) { c59_with("s4096-g1-n64-none-sc256-fb16", ANY_OP, 0, NOR_READ); }
TEST(c59_every_operation_fails_once_small_sectors) { c59_with("s256-g1-n256-hash-fb64", ANY_OP, 0, NOR_READ); }
TEST(c59_every_operation_fails_once_wide) { c59_with("s1024-g64-n256-full", ANY_OP, 0, NOR_READ); }
TEST(c59_lying_driver_is_found_by_verify) { c59_with(USUAL, CHANGES, 1, NOR_PROGRAM); }
TEST(c59_lying_driver_is_found_by_verify_wide) { c59_with("s1024-g64-n256-none", CHANGES, 1, NOR_PROGRAM); }

/* An error of a commit leaves the volume usable: at once, or after a remount if it says so. */
TEST(c59_failed_close_keeps_the_old_version)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    struct rig_file *handle = rig_file_new(rig);
    int status;

    CHECK_OK(rig_put(rig, "a", rig_data(1), 100));
    CHECK_OK(rig_open(handle, "a", RIG_WRITER));
    CHECK_EQ(rig_write(handle, rig_data(2), 200), 200);
    rig->fail_ops = 1u << NOR_PROGRAM;
    rig->fail_at = 0;
    status = fffs_close(rig->fs, handle->file);
    CHECK_STATUS(status, FFFS_ERR_IO);
    CHECK_STATUS(fffs_close(rig->fs, handle->file), FFFS_ERR_NOT_OPEN);
    rig_expect(rig, "a", rig_data(1), 100);
    CHECK_OK(rig_put(rig, "a", rig_data(3), 300));
    rig_expect(rig, "a", rig_data(3), 300);
    rig_check(rig);
    rig_destroy(rig);
}

TEST(writer_is_abandoned_after_a_failed_write)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    struct rig_file *handle = rig_file_new(rig);

    CHECK_OK(rig_put(rig, "a", rig_data(1), 100));
    CHECK_OK(rig_open(handle, "a", RIG_WRITER));
    CHECK_EQ(rig_write(handle, rig_data(2), 200), 200);
    rig->fail_ops = 1u << NOR_PROGRAM;
    rig->fail_at = 0;
    CHECK_STATUS(fffs_write(rig->fs, handle->file, rig_data(2) + 200, 2000), FFFS_ERR_IO);
    CHECK_STATUS(fffs_write(rig->fs, handle->file, rig_data(2) + 200, 2000), FFFS_ERR_ABANDONED);
    CHECK(fffs_close(rig->fs, handle->file) < 0);
    CHECK_STATUS(fffs_close(rig->fs, handle->file), FFFS_ERR_NOT_OPEN);
    rig_expect(rig, "a", rig_data(1), 100);
    CHECK_OK(rig_put(rig, "b", rig_data(3), 3000));
    rig_expect(rig, "b", rig_data(3), 3000);
    rig_check(rig);
    rig_restart(rig);
    rig_expect(rig, "a", rig_data(1), 100);
    rig_expect(rig, "b", rig_data(3), 3000);
    rig_destroy(rig);
}

/* ---- C-60: granules; the rest of the suite runs on them too ---- */

TEST(c60_every_granule_is_supported)
{
    static const unsigned granules[] = { 1, 2, 4, 8, 16, 32, 64, 128, 256 };
    unsigned i, j;
    char point[64];

    for (i = 0; i < 9; i++) {
        struct rig *rig;
        struct oracle oracle;
        struct rng rng = { i };
        sprintf(point, "s4096-g%u-n256-hash", granules[i]);
        harness_note("granule %u", granules[i]);
        rig = rig_mounted(rig_point_of(point));
        oracle_init(&oracle);
        for (j = 0; j < 120; j++) {
            char name[8];
            uint32_t size = rng_below(&rng, 3000);
            sprintf(name, "n%u", (unsigned)rng_below(&rng, 20));
            CHECK_OK(rig_put_in(rig, name, rig_data(j), size, 1 + rng_below(&rng, 500)));
            oracle_put(&oracle, name, rig_data(j), size);
            if (j % 40 == 39) { rig_restart(rig); }
        }
        oracle_verify(&oracle, rig);
        CHECK_EQ(nor_counts(rig->nor)->violations, 0);
        oracle_free(&oracle);
        rig_destroy(rig);
    }
}

TEST(c60_impossible_granules_are_refused)
{
    static const uint32_t granules[] = { 0, 3, 12, 512, 4096 };
    unsigned i;

    for (i = 0; i < 5; i++) {
        struct rig *rig = rig_create(rig_point_of(USUAL));
        struct fffs_geometry geometry;
        rig->flash.granule_bytes = granules[i];
        CHECK(fffs_format_plan(&rig->flash, NULL, &geometry) < 0);
        CHECK(rig_format(rig) < 0);
        CHECK_EQ(rig_changes(rig), 0);
        rig_destroy(rig);
    }
}

/* ---- C-61 ---- */

static void watch_alignment(struct rig *rig, enum nor_op op, uint32_t address, uint32_t bytes, const void *buffer)
{
    const uint8_t *at = buffer, *user = rig->on_call_context;
    (void)address;
    (void)bytes;
    if (op == NOR_ERASE || op == NOR_SYNC || ((uintptr_t)at & 3u) == 0) { return; }
    /* not aligned: then it must be the caller's own memory */
    CHECK(at >= user && at < user + 1200);
}

TEST(c61_unaligned_user_buffers)
{
    static uint8_t memory[1200];
    struct rig *rig = rig_mounted(rig_point_of("s4096-g1-n256-hash"));
    struct fffs_file file;
    uint32_t offset, size;

    memset(&file, 0, sizeof file);
    rig->on_call = watch_alignment;
    rig->on_call_context = memory;
    for (offset = 0; offset < 4; offset++) {
        for (size = 1; size <= 300; size += 13) {
            uint8_t *user = memory + offset, *buffer = memory + 400 + offset, *back = memory + 800 + offset;
            memcpy(user, rig_data(size), size);
            CHECK_OK(fffs_open(rig->fs, &file, "f", RIG_WRITER, buffer, 256));
            CHECK_EQ(fffs_write(rig->fs, &file, user, size), size);
            CHECK_EQ(fffs_write(rig->fs, &file, user, size), size);
            CHECK_OK(fffs_close(rig->fs, &file));
            CHECK_OK(fffs_open(rig->fs, &file, "f", FFFS_READ, buffer, 256));
            CHECK_EQ(fffs_read(rig->fs, &file, back, size), size);
            CHECK_MEM(back, rig_data(size), size);
            CHECK_EQ(fffs_read(rig->fs, &file, back, size), size);
            CHECK_MEM(back, rig_data(size), size);
            CHECK_OK(fffs_close(rig->fs, &file));
        }
    }
    rig_check(rig);
    rig_destroy(rig);
}

/* ---- C-62 ---- */

static void c62_with(uint32_t cycles, uint64_t seed)
{
    struct rig *rig = rig_mounted(rig_point_of("s4096-g1-n32-seg4096-hash"));
    struct oracle oracle;
    struct rng rng = { seed };
    uint32_t unit, i, failures = 0;
    char name[8];

    oracle_init(&oracle);
    CHECK_OK(rig_put(rig, "static", rig_data(1), 9000));
    oracle_put(&oracle, "static", rig_data(1), 9000);
    for (unit = rig->geometry.index_bytes / 4096; unit < 32; unit++) {
        nor_wear_out(rig->nor, unit, cycles + rng_below(&rng, 10));
    }
    for (i = 0; i < 3000 && failures < 20; i++) {
        int status;
        sprintf(name, "n%u", (unsigned)rng_below(&rng, 4));
        rig->call_budget = 5000;
        status = rig_put(rig, name, rig_data(i), 6000);
        if (status == FFFS_OK) { oracle_put(&oracle, name, rig_data(i), 6000); }
        else {
            failures++;
            CHECK(status == FFFS_ERR_IO || status == FFFS_ERR_NO_SPACE || status == FFFS_ERR_REMOUNT);
            if (status == FFFS_ERR_REMOUNT) { rig_crash(rig); CHECK_OK(rig_mount(rig)); }
        }
    }
    rig->call_budget = UINT64_MAX;
    CHECK(failures > 0);
    rig_restart(rig);
    oracle_verify_names(&oracle, rig);
    for (i = 0; i < oracle.present; i++) {
        const struct oracle_file *file = oracle_at(&oracle, i);
        rig_expect(rig, file->name, file->data, file->size);
    }
    oracle_free(&oracle);
    rig_destroy(rig);
}

TEST(c62_sectors_wear_out_and_files_stay) { c62_with(5, 1); }
TEST(c62_sectors_wear_out_and_files_stay_again) { c62_with(20, 2); }

SUITE(media)
{
    RUN(c43_dead_flash_reads_ones);
    RUN(c43_dead_flash_reads_zeros);
    RUN(c43_dead_flash_reads_ones_without_cache);
    RUN(c43_dead_flash_reads_zeros_without_cache);
    RUN(c44_damaged_index_bytes_are_survived);
    RUN(c44_damaged_index_bytes_are_survived_without_cache);
    RUN(c44_damaged_index_bytes_are_survived_wide);
    RUN(c45_damaged_data_bytes_are_survived);
    RUN(c48_flipped_bits_in_nodes_are_reported);
    RUN(c48_flipped_bits_in_records_are_reported);
    RUN_MATRIX(c46_content_that_looks_like_metadata);
    RUN(c47_old_names_never_return);
    RUN(c47_overwritten_index_sectors_never_give_wrong_files);
    RUN(c49_full_volume_mounts_with_every_cache);
    RUN(c59_every_operation_fails_once_hash);
    RUN(c59_every_operation_fails_once_none);
    RUN(c59_every_operation_fails_once_small_sectors);
    RUN(c59_every_operation_fails_once_wide);
    RUN(c59_lying_driver_is_found_by_verify);
    RUN(c59_lying_driver_is_found_by_verify_wide);
    RUN(c59_failed_close_keeps_the_old_version);
    RUN(writer_is_abandoned_after_a_failed_write);
    RUN(c60_every_granule_is_supported);
    RUN(c60_impossible_granules_are_refused);
    RUN(c61_unaligned_user_buffers);
    RUN(c62_sectors_wear_out_and_files_stay);
    RUN(c62_sectors_wear_out_and_files_stay_again);
}

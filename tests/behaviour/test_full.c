/* Full volumes (section B of the field cases). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "oracle.h"

/* Puts files of `size` until one is refused; returns how many there are. */
static unsigned fill(struct rig *rig, uint32_t size, int *refusal)
{
    unsigned count = 0;
    char name[16];

    for (;;) {
        int status;
        CHECK(count < 100000);
        sprintf(name, "f%u", count);
        status = rig_put(rig, name, rig_data(count), size);
        if (status != FFFS_OK) {
            CHECK(status == FFFS_ERR_NO_SPACE || status == FFFS_ERR_INDEX_FULL);
            *refusal = status;
            return count;
        }
        count++;
    }
}

static void expect_filled(struct rig *rig, unsigned from, unsigned to, uint32_t size)
{
    char name[16];
    for (; from < to; from++) {
        sprintf(name, "f%u", from);
        rig_expect(rig, name, rig_data(from), size);
    }
}

TEST_AT(c10_delete_and_write_when_full)
{
    struct rig *rig = rig_mounted(point);
    int refusal;
    unsigned count = fill(rig, 79, &refusal), i;
    char name[16];

    CHECK(count >= 1);
    for (i = 0; i < 20; i++) {
        sprintf(name, "f%u", (i * 7) % count);
        CHECK_OK(fffs_delete(rig->fs, name));
        CHECK_OK(rig_put(rig, name, rig_data((i * 7) % count), 79));
    }
    expect_filled(rig, 0, count, 79);
    rig_check(rig);
    rig_destroy(rig);
}

TEST_AT(c10_delete_works_when_full)
{
    struct rig *rig = rig_mounted(point);
    int refusal;
    uint32_t size = rig_capacity(rig) / 40 + 1;
    unsigned count = fill(rig, size, &refusal), i;
    char name[16];

    CHECK(count >= 1);
    expect_filled(rig, 0, count, size);
    rig_check(rig);
    for (i = 0; i < count; i++) {
        sprintf(name, "f%u", i);
        CHECK_OK(fffs_delete(rig->fs, name));
        if (i % 8 == 0) { rig_check(rig); }
    }
    CHECK_EQ(rig_names(rig, ""), 0);
    CHECK_EQ(fill(rig, size, &refusal) >= count, 1);
    rig_check(rig);
    rig_destroy(rig);
}

TEST_AT(c11_full_data_and_full_index)
{
    struct rig *rig = rig_mounted(point);
    struct rig_file *handle = rig_file_new(rig);
    struct fffs_space space;
    uint32_t total = 0, i, before;
    int32_t written;

    /* use up the index unit's log with changes that free themselves */
    before = rig_space(rig).free_bytes;
    for (i = 0; i < 40; i++) { CHECK_OK(rig_put(rig, "x", "", 0)); }
    CHECK_OK(fffs_delete(rig->fs, "x"));
    CHECK_OK(rig_open(handle, "all", RIG_WRITER));
    do {
        written = rig_write(handle, rig_data(1) + total, 64);
        if (written > 0) { total += (uint32_t)written; }
    } while (written > 0 && total + 64 <= RIG_DATA_BYTES);
    CHECK(total > 0);
    if (written < 0) { CHECK_STATUS(written, FFFS_ERR_NO_SPACE); }
    CHECK_OK(rig_close(handle));
    rig_expect(rig, "all", rig_data(1), total);
    space = rig_space(rig);
    if (written < 0) { CHECK_LE(space.writable_bytes, space.capacity_bytes / 32 + 400u + 2 * point->granule_bytes); }
    rig_restart(rig);                       /* also after remount in the full state */
    rig_expect(rig, "all", rig_data(1), total);
    rig_check(rig);
    CHECK_OK(fffs_delete(rig->fs, "all"));
    CHECK_OK(fffs_gc(rig->fs));
    CHECK_EQ(rig_space(rig).free_bytes, before);
    CHECK_OK(rig_put(rig, "again", rig_data(2), total / 2));
    rig_expect(rig, "again", rig_data(2), total / 2);
    rig_check(rig);
    rig_destroy(rig);
}

TEST_AT(c12_no_short_file_when_space_ends)
{
    struct rig *rig = rig_mounted(point);
    uint32_t capacity = rig_capacity(rig), size, left, done;
    struct rig_file *handle = rig_file_new(rig);
    int status = FFFS_OK, replace;

    for (replace = 0; replace < 2; replace++) {
        if (replace) { CHECK_OK(rig_put(rig, "new", rig_data(9), 10)); }
        size = rig_share(rig, 1, RIG_DATA_BYTES) / 4 * 3;
        CHECK_OK(rig_put(rig, "big", rig_data(1), size));
        left = capacity - size + 3 * point->sector_bytes;
        if (left > RIG_DATA_BYTES) { left = RIG_DATA_BYTES; }
        CHECK_OK(rig_open(handle, "new", RIG_WRITER));
        for (done = 0; done < left; done += 100) {
            int32_t written = rig_write(handle, rig_data(2) + done, 100);
            if (written != 100) {
                CHECK_STATUS(written, FFFS_ERR_NO_SPACE);
                status = written;
                break;
            }
        }
        if (capacity < RIG_DATA_BYTES) { CHECK_STATUS(status, FFFS_ERR_NO_SPACE); }
        if (replace) { CHECK_OK(fffs_discard(rig->fs, handle->file)); }
        else {      /* the writer may still be closed: the file then holds what write accepted */
            int closed = rig_close(handle);
            if (done == 0 && closed == FFFS_ERR_NO_SPACE) { rig_expect_missing(rig, "new"); }
            else {
                CHECK_OK(closed);
                rig_expect(rig, "new", rig_data(2), done);
                CHECK_OK(fffs_delete(rig->fs, "new"));
            }
        }
        CHECK_STATUS(fffs_tell(rig->fs, handle->file), FFFS_ERR_NOT_OPEN);
        if (replace) { rig_expect(rig, "new", rig_data(9), 10); }
        rig_expect(rig, "big", rig_data(1), size);
        CHECK_OK(fffs_delete(rig->fs, "big"));
        rig_check(rig);
    }
    rig_destroy(rig);
}

TEST(c13_replacing_a_file_of_55_percent)
{
    struct rig *rig = rig_mounted(rig_point_of("s4096-g1-n256-hash"));
    uint32_t capacity = rig_capacity(rig), size = capacity / 100 * 55;
    struct fffs_space space;

    CHECK_OK(rig_put(rig, "f", rig_data(1), size));
    space = rig_space(rig);
    CHECK(space.writable_bytes < size);                 /* the query predicts it */
    CHECK_STATUS(rig_put(rig, "f", rig_data(2), size), FFFS_ERR_NO_SPACE);
    rig_expect(rig, "f", rig_data(1), size);
    CHECK_OK(fffs_delete(rig->fs, "f"));
    space = rig_space(rig);
    CHECK_LE(size, space.writable_bytes);
    CHECK_OK(rig_put(rig, "f", rig_data(2), size));
    rig_expect(rig, "f", rig_data(2), size);
    rig_check(rig);
    rig_destroy(rig);
}

TEST(c14_after_no_space_all_goes_on_without_remount)
{
    struct rig *rig = rig_mounted(rig_point_of("s4096-g1-n64-seg4096-hash"));
    struct oracle oracle;
    unsigned i, round;
    char name[16];
    int status;

    oracle_init(&oracle);
    for (i = 0;; i++) {
        sprintf(name, "f%u", i);
        status = rig_put(rig, name, rig_data(i), 20480);
        if (status != FFFS_OK) { break; }
        oracle_put(&oracle, name, rig_data(i), 20480);
    }
    CHECK_STATUS(status, FFFS_ERR_NO_SPACE);
    CHECK(i >= 5);
    for (round = 0; round < i; round++) {
        sprintf(name, "f%u", round);
        CHECK_OK(fffs_delete(rig->fs, name));
        oracle_delete(&oracle, name);
        sprintf(name, "s%u", round);
        CHECK_OK(rig_put(rig, name, rig_data(round), 4096));
        oracle_put(&oracle, name, rig_data(round), 4096);
        oracle_verify(&oracle, rig);
        if (rig_put(rig, "big", rig_data(3), 20480) == FFFS_OK) { CHECK_OK(fffs_delete(rig->fs, "big")); }
        oracle_verify(&oracle, rig);
    }
    oracle_free(&oracle);
    rig_destroy(rig);
}

TEST(c15_delete_then_write_without_gc)
{
    struct rig *rig = rig_mounted(rig_point_of("s4096-g1-n256-hash"));
    uint32_t capacity = rig_capacity(rig);
    unsigned round;

    CHECK_OK(rig_put(rig, "first", rig_data(1), capacity / 100 * 87));
    CHECK_OK(fffs_delete(rig->fs, "first"));
    for (round = 0; round < 5; round++) {
        const char *name = round % 2 ? "a" : "b";
        CHECK_OK(rig_put(rig, name, rig_data(round), capacity / 100 * 75));
        rig_expect(rig, name, rig_data(round), capacity / 100 * 75);
        CHECK_OK(fffs_delete(rig->fs, name));
    }
    rig_check(rig);
    rig_destroy(rig);
}

TEST(c16_one_name_rewritten_for_ever)
{
    struct rig *rig = rig_mounted(rig_point_of("s4096-g1-n64-seg4096-hash"));
    uint32_t capacity = rig_capacity(rig), i;
    uint64_t worst = 0;

    CHECK_OK(rig_put(rig, "static", rig_data(1), capacity / 2));
    for (i = 0; i < 10000; i++) {
        rig_count(rig);
        CHECK_OK(rig_put(rig, "hot", rig_data(i), 2048));
        if (rig_erases(rig) > worst) { worst = rig_erases(rig); }
    }
    CHECK_LE(worst, 3);     /* the segments it needs, an index unit */
    rig_expect(rig, "static", rig_data(1), capacity / 2);
    rig_expect(rig, "hot", rig_data(9999), 2048);
    rig_check(rig);
    rig_destroy(rig);
}

static void c17_with(const char *point)
{
    struct rig *rig = rig_mounted(rig_point_of(point));
    int refusal;
    unsigned count = fill(rig, 100, &refusal);

    expect_filled(rig, 0, count, 100);
    CHECK_LE(rig_space(rig).used_bytes, rig_capacity(rig));
    rig_restart(rig);
    expect_filled(rig, 0, count, 100);
    CHECK_EQ(rig_names(rig, ""), (int)count);
    rig_check(rig);
    rig_remount(rig);
    expect_filled(rig, 0, count, 100);
    rig_destroy(rig);
}

TEST(c17_tiny_partition_8_sectors) { c17_with("s4096-g1-n8-hash"); }
TEST(c17_tiny_partition_10_sectors) { c17_with("s4096-g1-n10-none"); }
TEST(c17_tiny_partition_16_sectors) { c17_with("s4096-g1-n16-full"); }
TEST(c17_tiny_partition_8_sectors_of_1_kib) { c17_with("s1024-g1-n8-hash"); }
TEST(c17_tiny_partition_16_sectors_of_256) { c17_with("s256-g1-n16-hash-fb16"); }
TEST(c17_tiny_partition_with_more_files_than_data) { c17_with("s4096-g1-n16-mf200-hash"); }

/* ---- Index full ---- */

static void index_full_with(const char *point, uint32_t files)
{
    struct rig *rig = rig_mounted(rig_point_of(point));
    struct rig_file *handle = rig_file_new(rig);
    int refusal, status;
    unsigned count = fill(rig, 10, &refusal), i;
    char name[16];

    CHECK_STATUS(refusal, FFFS_ERR_INDEX_FULL);
    CHECK_EQ(count, files);
    CHECK_EQ(rig_space(rig).files, files);
    CHECK_EQ(rig_space(rig).max_files, files);
    for (i = 0; i < 3; i++) {
        CHECK_OK(rig_put(rig, "f3", rig_data(3), 10));      /* replacing needs no room */
        status = rig_open(handle, "one-more", RIG_WRITER);
        if (status == FFFS_OK) { status = rig_close(handle); }
        CHECK_STATUS(status, FFFS_ERR_INDEX_FULL);
        rig_expect_missing(rig, "one-more");
        if (i == 0) { rig_restart(rig); }
        if (i == 1) { rig_remount(rig); }
    }
    for (i = 0; i < 100; i++) {     /* deleting always works, and makes room for one */
        sprintf(name, "f%u", (i * 17) % count);
        CHECK_OK(fffs_delete(rig->fs, name));
        CHECK_OK(rig_put(rig, name, rig_data((i * 17) % count), 10));
    }
    expect_filled(rig, 0, count, 10);
    rig_check(rig);
    for (i = 0; i < count; i++) {
        sprintf(name, "f%u", i);
        CHECK_OK(fffs_delete(rig->fs, name));
    }
    CHECK_EQ(rig_names(rig, ""), 0);
    CHECK_EQ(fill(rig, 10, &refusal), files);
    rig_check(rig);
    rig_destroy(rig);
}

TEST(index_full_hash) { index_full_with("s4096-g1-n128-mf40-hash", 40); }
TEST(index_full_none) { index_full_with("s4096-g1-n128-mf40-none", 40); }
TEST(index_full_many) { index_full_with("s4096-g1-n256-mf600-full", 600); }
TEST(index_full_small_units) { index_full_with("s256-g1-n512-mf60-small-fb16", 60); }
TEST(index_full_wide_strides) { index_full_with("s1024-g64-n512-mf80-hash", 80); }

/* ---- Figures ---- */

TEST_AT(space_predicts_what_fits)
{
    struct rig *rig = rig_mounted(point);
    struct fffs_space space = rig_space(rig);
    uint32_t size = space.writable_bytes;
    const char *name = rig_name_max(rig) < 32 ? "short" : "a-name-of-32-bytes-abcdefghijklm";

    CHECK_LE(size, space.capacity_bytes);
    CHECK(size > space.capacity_bytes / 3);
    if (size > RIG_DATA_BYTES) { size = RIG_DATA_BYTES; }
    CHECK_OK(rig_put(rig, name, rig_data(1), size));
    rig_check(rig);
    space = rig_space(rig);
    CHECK_LE(size, space.used_bytes);
    CHECK_EQ(space.files, 1);
    rig_destroy(rig);
}

TEST_AT(failed_writes_cost_nothing_for_good)
{
    struct rig *rig = rig_mounted(point);
    uint32_t capacity = rig_capacity(rig), size = capacity / 3, i, before;

    if (capacity > RIG_DATA_BYTES) { harness_skip("larger than the data at hand"); }
    CHECK_OK(rig_unmount(rig)); /* a moved file may take an extent more or less: here nothing is to move "keep" */
    CHECK_OK(rig_mount_flags(rig, point->flags | FFFS_MOUNT_NO_LEVELLING));
    CHECK_OK(rig_put(rig, "keep", rig_data(1), size));
    before = rig_space(rig).free_bytes;
    for (i = 0; i < 6; i++) {
        CHECK_STATUS(rig_put(rig, "huge", rig_data(2), capacity), FFFS_ERR_NO_SPACE);
        CHECK_EQ(rig_space(rig).free_bytes, before);
        CHECK_OK(rig_put(rig, "after", rig_data(i), size));
        rig_expect(rig, "after", rig_data(i), size);
        CHECK_OK(fffs_delete(rig->fs, "after"));
        CHECK_EQ(rig_space(rig).free_bytes, before);
    }
    rig_expect(rig, "keep", rig_data(1), size);
    rig_check(rig);
    rig_destroy(rig);
}

SUITE(full)
{
    RUN_MATRIX(c10_delete_and_write_when_full);
    RUN_MATRIX(c10_delete_works_when_full);
    RUN_MATRIX(c11_full_data_and_full_index);
    RUN_MATRIX(c12_no_short_file_when_space_ends);
    RUN(c13_replacing_a_file_of_55_percent);
    RUN(c14_after_no_space_all_goes_on_without_remount);
    RUN(c15_delete_then_write_without_gc);
    RUN(c16_one_name_rewritten_for_ever);
    RUN(c17_tiny_partition_8_sectors);
    RUN(c17_tiny_partition_10_sectors);
    RUN(c17_tiny_partition_16_sectors);
    RUN(c17_tiny_partition_8_sectors_of_1_kib);
    RUN(c17_tiny_partition_16_sectors_of_256);
    RUN(c17_tiny_partition_with_more_files_than_data);
    RUN(index_full_hash);
    RUN(index_full_none);
    RUN(index_full_many);
    RUN(index_full_small_units);
    RUN(index_full_wide_strides);
    RUN_MATRIX(space_predicts_what_fits);
    RUN_MATRIX(failed_writes_cost_nothing_for_good);
}

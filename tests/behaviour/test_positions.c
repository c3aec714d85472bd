/* Reading, sizes, positions (section J of the field cases). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "oracle.h"

#define USUAL "s4096-g1-n256-hash"

/* ---- C-63 ---- */

TEST_AT(c63_empty_file)
{
    struct rig *rig = rig_mounted(point);
    struct rig_file *handle = rig_file_new(rig);
    struct fffs_info info;
    uint32_t size = rig_capacity(rig) / 8;
    uint8_t bytes[4];

    CHECK_OK(rig_put(rig, "e", "", 0));
    CHECK_OK(fffs_stat(rig->fs, "e", &info));
    CHECK_EQ(info.size, 0);
    CHECK_EQ(rig_names(rig, ""), 1);
    CHECK_OK(rig_open(handle, "e", FFFS_READ));
    CHECK_EQ(fffs_read(rig->fs, handle->file, bytes, 4), 0);
    CHECK_EQ(fffs_seek(rig->fs, handle->file, 0, FFFS_SEEK_SET), 0);
    CHECK_EQ(fffs_seek(rig->fs, handle->file, 0, FFFS_SEEK_END), 0);
    CHECK_STATUS(fffs_seek(rig->fs, handle->file, 1, FFFS_SEEK_SET), FFFS_ERR_INVALID);
    CHECK_EQ(fffs_read(rig->fs, handle->file, bytes, 4), 0);
    CHECK_OK(fffs_close(rig->fs, handle->file));
    CHECK_OK(fffs_gc(rig->fs));
    rig_expect(rig, "e", "", 0);
    rig_remount(rig);
    rig_expect(rig, "e", "", 0);
    CHECK_OK(rig_put(rig, "e", rig_data(1), size));
    rig_expect(rig, "e", rig_data(1), size);
    CHECK_OK(rig_put(rig, "e", "", 0));
    rig_expect(rig, "e", "", 0);
    rig_restart(rig);
    rig_expect(rig, "e", "", 0);
    CHECK_EQ(rig_space(rig).files, 1);
    rig_check(rig);
    rig_destroy(rig);
}

/* ---- C-64 ---- */

static void random_reads(struct rig *rig, uint32_t size, unsigned count, uint64_t seed)
{
    struct rig_file *handle = rig_file_new(rig);
    struct rng rng = { seed };
    static uint8_t bytes[9000];
    uint32_t position = 0;

    CHECK_OK(rig_open(handle, "f", FFFS_READ));
    while (count-- > 0) {
        uint32_t want = rng_chance(&rng, 70) ? rng_below(&rng, 300) : rng_below(&rng, sizeof bytes), expected;
        if (rng_chance(&rng, 80)) {
            position = rng_below(&rng, size + 1);
            if (rng_chance(&rng, 30)) { position = position / 4096 * 4096; }
            CHECK_EQ(fffs_seek(rig->fs, handle->file, (int32_t)position, FFFS_SEEK_SET), position);
        }
        expected = want < size - position ? want : size - position;
        CHECK_EQ(fffs_read(rig->fs, handle->file, bytes, want), expected);
        CHECK_MEM(bytes, rig_data(1) + position, expected);
        position += expected;
        CHECK_EQ(fffs_tell(rig->fs, handle->file), position);
    }
    CHECK_OK(fffs_close(rig->fs, handle->file));
    rig_file_free(handle);
}

TEST_AT(c64_random_seek_and_read)
{
    struct rig *rig = rig_mounted(point);
    uint32_t capacity = rig_capacity(rig), sizes[3] = { 100, 5 * 1024, 100 * 1024 };
    unsigned i;

    for (i = 0; i < 3; i++) {
        uint32_t size = sizes[i] < capacity / 3 ? sizes[i] : capacity / 3;
        CHECK_OK(rig_put_in(rig, "f", rig_data(1), size, 777));
        random_reads(rig, size, 1000, i);
    }
    rig_destroy(rig);
}

/* A file in many extents: writers take turns so that none gets a contiguous run. */
TEST(c64_random_seek_and_read_in_many_extents)
{
    static const char *const points[] = { "s4096-g1-n256-seg4096-hash-fb16", "s1024-g16-n512-seg1024-none-fb64",
                                          "s256-g1-n1024-seg256-hash-sc256" };
    unsigned p, i;

    for (p = 0; p < 3; p++) {
        struct rig *rig = rig_mounted(rig_point_of(points[p]));
        struct rig_file *a = rig_file_new(rig), *b = rig_file_new(rig);
        uint32_t size = 60000;

        CHECK_OK(rig_open(a, "f", RIG_WRITER));
        CHECK_OK(rig_open(b, "g", RIG_WRITER));
        for (i = 0; i < size / 500; i++) {
            CHECK_EQ(rig_write(a, rig_data(1) + i * 500, 500), 500);
            CHECK_EQ(rig_write(b, rig_data(2) + i * 500, 500), 500);
        }
        CHECK_OK(rig_close(a));
        CHECK_OK(rig_close(b));
        random_reads(rig, size, 3000, p);
        rig_expect(rig, "g", rig_data(2), size);
        rig_check(rig);
        rig_remount(rig);
        random_reads(rig, size, 1000, p + 10);
        rig_check(rig);
        CHECK_OK(fffs_delete(rig->fs, "g"));
        CHECK_OK(rig_put(rig, "g", rig_data(5), 1000));
        rig_expect(rig, "f", rig_data(1), size);
        rig_check(rig);
        rig_destroy(rig);
    }
}

TEST(seek_rules)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    struct rig_file *handle = rig_file_new(rig);
    uint8_t byte;

    CHECK_OK(rig_put(rig, "f", rig_data(1), 1000));
    CHECK_OK(rig_open(handle, "f", FFFS_READ));
    CHECK_EQ(fffs_seek(rig->fs, handle->file, 1000, FFFS_SEEK_SET), 1000);
    CHECK_EQ(fffs_read(rig->fs, handle->file, &byte, 1), 0);
    CHECK_STATUS(fffs_seek(rig->fs, handle->file, 1001, FFFS_SEEK_SET), FFFS_ERR_INVALID);
    CHECK_STATUS(fffs_seek(rig->fs, handle->file, -1, FFFS_SEEK_SET), FFFS_ERR_INVALID);
    CHECK_STATUS(fffs_seek(rig->fs, handle->file, 1, FFFS_SEEK_END), FFFS_ERR_INVALID);
    CHECK_STATUS(fffs_seek(rig->fs, handle->file, -1001, FFFS_SEEK_END), FFFS_ERR_INVALID);
    CHECK_STATUS(fffs_seek(rig->fs, handle->file, 2147483647, FFFS_SEEK_CUR), FFFS_ERR_INVALID);
    CHECK_STATUS(fffs_seek(rig->fs, handle->file, -2147483647 - 1, FFFS_SEEK_CUR), FFFS_ERR_INVALID);
    CHECK_EQ(fffs_tell(rig->fs, handle->file), 1000);
    CHECK_EQ(fffs_seek(rig->fs, handle->file, -1, FFFS_SEEK_CUR), 999);
    CHECK_EQ(fffs_read(rig->fs, handle->file, &byte, 1), 1);
    CHECK_EQ(byte, rig_data(1)[999]);
    CHECK_EQ(fffs_seek(rig->fs, handle->file, -1000, FFFS_SEEK_END), 0);
    CHECK_EQ(fffs_read(rig->fs, handle->file, &byte, 1), 1);
    CHECK_EQ(byte, rig_data(1)[0]);
    rig_destroy(rig);
}

/* ---- C-65 ---- */

TEST_AT(c65_shorter_rewrite_keeps_no_tail)
{
    struct rig *rig = rig_mounted(point);
    struct rig_file *handle = rig_file_new(rig);
    uint32_t capacity = rig_capacity(rig), sizes[2] = { 256, 20000 };
    unsigned i;

    for (i = 0; i < 2; i++) {
        uint32_t size = sizes[i] < capacity / 4 ? sizes[i] : capacity / 4;
        CHECK_OK(rig_put(rig, "f", rig_data(1), size));
        CHECK_OK(rig_put(rig, "f", rig_data(2), size / 2));
        rig_expect(rig, "f", rig_data(2), size / 2);
        CHECK_OK(rig_open(handle, "f", FFFS_WRITE | FFFS_TRUNCATE));
        CHECK_OK(rig_close(handle));
        rig_expect(rig, "f", "", 0);            /* open for write starts empty */
        CHECK_OK(rig_put(rig, "f", rig_data(3), 1));
        rig_expect(rig, "f", rig_data(3), 1);
        rig_remount(rig);
        rig_expect(rig, "f", rig_data(3), 1);
    }
    rig_check(rig);
    rig_destroy(rig);
}

/* ---- C-66 ---- */

TEST_AT(c66_position_and_size_while_writing)
{
    static const uint32_t writes[] = { 5, 8, 2, 2, 4096, 1 };
    struct rig *rig = rig_mounted(point);
    struct rig_file *handle = rig_file_new(rig);
    uint32_t total = 0, capacity = rig_capacity(rig);
    struct fffs_info info;
    unsigned i;

    CHECK_OK(rig_open(handle, "f", RIG_WRITER));
    CHECK_EQ(fffs_tell(rig->fs, handle->file), 0);
    for (i = 0; i < 6; i++) {
        uint32_t bytes = writes[i] < capacity / 8 ? writes[i] : capacity / 8;
        CHECK_EQ(rig_write(handle, rig_data(1) + total, bytes), bytes);
        total += bytes;
        CHECK_EQ(fffs_tell(rig->fs, handle->file), total);
        CHECK_OK(fffs_fstat(rig->fs, handle->file, &info));
        CHECK_EQ(info.size, total);
        CHECK_STR(info.name, "f");
        CHECK_EQ(info.name_length, 1);
    }
    CHECK_OK(rig_close(handle));
    rig_expect(rig, "f", rig_data(1), total);
    rig_destroy(rig);
}

/* ---- C-67 ---- */

enum { C67_BYTES = 15516 };

/* Writes the file in pieces: the first of `first` bytes, the others of `others`; returns the bytes programmed. */
static uint64_t c67_write(struct rig *rig, const char *name, uint32_t size, uint32_t first, uint32_t others)
{
    struct rig_file *handle = rig_file_new(rig);
    uint32_t done = 0, bytes = first;

    rig_count(rig);
    CHECK_OK(rig_open(handle, name, RIG_WRITER));
    while (done < size) {
        if (bytes > size - done) { bytes = size - done; }
        CHECK_EQ(rig_write(handle, rig_data(1) + done, bytes), bytes);
        done += bytes;
        bytes = others;
    }
    CHECK_OK(rig_close(handle));
    rig_file_free(handle);
    rig_expect(rig, name, rig_data(1), size);
    return rig->tap.bytes[NOR_PROGRAM];
}

TEST_AT(c67_one_big_write_many_small_writes)
{
    static const struct { uint32_t first, others; } ways[] = {
        { C67_BYTES, 1 }, { 6, C67_BYTES }, { 1, 1 }, { 4095, 4095 }, { 4097, 4097 }, { 255, 255 }, { 257, 257 }, { 1000, 17 }
    };
    struct rig *rig = rig_mounted(point);
    uint32_t size = rig_share(rig, 9, C67_BYTES), used[8];
    unsigned i;
    char name[4];

    if (size == 0) { harness_skip("too small for eight files"); }
    for (i = 0; i < 8; i++) {
        uint32_t before = rig_space(rig).used_bytes;
        sprintf(name, "%u", i);
        (void)c67_write(rig, name, size, ways[i].first, ways[i].others);
        used[i] = rig_space(rig).used_bytes - before;
    }
    for (i = 0; i < 8; i++) {   /* the same use of flash, but for rounding, granules and a segment's end */
        uint32_t tolerance = size / 16 + 2 * point->granule_bytes + 2 * (point->sector_bytes / 256) + 200;
        harness_note("way %u took %u bytes, way 0 took %u", i, (unsigned)used[i], (unsigned)used[0]);
        CHECK_LE(used[i], used[0] + tolerance);
        CHECK_LE(used[0], used[i] + tolerance);
    }
    rig_remount(rig);
    for (i = 0; i < 8; i++) {
        sprintf(name, "%u", i);
        rig_expect(rig, name, rig_data(1), size);
    }
    rig_check(rig);
    rig_destroy(rig);
}

/* ---- C-68 ---- */

TEST_AT(c68_content_of_all_ones)
{
    struct rig *rig = rig_mounted(point);
    uint32_t capacity = rig_capacity(rig), limit = rig_share(rig, 14, UINT32_MAX), sizes[4], i;
    uint8_t *ones, *ends;
    char name[8];

    if (limit == 0) { harness_skip("too small for ten files"); }
    sizes[0] = 1;
    sizes[1] = point->sector_bytes;
    sizes[2] = 50 * 1024;
    sizes[3] = 300;
    ones = malloc(50 * 1024 + point->sector_bytes);
    ends = malloc(50 * 1024 + point->sector_bytes);
    memset(ones, 0xFF, 50 * 1024 + point->sector_bytes);
    for (i = 0; i < 4; i++) {
        if (sizes[i] > limit) { sizes[i] = limit; }
        sprintf(name, "o%u", (unsigned)i);
        CHECK_OK(rig_put(rig, name, ones, sizes[i]));
        memcpy(ends, rig_data(i), sizes[i]);
        memset(ends + sizes[i] / 2, 0xFF, sizes[i] - sizes[i] / 2);
        sprintf(name, "e%u", (unsigned)i);
        CHECK_OK(rig_put(rig, name, ends, sizes[i]));
        rig_expect(rig, name, ends, sizes[i]);
    }
    rig_check(rig);
    rig_restart(rig);
    for (i = 0; i < 20; i++) { CHECK_OK(rig_put(rig, "w", rig_data(i), capacity / 20)); }
    for (i = 0; i < 4; i++) {
        sprintf(name, "o%u", (unsigned)i);
        rig_expect(rig, name, ones, sizes[i]);
        memcpy(ends, rig_data(i), sizes[i]);
        memset(ends + sizes[i] / 2, 0xFF, sizes[i] - sizes[i] / 2);
        sprintf(name, "e%u", (unsigned)i);
        rig_expect(rig, name, ends, sizes[i]);
    }
    rig_check(rig);
    free(ones);
    free(ends);
    rig_destroy(rig);
}

/* Sizes around every boundary that a write can meet. */
TEST_AT(sizes_around_boundaries)
{
    struct rig *rig = rig_mounted(point);
    uint32_t bases[6], i;
    int32_t delta;

    bases[0] = point->granule_bytes;
    bases[1] = point->file_buffer_bytes;
    bases[2] = 256;
    bases[3] = point->sector_bytes;
    bases[4] = point->write_buffer_bytes;
    bases[5] = rig->geometry.segment_bytes;
    for (i = 0; i < 6; i++) {
        for (delta = -20; delta <= 3; delta += delta < -3 ? 7 : 1) {
            uint32_t size = bases[i] + (uint32_t)delta;
            if ((int32_t)size < 0 || size > rig_share(rig, 3, 70000)) { continue; }
            CHECK_OK(rig_put_in(rig, "f", rig_data(size), size, 1 + size / 3));
            rig_expect(rig, "f", rig_data(size), size);
        }
    }
    rig_check(rig);
    rig_destroy(rig);
}

SUITE(positions)
{
    RUN_MATRIX(c63_empty_file);
    RUN_MATRIX(c64_random_seek_and_read);
    RUN(c64_random_seek_and_read_in_many_extents);
    RUN(seek_rules);
    RUN_MATRIX_OF(c65_shorter_rewrite_keeps_no_tail, RIG_SET_FEW | RIG_SET_ROOMY);
    RUN_MATRIX(c66_position_and_size_while_writing);
    RUN_MATRIX(c67_one_big_write_many_small_writes);
    RUN_MATRIX(c68_content_of_all_ones);
    RUN_MATRIX(sizes_around_boundaries);
}

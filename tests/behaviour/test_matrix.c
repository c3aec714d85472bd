/* Ordinary use at every point of the matrix. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "oracle.h"

TEST_AT(an_empty_volume_is_empty)
{
    struct rig *rig = rig_mounted(point);
    struct fffs_space space = rig_space(rig);

    CHECK_EQ(space.files, 0);
    CHECK_EQ(space.used_bytes, 0);
    CHECK_EQ(space.free_bytes, space.capacity_bytes);
    CHECK(space.capacity_bytes > 0);
    CHECK(space.capacity_bytes < rig->flash.size_bytes);
    CHECK_EQ(space.max_files, rig->geometry.max_files);
    CHECK_EQ(space.segment_bytes, rig->geometry.segment_bytes);
    CHECK_EQ(space.segments, rig->geometry.segment_count);
    CHECK_EQ(space.bad_segments, 0);
    CHECK_EQ(rig_names(rig, ""), 0);
    rig_expect_missing(rig, "a");
    rig_check(rig);
    rig_remount(rig);
    rig_check(rig);
    rig_restart(rig);
    CHECK_EQ(rig_space(rig).capacity_bytes, space.capacity_bytes);
    rig_check(rig);
    rig_destroy(rig);
}

TEST_AT(small_files_come_back)
{
    struct rig *rig = rig_mounted(point);
    struct oracle oracle;
    uint32_t count = rig->geometry.max_files / 2, limit = rig_capacity(rig) / 2, i;
    char name[16];

    oracle_init(&oracle);
    if (count > 150) { count = 150; }
    for (i = 0; i < count && rig_space(rig).used_bytes < limit; i++) {
        sprintf(name, "f%u", (unsigned)i);
        CHECK_OK(rig_put(rig, name, rig_data(i), i % 90));
        oracle_put(&oracle, name, rig_data(i), i % 90);
    }
    oracle_verify(&oracle, rig);
    rig_remount(rig);
    oracle_verify(&oracle, rig);
    rig_restart(rig);
    oracle_verify(&oracle, rig);
    for (i = 0; i < oracle.count; i += 2) {
        sprintf(name, "f%u", (unsigned)i);
        CHECK_OK(fffs_delete(rig->fs, name));
        oracle_delete(&oracle, name);
    }
    oracle_verify(&oracle, rig);
    rig_restart(rig);
    oracle_verify(&oracle, rig);
    oracle_free(&oracle);
    rig_destroy(rig);
}

TEST_AT(a_large_file_comes_back)
{
    static const uint32_t chunks[] = { 1000000, 1024, 333, 4096, 64 };
    struct rig *rig = rig_mounted(point);
    uint32_t size = rig_capacity(rig) / 3, i;

    if (size > 1000000) { size = 1000000; }
    for (i = 0; i < 5; i++) {
        CHECK_OK(rig_put_in(rig, "large", rig_data(i), size - i, chunks[i]));
        rig_expect(rig, "large", rig_data(i), size - i);
        rig_check(rig);
    }
    rig_remount(rig);
    rig_expect(rig, "large", rig_data(4), size - 4);
    CHECK_OK(fffs_delete(rig->fs, "large"));
    CHECK_EQ(rig_space(rig).used_bytes, 0);
    rig_check(rig);
    rig_destroy(rig);
}

TEST_AT(many_replacements_of_one_name)
{
    struct rig *rig = rig_mounted(point);
    uint32_t i, rounds = 1500;

    CHECK_OK(rig_put(rig, "other", rig_data(1), 30));
    for (i = 0; i < rounds; i++) {
        CHECK_OK(rig_put(rig, "one", rig_data(i), i % 40));
        if (i % 97 == 0) {
            rig_expect(rig, "one", rig_data(i), i % 40);
            rig_expect(rig, "other", rig_data(1), 30);
            rig_check(rig);
        }
        if (i % 400 == 399) { rig_restart(rig); }
    }
    rig_expect(rig, "one", rig_data(rounds - 1), (rounds - 1) % 40);
    CHECK_EQ(rig_names(rig, ""), 2);
    rig_check(rig);
    rig_destroy(rig);
}

TEST_AT(fill_delete_fill)
{
    struct rig *rig = rig_mounted(point);
    uint32_t capacity = rig_capacity(rig), size = capacity / 25, round, counts[3], i;
    char name[16];

    for (round = 0; round < 3; round++) {
        int status = FFFS_OK;
        for (i = 0; status == FFFS_OK; i++) {
            sprintf(name, "%c%u", (char)('a' + round), (unsigned)i);
            status = rig_put(rig, name, rig_data(i), size);
            CHECK(i < 100);
        }
        CHECK(status == FFFS_ERR_NO_SPACE || status == FFFS_ERR_INDEX_FULL);
        counts[round] = i - 1;
        rig_check(rig);
        for (i = 0; i < counts[round]; i++) {
            sprintf(name, "%c%u", (char)('a' + round), (unsigned)i);
            rig_expect(rig, name, rig_data(i), size);
            CHECK_OK(fffs_delete(rig->fs, name));
        }
        CHECK_EQ(rig_space(rig).used_bytes, 0);
        rig_check(rig);
        if (round == 1) { rig_restart(rig); }
    }
    CHECK(counts[0] >= 1);
    CHECK_EQ(counts[1], counts[0]);
    CHECK_EQ(counts[2], counts[0]);
    rig_destroy(rig);
}

TEST_AT(several_writers_and_readers)
{
    struct rig *rig = rig_mounted(point);
    struct rig_file *writers[4], *readers[4];
    static const char *const names[4] = { "a", "b", "c", "d" };
    uint32_t size = rig_share(rig, 12, 20000), i, done;
    uint8_t *bytes = malloc(size + 1);

    for (i = 0; i < 4; i++) {
        writers[i] = rig_file_new(rig);
        readers[i] = rig_file_new(rig);
        CHECK_OK(rig_put(rig, names[i], rig_data(i), size));
        CHECK_OK(rig_open(readers[i], names[i], FFFS_READ));
        CHECK_OK(rig_open(writers[i], names[i], RIG_WRITER));
    }
    for (done = 0; done < size; done += 50) {
        uint32_t n = size - done < 50 ? size - done : 50;
        for (i = 0; i < 4; i++) {
            CHECK_EQ(rig_write(writers[i], rig_data(i + 10) + done, n), n);
            CHECK_EQ(fffs_read(rig->fs, readers[i]->file, bytes, n), n);
            CHECK_MEM(bytes, rig_data(i) + done, n);
        }
    }
    for (i = 0; i < 4; i++) {
        CHECK_OK(rig_close(writers[i]));
        CHECK_EQ(fffs_read(rig->fs, readers[i]->file, bytes, 1), 0);
        CHECK_OK(fffs_close(rig->fs, readers[i]->file));
        rig_expect(rig, names[i], rig_data(i + 10), size);
    }
    rig_check(rig);
    rig_restart(rig);
    for (i = 0; i < 4; i++) { rig_expect(rig, names[i], rig_data(i + 10), size); }
    free(bytes);
    rig_destroy(rig);
}

TEST_AT(the_device_rules_are_kept)
{
    struct rig *rig = rig_mounted(point);
    struct rng rng = { 17 };
    uint32_t limit = rig_share(rig, 10, UINT32_MAX) + 1, i;
    char name[8];

    if (limit == 1) { harness_skip("too small for seven files"); }
    for (i = 0; i < 150; i++) {
        int status;
        sprintf(name, "%u", (unsigned)rng_below(&rng, 6));
        status = rig_put_in(rig, name, rig_data(i), rng_below(&rng, limit), 1 + rng_below(&rng, 3000));
        CHECK_OK(status);
        if (i % 30 == 29) { rig_restart(rig); }
        if (i % 30 == 14) { rig_remount(rig); }
        if (i % 10 == 0) { CHECK(fffs_gc_step(rig->fs, NULL, NULL) >= 0); }
    }
    CHECK_EQ(nor_counts(rig->nor)->violations, 0);
    rig_check(rig);
    rig_destroy(rig);
}

SUITE(matrix)
{
    RUN_MATRIX(an_empty_volume_is_empty);
    RUN_MATRIX(small_files_come_back);
    RUN_MATRIX(a_large_file_comes_back);
    RUN_MATRIX(many_replacements_of_one_name);
    RUN_MATRIX(fill_delete_fill);
    RUN_MATRIX_OF(several_writers_and_readers, RIG_SET_ROOMY);
    RUN_MATRIX(the_device_rules_are_kept);
}

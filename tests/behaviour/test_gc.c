/* Collection (section C of the field cases). */
#include <stdio.h>
#include <string.h>
#include "oracle.h"

/* Fills about `percent` of the capacity with files of `size`; returns how many. */
static unsigned fill_to(struct rig *rig, uint32_t percent, uint32_t size)
{
    uint32_t target = rig_capacity(rig) / 100 * percent;
    unsigned count = 0;
    char name[16];

    while (rig_space(rig).used_bytes + size + size / 8 < target) {
        sprintf(name, "f%u", count);
        CHECK_OK(rig_put(rig, name, rig_data(count), size));
        count++;
    }
    return count;
}

/* Longest emulated time of a gc step until idle, in microseconds. */
static uint64_t longest_step(struct rig *rig, unsigned limit)
{
    uint64_t longest = 0;
    unsigned steps;

    for (steps = 0; steps < limit; steps++) {
        uint64_t before = nor_time_ns(rig->nor), took;
        int action = fffs_gc_step(rig->fs, NULL, NULL);
        took = (nor_time_ns(rig->nor) - before) / 1000;
        CHECK(action >= 0);
        if (took > longest) { longest = took; }
        if (action == FFFS_GC_IDLE) { return longest; }
    }
    harness_fail(__FILE__, __LINE__, "gc is not idle after %u steps", limit);
}

static void c18_at(uint32_t percent)
{
    struct rig *rig = rig_mounted(rig_point_of("s4096-g1-n1024-hash-sc4096"));
    unsigned count = fill_to(rig, percent, 20000), i;
    uint64_t longest = 0;
    char name[16];

    for (i = 0; i < 60; i++) {
        uint64_t took;
        sprintf(name, "f%u", (i * 37) % count);
        CHECK_OK(fffs_delete(rig->fs, name));
        CHECK_OK(rig_put(rig, name, rig_data((i * 37) % count), 20000));
        took = longest_step(rig, 4000);
        if (took > longest) { longest = took; }
    }
    CHECK_LE(longest, 60000);   /* one block erase or one copy of a scratch buffer */
    rig_check(rig);
    rig_destroy(rig);
}

TEST(c18_gc_step_is_short_at_50_percent) { c18_at(50); }
TEST(c18_gc_step_is_short_at_85_percent) { c18_at(85); }
TEST(c18_gc_step_is_short_at_95_percent) { c18_at(95); }

TEST(c19_no_erase_bursts_in_a_write)
{
    struct rig *rig = rig_mounted(rig_point_of("s4096-g1-n256-seg4096-hash"));
    unsigned i;

    CHECK_OK(rig_put(rig, "keep", rig_data(1), 20000));
    for (i = 0; i < 20; i++) { CHECK_OK(rig_put(rig, "big", rig_data(i), 400000)); }
    CHECK_OK(fffs_delete(rig->fs, "big"));              /* nearly all segments are dead now */
    for (i = 0; i < 50; i++) {
        rig_count(rig);
        CHECK_OK(rig_put(rig, "small", rig_data(i), 1024));
        CHECK_LE(rig->tap.data_calls[NOR_ERASE], 2);
    }
    rig_check(rig);
    rig_destroy(rig);
}

static unsigned steps_until_idle(struct rig *rig, unsigned limit)
{
    unsigned steps;
    for (steps = 0; steps <= limit; steps++) {
        int action = fffs_gc_step(rig->fs, NULL, NULL);
        CHECK(action >= 0);
        if (action == FFFS_GC_IDLE) { return steps; }
    }
    harness_fail(__FILE__, __LINE__, "gc is not idle after %u steps", limit);
}

/* Everything that died in whole segments is free again, and every one of them erased ahead of need. */
TEST_AT(c20_collection_leaves_no_dead_segment)
{
    struct rig *rig = rig_mounted(point);
    struct fffs_space empty = rig_space(rig), space;
    uint32_t size = rig_share(rig, 7, UINT32_MAX), i;
    char name[8];

    for (i = 0; i < 6; i++) {
        sprintf(name, "f%u", (unsigned)i);
        CHECK_OK(rig_put(rig, name, rig_data(i), size));
    }
    for (i = 0; i < 6; i++) {
        sprintf(name, "f%u", (unsigned)i);
        CHECK_OK(fffs_delete(rig->fs, name));
    }
    CHECK_LE(steps_until_idle(rig, 4 * point->sector_count + 100), 4 * point->sector_count + 100);
    space = rig_space(rig);
    CHECK_EQ(space.free_bytes, empty.capacity_bytes);
    CHECK_EQ(space.segments_dead, 0);
    CHECK_EQ(space.used_bytes, 0);
    rig_check(rig);
    rig_destroy(rig);
}

TEST(c20_every_second_of_200_files_deleted)
{
    struct rig *rig = rig_mounted(rig_point_of("s4096-g1-n256-seg4096-hash"));
    unsigned i;
    char name[16];
    struct fffs_space space;

    for (i = 0; i < 200; i++) {
        sprintf(name, "f%u", i);
        CHECK_OK(rig_put(rig, name, rig_data(i), 2000));
    }
    for (i = 0; i < 200; i += 2) {
        sprintf(name, "f%u", i);
        CHECK_OK(fffs_delete(rig->fs, name));
    }
    CHECK_LE(steps_until_idle(rig, 2 * 256), 2 * 256);
    space = rig_space(rig);
    CHECK_EQ(space.free_bytes + space.used_bytes, space.capacity_bytes);
    CHECK_LE(space.used_bytes, 100 * 2200);
    for (i = 1; i < 200; i += 2) {
        sprintf(name, "f%u", i);
        rig_expect(rig, name, rig_data(i), 2000);
    }
    rig_check(rig);
    rig_destroy(rig);
}

TEST_AT(c21_idle_collection_costs_nothing)
{
    struct rig *rig = rig_mounted(point);
    unsigned i;
    struct fffs_gc_report report;

    CHECK_OK(rig_put(rig, "a", rig_data(1), rig_capacity(rig) / 10));
    (void)steps_until_idle(rig, 4 * point->sector_count + 100);
    rig_count(rig);
    for (i = 0; i < 1000; i++) {
        memset(&report, 0xEE, sizeof report);
        CHECK_EQ(fffs_gc_step(rig->fs, NULL, &report), FFFS_GC_IDLE);
        CHECK_EQ(report.action, FFFS_GC_IDLE);
        CHECK_EQ(report.more, 0);
    }
    CHECK_OK(fffs_gc(rig->fs));
    CHECK_EQ(rig_reads(rig) + rig_changes(rig), 0);
    rig_destroy(rig);
}

TEST(c21_idle_collection_never_makes_a_settled_volume_unclean)
{
    struct rig *rig = rig_mounted(rig_point_of("s4096-g1-n256-hash"));

    CHECK_OK(rig_put(rig, "a", rig_data(1), 1000));
    CHECK_OK(fffs_gc(rig->fs));
    CHECK_OK(fffs_settle(rig->fs));
    rig_count(rig);
    CHECK_OK(fffs_gc(rig->fs));
    CHECK_EQ(rig_changes(rig), 0);
    rig_crash(rig);
    rig_count(rig);
    CHECK_OK(rig_mount(rig));       /* clean: nothing to repair */
    CHECK_EQ(rig_changes(rig), 0);
    rig_expect(rig, "a", rig_data(1), 1000);
    rig_destroy(rig);
}

/* Erased ahead of need, a large write erases nothing itself. */
TEST(steps_erase_ahead_of_writes)
{
    struct rig *rig = rig_mounted(rig_point_of("s4096-g1-n1024-hash"));
    unsigned i;

    for (i = 0; i < 3; i++) { CHECK_OK(rig_put(rig, "big", rig_data(i), 1000000)); }
    CHECK_OK(fffs_delete(rig->fs, "big"));
    CHECK_OK(fffs_gc(rig->fs));
    CHECK_EQ(rig_space(rig).segments_dead, 0);
    rig_count(rig);
    CHECK_OK(rig_put(rig, "big", rig_data(9), 1000000));
    CHECK_EQ(rig->tap.data_calls[NOR_ERASE], 0);
    rig_expect(rig, "big", rig_data(9), 1000000);
    rig_destroy(rig);
}

TEST(steps_rotate_the_index_ahead_of_need)
{
    struct rig *rig = rig_mounted(rig_point_of("s4096-g1-n256-hash"));
    unsigned i;

    for (i = 0; i < 2000; i++) {        /* four times the records of a unit */
        (void)steps_until_idle(rig, 600);
        rig_count(rig);
        CHECK_OK(rig_put(rig, "a", rig_data(i), 20));
        CHECK_EQ(rig_erases(rig), 0);
    }
    rig_check(rig);
    rig_destroy(rig);
}

TEST(step_limits_are_kept)
{
    struct rig *rig = rig_mounted(rig_point_of("s4096-g1-n1024-hash"));
    struct fffs_gc_limits limits = { 0, 4096 };
    struct fffs_gc_report report;
    unsigned i, steps = 0;

    for (i = 0; i < 3; i++) { CHECK_OK(rig_put(rig, "big", rig_data(i), 1000000)); }
    CHECK_OK(fffs_delete(rig->fs, "big"));
    do {
        int action;
        rig_count(rig);
        action = fffs_gc_step(rig->fs, &limits, &report);
        CHECK(action >= 0);
        CHECK_EQ(report.action, action);
        CHECK_LE(rig->tap.largest_erase, 4096);
        CHECK_LE(rig_erases(rig), 1);
        CHECK(steps++ < 3000);
    } while (report.more);
    CHECK_EQ(report.segments_left, 0);
    CHECK_EQ(rig_space(rig).segments_dead, 0);
    rig_check(rig);
    CHECK_OK(rig_put(rig, "big", rig_data(1), 1000000));
    rig_expect(rig, "big", rig_data(1), 1000000);
    rig_destroy(rig);
}

TEST(step_budgets_are_kept)
{
    struct rig *rig = rig_mounted(rig_point_of("s4096-g1-n1024-hash"));
    struct fffs_gc_limits limits = { 120000, 0 };
    struct fffs_gc_report report;
    unsigned i, slices = 0, steps = 0;

    for (i = 0; i < 3; i++) { CHECK_OK(rig_put(rig, "big", rig_data(i), 1000000)); }
    CHECK_OK(fffs_delete(rig->fs, "big"));
    do {
        uint64_t before = nor_time_ns(rig->nor);
        CHECK(fffs_gc_step(rig->fs, &limits, &report) >= 0);
        CHECK_LE((nor_time_ns(rig->nor) - before) / 1000, 120000 + 60000);
        slices += report.slices;
        CHECK(steps++ < 1000);
    } while (report.more);
    CHECK(slices > steps);      /* several slices fit the budget */
    rig_check(rig);
    rig_destroy(rig);
}

TEST(inline_collection_can_be_forbidden)
{
    struct rig *rig = rig_mounted(rig_point_of("s4096-g1-n64-seg4096-hash-noinline"));
    struct rig_file *handle = rig_file_new(rig);
    uint32_t capacity = rig_capacity(rig), total = 0, refusals = 0, round, i;
    char name[16];

    CHECK_OK(rig_put(rig, "keep", rig_data(5), 3000));
    for (i = 0; i < 40; i++) {      /* holes in every segment: room only by moving what is between them */
        sprintf(name, "f%u", (unsigned)i);
        CHECK_OK(rig_put(rig, name, rig_data(i), capacity / 60));
    }
    for (i = 0; i < 40; i += 2) {
        sprintf(name, "f%u", (unsigned)i);
        CHECK_OK(fffs_delete(rig->fs, name));
    }
    for (round = 0; round < 6; round++) {
        CHECK_OK(rig_open(handle, "big", RIG_WRITER));
        for (total = 0; total < capacity / 4; total += 1000) {
            int32_t written = fffs_write(rig->fs, handle->file, rig_data(round) + total, 1000);
            while (written == FFFS_ERR_COLLECT_FIRST) {
                refusals++;
                CHECK(fffs_gc_step(rig->fs, NULL, NULL) != FFFS_GC_IDLE);
                written = fffs_write(rig->fs, handle->file, rig_data(round) + total, 1000);
            }
            CHECK_EQ(written, 1000);
        }
        CHECK_OK(rig_close(handle));
        rig_expect(rig, "big", rig_data(round), total);
    }
    CHECK(refusals > 0);
    for (i = 1; i < 40; i += 2) {
        sprintf(name, "f%u", (unsigned)i);
        rig_expect(rig, name, rig_data(i), capacity / 60);
    }
    rig_expect(rig, "keep", rig_data(5), 3000);
    rig_check(rig);
    rig_destroy(rig);
}

/* ---- C-22 ---- */

TEST_AT(c22_collection_respects_buffers_in_use)
{
    struct rig *rig = rig_mounted(point);
    struct rig_file *a = rig_file_new(rig), *b = rig_file_new(rig);
    char long_a[FFFS_NAME_MAX + 1], long_b[FFFS_NAME_MAX + 1];
    uint32_t capacity = rig_capacity(rig), size = rig_share(rig, 7, 20000), done, max = rig_name_max(rig), i;

    if (size > max) { size -= max; }
    memset(long_a, 'a', max);
    memset(long_b, 'b', max);
    long_a[max] = long_b[max] = '\0';
    for (i = 0; i < 12; i++) {      /* dead segments everywhere */
        CHECK_OK(rig_put(rig, "x", rig_data(i), capacity / 4));
    }
    CHECK_OK(fffs_delete(rig->fs, "x"));
    CHECK_OK(rig_open(a, long_a, RIG_WRITER));
    CHECK_OK(rig_open(b, long_b, RIG_WRITER));
    for (done = 0; done < size; done += 100) {
        uint32_t n = size - done < 100 ? size - done : 100;
        CHECK_EQ(rig_write(a, rig_data(1) + done, n), n);
        CHECK(fffs_gc_step(rig->fs, NULL, NULL) >= 0);
        CHECK_EQ(rig_write(b, rig_data(2) + done, n), n);
        if (done % 4000 == 1000) {      /* each pins the segments it shares with the writers */
            int status = rig_put(rig, "y", rig_data(3), capacity / 10);
            if (status != FFFS_ERR_NO_SPACE) { CHECK_OK(status); }
        }
    }
    CHECK_OK(rig_close(a));
    CHECK_OK(rig_close(b));
    rig_expect(rig, long_a, rig_data(1), size);
    rig_expect(rig, long_b, rig_data(2), size);
    rig_check(rig);
    rig_remount(rig);
    rig_expect(rig, long_a, rig_data(1), size);
    rig_expect(rig, long_b, rig_data(2), size);
    rig_check(rig);
    rig_destroy(rig);
}

/* Many times the capacity in files that replace each other, with and without steps. */
static void churn(const struct rig_point *point, int steps)
{
    struct rig *rig = rig_mounted(point);
    struct oracle oracle;
    uint32_t size = rig_share(rig, 6, UINT32_MAX), i, used = 0;
    uint32_t rounds = 120;
    char name[8];

    if (size > 100000) { rounds = 60; }
    oracle_init(&oracle);
    for (i = 0; i < rounds; i++) {
        sprintf(name, "%u", (unsigned)(i % 3));
        CHECK_OK(rig_put(rig, name, rig_data(i), size));
        oracle_put(&oracle, name, rig_data(i), size);
        if (steps) { CHECK(fffs_gc_step(rig->fs, NULL, NULL) >= 0); }
        if (i == 3) { used = rig_space(rig).used_bytes; }
        if (i % 20 == 19) { oracle_verify(&oracle, rig); }
    }
    CHECK_LE(rig_space(rig).used_bytes, used + 6 * rig_overhead(rig) + used / 30);      /* no drift */
    oracle_verify(&oracle, rig);
    oracle_free(&oracle);
    rig_destroy(rig);
}

TEST_AT(churn_without_steps) { churn(point, 0); }
TEST_AT(churn_with_steps) { churn(point, 1); }

/* A long write on a nearly full volume lists more extents than fit in RAM: each time it puts the list down it may have to
 * collect, right behind bytes that it has just programmed. The file stays open, so that only the list protects them. */
TEST(collection_spares_what_a_write_has_just_put_down)
{
    struct rng rng = { harness_seed() };
    struct rig *rig = rig_mounted(rig_point_of("s4096-g1-n64-none-sc256-fb16"));
    struct rig_file *handle = rig_file_new(rig);
    unsigned count = rig->geometry.max_files - 1u, i;
    uint32_t size = (rig_capacity(rig) / 100 * 90 - 45000) / count;
    char name[16];

    for (i = 0; i < count; i++) {
        sprintf(name, "f%u", i);
        CHECK_OK(rig_put(rig, name, rig_data(i), size / 2));
    }
    for (i = 0; i < (harness_is_long() ? 2000u : 150u); i++) {
        unsigned k;

        for (k = 0; k < 40; k++) {
            unsigned which = rng_below(&rng, count);

            sprintf(name, "f%u", which);
            CHECK_OK(rig_put(rig, name, rig_data(which), size / 2 + rng_below(&rng, size / 2)));
        }
        harness_note("round %u", i);
        CHECK_OK(rig_open(handle, "big", FFFS_WRITE | FFFS_CREATE | FFFS_TRUNCATE));
        CHECK_EQ(rig_write(handle, rig_data(i), 40000), 40000);
        sprintf(name, "f%u", rng_below(&rng, count));
        CHECK_OK(rig_put(rig, name, rig_data(1), size / 2));
        CHECK_OK(rig_close(handle));
        rig_expect(rig, "big", rig_data(i), 40000);
        CHECK_OK(fffs_delete(rig->fs, "big"));
    }
    rig_check(rig);
    rig_file_free(handle);
    rig_destroy(rig);
}

SUITE(gc)
{
    RUN(c18_gc_step_is_short_at_50_percent);
    RUN(c19_no_erase_bursts_in_a_write);
    RUN_MATRIX(c20_collection_leaves_no_dead_segment);
    RUN(c20_every_second_of_200_files_deleted);
    RUN_MATRIX(c21_idle_collection_costs_nothing);
    RUN(c21_idle_collection_never_makes_a_settled_volume_unclean);
    RUN(steps_erase_ahead_of_writes);
    RUN(steps_rotate_the_index_ahead_of_need);
    RUN(step_limits_are_kept);
    RUN(step_budgets_are_kept);
    RUN(inline_collection_can_be_forbidden);
    RUN_MATRIX(c22_collection_respects_buffers_in_use);
    RUN_MATRIX(churn_without_steps);
    RUN_MATRIX(churn_with_steps);
    RUN(collection_spares_what_a_write_has_just_put_down);
    harness_later(1);
    RUN(c18_gc_step_is_short_at_85_percent);
    RUN(c18_gc_step_is_short_at_95_percent);
}

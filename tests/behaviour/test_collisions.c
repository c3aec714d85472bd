/* C-40: names that want the same slot, in every cache mode and over every kind of remount. */
#include <stdio.h>
#include <string.h>
#include "oracle.h"
#include "src/lookup.h"

static const char *const modes[] = {
    "s4096-g1-n256-none", "s4096-g1-n256-small", "s4096-g1-n256-hash", "s4096-g1-n256-full"
};

static struct fffs_name measured(struct rig *rig, const char *text)
{
    struct fffs_name name;
    CHECK_OK(fffs_name_set(rig->fs, &name, text));
    return name;
}

/* Fills `names` with `count` names whose first slots lie within `spread` behind the first one's. */
static void find_names(struct rig *rig, char (*names)[16], unsigned count, unsigned spread)
{
    unsigned found = 1, i;
    uint16_t slot;

    strcpy(names[0], "origin");
    slot = measured(rig, names[0]).slot;
    for (i = 0; found < count; i++) {
        CHECK(i < 4000000);
        sprintf(names[found], "n%u", i);
        if ((uint16_t)(measured(rig, names[found]).slot - slot) <= spread) { found++; }
    }
}

static void step_over(struct rig *rig, unsigned step)
{
    if (step % 3 == 1) { rig_remount(rig); }
    if (step % 3 == 2) { rig_restart(rig); }
    rig_check(rig);
}

static void c40_pair(const char *point)
{
    struct rig *rig = rig_mounted(rig_point_of(point));
    char names[2][16];
    unsigned step;

    find_names(rig, names, 2, 0);
    for (step = 0; step < 3; step++) {
        CHECK_OK(rig_put(rig, names[0], rig_data(1), 100));
        step_over(rig, step);
        CHECK_OK(rig_put(rig, names[1], rig_data(2), 200));
        step_over(rig, step);
        rig_expect(rig, names[0], rig_data(1), 100);
        rig_expect(rig, names[1], rig_data(2), 200);
        CHECK_EQ(rig_names(rig, ""), 2);
        CHECK_OK(fffs_delete(rig->fs, names[0]));
        step_over(rig, step);
        rig_expect_missing(rig, names[0]);
        rig_expect(rig, names[1], rig_data(2), 200);
        CHECK_OK(rig_put(rig, names[1], rig_data(3), 300));     /* a free slot before its own must not double it */
        step_over(rig, step);
        CHECK_EQ(rig_names(rig, ""), 1);
        CHECK_OK(rig_put(rig, names[0], rig_data(4), 400));
        step_over(rig, step);
        rig_expect(rig, names[0], rig_data(4), 400);
        rig_expect(rig, names[1], rig_data(3), 300);
        CHECK_EQ(rig_names(rig, ""), 2);
        CHECK_OK(fffs_delete(rig->fs, names[1]));
        CHECK_OK(fffs_delete(rig->fs, names[0]));
        step_over(rig, step);
        CHECK_EQ(rig_names(rig, ""), 0);
    }
    rig_destroy(rig);
}

TEST(c40_two_names_one_slot_none) { c40_pair(modes[0]); }
TEST(c40_two_names_one_slot_small) { c40_pair(modes[1]); }
TEST(c40_two_names_one_slot_hash) { c40_pair(modes[2]); }
TEST(c40_two_names_one_slot_full) { c40_pair(modes[3]); }

/* Twelve names within four slots, in random churn. */
static void c40_crowd(const char *point, uint64_t seed)
{
    struct rig *rig = rig_mounted(rig_point_of(point));
    char names[12][16];
    struct oracle oracle;
    struct rng rng = { seed };
    unsigned i;

    oracle_init(&oracle);
    find_names(rig, names, 12, 3);
    for (i = 0; i < 600; i++) {
        const char *name = names[rng_below(&rng, 12)];
        if (rng_chance(&rng, 40)) {
            CHECK_STATUS(fffs_delete(rig->fs, name), oracle_get(&oracle, name) != NULL ? FFFS_OK : FFFS_ERR_NOT_FOUND);
            oracle_delete(&oracle, name);
        } else {
            uint32_t size = rng_below(&rng, 400);
            CHECK_OK(rig_put(rig, name, rig_data(i), size));
            oracle_put(&oracle, name, rig_data(i), size);
        }
        if (i % 10 == 9) {
            step_over(rig, rng_below(&rng, 3));
            oracle_verify(&oracle, rig);
        }
    }
    oracle_free(&oracle);
    rig_destroy(rig);
}

TEST(c40_crowded_slots_none) { c40_crowd(modes[0], 1); }
TEST(c40_crowded_slots_small) { c40_crowd(modes[1], 2); }
TEST(c40_crowded_slots_hash) { c40_crowd(modes[2], 3); }
TEST(c40_crowded_slots_full) { c40_crowd(modes[3], 4); }

/* A probe window that is full refuses the next name of that slot with its own error, and nothing else. */
static void c40_full_window(const char *point)
{
    enum { PROBES = 5 };
    struct rig *rig = rig_create(rig_point_of(point));
    char names[PROBES + 2][16];
    struct rig_file *handle = rig_file_new(rig);
    unsigned i;
    int status;

    rig->format.geometry.probe_limit = PROBES;
    CHECK_OK(rig_format(rig));
    CHECK_OK(rig_mount(rig));
    find_names(rig, names, PROBES + 2, 0);
    for (i = 0; i < PROBES; i++) { CHECK_OK(rig_put(rig, names[i], rig_data(i), 50)); }
    CHECK_STATUS(rig_put(rig, names[PROBES], rig_data(9), 50), FFFS_ERR_INDEX_FULL);
    rig_expect_missing(rig, names[PROBES]);
    CHECK_OK(rig_put(rig, "elsewhere", rig_data(9), 50));
    for (i = 0; i < PROBES; i++) { rig_expect(rig, names[i], rig_data(i), 50); }
    CHECK_OK(rig_put(rig, names[2], rig_data(20), 60));         /* a replacement needs no slot */
    CHECK_OK(fffs_delete(rig->fs, names[1]));
    CHECK_OK(rig_put(rig, names[PROBES], rig_data(9), 50));
    rig_restart(rig);
    rig_expect(rig, names[PROBES], rig_data(9), 50);
    rig_expect(rig, names[2], rig_data(20), 60);
    rig_expect_missing(rig, names[1]);
    /* two writers, one slot: the second to close finds it taken */
    CHECK_OK(fffs_delete(rig->fs, names[0]));
    CHECK_OK(rig_open(handle, names[0], RIG_WRITER));
    CHECK_EQ(rig_write(handle, rig_data(1), 30), 30);
    CHECK_OK(rig_put(rig, names[1], rig_data(1), 50));
    status = rig_close(handle);
    CHECK_STATUS(status, FFFS_ERR_INDEX_FULL);
    CHECK_STATUS(fffs_close(rig->fs, handle->file), FFFS_ERR_NOT_OPEN);
    rig_check(rig);
    CHECK_EQ(rig_names(rig, ""), PROBES + 1);
    rig_destroy(rig);
}

TEST(c40_full_window_none) { c40_full_window(modes[0]); }
TEST(c40_full_window_small) { c40_full_window(modes[1]); }
TEST(c40_full_window_hash) { c40_full_window(modes[2]); }
TEST(c40_full_window_full) { c40_full_window(modes[3]); }

/* Windows that wrap from slot 65535 to slot 0. */
static void c40_wrap(const char *point)
{
    struct rig *rig = rig_mounted(rig_point_of(point));
    char names[6][16];
    unsigned found = 0, i, step;

    for (i = 0; found < 6; i++) {
        CHECK(i < 8000000);
        sprintf(names[found], "w%u", i);
        if (measured(rig, names[found]).slot >= 65533) { found++; }
    }
    for (step = 0; step < 3; step++) {
        for (i = 0; i < 6; i++) { CHECK_OK(rig_put(rig, names[i], rig_data(i), 30 + i)); }
        step_over(rig, step);
        CHECK_EQ(rig_names(rig, "w"), 6);
        for (i = 0; i < 6; i++) { rig_expect(rig, names[i], rig_data(i), 30 + i); }
        CHECK_OK(fffs_delete(rig->fs, names[0]));
        CHECK_OK(fffs_delete(rig->fs, names[3]));
        step_over(rig, step);
        CHECK_OK(rig_put(rig, names[5], rig_data(77), 10));
        rig_expect(rig, names[5], rig_data(77), 10);
        CHECK_EQ(rig_names(rig, "w"), 4);
    }
    rig_destroy(rig);
}

TEST(c40_window_wraps_none) { c40_wrap(modes[0]); }
TEST(c40_window_wraps_hash) { c40_wrap(modes[2]); }
TEST(c40_window_wraps_full) { c40_wrap(modes[3]); }

SUITE(collisions)
{
    RUN(c40_two_names_one_slot_none);
    RUN(c40_two_names_one_slot_small);
    RUN(c40_two_names_one_slot_hash);
    RUN(c40_two_names_one_slot_full);
    RUN(c40_crowded_slots_none);
    RUN(c40_crowded_slots_small);
    RUN(c40_crowded_slots_hash);
    RUN(c40_crowded_slots_full);
    RUN(c40_full_window_none);
    RUN(c40_full_window_small);
    RUN(c40_full_window_hash);
    RUN(c40_full_window_full);
    RUN(c40_window_wraps_none);
    RUN(c40_window_wraps_hash);
    RUN(c40_window_wraps_full);
}

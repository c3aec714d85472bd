/* An index cache that is too small at times. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "oracle.h"

/* `many` files, of which `kept` stay, then a mount with 8 cells. */
static struct rig *mount_small(uint32_t flags, unsigned many, unsigned kept)
{
    struct rig *rig = rig_mounted(rig_point_of("s4096-g1-n64-mf128-hash"));
    unsigned i;
    char name[16];

    for (i = 0; i < many; i++) {
        sprintf(name, "f%u", i);
        CHECK_OK(rig_put(rig, name, rig_data(i), 100));
    }
    for (i = kept; i < many; i++) {
        sprintf(name, "f%u", i);
        CHECK_OK(fffs_delete(rig->fs, name));
    }
    CHECK_OK(rig_unmount(rig));
    rig_crash(rig);
    rig_set_cache_bytes(rig, 8 * FFFS_CACHE_ENTRY_BYTES);
    CHECK_OK(rig_mount_flags(rig, flags));
    return rig;
}

/* Replay meets 30 files, 5 are there: they fit. */
TEST(a_cache_that_overflows_during_replay_is_whole_after_mount)
{
    struct rig *rig = mount_small(0, 30, 5);
    unsigned i;
    char name[16];

    rig_count(rig);
    CHECK_EQ(fffs_exists(rig->fs, "missing"), 0);
    CHECK_EQ(rig_reads(rig), 0);
    for (i = 0; i < 5; i++) {
        sprintf(name, "f%u", i);
        rig_count(rig);
        CHECK_EQ(fffs_exists(rig->fs, name), 1);
        CHECK_EQ(rig_reads(rig), 1);
        rig_expect(rig, name, rig_data(i), 100);
    }
    CHECK_EQ(rig_names(rig, ""), 5);
    rig_check(rig);
    for (i = 5; i < 12; i++) {      /* and it overflows again */
        sprintf(name, "f%u", i);
        CHECK_OK(rig_put(rig, name, rig_data(i), 50));
    }
    rig_count(rig);
    CHECK_EQ(fffs_exists(rig->fs, "missing"), 0);
    CHECK(rig_reads(rig) > 0);
    CHECK_EQ(rig_names(rig, ""), 12);
    rig_check(rig);
    rig_destroy(rig);
}

TEST(a_cache_that_is_too_small_stays_partial)
{
    struct rig *rig = mount_small(0, 30, 9);

    rig_count(rig);
    CHECK_EQ(fffs_exists(rig->fs, "missing"), 0);
    CHECK(rig_reads(rig) > 0);
    CHECK_EQ(rig_names(rig, ""), 9);
    rig_check(rig);
    rig_destroy(rig);
}

TEST(lazy_weights_make_it_whole_when_they_are_needed)
{
    struct rig *rig = mount_small(FFFS_MOUNT_LAZY_WEIGHTS, 30, 5);

    rig_count(rig);
    CHECK_EQ(fffs_exists(rig->fs, "missing"), 0);
    CHECK(rig_reads(rig) > 0);
    (void)rig_space(rig);
    rig_count(rig);
    CHECK_EQ(fffs_exists(rig->fs, "missing"), 0);
    CHECK_EQ(rig_reads(rig), 0);
    CHECK_EQ(rig_names(rig, ""), 5);
    rig_check(rig);
    rig_destroy(rig);
}

SUITE(cache)
{
    RUN(a_cache_that_overflows_during_replay_is_whole_after_mount);
    RUN(a_cache_that_is_too_small_stays_partial);
    RUN(lazy_weights_make_it_whole_when_they_are_needed);
}

/* Two cuts in a row that leave two index units in doubt: a recovery whose last programs are metastable, then the deferred
 * recovery of that, cut as well. A mount reads the marks of each unit once: whatever it reads later, it decides by that, and
 * works. */
#include <stdio.h>
#include <string.h>
#include "emulator/nor_fault.h"
#include "oracle.h"

enum { FILES = 6, MOUNTS = 12, SEEDS = 6, PROGRAMS = 10 };

static void power_on(struct rig *rig)
{
    nor_fault_clear(rig->nor);
    rig_power_on(rig);
    rig_crash(rig);
}

/* Mount, or mount and first change, with program number `n` left metastable; 0 when there are fewer. */
static int cut_recovery(struct rig *rig, unsigned n, enum nor_fault_kind kind, uint64_t seed, int deferred)
{
    int cut;

    nor_fault_at(rig->nor, n, 1u << NOR_PROGRAM, kind, seed);
    if (!deferred) {
        (void)rig_mount(rig);
    } else if (rig_mount_flags(rig, rig->point.flags | FFFS_MOUNT_DEFER_RECOVERY) == FFFS_OK) {
        (void)fffs_delete(rig->fs, "f0");
    }
    cut = nor_is_off(rig->nor);
    power_on(rig);
    return cut;
}

static void run(const char *point, unsigned first, unsigned second, uint64_t seed)
{
    struct rig *rig = rig_mounted(rig_point_of(point));
    char name[16];
    unsigned i;

    harness_note("programs %u and %u, seed %u", first, second, (unsigned)seed);
    for (i = 0; i < FILES; i++) {
        sprintf(name, "f%u", i);
        CHECK_OK(rig_put(rig, name, rig_data(i), 20 + i));
    }
    rig_crash(rig);
    if (cut_recovery(rig, first, NOR_FAULT_WEAK, seed, 0) && cut_recovery(rig, second, NOR_FAULT_WEAK_BLANK, seed + 1, 1)) {
        for (i = 0; i < MOUNTS; i++) {
            CHECK_OK(rig_mount_flags(rig, rig->point.flags | FFFS_MOUNT_READ_ONLY));
            rig_expect(rig, "f1", rig_data(1), 21);
            rig_crash(rig);
        }
    }
    CHECK_OK(rig_mount(rig));
    for (i = 1; i < FILES; i++) {
        sprintf(name, "f%u", i);
        rig_expect(rig, name, rig_data(i), 20 + i);
    }
    rig_destroy(rig);
}

static void run_all(const char *point)
{
    unsigned first, second, seed;

    for (first = 0; first < PROGRAMS; first++) {
        for (second = 0; second < PROGRAMS; second++) {
            for (seed = 0; seed < SEEDS; seed++) { run(point, first, second, 10u * seed); }
        }
    }
}

TEST(two_units_in_doubt_256) { run_all("s256-g1-n64-hash-sc512-fb64"); }
TEST(two_units_in_doubt_4096) { run_all("s4096-g256-n32-none-sc512-fb256"); }

SUITE(twice)
{
    RUN(two_units_in_doubt_256);
    RUN(two_units_in_doubt_4096);
}

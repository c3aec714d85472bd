/* C-01: what a cut erase touched reads as it likes until it is erased again. Committed files are whole at every read, and the
 * library never programs there before an erase: the emulator ends the test if it does. */
#include <stdio.h>
#include <string.h>
#include "emulator/nor_fault.h"
#include "oracle.h"

enum { STATIC_FILES = 4, STATIC_BYTES = 300, HOT_BYTES = 700, READS = 100 };

static const enum nor_fault_kind kinds[] = { NOR_FAULT_ERASE_JUNK, NOR_FAULT_ERASE_BLANK, NOR_FAULT_ERASE_OLD,
                                             NOR_FAULT_ERASE_PART };

static const char *static_name(uint32_t i)
{
    static char name[16];
    sprintf(name, "keep/%u", (unsigned)i);
    return name;
}

/* Replaces until `n` erases from now, in which power goes off. The name that was being replaced may have either version. */
static uint32_t replace_until_cut(struct rig *rig, uint64_t n, enum nor_fault_kind kind)
{
    uint32_t version;

    nor_fault_at(rig->nor, n, 1u << NOR_ERASE, kind, n * 31 + (uint64_t)kind);
    for (version = 1; version < 4000; version++) {
        if (rig_put(rig, "hot", rig_data(version), HOT_BYTES) != FFFS_OK) { break; }
        (void)fffs_gc_step(rig->fs, NULL, NULL);
    }
    CHECK(version < 4000);
    nor_fault_clear(rig->nor);
    rig_power_on(rig);
    return version;
}

static void expect_all(struct rig *rig, uint32_t version)
{
    uint32_t i;

    for (i = 0; i < STATIC_FILES; i++) { rig_expect(rig, static_name(i), rig_data(100 + i), STATIC_BYTES); }
    if (rig_holds(rig, "hot", rig_data(version), HOT_BYTES) != 1) {
        rig_expect(rig, "hot", rig_data(version - 1), HOT_BYTES);
    }
}

static void one_cut(struct rig *base, uint64_t n, enum nor_fault_kind kind)
{
    struct rig *rig = rig_clone(base);
    uint32_t version, i;

    harness_note("erase %u, outcome %d", (unsigned)n, (int)kind);
    CHECK_OK(rig_mount(rig));
    version = replace_until_cut(rig, n, kind);
    rig_restart(rig);
    expect_all(rig, version);
    for (i = 0; i < READS; i++) { rig_expect(rig, static_name(i % STATIC_FILES), rig_data(100 + i % STATIC_FILES), STATIC_BYTES); }
    /* all free flash is used at least once, so that what the cut touched is */
    for (i = 0; i < 150; i++) { CHECK_OK(rig_put(rig, "hot", rig_data(i), HOT_BYTES)); }
    rig_expect(rig, "hot", rig_data(149), HOT_BYTES);
    rig_restart(rig);
    for (i = 0; i < READS; i++) { rig_expect(rig, "hot", rig_data(149), HOT_BYTES); }
    expect_all(rig, 149);
    rig_check(rig);
    rig_destroy(rig);
}

static void weak_erases(const char *point)
{
    struct rig *base = rig_mounted(rig_point_of(point));
    uint64_t n;
    size_t kind;
    uint32_t i;

    harness_timeout(120);
    for (i = 0; i < STATIC_FILES; i++) { CHECK_OK(rig_put(base, static_name(i), rig_data(100 + i), STATIC_BYTES)); }
    CHECK_OK(rig_put(base, "hot", rig_data(0), HOT_BYTES));
    CHECK_OK(rig_unmount(base));
    for (kind = 0; kind < sizeof kinds / sizeof kinds[0]; kind++) {
        for (n = 0; n < 12; n++) { one_cut(base, n, kinds[kind]); }
    }
    rig_destroy(base);
}

TEST(c01_cut_erase_is_not_built_upon_hash) { weak_erases("s1024-g1-n48-seg1024-hash-sc512-fb64"); }
TEST(c01_cut_erase_is_not_built_upon_none) { weak_erases("s1024-g8-n48-mf40-seg2048-none-sc256-fb16"); }
TEST(c01_cut_erase_is_not_built_upon_tiny) { weak_erases("s256-g4-n40-seg256-full-sc256-fb32"); }
TEST(c01_cut_erase_is_not_built_upon_ecc) { weak_erases("s4096-g32-n24-seg4096-hash-sc512-fb64"); }

SUITE(weak)
{
    RUN(c01_cut_erase_is_not_built_upon_hash);
    RUN(c01_cut_erase_is_not_built_upon_none);
    RUN(c01_cut_erase_is_not_built_upon_tiny);
    RUN(c01_cut_erase_is_not_built_upon_ecc);
}

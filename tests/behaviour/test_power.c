/* Power cuts before and after each operation (section A of the field cases; torn programs and weak bits are swept in
 * tests/crash). */
#include <stdio.h>
#include <string.h>
#include "oracle.h"

#define USUAL "s4096-g1-n16-seg4096-hash"

/* Runs `scenario` on a copy of `base` with a cut before or after mutation n, for every n until it runs through; then
 * mounts and calls `verify`. */
struct sweep {
    const char *what;
    void (*scenario)(struct rig *rig);
    void (*verify)(struct rig *rig, int finished);
    uint64_t limit;
};

static void sweep(struct rig *base, const struct sweep *sweep)
{
    uint64_t n;
    int before, finished = 0;

    for (n = 0; !finished; n++) {
        CHECK_LE(n, sweep->limit);
        for (before = 0; before < 2; before++) {
            struct rig *rig = rig_clone(base);
            harness_note("%s cut %s mutation %u", sweep->what, before ? "before" : "after", (unsigned)n);
            CHECK_OK(rig_mount(rig));
            nor_cut_at(rig->nor, n, before);
            sweep->scenario(rig);
            finished = !nor_is_off(rig->nor);
            rig_power_on(rig);
            rig_restart(rig);
            rig_check(rig);
            sweep->verify(rig, finished);
            rig_check(rig);
            rig_restart(rig);
            rig_check(rig);
            sweep->verify(rig, finished);
            rig_destroy(rig);
        }
    }
    rig_destroy(base);
}

/* ---- C-04, C-05 ---- */

static uint32_t old_size, new_size;

static void replace_cfg(struct rig *rig) { (void)rig_put(rig, "cfg", rig_data(2), new_size); }

static void cfg_is_old_or_new(struct rig *rig, int finished)
{
    int is_new = rig_holds(rig, "cfg", rig_data(2), new_size);
    if (is_new != 1) {
        CHECK(!finished);
        rig_expect(rig, "cfg", rig_data(1), old_size);
    }
    CHECK_EQ(rig_names(rig, ""), 1);
}

/* The name is of use: it can be replaced, deleted, made again; leaves it as it was. */
static void cfg_is_usable(struct rig *rig, int finished)
{
    int is_new = rig_holds(rig, "cfg", rig_data(2), new_size) == 1;
    cfg_is_old_or_new(rig, finished);
    CHECK_OK(rig_put(rig, "cfg", rig_data(3), 500));
    rig_expect(rig, "cfg", rig_data(3), 500);
    CHECK_OK(fffs_delete(rig->fs, "cfg"));
    rig_expect_missing(rig, "cfg");
    CHECK_OK(rig_put(rig, "cfg", is_new ? rig_data(2) : rig_data(1), is_new ? new_size : old_size));
}

static void c04_with(uint32_t size, const char *point)
{
    struct sweep what = { "replace", replace_cfg, cfg_is_usable, 500 };
    struct rig *base = rig_mounted(rig_point_of(point));
    old_size = size;
    new_size = size + size / 3;
    CHECK_OK(rig_put(base, "cfg", rig_data(1), old_size));
    CHECK_OK(rig_unmount(base));
    sweep(base, &what);
}

TEST(c04_replaced_name_stays_usable_300_bytes) { c04_with(300, USUAL); }
TEST(c04_replaced_name_stays_usable_9_kib) { c04_with(9 * 1024, USUAL); }
TEST(c04_replaced_name_stays_usable_large_granule) { c04_with(2000, "s4096-g256-n64-seg4096-hash"); }
TEST(c04_replaced_name_stays_usable_without_cache) { c04_with(300, "s1024-g8-n64-none-fb16-sc256"); }
TEST(c04_replaced_name_stays_usable_tiny_volume) { c04_with(60, "s256-g1-n16-hash-fb16-sc256"); }

static void replace_100_times(struct rig *rig)
{
    unsigned i;
    for (i = 0; i < 100; i++) {
        if (rig_put(rig, "cfg", rig_data(100 + i), 300) != FFFS_OK) { return; }
    }
}

static void cfg_is_one_of_100(struct rig *rig, int finished)
{
    unsigned i;
    if (finished) {
        rig_expect(rig, "cfg", rig_data(199), 300);
        return;
    }
    for (i = 0; i < 100; i++) {
        if (rig_holds(rig, "cfg", rig_data(100 + i), 300) == 1) { return; }
    }
    rig_expect(rig, "cfg", rig_data(1), 300);
}

TEST(c05_replace_is_one_change)
{
    struct sweep what = { "100 replaces", replace_100_times, cfg_is_one_of_100, 2000 };
    struct rig *base = rig_mounted(rig_point_of("s1024-g1-n16-hash"));
    CHECK_OK(rig_put(base, "cfg", rig_data(1), 300));
    CHECK_OK(rig_unmount(base));
    sweep(base, &what);
}

/* ---- C-06, C-09 ---- */

static void c06_with(uint32_t bytes, int aborted)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    struct rig_file *handle = rig_file_new(rig);

    CHECK_OK(rig_put(rig, "cfg", rig_data(1), 1024));
    CHECK_OK(rig_open(handle, "cfg", RIG_WRITER));
    CHECK_EQ(rig_write(handle, rig_data(2), bytes), bytes);
    if (aborted) { CHECK_OK(fffs_discard(rig->fs, handle->file)); }
    else { memset(handle->file, 0, sizeof *handle->file); rig_restart(rig); }
    rig_expect(rig, "cfg", rig_data(1), 1024);
    rig_restart(rig);
    rig_expect(rig, "cfg", rig_data(1), 1024);
    rig_check(rig);
    rig_destroy(rig);
}

TEST(c06_open_to_write_keeps_the_old_content)
{
    static const uint32_t sizes[] = { 0, 1, 512, 5000 };
    unsigned i;
    for (i = 0; i < 4; i++) {
        c06_with(sizes[i], 0);
        c06_with(sizes[i], 1);
    }
}

TEST_AT(c09_file_never_closed_is_absent_and_costs_nothing)
{
    struct rig *rig = rig_mounted(point);
    struct fffs_space before, after;
    uint32_t size = rig_capacity(rig) / 4, round;

    if (size > 10240) { size = 10240; }
    CHECK_OK(rig_put(rig, "keep", rig_data(1), size / 4));
    rig_restart(rig);
    CHECK_OK(fffs_gc(rig->fs));
    before = rig_space(rig);
    for (round = 0; round < 12; round++) {
        struct rig_file *handle = rig_file_new(rig);
        CHECK_OK(rig_open(handle, "new", RIG_WRITER));
        CHECK_EQ(rig_write(handle, rig_data(2), size), size);
        rig_restart(rig);
        rig_expect_missing(rig, "new");
        CHECK_EQ(rig_names(rig, ""), 1);
        CHECK_OK(fffs_gc(rig->fs));
        after = rig_space(rig);
        CHECK_EQ(after.free_bytes, before.free_bytes);
        CHECK_EQ(after.capacity_bytes, before.capacity_bytes);
        rig_check(rig);
        rig_file_free(handle);
    }
    rig_expect(rig, "keep", rig_data(1), size / 4);
    rig_destroy(rig);
}

/* ---- C-02, C-03: rotations ---- */

/* One more index unit per call, in effect: changes until the log has moved on. */
static void rotate(struct rig *rig, unsigned times)
{
    uint32_t units_bytes = rig->geometry.index_bytes;
    unsigned i, seen = 0;

    for (i = 0; i < 60000 && seen < times; i++) {
        uint64_t erases = rig->tap.calls[NOR_ERASE], data_erases = rig->tap.data_calls[NOR_ERASE];
        CHECK_OK(rig_put(rig, "hot", rig_data(i % 7), i % 3));
        seen += rig->tap.calls[NOR_ERASE] - erases > rig->tap.data_calls[NOR_ERASE] - data_erases;
    }
    CHECK_EQ(seen, times);
    CHECK(units_bytes > 0);
}

TEST_AT(c03_clean_remount_after_each_index_rotation)
{
    struct rig *rig = rig_mounted(point);
    struct oracle oracle;
    unsigned i;
    uint32_t size = rig_share(rig, 7, 20);
    char name[8];

    oracle_init(&oracle);
    for (i = 0; i < 4; i++) {
        sprintf(name, "s%u", i);
        CHECK_OK(rig_put(rig, name, rig_data(i), size));
        oracle_put(&oracle, name, rig_data(i), size);
    }
    for (i = 1; i <= 6; i++) {
        rotate(rig, i <= 3 ? i : 1);
        CHECK_OK(rig_put(rig, "hot", rig_data(50 + i), 2));
        oracle_put(&oracle, "hot", rig_data(50 + i), 2);
        if (i % 2) { rig_remount(rig); }
        else { rig_restart(rig); }
        oracle_verify(&oracle, rig);
    }
    oracle_free(&oracle);
    rig_destroy(rig);
}

static void rotate_once(struct rig *rig)
{
    unsigned i;
    for (i = 0; i < 60; i++) {
        if (rig_put(rig, "hot", rig_data(100 + i), 10) != FFFS_OK) { return; }
    }
}

static void rotation_kept_all(struct rig *rig, int finished)
{
    unsigned i;
    int hot = 0;
    for (i = 0; i < 5; i++) {
        char name[8];
        sprintf(name, "s%u", i);
        rig_expect(rig, name, rig_data(i), 50);
    }
    for (i = 0; i < 60 && !hot; i++) { hot = rig_holds(rig, "hot", rig_data(100 + i), 10) == 1; }
    if (!hot) {
        CHECK(!finished);
        rig_expect(rig, "hot", rig_data(1), 10);
    }
    CHECK_EQ(rig_names(rig, ""), 6);
}

static void c02_with(const char *point)
{
    struct sweep what = { "rotation", rotate_once, rotation_kept_all, 1000 };
    struct rig *base = rig_mounted(rig_point_of(point));
    unsigned i;
    char name[8];

    for (i = 0; i < 5; i++) {
        sprintf(name, "s%u", i);
        CHECK_OK(rig_put(base, name, rig_data(i), 50));
    }
    CHECK_OK(rig_put(base, "hot", rig_data(1), 10));
    CHECK_OK(rig_unmount(base));
    sweep(base, &what);
}

TEST(c02_cut_around_index_rotation_256) { c02_with("s256-g1-n32-hash-fb16-sc256"); }
TEST(c02_cut_around_index_rotation_granule_64) { c02_with("s1024-g64-n64-hash"); }
TEST(c02_cut_around_index_rotation_no_cache) { c02_with("s256-g8-n64-none-fb16-sc256"); }
TEST(c02_cut_around_index_rotation_segment_reclaim) { c02_with("s256-g16-n80-seg256-hash-fb16"); }

/* ---- C-07 ---- */

static void c07_with(struct rig *base, int was_volume)
{
    uint64_t n;
    int before, finished = 0;

    for (n = 0; !finished; n++) {
        CHECK_LE(n, 200);
        for (before = 0; before < 2; before++) {
            struct rig *rig = rig_clone(base);
            int status;
            harness_note("format cut %s mutation %u", before ? "before" : "after", (unsigned)n);
            nor_cut_at(rig->nor, n, before);
            status = rig_format(rig);
            finished = !nor_is_off(rig->nor);
            if (finished) { CHECK_OK(status); }
            rig_power_on(rig);
            rig_crash(rig);
            rig->call_budget = 5000;
            status = rig_mount(rig);
            rig->call_budget = UINT64_MAX;
            if (status == FFFS_OK) {
                int names = rig_names(rig, "");
                CHECK(names == 0 || (was_volume && !finished));
                if (names != 0) { rig_expect(rig, "old", rig_data(1), 3000); }
                rig_check(rig);
                CHECK_OK(rig_unmount(rig));
            } else {
                CHECK(!finished);
                CHECK(status == FFFS_ERR_BLANK || status == FFFS_ERR_FOREIGN);
                CHECK(was_volume != 1);
            }
            rig_crash(rig);
            CHECK_OK(rig_format(rig));
            CHECK_OK(rig_mount(rig));
            CHECK_EQ(rig_names(rig, ""), 0);
            CHECK_OK(rig_put(rig, "x", rig_data(3), 100));
            rig_expect(rig, "x", rig_data(3), 100);
            rig_check(rig);
            rig_destroy(rig);
        }
    }
    rig_destroy(base);
}

TEST(c07_cut_during_format_over_blank) { c07_with(rig_create(rig_point_of(USUAL)), 0); }

TEST(c07_cut_during_format_over_junk)
{
    struct rig *rig = rig_create(rig_point_of(USUAL));
    nor_poke(rig->nor, 0, rig_data(5), rig->flash.size_bytes);
    c07_with(rig, 0);
}

TEST(c07_cut_during_format_over_a_volume_is_atomic)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    CHECK_OK(rig_put(rig, "old", rig_data(1), 3000));
    CHECK_OK(rig_unmount(rig));
    c07_with(rig, 1);
}

TEST(c07_cut_during_format_over_an_unclean_volume)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    CHECK_OK(rig_put(rig, "old", rig_data(1), 3000));
    c07_with(rig, 1);
}

/* ---- C-08 ---- */

static void write_spread(struct rig *rig)
{
    (void)rig_put_in(rig, "spread", rig_data(9), 20000, 700);
}

static void spread_is_whole_or_absent(struct rig *rig, int finished)
{
    unsigned i;
    char name[8];
    int there = fffs_exists(rig->fs, "spread");

    CHECK(there == 1 || !finished);
    if (there) { rig_expect(rig, "spread", rig_data(9), 20000); }
    for (i = 0; i < 20; i++) {
        sprintf(name, "n%u", i);
        CHECK_OK(rig_put(rig, name, rig_data(i), 100));
    }
    CHECK_EQ(rig_names(rig, ""), 20 + there + 3);
    for (i = 0; i < 20; i++) {
        sprintf(name, "n%u", i);
        rig_expect(rig, name, rig_data(i), 100);
    }
    for (i = 0; i < 3; i++) {
        sprintf(name, "k%u", i);
        rig_expect(rig, name, rig_data(i), 1000);
    }
}

TEST(c08_cut_between_all_programs_of_a_large_file)
{
    struct sweep what = { "large file", write_spread, spread_is_whole_or_absent, 500 };
    struct rig *base = rig_mounted(rig_point_of("s4096-g1-n32-seg4096-hash"));
    unsigned i;
    char name[8];

    for (i = 0; i < 3; i++) {
        sprintf(name, "k%u", i);
        CHECK_OK(rig_put(base, name, rig_data(i), 1000));
    }
    CHECK_OK(rig_unmount(base));
    sweep(base, &what);
}

/* ---- A mixed scenario on every kind of volume ---- */

static uint32_t size_of[6];     /* a old, b old, a new, c, b new */

static void mixed(struct rig *rig)
{
    if (rig_put(rig, "a", rig_data(11), size_of[2]) != FFFS_OK) { return; }
    if (fffs_delete(rig->fs, "b") != FFFS_OK) { return; }
    if (rig_put(rig, "c", rig_data(12), size_of[3]) != FFFS_OK) { return; }
    if (fffs_settle(rig->fs) != FFFS_OK) { return; }
    if (rig_put(rig, "b", rig_data(13), size_of[4]) != FFFS_OK) { return; }
    (void)fffs_unmount(rig->fs);
}

/* How many of the changes have happened: they must be a prefix of the sequence. */
static void mixed_in_order(struct rig *rig, int finished)
{
    int a_new = rig_holds(rig, "a", rig_data(11), size_of[2]) == 1, b_old = rig_holds(rig, "b", rig_data(2), size_of[1]) == 1;
    int b_new = rig_holds(rig, "b", rig_data(13), size_of[4]) == 1, c_new = rig_holds(rig, "c", rig_data(12), size_of[3]) == 1;
    int b_gone = fffs_exists(rig->fs, "b") == 0;

    if (!a_new) { rig_expect(rig, "a", rig_data(1), size_of[0]); }
    if (!c_new) { rig_expect_missing(rig, "c"); }
    CHECK_EQ(b_old + b_new + b_gone, 1);
    CHECK(a_new || b_old);          /* b changes after a */
    CHECK(!c_new || !b_old);        /* c after b's delete */
    CHECK(!b_new || c_new);
    if (finished) { CHECK(a_new && b_new && c_new); }
}

TEST_AT(cut_at_every_operation_of_a_mixed_session)
{
    struct sweep what = { "session", mixed, mixed_in_order, 400 };
    struct rig *base = rig_mounted(point);
    size_of[0] = rig_share(base, 6, 40);
    size_of[1] = rig_share(base, 6, 41);
    size_of[2] = rig_share(base, 6, 60);
    size_of[3] = rig_share(base, 6, 90);
    size_of[4] = rig_share(base, 6, 30) / 2;
    CHECK_OK(rig_put(base, "a", rig_data(1), size_of[0]));
    CHECK_OK(rig_put(base, "b", rig_data(2), size_of[1]));
    CHECK_OK(rig_unmount(base));
    sweep(base, &what);
}

/* Cut again and again during recovery: what the first mount showed stays. */
TEST_AT(cuts_during_recovery)
{
    struct rig *rig = rig_mounted(point);
    uint64_t n;
    unsigned round;
    uint32_t size;

    size = rig_share(rig, 4, 40);
    CHECK_OK(rig_put(rig, "a", rig_data(1), size));
    CHECK_OK(rig_put(rig, "b", rig_data(2), size));
    for (round = 0; round < 6; round++) {
        CHECK_OK(rig_put(rig, "a", rig_data(round), size));
        for (n = 0; n < 8; n++) {
            rig_crash(rig);
            nor_cut_at(rig->nor, n, (int)(n & 1));
            (void)rig_mount(rig);
            rig_power_on(rig);
        }
        rig_restart(rig);
        rig_expect(rig, "a", rig_data(round), size);
        rig_expect(rig, "b", rig_data(2), size);
        CHECK_EQ(rig_names(rig, ""), 2);
        rig_check(rig);
    }
    rig_destroy(rig);
}

SUITE(power)
{
    RUN(c02_cut_around_index_rotation_256);
    RUN(c02_cut_around_index_rotation_granule_64);
    RUN(c02_cut_around_index_rotation_no_cache);
    RUN(c02_cut_around_index_rotation_segment_reclaim);
    RUN_MATRIX_OF(c03_clean_remount_after_each_index_rotation, RIG_SET_FEW | RIG_SET_TINY);
    RUN(c04_replaced_name_stays_usable_300_bytes);
    RUN(c04_replaced_name_stays_usable_9_kib);
    RUN(c04_replaced_name_stays_usable_large_granule);
    RUN(c04_replaced_name_stays_usable_without_cache);
    RUN(c04_replaced_name_stays_usable_tiny_volume);
    RUN(c05_replace_is_one_change);
    RUN(c06_open_to_write_keeps_the_old_content);
    RUN(c07_cut_during_format_over_blank);
    RUN(c07_cut_during_format_over_junk);
    RUN(c07_cut_during_format_over_a_volume_is_atomic);
    RUN(c07_cut_during_format_over_an_unclean_volume);
    RUN(c08_cut_between_all_programs_of_a_large_file);
    RUN_MATRIX(c09_file_never_closed_is_absent_and_costs_nothing);
    RUN_MATRIX(cut_at_every_operation_of_a_mixed_session);
    RUN_MATRIX(cuts_during_recovery);
}

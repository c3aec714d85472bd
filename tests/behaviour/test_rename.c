/* Rename: one change, no data copied, whatever is open, however full the volume is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "oracle.h"

#define USUAL "s4096-g1-n256-hash"

/* ---- What it does ---- */

/* Small, empty and large files, over new and existing names; after each step the volume is looked through. */
TEST_AT(rename_gives_the_new_name_and_takes_the_old)
{
    struct rig *rig = rig_mounted(point);
    struct oracle oracle;
    uint32_t large = rig_share(rig, 6, 30000), small = rig_share(rig, 9, 300);
    unsigned i;

    oracle_init(&oracle);
    oracle_put(&oracle, "empty", rig_data(1), 0);
    oracle_put(&oracle, "small", rig_data(2), small);
    oracle_put(&oracle, "large", rig_data(3), large);
    oracle_put(&oracle, "x/other", rig_data(4), small / 2);
    for (i = 0; i < 4; i++) { CHECK_OK(rig_put(rig, oracle.files[i].name, oracle.files[i].data, oracle.files[i].size)); }
    for (i = 0; i < 14; i++) {
        static const char *const names[][2] = {
            { "empty", "e2" }, { "small", "s2" }, { "large", "x/l2" }, { "s2", "x/other" }, { "x/l2", "s2" },
            { "x/other", "x/other" }, { "e2", "s2" }, { "s2", "small" }, { "x/other", "small" }, { "small", "a/b/c" },
            { "a/b/c", "s" }, { "s", "t" }, { "t", "s" }, { "s", "s2" }
        };
        harness_note("%s to %s", names[i][0], names[i][1]);
        CHECK_OK(rig_rename(rig, names[i][0], names[i][1]));
        oracle_rename(&oracle, names[i][0], names[i][1]);
        oracle_verify(&oracle, rig);
        if (i % 3 == 1) { rig_restart(rig); }
        if (i % 3 == 2) { rig_remount(rig); }
        oracle_verify(&oracle, rig);
    }
    CHECK_OK(fffs_gc(rig->fs));
    oracle_verify(&oracle, rig);
    oracle_free(&oracle);
    rig_destroy(rig);
}

TEST_AT(rename_refuses_what_it_can_not_do)
{
    struct rig *rig = rig_mounted(point);
    char longest[FFFS_NAME_MAX + 2];
    struct fffs_space before, after;

    memset(longest, 'n', sizeof longest);
    longest[FFFS_NAME_MAX + 1] = '\0';
    CHECK_OK(rig_put(rig, "a", rig_data(1), 20));
    before = rig_space(rig);
    rig_count(rig);
    CHECK_STATUS(fffs_rename(rig->fs, "b", "c"), FFFS_ERR_NOT_FOUND);
    CHECK_STATUS(fffs_rename(rig->fs, "b", "a"), FFFS_ERR_NOT_FOUND);
    CHECK_STATUS(fffs_rename(rig->fs, "b", "b"), FFFS_ERR_NOT_FOUND);
    CHECK_STATUS(fffs_rename(rig->fs, "a", ""), FFFS_ERR_BAD_NAME);
    CHECK_STATUS(fffs_rename(rig->fs, "", "a"), FFFS_ERR_BAD_NAME);
    CHECK_STATUS(fffs_rename(rig->fs, "a", NULL), FFFS_ERR_BAD_NAME);
    CHECK_STATUS(fffs_rename(rig->fs, NULL, "a"), FFFS_ERR_BAD_NAME);
    CHECK_STATUS(fffs_rename(rig->fs, "a", longest), FFFS_ERR_NAME_TOO_LONG);
    CHECK_OK(fffs_rename(rig->fs, "a", "a"));
    CHECK_EQ(rig_changes(rig), 0);
    after = rig_space(rig);
    CHECK_EQ(after.used_bytes, before.used_bytes);
    rig_expect(rig, "a", rig_data(1), 20);
    CHECK_OK(rig_unmount(rig));
    CHECK_STATUS(fffs_rename(rig->fs, "a", "b"), FFFS_ERR_NOT_MOUNTED);
    CHECK_OK(rig_mount_flags(rig, point->flags | FFFS_MOUNT_READ_ONLY));
    CHECK_STATUS(fffs_rename(rig->fs, "a", "b"), FFFS_ERR_READ_ONLY);
    rig_destroy(rig);
}

TEST(rename_costs_four_programs_and_copies_no_data)
{
    static const uint32_t sizes[] = { 0, 64, 5000, 300000 };
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    unsigned i;

    CHECK_OK(rig_put(rig, "other", rig_data(9), 700));
    for (i = 0; i < 4; i++) {
        CHECK_OK(rig_put(rig, "name", rig_data(i), sizes[i]));
        CHECK_OK(rig_put(rig, "other", rig_data(9), 700));
        rig_count(rig);
        CHECK_OK(fffs_rename(rig->fs, "name", "new"));
        CHECK_EQ(rig_programs(rig), 4);
        CHECK_EQ(rig_erases(rig), 0);
        CHECK_LE(rig_reads(rig), 3);                        /* the old node, the new one for its weight, the replaced name */
        CHECK_LE(rig->tap.bytes[NOR_PROGRAM], 200);
        CHECK_OK(fffs_delete(rig->fs, "other"));
        rig_count(rig);
        CHECK_OK(fffs_rename(rig->fs, "new", "other"));     /* a name that is not there: nothing to look at */
        CHECK_EQ(rig_programs(rig), 4);
        CHECK_LE(rig_reads(rig), 3);                        /* the node lists extents by now: once more for its weight */
        CHECK_OK(fffs_rename(rig->fs, "other", "new"));
        rig_expect(rig, "new", rig_data(i), sizes[i]);
        CHECK_OK(fffs_delete(rig->fs, "new"));
        CHECK_EQ(rig_names(rig, ""), 0);
        rig_check(rig);
    }
    rig_destroy(rig);
}

/* A file with many pieces keeps its table blocks. */
TEST(rename_of_a_file_in_pieces_keeps_its_tables)
{
    struct rig *rig = rig_mounted(rig_point_of("s4096-g1-n256-seg4096-hash"));
    uint32_t size = 300000;

    CHECK_OK(rig_put(rig, "pieces", rig_data(3), 2));
    {
        struct rig_file *one = rig_file_new(rig), *two = rig_file_new(rig);
        uint32_t done;
        CHECK_OK(rig_open(one, "pieces", RIG_WRITER));
        CHECK_OK(rig_open(two, "between", RIG_WRITER));
        for (done = 0; done < size; done += 3000) {         /* two writers in turn: each in many pieces */
            CHECK_EQ(rig_write(one, rig_data(3) + done, 3000), 3000);
            CHECK_EQ(rig_write(two, rig_data(4) + done, 3000), 3000);
        }
        CHECK_OK(rig_close(one));
        CHECK_OK(rig_close(two));
        rig_file_free(one);
        rig_file_free(two);
    }
    rig_count(rig);
    CHECK_OK(fffs_rename(rig->fs, "pieces", "a longer name than it had before"));
    CHECK_EQ(rig_programs(rig), 4);
    CHECK_LE(rig->tap.bytes[NOR_PROGRAM], 700);
    rig_check(rig);
    CHECK_OK(fffs_delete(rig->fs, "between"));
    rig_expect(rig, "a longer name than it had before", rig_data(3), size);
    CHECK_OK(fffs_gc(rig->fs));
    rig_restart(rig);
    rig_expect(rig, "a longer name than it had before", rig_data(3), size);
    rig_check(rig);
    rig_destroy(rig);
}

/* ---- Open handles ---- */

static void churn(struct rig *rig, uint32_t size, unsigned rounds)
{
    unsigned i;

    for (i = 0; i < rounds; i++) {
        char name[8];
        int status;
        sprintf(name, "c%u", i % 3);
        status = rig_put(rig, name, rig_data(1000 + i), size);
        if (status != FFFS_ERR_NO_SPACE) { CHECK_OK(status); }
        if (i % 5 == 4) { CHECK_OK(fffs_gc(rig->fs)); }
    }
}

/* The reader follows its version to the new name: also after everything has been collected several times. */
TEST_AT(reader_follows_a_rename)
{
    struct rig *rig = rig_mounted(point);
    uint32_t capacity = rig_capacity(rig), size, done, part;
    struct rig_file *handle = rig_file_new(rig);
    struct fffs_info info;
    unsigned rounds;
    uint8_t bytes[512];

    if (capacity > 200000) { capacity = 200000; }
    size = capacity / 5;
    CHECK_OK(rig_put(rig, "A", rig_data(1), size));
    CHECK_OK(rig_open(handle, "A", FFFS_READ));
    part = size / 3 < sizeof bytes ? size / 3 : (uint32_t)sizeof bytes;
    CHECK_EQ(fffs_read(rig->fs, handle->file, bytes, part), part);
    rounds = (unsigned)(rig->flash.size_bytes / (size / 2 + 1)) + 30;
    rounds = rounds > 300 ? 300 : rounds;
    churn(rig, size / 2, rounds / 2);
    CHECK_OK(rig_rename(rig, "A", "B"));
    CHECK_OK(fffs_fstat(rig->fs, handle->file, &info));
    CHECK_STR(info.name, "B");
    CHECK_EQ(info.size, size);
    churn(rig, size / 2, rounds);
    for (done = part; done < size;) {
        int32_t n = fffs_read(rig->fs, handle->file, bytes, size - done < sizeof bytes ? size - done : (uint32_t)sizeof bytes);
        CHECK(n > 0);
        CHECK_MEM(bytes, rig_data(1) + done, n);
        done += (uint32_t)n;
    }
    CHECK_OK(fffs_close(rig->fs, handle->file));
    rig_expect(rig, "B", rig_data(1), size);
    rig_expect_missing(rig, "A");
    rig_check(rig);
    rig_file_free(handle);
    rig_destroy(rig);
}

/* The reader of what was replaced keeps its bytes until their space is used again. */
TEST(reader_of_the_replaced_file_keeps_its_bytes)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    struct rig_file *handle = rig_file_new(rig);
    static uint8_t bytes[9000];

    CHECK_OK(rig_put(rig, "A", rig_data(1), 9000));
    CHECK_OK(rig_put(rig, "B", rig_data(2), 9000));
    CHECK_OK(rig_open(handle, "B", FFFS_READ));
    CHECK_OK(fffs_rename(rig->fs, "A", "B"));
    CHECK_EQ(fffs_read(rig->fs, handle->file, bytes, 9000), 9000);
    CHECK_MEM(bytes, rig_data(2), 9000);
    CHECK_OK(fffs_close(rig->fs, handle->file));
    rig_expect(rig, "B", rig_data(1), 9000);
    rig_file_free(handle);
    rig_destroy(rig);
}

TEST(mapped_bytes_stay_in_place_over_a_rename)
{
    struct rig *rig = rig_mounted(rig_point_of("s4096-g1-n32-seg4096-hash"));
    struct rig_file *handle = rig_file_new(rig);
    const void *data;
    uint32_t size = 6000;
    int32_t run;

    CHECK_OK(rig_put(rig, "A", rig_data(1), size));
    CHECK_OK(rig_open(handle, "A", FFFS_READ));
    run = fffs_map(rig->fs, handle->file, 0, &data);
    CHECK(run > 0);
    CHECK_OK(fffs_rename(rig->fs, "A", "B"));
    churn(rig, 12000, 60);
    CHECK_MEM(data, rig_data(1), run);
    CHECK_OK(fffs_delete(rig->fs, "B"));
    churn(rig, 12000, 60);
    CHECK_MEM(data, rig_data(1), run);
    CHECK_OK(fffs_close(rig->fs, handle->file));
    rig_check(rig);
    rig_file_free(handle);
    rig_destroy(rig);
}

TEST(writers_of_both_names_go_on)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    struct rig_file *a = rig_file_new(rig), *b = rig_file_new(rig), *only = rig_file_new(rig);

    CHECK_OK(rig_put(rig, "A", rig_data(1), 100));
    CHECK_OK(rig_open(a, "A", RIG_WRITER));
    CHECK_OK(rig_open(b, "B", RIG_WRITER));
    CHECK_OK(rig_open(only, "B", FFFS_WRITE | FFFS_CREATE | FFFS_EXCLUSIVE));
    CHECK_EQ(rig_write(a, rig_data(2), 3000), 3000);
    CHECK_EQ(rig_write(b, rig_data(3), 50), 50);
    CHECK_OK(fffs_rename(rig->fs, "A", "B"));
    CHECK_STATUS(rig_close(only), FFFS_ERR_EXISTS);
    CHECK_OK(rig_close(a));
    rig_expect(rig, "A", rig_data(2), 3000);
    rig_expect(rig, "B", rig_data(1), 100);
    CHECK_OK(rig_close(b));
    rig_expect(rig, "B", rig_data(3), 50);
    rig_check(rig);
    rig_file_free(a);
    rig_file_free(b);
    rig_file_free(only);
    rig_destroy(rig);
}

/* ---- Full volumes ---- */

/* Every file of a full volume gets other names, again and again: each time it works or is refused for room, and a refusal
 * leaves both names as they were. What was deleted then makes it work. */
TEST_AT(rename_on_a_full_volume_works_or_says_so)
{
    struct rig *rig = rig_mounted(point);
    struct oracle oracle;
    uint32_t size = rig_capacity(rig) / 40 + 1;
    unsigned i, round;
    char name[16], other[16];

    oracle_init(&oracle);
    for (i = 0; i < 200; i++) {
        int status;
        sprintf(name, "f%u", i);
        status = rig_put(rig, name, rig_data(i), i % 2 ? size : size / 7);
        if (status == FFFS_ERR_NO_SPACE || status == FFFS_ERR_INDEX_FULL) { break; }
        CHECK_OK(status);
        oracle_put(&oracle, name, rig_data(i), i % 2 ? size : size / 7);
    }
    for (round = 0; round < 4; round++) {
        for (i = 0; i < oracle.present && i < 40; i++) {
            int status;
            strcpy(name, oracle_at(&oracle, (i * 7) % oracle.present)->name);
            sprintf(other, "g%u.%u", round, i);
            harness_note("round %u: %s to %s", round, name, other);
            status = rig_rename(rig, name, other);
            if (status != FFFS_ERR_NO_SPACE && status != FFFS_ERR_INDEX_FULL) {
                CHECK_OK(status);
                oracle_rename(&oracle, name, other);
            }
        }
        oracle_verify(&oracle, rig);
        rig_restart(rig);
    }
    strcpy(name, oracle_at(&oracle, 0)->name);
    strcpy(other, oracle_at(&oracle, 1)->name);
    CHECK_OK(fffs_delete(rig->fs, other));
    oracle_delete(&oracle, other);
    CHECK_OK(rig_rename(rig, name, other));
    oracle_rename(&oracle, name, other);
    oracle_verify(&oracle, rig);
    oracle_free(&oracle);
    rig_destroy(rig);
}

/* The usual way to save: write beside, rename over. Ten thousand times on a small volume. */
TEST(write_beside_and_rename_over_goes_on_for_ever)
{
    struct rig *rig = rig_mounted(rig_point_of("s4096-g1-n16-seg4096-hash"));
    unsigned i;

    harness_timeout(120);
    CHECK_OK(rig_put(rig, "keep", rig_data(5), 9000));
    for (i = 0; i < 10000; i++) {
        uint32_t size = 200 + i * 37 % 900;
        CHECK_OK(rig_put(rig, "cfg.new", rig_data(i), size));
        CHECK_OK(fffs_rename(rig->fs, "cfg.new", "cfg"));
        if (i % 500 == 0) {
            rig_expect(rig, "cfg", rig_data(i), size);
            rig_expect_missing(rig, "cfg.new");
            rig_check(rig);
        }
    }
    rig_expect(rig, "keep", rig_data(5), 9000);
    rig_destroy(rig);
}

/* ---- Cuts and failures ---- */

static uint32_t size_of[3];     /* from, to, kept */

static void rename_over(struct rig *rig) { (void)rig_rename(rig, "from", "to"); }
static void rename_to_new(struct rig *rig) { (void)rig_rename(rig, "from", "new"); }

static void is_before_or_after(struct rig *rig, const char *to, int to_was, int finished)
{
    int renamed = fffs_exists(rig->fs, "from") == 0;

    CHECK(renamed || !finished);
    if (renamed) { rig_expect(rig, to, rig_data(1), size_of[0]); }
    else {
        rig_expect(rig, "from", rig_data(1), size_of[0]);
        if (to_was) { rig_expect(rig, to, rig_data(2), size_of[1]); }
        else { rig_expect_missing(rig, to); }
    }
    rig_expect(rig, "keep", rig_data(3), size_of[2]);
    if (!to_was) { rig_expect(rig, "to", rig_data(2), size_of[1]); }
    CHECK_EQ(rig_names(rig, ""), 3 - (to_was && renamed));
    rig_check(rig);
}

/* With a cut before or after mutation n, for every n until it runs through. Starts unmounted, so that the session mark is
 * among the mutations. */
static void sweep(struct rig *base, void (*scenario)(struct rig *), const char *to, int to_was)
{
    uint64_t n;
    int before, finished = 0;

    for (n = 0; !finished; n++) {
        CHECK_LE(n, 400);
        for (before = 0; before < 2; before++) {
            struct rig *rig = rig_clone(base);
            harness_note("cut %s mutation %u", before ? "before" : "after", (unsigned)n);
            CHECK_OK(rig_mount(rig));
            nor_cut_at(rig->nor, n, before);
            scenario(rig);
            finished = !nor_is_off(rig->nor);
            rig_power_on(rig);
            rig_restart(rig);
            is_before_or_after(rig, to, to_was, finished);
            rig_restart(rig);
            is_before_or_after(rig, to, to_was, finished);
            CHECK_OK(rig_put(rig, "from", rig_data(4), 30));
            CHECK_OK(rig_rename(rig, "from", to));
            rig_expect(rig, to, rig_data(4), 30);
            rig_check(rig);
            rig_destroy(rig);
        }
    }
}

static struct rig *three_files(const struct rig_point *point)
{
    struct rig *rig = rig_mounted(point);

    size_of[0] = rig_share(rig, 6, 5000);
    size_of[1] = rig_share(rig, 6, 60);
    size_of[2] = rig_share(rig, 6, 500);
    CHECK_OK(rig_put(rig, "from", rig_data(1), size_of[0]));
    CHECK_OK(rig_put(rig, "keep", rig_data(3), size_of[2]));
    CHECK_OK(rig_put(rig, "to", rig_data(2), size_of[1]));
    return rig;
}

TEST_AT(cut_at_every_operation_of_a_rename_over_a_file)
{
    struct rig *base = three_files(point);
    CHECK_OK(rig_unmount(base));
    sweep(base, rename_over, "to", 1);
    rig_destroy(base);
}

TEST_AT(cut_at_every_operation_of_a_rename_to_a_new_name)
{
    struct rig *base = three_files(point);
    CHECK_OK(rig_unmount(base));
    sweep(base, rename_to_new, "new", 0);
    rig_destroy(base);
}

/* The log is nearly full: the transaction must go into another index unit. `free` records are left. */
TEST(cut_at_every_operation_of_a_rename_with_a_rotation)
{
    uint32_t left;

    for (left = 1; left <= 6; left++) {
        struct rig *base = three_files(rig_point_of("s256-g1-n64-hash-fb16-sc256"));
        uint32_t erases = 0, i;
        for (i = 0; i < 400 && erases == 0; i++) {
            CHECK_OK(fffs_delete(base->fs, "keep"));
            rig_count(base);
            CHECK_OK(rig_put(base, "keep", rig_data(3), size_of[2]));
            erases = (uint32_t)(base->tap.calls[NOR_ERASE] - base->tap.data_calls[NOR_ERASE]);
        }
        CHECK(erases != 0);     /* just rotated: fill the unit up again but for a few */
        for (i = 0; i < 400 && (uint32_t)(512 / 8) - base->fs->log.end > left + 32; i++) {
            CHECK_OK(fffs_delete(base->fs, "keep"));
            CHECK_OK(rig_put(base, "keep", rig_data(3), size_of[2]));
        }
        CHECK_OK(rig_unmount(base));
        sweep(base, rename_over, "to", 1);
        rig_destroy(base);
    }
}

/* Each driver call fails once: an error leaves both names as before, and after a remount too. */
TEST_AT(any_failing_call_leaves_a_rename_done_or_undone)
{
    struct rig *base = three_files(point);
    uint64_t n;
    int hit = 1;

    CHECK_OK(rig_unmount(base));
    for (n = 0; hit; n++) {
        struct rig *rig = rig_clone(base);
        int status;
        harness_note("call %u fails", (unsigned)n);
        CHECK_LE(n, 3000);
        CHECK_OK(rig_mount(rig));
        rig->fail_at = n;
        rig->fail_count = 0;
        rig->fail_ops = 1u << NOR_READ | 1u << NOR_PROGRAM | 1u << NOR_ERASE;
        status = rig_rename(rig, "from", "to");
        hit = rig->fail_hit;
        rig->fail_at = UINT64_MAX;
        if (rig->fs->failed == 0) { is_before_or_after(rig, "to", 1, status == FFFS_OK); }
        if (status != FFFS_OK) {
            CHECK(hit);
            if (rig->fs->failed == 0) { CHECK_EQ(fffs_exists(rig->fs, "from"), 1); }
        }
        rig_restart(rig);
        is_before_or_after(rig, "to", 1, status == FFFS_OK);
        rig_destroy(rig);
    }
    rig_destroy(base);
}

/* ---- Collection ---- */

/* Renames between the steps of a collection: of files already moved and not committed, in work, and to come. */
TEST_AT(rename_between_the_slices_of_a_collection)
{
    struct rig *rig = rig_mounted(point);
    struct oracle oracle;
    struct rng rng = { harness_seed() };
    uint32_t size = rig_capacity(rig) / 24 + 1;
    unsigned i;
    char name[16];

    oracle_init(&oracle);
    for (i = 0; i < 600; i++) {
        int status;
        if (oracle.present > 2 && rng_chance(&rng, 45)) {
            char to[16];
            strcpy(name, oracle_at(&oracle, rng_below(&rng, (uint32_t)oracle.present))->name);
            sprintf(to, "n%u", (unsigned)rng_below(&rng, 14));
            status = rig_rename(rig, name, to);
            if (status == FFFS_OK) { oracle_rename(&oracle, name, to); }
            else { CHECK(status == FFFS_ERR_NO_SPACE || status == FFFS_ERR_INDEX_FULL); }
        } else {
            uint32_t bytes = 1 + rng_below(&rng, size);
            sprintf(name, "n%u", (unsigned)rng_below(&rng, 14));
            status = rig_put(rig, name, rig_data(i), bytes);
            if (status == FFFS_OK) { oracle_put(&oracle, name, rig_data(i), bytes); }
            else { CHECK(status == FFFS_ERR_NO_SPACE || status == FFFS_ERR_INDEX_FULL); }
        }
        if (rng_chance(&rng, 60)) { CHECK(fffs_gc_step(rig->fs, NULL, NULL) >= 0); }
        rig_check(rig);
        if (i % 40 == 39) { oracle_verify(&oracle, rig); }
    }
    oracle_verify(&oracle, rig);
    rig_restart(rig);
    oracle_verify(&oracle, rig);
    oracle_free(&oracle);
    rig_destroy(rig);
}

SUITE(rename)
{
    RUN_MATRIX(rename_gives_the_new_name_and_takes_the_old);
    RUN_MATRIX(rename_refuses_what_it_can_not_do);
    RUN(rename_costs_four_programs_and_copies_no_data);
    RUN(rename_of_a_file_in_pieces_keeps_its_tables);
    RUN_MATRIX(reader_follows_a_rename);
    RUN(reader_of_the_replaced_file_keeps_its_bytes);
    RUN(mapped_bytes_stay_in_place_over_a_rename);
    RUN(writers_of_both_names_go_on);
    RUN_MATRIX(rename_on_a_full_volume_works_or_says_so);
    RUN(write_beside_and_rename_over_goes_on_for_ever);
    RUN_MATRIX(cut_at_every_operation_of_a_rename_over_a_file);
    RUN_MATRIX(cut_at_every_operation_of_a_rename_to_a_new_name);
    RUN(cut_at_every_operation_of_a_rename_with_a_rotation);
    RUN_MATRIX(any_failing_call_leaves_a_rename_done_or_undone);
    RUN_MATRIX(rename_between_the_slices_of_a_collection);
}

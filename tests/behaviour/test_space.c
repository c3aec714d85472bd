/* Space over time: what a refusal promises, what the budget promises, long runs near full, wear. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "oracle.h"

/* ---- Inline collection off ---- */

/* Opens, writes and closes as an application would that collects whenever it is told to: no call may ask for that again
 * and again. */
static int put_patiently(struct rig *rig, struct rig_file *handle, const char *name, const uint8_t *data, uint32_t bytes)
{
    uint32_t done = 0, part, asked = 0;
    int status;

    CHECK_OK(rig_open(handle, name, RIG_WRITER));
    while (done < bytes) {
        int32_t written;

        part = bytes - done < 20000u ? bytes - done : 20000u;
        written = fffs_write(rig->fs, handle->file, data + done, part);
        if (written == FFFS_ERR_COLLECT_FIRST) {
            CHECK_LE(++asked, 3);
            CHECK_OK(fffs_gc(rig->fs));
            continue;
        }
        if (written < 0) {
            CHECK_STATUS(written, FFFS_ERR_NO_SPACE);
            CHECK_OK(fffs_discard(rig->fs, handle->file));
            return written;
        }
        CHECK_EQ(written, part);
        done += part;
        asked = 0;
    }
    while ((status = fffs_close(rig->fs, handle->file)) == FFFS_ERR_COLLECT_FIRST) {
        CHECK_LE(++asked, 3);
        CHECK_OK(fffs_gc(rig->fs));
    }
    return status;
}

/* Every segment is half full of small files: one write needs many segments, more than are ever collected ahead. */
TEST(a_refused_write_succeeds_after_collection)
{
    struct rig_point point;
    struct rig *rig;
    struct rig_file *handle;
    uint32_t count, i;
    char name[16];

    CHECK(rig_point_parse(&point, "s4096-g1-n128-seg4096-hash-noinline"));
    point.max_files = 1000;
    rig = rig_mounted(&point);
    handle = rig_file_new(rig);
    for (count = 0; rig_space(rig).used_bytes < rig_capacity(rig) / 10 * 9; count++) {
        sprintf(name, "f%u", (unsigned)count);
        CHECK_OK(put_patiently(rig, handle, name, rig_data(count), 700));
    }
    for (i = 0; i < count; i += 2) {
        sprintf(name, "f%u", (unsigned)i);
        CHECK_OK(fffs_delete(rig->fs, name));
    }
    for (i = 0; i < 3; i++) {
        sprintf(name, "big%u", (unsigned)i);
        harness_note("%s", name);
        CHECK_OK(put_patiently(rig, handle, name, rig_data(i), 50000));
    }
    for (i = 0; i < 3; i++) {
        sprintf(name, "big%u", (unsigned)i);
        rig_expect(rig, name, rig_data(i), 50000);
    }
    for (i = 1; i < count; i += 2) {
        sprintf(name, "f%u", (unsigned)i);
        rig_expect(rig, name, rig_data(i), 700);
    }
    rig_check(rig);
    rig_file_free(handle);
    rig_destroy(rig);
}

/* ---- What the free-space query promises ---- */

/* Small files at `percent` of the capacity, replaced `rounds` times: none may be refused. */
static void churn_small(struct rig *rig, uint32_t percent, uint32_t rounds, uint32_t largest)
{
    struct rng rng = { 1 };
    uint32_t target = rig_capacity(rig) / 100 * percent, count = 0, i, *version;
    uint16_t *size;
    char name[16];

    version = calloc(rounds + 20000u, sizeof *version);
    size = calloc(rounds + 20000u, sizeof *size);
    CHECK(version != NULL && size != NULL);
    for (; rig_space(rig).used_bytes + largest + 700u < target && count < 20000; count++) {
        sprintf(name, "f%u", (unsigned)count);
        size[count] = (uint16_t)(1 + rng_below(&rng, largest));
        CHECK_OK(rig_put(rig, name, rig_data(0), size[count]));
    }
    for (i = 0; i < rounds; i++) {
        uint32_t at = rng_below(&rng, count);

        harness_note("round %u of %u files", (unsigned)i, (unsigned)count);
        sprintf(name, "f%u", (unsigned)at);
        CHECK_OK(fffs_delete(rig->fs, name));
        version[at] = i % 5;
        size[at] = (uint16_t)(1 + rng_below(&rng, largest));
        CHECK_OK(rig_put(rig, name, rig_data(version[at]), size[at]));
        while (rig_space(rig).used_bytes > target) { /* sizes are random: keep to the share */
            at = rng_below(&rng, count);
            sprintf(name, "f%u", (unsigned)at);
            size[at] = 1;
            version[at] = 0;
            CHECK_OK(rig_put(rig, name, rig_data(0), 1));
        }
    }
    for (i = 0; i < count; i++) {
        sprintf(name, "f%u", (unsigned)i);
        rig_expect(rig, name, rig_data(version[i]), size[i]);
    }
    rig_check(rig);
    free(version);
    free(size);
}

/* The first segment is short here, behind the index area: it must not be what the collector is left with. */
TEST(a_short_segment_is_no_spare)
{
    static const char *const points[] = { "s4096-g1-n256-seg65536-hash", "s4096-g1-n512-seg65536-none-sc256",
                                          "s4096-g1-n1024-hash-sc4096-wb4096" };
    size_t i;

    for (i = 0; i < sizeof points / sizeof points[0]; i++) {
        struct rig_point point;
        struct rig *rig;

        CHECK(rig_point_parse(&point, points[i]));
        point.max_files = 1400;
        rig = rig_mounted(&point);
        churn_small(rig, 97, point.sector_count * 4, 8000);
        rig_destroy(rig);
    }
}

/* ---- Long runs ---- */

/* 100,000 operations at this share of the capacity, a remount after each `remounts`: the oracle compares, nothing drifts, the
 * volume stays sound. */
static void run_long(const struct rig_point *point, uint32_t percent, uint32_t remounts)
{
    struct rng rng = { harness_seed() };
    struct rig *rig = rig_mounted(point);
    struct oracle oracle;
    uint32_t capacity = rig_capacity(rig), target = capacity / 100 * percent, names, largest, i;
    uint32_t operations = harness_is_long() ? 100000 : 1500;

    oracle_init(&oracle);
    names = rig->geometry.max_files < 200 ? rig->geometry.max_files : 200;
    largest = capacity / (names / 4 + 1);
    largest = largest > 60000 ? 60000 : largest;
    for (i = 0; i < operations; i++) {
        char name[16];
        uint32_t size = rng_below(&rng, largest), fit = rig_overhead(rig) + size + size / 32;

        harness_note("operation %u", (unsigned)i);
        sprintf(name, "n%u", (unsigned)rng_below(&rng, names));
        if (rig_space(rig).used_bytes + fit > target) { /* over the share: delete instead */
            int status = fffs_delete(rig->fs, name);

            CHECK(status == FFFS_OK || status == FFFS_ERR_NOT_FOUND);
            CHECK_EQ(status == FFFS_OK, oracle_get(&oracle, name) != NULL);
            if (status == FFFS_OK) { oracle_delete(&oracle, name); }
        } else {
            uint32_t seed = rng_below(&rng, 16);

            CHECK_OK(rig_put_in(rig, name, rig_data(seed), size, 1 + rng_below(&rng, 2000)));
            oracle_put(&oracle, name, rig_data(seed), size);
        }
        if (rng_chance(&rng, 20)) { CHECK(fffs_gc_step(rig->fs, NULL, NULL) >= 0); }
        if (i % remounts == remounts - 1) { rng_chance(&rng, 50) ? rig_remount(rig) : rig_restart(rig); }
        if (i % 9973 == 9972) { oracle_verify(&oracle, rig); }
    }
    oracle_verify(&oracle, rig);
    CHECK_OK(fffs_delete_prefix(rig->fs, "n") < 0 ? FFFS_ERR_INVALID : FFFS_OK);
    CHECK_OK(fffs_gc(rig->fs));
    CHECK_EQ(rig_space(rig).used_bytes, 0);
    CHECK_EQ(rig_capacity(rig), capacity);          /* no drift of the free space */
    CHECK_EQ(rig_space(rig).free_bytes, capacity);
    rig_check(rig);
    oracle_free(&oracle);
    rig_destroy(rig);
}

TEST_AT(long_run_at_50_percent) { harness_timeout(1500); run_long(point, 50, 4999); }
TEST_AT(long_run_at_80_percent) { harness_timeout(1500); run_long(point, 80, 4999); }
TEST_AT(long_run_at_90_percent) { harness_timeout(1500); run_long(point, 90, 4999); }
TEST_AT(long_run_at_95_percent) { harness_timeout(1500); run_long(point, 95, 4999); }

/* Moves that a stop leaves uncommitted use up room that must come back. */
TEST_AT(remounts_in_the_middle_of_moves) { harness_timeout(1500); run_long(point, 90, 7); }

/* ---- Wear ---- */

struct wear { uint32_t least, most, total, segments; };

/* What the flash knows: erases of the last sector of each segment of full size. */
static struct wear wear_on_flash(const struct rig *rig)
{
    struct wear wear = { UINT32_MAX, 0, 0, 0 };
    uint32_t unit = rig->point.erase_unit_bytes, segment = rig->geometry.segment_bytes, address;
    uint32_t size = rig->geometry.sector_bytes * rig->geometry.sector_count;

    for (address = segment; address + segment <= size; address += segment) {
        uint32_t count;

        if (address < rig->geometry.index_bytes) { continue; }
        count = nor_wear(rig->nor, (address + segment) / unit - 1u);
        wear.least = count < wear.least ? count : wear.least;
        wear.most = count > wear.most ? count : wear.most;
        wear.total += count;
        wear.segments++;
    }
    return wear;
}

/* Hot and cold files mixed: half of the capacity never changes; a file of `size` is replaced until `times` the capacity was
 * written. */
static void wear_out(struct rig *rig, uint32_t size, uint32_t times)
{
    uint32_t capacity = rig_capacity(rig), count = 0, i;
    uint64_t written = 0;
    char name[16];

    while (rig_space(rig).used_bytes + 6000 < capacity / 2) {
        sprintf(name, "cold%u", (unsigned)count++);
        CHECK_OK(rig_put(rig, name, rig_data(count), 5000));
    }
    for (i = 0; written < (uint64_t)capacity * times; i++, written += size) {
        harness_note("turn %u", (unsigned)i);
        sprintf(name, "hot%u", (unsigned)(i % 7));
        CHECK_OK(rig_put(rig, name, rig_data(i % 5), size));
        if (i % 1000 == 999) { rig_remount(rig); }
    }
    for (i = 0; i < count; i++) {
        sprintf(name, "cold%u", (unsigned)i);
        rig_expect(rig, name, rig_data(i + 1), 5000);
    }
    rig_check(rig);
}

/* Levelling brings the static half into the turn; without it that half is never erased again. */
TEST(wear_is_even_with_levelling)
{
    uint32_t times = 1000;
    struct rig *rig = rig_mounted(rig_point_of("s4096-g1-n256-hash-sc4096-wb4096-wear"));
    struct wear wear;

    harness_timeout(1500);
    wear_out(rig, 7000, times);
    wear = wear_on_flash(rig);
    printf("# with levelling: %u segments, erases %u..%u, mean %u\n", (unsigned)wear.segments, (unsigned)wear.least,
           (unsigned)wear.most, (unsigned)(wear.total / wear.segments));
    CHECK_LE(wear.most * wear.segments * 2u, wear.total * 3u); /* max / mean at most 1.5 */
    rig_destroy(rig);

    rig = rig_mounted(rig_point_of("s4096-g1-n256-hash-sc4096-wb4096-wear-nolevel"));
    wear_out(rig, 7000, 20);
    wear = wear_on_flash(rig);
    printf("# without: erases %u..%u, mean %u\n", (unsigned)wear.least, (unsigned)wear.most,
           (unsigned)(wear.total / wear.segments));
    CHECK_LE(wear.least, wear.total / wear.segments / 2u); /* so that the test above tells something */
    rig_destroy(rig);
}

/* C-69: a big static file and one hot small file. */
TEST(c69_hot_small_file_beside_static_data)
{
    struct rig *rig = rig_mounted(rig_point_of("s4096-g1-n256-seg4096-hash"));
    uint32_t size = rig_capacity(rig) / 2, i;
    struct wear wear;

    CHECK_OK(rig_put(rig, "static", rig_data(1), size));
    for (i = 0; i < 1000; i++) {
        CHECK_OK(rig_put(rig, "hot", rig_data(i % 9), 8192));
        CHECK_OK(fffs_delete(rig->fs, "hot"));
    }
    wear = wear_on_flash(rig);
    CHECK_LE(wear.most, 2u * (wear.total / wear.segments) + 8u);
    rig_expect(rig, "static", rig_data(1), size);
    rig_destroy(rig);
}

/* What fffs_space() tells is what the flash has seen, also after clean remounts; an unclean stop loses a little. */
TEST(erase_counts_are_kept)
{
    struct rig *rig = rig_mounted(rig_point_of("s4096-g1-n256-hash-sc512-wear"));
    struct fffs_space before, after;
    struct wear wear;

    wear_out(rig, 9000, 4);
    before = rig_space(rig);
    wear = wear_on_flash(rig);
    CHECK_LE(before.wear_min, wear.least);      /* the short segment may have fewer */
    CHECK_EQ(before.wear_max, wear.most);
    CHECK(before.wear_min < before.wear_max);
    rig_remount(rig);
    after = rig_space(rig);
    CHECK_EQ(after.wear_min, before.wear_min);
    CHECK_EQ(after.wear_max, before.wear_max);
    CHECK_EQ(after.erases_total, before.erases_total);
    rig_restart(rig);
    after = rig_space(rig);
    CHECK_EQ(after.wear_max, before.wear_max);  /* nothing was erased since the save */
    wear_out(rig, 3000, 3);
    before = rig_space(rig);
    rig_restart(rig);
    after = rig_space(rig);
    CHECK_LE(before.wear_max, after.wear_max + 2);
    CHECK_LE(after.wear_max, before.wear_max);
    rig_destroy(rig);
}

SUITE(space)
{
    unsigned some = harness_is_long() ? RIG_SET_ALL : RIG_SET_FEW | RIG_SET_TINY;

    RUN(a_refused_write_succeeds_after_collection);
    RUN(a_short_segment_is_no_spare);
    RUN_MATRIX_OF(long_run_at_50_percent, some);
    RUN_MATRIX_OF(long_run_at_95_percent, some);
    RUN_MATRIX_OF(remounts_in_the_middle_of_moves, some);
    RUN(wear_is_even_with_levelling);
    RUN(c69_hot_small_file_beside_static_data);
    RUN(erase_counts_are_kept);
    harness_long_only(1);
    RUN_MATRIX(long_run_at_80_percent);
    RUN_MATRIX(long_run_at_90_percent);
}

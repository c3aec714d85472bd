/* Counted costs: driver calls per operation (section D of the field cases, and the counts that the API promises). */
#include <stdio.h>
#include <string.h>
#include "oracle.h"

#define USUAL "s4096-g1-n1024-hash-sc512-fb256"

static void name_of(char *name, const char *kind, unsigned number) { sprintf(name, "%s%03u.bin", kind, number); }

static void put_many(struct rig *rig, const char *kind, unsigned from, unsigned to, uint32_t bytes)
{
    char name[32];
    for (; from < to; from++) {
        name_of(name, kind, from);
        CHECK_OK(rig_put(rig, name, rig_data(from), bytes));
    }
}

/* Reads of one call. */
static uint64_t reads_of_exists(struct rig *rig, const char *name, int expected)
{
    rig_count(rig);
    CHECK_EQ(fffs_exists(rig->fs, name), expected);
    CHECK_EQ(rig_changes(rig), 0);
    return rig_reads(rig);
}

static uint64_t reads_of_open(struct rig *rig, struct rig_file *handle, const char *name)
{
    uint64_t reads;
    rig_count(rig);
    CHECK_OK(rig_open(handle, name, FFFS_READ));
    CHECK_EQ(rig_changes(rig), 0);
    reads = rig_reads(rig);
    CHECK_OK(fffs_close(rig->fs, handle->file));
    CHECK_EQ(rig_reads(rig), reads);
    return reads;
}

/* ---- The counts promised ---- */

TEST(first_change_of_a_session_costs_one_program_more)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    uint64_t first;

    CHECK_OK(rig_put(rig, "a", rig_data(1), 64));   /* opens a segment: its erase is the session's first change */
    rig_remount(rig);
    rig_count(rig);
    CHECK_OK(rig_put(rig, "b", rig_data(1), 64));
    first = rig_programs(rig);
    CHECK_EQ(rig_erases(rig), 0);
    rig_count(rig);
    CHECK_OK(rig_put(rig, "c", rig_data(1), 64));
    CHECK_EQ(rig_programs(rig), 2);
    CHECK_EQ(first, 3);
    rig_destroy(rig);
}

TEST(create_of_64_bytes_is_two_programs_and_no_read)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    unsigned i, with_read = 0, with_erase = 0;
    char name[32];

    CHECK_OK(rig_put(rig, "warm", rig_data(0), 64));
    for (i = 0; i < 200; i++) {
        name_of(name, "t", i);
        rig_count(rig);
        CHECK_OK(rig_put(rig, name, rig_data(i), 64));
        CHECK_EQ(rig_programs(rig), 2);
        CHECK_LE(rig_reads(rig), 1);
        with_read += rig_reads(rig) != 0;
        with_erase += rig_erases(rig) != 0;
        if (i < 3) { CHECK_EQ(rig_reads(rig) + rig_erases(rig), 0); }
    }
    CHECK_LE(with_read, 6);     /* names whose hash bits agree with a neighbour's */
    CHECK_LE(with_erase, 2);    /* a new segment after as many files as a transaction can move */
    rig_destroy(rig);
}

TEST(open_and_read_of_64_bytes_is_one_read)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    struct rig_file *handle = rig_file_new(rig);
    unsigned i, more = 0;
    char name[32];
    uint8_t bytes[100];

    put_many(rig, "t", 0, 200, 64);
    for (i = 0; i < 200; i++) {
        name_of(name, "t", (i * 37 + 5) % 200);
        rig_count(rig);
        CHECK_OK(rig_open(handle, name, FFFS_READ));
        CHECK_EQ(fffs_read(rig->fs, handle->file, bytes, sizeof bytes), 64);
        CHECK_EQ(fffs_read(rig->fs, handle->file, bytes, sizeof bytes), 0);
        CHECK_OK(fffs_close(rig->fs, handle->file));
        CHECK(rig_reads(rig) >= 1 && rig_reads(rig) <= 2);
        more += rig_reads(rig) != 1;
        CHECK_EQ(rig_changes(rig), 0);
        CHECK_MEM(bytes, rig_data((i * 37 + 5) % 200), 64);
    }
    CHECK_LE(more, 6);
    rig_destroy(rig);
}

TEST(missing_name_is_no_read)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    uint64_t reads = 0;
    unsigned i;
    char name[32];

    put_many(rig, "t", 0, 200, 64);
    for (i = 0; i < 1000; i++) {
        name_of(name, "x", i);
        reads += reads_of_exists(rig, name, 0);
    }
    CHECK_LE(reads, 40);        /* collisions of hash bits */
    rig_destroy(rig);
}

TEST(delete_is_one_program_and_at_most_one_read)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    unsigned i, more = 0;
    char name[32];

    put_many(rig, "t", 0, 200, 64);
    for (i = 0; i < 200; i++) {
        name_of(name, "t", (i * 37 + 5) % 200);
        rig_count(rig);
        CHECK_OK(fffs_delete(rig->fs, name));
        CHECK_EQ(rig_programs(rig), 1);
        CHECK_EQ(rig_erases(rig), 0);
        more += rig_reads(rig) > 1;
        CHECK_LE(rig_reads(rig), 2);
    }
    CHECK_LE(more, 6);
    CHECK_EQ(rig_names(rig, ""), 0);
    rig_destroy(rig);
}

TEST(mount_with_500_small_files_reads_no_data_sector)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));

    put_many(rig, "t", 0, 500, 64);
    CHECK_OK(rig_unmount(rig));
    rig_count(rig);
    CHECK_OK(rig_mount(rig));
    CHECK_EQ(rig->tap.data_calls[NOR_READ], 0);
    CHECK_EQ(rig_changes(rig), 0);
    CHECK_EQ(rig_space(rig).files, 500);
    CHECK_EQ(rig->tap.data_calls[NOR_READ], 0);
    rig_crash(rig);
    rig_count(rig);
    CHECK_OK(rig_mount(rig));   /* unclean: recovery stays in the index too */
    CHECK_EQ(rig->tap.data_calls[NOR_READ] + rig->tap.data_calls[NOR_PROGRAM] + rig->tap.data_calls[NOR_ERASE], 0);
    CHECK_EQ(rig_names(rig, ""), 500);
    rig_destroy(rig);
}

TEST(unmount_costs_two_programs_or_none)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));

    rig_count(rig);
    CHECK_OK(fffs_settle(rig->fs));
    CHECK_EQ(rig_changes(rig), 0);
    CHECK_OK(rig_put(rig, "a", rig_data(1), 64));
    rig_count(rig);
    CHECK_OK(fffs_settle(rig->fs));
    CHECK_LE(rig_programs(rig), 2);
    CHECK_EQ(rig_erases(rig), 0);
    rig_count(rig);
    CHECK_OK(rig_unmount(rig));
    CHECK_EQ(rig_changes(rig), 0);
    CHECK_OK(rig_mount(rig));
    CHECK_OK(rig_put(rig, "b", rig_data(1), 64));
    rig_count(rig);
    CHECK_OK(rig_unmount(rig));
    CHECK_LE(rig_programs(rig), 2);
    CHECK_EQ(rig_erases(rig), 0);
    rig_destroy(rig);
}

static void write_64k(struct rig *rig, uint32_t start)
{
    struct rig_file *handle = rig_file_new(rig);
    unsigned i;

    rig_count(rig);
    CHECK_OK(rig_open(handle, "big", RIG_WRITER));
    for (i = 0; i < 64; i++) {
        CHECK_EQ(fffs_write(rig->fs, handle->file, rig_data(start) + i * 1024, 1024), 1024);
    }
    CHECK_OK(fffs_close(rig->fs, handle->file));
    harness_note("first file of %u bytes", (unsigned)start);
    CHECK_LE(rig_programs(rig), 70);
    rig_expect(rig, "big", rig_data(start), 65536);
    rig_file_free(handle);
}

TEST(write_of_64_kib_at_an_odd_place_is_at_most_70_programs)
{
    uint32_t start;

    for (start = 1; start < 600; start += 37) {
        struct rig *rig = rig_mounted(rig_point_of(USUAL));
        CHECK_OK(rig_put(rig, "first", rig_data(9), start));
        write_64k(rig, start);
        rig_destroy(rig);
    }
}

TEST(read_of_contiguous_bytes_is_one_call)
{
    static uint8_t bytes[20000];
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    struct rig_file *handle = rig_file_new(rig);

    CHECK_OK(rig_put(rig, "first", rig_data(9), 77));
    CHECK_OK(rig_put(rig, "file", rig_data(1), sizeof bytes));
    CHECK_OK(rig_open(handle, "file", FFFS_READ));
    rig_count(rig);
    CHECK_EQ(fffs_read(rig->fs, handle->file, bytes, sizeof bytes), sizeof bytes);
    CHECK_EQ(rig_reads(rig), 1);
    CHECK_MEM(bytes, rig_data(1), sizeof bytes);
    rig_destroy(rig);
}

TEST(discard_and_open_to_write_change_nothing)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    struct rig_file *handle = rig_file_new(rig);

    CHECK_OK(rig_put(rig, "a", rig_data(9), 77));
    rig_count(rig);
    CHECK_OK(rig_open(handle, "a", RIG_WRITER));
    CHECK_LE(rig_reads(rig), 1);
    CHECK_EQ(fffs_write(rig->fs, handle->file, "x", 1), 1);
    CHECK_OK(fffs_discard(rig->fs, handle->file));
    CHECK_EQ(rig_changes(rig), 0);
    rig_expect(rig, "a", rig_data(9), 77);
    rig_destroy(rig);
}

/* ---- C-23 ---- */

/* Mean reads, in hundredths, of exists and open over all names in three orders; `worst` is raised to the largest. */
static unsigned mean_reads(struct rig *rig, unsigned count, uint64_t *worst)
{
    struct rig_file *handle = rig_file_new(rig);
    uint64_t total = 0, calls = 0;
    unsigned order, i;
    char name[32];

    for (order = 0; order < 3; order++) {
        for (i = 0; i < count; i++) {
            unsigned number = order == 0 ? i : order == 1 ? count - 1 - i : (i * 7919u + 13u) % count;
            uint64_t reads[2];
            name_of(name, "t", number);
            reads[0] = reads_of_exists(rig, name, 1);
            reads[1] = reads_of_open(rig, handle, name);
            total += reads[0] + reads[1];
            calls += 2;
            if (reads[0] > *worst) { *worst = reads[0]; }
            if (reads[1] > *worst) { *worst = reads[1]; }
        }
    }
    rig_file_free(handle);
    return (unsigned)(total * 100 / calls);
}

static void c23_with(const char *point, unsigned mean_limit, uint64_t worst_limit)
{
    static const unsigned counts[] = { 10, 100, 1000 };
    struct rig *rig = rig_mounted(rig_point_of(point));
    unsigned i, made = 0;

    for (i = 0; i < 3; i++) {
        uint64_t worst = 0;
        put_many(rig, "t", made, counts[i], 64);
        made = counts[i];
        harness_note("%u files", made);
        CHECK_LE(mean_reads(rig, made, &worst), mean_limit);
        CHECK_LE(worst, worst_limit);
    }
    rig_destroy(rig);
}

TEST(c23_open_cost_constant_hash) { c23_with("s4096-g1-n1024-mf1200-hash", 115, 4); }
TEST(c23_open_cost_constant_full) { c23_with("s4096-g1-n1024-mf1200-full", 115, 4); }

/* Without a cache every look-up reads the log once, in scratch-sized calls: index bytes / scratch + a little. */
TEST(c23_open_cost_bounded_without_cache)
{
    struct rig *rig = rig_mounted(rig_point_of("s4096-g1-n1024-mf1200-none-sc4096"));
    uint64_t worst = 0, bound = rig->geometry.index_bytes / 4096 * 2 + 4;

    put_many(rig, "t", 0, 300, 64);
    (void)mean_reads(rig, 300, &worst);
    CHECK_LE(worst, bound);
    rig_destroy(rig);
}

TEST(c23_small_cache_is_right_and_bounded)
{
    struct rig *rig = rig_mounted(rig_point_of("s4096-g1-n1024-mf1200-small-sc4096"));
    uint64_t worst = 0, bound = rig->geometry.index_bytes / 4096 * 2 + 4;

    put_many(rig, "t", 0, 500, 64);
    (void)mean_reads(rig, 500, &worst);
    CHECK_LE(worst, bound);
    rig_destroy(rig);
}

static void c23_missing_with(const char *point, uint64_t reads_limit_per_1000)
{
    struct rig *rig = rig_mounted(rig_point_of(point));
    uint64_t reads = 0;
    unsigned i;
    char name[32];

    put_many(rig, "t", 0, 1000, 64);
    for (i = 0; i < 1000; i++) {
        name_of(name, "x", i);
        reads += reads_of_exists(rig, name, 0);
    }
    CHECK_LE(reads, reads_limit_per_1000);
    rig_destroy(rig);
}

TEST(c23_missing_names_cost_constant_hash) { c23_missing_with("s4096-g1-n1024-mf1200-hash", 120); }
TEST(c23_missing_names_cost_constant_full) { c23_missing_with("s4096-g1-n1024-mf1200-full", 120); }

/* ---- C-24 ---- */

static int count_entry(void *context, const struct fffs_info *info)
{
    unsigned *count = context;
    CHECK(info->size == 64 || info->size == 5000);
    (*count)++;
    return 0;
}

static void c24_with(const char *point, uint64_t extra_reads)
{
    struct rig *rig = rig_mounted(rig_point_of(point));
    unsigned count = 0;

    put_many(rig, "t", 0, 192, 64);
    put_many(rig, "m", 0, 16, 5000);
    rig_count(rig);
    CHECK_EQ(rig_names(rig, ""), 208);
    CHECK_LE(rig_reads(rig), 208 + extra_reads);
    rig_count(rig);
    CHECK_OK(fffs_list(rig->fs, "", count_entry, &count));
    CHECK_EQ(count, 208);
    CHECK_LE(rig_reads(rig), 208);
    CHECK_EQ(rig_changes(rig), 0);
    rig_destroy(rig);
}

TEST(c24_listing_with_sizes_is_linear_hash) { c24_with(USUAL, 4); }
TEST(c24_listing_with_sizes_is_linear_full) { c24_with("s4096-g1-n1024-full", 4); }
TEST(c24_listing_without_cache_is_bounded) { c24_with("s4096-g1-n1024-none-sc4096", 208 * 6); }

TEST(c24_list_call_saves_reads)
{
    struct rig *rig = rig_mounted(rig_point_of("s4096-g1-n1024-hash-sc4096"));
    unsigned count = 0;

    put_many(rig, "t", 0, 192, 64);
    put_many(rig, "m", 0, 16, 5000);
    rig_count(rig);
    CHECK_OK(fffs_list(rig->fs, "", count_entry, &count));
    CHECK_EQ(count, 208);
    CHECK_LE(rig_reads(rig), 104);      /* neighbours share a read */
    rig_destroy(rig);
}

TEST(c24_one_open_does_one_lookup)
{
    struct rig *rig = rig_mounted(rig_point_of("s4096-g1-n1024-none-sc4096"));
    struct rig_file *handle = rig_file_new(rig);
    unsigned i;
    char name[32];

    put_many(rig, "t", 0, 208, 64);
    for (i = 0; i < 208; i += 13) {
        name_of(name, "t", i);
        CHECK_LE(reads_of_open(rig, handle, name), reads_of_exists(rig, name, 1));
    }
    rig_destroy(rig);
}

/* ---- C-25 ---- */

static void c25_with(const char *point, int lazy)
{
    struct rig *rig = rig_mounted(rig_point_of(point));
    struct fffs_space before, after;
    unsigned i;

    put_many(rig, "t", 0, 480, 300);
    put_many(rig, "m", 0, 20, 30000);
    rig_remount(rig);
    if (lazy) { (void)rig_space(rig); }
    rig_count(rig);
    before = rig_space(rig);
    CHECK_EQ(rig_reads(rig), 0);
    CHECK_EQ(rig_changes(rig), 0);
    CHECK_EQ(before.files, 500);
    CHECK_LE(480u * 300 + 20u * 30000, before.used_bytes);
    CHECK_LE(before.used_bytes, 480u * (300 + 64) + 20u * (30000 + 2400) + 4096);
    CHECK_OK(rig_put(rig, "more", rig_data(1), 10000));
    rig_count(rig);
    after = rig_space(rig);
    CHECK_EQ(rig_reads(rig), 0);
    CHECK_LE(before.used_bytes + 10000, after.used_bytes);
    CHECK_LE(after.used_bytes, before.used_bytes + 10000 + 1000);
    CHECK_OK(fffs_delete(rig->fs, "more"));
    CHECK_EQ(rig_space(rig).used_bytes, before.used_bytes);
    for (i = 0; i < 100; i++) { CHECK_OK(rig_put(rig, "more", rig_data(i), 2000)); }
    CHECK_OK(fffs_delete(rig->fs, "more"));
    CHECK_EQ(rig_space(rig).used_bytes, before.used_bytes);
    rig_destroy(rig);
}

TEST(c25_free_query_reads_nothing_4_mib) { c25_with(USUAL, 0); }
TEST(c25_free_query_reads_nothing_16_mib) { c25_with("s4096-g1-n4096-hash", 0); }
TEST(c25_free_query_reads_nothing_without_cache) { c25_with("s4096-g1-n1024-none", 0); }
TEST(c25_free_query_reads_once_with_lazy_weights) { c25_with("s4096-g1-n1024-hash-lazy", 1); }

/* ---- C-26 ---- */

TEST(c26_create_with_500_files_stays_cheap)
{
    struct rig *rig = rig_mounted(rig_point_of("s4096-g1-n1024-mf1200-hash"));
    uint64_t programs = 0, reads = 0;
    unsigned i, with_erase = 0;
    char name[32];

    put_many(rig, "t", 0, 500, 64);
    for (i = 500; i < 1000; i++) {
        name_of(name, "t", i);
        rig_count(rig);
        CHECK_OK(rig_put(rig, name, rig_data(i), 64));
        programs += rig_programs(rig);
        reads += rig_reads(rig);
        with_erase += rig_erases(rig) != 0;
    }
    CHECK_LE(with_erase, 5);
    CHECK_LE(programs, 500 * 2 + 100);  /* index rotation copies records */
    CHECK_LE(reads, 500);
    rig_destroy(rig);
}

/* ---- C-27 ---- */

enum { LARGE = 350 * 1024 };

TEST(c27_sequential_read_walks_no_chain)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    struct rig_file *handle = rig_file_new(rig);
    uint8_t bytes[1024];
    unsigned i;

    CHECK_OK(rig_put(rig, "first", rig_data(9), 77));
    CHECK_OK(rig_put(rig, "large", rig_data(1), LARGE));
    CHECK_OK(rig_open(handle, "large", FFFS_READ));
    rig_count(rig);
    for (i = 0; i < LARGE / 1024; i++) {
        CHECK_EQ(fffs_read(rig->fs, handle->file, bytes, 1024), 1024);
        CHECK_MEM(bytes, rig_data(1) + i * 1024, 1024);
    }
    CHECK_LE(rig_reads(rig), LARGE / 1024 + 2 * 8);     /* at most 8 extents: 6 segments of 64 KiB */
    rig_destroy(rig);
}

TEST(c27_backward_steps_do_not_walk)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    struct rig_file *handle = rig_file_new(rig);
    unsigned i;
    uint8_t byte;

    CHECK_OK(rig_put(rig, "large", rig_data(1), LARGE));
    CHECK_OK(rig_open(handle, "large", FFFS_READ));
    CHECK_EQ(fffs_seek(rig->fs, handle->file, 200000, FFFS_SEEK_SET), 200000);
    CHECK_EQ(fffs_read(rig->fs, handle->file, &byte, 1), 1);
    rig_count(rig);
    for (i = 1; i <= 64; i++) {
        CHECK_EQ(fffs_seek(rig->fs, handle->file, -2, FFFS_SEEK_CUR), 200000 - (int)i);
        CHECK_EQ(fffs_read(rig->fs, handle->file, &byte, 1), 1);
        CHECK_EQ(byte, rig_data(1)[200000 - i]);
    }
    CHECK_LE(rig_reads(rig), 64);
    rig_destroy(rig);
}

TEST(c27_random_seeks_are_bounded)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    struct rig_file *handle = rig_file_new(rig);
    unsigned i;
    uint8_t byte;

    CHECK_OK(rig_put(rig, "large", rig_data(1), LARGE));
    CHECK_OK(rig_open(handle, "large", FFFS_READ));
    for (i = 0; i < 500; i++) {
        int32_t at = (int32_t)((i * 7919u + 123u) % LARGE);
        rig_count(rig);
        CHECK_EQ(fffs_seek(rig->fs, handle->file, at, FFFS_SEEK_SET), at);
        CHECK_EQ(rig_reads(rig), 0);
        CHECK_EQ(fffs_read(rig->fs, handle->file, &byte, 1), 1);
        CHECK_EQ(byte, rig_data(1)[at]);
        CHECK_LE(rig_reads(rig), 2);
    }
    rig_destroy(rig);
}

SUITE(cost)
{
    RUN(first_change_of_a_session_costs_one_program_more);
    RUN(create_of_64_bytes_is_two_programs_and_no_read);
    RUN(open_and_read_of_64_bytes_is_one_read);
    RUN(missing_name_is_no_read);
    RUN(delete_is_one_program_and_at_most_one_read);
    RUN(mount_with_500_small_files_reads_no_data_sector);
    RUN(unmount_costs_two_programs_or_none);
    RUN(write_of_64_kib_at_an_odd_place_is_at_most_70_programs);
    RUN(read_of_contiguous_bytes_is_one_call);
    RUN(discard_and_open_to_write_change_nothing);
    RUN(c23_open_cost_constant_hash);
    RUN(c23_open_cost_constant_full);
    RUN(c23_open_cost_bounded_without_cache);
    RUN(c23_small_cache_is_right_and_bounded);
    RUN(c23_missing_names_cost_constant_hash);
    RUN(c23_missing_names_cost_constant_full);
    RUN(c24_listing_with_sizes_is_linear_hash);
    RUN(c24_listing_with_sizes_is_linear_full);
    RUN(c24_listing_without_cache_is_bounded);
    RUN(c24_list_call_saves_reads);
    RUN(c24_one_open_does_one_lookup);
    RUN(c25_free_query_reads_nothing_4_mib);
    RUN(c25_free_query_reads_nothing_16_mib);
    RUN(c25_free_query_reads_nothing_without_cache);
    RUN(c25_free_query_reads_once_with_lazy_weights);
    RUN(c26_create_with_500_files_stays_cheap);
    RUN(c27_sequential_read_walks_no_chain);
    RUN(c27_backward_steps_do_not_walk);
    RUN(c27_random_seeks_are_bounded);
}

/* Names and listings (section F of the field cases). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "oracle.h"

#define USUAL "s4096-g1-n256-hash"

static const char *const modes[] = {
    "s4096-g1-n256-none", "s4096-g1-n256-small", "s4096-g1-n256-hash", "s4096-g1-n256-full"
};

/* Every call that takes a name answers this and changes nothing. */
static void every_name_call_says(struct rig *rig, const char *name, int expected)
{
    struct rig_file *handle = rig_file_new(rig);
    struct fffs_info info;

    rig_count(rig);
    CHECK_STATUS(rig_open(handle, name, FFFS_READ), expected);
    CHECK_STATUS(rig_open(handle, name, RIG_WRITER), expected);
    CHECK_STATUS(fffs_stat(rig->fs, name, &info), expected);
    CHECK_STATUS(fffs_exists(rig->fs, name), expected);
    CHECK_STATUS(fffs_delete(rig->fs, name), expected);
    CHECK_EQ(rig_changes(rig), 0);
    rig_file_free(handle);
}

/* ---- C-36 ---- */

TEST_AT(c36_name_at_and_over_the_limit)
{
    struct rig *rig = rig_mounted(point);
    uint32_t max = rig_name_max(rig), length;
    char name[1100];
    struct fffs_info info;

    memset(name, 'n', sizeof name);
    for (length = 1; length <= max; length += length == 1 ? (max > 3 ? max - 2 : 1) : 1) {
        name[length] = '\0';
        CHECK_OK(rig_put(rig, name, rig_data(length), 20));
        rig_expect(rig, name, rig_data(length), 20);
        CHECK_OK(fffs_stat(rig->fs, name, &info));
        CHECK_STR(info.name, name);
        CHECK_EQ(rig_names(rig, name), 1);
        CHECK_OK(fffs_delete(rig->fs, name));
        rig_expect_missing(rig, name);
        name[length] = 'n';
    }
    name[max + 1] = '\0';
    every_name_call_says(rig, name, FFFS_ERR_NAME_TOO_LONG);
    name[max + 1] = 'n';
    name[1000] = '\0';
    every_name_call_says(rig, name, FFFS_ERR_NAME_TOO_LONG);
    CHECK_EQ(rig_names(rig, ""), 0);
    rig_check(rig);
    rig_destroy(rig);
}

TEST(c36_long_prefixes_are_harmless)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    struct fffs_dir dir;
    struct fffs_info info;
    char name[1100];
    int status;

    memset(&dir, 0, sizeof dir);
    memset(name, 'n', sizeof name);
    name[FFFS_NAME_MAX] = '\0';
    CHECK_OK(rig_put(rig, name, rig_data(1), 20));
    CHECK_EQ(rig_names(rig, name), 1);
    name[FFFS_NAME_MAX] = 'n';
    name[1000] = '\0';
    status = fffs_dir_open(rig->fs, &dir, name, 0);
    if (status == FFFS_OK) {
        CHECK_EQ(fffs_dir_read(rig->fs, &dir, &info), 0);
        CHECK_OK(fffs_dir_close(rig->fs, &dir));
    } else { CHECK_STATUS(status, FFFS_ERR_NAME_TOO_LONG); }
    status = fffs_delete_prefix(rig->fs, name);
    CHECK(status == 0 || status == FFFS_ERR_NAME_TOO_LONG);
    CHECK_EQ(rig_names(rig, ""), 1);
    rig_destroy(rig);
}

/* ---- C-37 ---- */

TEST(c37_odd_names_are_literal_or_refused)
{
    static const char *const odd[] = { ".", "..", "/", "//", "./", "a//b", "a/", "/a", " ", "...", "../x", "\\", "*", "%s%n" };
    static const char *const real[] = { "a", "b", "a/b", "x.txt", "data/y" };
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    size_t i, j;

    for (i = 0; i < 5; i++) { CHECK_OK(rig_put(rig, real[i], rig_data((uint32_t)i), 50)); }
    every_name_call_says(rig, "", FFFS_ERR_BAD_NAME);
    every_name_call_says(rig, NULL, FFFS_ERR_BAD_NAME);
    for (i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        rig_expect_missing(rig, odd[i]);
        CHECK_STATUS(fffs_delete(rig->fs, odd[i]), FFFS_ERR_NOT_FOUND);
        CHECK_OK(rig_put(rig, odd[i], rig_data((uint32_t)i + 10), 40));
    }
    CHECK_EQ(rig_names(rig, ""), 5 + (int)(sizeof odd / sizeof odd[0]));
    for (i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        rig_expect(rig, odd[i], rig_data((uint32_t)i + 10), 40);
        CHECK_OK(fffs_delete(rig->fs, odd[i]));
        for (j = 0; j < 5; j++) { rig_expect(rig, real[j], rig_data((uint32_t)j), 50); }
    }
    CHECK_EQ(rig_names(rig, ""), 5);
    rig_check(rig);
    rig_destroy(rig);
}

TEST(c37_null_arguments_are_refused)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    struct rig_file *handle = rig_file_new(rig);
    struct fffs_dir dir;
    struct fffs_info info;
    uint8_t bytes[10];

    memset(&dir, 0, sizeof dir);
    CHECK_OK(rig_put(rig, "a", rig_data(1), 50));
    CHECK_STATUS(fffs_stat(rig->fs, "a", NULL), FFFS_ERR_INVALID);
    CHECK_STATUS(fffs_space(rig->fs, NULL), FFFS_ERR_INVALID);
    CHECK_STATUS(fffs_dir_open(rig->fs, NULL, "", 0), FFFS_ERR_INVALID);
    CHECK_STATUS(fffs_list(rig->fs, "", NULL, NULL), FFFS_ERR_INVALID);
    CHECK(fffs_delete_prefix(rig->fs, "") < 0);
    CHECK(fffs_delete_prefix(rig->fs, NULL) < 0);
    CHECK_OK(rig_open(handle, "a", FFFS_READ));
    CHECK_STATUS(fffs_read(rig->fs, handle->file, NULL, 10), FFFS_ERR_INVALID);
    CHECK_EQ(fffs_read(rig->fs, handle->file, bytes, 0), 0);
    CHECK_STATUS(fffs_fstat(rig->fs, handle->file, NULL), FFFS_ERR_INVALID);
    CHECK_STATUS(fffs_seek(rig->fs, handle->file, 0, 7), FFFS_ERR_INVALID);
    CHECK_OK(fffs_close(rig->fs, handle->file));
    CHECK_OK(rig_open(handle, "b", RIG_WRITER));
    CHECK_STATUS(fffs_write(rig->fs, handle->file, NULL, 10), FFFS_ERR_INVALID);
    CHECK_EQ(fffs_write(rig->fs, handle->file, bytes, 0), 0);
    CHECK_OK(rig_close(handle));
    CHECK_OK(fffs_dir_open(rig->fs, &dir, NULL, 0));     /* NULL: all */
    CHECK_EQ(fffs_dir_read(rig->fs, &dir, &info), 1);
    CHECK_STATUS(fffs_dir_read(rig->fs, &dir, NULL), FFFS_ERR_INVALID);
    CHECK_OK(fffs_dir_close(rig->fs, &dir));
    CHECK(fffs_close(rig->fs, NULL) < 0);
    CHECK(fffs_discard(rig->fs, NULL) < 0);
    CHECK(fffs_read(rig->fs, NULL, bytes, 1) < 0);
    CHECK(fffs_write(rig->fs, NULL, bytes, 1) < 0);
    CHECK(fffs_dir_close(rig->fs, NULL) < 0);
    rig_expect(rig, "a", rig_data(1), 50);
    rig_destroy(rig);
}

TEST(c37_null_volume_is_refused)
{
    struct rig *rig = rig_create(rig_point_of(USUAL));
    struct fffs_info info;
    struct fffs_space space;
    struct fffs_geometry geometry;

    CHECK(fffs_mount(NULL, &rig->config) < 0);
    CHECK(fffs_mount(rig->fs, NULL) < 0);
    CHECK(fffs_format(NULL, &rig->config, NULL) < 0);
    CHECK(fffs_format(rig->fs, NULL, NULL) < 0);
    CHECK(fffs_unmount(NULL) < 0);
    CHECK(fffs_settle(NULL) < 0);
    CHECK(fffs_stat(NULL, "a", &info) < 0);
    CHECK(fffs_exists(NULL, "a") < 0);
    CHECK(fffs_delete(NULL, "a") < 0);
    CHECK(fffs_space(NULL, &space) < 0);
    CHECK(fffs_gc_step(NULL, NULL, NULL) < 0);
    CHECK(fffs_gc(NULL) < 0);
    CHECK(fffs_check(NULL, NULL, NULL) < 0);
    CHECK(fffs_grow(NULL, 0) < 0);
    CHECK_STATUS(fffs_discover(NULL, &geometry), FFFS_ERR_INVALID);
    CHECK_STATUS(fffs_discover(&rig->flash, NULL), FFFS_ERR_INVALID);
    CHECK_STATUS(fffs_format_plan(NULL, NULL, &geometry), FFFS_ERR_INVALID);
    CHECK_STATUS(fffs_format_plan(&rig->flash, NULL, NULL), FFFS_ERR_INVALID);
    CHECK_EQ(rig->tap.calls[NOR_READ] + rig_changes(rig), 0);
    rig_destroy(rig);
}

/* ---- C-38 ---- */

TEST(c38_prefix_is_not_name)
{
    static const char *const names[] = { "ex", "exa", "exam", "data/a", "database/a", "data" };
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    size_t i;

    for (i = 0; i < 6; i++) { CHECK_OK(rig_put(rig, names[i], rig_data((uint32_t)i), 30)); }
    CHECK_EQ(rig_names(rig, "data/"), 1);
    CHECK_EQ(rig_names(rig, "ex"), 3);
    CHECK_EQ(rig_names(rig, "data"), 3);
    CHECK_EQ(rig_names(rig, ""), 6);
    CHECK_EQ(rig_names(rig, "/"), 0);
    CHECK_EQ(rig_names(rig, "example"), 0);
    CHECK_OK(fffs_delete(rig->fs, "ex"));
    rig_expect(rig, "exa", rig_data(1), 30);
    rig_expect(rig, "exam", rig_data(2), 30);
    CHECK_EQ(fffs_delete_prefix(rig->fs, "data/"), 1);
    rig_expect(rig, "database/a", rig_data(4), 30);
    rig_expect(rig, "data", rig_data(5), 30);
    CHECK_EQ(fffs_delete_prefix(rig->fs, "nothing"), 0);
    CHECK_EQ(fffs_delete_prefix(rig->fs, "d"), 2);
    CHECK_EQ(rig_names(rig, ""), 2);
    rig_check(rig);
    rig_destroy(rig);
}

struct folder_case { const char *prefix; int entries; const char *expected[8]; };

static void check_folders(struct rig *rig, const struct folder_case *what)
{
    struct fffs_dir dir;
    struct fffs_info info;
    int seen[8] = { 0 }, i, count = 0, more;

    memset(&dir, 0, sizeof dir);
    harness_note("prefix \"%s\"", what->prefix);
    CHECK_OK(fffs_dir_open(rig->fs, &dir, what->prefix, '/'));
    while ((more = fffs_dir_read(rig->fs, &dir, &info)) == 1) {
        for (i = 0; i < what->entries && strcmp(what->expected[i], info.name) != 0; i++) { }
        if (i == what->entries) { harness_fail(__FILE__, __LINE__, "unexpected entry \"%s\"", info.name); }
        CHECK_EQ(seen[i], 0);
        seen[i] = 1;
        CHECK_EQ(info.is_folder, info.name[strlen(info.name) - 1] == '/');
        CHECK_EQ(info.name_length, strlen(info.name));
        if (info.is_folder) { CHECK_EQ(info.size, 0); }
        count++;
    }
    CHECK_OK(more);
    CHECK_EQ(count, what->entries);
    CHECK_OK(fffs_dir_close(rig->fs, &dir));
}

TEST(folders_are_returned_once)
{
    static const struct folder_case cases[] = {
        { "", 5, { "a/", "b/", "ab", "top", "/", NULL, NULL, NULL } },
        { "a/", 4, { "a/1", "a/2", "a/deep/", "a//", NULL, NULL, NULL, NULL } },
        { "a", 2, { "a/", "ab", NULL, NULL, NULL, NULL, NULL, NULL } },
        { "a/deep/", 2, { "a/deep/x", "a/deep/y", NULL, NULL, NULL, NULL, NULL, NULL } },
        { "a/deep/x", 1, { "a/deep/x", NULL, NULL, NULL, NULL, NULL, NULL, NULL } },
        { "none/", 0, { NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL } },
    };
    static const char *const names[] = {
        "a/1", "a/2", "a/deep/x", "a/deep/y", "a//odd", "b/only", "ab", "top", "/abs"
    };
    size_t mode, i;

    for (mode = 0; mode < 4; mode++) {
        struct rig *rig = rig_mounted(rig_point_of(modes[mode]));
        for (i = 0; i < 9; i++) { CHECK_OK(rig_put(rig, names[i], rig_data((uint32_t)i), 30)); }
        for (i = 0; i < sizeof cases / sizeof cases[0]; i++) { check_folders(rig, &cases[i]); }
        rig_destroy(rig);
    }
}

TEST(many_folders_are_each_returned_once)
{
    size_t mode;

    for (mode = 0; mode < 4; mode++) {
        struct rig *rig = rig_mounted(rig_point_of(modes[mode]));
        struct fffs_dir dir;
        struct fffs_info info;
        unsigned char seen[60] = { 0 };
        unsigned i, number;
        char name[32];

        memset(&dir, 0, sizeof dir);
        for (i = 0; i < 180; i++) {
            sprintf(name, "root/f%u/%u", i % 60, i / 60);
            CHECK_OK(rig_put(rig, name, rig_data(i), 10));
        }
        CHECK_OK(fffs_dir_open(rig->fs, &dir, "root/", '/'));
        for (i = 0; fffs_dir_read(rig->fs, &dir, &info) == 1; i++) {
            CHECK_EQ(info.is_folder, 1);
            CHECK_EQ(sscanf(info.name, "root/f%u/", &number), 1);
            CHECK(number < 60);
            CHECK_EQ(seen[number]++, 0);
        }
        CHECK_EQ(i, 60);
        CHECK_OK(fffs_dir_close(rig->fs, &dir));
        rig_destroy(rig);
    }
}

TEST(other_delimiters_work)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    struct fffs_dir dir;
    struct fffs_info info;
    int folders = 0, files = 0;

    memset(&dir, 0, sizeof dir);
    CHECK_OK(rig_put(rig, "key:a", rig_data(1), 10));
    CHECK_OK(rig_put(rig, "key:b", rig_data(1), 10));
    CHECK_OK(rig_put(rig, "key", rig_data(1), 10));
    CHECK_OK(rig_put(rig, "dir/x", rig_data(1), 10));
    CHECK_OK(fffs_dir_open(rig->fs, &dir, "", ':'));
    while (fffs_dir_read(rig->fs, &dir, &info) == 1) {
        folders += info.is_folder;
        files += !info.is_folder;
    }
    CHECK_EQ(folders, 1);
    CHECK_EQ(files, 2);
    CHECK_OK(fffs_dir_close(rig->fs, &dir));
    rig_destroy(rig);
}

static int stop_at_third(void *context, const struct fffs_info *info)
{
    int *count = context;
    (void)info;
    return ++*count == 3 ? 77 : 0;
}

TEST(list_call_can_be_stopped)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    int count = 0, i;
    char name[8];

    for (i = 0; i < 10; i++) {
        sprintf(name, "%d", i);
        CHECK_OK(rig_put(rig, name, rig_data(1), 10));
    }
    CHECK_EQ(fffs_list(rig->fs, "", stop_at_third, &count), 77);
    CHECK_EQ(count, 3);
    count = -100;
    CHECK_EQ(fffs_list(rig->fs, "", stop_at_third, &count), 0);
    CHECK_EQ(count, -90);
    count = -100;
    CHECK_EQ(fffs_list(rig->fs, "7", stop_at_third, &count), 0);
    CHECK_EQ(count, -99);
    count = -100;
    CHECK_EQ(fffs_list(rig->fs, NULL, stop_at_third, &count), 0);
    CHECK_EQ(count, -90);
    rig_destroy(rig);
}

/* ---- C-39 ---- */

TEST(c39_two_empty_names_stay_two)
{
    size_t mode;

    for (mode = 0; mode < 4; mode++) {
        struct rig *rig = rig_mounted(rig_point_of(modes[mode]));
        CHECK_OK(rig_put(rig, "/config", rig_data(1), 100));
        CHECK_OK(rig_put(rig, "/data", "", 0));
        CHECK_EQ(rig_names(rig, ""), 2);
        CHECK_EQ(rig_names(rig, "/config"), 1);
        rig_remount(rig);
        CHECK_EQ(rig_names(rig, ""), 2);
        rig_expect(rig, "/config", rig_data(1), 100);
        rig_expect(rig, "/data", "", 0);
        rig_destroy(rig);
    }
}

static void c39_churn(const char *point, unsigned seed)
{
    struct rig *rig = rig_mounted(rig_point_of(point));
    struct oracle oracle;
    struct rng rng = { seed };
    unsigned i;
    char name[8];

    oracle_init(&oracle);
    for (i = 0; i < 2500; i++) {
        sprintf(name, "n%u", (unsigned)rng_below(&rng, 30));
        if (rng_chance(&rng, 30)) {
            (void)fffs_delete(rig->fs, name);
            oracle_delete(&oracle, name);
        } else {
            uint32_t size = rng_below(&rng, 200);
            CHECK_OK(rig_put(rig, name, rig_data(i), size));
            oracle_put(&oracle, name, rig_data(i), size);
        }
        if (i % 50 == 49) {
            if (rng_chance(&rng, 50)) { rig_remount(rig); }
            else { rig_restart(rig); }
            oracle_verify(&oracle, rig);
        }
    }
    oracle_free(&oracle);
    rig_destroy(rig);
}

TEST(c39_names_stay_single_in_churn_none) { c39_churn(modes[0], 1); }
TEST(c39_names_stay_single_in_churn_small) { c39_churn(modes[1], 2); }
TEST(c39_names_stay_single_in_churn_hash) { c39_churn(modes[2], 3); }
TEST(c39_names_stay_single_in_churn_full) { c39_churn(modes[3], 4); }

/* ---- C-41 ---- */

TEST(c41_any_byte_in_a_name)
{
    struct rig *rig = rig_mounted(rig_point_of("s4096-g1-n256-hash"));
    char name[FFFS_NAME_MAX + 1];
    int i, count = 0;

    for (i = 1; i < 256; i++) {
        memset(name, i, 3);
        name[3] = '\0';
        if (count++ < 60 || i > 250) { CHECK_OK(rig_put(rig, name, rig_data((uint32_t)i), 10)); }
    }
    CHECK_OK(rig_put(rig, "A", rig_data(500), 10));
    CHECK_OK(rig_put(rig, "a", rig_data(501), 10));
    CHECK_OK(rig_put(rig, "with space", rig_data(502), 10));
    CHECK_OK(rig_put(rig, "gr\xC3\xBC\xC3\x9F" "e", rig_data(503), 10));
    memset(name, 0xFF, FFFS_NAME_MAX);
    name[FFFS_NAME_MAX] = '\0';
    CHECK_OK(rig_put(rig, name, rig_data(504), 10));
    rig_remount(rig);
    rig_expect(rig, name, rig_data(504), 10);
    rig_expect(rig, "A", rig_data(500), 10);
    rig_expect(rig, "a", rig_data(501), 10);
    rig_expect(rig, "with space", rig_data(502), 10);
    rig_expect(rig, "gr\xC3\xBC\xC3\x9F" "e", rig_data(503), 10);
    for (i = 1; i < 61; i++) {
        memset(name, i, 3);
        name[3] = '\0';
        rig_expect(rig, name, rig_data((uint32_t)i), 10);
    }
    CHECK_EQ(rig_names(rig, ""), 60 + 5 + 5);
    CHECK_OK(fffs_delete(rig->fs, "A"));
    rig_expect(rig, "a", rig_data(501), 10);
    rig_check(rig);
    rig_destroy(rig);
}

/* ---- C-42 ---- */

static void c42_with(const char *point, int ahead, unsigned seed)
{
    struct rig *rig = rig_mounted(rig_point_of(point));
    struct fffs_dir dir;
    struct fffs_info info;
    int gone[25] = { 0 }, returned[25] = { 0 }, i, more, count = 0;
    struct rng rng = { seed };
    char name[32];

    memset(&dir, 0, sizeof dir);
    for (i = 0; i < 25; i++) {
        sprintf(name, "f%02d-%u", i, seed);
        CHECK_OK(rig_put(rig, name, rig_data((uint32_t)i), rng_below(&rng, 300)));
    }
    CHECK_OK(fffs_dir_open(rig->fs, &dir, "", 0));
    while ((more = fffs_dir_read(rig->fs, &dir, &info)) == 1) {
        int number = atoi(info.name + 1), victim = number;
        CHECK(number >= 0 && number < 25 && !gone[number] && !returned[number]);
        returned[number] = 1;
        count++;
        if (ahead) {            /* another one, often one that the listing has yet to come to */
            victim = (int)rng_below(&rng, 25);
            if (gone[victim]) { continue; }
        }
        sprintf(name, "f%02d-%u", victim, seed);
        CHECK_OK(fffs_delete(rig->fs, name));
        gone[victim] = 1;
        if (rng_chance(&rng, 30)) { CHECK(fffs_gc_step(rig->fs, NULL, NULL) >= 0); }
    }
    CHECK_OK(more);
    CHECK_OK(fffs_dir_close(rig->fs, &dir));
    for (i = 0; i < 25; i++) { CHECK(returned[i] || gone[i]); }
    if (!ahead) {
        CHECK_EQ(count, 25);
        CHECK_EQ(rig_names(rig, ""), 0);
    }
    rig_check(rig);
    rig_destroy(rig);
}

TEST(c42_delete_what_is_listed)
{
    unsigned seed, mode;
    for (seed = 1; seed <= 50; seed++) {
        mode = seed % 4;
        c42_with(modes[mode], 0, seed);
    }
}

TEST(c42_delete_ahead_of_the_listing)
{
    unsigned seed, mode;
    for (seed = 1; seed <= 50; seed++) {
        mode = seed % 4;
        c42_with(modes[mode], 1, seed);
    }
}

TEST(c42_replace_while_listing_keeps_the_others_single)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    struct fffs_dir dir;
    struct fffs_info info;
    int seen[40] = { 0 }, i, round = 0;
    char name[16];

    memset(&dir, 0, sizeof dir);
    for (i = 0; i < 40; i++) {
        sprintf(name, "f%d", i);
        CHECK_OK(rig_put(rig, name, rig_data(1), 100));
    }
    CHECK_OK(fffs_dir_open(rig->fs, &dir, "", 0));
    while (fffs_dir_read(rig->fs, &dir, &info) == 1 && round++ < 2000) {
        seen[atoi(info.name + 1)]++;
        CHECK_OK(rig_put(rig, "f7", rig_data(2), 200));
        sprintf(name, "new%d", round);
        CHECK_OK(rig_put(rig, name, rig_data(2), 20));
        CHECK_OK(fffs_delete(rig->fs, name));
    }
    CHECK(round < 2000);
    for (i = 0; i < 40; i++) {
        if (i != 7) { CHECK_EQ(seen[i], 1); }
    }
    CHECK_OK(fffs_dir_close(rig->fs, &dir));
    rig_destroy(rig);
}

TEST(delete_prefix_of_many_files)
{
    size_t mode;

    for (mode = 0; mode < 4; mode++) {
        struct rig *rig = rig_mounted(rig_point_of(modes[mode]));
        unsigned i;
        char name[32];

        for (i = 0; i < 200; i++) {
            sprintf(name, "%s/%u", i % 2 ? "keep" : "drop", i);
            CHECK_OK(rig_put(rig, name, rig_data(i), 20));
        }
        CHECK_EQ(fffs_delete_prefix(rig->fs, "drop/"), 100);
        CHECK_EQ(rig_names(rig, ""), 100);
        CHECK_EQ(fffs_delete_prefix(rig->fs, "drop/"), 0);
        rig_restart(rig);
        CHECK_EQ(rig_names(rig, "keep/"), 100);
        CHECK_EQ(rig_names(rig, ""), 100);
        rig_check(rig);
        rig_destroy(rig);
    }
}

SUITE(names)
{
    RUN_MATRIX(c36_name_at_and_over_the_limit);
    RUN(c36_long_prefixes_are_harmless);
    RUN(c37_odd_names_are_literal_or_refused);
    RUN(c37_null_arguments_are_refused);
    RUN(c37_null_volume_is_refused);
    RUN(c38_prefix_is_not_name);
    RUN(folders_are_returned_once);
    RUN(many_folders_are_each_returned_once);
    RUN(other_delimiters_work);
    RUN(list_call_can_be_stopped);
    RUN(c39_two_empty_names_stay_two);
    RUN(c39_names_stay_single_in_churn_none);
    RUN(c39_names_stay_single_in_churn_small);
    RUN(c39_names_stay_single_in_churn_hash);
    RUN(c39_names_stay_single_in_churn_full);
    RUN(c41_any_byte_in_a_name);
    RUN(c42_delete_what_is_listed);
    RUN(c42_delete_ahead_of_the_listing);
    RUN(c42_replace_while_listing_keeps_the_others_single);
    RUN(delete_prefix_of_many_files);
}

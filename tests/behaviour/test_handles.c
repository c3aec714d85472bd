/* Handles: what stays valid, what is refused, what nobody may see (section E of the field cases). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "oracle.h"

#define USUAL "s4096-g1-n256-hash"

/* ---- C-28 ---- */

/* Overwrites the free space so often that every dead byte has been reused. */
static void churn(struct rig *rig, uint32_t size, unsigned rounds)
{
    unsigned i;
    char name[32];

    for (i = 0; i < rounds; i++) {
        int status;
        sprintf(name, "c%u", i % 3);
        status = rig_put(rig, name, rig_data(1000 + i), size);
        if (status != FFFS_ERR_NO_SPACE) { CHECK_OK(status); }
        if (i % 5 == 4) { CHECK_OK(fffs_gc(rig->fs)); }
    }
}

static void c28_on(const struct rig_point *point, int replace)
{
    struct rig *rig = rig_mounted(point);
    uint32_t capacity = rig_capacity(rig), size, done, first;
    struct rig_file *handle = rig_file_new(rig);
    uint8_t *bytes;
    unsigned rounds;

    if (capacity > 200000) { capacity = 200000; }
    size = capacity / 4;
    first = size / 3;
    bytes = malloc(size + 1);
    CHECK_OK(rig_put(rig, "A", rig_data(1), size));
    CHECK_OK(rig_open(handle, "A", FFFS_READ));
    CHECK_EQ(fffs_read(rig->fs, handle->file, bytes, first), first);
    CHECK_MEM(bytes, rig_data(1), first);
    if (replace) { CHECK_OK(rig_put(rig, "A", rig_data(2), size)); }
    else { CHECK_OK(fffs_delete(rig->fs, "A")); }
    rounds = (unsigned)(rig->flash.size_bytes / (size / 2 + 1)) + 30;
    churn(rig, size / 2, rounds > 400 ? 400 : rounds);
    for (done = first; done < size;) {
        int32_t n = fffs_read(rig->fs, handle->file, bytes, size - done < 100 ? size - done : 100);
        if (n == FFFS_ERR_STALE) { break; }
        CHECK(n > 0);
        CHECK_MEM(bytes, rig_data(1) + done, n);
        done += (uint32_t)n;
    }
    CHECK_OK(fffs_close(rig->fs, handle->file));
    if (replace) { rig_expect(rig, "A", rig_data(2), size); }
    else { rig_expect_missing(rig, "A"); }
    rig_check(rig);
    CHECK_OK(rig_unmount(rig));
    rig_destroy(rig);
}

TEST_AT(c28_delete_while_open) { c28_on(point, 0); }
TEST_AT(c28_replace_while_open) { c28_on(point, 1); }

TEST(c28_deleted_file_reads_on_while_its_space_is_not_reused)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    struct rig_file *handle = rig_file_new(rig);
    static uint8_t bytes[9000];

    CHECK_OK(rig_put(rig, "A", rig_data(1), 9000));
    CHECK_OK(rig_open(handle, "A", FFFS_READ));
    CHECK_OK(fffs_delete(rig->fs, "A"));
    CHECK_EQ(fffs_exists(rig->fs, "A"), 0);
    CHECK_EQ(fffs_read(rig->fs, handle->file, bytes, 9000), 9000);
    CHECK_MEM(bytes, rig_data(1), 9000);
    CHECK_OK(fffs_close(rig->fs, handle->file));
    rig_destroy(rig);
}

/* ---- C-29 ---- */

TEST_AT(c29_changes_elsewhere_leave_an_open_writer_alone)
{
    struct rig *rig = rig_mounted(point);
    struct rig_file *handle = rig_file_new(rig);
    uint32_t size = rig_capacity(rig) / 8, done = 0, round;
    char name[16];
    unsigned i;

    if (size > 30000) { size = 30000; }
    CHECK_OK(rig_put(rig, "A", rig_data(7), size / 2));
    CHECK_OK(rig_open(handle, "A", RIG_WRITER));
    for (round = 0; round < 10; round++) {      /* more records than one index unit holds, in all */
        uint32_t part = round == 9 ? size - done : size / 10;
        CHECK_EQ(rig_write(handle, rig_data(1) + done, part), part);
        done += part;
        for (i = 0; i < 60; i++) {
            sprintf(name, "%c", (char)('B' + i % 10));
            if (i % 3 == 2 && fffs_exists(rig->fs, name) == 1) { CHECK_OK(fffs_delete(rig->fs, name)); }
            else { CHECK_OK(rig_put(rig, name, rig_data(i % 10), size / 40)); }
        }
        rig_expect(rig, "A", rig_data(7), size / 2);
    }
    CHECK_OK(rig_close(handle));
    rig_expect(rig, "A", rig_data(1), size);
    for (i = 0; i < 10; i++) {
        sprintf(name, "%c", (char)('B' + i));
        if (fffs_exists(rig->fs, name) == 1) { rig_expect(rig, name, rig_data(i), size / 40); }
    }
    rig_check(rig);
    rig_restart(rig);
    rig_expect(rig, "A", rig_data(1), size);
    rig_destroy(rig);
}

TEST(c29_own_name_deleted_while_writing)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    struct rig_file *handle = rig_file_new(rig);

    CHECK_OK(rig_put(rig, "A", rig_data(7), 100));
    CHECK_OK(rig_open(handle, "A", RIG_WRITER));
    CHECK_EQ(rig_write(handle, rig_data(1), 3000), 3000);
    CHECK_OK(fffs_delete(rig->fs, "A"));
    rig_expect_missing(rig, "A");
    CHECK_OK(rig_close(handle));
    rig_expect(rig, "A", rig_data(1), 3000);
    CHECK_EQ(rig_names(rig, ""), 1);
    rig_check(rig);
    rig_destroy(rig);
}

/* ---- C-30 ---- */

TEST_AT(c30_reader_next_to_a_writer)
{
    struct rig *rig = rig_mounted(point);
    struct rig_file *reader = rig_file_new(rig), *second = rig_file_new(rig);
    uint32_t size = rig_capacity(rig) / 5, half;
    uint8_t *bytes;

    if (size > 50000) { size = 50000; }
    half = size / 2;
    bytes = malloc(size + 1);
    CHECK_OK(rig_put(rig, "f", rig_data(1), size));
    CHECK_OK(rig_open(reader, "f", FFFS_READ));
    CHECK_EQ(fffs_read(rig->fs, reader->file, bytes, half), half);
    CHECK_OK(rig_put(rig, "f", rig_data(2), size - 3));
    CHECK_OK(rig_open(second, "f", FFFS_READ));
    CHECK_EQ(fffs_read(rig->fs, reader->file, bytes + half, size), size - half);
    CHECK_MEM(bytes, rig_data(1), size);
    CHECK_EQ(fffs_read(rig->fs, second->file, bytes, size), size - 3);
    CHECK_MEM(bytes, rig_data(2), size - 3);
    CHECK_EQ(fffs_seek(rig->fs, reader->file, 0, FFFS_SEEK_SET), 0);
    CHECK_EQ(fffs_read(rig->fs, reader->file, bytes, size), size);
    CHECK_MEM(bytes, rig_data(1), size);
    CHECK_OK(fffs_close(rig->fs, reader->file));
    CHECK_OK(fffs_close(rig->fs, second->file));
    rig_destroy(rig);
}

TEST(c30_uncommitted_bytes_are_invisible)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    struct rig_file *handle = rig_file_new(rig);

    CHECK_OK(rig_open(handle, "new", RIG_WRITER));
    CHECK_EQ(rig_write(handle, rig_data(1), 10000), 10000);
    rig_expect_missing(rig, "new");
    CHECK_EQ(rig_names(rig, ""), 0);
    CHECK_OK(rig_close(handle));
    rig_expect(rig, "new", rig_data(1), 10000);
    rig_destroy(rig);
}

/* ---- C-31 ---- */

TEST(c31_handle_object_used_twice)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    struct rig_file *handle = rig_file_new(rig);
    uint8_t bytes[200];

    CHECK_OK(rig_put(rig, "a", rig_data(1), 100));
    CHECK_OK(rig_put(rig, "b", rig_data(2), 100));
    CHECK_OK(rig_open(handle, "a", FFFS_READ));
    CHECK_STATUS(rig_open(handle, "b", FFFS_READ), FFFS_ERR_BUSY);
    CHECK_STATUS(rig_open(handle, "b", RIG_WRITER), FFFS_ERR_BUSY);
    CHECK_EQ(fffs_read(rig->fs, handle->file, bytes, 200), 100);
    CHECK_MEM(bytes, rig_data(1), 100);
    CHECK_OK(fffs_close(rig->fs, handle->file));
    CHECK_OK(rig_open(handle, "b", FFFS_READ));
    CHECK_EQ(fffs_read(rig->fs, handle->file, bytes, 200), 100);
    CHECK_MEM(bytes, rig_data(2), 100);
    CHECK_OK(fffs_close(rig->fs, handle->file));
    CHECK_OK(rig_unmount(rig));
    rig_destroy(rig);
}

TEST(c31_dir_object_used_twice)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    struct fffs_dir dir;
    struct fffs_info info;

    memset(&dir, 0, sizeof dir);
    CHECK_OK(rig_put(rig, "a", rig_data(1), 100));
    CHECK_OK(fffs_dir_open(rig->fs, &dir, "", 0));
    CHECK_STATUS(fffs_dir_open(rig->fs, &dir, "x", 0), FFFS_ERR_BUSY);
    CHECK_EQ(fffs_dir_read(rig->fs, &dir, &info), 1);
    CHECK_STR(info.name, "a");
    CHECK_EQ(fffs_dir_read(rig->fs, &dir, &info), 0);
    CHECK_EQ(fffs_dir_read(rig->fs, &dir, &info), 0);
    CHECK_OK(fffs_dir_close(rig->fs, &dir));
    CHECK_STATUS(fffs_dir_close(rig->fs, &dir), FFFS_ERR_NOT_OPEN);
    CHECK_STATUS(fffs_dir_read(rig->fs, &dir, &info), FFFS_ERR_NOT_OPEN);
    rig_destroy(rig);
}

/* ---- C-32 ---- */

static void every_file_call_says(struct rig *rig, struct rig_file *handle, int expected)
{
    uint8_t bytes[8];
    struct fffs_info info;
    const void *data;

    CHECK_STATUS(fffs_read(rig->fs, handle->file, bytes, 8), expected);
    CHECK_STATUS(fffs_write(rig->fs, handle->file, bytes, 8), expected);
    CHECK_STATUS(fffs_seek(rig->fs, handle->file, 0, FFFS_SEEK_SET), expected);
    CHECK_STATUS(fffs_tell(rig->fs, handle->file), expected);
    CHECK_STATUS(fffs_fstat(rig->fs, handle->file, &info), expected);
    CHECK_STATUS(fffs_map(rig->fs, handle->file, 0, &data), expected);
    CHECK_STATUS(fffs_close(rig->fs, handle->file), expected);
    CHECK_STATUS(fffs_discard(rig->fs, handle->file), expected);
}

static int visit_nothing(void *context, const struct fffs_info *info)
{
    (void)context;
    (void)info;
    return 0;
}

static void every_volume_call_says(struct rig *rig, struct rig_file *handle, int expected)
{
    struct fffs_info info;
    struct fffs_dir dir;
    struct fffs_space space;

    memset(&dir, 0, sizeof dir);
    CHECK_STATUS(rig_open(handle, "a", FFFS_READ), expected);
    CHECK_STATUS(rig_open(handle, "a", RIG_WRITER), expected);
    CHECK_STATUS(fffs_stat(rig->fs, "a", &info), expected);
    CHECK_STATUS(fffs_exists(rig->fs, "a"), expected);
    CHECK_STATUS(fffs_delete(rig->fs, "a"), expected);
    CHECK_STATUS(fffs_delete_prefix(rig->fs, "a"), expected);
    CHECK_STATUS(fffs_dir_open(rig->fs, &dir, "", 0), expected);
    CHECK_STATUS(fffs_list(rig->fs, "", visit_nothing, NULL), expected);
    CHECK_STATUS(fffs_space(rig->fs, &space), expected);
    CHECK_STATUS(fffs_gc_step(rig->fs, NULL, NULL), expected);
    CHECK_STATUS(fffs_gc(rig->fs), expected);
    CHECK_STATUS(fffs_check(rig->fs, NULL, NULL), expected);
    CHECK_STATUS(fffs_settle(rig->fs), expected);
    CHECK_STATUS(fffs_grow(rig->fs, 0), expected);
    CHECK_STATUS(fffs_unmount(rig->fs), expected);
}

TEST(c32_calls_before_mount_say_not_mounted)
{
    struct rig *rig = rig_create(rig_point_of(USUAL));
    struct rig_file *handle = rig_file_new(rig);

    every_volume_call_says(rig, handle, FFFS_ERR_NOT_MOUNTED);
    CHECK_OK(rig_format(rig));
    every_volume_call_says(rig, handle, FFFS_ERR_NOT_MOUNTED);
    rig_destroy(rig);
}

TEST(c32_calls_after_unmount_say_not_mounted)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    struct rig_file *handle = rig_file_new(rig);
    uint8_t bytes[8];

    CHECK_OK(rig_put(rig, "a", rig_data(1), 100));
    CHECK_OK(rig_open(handle, "a", FFFS_READ));
    CHECK_OK(fffs_close(rig->fs, handle->file));
    CHECK_OK(rig_unmount(rig));
    every_volume_call_says(rig, handle, FFFS_ERR_NOT_MOUNTED);
    CHECK(fffs_read(rig->fs, handle->file, bytes, 8) < 0);
    CHECK(fffs_close(rig->fs, handle->file) < 0);
    CHECK_OK(rig_mount(rig));
    rig_expect(rig, "a", rig_data(1), 100);
    rig_destroy(rig);
}

TEST(c32_double_close_and_zeroed_handles_say_not_open)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    struct rig_file *handle = rig_file_new(rig);

    every_file_call_says(rig, handle, FFFS_ERR_NOT_OPEN);
    CHECK_OK(rig_put(rig, "a", rig_data(1), 100));
    CHECK_OK(rig_open(handle, "a", FFFS_READ));
    CHECK_OK(fffs_close(rig->fs, handle->file));
    every_file_call_says(rig, handle, FFFS_ERR_NOT_OPEN);
    CHECK_OK(rig_open(handle, "a", RIG_WRITER));
    CHECK_OK(fffs_close(rig->fs, handle->file));
    every_file_call_says(rig, handle, FFFS_ERR_NOT_OPEN);
    CHECK_OK(rig_open(handle, "a", RIG_WRITER));
    CHECK_OK(fffs_discard(rig->fs, handle->file));
    every_file_call_says(rig, handle, FFFS_ERR_NOT_OPEN);
    CHECK_OK(rig_unmount(rig));
    CHECK_STATUS(fffs_unmount(rig->fs), FFFS_ERR_NOT_MOUNTED);
    rig_destroy(rig);
}

TEST(c32_handle_of_another_volume_is_not_open_here)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL)), *other = rig_mounted(rig_point_of(USUAL));
    struct rig_file *handle = rig_file_new(rig);

    CHECK_OK(rig_open(handle, "a", RIG_WRITER));
    every_file_call_says(other, handle, FFFS_ERR_NOT_OPEN);
    CHECK_OK(rig_close(handle));
    rig_expect(rig, "a", "", 0);
    rig_destroy(other);
    rig_destroy(rig);
}

TEST(c33_mount_when_mounted_is_refused_and_harmless)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    struct rig_file *handle = rig_file_new(rig);
    uint8_t bytes[100];

    CHECK_OK(rig_put(rig, "a", rig_data(1), 100));
    CHECK_OK(rig_open(handle, "a", FFFS_READ));
    CHECK_STATUS(fffs_mount(rig->fs, &rig->config), FFFS_ERR_BUSY);
    CHECK_STATUS(fffs_format(rig->fs, &rig->config, &rig->format), FFFS_ERR_BUSY);
    CHECK_EQ(fffs_read(rig->fs, handle->file, bytes, 100), 100);
    CHECK_MEM(bytes, rig_data(1), 100);
    CHECK_OK(fffs_close(rig->fs, handle->file));
    rig_destroy(rig);
}

TEST(unmount_with_open_files_is_refused)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    struct rig_file *handle = rig_file_new(rig);
    struct fffs_dir dir;

    memset(&dir, 0, sizeof dir);
    CHECK_OK(rig_put(rig, "a", rig_data(1), 100));
    CHECK_OK(rig_open(handle, "a", FFFS_READ));
    CHECK_STATUS(rig_unmount(rig), FFFS_ERR_BUSY);
    CHECK_OK(fffs_close(rig->fs, handle->file));
    CHECK_OK(rig_open(handle, "b", RIG_WRITER));
    CHECK_STATUS(rig_unmount(rig), FFFS_ERR_BUSY);
    CHECK_OK(fffs_discard(rig->fs, handle->file));
    CHECK_OK(fffs_dir_open(rig->fs, &dir, "", 0));
    CHECK_STATUS(rig_unmount(rig), FFFS_ERR_BUSY);
    CHECK_OK(fffs_dir_close(rig->fs, &dir));
    CHECK_OK(rig_unmount(rig));
    rig_destroy(rig);
}

/* ---- C-34 ---- */

TEST(c34_two_handles_with_one_buffer_are_refused)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    struct rig_file *a = rig_file_new(rig), *b = rig_file_new(rig);

    CHECK_OK(fffs_open(rig->fs, a->file, "a", RIG_WRITER, a->buffer, a->buffer_bytes));
    CHECK_STATUS(fffs_open(rig->fs, b->file, "b", RIG_WRITER, a->buffer, a->buffer_bytes), FFFS_ERR_BUSY);
    CHECK_STATUS(fffs_open(rig->fs, b->file, "b", RIG_WRITER, a->buffer + 16, a->buffer_bytes - 16), FFFS_ERR_BUSY);
    CHECK_OK(rig_close(a));
    CHECK_OK(fffs_open(rig->fs, b->file, "b", RIG_WRITER, a->buffer, a->buffer_bytes));
    CHECK_OK(rig_close(b));
    CHECK_EQ(rig_names(rig, ""), 2);
    rig_destroy(rig);
}

TEST_AT(c34_interleaved_writers_stay_apart)
{
    struct rig *rig = rig_mounted(point);
    struct rig_file *handles[3];
    uint32_t capacity = rig_capacity(rig), piece = capacity / 20 / 100 + 1, written[3] = { 0, 0, 0 }, i;
    struct rng rng = { 5 };

    if (piece > 60) { piece = 60; }
    for (i = 0; i < 3; i++) {
        char name[2] = { (char)('a' + i), '\0' };
        static char names[3][2];
        memcpy(names[i], name, 2);
        handles[i] = rig_file_new(rig);
        CHECK_OK(rig_open(handles[i], names[i], RIG_WRITER));
    }
    for (i = 0; i < 300; i++) {
        uint32_t which = rng_below(&rng, 3), bytes = 1 + rng_below(&rng, piece);
        CHECK_EQ(rig_write(handles[which], rig_data(which) + written[which], bytes), bytes);
        written[which] += bytes;
    }
    for (i = 0; i < 3; i++) { CHECK_OK(rig_close(handles[i])); }
    rig_expect(rig, "a", rig_data(0), written[0]);
    rig_expect(rig, "b", rig_data(1), written[1]);
    rig_expect(rig, "c", rig_data(2), written[2]);
    rig_check(rig);
    rig_remount(rig);
    rig_expect(rig, "a", rig_data(0), written[0]);
    rig_expect(rig, "c", rig_data(2), written[2]);
    rig_destroy(rig);
}

/* ---- C-35 ---- */

TEST(c35_handles_do_not_leak_on_odd_paths)
{
    struct rig *rig = rig_mounted(rig_point_of("s4096-g1-n16-hash-seg4096"));
    struct rig_file *handle = rig_file_new(rig), *other = rig_file_new(rig);
    unsigned i;

    CHECK_OK(rig_put(rig, "a", rig_data(1), 100));
    for (i = 0; i < 1000; i++) {
        int32_t written = 0;
        uint32_t total = 0;
        CHECK_STATUS(rig_open(handle, "missing", FFFS_READ), FFFS_ERR_NOT_FOUND);
        CHECK_STATUS(rig_open(handle, "", FFFS_READ), FFFS_ERR_BAD_NAME);
        CHECK_STATUS(rig_open(handle, "a", FFFS_WRITE | FFFS_CREATE | FFFS_EXCLUSIVE), FFFS_ERR_EXISTS);
        CHECK_OK(rig_open(handle, "a", FFFS_READ));
        CHECK_OK(rig_open(other, "a", FFFS_READ));
        CHECK_OK(fffs_delete(rig->fs, "a"));
        CHECK_OK(fffs_close(rig->fs, handle->file));
        CHECK_OK(fffs_discard(rig->fs, other->file));
        if (i % 20 == 0) {
            CHECK_OK(rig_open(handle, "big", RIG_WRITER));
            while (written >= 0 && total < 1000000) {
                written = fffs_write(rig->fs, handle->file, rig_data(2), 1024);
                total += 1024;
            }
            CHECK_STATUS(written, FFFS_ERR_NO_SPACE);
            CHECK_OK(fffs_discard(rig->fs, handle->file));
        }
        CHECK_OK(rig_put(rig, "a", rig_data(1), 100));
    }
    CHECK_OK(rig_unmount(rig));
    CHECK_OK(rig_mount(rig));
    rig_expect(rig, "a", rig_data(1), 100);
    CHECK_EQ(rig_names(rig, ""), 1);
    rig_check(rig);
    rig_destroy(rig);
}

/* ---- Opening ---- */

TEST(open_flags_follow_the_table)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    struct rig_file *handle = rig_file_new(rig);

    CHECK_OK(rig_put(rig, "there", rig_data(1), 100));
    CHECK_STATUS(rig_open(handle, "none", FFFS_WRITE), FFFS_ERR_NOT_FOUND);
    CHECK_STATUS(rig_open(handle, "none", FFFS_WRITE | FFFS_TRUNCATE), FFFS_ERR_NOT_FOUND);
    CHECK_STATUS(rig_open(handle, "there", FFFS_WRITE), FFFS_ERR_EXISTS);
    CHECK_STATUS(rig_open(handle, "there", FFFS_WRITE | FFFS_CREATE), FFFS_ERR_EXISTS);
    CHECK_STATUS(rig_open(handle, "there", FFFS_WRITE | FFFS_CREATE | FFFS_EXCLUSIVE), FFFS_ERR_EXISTS);
    CHECK_STATUS(rig_open(handle, "there", 0), FFFS_ERR_INVALID);
    CHECK_STATUS(rig_open(handle, "there", FFFS_READ | FFFS_WRITE), FFFS_ERR_INVALID);
    CHECK_STATUS(rig_open(handle, "there", FFFS_READ | FFFS_CREATE), FFFS_ERR_INVALID);
    CHECK_STATUS(rig_open(handle, "there", FFFS_WRITE | FFFS_EXCLUSIVE), FFFS_ERR_INVALID);
    CHECK_STATUS(rig_open(handle, "there", FFFS_CREATE), FFFS_ERR_INVALID);
    CHECK_STATUS(rig_open(handle, "there", FFFS_READ | 64), FFFS_ERR_INVALID);
    CHECK_OK(rig_open(handle, "there", FFFS_WRITE | FFFS_TRUNCATE));
    CHECK_OK(fffs_discard(rig->fs, handle->file));
    CHECK_OK(rig_open(handle, "none", FFFS_WRITE | FFFS_CREATE));
    CHECK_OK(fffs_discard(rig->fs, handle->file));
    CHECK_OK(rig_open(handle, "none", FFFS_WRITE | FFFS_CREATE | FFFS_EXCLUSIVE));
    CHECK_OK(fffs_discard(rig->fs, handle->file));
    rig_expect(rig, "there", rig_data(1), 100);
    rig_destroy(rig);
}

TEST(exclusive_is_checked_again_at_close)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    struct rig_file *handle = rig_file_new(rig);

    CHECK_OK(rig_open(handle, "x", FFFS_WRITE | FFFS_CREATE | FFFS_EXCLUSIVE));
    CHECK_EQ(rig_write(handle, rig_data(1), 500), 500);
    CHECK_OK(rig_put(rig, "x", rig_data(2), 300));
    CHECK_STATUS(rig_close(handle), FFFS_ERR_EXISTS);
    CHECK_STATUS(fffs_close(rig->fs, handle->file), FFFS_ERR_NOT_OPEN);
    rig_expect(rig, "x", rig_data(2), 300);
    rig_destroy(rig);
}

TEST(last_close_wins)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    struct rig_file *a = rig_file_new(rig), *b = rig_file_new(rig), *c = rig_file_new(rig);

    CHECK_OK(rig_open(a, "n", RIG_WRITER));
    CHECK_OK(rig_open(b, "n", RIG_WRITER));
    CHECK_OK(rig_open(c, "n", RIG_WRITER));
    CHECK_EQ(rig_write(a, rig_data(1), 5000), 5000);
    CHECK_EQ(rig_write(b, rig_data(2), 4000), 4000);
    CHECK_EQ(rig_write(c, rig_data(3), 3000), 3000);
    CHECK_OK(rig_close(b));
    rig_expect(rig, "n", rig_data(2), 4000);
    CHECK_OK(rig_close(a));
    rig_expect(rig, "n", rig_data(1), 5000);
    CHECK_OK(fffs_discard(rig->fs, c->file));
    rig_expect(rig, "n", rig_data(1), 5000);
    CHECK_EQ(rig_names(rig, ""), 1);
    rig_check(rig);
    rig_restart(rig);
    rig_expect(rig, "n", rig_data(1), 5000);
    rig_destroy(rig);
}

TEST(readers_and_writers_refuse_each_others_calls)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    struct rig_file *handle = rig_file_new(rig);
    uint8_t bytes[8];
    const void *data;

    CHECK_OK(rig_put(rig, "a", rig_data(1), 100));
    CHECK_OK(rig_open(handle, "a", FFFS_READ));
    CHECK_STATUS(fffs_write(rig->fs, handle->file, bytes, 8), FFFS_ERR_READ_ONLY);
    CHECK_OK(fffs_close(rig->fs, handle->file));
    CHECK_OK(rig_open(handle, "a", RIG_WRITER));
    CHECK_STATUS(fffs_read(rig->fs, handle->file, bytes, 8), FFFS_ERR_WRITE_ONLY);
    CHECK_STATUS(fffs_seek(rig->fs, handle->file, 0, FFFS_SEEK_SET), FFFS_ERR_WRITE_ONLY);
    CHECK_STATUS(fffs_map(rig->fs, handle->file, 0, &data), FFFS_ERR_WRITE_ONLY);
    CHECK_EQ(rig_write(handle, rig_data(2), 50), 50);
    CHECK_OK(rig_close(handle));
    rig_expect(rig, "a", rig_data(2), 50);
    rig_destroy(rig);
}

TEST(file_buffers_too_small_or_missing_are_refused)
{
    struct rig *rig = rig_mounted(rig_point_of("s4096-g32-n256-hash"));
    struct fffs_file file;
    uint8_t bytes[300];

    memset(&file, 0, sizeof file);
    CHECK_STATUS(fffs_open(rig->fs, &file, "a", RIG_WRITER, NULL, 256), FFFS_ERR_INVALID);
    CHECK(fffs_open(rig->fs, &file, "a", RIG_WRITER, bytes, 0) < 0);
    CHECK(fffs_open(rig->fs, &file, "a", RIG_WRITER, bytes, 31) < 0);   /* below the granule */
    CHECK_STATUS(fffs_open(rig->fs, NULL, "a", RIG_WRITER, bytes, 300), FFFS_ERR_INVALID);
    CHECK_STATUS(fffs_open(NULL, &file, "a", RIG_WRITER, bytes, 300), FFFS_ERR_INVALID);
    CHECK_OK(fffs_open(rig->fs, &file, "a", RIG_WRITER, bytes, 32));
    CHECK_EQ(fffs_write(rig->fs, &file, rig_data(1), 100), 100);
    CHECK_OK(fffs_close(rig->fs, &file));
    rig_expect(rig, "a", rig_data(1), 100);
    rig_destroy(rig);
}

TEST(settle_leaves_open_writers_alone)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    struct rig_file *handle = rig_file_new(rig);

    CHECK_OK(rig_put(rig, "old", rig_data(3), 800));
    CHECK_OK(rig_open(handle, "a", RIG_WRITER));
    CHECK_EQ(rig_write(handle, rig_data(1), 3000), 3000);
    CHECK_OK(fffs_settle(rig->fs));
    CHECK_EQ(rig_write(handle, rig_data(1) + 3000, 3000), 3000);
    CHECK_OK(fffs_settle(rig->fs));
    CHECK_OK(rig_close(handle));
    rig_expect(rig, "a", rig_data(1), 6000);
    CHECK_OK(fffs_settle(rig->fs));
    rig_restart(rig);
    rig_expect(rig, "a", rig_data(1), 6000);
    rig_expect(rig, "old", rig_data(3), 800);
    rig_check(rig);
    rig_destroy(rig);
}

TEST(settle_then_power_off_with_open_writer_reuses_nothing_wrongly)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    struct rig_file *handle = rig_file_new(rig);
    unsigned round;

    for (round = 0; round < 20; round++) {
        CHECK_OK(rig_open(handle, "a", RIG_WRITER));
        CHECK_EQ(rig_write(handle, rig_data(round), 3000 + round * 13), 3000 + round * 13);
        CHECK_OK(fffs_settle(rig->fs));
        if (round % 3 == 0) { CHECK_EQ(rig_write(handle, rig_data(round), 700), 700); }
        memset(handle->file, 0, sizeof *handle->file);
        rig_restart(rig);
        CHECK_OK(rig_put(rig, "b", rig_data(round + 50), 2000));
        rig_expect(rig, "b", rig_data(round + 50), 2000);
        rig_expect_missing(rig, "a");
        rig_check(rig);
    }
    rig_destroy(rig);
}

TEST(many_handles_at_once)
{
    enum { MANY = 40 };
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    struct rig_file *readers[MANY], *writers[MANY];
    static char names[MANY][8];
    uint8_t bytes[400];
    unsigned i;

    for (i = 0; i < MANY; i++) {
        sprintf(names[i], "f%u", i);
        CHECK_OK(rig_put(rig, names[i], rig_data(i), 300));
        readers[i] = rig_file_new(rig);
        writers[i] = rig_file_new(rig);
    }
    for (i = 0; i < MANY; i++) { CHECK_OK(rig_open(readers[i], names[i], FFFS_READ)); }
    for (i = 0; i < MANY; i++) { CHECK_OK(rig_open(writers[i], names[i], RIG_WRITER)); }
    for (i = 0; i < MANY; i++) { CHECK_EQ(rig_write(writers[i], rig_data(i + 100), 350), 350); }
    for (i = 0; i < MANY; i++) { CHECK_OK(rig_close(writers[(i * 7) % MANY])); }
    for (i = 0; i < MANY; i++) {
        CHECK_EQ(fffs_read(rig->fs, readers[i]->file, bytes, sizeof bytes), 300);
        CHECK_MEM(bytes, rig_data(i), 300);
        CHECK_OK(fffs_close(rig->fs, readers[i]->file));
        rig_expect(rig, names[i], rig_data(i + 100), 350);
    }
    CHECK_OK(rig_unmount(rig));
    rig_destroy(rig);
}

TEST(stamps_grow_with_every_commit)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    struct fffs_info info;
    uint32_t last = 0, i;

    for (i = 0; i < 50; i++) {
        CHECK_OK(rig_put(rig, i % 2 ? "a" : "b", rig_data(i), 10));
        CHECK_OK(fffs_stat(rig->fs, i % 2 ? "a" : "b", &info));
        CHECK(i == 0 || info.stamp > last);
        last = info.stamp;
        if (i % 10 == 4) { rig_remount(rig); }
        if (i % 10 == 9) { rig_restart(rig); }
    }
    rig_destroy(rig);
}

TEST(fstat_tells_name_size_and_stamp)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    struct rig_file *handle = rig_file_new(rig);
    struct fffs_info by_name, by_handle;

    CHECK_OK(rig_put(rig, "some/file.txt", rig_data(1), 777));
    CHECK_OK(fffs_stat(rig->fs, "some/file.txt", &by_name));
    CHECK_OK(rig_open(handle, "some/file.txt", FFFS_READ));
    rig_count(rig);
    CHECK_OK(fffs_fstat(rig->fs, handle->file, &by_handle));
    CHECK_LE(rig_reads(rig), 1);
    CHECK_EQ(by_handle.size, 777);
    CHECK_EQ(by_name.size, 777);
    CHECK_EQ(by_handle.stamp, by_name.stamp);
    CHECK_EQ(by_handle.name_length, 13);
    CHECK_STR(by_handle.name, "some/file.txt");
    CHECK_STR(by_name.name, "some/file.txt");
    CHECK_EQ(by_name.is_folder, 0);
    rig_destroy(rig);
}

TEST(map_without_driver_support_says_so)
{
    struct rig *rig = rig_mounted(rig_point_of(USUAL));
    struct rig_file *handle = rig_file_new(rig);
    const void *data;

    rig->flash.map = NULL;
    CHECK_OK(rig_put(rig, "a", rig_data(1), 100));
    CHECK_OK(rig_open(handle, "a", FFFS_READ));
    CHECK_STATUS(fffs_map(rig->fs, handle->file, 0, &data), FFFS_ERR_UNSUPPORTED);
    CHECK_OK(fffs_close(rig->fs, handle->file));
    rig_destroy(rig);
}

static uint8_t map_window[1024 * 1024];

static const void *peek_map(void *context, uint32_t address, uint32_t bytes)
{
    struct rig *rig = context;
    nor_peek(rig->nor, address, map_window + address, bytes);
    return map_window + address;
}

TEST(map_gives_the_bytes_in_place)
{
    struct rig *rig = rig_create(rig_point_of(USUAL));
    struct rig_file *handle = rig_file_new(rig);
    const void *data = NULL;
    uint32_t offset = 0;

    rig->flash.map = peek_map;
    CHECK_OK(rig_format(rig));
    CHECK_OK(rig_mount(rig));
    CHECK_OK(rig_put(rig, "first", rig_data(3), 77));
    CHECK_OK(rig_put(rig, "a", rig_data(1), 100000));
    CHECK_OK(rig_open(handle, "a", FFFS_READ));
    while (offset < 100000) {
        int32_t n = fffs_map(rig->fs, handle->file, offset, &data);
        CHECK(n > 0 && (uint32_t)n <= 100000 - offset);
        CHECK_MEM(data, rig_data(1) + offset, n);
        offset += (uint32_t)n;
    }
    CHECK(fffs_map(rig->fs, handle->file, 100000, &data) <= 0);
    CHECK(fffs_map(rig->fs, handle->file, 100001, &data) <= 0);
    CHECK_STATUS(fffs_map(rig->fs, handle->file, 0, NULL), FFFS_ERR_INVALID);
    CHECK_OK(fffs_close(rig->fs, handle->file));
    rig_destroy(rig);
}

/* A mapped segment is not erased while the handle is open, even when its file is gone. */
TEST(mapped_bytes_survive_until_close)
{
    struct rig *rig = rig_create(rig_point_of("s4096-g1-n32-seg4096-hash"));
    struct rig_file *handle = rig_file_new(rig);
    const void *data = NULL;
    uint8_t now[2000];
    int32_t n;

    rig->flash.map = peek_map;
    CHECK_OK(rig_format(rig));
    CHECK_OK(rig_mount(rig));
    CHECK_OK(rig_put(rig, "a", rig_data(1), 2000));
    CHECK_OK(rig_open(handle, "a", FFFS_READ));
    n = fffs_map(rig->fs, handle->file, 0, &data);
    CHECK_EQ(n, 2000);
    CHECK_OK(fffs_delete(rig->fs, "a"));
    churn(rig, 6000, 100);
    nor_peek(rig->nor, (uint32_t)((const uint8_t *)data - map_window), now, 2000);
    CHECK_MEM(now, rig_data(1), 2000);
    rig_check(rig);
    CHECK_OK(fffs_close(rig->fs, handle->file));
    rig_check(rig);
    rig_destroy(rig);
}

SUITE(handles)
{
    RUN_MATRIX_OF(c28_delete_while_open, RIG_SET_FEW);
    RUN_MATRIX_OF(c28_replace_while_open, RIG_SET_FEW);
    RUN(c28_deleted_file_reads_on_while_its_space_is_not_reused);
    RUN_MATRIX_OF(c29_changes_elsewhere_leave_an_open_writer_alone, RIG_SET_ROOMY);
    RUN(c29_own_name_deleted_while_writing);
    RUN_MATRIX_OF(c30_reader_next_to_a_writer, RIG_SET_FEW);
    RUN(c30_uncommitted_bytes_are_invisible);
    RUN(c31_handle_object_used_twice);
    RUN(c31_dir_object_used_twice);
    RUN(c32_calls_before_mount_say_not_mounted);
    RUN(c32_calls_after_unmount_say_not_mounted);
    RUN(c32_double_close_and_zeroed_handles_say_not_open);
    RUN(c32_handle_of_another_volume_is_not_open_here);
    RUN(c33_mount_when_mounted_is_refused_and_harmless);
    RUN(unmount_with_open_files_is_refused);
    RUN(c34_two_handles_with_one_buffer_are_refused);
    RUN_MATRIX_OF(c34_interleaved_writers_stay_apart, RIG_SET_ROOMY);
    RUN(c35_handles_do_not_leak_on_odd_paths);
    RUN(open_flags_follow_the_table);
    RUN(exclusive_is_checked_again_at_close);
    RUN(last_close_wins);
    RUN(readers_and_writers_refuse_each_others_calls);
    RUN(file_buffers_too_small_or_missing_are_refused);
    RUN(settle_leaves_open_writers_alone);
    RUN(settle_then_power_off_with_open_writer_reuses_nothing_wrongly);
    RUN(many_handles_at_once);
    RUN(stamps_grow_with_every_commit);
    RUN(fstat_tells_name_size_and_stamp);
    RUN(map_without_driver_support_says_so);
    RUN(map_gives_the_bytes_in_place);
    RUN(mapped_bytes_survive_until_close);
}

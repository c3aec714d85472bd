/* Calls that the rules of fastffs.h forbid: each is refused, and the volume goes on as if it had not been made. What handles
 * do after close is in test_handles.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "oracle.h"

/* A volume without lock hooks: with them it is up to the application's lock whether a call gets in at all. */
static struct rig *without_lock(const char *point)
{
    struct rig *rig = rig_mounted(rig_point_of(point));

    rig->config.lock = rig->config.unlock = NULL;
    return rig;
}

/* Every call of a mounted volume, from inside another one. */
static void all_calls_are_busy(struct rig *rig)
{
    static uint8_t buffer[256], byte;
    static struct fffs_file file;
    static struct fffs_dir dir;
    struct fffs_info info;
    struct fffs_space space;
    const void *data;

    CHECK_STATUS(fffs_open(rig->fs, &file, "a", FFFS_READ, buffer, sizeof buffer), FFFS_ERR_BUSY);
    CHECK_STATUS(fffs_read(rig->fs, &file, &byte, 1), FFFS_ERR_BUSY);
    CHECK_STATUS(fffs_write(rig->fs, &file, &byte, 1), FFFS_ERR_BUSY);
    CHECK_STATUS(fffs_seek(rig->fs, &file, 0, FFFS_SEEK_SET), FFFS_ERR_BUSY);
    CHECK_STATUS(fffs_tell(rig->fs, &file), FFFS_ERR_BUSY);
    CHECK_STATUS(fffs_fstat(rig->fs, &file, &info), FFFS_ERR_BUSY);
    CHECK_STATUS(fffs_map(rig->fs, &file, 0, &data), FFFS_ERR_BUSY);
    CHECK_STATUS(fffs_close(rig->fs, &file), FFFS_ERR_BUSY);
    CHECK_STATUS(fffs_discard(rig->fs, &file), FFFS_ERR_BUSY);
    CHECK_STATUS(fffs_stat(rig->fs, "a", &info), FFFS_ERR_BUSY);
    CHECK_STATUS(fffs_exists(rig->fs, "a"), FFFS_ERR_BUSY);
    CHECK_STATUS(fffs_delete(rig->fs, "a"), FFFS_ERR_BUSY);
    CHECK_STATUS(fffs_delete_prefix(rig->fs, "a"), FFFS_ERR_BUSY);
    CHECK_STATUS(fffs_dir_open(rig->fs, &dir, "", 0), FFFS_ERR_BUSY);
    CHECK_STATUS(fffs_dir_read(rig->fs, &dir, &info), FFFS_ERR_BUSY);
    CHECK_STATUS(fffs_dir_close(rig->fs, &dir), FFFS_ERR_BUSY);
    CHECK_STATUS(fffs_list(rig->fs, "", NULL, NULL), FFFS_ERR_BUSY);
    CHECK_STATUS(fffs_space(rig->fs, &space), FFFS_ERR_BUSY);
    CHECK_STATUS(fffs_gc_step(rig->fs, NULL, NULL), FFFS_ERR_BUSY);
    CHECK_STATUS(fffs_gc(rig->fs), FFFS_ERR_BUSY);
    CHECK_STATUS(fffs_settle(rig->fs), FFFS_ERR_BUSY);
    CHECK_STATUS(fffs_grow(rig->fs, 0), FFFS_ERR_BUSY);
    CHECK_STATUS(fffs_check(rig->fs, NULL, NULL), FFFS_ERR_BUSY);
    CHECK_STATUS(fffs_unmount(rig->fs), FFFS_ERR_BUSY);
    CHECK_STATUS(fffs_mount(rig->fs, &rig->config), FFFS_ERR_BUSY);
    CHECK_STATUS(fffs_format(rig->fs, &rig->config, NULL), FFFS_ERR_BUSY);
}

static unsigned calls_from_driver;

static void from_driver(struct rig *rig, enum nor_op op, uint32_t address, uint32_t bytes, const void *buffer)
{
    void (*again)(struct rig *, enum nor_op, uint32_t, uint32_t, const void *) = rig->on_call;

    (void)op, (void)address, (void)bytes, (void)buffer;
    rig->on_call = NULL;
    calls_from_driver++;
    all_calls_are_busy(rig);
    rig->on_call = again;
}

TEST(calls_from_inside_the_driver_are_refused)
{
    struct rig *rig = without_lock("s4096-g1-n64-seg4096-none");
    unsigned i;
    char name[16];

    rig->on_call = from_driver;
    for (i = 0; i < 60; i++) {
        sprintf(name, "a%u", i % 5);
        CHECK_OK(rig_put(rig, name, rig_data(i), 8000));
        if (i % 7 == 6) { CHECK_OK(fffs_delete(rig->fs, name)); }
    }
    CHECK_OK(fffs_gc(rig->fs));
    rig_expect(rig, "a4", rig_data(59), 8000);
    CHECK(calls_from_driver > 500);
    rig->on_call = NULL;
    rig_check(rig);
    rig_restart(rig);
    rig_expect(rig, "a4", rig_data(59), 8000);
    rig_destroy(rig);
}

static int from_listing(void *context, const struct fffs_info *info)
{
    (void)info;
    calls_from_driver++;
    all_calls_are_busy(context);
    return 0;
}

TEST(calls_from_a_listing_are_refused)
{
    struct rig *rig = without_lock("s4096-g1-n64-hash");

    CHECK_OK(rig_put(rig, "a", rig_data(1), 100));
    CHECK_OK(rig_put(rig, "b", rig_data(2), 100));
    calls_from_driver = 0;
    CHECK_OK(fffs_list(rig->fs, NULL, from_listing, rig));
    CHECK_EQ(calls_from_driver, 2);
    rig_expect(rig, "a", rig_data(1), 100);
    CHECK_OK(rig_unmount(rig));
    rig_destroy(rig);
}

/* After a refused call, after every error, the next call is not refused. */
TEST(an_error_leaves_nobody_inside)
{
    struct rig *rig = rig_mounted(rig_point_of("s4096-g1-n64-hash"));
    struct fffs_info info;

    CHECK_STATUS(fffs_stat(rig->fs, NULL, &info), FFFS_ERR_BAD_NAME);
    CHECK_STATUS(fffs_stat(rig->fs, "a", NULL), FFFS_ERR_INVALID);
    CHECK_STATUS(fffs_delete(rig->fs, "a"), FFFS_ERR_NOT_FOUND);
    CHECK_STATUS(fffs_list(rig->fs, "", NULL, NULL), FFFS_ERR_INVALID);
    CHECK_STATUS(fffs_grow(rig->fs, 1), FFFS_ERR_INVALID);
    CHECK_EQ(fffs_exists(rig->fs, "a"), 0);
    CHECK_OK(rig_unmount(rig));
    rig_destroy(rig);
}

SUITE(misuse)
{
    RUN(calls_from_inside_the_driver_are_refused);
    RUN(calls_from_a_listing_are_refused);
    RUN(an_error_leaves_nobody_inside);
}

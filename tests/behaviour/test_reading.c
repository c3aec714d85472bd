/* The calls that reach nothing that writes (fffs_mount_reading and so on) show what the others show. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "oracle.h"
#include "rig.h"

enum { FILES = 9 };

static const char *name_of(unsigned i)
{
    static char name[24];
    snprintf(name, sizeof name, "r/file%u", i);
    return name;
}

static uint32_t largest; /* what each of the files may take in this volume */

static uint32_t size_of(unsigned i)
{
    static const uint16_t sizes[] = { 0, 1, 40, 300, 700, 1500, 4000, 257, 16 };
    return sizes[i] < largest ? sizes[i] : largest;
}

static void expect_through_reading(struct rig *rig, struct rig_file *handle, unsigned i, uint32_t seed)
{
    const uint8_t *data = rig_data(seed);
    uint32_t size = size_of(i), done = 0;
    uint8_t part[100];
    struct fffs_info info;

    CHECK_OK(fffs_stat(rig->fs, name_of(i), &info));
    CHECK_EQ(info.size, size);
    CHECK_OK(fffs_open_reading(rig->fs, handle->file, name_of(i), handle->buffer, handle->buffer_bytes));
    CHECK_STATUS(fffs_open_reading(rig->fs, handle->file, name_of(i), handle->buffer, handle->buffer_bytes), FFFS_ERR_BUSY);
    while (done < size) {
        int32_t count = fffs_read(rig->fs, handle->file, part, sizeof part);
        CHECK(count > 0);
        CHECK_MEM(part, data + done, (uint32_t)count);
        done += (uint32_t)count;
    }
    CHECK_EQ(fffs_read(rig->fs, handle->file, part, sizeof part), 0);
    CHECK_EQ(fffs_seek(rig->fs, handle->file, (int32_t)(size / 2), FFFS_SEEK_SET), size / 2);
    if (size > 1) {
        CHECK_EQ(fffs_read(rig->fs, handle->file, part, 1), 1);
        CHECK_EQ(part[0], data[size / 2]);
    }
    CHECK_STATUS(fffs_unmount_reading(rig->fs), FFFS_ERR_BUSY);
    CHECK_OK(fffs_close_reading(rig->fs, handle->file));
    CHECK_STATUS(fffs_close_reading(rig->fs, handle->file), FFFS_ERR_NOT_OPEN);
}

/* The volume as it is on flash now, through the reading calls: file i has the content of seeds[i]. */
static void expect_all(struct rig *rig, const uint32_t *seeds)
{
    struct rig_file *handle = rig_file_new(rig);
    unsigned i;
    uint32_t flags = rig->config.flags;
    struct fffs_info info;

    rig_count(rig);
    rig->config.flags = FFFS_MOUNT_READ_ONLY;
    CHECK_OK(fffs_mount_reading(rig->fs, &rig->config));
    CHECK_STATUS(fffs_mount_reading(rig->fs, &rig->config), FFFS_ERR_BUSY);
    for (i = 0; i < FILES; i++) {
        harness_note("file %u", i);
        expect_through_reading(rig, handle, i, seeds[i]);
    }
    CHECK_STATUS(fffs_open_reading(rig->fs, handle->file, "r/none", handle->buffer, handle->buffer_bytes),
                 FFFS_ERR_NOT_FOUND);
    CHECK_STATUS(fffs_open_reading(rig->fs, handle->file, "", handle->buffer, handle->buffer_bytes), FFFS_ERR_BAD_NAME);
    CHECK_STATUS(fffs_open_reading(rig->fs, NULL, "a", handle->buffer, handle->buffer_bytes), FFFS_ERR_INVALID);
    CHECK_STATUS(fffs_stat(rig->fs, "r/none", &info), FFFS_ERR_NOT_FOUND);
    /* Mixed with the others: they refuse to change anything. */
    CHECK_STATUS(fffs_delete(rig->fs, name_of(0)), FFFS_ERR_READ_ONLY);
    CHECK_STATUS(rig_open(handle, "x", RIG_WRITER), FFFS_ERR_READ_ONLY);
    rig->mounted = 1;
    CHECK_EQ(rig_names(rig, "r/"), FILES);
    rig->mounted = 0;
    CHECK_OK(fffs_unmount_reading(rig->fs));
    CHECK_STATUS(fffs_unmount_reading(rig->fs), FFFS_ERR_NOT_MOUNTED);
    CHECK_EQ(rig_changes(rig), 0);
    rig->config.flags = flags;
    rig_file_free(handle);
}

TEST_AT(reading_alone_shows_what_mount_shows)
{
    struct rig *rig = rig_mounted(point);
    uint32_t seeds[FILES];
    unsigned i, round;

    largest = rig_share(rig, FILES + 2, 4000);
    if (largest == 0) { harness_skip("no room for so many files"); }
    for (i = 0; i < FILES; i++) {
        seeds[i] = i;
        CHECK_OK(rig_put(rig, name_of(i), rig_data(seeds[i]), size_of(i)));
    }
    CHECK_OK(rig_unmount(rig));
    expect_all(rig, seeds);
    for (round = 1; round < 4; round++) {
        CHECK_OK(rig_mount(rig));
        for (i = round % 2; i < FILES; i += 2) {
            seeds[i] = i + round * 20u;
            CHECK_OK(rig_put(rig, name_of(i), rig_data(seeds[i]), size_of(i)));
        }
        rig_crash(rig);
        expect_all(rig, seeds); /* unclean */
    }
    CHECK_OK(rig_mount(rig));
    for (i = 0; i < FILES; i++) { rig_expect(rig, name_of(i), rig_data(seeds[i]), size_of(i)); }
    rig_check(rig);
    rig_destroy(rig);
}

/* A replace cut at each of its programs: the reading mount shows the old or the new version, twice the same. */
TEST(reading_alone_after_each_cut)
{
    uint64_t cut;
    int ended = 0;

    for (cut = 0; !ended && cut < 40; cut++) {
        struct rig *rig = rig_mounted(rig_point_of("s4096-g1-n256-hash"));
        struct rig_file *handle;
        uint8_t first, again;

        CHECK_OK(rig_put(rig, "a", rig_data(1), 5000));
        nor_cut_at(rig->nor, cut, 1);
        ended = rig_put(rig, "a", rig_data(2), 5000) == FFFS_OK;
        rig_crash(rig);
        rig_power_on(rig);
        rig->config.flags |= FFFS_MOUNT_READ_ONLY;
        handle = rig_file_new(rig);
        CHECK_OK(fffs_mount_reading(rig->fs, &rig->config));
        CHECK_OK(fffs_open_reading(rig->fs, handle->file, "a", handle->buffer, handle->buffer_bytes));
        CHECK_EQ(fffs_read(rig->fs, handle->file, &first, 1), 1);
        CHECK_OK(fffs_close_reading(rig->fs, handle->file));
        CHECK_OK(fffs_unmount_reading(rig->fs));
        CHECK(first == rig_data(1)[0] || first == rig_data(2)[0]);
        rig->config.flags &= ~(uint32_t)FFFS_MOUNT_READ_ONLY;
        CHECK_OK(rig_mount(rig));
        CHECK_EQ(rig_holds(rig, "a", rig_data(first == rig_data(1)[0] ? 1 : 2), 5000), 1);
        again = (uint8_t)ended;
        CHECK(!again || first == rig_data(2)[0]);
        rig_file_free(handle);
        rig_destroy(rig);
    }
    CHECK(ended && cut > 2);
}

TEST(reading_alone_checks_its_arguments)
{
    struct rig *rig = rig_create(rig_point_of("s4096-g1-n256-hash"));
    struct rig_file *handle = rig_file_new(rig);

    CHECK_STATUS(fffs_mount_reading(NULL, &rig->config), FFFS_ERR_INVALID);
    CHECK_STATUS(fffs_mount_reading(rig->fs, NULL), FFFS_ERR_INVALID);
    CHECK_STATUS(fffs_mount_reading(rig->fs, &rig->config), FFFS_ERR_INVALID); /* not read-only */
    rig->config.flags |= FFFS_MOUNT_READ_ONLY;
    CHECK_STATUS(fffs_mount_reading(rig->fs, &rig->config), FFFS_ERR_BLANK);
    CHECK_STATUS(fffs_open_reading(rig->fs, handle->file, "a", handle->buffer, handle->buffer_bytes), FFFS_ERR_NOT_MOUNTED);
    CHECK_STATUS(fffs_unmount_reading(NULL), FFFS_ERR_INVALID);
    rig->config.flags &= ~(uint32_t)FFFS_MOUNT_READ_ONLY;
    CHECK_OK(rig_format(rig));
    CHECK_OK(rig_mount(rig));
    CHECK_STATUS(fffs_unmount_reading(rig->fs), FFFS_ERR_INVALID); /* that mount may have something to settle */
    CHECK_OK(rig_open(handle, "a", RIG_WRITER));
    CHECK_STATUS(fffs_close_reading(rig->fs, handle->file), FFFS_ERR_WRITE_ONLY);
    CHECK_OK(rig_close(handle));
    CHECK_EQ(rig->lock_depth, 0);
    rig_file_free(handle);
    rig_destroy(rig);
}

SUITE(reading)
{
    RUN_MATRIX(reading_alone_shows_what_mount_shows);
    RUN(reading_alone_after_each_cut);
    RUN(reading_alone_checks_its_arguments);
}

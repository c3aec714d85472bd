/* The glue to Zephyr's file system interface, on stubs, on the emulated flash. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/nor_fault.h"
#include "fastffs_zephyr/fastffs.h"
#include "harness.h"
#include "ports/zephyr/stubs/stub_zephyr.h"

#include <zephyr/init.h>

enum { MIB = 1024 * 1024 };

FASTFFS_DECLARE_DEFAULT_CONFIG(storage);
static struct fs_mount_t mount = {
    .type = FS_FASTFFS, .fs_data = &storage, .mnt_point = "/data",
    .storage_dev = (void *)FIXED_PARTITION_ID(storage_partition)
};

static struct nor *device(uint32_t granule, uint32_t offset)
{
    struct nor_config config;
    struct nor *nor;

    memset(&config, 0, sizeof config);
    config.size_bytes = MIB;
    config.granule_bytes = granule;
    config.block_offset_bytes = offset % 65536u;
    config.no_blank_check = 1;
    nor = nor_create(&config);
    stub_flash(nor, offset, 4096);
    CHECK_EQ(stub_sys_init(), 0);
    return nor;
}

static struct nor *mounted(void)
{
    struct nor *nor = device(1, 0x9000);

    CHECK_EQ(fs_mount(&mount), 0);
    return nor;
}

static void put(const char *path, const void *data, size_t bytes)
{
    struct fs_file_t file;

    fs_file_t_init(&file);
    CHECK_EQ(fs_open(&file, path, FS_O_WRITE | FS_O_CREATE | FS_O_TRUNC), 0);
    CHECK_EQ(fs_write(&file, data, bytes), bytes);
    CHECK_EQ(fs_close(&file), 0);
}

static void expect(const char *path, const void *data, size_t bytes)
{
    struct fs_file_t file;
    char *got = malloc(bytes + 1);

    fs_file_t_init(&file);
    CHECK(got != NULL);
    CHECK_EQ(fs_open(&file, path, FS_O_READ), 0);
    CHECK_EQ(fs_read(&file, got, bytes + 1), bytes);
    CHECK_MEM(got, data, bytes);
    CHECK_EQ(fs_close(&file), 0);
    free(got);
}

TEST(read_write_seek_tell_truncate)
{
    struct fs_file_t file;
    char text[8] = "";

    (void)mounted();
    fs_file_t_init(&file);
    CHECK_EQ(fs_open(&file, "/data/a", FS_O_RDWR | FS_O_CREATE), 0);
    CHECK_EQ(fs_write(&file, "hello", 5), 5);
    CHECK_EQ(fs_tell(&file), 5);
    CHECK_EQ(fs_sync(&file), -ENOTSUP);
    CHECK_EQ(fs_close(&file), 0);
    CHECK_EQ(fs_open(&file, "/data/a", FS_O_RDWR | FS_O_CREATE), 0);
    CHECK_EQ(fs_sync(&file), 0);
    CHECK_EQ(fs_read(&file, text, 2), 2);
    CHECK_EQ(fs_seek(&file, -1, FS_SEEK_END), 0);
    CHECK_EQ(fs_tell(&file), 4);
    CHECK_EQ(fs_read(&file, text, 8), 1);
    CHECK_EQ(text[0], 'o');
    CHECK_EQ(fs_seek(&file, -9, FS_SEEK_CUR), -EINVAL);
    CHECK_EQ(fs_seek(&file, 0, 7), -EINVAL);
    CHECK_EQ(fs_seek(&file, 0, FS_SEEK_SET), 0);
    CHECK_EQ(fs_write(&file, "J", 1), 1);
    CHECK_EQ(fs_truncate(&file, 7), 0);
    CHECK_EQ(fs_truncate(&file, -1), -EINVAL);
    CHECK_EQ(fs_close(&file), 0);
    expect("/data/a", "Jello\0\0", 7);
    CHECK_EQ(fs_open(&file, "/data/a", FS_O_WRITE | FS_O_APPEND), 0);
    CHECK_EQ(fs_write(&file, "!", 1), 1);
    CHECK_EQ(fs_close(&file), 0);
    expect("/data/a", "Jello\0\0!", 8);
    CHECK_EQ(stub_blocks_used, 0);
}

TEST(names_folders_stat)
{
    struct fs_dirent entry;
    struct fs_dir_t dir;
    struct fs_statvfs stat;
    int files = 0, folders = 0;

    (void)mounted();
    put("/data/x", "1", 1);
    put("/data/log/a", "12", 2);
    put("/data/log/b", "3", 1);
    CHECK_EQ(fs_stat("/data/log/a", &entry), 0);
    CHECK_STR(entry.name, "a");
    CHECK_EQ(entry.size, 2);
    CHECK_EQ(entry.type, FS_DIR_ENTRY_FILE);
    CHECK_EQ(fs_stat("/data/log", &entry), 0);
    CHECK_EQ(entry.type, FS_DIR_ENTRY_DIR);
    CHECK_EQ(fs_stat("/data/none", &entry), -ENOENT);
    fs_dir_t_init(&dir);
    CHECK_EQ(fs_opendir(&dir, "/data"), 0);
    while (fs_readdir(&dir, &entry) == 0 && entry.name[0] != '\0') {
        files += entry.type == FS_DIR_ENTRY_FILE;
        folders += entry.type == FS_DIR_ENTRY_DIR;
    }
    CHECK_EQ(fs_closedir(&dir), 0);
    CHECK_EQ(files, 1);
    CHECK_EQ(folders, 1);
    CHECK_EQ(fs_opendir(&dir, "/data/x"), -ENOTDIR);
    CHECK_EQ(fs_opendir(&dir, "/data/none"), -ENOENT);
    CHECK_EQ(fs_mkdir("/data/log"), -EEXIST);
    CHECK_EQ(fs_mkdir("/data/new"), 0);
    CHECK_EQ(fs_stat("/data/new", &entry), 0);
    CHECK_EQ(fs_unlink("/data/new"), 0);
    CHECK_EQ(fs_unlink("/data/log"), -ENOTEMPTY);
    CHECK_EQ(fs_unlink("/data/log/a"), 0);
    CHECK_EQ(fs_unlink("/data/log/a"), -ENOENT);
    CHECK_EQ(fs_rename("/data/none", "/data/y"), -ENOENT);
    CHECK_EQ(fs_rename("/data/log/b", "/data/x"), 0); /* over what is there */
    expect("/data/x", "3", 1);
    CHECK_EQ(fs_stat("/data/log/b", &entry), -ENOENT);
    CHECK_EQ(fs_statvfs("/data", &stat), 0);
    CHECK_EQ(stat.f_frsize, 4096);
    CHECK(stat.f_blocks > 150 && stat.f_blocks < 256 && stat.f_bfree + 1 >= stat.f_blocks);
    {
        static uint8_t data[65536];
        put("/data/large", data, sizeof data);
    }
    CHECK_EQ(fs_statvfs("/data", &stat), 0);
    CHECK(stat.f_bfree + 16 <= stat.f_blocks);
    CHECK_EQ(stub_blocks_used, 0);
}

/* A name that does not fit Zephyr's entry is an error and is not cut; the listing goes on. */
TEST(long_names_are_not_cut)
{
    static const char longest[] = "/data/0123456789012345678901234567890123456789012345678901234567890123";
    struct fs_dirent entry;
    struct fs_dir_t dir;
    struct fs_file_t file;
    int status, errors = 0, seen = 0;

    (void)mounted();
    put(longest, "x", 1);
    put("/data/short", "x", 1);
    CHECK_EQ(strlen(longest) - 6, FFFS_NAME_MAX);
    CHECK_EQ(fs_stat(longest, &entry), -ENAMETOOLONG);
    fs_dir_t_init(&dir);
    CHECK_EQ(fs_opendir(&dir, "/data"), 0);
    while ((status = fs_readdir(&dir, &entry)) != 0 || entry.name[0] != '\0') {
        errors += status == -ENAMETOOLONG;
        seen += status == 0;
    }
    CHECK_EQ(errors, 1);
    CHECK_EQ(seen, 1);
    CHECK_EQ(fs_closedir(&dir), 0);
    fs_file_t_init(&file);
    CHECK_EQ(fs_open(&file, "/data/00123456789012345678901234567890123456789012345678901234567890123", FS_O_WRITE | FS_O_CREATE),
             -ENAMETOOLONG);
}

TEST(c77_errors)
{
    struct fs_file_t file, more[CONFIG_FASTFFS_NUM_FILES];
    struct nor *nor = mounted();
    static char data[4096];
    ssize_t done;
    int i;

    fs_file_t_init(&file);
    put("/data/f", "old", 3);
    CHECK_EQ(fs_open(&file, "/data/none", FS_O_READ), -ENOENT);
    CHECK_EQ(fs_open(&file, "/data/none", FS_O_WRITE), -ENOENT);
    CHECK_EQ(fs_open(&file, "/data", FS_O_READ), -EISDIR);
    CHECK_EQ(fs_open(&file, "/data/../f", FS_O_READ), -EINVAL);
    CHECK_EQ(fs_open(&file, "/data/f", FS_O_READ), 0);
    CHECK_EQ(fs_write(&file, "x", 1), -EBADF);
    CHECK_EQ(fs_truncate(&file, 0), -EBADF);
    CHECK_EQ(fs_close(&file), 0);
    CHECK_EQ(fs_open(&file, "/data/f", FS_O_WRITE | FS_O_TRUNC), 0);
    CHECK_EQ(fs_read(&file, data, 1), -EBADF);
    while ((done = fs_write(&file, data, sizeof data)) == (ssize_t)sizeof data)
        ;
    CHECK_EQ(done, -ENOSPC);
    CHECK_EQ(fs_close(&file), -ENOSPC);
    expect("/data/f", "old", 3);
    for (i = 0; i < CONFIG_FASTFFS_NUM_FILES; i++) {
        fs_file_t_init(&more[i]);
        CHECK_EQ(fs_open(&more[i], "/data/f", FS_O_READ), 0);
    }
    CHECK_EQ(fs_open(&file, "/data/f", FS_O_READ), -ENOMEM);
    CHECK_EQ(fs_unmount(&mount), -EBUSY);
    for (i = 0; i < CONFIG_FASTFFS_NUM_FILES; i++)
        CHECK_EQ(fs_close(&more[i]), 0);
    stub_flash_fail_after(0);
    CHECK_EQ(fs_unlink("/data/f"), -EIO);
    stub_flash_fail_after(-1);
    CHECK_EQ(fs_unmount(&mount), 0);
    mount.flags = FS_MOUNT_FLAG_READ_ONLY;
    CHECK_EQ(fs_mount(&mount), 0);
    i = (int)nor_mutations(nor);
    CHECK_EQ(fs_open(&file, "/data/f", FS_O_WRITE), -EROFS);
    CHECK_EQ(fs_unlink("/data/f"), -EROFS);
    CHECK_EQ(fs_mkdir("/data/m"), -EROFS);
    CHECK_EQ(fs_rename("/data/f", "/data/g"), -EROFS);
    expect("/data/f", "old", 3);
    CHECK_EQ(fs_unmount(&mount), 0);
    CHECK_EQ(nor_mutations(nor), i);
    CHECK_EQ(stub_areas_open, 0);
    CHECK_EQ(stub_blocks_used, 0);
}

TEST(c33_mount_when_mounted)
{
    static struct fs_mount_t other;
    struct fs_file_t file;
    char text[4];

    (void)mounted();
    put("/data/f", "abc", 3);
    fs_file_t_init(&file);
    CHECK_EQ(fs_open(&file, "/data/f", FS_O_READ), 0);
    CHECK_EQ(fs_mount(&mount), -EBUSY);
    other = mount;
    other.mnt_point = "/other";
    CHECK_EQ(fs_mount(&other), -EBUSY);
    CHECK_EQ(fs_read(&file, text, 4), 3);
    CHECK_MEM(text, "abc", 3);
    CHECK_EQ(fs_close(&file), 0);
    CHECK_EQ(stub_areas_open, 1);
}

TEST(c54_formats_blank_only)
{
    struct nor *nor = device(1, 0);
    uint64_t before;

    mount.flags = FS_MOUNT_FLAG_NO_FORMAT;
    CHECK_EQ(fs_mount(&mount), -ENODATA);
    CHECK_STATUS(storage.mount_status, FFFS_ERR_BLANK);
    CHECK_EQ(nor_mutations(nor), 0);
    mount.flags = 0;
    CHECK_EQ(fs_mount(&mount), 0);
    CHECK(storage.formatted);
    put("/data/f", "abc", 3);
    CHECK_EQ(fs_unmount(&mount), 0);
    before = nor_mutations(nor);
    stub_flash_fail_after(1);
    CHECK_EQ(fs_mount(&mount), -EIO);
    stub_flash_fail_after(-1);
    CHECK(!storage.formatted);
    CHECK_EQ(nor_mutations(nor), before);
    CHECK_EQ(fs_mount(&mount), 0);
    CHECK(!storage.formatted);
    expect("/data/f", "abc", 3);
    CHECK_EQ(fs_unmount(&mount), 0);
    nor_fill(nor, 0x42);
    before = nor_mutations(nor);
    CHECK_EQ(fs_mount(&mount), -EILSEQ);
    CHECK_EQ(nor_mutations(nor), before);
    storage.format_foreign = 1;
    CHECK_EQ(fs_mount(&mount), 0);
    CHECK(storage.formatted);
    CHECK_EQ(fs_unmount(&mount), 0);
    CHECK_EQ(stub_areas_open, 0);
}

TEST(c54_first_boot_cut_everywhere)
{
    struct nor *nor = device(4, 0x9000);
    enum nor_fault_kind kind;

    for (kind = NOR_FAULT_BEFORE; kind <= NOR_FAULT_WEAK_BLANK; kind++) {
        uint64_t n;
        int cut = 1;

        for (n = 0; cut; n++) {
            harness_note("operation %u, fault %d", (unsigned)n, (int)kind);
            nor_fill_erased(nor);
            nor_fault_at(nor, n, 1u << NOR_PROGRAM | 1u << NOR_ERASE, kind, n + 1);
            if (fs_mount(&mount) == 0)
                (void)fs_unmount(&mount);
            cut = nor_is_off(nor);
            nor_power_on(nor);
            nor_fault_clear(nor);
            CHECK_EQ(fs_mount(&mount), 0);
            put("/data/f", "abc", 3);
            CHECK_EQ(fs_unmount(&mount), 0);
        }
        CHECK(n > 2);
    }
}

static unsigned progress_calls;

static void count_progress(void *context, uint32_t done, uint32_t total)
{
    CHECK(context == &progress_calls);
    CHECK(total == 0 || done <= total);
    progress_calls++;
}

TEST(c74_progress_at_every_erase)
{
    struct nor *nor = device(1, 0);
    static uint8_t data[60000];
    char path[16];
    int i, steps = 0;

    nor_fill(nor, 0);
    storage.format_foreign = 1;
    storage.progress = count_progress;
    storage.progress_context = &progress_calls;
    CHECK_EQ(fs_mount(&mount), 0);
    for (i = 0; i < 40; i++) {
        snprintf(path, sizeof path, "/data/%d", i % 5);
        put(path, data, sizeof data);
    }
    while ((i = fastffs_collect(&mount)) > 0)
        steps++;
    CHECK_EQ(i, 0);
    CHECK(steps > 0);
    CHECK(nor_counts(nor)->calls[NOR_ERASE] > 10);
    CHECK_LE(nor_counts(nor)->calls[NOR_ERASE], progress_calls);
}

TEST(driver_declares_the_area)
{
    struct nor *nor = device(8, 0x9000);
    const struct flash_area *area;
    struct fffs_flash flash;

    CHECK_EQ(flash_area_open(FIXED_PARTITION_ID(storage_partition), &area), 0);
    CHECK_EQ(fastffs_area_init(&flash, area), 0);
    CHECK_EQ(flash.size_bytes, MIB);
    CHECK_EQ(flash.granule_bytes, 8);
    CHECK_EQ(flash.erase_bytes[0], 4096);
    CHECK_EQ(flash.erase_bytes[1], 65536);
    CHECK_EQ(flash.block_offset_bytes, 0x9000);
    stub_flash_erased_value(0);
    CHECK_EQ(fastffs_area_init(&flash, area), -ENOTSUP);
    flash_area_close(area);
    CHECK_EQ(fs_mount(&mount), -ENOTSUP);
    CHECK_EQ(stub_areas_open, 0);
    mount.flags = FS_MOUNT_FLAG_USE_DISK_ACCESS;
    CHECK_EQ(fs_mount(&mount), -ENOTSUP);
    (void)nor;
}

TEST(mkfs_and_storage_id)
{
    struct fs_dirent entry;

    (void)mounted();
    put("/data/f", "x", 1);
    CHECK_EQ(fs_mkfs(FS_FASTFFS, FIXED_PARTITION_ID(storage_partition), &storage, 0), -EBUSY);
    CHECK_EQ(fs_unmount(&mount), 0);
    CHECK_EQ(fs_mkfs(FS_FASTFFS, FIXED_PARTITION_ID(storage_partition), NULL, 0), -EINVAL);
    CHECK_EQ(fs_mkfs(FS_FASTFFS, FIXED_PARTITION_ID(storage_partition), &storage, 0), 0);
    mount.flags = FS_MOUNT_FLAG_NO_FORMAT;
    CHECK_EQ(fs_mount(&mount), 0);
    CHECK_EQ(fs_stat("/data/f", &entry), -ENOENT);
    CHECK_EQ(fs_unmount(&mount), 0);
    mount.storage_dev = (void *)9;
    CHECK_EQ(fs_mount(&mount), -ENOENT);
    CHECK_EQ(stub_areas_open, 0);
}

int sample_main(void);

TEST(sample_counts_boots)
{
    struct nor *nor = device(1, 0);
    int i;

    for (i = 0; i < 11; i++)
        CHECK_EQ(sample_main(), 0);
    CHECK_EQ(fs_mount(&mount), 0);
    expect("/data/boots", "11", 2);
    (void)nor;
}

SUITE(zephyr)
{
    RUN(read_write_seek_tell_truncate);
    RUN(names_folders_stat);
    RUN(long_names_are_not_cut);
    RUN(c77_errors);
    RUN(c33_mount_when_mounted);
    RUN(c54_formats_blank_only);
    RUN(c54_first_boot_cut_everywhere);
    RUN(c74_progress_at_every_erase);
    RUN(driver_declares_the_area);
    RUN(mkfs_and_storage_id);
    RUN(sample_counts_boots);
}

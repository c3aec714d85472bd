/* Stub. */
#ifndef STUB_ZEPHYR_FS_H
#define STUB_ZEPHYR_FS_H

#include <stddef.h>
#include <sys/types.h>
#include <zephyr/fs/fs_interface.h>
#include <zephyr/kernel.h>

struct fs_file_system_t;
enum fs_dir_entry_type { FS_DIR_ENTRY_FILE = 0, FS_DIR_ENTRY_DIR };
enum { FS_FATFS = 0, FS_LITTLEFS, FS_EXT2, FS_TYPE_EXTERNAL_BASE };

#define FS_MOUNT_FLAG_NO_FORMAT BIT(0)
#define FS_MOUNT_FLAG_READ_ONLY BIT(1)
#define FS_MOUNT_FLAG_AUTOMOUNT BIT(2)
#define FS_MOUNT_FLAG_USE_DISK_ACCESS BIT(3)

struct fs_mount_t {
    int type;
    const char *mnt_point;
    void *fs_data;
    void *storage_dev;
    size_t mountp_len;
    const struct fs_file_system_t *fs;
    uint8_t flags;
};

struct fs_dirent { enum fs_dir_entry_type type; char name[MAX_FILE_NAME + 1]; size_t size; };
struct fs_statvfs { unsigned long f_bsize, f_frsize, f_blocks, f_bfree; };

#define FS_O_READ 0x01
#define FS_O_WRITE 0x02
#define FS_O_RDWR (FS_O_READ | FS_O_WRITE)
#define FS_O_CREATE 0x10
#define FS_O_APPEND 0x20
#define FS_O_TRUNC 0x40
#define FS_SEEK_SET 0
#define FS_SEEK_CUR 1
#define FS_SEEK_END 2

static inline void fs_file_t_init(struct fs_file_t *zfp) { *zfp = (struct fs_file_t){ 0 }; }
static inline void fs_dir_t_init(struct fs_dir_t *zdp) { *zdp = (struct fs_dir_t){ 0 }; }

int fs_register(int type, const struct fs_file_system_t *fs);
int fs_mount(struct fs_mount_t *mp);
int fs_unmount(struct fs_mount_t *mp);
int fs_open(struct fs_file_t *zfp, const char *file_name, fs_mode_t flags);
int fs_close(struct fs_file_t *zfp);
ssize_t fs_read(struct fs_file_t *zfp, void *ptr, size_t size);
ssize_t fs_write(struct fs_file_t *zfp, const void *ptr, size_t size);
int fs_seek(struct fs_file_t *zfp, off_t offset, int whence);
off_t fs_tell(struct fs_file_t *zfp);
int fs_truncate(struct fs_file_t *zfp, off_t length);
int fs_sync(struct fs_file_t *zfp);
int fs_unlink(const char *path);
int fs_rename(const char *from, const char *to);
int fs_mkdir(const char *path);
int fs_opendir(struct fs_dir_t *zdp, const char *path);
int fs_readdir(struct fs_dir_t *zdp, struct fs_dirent *entry);
int fs_closedir(struct fs_dir_t *zdp);
int fs_stat(const char *path, struct fs_dirent *entry);
int fs_statvfs(const char *path, struct fs_statvfs *stat);
int fs_mkfs(int type, uintptr_t dev_id, void *cfg, int flags);

#endif

/* What a POSIX-shaped layer (ESP-IDF VFS, Zephyr, ...) needs on top of the core: paths, open flags, folders, errno.
 *
 * Owns no memory but the structs below, which the port provides. Results are 0 or a count, or a negative errno. The port
 * locks: no two calls on one volume at a time.
 *
 * FASTFFS replaces files whole. A descriptor that writes makes a new version beside the old one; the close is the commit.
 * What the new version keeps of the old one (append, or overwriting a part) is copied: it costs flash writes. The
 * position of a descriptor that has written can go forward only. After a failed write the descriptor can only be closed:
 * close then reports the same error, and the old version stands.
 *
 * A folder is what names before a '/' have in common: it is there as long as a file is in it. An empty folder made by
 * mkdir is remembered in RAM until unmount, if the port gives room for it.
 */
#ifndef FFFS_POSIX_H
#define FFFS_POSIX_H

#include "fastffs/fastffs.h"

#ifdef __cplusplus
extern "C" {
#endif

struct fffs_posix {
    struct fffs *fs;               /* mounted */
    void *copy;                    /* work buffer for copying, at least 16 bytes; 512 suits */
    uint32_t copy_bytes;
    char (*made)[FFFS_NAME_MAX + 1]; /* folders made by mkdir; may be NULL */
    uint32_t made_count;           /* room in `made` */
    int read_only;                 /* as mounted */
};

enum fffs_posix_flags {
    FFFS_POSIX_READ = 1, FFFS_POSIX_WRITE = 2, FFFS_POSIX_CREATE = 4, FFFS_POSIX_TRUNCATE = 8, FFFS_POSIX_EXCLUSIVE = 16,
    FFFS_POSIX_APPEND = 32
};

/* Zeroed before first use but for the buffers, which the port provides: both at least FFFS_FILE_BUFFER_MIN bytes and one
 * granule. The second serves the old version while a new one is written. */
struct fffs_posix_file {
    void *buffer, *old_buffer;
    uint32_t buffer_bytes, old_buffer_bytes;
    /* Private. */
    struct fffs_file writer, reader;
    char name[FFFS_NAME_MAX + 1];
    uint32_t position;
    uint32_t written;              /* bytes of the new version */
    uint32_t old_bytes;            /* bytes of the old version that the new one keeps where it is not overwritten */
    uint8_t flags;
    uint8_t has_writer, has_reader;
    int failed;                    /* errno of what failed in writing */
};

struct fffs_posix_dir {
    struct fffs_dir dir;
    char prefix[FFFS_NAME_MAX + 2];
    uint32_t prefix_bytes;
    uint32_t made_next;
    uint32_t position;             /* entries returned */
};

/* The one table from the library's status to errno; 0 for FFFS_OK and counts. */
int fffs_posix_errno(int status);
/* Turns a path into a file name: leading, double and trailing '/' and "." go away, the root is "". -EINVAL for "..",
 * -ENAMETOOLONG. Else 1 when the path ended with '/', 0 when not. */
int fffs_posix_name(char name[FFFS_NAME_MAX + 1], const char *path);

int fffs_posix_open(struct fffs_posix *volume, struct fffs_posix_file *file, const char *path, unsigned flags);
int fffs_posix_close(struct fffs_posix *volume, struct fffs_posix_file *file);
int32_t fffs_posix_read(struct fffs_posix *volume, struct fffs_posix_file *file, void *buffer, uint32_t bytes);
int32_t fffs_posix_write(struct fffs_posix *volume, struct fffs_posix_file *file, const void *data, uint32_t bytes);
/* Moves the position, also beyond the end; returns it. */
int32_t fffs_posix_seek(struct fffs_posix *volume, struct fffs_posix_file *file, int32_t offset, int whence);
/* -EINVAL when something was written: nothing is durable before close. */
int fffs_posix_sync(struct fffs_posix *volume, struct fffs_posix_file *file);
int fffs_posix_truncate(struct fffs_posix *volume, struct fffs_posix_file *file, uint32_t bytes);
uint32_t fffs_posix_size(const struct fffs_posix_file *file);
/* The contiguous bytes at `offset`, in place in mapped flash, valid until the descriptor is closed; returns their count. */
int32_t fffs_posix_map(struct fffs_posix *volume, struct fffs_posix_file *file, uint32_t offset, const void **data);

/* A file, or a folder (is_folder). A name that is neither costs a listing up to the first name in it. */
int fffs_posix_stat(struct fffs_posix *volume, const char *path, struct fffs_info *info);
int fffs_posix_unlink(struct fffs_posix *volume, const char *path);
/* One atomic change, over an existing file too. A folder: -ENOTSUP. */
int fffs_posix_rename(struct fffs_posix *volume, const char *from, const char *to);
int fffs_posix_mkdir(struct fffs_posix *volume, const char *path);
int fffs_posix_rmdir(struct fffs_posix *volume, const char *path);

int fffs_posix_opendir(struct fffs_posix *volume, struct fffs_posix_dir *dir, const char *path);
/* 1 and `info` (name within the folder), or 0 at the end. */
int fffs_posix_readdir(struct fffs_posix *volume, struct fffs_posix_dir *dir, struct fffs_info *info);
int fffs_posix_seekdir(struct fffs_posix *volume, struct fffs_posix_dir *dir, uint32_t position);
int fffs_posix_closedir(struct fffs_posix *volume, struct fffs_posix_dir *dir);

#ifdef __cplusplus
}
#endif
#endif

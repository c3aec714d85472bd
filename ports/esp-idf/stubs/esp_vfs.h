/* Stub: the flat struct of esp_vfs_register(), members with a context only. */
#ifndef STUB_ESP_VFS_H
#define STUB_ESP_VFS_H

#include <dirent.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <utime.h>
#include "esp_err.h"
#include "sdkconfig.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ESP_VFS_PATH_MAX 15
#define ESP_VFS_FLAG_CONTEXT_PTR 1

typedef struct {
    int flags;
    ssize_t (*write_p)(void *p, int fd, const void *data, size_t size);
    off_t (*lseek_p)(void *p, int fd, off_t size, int mode);
    ssize_t (*read_p)(void *ctx, int fd, void *dst, size_t size);
    ssize_t (*pread_p)(void *ctx, int fd, void *dst, size_t size, off_t offset);
    ssize_t (*pwrite_p)(void *ctx, int fd, const void *src, size_t size, off_t offset);
    int (*open_p)(void *ctx, const char *path, int flags, int mode);
    int (*close_p)(void *ctx, int fd);
    int (*fstat_p)(void *ctx, int fd, struct stat *st);
    int (*stat_p)(void *ctx, const char *path, struct stat *st);
    int (*link_p)(void *ctx, const char *n1, const char *n2);
    int (*unlink_p)(void *ctx, const char *path);
    int (*rename_p)(void *ctx, const char *src, const char *dst);
    DIR *(*opendir_p)(void *ctx, const char *name);
    struct dirent *(*readdir_p)(void *ctx, DIR *pdir);
    int (*readdir_r_p)(void *ctx, DIR *pdir, struct dirent *entry, struct dirent **out_dirent);
    long (*telldir_p)(void *ctx, DIR *pdir);
    void (*seekdir_p)(void *ctx, DIR *pdir, long offset);
    int (*closedir_p)(void *ctx, DIR *pdir);
    int (*mkdir_p)(void *ctx, const char *name, mode_t mode);
    int (*rmdir_p)(void *ctx, const char *name);
    int (*fcntl_p)(void *ctx, int fd, int cmd, int arg);
    int (*ioctl_p)(void *ctx, int fd, int cmd, va_list args);
    int (*fsync_p)(void *ctx, int fd);
    int (*access_p)(void *ctx, const char *path, int amode);
    int (*truncate_p)(void *ctx, const char *path, off_t length);
    int (*ftruncate_p)(void *ctx, int fd, off_t length);
    int (*utime_p)(void *ctx, const char *path, const struct utimbuf *times);
} esp_vfs_t;

esp_err_t esp_vfs_register(const char *base_path, const esp_vfs_t *vfs, void *ctx);
esp_err_t esp_vfs_unregister(const char *base_path);

#ifdef __cplusplus
}
#endif
#endif

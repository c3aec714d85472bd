/* Stub. */
#ifndef STUB_ZEPHYR_FS_INTERFACE_H
#define STUB_ZEPHYR_FS_INTERFACE_H

#include <stdint.h>

#define MAX_FILE_NAME CONFIG_FILE_SYSTEM_MAX_FILE_NAME
struct fs_mount_t;
typedef uint8_t fs_mode_t;
struct fs_file_t { void *filep; const struct fs_mount_t *mp; fs_mode_t flags; };
struct fs_dir_t { void *dirp; const struct fs_mount_t *mp; };

#endif

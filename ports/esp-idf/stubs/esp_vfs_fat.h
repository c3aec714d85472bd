/* Stub. */
#ifndef STUB_ESP_VFS_FAT_H
#define STUB_ESP_VFS_FAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "esp_err.h"

typedef int32_t wl_handle_t;
#define WL_INVALID_HANDLE (-1)
typedef struct {
    bool format_if_mount_failed;
    int max_files;
    size_t allocation_unit_size;
    bool disk_status_check_enable;
    bool use_one_fat;
} esp_vfs_fat_mount_config_t;

esp_err_t esp_vfs_fat_spiflash_mount_rw_wl(const char *base_path, const char *partition_label,
                                           const esp_vfs_fat_mount_config_t *mount_config, wl_handle_t *wl_handle);
esp_err_t esp_vfs_fat_spiflash_unmount_rw_wl(const char *base_path, wl_handle_t wl_handle);
esp_err_t esp_vfs_fat_spiflash_format_cfg_rw_wl(const char *base_path, const char *partition_label,
                                                esp_vfs_fat_mount_config_t *cfg);
esp_err_t esp_vfs_fat_info(const char *base_path, uint64_t *out_total_bytes, uint64_t *out_free_bytes);

#endif

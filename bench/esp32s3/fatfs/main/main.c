#include "esp_vfs_fat.h"
#include "subject_vfs.h"

static wl_handle_t wear_levelling = WL_INVALID_HANDLE;

static esp_vfs_fat_mount_config_t config = {
    .format_if_mount_failed = false, .max_files = 2, .allocation_unit_size = 4096 };

static int format(void)
{
    return esp_vfs_fat_spiflash_format_cfg_rw_wl(ADAPTER_VFS_PATH, board_partition_label, &config) == ESP_OK ? 0 : -1;
}

static int mount(void)
{
    return esp_vfs_fat_spiflash_mount_rw_wl(ADAPTER_VFS_PATH, board_partition_label, &config, &wear_levelling) == ESP_OK ? 0 : -1;
}

static int unmount(void)
{
    return esp_vfs_fat_spiflash_unmount_rw_wl(ADAPTER_VFS_PATH, wear_levelling) == ESP_OK ? 0 : -1;
}

static int info(uint64_t *total, uint64_t *free_bytes)
{
    return esp_vfs_fat_info(ADAPTER_VFS_PATH, total, free_bytes) == ESP_OK ? 0 : -1;
}

void app_main(void)
{
    static const struct adapter_vfs_mount calls = { format, mount, unmount, info };

    subject_vfs_run("fatfs", "wl", &calls);
}

#include "esp_spiffs.h"
#include "subject_vfs.h"

static int format(void)
{
    return esp_spiffs_format(board_partition_label) == ESP_OK ? 0 : -1;
}

static int mount(void)
{
    const esp_vfs_spiffs_conf_t conf = {
        .base_path = ADAPTER_VFS_PATH, .partition_label = board_partition_label, .max_files = 2,
        .format_if_mount_failed = false };

    return esp_vfs_spiffs_register(&conf) == ESP_OK ? 0 : -1;
}

static int unmount(void)
{
    return esp_vfs_spiffs_unregister(board_partition_label) == ESP_OK ? 0 : -1;
}

static int info(uint64_t *total, uint64_t *free_bytes)
{
    size_t all = 0, used = 0;

    if (esp_spiffs_info(board_partition_label, &all, &used) != ESP_OK)
        return -1;
    *total = all;
    *free_bytes = all - used;
    return 0;
}

void app_main(void)
{
    static const struct adapter_vfs_mount calls = { format, mount, unmount, info };

    subject_vfs_run("spiffs", "default", &calls);
}

#include "esp_littlefs.h"
#include "subject_vfs.h"

static int format(void)
{
    return esp_littlefs_format(board_partition_label) == ESP_OK ? 0 : -1;
}

static int mount(void)
{
    const esp_vfs_littlefs_conf_t conf = { .base_path = ADAPTER_VFS_PATH, .partition_label = board_partition_label };

    return esp_vfs_littlefs_register(&conf) == ESP_OK ? 0 : -1;
}

static int unmount(void)
{
    return esp_vfs_littlefs_unregister(board_partition_label) == ESP_OK ? 0 : -1;
}

static int info(uint64_t *total, uint64_t *free_bytes)
{
    size_t all = 0, used = 0;

    if (esp_littlefs_info(board_partition_label, &all, &used) != ESP_OK)
        return -1;
    *total = all;
    *free_bytes = all - used;
    return 0;
}

void app_main(void)
{
    static const struct adapter_vfs_mount calls = { format, mount, unmount, info };

    subject_vfs_run("littlefs", "vfs", &calls);
}

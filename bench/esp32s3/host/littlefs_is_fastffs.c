/* So that the littlefs project runs on a host: its calls, answered by FASTFFS through the same VFS. What the log then calls
 * littlefs is FASTFFS behind its file layer: good for testing the adapter and nothing else. */
#include <string.h>

#include "esp_fastffs.h"
#include "esp_littlefs.h"

esp_err_t esp_vfs_littlefs_register(const esp_vfs_littlefs_conf_t *conf)
{
    esp_vfs_fastffs_conf_t own;

    memset(&own, 0, sizeof own);
    own.base_path = conf->base_path;
    own.partition_label = conf->partition_label;
    return esp_vfs_fastffs_register(&own);
}

esp_err_t esp_vfs_littlefs_unregister(const char *partition_label)
{
    return esp_vfs_fastffs_unregister(partition_label);
}

esp_err_t esp_littlefs_format(const char *partition_label)
{
    return esp_fastffs_format(partition_label);
}

esp_err_t esp_littlefs_info(const char *partition_label, size_t *total_bytes, size_t *used_bytes)
{
    return esp_fastffs_info(partition_label, total_bytes, used_bytes);
}

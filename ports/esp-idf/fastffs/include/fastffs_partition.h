/* The flash driver: a partition of ESP-IDF as a struct fffs_flash, for use with fastffs/fastffs.h without the VFS. */
#ifndef FASTFFS_PARTITION_H
#define FASTFFS_PARTITION_H

#include "esp_partition.h"
#include "fastffs/fffs_flash.h"

#ifdef __cplusplus
extern "C" {
#endif

struct fastffs_partition {
    struct fffs_flash flash;
    const esp_partition_t *partition;
    const uint8_t *mapped;               /* the whole partition in memory, NULL when not mapped */
    esp_partition_mmap_handle_t mapping;
};

/* Fills in the driver. ESP_ERR_NOT_SUPPORTED for erase units that can not be used. */
esp_err_t fastffs_partition_init(struct fastffs_partition *driver, const esp_partition_t *partition);
/* Maps the partition so that files can be read in place. */
esp_err_t fastffs_partition_map(struct fastffs_partition *driver);
void fastffs_partition_unmap(struct fastffs_partition *driver);

#ifdef __cplusplus
}
#endif
#endif

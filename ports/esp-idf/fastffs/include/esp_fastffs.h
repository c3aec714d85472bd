/* FASTFFS as an ESP-IDF component: a partition mounted under a path of the virtual filesystem.
 *
 * The calls have the shape of the SPIFFS and LittleFS components. Paths below base_path are file names; '/' in a name makes
 * folders. What is different is in ports/esp-idf/README.md: files are replaced whole, the close is the commit.
 */
#ifndef ESP_FASTFFS_H
#define ESP_FASTFFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "esp_err.h"
#include "esp_partition.h"
#include "fastffs/fastffs.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    const char *base_path;            /* "/data": begins with '/', does not end with it */
    const char *partition_label;      /* of the data partition; NULL: `partition` */
    const esp_partition_t *partition; /* used when partition_label is NULL */
    size_t max_files;                 /* descriptors open at once, 0: CONFIG_FASTFFS_MAX_OPEN_FILES */
    uint8_t format_if_mount_failed : 1; /* formats a partition that is erased (or whose first format was cut short), and
                                       * nothing else: one that can not be read, or holds a damaged volume, is left alone */
    uint8_t format_if_foreign : 1;    /* formats also over something that is no FASTFFS volume (an older SPIFFS, say) */
    uint8_t read_only : 1;            /* never programs or erases */
    uint8_t grow_on_mount : 1;        /* extends the volume to the partition */
    uint32_t volume_files;            /* files that a new volume can hold, 0: one per 4 KiB */
    /* Optional: called at least once per erase in format, recovery and collection; total 0 when unknown. */
    void (*progress)(void *context, uint32_t done, uint32_t total);
    void *progress_context;
    /* Optional results. */
    bool *formatted;                  /* whether this call has formatted */
    int *mount_status;                /* enum fffs_status of the first mount: why it failed */
} esp_vfs_fastffs_conf_t;

/* ESP_OK; ESP_ERR_INVALID_ARG; ESP_ERR_NOT_FOUND: no such partition; ESP_ERR_INVALID_STATE: mounted already (which goes
 * on untouched); ESP_ERR_NO_MEM; ESP_FAIL: mount or format failed, see mount_status. */
esp_err_t esp_vfs_fastffs_register(const esp_vfs_fastffs_conf_t *conf);
/* ESP_ERR_INVALID_STATE: not mounted, or files or directories are open (nothing happens). */
esp_err_t esp_vfs_fastffs_unregister(const char *partition_label);
esp_err_t esp_vfs_fastffs_unregister_partition(const esp_partition_t *partition);

bool esp_fastffs_mounted(const char *partition_label);
bool esp_fastffs_partition_mounted(const esp_partition_t *partition);
/* Deletes everything. A mounted partition stays mounted; ESP_ERR_INVALID_STATE when files are open on it. After ESP_FAIL of a
 * mounted one all its calls give ENODEV: unregister it and register it again. */
esp_err_t esp_fastffs_format(const char *partition_label);
esp_err_t esp_fastffs_format_partition(const esp_partition_t *partition);
/* Bytes that files may take, and take. Either may be NULL. */
esp_err_t esp_fastffs_info(const char *partition_label, size_t *total_bytes, size_t *used_bytes);
esp_err_t esp_fastffs_partition_info(const esp_partition_t *partition, size_t *total_bytes, size_t *used_bytes);
/* Checks every invariant of the volume; the number of findings. */
esp_err_t esp_fastffs_check(const char *partition_label, size_t *findings);
/* Collects garbage until nothing is left to do. */
esp_err_t esp_fastffs_gc(const char *partition_label);
/* Writes the clean mark: before a planned power-off that can not unregister. */
esp_err_t esp_fastffs_settle(const char *partition_label);

/* The volume, for calls of fastffs/fastffs.h beside the VFS (they take the same lock); NULL when not mounted. */
struct fffs *esp_fastffs_volume(const char *partition_label);

/* ioctl(fd, ESP_FASTFFS_IOCTL_MAP, &request) on a descriptor open for reading: the contiguous bytes of the file from
 * `offset`, in place in memory-mapped flash. Valid until the descriptor is closed. Needs CONFIG_FASTFFS_MMAP. */
typedef struct {
    uint32_t offset;
    const void *data;
    uint32_t bytes;                   /* 0 at the end */
} esp_fastffs_map_t;

enum { ESP_FASTFFS_IOCTL_MAP = 0x4646 };

#ifdef __cplusplus
}
#endif
#endif

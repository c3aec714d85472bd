/* FASTFFS for Zephyr's file system interface: a flash area mounted under a path.
 *
 *     FASTFFS_DECLARE_DEFAULT_CONFIG(storage);
 *     static struct fs_mount_t mount = {
 *         .type = FS_FASTFFS, .fs_data = &storage, .mnt_point = "/data",
 *         .storage_dev = (void *)FIXED_PARTITION_ID(storage_partition) };
 *     fs_mount(&mount);
 *
 * What is different from other filesystems is in ports/zephyr/README.md: files are replaced whole, the close is the commit.
 */
#ifndef FASTFFS_ZEPHYR_FASTFFS_H
#define FASTFFS_ZEPHYR_FASTFFS_H

#include <zephyr/fs/fs.h>
#include <zephyr/kernel.h>
#include <zephyr/storage/flash_map.h>

#include "fastffs/fastffs.h"
#include "fffs_posix.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FS_FASTFFS (FS_TYPE_EXTERNAL_BASE + CONFIG_FASTFFS_FS_TYPE)

enum { FASTFFS_COPY_SIZE = 256, FASTFFS_MADE = 2 };

/* One mount. Zero but for the buffers; FASTFFS_DECLARE_DEFAULT_CONFIG makes one. */
struct fastffs_data {
	void *scratch;
	uint32_t scratch_size;
	void *cache;
	uint32_t cache_size;
	uint16_t *segments;
	uint32_t segments_count;
	uint32_t max_files;          /* of a volume that is formatted, 0: one per 4 KiB */
	int format_foreign;          /* format also over other data, unless FS_MOUNT_FLAG_NO_FORMAT */
	/* Optional: called at least once per erase in format, recovery and collection: feed a watchdog. */
	void (*progress)(void *context, uint32_t done, uint32_t total);
	void *progress_context;
	/* Results. */
	int mount_status;            /* enum fffs_status of the first try: why it failed, or what was formatted over */
	int formatted;               /* the last mount has formatted */
	/* Private. */
	struct fffs fs;
	struct fffs_config config;
	struct fffs_flash flash;
	struct fffs_posix posix;
	const struct flash_area *area;
	struct k_mutex mutex;
	uint32_t copy[FASTFFS_COPY_SIZE / 4];
	char made[FASTFFS_MADE][FFFS_NAME_MAX + 1];
	unsigned int open_files;     /* and directories */
	int is_mounted;
};

#define FASTFFS_DECLARE_DEFAULT_CONFIG(name) \
	static uint32_t name##_scratch[CONFIG_FASTFFS_SCRATCH_SIZE / 4]; \
	static uint32_t name##_cache[CONFIG_FASTFFS_CACHE_ENTRIES * 2]; \
	static uint16_t name##_segments[CONFIG_FASTFFS_SEGMENTS]; \
	static struct fastffs_data name = { \
		.scratch = name##_scratch, .scratch_size = sizeof(name##_scratch), \
		.cache = name##_cache, .cache_size = sizeof(name##_cache), \
		.segments = name##_segments, .segments_count = CONFIG_FASTFFS_SEGMENTS, \
	}

/* One bounded slice of garbage collection, for idle time. > 0: did something, 0: nothing to do, or a negative errno. */
int fastffs_collect(struct fs_mount_t *mount);

/* Fills the driver for a flash area. 0, or -ENOTSUP. */
int fastffs_area_init(struct fffs_flash *flash, const struct flash_area *area);

#ifdef __cplusplus
}
#endif
#endif

/* When a port may format by itself, so that "mount, else format" costs nobody their files. */
#ifndef FFFS_FIRST_BOOT_H
#define FFFS_FIRST_BOOT_H

#include "fastffs/fastffs.h"

#ifdef __cplusplus
extern "C" {
#endif

enum fffs_format_policy {
    FFFS_FORMAT_NEVER = 0,
    FFFS_FORMAT_BLANK = 1,         /* erased flash, and flash on which the first format was cut short */
    FFFS_FORMAT_FOREIGN = 2        /* also over anything that is no FASTFFS volume */
};

/* Whether the policy lets a port format after a mount that returned `status`: 1 or 0. Never after an error of the driver,
 * and never over a damaged, newer or larger volume. Sets options->device_is_erased when all of the flash is erased, which
 * it looks at: that is read once, before a device's first format, and makes the format and the first writes quicker. May
 * erase the first sector, when a first format was cut short and nothing else is on the flash.
 * `buffer` is work space of at least 16 bytes, a multiple of the granule. */
int fffs_first_boot(const struct fffs_flash *flash, int status, enum fffs_format_policy policy, void *buffer, uint32_t bytes,
                    struct fffs_format_options *options);

#ifdef __cplusplus
}
#endif
#endif

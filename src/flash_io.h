/* Bounds- and alignment-checked access to the flash: the only user of the driver. */
#ifndef FFFS_FLASH_IO_H
#define FFFS_FLASH_IO_H

#include "volume.h"

/* Reads within the volume. Addresses beyond it give FFFS_ERR_CORRUPT (they come from flash). Granules that the driver
 * reports as torn read as zeros, which verify as nothing. */
int fffs_io_read(struct fffs *fs, uint32_t address, void *buffer, uint32_t bytes);
/* Programs whole granules; with FFFS_MOUNT_VERIFY reads back and compares. */
int fffs_io_program(struct fffs *fs, uint32_t address, const void *data, uint32_t bytes);
/* Erases whole sectors in one driver call; calls the progress hook; with FFFS_MOUNT_VERIFY looks whether they are
 * blank: all of an index unit, the beginning of a data segment. */
int fffs_io_erase(struct fffs *fs, uint32_t address, uint32_t bytes);
/* After the programs of a commit. */
int fffs_io_sync(struct fffs *fs);
/* 1 when the bytes are blank, 0 when not, or an error. `known` are the same bytes as read, at most one stride. */
int fffs_io_stride_is_blank(struct fffs *fs, uint32_t address, const uint8_t *known, uint32_t bytes);
/* Decodes the stride at `address`, already read to `bytes`: also asks the driver whether it is blank where it can tell. */
enum fffs_stride fffs_io_decode(struct fffs *fs, uint32_t address, const uint8_t *bytes, struct fffs_record *record);
void fffs_io_progress(struct fffs *fs, uint32_t done, uint32_t total);
/* Driver reads before a shape is known: bounds are the device's. */
int fffs_io_read_device(const struct fffs_flash *flash, uint32_t address, void *buffer, uint32_t bytes);

/* Every damage found on flash goes through here: one place for a breakpoint. Returns FFFS_ERR_CORRUPT. */
int fffs_corrupt(void);

#endif

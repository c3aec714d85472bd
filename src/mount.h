/* Format, discovery, mount and recovery. */
#ifndef FFFS_MOUNT_H
#define FFFS_MOUNT_H

#include "volume.h"

/* Finds the valid unit header with the lowest address. */
int fffs_discover_header(const struct fffs_flash *flash, struct fffs_header *header);
/* The header with the highest serial of that volume: after a grow its size is the newer one. */
int fffs_discover_newest(const struct fffs_flash *flash, struct fffs_header *header);
/* Fills the shape of a new volume from options (NULL: all defaults). */
int fffs_plan_shape(const struct fffs_flash *flash, const struct fffs_format_options *options, struct fffs_shape *shape);
/* Loads the volume into a cleared fs; recovers unless read-only or put off. */
int fffs_mount_load(struct fffs *fs, const struct fffs_config *config);
/* The same with nothing that could program or erase: a program that mounts in no other way links less. */
int fffs_mount_load_reading(struct fffs *fs, const struct fffs_config *config);

/* The recovery that mount put off. */
int fffs_mount_recover(struct fffs *fs);
int fffs_format_volume(struct fffs *fs, const struct fffs_config *config, const struct fffs_format_options *options);
/* The clean mark with append points and erased segments. */
int fffs_mount_settle(struct fffs *fs);
int fffs_mount_grow(struct fffs *fs, uint32_t sectors);

#endif

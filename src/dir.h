/* Listings and deletes by prefix. Names are flat; a folder is what names before a delimiter have in common. */
#ifndef FFFS_DIR_H
#define FFFS_DIR_H

#include "volume.h"

/* Begins a listing. FFFS_ERR_BUSY when `dir` is open, FFFS_ERR_NAME_TOO_LONG. No reads. */
int fffs_dir_begin(struct fffs *fs, struct fffs_dir *dir, const char *prefix, char delimiter);
/* The next entry in slot order: 1, 0 at the end, or an error. After FFFS_ERR_CORRUPT and FFFS_ERR_NAME_TOO_LONG the next
 * call goes on behind the file concerned; after FFFS_ERR_IO it tries that file again. Cost: 1 read per name seen, with a
 * delimiter 2. */
int fffs_dir_next(struct fffs *fs, struct fffs_dir *dir, struct fffs_info *info);
int fffs_dir_end(struct fffs *fs, struct fffs_dir *dir);

/* Visits every name with the prefix; with a complete cache in the order of flash, neighbours in one read. Files that can
 * not be shown are passed over and reported at the end: FFFS_ERR_CORRUPT, FFFS_ERR_NAME_TOO_LONG. */
int fffs_dir_list(struct fffs *fs, const char *prefix, int (*visit)(void *context, const struct fffs_info *info),
                  void *context);

/* Deletes every name with the prefix; returns the count. Files that can not be read are passed over and reported at the
 * end: FFFS_ERR_CORRUPT. */
int32_t fffs_dir_delete_prefix(struct fffs *fs, const char *prefix);

#endif

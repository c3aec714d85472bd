/* A file's new name. */
#ifndef FFFS_RENAME_H
#define FFFS_RENAME_H

#include "lookup.h"
#include "volume.h"

int fffs_file_rename(struct fffs *fs, const char *from, const char *to);

/* Writes the node that gives the file of node `old` the name `to`, once: FFFS_COLLECT when there is no room. `record`
 * has slot and tag; it becomes the put to commit. */
int fffs_rename_write(struct fffs *fs, const struct fffs_node *old, const struct fffs_name *to,
                      struct fffs_record *record);
/* What the budget needs for that, while the old node still counts. */
uint32_t fffs_rename_share(const struct fffs *fs, const struct fffs_node *old, const struct fffs_name *to);

#endif

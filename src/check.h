/* Every numbered invariant of docs/FORMAT.md as code. Read-only. */
#ifndef FFFS_CHECK_H
#define FFFS_CHECK_H

#include "volume.h"

/* Checks a mounted volume. `report` may be NULL. Returns the number of findings, or FFFS_ERR_IO. Cost: reads the index,
 * every node, and what should be blank; a file is compared with all others, so time grows with the square of the files. */
int fffs_check_volume(struct fffs *fs, void (*report)(void *context, const struct fffs_finding *finding),
                      void *context);

#endif

/* A file's new name. */
#ifndef FFFS_RENAME_H
#define FFFS_RENAME_H

#include "volume.h"

int fffs_file_rename(struct fffs *fs, const char *from, const char *to);

#endif

/* A filesystem mounted in the VFS. Included by the main.c of each. */
#ifndef SUBJECT_VFS_H
#define SUBJECT_VFS_H

#include <stdlib.h>

#include "adapter_vfs.h"

/* Set by main.c before board_run(). */
static const struct adapter_vfs_mount *subject_mount;

static void *subject_create(const esp_partition_t *partition, const struct board_options *options)
{
    struct adapter_vfs *adapter = calloc(1, sizeof *adapter);

    (void)partition;
    (void)options;
    if (adapter != NULL)
        adapter->mount = subject_mount;
    return adapter;
}

static inline void subject_vfs_run(const char *fs, const char *config, const struct adapter_vfs_mount *mount)
{
    const struct board_subject subject = { fs, config, &adapter_vfs_fs, subject_create, free };

    subject_mount = mount;
    board_run(&subject);
}

#endif

/* A filesystem as an application on ESP-IDF uses it: through open, read, write and the directory calls of its mount path. */
#ifndef ADAPTER_VFS_H
#define ADAPTER_VFS_H

#include "bench/adapter.h"
#include "board.h"

struct adapter_vfs_mount {
    /* 0 or negative. The partition is erased before format. */
    int (*format)(void);
    int (*mount)(void);
    int (*unmount)(void);
    int (*info)(uint64_t *total, uint64_t *free_bytes);
};

enum { ADAPTER_VFS_NAME = 48 };
#define ADAPTER_VFS_PATH "/b"

/* self of adapter_vfs_fs. */
struct adapter_vfs { const struct adapter_vfs_mount *mount; int fd; };
extern const struct bench_fs adapter_vfs_fs;

#endif

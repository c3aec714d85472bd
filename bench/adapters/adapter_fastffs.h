/* FASTFFS under test: one library build, configured by the buffers given at mount. */
#ifndef ADAPTER_FASTFFS_H
#define ADAPTER_FASTFFS_H

#include "bench/adapter.h"
#include "fastffs/fastffs.h"

/* What a configuration is made of, in bytes. */
struct adapter_fastffs_setup {
    uint32_t scratch_bytes;
    uint32_t cache_bytes;
    uint32_t write_buffer_bytes;
    uint32_t file_buffer_bytes;
    uint32_t flags;                /* enum fffs_mount_flags */
    uint32_t max_files;            /* 0: default */
};

struct adapter_fastffs {
    struct fffs fs;
    struct fffs_file file;
    struct fffs_config config;
    struct fffs_format_options format;
    void *file_buffer;
    uint32_t file_buffer_bytes;
};

extern const struct adapter_fastffs_setup adapter_fastffs_minimal, adapter_fastffs_default, adapter_fastffs_fast;
extern const struct bench_fs adapter_fastffs_fs; /* self: struct adapter_fastffs */

/* Divides `arena` (8-byte aligned) among the buffers of `setup` for a volume on all of `flash`. 0, or -1: too small. */
int adapter_fastffs_init(struct adapter_fastffs *adapter, const struct fffs_flash *flash,
                         const struct adapter_fastffs_setup *setup, void *arena, uint32_t arena_bytes);

#endif

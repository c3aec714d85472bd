/* The peers' adapters. Each is built only where a copy of that filesystem is given (docs/BENCHMARKS.md). */
#ifndef BENCH_PEERS_H
#define BENCH_PEERS_H

#include "bench/adapter.h"
#include "fastffs/fffs_flash.h"

struct peer {
    /* The adapter's self for a device, allocated; NULL: not possible. Released by free(). */
    void *(*create)(const struct fffs_flash *flash);
};

extern const struct bench_fs adapter_littlefs_fs, adapter_spiffs_fs, adapter_jesfs_fs, adapter_fatfs_fs;
extern const struct peer adapter_littlefs_peer, adapter_spiffs_peer, adapter_jesfs_peer, adapter_fatfs_peer;

#endif

/* See subjects.h. */
#include "bench/subjects.h"

#include "bench/adapters/adapter_fastffs.h"
#include "bench/adapters/peers.h"
#include "bench/limit.h"

#include <stdlib.h>
#include <string.h>

/* ---- FASTFFS ---- */

enum { ARENA_BYTES = 128 * 1024 };

struct fastffs_state {
    struct adapter_fastffs adapter;    /* first: the adapter's self */
    uint64_t arena[ARENA_BYTES / 8];
};

static void *create_fastffs(const struct subject *subject, struct nor *nor, const struct subject_options *options)
{
    struct adapter_fastffs_setup setup;
    memcpy(&setup, subject->setup, sizeof setup);
    setup.flags |= subject->flags;
    setup.max_files = options->max_files;
    if (setup.cache_bytes != 0 && options->cache_entries != 0)
        setup.cache_bytes = options->cache_entries * FFFS_CACHE_ENTRY_BYTES;
    struct fastffs_state *state = calloc(1, sizeof *state);
    if (state != NULL
        && adapter_fastffs_init(&state->adapter, nor_flash(nor), &setup, state->arena, sizeof state->arena) < 0) {
        free(state);
        return NULL;
    }
    return state;
}

/* ---- Limits ---- */

struct limit_setup { uint32_t chunk_bytes; int blank; };
static const struct limit_setup limit_plain = { 0, 0 }, limit_4k = { 4096, 0 }, limit_blank = { 0, 1 },
                                limit_blank_4k = { 4096, 1 };

static void *create_limit(const struct subject *subject, struct nor *nor, const struct subject_options *options)
{
    const struct limit_setup *setup = subject->setup;
    struct limit *limit = calloc(1, sizeof *limit);
    (void)options;
    if (limit != NULL)
        limit_init(limit, nor, setup->chunk_bytes, setup->blank);
    return limit;
}

static void destroy_limit(void *self)
{
    limit_done(self);
    free(self);
}

/* ---- Peers, where linked ---- */

#if defined(BENCH_WITH_LITTLEFS) || defined(BENCH_WITH_SPIFFS) || defined(BENCH_WITH_JESFS) || defined(BENCH_WITH_FATFS)
static void *create_peer(const struct subject *subject, struct nor *nor, const struct subject_options *options)
{
    const struct peer *peer = subject->setup;
    (void)options;
    return peer->create(nor_flash(nor));
}
#define PEER(name, overwrite, fs_table, peer) \
    { name, "default", &(fs_table), overwrite, 0, &(peer), 0, create_peer, free }
#endif

#define FASTFFS(config, setup, flags) \
    { "fastffs", config, &adapter_fastffs_fs, 0, 1, &(setup), flags, create_fastffs, free }
#define LIMIT(config, setup) { "limit", config, &limit_fs, 0, 0, &(setup), 0, create_limit, destroy_limit }

const struct subject subjects[] = {
    FASTFFS("minimal", adapter_fastffs_minimal, 0),
    FASTFFS("default", adapter_fastffs_default, 0),
    FASTFFS("fast", adapter_fastffs_fast, 0),
    FASTFFS("default-verify", adapter_fastffs_default, FFFS_MOUNT_VERIFY),
    FASTFFS("fast-verify", adapter_fastffs_fast, FFFS_MOUNT_VERIFY),
    LIMIT("limit", limit_plain),
    LIMIT("limit-4k", limit_4k),
    LIMIT("limit-blank", limit_blank),
    LIMIT("limit-blank-4k", limit_blank_4k),
#ifdef BENCH_WITH_LITTLEFS
    PEER("littlefs", 0, adapter_littlefs_fs, adapter_littlefs_peer),
#endif
#ifdef BENCH_WITH_SPIFFS
    PEER("spiffs", 1, adapter_spiffs_fs, adapter_spiffs_peer),
#endif
#ifdef BENCH_WITH_JESFS
    PEER("jesfs", 1, adapter_jesfs_fs, adapter_jesfs_peer),
#endif
#ifdef BENCH_WITH_FATFS
    PEER("fatfs", 0, adapter_fatfs_fs, adapter_fatfs_peer),
#endif
};
const unsigned subject_count = sizeof subjects / sizeof subjects[0];

const struct subject *subject_find(const char *fs, const char *config)
{
    for (unsigned i = 0; i < subject_count; i++)
        if (strcmp(subjects[i].fs, fs) == 0 && strcmp(subjects[i].config, config) == 0)
            return &subjects[i];
    return NULL;
}

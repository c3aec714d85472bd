/* What the host runner can measure: FASTFFS in its configurations, the limit rows, and the peers that were linked in. */
#ifndef BENCH_SUBJECTS_H
#define BENCH_SUBJECTS_H

#include "bench/adapter.h"
#include "emulator/nor.h"

/* What a phase asks of a filesystem that can be told. Zero: default. */
struct subject_options { uint32_t max_files, cache_entries; };

struct subject {
    const char *fs, *config;
    const struct bench_fs *table;
    int overwrite;                 /* programs granules again, so the emulator must allow it */
    int is_fastffs;
    const void *setup;             /* for create */
    uint32_t flags;                /* for create */
    void *(*create)(const struct subject *subject, struct nor *nor, const struct subject_options *options);
    void (*destroy)(void *self);
};

extern const struct subject subjects[];
extern const unsigned subject_count;

/* The subject of that name, or NULL. */
const struct subject *subject_find(const char *fs, const char *config);

#endif

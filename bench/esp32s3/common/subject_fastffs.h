/* FASTFFS on the bench partition, through its own API. Included by the main.c of each of its configurations. */
#ifndef SUBJECT_FASTFFS_H
#define SUBJECT_FASTFFS_H

#include <stdlib.h>
#include <string.h>

#include "bench/adapters/adapter_fastffs.h"
#include "board.h"
#include "fastffs_partition.h"

/* Set by main.c before board_run(). */
static const struct adapter_fastffs_setup *subject_setup;

struct subject_fastffs {
    struct adapter_fastffs adapter;      /* first: the adapter's self */
    struct fastffs_partition driver;
    uint64_t arena[];
};

/* What the buffers take together, each rounded up. */
static uint32_t subject_arena_bytes(const struct adapter_fastffs_setup *setup, const struct fffs_flash *flash)
{
    struct fffs_format_options options;
    struct fffs_geometry plan;

    memset(&options, 0, sizeof options);
    options.geometry.max_files = setup->max_files;
    if (fffs_format_plan(flash, &options, &plan) < 0)
        return 0;
    return setup->scratch_bytes + setup->cache_bytes + setup->write_buffer_bytes + setup->file_buffer_bytes
        + plan.segment_count * (uint32_t)sizeof(uint16_t) + 64u;
}

static void *subject_create(const esp_partition_t *partition, const struct board_options *options)
{
    struct adapter_fastffs_setup setup = *subject_setup;
    struct fastffs_partition driver;
    struct subject_fastffs *subject;
    uint32_t bytes;

    setup.max_files = options->max_files;
    if (setup.cache_bytes != 0 && options->cache_entries != 0)
        setup.cache_bytes = options->cache_entries * FFFS_CACHE_ENTRY_BYTES;
    if (fastffs_partition_init(&driver, partition) != ESP_OK)
        return NULL;
    bytes = subject_arena_bytes(&setup, &driver.flash);
    subject = bytes == 0 ? NULL : calloc(1, sizeof *subject + bytes);
    if (subject == NULL)
        return NULL;
    (void)fastffs_partition_init(&subject->driver, partition);
    if (adapter_fastffs_init(&subject->adapter, &subject->driver.flash, &setup, subject->arena, bytes) == 0)
        return subject;
    free(subject);
    return NULL;
}

static inline void subject_fastffs_run(const char *config, const struct adapter_fastffs_setup *setup)
{
    const struct board_subject subject = { "fastffs", config, &adapter_fastffs_fs, subject_create, free };

    subject_setup = setup;
    board_run(&subject);
}

#endif

/* The benchmark's workloads: baseline, churn, smallfiles, growth. Deterministic, portable, no heap, no libc but memory
 * functions: the same code runs on the host and on boards.
 *
 * Owns: what is written in which order, and what every file must then hold; every byte read is compared. Measures
 * nothing: it tells the hooks when a filesystem call begins and ends, and which section of the workload runs.
 * After a failure `failure` says what, where and at how many bytes written; the same state replays it.
 */
#ifndef BENCH_WORKLOAD_H
#define BENCH_WORKLOAD_H

#include "bench/adapter.h"

enum bench_op {
    BENCH_FORMAT, BENCH_MOUNT, BENCH_UNMOUNT, BENCH_OPEN_READ, BENCH_SIZE, BENCH_READ, BENCH_SEEK, BENCH_CLOSE_READ,
    BENCH_OPEN_WRITE, BENCH_WRITE, BENCH_CLOSE_WRITE, BENCH_REMOVE, BENCH_EXISTS, BENCH_LIST, BENCH_SPACE,
    BENCH_BACKGROUND, BENCH_OPS
};

/* Parts of a workload: results are gathered per section. NONE is not reported (set-up, final verification). */
enum bench_section {
    BENCH_S_NONE, BENCH_S_FORMAT, BENCH_S_WRITE_TINY, BENCH_S_LIST_TINY, BENCH_S_READ_TINY, BENCH_S_WRITE_MEDIUM,
    BENCH_S_READ_MEDIUM, BENCH_S_SEEK_NEAR, BENCH_S_SEEK_FORWARD, BENCH_S_SEEK_RANDOM, BENCH_S_SEEK_END, BENCH_S_LIST,
    BENCH_S_EXISTS_HIT, BENCH_S_EXISTS_MISS, BENCH_S_EXISTS_MEDIUM_HIT, BENCH_S_EXISTS_MEDIUM_MISS, BENCH_S_UNMOUNT,
    BENCH_S_MOUNT, BENCH_S_LIST_COLD, BENCH_S_COLD_TINY, BENCH_S_COLD_MEDIUM, BENCH_S_CHURN, BENCH_S_LIST_1,
    BENCH_S_LIST_10, BENCH_S_LIST_100, BENCH_S_LIST_1000, BENCH_S_READ_SMALL, BENCH_S_READ_LARGE, BENCH_S_SPACE,
    BENCH_S_MOUNT_UNCLEAN, BENCH_S_OPEN_READ, BENCH_SECTIONS
};

struct bench_hooks {
    void (*erase_device)(void *self);                    /* untimed */
    void (*section)(void *self, enum bench_section section);
    void (*begin)(void *self, enum bench_op op);         /* a filesystem call begins */
    void (*end)(void *self, enum bench_op op, uint32_t bytes); /* and has ended; bytes read or written */
};

struct bench_slot {
    uint32_t size;                 /* 0: no file */
    uint32_t tag;                  /* second number of the name */
    uint16_t version;              /* which content the file holds */
    uint16_t seen;                 /* met in the listing under way */
};

struct bench_failure {
    const char *text;              /* NULL: none */
    int32_t status;                /* of the filesystem */
    char name[24];
};

/* The caller fills the first block and zeroes the rest. */
struct bench {
    const struct bench_fs *fs;
    void *fs_self;
    const struct bench_hooks *hooks;
    void *hooks_self;
    struct bench_slot *slots;      /* 256 for baseline and churn, as the mix says for others */
    uint32_t slot_count;
    uint8_t *buffer;               /* BENCH_CHUNK bytes */
    int background;                /* nonzero: background steps after each change, until idle */
    uint32_t medium_bytes;         /* baseline: size of a medium file; 0: 51200, as published results have it */

    /* Results beside the times. */
    struct bench_failure failure;
    uint32_t written_bytes;        /* of files, in the churn loop */
    uint32_t deletes, writes;
    uint32_t live_bytes, live_files;
    uint32_t tiny_free_delta, tiny_index_bytes; /* baseline: free space taken by 192 tiny files, see bench_space */

    /* Private. */
    const struct bench_mix *mix;
    uint32_t random;
    uint32_t protected_slot;       /* slot of the first large file, else slot_count */
    uint32_t forced;               /* the forced large file was written */
    uint32_t list_mark;            /* next live count to list at */
    uint32_t list_files;           /* files met by the listing under way */
    uint16_t version;
    char name[24];
};

enum { BENCH_CHUNK = 1024, BENCH_BASELINE_SLOTS = 256 };

enum bench_sizes { BENCH_SIZES_CHURN, BENCH_SIZES_SMALL };

/* Parameters of the churn machine. */
struct bench_mix {
    uint32_t seed, slots, target_live, slack, target_written;
    uint32_t force_large_at;       /* bytes written; 0: never */
    enum bench_sizes sizes;
    char prefix[4];
};

extern const struct bench_mix bench_churn, bench_smallfiles;

/* Each erases the device through the hook, formats, mounts, runs and leaves the volume mounted. 0, or -1: see failure. */
int bench_run_baseline(struct bench *bench);
int bench_run_churn(struct bench *bench, const struct bench_mix *mix);

/* Growth: begin, then add files of 100 B up to `files`, measuring open, missing name, list, space and mount at that count. */
int bench_growth_begin(struct bench *bench);
int bench_growth_to(struct bench *bench, uint32_t files);

/* Content of every file: byte `offset` of version `seed`. */
void bench_fill(uint8_t *buffer, uint32_t seed, uint32_t offset, uint32_t bytes);

#endif

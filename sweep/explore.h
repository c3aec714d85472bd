/* The crash sweep: a workload runs on an emulated flash; before each program and erase, clones of the flash get one
 * damaged outcome of it each and are mounted, compared with the model, used, and cut again. Everything follows from the
 * point, the workload, the seed and the numbers in struct sweep_options. */
#ifndef SWEEP_EXPLORE_H
#define SWEEP_EXPLORE_H

#include "operations.h"

struct sweep_options {
    unsigned steps;              /* operations of a run */
    unsigned cuts;               /* damaged outcomes of each mutation of the index; half as many of others */
    unsigned bits;               /* more torn bit patterns of each program into the index */
    unsigned depth;              /* cuts in a row: 1 none during recovery, at most SWEEP_LEVELS - 1 */
    int exhaustive;              /* also every pattern of patterns.h of each program into the index */
    int trace;
};

enum { SWEEP_PATH_TEXT = 100 };

/* What a run has done so far. May lie in memory shared with another process, which reads it. */
struct sweep_counts {
    uint64_t runs, steps, mutations;
    uint64_t states;             /* all branches */
    uint64_t damaged;            /* of them those whose operation was done in part */
    uint64_t by_kind[NOR_FAULT_KINDS];
    uint64_t by_level[SWEEP_LEVELS];
    uint64_t by_operation[SWEEP_OPERATIONS_MAX];
    uint64_t looks, checks, uses;
    uint32_t level;              /* where it is now: of path, this many are in use */
    uint32_t path[SWEEP_LEVELS][2];
};

struct sweep_failure {
    char path[SWEEP_PATH_TEXT];  /* "mutation.sample/..." */
    char text[320];
};

struct sweep *sweep_create(const struct sweep_options *options, const struct point *point, struct sweep_counts *counts);
void sweep_destroy(struct sweep *sweep);
/* One run; 0, or 1 at the first failure. */
int sweep_run(struct sweep *sweep, unsigned workload, uint64_t seed, struct sweep_failure *failure);
/* From now on only the branches along this path are looked at; the flash of the last one is written to `save` (NULL: not)
 * before it is mounted. 0 when the text is no path. */
int sweep_follow(struct sweep *sweep, const char *path, const char *save);
const char *sweep_kind_name(enum nor_fault_kind kind);

#endif

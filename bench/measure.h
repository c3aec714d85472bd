/* What a run of a workload cost, gathered per section and call: virtual time, flash calls and bytes, every latency.
 *
 * Host only (allocates). The hooks go to the workload; results are read when it has ended.
 */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include "bench/workload.h"
#include "emulator/nor.h"

#include <stdio.h>

struct samples { uint64_t *values; uint32_t count, room; };

struct measure_cell {
    uint64_t calls, bytes, ns;
    uint64_t flash_calls[NOR_OPS], flash_bytes[NOR_OPS], flash_ns[NOR_OPS];
    uint64_t erases_by_size[FFFS_FLASH_ERASE_SIZES], erased_sectors;
    struct samples latency;        /* ns of each call */
};

/* Whole files written in the churn loop, by class (small, medium, large). */
struct measure_class { uint64_t bytes, ns; };

struct measure {
    struct nor *nor;
    FILE *trace;                   /* gets a line "# call" before the flash calls of each call; NULL: none */
    enum bench_section section;
    struct measure_cell cells[BENCH_SECTIONS][BENCH_OPS];
    struct measure_class classes[3];
    struct samples per_kib;        /* ns per KiB of each file written in the churn loop */
    uint32_t *wear;                /* per erase unit, at the end of the churn loop; NULL before */
    uint32_t wear_units;
    uint64_t start_ns;             /* of the call under way */
    struct nor_counts start;
    uint64_t file_ns, file_bytes;  /* of the file being written */
};

extern const struct bench_hooks measure_hooks; /* self: struct measure */

void measure_init(struct measure *measure, struct nor *nor);
void measure_done(struct measure *measure);

/* Time of all calls of a section. */
uint64_t measure_section_ns(const struct measure *measure, enum bench_section section);
/* Sum of all calls of a section. Its latency is empty. */
struct measure_cell measure_section(const struct measure *measure, enum bench_section section);
/* The sample at `permille` of the way from the smallest (0) to the largest (1000), rounded down to one; 0 without any.
 * Sorts. */
uint64_t samples_percentile(struct samples *samples, uint32_t permille);

#endif

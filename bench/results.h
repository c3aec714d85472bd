/* Rows of results.csv: fs,config,model,phase,metric,unit,value. The names are those of docs/BENCHMARKS.md.
 *
 * A churn run is made twice, with inline collection only and with background steps between operations. Totals carry their
 * plain name when inline and the suffix _background otherwise; latencies carry their plain name with background steps and
 * the suffix _inline otherwise. A filesystem without background work has plain names only.
 */
#ifndef BENCH_RESULTS_H
#define BENCH_RESULTS_H

#include "bench/measure.h"

#include <stdio.h>

struct results_run {
    FILE *csv;
    const char *fs, *config, *model, *phase;
    int background;
    int detail;                    /* flash calls and bytes per operation, all percentiles */
    int one_mode;                  /* no background work: one run, plain names */
};

void results_row(const struct results_run *run, const char *metric, const char *unit, double value);
void results_baseline(const struct results_run *run, struct measure *measure, const struct bench *bench);
void results_churn(const struct results_run *run, struct measure *measure, const struct bench *bench);
/* Percentiles of every call: the rows of a latency phase. */
void results_latency(const struct results_run *run, struct measure *measure);
/* Growth at `files` files. */
void results_growth(const struct results_run *run, struct measure *measure, uint32_t files);

#endif

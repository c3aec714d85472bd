/* See measure.h. */
#include "bench/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_sample(struct samples *samples, uint64_t value)
{
    if (samples->count == samples->room) {
        samples->room = samples->room == 0 ? 256 : samples->room * 2;
        samples->values = realloc(samples->values, samples->room * sizeof *samples->values);
        if (samples->values == NULL) {
            perror("bench");
            exit(2);
        }
    }
    samples->values[samples->count++] = value;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

uint64_t samples_percentile(struct samples *samples, uint32_t permille)
{
    if (samples->count == 0)
        return 0;
    qsort(samples->values, samples->count, sizeof *samples->values, compare);
    return samples->values[(uint64_t)(samples->count - 1) * permille / 1000];
}

void measure_init(struct measure *measure, struct nor *nor)
{
    memset(measure, 0, sizeof *measure);
    measure->nor = nor;
    measure->wear_units = nor_size(nor) / nor_flash(nor)->erase_bytes[0];
}

void measure_done(struct measure *measure)
{
    for (int s = 0; s < BENCH_SECTIONS; s++)
        for (int op = 0; op < BENCH_OPS; op++)
            free(measure->cells[s][op].latency.values);
    free(measure->per_kib.values);
    free(measure->wear);
}

static void erase_device(void *self)
{
    nor_fill_erased(((struct measure *)self)->nor);
}

static void take_wear(struct measure *measure)
{
    measure->wear = calloc(measure->wear_units, sizeof *measure->wear);
    if (measure->wear == NULL) {
        perror("bench");
        exit(2);
    }
    for (uint32_t unit = 0; unit < measure->wear_units; unit++)
        measure->wear[unit] = nor_wear(measure->nor, unit);
}

static void enter_section(void *self, enum bench_section section)
{
    struct measure *measure = self;
    measure->section = section;
    if (section == BENCH_S_LIST && measure->wear == NULL)
        take_wear(measure);
}

static const char *const op_names[BENCH_OPS] = {
    "format", "mount", "unmount", "open_read", "size", "read", "seek", "close_read", "open_write", "write", "close_write",
    "delete", "exists", "list", "space", "gc_step"
};

static void begin(void *self, enum bench_op op)
{
    struct measure *measure = self;
    if (measure->trace != NULL)
        fprintf(measure->trace, "# %s\n", op_names[op]);
    if (measure->section == BENCH_S_NONE)
        return;
    measure->start = *nor_counts(measure->nor);
    measure->start_ns = nor_time_ns(measure->nor);
}

static void add_flash(struct measure_cell *cell, const struct nor_counts *now, const struct nor_counts *before)
{
    for (int op = 0; op < NOR_OPS; op++) {
        cell->flash_calls[op] += now->calls[op] - before->calls[op];
        cell->flash_bytes[op] += now->bytes[op] - before->bytes[op];
        cell->flash_ns[op] += now->time_ns[op] - before->time_ns[op];
    }
    for (int i = 0; i < FFFS_FLASH_ERASE_SIZES; i++)
        cell->erases_by_size[i] += now->erase_calls_by_size[i] - before->erase_calls_by_size[i];
    cell->erased_sectors += now->erased_sectors - before->erased_sectors;
}

static void end_file(struct measure *measure)
{
    unsigned class = measure->file_bytes <= 20480 ? 0 : measure->file_bytes <= 61440 ? 1 : 2;
    measure->classes[class].bytes += measure->file_bytes;
    measure->classes[class].ns += measure->file_ns;
    if (measure->file_bytes > 0)
        add_sample(&measure->per_kib, measure->file_ns * 1024 / measure->file_bytes);
}

/* Adds a call to the file being written, which spans open to close. */
static void add_to_file(struct measure *measure, enum bench_op op, uint64_t ns, uint32_t bytes)
{
    if (op == BENCH_OPEN_WRITE)
        measure->file_ns = measure->file_bytes = 0;
    if (op == BENCH_OPEN_WRITE || op == BENCH_WRITE || op == BENCH_CLOSE_WRITE) {
        measure->file_ns += ns;
        measure->file_bytes += bytes;
    }
    if (op == BENCH_CLOSE_WRITE)
        end_file(measure);
}

static void end(void *self, enum bench_op op, uint32_t bytes)
{
    struct measure *measure = self;
    if (measure->section == BENCH_S_NONE)
        return;
    struct measure_cell *cell = &measure->cells[measure->section][op];
    uint64_t ns = nor_time_ns(measure->nor) - measure->start_ns;
    cell->calls++;
    cell->bytes += bytes;
    cell->ns += ns;
    add_flash(cell, nor_counts(measure->nor), &measure->start);
    add_sample(&cell->latency, ns);
    if (measure->section == BENCH_S_CHURN)
        add_to_file(measure, op, ns, bytes);
}

struct measure_cell measure_section(const struct measure *measure, enum bench_section section)
{
    struct measure_cell sum;
    memset(&sum, 0, sizeof sum);
    for (int op = 0; op < BENCH_OPS; op++) {
        const struct measure_cell *cell = &measure->cells[section][op];
        sum.calls += cell->calls;
        sum.bytes += cell->bytes;
        sum.ns += cell->ns;
        for (int i = 0; i < NOR_OPS; i++) {
            sum.flash_calls[i] += cell->flash_calls[i];
            sum.flash_bytes[i] += cell->flash_bytes[i];
            sum.flash_ns[i] += cell->flash_ns[i];
        }
        for (int i = 0; i < FFFS_FLASH_ERASE_SIZES; i++)
            sum.erases_by_size[i] += cell->erases_by_size[i];
        sum.erased_sectors += cell->erased_sectors;
    }
    return sum;
}

uint64_t measure_section_ns(const struct measure *measure, enum bench_section section)
{
    return measure_section(measure, section).ns;
}

const struct bench_hooks measure_hooks = {
    .erase_device = erase_device, .section = enter_section, .begin = begin, .end = end
};

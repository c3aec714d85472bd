/* See results.h. */
#include "bench/results.h"

#include <string.h>

enum unit { UNIT_S, UNIT_MS, UNIT_US };

static const char *unit_name(enum unit unit)
{
    return unit == UNIT_S ? "s" : unit == UNIT_MS ? "ms" : "us";
}

static double in_unit(uint64_t ns, enum unit unit)
{
    return (double)ns / (unit == UNIT_S ? 1e9 : unit == UNIT_MS ? 1e6 : 1e3);
}

void results_row(const struct results_run *run, const char *metric, const char *unit, double value)
{
    fprintf(run->csv, "%s,%s,%s,%s,%s,%s,%.6g\n", run->fs, run->config, run->model, run->phase, metric, unit, value);
}

/* A metric whose plain name belongs to the run with (`plain_background` 1) or without (0) background steps. */
static void row_of_mode(const struct results_run *run, int plain_background, const char *metric, const char *unit,
                        double value)
{
    char name[64];
    const char *suffix = run->one_mode || run->background == plain_background ? "" : run->background ? "_background" : "_inline";
    snprintf(name, sizeof name, "%s%s", metric, suffix);
    results_row(run, name, unit, value);
}

static void row_total(const struct results_run *run, const char *metric, const char *unit, double value)
{
    row_of_mode(run, 0, metric, unit, value);
}

static void row_latency(const struct results_run *run, const char *metric, const char *unit, double value)
{
    row_of_mode(run, 1, metric, unit, value);
}

/* ---- Rows of one section ---- */

struct section_row { const char *metric; enum bench_section section; enum unit unit; };

/* Mean time of a section per `divide` things; 0 things: no row. */
static void row_time(const struct results_run *run, const struct measure *measure, const struct section_row *row,
                     uint64_t divide)
{
    if (divide != 0)
        row_total(run, row->metric, unit_name(row->unit),
                  in_unit(measure_section_ns(measure, row->section), row->unit) / (double)divide);
}

static double kib_per_s(uint64_t bytes, uint64_t ns)
{
    return ns == 0 ? 0 : (double)bytes / 1024.0 / ((double)ns / 1e9);
}

static void row_speed(const struct results_run *run, const struct measure *measure, const char *metric,
                      enum bench_section section)
{
    struct measure_cell sum = measure_section(measure, section);
    if (sum.bytes != 0 && sum.ns != 0)
        row_total(run, metric, "KiB/s", kib_per_s(sum.bytes, sum.ns));
}

/* Flash calls and bytes per thing: <name>_program_calls and so on. Only kinds of call that happened. */
static void rows_flash(const struct results_run *run, const char *name, const struct measure_cell *cell, uint64_t divide)
{
    if (!run->detail)
        return;
    static const char *const kinds[3] = { "read", "program", "erase" };
    char metric[64];
    for (int op = 0; op < 3; op++) {
        if (divide == 0 || cell->flash_calls[op] == 0)
            continue;
        snprintf(metric, sizeof metric, "%s_%s_calls", name, kinds[op]);
        row_total(run, metric, "per op", (double)cell->flash_calls[op] / (double)divide);
        snprintf(metric, sizeof metric, "%s_%s_bytes", name, kinds[op]);
        row_total(run, metric, "B per op", (double)cell->flash_bytes[op] / (double)divide);
    }
}

static void rows_section_flash(const struct results_run *run, const struct measure *measure, const char *name,
                               enum bench_section section, uint64_t divide)
{
    struct measure_cell sum = measure_section(measure, section);
    rows_flash(run, name, &sum, divide);
}

static void rows_seek(const struct results_run *run, const struct measure *measure)
{
    static const struct section_row rows[4] = {
        { "seek_near", BENCH_S_SEEK_NEAR, UNIT_US }, { "seek_forward", BENCH_S_SEEK_FORWARD, UNIT_US },
        { "seek_random", BENCH_S_SEEK_RANDOM, UNIT_US }, { "seek_end", BENCH_S_SEEK_END, UNIT_US }
    };
    for (unsigned i = 0; i < 4; i++)
        row_time(run, measure, &rows[i], measure->cells[rows[i].section][BENCH_SEEK].calls);
}

/* ---- Baseline ---- */

static void baseline_times(const struct results_run *run, const struct measure *measure)
{
    static const struct section_row rows[] = {
        { "list_192", BENCH_S_LIST_TINY, UNIT_MS }, { "list", BENCH_S_LIST, UNIT_MS },
        { "unmount", BENCH_S_UNMOUNT, UNIT_MS }, { "mount", BENCH_S_MOUNT, UNIT_MS },
        { "list_cold", BENCH_S_LIST_COLD, UNIT_MS }
    };
    static const struct section_row exists[] = {
        { "exists_hit", BENCH_S_EXISTS_HIT, UNIT_US }, { "exists_miss", BENCH_S_EXISTS_MISS, UNIT_US },
        { "exists_medium_hit", BENCH_S_EXISTS_MEDIUM_HIT, UNIT_US },
        { "exists_medium_miss", BENCH_S_EXISTS_MEDIUM_MISS, UNIT_US }
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++)
        row_time(run, measure, &rows[i], 1);
    for (unsigned i = 0; i < sizeof exists / sizeof exists[0]; i++)
        row_time(run, measure, &exists[i], measure->cells[exists[i].section][BENCH_EXISTS].calls);
    if (measure->cells[BENCH_S_MOUNT_UNCLEAN][BENCH_MOUNT].calls != 0)
        results_row(run, "mount_unclean", "ms", in_unit(measure_section_ns(measure, BENCH_S_MOUNT_UNCLEAN), UNIT_MS));
}

static void baseline_tiny(const struct results_run *run, const struct measure *measure, const struct bench *bench)
{
    const struct measure_cell *tiny = measure->cells[BENCH_S_WRITE_TINY];
    double files = (double)tiny[BENCH_OPEN_WRITE].calls;
    double payload = (double)tiny[BENCH_WRITE].bytes;
    struct measure_cell sum = measure_section(measure, BENCH_S_WRITE_TINY);
    results_row(run, "tiny_overhead", "B/file", ((double)bench->tiny_free_delta + bench->tiny_index_bytes - payload) / files);
    if (sum.flash_bytes[NOR_PROGRAM] != 0)
        results_row(run, "tiny_overhead_programmed", "B/file", ((double)sum.flash_bytes[NOR_PROGRAM] - payload) / files);
    results_row(run, "open_tiny", "us", in_unit(measure->cells[BENCH_S_READ_TINY][BENCH_OPEN_READ].ns, UNIT_US) / files);
}

static void baseline_flash(const struct results_run *run, const struct measure *measure)
{
    static const struct { const char *name; enum bench_section section; enum bench_op op; } rows[] = {
        { "write_tiny", BENCH_S_WRITE_TINY, BENCH_OPEN_WRITE }, { "read_tiny", BENCH_S_READ_TINY, BENCH_OPEN_READ },
        { "write_medium", BENCH_S_WRITE_MEDIUM, BENCH_OPEN_WRITE },
        { "read_medium", BENCH_S_READ_MEDIUM, BENCH_OPEN_READ }, { "list", BENCH_S_LIST, BENCH_LIST },
        { "exists_hit", BENCH_S_EXISTS_HIT, BENCH_EXISTS }, { "exists_miss", BENCH_S_EXISTS_MISS, BENCH_EXISTS },
        { "mount", BENCH_S_MOUNT, BENCH_MOUNT }, { "unmount", BENCH_S_UNMOUNT, BENCH_UNMOUNT },
        { "mount_unclean", BENCH_S_MOUNT_UNCLEAN, BENCH_MOUNT }
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++)
        rows_section_flash(run, measure, rows[i].name, rows[i].section,
                           measure->cells[rows[i].section][rows[i].op].calls);
}

void results_baseline(const struct results_run *run, struct measure *measure, const struct bench *bench)
{
    results_row(run, "format", "ms", in_unit(measure->cells[BENCH_S_FORMAT][BENCH_FORMAT].ns, UNIT_MS));
    results_row(run, "mount_first", "ms", in_unit(measure->cells[BENCH_S_FORMAT][BENCH_MOUNT].ns, UNIT_MS));
    row_speed(run, measure, "write_tiny", BENCH_S_WRITE_TINY);
    row_speed(run, measure, "read_tiny", BENCH_S_READ_TINY);
    row_speed(run, measure, "write_medium", BENCH_S_WRITE_MEDIUM);
    row_speed(run, measure, "read_medium", BENCH_S_READ_MEDIUM);
    row_speed(run, measure, "read_tiny_cold", BENCH_S_COLD_TINY);
    row_speed(run, measure, "read_medium_cold", BENCH_S_COLD_MEDIUM);
    baseline_tiny(run, measure, bench);
    baseline_times(run, measure);
    rows_seek(run, measure);
    baseline_flash(run, measure);
}

/* ---- Churn ---- */

static void churn_totals(const struct results_run *run, const struct measure *measure)
{
    const struct measure_cell *cells = measure->cells[BENCH_S_CHURN];
    struct measure_cell sum = measure_section(measure, BENCH_S_CHURN);
    uint64_t write_ns = cells[BENCH_OPEN_WRITE].ns + cells[BENCH_WRITE].ns + cells[BENCH_CLOSE_WRITE].ns;
    row_total(run, "total", "s", in_unit(sum.ns, UNIT_S));
    row_total(run, "time_write", "s", in_unit(write_ns, UNIT_S));
    row_total(run, "time_delete", "s", in_unit(cells[BENCH_REMOVE].ns, UNIT_S));
    if (run->background)
        row_total(run, "time_gc", "s", in_unit(cells[BENCH_BACKGROUND].ns, UNIT_S));
    row_total(run, "write", "KiB/s", kib_per_s(cells[BENCH_WRITE].bytes, write_ns));
    static const char *const classes[3] = { "write_small", "write_medium", "write_large" };
    for (unsigned i = 0; i < 3; i++)
        if (measure->classes[i].bytes != 0)
            row_total(run, classes[i], "KiB/s", kib_per_s(measure->classes[i].bytes, measure->classes[i].ns));
}

/* Erase work; the least possible erases what was written beyond the device's own blank size. */
static void churn_erases(const struct results_run *run, const struct measure *measure, const struct measure_cell *sum)
{
    uint64_t wear_sum = 0, wear_max = 0;
    for (uint32_t unit = 0; measure->wear != NULL && unit < measure->wear_units; unit++) {
        wear_sum += measure->wear[unit];
        wear_max = measure->wear[unit] > wear_max ? measure->wear[unit] : wear_max;
    }
    uint64_t large = sum->erases_by_size[1] + sum->erases_by_size[2];
    uint64_t blank = nor_size(measure->nor), written = measure->cells[BENCH_S_CHURN][BENCH_WRITE].bytes;
    row_total(run, "erases_sector", "calls", (double)sum->erases_by_size[0]);
    row_total(run, "erases_segment", "calls", (double)large);
    row_total(run, "erased_sectors", "sectors", (double)sum->erased_sectors);
    row_total(run, "wear_max", "erases", (double)wear_max);
    row_total(run, "wear_mean", "erases", (double)wear_sum / measure->wear_units);
    if (written > blank)
        row_total(run, "erase_ratio", "x", (double)sum->erased_sectors * nor_flash(measure->nor)->erase_bytes[0]
                  / (double)(written - blank));
}

static void churn_flash(const struct results_run *run, const struct measure *measure)
{
    const struct measure_cell *cells = measure->cells[BENCH_S_CHURN];
    struct measure_cell sum = measure_section(measure, BENCH_S_CHURN);
    if (sum.flash_calls[NOR_PROGRAM] == 0)
        return;
    row_total(run, "time_program", "s", in_unit(sum.flash_ns[NOR_PROGRAM], UNIT_S));
    row_total(run, "time_erase", "s", in_unit(sum.flash_ns[NOR_ERASE], UNIT_S));
    row_total(run, "time_read", "s", in_unit(sum.flash_ns[NOR_READ], UNIT_S));
    row_total(run, "programmed", "B", (double)sum.flash_bytes[NOR_PROGRAM]);
    row_total(run, "write_amplification", "x", (double)sum.flash_bytes[NOR_PROGRAM] / (double)cells[BENCH_WRITE].bytes);
    churn_erases(run, measure, &sum);
    rows_flash(run, "open_write", &cells[BENCH_OPEN_WRITE], cells[BENCH_OPEN_WRITE].calls);
    rows_flash(run, "write_call", &cells[BENCH_WRITE], cells[BENCH_WRITE].calls);
    rows_flash(run, "close", &cells[BENCH_CLOSE_WRITE], cells[BENCH_CLOSE_WRITE].calls);
    rows_flash(run, "delete", &cells[BENCH_REMOVE], cells[BENCH_REMOVE].calls);
    rows_section_flash(run, measure, "all", BENCH_S_CHURN, cells[BENCH_CLOSE_WRITE].calls + cells[BENCH_REMOVE].calls);
}

struct percentile { const char *name; uint32_t permille; };
static const struct percentile percentiles[] = { { "p50", 500 }, { "p95", 950 }, { "p99", 990 }, { "max", 1000 } };
enum { PERCENTILES = sizeof percentiles / sizeof percentiles[0] };

static void rows_percentiles(const struct results_run *run, const char *name, const char *unit, struct samples *samples)
{
    char metric[64];
    for (unsigned i = 0; samples->count != 0 && i < PERCENTILES; i++) {
        if (!run->detail && percentiles[i].permille != 500 && percentiles[i].permille != 1000)
            continue;
        snprintf(metric, sizeof metric, "%s_%s", name, percentiles[i].name);
        row_latency(run, metric, unit, in_unit(samples_percentile(samples, percentiles[i].permille), UNIT_MS));
    }
}

static void churn_latencies(const struct results_run *run, struct measure *measure)
{
    struct measure_cell *cells = measure->cells[BENCH_S_CHURN];
    rows_percentiles(run, "write_call", "ms", &cells[BENCH_WRITE].latency);
    rows_percentiles(run, "write_per_kib", "ms/KiB", &measure->per_kib);
    rows_percentiles(run, "open_write", "ms", &cells[BENCH_OPEN_WRITE].latency);
    rows_percentiles(run, "close", "ms", &cells[BENCH_CLOSE_WRITE].latency);
    rows_percentiles(run, "delete", "ms", &cells[BENCH_REMOVE].latency);
    rows_percentiles(run, "gc_step", "ms", &cells[BENCH_BACKGROUND].latency);
}

static void churn_after(const struct results_run *run, const struct measure *measure)
{
    static const struct section_row rows[] = {
        { "list_1", BENCH_S_LIST_1, UNIT_MS }, { "list_10", BENCH_S_LIST_10, UNIT_MS },
        { "list_100", BENCH_S_LIST_100, UNIT_MS }, { "list_1000", BENCH_S_LIST_1000, UNIT_MS },
        { "list_warm", BENCH_S_LIST, UNIT_MS }, { "unmount", BENCH_S_UNMOUNT, UNIT_MS },
        { "mount", BENCH_S_MOUNT, UNIT_MS }, { "space", BENCH_S_SPACE, UNIT_MS }, { "list", BENCH_S_LIST_COLD, UNIT_MS },
        { "mount_unclean", BENCH_S_MOUNT_UNCLEAN, UNIT_MS }
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++)
        row_time(run, measure, &rows[i], measure_section(measure, rows[i].section).calls != 0);
    static const struct section_row exists[] = {
        { "exists_hit", BENCH_S_EXISTS_HIT, UNIT_US }, { "exists_miss", BENCH_S_EXISTS_MISS, UNIT_US }
    };
    for (unsigned i = 0; i < 2; i++)
        row_time(run, measure, &exists[i], measure->cells[exists[i].section][BENCH_EXISTS].calls);
    row_speed(run, measure, "read_small", BENCH_S_READ_SMALL);
    row_speed(run, measure, "read_medium", BENCH_S_READ_MEDIUM);
    row_speed(run, measure, "read_large", BENCH_S_READ_LARGE);
    rows_seek(run, measure);
    rows_section_flash(run, measure, "list", BENCH_S_LIST_COLD, 1);
    rows_section_flash(run, measure, "mount", BENCH_S_MOUNT, 1);
    rows_section_flash(run, measure, "mount_unclean", BENCH_S_MOUNT_UNCLEAN, 1);
}

void results_churn(const struct results_run *run, struct measure *measure, const struct bench *bench)
{
    double written = (double)measure->cells[BENCH_S_CHURN][BENCH_WRITE].bytes;
    if (bench->failure.text != NULL)
        row_total(run, "failed_at", "%", 100.0 * written / bench->mix->target_written);
    row_total(run, "written", "B", written);
    row_total(run, "files", "files", bench->live_files);
    churn_totals(run, measure);
    churn_flash(run, measure);
    churn_latencies(run, measure);
    if (bench->failure.text == NULL)
        churn_after(run, measure);
}

/* ---- Latency, growth ---- */

void results_latency(const struct results_run *run, struct measure *measure)
{
    static const struct { const char *name; enum bench_section section; enum bench_op op; } rows[] = {
        { "open_write", BENCH_S_CHURN, BENCH_OPEN_WRITE }, { "write", BENCH_S_CHURN, BENCH_WRITE },
        { "close_write", BENCH_S_CHURN, BENCH_CLOSE_WRITE }, { "delete", BENCH_S_CHURN, BENCH_REMOVE },
        { "gc_step", BENCH_S_CHURN, BENCH_BACKGROUND }, { "open_read", BENCH_S_READ_SMALL, BENCH_OPEN_READ },
        { "read", BENCH_S_READ_SMALL, BENCH_READ }, { "exists", BENCH_S_EXISTS_HIT, BENCH_EXISTS }
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct samples *samples = &measure->cells[rows[i].section][rows[i].op].latency;
        for (unsigned p = 0; samples->count != 0 && p < PERCENTILES; p++) {
            char metric[64];
            snprintf(metric, sizeof metric, "%s_%s_%s", rows[i].name, run->background ? "background" : "inline",
                     percentiles[p].name);
            results_row(run, metric, "ms", in_unit(samples_percentile(samples, percentiles[p].permille), UNIT_MS));
        }
    }
    results_row(run, run->background ? "total_background" : "total_inline", "s",
                in_unit(measure_section_ns(measure, BENCH_S_CHURN), UNIT_S));
}

void results_growth(const struct results_run *run, struct measure *measure, uint32_t files)
{
    const struct measure_cell *open = &measure->cells[BENCH_S_OPEN_READ][BENCH_OPEN_READ];
    const struct measure_cell *missing = &measure->cells[BENCH_S_EXISTS_MISS][BENCH_EXISTS];
    struct { const char *name; const char *unit; double value; } rows[] = {
        { "open", "us", in_unit(open->ns, UNIT_US) / (double)open->calls },
        { "missing", "us", in_unit(missing->ns, UNIT_US) / (double)missing->calls },
        { "list", "ms", in_unit(measure_section_ns(measure, BENCH_S_LIST), UNIT_MS) },
        { "mount", "ms", in_unit(measure_section_ns(measure, BENCH_S_MOUNT), UNIT_MS) },
        { "space", "ms", in_unit(measure_section_ns(measure, BENCH_S_SPACE), UNIT_MS) }
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char metric[64];
        snprintf(metric, sizeof metric, "%s_%lu", rows[i].name, (unsigned long)files);
        results_row(run, metric, rows[i].unit, rows[i].value);
    }
}

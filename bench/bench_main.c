/* The host runner: every subject, phase and flash model on the emulated flash, in virtual time.
 *
 *   bench [--out DIR] [--fs F] [--config C] [--model M] [--phase P] [--mode inline|background] [--trace FILE]
 *         [--sizes32 VOLUME FILE]
 *
 * Writes DIR/results.csv, wear.csv and percentiles.csv. A filter runs only what has that name. Exit 1 when FASTFFS failed
 * a phase or returned a wrong byte; the line printed then replays it.
 */
#include "bench/adapters/adapter_fastffs.h"
#include "bench/results.h"
#include "bench/subjects.h"

#include <stdlib.h>
#include <string.h>

enum { MIB = 1024 * 1024, SLOTS = 5000, DEVICE_MIB = 4 };

struct session {
    FILE *csv, *wear, *percentiles, *trace;
    const char *fs, *config, *model, *phase, *mode; /* filters, NULL: all */
    uint32_t size32[2];            /* of struct fffs and struct fffs_file on a 32-bit target; 0: unknown */
    int failures, runs;
    struct bench_slot slots[SLOTS];
    uint8_t buffer[BENCH_CHUNK];
};

static const struct { const char *name; int model; } models[] = {
    { "esp32s3-fit", NOR_TIME_ESP32S3_FIT }, { "w25q64", NOR_TIME_W25Q64 }
};

/* One run: a subject with its state on a device of its own. */
struct run {
    struct session *session;
    const struct subject *subject;
    struct nor *nor;
    void *self;
    struct measure measure;
    struct bench bench;
    struct results_run results;
};

static int wanted(const char *filter, const char *name)
{
    return filter == NULL || strcmp(filter, name) == 0;
}

static int run_begin(struct run *run, uint32_t mib, int model, const struct subject_options *options)
{
    struct nor_config config;
    memset(&config, 0, sizeof config);
    config.size_bytes = mib * MIB;
    config.allow_overwrite = run->subject->overwrite;
    config.sparse = mib > DEVICE_MIB;
    config.model = model;
    run->nor = nor_create(&config);
    run->self = run->subject->create(run->subject, run->nor, options);
    if (run->self == NULL) {
        nor_destroy(run->nor);
        return -1;
    }
    measure_init(&run->measure, run->nor);
    run->measure.trace = run->session->trace;
    nor_trace(run->nor, run->session->trace);
    memset(&run->bench, 0, sizeof run->bench);
    run->bench.fs = run->subject->table;
    run->bench.fs_self = run->self;
    run->bench.hooks = &measure_hooks;
    run->bench.hooks_self = &run->measure;
    run->bench.slots = run->session->slots;
    run->bench.slot_count = SLOTS;
    run->bench.buffer = run->session->buffer;
    return 0;
}

static void run_end(struct run *run)
{
    measure_done(&run->measure);
    run->subject->destroy(run->self);
    nor_destroy(run->nor);
}

/* Progress, and for a failure what it takes to see it again. */
static void tell(struct run *run)
{
    const struct results_run *r = &run->results;
    const struct bench_failure *failure = &run->bench.failure;
    const char *mode = r->background ? "background" : "inline";
    double seconds = (double)measure_section_ns(&run->measure, BENCH_S_CHURN) / 1e9;
    run->session->runs++;
    if (failure->text == NULL) {
        fprintf(stderr, "%-8s %-15s %-12s %-18s %-10s %8.2f s\n", r->fs, r->config, r->model, r->phase, mode, seconds);
        return;
    }
    fprintf(stderr, "%s %s %s %s %s FAILED: %s: status %ld, name %s, after %lu bytes in %lu writes and %lu deletes\n", r->fs,
            r->config, r->model, r->phase, mode, failure->text, (long)failure->status, failure->name,
            (unsigned long)run->bench.written_bytes, (unsigned long)run->bench.writes, (unsigned long)run->bench.deletes);
    fprintf(stderr, "replay: bench --fs %s --config %s --model %s --phase %s --mode %s --trace ops.txt\n", r->fs, r->config,
            r->model, r->phase, mode);
    run->session->failures += run->subject->is_fastffs;
}

/* Fills in who runs what; 0 when the filters want it. */
static int choose(struct run *run, struct session *session, const struct subject *subject, const char *model,
                  const char *phase)
{
    memset(run, 0, sizeof *run);
    run->session = session;
    run->subject = subject;
    run->results.csv = session->csv;
    run->results.fs = subject->fs;
    run->results.config = subject->config;
    run->results.model = model;
    run->results.phase = phase;
    run->results.detail = !subject->is_fastffs || (subject->flags == 0 && model == models[0].name);
    run->results.one_mode = subject->table->background == NULL;
    return wanted(session->fs, subject->fs) && wanted(session->config, subject->config)
        && wanted(session->model, model) && wanted(session->phase, phase) ? 0 : -1;
}

static int choose_mode(struct run *run, int background)
{
    run->results.background = background;
    if (background && run->subject->table->background == NULL)
        return -1;
    return wanted(run->session->mode, background ? "background" : "inline") ? 0 : -1;
}

/* ---- Workload phases ---- */

struct phase {
    const char *name;
    const struct bench_mix *mix;   /* NULL: baseline */
    uint32_t target_live;          /* 0: as in the mix */
    struct subject_options options;
};

static const struct phase phases[] = {
    { "baseline", NULL, 0, { 0, 500 } },
    { "churn", &bench_churn, 0, { 0, 500 } },
    { "smallfiles", &bench_smallfiles, 0, { 0, 1024 } },
    { "smallfiles-3300k", &bench_smallfiles, 3300000, { 1400, 1536 } }
};

static void write_wear(struct run *run)
{
    const struct results_run *r = &run->results;
    for (uint32_t unit = 0; run->measure.wear != NULL && unit < run->measure.wear_units; unit++)
        fprintf(run->session->wear, "%s,%s,%s,%s,%lu,%lu\n", r->config, r->model, r->phase,
                r->background ? "background" : "inline", (unsigned long)unit, (unsigned long)run->measure.wear[unit]);
}

static void run_workload(struct run *run, const struct phase *phase)
{
    if (phase->mix == NULL) {
        run->bench.slot_count = BENCH_BASELINE_SLOTS;
        (void)bench_run_baseline(&run->bench);
        if (run->bench.failure.text == NULL)
            results_baseline(&run->results, &run->measure, &run->bench);
        return;
    }
    struct bench_mix mix = *phase->mix;
    if (phase->target_live != 0)
        mix.target_live = phase->target_live;
    run->bench.background = run->results.background;
    (void)bench_run_churn(&run->bench, &mix);
    results_churn(&run->results, &run->measure, &run->bench);
    run->bench.mix = NULL;
    if (run->subject->is_fastffs && run->results.model == models[0].name)
        write_wear(run);
}

static void run_phases(struct session *session, const struct subject *subject, unsigned model)
{
    struct run run;
    for (unsigned p = 0; p < sizeof phases / sizeof phases[0]; p++) {
        if (subject->flags != 0 && (model != 0 || phases[p].target_live != 0))
            continue; /* verify: headline rows only */
        for (int background = 0; background < (phases[p].mix != NULL ? 2 : 1); background++) {
            if (choose(&run, session, subject, models[model].name, phases[p].name) != 0 || choose_mode(&run, background) != 0
                || run_begin(&run, DEVICE_MIB, models[model].model, &phases[p].options) < 0)
                continue;
            run_workload(&run, &phases[p]);
            tell(&run);
            run_end(&run);
        }
    }
}

/* ---- Latency at a fill: the churn machine with a target of live data in percent of the capacity ---- */

struct latency { const char *name; const struct bench_mix *mix; uint32_t fill_percent; };

static const struct latency latencies[] = {
    { "latency-churn-57", &bench_churn, 57 }, { "latency-churn-80", &bench_churn, 80 },
    { "latency-churn-90", &bench_churn, 90 }, { "latency-small-57", &bench_smallfiles, 57 },
    { "latency-small-80", &bench_smallfiles, 80 }, { "latency-small-90", &bench_smallfiles, 90 }
};

static uint32_t capacity_of(struct run *run)
{
    struct bench_space space = { 0, 0, 0 };
    nor_fill_erased(run->nor);
    if (run->subject->table->format(run->self) == 0 && run->subject->table->mount(run->self) == 0) {
        (void)run->subject->table->space(run->self, &space);
        (void)run->subject->table->unmount(run->self);
    }
    return space.capacity_bytes;
}

/* Write calls at many percentiles, for the plot. */
static void write_percentiles(struct run *run)
{
    static const uint32_t permille[] = { 500, 750, 900, 950, 980, 990, 995, 998, 999, 1000 };
    const struct results_run *r = &run->results;
    struct samples *samples = &run->measure.cells[BENCH_S_CHURN][BENCH_WRITE].latency;
    for (unsigned i = 0; samples->count != 0 && i < sizeof permille / sizeof permille[0]; i++)
        fprintf(run->session->percentiles, "%s,%s,%s,%lu,%.6g\n", r->config, r->phase,
                r->background ? "background" : "inline", (unsigned long)permille[i],
                (double)samples_percentile(samples, permille[i]) / 1e6);
}

static void run_latency(struct session *session, const struct subject *subject, const struct latency *latency, int background)
{
    static const struct subject_options options = { 1500, 1536 };
    struct run run;
    if (choose(&run, session, subject, models[0].name, latency->name) != 0 || choose_mode(&run, background) != 0
        || run_begin(&run, DEVICE_MIB, models[0].model, &options) < 0)
        return;
    struct bench_mix mix = *latency->mix;
    mix.target_live = capacity_of(&run) / 100 * latency->fill_percent - mix.slack;
    run.bench.background = background;
    (void)bench_run_churn(&run.bench, &mix);
    results_latency(&run.results, &run.measure);
    write_percentiles(&run);
    tell(&run);
    run_end(&run);
}

/* ---- Growth ---- */

static const uint32_t growth_files[] = { 10, 30, 100, 300, 1000, 2000, 5000 };

static void measure_growth(struct run *run)
{
    const struct bench_hooks *hooks = &measure_hooks;
    if (bench_growth_begin(&run->bench) < 0)
        return;
    for (unsigned i = 0; i < sizeof growth_files / sizeof growth_files[0]; i++) {
        measure_done(&run->measure);
        measure_init(&run->measure, run->nor);
        hooks->section(&run->measure, BENCH_S_NONE);
        if (bench_growth_to(&run->bench, growth_files[i]) < 0)
            return;
        results_growth(&run->results, &run->measure, growth_files[i]);
    }
}

static void run_growth(struct session *session, const struct subject *subject, uint32_t mib, uint32_t cache_entries)
{
    const struct subject_options options = { 5200, cache_entries };
    struct run run;
    char phase[24], config[24];
    snprintf(phase, sizeof phase, "growth-%lu", (unsigned long)mib);
    snprintf(config, sizeof config, "%s%s", subject->config, cache_entries > 500 ? "-all-cached" : "");
    if (choose(&run, session, subject, models[0].name, phase) != 0 || choose_mode(&run, 0) != 0)
        return;
    run.results.config = config;
    if (run_begin(&run, mib, models[0].model, &options) < 0)
        return;
    measure_growth(&run);
    tell(&run);
    run_end(&run);
}

static void run_all_growth(struct session *session)
{
    for (uint32_t mib = 1; mib <= 64; mib *= 2) {
        run_growth(session, subject_find("fastffs", "minimal"), mib, 0);
        run_growth(session, subject_find("fastffs", "default"), mib, 500);
        run_growth(session, subject_find("fastffs", "default"), mib, 5200);
    }
}

/* ---- RAM ---- */

static void ram_rows(struct run *run, const struct phase *phase, const char *target, const struct bench_memory *memory)
{
    char name[40];
    run->results.model = target;
    snprintf(name, sizeof name, "base_%s", phase->name);
    results_row(&run->results, name, "B", memory->base_bytes);
    if (phase->mix == &bench_churn)
        results_row(&run->results, "open_file", "B", memory->open_bytes);
}

static void run_ram(struct session *session, const struct subject *subject)
{
    struct run run;
    for (unsigned p = 1; p < sizeof phases / sizeof phases[0]; p++) {
        if (choose(&run, session, subject, models[0].name, "ram") != 0
            || run_begin(&run, DEVICE_MIB, models[0].model, &phases[p].options) < 0)
            continue;
        struct bench_memory memory;
        subject->table->memory(run.self, &memory);
        ram_rows(&run, &phases[p], "host", &memory);
        memory.base_bytes += session->size32[0] - (uint32_t)sizeof(struct fffs);
        memory.open_bytes += session->size32[1] - (uint32_t)sizeof(struct fffs_file);
        if (session->size32[0] != 0)
            ram_rows(&run, &phases[p], "ilp32", &memory);
        run_end(&run);
    }
}

/* ---- Main ---- */

static FILE *create(const char *folder, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        perror(path);
        exit(2);
    }
    return file;
}

static void parse(struct session *session, int argc, char **argv, const char **folder)
{
    for (int i = 1; i < argc; i++) {
        const char **to = strcmp(argv[i], "--fs") == 0 ? &session->fs : strcmp(argv[i], "--config") == 0 ? &session->config
            : strcmp(argv[i], "--model") == 0 ? &session->model : strcmp(argv[i], "--phase") == 0 ? &session->phase
            : strcmp(argv[i], "--mode") == 0 ? &session->mode : strcmp(argv[i], "--out") == 0 ? folder : NULL;
        if (to != NULL && i + 1 < argc) {
            *to = argv[++i];
        } else if (strcmp(argv[i], "--trace") == 0 && i + 1 < argc) {
            session->trace = fopen(argv[++i], "w");
        } else if (strcmp(argv[i], "--sizes32") == 0 && i + 2 < argc) {
            session->size32[0] = (uint32_t)strtoul(argv[++i], NULL, 0);
            session->size32[1] = (uint32_t)strtoul(argv[++i], NULL, 0);
        } else {
            fprintf(stderr, "bench: unknown argument %s\n", argv[i]);
            exit(2);
        }
    }
}

static void run_all(struct session *session)
{
    for (unsigned model = 0; model < sizeof models / sizeof models[0]; model++)
        for (unsigned s = 0; s < subject_count; s++)
            run_phases(session, &subjects[s], model);
    for (unsigned s = 0; s < subject_count; s++) {
        if (!subjects[s].is_fastffs || subjects[s].flags != 0)
            continue;
        for (unsigned l = 0; l < sizeof latencies / sizeof latencies[0]; l++)
            for (int background = 0; background < 2; background++)
                run_latency(session, &subjects[s], &latencies[l], background);
        run_ram(session, &subjects[s]);
    }
    run_all_growth(session);
}

int main(int argc, char **argv)
{
    static struct session session;
    const char *folder = ".";
    parse(&session, argc, argv, &folder);
    session.csv = create(folder, "results.csv");
    session.wear = create(folder, "wear.csv");
    session.percentiles = create(folder, "percentiles.csv");
    fprintf(session.csv, "fs,config,model,phase,metric,unit,value\n");
    fprintf(session.wear, "config,model,phase,mode,sector,erases\n");
    fprintf(session.percentiles, "config,phase,mode,permille,ms\n");
    run_all(&session);
    fclose(session.csv);
    fclose(session.wear);
    fclose(session.percentiles);
    fprintf(stderr, "%d runs, %d of FASTFFS failed\n", session.runs, session.failures);
    return session.failures == 0 ? 0 : 1;
}

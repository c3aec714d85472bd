/* Turns the console logs of the board projects into rows of results.csv, with the code that makes them for `make bench`:
 *
 *   log_to_csv LOG... >results.csv
 *
 * A log may hold other lines and several runs. A damaged line is told on stderr and left out, with exit status 1: its phase
 * can then not be trusted. Percentiles come from histograms whose cells are at most 6.25 % wide.
 */
#include "bench/esp32s3/common/board_names.h"
#include "bench/results.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 40, LINE = 16384 };

struct field { const char *name, *value; };

struct reader {
    const char *path;
    unsigned long line_number;
    int damaged;
    char fs[24], config[24], model[32], phase[24];
    int has_background;
    uint32_t files;
    int open;                      /* a phase began and has not ended */
    struct nor *nor;
    struct measure measure;
    struct results_run results;
    struct field fields[FIELDS];
    unsigned field_count;
};

/* ---- Lines ---- */

static void complain(struct reader *reader, const char *text)
{
    fprintf(stderr, "%s:%lu: %s\n", reader->path, reader->line_number, text);
    reader->damaged = 1;
}

static const char *text_of(const struct reader *reader, const char *name)
{
    for (unsigned i = 0; i < reader->field_count; i++)
        if (strcmp(reader->fields[i].name, name) == 0)
            return reader->fields[i].value;
    return "";
}

static uint64_t number_of(const struct reader *reader, const char *name)
{
    return strtoull(text_of(reader, name), NULL, 10);
}

/* Cuts "kind name=value name=value" into fields; the kind. */
static char *split(struct reader *reader, char *line)
{
    char *kind = strtok(line, " "), *word;

    reader->field_count = 0;
    while ((word = strtok(NULL, " ")) != NULL && reader->field_count < FIELDS) {
        char *equals = strchr(word, '=');

        if (equals == NULL)
            continue;
        *equals = '\0';
        reader->fields[reader->field_count].name = word;
        reader->fields[reader->field_count++].value = equals + 1;
    }
    return kind == NULL ? line : kind;
}

/* The text of a log line without its check, NULL when it is none or is damaged. Text may stand before it. */
static char *checked_line(struct reader *reader, char *line)
{
    char *start = strstr(line, "FFB1 "), *star;

    if (start == NULL)
        return NULL;
    start[strcspn(start, "\r\n")] = '\0';
    star = strrchr(start, '*');
    if (star == NULL || star == start || strtoul(star + 1, NULL, 16) != board_line_check(start, (uint32_t)(star - 1 - start))) {
        complain(reader, "damaged line, left out");
        return NULL;
    }
    star[-1] = '\0';
    return start + 5;
}

static int index_of(const char *const *names, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

static void copy_text(char *to, size_t room, const char *from)
{
    snprintf(to, room, "%s", from);
}

/* ---- Figures ---- */

static void take_cell(struct reader *reader)
{
    int section = index_of(board_section_names, BENCH_SECTIONS, text_of(reader, "section"));
    int op = index_of(board_op_names, BENCH_OPS, text_of(reader, "op"));
    static const char *const flash[3][3] = { { "rc", "rb", "ru" }, { "pc", "pb", "pu" }, { "ec", "eb", "eu" } };

    if (section < 0 || op < 0) {
        complain(reader, "unknown section or call");
        return;
    }
    struct measure_cell *cell = &reader->measure.cells[section][op];
    cell->calls += number_of(reader, "calls");
    cell->bytes += number_of(reader, "bytes");
    cell->ns += number_of(reader, "us") * 1000u;
    for (int i = 0; i < 3; i++) {
        cell->flash_calls[i] += number_of(reader, flash[i][0]);
        cell->flash_bytes[i] += number_of(reader, flash[i][1]);
        cell->flash_ns[i] += number_of(reader, flash[i][2]) * 1000u;
    }
    cell->erased_sectors += number_of(reader, "es");
    cell->erases_by_size[0] += number_of(reader, "e4");
    cell->erases_by_size[2] += number_of(reader, "e64");
}

static void *allocate(size_t bytes)
{
    void *memory = calloc(1, bytes);

    if (memory == NULL) {
        perror("log_to_csv");
        exit(2);
    }
    return memory;
}

/* Samples again: each at the middle of its cell, the largest as it was. */
static void take_hist(struct reader *reader)
{
    int which = index_of(board_hist_names, BOARD_HISTS, text_of(reader, "of"));
    static const enum bench_op ops[BOARD_HISTS - 1] = { BENCH_OPEN_WRITE, BENCH_WRITE, BENCH_CLOSE_WRITE, BENCH_REMOVE,
                                                        BENCH_BACKGROUND };
    uint64_t count = number_of(reader, "n"), most = number_of(reader, "max_us");
    const char *at = text_of(reader, "cells");

    if (which < 0 || count == 0 || count > 10000000) {
        complain(reader, "unknown histogram");
        return;
    }
    struct samples *samples = which == BOARD_HIST_KIB ? &reader->measure.per_kib
                                                      : &reader->measure.cells[BENCH_S_CHURN][ops[which]].latency;
    free(samples->values);
    samples->values = allocate(count * sizeof *samples->values);
    samples->room = (uint32_t)count;
    samples->count = 0;
    while (*at != '\0') {
        char *end;
        unsigned long cell = strtoul(at, &end, 10), n = *end == ':' ? strtoul(end + 1, &end, 10) : 0;

        if (cell >= BOARD_CELLS || n == 0 || n > count - samples->count) {
            complain(reader, "bad histogram");
            return;
        }
        uint64_t from = board_cell_from((uint32_t)cell), width = board_cell_from((uint32_t)cell + 1u) - from;
        uint64_t middle = from + (width - 1u) / 2u;
        while (n-- > 0)
            samples->values[samples->count++] = (middle < most ? middle : most) * 1000u;
        at = *end == ',' ? end + 1 : end;
    }
    if (samples->count != count)
        complain(reader, "histogram does not add up");
    else
        samples->values[count - 1] = most * 1000u;
}

static void take_class(struct reader *reader)
{
    uint64_t number = number_of(reader, "number");

    if (number > 2)
        return;
    reader->measure.classes[number].bytes = number_of(reader, "bytes");
    reader->measure.classes[number].ns = number_of(reader, "us") * 1000u;
}

/* Only the largest and the sum are known; that is all the rows need. */
static void take_wear(struct reader *reader)
{
    struct measure *measure = &reader->measure;

    free(measure->wear);
    measure->wear = allocate(measure->wear_units * sizeof *measure->wear);
    measure->wear[0] = (uint32_t)number_of(reader, "max");
    uint64_t rest = number_of(reader, "sum") - measure->wear[0];
    for (uint32_t unit = 1; unit < measure->wear_units && rest > 0; unit++) {
        measure->wear[unit] = rest < measure->wear[0] ? (uint32_t)rest : measure->wear[0];
        rest -= measure->wear[unit];
    }
}

/* ---- Phases ---- */

static void take_run(struct reader *reader)
{
    copy_text(reader->fs, sizeof reader->fs, text_of(reader, "fs"));
    copy_text(reader->config, sizeof reader->config, text_of(reader, "config"));
    copy_text(reader->model, sizeof reader->model, text_of(reader, "model"));
    reader->has_background = strcmp(text_of(reader, "background"), "yes") == 0;
    struct results_run *results = &reader->results;
    results->csv = stdout;
    results->fs = reader->fs;
    results->config = reader->config;
    results->model = reader->model;
    results->phase = reader->phase;
    results->detail = 1;
    results->one_mode = !reader->has_background;
}

static void fresh_measure(struct reader *reader)
{
    measure_done(&reader->measure);
    measure_init(&reader->measure, reader->nor);
}

static void take_phase(struct reader *reader)
{
    if (reader->open)
        complain(reader, "the phase before did not end");
    fresh_measure(reader);
    copy_text(reader->phase, sizeof reader->phase, text_of(reader, "name"));
    reader->results.background = strcmp(text_of(reader, "mode"), "background") == 0;
    reader->files = (uint32_t)number_of(reader, "files");
    reader->open = 1;
}

static void take_end(struct reader *reader)
{
    static struct bench bench;
    static struct bench_mix mix;
    static char text[128];
    int failed = strcmp(text_of(reader, "result"), "ok") != 0;

    if (!reader->open) {
        complain(reader, "an end without a beginning");
        return;
    }
    reader->open = 0;
    memset(&bench, 0, sizeof bench);
    copy_text(text, sizeof text, text_of(reader, "text"));
    bench.failure.text = failed ? text : NULL;
    bench.live_files = (uint32_t)number_of(reader, "live_files");
    bench.tiny_free_delta = (uint32_t)number_of(reader, "tiny_free_delta");
    bench.tiny_index_bytes = (uint32_t)number_of(reader, "tiny_index_bytes");
    mix.target_written = (uint32_t)number_of(reader, "target");
    bench.mix = &mix;
    if (failed)
        fprintf(stderr, "%s: %s %s %s failed: %s, status -%s, name %s\n", reader->path, reader->fs, reader->config, reader->phase,
                text, text_of(reader, "status"), text_of(reader, "name"));
    if (strncmp(reader->phase, "growth-", 7) == 0) {
        if (!failed)
            results_growth(&reader->results, &reader->measure, reader->files);
    } else if (strcmp(reader->phase, "baseline") == 0) {
        if (!failed)
            results_baseline(&reader->results, &reader->measure, &bench);
        copy_text(reader->phase, sizeof reader->phase, "ram");
        results_row(&reader->results, "stack", "B", (double)number_of(reader, "stack"));
    } else {
        results_churn(&reader->results, &reader->measure, &bench);
    }
}

static void take_probe(struct reader *reader)
{
    static const char *const kinds[3] = { "min", "mean", "max" };
    char metric[64], name[16];

    copy_text(reader->phase, sizeof reader->phase, "probe");
    for (int i = 0; i < 3; i++) {
        snprintf(metric, sizeof metric, "%.20s_%.12s_%s", text_of(reader, "op"), text_of(reader, "bytes"), kinds[i]);
        snprintf(name, sizeof name, "%s_us", kinds[i]);
        results_row(&reader->results, metric, "us", (double)number_of(reader, name));
    }
}

static void take_memory(struct reader *reader)
{
    copy_text(reader->phase, sizeof reader->phase, "ram");
    results_row(&reader->results, "base", "B", (double)number_of(reader, "base"));
    results_row(&reader->results, "open_file", "B", (double)number_of(reader, "open"));
}

static void take_line(struct reader *reader, char *line)
{
    static const struct { const char *kind; void (*take)(struct reader *reader); int in_run; } kinds[] = {
        { "run", take_run, 0 }, { "probe", take_probe, 1 }, { "memory", take_memory, 1 }, { "phase", take_phase, 1 },
        { "cell", take_cell, 1 }, { "hist", take_hist, 1 }, { "class", take_class, 1 }, { "wear", take_wear, 1 },
        { "end", take_end, 1 }
    };
    char *text = checked_line(reader, line), *kind;

    if (text == NULL)
        return;
    kind = split(reader, text);
    if (strcmp(kind, "fault") == 0)
        complain(reader, text_of(reader, "text"));
    for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].kind, kind) == 0) {
            if (kinds[i].in_run && reader->fs[0] == '\0')
                complain(reader, "no line 'run' before this");
            else
                kinds[i].take(reader);
        }
}

static int read_log(struct reader *reader, const char *path)
{
    static char line[LINE];
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");

    if (file == NULL) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return -1;
    }
    reader->path = path;
    reader->line_number = 0;
    reader->fs[0] = '\0';
    reader->open = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        reader->line_number++;
        take_line(reader, line);
    }
    if (reader->fs[0] == '\0')
        complain(reader, "there is no run in this log");
    else if (reader->open)
        complain(reader, "the last phase did not end");
    if (file != stdin)
        fclose(file);
    return 0;
}

int main(int argc, char **argv)
{
    static struct reader reader;
    struct nor_config config;
    int failed = 0;

    if (argc < 2) {
        fprintf(stderr, "usage: log_to_csv LOG... >results.csv\n");
        return 2;
    }
    memset(&config, 0, sizeof config);
    config.size_bytes = 4 * 1024 * 1024;
    reader.nor = nor_create(&config);
    printf("fs,config,model,phase,metric,unit,value\n");
    for (int i = 1; i < argc; i++)
        failed |= read_log(&reader, argv[i]) < 0;
    measure_done(&reader.measure);
    nor_destroy(reader.nor);
    return failed || reader.damaged ? 1 : 0;
}

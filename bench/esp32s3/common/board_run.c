/* The phases, and the hooks that measure them. One section's figures are kept at a time and logged when it ends; the reader
 * of the log adds up sections that are entered more than once. */
#include "board.h"

#include <stdlib.h>
#include <string.h>

#include "board_log.h"
#include "board_names.h"
#include "esp_heap_caps.h"
#include "esp_idf_version.h"
#include "esp_timer.h"
#include "freertos/FreeRTOS.h"
#include "freertos/semphr.h"
#include "freertos/task.h"
#include "sdkconfig.h"

enum { SLOTS = 5000 };

struct cell {
    uint32_t calls;
    uint64_t bytes, us;
    struct board_counts flash;
};

struct hist { uint32_t count, most, cells[BOARD_CELLS]; };

struct run {
    const struct board_subject *subject;
    const esp_partition_t *partition;
    void *self;
    SemaphoreHandle_t ended;
    struct bench bench;
    struct bench_slot *slots;
    uint8_t buffer[BENCH_CHUNK];
    enum bench_section section;
    struct cell cells[BENCH_OPS];
    struct hist hists[BOARD_HISTS];
    uint64_t class_bytes[3], class_us[3], file_bytes, file_us;
    int64_t start_us;
    struct board_counts start;
};

/* ---- Measuring ---- */

static void erase_device(void *self)
{
    const struct run *run = self;

    (void)esp_partition_erase_range(run->partition, 0, run->partition->size);
    memset(board_wear, 0, sizeof board_wear);
}

static void log_flash(const struct board_counts *flash)
{
    static const char *const names[3][3] = { { "rc", "rb", "ru" }, { "pc", "pb", "pu" }, { "ec", "eb", "eu" } };
    int op;

    for (op = 0; op < 3; op++) {
        board_log_number(names[op][0], flash->calls[op]);
        board_log_number(names[op][1], flash->bytes[op]);
        board_log_number(names[op][2], flash->us[op]);
    }
    board_log_number("es", flash->erased_sectors);
    board_log_number("e4", flash->erases_sector);
    board_log_number("e64", flash->erases_block);
}

static void log_section(struct run *run)
{
    int op;

    for (op = 0; op < BENCH_OPS; op++) {
        const struct cell *cell = &run->cells[op];

        if (cell->calls == 0 || run->section == BENCH_S_NONE)
            continue;
        board_log_begin("cell");
        board_log_text("section", board_section_names[run->section]);
        board_log_text("op", board_op_names[op]);
        board_log_number("calls", cell->calls);
        board_log_number("bytes", cell->bytes);
        board_log_number("us", cell->us);
        log_flash(&cell->flash);
        board_log_end();
    }
    memset(run->cells, 0, sizeof run->cells);
}

static void log_wear(void)
{
    uint32_t most = 0, sum = 0, unit;

    for (unit = 0; unit < BOARD_WEAR_UNITS; unit++) {
        sum += board_wear[unit];
        most = board_wear[unit] > most ? board_wear[unit] : most;
    }
    board_log_begin("wear");
    board_log_number("max", most);
    board_log_number("sum", sum);
    board_log_end();
}

static void enter_section(void *self, enum bench_section section)
{
    struct run *run = self;

    if (run->section == section)
        return;
    log_section(run);
    if (run->section == BENCH_S_CHURN && section == BENCH_S_LIST)
        log_wear();
    run->section = section;
}

static void begin(void *self, enum bench_op op)
{
    struct run *run = self;

    (void)op;
    run->start = board_counts;
    run->start_us = esp_timer_get_time();
}

static void add_flash(struct board_counts *sum, const struct board_counts *before)
{
    int op;

    for (op = 0; op < 3; op++) {
        sum->calls[op] += board_counts.calls[op] - before->calls[op];
        sum->bytes[op] += board_counts.bytes[op] - before->bytes[op];
        sum->us[op] += board_counts.us[op] - before->us[op];
    }
    sum->erased_sectors += board_counts.erased_sectors - before->erased_sectors;
    sum->erases_sector += board_counts.erases_sector - before->erases_sector;
    sum->erases_block += board_counts.erases_block - before->erases_block;
}

static void add_hist(struct hist *hist, uint64_t us)
{
    uint32_t value = us > 0xFFFFFFFFu ? 0xFFFFFFFFu : (uint32_t)us, cell = board_cell_of(value);

    hist->count++;
    hist->most = value > hist->most ? value : hist->most;
    hist->cells[cell < BOARD_CELLS ? cell : BOARD_CELLS - 1]++;
}

static void end_file(struct run *run)
{
    unsigned class = run->file_bytes <= 20480 ? 0 : run->file_bytes <= 61440 ? 1 : 2;

    run->class_bytes[class] += run->file_bytes;
    run->class_us[class] += run->file_us;
    if (run->file_bytes > 0)
        add_hist(&run->hists[BOARD_HIST_KIB], run->file_us * 1024 / run->file_bytes);
}

static void add_churn(struct run *run, enum bench_op op, uint64_t us, uint32_t bytes)
{
    static const uint8_t hist_of[BENCH_OPS] = {
        [BENCH_OPEN_WRITE] = BOARD_HIST_OPEN + 1, [BENCH_WRITE] = BOARD_HIST_WRITE + 1,
        [BENCH_CLOSE_WRITE] = BOARD_HIST_CLOSE + 1, [BENCH_REMOVE] = BOARD_HIST_DELETE + 1,
        [BENCH_BACKGROUND] = BOARD_HIST_STEP + 1
    };

    if (hist_of[op] != 0)
        add_hist(&run->hists[hist_of[op] - 1], us);
    if (op == BENCH_OPEN_WRITE)
        run->file_us = run->file_bytes = 0;
    if (op == BENCH_OPEN_WRITE || op == BENCH_WRITE || op == BENCH_CLOSE_WRITE) {
        run->file_us += us;
        run->file_bytes += bytes;
    }
    if (op == BENCH_CLOSE_WRITE)
        end_file(run);
}

static void end(void *self, enum bench_op op, uint32_t bytes)
{
    struct run *run = self;
    uint64_t us = (uint64_t)(esp_timer_get_time() - run->start_us);

    run->cells[op].calls++;
    run->cells[op].bytes += bytes;
    run->cells[op].us += us;
    add_flash(&run->cells[op].flash, &run->start);
    if (run->section == BENCH_S_CHURN)
        add_churn(run, op, us, bytes);
}

static const struct bench_hooks hooks = { erase_device, enter_section, begin, end };

/* ---- The end of a phase ---- */

static void log_hists(const struct run *run)
{
    int h;
    uint32_t cell;

    for (h = 0; h < BOARD_HISTS; h++) {
        const struct hist *hist = &run->hists[h];
        int first = 1;

        if (hist->count == 0)
            continue;
        board_log_begin("hist");
        board_log_text("of", board_hist_names[h]);
        board_log_number("n", hist->count);
        board_log_number("max_us", hist->most);
        board_log_text("cells", "");
        for (cell = 0; cell < BOARD_CELLS; cell++)
            if (hist->cells[cell] != 0) {
                board_log_pair(cell, hist->cells[cell], first);
                first = 0;
            }
        board_log_end();
    }
}

static void log_classes(const struct run *run)
{
    uint32_t class;

    for (class = 0; class < 3; class++) {
        if (run->class_bytes[class] == 0)
            continue;
        board_log_begin("class");
        board_log_number("number", class);
        board_log_number("bytes", run->class_bytes[class]);
        board_log_number("us", run->class_us[class]);
        board_log_end();
    }
}

static void log_end(const struct run *run)
{
    const struct bench *bench = &run->bench;

    board_log_begin("end");
    board_log_text("result", bench->failure.text == NULL ? "ok" : "failed");
    if (bench->failure.text != NULL) {
        board_log_text("text", bench->failure.text);
        board_log_number("status", (uint64_t)-(int64_t)bench->failure.status);
        board_log_text("name", bench->failure.name);
    }
    board_log_number("written", bench->written_bytes);
    board_log_number("writes", bench->writes);
    board_log_number("deletes", bench->deletes);
    board_log_number("live_bytes", bench->live_bytes);
    board_log_number("live_files", bench->live_files);
    board_log_number("tiny_free_delta", bench->tiny_free_delta);
    board_log_number("tiny_index_bytes", bench->tiny_index_bytes);
    board_log_number("target", bench->mix == NULL ? 0 : bench->mix->target_written);
    board_log_number("stack", BOARD_STACK_BYTES - uxTaskGetStackHighWaterMark(NULL));
    board_log_number("heap_least", heap_caps_get_minimum_free_size(MALLOC_CAP_8BIT));
    board_log_end();
}

static void log_phase(const char *name, int background, uint32_t files)
{
    board_log_begin("phase");
    board_log_text("name", name);
    board_log_text("mode", background ? "background" : "inline");
    board_log_number("files", files);
    board_log_end();
}

/* ---- Phases ---- */

struct phase {
    const char *name;
    const struct bench_mix *mix;   /* NULL: baseline */
    struct board_options options;
};

static const struct phase phases[] = {
    { "baseline", NULL, { 0, 512 } }, { "churn", &bench_churn, { 0, 512 } }, { "smallfiles", &bench_smallfiles, { 0, 1024 } }
};
static const uint32_t growth_files[] = { 10, 30, 100, 300, 1000 };

/* Zeroes what belongs to one phase. */
static int begin_phase(struct run *run, const struct board_options *options)
{
    run->self = run->subject->create(run->partition, options);
    if (run->self == NULL)
        return -1;
    memset(&run->bench, 0, sizeof run->bench);
    memset(run->slots, 0, SLOTS * sizeof *run->slots);
    memset(run->cells, 0, sizeof run->cells);
    memset(run->hists, 0, sizeof run->hists);
    memset(run->class_bytes, 0, sizeof run->class_bytes);
    memset(run->class_us, 0, sizeof run->class_us);
    run->section = BENCH_S_NONE;
    run->bench.fs = run->subject->table;
    run->bench.fs_self = run->self;
    run->bench.hooks = &hooks;
    run->bench.hooks_self = run;
    run->bench.slots = run->slots;
    run->bench.slot_count = SLOTS;
    run->bench.buffer = run->buffer;
    return 0;
}

static void end_phase(struct run *run)
{
    enter_section(run, BENCH_S_NONE);
    log_classes(run);
    log_hists(run);
    log_end(run);
    (void)run->subject->table->unmount(run->self); /* may fail: after a failure anything may be */
    run->subject->destroy(run->self);
}

static void run_phase(struct run *run, const struct phase *phase, int background)
{
    log_phase(phase->name, background, 0);
    if (begin_phase(run, &phase->options) != 0)
        return;
    if (phase->mix == NULL) {
        run->bench.slot_count = BENCH_BASELINE_SLOTS;
        (void)bench_run_baseline(&run->bench);
    } else {
        run->bench.background = background;
        (void)bench_run_churn(&run->bench, phase->mix);
    }
    end_phase(run);
}

static void run_growth(struct run *run)
{
    static const struct board_options options = { 5200, 512 };
    unsigned i;

    if (begin_phase(run, &options) != 0)
        return;
    for (i = 0; i < sizeof growth_files / sizeof growth_files[0]; i++) {
        log_phase("growth-4", 0, growth_files[i]);
        if ((i == 0 && bench_growth_begin(&run->bench) < 0) || bench_growth_to(&run->bench, growth_files[i]) < 0)
            break;
        enter_section(run, BENCH_S_NONE);
        if (i + 1 < sizeof growth_files / sizeof growth_files[0])
            log_end(run);
    }
    end_phase(run);
}

/* ---- RAM ---- */

static void log_memory(struct run *run)
{
    static const struct board_options options = { 0, 512 };
    size_t before = heap_caps_get_free_size(MALLOC_CAP_8BIT), mounted, opened;
    const struct bench_fs *table = run->subject->table;
    struct bench_memory memory = { 0, 0 };

    if (begin_phase(run, &options) != 0)
        return;
    erase_device(run);
    if (table->format(run->self) == 0 && table->mount(run->self) == 0) {
        mounted = heap_caps_get_free_size(MALLOC_CAP_8BIT);
        (void)table->open_write(run->self, "memory.bin");
        opened = heap_caps_get_free_size(MALLOC_CAP_8BIT);
        (void)table->close(run->self);
        if (table->memory != NULL) {
            table->memory(run->self, &memory);
        } else {
            memory.base_bytes = (uint32_t)(before - mounted);
            memory.open_bytes = (uint32_t)(mounted - opened);
        }
        board_log_begin("memory");
        board_log_number("base", memory.base_bytes);
        board_log_number("open", memory.open_bytes);
        board_log_number("heap_base", before - mounted);
        board_log_number("heap_open", mounted - opened);
        board_log_end();
    }
    (void)table->unmount(run->self);
    run->subject->destroy(run->self);
}

/* ---- All ---- */

#ifndef BOARD_WHERE
#define BOARD_WHERE CONFIG_IDF_TARGET "-measured" /* the model in the CSV; host builds say otherwise */
#endif

static void log_run(const struct run *run)
{
    board_log_begin("run");
    board_log_text("fs", run->subject->fs);
    board_log_text("config", run->subject->config);
    board_log_text("model", BOARD_WHERE);
    board_log_text("background", run->subject->table->background != NULL ? "yes" : "no");
    board_log_text("idf", esp_get_idf_version());
    board_log_number("size", run->partition->size);
    board_log_number("address", run->partition->address);
    board_log_number("encrypted", run->partition->encrypted);
    board_log_end();
}

static void run_all(struct run *run)
{
    unsigned p;
    int background;

    log_run(run);
    if (board_probe(run->partition) != 0) {
        board_log_begin("fault");
        board_log_text("text", "raw flash test failed");
        board_log_end();
        return;
    }
    log_memory(run);
    for (p = 0; p < sizeof phases / sizeof phases[0]; p++)
        for (background = 0; background < 2; background++)
            if (!background || (phases[p].mix != NULL && run->subject->table->background != NULL))
                run_phase(run, &phases[p], background);
    run_growth(run);
    board_log_begin("done");
    board_log_end();
}

static void task(void *context)
{
    struct run *run = context;

    run_all(run);
    (void)xSemaphoreGive(run->ended);
    vTaskDelete(NULL);
}

void board_run(const struct board_subject *subject)
{
    struct run *run = calloc(1, sizeof *run);
    TaskHandle_t handle;

    if (run == NULL)
        return;
    run->subject = subject;
    run->partition = esp_partition_find_first(ESP_PARTITION_TYPE_DATA, ESP_PARTITION_SUBTYPE_ANY, board_partition_label);
    run->slots = calloc(SLOTS, sizeof *run->slots);
    run->ended = xSemaphoreCreateBinary();
    if (run->partition != NULL && run->slots != NULL && run->ended != NULL
        && xTaskCreate(task, "bench", BOARD_STACK_BYTES, run, 5, &handle) == pdPASS)
        (void)xSemaphoreTake(run->ended, portMAX_DELAY);
    else
        board_log_begin("fault"), board_log_text("text", "no partition 'bench', or no memory"), board_log_end();
    if (run->ended != NULL)
        vSemaphoreDelete(run->ended);
    free(run->slots);
    free(run);
}

/* The benchmark on an ESP32: each project names its filesystem in a struct board_subject and calls board_run().
 *
 * Everything goes to the console as lines "FFB1 ..." (board_log.h): raw flash timings first, then each workload. Nothing
 * is computed here that can be computed from the log.
 */
#ifndef BOARD_H
#define BOARD_H

#include "bench/adapter.h"
#include "esp_partition.h"

/* What a phase asks of a filesystem that can be told. Zero: default. */
struct board_options { uint32_t max_files, cache_entries; };

struct board_subject {
    const char *fs, *config;       /* as in the CSV */
    const struct bench_fs *table;
    /* The adapter's self, NULL when it can not be had; released by destroy. */
    void *(*create)(const esp_partition_t *partition, const struct board_options *options);
    void (*destroy)(void *self);
};

enum { BOARD_STACK_BYTES = 12288 };
static const char board_partition_label[] = "bench";

/* Runs everything in a task of its own; returns when it has ended. */
void board_run(const struct board_subject *subject);

/* Raw timings of the partition, which is erased by that. 0, or -1: a byte came back wrong or a call failed. */
int board_probe(const esp_partition_t *partition);

/* Calls of esp_partition_read, _write and _erase_range, counted by wrappers that the linker puts around them. */
struct board_counts {
    uint32_t calls[3];             /* read, program, erase */
    uint64_t bytes[3], us[3];
    uint32_t erased_sectors, erases_sector, erases_block;
};
extern struct board_counts board_counts;
enum { BOARD_WEAR_UNITS = 1024 };
extern uint16_t board_wear[BOARD_WEAR_UNITS]; /* erases per 4 KiB of the partition */

#endif

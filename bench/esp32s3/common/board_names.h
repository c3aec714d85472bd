/* The words of the log, in the order of the enums of workload.h; the board writes them and log_to_csv.c reads them. */
#ifndef BOARD_NAMES_H
#define BOARD_NAMES_H

#include "bench/workload.h"

static const char *const board_section_names[BENCH_SECTIONS] = {
    "none", "format", "write_tiny", "list_tiny", "read_tiny", "write_medium", "read_medium", "seek_near", "seek_forward",
    "seek_random", "seek_end", "list", "exists_hit", "exists_miss", "exists_medium_hit", "exists_medium_miss", "unmount",
    "mount", "list_cold", "cold_tiny", "cold_medium", "churn", "list_1", "list_10", "list_100", "list_1000", "read_small",
    "read_large", "space", "mount_unclean", "open_read"
};
static const char *const board_op_names[BENCH_OPS] = {
    "format", "mount", "unmount", "open_read", "size", "read", "seek", "close_read", "open_write", "write", "close_write",
    "delete", "exists", "list", "space", "background"
};

/* Latencies of the churn loop that are kept as histograms. */
enum board_hist { BOARD_HIST_OPEN, BOARD_HIST_WRITE, BOARD_HIST_CLOSE, BOARD_HIST_DELETE, BOARD_HIST_STEP, BOARD_HIST_KIB,
                  BOARD_HISTS };
static const char *const board_hist_names[BOARD_HISTS] = {
    "open_write", "write", "close_write", "delete", "background", "per_kib"
};

/* 16 cells per octave of microseconds: a cell is at most 6.25 % wide. Below 16 us each microsecond is one. */
enum { BOARD_CELLS = 464 };

static inline uint32_t board_cell_of(uint32_t us)
{
    uint32_t shift = 0;
    while ((us >> shift) >= 32u)
        shift++;
    return us < 16u ? us : (shift + 1u) * 16u + ((us >> shift) & 15u);
}

/* The smallest value of a cell. */
static inline uint32_t board_cell_from(uint32_t cell)
{
    return cell < 16u ? cell : (16u + (cell & 15u)) << (cell / 16u - 1u);
}

/* Check of a log line, written as four hexadecimal digits behind " *". */
static inline uint32_t board_line_check(const char *line, uint32_t bytes)
{
    uint32_t a = 1, b = 0, i;
    for (i = 0; i < bytes; i++) {
        a = (a + (uint8_t)line[i]) % 251u;
        b = (b + a) % 251u;
    }
    return b << 8 | a;
}

#endif

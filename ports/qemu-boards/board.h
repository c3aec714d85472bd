/* What the board programs (main.c) get from a board: its flash, its memory, output, arguments and an end.
 *
 * The same programs run on the host (board_host.c) on the emulated flash, with the flash that a board declares: images
 * can then be compared byte by byte.
 */
#ifndef BOARD_H
#define BOARD_H

#include <stdint.h>
#include "bench/adapters/adapter_fastffs.h"

struct board {
    const char *name;
    const struct adapter_fastffs_setup *setup; /* buffers of the volume */
    uint32_t medium_bytes;       /* baseline: size of the 16 medium files, 0: as the benchmark has it */
};

extern const struct board *const board;

/* Exit status of a run: what the power-cut bus ended is neither good nor bad. */
enum board_status { BOARD_OK = 0, BOARD_FAILED = 1, BOARD_CUT = 3 };

/* The flash, ready for use; NULL when it is not there or not known. */
const struct fffs_flash *board_flash(void);
/* The argument line: words, each with one blank between. */
void board_arguments(char *line, uint32_t bytes);
void board_print(const char *text);
/* Writes the first `bytes` of the flash to a file of the host, for boards whose flash no file backs. 0, or -1. */
int board_save(const char *path, uint32_t bytes);
void board_exit(enum board_status status) __attribute__((noreturn));
/* Power goes at page program or erase number `operation` from now on (from 1; 0: never). `torn` says what of it is
 * done: see cut_bus.h. Nonzero where the board can not do that. */
int board_cut_at(uint32_t operation, uint32_t torn);
/* Prints "operations KINDS": one letter for each since then, p program, s, h or b an erase of 4, 32 or 64 KiB; the first
 * few thousand. Nothing where the board can not cut. */
void board_print_operations(void);
/* Tests of the driver below the filesystem: 0, or the line that failed. Prints what it did. */
int board_test_driver(void);
/* Breaks the rule that programs only clear bits, so that a checker outside can prove that it sees it. 0, or -1. */
int board_break_rule(void);

/* Helpers on top of board_print (text.c). */
void print_number(uint32_t value);
void print_hex(uint32_t value, unsigned digits);

#endif

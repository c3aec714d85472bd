/* The volume that the board programs work on: one set of buffers, configured by the board or by arguments; files with
 * content that follows from a seed (bench_fill). */
#ifndef BOARD_VOLUME_H
#define BOARD_VOLUME_H

#include "board.h"

struct volume {
    const struct fffs_flash *flash;
    struct adapter_fastffs adapter;
    uint32_t medium_bytes;       /* see struct board */
};

extern struct volume volume;

/* Opens the flash, divides the buffers and prints both, in the form of arguments. 0, or -1. */
int volume_init(void);
/* The first `bytes` of the flash (0: all of it), in as few erases as possible. 0, or -1. */
int volume_erase(uint32_t bytes);
/* A volume of so many bytes; 0 of either: the library chooses. The argument sector=N gives the sector size. */
int volume_format(uint32_t bytes, uint32_t segment_bytes);
int volume_mount(uint32_t flags);
/* As if power had gone: the library's state is lost, the flash stays. */
void volume_forget(void);
/* Steps of collection until nothing is left to do. 0, or the status. */
int volume_collect(void);

/* A writer of content `seed` under `name`, with the handle and buffer of the adapter, closed. 0, or the status. */
int volume_put(const char *name, uint32_t seed, uint32_t size);
/* 1: the file is exactly this; 0: it is not; or the status. */
int volume_holds(const char *name, uint32_t seed, uint32_t size);
/* The same for bytes in memory. */
int volume_content_is(const uint8_t *data, uint32_t seed, uint32_t offset, uint32_t bytes);
int volume_count(const char *prefix);
/* Findings of fffs_check(), each printed. */
int volume_check(void);
/* Prints "file NAME SIZE CRC-32", computed from what the file must hold. */
void volume_print_file(const char *name, uint32_t seed, uint32_t size);
void volume_print_line(const char *name, uint32_t size, uint32_t crc);
uint32_t volume_crc32(uint32_t crc, const uint8_t *bytes, uint32_t count);

/* Arguments: words of the form key=value, or a word alone. */
uint32_t argument_number(const char *key, uint32_t fallback);
int argument_word(const char *word);
/* The value of `key` in `text`; 0 when there is none. */
int argument_text(const char *key, char *text, uint32_t bytes);

/* The programs. 0, or the line that failed, printed. */
int run_scenarios(void);
int run_baseline(void);
int run_power(void);
int run_counts(void);

#endif

/* Emulated NOR flash: the rules of real parts, enforced; counters, virtual time, wear, power cuts.
 *
 * Owns: the flash array, what each granule may still take, wear, counters, the operation log, virtual time.
 * Every mutation passes through one function (nor_mutate in nor.c); faults are injected there and nowhere else.
 */
#ifndef NOR_H
#define NOR_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "fastffs/fffs_flash.h"

struct nor;

enum nor_op { NOR_READ = 0, NOR_PROGRAM = 1, NOR_ERASE = 2, NOR_SYNC = 3, NOR_OPS = 4 };
enum { NOR_SIZE_CLASSES = 20 };  /* class i: calls of 2^i .. 2^(i+1)-1 bytes (0: also none), the last: all larger ones */

enum nor_model { NOR_TIME_NONE = 0, NOR_TIME_ESP32S3_FIT = 1, NOR_TIME_W25Q64 = 2, NOR_TIME_ESP32S3 = 3 };

/* What happens when a rule is broken (programming a 0 to 1, programming a granule twice, misalignment, out of bounds). */
enum nor_violation { NOR_ABORT = 0 /* print and abort() */, NOR_COUNT = 1 /* count, return an error */ };

struct nor_config {
    uint32_t size_bytes;
    uint32_t granule_bytes;       /* 0 = 1 */
    uint32_t page_bytes;          /* program page, 0 = 256 */
    uint32_t erase_bytes[FFFS_FLASH_ERASE_SIZES]; /* ascending, [0]=0: 4096, 32768, 65536 (those that fit) */
    uint32_t block_offset_bytes;
    int allow_overwrite;          /* nonzero: write-once mode off: a granule may be programmed again (bits only clear) */
    int sparse;                   /* nonzero: pages allocated when touched (large devices) */
    int on_violation;             /* enum nor_violation */
    int no_blank_check;           /* nonzero: driver offers no is_blank */
    int model;                    /* enum nor_model */
};

struct nor_counts {
    uint64_t calls[NOR_OPS];
    uint64_t bytes[NOR_OPS];
    uint64_t time_ns[NOR_OPS];
    uint64_t pages_programmed;
    uint64_t erased_sectors;      /* in units of erase_bytes[0] */
    uint64_t erase_calls_by_size[FFFS_FLASH_ERASE_SIZES]; /* erase operations that the calls split into, by config.erase_bytes[] */
    uint64_t violations;
    uint32_t calls_by_size[NOR_OPS][NOR_SIZE_CLASSES];
};

/* Makes a device, all erased. Aborts when out of memory. */
struct nor *nor_create(const struct nor_config *config);
void nor_destroy(struct nor *nor);
/* The driver for the library; valid as long as the device. Costs are declared from the time model. */
const struct fffs_flash *nor_flash(struct nor *nor);

/* A clone (a sparse device copies only what was touched). Counters start at zero, time goes on, faults are off. */
struct nor *nor_clone(struct nor *nor);
/* Makes `to` equal to `from` (same config) without allocating: contents, scars of faults, wear and what is worn out, power,
 * time. Only what changed on either side since the last copy of `from` to `to` is copied. The counters of `to` start at zero,
 * its faults are off; its trace, tag and branch callback stay its own. */
void nor_copy(struct nor *to, const struct nor *from);

/* Sets everything to erased / to a byte, untimed, uncounted, all granules programmable (erased) or programmed. */
void nor_fill_erased(struct nor *nor);
void nor_fill(struct nor *nor, uint8_t value);
/* Raw access past all rules, untimed: for damage tests and image tools. Poked granules count as programmed unless 0xFF. */
void nor_peek(const struct nor *nor, uint32_t address, void *buffer, uint32_t bytes);
void nor_poke(struct nor *nor, uint32_t address, const void *data, uint32_t bytes);

/* Image files: raw bytes. 0 on success, else -1 and errno. A loaded granule counts as programmed unless it is all 0xFF. */
int nor_load(struct nor *nor, const char *path);
int nor_save(const struct nor *nor, const char *path);

uint32_t nor_size(const struct nor *nor);
const struct nor_config *nor_get_config(const struct nor *nor);

/* Counters and virtual time. */
const struct nor_counts *nor_counts(const struct nor *nor);
void nor_reset_counts(struct nor *nor);
uint64_t nor_time_ns(const struct nor *nor);         /* since creation, including nor_advance */
void nor_advance(struct nor *nor, uint64_t ns);
uint32_t nor_wear(const struct nor *nor, uint32_t unit); /* erases of erase unit number `unit` */
/* Caller tag: counts are also kept per tag (0..7); the harness sets it around calls. */
void nor_set_tag(struct nor *nor, int tag);
const struct nor_counts *nor_tag_counts(const struct nor *nor, int tag);

/* Counts per erase unit, off until asked for (it allocates; a clone starts without): the calls of `op` that touched the
 * unit since then or since nor_reset_counts. */
void nor_count_units(struct nor *nor);
uint32_t nor_unit_calls(const struct nor *nor, enum nor_op op, uint32_t unit);

/* Operation log: each call as one line with virtual time, to `out`; NULL ends it. */
void nor_trace(struct nor *nor, FILE *out);

/* Plain power cut: the mutation number `n` from now (programs and erases counted from 0) is not done (before = 1) or done
 * fully (before = 0), and from then on every call fails until nor_power_on. n = UINT64_MAX: none. */
void nor_cut_at(struct nor *nor, uint64_t n, int before);
int nor_is_off(const struct nor *nor);
void nor_power_on(struct nor *nor);
uint64_t nor_mutations(const struct nor *nor);       /* programs and erases so far */

#endif

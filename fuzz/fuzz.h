/* What the fuzz targets share: a flash in RAM that keeps the library to the driver contract and to a budget of calls,
 * images in a form that suits a fuzzer, and the end of a run that found something.
 *
 * A target is one function, LLVMFuzzerTestOneInput(). Linked with libFuzzer it fuzzes, linked with replay.c it runs the
 * inputs that are committed. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include "fastffs/fastffs.h"

#if defined(__SANITIZE_ADDRESS__)
#define FUZZ_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FUZZ_SANITIZED
#endif
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A finding: prints and aborts. */
#if defined(__GNUC__)
__attribute__((noreturn, format(printf, 1, 2)))
#endif
void fuzz_fail(const char *format, ...);
/* What a run is doing, for fuzz_fail(). Static text. */
extern const char *fuzz_doing;

/* Random numbers (xorshift), repeatable. The state is never 0. */
uint32_t fuzz_next(uint32_t *state);
uint32_t fuzz_below(uint32_t *state, uint32_t limit);

/* ---- Flash in RAM ---- */

enum { FUZZ_FLASH_MAX = 128 * 1024 };

struct fuzz_flash {
    struct fffs_flash driver;
    uint8_t bytes[FUZZ_FLASH_MAX];
    uint64_t calls;             /* since fuzz_budget() */
    uint64_t budget;            /* calls that may be made; one more is a finding */
    uint64_t changes;           /* programs and erases so far */
    int read_only;              /* a program or erase is a finding */
    int strict;                 /* a program of what is not blank is a finding */
    int inside;                 /* a call is under way */
};

/* All erased. `size` is a multiple of 256, at most FUZZ_FLASH_MAX. */
void fuzz_flash_init(struct fuzz_flash *flash, uint32_t size, uint32_t granule, uint32_t erase);
/* What follows may make so many calls. */
void fuzz_budget(struct fuzz_flash *flash, uint64_t calls, const char *doing);

/* ---- Images as inputs: 8 bytes of options, then what is not erased, as pieces of u24 address, u16 length, bytes ---- */

enum { FUZZ_OPTION_BYTES = 8, FUZZ_LINE_BYTES = 48 /* of the tool target: before the image */ };

struct fuzz_options {
    uint32_t size;              /* of the device */
    uint8_t granule_shift;      /* of the device */
    uint8_t cache;              /* cache, scratch and table sizes */
    uint8_t flags;              /* of mount */
    uint32_t seed;              /* of what is done with the volume */
};

/* Reads options and pieces; all of `image` (FUZZ_FLASH_MAX bytes) is set. Every input means something. */
void fuzz_unpack(const uint8_t *data, size_t size, struct fuzz_options *options, uint8_t *image);
/* The reverse; returns the bytes used, 0 when they are more than `room`. */
size_t fuzz_pack(const struct fuzz_options *options, const uint8_t *image, uint8_t *data, size_t room);

/* Changes such an input in place, at most to `max_size` bytes; returns its size (image_mutate.c; with libFuzzer only). */
size_t fuzz_mutate_image(uint8_t *data, size_t size, size_t max_size, unsigned seed);

/* ---- Buffers of exactly the size given, so that sanitizers see what goes beyond ---- */

struct fuzz_volume {
    struct fffs fs;
    struct fffs_config config;
    void *blocks[4];
    uint32_t bytes[4];
};

/* `mode` selects cache, scratch and write buffer; `segments` is the size of the segment table, 0 none. */
void fuzz_volume_init(struct fuzz_volume *volume, const struct fffs_flash *flash, unsigned mode, uint32_t segments);
void fuzz_volume_free(struct fuzz_volume *volume);

#endif

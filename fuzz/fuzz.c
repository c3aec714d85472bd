/* Shared parts of the fuzz targets; see fuzz.h. */
#include "fuzz.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *fuzz_doing = "";

void fuzz_fail(const char *format, ...)
{
    va_list values;

    fprintf(stderr, "FINDING while %s: ", fuzz_doing);
    va_start(values, format);
    vfprintf(stderr, format, values);
    va_end(values);
    fputc('\n', stderr);
    abort();
}

uint32_t fuzz_next(uint32_t *state)
{
    uint32_t x = *state != 0 ? *state : 0x9E3779B9u;

    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    *state = x;
    return x;
}

uint32_t fuzz_below(uint32_t *state, uint32_t limit)
{
    return limit == 0 ? 0 : (uint32_t)((uint64_t)fuzz_next(state) * limit >> 32);
}

/* ---- Flash ---- */

static struct fuzz_flash *enter(void *context, const char *what, uint32_t address, uint32_t bytes)
{
    struct fuzz_flash *flash = context;
    uint32_t size = flash->driver.size_bytes;

    if (bytes > size || address > size - bytes)
        fuzz_fail("%s of %u bytes at %u leaves the device of %u", what, (unsigned)bytes, (unsigned)address, (unsigned)size);
    if (flash->calls++ >= flash->budget)
        fuzz_fail("more than %llu driver calls", (unsigned long long)flash->budget);
    return flash;
}

static int flash_read(void *context, uint32_t address, void *buffer, uint32_t bytes)
{
    struct fuzz_flash *flash = enter(context, "read", address, bytes);

    memcpy(buffer, flash->bytes + address, bytes);
    return 0;
}

static void enter_change(struct fuzz_flash *flash, const char *what, uint32_t address, uint32_t bytes, uint32_t unit)
{
    if (flash->read_only)
        fuzz_fail("%s on a read-only mount", what);
    if (((address | bytes) & (unit - 1u)) != 0)
        fuzz_fail("%s of %u bytes at %u is not aligned to %u", what, (unsigned)bytes, (unsigned)address, (unsigned)unit);
    flash->changes++;
}

static int flash_program(void *context, uint32_t address, const void *data, uint32_t bytes)
{
    struct fuzz_flash *flash = enter(context, "program", address, bytes);
    const uint8_t *from = data;
    uint32_t i;

    enter_change(flash, "program", address, bytes, flash->driver.granule_bytes);
    for (i = 0; i < bytes; i++) {
        if (flash->strict && flash->bytes[address + i] != 0xFF && flash->bytes[address + i] != from[i])
            fuzz_fail("program at %u over what is not erased", (unsigned)(address + i));
        flash->bytes[address + i] &= from[i];
    }
    return 0;
}

static int flash_erase(void *context, uint32_t address, uint32_t bytes)
{
    struct fuzz_flash *flash = enter(context, "erase", address, bytes);

    enter_change(flash, "erase", address, bytes, flash->driver.erase_bytes[0]);
    memset(flash->bytes + address, 0xFF, bytes);
    return 0;
}

void fuzz_flash_init(struct fuzz_flash *flash, uint32_t size, uint32_t granule, uint32_t erase)
{
    memset(&flash->driver, 0, sizeof flash->driver);
    flash->driver.read = flash_read;
    flash->driver.program = flash_program;
    flash->driver.erase = flash_erase;
    flash->driver.context = flash;
    flash->driver.size_bytes = size;
    flash->driver.granule_bytes = granule;
    flash->driver.erase_bytes[0] = erase;
    flash->calls = flash->changes = 0;
    flash->budget = UINT64_MAX;
    flash->read_only = flash->strict = flash->inside = 0;
    memset(flash->bytes, 0xFF, size);
}

void fuzz_budget(struct fuzz_flash *flash, uint64_t calls, const char *doing)
{
    static const char *const debug = "FUZZ_SHOW_CALLS";

    if (getenv(debug) != NULL)
        fprintf(stderr, "%-10s %8llu of %llu calls\n", fuzz_doing, (unsigned long long)flash->calls,
                (unsigned long long)flash->budget);
    flash->calls = 0;
    flash->budget = calls;
    fuzz_doing = doing;
}

/* ---- Images ---- */

static uint32_t get16(const uint8_t *from)
{
    return (uint32_t)from[0] | (uint32_t)from[1] << 8;
}

void fuzz_unpack(const uint8_t *data, size_t size, struct fuzz_options *options, uint8_t *image)
{
    uint8_t head[FUZZ_OPTION_BYTES] = {0};
    size_t at = FUZZ_OPTION_BYTES;

    memset(image, 0xFF, FUZZ_FLASH_MAX);
    memcpy(head, data, size < sizeof head ? size : sizeof head);
    options->size = (get16(head) % (FUZZ_FLASH_MAX / 256u) + 1u) * 256u;
    options->granule_shift = head[2] % 9u;
    options->cache = head[3];
    options->flags = head[4] & 63u;
    options->seed = get16(head + 5) | (uint32_t)head[7] << 16;
    while (at + 5 <= size) {
        uint32_t address = get16(data + at) | (uint32_t)data[at + 2] << 16, length = get16(data + at + 3), i;

        at += 5;
        for (i = 0; i < length && at < size; i++, at++)
            if (address + i < options->size)
                image[address + i] = data[at];
    }
}

size_t fuzz_pack(const struct fuzz_options *options, const uint8_t *image, uint8_t *data, size_t room)
{
    uint32_t at = 0, end, last, i, units = options->size / 256u - 1u;
    size_t used = FUZZ_OPTION_BYTES;

    if (room < used)
        return 0;
    data[0] = (uint8_t)units;
    data[1] = (uint8_t)(units >> 8);
    data[2] = options->granule_shift;
    data[3] = options->cache;
    data[4] = options->flags;
    data[5] = (uint8_t)options->seed;
    data[6] = (uint8_t)(options->seed >> 8);
    data[7] = (uint8_t)(options->seed >> 16);
    while (at < options->size) {
        if (image[at] == 0xFF) {
            at++;
            continue;
        }
        /* A piece goes on over up to 8 erased bytes. */
        for (end = last = at; end < options->size && end - last <= 8u && end - at < 0xFFFFu; end++)
            if (image[end] != 0xFF)
                last = end;
        end = last + 1u;
        if (room - used < 5u + (end - at))
            return 0;
        data[used] = (uint8_t)at;
        data[used + 1] = (uint8_t)(at >> 8);
        data[used + 2] = (uint8_t)(at >> 16);
        data[used + 3] = (uint8_t)(end - at);
        data[used + 4] = (uint8_t)((end - at) >> 8);
        used += 5;
        for (i = at; i < end; i++)
            data[used++] = image[i];
        at = end;
    }
    return used;
}

/* ---- Buffers ---- */

enum { GUARD_BYTES = 16, GUARD = 0x5A };

static void *block(struct fuzz_volume *volume, int index, uint32_t bytes)
{
    uint32_t guard = 0;

#if !defined(FUZZ_SANITIZED) /* which sees what goes beyond without a guard */
    guard = GUARD_BYTES;
#endif
    volume->bytes[index] = bytes;
    volume->blocks[index] = bytes == 0 ? NULL : malloc(bytes + guard);
    if (bytes != 0 && volume->blocks[index] == NULL)
        abort();
    if (bytes != 0) {
        memset(volume->blocks[index], 0xA5, bytes);
        memset((uint8_t *)volume->blocks[index] + bytes, GUARD, guard);
    }
    return volume->blocks[index];
}

void fuzz_volume_init(struct fuzz_volume *volume, const struct fffs_flash *flash, unsigned mode, uint32_t segments)
{
    static const uint32_t caches[] = {0, 32, 1024, 4096, FFFS_CACHE_FULL_BYTES, 8, 200, 512};
    static const uint32_t scratches[] = {256, 512, 1024, 4096};
    struct fffs_config *config = &volume->config;

    memset(volume, 0, sizeof *volume);
    config->flash = flash;
    config->scratch_bytes = scratches[mode >> 3 & 3u];
    if (config->scratch_bytes < 2u * flash->granule_bytes)
        config->scratch_bytes = 2u * flash->granule_bytes;
    config->scratch = block(volume, 0, config->scratch_bytes);
    config->segment_table_entries = segments;
    config->segment_table = block(volume, 1, segments * (uint32_t)sizeof(uint16_t));
    config->cache_bytes = caches[mode & 7u];
    config->cache = block(volume, 2, config->cache_bytes);
    config->write_buffer_bytes = (mode >> 5 & 1u) != 0 ? 1024u : 0u;
    config->write_buffer = block(volume, 3, config->write_buffer_bytes);
}

void fuzz_volume_free(struct fuzz_volume *volume)
{
    int i;

    for (i = 0; i < 4; i++) {
#if !defined(FUZZ_SANITIZED)
        int j;

        for (j = 0; j < GUARD_BYTES && volume->blocks[i] != NULL; j++)
            if (((uint8_t *)volume->blocks[i])[volume->bytes[i] + (uint32_t)j] != GUARD)
                fuzz_fail("buffer %d was written beyond its %u bytes", i, (unsigned)volume->bytes[i]);
#endif
        free(volume->blocks[i]);
    }
}

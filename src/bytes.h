/* Little-endian get and put, alignment and power-of-two helpers. No state, no flash. */
#ifndef FFFS_BYTES_H
#define FFFS_BYTES_H

#include <stdint.h>

static inline uint16_t fffs_get16(const uint8_t *from)
{
    return (uint16_t)(from[0] | (uint16_t)((uint16_t)from[1] << 8));
}

static inline uint32_t fffs_get32(const uint8_t *from)
{
    return (uint32_t)from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

static inline void fffs_put16(uint8_t *to, uint32_t value)
{
    to[0] = (uint8_t)value;
    to[1] = (uint8_t)(value >> 8);
}

static inline void fffs_put32(uint8_t *to, uint32_t value)
{
    fffs_put16(to, value);
    fffs_put16(to + 2, value >> 16);
}

/* `to` is a power of two. */
static inline uint32_t fffs_align_up(uint32_t value, uint32_t to)
{
    return (value + to - 1u) & ~(to - 1u);
}

static inline uint32_t fffs_align_down(uint32_t value, uint32_t to)
{
    return value & ~(to - 1u);
}

static inline uint32_t fffs_min(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static inline int fffs_is_power_of_two(uint32_t value)
{
    return value != 0 && (value & (value - 1u)) == 0;
}

/* The exponent of a power of two. */
static inline uint8_t fffs_log2(uint32_t value)
{
    uint8_t shift = 0;
    while (value > 1u) {
        value >>= 1;
        shift++;
    }
    return shift;
}

/* Whether all bytes are 0xFF. */
static inline int fffs_all_ones(const uint8_t *data, uint32_t bytes)
{
    while (bytes > 0 && *data == 0xFFu) {
        data++;
        bytes--;
    }
    return bytes == 0;
}

#endif

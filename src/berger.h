/* Berger check: the number of 0 bits of a payload, stored in binary. An interrupted program leaves bits at 1 that should
 * be 0, never the reverse: the payload then holds fewer zeros than intended while the stored count can only have grown,
 * so every such error is detected (J. M. Berger, "A note on error detection codes for asymmetric channels", 1961). */
#ifndef FFFS_BERGER_H
#define FFFS_BERGER_H

#include <stdint.h>

/* The number of 0 bits in `bytes` bytes. */
static inline uint32_t fffs_zero_bits(const uint8_t *data, uint32_t bytes)
{
    uint32_t zeros = 0;
    while (bytes-- > 0) {
        uint8_t rest = (uint8_t)~*data++;
        while (rest != 0) {
            rest = (uint8_t)(rest & (rest - 1u));
            zeros++;
        }
    }
    return zeros;
}

#endif

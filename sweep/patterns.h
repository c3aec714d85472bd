/* Which bits of a cut program were done, enumerated: the patterns of one program by number. */
#ifndef SWEEP_PATTERNS_H
#define SWEEP_PATTERNS_H

#include <stdint.h>

enum { PATTERN_BYTES = 512 };    /* longest program that is enumerated */

/* Pattern number `number` of a program that clears the bits `to_clear` (ones): the bits of them that were not done go to
 * `missing`. 0 when there are no more. In turn:
 *   every subset of the program's parts (bytes, or 8-byte parts where it has more than 12 bytes, up to 12 of them; else
 *   every prefix); every prefix and every suffix in bits; one bit missing; one bit done; with at most 64 bits, two bits
 *   missing and two done; of each byte every subset of its bits, the others all done and all not done. */
int pattern_at(uint32_t number, const uint8_t *to_clear, uint32_t bytes, uint8_t *missing);

#endif

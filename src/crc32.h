/* CRC-32 (ISO-HDLC: reflected polynomial 0xEDB88320, initial and final XOR all ones), computed four bits at a time:
 * R. Williams, "A painless guide to CRC error detection algorithms", 1993. */
#ifndef FFFS_CRC32_H
#define FFFS_CRC32_H

#include <stdint.h>

/* Continues `crc` (0 at the start) over `bytes` bytes; fffs_crc32(fffs_crc32(0, a), b) is the CRC of a then b. */
uint32_t fffs_crc32(uint32_t crc, const void *data, uint32_t bytes);

#endif

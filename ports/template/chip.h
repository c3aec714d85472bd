/* What you write for your flash: five numbers and four functions. Addresses are those of the chip. Each function returns 0
 * when the chip has finished, anything else is an error. */
#ifndef CHIP_H
#define CHIP_H

#include <stdint.h>

#define PARTITION_OFFSET 0x100000uL  /* where the volume begins on the chip: a multiple of ERASE_BYTES */
#define PARTITION_BYTES 0x100000uL
#define PAGE_BYTES 256u              /* a program command wraps or stops at the end of such a page */
#define ERASE_BYTES 4096u            /* the smallest erase command */
#define BLOCK_BYTES 65536uL          /* a larger erase command that costs less per byte; 0: there is none */

int chip_read(uint32_t address, void *buffer, uint32_t bytes);
/* At most to the end of the page. Write enable, program command, wait until the busy bit is clear. */
int chip_program_page(uint32_t address, const void *data, uint32_t bytes);
/* Write enable, erase command, wait until the busy bit is clear. `address` is a multiple of the size. */
int chip_erase_small(uint32_t address);
int chip_erase_block(uint32_t address);

#endif

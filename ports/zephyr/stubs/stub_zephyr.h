/* For tests: the flash behind the stubs. */
#ifndef STUB_ZEPHYR_H
#define STUB_ZEPHYR_H

#include "emulator/nor.h"

/* The partition storage_partition is the whole of this device, at this offset of its chip. */
void stub_flash(struct nor *nor, uint32_t offset, uint32_t page_bytes);
void stub_flash_erased_value(uint8_t value);
/* Every driver call from the n-th on fails; -1: none. */
void stub_flash_fail_after(long calls);
/* Areas opened and not closed; blocks of memory slabs in use. */
extern int stub_areas_open, stub_blocks_used;

#endif

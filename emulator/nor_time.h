/* Timing models of real chips: what one call costs. Pure functions of the call, no state. */
#ifndef NOR_TIME_H
#define NOR_TIME_H

#include "nor.h"

uint64_t nor_time_read(int model, uint32_t bytes);
/* A program call may span pages; each page touched has its own cost. */
uint64_t nor_time_program(int model, uint32_t address, uint32_t bytes, uint32_t page_bytes);
/* One erase operation of the chip, `bytes` long, in which `sectors_with_data` sectors of 4 KiB (or the whole, where it
 * is shorter) were not blank. */
uint64_t nor_time_erase(int model, uint32_t bytes, uint32_t sectors_with_data);
/* Nonzero when the price of an erase depends on what it erases. */
int nor_time_needs_contents(int model);
/* Fills in the declared costs of `flash`, whose erase sizes are set. */
void nor_time_declare(int model, uint32_t page_bytes, struct fffs_flash *flash);

#endif

/* Index cache: the current put records in RAM, ordered by slot. Rebuildable, never the truth.
 *
 * An order-preserving hash table with linear probing: the home cell of a slot is slot * cells / 65536 and entries keep the
 * order of their slots (O. Amble, D. E. Knuth, "Ordered hash tables", 1974), so a name's probe window is one short run of
 * cells, iteration is in slot order, and a table of 65536 cells is direct-mapped. It works up to the last cell. */
#ifndef FFFS_INDEX_CACHE_H
#define FFFS_INDEX_CACHE_H

#include "volume.h"

void fffs_cache_clear(struct fffs *fs);
/* Inserts or replaces the record of its slot. 0 when there is no cell left for it. */
int fffs_cache_put(struct fffs *fs, const struct fffs_record *record);
void fffs_cache_remove(struct fffs *fs, uint16_t slot);
/* The record of `slot`, or NULL. */
const struct fffs_record *fffs_cache_find(const struct fffs *fs, uint16_t slot);
/* The first record whose slot is at `base + from` or behind it, before `base + to` (modulo 65536; from < to <= 65536), or
 * NULL. */
const struct fffs_record *fffs_cache_next(const struct fffs *fs, uint16_t base, uint32_t from, uint32_t to);

#endif

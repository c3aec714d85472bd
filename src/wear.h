/* Erase counts: kept in the caller's table, saved in the index log as optional control records. */
#ifndef FFFS_WEAR_H
#define FFFS_WEAR_H

#include "volume.h"

/* Records of one save: the least count, then this many cells each. */
enum { FFFS_WEAR_PER_RECORD = 3 };

/* All cells at the mean of `erases` in all: before replay, and for a volume whose counts were not kept. */
void fffs_wear_begin(struct fffs *fs, uint32_t erases);
/* An erase of the segment began. */
void fffs_wear_count(struct fffs *fs, uint32_t segment);
/* How many records a save takes; 0 without a table. */
uint32_t fffs_wear_records(const struct fffs *fs);
/* Record number `i` of a save. */
struct fffs_record fffs_wear_record(const struct fffs *fs, uint32_t i);
/* Takes a control record found at mount, if it is one of a save. */
void fffs_wear_take(struct fffs *fs, const struct fffs_record *record);
/* Least and most erases of a segment. Without a table as ring order has it: all about the same. */
void fffs_wear_range(const struct fffs *fs, uint32_t *least, uint32_t *most);

#endif

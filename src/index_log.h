/* The index log: walk it, append to it, rotate and refresh its units (docs/FORMAT.md, "Index log"). */
#ifndef FFFS_INDEX_LOG_H
#define FFFS_INDEX_LOG_H

#include "volume.h"

/* ---- Walk: every valid record behind valid headers of the chain, oldest first ---- */

struct fffs_scan {
    uint8_t *buffer;
    uint32_t room;              /* strides the buffer holds */
    uint32_t have;              /* strides in it, from index `first` of the unit */
    uint32_t first;
    uint32_t at;                /* stride index of the next record */
    uint32_t stop;              /* stride index behind the last of this unit */
    uint32_t copies_end;        /* stride index behind the copies */
    uint8_t link;               /* index into the chain */
    uint8_t end_link;
    uint8_t torn;               /* an unreadable stride stands before `at` */
    uint8_t sum;                /* crc is wanted */
    uint32_t crc;               /* over the copies of the newest unit passed so far */
};

/* Prepares a walk over chain links first .. last - 1. It uses the scratch buffer, its first half only when `half`. */
void fffs_scan_begin(struct fffs *fs, struct fffs_scan *scan, uint32_t first, uint32_t last, int half);

/* 1: `record` is the next one; 0: end; FFFS_ERR_CORRUPT: a damaged record, FFFS_ERR_IO. */
int fffs_scan_next(struct fffs *fs, struct fffs_scan *scan, struct fffs_record *record);

/* ---- Current records ---- */

/* Some current put records, in slot order. */
struct fffs_batch {
    struct fffs_record records[FFFS_BATCH];
    uint32_t next;              /* where the next batch begins, relative to base; `to` when there is none */
    uint32_t low, high;         /* only records that may touch these addresses; low == high: all */
    uint16_t base;
    uint8_t count;
};

/* Collects the current put records of slots base + from .. base + to - 1 (modulo 65536): from the cache, or by one walk
 * of the log. Set base, low and high before. */
int fffs_index_collect(struct fffs *fs, struct fffs_batch *batch, uint32_t from, uint32_t to);
/* The current record of a slot: 1, 0 none, or an error. */
int fffs_index_find(struct fffs *fs, uint16_t slot, struct fffs_record *record);
/* The current records of `count` slots, told by the slots of `records`; head 0: none. Without a cache one walk for all. */
int fffs_index_find_all(struct fffs *fs, struct fffs_record *records, uint32_t count);
/* Takes a record that was appended or replayed into the cache. */
void fffs_index_apply(struct fffs *fs, const struct fffs_record *record);
/* ---- Changes ---- */

/* Before anything is programmed or erased in a session: writes the session's mark. Cost once: 1 read, 1 program. */
int fffs_log_begin_change(struct fffs *fs);
/* Makes room for `strides` records in the newest unit, rotating as often as it takes. */
int fffs_log_reserve(struct fffs *fs, uint32_t strides);
/* Saves the erase counts, before a clean mark. Cost: two programs for 64 cells, and a rotation when the unit is full. */
int fffs_log_save_wear(struct fffs *fs);
/* Strides left in the newest unit. */
uint32_t fffs_log_room(const struct fffs *fs);
/* Appends one record: the commit of a change. Cost: 1 program. On an error nothing was appended, unless fs->failed is
 * set. The caller applies the record to the cache. */
int fffs_log_append(struct fffs *fs, const struct fffs_record *record);
/* Appends `count` records, of kind part-of-a-transaction, as one transaction: all or none apply. Errors as
 * fffs_log_append(). */
int fffs_log_append_all(struct fffs *fs, const struct fffs_record *records, uint32_t count);
/* A transaction in steps: begin (room for n + 2 was reserved), any number of adds, commit; each a program call of its own.
 * The caller applies each record to RAM when it is added; when an add or the commit fails fs->failed is set. */
int fffs_log_txn_begin(struct fffs *fs, uint32_t n);
int fffs_log_txn_add(struct fffs *fs, const struct fffs_record *records, uint32_t count);
int fffs_log_txn_commit(struct fffs *fs);
/* Most records that one fffs_log_txn_add() takes. */
uint32_t fffs_log_txn_room(const struct fffs *fs);
/* Writes control records as far as they fit, then the clean mark. */
int fffs_log_clean(struct fffs *fs, const struct fffs_record *records, uint32_t count);
enum fffs_successor {
    FFFS_SUCCESSOR_NEXT,        /* continues the log; the oldest unit may leave, its current records are copied */
    FFFS_SUCCESSOR_REFRESH,     /* replaces the newest unit with its current records */
    FFFS_SUCCESSOR_EMPTY        /* replaces the whole chain with nothing: format over a volume */
};
/* Internal result: the copies of a liquid unit do not read as they did; choose the newest unit anew. */
enum { FFFS_UNIT_CHANGED = 3 };
/* Erases a spare and writes a successor there. Starts the session in it when `session`. FFFS_UNIT_CHANGED: only before
 * the first change of a session. */
int fffs_log_successor(struct fffs *fs, enum fffs_successor kind, int session);
/* Writes the first unit of a new volume into unit 0, which is erased. */
int fffs_log_create(struct fffs *fs);

static inline uint32_t fffs_unit_address(const struct fffs_shape *shape, uint32_t unit)
{
    return unit << (shape->unit_shift + shape->sector_shift);
}
static inline uint32_t fffs_stride_address(const struct fffs_shape *shape, uint32_t unit, uint32_t stride)
{
    return fffs_unit_address(shape, unit) + (stride << shape->stride_shift);
}
static inline uint8_t fffs_log_newest(const struct fffs *fs)
{
    return fs->log.chain[fs->log.chain_length - 1];
}

#endif

/* Data segments: live weights, states, append points, choice and erase of the next segment. */
#ifndef FFFS_SEGMENTS_H
#define FFFS_SEGMENTS_H

#include "volume.h"

/* An entry of the segment table: weight in bits 13..0, two states above. */
enum {
    FFFS_SEGMENT_WEIGHT = 0x3FFF,
    FFFS_SEGMENT_ERASED = 0x4000    /* known to be erased */
};
#define FFFS_SEGMENT_PENDING 0x8000u  /* holds bytes that no record leads to yet */

/* Internal result: no segment is free for this append point; collect first. */
enum { FFFS_COLLECT = 1 };

uint32_t fffs_segment_of(const struct fffs *fs, uint32_t address);
/* Its addresses low .. high - 1. */
uint32_t fffs_segment_low(const struct fffs *fs, uint32_t segment);
uint32_t fffs_segment_high(const struct fffs *fs, uint32_t segment);
uint32_t fffs_segment_bytes(const struct fffs *fs);
uint32_t fffs_segment_weight(const struct fffs *fs, uint32_t segment);
/* Neither open nor pending nor bad, and of weight 0: its erase needs no copying. */
int fffs_segment_is_dead(const struct fffs *fs, uint32_t segment);
/* Segments of full size that an append point could open: erased and dead ones. Short ones are a bonus that no rule
 * counts on, since the moves of a victim may not fit into one. */
uint32_t fffs_segments_free(const struct fffs *fs);
/* Bytes of all segments that an append point could open. */
uint32_t fffs_segments_room(const struct fffs *fs);

/* The budget: bytes that live files and open writers may take in all. */
uint32_t fffs_capacity(const struct fffs *fs);
/* What a run of `bytes` costs the budget: its footprint as the record will code it. */
uint32_t fffs_footprint_bytes(const struct fffs *fs, uint32_t bytes);

/* Weights of all current records anew: the second pass of mount. Reads the nodes of put-multi records only. */
int fffs_segments_weigh(struct fffs *fs);
/* The address from which the weights count the run of a put record: its footprint, rounded up, may reach into the segment
 * before the one that it begins in, and that segment may be erased and filled anew while the record lives. So what only the
 * rounding brings there is not counted; a run that really begins in that stretch is not written as one run. */
uint32_t fffs_segments_run_begin(const struct fffs *fs, const struct fffs_record *record);
/* Adds a put record to the weights and the budget, or takes it away. Reads the node of a put-multi. */
int fffs_segments_account(struct fffs *fs, const struct fffs_record *record, int add);
/* After a writer was closed or discarded, or moves were committed: segments that neither another writer nor a file on the
 * move has bytes in are no longer pending. */
void fffs_segments_settle_pending(struct fffs *fs);
/* Marks the segments of addresses low .. high - 1 as pending. */
void fffs_segments_hold(struct fffs *fs, uint32_t low, uint32_t high);

/* Whether a current record, a pending byte or a pin is in the segment: the exact walk before an erase. 1, 0, or error. */
int fffs_segment_in_use(struct fffs *fs, uint32_t segment);
/* Erases addresses from .. to - 1 of a dead segment: from is its low end, or where a piecewise erase stands. When `to` is
 * its end it then counts as erased. */
int fffs_segment_erase(struct fffs *fs, uint32_t segment, uint32_t from, uint32_t to);
/* The end of the piece to erase at `from` of the segment: the largest cheap erase of at most `largest` bytes. */
uint32_t fffs_segment_piece(const struct fffs *fs, uint32_t segment, uint32_t from, uint32_t largest);
/* Where a piecewise erase of the segment goes on, else its low end. */
uint32_t fffs_segment_erase_next(const struct fffs *fs, uint32_t segment);

/* Room at an append point for at least `need` bytes in one segment: FFFS_OK with *room contiguous bytes at point->next,
 * FFFS_COLLECT, or an error. Opens (and erases) the next segment in ring order when the open one is used up. The user's
 * point leaves one free segment to the collector. */
int fffs_point_reserve(struct fffs *fs, struct fffs_point *point, uint32_t need, uint32_t *room);
/* The same; a segment that is opened for it has at least `least` bytes, so that all of a run which goes on there fits. */
int fffs_point_reserve_on(struct fffs *fs, struct fffs_point *point, uint32_t need, uint32_t least, uint32_t *room);
/* The segment that the point would open next, 0xFFFF none. When it is dead the call that opens it has to erase it. */
uint32_t fffs_point_next(const struct fffs *fs, const struct fffs_point *point);
/* Bytes left in the open segment, those that are still to be erased included; 0 when none is open. */
uint32_t fffs_point_room(const struct fffs *fs, const struct fffs_point *point);
/* Whether the collector is at a victim that it levels. */
int fffs_segments_levelling(const struct fffs *fs);
/* Closes the open segment early. */
void fffs_point_close(struct fffs_point *point);
/* Takes `bytes` bytes at the point, which were just programmed. */
void fffs_point_advance(struct fffs *fs, struct fffs_point *point, uint32_t bytes);

#endif

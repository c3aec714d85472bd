/* Garbage collection: choose a victim, move what lives in it, commit the moves, in bounded slices. */
#ifndef FFFS_GC_H
#define FFFS_GC_H

#include "volume.h"

/* How urgent a slice is. */
enum fffs_gc_mode {
    FFFS_GC_BACKGROUND,         /* idle time: copies ahead only while room is short and it is cheap */
    FFFS_GC_PRESSURE            /* a write waits: any victim that gains at least 1/16 of a segment */
};

/* One slice. Returns an enum fffs_gc_action, or an error. `largest_erase`: bytes, 0 a whole segment. */
int fffs_gc_slice(struct fffs *fs, enum fffs_gc_mode mode, uint32_t largest_erase);
/* Whether a background slice would do something. No flash access. */
int fffs_gc_has_work(const struct fffs *fs);
/* Collects until `segments` are free, so that the user's append point can open all but one of them. FFFS_ERR_NO_SPACE
 * when no victim gains anything, FFFS_ERR_COLLECT_FIRST when inline collection is off and background slices will do it. */
int fffs_gc_make_room(struct fffs *fs, uint32_t segments);
/* Pacing: does a share of the collection that the next segment will need, for what was written since the last time. A call
 * that erased already (`heavy`: fffs_gc_heavy() when it began) leaves its share to the next one. */
int fffs_gc_pace(struct fffs *fs, uint32_t heavy);
/* Counts the operations that erase. */
uint32_t fffs_gc_heavy(const struct fffs *fs);
/* The declared or assumed cost of a slice's parts in microseconds. */
uint32_t fffs_gc_erase_us(const struct fffs *fs, uint32_t bytes);
uint32_t fffs_gc_copy_us(const struct fffs *fs, uint32_t bytes);

#endif

/* From a name to its slot, its record and its node. */
#ifndef FFFS_LOOKUP_H
#define FFFS_LOOKUP_H

#include "extents.h"
#include "volume.h"

/* Tag: bit 7 the record stands behind its name's first slot, bits 6..3 folder hash, bits 2..0 name hash. A look-up of a
 * name that is not there then meets a record to verify only at its own first slot: with 2,000 files in 0.4 % of cases. */
enum { FFFS_TAG_DISPLACED = 0x80, FFFS_TAG_FOLDER = 0x78, FFFS_TAG_NAME = 0x07 };

struct fffs_name {
    const char *text;
    uint32_t length;
    uint16_t slot;              /* first slot of the probe window */
    uint8_t tag;                /* without the displaced bit */
};

struct fffs_found {
    struct fffs_record record;  /* of the name; head 0: there is none */
    struct fffs_node node;      /* when found */
    uint32_t free;              /* probe distance of the first free slot; `probes` when the window is full */
};

/* Measures and hashes. FFFS_ERR_BAD_NAME, FFFS_ERR_NAME_TOO_LONG. */
int fffs_name_set(const struct fffs *fs, struct fffs_name *name, const char *text);
/* The tag of a name standing at `distance` from its first slot. */
uint8_t fffs_name_tag(const struct fffs_name *name, uint32_t distance);
/* Looks `name` up; nodes are read into `buffer` (at least FFFS_NODE_TRAILER bytes): whole runs that fit it when `whole`,
 * else trailer and name. 1 found, 0 not, or an error. FFFS_ERR_CORRUPT when a node that could be its is damaged. */
int fffs_lookup(struct fffs *fs, const struct fffs_name *name, struct fffs_found *found, uint8_t *buffer,
                uint32_t bytes, int whole);
/* Name hash of `bytes` bytes, continued from `hash` (0 at first). */
uint32_t fffs_name_hash(uint32_t hash, const void *bytes, uint32_t length);

#endif

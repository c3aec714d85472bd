/* What an image tells without its index: the nodes on it, what they lead to, and the index records that still can be read.
 * Every number comes from the image and is checked before use: a hostile image costs bounded time and memory. */
#ifndef SALVAGE_H
#define SALVAGE_H

#include "image.h"
#include "src/node.h"

enum { SALVAGE_STEP_BITS = 12, SALVAGE_STEPS = 1 << SALVAGE_STEP_BITS };

/* What is known of a version's bytes. */
enum salvage_state {
    SALVAGE_BROKEN,             /* its pieces can not be told or lie outside of the image */
    SALVAGE_WRONG,              /* the CRC of its data is not that of the bytes there now */
    SALVAGE_UNKNOWN,            /* there is no CRC of its data */
    SALVAGE_PROVED              /* the CRC of its data is right */
};

/* One intact node: a version of a file. */
struct salvage_version {
    uint32_t end, bytes;        /* of the node: address behind it, length */
    uint32_t size, stamp, tables, data_crc;
    uint64_t put;               /* place in the history of its youngest record; 0: no record with a known place */
    uint16_t slot;
    uint8_t name_length, pad, flags, extents;
    uint8_t state;              /* enum salvage_state */
    uint8_t named;              /* an index record leads to it */
    uint8_t near;               /* all its data stands in the sector of its node */
};

struct salvage {
    const uint8_t *bytes;       /* the image; not owned */
    uint32_t count;
    struct fffs_shape shape;    /* of a header on the image, or sector_shift and granule_shift as told; else zeros */
    uint32_t headers;           /* index units with a valid header of that shape */
    uint32_t records;           /* index records that lead to a node */
    uint32_t align;             /* of node ends */
    uint32_t probes;
    struct salvage_version *versions;   /* in order of `end` */
    size_t found, room;
    uint64_t *deleted;          /* for each slot: place in the history of its youngest delete, 0 none; NULL: not known */
    uint8_t *maybe_deleted;     /* for each slot: a delete without a known place; NULL: not known */
    uint64_t budget;            /* pieces that may still be looked at */
    uint32_t *prefix;           /* CRC of the first 16 * i bytes */
    uint32_t power[32];         /* x^(8 * 2^k) modulo the polynomial */
    uint32_t step[SALVAGE_STEPS]; /* x^(8 * i) */
};

/* Finds everything. `sector_bytes` and `granule_bytes`: as told by the user, 0 unknown. */
void salvage_scan(struct salvage *salvage, const uint8_t *bytes, uint32_t count, uint32_t sector_bytes,
                  uint32_t granule_bytes);
void salvage_free(struct salvage *salvage);

static inline const uint8_t *salvage_name(const struct salvage *salvage, const struct salvage_version *version)
{
    return salvage->bytes + version->end - FFFS_NODE_TRAILER - version->name_length;
}

/* Shows the pieces of a version's data in the order of the file, and with `tables` also its table blocks (in between).
 * 0, -1 when the list is damaged or leads out of the image, or what `visit` returned that was not 0. */
int salvage_pieces(struct salvage *salvage, const struct salvage_version *version, int tables,
                   int (*visit)(void *context, uint32_t address, uint32_t bytes), void *context);

/* salvage_index.c: reads the geometry from headers, then the records that lead to versions found. */
void salvage_find_shape(struct salvage *salvage);
void salvage_read_index(struct salvage *salvage);
/* The version whose node ends at `end`, or NULL. */
struct salvage_version *salvage_at(const struct salvage *salvage, uint32_t end);

#endif

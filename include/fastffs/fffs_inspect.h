/* Optional read-only walk of everything on flash, for diagnostics: dump tools, explorers. Link inspect.c for it. */
#ifndef FFFS_INSPECT_H
#define FFFS_INSPECT_H

#include "fastffs.h"

#ifdef __cplusplus
extern "C" {
#endif

enum fffs_item_kind {
    FFFS_ITEM_HEADER = 1,       /* an index unit's header */
    FFFS_ITEM_MARK,             /* start, session or clean mark */
    FFFS_ITEM_PUT, FFFS_ITEM_PUT_MULTI, FFFS_ITEM_DELETE, /* records; `current` tells whether it is the live one */
    FFFS_ITEM_CONTROL,          /* other control record */
    FFFS_ITEM_INVALID,          /* non-blank granule that verifies as nothing */
    FFFS_ITEM_NODE,             /* a file's node (address = its first byte), name and size filled */
    FFFS_ITEM_EXTENT            /* one extent of the node before it */
};

struct fffs_item {
    uint8_t kind;               /* enum fffs_item_kind */
    uint8_t current;            /* record: it is the newest for its slot and applies */
    uint8_t in_chain;           /* header/record: its unit belongs to the live chain */
    uint8_t valid;
    uint32_t address, bytes;    /* place on flash */
    uint32_t serial;            /* header: serial of the unit */
    uint16_t slot;              /* record */
    uint8_t control_type;
    uint32_t control_payload;
    uint32_t node_end;          /* put: address behind the node's last byte */
    uint32_t footprint;         /* put: bytes, rounded up */
    uint32_t file_offset, size, stamp; /* node, extent */
    const char *text;           /* static: name of the type */
    char name[FFFS_NAME_MAX + 1];
};

/* Walks a mounted volume: every index unit in order of address, every granule, then every current node with its extents.
 * `visit` nonzero ends the walk and is returned. */
int fffs_inspect(struct fffs *fs, int (*visit)(void *context, const struct fffs_item *item), void *context);

/* The bytes of file `name` of a mounted volume that lie at flash `address`: which file owns an address. 1 found, 0 not. */
int fffs_inspect_owner(struct fffs *fs, uint32_t address, struct fffs_info *info);

#ifdef __cplusplus
}
#endif
#endif

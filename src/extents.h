/* Nodes and extents as they stand on flash: load and verify a node, find the extent that holds an offset. */
#ifndef FFFS_EXTENTS_H
#define FFFS_EXTENTS_H

#include "node.h"
#include "volume.h"

/* Bytes of a node that suit a stack buffer: trailer, a common name, a few extents. */
enum { FFFS_NODE_WINDOW = 96 };

/* Where bytes of a file lie. */
struct fffs_piece {
    uint32_t address;
    uint32_t start, end;        /* offsets in the file */
};

/* A table block being read: a chunk of it. */
struct fffs_table {
    uint32_t address, bytes;
    uint32_t start;             /* offset in the file at which its first extent begins */
    uint32_t count;             /* extents */
    uint32_t from, have;        /* place of the chunk in the block */
    uint8_t chunk[FFFS_TABLE_HEADER + FFFS_FILE_EXTENTS * FFFS_EXTENT_BYTES + FFFS_TABLE_CRC_BYTES];
};

/* A walk over the extents of a file in order, which reads each table block once. */
struct fffs_walk {
    struct fffs_piece piece;
    uint32_t tables;            /* blocks passed */
    uint32_t entry;             /* next one of the block, or of those in the node */
    uint32_t entered;           /* `piece` is the first one of `table` */
    struct fffs_table table;
};

/* Reads the node that a put record names into `buffer` (at least FFFS_NODE_TRAILER bytes) in one read call of at most
 * `bytes` and at most its footprint, and verifies it: CRC, slot, extent of its fields. Longer nodes cost more reads.
 * FFFS_ERR_CORRUPT, FFFS_ERR_IO. */
int fffs_node_load(struct fffs *fs, const struct fffs_record *record, struct fffs_node *node, uint8_t *buffer,
                   uint32_t bytes);
/* The same for a node whose last `window_bytes` bytes (or the run's last, and more before it) were read already. */
int fffs_node_parse(struct fffs *fs, const struct fffs_record *record, struct fffs_node *node, const uint8_t *window,
                    uint32_t window_bytes);
/* The same for a node known only by its end. */
int fffs_node_load_at(struct fffs *fs, uint32_t end, struct fffs_node *node, uint8_t *buffer, uint32_t bytes);
/* The least length that a put record of this node codes: of the run, or of the node alone when it lists extents. */
uint32_t fffs_node_run(const struct fffs_node *node);
/* The length that a writer codes: with the padding before the node, which nothing else can use. */
static inline uint32_t fffs_node_charge(const struct fffs_node *node)
{
    return fffs_node_run(node) + ((node->flags & FFFS_NODE_MULTI) != 0 ? node->pad : 0u);
}
/* Bytes of flash that a piece of a file takes: whole granules, but for what stands directly before padding and node. */
uint32_t fffs_piece_bytes(const struct fffs *fs, const struct fffs_node *node, const struct fffs_piece *piece);
/* `bytes` bytes of the node that begin `from_end` before its end: out of the window, or by a read. */
int fffs_node_read(struct fffs *fs, const struct fffs_node *node, uint32_t from_end, void *to, uint32_t bytes);
/* 1 when the node's name is `name`, 0 when not, or an error. */
int fffs_node_has_name(struct fffs *fs, const struct fffs_node *node, const char *name, uint32_t length);

/* The extent that holds file offset `offset` < size. 0 reads for what is in the node's window. */
int fffs_extent_find(struct fffs *fs, const struct fffs_node *node, uint32_t offset, struct fffs_piece *piece);
void fffs_walk_begin(struct fffs_walk *walk);
/* 1: walk->piece is the next extent; 0: there are no more; or an error. 0 reads for what is in the node's window. */
int fffs_walk_next(struct fffs *fs, const struct fffs_node *node, struct fffs_walk *walk);
/* Table block number `index` of the node, 0 the oldest: its address and length in bytes. */
int fffs_table_place(struct fffs *fs, const struct fffs_node *node, uint32_t index, uint32_t *address,
                     uint32_t *bytes);

/* Whether a put record's run, its length rounded up, overlaps addresses low .. high - 1; a put-multi always may. No reads. */
int fffs_record_touches(const struct fffs_shape *shape, const struct fffs_record *record, uint32_t low, uint32_t high);
/* The same exactly: 1 when a byte of the file's data, tables or node lies there, 0 when not, or an error. Reads the node
 * where the record alone does not tell. */
int fffs_record_uses(struct fffs *fs, const struct fffs_record *record, uint32_t low, uint32_t high);

#endif

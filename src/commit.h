/* The order of programs that makes a change atomic: data, tables and node first, the index record last. */
#ifndef FFFS_COMMIT_H
#define FFFS_COMMIT_H

#include "extents.h"
#include "volume.h"

/* What a new node is made of. */
struct fffs_node_plan {
    struct fffs_point *point;
    struct fffs_builder *builder;
    uint8_t *tail;              /* last bytes of the data, not yet programmed */
    uint32_t tail_bytes;
    uint32_t tail_room;         /* bytes of the tail's buffer: the node is put behind the tail where it fits */
    const uint8_t *meta;        /* name in RAM, or NULL: data CRC, attributes and name of `old` */
    const struct fffs_node *old;
    uint32_t meta_bytes;
    uint32_t kept;              /* bytes of `old` directly before its name that go in front of `meta` */
    uint32_t size, stamp;
    uint16_t slot;
    uint8_t name_length, tag;
    uint8_t flags;              /* FFFS_NODE_ATTRS, FFFS_NODE_DATA_CRC of meta; MULTI, TABLES: `kept` holds old's list */
};

void fffs_builder_clear(struct fffs_builder *builder);
/* Makes sure that bytes about to be programmed at the point can be listed: FFFS_OK, or FFFS_BUILDER_SPILLED when a full list was
 * written out and the point is another. Between programming and listing there must be no collection: it would take the
 * bytes for those of nobody. FFFS_COLLECT when there is no room. */
enum { FFFS_BUILDER_SPILLED = 2 };
int fffs_builder_ready(struct fffs *fs, struct fffs_point *point, struct fffs_builder *builder);
/* Adds bytes just programmed at `address`, file offsets up to `end`. Programs a table block when the list in RAM is full. */
int fffs_builder_add(struct fffs *fs, struct fffs_point *point, struct fffs_builder *builder, uint32_t address,
                     uint32_t end);
/* Counts the segment of `point` as one that holds bytes of the file. */
void fffs_builder_enter(struct fffs_point *point, struct fffs_builder *builder);

/* Programs tail, padding and node, in one call where they fit the buffer, and fills the put record to commit. */
int fffs_node_write(struct fffs *fs, struct fffs_node_plan *plan, struct fffs_record *record);
/* The most flash that a node of these parts can take, padding included. */
uint32_t fffs_node_bound(const struct fffs *fs, uint32_t meta_bytes);

/* Commits a put record: it replaces `old` (head 0: none). Durable on FFFS_OK. Cost: 1 program. */
int fffs_commit_put(struct fffs *fs, const struct fffs_record *record, const struct fffs_record *old);
int fffs_commit_delete(struct fffs *fs, const struct fffs_record *old);
/* Commits `count` puts and deletes as one transaction; olds[i] is what records[i] replaces (head 0: none). Cost: 2
 * programs, and 1 for each fffs_log_txn_room() records. */
int fffs_commit_all(struct fffs *fs, const struct fffs_record *records, const struct fffs_record *olds,
                    uint32_t count);
/* Takes a committed record into cache, weights and counts. */
void fffs_commit_apply(struct fffs *fs, const struct fffs_record *record, const struct fffs_record *old);

#endif

/* Node codec: the metadata of one file version, at the end of its data. No flash access; see extents.c for that. */
#ifndef FFFS_NODE_H
#define FFFS_NODE_H

#include "format.h"
#include "record.h"

/* A node being read. `tail` are the last `tail_bytes` bytes before `end`, in a buffer of the caller. */
struct fffs_node {
    uint32_t end;               /* address behind the trailer */
    uint32_t bytes;             /* of the whole node */
    uint32_t size;              /* of the file */
    uint32_t stamp;
    uint32_t crc;
    uint32_t tables;            /* table blocks listed */
    uint16_t slot;
    uint16_t attrs;             /* bytes of attributes */
    uint8_t name_length;
    uint8_t pad;
    uint8_t flags;
    uint8_t extents;
    const uint8_t *tail;
    uint32_t tail_bytes;
};

/* Decodes the trailer (the last FFFS_NODE_TRAILER bytes of `tail`); 0 when it can not be a node's. */
int fffs_node_decode_trailer(struct fffs_node *node);
/* Fills FFFS_NODE_TRAILER bytes; the CRC is `crc` continued over the trailer's own first bytes. */
void fffs_node_encode_trailer(const struct fffs_node *node, uint32_t crc, uint8_t *trailer);

/* Distances of the parts from the node's end. */
static inline uint32_t fffs_node_name_from_end(const struct fffs_node *node)
{
    return FFFS_NODE_TRAILER + (uint32_t)node->name_length;
}
static inline uint32_t fffs_node_attrs_from_end(const struct fffs_node *node)
{
    return fffs_node_name_from_end(node) + ((node->flags & FFFS_NODE_ATTRS) != 0 ? 1u + node->attrs : 0u);
}
static inline uint32_t fffs_node_extents_from_end(const struct fffs_node *node)
{
    return fffs_node_attrs_from_end(node) + ((node->flags & FFFS_NODE_DATA_CRC) != 0 ? 4u : 0u) +
           (uint32_t)node->extents * FFFS_EXTENT_BYTES;
}
/* Of the list of table blocks; this is also the node's length. */
static inline uint32_t fffs_node_tables_from_end(const struct fffs_node *node)
{
    return fffs_node_extents_from_end(node) + ((node->flags & FFFS_NODE_TABLES) != 0 ? 2u + 4u * node->tables : 0u);
}
static inline uint32_t fffs_node_data_address(const struct fffs_node *node)
{
    return node->end - node->bytes - node->pad - node->size;
}

#endif

/* Node codec. Owns the layout of the trailer; promises that no field of a damaged trailer leads out of its ranges. */
#include "node.h"

#include "bytes.h"
#include "crc32.h"

int fffs_node_decode_trailer(struct fffs_node *node)
{
    const uint8_t *trailer = node->tail + node->tail_bytes - FFFS_NODE_TRAILER;

    node->size = fffs_get32(trailer + FFFS_NODE_SIZE);
    node->stamp = fffs_get32(trailer + FFFS_NODE_STAMP);
    node->slot = fffs_get16(trailer + FFFS_NODE_SLOT);
    node->name_length = trailer[FFFS_NODE_NAME_LENGTH];
    node->pad = trailer[FFFS_NODE_PAD];
    node->flags = trailer[FFFS_NODE_FLAGS];
    node->extents = trailer[FFFS_NODE_EXTENTS];
    node->crc = fffs_get32(trailer + FFFS_NODE_CRC);
    node->attrs = 0;
    node->tables = 0;
    if (node->name_length == 0 || (node->flags & ~FFFS_NODE_KNOWN) != 0 || node->size > 0x7FFFFFFFu)
        return 0;
    if ((node->flags & FFFS_NODE_MULTI) == 0)
        return node->extents == 0 && (node->flags & FFFS_NODE_TABLES) == 0;
    return 1;
}

void fffs_node_encode_trailer(const struct fffs_node *node, uint32_t crc, uint8_t *trailer)
{
    fffs_put32(trailer + FFFS_NODE_SIZE, node->size);
    fffs_put32(trailer + FFFS_NODE_STAMP, node->stamp);
    fffs_put16(trailer + FFFS_NODE_SLOT, node->slot);
    trailer[FFFS_NODE_NAME_LENGTH] = node->name_length;
    trailer[FFFS_NODE_PAD] = node->pad;
    trailer[FFFS_NODE_FLAGS] = node->flags;
    trailer[FFFS_NODE_EXTENTS] = node->extents;
    fffs_put32(trailer + FFFS_NODE_CRC, fffs_crc32(crc, trailer, FFFS_NODE_CRC));
}

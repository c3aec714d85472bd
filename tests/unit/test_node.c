/* Node trailer codec and the distances of a node's parts. */
#include <string.h>
#include "harness.h"
#include "src/bytes.h"
#include "src/crc32.h"
#include "src/node.h"

static struct fffs_node good_node(void)
{
    struct fffs_node node;
    memset(&node, 0, sizeof node);
    node.size = 123456;
    node.stamp = 0x89ABCDEFu;
    node.slot = 0xFEDC;
    node.name_length = 17;
    node.pad = 200;
    return node;
}

static int decode(struct fffs_node *node, const uint8_t *trailer)
{
    memset(node, 0xEE, sizeof *node);
    node->tail = trailer;
    node->tail_bytes = FFFS_NODE_TRAILER;
    return fffs_node_decode_trailer(node);
}

TEST(trailer_round_trip)
{
    struct fffs_node in = good_node(), out;
    uint8_t trailer[FFFS_NODE_TRAILER];

    in.flags = FFFS_NODE_MULTI | FFFS_NODE_DATA_CRC;
    in.extents = 9;
    fffs_node_encode_trailer(&in, 0x1234, trailer);
    CHECK_EQ(decode(&out, trailer), 1);
    CHECK_EQ(out.size, in.size);
    CHECK_EQ(out.stamp, in.stamp);
    CHECK_EQ(out.slot, in.slot);
    CHECK_EQ(out.name_length, in.name_length);
    CHECK_EQ(out.pad, in.pad);
    CHECK_EQ(out.flags, in.flags);
    CHECK_EQ(out.extents, in.extents);
    CHECK_EQ(out.crc, fffs_crc32(0x1234, trailer, FFFS_NODE_CRC));
}

TEST(trailers_out_of_range_are_refused)
{
    struct fffs_node node, out;
    uint8_t trailer[FFFS_NODE_TRAILER];

    node = good_node();
    node.name_length = 0;
    fffs_node_encode_trailer(&node, 0, trailer);
    CHECK_EQ(decode(&out, trailer), 0);
    node = good_node();
    node.flags = 0x10;
    fffs_node_encode_trailer(&node, 0, trailer);
    CHECK_EQ(decode(&out, trailer), 0);
    node = good_node();
    node.size = 0x80000000u;
    fffs_node_encode_trailer(&node, 0, trailer);
    CHECK_EQ(decode(&out, trailer), 0);
    node = good_node();
    node.extents = 1;           /* extents without the flag */
    fffs_node_encode_trailer(&node, 0, trailer);
    CHECK_EQ(decode(&out, trailer), 0);
    node = good_node();
    node.flags = FFFS_NODE_TABLES;
    fffs_node_encode_trailer(&node, 0, trailer);
    CHECK_EQ(decode(&out, trailer), 0);
    memset(trailer, 0xFF, sizeof trailer);
    CHECK_EQ(decode(&out, trailer), 0);
    memset(trailer, 0, sizeof trailer);
    CHECK_EQ(decode(&out, trailer), 0);
    node = good_node();
    node.size = 0x7FFFFFFFu;
    fffs_node_encode_trailer(&node, 0, trailer);
    CHECK_EQ(decode(&out, trailer), 1);
}

TEST(parts_stand_behind_each_other)
{
    struct fffs_node node = good_node();

    CHECK_EQ(fffs_node_name_from_end(&node), FFFS_NODE_TRAILER + 17);
    CHECK_EQ(fffs_node_tables_from_end(&node), FFFS_NODE_TRAILER + 17);
    node.flags = FFFS_NODE_ATTRS;
    node.attrs = 40;
    CHECK_EQ(fffs_node_attrs_from_end(&node), FFFS_NODE_TRAILER + 17 + 41);
    node.flags = FFFS_NODE_ATTRS | FFFS_NODE_DATA_CRC | FFFS_NODE_MULTI;
    node.extents = 3;
    CHECK_EQ(fffs_node_extents_from_end(&node), FFFS_NODE_TRAILER + 17 + 41 + 4 + 24);
    node.flags |= FFFS_NODE_TABLES;
    node.tables = 2;
    CHECK_EQ(fffs_node_tables_from_end(&node), FFFS_NODE_TRAILER + 17 + 41 + 4 + 24 + 2 + 8);
    node.end = 10000;
    node.bytes = 100;
    node.pad = 3;
    node.size = 1000;
    CHECK_EQ(fffs_node_data_address(&node), 10000 - 100 - 3 - 1000);
}

SUITE(node)
{
    RUN(trailer_round_trip);
    RUN(trailers_out_of_range_are_refused);
    RUN(parts_stand_behind_each_other);
}

/* Nodes and extents on flash. Owns nothing; assumes nothing of the bytes: every address and length is checked against the
 * volume before use. A loop over extents is bounded by the node's counts, and each step moves forward in the file. */
#include "extents.h"

#include <string.h>
#include "bytes.h"
#include "crc32.h"
#include "flash_io.h"

int fffs_node_read(struct fffs *fs, const struct fffs_node *node, uint32_t from_end, void *to, uint32_t bytes)
{
    if (from_end <= node->tail_bytes) {
        memcpy(to, node->tail + (node->tail_bytes - from_end), bytes);
        return FFFS_OK;
    }
    if (from_end > node->end)
        return fffs_corrupt();
    return fffs_io_read(fs, node->end - from_end, to, bytes);
}

/* Reads the lengths that stand outside the trailer and sums up the node's length. */
static int measure(struct fffs *fs, struct fffs_node *node)
{
    uint8_t field[2];
    int status;

    if ((node->flags & FFFS_NODE_ATTRS) != 0) {
        status = fffs_node_read(fs, node, fffs_node_name_from_end(node) + 1u, field, 1);
        if (status != FFFS_OK)
            return status;
        node->attrs = field[0];
    }
    if ((node->flags & FFFS_NODE_TABLES) != 0) {
        status = fffs_node_read(fs, node, fffs_node_extents_from_end(node) + 2u, field, 2);
        if (status != FFFS_OK)
            return status;
        node->tables = fffs_get16(field);
    }
    node->bytes = fffs_node_tables_from_end(node);
    return FFFS_OK;
}

/* The CRC over the node up to its CRC field. */
static int verify(struct fffs *fs, const struct fffs_node *node)
{
    uint8_t chunk[32];
    uint32_t crc = 0, left = node->bytes;

    while (left > node->tail_bytes) {
        uint32_t part = fffs_min(left - node->tail_bytes, sizeof chunk);
        int status = fffs_io_read(fs, node->end - left, chunk, part);

        if (status != FFFS_OK)
            return status;
        crc = fffs_crc32(crc, chunk, part);
        left -= part;
    }
    crc = fffs_crc32(crc, node->tail + (node->tail_bytes - left), left - 4u);
    return crc == node->crc ? FFFS_OK : fffs_corrupt();
}

uint32_t fffs_node_run(const struct fffs_node *node)
{
    return (node->flags & FFFS_NODE_MULTI) != 0 ? node->bytes : node->bytes + node->size + node->pad;
}

/* Decodes the window and reads what else is needed to know the node's length; no CRC yet. */
static int parse_unverified(struct fffs *fs, uint32_t end, struct fffs_node *node, const uint8_t *window,
                            uint32_t bytes)
{
    int status;

    node->end = end;
    if (bytes < FFFS_NODE_TRAILER)
        return fffs_corrupt();
    node->tail = window;
    node->tail_bytes = bytes;
    if (!fffs_node_decode_trailer(node))
        return fffs_corrupt();
    status = measure(fs, node);
    if (status != FFFS_OK)
        return status;
    return node->bytes <= end && fffs_node_run(node) <= end ? FFFS_OK : fffs_corrupt();
}

int fffs_node_load_at(struct fffs *fs, uint32_t end, struct fffs_node *node, uint8_t *buffer, uint32_t bytes)
{
    int status;

    bytes = fffs_min(bytes, end);
    status = fffs_io_read(fs, end - bytes, buffer, bytes);
    if (status == FFFS_OK)
        status = parse_unverified(fs, end, node, buffer, bytes);
    return status == FFFS_OK ? verify(fs, node) : status;
}

int fffs_node_parse(struct fffs *fs, const struct fffs_record *record, struct fffs_node *node, const uint8_t *window,
                    uint32_t window_bytes)
{
    uint32_t footprint = fffs_record_footprint(&fs->shape, record), end = fffs_record_end(&fs->shape, record);
    uint32_t bytes = fffs_min(window_bytes, footprint);
    int status, multi = (record->kind & FFFS_KIND_MULTI) != 0;

    if (record->head < fs->shape.first_sector)
        return fffs_corrupt();
    status = parse_unverified(fs, end, node, window + (window_bytes - bytes), bytes);
    if (status != FFFS_OK)
        return status;
    if (node->slot != record->slot || multi != ((node->flags & FFFS_NODE_MULTI) != 0) ||
        fffs_node_run(node) > footprint)
        return fffs_corrupt();
    return verify(fs, node);
}

int fffs_node_load(struct fffs *fs, const struct fffs_record *record, struct fffs_node *node, uint8_t *buffer,
                   uint32_t bytes)
{
    uint32_t end = fffs_record_end(&fs->shape, record);
    int status;

    bytes = fffs_min(fffs_min(bytes, fffs_record_footprint(&fs->shape, record)), end);
    if (record->head < fs->shape.first_sector || bytes < FFFS_NODE_TRAILER)
        return fffs_corrupt();
    status = fffs_io_read(fs, end - bytes, buffer, bytes);
    return status == FFFS_OK ? fffs_node_parse(fs, record, node, buffer, bytes) : status;
}

int fffs_node_has_name(struct fffs *fs, const struct fffs_node *node, const char *name, uint32_t length)
{
    uint8_t chunk[32];
    uint32_t at = 0;

    if (node->name_length != length)
        return 0;
    while (at < length) {
        uint32_t part = fffs_min(length - at, sizeof chunk);
        int status = fffs_node_read(fs, node, fffs_node_name_from_end(node) - at, chunk, part);

        if (status != FFFS_OK)
            return status;
        if (memcmp(chunk, name + at, part) != 0)
            return 0;
        at += part;
    }
    return 1;
}

/* Whether the piece lies in the data area and inside the file. */
static int check_piece(const struct fffs *fs, const struct fffs_node *node, const struct fffs_piece *piece)
{
    uint32_t first = (uint32_t)fs->shape.first_sector << fs->shape.sector_shift;
    uint32_t volume = fffs_volume_bytes(&fs->shape);

    if (piece->end <= piece->start || piece->end > node->size || piece->address < first || piece->address > volume ||
        piece->end - piece->start > volume - piece->address)
        return fffs_corrupt();
    return FFFS_OK;
}

/* Looks for `offset` among `count` extents that begin `from_end` before the node's end. `piece->end` is where the first
 * begins; it is moved along. 1 found, 0 not. */
static int find_inline(struct fffs *fs, const struct fffs_node *node, uint32_t offset, struct fffs_piece *piece)
{
    uint32_t from_end = fffs_node_extents_from_end(node);
    uint32_t left;

    for (left = node->extents; left > 0; left--) {
        uint8_t field[FFFS_EXTENT_BYTES];
        int status = fffs_node_read(fs, node, from_end, field, sizeof field);

        if (status != FFFS_OK)
            return status;
        from_end -= FFFS_EXTENT_BYTES;
        piece->start = piece->end;
        piece->address = fffs_get32(field + FFFS_EXTENT_ADDRESS);
        piece->end = fffs_get32(field + FFFS_EXTENT_END);
        if (check_piece(fs, node, piece) != FFFS_OK)
            return fffs_corrupt();
        if (offset < piece->end)
            return 1;
    }
    return 0;
}

/* A table block's header, with `header` holding FFFS_TABLE_HEADER bytes. */
static int read_table_header(struct fffs *fs, const struct fffs_node *node, uint32_t index, uint32_t *address,
                             uint8_t *header)
{
    uint8_t field[4];
    uint32_t first = (uint32_t)fs->shape.first_sector << fs->shape.sector_shift;
    int status = fffs_node_read(fs, node, fffs_node_tables_from_end(node) - 4u * (node->tables - 1u - index), field, 4);

    if (status != FFFS_OK)
        return status;
    *address = fffs_get32(field);
    if (*address < first)
        return fffs_corrupt();
    status = fffs_io_read(fs, *address, header, FFFS_TABLE_HEADER);
    if (status != FFFS_OK)
        return status;
    return fffs_get16(header + FFFS_TABLE_COUNT) > 0 && fffs_get16(header + FFFS_TABLE_INDEX) == index ? FFFS_OK
                                                                                                         : fffs_corrupt();
}

int fffs_table_place(struct fffs *fs, const struct fffs_node *node, uint32_t index, uint32_t *address,
                     uint32_t *bytes)
{
    uint8_t header[FFFS_TABLE_HEADER];
    int status = read_table_header(fs, node, index, address, header);

    *bytes = FFFS_TABLE_HEADER + FFFS_TABLE_CRC_BYTES +
             (status == FFFS_OK ? fffs_get16(header + FFFS_TABLE_COUNT) * (uint32_t)FFFS_EXTENT_BYTES : 0u);
    return status;
}

/* Looks for `offset` in the table block at `address`, verifying its CRC. `piece->end` becomes the block's end when it is
 * not there. 1 found, 0 not. */
static int find_in_table(struct fffs *fs, const struct fffs_node *node, uint32_t address, const uint8_t *header,
                         uint32_t offset, struct fffs_piece *piece)
{
    uint8_t field[FFFS_EXTENT_BYTES];
    uint32_t crc = fffs_crc32(0, header, FFFS_TABLE_HEADER);
    uint32_t left = fffs_get16(header + FFFS_TABLE_COUNT), end = fffs_get32(header + FFFS_TABLE_START);
    int found = 0, status;

    for (address += FFFS_TABLE_HEADER; left > 0; left--, address += FFFS_EXTENT_BYTES) {
        status = fffs_io_read(fs, address, field, sizeof field);
        if (status != FFFS_OK)
            return status;
        crc = fffs_crc32(crc, field, sizeof field);
        if (!found) {
            piece->start = end;
            piece->address = fffs_get32(field + FFFS_EXTENT_ADDRESS);
            piece->end = end = fffs_get32(field + FFFS_EXTENT_END);
            found = offset < piece->end;
        }
    }
    status = fffs_io_read(fs, address, field, FFFS_TABLE_CRC_BYTES);
    if (status != FFFS_OK)
        return status;
    if (crc != fffs_get32(field) || (found && check_piece(fs, node, piece) != FFFS_OK))
        return fffs_corrupt();
    return found;
}

/* The last table block that begins at or before `offset`: binary search over the list in the node. */
static int find_by_tables(struct fffs *fs, const struct fffs_node *node, uint32_t offset, struct fffs_piece *piece)
{
    uint8_t header[FFFS_TABLE_HEADER];
    uint32_t low = 0, high = node->tables, address;
    int status;

    while (high - low > 1u) {
        uint32_t middle = low + (high - low) / 2u;

        status = read_table_header(fs, node, middle, &address, header);
        if (status != FFFS_OK)
            return status;
        if (fffs_get32(header + FFFS_TABLE_START) <= offset)
            low = middle;
        else
            high = middle;
    }
    status = read_table_header(fs, node, low, &address, header);
    if (status != FFFS_OK)
        return status;
    return find_in_table(fs, node, address, header, offset, piece);
}

int fffs_extent_find(struct fffs *fs, const struct fffs_node *node, uint32_t offset, struct fffs_piece *piece)
{
    int found = 0;

    if (offset >= node->size)
        return fffs_corrupt();
    piece->end = 0;
    if ((node->flags & FFFS_NODE_MULTI) == 0) {
        piece->start = 0;
        piece->end = node->size;
        piece->address = fffs_node_data_address(node);
        return check_piece(fs, node, piece);
    }
    if (node->tables > 0)
        found = find_by_tables(fs, node, offset, piece);
    if (found == 0)
        found = find_inline(fs, node, offset, piece);
    if (found < 0)
        return found;
    return found ? FFFS_OK : fffs_corrupt();
}

int fffs_record_touches(const struct fffs_shape *shape, const struct fffs_record *record, uint32_t low, uint32_t high)
{
    uint32_t end = fffs_record_end(shape, record), footprint = fffs_record_footprint(shape, record);

    if ((record->kind & FFFS_KIND_MULTI) != 0)
        return 1;
    return end > low && (footprint > end ? 0 : end - footprint) < high;
}

/* Whether an extent or a table block of the node overlaps low .. high - 1. */
static int parts_use(struct fffs *fs, const struct fffs_node *node, uint32_t low, uint32_t high)
{
    struct fffs_piece piece;
    uint32_t i, address, bytes;

    for (piece.end = 0; piece.end < node->size;) {
        int status = fffs_extent_find(fs, node, piece.end, &piece);

        if (status != FFFS_OK)
            return status;
        if (piece.address < high && piece.address + (piece.end - piece.start) > low)
            return 1;
    }
    for (i = 0; i < node->tables; i++) {
        int status = fffs_table_place(fs, node, i, &address, &bytes);

        if (status != FFFS_OK)
            return status;
        if (address < high && address + bytes > low)
            return 1;
    }
    return 0;
}

int fffs_record_uses(struct fffs *fs, const struct fffs_record *record, uint32_t low, uint32_t high)
{
    uint8_t window[FFFS_NODE_WINDOW];
    struct fffs_node node;
    uint32_t end = fffs_record_end(&fs->shape, record);
    int status;

    if (!fffs_record_touches(&fs->shape, record, low, high))
        return 0;
    if (end > low && end <= high)
        return 1; /* the node's last byte */
    status = fffs_node_load(fs, record, &node, window, sizeof window);
    if (status != FFFS_OK)
        return status;
    if ((node.flags & FFFS_NODE_MULTI) == 0)
        return end > low && fffs_node_data_address(&node) < high;
    if (end > low && end - node.bytes < high)
        return 1;
    return parts_use(fs, &node, low, high);
}

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

uint32_t fffs_piece_bytes(const struct fffs *fs, const struct fffs_node *node, const struct fffs_piece *piece)
{
    uint32_t bytes = piece->end - piece->start;

    if (piece->address + bytes == node->end - fffs_node_charge(node))
        return bytes;
    return fffs_align_up(bytes, (uint32_t)1 << fs->shape.granule_shift);
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

/* Makes `piece` the extent number `index` of those in the node; it begins where `piece` ended. 1, or an error. */
static int inline_entry(struct fffs *fs, const struct fffs_node *node, uint32_t index, struct fffs_piece *piece)
{
    uint8_t field[FFFS_EXTENT_BYTES];
    int status = fffs_node_read(fs, node, fffs_node_extents_from_end(node) - index * (uint32_t)FFFS_EXTENT_BYTES, field,
                                sizeof field);

    if (status != FFFS_OK)
        return status;
    piece->start = piece->end;
    piece->address = fffs_get32(field + FFFS_EXTENT_ADDRESS);
    piece->end = fffs_get32(field + FFFS_EXTENT_END);
    return check_piece(fs, node, piece) == FFFS_OK ? 1 : fffs_corrupt();
}

/* Looks for `offset` among the extents in the node, of which the first begins at `piece->end`. 1 found, 0 not. */
static int find_inline(struct fffs *fs, const struct fffs_node *node, uint32_t offset, struct fffs_piece *piece)
{
    uint32_t i;

    for (i = 0; i < node->extents; i++) {
        int status = inline_entry(fs, node, i, piece);

        if (status < 0 || offset < piece->end)
            return status;
    }
    return 0;
}

/* The address of table block number `index`, 0 the oldest. */
static int table_address(struct fffs *fs, const struct fffs_node *node, uint32_t index, uint32_t *address)
{
    uint8_t field[4];
    int status = fffs_node_read(fs, node, fffs_node_tables_from_end(node) - 4u * (node->tables - 1u - index), field, 4);

    if (status != FFFS_OK)
        return status;
    *address = fffs_get32(field);
    if (*address < (uint32_t)fs->shape.first_sector << fs->shape.sector_shift)
        status = fffs_corrupt();
    return status;
}

/* Reads as much of the block as the chunk holds, from its byte `from`. */
static int fill_chunk(struct fffs *fs, struct fffs_table *table, uint32_t from, uint32_t bytes)
{
    table->from = from;
    table->have = fffs_min(bytes, sizeof table->chunk);
    return fffs_io_read(fs, table->address + from, table->chunk, table->have);
}

/* Verifies the CRC of a block whose first chunk is read; longer ones are read on. */
static int check_table(struct fffs *fs, struct fffs_table *table)
{
    uint8_t field[FFFS_TABLE_CRC_BYTES];
    uint32_t left = table->bytes - FFFS_TABLE_CRC_BYTES, crc = 0;
    int status = FFFS_OK;

    while (left > 0) {
        uint32_t part = fffs_min(left, table->have);

        crc = fffs_crc32(crc, table->chunk, part);
        left -= part;
        if (left == 0 && table->have - part >= sizeof field)
            memcpy(field, table->chunk + part, sizeof field);
        else if (left == 0)
            status = fffs_io_read(fs, table->address + table->bytes - FFFS_TABLE_CRC_BYTES, field, sizeof field);
        else
            status = fill_chunk(fs, table, table->from + part, left);
        if (status != FFFS_OK)
            return status;
    }
    return crc == fffs_get32(field) ? FFFS_OK : fffs_corrupt();
}

/* Opens and verifies table block number `index`: one read call when it fits the chunk. */
static int open_table(struct fffs *fs, const struct fffs_node *node, uint32_t index, struct fffs_table *table)
{
    int status = table_address(fs, node, index, &table->address);

    if (status == FFFS_OK && table->address >= fffs_volume_bytes(&fs->shape))
        status = fffs_corrupt();
    if (status == FFFS_OK)
        status = fill_chunk(fs, table, 0, fffs_volume_bytes(&fs->shape) - table->address);
    if (status != FFFS_OK)
        return status;
    if (table->have < FFFS_TABLE_HEADER)
        return fffs_corrupt();
    table->count = fffs_get16(table->chunk + FFFS_TABLE_COUNT);
    table->start = fffs_get32(table->chunk + FFFS_TABLE_START);
    table->bytes = FFFS_TABLE_HEADER + FFFS_TABLE_CRC_BYTES + table->count * (uint32_t)FFFS_EXTENT_BYTES;
    if (table->count == 0 || table->count > FFFS_EXTENTS_MAX || fffs_get16(table->chunk + FFFS_TABLE_INDEX) != index)
        return fffs_corrupt();
    return check_table(fs, table);
}

/* Makes `piece` the entry number `entry` of an open block; it begins where `piece` ended. */
static int table_entry(struct fffs *fs, const struct fffs_node *node, struct fffs_table *table, uint32_t entry,
                       struct fffs_piece *piece)
{
    uint32_t at = FFFS_TABLE_HEADER + entry * (uint32_t)FFFS_EXTENT_BYTES;
    const uint8_t *field;

    if (at < table->from || at + FFFS_EXTENT_BYTES > table->from + table->have) {
        int status = fill_chunk(fs, table, at, table->bytes - at);

        if (status != FFFS_OK)
            return status;
    }
    field = table->chunk + (at - table->from);
    piece->start = piece->end;
    piece->address = fffs_get32(field + FFFS_EXTENT_ADDRESS);
    piece->end = fffs_get32(field + FFFS_EXTENT_END);
    return check_piece(fs, node, piece);
}

int fffs_table_place(struct fffs *fs, const struct fffs_node *node, uint32_t index, uint32_t *address,
                     uint32_t *bytes)
{
    struct fffs_table table;
    int status = open_table(fs, node, index, &table);

    *address = table.address;
    *bytes = status == FFFS_OK ? table.bytes : 0;
    return status;
}

/* The last table block that begins at or before `offset`: binary search over the list in the node. `piece->end` becomes
 * the block's end when the offset is not there. 1 found, 0 not. */
static int find_by_tables(struct fffs *fs, const struct fffs_node *node, uint32_t offset, struct fffs_piece *piece)
{
    struct fffs_table table;
    uint32_t low = 0, high = node->tables, address, i;
    int status;

    while (high - low > 1u) {
        uint32_t middle = low + (high - low) / 2u;
        uint8_t start[4];

        status = table_address(fs, node, middle, &address);
        if (status == FFFS_OK)
            status = fffs_io_read(fs, address + FFFS_TABLE_START, start, sizeof start);
        if (status != FFFS_OK)
            return status;
        if (fffs_get32(start) <= offset)
            low = middle;
        else
            high = middle;
    }
    status = open_table(fs, node, low, &table);
    piece->end = table.start;
    for (i = 0; status == FFFS_OK && i < table.count; i++) {
        status = table_entry(fs, node, &table, i, piece);
        if (status == FFFS_OK && offset < piece->end)
            return 1;
    }
    return status;
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
    return found && piece->start <= offset ? FFFS_OK : fffs_corrupt(); /* the first table block may begin too late */
}

void fffs_walk_begin(struct fffs_walk *walk)
{
    walk->piece.start = walk->piece.end = 0;
    walk->tables = walk->entry = walk->entered = 0;
}

/* The next entry of the table blocks. */
static int walk_tables(struct fffs *fs, const struct fffs_node *node, struct fffs_walk *walk)
{
    int status = FFFS_OK;

    walk->entered = walk->entry == 0;
    if (walk->entered)
        status = open_table(fs, node, walk->tables, &walk->table);
    if (status == FFFS_OK && walk->entered && walk->table.start != walk->piece.end)
        status = fffs_corrupt();
    if (status == FFFS_OK)
        status = table_entry(fs, node, &walk->table, walk->entry, &walk->piece);
    if (status != FFFS_OK)
        return status;
    if (++walk->entry == walk->table.count) {
        walk->tables++;
        walk->entry = 0;
    }
    return 1;
}

int fffs_walk_next(struct fffs *fs, const struct fffs_node *node, struct fffs_walk *walk)
{
    if (walk->piece.end >= node->size)
        return walk->tables == node->tables ? 0 : fffs_corrupt();
    if (walk->tables < node->tables)
        return walk_tables(fs, node, walk);
    walk->entered = 0;
    if ((node->flags & FFFS_NODE_MULTI) == 0) {
        int status = fffs_extent_find(fs, node, 0, &walk->piece);

        return status == FFFS_OK ? 1 : status;
    }
    if (walk->entry == node->extents)
        return fffs_corrupt();
    return inline_entry(fs, node, walk->entry++, &walk->piece);
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
    struct fffs_walk walk;
    int status;

    fffs_walk_begin(&walk);
    while ((status = fffs_walk_next(fs, node, &walk)) == 1) {
        const struct fffs_piece *piece = &walk.piece;

        if (piece->address < high && piece->address + (piece->end - piece->start) > low)
            return 1;
        if (walk.entered && walk.table.address < high && walk.table.address + walk.table.bytes > low)
            return 1;
    }
    return status;
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

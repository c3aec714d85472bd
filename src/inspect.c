/* A walk over everything on flash, for diagnostics. Owns nothing; changes nothing. Strides are read to the stack, so
 * that the walks of the log in between may use the scratch buffer. Loops are bounded by units, strides, slots and
 * extents. */
#include "fastffs/fffs_inspect.h"

#include <string.h>
#include "bytes.h"
#include "extents.h"
#include "flash_io.h"
#include "index_log.h"

enum {
    CHUNK = 256,                /* bytes read at a time: the largest stride */
    WINDOW = FFFS_NODE_TRAILER + FFFS_NAME_MAX + 14
};

struct inspection {
    struct fffs *fs;
    int (*visit)(void *context, const struct fffs_item *item);
    void *context;
    uint32_t link;              /* of the unit in work in the chain; FFFS_UNIT_NONE: outside */
    struct fffs_item item;
};

static void lock(const struct fffs *fs)
{
    if (fs->config->lock != NULL)
        fs->config->lock(fs->config->hook_context);
}

static void unlock(const struct fffs *fs)
{
    if (fs->config->unlock != NULL)
        fs->config->unlock(fs->config->hook_context);
}

static struct fffs_item *begin_item(struct inspection *walk, enum fffs_item_kind kind, uint32_t address,
                                    uint32_t bytes, const char *text)
{
    memset(&walk->item, 0, sizeof walk->item);
    walk->item.kind = (uint8_t)kind;
    walk->item.address = address;
    walk->item.bytes = bytes;
    walk->item.text = text;
    walk->item.valid = kind != FFFS_ITEM_INVALID;
    return &walk->item;
}

static int show(struct inspection *walk)
{
    return walk->visit(walk->context, &walk->item);
}

/* ---- Index units ---- */

static uint32_t find_link(const struct fffs *fs, uint32_t unit)
{
    uint32_t link;

    for (link = 0; link < fs->log.chain_length; link++)
        if (fs->log.chain[link] == unit)
            return link;
    return FFFS_UNIT_NONE;
}

static int show_header(struct inspection *walk, uint32_t unit)
{
    struct fffs *fs = walk->fs;
    uint32_t address = fffs_unit_address(&fs->shape, unit);
    uint32_t stride_bytes = fffs_header_strides(&fs->shape) << fs->shape.stride_shift;
    uint8_t bytes[FFFS_HDR_BYTES];
    struct fffs_header header;
    struct fffs_item *item;
    int status = fffs_io_read(fs, address, bytes, sizeof bytes), decoded;

    if (status != FFFS_OK)
        return status;
    decoded = fffs_header_decode(bytes, &header);
    if (decoded == FFFS_ERR_BLANK || fffs_io_stride_is_blank(fs, address, bytes, sizeof bytes) == 1)
        return FFFS_OK;
    item = begin_item(walk, FFFS_ITEM_HEADER, address, stride_bytes, "header");
    item->in_chain = walk->link != FFFS_UNIT_NONE;
    item->valid = decoded == FFFS_OK;
    if (decoded == FFFS_ERR_FOREIGN) {
        item->kind = FFFS_ITEM_INVALID;
        item->text = "damaged header";
    } else {
        item->serial = header.serial;
    }
    return show(walk);
}

static const char *control_text(uint8_t type)
{
    switch (type) {
    case FFFS_CTL_START: return "start";
    case FFFS_CTL_SESSION: return "session";
    case FFFS_CTL_CLEAN: return "clean";
    case FFFS_CTL_APPEND_USER: return "append point of user data";
    case FFFS_CTL_APPEND_GC: return "append point of moved data";
    case FFFS_CTL_ERASED: return "erased segments";
    case FFFS_CTL_BEGIN: return "begin";
    case FFFS_CTL_COMMIT: return "commit";
    case FFFS_CTL_BAD: return "bad segment";
    case FFFS_CTL_WEAR: return "wear";
    case FFFS_CTL_WEAR_LEAST: return "least erase count";
    case FFFS_CTL_WEAR_CELLS: return "erase counts";
    default: return "unknown control record";
    }
}

/* Whether a record of the same slot stands behind stride `at` of the unit in work. */
static int is_newest(struct inspection *walk, const struct fffs_record *record, uint32_t at)
{
    struct fffs *fs = walk->fs;
    struct fffs_scan scan;
    struct fffs_record later;
    int status;

    fffs_scan_begin(fs, &scan, walk->link, fs->log.chain_length, 0);
    while ((status = fffs_scan_next(fs, &scan, &later)) == 1)
        if (later.head != FFFS_HEAD_CONTROL && later.slot == record->slot &&
            (scan.link > walk->link || scan.at > at + 1u))
            return 0;
    return status == 0 ? 1 : status;
}

/* Whether a put or delete applies and is the newest of its slot: 1, 0, or an error. */
static int is_current(struct inspection *walk, const struct fffs_record *record, uint32_t at)
{
    struct fffs *fs = walk->fs;
    struct fffs_record now;
    int status;

    if (walk->link == FFFS_UNIT_NONE || (walk->link + 1u == fs->log.chain_length && at >= fs->log.valid_end))
        return 0;
    status = fffs_index_find(fs, record->slot, &now);
    if (status < 0)
        return status;
    if (!fffs_is_put(record))
        return status == 1 ? 0 : is_newest(walk, record, at);
    return status == 1 && now.head == record->head && now.off == record->off && now.len == record->len &&
           now.tag == record->tag;
}

static int show_record(struct inspection *walk, const struct fffs_record *record, uint32_t address, uint32_t at)
{
    const struct fffs_shape *shape = &walk->fs->shape;
    struct fffs_item *item = begin_item(walk, FFFS_ITEM_DELETE, address, (uint32_t)1 << shape->stride_shift, "delete");
    int current;

    item->in_chain = walk->link != FFFS_UNIT_NONE;
    if (record->head == FFFS_HEAD_CONTROL) {
        item->control_type = fffs_control_type(record);
        item->control_payload = fffs_control_payload(record);
        item->kind = item->control_type <= FFFS_CTL_CLEAN ? FFFS_ITEM_MARK : FFFS_ITEM_CONTROL;
        item->text = control_text(item->control_type);
        if (item->kind == FFFS_ITEM_MARK)
            item->valid = item->control_payload == at;
        return show(walk);
    }
    item->slot = record->slot;
    if (fffs_is_put(record)) {
        int multi = (record->kind & FFFS_KIND_MULTI) != 0;

        item->kind = multi ? FFFS_ITEM_PUT_MULTI : FFFS_ITEM_PUT;
        item->text = multi ? "put of a file with an extent list" : "put";
        item->node_end = fffs_record_end(shape, record);
        item->footprint = fffs_record_footprint(shape, record);
    }
    current = is_current(walk, record, at);
    if (current == FFFS_ERR_IO)
        return current;
    item->current = current == 1;
    return show(walk);
}

static int show_stride(struct inspection *walk, uint32_t address, const uint8_t *bytes, uint32_t at)
{
    struct fffs_record record;
    enum fffs_stride kind = fffs_io_decode(walk->fs, address, bytes, &record);

    if (kind == FFFS_STRIDE_VALID)
        return show_record(walk, &record, address, at);
    if (kind == FFFS_STRIDE_BLANK)
        return FFFS_OK;
    begin_item(walk, FFFS_ITEM_INVALID, address, (uint32_t)1 << walk->fs->shape.stride_shift, "unreadable");
    walk->item.in_chain = walk->link != FFFS_UNIT_NONE;
    return show(walk);
}

static int show_unit(struct inspection *walk, uint32_t unit)
{
    struct fffs *fs = walk->fs;
    uint8_t bytes[CHUNK];
    uint32_t at = fffs_header_strides(&fs->shape), end = fffs_unit_strides(&fs->shape), i;
    int status;

    walk->link = find_link(fs, unit);
    status = show_header(walk, unit);
    while (at < end && status == FFFS_OK) {
        uint32_t part = fffs_min((uint32_t)CHUNK >> fs->shape.stride_shift, end - at);
        uint32_t address = fffs_stride_address(&fs->shape, unit, at);

        status = fffs_io_read(fs, address, bytes, part << fs->shape.stride_shift);
        for (i = 0; i < part && status == FFFS_OK; i++) {
            uint32_t offset = i << fs->shape.stride_shift;

            status = show_stride(walk, address + offset, bytes + offset, at + i);
        }
        at += part;
    }
    return status;
}

/* ---- Files ---- */

static int show_extents(struct inspection *walk, const struct fffs_node *node)
{
    struct fffs_piece piece;

    for (piece.end = 0; piece.end < node->size;) {
        int status = fffs_extent_find(walk->fs, node, piece.end, &piece);
        struct fffs_item *item;

        if (status == FFFS_ERR_CORRUPT) {
            begin_item(walk, FFFS_ITEM_INVALID, node->end - node->bytes, node->bytes, "damaged list of extents");
            return show(walk);
        }
        if (status != FFFS_OK)
            return status;
        item = begin_item(walk, FFFS_ITEM_EXTENT, piece.address, piece.end - piece.start, "extent");
        item->file_offset = piece.start;
        item->size = node->size;
        item->stamp = node->stamp;
        status = show(walk);
        if (status != FFFS_OK)
            return status;
    }
    return FFFS_OK;
}

/* A name beyond FFFS_NAME_MAX is cut off. */
static int read_name(struct fffs *fs, const struct fffs_node *node, char *name)
{
    uint32_t length = fffs_min(node->name_length, FFFS_NAME_MAX);

    name[length] = '\0';
    return fffs_node_read(fs, node, fffs_node_name_from_end(node), name, length);
}

static int show_file(struct inspection *walk, const struct fffs_record *record)
{
    struct fffs *fs = walk->fs;
    uint32_t end = fffs_record_end(&fs->shape, record);
    uint32_t footprint = fffs_min(fffs_record_footprint(&fs->shape, record), end);
    uint8_t window[WINDOW];
    struct fffs_node node;
    struct fffs_item *item = begin_item(walk, FFFS_ITEM_NODE, end - footprint, footprint, "node");
    int status = fffs_node_load(fs, record, &node, window, sizeof window), loaded;

    if (status == FFFS_OK)
        status = read_name(fs, &node, item->name);
    if (status != FFFS_OK && status != FFFS_ERR_CORRUPT)
        return status;
    loaded = status == FFFS_OK;
    item->current = 1;
    item->slot = record->slot;
    item->node_end = end;
    item->footprint = footprint;
    item->valid = loaded != 0;
    if (loaded) {
        item->address = end - node.bytes;
        item->bytes = node.bytes;
        item->size = node.size;
        item->stamp = node.stamp;
    } else {
        item->text = "damaged node";
    }
    status = show(walk);
    return status == FFFS_OK && loaded ? show_extents(walk, &node) : status;
}

static int show_files(struct inspection *walk)
{
    struct fffs_batch batch;
    uint32_t from = 0, i;

    batch.base = 0;
    batch.low = batch.high = 0;
    while (from < FFFS_SLOTS_END) {
        int status = fffs_index_collect(walk->fs, &batch, from, FFFS_SLOTS_END);

        for (i = 0; i < batch.count && status == FFFS_OK; i++)
            status = show_file(walk, &batch.records[i]);
        if (status != FFFS_OK)
            return status;
        from = batch.next;
    }
    return FFFS_OK;
}

int fffs_inspect(struct fffs *fs, int (*visit)(void *context, const struct fffs_item *item), void *context)
{
    struct inspection walk;
    uint32_t unit;
    int status = FFFS_OK;

    if (fs == NULL || visit == NULL)
        return FFFS_ERR_INVALID;
    if (fs->mounted != FFFS_MOUNTED)
        return FFFS_ERR_NOT_MOUNTED;
    walk.fs = fs;
    walk.visit = visit;
    walk.context = context;
    lock(fs);
    for (unit = 0; unit < fs->shape.units && status == FFFS_OK; unit++)
        status = show_unit(&walk, unit);
    if (status == FFFS_OK)
        status = show_files(&walk);
    unlock(fs);
    return status;
}

/* ---- Owner of an address ---- */

static int describe(struct fffs *fs, const struct fffs_record *record, struct fffs_info *info)
{
    uint8_t window[WINDOW];
    struct fffs_node node;
    int status = fffs_node_load(fs, record, &node, window, sizeof window);

    if (status == FFFS_OK)
        status = read_name(fs, &node, info->name);
    if (status != FFFS_OK)
        return status;
    info->size = node.size;
    info->stamp = node.stamp;
    info->is_folder = 0;
    info->name_length = (uint8_t)fffs_min(node.name_length, FFFS_NAME_MAX);
    return 1;
}

/* Files whose nodes are damaged own nothing that can be told. */
static int find_owner(struct fffs *fs, uint32_t address, struct fffs_info *info)
{
    struct fffs_batch batch;
    uint32_t from = 0, i;

    batch.base = 0;
    batch.low = address;
    batch.high = address + 1u;
    while (from < FFFS_SLOTS_END) {
        int status = fffs_index_collect(fs, &batch, from, FFFS_SLOTS_END);

        if (status != FFFS_OK)
            return status;
        for (i = 0; i < batch.count; i++) {
            status = fffs_record_uses(fs, &batch.records[i], address, address + 1u);
            if (status == 1)
                status = describe(fs, &batch.records[i], info);
            if (status != 0 && status != FFFS_ERR_CORRUPT)
                return status;
        }
        from = batch.next;
    }
    return 0;
}

int fffs_inspect_owner(struct fffs *fs, uint32_t address, struct fffs_info *info)
{
    int status;

    if (fs == NULL || info == NULL)
        return FFFS_ERR_INVALID;
    if (fs->mounted != FFFS_MOUNTED)
        return FFFS_ERR_NOT_MOUNTED;
    if (address >= fffs_volume_bytes(&fs->shape))
        return 0;
    lock(fs);
    status = find_owner(fs, address, info);
    unlock(fs);
    return status;
}

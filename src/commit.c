/* Commits. Promises: a record is programmed only after every byte it leads to was (I1); RAM changes only after flash
 * accepted the change. */
#include "commit.h"

#include <string.h>
#include "bytes.h"
#include "crc32.h"
#include "flash_io.h"
#include "index_log.h"
#include "segments.h"

/* ---- Extents of a new version ---- */

void fffs_builder_clear(struct fffs_builder *builder)
{
    memset(builder, 0, sizeof *builder);
    builder->segment = FFFS_NONE16;
}

void fffs_builder_enter(struct fffs_point *point, struct fffs_builder *builder)
{
    if (builder->segment != point->segment)
        point->items++;
    builder->segment = point->segment;
}

/* Fills `stage` with the extents in RAM as a table block of `bytes` bytes. */
static void encode_table(const struct fffs_builder *builder, uint8_t *stage, uint32_t bytes)
{
    uint32_t used = FFFS_TABLE_HEADER + builder->count * (uint32_t)FFFS_EXTENT_BYTES, i;

    memset(stage, 0xFF, bytes);
    fffs_put32(stage + FFFS_TABLE_PREVIOUS, builder->table);
    fffs_put32(stage + FFFS_TABLE_START, builder->start);
    fffs_put16(stage + FFFS_TABLE_COUNT, builder->count);
    fffs_put16(stage + FFFS_TABLE_INDEX, builder->tables);
    for (i = 0; i < builder->count; i++) {
        uint8_t *entry = stage + FFFS_TABLE_HEADER + i * FFFS_EXTENT_BYTES;

        fffs_put32(entry + FFFS_EXTENT_ADDRESS, builder->extents[i].address);
        fffs_put32(entry + FFFS_EXTENT_END, builder->extents[i].end);
    }
    fffs_put32(stage + used, fffs_crc32(0, stage, used));
}

/* Writes the extents in RAM as a table block and empties the list. Room first: opening a segment walks the index, which
 * uses the scratch buffer that the block is made in. */
static int spill(struct fffs *fs, struct fffs_point *point, struct fffs_builder *builder)
{
    uint8_t *stage = (uint8_t *)fs->config->scratch;
    uint32_t used = FFFS_TABLE_HEADER + builder->count * (uint32_t)FFFS_EXTENT_BYTES, room;
    uint32_t bytes = fffs_align_up(used + FFFS_TABLE_CRC_BYTES, (uint32_t)1 << fs->shape.granule_shift);
    int status = builder->tables == 0xFFFEu ? FFFS_ERR_TOO_BIG : fffs_point_reserve(fs, point, bytes, &room);

    if (status != FFFS_OK)
        return status;
    encode_table(builder, stage, bytes);
    status = fffs_io_program(fs, point->next, stage, bytes);
    if (status != FFFS_OK) {
        fffs_point_close(point);
        return status;
    }
    fffs_builder_enter(point, builder);
    builder->table = point->next;
    builder->tables++;
    builder->start = builder->extents[builder->count - 1u].end;
    builder->count = 0;
    fffs_point_advance(fs, point, bytes);
    return FFFS_OK;
}

/* The flash address behind the last extent, 0 when there is none. */
static uint32_t end_address(const struct fffs_builder *builder)
{
    const struct fffs_extent *last = &builder->extents[builder->count - 1u];
    uint32_t start = builder->count > 1u ? last[-1].end : builder->start;

    return builder->count == 0 ? 0 : last->address + (last->end - start);
}

int fffs_builder_ready(struct fffs *fs, struct fffs_point *point, struct fffs_builder *builder)
{
    int status;

    if (builder->count < FFFS_FILE_EXTENTS || end_address(builder) == point->next)
        return FFFS_OK;
    status = spill(fs, point, builder);
    return status == FFFS_OK ? FFFS_BUILDER_SPILLED : status;
}

int fffs_builder_add(struct fffs *fs, struct fffs_point *point, struct fffs_builder *builder, uint32_t address,
                     uint32_t end)
{
    if (builder->count > 0 && end_address(builder) == address) {
        builder->extents[builder->count - 1u].end = end;
        return FFFS_OK;
    }
    if (builder->count == FFFS_FILE_EXTENTS) {
        int status = spill(fs, point, builder);

        if (status != FFFS_OK)
            return status;
    }
    builder->extents[builder->count].address = address;
    builder->extents[builder->count].end = end;
    builder->count++;
    return FFFS_OK;
}

/* ---- Stream: bytes in sequence, programmed a buffer at a time ---- */

struct stream {
    struct fffs *fs;
    uint8_t *buffer;
    uint32_t room, fill, address, crc;
    int status;
};

static void stream_flush(struct stream *out, uint32_t bytes, const uint8_t *from)
{
    if (out->status == FFFS_OK && bytes > 0)
        out->status = fffs_io_program(out->fs, out->address, from, bytes);
    out->address += bytes;
}

static void stream_put(struct stream *out, const void *data, uint32_t bytes)
{
    const uint8_t *from = (const uint8_t *)data;
    uint32_t granule = (uint32_t)1 << out->fs->shape.granule_shift;

    out->crc = fffs_crc32(out->crc, data, bytes);
    if (out->fill == 0 && bytes >= out->room) {
        uint32_t direct = fffs_align_down(bytes, granule);

        stream_flush(out, direct, from);
        from += direct;
        bytes -= direct;
    }
    while (bytes > 0) {
        uint32_t part = fffs_min(bytes, out->room - out->fill);

        memcpy(out->buffer + out->fill, from, part);
        out->fill += part;
        from += part;
        bytes -= part;
        if (out->fill == out->room) {
            stream_flush(out, out->fill, out->buffer);
            out->fill = 0;
        }
    }
}

static void stream_fill(struct stream *out, uint32_t bytes)
{
    static const uint8_t ones[8] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};

    while (bytes > 0) {
        uint32_t part = fffs_min(bytes, sizeof ones);

        stream_put(out, ones, part);
        bytes -= part;
    }
}

/* ---- Nodes ---- */

/* Table blocks in the order of the node's list: newest first, along their chain. */
static void put_tables(struct stream *out, const struct fffs_builder *builder)
{
    uint32_t address = builder->table, i;
    uint8_t field[4];

    for (i = 0; i < builder->tables && out->status == FFFS_OK; i++) {
        fffs_put32(field, address);
        stream_put(out, field, 4);
        out->status = fffs_io_read(out->fs, address + FFFS_TABLE_PREVIOUS, field, 4);
        address = fffs_get32(field);
    }
    if (builder->tables > 0) {
        fffs_put16(field, builder->tables);
        stream_put(out, field, 2);
    }
}

static void put_extents(struct stream *out, const struct fffs_builder *builder)
{
    uint8_t field[FFFS_EXTENT_BYTES];
    uint32_t i;

    for (i = 0; i < builder->count; i++) {
        fffs_put32(field + FFFS_EXTENT_ADDRESS, builder->extents[i].address);
        fffs_put32(field + FFFS_EXTENT_END, builder->extents[i].end);
        stream_put(out, field, sizeof field);
    }
}

static void put_meta(struct stream *out, const struct fffs_node_plan *plan)
{
    uint8_t chunk[32];
    uint32_t left = plan->meta == NULL ? plan->meta_bytes : plan->kept, behind = FFFS_NODE_TRAILER;

    if (plan->kept > 0)
        behind = fffs_node_name_from_end(plan->old);
    while (left > 0 && out->status == FFFS_OK) {
        uint32_t part = fffs_min(left, sizeof chunk);

        out->status = fffs_node_read(out->fs, plan->old, behind + left, chunk, part);
        stream_put(out, chunk, part);
        left -= part;
    }
    if (plan->meta != NULL)
        stream_put(out, plan->meta, plan->meta_bytes);
}

/* The node's own length, without tail and padding. */
static uint32_t node_bytes(const struct fffs_node_plan *plan, int multi)
{
    uint32_t bytes = FFFS_NODE_TRAILER + plan->kept + plan->meta_bytes;

    if (multi)
        bytes += plan->builder->count * (uint32_t)FFFS_EXTENT_BYTES +
                 (plan->builder->tables > 0 ? 2u + 4u * (uint32_t)plan->builder->tables : 0u);
    return bytes;
}

uint32_t fffs_node_bound(const struct fffs *fs, uint32_t meta_bytes)
{
    return FFFS_NODE_TRAILER + meta_bytes + 2u * FFFS_EXTENT_BYTES + fffs_node_align(&fs->shape);
}

/* Room at the point for `bytes` that end aligned. */
static int reserve_aligned(struct fffs *fs, struct fffs_point *point, uint32_t bytes)
{
    uint32_t align = fffs_node_align(&fs->shape), room;
    uint32_t need = fffs_align_up(point->next + bytes, align) - point->next;

    if (fffs_point_room(fs, point) < need) {
        fffs_point_close(point);
        need = fffs_align_up(bytes, align);
    }
    return fffs_point_reserve(fs, point, need, &room);
}

static void fill_record(const struct fffs *fs, const struct fffs_node_plan *plan, uint32_t end, uint32_t run,
                        int multi, struct fffs_record *record)
{
    uint8_t unit_shift = (uint8_t)(fs->shape.sector_shift - 8u);
    uint32_t units = (run + ((uint32_t)1 << unit_shift) - 1u) >> unit_shift;

    record->slot = plan->slot;
    record->head = (uint16_t)((end - 1u) >> fs->shape.sector_shift);
    record->off = (uint8_t)((end - 1u) >> unit_shift);
    record->len = fffs_footprint_encode(units);
    record->tag = plan->tag;
    record->kind = multi ? FFFS_KIND_MULTI : 0;
}

/* Whether tail and node at the point make one run with the data before them, which the record can code. */
static int is_single(const struct fffs *fs, const struct fffs_node_plan *plan)
{
    const struct fffs_builder *builder = plan->builder;
    uint32_t before = plan->size - plan->tail_bytes, end;
    struct fffs_record record;

    if ((plan->flags & FFFS_NODE_MULTI) != 0 || builder->tables > 0 || builder->count > 1u ||
        (builder->count > 0 && end_address(builder) != plan->point->next))
        return 0;
    end = fffs_align_up(plan->point->next + plan->tail_bytes + node_bytes(plan, 0), fffs_node_align(&fs->shape));
    fill_record(fs, plan, end, end - plan->point->next + before, 0, &record);
    return record.len != 0 && fffs_segments_run_begin(fs, &record) <= plan->point->next - before;
}

/* Programs tail, padding and node at the point, where room is reserved. */
static int program_node(struct fffs *fs, const struct fffs_node_plan *plan, int multi, uint32_t pad)
{
    struct stream out;
    struct fffs_node node;
    uint8_t trailer[FFFS_NODE_TRAILER];
    uint32_t granule = (uint32_t)1 << fs->shape.granule_shift;
    uint32_t behind = pad + node_bytes(plan, multi);

    out.fs = fs;
    out.status = FFFS_OK;
    out.address = plan->point->next;
    out.crc = 0;
    if (plan->tail_bytes > 0 && plan->tail_bytes + behind <= fffs_align_down(plan->tail_room, granule)) {
        out.buffer = plan->tail;
        out.room = fffs_align_down(plan->tail_room, granule);
        out.fill = plan->tail_bytes;
    } else {
        out.buffer = (uint8_t *)fs->config->scratch;
        out.room = fffs_align_down(fs->config->scratch_bytes, granule);
        out.fill = 0;
        stream_put(&out, plan->tail, plan->tail_bytes);
    }
    stream_fill(&out, pad);
    out.crc = 0;
    if (multi) {
        put_tables(&out, plan->builder);
        put_extents(&out, plan->builder);
    }
    put_meta(&out, plan);
    node.size = plan->size;
    node.stamp = plan->stamp;
    node.slot = plan->slot;
    node.name_length = plan->name_length;
    node.pad = (uint8_t)pad;
    node.flags = plan->flags;
    node.extents = 0;
    if ((plan->flags & FFFS_NODE_MULTI) != 0) {
        node.extents = plan->old->extents; /* kept as they are */
    } else if (multi) {
        node.flags |= plan->builder->tables > 0 ? FFFS_NODE_MULTI | FFFS_NODE_TABLES : FFFS_NODE_MULTI;
        node.extents = plan->builder->count;
    }
    fffs_node_encode_trailer(&node, out.crc, trailer);
    stream_put(&out, trailer, sizeof trailer);
    stream_flush(&out, out.fill, out.buffer);
    return out.status;
}

/* Takes the tail into the list of extents, at the place where it will be programmed. */
static int list_tail(struct fffs *fs, struct fffs_node_plan *plan)
{
    int status = FFFS_OK;

    if (plan->tail_bytes > 0) {
        /* The list may have to be written first, which moves the point. */
        if (plan->builder->count == FFFS_FILE_EXTENTS)
            status = spill(fs, plan->point, plan->builder);
        if (status == FFFS_OK)
            status = reserve_aligned(fs, plan->point,
                                     plan->tail_bytes + node_bytes(plan, 1) + (uint32_t)FFFS_EXTENT_BYTES);
        if (status == FFFS_OK)
            status = fffs_builder_add(fs, plan->point, plan->builder, plan->point->next, plan->size);
    }
    return status;
}

int fffs_node_write(struct fffs *fs, struct fffs_node_plan *plan, struct fffs_record *record)
{
    uint32_t align = fffs_node_align(&fs->shape), bytes, end;
    int multi, status = reserve_aligned(fs, plan->point, plan->tail_bytes + node_bytes(plan, 0));

    if (status != FFFS_OK)
        return status;
    multi = !is_single(fs, plan);
    if (multi) {
        struct fffs_builder before = *plan->builder;

        status = list_tail(fs, plan);
        if (status == FFFS_OK && plan->tail_bytes == 0)
            status = reserve_aligned(fs, plan->point, node_bytes(plan, 1));
        if (status != FFFS_OK) {
            *plan->builder = before; /* so that the close can be repeated after a collection */
            return status;
        }
    }
    bytes = plan->tail_bytes + node_bytes(plan, multi);
    end = fffs_align_up(plan->point->next + bytes, align);
    status = program_node(fs, plan, multi, end - plan->point->next - bytes);
    if (status != FFFS_OK) {
        fffs_point_close(plan->point);
        return status;
    }
    fill_record(fs, plan, end, end - plan->point->next - plan->tail_bytes + (multi ? 0 : plan->size), multi, record);
    fffs_builder_enter(plan->point, plan->builder);
    fffs_point_advance(fs, plan->point, end - plan->point->next);
    return FFFS_OK;
}

/* ---- Commit ---- */

/* The change is committed whatever the nodes say now: weights that can not be kept are computed anew when needed. */
static void account(struct fffs *fs, const struct fffs_record *record, int add)
{
    if ((fs->state & FFFS_STATE_WEIGHED) == 0 || !fffs_is_put(record))
        return;
    fs->files_live = (uint16_t)(add ? fs->files_live + 1u : fs->files_live - 1u);
    if (fffs_segments_account(fs, record, add) == FFFS_ERR_IO)
        fs->state &= (uint8_t)~FFFS_STATE_WEIGHED;
}

static void apply(struct fffs *fs, const struct fffs_record *record)
{
    fffs_index_apply(fs, record);
    fs->gc.current = 0;
    fs->changes++;
    account(fs, record, 1);
}

void fffs_commit_apply(struct fffs *fs, const struct fffs_record *record, const struct fffs_record *old)
{
    account(fs, old, 0);
    apply(fs, record);
}

int fffs_commit_put(struct fffs *fs, const struct fffs_record *record, const struct fffs_record *old)
{
    int status = fffs_log_append(fs, record);

    if (status != FFFS_OK)
        return status;
    fs->gc.stuck = 0;
    fffs_commit_apply(fs, record, old);
    return FFFS_OK;
}

int fffs_commit_delete(struct fffs *fs, const struct fffs_record *old)
{
    struct fffs_record record;
    int status;

    memset(&record, 0, sizeof record);
    record.slot = old->slot;
    status = fffs_log_append(fs, &record);
    if (status != FFFS_OK)
        return status;
    fs->gc.stuck = 0;
    fffs_commit_apply(fs, &record, old);
    return FFFS_OK;
}

int fffs_commit_all(struct fffs *fs, const struct fffs_record *records, const struct fffs_record *olds, uint32_t count)
{
    uint32_t i;
    int status = fffs_log_append_all(fs, records, count);

    if (status != FFFS_OK)
        return status;
    fs->gc.stuck = 0;
    for (i = 0; i < count; i++) /* first: bytes of a renamed file, counted twice, might not fit a weight */
        account(fs, &olds[i], 0);
    for (i = 0; i < count; i++)
        apply(fs, &records[i]);
    return FFFS_OK;
}

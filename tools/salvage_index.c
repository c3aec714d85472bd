/* What is left of an index: headers tell the geometry, records tell which versions were committed and which names were
 * deleted. Nothing here is trusted to lead anywhere: a record counts only if it leads to the very end of an intact node. */
#include "salvage.h"

#include <string.h>
#include "src/bytes.h"
#include "src/crc32.h"
#include "src/record.h"

enum { SLOTS = 65536, SHAPES = 32, HEADER_STEP = 256 };

/* ---- Geometry ---- */

struct candidate {
    struct fffs_shape shape;
    uint32_t headers;
};

static int same_shape(const struct fffs_shape *a, const struct fffs_shape *b)
{
    return a->sector_shift == b->sector_shift && a->granule_shift == b->granule_shift && a->unit_shift == b->unit_shift &&
           a->units == b->units && a->format_id == b->format_id;
}

static void count_shape(struct candidate *candidates, size_t *count, const struct fffs_shape *shape)
{
    size_t i;

    for (i = 0; i < *count && !same_shape(&candidates[i].shape, shape); i++)
        ;
    if (i == *count && *count < SHAPES) {
        candidates[i].shape = *shape;
        candidates[i].headers = 0;
        (*count)++;
    }
    if (i < *count)
        candidates[i].headers++;
}

/* A valid header in its own place, of a format that this tool knows. */
static int header_at(const struct salvage *salvage, uint32_t address, struct fffs_header *header)
{
    if (salvage->count < FFFS_HDR_BYTES || address > salvage->count - FFFS_HDR_BYTES)
        return 0;
    return fffs_header_decode(salvage->bytes + address, header) == FFFS_OK &&
           (uint64_t)header->unit << (header->shape.unit_shift + header->shape.sector_shift) == address;
}

void salvage_find_shape(struct salvage *salvage)
{
    struct candidate candidates[SHAPES];
    struct fffs_header header;
    size_t count = 0, i, best = 0;
    uint32_t address;

    for (address = 0; address < salvage->count && address <= UINT32_MAX - HEADER_STEP; address += HEADER_STEP)
        if (header_at(salvage, address, &header))
            count_shape(candidates, &count, &header.shape);
    for (i = 1; i < count; i++)
        if (candidates[i].headers > candidates[best].headers)
            best = i;
    if (count > 0) {
        salvage->shape = candidates[best].shape;
        salvage->headers = candidates[best].headers;
    }
}

/* ---- Records ---- */

/* The unit in work. */
struct unit {
    const struct fffs_shape *shape;
    const uint8_t *bytes;
    uint64_t order;             /* place of its stride 0 in the history; 0 unknown */
    uint32_t log, end;          /* stride index of the first record of the log, of the end */
};

static int decode(const struct unit *unit, uint32_t at, struct fffs_record *record)
{
    uint32_t stride_bytes = (uint32_t)1 << unit->shape->stride_shift;

    return fffs_record_decode(unit->bytes + ((size_t)at << unit->shape->stride_shift), stride_bytes, record) ==
           FFFS_STRIDE_VALID;
}

/* The stride index of the commit that belongs to the begin at `at`; 0 when it has none. */
static uint32_t find_commit(const struct unit *unit, uint32_t at, const struct fffs_record *begin)
{
    uint32_t commit = at + 1u + (fffs_control_payload(begin) & 0xFFFFu);
    struct fffs_record record;

    if (commit >= unit->end || !decode(unit, commit, &record) || fffs_control_type(&record) != FFFS_CTL_COMMIT)
        return 0;
    return (fffs_control_payload(&record) & 0xFFFFu) == at ? commit : 0;
}

static void take_put(struct salvage *salvage, const struct unit *unit, const struct fffs_record *record, uint64_t place)
{
    struct salvage_version *version = salvage_at(salvage, fffs_record_end(unit->shape, record));

    if (version == NULL || version->slot != record->slot ||
        ((record->kind & FFFS_KIND_MULTI) != 0) != ((version->flags & FFFS_NODE_MULTI) != 0))
        return;
    version->named = 1;
    salvage->records++;
    if (place > version->put)
        version->put = place;
}

static void take_record(struct salvage *salvage, const struct unit *unit, const struct fffs_record *record, uint32_t at)
{
    uint64_t place = unit->order != 0 ? unit->order + at : 0;

    if (fffs_is_put(record))
        take_put(salvage, unit, record, place);
    else if (record->head != FFFS_HEAD_DELETE)
        return;
    else if (place == 0)
        salvage->maybe_deleted[record->slot] = 1;
    else if (place > salvage->deleted[record->slot])
        salvage->deleted[record->slot] = place;
}

/* Records of a transaction count only with its commit. */
static void read_records(struct salvage *salvage, const struct unit *unit, uint32_t first)
{
    uint32_t at, committed = 0;
    struct fffs_record record;

    for (at = first; at < unit->end; at++) {
        if (!decode(unit, at, &record))
            continue;
        if (fffs_control_type(&record) == FFFS_CTL_BEGIN)
            committed = find_commit(unit, at, &record);
        if ((record.kind & FFFS_KIND_TXN) == 0 || at < committed)
            take_record(salvage, unit, &record, at);
    }
}

/* Whether copies, marks and header of the unit are as they were written: then its serial tells its place in the history. */
static int unit_is_whole(const struct unit *unit, const struct fffs_header *header)
{
    uint32_t first = fffs_header_strides(unit->shape), shift = unit->shape->stride_shift;
    uint32_t crc = fffs_crc32(0, unit->bytes + ((size_t)first << shift), (uint32_t)header->copies << shift);
    struct fffs_record mark;

    return fffs_header_crc(crc, unit->bytes) == header->crc && decode(unit, unit->log - FFFS_MARKS, &mark) &&
           fffs_is_mark(&mark, FFFS_CTL_START, unit->log - FFFS_MARKS);
}

static void read_unit(struct salvage *salvage, uint32_t number)
{
    const struct fffs_shape *shape = &salvage->shape;
    uint32_t unit_bytes = (uint32_t)1 << (shape->unit_shift + shape->sector_shift), address = number * unit_bytes;
    struct unit unit;
    struct fffs_header header;
    struct fffs_record mark;
    uint32_t first = fffs_header_strides(shape);

    if (address > salvage->count || salvage->count - address < unit_bytes)
        return;
    unit.shape = shape;
    unit.bytes = salvage->bytes + address;
    unit.order = 0;
    unit.end = fffs_unit_strides(shape);
    unit.log = first;
    if (header_at(salvage, address, &header) && same_shape(&header.shape, shape)) {
        unit.log = first + header.copies + FFFS_MARKS;
        if (unit_is_whole(&unit, &header)) {
            unit.order = (uint64_t)header.serial << 16;
            if (!decode(&unit, unit.log - 1u, &mark) || !fffs_is_mark(&mark, FFFS_CTL_SESSION, unit.log - 1u))
                unit.end = unit.log; /* the log does not count */
        }
    }
    read_records(salvage, &unit, first);
}

void salvage_read_index(struct salvage *salvage)
{
    uint32_t i;

    salvage->deleted = tool_alloc(SLOTS * sizeof *salvage->deleted);
    salvage->maybe_deleted = tool_alloc(SLOTS);
    memset(salvage->deleted, 0, SLOTS * sizeof *salvage->deleted);
    memset(salvage->maybe_deleted, 0, SLOTS);
    for (i = 0; i < salvage->shape.units; i++)
        read_unit(salvage, i);
}

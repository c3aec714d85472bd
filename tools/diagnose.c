/* A damaged index, unit by unit. Reads flash directly: for images that the library refuses to mount. */
#include "diagnose.h"

#include <stdlib.h>
#include <string.h>
#include "src/bytes.h"
#include "src/crc32.h"
#include "src/mount.h"
#include "src/record.h"

struct diagnosis {
    const struct fffs_shape *shape;
    uint8_t *bytes;             /* of the index area */
    uint32_t unit_bytes;
    void (*report)(void *context, uint32_t address, uint32_t bytes, const char *text);
    void *context;
    struct fffs_header headers[FFFS_UNITS_MAX];
    int valid[FFFS_UNITS_MAX];  /* the header is */
    int linked[FFFS_UNITS_MAX]; /* it is reached from the newest */
    uint32_t newest;            /* unit with the highest serial; FFFS_UNIT_NONE none */
};

int diagnose_shape(struct image *image, struct fffs_shape *shape)
{
    struct fffs_header header;

    if (fffs_discover_newest(image->config.flash, &header) != FFFS_OK)
        return 0;
    *shape = header.shape;
    return 1;
}

struct place diagnose_place(const struct fffs_shape *shape, uint32_t address)
{
    uint32_t unit_shift = (uint32_t)shape->unit_shift + shape->sector_shift;
    struct place place;

    memset(&place, 0, sizeof place);
    place.sector = address >> shape->sector_shift;
    place.in_index = place.sector < shape->first_sector;
    if (place.in_index) {
        place.unit = address >> unit_shift;
        place.stride = (address & (((uint32_t)1 << unit_shift) - 1u)) >> shape->stride_shift;
    } else {
        place.segment = ((place.sector + shape->phase) >> shape->segment_shift) -
                        (((uint32_t)shape->first_sector + shape->phase) >> shape->segment_shift);
    }
    return place;
}

static void tell(const struct diagnosis *of, uint32_t unit, uint32_t offset, uint32_t bytes, const char *text)
{
    of->report(of->context, unit * of->unit_bytes + offset, bytes, text);
}

static int is_blank(const uint8_t *bytes, uint32_t count)
{
    return bytes[0] == 0xFF && memcmp(bytes, bytes + 1, count - 1u) == 0;
}

/* ---- Headers ---- */

static const char *header_fault(const uint8_t *bytes)
{
    if (memcmp(bytes + FFFS_HDR_MAGIC, "FFFS", 4) != 0)
        return "index unit: no header (no damage if it is a spare)";
    if (fffs_get32(bytes + FFFS_HDR_OWN_CRC) != fffs_header_crc(0, bytes))
        return "index unit: the header's CRC is wrong (no damage if it is a spare)";
    return "index unit: the header's Berger check is wrong, or its values make no volume";
}

static void read_header(struct diagnosis *of, uint32_t unit)
{
    const uint8_t *bytes = of->bytes + unit * of->unit_bytes;
    struct fffs_header *header = &of->headers[unit];

    of->valid[unit] = fffs_header_decode(bytes, header) == FFFS_OK;
    if (!of->valid[unit]) {
        if (!is_blank(bytes, of->unit_bytes))
            tell(of, unit, 0, FFFS_HDR_BYTES, header_fault(bytes));
    } else if (header->unit != unit || header->shape.unit_shift != of->shape->unit_shift ||
               header->shape.sector_shift != of->shape->sector_shift ||
               header->shape.granule_shift != of->shape->granule_shift || header->shape.units != of->shape->units ||
               header->shape.format_id != of->shape->format_id) {
        of->valid[unit] = 0;
        tell(of, unit, 0, FFFS_HDR_BYTES, "index unit: the header is that of another unit or volume");
    } else if (of->newest == FFFS_UNIT_NONE || header->serial > of->headers[of->newest].serial) {
        of->newest = unit;
    }
}

static void check_chain(struct diagnosis *of)
{
    uint32_t unit = of->newest, left;

    for (left = of->shape->units; unit != FFFS_UNIT_NONE && left > 0; left--) {
        const struct fffs_header *header = &of->headers[unit];
        uint32_t previous = header->previous;

        of->linked[unit] = 1;
        if (header->serial == of->headers[of->newest].oldest)
            return;
        if (previous == FFFS_UNIT_NONE)
            tell(of, unit, FFFS_HDR_PREVIOUS, 1, "the chain ends before its oldest unit");
        else if (!of->valid[previous])
            tell(of, unit, FFFS_HDR_PREVIOUS, 1, "the chain leads to a unit without a valid header");
        else if (of->headers[previous].serial >= header->serial)
            tell(of, unit, FFFS_HDR_PREVIOUS, 1, "the serials of the chain do not descend");
        else {
            unit = previous;
            continue;
        }
        return;
    }
}

/* ---- Records ---- */

static enum fffs_stride stride_at(const struct diagnosis *of, uint32_t unit, uint32_t at, struct fffs_record *record)
{
    uint32_t stride_bytes = (uint32_t)1 << of->shape->stride_shift;
    const uint8_t *stride = of->bytes + unit * of->unit_bytes + at * stride_bytes;
    enum fffs_stride kind = fffs_record_decode(stride, stride_bytes, record);

    return kind == FFFS_STRIDE_TORN && is_blank(stride, stride_bytes) ? FFFS_STRIDE_BLANK : kind;
}

static void check_copies(struct diagnosis *of, uint32_t unit)
{
    const struct fffs_header *header = &of->headers[unit];
    const uint8_t *bytes = of->bytes + unit * of->unit_bytes;
    uint32_t shift = of->shape->stride_shift, first = fffs_header_strides(of->shape), at, found = 0;
    struct fffs_record record;

    if (fffs_header_crc(fffs_crc32(0, bytes + (first << shift), (uint32_t)header->copies << shift), bytes) == header->crc)
        return;
    for (at = first; at < first + header->copies; at++) {
        if (stride_at(of, unit, at, &record) == FFFS_STRIDE_VALID)
            continue;
        tell(of, unit, at << shift, 1u << shift, "a record carried over from an older unit is unreadable");
        found++;
    }
    if (found == 0)
        tell(of, unit, first << shift, (uint32_t)header->copies << shift,
             "the CRC over the records carried over from an older unit is wrong");
}

static const char *mark_fault(uint32_t index, enum fffs_stride kind)
{
    if (index == 0)
        return kind == FFFS_STRIDE_BLANK ? "index unit: the first start mark is missing" : "index unit: a start mark is unreadable";
    return index == FFFS_START_SLOTS ? "index unit: the session mark is unreadable" : "index unit: a start mark is unreadable";
}

static void check_marks(struct diagnosis *of, uint32_t unit, uint32_t first)
{
    uint32_t shift = of->shape->stride_shift, i;

    for (i = 0; i < FFFS_MARKS; i++) {
        struct fffs_record mark;
        enum fffs_stride kind = stride_at(of, unit, first + i, &mark);
        enum fffs_control type = i == FFFS_START_SLOTS ? FFFS_CTL_SESSION : FFFS_CTL_START;

        if (i > 0 && kind == FFFS_STRIDE_BLANK)
            continue;
        if (kind != FFFS_STRIDE_VALID || !fffs_is_mark(&mark, type, first + i))
            tell(of, unit, (first + i) << shift, 1u << shift, mark_fault(i, kind));
    }
}

static const char *record_fault(const struct diagnosis *of, const struct fffs_record *record, uint32_t at)
{
    uint8_t type = fffs_control_type(record);

    if (fffs_is_put(record) && (record->head < of->shape->first_sector || record->head >= of->shape->sectors))
        return "a record leads out of the data area";
    if (type != 0 && type <= FFFS_CTL_CLEAN && fffs_control_payload(record) != at)
        return "a mark was made for another place";
    if (type > FFFS_CTL_BAD && (type & 0x80u) == 0)
        return "a record of a type that this version does not know";
    return NULL;
}

/* Strides that are neither blank nor valid; what a cut may have left is told apart by the mount alone, so it is listed too. */
static void check_log(struct diagnosis *of, uint32_t unit, uint32_t first)
{
    uint32_t shift = of->shape->stride_shift, at, last = first;
    struct fffs_record record;

    for (at = first; at < fffs_unit_strides(of->shape); at++)
        if (stride_at(of, unit, at, &record) != FFFS_STRIDE_BLANK)
            last = at + 1u;
    for (at = first; at < last; at++) {
        enum fffs_stride kind = stride_at(of, unit, at, &record);
        const char *fault = kind == FFFS_STRIDE_VALID ? record_fault(of, &record, at) : "a record is unreadable";

        if (kind == FFFS_STRIDE_BLANK)
            fault = "a record is missing: others stand behind it";
        if (fault != NULL)
            tell(of, unit, at << shift, 1u << shift, fault);
    }
}

/* ---- All ---- */

void diagnose_index(struct image *image, const struct fffs_shape *shape,
                    void (*report)(void *context, uint32_t address, uint32_t bytes, const char *text), void *context)
{
    struct diagnosis of;
    uint32_t unit, bytes;

    memset(&of, 0, sizeof of);
    of.shape = shape;
    of.unit_bytes = (uint32_t)1 << (shape->unit_shift + shape->sector_shift);
    of.report = report;
    of.context = context;
    of.newest = FFFS_UNIT_NONE;
    bytes = shape->units * of.unit_bytes;
    if (bytes > nor_size(image->nor))
        return;
    of.bytes = tool_alloc(bytes);
    nor_peek(image->nor, 0, of.bytes, bytes);
    for (unit = 0; unit < shape->units; unit++)
        read_header(&of, unit);
    check_chain(&of);
    for (unit = 0; unit < shape->units; unit++) {
        uint32_t first;

        if (!of.valid[unit] || !of.linked[unit])
            continue; /* what stands in a spare unit is no damage */
        first = fffs_header_strides(shape) + of.headers[unit].copies;
        check_copies(&of, unit);
        check_marks(&of, unit, first);
        check_log(&of, unit, first + FFFS_MARKS);
    }
    free(of.bytes);
}

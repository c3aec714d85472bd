/* Index records and index unit headers: encode, decode, verify. No flash access. */
#ifndef FFFS_RECORD_H
#define FFFS_RECORD_H

#include <stdint.h>
#include "fastffs/fastffs.h"
#include "format.h"

/* What a stride holds. */
enum fffs_stride { FFFS_STRIDE_BLANK, FFFS_STRIDE_VALID, FFFS_STRIDE_TORN };

/* Writes a whole stride: record, check, CRC and filling. */
void fffs_record_encode(const struct fffs_record *record, uint8_t *stride, uint32_t stride_bytes);
/* Decodes a stride; `record` is set only when it is valid. */
enum fffs_stride fffs_record_decode(const uint8_t *stride, uint32_t stride_bytes, struct fffs_record *record);

struct fffs_record fffs_control_record(enum fffs_control type, uint32_t payload);
/* The type of a control record, 0 when it is none. */
uint8_t fffs_control_type(const struct fffs_record *record);
uint32_t fffs_control_payload(const struct fffs_record *record);
/* Whether the record is the mark of `type` for stride index `at`. */
int fffs_is_mark(const struct fffs_record *record, enum fffs_control type, uint32_t at);

static inline int fffs_is_put(const struct fffs_record *record)
{
    return record->head > FFFS_HEAD_CONTROL;
}

/* Footprint code: `units` (of sector_bytes / 256) rounded up to 3 bits of exponent and 5 of mantissa; 0 when it is
 * too long for the code (4032 units): such a run is written as a put-multi. */
uint8_t fffs_footprint_encode(uint32_t units);
uint32_t fffs_footprint_decode(uint8_t code);

/* A decoded unit header. */
struct fffs_header {
    uint32_t serial, oldest, base, stamp, erases, closes, crc;
    struct fffs_shape shape;    /* first_sector, segments, stride_shift derived */
    uint16_t copies, base_session, ring, level, required;
    uint8_t unit, previous, victims, version, readable;
};

/* Fills FFFS_HDR_BYTES bytes; the CRC of header and copies goes in with fffs_header_seal(). */
void fffs_header_encode(const struct fffs_header *header, uint8_t *bytes);
/* The CRC of the copies continued over the header's own part. */
uint32_t fffs_header_crc(uint32_t copies_crc, const uint8_t *bytes);
void fffs_header_seal(uint8_t *bytes, uint32_t crc);
/* FFFS_OK, FFFS_ERR_BLANK (all ones), FFFS_ERR_FOREIGN (no or torn header), FFFS_ERR_NEWER_FORMAT, FFFS_ERR_CORRUPT
 * (verifies, but the values make no volume). */
int fffs_header_decode(const uint8_t *bytes, struct fffs_header *header);
/* Derives stride_shift, first_sector and segments; FFFS_ERR_CORRUPT when the shape makes no volume. */
int fffs_shape_derive(struct fffs_shape *shape);

/* Strides of a unit, and those before its copies. */
static inline uint32_t fffs_unit_strides(const struct fffs_shape *shape)
{
    return (uint32_t)1 << (shape->unit_shift + shape->sector_shift - shape->stride_shift);
}
static inline uint32_t fffs_header_strides(const struct fffs_shape *shape)
{
    return (FFFS_HDR_BYTES + ((uint32_t)1 << shape->stride_shift) - 1u) >> shape->stride_shift;
}
/* Records a unit holds: copies and log. */
static inline uint32_t fffs_unit_records(const struct fffs_shape *shape)
{
    return fffs_unit_strides(shape) - fffs_header_strides(shape) - FFFS_MARKS;
}
/* The most files that one transaction moves, so that a successor always has room for it. */
static inline uint32_t fffs_txn_limit(const struct fffs_shape *shape)
{
    uint32_t quarter = fffs_unit_records(shape) / 4u;
    return quarter > 4u ? quarter - 2u : 2u;
}
static inline uint32_t fffs_volume_bytes(const struct fffs_shape *shape)
{
    return (uint32_t)shape->sectors << shape->sector_shift;
}
/* Node ends and the unit of footprints: sector_bytes / 256. */
static inline uint32_t fffs_unit_bytes(const struct fffs_shape *shape)
{
    return (uint32_t)1 << (shape->sector_shift - 8u);
}
/* Alignment of node ends: the larger of that and the granule. */
static inline uint32_t fffs_node_align(const struct fffs_shape *shape)
{
    uint8_t unit = (uint8_t)(shape->sector_shift - 8u);
    return (uint32_t)1 << (unit > shape->granule_shift ? unit : shape->granule_shift);
}
/* The address behind the node that a put record names. */
static inline uint32_t fffs_record_end(const struct fffs_shape *shape, const struct fffs_record *record)
{
    return ((uint32_t)record->head << shape->sector_shift) + (((uint32_t)record->off + 1u) << (shape->sector_shift - 8u));
}
static inline uint32_t fffs_record_footprint(const struct fffs_shape *shape, const struct fffs_record *record)
{
    return fffs_footprint_decode(record->len) << (shape->sector_shift - 8u);
}

#endif

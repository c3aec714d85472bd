/* Record and header codec. Owns the meaning of every bit of an index unit; assumes nothing about the bytes it decodes. */
#include "record.h"

#include <stddef.h>
#include <string.h>
#include "berger.h"
#include "bytes.h"
#include "crc32.h"

void fffs_record_encode(const struct fffs_record *record, uint8_t *stride, uint32_t stride_bytes)
{
    memset(stride, 0xFF, stride_bytes);
    fffs_put16(stride + FFFS_REC_SLOT, record->slot);
    fffs_put16(stride + FFFS_REC_HEAD, record->head);
    stride[FFFS_REC_OFF] = record->off;
    stride[FFFS_REC_LEN] = record->len;
    stride[FFFS_REC_TAG] = record->tag;
    /* The six check bits are ones while the payload's zeros are counted. */
    stride[FFFS_REC_CHECK] = (uint8_t)((uint32_t)record->kind << 6 | 0x3Fu);
    stride[FFFS_REC_CHECK] = (uint8_t)((uint32_t)record->kind << 6 | fffs_zero_bits(stride, FFFS_REC_BYTES));
    if (stride_bytes >= FFFS_REC_CRC_STRIDE)
        fffs_put32(stride + FFFS_REC_CRC, fffs_crc32(0, stride, FFFS_REC_BYTES));
}

static int record_is_valid(const uint8_t *stride, uint32_t stride_bytes)
{
    uint8_t check = stride[FFFS_REC_CHECK];
    uint8_t kind_only = (uint8_t)(check | 0x3Fu);
    uint32_t zeros = fffs_zero_bits(stride, FFFS_REC_BYTES - 1u) + fffs_zero_bits(&kind_only, 1);

    if (zeros != (check & 0x3Fu))
        return 0;
    return stride_bytes < FFFS_REC_CRC_STRIDE ||
           fffs_get32(stride + FFFS_REC_CRC) == fffs_crc32(0, stride, FFFS_REC_BYTES);
}

enum fffs_stride fffs_record_decode(const uint8_t *stride, uint32_t stride_bytes, struct fffs_record *record)
{
    if (!record_is_valid(stride, stride_bytes))
        return fffs_all_ones(stride, stride_bytes) ? FFFS_STRIDE_BLANK : FFFS_STRIDE_TORN;
    record->slot = fffs_get16(stride + FFFS_REC_SLOT);
    record->head = fffs_get16(stride + FFFS_REC_HEAD);
    record->off = stride[FFFS_REC_OFF];
    record->len = stride[FFFS_REC_LEN];
    record->tag = stride[FFFS_REC_TAG];
    record->kind = (uint8_t)(stride[FFFS_REC_CHECK] >> 6);
    return FFFS_STRIDE_VALID;
}

struct fffs_record fffs_control_record(enum fffs_control type, uint32_t payload)
{
    struct fffs_record record;

    record.slot = (uint16_t)((uint32_t)type | (payload & 0xFFu) << 8);
    record.head = FFFS_HEAD_CONTROL;
    record.off = (uint8_t)(payload >> 8);
    record.len = (uint8_t)(payload >> 16);
    record.tag = (uint8_t)(payload >> 24);
    record.kind = 0;
    return record;
}

uint8_t fffs_control_type(const struct fffs_record *record)
{
    return record->head == FFFS_HEAD_CONTROL ? (uint8_t)record->slot : 0;
}

uint32_t fffs_control_payload(const struct fffs_record *record)
{
    return (uint32_t)record->slot >> 8 | (uint32_t)record->off << 8 | (uint32_t)record->len << 16 |
           (uint32_t)record->tag << 24;
}

int fffs_is_mark(const struct fffs_record *record, enum fffs_control type, uint32_t at)
{
    return fffs_control_type(record) == (uint8_t)type && fffs_control_payload(record) == at;
}

uint8_t fffs_footprint_encode(uint32_t units)
{
    uint8_t exponent = 1;

    if (units < 32u)
        return (uint8_t)units;
    while (units > 63u && exponent < 7u) {
        units = (units + 1u) >> 1;
        exponent++;
    }
    return units > 63u ? 0 : (uint8_t)((uint32_t)exponent << 5 | (units - 32u));
}

uint32_t fffs_footprint_decode(uint8_t code)
{
    uint8_t exponent = (uint8_t)(code >> 5);
    uint32_t mantissa = code & 31u;

    return exponent == 0 ? mantissa : (32u + mantissa) << (exponent - 1u);
}

/* The fields of a header that are numbers of struct fffs_header: where on flash, where in the struct, bytes. */
struct field { uint8_t at, member, bytes; };
#define FIELD(offset, name) { offset, offsetof(struct fffs_header, name), sizeof ((struct fffs_header *)0)->name }
static const struct field header_fields[] = {
    FIELD(FFFS_HDR_VERSION, version), FIELD(FFFS_HDR_READABLE, readable), FIELD(FFFS_HDR_REQUIRED, required),
    FIELD(FFFS_HDR_FORMAT_ID, shape.format_id), FIELD(FFFS_HDR_SECTORS, shape.sectors),
    FIELD(FFFS_HDR_SECTOR_SHIFT, shape.sector_shift), FIELD(FFFS_HDR_GRANULE_SHIFT, shape.granule_shift),
    FIELD(FFFS_HDR_UNIT_SHIFT, shape.unit_shift), FIELD(FFFS_HDR_UNITS, shape.units),
    FIELD(FFFS_HDR_SEGMENT_SHIFT, shape.segment_shift), FIELD(FFFS_HDR_SPARES, shape.spares),
    FIELD(FFFS_HDR_PHASE, shape.phase), FIELD(FFFS_HDR_MAX_FILES, shape.max_files), FIELD(FFFS_HDR_SERIAL, serial),
    FIELD(FFFS_HDR_OLDEST, oldest), FIELD(FFFS_HDR_UNIT, unit), FIELD(FFFS_HDR_PREVIOUS, previous),
    FIELD(FFFS_HDR_COPIES, copies), FIELD(FFFS_HDR_BASE, base), FIELD(FFFS_HDR_BASE_SESSION, base_session),
    FIELD(FFFS_HDR_RING, ring), FIELD(FFFS_HDR_LEVEL, level), FIELD(FFFS_HDR_PROBES, shape.probes),
    FIELD(FFFS_HDR_VICTIMS, victims), FIELD(FFFS_HDR_STAMP, stamp), FIELD(FFFS_HDR_ERASES, erases),
    FIELD(FFFS_HDR_CLOSES, closes), FIELD(FFFS_HDR_CRC, crc)
};
enum { HEADER_FIELDS = sizeof header_fields / sizeof header_fields[0] };

/* A member of one, two or four bytes. */
static uint32_t get_member(const uint8_t *from, uint32_t bytes)
{
    uint16_t half;
    uint32_t word;

    if (bytes == 1u)
        return *from;
    if (bytes == 2u) {
        memcpy(&half, from, sizeof half);
        return half;
    }
    memcpy(&word, from, sizeof word);
    return word;
}

static void put_member(uint8_t *to, uint32_t bytes, uint32_t value)
{
    uint16_t half = (uint16_t)value;

    if (bytes == 1u)
        *to = (uint8_t)value;
    else if (bytes == 2u)
        memcpy(to, &half, sizeof half);
    else
        memcpy(to, &value, sizeof value);
}

/* Little-endian numbers of any length up to four bytes. */
static uint32_t get_number(const uint8_t *from, uint32_t bytes)
{
    uint32_t value = 0;

    while (bytes-- > 0)
        value = value << 8 | from[bytes];
    return value;
}

static void put_number(uint8_t *to, uint32_t bytes, uint32_t value)
{
    for (; bytes > 0; bytes--, value >>= 8)
        *to++ = (uint8_t)value;
}

void fffs_header_encode(const struct fffs_header *header, uint8_t *bytes)
{
    uint32_t i;

    memset(bytes, 0xFF, FFFS_HDR_BYTES);
    for (i = 0; i < HEADER_FIELDS; i++) {
        const struct field *field = &header_fields[i];
        put_number(bytes + field->at, field->bytes, get_member((const uint8_t *)header + field->member, field->bytes));
    }
    memcpy(bytes + FFFS_HDR_MAGIC, "FFFS", 4);
    bytes[FFFS_HDR_VERSION] = FFFS_FORMAT_VERSION;
    bytes[FFFS_HDR_READABLE] = FFFS_FORMAT_VERSION;
    fffs_put16(bytes + FFFS_HDR_OPTIONAL, 0);
}

uint32_t fffs_header_crc(uint32_t copies_crc, const uint8_t *bytes)
{
    return fffs_crc32(copies_crc, bytes, FFFS_HDR_BERGER);
}

static uint32_t header_zeros(const uint8_t *bytes)
{
    return fffs_zero_bits(bytes, FFFS_HDR_BERGER) +
           fffs_zero_bits(bytes + FFFS_HDR_CRC, FFFS_HDR_BYTES - FFFS_HDR_CRC);
}

void fffs_header_seal(uint8_t *bytes, uint32_t crc)
{
    fffs_put32(bytes + FFFS_HDR_CRC, crc);
    fffs_put32(bytes + FFFS_HDR_OWN_CRC, fffs_header_crc(0, bytes));
    fffs_put16(bytes + FFFS_HDR_BERGER, header_zeros(bytes));
}

int fffs_shape_derive(struct fffs_shape *shape)
{
    uint32_t stride_shift = shape->granule_shift < 3u ? 3u : shape->granule_shift;
    uint32_t index_sectors, last;

    if (shape->sector_shift < 8 || shape->sector_shift > 16 || shape->granule_shift > 8 || shape->unit_shift > 15 ||
        shape->segment_shift > 15 || shape->units < FFFS_UNITS_MIN || shape->units > FFFS_UNITS_MAX)
        return FFFS_ERR_CORRUPT;
    shape->stride_shift = (uint8_t)stride_shift;
    index_sectors = (uint32_t)shape->units << shape->unit_shift;
    if (index_sectors + FFFS_DATA_SEGMENTS_MIN > shape->sectors || shape->phase >= (1u << shape->segment_shift))
        return FFFS_ERR_CORRUPT;
    if (shape->unit_shift + shape->sector_shift > 24 || fffs_unit_strides(shape) < FFFS_UNIT_STRIDES_TINY ||
        fffs_unit_strides(shape) > 0x8000u || shape->spares < 1 || shape->spares >= shape->units ||
        shape->probes < 1 || shape->probes > 64)
        return FFFS_ERR_CORRUPT;
    shape->first_sector = (uint16_t)index_sectors;
    last = ((uint32_t)shape->sectors - 1u + shape->phase) >> shape->segment_shift;
    shape->segments = (uint16_t)(last - ((index_sectors + shape->phase) >> shape->segment_shift) + 1u);
    return shape->segments < FFFS_DATA_SEGMENTS_MIN ? FFFS_ERR_CORRUPT : FFFS_OK;
}

int fffs_header_decode(const uint8_t *bytes, struct fffs_header *header)
{
    uint32_t i;

    if (fffs_all_ones(bytes, FFFS_HDR_BYTES))
        return FFFS_ERR_BLANK;
    if (memcmp(bytes + FFFS_HDR_MAGIC, "FFFS", 4) != 0 || fffs_get16(bytes + FFFS_HDR_BERGER) != header_zeros(bytes) ||
        fffs_get32(bytes + FFFS_HDR_OWN_CRC) != fffs_header_crc(0, bytes))
        return FFFS_ERR_FOREIGN; /* what a cut erase leaves has errors both ways: the CRC is for those */
    for (i = 0; i < HEADER_FIELDS; i++) {
        const struct field *field = &header_fields[i];
        put_member((uint8_t *)header + field->member, field->bytes, get_number(bytes + field->at, field->bytes));
    }
    if (header->readable > FFFS_FORMAT_VERSION || (header->required & ~(unsigned)FFFS_FEATURES_KNOWN) != 0)
        return FFFS_ERR_NEWER_FORMAT;
    if (fffs_shape_derive(&header->shape) != FFFS_OK || header->serial == 0 || header->oldest > header->serial ||
        header->unit >= header->shape.units || header->copies > fffs_unit_records(&header->shape) ||
        (header->previous != FFFS_UNIT_NONE && header->previous >= header->shape.units))
        return FFFS_ERR_CORRUPT;
    return FFFS_OK;
}

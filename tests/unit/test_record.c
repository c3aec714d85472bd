/* Index record and unit header codec. */
#include <string.h>
#include "harness.h"
#include "src/bytes.h"
#include "src/record.h"

static struct fffs_record random_record(struct rng *rng)
{
    struct fffs_record record;
    record.slot = (uint16_t)rng_next(rng);
    record.head = (uint16_t)rng_next(rng);
    record.off = (uint8_t)rng_next(rng);
    record.len = (uint8_t)rng_next(rng);
    record.tag = (uint8_t)rng_next(rng);
    record.kind = (uint8_t)(rng_next(rng) & 3u);
    return record;
}

static int same(const struct fffs_record *a, const struct fffs_record *b)
{
    return a->slot == b->slot && a->head == b->head && a->off == b->off && a->len == b->len && a->tag == b->tag
        && a->kind == b->kind;
}

TEST(record_round_trip_in_every_stride)
{
    struct rng rng = { 1 };
    uint8_t stride[256];
    uint32_t bytes;
    int i;

    for (bytes = 8; bytes <= 256; bytes *= 2) {
        for (i = 0; i < 500; i++) {
            struct fffs_record in = random_record(&rng), out;
            memset(&out, 0xEE, sizeof out);
            fffs_record_encode(&in, stride, bytes);
            CHECK_EQ(fffs_record_decode(stride, bytes, &out), FFFS_STRIDE_VALID);
            CHECK(same(&in, &out));
        }
    }
}

TEST(record_layout_is_the_documented_one)
{
    static const uint8_t expected[8] = { 0x34, 0x12, 0xCD, 0xAB, 0x56, 0x78, 0x9A, 0x40 | 32 };
    struct fffs_record record = { 0x1234, 0xABCD, 0x56, 0x78, 0x9A, FFFS_KIND_MULTI };
    uint8_t stride[8];
    uint32_t zeros = 0, i;

    fffs_record_encode(&record, stride, 8);
    for (i = 0; i < 58; i++) {
        uint32_t bit = i < 56 ? i : i + 6;
        zeros += (((uint32_t)stride[bit / 8] >> (bit % 8)) & 1u) == 0;
    }
    CHECK_MEM(stride, expected, 7);
    CHECK_EQ(stride[7] >> 6, FFFS_KIND_MULTI);
    CHECK_EQ(stride[7] & 63, zeros);
}

TEST(extreme_records_are_neither_blank_nor_equal)
{
    static const struct fffs_record extremes[] = {
        { 0, 0, 0, 0, 0, 0 }, { 0xFFFF, 0xFFFF, 0xFF, 0xFF, 0xFF, 3 }, { 0xFFFF, 0, 0xFF, 0xFF, 0xFF, 3 },
        { 0, 0xFFFF, 0, 0, 0, 0 }
    };
    uint8_t stride[16];
    struct fffs_record out;
    size_t i;

    for (i = 0; i < sizeof extremes / sizeof extremes[0]; i++) {
        fffs_record_encode(&extremes[i], stride, 16);
        CHECK_EQ(fffs_record_decode(stride, 16, &out), FFFS_STRIDE_VALID);
        CHECK(same(&extremes[i], &out));
        fffs_record_encode(&extremes[i], stride, 8);
        CHECK_EQ(fffs_record_decode(stride, 8, &out), FFFS_STRIDE_VALID);
        CHECK(same(&extremes[i], &out));
    }
    memset(stride, 0xFF, sizeof stride);
    CHECK_EQ(fffs_record_decode(stride, 8, &out), FFFS_STRIDE_BLANK);
    CHECK_EQ(fffs_record_decode(stride, 16, &out), FFFS_STRIDE_BLANK);
    memset(stride, 0, sizeof stride);
    CHECK_EQ(fffs_record_decode(stride, 8, &out), FFFS_STRIDE_TORN);
}

/* The 8-byte record: every set of up to three missing bits, every set of up to three bits alone, and random sets. */
TEST(torn_record_never_verifies)
{
    struct rng rng = { 2 };
    int round;

    for (round = 0; round < 30; round++) {
        struct fffs_record record = random_record(&rng), out;
        uint8_t whole[8], torn[8];
        uint32_t zeros[64], count = 0, i, j, k, invert;

        fffs_record_encode(&record, whole, 8);
        for (i = 0; i < 64; i++) {
            if ((((uint32_t)whole[i / 8] >> (i % 8)) & 1u) == 0) { zeros[count++] = i; }
        }
        for (invert = 0; invert < 2; invert++) {
            for (i = 0; i < count; i++) {
                for (j = i; j < count; j++) {
                    for (k = j; k < count; k++) {
                        if (invert) { memset(torn, 0xFF, 8); }
                        else { memcpy(torn, whole, 8); }
                        torn[zeros[i] / 8] ^= (uint8_t)(1u << (zeros[i] % 8));
                        if (j != i) { torn[zeros[j] / 8] ^= (uint8_t)(1u << (zeros[j] % 8)); }
                        if (k != j) { torn[zeros[k] / 8] ^= (uint8_t)(1u << (zeros[k] % 8)); }
                        if (memcmp(torn, whole, 8) == 0) { continue; }
                        CHECK_EQ(fffs_record_decode(torn, 8, &out), FFFS_STRIDE_TORN);
                    }
                }
            }
        }
        for (i = 0; i < 20000; i++) {
            uint64_t mask = rng_next(&rng);
            for (j = 0; j < 8; j++) { torn[j] = (uint8_t)(whole[j] | (uint8_t)(mask >> (8 * j))); }
            if (memcmp(torn, whole, 8) != 0) { CHECK(fffs_record_decode(torn, 8, &out) != FFFS_STRIDE_VALID); }
        }
    }
}

TEST(any_flipped_bit_of_a_record_is_seen)
{
    struct rng rng = { 7 };
    uint32_t round, bit, bytes;

    for (bytes = 8; bytes <= 32; bytes *= 2) {
        for (round = 0; round < 200; round++) {
            struct fffs_record record = random_record(&rng), out;
            uint8_t stride[32];
            uint32_t checked = bytes >= 16 ? 12 : 8;
            fffs_record_encode(&record, stride, bytes);
            for (bit = 0; bit < checked * 8; bit++) {
                stride[bit / 8] ^= (uint8_t)(1u << (bit % 8));
                CHECK_EQ(fffs_record_decode(stride, bytes, &out), FFFS_STRIDE_TORN);
                stride[bit / 8] ^= (uint8_t)(1u << (bit % 8));
            }
        }
    }
}

TEST(wide_strides_see_many_flips)
{
    struct rng rng = { 8 };
    struct fffs_record record = random_record(&rng), out;
    uint8_t stride[16], damaged[16];
    int i, flips;

    fffs_record_encode(&record, stride, 16);
    for (i = 0; i < 100000; i++) {
        memcpy(damaged, stride, 16);
        for (flips = 2 + (int)rng_below(&rng, 6); flips > 0; flips--) {
            uint32_t bit = rng_below(&rng, 96);
            damaged[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        }
        if (memcmp(damaged, stride, 12) != 0) { CHECK_EQ(fffs_record_decode(damaged, 16, &out), FFFS_STRIDE_TORN); }
    }
}

TEST(control_records_carry_32_bits)
{
    struct rng rng = { 9 };
    int i, type;

    for (i = 0; i < 1000; i++) {
        uint32_t payload = (uint32_t)rng_next(&rng);
        for (type = FFFS_CTL_START; type <= FFFS_CTL_BAD; type++) {
            struct fffs_record record = fffs_control_record((enum fffs_control)type, payload);
            CHECK_EQ(fffs_control_type(&record), type);
            CHECK_EQ(fffs_control_payload(&record), payload);
            CHECK(!fffs_is_put(&record));
            CHECK(fffs_is_mark(&record, (enum fffs_control)type, payload));
            CHECK(!fffs_is_mark(&record, (enum fffs_control)type, payload ^ 1u));
            CHECK(!fffs_is_mark(&record, FFFS_CTL_WEAR, payload));
        }
    }
    {
        struct fffs_record put = { 3, 2, 0, 0, 0, 0 }, delete = { 3, 0, 0, 0, 0, 0 };
        CHECK(fffs_is_put(&put));
        CHECK(!fffs_is_put(&delete));
        CHECK_EQ(fffs_control_type(&put), 0);
        CHECK_EQ(fffs_control_type(&delete), 0);
    }
}

TEST(marks_have_at_least_32_zero_bits)
{
    uint32_t at;
    static const enum fffs_control marks[] = { FFFS_CTL_START, FFFS_CTL_SESSION, FFFS_CTL_CLEAN };
    size_t m;

    for (m = 0; m < 3; m++) {
        for (at = 0; at < 8192; at++) {
            struct fffs_record mark = fffs_control_record(marks[m], at);
            uint8_t stride[8];
            uint32_t zeros = 0, bit;
            fffs_record_encode(&mark, stride, 8);
            for (bit = 0; bit < 64; bit++) { zeros += (((uint32_t)stride[bit / 8] >> (bit % 8)) & 1u) == 0; }
            CHECK(zeros >= 32);
        }
    }
}

TEST(footprint_rounds_up_by_a_thirtysecond_at_most)
{
    uint32_t units, last = 0;

    for (units = 1; units <= 4032; units++) {
        uint8_t code = fffs_footprint_encode(units);
        uint32_t back = fffs_footprint_decode(code);
        CHECK(code != 0);
        CHECK(back >= units);
        CHECK(back >= last);
        CHECK(units < 64 ? back == units : back * 32 <= units * 33 + 32);
        last = back;
    }
    CHECK_EQ(last, 4032);
    CHECK_EQ(fffs_footprint_encode(4033), 0);
    CHECK_EQ(fffs_footprint_encode(65535u * 256u), 0);
    CHECK_EQ(fffs_footprint_encode(0), 0);
}

TEST(footprint_codes_are_canonical_and_ordered)
{
    uint32_t code, last = 0;

    for (code = 1; code < 256; code++) {
        uint32_t units = fffs_footprint_decode((uint8_t)code);
        CHECK(units > last);
        CHECK_EQ(fffs_footprint_encode(units), code);
        last = units;
    }
}

/* ---- Unit header ---- */

static struct fffs_header good_header(void)
{
    struct fffs_header header;

    memset(&header, 0, sizeof header);
    header.serial = 77;
    header.oldest = 70;
    header.base = 76;
    header.base_session = 19;
    header.stamp = 12345;
    header.erases = 999;
    header.closes = 0xDEADBEEFu;
    header.copies = 21;
    header.ring = 5;
    header.level = 6;
    header.unit = 2;
    header.previous = 1;
    header.victims = 3;
    header.shape.sectors = 1024;
    header.shape.max_files = 1000;
    header.shape.format_id = 0x4321;
    header.shape.sector_shift = 12;
    header.shape.unit_shift = 0;
    header.shape.segment_shift = 4;
    header.shape.units = 8;
    header.shape.spares = 3;
    header.shape.probes = 50;
    header.shape.phase = 3;
    return header;
}

static void encode(const struct fffs_header *header, uint8_t *bytes)
{
    fffs_header_encode(header, bytes);
    fffs_header_seal(bytes, fffs_header_crc(0, bytes));
}

TEST(header_round_trip)
{
    struct fffs_header in = good_header(), out;
    uint8_t bytes[FFFS_HDR_BYTES];

    encode(&in, bytes);
    CHECK_OK(fffs_header_decode(bytes, &out));
    CHECK_EQ(out.serial, in.serial);
    CHECK_EQ(out.oldest, in.oldest);
    CHECK_EQ(out.base, in.base);
    CHECK_EQ(out.base_session, in.base_session);
    CHECK_EQ(out.stamp, in.stamp);
    CHECK_EQ(out.erases, in.erases);
    CHECK_EQ(out.closes, in.closes);
    CHECK_EQ(out.copies, in.copies);
    CHECK_EQ(out.ring, in.ring);
    CHECK_EQ(out.level, in.level);
    CHECK_EQ(out.unit, in.unit);
    CHECK_EQ(out.previous, in.previous);
    CHECK_EQ(out.victims, in.victims);
    CHECK_EQ(out.crc, fffs_header_crc(0, bytes));
    CHECK_EQ(out.shape.sectors, 1024);
    CHECK_EQ(out.shape.max_files, 1000);
    CHECK_EQ(out.shape.format_id, 0x4321);
    CHECK_EQ(out.shape.segment_shift, 4);
    CHECK_EQ(out.shape.units, 8);
    CHECK_EQ(out.shape.spares, 3);
    CHECK_EQ(out.shape.probes, 50);
    CHECK_EQ(out.shape.phase, 3);
    CHECK_EQ(out.shape.stride_shift, 3);
    CHECK_EQ(out.shape.first_sector, 8);
}

TEST(torn_headers_never_verify)
{
    struct fffs_header in = good_header(), out;
    uint8_t bytes[FFFS_HDR_BYTES], torn[FFFS_HDR_BYTES];
    struct rng rng = { 11 };
    int round;
    uint32_t i;

    encode(&in, bytes);
    for (round = 0; round < 50000; round++) {
        uint32_t keep = rng_below(&rng, 100);
        for (i = 0; i < FFFS_HDR_BYTES; i++) {
            torn[i] = (uint8_t)(bytes[i] | (rng_below(&rng, 100) < keep ? 0 : (uint8_t)rng_next(&rng)));
        }
        if (memcmp(torn, bytes, sizeof torn) == 0) { continue; }
        CHECK(fffs_header_decode(torn, &out) == FFFS_ERR_FOREIGN || fffs_all_ones(torn, FFFS_HDR_BYTES));
    }
    for (i = 0; i <= FFFS_HDR_BYTES * 8; i++) {     /* prefixes */
        memset(torn, 0xFF, sizeof torn);
        memcpy(torn, bytes, i / 8);
        if (i % 8 != 0) { torn[i / 8] = (uint8_t)(bytes[i / 8] | (0xFFu << (i % 8))); }
        if (memcmp(torn, bytes, sizeof torn) == 0) { continue; }
        CHECK(fffs_header_decode(torn, &out) == FFFS_ERR_FOREIGN || fffs_all_ones(torn, FFFS_HDR_BYTES));
    }
}

TEST(blank_and_foreign_headers_are_told_apart)
{
    uint8_t bytes[FFFS_HDR_BYTES];
    struct fffs_header out;

    memset(bytes, 0xFF, sizeof bytes);
    CHECK_STATUS(fffs_header_decode(bytes, &out), FFFS_ERR_BLANK);
    bytes[40] = 0xFE;
    CHECK_STATUS(fffs_header_decode(bytes, &out), FFFS_ERR_FOREIGN);
    memset(bytes, 0, sizeof bytes);
    CHECK_STATUS(fffs_header_decode(bytes, &out), FFFS_ERR_FOREIGN);
}

static int decode_with(uint32_t at, uint8_t value)
{
    struct fffs_header in = good_header(), out;
    uint8_t bytes[FFFS_HDR_BYTES];

    fffs_header_encode(&in, bytes);
    bytes[at] = value;
    fffs_header_seal(bytes, fffs_header_crc(0, bytes));
    return fffs_header_decode(bytes, &out);
}

TEST(newer_formats_are_refused_and_optional_bits_ignored)
{
    CHECK_STATUS(decode_with(FFFS_HDR_READABLE, FFFS_FORMAT_VERSION + 1), FFFS_ERR_NEWER_FORMAT);
    CHECK_OK(decode_with(FFFS_HDR_VERSION, FFFS_FORMAT_VERSION + 1));
    CHECK_STATUS(decode_with(FFFS_HDR_REQUIRED, 0x01), FFFS_ERR_NEWER_FORMAT);
    CHECK_STATUS(decode_with(FFFS_HDR_REQUIRED + 1, 0x80), FFFS_ERR_NEWER_FORMAT);
    CHECK_OK(decode_with(FFFS_HDR_OPTIONAL, 0xFF));
}

/* What a cut erase leaves: errors both ways, which the Berger count alone can miss. */
TEST(a_header_with_errors_both_ways_is_foreign)
{
    struct fffs_header in = good_header(), out;
    uint8_t bytes[FFFS_HDR_BYTES];

    fffs_header_encode(&in, bytes);
    fffs_header_seal(bytes, fffs_header_crc(0, bytes));
    CHECK_OK(fffs_header_decode(bytes, &out));
    bytes[FFFS_HDR_MAX_FILES] = (uint8_t)(bytes[FFFS_HDR_MAX_FILES] ^ 1u);
    if ((bytes[FFFS_HDR_MAX_FILES] ^ bytes[FFFS_HDR_STAMP]) & 1u) { bytes[FFFS_HDR_STAMP] ^= 2u; }
    else { bytes[FFFS_HDR_STAMP] ^= 1u; }
    CHECK_STATUS(fffs_header_decode(bytes, &out), FFFS_ERR_FOREIGN);
    fffs_header_encode(&in, bytes);
    fffs_header_seal(bytes, fffs_header_crc(0, bytes));
    bytes[FFFS_HDR_GRANULE_SHIFT] = 0x80; /* was a power of two's exponent with the same number of zeros, or not */
    CHECK_STATUS(fffs_header_decode(bytes, &out), FFFS_ERR_FOREIGN);
}

TEST(impossible_geometry_is_corrupt)
{
    CHECK_STATUS(decode_with(FFFS_HDR_SECTOR_SHIFT, 7), FFFS_ERR_CORRUPT);
    CHECK_STATUS(decode_with(FFFS_HDR_SECTOR_SHIFT, 17), FFFS_ERR_CORRUPT);
    CHECK_STATUS(decode_with(FFFS_HDR_SECTOR_SHIFT, 255), FFFS_ERR_CORRUPT);
    CHECK_STATUS(decode_with(FFFS_HDR_GRANULE_SHIFT, 9), FFFS_ERR_CORRUPT);
    CHECK_STATUS(decode_with(FFFS_HDR_UNIT_SHIFT, 16), FFFS_ERR_CORRUPT);
    CHECK_STATUS(decode_with(FFFS_HDR_SEGMENT_SHIFT, 16), FFFS_ERR_CORRUPT);
    CHECK_STATUS(decode_with(FFFS_HDR_SEGMENT_SHIFT, 9), FFFS_ERR_CORRUPT);
    CHECK_STATUS(decode_with(FFFS_HDR_UNITS, 2), FFFS_ERR_CORRUPT);
    CHECK_STATUS(decode_with(FFFS_HDR_UNITS, 17), FFFS_ERR_CORRUPT);
    CHECK_STATUS(decode_with(FFFS_HDR_SPARES, 0), FFFS_ERR_CORRUPT);
    CHECK_STATUS(decode_with(FFFS_HDR_SPARES, 8), FFFS_ERR_CORRUPT);
    CHECK_STATUS(decode_with(FFFS_HDR_PROBES, 0), FFFS_ERR_CORRUPT);
    CHECK_STATUS(decode_with(FFFS_HDR_PROBES, 65), FFFS_ERR_CORRUPT);
    CHECK_STATUS(decode_with(FFFS_HDR_UNIT, 8), FFFS_ERR_CORRUPT);
    CHECK_STATUS(decode_with(FFFS_HDR_PREVIOUS, 8), FFFS_ERR_CORRUPT);
    CHECK_OK(decode_with(FFFS_HDR_PREVIOUS, FFFS_UNIT_NONE));
    CHECK_STATUS(decode_with(FFFS_HDR_COPIES + 1, 0x7F), FFFS_ERR_CORRUPT);
    CHECK_STATUS(decode_with(FFFS_HDR_OLDEST, 78), FFFS_ERR_CORRUPT);
    CHECK_STATUS(decode_with(FFFS_HDR_PHASE, 16), FFFS_ERR_CORRUPT);
    CHECK_STATUS(decode_with(FFFS_HDR_SECTORS + 1, 0), FFFS_ERR_CORRUPT);
}

/* Whatever bytes a hostile header holds: a decoded shape is one that the code can compute with. */
TEST(random_headers_give_sane_shapes)
{
    struct rng rng = { 12 };
    int round, good = 0;

    for (round = 0; round < 200000; round++) {
        struct fffs_header in = good_header(), out;
        uint8_t bytes[FFFS_HDR_BYTES];
        uint32_t changes = 1 + rng_below(&rng, 6);
        fffs_header_encode(&in, bytes);
        while (changes-- > 0) { bytes[10 + rng_below(&rng, 38)] = (uint8_t)rng_next(&rng); }
        fffs_header_seal(bytes, fffs_header_crc(0, bytes));
        if (fffs_header_decode(bytes, &out) != FFFS_OK) { continue; }
        good++;
        CHECK(out.shape.first_sector < out.shape.sectors);
        CHECK(out.shape.segments >= FFFS_DATA_SEGMENTS_MIN);
        CHECK(out.copies <= fffs_unit_records(&out.shape));
        CHECK(out.unit < out.shape.units);
        CHECK(fffs_unit_strides(&out.shape) >= FFFS_UNIT_STRIDES_TINY);
    }
    CHECK(good > 1000);
}

SUITE(record)
{
    RUN(record_round_trip_in_every_stride);
    RUN(record_layout_is_the_documented_one);
    RUN(extreme_records_are_neither_blank_nor_equal);
    RUN(torn_record_never_verifies);
    RUN(any_flipped_bit_of_a_record_is_seen);
    RUN(wide_strides_see_many_flips);
    RUN(control_records_carry_32_bits);
    RUN(marks_have_at_least_32_zero_bits);
    RUN(footprint_rounds_up_by_a_thirtysecond_at_most);
    RUN(footprint_codes_are_canonical_and_ordered);
    RUN(header_round_trip);
    RUN(torn_headers_never_verify);
    RUN(blank_and_foreign_headers_are_told_apart);
    RUN(newer_formats_are_refused_and_optional_bits_ignored);
    RUN(a_header_with_errors_both_ways_is_foreign);
    RUN(impossible_geometry_is_corrupt);
    RUN(random_headers_give_sane_shapes);
}

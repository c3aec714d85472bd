/* Byte order and arithmetic helpers, and the Berger count with its promise. */
#include <string.h>
#include "harness.h"
#include "src/berger.h"
#include "src/bytes.h"

TEST(little_endian_round_trip)
{
    uint8_t bytes[6] = { 0xEE, 0, 0, 0, 0, 0xEE };

    fffs_put32(bytes + 1, 0x12345678u);
    CHECK_EQ(bytes[1], 0x78);
    CHECK_EQ(bytes[4], 0x12);
    CHECK_EQ(bytes[0], 0xEE);
    CHECK_EQ(bytes[5], 0xEE);
    CHECK_EQ(fffs_get32(bytes + 1), 0x12345678);
    CHECK_EQ(fffs_get16(bytes + 1), 0x5678);
    fffs_put16(bytes + 1, 0xFEDC);
    CHECK_EQ(fffs_get16(bytes + 1), 0xFEDC);
    CHECK_EQ(bytes[3], 0x34);
    fffs_put32(bytes + 1, 0xFFFFFFFFu);
    CHECK_EQ(fffs_get32(bytes + 1), 0xFFFFFFFFll);
}

TEST(alignment_and_powers)
{
    uint32_t i;

    CHECK_EQ(fffs_align_up(0, 16), 0);
    CHECK_EQ(fffs_align_up(1, 16), 16);
    CHECK_EQ(fffs_align_up(16, 16), 16);
    CHECK_EQ(fffs_align_up(17, 1), 17);
    CHECK_EQ(fffs_align_down(31, 16), 16);
    CHECK_EQ(fffs_min(3, 4), 3);
    CHECK_EQ(fffs_min(4, 3), 3);
    CHECK(!fffs_is_power_of_two(0));
    CHECK(!fffs_is_power_of_two(3));
    for (i = 0; i < 32; i++) {
        CHECK(fffs_is_power_of_two(1u << i));
        CHECK_EQ(fffs_log2(1u << i), i);
    }
}

TEST(all_ones_sees_each_bit)
{
    uint8_t bytes[9];
    uint32_t i;

    memset(bytes, 0xFF, sizeof bytes);
    CHECK(fffs_all_ones(bytes, 0));
    CHECK(fffs_all_ones(bytes, sizeof bytes));
    for (i = 0; i < 72; i++) {
        bytes[i / 8] ^= (uint8_t)(1u << (i % 8));
        CHECK(!fffs_all_ones(bytes, sizeof bytes));
        CHECK(fffs_all_ones(bytes, i / 8));
        bytes[i / 8] ^= (uint8_t)(1u << (i % 8));
    }
}

TEST(zero_bits_counts_every_byte_value)
{
    uint32_t value, bit;

    for (value = 0; value < 256; value++) {
        uint8_t byte = (uint8_t)value;
        uint32_t zeros = 0;
        for (bit = 0; bit < 8; bit++) { zeros += ((value >> bit) & 1u) == 0; }
        CHECK_EQ(fffs_zero_bits(&byte, 1), zeros);
    }
    CHECK_EQ(fffs_zero_bits(NULL, 0), 0);
    CHECK_EQ(fffs_zero_bits((const uint8_t *)"\0\0\0\xFF", 4), 24);
}

/* Exhaustive for one payload byte and its 4-bit count: from every word, clear any subset of the bits to be cleared (what
 * a torn program leaves); only the complete word may verify. */
TEST(berger_detects_every_torn_byte)
{
    uint32_t payload, word, subset, verified = 0;

    for (payload = 0; payload < 256; payload++) {
        uint8_t byte = (uint8_t)payload;
        uint32_t zeros;
        word = payload | fffs_zero_bits(&byte, 1) << 8;
        zeros = ~word & 0xFFFu;
        for (subset = zeros;; subset = (subset - 1) & zeros) {
            uint32_t torn = 0xFFFu & ~subset;
            uint8_t torn_byte = (uint8_t)torn;
            int valid = fffs_zero_bits(&torn_byte, 1) == torn >> 8;
            CHECK_EQ(valid, torn == word);
            verified++;
            if (subset == 0) { break; }
        }
    }
    CHECK(verified > 10000);
}

SUITE(bytes)
{
    RUN(little_endian_round_trip);
    RUN(alignment_and_powers);
    RUN(all_ones_sees_each_bit);
    RUN(zero_bits_counts_every_byte_value);
    RUN(berger_detects_every_torn_byte);
}

/* CRC-32 against published vectors and against itself in pieces. */
#include <string.h>
#include "harness.h"
#include "src/crc32.h"

TEST(crc32_vectors)
{
    uint8_t block[32];
    size_t i;

    CHECK_EQ(fffs_crc32(0, "", 0), 0);
    CHECK_EQ(fffs_crc32(0, "123456789", 9), 0xCBF43926u);
    CHECK_EQ(fffs_crc32(0, "a", 1), 0xE8B7BE43u);
    CHECK_EQ(fffs_crc32(0, "abc", 3), 0x352441C2u);
    memset(block, 0, sizeof block);
    CHECK_EQ(fffs_crc32(0, block, sizeof block), 0x190A55ADu);
    memset(block, 0xFF, sizeof block);
    CHECK_EQ(fffs_crc32(0, block, sizeof block), 0xFF6CAB0Bu);
    for (i = 0; i < sizeof block; i++) { block[i] = (uint8_t)i; }
    CHECK_EQ(fffs_crc32(0, block, sizeof block), 0x91267E8Au);
}

TEST(crc32_continues_at_every_split)
{
    uint8_t data[64];
    struct rng rng = { 3 };
    uint32_t whole, i;

    for (i = 0; i < sizeof data; i++) { data[i] = (uint8_t)rng_next(&rng); }
    whole = fffs_crc32(0, data, sizeof data);
    for (i = 0; i <= sizeof data; i++) {
        CHECK_EQ(fffs_crc32(fffs_crc32(0, data, i), data + i, (uint32_t)sizeof data - i), whole);
    }
}

TEST(crc32_sees_every_flip_of_one_or_two_bits)
{
    uint8_t data[24];
    struct rng rng = { 4 };
    uint32_t whole, i, j;

    for (i = 0; i < sizeof data; i++) { data[i] = (uint8_t)rng_next(&rng); }
    whole = fffs_crc32(0, data, sizeof data);
    for (i = 0; i < sizeof data * 8; i++) {
        data[i / 8] ^= (uint8_t)(1u << (i % 8));
        CHECK(fffs_crc32(0, data, sizeof data) != whole);
        for (j = i + 1; j < sizeof data * 8; j++) {
            data[j / 8] ^= (uint8_t)(1u << (j % 8));
            CHECK(fffs_crc32(0, data, sizeof data) != whole);
            data[j / 8] ^= (uint8_t)(1u << (j % 8));
        }
        data[i / 8] ^= (uint8_t)(1u << (i % 8));
    }
    CHECK_EQ(fffs_crc32(0, data, sizeof data), whole);
}

SUITE(crc32)
{
    RUN(crc32_vectors);
    RUN(crc32_continues_at_every_split);
    RUN(crc32_sees_every_flip_of_one_or_two_bits);
}

/* Images of released formats stay readable: golden-1.img was made by the tool (create, remove, add) and never changes
 * once format 1 is released. */
#include <string.h>

#include "emulator/nor.h"
#include "fastffs/fastffs.h"
#include "harness.h"

static struct nor *load_image(const char *path)
{
    struct nor_config config;
    struct nor *nor;

    memset(&config, 0, sizeof config);
    config.size_bytes = 65536;
    nor = nor_create(&config);
    CHECK_EQ(nor_load(nor, path), 0);
    return nor;
}

static uint8_t pattern_byte(uint32_t i) { return (uint8_t)(i * 7 + 3); }
static uint8_t large_byte(uint32_t i) { return (uint8_t)(i * 13 + (i >> 8)); }

static void expect_bytes(struct fffs *fs, const char *name, uint32_t size, uint8_t (*byte_at)(uint32_t))
{
    struct fffs_file file;
    uint8_t buffer[64], data[256];
    uint32_t at = 0, i;
    int32_t part;

    CHECK_OK(fffs_open(fs, &file, name, FFFS_READ, buffer, sizeof buffer));
    while ((part = fffs_read(fs, &file, data, sizeof data)) > 0) {
        for (i = 0; i < (uint32_t)part; i++) { CHECK_EQ(data[i], byte_at(at + i)); }
        at += (uint32_t)part;
    }
    CHECK_EQ(part, 0);
    CHECK_EQ(at, size);
    CHECK_OK(fffs_close(fs, &file));
}

static void check_image(uint32_t flags)
{
    static uint32_t scratch[128];
    static uint16_t table[64];
    struct nor *nor = load_image("tests/compat/golden-1.img");
    struct fffs_config config;
    struct fffs_info info;
    struct fffs fs;

    memset(&config, 0, sizeof config);
    memset(&fs, 0, sizeof fs);
    config.flash = nor_flash(nor);
    config.scratch = scratch;
    config.scratch_bytes = sizeof scratch;
    config.segment_table = table;
    config.segment_table_entries = 64;
    config.flags = flags;
    CHECK_OK(fffs_mount(&fs, &config));
    CHECK_EQ(fffs_check(&fs, NULL, NULL), 0);
    CHECK_OK(fffs_stat(&fs, "hello.txt", &info));
    CHECK_EQ(info.size, 6);
    CHECK_OK(fffs_stat(&fs, "empty", &info));
    CHECK_EQ(info.size, 0);
    CHECK_EQ(fffs_exists(&fs, "second"), 1);
    CHECK_EQ(fffs_exists(&fs, "gone.txt"), 0);
    expect_bytes(&fs, "dir/pattern.bin", 5000, pattern_byte);
    expect_bytes(&fs, "large.bin", 20000, large_byte);
    CHECK_OK(fffs_unmount(&fs));
    nor_destroy(nor);
}

TEST(golden_1_reads_read_only) { check_image(FFFS_MOUNT_READ_ONLY); }
TEST(golden_1_mounts_writable) { check_image(0); }

SUITE(golden)
{
    RUN(golden_1_reads_read_only);
    RUN(golden_1_mounts_writable);
}

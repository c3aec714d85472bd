/* The Arduino wrapper on stubs, on the emulated flash. */
#include "FASTFFS.h"

#include <string.h>

extern "C" {
#include "emulator/nor.h"
#include "harness.h"
#include "ports/esp-idf/stubs/stub_idf.h"
}
#include "fastffs/fastffs.h"

extern "C" {

static struct nor *device(const char *label)
{
    struct nor_config config;

    memset(&config, 0, sizeof config);
    config.size_bytes = 1024 * 1024;
    config.no_blank_check = 1;
    struct nor *nor = nor_create(&config);
    (void)stub_partition_add(label, 0x290000, nor, 0);
    return nor;
}

static void put(const char *path, const char *text)
{
    File file = FASTFFS.open(path, "w");
    CHECK(file);
    CHECK_EQ(file.write((const uint8_t *)text, strlen(text)), strlen(text));
    file.close();
}

static void expect(const char *path, const char *text)
{
    char got[64] = "";
    File file = FASTFFS.open(path, "r");
    CHECK(file);
    CHECK_EQ(file.size(), strlen(text));
    (void)file.read((uint8_t *)got, sizeof got - 1);
    CHECK_STR(got, text);
}

TEST(begin_end_format_sizes)
{
    (void)device("spiffs");
    CHECK(!FASTFFS.begin());
    CHECK_STATUS(FASTFFS.status(), FFFS_ERR_BLANK);
    CHECK_EQ(FASTFFS.totalBytes(), 0);
    CHECK(!FASTFFS.format());
    CHECK(FASTFFS.begin(true));
    CHECK(FASTFFS.formatted());
    CHECK(FASTFFS.totalBytes() > 700000);
    put("/a/b.txt", "hello");
    expect("/a/b.txt", "hello");
    CHECK(FASTFFS.usedBytes() > 5);
    CHECK(FASTFFS.exists("/a/b.txt"));
    CHECK(FASTFFS.exists("/a"));
    CHECK(!FASTFFS.exists("/b"));
    File file = FASTFFS.open("/a/b.txt", "a");
    CHECK_EQ(file.write((const uint8_t *)"!", 1), 1);
    CHECK(!FASTFFS.end()); /* a file is open */
    CHECK(!FASTFFS.format());
    file.close();
    expect("/a/b.txt", "hello!");
    CHECK(FASTFFS.gc());
    CHECK(FASTFFS.end());
    CHECK(!FASTFFS.open("/a/b.txt", "r"));
    CHECK(FASTFFS.begin());
    CHECK(!FASTFFS.formatted());
    expect("/a/b.txt", "hello!");
    CHECK(FASTFFS.mkdir("/new"));
    CHECK(FASTFFS.rmdir("/new"));
    CHECK(FASTFFS.rename("/a/b.txt", "/d.txt"));
    expect("/d.txt", "hello!");
    CHECK(FASTFFS.rename("/d.txt", "/a/b.txt"));
    CHECK(FASTFFS.remove("/a/b.txt"));
    CHECK(!FASTFFS.remove("/a/b.txt"));
    put("/c", "x");
    CHECK(FASTFFS.format());
    CHECK(!FASTFFS.exists("/c"));
    CHECK(FASTFFS.end());
    CHECK(FASTFFS.end());
}

TEST(c33_second_begin_does_nothing)
{
    char got[8] = "";

    (void)device("spiffs");
    (void)device("other");
    CHECK(FASTFFS.begin(true));
    put("/f", "abc");
    File file = FASTFFS.open("/f", "r");
    CHECK(FASTFFS.begin(true));
    CHECK_EQ(file.read((uint8_t *)got, 8), 3);
    CHECK_STR(got, "abc");
    CHECK(!FASTFFS.begin(true, "/x", 5, "other"));
    fs::FASTFFSFS second;
    CHECK(!second.begin(true)); /* it is somebody else's */
    CHECK(second.begin(true, "/x", 5, "other"));
    CHECK(second.end());
    CHECK(!FASTFFS.begin(true, "/x", 5, nullptr));
    CHECK(!FASTFFS.begin(true, "/x", 5, "a label that is longer than labels can be"));
    file.close();
    CHECK(FASTFFS.end());
}

TEST(c54_foreign_only_on_demand)
{
    struct nor *nor = device("spiffs");

    nor_fill(nor, 0x33);
    CHECK(!FASTFFS.begin(true));
    CHECK_STATUS(FASTFFS.status(), FFFS_ERR_FOREIGN);
    CHECK_EQ(nor_mutations(nor), 0);
    CHECK(FASTFFS.begin(true, "/fastffs", 10, "spiffs", true));
    CHECK(FASTFFS.formatted());
    CHECK(FASTFFS.end());
}

SUITE(arduino)
{
    RUN(begin_end_format_sizes);
    RUN(c33_second_begin_does_nothing);
    RUN(c54_foreign_only_on_demand);
}

}

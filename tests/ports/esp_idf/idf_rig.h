/* A partition on emulated flash, mounted at /d by the component. */
#ifndef IDF_RIG_H
#define IDF_RIG_H

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emulator/nor.h"
#include "esp_fastffs.h"
#include "harness.h"
#include "ports/esp-idf/stubs/stub_idf.h"

struct idf_rig {
    struct nor *nor;
    const esp_partition_t *partition;
};

enum { IDF_MIB = 1024 * 1024 };

/* An erased device of `bytes` at flash address `address`, as partition `label`. */
static inline struct idf_rig idf_device(const char *label, uint32_t bytes, uint32_t address, int encrypted)
{
    struct nor_config config;
    struct idf_rig rig;

    memset(&config, 0, sizeof config);
    config.size_bytes = bytes;
    config.granule_bytes = encrypted ? 16 : 1;
    config.no_blank_check = 1;
    config.block_offset_bytes = address % 65536u;
    rig.nor = nor_create(&config);
    rig.partition = stub_partition_add(label, address, rig.nor, encrypted);
    return rig;
}

static inline esp_vfs_fastffs_conf_t idf_conf(void)
{
    esp_vfs_fastffs_conf_t conf;

    memset(&conf, 0, sizeof conf);
    conf.base_path = "/d";
    conf.partition_label = "data";
    conf.format_if_mount_failed = 1;
    return conf;
}

static inline struct idf_rig idf_mounted(void)
{
    struct idf_rig rig = idf_device("data", IDF_MIB, 0x110000, 0);
    esp_vfs_fastffs_conf_t conf = idf_conf();

    CHECK_EQ(esp_vfs_fastffs_register(&conf), ESP_OK);
    return rig;
}

/* The call returned -1, and this errno. */
#define CHECK_ERRNO(call, expected) \
    do { \
        errno = 0; \
        CHECK_EQ((call), -1); \
        CHECK_EQ(errno, (expected)); \
    } while (0)

static inline void idf_put(const char *path, const void *data, size_t bytes)
{
    int fd = stub_open(path, O_WRONLY | O_CREAT | O_TRUNC);

    CHECK(fd >= 0);
    CHECK_EQ(stub_write(fd, data, bytes), bytes);
    CHECK_EQ(stub_close(fd), 0);
}

static inline void idf_expect(const char *path, const void *data, size_t bytes)
{
    uint8_t *got = malloc(bytes + 1);
    int fd = stub_open(path, O_RDONLY);

    CHECK(got != NULL && fd >= 0);
    CHECK_EQ(stub_read(fd, got, bytes + 1), bytes);
    CHECK_MEM(got, data, bytes);
    CHECK_EQ(stub_close(fd), 0);
    free(got);
}

/* Bytes that differ by seed. Released by free(). */
static inline uint8_t *idf_data(uint32_t seed, size_t bytes)
{
    uint8_t *data = malloc(bytes);
    struct rng rng = { seed };
    size_t i;

    CHECK(data != NULL);
    for (i = 0; i < bytes; i++)
        data[i] = (uint8_t)rng_next(&rng);
    return data;
}

#endif

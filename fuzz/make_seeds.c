/* Makes the images that the image fuzzer starts from: make_seeds FOLDER. Small volumes of several geometries in the states
 * that matter: fresh, full of small files, files of many extents, table blocks, after rotations and collections, stopped
 * cleanly and not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fuzz.h"

static struct fuzz_flash flash;
static uint8_t image[FUZZ_FLASH_MAX], packed[2 * FUZZ_FLASH_MAX];

struct shape {
    uint32_t size, sector, segment;
    uint8_t granule_shift;
};

static const struct shape shapes[] = {
    {16 * 256, 256, 256, 0}, {32 * 256, 256, 256, 0}, {40 * 256, 256, 512, 0}, {32 * 256, 256, 256, 3},
    {32 * 512, 512, 512, 4}, {24 * 1024, 1024, 1024, 0}, {64 * 256, 256, 1024, 1}, {20 * 4096, 4096, 4096, 0},
    {32 * 1024, 1024, 1024, 5}
};

enum { SHAPES = sizeof shapes / sizeof shapes[0], WORKLOADS = 5 };

static const uint8_t data[4096] = {1, 2, 3};

static int put(struct fffs *fs, const char *name, uint32_t size)
{
    static uint8_t buffer[256];
    struct fffs_file file;
    int status;

    memset(&file, 0, sizeof file);
    status = fffs_open(fs, &file, name, FFFS_WRITE | FFFS_CREATE | FFFS_TRUNCATE, buffer, sizeof buffer);
    if (status == FFFS_OK && fffs_write(fs, &file, data, size) != (int32_t)size)
        status = FFFS_ERR_NO_SPACE;
    if (status == FFFS_OK)
        status = fffs_close(fs, &file);
    if (file.fs != NULL)
        (void)fffs_discard(fs, &file);
    return status;
}

/* Two files written in turn: many extents. */
static void interleave(struct fffs *fs, uint32_t pieces, uint32_t piece)
{
    static uint8_t buffers[2][64];
    struct fffs_file files[2];
    uint32_t i, f;

    memset(files, 0, sizeof files);
    for (f = 0; f < 2; f++)
        (void)fffs_open(fs, &files[f], f == 0 ? "many/a" : "many/b", FFFS_WRITE | FFFS_CREATE | FFFS_TRUNCATE, buffers[f],
                        sizeof buffers[f]);
    for (i = 0; i < pieces; i++)
        for (f = 0; f < 2; f++)
            (void)fffs_write(fs, &files[f], data, piece);
    for (f = 0; f < 2; f++)
        if (fffs_close(fs, &files[f]) != FFFS_OK)
            (void)fffs_discard(fs, &files[f]);
}

static void work(struct fffs *fs, const struct shape *shape, int workload)
{
    uint32_t unit = shape->size / 64u, i;
    char name[32];

    (void)put(fs, "hello.txt", 20);
    (void)put(fs, "a/empty", 0);
    if (workload == 1) {
        (void)put(fs, "a/b/c", unit);
        (void)put(fs, "hello.txt", 30);
        (void)fffs_delete(fs, "a/empty");
    } else if (workload == 2) {
        interleave(fs, 6, 80);
        interleave(fs, 10, 70);
        (void)fffs_delete(fs, "many/b");
    } else if (workload >= 3) {
        for (i = 0; i < 60; i++) {
            sprintf(name, i % 3 == 0 ? "a/%u" : "f%u", (unsigned)(i % 7));
            if (i % 9 == 8)
                (void)fffs_delete(fs, name);
            else
                (void)put(fs, name, unit * (i % 4u) + i);
            if (i % 10 == 4)
                (void)fffs_gc_step(fs, NULL, NULL);
        }
        (void)fffs_gc(fs);
        if (workload == 4)
            interleave(fs, 8, 65);
    }
}

static int save(const char *folder, int shape, int workload, const struct fuzz_options *options)
{
    char path[512];
    FILE *out;
    size_t used;

    memcpy(image, flash.bytes, options->size);
    used = fuzz_pack(options, image, packed, sizeof packed);
    snprintf(path, sizeof path, "%s/seed-%d-%d", folder, shape, workload);
    out = fopen(path, "wb");
    if (out == NULL || fwrite(packed, 1, used, out) != used || fclose(out) != 0) {
        perror(path);
        return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    int s, w;

    for (s = 0; s < SHAPES && argc > 1; s++)
        for (w = 0; w < WORKLOADS; w++) {
            const struct shape *shape = &shapes[s];
            struct fffs_format_options format;
            struct fuzz_options options;
            struct fuzz_volume volume;

            fuzz_flash_init(&flash, shape->size, 1u << shape->granule_shift, 256);
            memset(&format, 0, sizeof format);
            format.geometry.sector_bytes = shape->sector;
            format.geometry.segment_bytes = shape->segment;
            format.device_is_erased = w != 1;
            fuzz_volume_init(&volume, &flash.driver, 2, FFFS_SEGMENTS_MAX(shape->size, shape->segment));
            if (fffs_format(&volume.fs, &volume.config, &format) != FFFS_OK ||
                fffs_mount(&volume.fs, &volume.config) != FFFS_OK) {
                fprintf(stderr, "shape %d can not be formatted\n", s);
                return 1;
            }
            work(&volume.fs, shape, w);
            if ((s + w) % 3 != 0)
                (void)fffs_unmount(&volume.fs); /* else as after a power cut */
            fuzz_volume_free(&volume);
            memset(&options, 0, sizeof options);
            options.size = shape->size;
            options.granule_shift = shape->granule_shift;
            options.cache = (uint8_t)(s * 9 + w * 5);
            options.flags = (uint8_t)(w == 3 ? FFFS_MOUNT_LAZY_WEIGHTS : w == 2 ? FFFS_MOUNT_DEFER_RECOVERY : 0);
            options.seed = (uint32_t)(s * 1000 + w * 77);
            if (save(argv[1], s, w, &options) != 0)
                return 1;
        }
    return argc > 1 ? 0 : 2;
}

/* An image file in memory, as an emulated flash with a volume on it. Nothing reaches the file before image_save(). */
#ifndef IMAGE_H
#define IMAGE_H

#include "tool.h"

/* Beside the statuses of the library: the host's file could not be used (message printed). */
enum { IMAGE_HOST_ERROR = -1000 };

struct image {
    const char *path;           /* of the file; not owned */
    struct nor *nor;            /* exactly the volume's bytes */
    struct fffs fs;
    struct fffs_config config;
    struct fffs_geometry geometry;
    int mounted;
    uint8_t *tail;              /* what the file holds behind the volume; kept as it is */
    size_t tail_bytes;
};

/* How to make or measure a volume; zero means default. */
struct image_plan {
    uint32_t size_bytes;        /* the whole image; required */
    uint32_t granule_bytes;
    uint32_t block_offset_bytes; /* where the image will lie within a 64 KiB block of the chip */
    struct fffs_geometry geometry;
};

/* The bytes of a whole file, to be freed; NULL with the message printed. */
uint8_t *image_read_bytes(const char *path, uint32_t *count);
/* Reads a file and finds its volume; the geometry is taken from the image. FFFS_OK, or a status with the message printed
 * (image NULL then). The volume is not mounted. `model` is the time model of the emulated flash. */
int image_open(struct image **image, const char *path, int model);
/* A fresh volume in memory, not mounted. Statuses of fffs_format(), no message. */
int image_make(struct image **image, const char *path, const struct image_plan *plan);
/* The geometry image_make() would use. Same statuses. */
int image_plan_geometry(const struct image_plan *plan, struct fffs_geometry *geometry);
/* Mounts with buffers that fit the volume; `flags` as enum fffs_mount_flags. Prints no message. */
int image_mount(struct image *image, uint32_t flags);
/* image_open() and image_mount(), with messages. */
int image_open_mounted(struct image **image, const char *path, uint32_t flags);
/* Unmounts, then replaces the file in one step (a temporary file beside it, synced, renamed over it); on any error the
 * file stays as it was and the message is printed. FFFS_OK or a status. */
int image_save(struct image *image);
/* Releases everything. `image` may be NULL. */
void image_close(struct image *image);

/* Nanoseconds of emulated time since the counters were reset. */
uint64_t image_time_ns(const struct image *image);

/* What image_make() would mean by a plan without a sector size. */
uint32_t image_sector_bytes(const struct image_plan *plan);

#endif

/* Reads one file of a mounted image. A file that ends before the size its node tells counts as damaged. */
#include "reader.h"

#include <string.h>

enum { CHUNK_BYTES = 65536, FILE_BUFFER_BYTES = 4096 };

static int copy(struct image *image, struct fffs_file *reader, int (*take)(void *, const uint8_t *, size_t), void *context)
{
    static uint8_t chunk[CHUNK_BYTES];
    struct fffs_info info;
    uint32_t total = 0;
    int32_t got;
    int status = fffs_fstat(&image->fs, reader, &info);

    if (status != FFFS_OK)
        return status;
    while ((got = fffs_read(&image->fs, reader, chunk, CHUNK_BYTES)) > 0) {
        if (take(context, chunk, (size_t)got) != 0)
            return READER_STOPPED;
        total += (uint32_t)got;
    }
    if (got < 0)
        return (int)got;
    return total == info.size ? FFFS_OK : FFFS_ERR_CORRUPT;
}

int reader_copy(struct image *image, const char *name, int (*take)(void *context, const uint8_t *bytes, size_t count),
                void *context)
{
    static uint32_t buffer[FILE_BUFFER_BYTES / sizeof(uint32_t)];
    struct fffs_file reader;
    int status;

    memset(&reader, 0, sizeof reader);
    status = fffs_open(&image->fs, &reader, name, FFFS_READ, buffer, FILE_BUFFER_BYTES);
    if (status != FFFS_OK)
        return status;
    status = copy(image, &reader, take, context);
    (void)fffs_close(&image->fs, &reader);
    return status;
}

/* Flash access. Owns nothing; promises that no driver call leaves the volume or breaks the granule. */
#include "flash_io.h"

#include <string.h>
#include "bytes.h"
#include "crc32.h"

int fffs_corrupt(void)
{
    return FFFS_ERR_CORRUPT;
}

/* After an ECC report: granule by granule, so that only the torn ones read as zeros. */
static int read_granules(const struct fffs_flash *flash, uint32_t address, uint8_t *buffer, uint32_t bytes)
{
    while (bytes > 0) {
        uint32_t room = flash->granule_bytes - (address & (flash->granule_bytes - 1u));
        uint32_t part = fffs_min(room, bytes);
        int result = flash->read(flash->context, address, buffer, part);

        if (result == FFFS_FLASH_ECC)
            memset(buffer, 0, part);
        else if (result != FFFS_FLASH_OK)
            return FFFS_ERR_IO;
        address += part;
        buffer += part;
        bytes -= part;
    }
    return FFFS_OK;
}

int fffs_io_read_device(const struct fffs_flash *flash, uint32_t address, void *buffer, uint32_t bytes)
{
    int result;

    if (bytes > flash->size_bytes || address > flash->size_bytes - bytes)
        return fffs_corrupt();
    result = flash->read(flash->context, address, buffer, bytes);
    if (result == FFFS_FLASH_ECC)
        return read_granules(flash, address, (uint8_t *)buffer, bytes);
    return result == FFFS_FLASH_OK ? FFFS_OK : FFFS_ERR_IO;
}

static int in_volume(const struct fffs *fs, uint32_t address, uint32_t bytes)
{
    uint32_t size = fffs_volume_bytes(&fs->shape);
    return bytes <= size && address <= size - bytes;
}

int fffs_io_read(struct fffs *fs, uint32_t address, void *buffer, uint32_t bytes)
{
    if (!in_volume(fs, address, bytes))
        return fffs_corrupt();
    return fffs_io_read_device(fs->config->flash, address, buffer, bytes);
}

/* Compares bytes on flash with `data`, which is not in the scratch buffer, or with all ones when it is NULL. */
static int compare(struct fffs *fs, uint32_t address, const uint8_t *data, uint32_t bytes)
{
    uint8_t *buffer = (uint8_t *)fs->config->scratch;

    while (bytes > 0) {
        uint32_t part = fffs_min(fs->config->scratch_bytes, bytes);
        int status = fffs_io_read(fs, address, buffer, part);

        if (status != FFFS_OK)
            return status;
        if (data == NULL ? !fffs_all_ones(buffer, part) : memcmp(buffer, data, part) != 0)
            return FFFS_ERR_IO;
        address += part;
        bytes -= part;
        data = data == NULL ? NULL : data + part;
    }
    return FFFS_OK;
}

/* Reads back what was just programmed. What came from the scratch buffer is read over its source, in one call: the bytes
 * are the same again, unless the program went wrong. */
static int read_back(struct fffs *fs, uint32_t address, const uint8_t *data, uint32_t bytes)
{
    uint8_t *scratch = (uint8_t *)fs->config->scratch;
    uintptr_t inside = (uintptr_t)data - (uintptr_t)scratch;
    uint32_t crc;
    int status;

    if (inside >= fs->config->scratch_bytes)
        return compare(fs, address, data, bytes);
    crc = fffs_crc32(0, data, bytes);
    status = fffs_io_read(fs, address, scratch + inside, bytes);
    if (status == FFFS_OK && fffs_crc32(0, data, bytes) != crc)
        status = FFFS_ERR_IO;
    return status;
}

int fffs_io_program(struct fffs *fs, uint32_t address, const void *data, uint32_t bytes)
{
    const struct fffs_flash *flash = fs->config->flash;

    if (!in_volume(fs, address, bytes) || ((address | bytes) & (flash->granule_bytes - 1u)) != 0)
        return fffs_corrupt();
    if (flash->program(flash->context, address, data, bytes) != FFFS_FLASH_OK)
        return FFFS_ERR_IO;
    if ((fs->flags & FFFS_MOUNT_VERIFY) != 0)
        return read_back(fs, address, (const uint8_t *)data, bytes);
    return FFFS_OK;
}

int fffs_io_erase(struct fffs *fs, uint32_t address, uint32_t bytes)
{
    const struct fffs_flash *flash = fs->config->flash;

    if (!in_volume(fs, address, bytes) || ((address | bytes) & (((uint32_t)1 << fs->shape.sector_shift) - 1u)) != 0)
        return fffs_corrupt();
    fffs_io_progress(fs, 0, 0);
    if (flash->erase(flash->context, address, bytes) != FFFS_FLASH_OK)
        return FFFS_ERR_IO;
    if ((fs->flags & FFFS_MOUNT_VERIFY) == 0)
        return FFFS_OK;
    /* Data is appended from a segment's low end: an erase that did nothing shows there. One that did half its work shows
     * when what is programmed is read back. */
    if (address >= (uint32_t)fs->shape.first_sector << fs->shape.sector_shift)
        bytes = fffs_min(bytes, fffs_align_down(fs->config->scratch_bytes, flash->granule_bytes));
    if (flash->is_blank != NULL)
        return flash->is_blank(flash->context, address, bytes) == 1 ? FFFS_OK : FFFS_ERR_IO;
    return compare(fs, address, NULL, bytes);
}

int fffs_io_sync(struct fffs *fs)
{
    const struct fffs_flash *flash = fs->config->flash;

    if (flash->sync != NULL && flash->sync(flash->context) != FFFS_FLASH_OK)
        return FFFS_ERR_IO;
    return FFFS_OK;
}

int fffs_io_stride_is_blank(struct fffs *fs, uint32_t address, const uint8_t *known, uint32_t bytes)
{
    const struct fffs_flash *flash = fs->config->flash;

    if (fffs_all_ones(known, bytes))
        return 1;
    if (flash->is_blank == NULL)
        return 0;
    return flash->is_blank(flash->context, address, bytes) == 1;
}

enum fffs_stride fffs_io_decode(struct fffs *fs, uint32_t address, const uint8_t *bytes, struct fffs_record *record)
{
    uint32_t stride_bytes = (uint32_t)1 << fs->shape.stride_shift;
    enum fffs_stride kind = fffs_record_decode(bytes, stride_bytes, record);

    if (kind == FFFS_STRIDE_TORN && fffs_io_stride_is_blank(fs, address, bytes, stride_bytes) == 1)
        return FFFS_STRIDE_BLANK;
    return kind;
}

void fffs_io_progress(struct fffs *fs, uint32_t done, uint32_t total)
{
    if (fs->config->progress != NULL)
        fs->config->progress(fs->config->hook_context, done, total);
}

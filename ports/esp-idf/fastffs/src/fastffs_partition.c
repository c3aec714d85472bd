/* See fastffs_partition.h.
 *
 * esp_partition_erase_range() erases in 64 KiB blocks where the flash address and the length allow it, so both sizes are
 * declared, with the partition's offset within a block. Encrypted partitions take multiples of 16 bytes, and erased flash
 * does not read as ones through the decryption: blank is decided on the raw bytes. */
#include "fastffs_partition.h"

#include <string.h>

enum {
    BLOCK_BYTES = 65536,        /* erased by one command */
    ENCRYPTED_GRANULE = 16,
    PEEK_BYTES = 64             /* of a raw blank check, on the stack */
};

static const esp_partition_t *partition_of(void *context)
{
    return ((struct fastffs_partition *)context)->partition;
}

static int flash_read(void *context, uint32_t address, void *buffer, uint32_t bytes)
{
    return esp_partition_read(partition_of(context), address, buffer, bytes) == ESP_OK ? FFFS_FLASH_OK : -1;
}

static int flash_program(void *context, uint32_t address, const void *data, uint32_t bytes)
{
    return esp_partition_write(partition_of(context), address, data, bytes) == ESP_OK ? FFFS_FLASH_OK : -1;
}

static int flash_erase(void *context, uint32_t address, uint32_t bytes)
{
    return esp_partition_erase_range(partition_of(context), address, bytes) == ESP_OK ? FFFS_FLASH_OK : -1;
}

static int flash_is_blank(void *context, uint32_t address, uint32_t bytes)
{
    uint32_t words[PEEK_BYTES / 4], i;
    const uint8_t *raw = (const uint8_t *)words;

    while (bytes > 0) {
        uint32_t part = bytes < PEEK_BYTES ? bytes : PEEK_BYTES;

        if (esp_partition_read_raw(partition_of(context), address, words, part) != ESP_OK)
            return -1;
        for (i = 0; i < part; i++)
            if (raw[i] != 0xFF)
                return 0;
        address += part;
        bytes -= part;
    }
    return 1;
}

static const void *flash_map(void *context, uint32_t address, uint32_t bytes)
{
    const struct fastffs_partition *driver = context;

    if (driver->mapped == NULL || address > driver->partition->size || bytes > driver->partition->size - address)
        return NULL;
    return driver->mapped + address;
}

/* Costs for scheduling: typical of the flash chips on these modules, from data sheets. */
static void declare_costs(struct fffs_flash *flash)
{
    flash->erase_us[0] = 45000;
    flash->erase_us[1] = flash->erase_bytes[1] != 0 ? 150000 : 0;
    flash->program_call_us = 500;
    flash->program_byte_ns = 3600;
    flash->read_call_us = 60;
    flash->read_byte_ns = 150;
}

esp_err_t fastffs_partition_init(struct fastffs_partition *driver, const esp_partition_t *partition)
{
    struct fffs_flash *flash = &driver->flash;
    uint32_t unit = partition->erase_size;

    if (unit < 256 || unit > BLOCK_BYTES || (unit & (unit - 1u)) != 0 || partition->size % unit != 0)
        return ESP_ERR_NOT_SUPPORTED;
    memset(driver, 0, sizeof *driver);
    driver->partition = partition;
    flash->context = driver;
    flash->read = flash_read;
    flash->program = flash_program;
    flash->erase = flash_erase;
    flash->size_bytes = partition->size;
    flash->granule_bytes = partition->encrypted ? ENCRYPTED_GRANULE : 1;
    flash->is_blank = partition->encrypted ? flash_is_blank : NULL;
    flash->erase_bytes[0] = unit;
    flash->erase_bytes[1] = unit < BLOCK_BYTES ? BLOCK_BYTES : 0;
    flash->block_offset_bytes = partition->address % BLOCK_BYTES;
    declare_costs(flash);
    return ESP_OK;
}

esp_err_t fastffs_partition_map(struct fastffs_partition *driver)
{
    const void *mapped = NULL;
    esp_err_t err = esp_partition_mmap(driver->partition, 0, driver->partition->size, ESP_PARTITION_MMAP_DATA, &mapped,
                                       &driver->mapping);

    if (err != ESP_OK)
        return err;
    driver->mapped = mapped;
    driver->flash.map = flash_map;
    return ESP_OK;
}

void fastffs_partition_unmap(struct fastffs_partition *driver)
{
    if (driver->mapped == NULL)
        return;
    driver->flash.map = NULL;
    driver->mapped = NULL;
    esp_partition_munmap(driver->mapping);
}

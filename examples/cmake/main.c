/* What a user's program needs of an installed FASTFFS: the header and the library. The flash is 64 KiB of RAM. */
#include <stdio.h>
#include <string.h>
#include <fastffs/fastffs.h>

static unsigned char cells[65536];

static int read_cells(void *context, uint32_t address, void *buffer, uint32_t bytes)
{
    (void)context;
    memcpy(buffer, cells + address, bytes);
    return FFFS_FLASH_OK;
}

static int program_cells(void *context, uint32_t address, const void *data, uint32_t bytes)
{
    uint32_t i;

    (void)context;
    for (i = 0; i < bytes; i++)
        cells[address + i] &= ((const unsigned char *)data)[i];
    return FFFS_FLASH_OK;
}

static int erase_cells(void *context, uint32_t address, uint32_t bytes)
{
    (void)context;
    memset(cells + address, 0xFF, bytes);
    return FFFS_FLASH_OK;
}

int main(void)
{
    static uint32_t scratch[128];
    static uint16_t table[FFFS_SEGMENTS_MAX(65536, 4096)];
    static struct fffs fs;
    static struct fffs_file file;
    static unsigned char buffer[64];
    struct fffs_flash flash;
    struct fffs_config config;
    char text[16] = "";

    memset(&flash, 0, sizeof flash);
    memset(&config, 0, sizeof config);
    flash.read = read_cells;
    flash.program = program_cells;
    flash.erase = erase_cells;
    flash.size_bytes = sizeof cells;
    flash.granule_bytes = 1;
    flash.erase_bytes[0] = 4096;
    config.flash = &flash;
    config.scratch = scratch;
    config.scratch_bytes = sizeof scratch;
    config.segment_table = table;
    config.segment_table_entries = sizeof table / sizeof table[0];
    if (fffs_format(&fs, &config, NULL) != FFFS_OK || fffs_mount(&fs, &config) != FFFS_OK)
        return 1;
    if (fffs_open(&fs, &file, "name", FFFS_WRITE | FFFS_CREATE, buffer, sizeof buffer) != FFFS_OK ||
        fffs_write(&fs, &file, "hello", 5) != 5 || fffs_close(&fs, &file) != FFFS_OK)
        return 2;
    if (fffs_open(&fs, &file, "name", FFFS_READ, buffer, sizeof buffer) != FFFS_OK ||
        fffs_read(&fs, &file, text, 15) != 5 || fffs_close(&fs, &file) != FFFS_OK)
        return 3;
    printf("%s, names up to %u bytes\n", text, (unsigned)FFFS_NAME_MAX);
    return fffs_unmount(&fs) == FFFS_OK ? 0 : 4;
}

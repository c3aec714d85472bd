#include <stdio.h>
#include "emulator/nor.h"      /* on a board: your own struct fffs_flash instead */
#include "fastffs/fastffs.h"

static struct fffs fs;         /* all memory is the caller's; nothing is allocated */
static struct fffs_file file;
static uint32_t scratch[128];
static uint16_t segments[FFFS_SEGMENTS_MAX(1048576, 4096)];
static uint8_t buffer[256];
static char text[32];

int main(void)
{
    struct nor_config chip = { .size_bytes = 1048576 };
    struct fffs_config config = {
        .flash = nor_flash(nor_create(&chip)), .scratch = scratch, .scratch_bytes = sizeof scratch,
        .segment_table = segments, .segment_table_entries = sizeof segments / sizeof segments[0] };

    if (fffs_mount(&fs, &config) == FFFS_ERR_BLANK)
        if (fffs_format(&fs, &config, NULL) < 0 || fffs_mount(&fs, &config) < 0) return 1;
    if (fffs_open(&fs, &file, "hello.txt", FFFS_WRITE | FFFS_CREATE, buffer, sizeof buffer) < 0) return 1;
    fffs_write(&fs, &file, "Hello, flash!", 13);
    if (fffs_close(&fs, &file) < 0) return 1; /* the commit: from here on the file is there, whatever power does */

    if (fffs_open(&fs, &file, "hello.txt", FFFS_READ, buffer, sizeof buffer) < 0) return 1;
    fffs_read(&fs, &file, text, sizeof text - 1);
    puts(text);
    fffs_close(&fs, &file);
    return fffs_unmount(&fs);
}

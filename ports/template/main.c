/* First light: the self-test, then a volume with one file. ERASES THE PARTITION. */
#include "chip.h"
#include "fastffs/fastffs.h"
#include "main.h"
#include "port.h"
#include "selftest.h"

static struct fffs volume;
static struct fffs_file file;
static uint32_t scratch[128];
static uint16_t segments[FFFS_SEGMENTS_MAX(PARTITION_BYTES, ERASE_BYTES)];
static uint8_t file_buffer[256];

int first_light(void (*print)(const char *text), uint32_t (*now_us)(void))
{
    struct selftest test = { .flash = &port_flash, .print = print, .now_us = now_us, .erase_everything = 1 };
    struct fffs_config config = {
        .flash = &port_flash, .scratch = scratch, .scratch_bytes = sizeof scratch, .segment_table = segments,
        .segment_table_entries = sizeof segments / sizeof segments[0], .flags = FFFS_MOUNT_VERIFY };
    int status;

    if (selftest_run(&test) != 0)
        return 1;
    if ((status = fffs_format(&volume, &config, NULL)) < 0 || (status = fffs_mount(&volume, &config)) < 0 ||
        (status = fffs_open(&volume, &file, "hello", FFFS_WRITE | FFFS_CREATE, file_buffer, sizeof file_buffer)) < 0 ||
        (status = (int)fffs_write(&volume, &file, "Hello, flash!", 13)) < 0 ||
        (status = fffs_close(&volume, &file)) < 0 || (status = fffs_unmount(&volume)) < 0) {
        print("volume: ");
        print(fffs_status_name(status));
        print("\n");
        return 1;
    }
    print("volume: a file was written\n");
    return 0;
}

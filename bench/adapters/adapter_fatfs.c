/* FatFs under test, against its public API (ff.h, diskio.h): 4 KiB sectors, each rewritten by erase and program, no wear
 * levelling layer. ffconf.h must set FF_MAX_SS = FF_MIN_SS = 4096, FF_USE_MKFS 1, FF_USE_LFN 1 or 2 and FF_MAX_LFN at
 * least 24, FF_FS_NORTC 1.
 */
#include "bench/adapters/peers.h"

#include <stdlib.h>
#include <string.h>

#include "ff.h"
#include "diskio.h"

enum { SECTOR_BYTES = 4096 };

struct state {
    FATFS fs;
    FIL file;
};

static const struct fffs_flash *device; /* the disk functions have no context */

DSTATUS disk_initialize(BYTE drive)
{
    return drive == 0 ? 0 : STA_NOINIT;
}

DSTATUS disk_status(BYTE drive)
{
    return drive == 0 ? 0 : STA_NOINIT;
}

DRESULT disk_read(BYTE drive, BYTE *buffer, LBA_t sector, UINT count)
{
    (void)drive;
    return device->read(device->context, (uint32_t)sector * SECTOR_BYTES, buffer, count * SECTOR_BYTES) == 0 ? RES_OK
                                                                                                          : RES_ERROR;
}

DRESULT disk_write(BYTE drive, const BYTE *buffer, LBA_t sector, UINT count)
{
    uint32_t address = (uint32_t)sector * SECTOR_BYTES, bytes = count * SECTOR_BYTES;
    (void)drive;
    if (device->erase(device->context, address, bytes) != 0)
        return RES_ERROR;
    return device->program(device->context, address, buffer, bytes) == 0 ? RES_OK : RES_ERROR;
}

DRESULT disk_ioctl(BYTE drive, BYTE command, void *answer)
{
    (void)drive;
    if (command == GET_SECTOR_COUNT)
        *(LBA_t *)answer = device->size_bytes / SECTOR_BYTES;
    else if (command == GET_SECTOR_SIZE)
        *(WORD *)answer = SECTOR_BYTES;
    else if (command == GET_BLOCK_SIZE)
        *(DWORD *)answer = 1;
    else if (command != CTRL_SYNC)
        return RES_PARERR;
    return RES_OK;
}

static void *create(const struct fffs_flash *flash)
{
    device = flash;
    return calloc(1, sizeof(struct state));
}

static int format(void *self)
{
    static BYTE work[SECTOR_BYTES];
    MKFS_PARM options;
    (void)self;
    memset(&options, 0, sizeof options);
    options.fmt = FM_FAT | FM_SFD;
    options.n_fat = 2;
    options.n_root = 512;
    options.au_size = SECTOR_BYTES;
    return -(int)f_mkfs("", &options, work, sizeof work);
}

static int mount(void *self)
{
    return -(int)f_mount(&((struct state *)self)->fs, "", 1);
}

static int unmount(void *self)
{
    (void)self;
    return -(int)f_mount(NULL, "", 0);
}

static int open_read(void *self, const char *name)
{
    return -(int)f_open(&((struct state *)self)->file, name, FA_READ);
}

static int open_write(void *self, const char *name)
{
    return -(int)f_open(&((struct state *)self)->file, name, FA_WRITE | FA_CREATE_ALWAYS);
}

static int32_t size(void *self)
{
    return (int32_t)f_size(&((struct state *)self)->file);
}

static int32_t read_bytes(void *self, void *buffer, uint32_t bytes)
{
    UINT count = 0;
    FRESULT result = f_read(&((struct state *)self)->file, buffer, bytes, &count);
    return result == FR_OK ? (int32_t)count : -(int32_t)result;
}

/* A short count is the full disk. */
static int32_t write_bytes(void *self, const void *data, uint32_t bytes)
{
    UINT count = 0;
    FRESULT result = f_write(&((struct state *)self)->file, data, bytes, &count);
    return result == FR_OK ? (int32_t)count : -(int32_t)result;
}

static int seek(void *self, uint32_t offset)
{
    return -(int)f_lseek(&((struct state *)self)->file, offset);
}

static int close_file(void *self)
{
    return -(int)f_close(&((struct state *)self)->file);
}

static int remove_file(void *self, const char *name)
{
    (void)self;
    return -(int)f_unlink(name);
}

static int exists(void *self, const char *name)
{
    FILINFO info;
    (void)self;
    FRESULT result = f_stat(name, &info);
    return result == FR_OK ? 1 : result == FR_NO_FILE ? 0 : -(int)result;
}

static int list(void *self, bench_visit_fn visit, void *context)
{
    DIR dir;
    FILINFO info;
    (void)self;
    FRESULT result = f_opendir(&dir, "/");
    while (result == FR_OK && (result = f_readdir(&dir, &info)) == FR_OK && info.fname[0] != 0)
        if (visit(context, info.fname, (uint32_t)info.fsize) != 0)
            result = FR_INT_ERR;
    (void)f_closedir(&dir);
    return -(int)result;
}

static int space(void *self, struct bench_space *answer)
{
    FATFS *fs;
    DWORD clusters;
    (void)self;
    FRESULT result = f_getfree("", &clusters, &fs);
    if (result != FR_OK)
        return -(int)result;
    answer->capacity_bytes = (uint32_t)(fs->n_fatent - 2) * fs->csize * SECTOR_BYTES;
    answer->free_bytes = (uint32_t)clusters * fs->csize * SECTOR_BYTES;
    answer->index_bytes_per_file = 0;
    return 0;
}

static void memory(void *self, struct bench_memory *answer)
{
    (void)self;
    answer->base_bytes = sizeof(FATFS);
    answer->open_bytes = sizeof(FIL);
}

const struct peer adapter_fatfs_peer = { create };
const struct bench_fs adapter_fatfs_fs = {
    .name = "fatfs", .format = format, .mount = mount, .unmount = unmount, .open_read = open_read,
    .open_write = open_write, .size = size, .read = read_bytes, .write = write_bytes, .seek = seek,
    .close = close_file, .remove = remove_file, .exists = exists, .list = list, .space = space, .memory = memory
};

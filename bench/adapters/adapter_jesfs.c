/* JesFs under test, against its public API (jesfs.h). Its port layer speaks to the chip over SPI, so this adapter also is
 * a small SPI NOR chip: commands in, calls of the emulated flash out. Waits cost nothing here (row `jesfs-nowait`).
 */
#include "bench/adapters/peers.h"

#include <stdlib.h>
#include <string.h>

#include "jesfs.h"
#include "jesfs_int.h"

enum {
    READ_ID = 0x9F, READ_DATA = 0x03, PAGE_PROGRAM = 0x02, SECTOR_ERASE = 0x20, READ_STATUS = 0x05, WRITE_ENABLE = 0x06,
    BULK_ERASE = 0xC7, BULK_ERASE_2 = 0x60, SECTOR_BYTES = 4096, PAGE_BYTES = 256
};

struct state {
    struct jesfs_desc file;
    uint32_t position;
};

/* The chip: the port functions have no context. */
static const struct fffs_flash *device;
static struct { uint8_t bytes[4 + PAGE_BYTES]; uint32_t count; int write_enabled; } chip;

static uint32_t chip_address(void)
{
    return (uint32_t)chip.bytes[1] << 16 | (uint32_t)chip.bytes[2] << 8 | chip.bytes[3];
}

void sflash_wait_usec(uint32_t usec)
{
    (void)usec;
}

int16_t sflash_spi_init(void)
{
    return 0;
}

void sflash_spi_close(void)
{
}

void sflash_select(void)
{
    chip.count = 0;
}

void sflash_spi_write(const uint8_t *data, uint16_t bytes)
{
    uint32_t room = (uint32_t)sizeof chip.bytes - chip.count;
    uint32_t part = bytes < room ? bytes : room;
    memcpy(chip.bytes + chip.count, data, part);
    chip.count += part;
}

void sflash_spi_read(uint8_t *buffer, uint16_t bytes)
{
    memset(buffer, 0, bytes);
    if (chip.bytes[0] == READ_ID && bytes >= 3) {
        uint8_t density = 0;
        while ((1uL << density) < device->size_bytes)
            density++;
        buffer[0] = 0xC2;
        buffer[1] = 0x28;
        buffer[2] = density;
    } else if (chip.bytes[0] == READ_STATUS) {
        buffer[0] = chip.write_enabled ? 2 : 0;
    } else if (chip.bytes[0] == READ_DATA) {
        (void)device->read(device->context, chip_address(), buffer, bytes);
    }
}

/* The command takes effect when the chip is deselected. */
void sflash_deselect(void)
{
    uint8_t command = chip.count > 0 ? chip.bytes[0] : 0;
    uint32_t payload = chip.count > 4 ? chip.count - 4 : 0;
    chip.count = 0;
    if (command == WRITE_ENABLE)
        chip.write_enabled = 1;
    if (!chip.write_enabled)
        return;
    if (command == PAGE_PROGRAM && payload > 0)
        (void)device->program(device->context, chip_address(), chip.bytes + 4, payload);
    else if (command == SECTOR_ERASE)
        (void)device->erase(device->context, chip_address(), SECTOR_BYTES);
    else if (command == BULK_ERASE || command == BULK_ERASE_2)
        (void)device->erase(device->context, 0, device->size_bytes);
    else
        return;
    chip.write_enabled = 0;
}

uint32_t jesfs_time_get(void)
{
    return 1;
}

int16_t jesfs_supply_voltage_check(void)
{
    return 0;
}

static void *create(const struct fffs_flash *flash)
{
    device = flash;
    return calloc(1, sizeof(struct state));
}

static int format(void *self)
{
    (void)self;
    (void)jesfs_start(FS_START_NORMAL); /* reads the chip's identity; the volume does not exist yet */
    return jesfs_format(FS_FORMAT_SOFT);
}

static int mount(void *self)
{
    (void)self;
    return jesfs_start(FS_START_NORMAL);
}

static int unmount(void *self)
{
    (void)self;
    return jesfs_deepsleep();
}

static int open_read(void *self, const char *name)
{
    struct state *s = self;
    s->position = 0;
    return jesfs_open(&s->file, name, SF_OPEN_READ);
}

static int open_write(void *self, const char *name)
{
    return jesfs_open(&((struct state *)self)->file, name, SF_OPEN_CREATE | SF_OPEN_WRITE);
}

static int32_t size(void *self)
{
    return (int32_t)((struct state *)self)->file.file_len;
}

static int32_t read_bytes(void *self, void *buffer, uint32_t bytes)
{
    struct state *s = self;
    int32_t result = jesfs_read(&s->file, buffer, bytes);
    if (result > 0)
        s->position += (uint32_t)result;
    return result;
}

static int32_t write_bytes(void *self, const void *data, uint32_t bytes)
{
    int16_t result = jesfs_write(&((struct state *)self)->file, data, bytes);
    return result < 0 ? result : (int32_t)bytes;
}

/* The library can go back to the start and skip forward. */
static int seek(void *self, uint32_t offset)
{
    struct state *s = self;
    if (offset < s->position) {
        int16_t result = jesfs_rewind(&s->file);
        if (result < 0)
            return result;
        s->position = 0;
    }
    int32_t skipped = offset > s->position ? jesfs_read(&s->file, NULL, offset - s->position) : 0;
    s->position = offset;
    return skipped < 0 ? (int)skipped : 0;
}

static int close_file(void *self)
{
    return jesfs_close(&((struct state *)self)->file);
}

static int remove_file(void *self, const char *name)
{
    struct state *s = self;
    int16_t result = jesfs_open(&s->file, name, SF_OPEN_READ);
    return result < 0 ? result : jesfs_delete(&s->file);
}

static int exists(void *self, const char *name)
{
    (void)self;
    int16_t result = jesfs_notexists(name);
    return result == 0 ? 1 : result == JESFS_ERR_FILE_NOT_FOUND ? 0 : result;
}

static int list(void *self, bench_visit_fn visit, void *context)
{
    struct jesfs_stat info;
    (void)self;
    for (uint16_t i = 0;; i++) {
        int16_t flags = jesfs_info(&info, i);
        if (flags <= 0)
            return flags;
        if ((flags & FS_STAT_ACTIVE) != 0 && visit(context, info.fname, info.file_len) != 0)
            return -1;
    }
}

static int space(void *self, struct bench_space *answer)
{
    (void)self;
    answer->capacity_bytes = sflash_info.total_flash_size;
    answer->free_bytes = sflash_info.available_disk_size;
    answer->index_bytes_per_file = 0;
    return 0;
}

static void memory(void *self, struct bench_memory *answer)
{
    (void)self;
    answer->base_bytes = sizeof sflash_info;
    answer->open_bytes = sizeof(struct jesfs_desc);
}

const struct peer adapter_jesfs_peer = { create };
const struct bench_fs adapter_jesfs_fs = {
    .name = "jesfs", .format = format, .mount = mount, .unmount = unmount, .open_read = open_read,
    .open_write = open_write, .size = size, .read = read_bytes, .write = write_bytes, .seek = seek,
    .close = close_file, .remove = remove_file, .exists = exists, .list = list, .space = space, .memory = memory
};

/* Timing models of real chips.
 *
 * Owns: the constants, as published or fitted, and the arithmetic on them. Everything is in integer picoseconds or
 * nanoseconds, so that a time is the same on every host. The processor's own time is in no model.
 */
#include "nor_time.h"

enum { SMALL_ERASE_BYTES = 4096, HALF_BLOCK_BYTES = 32768, BLOCK_BYTES = 65536 };

/* An erase costs blank_ns, and data_ns more for each 4 KiB sector in it that held data. */
struct erase_cost { uint32_t blank_ns; uint32_t data_ns; };

struct model {
    uint32_t read_call_ns;
    uint32_t read_byte_ps;
    uint32_t program_call_ns;
    uint32_t program_page_ns;    /* each page touched */
    uint32_t program_byte_ps;
    struct erase_cost sector;    /* any erase unit up to 4 KiB */
    struct erase_cost half_block; /* aligned 32 KiB */
    struct erase_cost block;     /* aligned 64 KiB */
};

static const struct model models[] = {
    /* none */
    { 0, 0, 0, 0, 0, { 0, 0 }, { 0, 0 }, { 0, 0 } },
    /* esp32s3-fit: the reference, fitted to the board results of four filesystems */
    { 61700, 154000, 470000, 35000, 3600000, { 21200000, 11800000 }, { 24000000, 1670000 }, { 32500000, 1130000 } },
    /* w25q64: data sheet typicals, 40 MHz quad read; a page is a program call of the chip with 15 us around it */
    { 6000, 50000, 0, 65000, 1370000, { 45000000, 0 }, { 120000000, 0 }, { 150000000, 0 } },
    /* esp32s3: fitted to published partition timings */
    { 66000, 118700, 600000, 150000, 2930000, { 21200000, 0 }, { 24000000, 0 }, { 32500000, 0 } },
};

static const struct model *find_model(int model)
{
    if (model < 0 || (size_t)model >= sizeof models / sizeof models[0]) {
        return &models[NOR_TIME_NONE];
    }
    return &models[model];
}

uint64_t nor_time_read(int model, uint32_t bytes)
{
    const struct model *m = find_model(model);
    return m->read_call_ns + (uint64_t)m->read_byte_ps * bytes / 1000;
}

uint64_t nor_time_program(int model, uint32_t address, uint32_t bytes, uint32_t page_bytes)
{
    const struct model *m = find_model(model);
    uint64_t pages = 0;
    if (bytes > 0) {
        pages = ((uint64_t)address + bytes - 1) / page_bytes - address / page_bytes + 1;
    }
    return m->program_call_ns + pages * m->program_page_ns + (uint64_t)m->program_byte_ps * bytes / 1000;
}

static uint64_t price(const struct erase_cost *cost, uint64_t count, uint32_t sectors_with_data)
{
    return count * cost->blank_ns + (uint64_t)sectors_with_data * cost->data_ns;
}

uint64_t nor_time_erase(int model, uint32_t bytes, uint32_t sectors_with_data)
{
    const struct model *m = find_model(model);
    if (bytes >= BLOCK_BYTES) {
        return price(&m->block, bytes / BLOCK_BYTES, sectors_with_data);
    }
    if (bytes >= HALF_BLOCK_BYTES) {
        return price(&m->half_block, 1, sectors_with_data);
    }
    if (bytes >= SMALL_ERASE_BYTES) {
        return price(&m->sector, bytes / SMALL_ERASE_BYTES, sectors_with_data);
    }
    return price(&m->sector, 1, sectors_with_data);
}

int nor_time_needs_contents(int model)
{
    return find_model(model)->sector.data_ns != 0;
}

static uint16_t to_16(uint64_t value)
{
    return value > UINT16_MAX ? (uint16_t)UINT16_MAX : (uint16_t)value;
}

/* A program of n bytes at any alignment touches 1 + (n - 1) / page pages on average: the first is part of the call's
 * fixed cost, the others are spread over the bytes. */
void nor_time_declare(int model, uint32_t page_bytes, struct fffs_flash *flash)
{
    const struct model *m = find_model(model);
    for (int i = 0; i < FFFS_FLASH_ERASE_SIZES; i++) {
        uint32_t bytes = flash->erase_bytes[i];
        uint32_t sectors = bytes < SMALL_ERASE_BYTES ? 1 : bytes / SMALL_ERASE_BYTES;
        flash->erase_us[i] = bytes == 0 ? 0 : (uint32_t)(nor_time_erase(model, bytes, sectors) / 1000);
    }
    flash->program_call_us = to_16(((uint64_t)m->program_call_ns + m->program_page_ns + 500) / 1000);
    flash->program_byte_ns = to_16((m->program_byte_ps + (uint64_t)m->program_page_ns * 1000 / page_bytes + 500) / 1000);
    flash->read_call_us = to_16(((uint64_t)m->read_call_ns + 500) / 1000);
    flash->read_byte_ns = to_16(((uint64_t)m->read_byte_ps + 500) / 1000);
}

/* See spinor.h. */
#include "spinor.h"

#include <string.h>

enum { STATUS_BUSY = 1, STATUS_WRITE_ENABLED = 2, ERASE_4K = 4096, ERASE_32K = 32768, ERASE_64K = 65536 };
/* A status read takes at least 2 us on a 8 MHz bus; a 64 KiB erase takes 2 s at most. */
static const uint32_t POLL_LIMIT = 4000000u;

static const struct spinor_chip chips[] = {
    { "w25q80bl", 0xEF4014u, 1u << 20, 3, { 45000, 120000, 150000 }, 700 },
    { "w25q64", 0xEF4017u, 8u << 20, 3, { 45000, 120000, 150000 }, 400 },
    { "w25q256", 0xEF4019u, 32u << 20, 4, { 50000, 120000, 150000 }, 700 },
    { "mt25ql512ab", 0x20BA20u, 64u << 20, 4, { 50000, 100000, 150000 }, 120 },
    { "is25wp256", 0x9D7019u, 32u << 20, 4, { 70000, 100000, 150000 }, 200 }
};

/* ---- Commands ---- */

static void command(const struct spinor *nor, uint8_t code)
{
    const struct spinor_bus *bus = nor->bus;

    bus->select(bus->context, 1);
    bus->send(bus->context, &code, 1);
    bus->select(bus->context, 0);
}

/* Selects the chip and sends the command that fits its address width. The transaction stays open. */
static void begin(const struct spinor *nor, uint8_t code, uint8_t code_4b, uint32_t address)
{
    const struct spinor_bus *bus = nor->bus;
    uint8_t header[5];
    uint32_t at = 0;

    header[at++] = nor->chip->address_bytes == 4 ? code_4b : code;
    if (nor->chip->address_bytes == 4)
        header[at++] = (uint8_t)(address >> 24);
    header[at++] = (uint8_t)(address >> 16);
    header[at++] = (uint8_t)(address >> 8);
    header[at++] = (uint8_t)address;
    bus->select(bus->context, 1);
    bus->send(bus->context, header, at);
}

static uint8_t read_status(const struct spinor *nor)
{
    const struct spinor_bus *bus = nor->bus;
    uint8_t code = SPINOR_STATUS, status;

    bus->select(bus->context, 1);
    bus->send(bus->context, &code, 1);
    bus->receive(bus->context, &status, 1);
    bus->select(bus->context, 0);
    return status;
}

static int wait_ready(const struct spinor *nor)
{
    for (uint32_t polls = 0; polls < nor->poll_limit; polls++)
        if ((read_status(nor) & STATUS_BUSY) == 0)
            return SPINOR_OK;
    return SPINOR_TIMEOUT;
}

/* Before each page and each erase: the chip clears the latch when it is done with one. */
static int write_enable(const struct spinor *nor)
{
    command(nor, SPINOR_WRITE_ENABLE);
    return (read_status(nor) & STATUS_WRITE_ENABLED) != 0 ? SPINOR_OK : SPINOR_PROTECTED;
}

uint32_t spinor_read_id(const struct spinor_bus *bus)
{
    uint8_t code = SPINOR_ID, id[3];

    bus->select(bus->context, 1);
    bus->send(bus->context, &code, 1);
    bus->receive(bus->context, id, sizeof id);
    bus->select(bus->context, 0);
    return (uint32_t)id[0] << 16 | (uint32_t)id[1] << 8 | id[2];
}

/* ---- The three functions of the library's driver ---- */

static int in_range(const struct spinor *nor, uint32_t address, uint32_t bytes)
{
    return bytes <= nor->chip->size_bytes && address <= nor->chip->size_bytes - bytes;
}

static int read(void *context, uint32_t address, void *buffer, uint32_t bytes)
{
    const struct spinor *nor = context;

    if (!in_range(nor, address, bytes))
        return SPINOR_RANGE;
    if (nor->read_window) {
        memcpy(buffer, nor->window + address, bytes);
        return SPINOR_OK;
    }
    begin(nor, SPINOR_READ, SPINOR_READ_4B, address);
    nor->bus->receive(nor->bus->context, buffer, bytes);
    nor->bus->select(nor->bus->context, 0);
    return SPINOR_OK;
}

static int program_page(const struct spinor *nor, uint32_t address, const uint8_t *data, uint32_t bytes)
{
    int status = write_enable(nor);

    if (status != SPINOR_OK)
        return status;
    begin(nor, SPINOR_PROGRAM, SPINOR_PROGRAM_4B, address);
    nor->bus->send(nor->bus->context, data, bytes);
    nor->bus->select(nor->bus->context, 0);
    return wait_ready(nor);
}

/* Page by page, ascending: a page program that passes the page's end would go on at its start. */
static int program(void *context, uint32_t address, const void *data, uint32_t bytes)
{
    const struct spinor *nor = context;
    const uint8_t *at = data;

    if (!in_range(nor, address, bytes))
        return SPINOR_RANGE;
    while (bytes > 0) {
        uint32_t part = SPINOR_PAGE - (address & (SPINOR_PAGE - 1u));

        if (part > bytes)
            part = bytes;
        int status = program_page(nor, address, at, part);
        if (status != SPINOR_OK)
            return status;
        address += part;
        at += part;
        bytes -= part;
    }
    return SPINOR_OK;
}

/* The largest erase that begins at `address` and is within `bytes`. */
static uint32_t erase_once(const struct spinor *nor, uint32_t address, uint32_t bytes)
{
    if ((address & (ERASE_64K - 1u)) == 0 && bytes >= ERASE_64K) {
        begin(nor, SPINOR_ERASE_64K, SPINOR_ERASE_64K_4B, address);
        return ERASE_64K;
    }
    if ((address & (ERASE_32K - 1u)) == 0 && bytes >= ERASE_32K) {
        begin(nor, SPINOR_ERASE_32K, SPINOR_ERASE_32K_4B, address);
        return ERASE_32K;
    }
    begin(nor, SPINOR_ERASE_4K, SPINOR_ERASE_4K_4B, address);
    return ERASE_4K;
}

static int erase(void *context, uint32_t address, uint32_t bytes)
{
    const struct spinor *nor = context;

    if (!in_range(nor, address, bytes) || ((address | bytes) & (ERASE_4K - 1u)) != 0)
        return SPINOR_RANGE;
    while (bytes > 0) {
        int status = write_enable(nor);

        if (status != SPINOR_OK)
            return status;
        uint32_t done = erase_once(nor, address, bytes);
        nor->bus->select(nor->bus->context, 0);
        status = wait_ready(nor);
        if (status != SPINOR_OK)
            return status;
        address += done;
        bytes -= done;
    }
    return SPINOR_OK;
}

static const void *map(void *context, uint32_t address, uint32_t bytes)
{
    const struct spinor *nor = context;

    return nor->window != NULL && in_range(nor, address, bytes) ? nor->window + address : NULL;
}

/* ---- Identification ---- */

static void declare(struct spinor *nor)
{
    static const uint32_t sizes[FFFS_FLASH_ERASE_SIZES] = { ERASE_4K, ERASE_32K, ERASE_64K };
    const struct spinor_chip *chip = nor->chip;
    struct fffs_flash *flash = &nor->flash;

    memset(flash, 0, sizeof *flash);
    flash->read = read;
    flash->program = program;
    flash->erase = erase;
    flash->map = nor->window != NULL ? map : NULL;
    flash->context = nor;
    flash->size_bytes = chip->size_bytes;
    flash->granule_bytes = 1;
    memcpy(flash->erase_bytes, sizes, sizeof sizes);
    memcpy(flash->erase_us, chip->erase_us, sizeof chip->erase_us);
    flash->program_call_us = chip->page_us;
    flash->program_byte_ns = (uint16_t)(chip->page_us * 1000u / SPINOR_PAGE);
    flash->read_call_us = 5;
    flash->read_byte_ns = 200;   /* 40 MHz, one line */
}

int spinor_open(struct spinor *nor, const struct spinor_bus *bus, const uint8_t *window)
{
    uint32_t id = spinor_read_id(bus);

    memset(nor, 0, sizeof *nor);
    nor->bus = bus;
    nor->window = window;
    nor->poll_limit = POLL_LIMIT;
    for (uint32_t i = 0; i < sizeof chips / sizeof chips[0]; i++) {
        if (chips[i].id != id)
            continue;
        nor->chip = &chips[i];
        declare(nor);
        return wait_ready(nor); /* it may still erase what the power cut of a moment ago interrupted */
    }
    return SPINOR_UNKNOWN;
}

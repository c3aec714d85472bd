/* See cut_bus.h. The driver sends command and address in one piece, data in the next: the bus relies on that. */
#include "cut_bus.h"

#include <string.h>

enum { TORN_NOTHING = 0, TORN_ALL = 255, SECTOR = 4096 };

static int is_program(uint8_t code)
{
    return code == SPINOR_PROGRAM || code == SPINOR_PROGRAM_4B;
}

/* Bytes that the command erases, 0 for others. */
static uint32_t erase_bytes(uint8_t code)
{
    switch (code) {
    case SPINOR_ERASE_4K: case SPINOR_ERASE_4K_4B: return SECTOR;
    case SPINOR_ERASE_32K: case SPINOR_ERASE_32K_4B: return 8u * SECTOR;
    case SPINOR_ERASE_64K: case SPINOR_ERASE_64K_4B: return 16u * SECTOR;
    default: return 0;
    }
}

static void send_alone(const struct spinor_bus *bus, const uint8_t *bytes, uint32_t count)
{
    bus->select(bus->context, 1);
    bus->send(bus->context, bytes, count);
    bus->select(bus->context, 0);
}

/* A block erase that stopped on its way: some of the block's sectors are erased, as many as `torn` says. The chip is
 * write-enabled already, and a chip that clears the latch needs it again for each. */
static void erase_part(struct cut_bus *cut, uint32_t bytes)
{
    uint8_t enable = SPINOR_WRITE_ENABLE, header[5];
    uint32_t sectors = bytes / SECTOR * cut->torn / TORN_ALL;
    uint32_t low = cut->header_bytes - 1u;

    memcpy(header, cut->header, sizeof header);
    header[0] = cut->header_bytes == 5 ? SPINOR_ERASE_4K_4B : SPINOR_ERASE_4K;
    for (uint32_t i = 0; i < sectors; i++) {
        send_alone(cut->real, &enable, 1);
        send_alone(cut->real, header, cut->header_bytes);
        header[low - 1u] = (uint8_t)(header[low - 1u] + SECTOR / 256u); /* within a block no carry leaves this byte */
    }
}

static char kind_of(uint8_t code)
{
    switch (erase_bytes(code)) {
    case 0: return 'p';
    case SECTOR: return 's';
    case 8u * SECTOR: return 'h';
    default: return 'b';
    }
}

static void take_header(struct cut_bus *cut, const uint8_t *data, uint32_t bytes)
{
    cut->header_bytes = bytes < sizeof cut->header ? bytes : (uint32_t)sizeof cut->header;
    memcpy(cut->header, data, cut->header_bytes);
    if (!is_program(data[0]) && erase_bytes(data[0]) == 0)
        return;
    if (cut->operations < sizeof cut->kinds - 1u)
        cut->kinds[cut->operations] = kind_of(data[0]);
    cut->cutting = ++cut->operations == cut->at;
}

static void select(void *context, int on)
{
    struct cut_bus *cut = context;

    cut->real->select(cut->real->context, on);
    if (on) {
        cut->header_bytes = 0;
        return;
    }
    if (cut->cutting) /* all of it was done */
        cut->power_off();
}

static void send(void *context, const uint8_t *data, uint32_t bytes)
{
    struct cut_bus *cut = context;
    const struct spinor_bus *real = cut->real;
    int first = cut->header_bytes == 0;

    if (first)
        take_header(cut, data, bytes);
    if (!cut->cutting || cut->torn == TORN_ALL) {
        real->send(real->context, data, bytes);
        return;
    }
    if (first && is_program(data[0]) && cut->torn != TORN_NOTHING) {
        real->send(real->context, data, bytes);
        return;
    }
    if (!first)
        real->send(real->context, data, bytes * cut->torn / TORN_ALL);
    real->select(real->context, 0);
    if (first && cut->torn != TORN_NOTHING)
        erase_part(cut, erase_bytes(data[0]));
    cut->power_off();
}

static void receive(void *context, uint8_t *data, uint32_t bytes)
{
    struct cut_bus *cut = context;

    cut->real->receive(cut->real->context, data, bytes);
    if (cut->header_bytes == 1 && cut->header[0] == SPINOR_STATUS) {
        cut->status_reads++;
        if (cut->stay_busy)
            data[0] |= 1;
    }
}

void cut_bus_init(struct cut_bus *cut, const struct spinor_bus *real, void (*power_off)(void))
{
    memset(cut, 0, sizeof *cut);
    cut->bus.context = cut;
    cut->bus.select = select;
    cut->bus.send = send;
    cut->bus.receive = receive;
    cut->real = real;
    cut->power_off = power_off;
}

/* The smallest port: from the chip's commands to the driver contract of fffs_flash.h. Four things are done here that the
 * library does not do: adding the partition's offset, checking the range, splitting programs at pages, and choosing the
 * largest erase command. */
#include "port.h"

#include "chip.h"

static int is_inside(uint32_t address, uint32_t bytes)
{
    return address <= PARTITION_BYTES && bytes <= PARTITION_BYTES - address;
}

static int port_read(void *context, uint32_t address, void *buffer, uint32_t bytes)
{
    (void)context;
    return is_inside(address, bytes) ? chip_read(PARTITION_OFFSET + address, buffer, bytes) : 1;
}

static int port_program(void *context, uint32_t address, const void *data, uint32_t bytes)
{
    const uint8_t *from = data;
    int error = !is_inside(address, bytes);

    (void)context;
    while (error == 0 && bytes > 0) {
        uint32_t at = PARTITION_OFFSET + address, part = PAGE_BYTES - at % PAGE_BYTES;

        if (part > bytes)
            part = bytes;
        error = chip_program_page(at, from, part);
        address += part;
        from += part;
        bytes -= part;
    }
    return error;
}

static int port_erase(void *context, uint32_t address, uint32_t bytes)
{
    int error = !is_inside(address, bytes);

    (void)context;
    while (error == 0 && bytes > 0) {
        uint32_t at = PARTITION_OFFSET + address, part = ERASE_BYTES;

        if (BLOCK_BYTES != 0 && at % BLOCK_BYTES == 0 && bytes >= BLOCK_BYTES) {
            part = BLOCK_BYTES;
            error = chip_erase_block(at);
        } else {
            error = chip_erase_small(at);
        }
        address += part;
        bytes -= part;
    }
    return error;
}

const struct fffs_flash port_flash = {
    .read = port_read,
    .program = port_program,
    .erase = port_erase,
    .size_bytes = PARTITION_BYTES,
    .granule_bytes = 1,
    .erase_bytes = { ERASE_BYTES, BLOCK_BYTES },
    .block_offset_bytes = BLOCK_BYTES != 0 ? PARTITION_OFFSET % BLOCK_BYTES : 0,
    .erase_us = { 45000, 150000 },     /* selftest.c measures these and prints what to put here */
    .program_call_us = 20,
    .program_byte_ns = 1600,
    .read_call_us = 5,
    .read_byte_ns = 100
};

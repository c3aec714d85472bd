/* Driver for SPI NOR flash: identification, read, page program, erase of 4, 32 and 64 KiB, write enable, status.
 *
 * Owns the commands and their order. The board gives the bus, and the window when the controller maps the flash into
 * memory. One chip per struct; not for use from two threads at once.
 */
#ifndef SPINOR_H
#define SPINOR_H

#include "fastffs/fffs_flash.h"

/* The bus: one transaction is select(1), any sends and receives, select(0). */
struct spinor_bus {
    void *context;
    void (*select)(void *context, int on);
    void (*send)(void *context, const uint8_t *data, uint32_t bytes);
    void (*receive)(void *context, uint8_t *data, uint32_t bytes);
};

struct spinor_chip {
    const char *name;
    uint32_t id;                 /* JEDEC: manufacturer, type, capacity */
    uint32_t size_bytes;
    uint8_t address_bytes;       /* 3, or 4: then the commands with a four-byte address are used */
    /* Typical times of the data sheet, which the filesystem schedules by. */
    uint32_t erase_us[FFFS_FLASH_ERASE_SIZES];
    uint16_t page_us;
};

enum spinor_status {
    SPINOR_OK = 0,
    SPINOR_TIMEOUT = -1,         /* the chip stayed busy for `poll_limit` status reads */
    SPINOR_PROTECTED = -2,       /* write enable had no effect */
    SPINOR_RANGE = -3,           /* outside the chip, or not aligned */
    SPINOR_UNKNOWN = -4          /* no chip, or one that is not in the table */
};

/* Commands that the power-cut bus has to know too. */
enum spinor_command {
    SPINOR_READ = 0x03, SPINOR_PROGRAM = 0x02, SPINOR_ERASE_4K = 0x20, SPINOR_ERASE_32K = 0x52, SPINOR_ERASE_64K = 0xD8,
    SPINOR_READ_4B = 0x13, SPINOR_PROGRAM_4B = 0x12, SPINOR_ERASE_4K_4B = 0x21, SPINOR_ERASE_32K_4B = 0x5C,
    SPINOR_ERASE_64K_4B = 0xDC, SPINOR_WRITE_ENABLE = 0x06, SPINOR_STATUS = 0x05, SPINOR_ID = 0x9F
};

enum { SPINOR_PAGE = 256 };

struct spinor {
    const struct spinor_bus *bus;
    const struct spinor_chip *chip;
    const uint8_t *window;       /* where the controller maps the flash for reading, or NULL */
    int read_window;             /* nonzero: reads copy from the window instead of sending a command */
    uint32_t poll_limit;         /* status reads before SPINOR_TIMEOUT */
    struct fffs_flash flash;     /* the driver for the library, filled by spinor_open() */
};

/* Identifies the chip and fills in everything. `window` may be NULL. */
int spinor_open(struct spinor *nor, const struct spinor_bus *bus, const uint8_t *window);
/* The chip's three identification bytes. */
uint32_t spinor_read_id(const struct spinor_bus *bus);

#endif

/* See board_spinor.h. */
#include "board_spinor.h"

#include <string.h>
#include "board.h"
#include "cut_bus.h"
#include "semihosting.h"
#include "volume.h"

static struct spinor nor;
static struct cut_bus cut;

static void power_off(void)
{
    board_exit(BOARD_CUT);
}

const struct fffs_flash *board_flash(void)
{
    board_spi_start();
    cut_bus_init(&cut, &board_spi, power_off);
    const struct spinor_bus *bus = argument_word("counts") ? &board_spi : &cut.bus; /* nothing between when counting */
    int status = spinor_open(&nor, bus, board_window);
    board_print("chip ");
    board_print(nor.chip != NULL ? nor.chip->name : "unknown");
    board_print(" id ");
    print_hex(spinor_read_id(bus), 6);
    board_print("\n");
    if (status != SPINOR_OK)
        return NULL;
    board_spi_map(nor.chip);
    nor.read_window = board_window != NULL && argument_word("mapped");
    return &nor.flash;
}

int board_cut_at(uint32_t operation, uint32_t torn)
{
    cut.operations = 0;
    memset(cut.kinds, 0, sizeof cut.kinds);
    cut.at = operation;
    cut.torn = torn;
    return 0;
}

void board_print_operations(void)
{
    board_print("operations ");
    board_print(cut.kinds);
    board_print("\n");
}

/* ---- The driver alone ---- */

enum { SECTOR = 4096, BLOCK = 65536 };
static uint8_t bytes[600];

#define EXPECT(condition) do { if (!(condition)) return __LINE__; } while (0)

static int all_are(uint32_t address, uint32_t count, uint8_t value)
{
    for (uint32_t done = 0; done < count; done += 256) {
        uint32_t part = count - done < 256 ? count - done : 256;
        if (nor.flash.read(&nor, address + done, bytes, part) != 0)
            return 0;
        for (uint32_t i = 0; i < part; i++)
            if (bytes[i] != value)
                return 0;
    }
    return 1;
}

static int put_byte(uint32_t address, uint8_t value)
{
    return nor.flash.program(&nor, address, &value, 1);
}

/* Everything in [at, at + size) is erased in `commands` erases, and nothing beside it. */
static int test_erase(uint32_t at, uint32_t size, uint32_t commands)
{
    EXPECT(put_byte(at - 1, 0) == 0 && put_byte(at, 0) == 0 && put_byte(at + size - 1, 0) == 0);
    EXPECT(put_byte(at + size, 0) == 0);
    uint32_t before = cut.operations;
    EXPECT(nor.flash.erase(&nor, at, size) == 0);
    EXPECT(cut.operations - before == commands);
    EXPECT(all_are(at, size, 0xFF) && all_are(at - 1, 1, 0) && all_are(at + size, 1, 0));
    return 0;
}

/* A program over page borders, from odd addresses on: each byte arrives, in as many page programs as pages. */
static int test_pages(void)
{
    EXPECT(nor.flash.erase(&nor, 0, BLOCK) == 0);
    for (uint32_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 7u);
    uint32_t before = cut.operations;
    EXPECT(nor.flash.program(&nor, 0x1F3, bytes, sizeof bytes) == 0);
    EXPECT(cut.operations - before == 4);  /* 13 + 256 + 256 + 75 */
    memset(bytes, 0, sizeof bytes);
    EXPECT(nor.flash.read(&nor, 0x1F3, bytes, sizeof bytes) == 0);
    for (uint32_t i = 0; i < sizeof bytes; i++)
        EXPECT(bytes[i] == (uint8_t)(i * 7u));
    EXPECT(all_are(0x1F2, 1, 0xFF) && all_are(0x1F3 + sizeof bytes, 1, 0xFF));
    return 0;
}

static int test_bounds(void)
{
    uint32_t size = nor.chip->size_bytes;

    EXPECT(nor.flash.read(&nor, size, bytes, 1) == SPINOR_RANGE && nor.flash.read(&nor, size - 1, bytes, 2) == SPINOR_RANGE);
    EXPECT(nor.flash.program(&nor, size - 1, bytes, 2) == SPINOR_RANGE);
    EXPECT(nor.flash.erase(&nor, 2048, SECTOR) == SPINOR_RANGE && nor.flash.erase(&nor, 0, 2048) == SPINOR_RANGE);
    EXPECT(nor.flash.erase(&nor, size, SECTOR) == SPINOR_RANGE);
    EXPECT(nor.flash.erase(&nor, size - SECTOR, SECTOR) == 0 && put_byte(size - 1, 0x5A) == 0);
    EXPECT(all_are(size - 1, 1, 0x5A) && nor.flash.erase(&nor, size - SECTOR, SECTOR) == 0);
    return 0;
}

/* A chip that stays busy ends as an error after the bound. */
static int test_timeout(void)
{
    uint32_t limit = nor.poll_limit;

    nor.poll_limit = 1000;
    cut.stay_busy = 1;
    cut.status_reads = 0;
    int programmed = put_byte(0x3000, 0), erased = nor.flash.erase(&nor, 0x3000, SECTOR);
    cut.stay_busy = 0;
    nor.poll_limit = limit;
    EXPECT(programmed == SPINOR_TIMEOUT && erased == SPINOR_TIMEOUT);
    EXPECT(cut.status_reads == 2u * (1u + 1000u)); /* one more each for the latch */
    return 0;
}

static int test_window(void)
{
    EXPECT(nor.flash.erase(&nor, 0, SECTOR) == 0);
    for (uint32_t i = 0; i < 300; i++)
        EXPECT(put_byte(i, (uint8_t)(i ^ 0x33u)) == 0);
    const uint8_t *mapped = nor.flash.map(&nor, 1, 299);
    EXPECT(mapped != NULL);
    for (uint32_t i = 1; i < 300; i++)
        EXPECT(mapped[i - 1] == (uint8_t)(i ^ 0x33u));
    EXPECT(put_byte(400, 0x77) == 0); /* a command in between: mapped reads go on */
    EXPECT(mapped[0] == (1u ^ 0x33u) && mapped[399] == 0x77);
    EXPECT(nor.flash.map(&nor, nor.chip->size_bytes, 1) == NULL);
    if (nor.chip->address_bytes == 4) { /* above what three address bytes reach */
        uint32_t high = nor.chip->size_bytes - SECTOR;
        EXPECT(nor.flash.erase(&nor, high, SECTOR) == 0 && put_byte(high + 5, 0x42) == 0);
        mapped = nor.flash.map(&nor, high, 16);
        EXPECT(mapped[5] == 0x42 && mapped[4] == 0xFF);
    }
    return 0;
}

int board_test_driver(void)
{
    static int (*const tests[])(void) = { test_pages, test_bounds, test_timeout };
    int line;

    for (unsigned i = 0; i < sizeof tests / sizeof tests[0]; i++)
        if ((line = tests[i]()) != 0)
            return line;
    EXPECT(nor.flash.erase(&nor, 0, 4u * BLOCK) == 0);
    if ((line = test_erase(BLOCK + SECTOR, SECTOR, 1)) != 0 || (line = test_erase(2u * BLOCK, BLOCK, 1)) != 0)
        return line;
    EXPECT(nor.flash.erase(&nor, 0, 4u * BLOCK) == 0);
    if ((line = test_erase(BLOCK / 2, BLOCK / 2, 1)) != 0)
        return line;
    EXPECT(nor.flash.erase(&nor, 0, 4u * BLOCK) == 0);
    if ((line = test_erase(BLOCK - 2u * SECTOR, BLOCK + BLOCK / 2 + 3u * SECTOR, 2 + 1 + 1 + 1)) != 0)
        return line;
    return nor.window != NULL ? test_window() : 0;
}

int board_break_rule(void)
{
    if (nor.flash.erase(&nor, 0, SECTOR) != 0 || put_byte(8, 0x0F) != 0)
        return -1;
    return put_byte(8, 0xF0);
}

/* ---- The rest of the board ---- */

int board_save(const char *path, uint32_t size)
{
    (void)path; /* the emulator keeps the chip in a file */
    (void)size;
    return 0;
}

void board_print(const char *text)
{
    semihosting_print(text);
}

void board_arguments(char *line, uint32_t size)
{
    semihosting_arguments(line, size);
}

/* The emulator writes the chip to its file when it gets to it, so the program does not end it: who reads this line does. */
void board_exit(enum board_status status)
{
    board_print("exit ");
    print_number((uint32_t)status);
    board_print("\n");
    for (;;)
        continue;
}

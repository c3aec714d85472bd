/* BBC micro:bit: Cortex-M0, on-chip flash of the nRF51 behind its controller: pages of 1 KiB, 32-bit words, mapped reads.
 * The program has the lower half of the flash, the volume the upper. */
#include <string.h>
#include "board.h"
#include "semihosting.h"
#include "volume.h"

#define REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))

enum {
    CONTROLLER = 0x4001E000, READY = CONTROLLER + 0x400, MODE = CONTROLLER + 0x504, ERASE_PAGE = CONTROLLER + 0x508,
    MODE_READ = 0, MODE_PROGRAM = 1, MODE_ERASE = 2,
    VOLUME_START = 0x20000, VOLUME_BYTES = 0x20000, PAGE = 1024, WORD = 4, READY_LIMIT = 1000000
};

/* 16 KiB of RAM in all: a small cache, and files of the baseline that fit into 128 KiB. */
static const struct adapter_fastffs_setup setup = { 256, 1024, 0, 64, 0, 256 };
static const struct board this_board = { "cortex-m0", &setup, 2000 };
const struct board *const board = &this_board;

/* ---- The driver ---- */

static int wait_ready(void)
{
    for (uint32_t turns = 0; turns < READY_LIMIT; turns++)
        if ((REGISTER(READY) & 1u) != 0)
            return 0;
    return -1;
}

static int in_range(uint32_t address, uint32_t bytes)
{
    return bytes <= VOLUME_BYTES && address <= VOLUME_BYTES - bytes;
}

static int read(void *context, uint32_t address, void *buffer, uint32_t bytes)
{
    (void)context;
    if (!in_range(address, bytes))
        return -1;
    memcpy(buffer, (const uint8_t *)(uintptr_t)(VOLUME_START + address), bytes);
    return 0;
}

static int program(void *context, uint32_t address, const void *data, uint32_t bytes)
{
    const uint8_t *from = data;
    int status = 0;

    (void)context;
    if (!in_range(address, bytes) || ((address | bytes) & (WORD - 1u)) != 0)
        return -1;
    REGISTER(MODE) = MODE_PROGRAM;
    for (uint32_t at = 0; at < bytes && status == 0; at += WORD) {
        uint32_t word;
        memcpy(&word, from + at, sizeof word); /* the data may lie anywhere, the flash takes whole words */
        REGISTER(VOLUME_START + address + at) = word;
        status = wait_ready();
    }
    REGISTER(MODE) = MODE_READ;
    return status;
}

static int erase(void *context, uint32_t address, uint32_t bytes)
{
    int status = 0;

    (void)context;
    if (!in_range(address, bytes) || ((address | bytes) & (PAGE - 1u)) != 0)
        return -1;
    REGISTER(MODE) = MODE_ERASE;
    for (uint32_t at = 0; at < bytes && status == 0; at += PAGE) {
        REGISTER(ERASE_PAGE) = VOLUME_START + address + at;
        status = wait_ready();
    }
    REGISTER(MODE) = MODE_READ;
    return status;
}

static const void *map(void *context, uint32_t address, uint32_t bytes)
{
    (void)context;
    return in_range(address, bytes) ? (const void *)(uintptr_t)(VOLUME_START + address) : NULL;
}

/* Times of the data sheet: 21 ms a page, 46 us a word. */
static const struct fffs_flash flash = {
    .read = read, .program = program, .erase = erase, .map = map, .size_bytes = VOLUME_BYTES, .granule_bytes = WORD,
    .erase_bytes = { PAGE }, .erase_us = { 21000 }, .program_byte_ns = 11500
};

const struct fffs_flash *board_flash(void)
{
    board_print("chip nrf51 page ");
    print_number(REGISTER(0x10000010)); /* the chip's own word for its page size */
    board_print("\n");
    return REGISTER(0x10000010) == PAGE ? &flash : NULL;
}

/* ---- Tests of the driver ---- */

#define EXPECT(condition) do { if (!(condition)) return __LINE__; } while (0)

static int all_are(uint32_t address, uint32_t bytes, uint8_t value)
{
    for (uint32_t i = 0; i < bytes; i++)
        if (((const uint8_t *)map(NULL, address, bytes))[i] != value)
            return 0;
    return 1;
}

int board_test_driver(void)
{
    static const uint32_t pattern[2] = { 0x12345678u, 0xF0F0FFFFu };
    static const uint8_t zeros[8];
    uint8_t bytes[13];
    uint32_t word;

    EXPECT(erase(NULL, 0, 4u * PAGE) == 0 && all_are(0, 4u * PAGE, 0xFF));
    for (uint32_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 19u);
    EXPECT(program(NULL, 1020, bytes + 1, 12) == 0); /* over a page's end, from an odd address */
    EXPECT(read(NULL, 1020, &word, 4) == 0 && memcmp(&word, bytes + 1, 4) == 0 && memcmp(map(NULL, 1024, 8), bytes + 5, 8) == 0);
    EXPECT(all_are(1016, 4, 0xFF) && all_are(1032, 4, 0xFF));
    EXPECT(program(NULL, 2048, &pattern[0], 4) == 0 && program(NULL, 2048, &pattern[1], 4) == 0);
    EXPECT(read(NULL, 2048, &word, 4) == 0 && word == (pattern[0] & pattern[1]));
    EXPECT(program(NULL, PAGE - 4u, zeros, 8) == 0 && program(NULL, 2u * PAGE - 4u, zeros, 8) == 0);
    EXPECT(erase(NULL, PAGE, PAGE) == 0 && all_are(PAGE, PAGE, 0xFF) && all_are(PAGE - 4u, 4, 0) && all_are(2u * PAGE, 4, 0));
    EXPECT(program(NULL, 2, zeros, 4) != 0 && program(NULL, 0, zeros, 2) != 0 && program(NULL, VOLUME_BYTES, zeros, 4) != 0);
    EXPECT(erase(NULL, 512, PAGE) != 0 && erase(NULL, 0, 512) != 0 && erase(NULL, VOLUME_BYTES, PAGE) != 0);
    EXPECT(read(NULL, VOLUME_BYTES - 1u, bytes, 2) != 0 && map(NULL, VOLUME_BYTES, 1) == NULL);
    REGISTER(VOLUME_START + 3072) = 0; /* without the controller's leave nothing happens */
    EXPECT(all_are(3072, 4, 0xFF));
    return 0;
}

int board_break_rule(void)
{
    return -1; /* this emulator's flash has no log of such programs */
}

int board_cut_at(uint32_t operation, uint32_t torn)
{
    (void)torn;
    return operation != 0;
}

void board_print_operations(void)
{
}

/* ---- The rest of the board ---- */

int board_save(const char *path, uint32_t bytes)
{
    return semihosting_save(path, (const void *)VOLUME_START, bytes);
}

void board_print(const char *text)
{
    semihosting_print(text);
}

void board_arguments(char *line, uint32_t size)
{
    semihosting_arguments(line, size);
}

void board_exit(enum board_status status)
{
    board_print("exit ");
    print_number((uint32_t)status);
    board_print("\n");
    semihosting_exit((int)status);
}

/* ---- Start ---- */

int board_program(void);
void reset(void);
extern uint32_t stack_top, data_load, data_start, data_end, bss_start, bss_end;

void reset(void)
{
    const uint32_t *from = &data_load;

    for (uint32_t *to = &data_start; to < &data_end; to++)
        *to = *from++;
    for (uint32_t *to = &bss_start; to < &bss_end; to++)
        *to = 0;
    board_program();
    board_exit(BOARD_FAILED);
}

/* Every exception. */
static void fault(void)
{
    board_print("fault\n");
    board_exit(BOARD_FAILED);
}

struct vectors {
    const void *stack;
    void (*handlers[15])(void);
};

__attribute__((section(".vectors"), used)) static const struct vectors vectors = {
    &stack_top, { reset, fault, fault }
};

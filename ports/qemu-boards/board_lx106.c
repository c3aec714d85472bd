/* Xtensa lx106, the core of the ESP8266, in QEMU's simulation machine. It has no flash, so RAM stands for it, with the
 * rules of flash. Output and files go through the simulator's calls. */
#include <string.h>
#include "board.h"
#include "volume.h"

enum {
    CALL_EXIT = 1, CALL_WRITE = 4, CALL_OPEN = 5, CALL_CLOSE = 6, CALL_ARGUMENT_COUNT = 1000, CALL_ARGUMENTS_SIZE = 1001,
    CALL_ARGUMENTS = 1002, OPEN_WRITE = 1, OPEN_CREATE = 0x100, OPEN_TRUNCATE = 0x200, FLASH_BYTES = 2 << 20,
    SECTOR = 4096, BLOCK = 65536
};

static const struct board this_board = { "lx106", &adapter_fastffs_minimal, 0 };
const struct board *const board = &this_board;
static uint8_t cells[FLASH_BYTES];

static int call(int number, int a, int b, int c)
{
    register int a2 __asm__("a2") = number;
    register int a3 __asm__("a3") = a;
    register int a4 __asm__("a4") = b;
    register int a5 __asm__("a5") = c;

    __asm__ volatile("simcall" : "+r"(a2), "+r"(a3) : "r"(a4), "r"(a5) : "memory");
    return a2;
}

/* ---- The flash ---- */

static int in_range(uint32_t address, uint32_t bytes)
{
    return bytes <= FLASH_BYTES && address <= FLASH_BYTES - bytes;
}

static int read(void *context, uint32_t address, void *buffer, uint32_t bytes)
{
    (void)context;
    if (!in_range(address, bytes))
        return -1;
    memcpy(buffer, cells + address, bytes);
    return 0;
}

/* Bits only clear, and a byte that is not blank may only be given what it holds. */
static int program(void *context, uint32_t address, const void *data, uint32_t bytes)
{
    const uint8_t *from = data;

    (void)context;
    if (!in_range(address, bytes))
        return -1;
    for (uint32_t i = 0; i < bytes; i++) {
        if (cells[address + i] != 0xFF && cells[address + i] != from[i]) {
            board_print("# a byte is programmed twice\n");
            return -1;
        }
        cells[address + i] &= from[i];
    }
    return 0;
}

static int erase(void *context, uint32_t address, uint32_t bytes)
{
    (void)context;
    if (!in_range(address, bytes) || ((address | bytes) & (SECTOR - 1u)) != 0)
        return -1;
    memset(cells + address, 0xFF, bytes);
    return 0;
}

static const void *map(void *context, uint32_t address, uint32_t bytes)
{
    (void)context;
    return in_range(address, bytes) ? cells + address : NULL;
}

static const struct fffs_flash flash = {
    .read = read, .program = program, .erase = erase, .map = map, .size_bytes = FLASH_BYTES, .granule_bytes = 1,
    .erase_bytes = { SECTOR, BLOCK }
};

const struct fffs_flash *board_flash(void)
{
    memset(cells, 0xFF, sizeof cells);
    board_print("chip RAM\n");
    return &flash;
}

/* ---- The rest of the board ---- */

/* The arguments follow a table of pointers to them. */
void board_arguments(char *line, uint32_t bytes)
{
    static char block[800];
    int count = call(CALL_ARGUMENT_COUNT, 0, 0, 0);
    char **arguments = (char **)(void *)block;
    uint32_t at = 0;

    line[0] = 0;
    if (call(CALL_ARGUMENTS_SIZE, 0, 0, 0) > (int)sizeof block)
        return;
    call(CALL_ARGUMENTS, (int)block, 0, 0);
    for (int i = 0; i < count; i++) {
        uint32_t length = (uint32_t)strlen(arguments[i]);
        if (at + length + 2u > bytes)
            return;
        if (at > 0)
            line[at++] = ' ';
        memcpy(line + at, arguments[i], length + 1u);
        at += length;
    }
}

void board_print(const char *text)
{
    call(CALL_WRITE, 1, (int)text, (int)strlen(text));
}

int board_save(const char *path, uint32_t bytes)
{
    int file = call(CALL_OPEN, (int)path, OPEN_WRITE | OPEN_CREATE | OPEN_TRUNCATE, 0644);

    if (file < 0)
        return -1;
    for (uint32_t at = 0; at < bytes; at += SECTOR)
        if (call(CALL_WRITE, file, (int)(cells + at), SECTOR) != SECTOR)
            return -1;
    return call(CALL_CLOSE, file, 0, 0);
}

void board_exit(enum board_status status)
{
    board_print("exit ");
    print_number((uint32_t)status);
    board_print("\n");
    for (;;)
        call(CALL_EXIT, (int)status, 0, 0);
}

int board_cut_at(uint32_t operation, uint32_t torn)
{
    (void)torn;
    return operation != 0;
}

void board_print_operations(void)
{
}

#define EXPECT(condition) do { if (!(condition)) return __LINE__; } while (0)

/* The stand-in keeps the rules: that is what the other programs rely on. */
int board_test_driver(void)
{
    static const uint8_t low[2] = { 0x0F, 0x00 }, high[2] = { 0xF0, 0x00 };
    uint8_t bytes[2];

    EXPECT(erase(NULL, 0, 2u * SECTOR) == 0 && program(NULL, SECTOR - 1u, low, 2) == 0);
    EXPECT(program(NULL, SECTOR - 1u, high, 1) != 0 && program(NULL, SECTOR - 1u, low, 2) == 0);
    EXPECT(erase(NULL, 0, SECTOR) == 0 && read(NULL, SECTOR - 1u, bytes, 2) == 0 && bytes[0] == 0xFF && bytes[1] == 0);
    EXPECT(erase(NULL, 1, SECTOR) != 0 && erase(NULL, FLASH_BYTES, SECTOR) != 0);
    EXPECT(program(NULL, FLASH_BYTES - 1u, low, 2) != 0 && read(NULL, FLASH_BYTES, bytes, 1) != 0);
    return 0;
}

int board_break_rule(void)
{
    return -1; /* nothing outside watches; the driver's test does it */
}

/* ---- Start ---- */

int board_program(void);
void start_c(void);
extern uint8_t bss_start[], bss_end[];

void start_c(void)
{
    memset(bss_start, 0, (size_t)(bss_end - bss_start));
    board_program();
    board_exit(BOARD_FAILED);
}

__asm__(".section .text.start, \"ax\"\n"
        ".globl _start\n"
        "_start: j 2f\n"
        ".balign 4\n"
        ".literal_position\n"
        ".literal stack_place, stack_top\n"
        "2:  l32r a1, stack_place\n"
        "    call0 start_c\n"
        "1:  j 1b\n"
        ".text\n");

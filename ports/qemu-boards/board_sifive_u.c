/* SiFive board: RV32, SPI NOR behind the SiFive SPI controller, read by commands only. */
#include "board.h"
#include "board_spinor.h"
#include "semihosting.h"

#define REGISTER(offset) (*(volatile uint32_t *)(uintptr_t)(0x10040000u + (offset)))

enum { SELECT_MODE = 0x18, SELECT_AUTO = 0, SELECT_HOLD = 2, TRANSMIT = 0x48, RECEIVE = 0x4C, FIFO_FLAG = 31 };

const uint8_t *const board_window = NULL;
static const struct board this_board = { "rv32", &adapter_fastffs_fast, 0 };
const struct board *const board = &this_board;

void board_spi_start(void)
{
    REGISTER(SELECT_MODE) = SELECT_AUTO;
}

void board_spi_map(const struct spinor_chip *chip)
{
    (void)chip;
}

static void select(void *context, int on)
{
    (void)context;
    REGISTER(SELECT_MODE) = on ? SELECT_HOLD : SELECT_AUTO;
}

/* One byte each way. The controller answers each byte sent, so neither loop waits for more than a byte's time. */
static uint8_t exchange(uint8_t byte)
{
    uint32_t answer;

    while (REGISTER(TRANSMIT) >> FIFO_FLAG != 0)
        continue;
    REGISTER(TRANSMIT) = byte;
    do
        answer = REGISTER(RECEIVE);
    while (answer >> FIFO_FLAG != 0);
    return (uint8_t)answer;
}

static void send(void *context, const uint8_t *data, uint32_t bytes)
{
    (void)context;
    while (bytes-- > 0)
        (void)exchange(*data++);
}

static void receive(void *context, uint8_t *data, uint32_t bytes)
{
    (void)context;
    while (bytes-- > 0)
        *data++ = exchange(0);
}

const struct spinor_bus board_spi = { NULL, select, send, receive };

/* ---- Start: hart 0 runs, the others sleep ---- */

int board_program(void);
void start_c(void);
void fault(void);

void start_c(void)
{
    board_program();
    board_exit(BOARD_FAILED);
}

void fault(void)
{
    board_print("fault\n");
    board_exit(BOARD_FAILED);
}

__asm__(".section .start, \"ax\"\n"
        ".option arch, +zicsr\n"
        ".globl _start\n"
        "_start:\n"
        "    csrr t0, mhartid\n"
        "    bnez t0, 3f\n"
        "    la   sp, stack_top\n"
        "    la   t0, bss_start\n"
        "    la   t1, bss_end\n"
        "1:  bgeu t0, t1, 2f\n"
        "    sw   x0, 0(t0)\n"
        "    addi t0, t0, 4\n"
        "    j    1b\n"
        "2:  la   t0, trap\n"
        "    csrw mtvec, t0\n"
        "    call start_c\n"
        "3:  wfi\n"
        "    j    3b\n"
        "    .balign 4\n"
        "trap: call fault\n"
        ".text\n");

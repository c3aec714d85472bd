/* Aspeed AST1030 evaluation board: Cortex-M4, SPI NOR behind the flash memory controller, which also maps it. */
#include "board.h"
#include "board_spinor.h"

#define REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))

enum { CONTROLLER = 0x7E620000, CONTROL_USER = 3, CONTROL_STOP = 4, CONTROL_COMMAND = 1, COMMAND_SHIFT = 16,
       FOUR_BYTE_ADDRESSES = 1 };
static volatile uint8_t *const window_bytes = (volatile uint8_t *)0x80000000u;
static volatile uint32_t *const window_words = (volatile uint32_t *)0x80000000u;
static uint32_t mapped_control = SPINOR_READ << COMMAND_SHIFT | CONTROL_COMMAND;

const uint8_t *const board_window = (const uint8_t *)0x80000000u;
static const struct board this_board = { "cortex-m4", &adapter_fastffs_default, 0 };
const struct board *const board = &this_board;

void board_spi_start(void)
{
    REGISTER(CONTROLLER) |= 1u << 16; /* chip 0: commands allowed */
}

void board_spi_map(const struct spinor_chip *chip)
{
    if (chip->address_bytes == 4) {
        REGISTER(CONTROLLER + 4) |= FOUR_BYTE_ADDRESSES;
        mapped_control = SPINOR_READ_4B << COMMAND_SHIFT | CONTROL_COMMAND;
    }
    REGISTER(CONTROLLER + 0x10) = mapped_control;
}

/* In user mode each access to the window is a transfer on the bus; outside of it the controller sends reads itself. */
static void select(void *context, int on)
{
    (void)context;
    REGISTER(CONTROLLER + 0x10) = on ? CONTROL_USER : CONTROL_USER | CONTROL_STOP;
    if (!on)
        REGISTER(CONTROLLER + 0x10) = mapped_control;
}

static void send(void *context, const uint8_t *data, uint32_t bytes)
{
    (void)context;
    for (; bytes > 0 && ((uintptr_t)data & 3u) != 0; bytes--)
        *window_bytes = *data++;
    for (; bytes >= 4; bytes -= 4, data += 4)
        *window_words = *(const uint32_t *)(const void *)data;
    while (bytes-- > 0)
        *window_bytes = *data++;
}

static void receive(void *context, uint8_t *data, uint32_t bytes)
{
    (void)context;
    for (; bytes > 0 && ((uintptr_t)data & 3u) != 0; bytes--)
        *data++ = *window_bytes;
    for (; bytes >= 4; bytes -= 4, data += 4)
        *(uint32_t *)(void *)data = *window_words;
    while (bytes-- > 0)
        *data++ = *window_bytes;
}

const struct spinor_bus board_spi = { NULL, select, send, receive };

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
    &stack_top, { reset, fault, fault, fault, fault, fault }
};

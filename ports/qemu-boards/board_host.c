/* The host as a board: the emulated flash, declared as the arguments say (a board prints them). Every flash rule is
 * enforced here, and the image must be the same byte for byte as the board's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "board.h"
#include "emulator/nor.h"
#include "volume.h"

static const struct board this_board = { "host", &adapter_fastffs_default, 0 };
const struct board *const board = &this_board;
static struct nor *nor;
static struct fffs_flash flash;
static int argument_count;
static char **argument_values;

int board_program(void);
int main(int argc, char **argv)
{
    argument_count = argc;
    argument_values = argv;
    return board_program();
}

void board_arguments(char *line, uint32_t bytes)
{
    line[0] = 0;
    for (int i = 0; i < argument_count; i++) {
        if (strlen(line) + strlen(argument_values[i]) + 2 > bytes) {
            fprintf(stderr, "arguments too long\n");
            exit(BOARD_FAILED);
        }
        strcat(strcat(line, argument_values[i]), i + 1 < argument_count ? " " : "");
    }
}

static uint16_t small_argument(const char *key)
{
    return (uint16_t)argument_number(key, 0);
}

const struct fffs_flash *board_flash(void)
{
    static const char *const erase[3] = { "erase0", "erase1", "erase2" }, *const us[3] = { "us0", "us1", "us2" };
    struct nor_config config;

    memset(&config, 0, sizeof config);
    config.size_bytes = argument_number("size", 1u << 20);
    config.granule_bytes = argument_number("granule", 1);
    for (int i = 0; i < FFFS_FLASH_ERASE_SIZES; i++)
        config.erase_bytes[i] = argument_number(erase[i], 0);
    nor = nor_create(&config);
    flash = *nor_flash(nor);
    for (int i = 0; i < FFFS_FLASH_ERASE_SIZES; i++) {
        flash.erase_bytes[i] = argument_number(erase[i], flash.erase_bytes[i]);
        flash.erase_us[i] = argument_number(us[i], 0);
    }
    flash.program_call_us = small_argument("program_us");
    flash.program_byte_ns = small_argument("program_ns");
    flash.read_call_us = small_argument("read_us");
    flash.read_byte_ns = small_argument("read_ns");
    return &flash;
}

void board_print(const char *text)
{
    fputs(text, stdout);
}

int board_save(const char *path, uint32_t bytes)
{
    char given[200];

    (void)path; /* only where the argument image= says */
    (void)bytes;
    return argument_text("image", given, sizeof given) ? nor_save(nor, given) : 0;
}

void board_exit(enum board_status status)
{
    exit((int)status);
}

int board_cut_at(uint32_t operation, uint32_t torn)
{
    (void)torn;
    return operation != 0;
}

void board_print_operations(void)
{
}

int board_test_driver(void)
{
    return __LINE__; /* the emulator has tests of its own */
}

int board_break_rule(void)
{
    return -1;
}

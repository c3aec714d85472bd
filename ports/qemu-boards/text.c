/* Numbers as text, without a C library's formatted output. */
#include "board.h"

void print_number(uint32_t value)
{
    char text[11], *at = text + sizeof text - 1;

    *at = 0;
    do {
        *--at = (char)('0' + (int)(value % 10u));
        value /= 10u;
    } while (value != 0);
    board_print(at);
}

void print_hex(uint32_t value, unsigned digits)
{
    char text[9];

    text[digits] = 0;
    for (unsigned i = digits; i-- > 0; value >>= 4)
        text[i] = "0123456789abcdef"[value & 15u];
    board_print(text);
}

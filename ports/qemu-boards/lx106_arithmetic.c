/* What the compiler calls for arithmetic that the lx106 has no instructions for. On an ESP8266 it is in the ROM, so the
 * compiler's library comes without. Names and meaning are those of GCC's library. */
#include <stdint.h>

uint32_t __udivsi3(uint32_t value, uint32_t by);
uint32_t __umodsi3(uint32_t value, uint32_t by);

static uint32_t divide(uint32_t value, uint32_t by, uint32_t *rest)
{
    uint32_t result = 0, left = 0;

    for (unsigned bit = 32; bit-- > 0; ) {
        uint32_t carry = left >> 31;
        left = left << 1 | (value >> bit & 1u);
        if (carry != 0 || left >= by) {
            left -= by;
            result |= (uint32_t)1 << bit;
        }
    }
    *rest = left;
    return result;
}

uint32_t __udivsi3(uint32_t value, uint32_t by)
{
    uint32_t rest;
    return divide(value, by, &rest);
}

uint32_t __umodsi3(uint32_t value, uint32_t by)
{
    uint32_t rest;
    (void)divide(value, by, &rest);
    return rest;
}

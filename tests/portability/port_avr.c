/* ATmega1284P: its first serial line; the simulator ends when the processor sleeps with interrupts off. */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/sleep.h>

#include "port.h"

void port_begin(void)
{
    UCSR0B = 1 << TXEN0;
}

void port_put(char character)
{
    while ((UCSR0A & 1 << UDRE0) == 0)
        ;
    UDR0 = (uint8_t)character;
}

int port_end(int status)
{
    cli();
    sleep_mode();
    return status;
}

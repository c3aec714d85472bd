/* What the boards with SPI NOR share: the driver under test behind the power-cut bus. */
#ifndef BOARD_SPINOR_H
#define BOARD_SPINOR_H

#include "spinor.h"

/* Given by the board: */
extern const struct spinor_bus board_spi;
extern const uint8_t *const board_window;  /* or NULL */
void board_spi_start(void);
/* The chip is known: the controller may now be set up for mapped reads. Called with every change of `spinor`. */
void board_spi_map(const struct spinor_chip *chip);

#endif

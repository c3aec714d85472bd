/* A bus between driver and chip that lets power go at one exact program or erase, and can pretend a chip that never gets
 * ready. For tests: nothing of it is needed in a port. */
#ifndef CUT_BUS_H
#define CUT_BUS_H

#include "spinor.h"

struct cut_bus {
    struct spinor_bus bus;       /* what the driver is given */
    const struct spinor_bus *real;
    void (*power_off)(void);     /* does not return */
    uint32_t at;                 /* program or erase number (from 1) that power goes in, 0: never */
    uint32_t torn;               /* what of it is done: 0 nothing, 255 all of it (but nobody is told), else a part of it */
    uint32_t operations;         /* programs and erases so far */
    char kinds[4001];            /* of the first ones, as text: p program, s, h, b erase of 4, 32, 64 KiB */
    int stay_busy;               /* nonzero: the status says busy for ever */
    uint32_t status_reads;
    /* The transaction under way. */
    uint8_t header[5];
    uint32_t header_bytes;
    uint32_t address_bytes;
    int cutting;
};

void cut_bus_init(struct cut_bus *cut, const struct spinor_bus *real, void (*power_off)(void));

#endif

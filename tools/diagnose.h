/* Where an address of a volume is, and what is wrong with an index that does not mount. */
#ifndef DIAGNOSE_H
#define DIAGNOSE_H

#include "image.h"

struct place {
    uint32_t sector;
    int in_index;
    uint32_t unit, stride;      /* in the index area */
    uint32_t segment;           /* in the data area */
};

/* The volume's layout as the headers on it tell; 0 when there is none. */
int diagnose_shape(struct image *image, struct fffs_shape *shape);
struct place diagnose_place(const struct fffs_shape *shape, uint32_t address);

/* Looks at every index unit by itself: `report` gets each damage with its first byte, its length (0: a place) and what it
 * is. */
void diagnose_index(struct image *image, const struct fffs_shape *shape,
                    void (*report)(void *context, uint32_t address, uint32_t bytes, const char *text), void *context);

#endif

/* Runs of flash with their owners: who has a byte of this range? */
#ifndef SPANS_H
#define SPANS_H

#include <stddef.h>
#include <stdint.h>

struct span {
    uint32_t low, high;
    size_t owner;
    uint32_t reach;             /* the largest `high` up to here ... */
    size_t farthest;            /* ... and whose it is */
};

struct spans {
    struct span *list;
    size_t count, room;
};

void spans_add(struct spans *spans, uint32_t low, uint32_t high, size_t owner);
/* After the last spans_add(), before the first question. */
void spans_sort(struct spans *spans);
/* An owner of a byte in low .. high - 1: 1, or 0 when there is none. */
int spans_find(const struct spans *spans, uint32_t low, uint32_t high, size_t *owner);
void spans_free(struct spans *spans);

#endif

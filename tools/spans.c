/* Runs of flash, sorted by their begin. Each knows the one before it that reaches farthest, so that a question takes one
 * binary search however the runs overlap. */
#include "spans.h"
#include "tool.h"

#include <stdlib.h>

void spans_add(struct spans *spans, uint32_t low, uint32_t high, size_t owner)
{
    if (spans->count == spans->room) {
        spans->room = spans->room * 2 + 64;
        spans->list = tool_resize(spans->list, spans->room * sizeof *spans->list);
    }
    spans->list[spans->count].low = low;
    spans->list[spans->count].high = high;
    spans->list[spans->count++].owner = owner;
}

static int by_low(const void *a, const void *b)
{
    const struct span *first = a, *second = b;

    if (first->low != second->low)
        return first->low < second->low ? -1 : 1;
    return first->owner < second->owner ? -1 : first->owner > second->owner;
}

void spans_sort(struct spans *spans)
{
    size_t i;

    if (spans->count > 0)
        qsort(spans->list, spans->count, sizeof *spans->list, by_low);
    for (i = 0; i < spans->count; i++) {
        struct span *span = &spans->list[i];
        int farther = i == 0 || span->high > span[-1].reach;

        span->reach = farther ? span->high : span[-1].reach;
        span->farthest = farther ? span->owner : span[-1].farthest;
    }
}

int spans_find(const struct spans *spans, uint32_t low, uint32_t high, size_t *owner)
{
    size_t from = 0, to = spans->count;

    while (from < to) { /* how many begin below `high` */
        size_t middle = from + (to - from) / 2;

        if (spans->list[middle].low < high)
            from = middle + 1;
        else
            to = middle;
    }
    if (from == 0 || spans->list[from - 1].reach <= low)
        return 0;
    *owner = spans->list[from - 1].farthest;
    return 1;
}

void spans_free(struct spans *spans)
{
    free(spans->list);
}

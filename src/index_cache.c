/* Ordered hash table over the caller's buffer. head 0 marks an empty cell. Loops are bounded by the number of cells. */
#include "index_cache.h"

#include <string.h>

static struct fffs_record *cells_of(const struct fffs *fs)
{
    return (struct fffs_record *)fs->config->cache;
}

/* slot * cells / 65536; a product of 16 and 17 bits fits 32 bits but for the last slots of the largest table. */
static uint32_t home_of(const struct fffs *fs, uint16_t slot)
{
    if (fs->cache_cells == 65536u)
        return slot;
    return ((uint32_t)slot * fs->cache_cells) >> 16;
}

static uint32_t distance(const struct fffs *fs, uint32_t cell, uint16_t slot)
{
    uint32_t home = home_of(fs, slot);
    return cell >= home ? cell - home : cell + fs->cache_cells - home;
}

static uint32_t next_cell(const struct fffs *fs, uint32_t cell)
{
    return cell + 1u == fs->cache_cells ? 0 : cell + 1u;
}

/* Whether the entry in `cell` comes at or behind the place of `slot`, which lies `from_home` cells behind its home. */
static int is_behind(const struct fffs *fs, uint32_t cell, uint16_t slot, uint32_t from_home)
{
    const struct fffs_record *entry = &cells_of(fs)[cell];
    uint32_t own = distance(fs, cell, entry->slot);

    return own < from_home || (own == from_home && entry->slot >= slot);
}

/* The cell where `slot` stands or would be inserted; cache_cells when the table is full of smaller ones. */
static uint32_t place_of(const struct fffs *fs, uint16_t slot)
{
    uint32_t cell = home_of(fs, slot), steps;

    for (steps = 0; steps < fs->cache_cells; steps++) {
        if (cells_of(fs)[cell].head == 0 || is_behind(fs, cell, slot, steps))
            return cell;
        cell = next_cell(fs, cell);
    }
    return fs->cache_cells;
}

void fffs_cache_clear(struct fffs *fs)
{
    if (fs->cache_cells > 0)
        memset(fs->config->cache, 0, (size_t)fs->cache_cells * sizeof(struct fffs_record));
    fs->cache_used = 0;
}

const struct fffs_record *fffs_cache_find(const struct fffs *fs, uint16_t slot)
{
    uint32_t cell = place_of(fs, slot);
    const struct fffs_record *entry;

    if (cell == fs->cache_cells)
        return NULL;
    entry = &cells_of(fs)[cell];
    return entry->head != 0 && entry->slot == slot ? entry : NULL;
}

int fffs_cache_put(struct fffs *fs, const struct fffs_record *record)
{
    struct fffs_record *cells = cells_of(fs);
    struct fffs_record carried = *record;
    uint32_t cell = place_of(fs, record->slot);

    if (cell < fs->cache_cells && cells[cell].head != 0 && cells[cell].slot == record->slot) {
        cells[cell] = *record;
        return 1;
    }
    if (fs->cache_used >= fs->cache_cells)
        return 0;
    /* Entries behind the place move up by one cell until an empty one takes the last. */
    while (cells[cell].head != 0) {
        struct fffs_record moved = cells[cell];

        cells[cell] = carried;
        carried = moved;
        cell = next_cell(fs, cell);
    }
    cells[cell] = carried;
    fs->cache_used++;
    return 1;
}

void fffs_cache_remove(struct fffs *fs, uint16_t slot)
{
    struct fffs_record *cells = cells_of(fs);
    uint32_t cell = place_of(fs, slot), steps;

    if (cell == fs->cache_cells || cells[cell].head == 0 || cells[cell].slot != slot)
        return;
    for (steps = 1; steps < fs->cache_cells; steps++) {
        uint32_t next = next_cell(fs, cell);

        if (cells[next].head == 0 || distance(fs, next, cells[next].slot) == 0)
            break;
        cells[cell] = cells[next];
        cell = next;
    }
    cells[cell].head = 0;
    fs->cache_used--;
}

const struct fffs_record *fffs_cache_next(const struct fffs *fs, uint16_t base, uint32_t from, uint32_t to)
{
    uint16_t first = (uint16_t)(base + from), last = (uint16_t)(base + to - 1u);
    uint32_t cell = place_of(fs, first), span, steps;

    if (cell == fs->cache_cells)
        cell = home_of(fs, first); /* full, and all are smaller in the order of this run: go round */
    span = distance(fs, home_of(fs, last), first);
    if (to - from > 32768u && span < fs->cache_cells / 2u)
        span = fs->cache_cells;
    for (steps = 0; steps < fs->cache_cells; steps++) {
        const struct fffs_record *entry = &cells_of(fs)[cell];
        uint32_t place = (uint16_t)(entry->slot - base);

        if (entry->head == 0) {
            if (steps > span)
                return NULL;
        } else {
            return place >= from && place < to ? entry : NULL;
        }
        cell = next_cell(fs, cell);
    }
    return NULL;
}

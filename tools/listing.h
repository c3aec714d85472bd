/* The names of a mounted image, sorted. */
#ifndef LISTING_H
#define LISTING_H

#include "image.h"

struct listing_entry {
    char *name;
    uint32_t size, stamp;
    int is_folder;
};

struct listing {
    struct listing_entry *entries;  /* by name, byte by byte */
    size_t count;
    uint64_t bytes;
    size_t unreadable;          /* names whose node is damaged: not among the entries */
};

/* All names that begin with `prefix`; with `folders` each folder below it once instead of its files. FFFS_OK or a
 * status, no message. */
int listing_read(struct listing *listing, struct image *image, const char *prefix, int folders);
void listing_free(struct listing *listing);
/* The entry of exactly this name, or NULL. */
const struct listing_entry *listing_find(const struct listing *listing, const char *name);
/* Marks in `chosen` (one byte per entry) what `name` means: the file of that name, or all files in that folder. Returns how
 * many. */
size_t listing_choose(const struct listing *listing, const char *name, unsigned char *chosen);

#endif

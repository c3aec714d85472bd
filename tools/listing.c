/* Reads the names of a mounted image into memory and sorts them: what is printed does not depend on the order of flash. */
#include "listing.h"

#include <stdlib.h>
#include <string.h>

static void add_entry(struct listing *listing, const struct fffs_info *info)
{
    struct listing_entry *entry;
    size_t count = listing->count;

    if ((count & (count - 1)) == 0)
        listing->entries = tool_resize(listing->entries, (count == 0 ? 1 : 2 * count) * sizeof *listing->entries);
    entry = &listing->entries[listing->count++];
    entry->name = tool_copy(info->name);
    entry->size = info->size;
    entry->stamp = info->stamp;
    entry->is_folder = info->is_folder;
    listing->bytes += info->size;
}

static int by_name(const void *left, const void *right)
{
    return strcmp(((const struct listing_entry *)left)->name, ((const struct listing_entry *)right)->name);
}

int listing_read(struct listing *listing, struct image *image, const char *prefix, int folders)
{
    struct fffs_dir dir;
    struct fffs_info info;
    int status;

    memset(listing, 0, sizeof *listing);
    memset(&dir, 0, sizeof dir);
    status = fffs_dir_open(&image->fs, &dir, prefix, folders ? '/' : '\0');
    if (status != FFFS_OK)
        return status;
    do {
        status = fffs_dir_read(&image->fs, &dir, &info);
        if (status == 1)
            add_entry(listing, &info);
        else if (status == FFFS_ERR_CORRUPT || status == FFFS_ERR_NAME_TOO_LONG)
            listing->unreadable++;
        /* One volume has at most 65,536 names: more damage than that is a listing that does not end. */
    } while (status == 1 || ((status == FFFS_ERR_CORRUPT || status == FFFS_ERR_NAME_TOO_LONG) &&
                             listing->unreadable <= 65536));
    (void)fffs_dir_close(&image->fs, &dir);
    if (listing->count > 0)
        qsort(listing->entries, listing->count, sizeof *listing->entries, by_name);
    return status;
}

void listing_free(struct listing *listing)
{
    size_t i;

    for (i = 0; i < listing->count; i++)
        free(listing->entries[i].name);
    free(listing->entries);
    memset(listing, 0, sizeof *listing);
}

const struct listing_entry *listing_find(const struct listing *listing, const char *name)
{
    size_t low = 0, high = listing->count, middle;
    int order;

    while (low < high) {
        middle = low + (high - low) / 2;
        order = strcmp(name, listing->entries[middle].name);
        if (order == 0)
            return &listing->entries[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

size_t listing_choose(const struct listing *listing, const char *name, unsigned char *chosen)
{
    const struct listing_entry *exact = listing_find(listing, name);
    size_t length = strlen(name), i, count = 0;

    if (exact != NULL) {
        chosen[exact - listing->entries] = 1;
        return 1;
    }
    for (i = 0; i < listing->count; i++) {
        const char *entry = listing->entries[i].name;

        if (length > 0 && strncmp(entry, name, length) == 0 && (name[length - 1] == '/' || entry[length] == '/')) {
            chosen[i] = 1;
            count++;
        }
    }
    return count;
}

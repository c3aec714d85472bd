/* Open handles. Owns the lists in struct fffs. A handle counts as open only while it is in its volume's list, so use after
 * close, double close and garbage in a handle are found without trusting the handle's own bytes. */
#include "handles.h"

#include "extents.h"

int fffs_file_is_open(const struct fffs *fs, const struct fffs_file *file)
{
    const struct fffs_file *at = fs->files;

    while (at != NULL && at != file)
        at = at->next;
    return at != NULL;
}

int fffs_dir_is_open(const struct fffs *fs, const struct fffs_dir *dir)
{
    const struct fffs_dir *at = fs->dirs;

    while (at != NULL && at != dir)
        at = at->next;
    return at != NULL;
}

void fffs_file_link(struct fffs *fs, struct fffs_file *file)
{
    file->fs = fs;
    file->next = fs->files;
    fs->files = file;
    if ((file->state & FFFS_FILE_WRITER) != 0)
        fs->writers++;
}

void fffs_file_unlink(struct fffs *fs, struct fffs_file *file)
{
    struct fffs_file **at = &fs->files;

    while (*at != file)
        at = &(*at)->next;
    *at = file->next;
    file->fs = NULL;
    if ((file->state & FFFS_FILE_WRITER) != 0)
        fs->writers--;
    if ((file->state & FFFS_FILE_BORROWED) != 0)
        fs->buffer_taken = 0;
}

void fffs_dir_link(struct fffs *fs, struct fffs_dir *dir)
{
    dir->fs = fs;
    dir->next = fs->dirs;
    fs->dirs = dir;
}

void fffs_dir_unlink(struct fffs *fs, struct fffs_dir *dir)
{
    struct fffs_dir **at = &fs->dirs;

    while (*at != dir)
        at = &(*at)->next;
    *at = dir->next;
    dir->fs = NULL;
}

static int overlaps(const void *a, uint32_t a_bytes, const void *b, uint32_t b_bytes)
{
    uintptr_t a_at = (uintptr_t)a, b_at = (uintptr_t)b;

    return b != NULL && a_at < b_at + b_bytes && b_at < a_at + a_bytes;
}

int fffs_buffer_in_use(const struct fffs *fs, const void *buffer, uint32_t bytes)
{
    const struct fffs_config *config = fs->config;
    const struct fffs_file *at;

    for (at = fs->files; at != NULL; at = at->next)
        if (overlaps(buffer, bytes, at->buffer, at->buffer_bytes))
            return 1;
    return overlaps(buffer, bytes, config->scratch, config->scratch_bytes) ||
           overlaps(buffer, bytes, config->segment_table, config->segment_table_entries * (uint32_t)sizeof(uint16_t)) ||
           overlaps(buffer, bytes, config->write_buffer, config->write_buffer_bytes) ||
           overlaps(buffer, bytes, config->cache, config->cache_bytes);
}

int fffs_handles_before_erase(struct fffs *fs, uint32_t low, uint32_t high)
{
    struct fffs_file *at;

    for (at = fs->files; at != NULL; at = at->next) {
        int uses;

        if ((at->state & (FFFS_FILE_WRITER | FFFS_FILE_LOST | FFFS_FILE_STALE)) != 0)
            continue;
        uses = fffs_record_uses(fs, &at->record, low, high);
        if (uses == FFFS_ERR_IO)
            return uses;
        if (uses != 0) /* used, or unreadable */
            at->state |= FFFS_FILE_LOST;
    }
    return FFFS_OK;
}

int fffs_handles_pin(struct fffs *fs, uint32_t low, uint32_t high)
{
    const struct fffs_file *at;

    for (at = fs->files; at != NULL; at = at->next) {
        int uses;

        if (!at->pinned)
            continue;
        uses = fffs_record_uses(fs, &at->record, low, high);
        if (uses != 0)
            return uses;
    }
    return 0;
}

void fffs_handles_follow(struct fffs *fs, const struct fffs_record *old, uint32_t stamp,
                         const struct fffs_record *record, uint32_t new_stamp)
{
    struct fffs_file *at;

    for (at = fs->files; at != NULL; at = at->next) {
        int same = at->record.head == old->head && at->record.off == old->off;

        /* A pinned reader of a place that collection has left holds on to that place. */
        if ((at->state & (FFFS_FILE_WRITER | FFFS_FILE_STALE)) != 0 || at->record.slot != old->slot ||
            at->of.reader.stamp != stamp || (at->pinned && !same))
            continue;
        at->record = *record;
        at->of.reader.stamp = new_stamp;
        at->state &= (uint8_t)~FFFS_FILE_LOST;
        at->fill = 0;
        at->u.read.start = at->u.read.end = 0;
    }
}

/* Open handles: the list of them, what they hold on flash, buffers and pins. */
#ifndef FFFS_HANDLES_H
#define FFFS_HANDLES_H

#include "volume.h"

/* struct fffs_file.state */
enum {
    FFFS_FILE_WRITER = 1,
    FFFS_FILE_LOST = 2,         /* reader: its version's place was erased or moved; attach again before the next read */
    FFFS_FILE_STALE = 4,        /* reader: its version is gone */
    FFFS_FILE_BORROWED = 8,     /* writer: has the volume's write buffer */
    FFFS_FILE_PLACED = 16       /* writer: a transaction has chosen its slot */
};

int fffs_file_is_open(const struct fffs *fs, const struct fffs_file *file);
int fffs_dir_is_open(const struct fffs *fs, const struct fffs_dir *dir);
void fffs_file_link(struct fffs *fs, struct fffs_file *file);
void fffs_file_unlink(struct fffs *fs, struct fffs_file *file);
void fffs_dir_link(struct fffs *fs, struct fffs_dir *dir);
void fffs_dir_unlink(struct fffs *fs, struct fffs_dir *dir);
/* Whether the bytes overlap a buffer of an open handle or of the volume. */
int fffs_buffer_in_use(const struct fffs *fs, const void *buffer, uint32_t bytes);
/* Marks the readers whose version uses addresses low .. high - 1, which are about to be erased. Reads their nodes. */
int fffs_handles_before_erase(struct fffs *fs, uint32_t low, uint32_t high);
/* The version that readers of `slot` with `stamp` hold goes on as another record: they follow it. */
void fffs_handles_follow(struct fffs *fs, const struct fffs_record *old, uint32_t stamp,
                         const struct fffs_record *record, uint32_t new_stamp);
/* Whether a reader that is used in place (pinned) uses addresses low .. high - 1; or an error. */
int fffs_handles_pin(struct fffs *fs, uint32_t low, uint32_t high);

#endif

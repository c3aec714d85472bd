/* A mounted volume as POSIX programs expect it: folders, files open at any offset, names that go on after unlink. Knows
 * nothing of FUSE. An open file is held in memory whole and committed as a new version by view_commit(). Calls return 0 or
 * a negative errno value. */
#ifndef VIEW_H
#define VIEW_H

#include "tool.h"

struct view_file {
    struct view_file *next;
    char *name;                 /* on the volume; NULL: deleted or replaced while open */
    uint8_t *data;
    size_t size, room;
    uint32_t stamp;             /* version last seen on the volume */
    unsigned references;
    int dirty;                  /* differs from the volume */
    long writer;                /* for the caller: process that wrote last, 0 none */
};

struct view {
    struct fffs *fs;
    const char *prefix;         /* in front of every name: "" or "/" */
    struct view_file *files;    /* open */
    char **folders;             /* made, or left by their last file: they last until the end of the mount */
    size_t folder_count;
};

struct view_info {
    int is_folder;
    uint64_t size;
    uint32_t stamp;             /* grows with every version: shown as the time of change */
};

enum { VIEW_CREATE = 1, VIEW_EXCLUSIVE = 2, VIEW_TRUNCATE = 4 };

/* The errno value, positive, of a status of the library; 0 for FFFS_OK. One table for all calls. */
int view_errno(int status);

void view_begin(struct view *view, struct fffs *fs, const char *prefix);
void view_end(struct view *view);

int view_stat(struct view *view, const char *path, struct view_info *info);
/* Calls `visit` for each entry of a folder, sorted, until it returns nonzero. */
int view_list(struct view *view, const char *path, int (*visit)(void *context, const char *name), void *context);
/* `flags` VIEW_. The same path opened twice is one file. */
int view_open(struct view *view, const char *path, unsigned flags, struct view_file **file);
void view_describe(const struct view_file *file, struct view_info *info);
int view_read(const struct view_file *file, void *buffer, size_t bytes, uint64_t offset);
int view_write(struct view *view, struct view_file *file, const void *data, size_t bytes, uint64_t offset);
int view_resize(struct view *view, struct view_file *file, uint64_t size);
/* Makes what was written the current version. */
int view_commit(struct view *view, struct view_file *file);
/* The opposite of view_open(); what was not committed is lost. */
void view_release(struct view *view, struct view_file *file);

int view_delete(struct view *view, const char *path);
/* A file: one atomic change. A folder: its files one after the other. `exclusive`: the new name must be free. */
int view_rename(struct view *view, const char *from, const char *to, int exclusive);
int view_make_folder(struct view *view, const char *path);
int view_remove_folder(struct view *view, const char *path);

#endif

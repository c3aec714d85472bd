/* The POSIX view. Owns the open files' bytes and the list of folders without files. Promises: the volume changes only in
 * view_commit(), view_delete() and view_rename(). */
#include "view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 1 << 20, BUFFER_BYTES = 4096 };
#define SIZE_LIMIT 0x7FFFFFFFuL

int view_errno(int status)
{
    switch (status) {
    case FFFS_OK: return 0;
    case FFFS_ERR_NOT_FOUND: return ENOENT;
    case FFFS_ERR_EXISTS: return EEXIST;
    case FFFS_ERR_NO_SPACE:
    case FFFS_ERR_COLLECT_FIRST:
    case FFFS_ERR_INDEX_FULL: return ENOSPC;
    case FFFS_ERR_BAD_NAME:
    case FFFS_ERR_INVALID: return EINVAL;
    case FFFS_ERR_NAME_TOO_LONG: return ENAMETOOLONG;
    case FFFS_ERR_BUSY: return EBUSY;
    case FFFS_ERR_NOT_OPEN:
    case FFFS_ERR_WRITE_ONLY: return EBADF;
    case FFFS_ERR_READ_ONLY: return EROFS;
    case FFFS_ERR_STALE: return ESTALE;
    case FFFS_ERR_NO_MEMORY: return ENOMEM;
    case FFFS_ERR_TOO_BIG: return EFBIG;
    case FFFS_ERR_UNSUPPORTED: return ENOTSUP;
    default: return EIO;
    }
}

void view_begin(struct view *view, struct fffs *fs, const char *prefix)
{
    memset(view, 0, sizeof *view);
    view->fs = fs;
    view->prefix = prefix;
}

static void free_file(struct view_file *file)
{
    free(file->name);
    free(file->data);
    free(file);
}

void view_end(struct view *view)
{
    size_t i;

    while (view->files != NULL) {
        struct view_file *file = view->files;

        view->files = file->next;
        free_file(file);
    }
    for (i = 0; i < view->folder_count; i++)
        free(view->folders[i]);
    free(view->folders);
}

/* ---- Names ---- */

/* The volume's name of a path, for a folder without the slash behind it. "" is the root. */
static int name_of(const struct view *view, const char *path, char *name)
{
    while (*path == '/')
        path++;
    if (strlen(view->prefix) + strlen(path) > FFFS_NAME_MAX)
        return -ENAMETOOLONG;
    strcpy(name, *path == '\0' ? "" : view->prefix);
    strcat(name, path);
    return 0;
}

/* Whether `name` stands in the folder, at any depth. */
static int is_inside(const char *name, const char *folder)
{
    size_t length = strlen(folder);

    return length == 0 || (strncmp(name, folder, length) == 0 && name[length] == '/');
}

static struct view_file *find_open(const struct view *view, const char *name)
{
    struct view_file *file = view->files;

    while (file != NULL && (file->name == NULL || strcmp(file->name, name) != 0))
        file = file->next;
    return file;
}

/* ---- Folders ---- */

static size_t find_folder(const struct view *view, const char *name)
{
    size_t i = 0;

    while (i < view->folder_count && strcmp(view->folders[i], name) != 0)
        i++;
    return i;
}

static void add_folder(struct view *view, const char *name)
{
    if (name[0] == '\0' || find_folder(view, name) < view->folder_count)
        return;
    view->folders = tool_resize(view->folders, (view->folder_count + 1) * sizeof *view->folders);
    view->folders[view->folder_count++] = tool_copy(name);
}

static void drop_folder(struct view *view, size_t number)
{
    free(view->folders[number]);
    view->folders[number] = view->folders[--view->folder_count];
}

/* The folder that `name` leaves stays, though it may be empty now. */
static void keep_parent(struct view *view, const char *name)
{
    char parent[FFFS_NAME_MAX + 1];
    char *slash;

    strcpy(parent, name);
    slash = strrchr(parent, '/');
    if (slash == NULL || (size_t)(slash - parent) < strlen(view->prefix))
        return;
    *slash = '\0';
    add_folder(view, parent);
}

/* Whether the volume has a file in the folder: 1, 0 or a negative errno. */
static int has_files(struct view *view, const char *folder)
{
    char prefix[FFFS_NAME_MAX + 2];
    struct fffs_dir dir;
    struct fffs_info info;
    int found;

    strcat(strcpy(prefix, folder), "/");
    if (strlen(prefix) > FFFS_NAME_MAX)
        return 0;
    memset(&dir, 0, sizeof dir);
    found = fffs_dir_open(view->fs, &dir, prefix, 0);
    if (found == FFFS_OK) {
        found = fffs_dir_read(view->fs, &dir, &info);
        (void)fffs_dir_close(view->fs, &dir);
    }
    if (found == FFFS_ERR_CORRUPT || found == FFFS_ERR_NAME_TOO_LONG)
        return 1; /* something is there; it can not be shown */
    return found < 0 ? -view_errno(found) : found;
}

/* Whether something is in the folder, on the volume or only in memory: 1, 0 or a negative errno. */
static int has_entries(struct view *view, const char *folder)
{
    const struct view_file *file;
    size_t i;

    for (file = view->files; file != NULL; file = file->next)
        if (file->name != NULL && is_inside(file->name, folder))
            return 1;
    for (i = 0; i < view->folder_count; i++)
        if (is_inside(view->folders[i], folder))
            return 1;
    return has_files(view, folder);
}

static int is_folder(struct view *view, const char *name)
{
    if (name[0] == '\0' || find_folder(view, name) < view->folder_count)
        return 1;
    return has_entries(view, name);
}

/* ---- Facts ---- */

void view_describe(const struct view_file *file, struct view_info *info)
{
    info->is_folder = 0;
    info->size = file->size;
    info->stamp = file->stamp + (file->dirty != 0);
}

int view_stat(struct view *view, const char *path, struct view_info *info)
{
    char name[FFFS_NAME_MAX + 1];
    struct fffs_info facts;
    const struct view_file *open;
    int status = name_of(view, path, name);

    if (status != 0)
        return status;
    memset(info, 0, sizeof *info);
    open = name[0] != '\0' ? find_open(view, name) : NULL;
    if (open != NULL) {
        view_describe(open, info);
        return 0;
    }
    if (name[0] != '\0') {
        status = fffs_stat(view->fs, name, &facts);
        if (status == FFFS_OK) {
            info->size = facts.size;
            info->stamp = facts.stamp;
            return 0;
        }
        if (status != FFFS_ERR_NOT_FOUND)
            return -view_errno(status);
    }
    status = is_folder(view, name);
    info->is_folder = 1;
    return status < 0 ? status : status == 1 ? 0 : -ENOENT;
}

/* ---- Listing ---- */

struct entries {
    char **names;
    size_t count;
};

/* Takes the part of `name` that is the entry of the folder whose names begin with `start` bytes. */
static void add_entry(struct entries *entries, const char *name, size_t start)
{
    const char *rest = name + start;
    size_t length = strcspn(rest, "/");
    char *entry;

    if (length == 0)
        return; /* "a//b": no path leads there */
    entry = tool_alloc(length + 1);
    memcpy(entry, rest, length);
    entry[length] = '\0';
    if (strcmp(entry, ".") == 0 || strcmp(entry, "..") == 0) {
        free(entry);
        return;
    }
    entries->names = tool_resize(entries->names, (entries->count + 1) * sizeof *entries->names);
    entries->names[entries->count++] = entry;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int list_volume(struct view *view, const char *prefix, struct entries *entries)
{
    struct fffs_dir dir;
    struct fffs_info info;
    int more = fffs_dir_open(view->fs, &dir, prefix, '/'), damaged = 0;

    if (more != FFFS_OK)
        return -view_errno(more);
    while ((more = fffs_dir_read(view->fs, &dir, &info)) != 0) {
        if (more == FFFS_ERR_CORRUPT && damaged++ < 65536)
            continue; /* that name can not be read; the others can */
        if (more < 0 && more != FFFS_ERR_NAME_TOO_LONG)
            break;
        if (more == 1)
            add_entry(entries, info.name, strlen(prefix));
    }
    (void)fffs_dir_close(view->fs, &dir);
    return more < 0 ? -view_errno(more) : 0;
}

int view_list(struct view *view, const char *path, int (*visit)(void *context, const char *name), void *context)
{
    char name[FFFS_NAME_MAX + 1], prefix[FFFS_NAME_MAX + 2];
    struct entries entries = { NULL, 0 };
    const struct view_file *file;
    size_t i;
    int status = name_of(view, path, name), stop = 0;

    if (status != 0)
        return status;
    if (name[0] == '\0')
        strcpy(prefix, view->prefix);
    else
        strcat(strcpy(prefix, name), "/");
    if (strlen(prefix) <= FFFS_NAME_MAX)
        status = list_volume(view, prefix, &entries);
    for (file = view->files; file != NULL; file = file->next)
        if (file->name != NULL && strncmp(file->name, prefix, strlen(prefix)) == 0)
            add_entry(&entries, file->name, strlen(prefix));
    for (i = 0; i < view->folder_count; i++)
        if (strncmp(view->folders[i], prefix, strlen(prefix)) == 0)
            add_entry(&entries, view->folders[i], strlen(prefix));
    if (entries.count > 0)
        qsort(entries.names, entries.count, sizeof *entries.names, compare_names);
    for (i = 0; i < entries.count; i++) {
        if (!stop && status == 0 && (i == 0 || strcmp(entries.names[i], entries.names[i - 1]) != 0))
            stop = visit(context, entries.names[i]);
    }
    for (i = 0; i < entries.count; i++)
        free(entries.names[i]);
    free(entries.names);
    return status;
}

/* ---- Open files ---- */

static int grow(struct view_file *file, size_t size)
{
    size_t room = file->room < 4096 ? 4096 : file->room;

    if (size <= file->room)
        return 0;
    while (room < size)
        room *= 2;
    file->data = tool_resize(file->data, room);
    file->room = room;
    return 0;
}

/* Reads the volume's version: 0, -ENOENT, or another error. */
static int load(struct view *view, struct view_file *file)
{
    static uint8_t buffer[BUFFER_BYTES];
    struct fffs_file handle;
    struct fffs_info info;
    int32_t got;
    int status;

    memset(&handle, 0, sizeof handle);
    status = fffs_open(view->fs, &handle, file->name, FFFS_READ, buffer, sizeof buffer);
    if (status != FFFS_OK)
        return -view_errno(status);
    status = fffs_fstat(view->fs, &handle, &info);
    if (status == FFFS_OK) {
        (void)grow(file, info.size);
        got = fffs_read(view->fs, &handle, file->data, info.size);
        status = got < 0 ? (int)got : (uint32_t)got == info.size ? FFFS_OK : FFFS_ERR_CORRUPT;
        file->size = info.size;
        file->stamp = info.stamp;
    }
    (void)fffs_close(view->fs, &handle);
    return -view_errno(status);
}

static int open_new(struct view *view, const char *name, unsigned flags, struct view_file **result)
{
    struct view_file *file = tool_alloc(sizeof *file);
    int status;

    memset(file, 0, sizeof *file);
    file->name = tool_copy(name);
    status = load(view, file);
    if (status == 0 && (flags & (VIEW_CREATE | VIEW_EXCLUSIVE)) == (VIEW_CREATE | VIEW_EXCLUSIVE))
        status = -EEXIST;
    if (status == -ENOENT && (flags & VIEW_CREATE) != 0) {
        file->dirty = 1;
        status = is_folder(view, name) == 1 ? -EISDIR : 0;
    } else if (status == -ENOENT && is_folder(view, name) == 1) {
        status = -EISDIR;
    }
    if (status != 0) {
        free_file(file);
        return status;
    }
    file->next = view->files;
    view->files = file;
    *result = file;
    return 0;
}

int view_open(struct view *view, const char *path, unsigned flags, struct view_file **result)
{
    char name[FFFS_NAME_MAX + 1];
    struct view_file *file;
    int status = name_of(view, path, name);

    if (status != 0)
        return status;
    if (name[0] == '\0')
        return -EISDIR;
    file = find_open(view, name);
    if (file == NULL) {
        status = open_new(view, name, flags, &file);
        if (status != 0)
            return status;
    } else if ((flags & (VIEW_CREATE | VIEW_EXCLUSIVE)) == (VIEW_CREATE | VIEW_EXCLUSIVE)) {
        return -EEXIST;
    }
    if ((flags & VIEW_TRUNCATE) != 0 && file->size > 0) {
        file->size = 0;
        file->dirty = 1;
    }
    file->references++;
    *result = file;
    return 0;
}

int view_read(const struct view_file *file, void *buffer, size_t bytes, uint64_t offset)
{
    if (offset >= file->size)
        return 0;
    if (bytes > file->size - offset)
        bytes = file->size - (size_t)offset;
    memcpy(buffer, file->data + offset, bytes);
    return (int)bytes;
}

/* Whether a version of that size fits the volume now: so that a program hears of it at the write, not at the close. */
static int check_size(struct view *view, const struct view_file *file, uint64_t size)
{
    struct fffs_space space;
    int status;

    if (size > SIZE_LIMIT)
        return -EFBIG;
    if (file->name == NULL || size <= file->size)
        return 0;
    status = fffs_space(view->fs, &space);
    if (status != FFFS_OK)
        return -view_errno(status);
    return size > space.writable_bytes + FFFS_NAME_MAX ? -ENOSPC : 0;
}

int view_resize(struct view *view, struct view_file *file, uint64_t size)
{
    int status = check_size(view, file, size);

    if (status != 0)
        return status;
    if (size != file->size)
        file->dirty = 1;
    if (size > file->size) {
        (void)grow(file, (size_t)size);
        memset(file->data + file->size, 0, (size_t)size - file->size);
    }
    file->size = (size_t)size;
    return 0;
}

int view_write(struct view *view, struct view_file *file, const void *data, size_t bytes, uint64_t offset)
{
    int status = offset > SIZE_LIMIT ? -EFBIG : 0;

    if (status == 0 && offset + bytes > file->size)
        status = view_resize(view, file, offset + bytes);
    if (status != 0)
        return status;
    memcpy(file->data + offset, data, bytes);
    file->dirty = 1;
    return (int)bytes;
}

int view_commit(struct view *view, struct view_file *file)
{
    static uint8_t buffer[BUFFER_BYTES];
    struct fffs_file handle;
    struct fffs_info info;
    size_t done = 0;
    int32_t put = 0;
    int status;

    if (!file->dirty || file->name == NULL)
        return 0;
    memset(&handle, 0, sizeof handle);
    status = fffs_open(view->fs, &handle, file->name, FFFS_WRITE | FFFS_CREATE | FFFS_TRUNCATE, buffer, sizeof buffer);
    if (status != FFFS_OK)
        return -view_errno(status);
    for (; done < file->size && put >= 0; done += (size_t)put) {
        size_t part = file->size - done < CHUNK_BYTES ? file->size - done : CHUNK_BYTES;

        put = fffs_write(view->fs, &handle, file->data + done, (uint32_t)part);
    }
    if (put < 0)
        (void)fffs_discard(view->fs, &handle);
    status = put < 0 ? (int)put : fffs_close(view->fs, &handle);
    if (status != FFFS_OK)
        return -view_errno(status);
    file->dirty = 0;
    if (fffs_stat(view->fs, file->name, &info) == FFFS_OK)
        file->stamp = info.stamp;
    return 0;
}

void view_release(struct view *view, struct view_file *file)
{
    struct view_file **at = &view->files;

    if (--file->references > 0)
        return;
    while (*at != file)
        at = &(*at)->next;
    *at = file->next;
    if (file->dirty && file->name != NULL)
        keep_parent(view, file->name); /* the file never came to be; its folder does not vanish */
    free_file(file);
}

/* An open file that no name leads to any more. */
static void detach(struct view_file *file)
{
    if (file == NULL)
        return;
    free(file->name);
    file->name = NULL;
}

/* ---- Changes of names ---- */

int view_delete(struct view *view, const char *path)
{
    char name[FFFS_NAME_MAX + 1];
    struct view_file *open;
    int status = name_of(view, path, name);

    if (status != 0 || name[0] == '\0')
        return status != 0 ? status : -EISDIR;
    open = find_open(view, name);
    status = fffs_delete(view->fs, name);
    if (status == FFFS_ERR_NOT_FOUND && open != NULL)
        status = FFFS_OK; /* it was only in memory */
    if (status == FFFS_ERR_NOT_FOUND && is_folder(view, name) == 1)
        return -EISDIR;
    if (status != FFFS_OK)
        return -view_errno(status);
    detach(open);
    keep_parent(view, name);
    return 0;
}

static int rename_file(struct view *view, const char *from, const char *to)
{
    struct view_file *open = find_open(view, from);
    int status = open != NULL ? view_commit(view, open) : 0;

    if (status == 0)
        status = -view_errno(fffs_rename(view->fs, from, to));
    if (status != 0 || strcmp(from, to) == 0)
        return status;
    detach(find_open(view, to));
    keep_parent(view, from);
    if (open != NULL) {
        struct fffs_info info;

        free(open->name);
        open->name = tool_copy(to);
        if (fffs_stat(view->fs, to, &info) == FFFS_OK)
            open->stamp = info.stamp;
    }
    return 0;
}

/* The names of all files in the folder, on the volume and in memory. */
static int collect_names(struct view *view, const char *folder, struct entries *names)
{
    char prefix[FFFS_NAME_MAX + 2];
    struct view_file *file;
    struct fffs_dir dir;
    struct fffs_info info;
    int more;

    for (file = view->files; file != NULL; file = file->next)
        if (file->name != NULL && is_inside(file->name, folder) && (more = view_commit(view, file)) != 0)
            return more;
    strcat(strcpy(prefix, folder), "/");
    more = strlen(prefix) > FFFS_NAME_MAX ? FFFS_ERR_NAME_TOO_LONG : fffs_dir_open(view->fs, &dir, prefix, 0);
    if (more != FFFS_OK)
        return -view_errno(more);
    while ((more = fffs_dir_read(view->fs, &dir, &info)) == 1) {
        names->names = tool_resize(names->names, (names->count + 1) * sizeof *names->names);
        names->names[names->count++] = tool_copy(info.name);
    }
    (void)fffs_dir_close(view->fs, &dir);
    return -view_errno(more);
}

/* `name`, which is in `from` or is it, moved to `to`. */
static int moved_name(const char *name, const char *from, const char *to, char *result)
{
    if (strlen(to) + strlen(name) - strlen(from) > FFFS_NAME_MAX)
        return -ENAMETOOLONG;
    strcat(strcpy(result, to), name + strlen(from));
    return 0;
}

static int rename_folder(struct view *view, const char *from, const char *to)
{
    struct entries names = { NULL, 0 };
    char moved[FFFS_NAME_MAX + 1];
    int status = is_inside(to, from) ? -EINVAL : has_entries(view, to);
    size_t i;

    status = status == 1 ? -ENOTEMPTY : status;
    if (status == 0)
        status = collect_names(view, from, &names);
    for (i = 0; i < names.count && status == 0; i++) /* no name must turn out too long half-way */
        status = moved_name(names.names[i], from, to, moved);
    for (i = 0; i < names.count && status == 0; i++) {
        (void)moved_name(names.names[i], from, to, moved);
        status = rename_file(view, names.names[i], moved);
    }
    for (i = 0; i < view->folder_count && status == 0; i++) {
        char *folder = view->folders[i];

        if ((strcmp(folder, from) == 0 || is_inside(folder, from)) && moved_name(folder, from, to, moved) == 0) {
            view->folders[i] = tool_copy(moved);
            free(folder);
        }
    }
    for (i = 0; i < names.count; i++)
        free(names.names[i]);
    free(names.names);
    if (status == 0) {
        add_folder(view, to);
        keep_parent(view, from);
    }
    return status;
}

int view_rename(struct view *view, const char *from_path, const char *to_path, int exclusive)
{
    char from[FFFS_NAME_MAX + 1], to[FFFS_NAME_MAX + 1];
    struct view_info old, new;
    int status = name_of(view, from_path, from), there;

    if (status == 0)
        status = name_of(view, to_path, to);
    if (status == 0)
        status = view_stat(view, from_path, &old);
    if (status != 0)
        return status;
    there = view_stat(view, to_path, &new);
    if (there != 0 && there != -ENOENT)
        return there;
    if (from[0] == '\0' || to[0] == '\0')
        return -EBUSY;
    if (there == 0 && exclusive)
        return -EEXIST;
    if (!old.is_folder)
        return there == 0 && new.is_folder ? -EISDIR : rename_file(view, from, to);
    if (there == 0 && !new.is_folder)
        return -ENOTDIR;
    return strcmp(from, to) == 0 ? 0 : rename_folder(view, from, to);
}

int view_make_folder(struct view *view, const char *path)
{
    char name[FFFS_NAME_MAX + 1];
    struct view_info info;
    int status = name_of(view, path, name);

    if (status != 0)
        return status;
    status = view_stat(view, path, &info);
    if (status != -ENOENT)
        return status == 0 ? -EEXIST : status;
    keep_parent(view, name);
    add_folder(view, name);
    return 0;
}

int view_remove_folder(struct view *view, const char *path)
{
    char name[FFFS_NAME_MAX + 1];
    struct view_info info;
    size_t number;
    int status = name_of(view, path, name);

    if (status == 0)
        status = view_stat(view, path, &info);
    if (status != 0)
        return status;
    if (!info.is_folder)
        return -ENOTDIR;
    status = name[0] == '\0' ? -EBUSY : has_entries(view, name);
    if (status != 0)
        return status == 1 ? -ENOTEMPTY : status;
    number = find_folder(view, name);
    keep_parent(view, name);
    if (number < view->folder_count)
        drop_folder(view, number);
    return 0;
}

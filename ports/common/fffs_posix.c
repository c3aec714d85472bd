/* See fffs_posix.h. */
#include "fffs_posix.h"

#include <errno.h>
#include <string.h>

enum { CREATES = FFFS_WRITE | FFFS_CREATE, REPLACES = FFFS_WRITE | FFFS_CREATE | FFFS_TRUNCATE, SIZE_MAX_BYTES = 0x7FFFFFFF };

/* ---- Errors ---- */

#ifndef ESTALE
#define ESTALE EIO
#endif
#ifndef ENODATA
#define ENODATA ENXIO
#endif
#ifndef EPROTO
#define EPROTO EINVAL
#endif
#ifndef EILSEQ
#define EILSEQ EINVAL
#endif

int fffs_posix_errno(int status)
{
    static const struct { int status, value; } table[] = {
        { FFFS_ERR_IO, EIO }, { FFFS_ERR_CORRUPT, EIO }, { FFFS_ERR_NOT_FOUND, ENOENT }, { FFFS_ERR_EXISTS, EEXIST },
        { FFFS_ERR_NO_SPACE, ENOSPC }, { FFFS_ERR_INDEX_FULL, ENOSPC }, { FFFS_ERR_COLLECT_FIRST, EAGAIN },
        { FFFS_ERR_BAD_NAME, EINVAL }, { FFFS_ERR_NAME_TOO_LONG, ENAMETOOLONG }, { FFFS_ERR_INVALID, EINVAL },
        { FFFS_ERR_BUSY, EBUSY }, { FFFS_ERR_NOT_OPEN, EBADF }, { FFFS_ERR_NOT_MOUNTED, ENODEV },
        { FFFS_ERR_READ_ONLY, EROFS }, { FFFS_ERR_WRITE_ONLY, EBADF }, { FFFS_ERR_STALE, ESTALE },
        { FFFS_ERR_BLANK, ENODATA }, { FFFS_ERR_FOREIGN, EILSEQ }, { FFFS_ERR_NEWER_FORMAT, EPROTO },
        { FFFS_ERR_WRONG_SIZE, ERANGE }, { FFFS_ERR_NO_MEMORY, ENOMEM }, { FFFS_ERR_TOO_BIG, EFBIG },
        { FFFS_ERR_UNSUPPORTED, ENOTSUP }, { FFFS_ERR_ABANDONED, EIO }, { FFFS_ERR_REMOUNT, EIO }
    };
    unsigned i;

    if (status >= 0)
        return 0;
    for (i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].status == status)
            return table[i].value;
    return EIO;
}

/* A status, or a count, as these functions return it. */
static int result_of(int status)
{
    return status < 0 ? -fffs_posix_errno(status) : status;
}

/* ---- Paths ---- */

/* Appends a part of a path; the name's length, or -ENAMETOOLONG. */
static int add_part(char *name, uint32_t length, const char *part, uint32_t bytes)
{
    uint32_t separator = length > 0;

    if (length + separator + bytes > FFFS_NAME_MAX)
        return -ENAMETOOLONG;
    if (separator)
        name[length] = '/';
    memcpy(name + length + separator, part, bytes);
    return (int)(length + separator + bytes);
}

int fffs_posix_name(char name[FFFS_NAME_MAX + 1], const char *path)
{
    uint32_t length = 0;
    const char *end;

    if (path == NULL)
        return -EINVAL;
    for (;;) {
        uint32_t bytes;

        while (*path == '/')
            path++;
        if (*path == '\0')
            break;
        for (end = path; *end != '\0' && *end != '/'; end++)
            if (end - path > FFFS_NAME_MAX)
                return -ENAMETOOLONG;
        bytes = (uint32_t)(end - path);
        if (bytes == 2 && path[0] == '.' && path[1] == '.')
            return -EINVAL;
        if (bytes != 1 || path[0] != '.') {
            int result = add_part(name, length, path, bytes);
            if (result < 0)
                return result;
            length = (uint32_t)result;
        }
        path = end;
    }
    name[length] = '\0';
    return length > 0 && path[-1] == '/';
}

/* The same for a path that must name a file. */
static int file_name(char *name, const char *path)
{
    int result = fffs_posix_name(name, path);

    if (result < 0)
        return result;
    return name[0] == '\0' ? -EISDIR : result == 1 ? -ENOTDIR : 0;
}

/* ---- Folders ---- */

/* Whether `name` lies in the folder: the length of the folder and its '/', or 0. */
static uint32_t within(const char *folder, const char *name)
{
    uint32_t length = (uint32_t)strlen(folder);

    if (length == 0)
        return name[0] != '\0';
    return strncmp(folder, name, length) == 0 && name[length] == '/' ? length + 1u : 0;
}

static char *find_made(struct fffs_posix *volume, const char *name)
{
    uint32_t i;

    for (i = 0; i < volume->made_count; i++)
        if (volume->made[i][0] != '\0' && strcmp(volume->made[i], name) == 0)
            return volume->made[i];
    return NULL;
}

/* A file came to be: the folders above it exist by themselves now. */
static void forget_made(struct fffs_posix *volume, const char *name)
{
    uint32_t i;

    for (i = 0; i < volume->made_count; i++)
        if (volume->made[i][0] != '\0' && within(volume->made[i], name))
            volume->made[i][0] = '\0';
}

static int stop_at_first(void *context, const struct fffs_info *info)
{
    (void)context;
    (void)info;
    return 1;
}

/* Whether a file's name begins with this folder: 1, 0, or a negative errno. */
static int has_files(struct fffs_posix *volume, const char *folder)
{
    char prefix[FFFS_NAME_MAX + 2];
    size_t length = strlen(folder);

    if (length >= FFFS_NAME_MAX)
        return 0;
    memcpy(prefix, folder, length);
    prefix[length] = length > 0 ? '/' : '\0';
    prefix[length + (length > 0)] = '\0';
    return result_of(fffs_list(volume->fs, prefix, stop_at_first, NULL));
}

/* The same, with what mkdir made. The root is always there. */
static int is_folder(struct fffs_posix *volume, const char *name)
{
    uint32_t i;

    if (name[0] == '\0' || find_made(volume, name) != NULL)
        return 1;
    for (i = 0; i < volume->made_count; i++)
        if (volume->made[i][0] != '\0' && within(name, volume->made[i]))
            return 1;
    return has_files(volume, name);
}

int fffs_posix_stat(struct fffs_posix *volume, const char *path, struct fffs_info *info)
{
    char name[FFFS_NAME_MAX + 1];
    int ends = fffs_posix_name(name, path), result = -ENOENT;

    if (ends < 0)
        return ends;
    if (name[0] != '\0') {
        result = result_of(fffs_stat(volume->fs, name, info));
        if (result == 0)
            return ends ? -ENOTDIR : 0;
    }
    if (result != -ENOENT)
        return result;
    result = is_folder(volume, name);
    if (result != 1)
        return result < 0 ? result : -ENOENT;
    memset(info, 0, sizeof *info);
    info->is_folder = 1;
    info->name_length = (uint8_t)strlen(name);
    memcpy(info->name, name, info->name_length);
    return 0;
}

int fffs_posix_mkdir(struct fffs_posix *volume, const char *path)
{
    struct fffs_info info;
    uint32_t i;
    int result = fffs_posix_stat(volume, path, &info);

    if (result == 0)
        return -EEXIST;
    if (result == -ENOTDIR) /* a file, written with a '/' behind */
        return -EEXIST;
    if (result != -ENOENT)
        return result;
    if (volume->read_only)
        return -EROFS;
    for (i = 0; i < volume->made_count; i++)
        if (volume->made[i][0] == '\0')
            return fffs_posix_name(volume->made[i], path) < 0 ? -EINVAL : 0;
    return 0; /* no room to remember it: it will be there with its first file */
}

/* Whether a folder that mkdir made lies in `name`. */
static int has_made(struct fffs_posix *volume, const char *name)
{
    uint32_t i;

    for (i = 0; i < volume->made_count; i++)
        if (volume->made[i][0] != '\0' && within(name, volume->made[i]))
            return 1;
    return 0;
}

int fffs_posix_rmdir(struct fffs_posix *volume, const char *path)
{
    char name[FFFS_NAME_MAX + 1];
    struct fffs_info info;
    char *made;
    int result = fffs_posix_name(name, path);

    if (result < 0)
        return result;
    if (name[0] == '\0')
        return -EBUSY;
    result = fffs_posix_stat(volume, name, &info);
    if (result < 0)
        return result;
    if (!info.is_folder)
        return -ENOTDIR;
    if (volume->read_only)
        return -EROFS;
    made = find_made(volume, name);
    result = made == NULL || has_made(volume, name) ? 1 : has_files(volume, name);
    if (result != 0)
        return result < 0 ? result : -ENOTEMPTY;
    made[0] = '\0';
    return 0;
}

/* ---- Names ---- */

int fffs_posix_unlink(struct fffs_posix *volume, const char *path)
{
    char name[FFFS_NAME_MAX + 1];
    int result = file_name(name, path);

    if (result < 0)
        return result;
    result = result_of(fffs_delete(volume->fs, name));
    if (result == -ENOENT && is_folder(volume, name) == 1)
        return -EISDIR;
    return result;
}

int fffs_posix_rename(struct fffs_posix *volume, const char *from, const char *to)
{
    char old_name[FFFS_NAME_MAX + 1], new_name[FFFS_NAME_MAX + 1];
    int result = file_name(old_name, from);

    if (result == 0)
        result = file_name(new_name, to);
    if (result < 0)
        return result;
    if (volume->read_only)
        return -EROFS;
    result = result_of(fffs_rename(volume->fs, old_name, new_name));
    if (result == -ENOENT && is_folder(volume, old_name) == 1)
        return -ENOTSUP; /* all its files at once: not possible */
    if (result == 0)
        forget_made(volume, new_name);
    return result;
}

/* ---- Files ---- */

static int open_reader(struct fffs_posix *volume, struct fffs_posix_file *file, void *buffer, uint32_t bytes)
{
    struct fffs_info info;
    int status = fffs_open(volume->fs, &file->reader, file->name, FFFS_READ, buffer, bytes);

    if (status < 0)
        return result_of(status);
    status = fffs_fstat(volume->fs, &file->reader, &info);
    if (status < 0) {
        (void)fffs_discard(volume->fs, &file->reader);
        return result_of(status);
    }
    file->has_reader = 1;
    file->old_bytes = info.size;
    return 0;
}

static int open_writer(struct fffs_posix *volume, struct fffs_posix_file *file, unsigned flags)
{
    int status = fffs_open(volume->fs, &file->writer, file->name, flags, file->buffer, file->buffer_bytes);

    if (status < 0)
        return result_of(status);
    file->has_writer = 1;
    forget_made(volume, file->name);
    return 0;
}

/* Also makes an empty file when there is none and the flags say so. */
static int open_to_read(struct fffs_posix *volume, struct fffs_posix_file *file, unsigned flags)
{
    int result = -EINVAL;

    if (flags & FFFS_POSIX_READ)
        result = open_reader(volume, file, file->buffer, file->buffer_bytes);
    if (result != -ENOENT || !(flags & FFFS_POSIX_CREATE))
        return result;
    result = volume->read_only ? -EROFS : open_writer(volume, file, CREATES);
    if (result < 0)
        return result;
    file->has_writer = 0;
    result = result_of(fffs_close(volume->fs, &file->writer));
    return result < 0 ? result : open_reader(volume, file, file->buffer, file->buffer_bytes);
}

int fffs_posix_open(struct fffs_posix *volume, struct fffs_posix_file *file, const char *path, unsigned flags)
{
    int result = file_name(file->name, path);

    if (result < 0)
        return result;
    memset(&file->writer, 0, sizeof file->writer);
    memset(&file->reader, 0, sizeof file->reader);
    file->position = file->written = file->old_bytes = 0;
    file->has_writer = file->has_reader = 0;
    file->failed = 0;
    file->flags = (uint8_t)flags;
    if (!(flags & FFFS_POSIX_WRITE))
        return open_to_read(volume, file, flags);
    if (volume->read_only)
        return -EROFS;
    if (flags & FFFS_POSIX_CREATE && flags & FFFS_POSIX_EXCLUSIVE)
        return open_writer(volume, file, CREATES | FFFS_EXCLUSIVE);
    if (flags & FFFS_POSIX_TRUNCATE)
        return open_writer(volume, file, flags & FFFS_POSIX_CREATE ? REPLACES : FFFS_WRITE | FFFS_TRUNCATE);
    result = open_reader(volume, file, file->old_buffer, file->old_buffer_bytes);
    if (result == -ENOENT && flags & FFFS_POSIX_CREATE)
        return open_writer(volume, file, REPLACES);
    return result;
}

uint32_t fffs_posix_size(const struct fffs_posix_file *file)
{
    return file->written > file->old_bytes ? file->written : file->old_bytes;
}

/* Appends to the new version; an error stays with the descriptor. */
static int append(struct fffs_posix *volume, struct fffs_posix_file *file, const void *data, uint32_t bytes)
{
    int32_t done = fffs_write(volume->fs, &file->writer, data, bytes);

    if (done < 0) {
        file->failed = fffs_posix_errno((int)done);
        return -file->failed;
    }
    file->written += bytes;
    return 0;
}

/* The next bytes of the old version into the copy buffer, or zeros where it has ended. */
static int fetch_old(struct fffs_posix *volume, struct fffs_posix_file *file, uint32_t bytes)
{
    int32_t done = fffs_seek(volume->fs, &file->reader, (int32_t)file->written, FFFS_SEEK_SET);

    if (done >= 0)
        done = fffs_read(volume->fs, &file->reader, volume->copy, bytes);
    if (done >= 0 && (uint32_t)done == bytes)
        return 0;
    file->failed = done < 0 ? fffs_posix_errno((int)done) : EIO;
    return -file->failed;
}

/* Brings the new version up to `position`, with the old bytes, then with zeros. */
static int fill_up(struct fffs_posix *volume, struct fffs_posix_file *file, uint32_t position)
{
    int result = 0;

    if (!file->has_writer)
        result = open_writer(volume, file, REPLACES);
    while (result == 0 && file->written < position) {
        int is_old = file->written < file->old_bytes;
        uint32_t end = is_old && file->old_bytes < position ? file->old_bytes : position;
        uint32_t part = end - file->written < volume->copy_bytes ? end - file->written : volume->copy_bytes;

        if (is_old)
            result = fetch_old(volume, file, part);
        else
            memset(volume->copy, 0, part);
        if (result == 0)
            result = append(volume, file, volume->copy, part);
    }
    return result;
}

int32_t fffs_posix_write(struct fffs_posix *volume, struct fffs_posix_file *file, const void *data, uint32_t bytes)
{
    int result;

    if (!(file->flags & FFFS_POSIX_WRITE))
        return -EBADF;
    if (file->failed)
        return -file->failed;
    if (file->flags & FFFS_POSIX_APPEND)
        file->position = fffs_posix_size(file);
    if (bytes > (uint32_t)SIZE_MAX_BYTES - file->position)
        return -EFBIG;
    if (bytes == 0)
        return 0;
    if (file->position < file->written)
        return -ENOTSUP;
    result = fill_up(volume, file, file->position);
    if (result == 0)
        result = append(volume, file, data, bytes);
    if (result < 0)
        return result;
    file->position = file->written;
    return (int32_t)bytes;
}

int32_t fffs_posix_read(struct fffs_posix *volume, struct fffs_posix_file *file, void *buffer, uint32_t bytes)
{
    int32_t done;

    if (!(file->flags & FFFS_POSIX_READ))
        return -EBADF;
    if (file->position >= fffs_posix_size(file))
        return 0;
    if (file->position < file->written)
        return -ENOTSUP; /* what was just written is not readable before close */
    if (bytes > file->old_bytes - file->position)
        bytes = file->old_bytes - file->position;
    done = fffs_seek(volume->fs, &file->reader, (int32_t)file->position, FFFS_SEEK_SET);
    if (done >= 0)
        done = fffs_read(volume->fs, &file->reader, buffer, bytes);
    if (done < 0)
        return -fffs_posix_errno((int)done);
    file->position += (uint32_t)done;
    return done;
}

int32_t fffs_posix_seek(struct fffs_posix *volume, struct fffs_posix_file *file, int32_t offset, int whence)
{
    uint32_t base = whence == FFFS_SEEK_SET ? 0 : whence == FFFS_SEEK_CUR ? file->position : fffs_posix_size(file);

    (void)volume;
    if (whence != FFFS_SEEK_SET && whence != FFFS_SEEK_CUR && whence != FFFS_SEEK_END)
        return -EINVAL;
    if (offset < 0 ? (uint32_t)-(offset + 1) + 1u > base : (uint32_t)offset > (uint32_t)SIZE_MAX_BYTES - base)
        return -EINVAL;
    file->position = offset < 0 ? base - ((uint32_t)-(offset + 1) + 1u) : base + (uint32_t)offset;
    return (int32_t)file->position;
}

int fffs_posix_sync(struct fffs_posix *volume, struct fffs_posix_file *file)
{
    (void)volume;
    return file->has_writer ? -EINVAL : 0;
}

int fffs_posix_truncate(struct fffs_posix *volume, struct fffs_posix_file *file, uint32_t bytes)
{
    int result;

    if (!(file->flags & FFFS_POSIX_WRITE))
        return -EBADF;
    if (file->failed)
        return -file->failed;
    if (bytes > (uint32_t)SIZE_MAX_BYTES)
        return -EFBIG;
    if (bytes == fffs_posix_size(file))
        return 0;
    if (bytes < file->written)
        return -ENOTSUP;
    result = fill_up(volume, file, bytes > file->old_bytes ? bytes : file->written);
    if (result == 0 && bytes < file->old_bytes)
        file->old_bytes = bytes;
    return result;
}

int32_t fffs_posix_map(struct fffs_posix *volume, struct fffs_posix_file *file, uint32_t offset, const void **data)
{
    int32_t count;

    if (!(file->flags & FFFS_POSIX_READ) || !file->has_reader)
        return -EBADF;
    count = fffs_map(volume->fs, &file->reader, offset, data);
    return count < 0 ? -fffs_posix_errno((int)count) : count;
}

int fffs_posix_close(struct fffs_posix *volume, struct fffs_posix_file *file)
{
    int result = 0, status;

    if (file->has_writer && !file->failed)
        result = fill_up(volume, file, fffs_posix_size(file));
    if (file->has_reader)
        (void)fffs_close(volume->fs, &file->reader);
    file->has_reader = 0;
    if (!file->has_writer)
        return -file->failed;
    file->has_writer = 0;
    if (file->failed) {
        (void)fffs_discard(volume->fs, &file->writer);
        return -file->failed;
    }
    status = fffs_close(volume->fs, &file->writer);
    if (status == FFFS_ERR_COLLECT_FIRST) {
        status = fffs_gc(volume->fs);
        if (status >= 0)
            status = fffs_close(volume->fs, &file->writer);
        if (status < 0)
            (void)fffs_discard(volume->fs, &file->writer);
    }
    return result < 0 ? result : result_of(status);
}

/* ---- Directories ---- */

int fffs_posix_opendir(struct fffs_posix *volume, struct fffs_posix_dir *dir, const char *path)
{
    struct fffs_info info;
    char name[FFFS_NAME_MAX + 1];
    int result = fffs_posix_name(name, path);

    if (result < 0)
        return result;
    result = fffs_posix_stat(volume, name, &info);
    if (result < 0)
        return result;
    if (!info.is_folder)
        return -ENOTDIR;
    memset(dir, 0, sizeof *dir);
    dir->prefix_bytes = info.name_length;
    memcpy(dir->prefix, name, dir->prefix_bytes);
    if (dir->prefix_bytes > 0)
        dir->prefix[dir->prefix_bytes++] = '/';
    dir->prefix[dir->prefix_bytes] = '\0';
    if (dir->prefix_bytes > FFFS_NAME_MAX)
        return -ENAMETOOLONG;
    return result_of(fffs_dir_open(volume->fs, &dir->dir, dir->prefix, '/'));
}

/* The next folder that mkdir made and that no file shows: 1, or 0. */
static int next_made(struct fffs_posix *volume, struct fffs_posix_dir *dir, struct fffs_info *info)
{
    while (dir->made_next < volume->made_count) {
        const char *name = volume->made[dir->made_next++], *rest = name + dir->prefix_bytes;

        if (name[0] == '\0' || strncmp(name, dir->prefix, dir->prefix_bytes) != 0 || *rest == '\0' || strchr(rest, '/'))
            continue;
        memset(info, 0, sizeof *info);
        info->is_folder = 1;
        info->name_length = (uint8_t)strlen(rest);
        memcpy(info->name, rest, info->name_length);
        return 1;
    }
    return 0;
}

int fffs_posix_readdir(struct fffs_posix *volume, struct fffs_posix_dir *dir, struct fffs_info *info)
{
    int result = result_of(fffs_dir_read(volume->fs, &dir->dir, info));

    if (result < 0)
        return result;
    if (result == 0)
        result = next_made(volume, dir, info);
    else {
        uint32_t rest = info->name_length - dir->prefix_bytes;

        memmove(info->name, info->name + dir->prefix_bytes, rest + 1u);
        if (info->is_folder)
            info->name[--rest] = '\0';
        info->name_length = (uint8_t)rest;
    }
    dir->position += (uint32_t)result;
    return result;
}

int fffs_posix_seekdir(struct fffs_posix *volume, struct fffs_posix_dir *dir, uint32_t position)
{
    struct fffs_info info;
    int result = 1;

    if (position < dir->position) {
        result = result_of(fffs_dir_close(volume->fs, &dir->dir));
        if (result == 0)
            result = result_of(fffs_dir_open(volume->fs, &dir->dir, dir->prefix, '/'));
        if (result < 0)
            return result;
        dir->position = dir->made_next = 0;
        result = 1;
    }
    while (result == 1 && dir->position < position)
        result = fffs_posix_readdir(volume, dir, &info);
    return result < 0 ? result : 0;
}

int fffs_posix_closedir(struct fffs_posix *volume, struct fffs_posix_dir *dir)
{
    return result_of(fffs_dir_close(volume->fs, &dir->dir));
}

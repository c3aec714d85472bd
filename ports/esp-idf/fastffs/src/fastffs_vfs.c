/* The operations of the virtual filesystem: each locks, calls fffs_posix, and turns a negative errno into -1 and errno. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "esp_vfs.h"
#include "fastffs_volume.h"

static struct fastffs_volume *enter(void *context)
{
    fastffs_lock(context);
    return context;
}

/* Ends an operation: `result` or -1 and errno. */
static int leave(struct fastffs_volume *volume, int result)
{
    volume->last_use = xTaskGetTickCount();
    fastffs_unlock(volume);
    if (result >= 0)
        return result;
    errno = -result;
    return -1;
}

/* The same after something that may leave work for the collection. */
static int leave_changed(struct fastffs_volume *volume, int result)
{
    fastffs_task_wake(volume);
    return leave(volume, result);
}

/* ---- Files ---- */

static struct fastffs_descriptor *descriptor_of(const struct fastffs_volume *volume, int fd)
{
    return fd >= 0 && (size_t)fd < volume->max_files ? volume->descriptors[fd] : NULL;
}

static unsigned open_flags(int flags)
{
    int access = flags & O_ACCMODE;

    return (access != O_WRONLY ? (unsigned)FFFS_POSIX_READ : 0u) | (access != O_RDONLY ? (unsigned)FFFS_POSIX_WRITE : 0u)
        | (flags & O_CREAT ? (unsigned)FFFS_POSIX_CREATE : 0u) | (flags & O_TRUNC ? (unsigned)FFFS_POSIX_TRUNCATE : 0u)
        | (flags & O_EXCL ? (unsigned)FFFS_POSIX_EXCLUSIVE : 0u) | (flags & O_APPEND ? (unsigned)FFFS_POSIX_APPEND : 0u);
}

static struct fastffs_descriptor *new_descriptor(const struct fastffs_volume *volume, int flags)
{
    uint32_t granule = volume->driver.flash.granule_bytes;
    uint32_t bytes = CONFIG_FASTFFS_FILE_BUFFER_BYTES > granule ? CONFIG_FASTFFS_FILE_BUFFER_BYTES : granule;
    uint32_t old_bytes = FASTFFS_OLD_BUFFER_BYTES > granule ? FASTFFS_OLD_BUFFER_BYTES : granule;
    int writes = (flags & O_ACCMODE) != O_RDONLY;
    struct fastffs_descriptor *descriptor = calloc(1, sizeof *descriptor + bytes + (writes ? old_bytes : 0));

    if (descriptor == NULL)
        return NULL;
    descriptor->flags = flags;
    descriptor->file.buffer = descriptor->buffers;
    descriptor->file.buffer_bytes = bytes;
    descriptor->file.old_buffer = descriptor->buffers + bytes;
    descriptor->file.old_buffer_bytes = old_bytes;
    return descriptor;
}

static int open_path(struct fastffs_volume *volume, const char *path, int flags)
{
    size_t fd = 0;
    struct fastffs_descriptor *descriptor;
    int result;

    while (fd < volume->max_files && volume->descriptors[fd] != NULL)
        fd++;
    if (fd == volume->max_files)
        return -ENFILE;
    descriptor = new_descriptor(volume, flags);
    if (descriptor == NULL)
        return -ENOMEM;
    result = fffs_posix_open(&volume->posix, &descriptor->file, path, open_flags(flags));
    if (result < 0) {
        free(descriptor);
        return result;
    }
    volume->descriptors[fd] = descriptor;
    return (int)fd;
}

static int vfs_open(void *context, const char *path, int flags, int mode)
{
    struct fastffs_volume *volume = enter(context);

    (void)mode;
    return leave(volume, open_path(volume, path, flags));
}

static int vfs_close(void *context, int fd)
{
    struct fastffs_volume *volume = enter(context);
    struct fastffs_descriptor *descriptor = descriptor_of(volume, fd);
    int result;

    if (descriptor == NULL)
        return leave(volume, -EBADF);
    result = fffs_posix_close(&volume->posix, &descriptor->file);
    volume->descriptors[fd] = NULL;
    free(descriptor);
    return leave_changed(volume, result);
}

static uint32_t bounded(size_t bytes)
{
    return bytes > INT32_MAX ? (uint32_t)INT32_MAX : (uint32_t)bytes;
}

static ssize_t vfs_read(void *context, int fd, void *buffer, size_t bytes)
{
    struct fastffs_volume *volume = enter(context);
    struct fastffs_descriptor *descriptor = descriptor_of(volume, fd);

    return leave(volume, descriptor == NULL ? -EBADF
                     : (int)fffs_posix_read(&volume->posix, &descriptor->file, buffer, bounded(bytes)));
}

static ssize_t vfs_write(void *context, int fd, const void *data, size_t bytes)
{
    struct fastffs_volume *volume = enter(context);
    struct fastffs_descriptor *descriptor = descriptor_of(volume, fd);

    return leave(volume, descriptor == NULL ? -EBADF
                     : (int)fffs_posix_write(&volume->posix, &descriptor->file, data, bounded(bytes)));
}

static int32_t seek_in(struct fastffs_volume *volume, struct fastffs_descriptor *descriptor, off_t offset, int whence)
{
    int how = whence == SEEK_SET ? FFFS_SEEK_SET : whence == SEEK_CUR ? FFFS_SEEK_CUR : whence == SEEK_END ? FFFS_SEEK_END : -1;

    if (offset > INT32_MAX || offset < -INT32_MAX)
        return -EINVAL;
    return fffs_posix_seek(&volume->posix, &descriptor->file, (int32_t)offset, how);
}

static off_t vfs_lseek(void *context, int fd, off_t offset, int whence)
{
    struct fastffs_volume *volume = enter(context);
    struct fastffs_descriptor *descriptor = descriptor_of(volume, fd);

    return leave(volume, descriptor == NULL ? -EBADF : (int)seek_in(volume, descriptor, offset, whence));
}

/* Reads or writes elsewhere and comes back to the position. */
static int at_offset(struct fastffs_volume *volume, int fd, void *buffer, const void *data, size_t bytes, off_t offset)
{
    struct fastffs_descriptor *descriptor = descriptor_of(volume, fd);
    int32_t back, result;

    if (descriptor == NULL)
        return -EBADF;
    back = fffs_posix_seek(&volume->posix, &descriptor->file, 0, FFFS_SEEK_CUR);
    result = seek_in(volume, descriptor, offset, SEEK_SET);
    if (result < 0)
        return (int)result;
    result = buffer != NULL ? fffs_posix_read(&volume->posix, &descriptor->file, buffer, bounded(bytes))
                            : fffs_posix_write(&volume->posix, &descriptor->file, data, bounded(bytes));
    (void)fffs_posix_seek(&volume->posix, &descriptor->file, back, FFFS_SEEK_SET);
    return (int)result;
}

static ssize_t vfs_pread(void *context, int fd, void *buffer, size_t bytes, off_t offset)
{
    struct fastffs_volume *volume = enter(context);

    return leave(volume, at_offset(volume, fd, buffer, NULL, bytes, offset));
}

static ssize_t vfs_pwrite(void *context, int fd, const void *data, size_t bytes, off_t offset)
{
    struct fastffs_volume *volume = enter(context);

    return leave(volume, at_offset(volume, fd, NULL, data, bytes, offset));
}

static int vfs_fsync(void *context, int fd)
{
    struct fastffs_volume *volume = enter(context);
    struct fastffs_descriptor *descriptor = descriptor_of(volume, fd);

    return leave(volume, descriptor == NULL ? -EBADF : fffs_posix_sync(&volume->posix, &descriptor->file));
}

static int vfs_fcntl(void *context, int fd, int command, int argument)
{
    struct fastffs_volume *volume = enter(context);
    const struct fastffs_descriptor *descriptor = descriptor_of(volume, fd);
    int result = -ENOTSUP;

    (void)argument;
    if (descriptor == NULL)
        result = -EBADF;
    else if (command == F_GETFL)
        result = descriptor->flags;
    return leave(volume, result);
}

static int vfs_ioctl(void *context, int fd, int command, va_list arguments)
{
    struct fastffs_volume *volume = enter(context);
    struct fastffs_descriptor *descriptor = descriptor_of(volume, fd);
    int32_t count;

    if (descriptor == NULL)
        return leave(volume, -EBADF);
    if (command != ESP_FASTFFS_IOCTL_MAP)
        return leave(volume, -ENOTTY);
    esp_fastffs_map_t *request = va_arg(arguments, esp_fastffs_map_t *);
    count = fffs_posix_map(&volume->posix, &descriptor->file, request->offset, &request->data);
    request->bytes = count < 0 ? 0 : (uint32_t)count;
    return leave(volume, count < 0 ? (int)count : 0);
}

static void fill_stat(const struct fastffs_volume *volume, struct stat *st, int is_folder, uint32_t bytes)
{
    mode_t rights = volume->posix.read_only ? S_IRUSR | S_IRGRP | S_IROTH
                                            : S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH;

    memset(st, 0, sizeof *st);
    st->st_mode = (is_folder ? S_IFDIR : S_IFREG) | rights | (is_folder ? (mode_t)(S_IXUSR | S_IXGRP | S_IXOTH) : 0);
    st->st_nlink = 1;
    st->st_size = (off_t)bytes;
    st->st_blksize = CONFIG_FASTFFS_FILE_BUFFER_BYTES; /* stdio sizes its buffer by this */
    st->st_blocks = (blkcnt_t)((bytes + 511u) / 512u);
}

static int vfs_fstat(void *context, int fd, struct stat *st)
{
    struct fastffs_volume *volume = enter(context);
    const struct fastffs_descriptor *descriptor = descriptor_of(volume, fd);

    if (descriptor != NULL)
        fill_stat(volume, st, 0, fffs_posix_size(&descriptor->file));
    return leave(volume, descriptor == NULL ? -EBADF : 0);
}

#ifdef CONFIG_VFS_SUPPORT_DIR

/* ---- Names ---- */

static int vfs_stat(void *context, const char *path, struct stat *st)
{
    struct fastffs_volume *volume = enter(context);
    struct fffs_info info;
    int result = fffs_posix_stat(&volume->posix, path, &info);

    if (result == 0)
        fill_stat(volume, st, info.is_folder, info.size);
    return leave(volume, result);
}

static int vfs_access(void *context, const char *path, int mode)
{
    struct fastffs_volume *volume = enter(context);
    struct fffs_info info;
    int result = fffs_posix_stat(&volume->posix, path, &info);

    if (result == 0 && mode & W_OK && volume->posix.read_only)
        result = -EROFS;
    else if (result == 0 && mode & X_OK && !info.is_folder)
        result = -EACCES;
    return leave(volume, result);
}

static int vfs_unlink(void *context, const char *path)
{
    struct fastffs_volume *volume = enter(context);

    return leave_changed(volume, fffs_posix_unlink(&volume->posix, path));
}

static int vfs_rename(void *context, const char *from, const char *to)
{
    struct fastffs_volume *volume = enter(context);

    return leave_changed(volume, fffs_posix_rename(&volume->posix, from, to));
}

static int vfs_mkdir(void *context, const char *path, mode_t mode)
{
    struct fastffs_volume *volume = enter(context);

    (void)mode;
    return leave(volume, fffs_posix_mkdir(&volume->posix, path));
}

static int vfs_rmdir(void *context, const char *path)
{
    struct fastffs_volume *volume = enter(context);

    return leave(volume, fffs_posix_rmdir(&volume->posix, path));
}

static int vfs_ftruncate(void *context, int fd, off_t bytes)
{
    struct fastffs_volume *volume = enter(context);
    struct fastffs_descriptor *descriptor = descriptor_of(volume, fd);

    if (descriptor == NULL)
        return leave(volume, -EBADF);
    if (bytes < 0)
        return leave(volume, -EINVAL);
    return leave(volume, bytes > INT32_MAX ? -EFBIG
                     : fffs_posix_truncate(&volume->posix, &descriptor->file, (uint32_t)bytes));
}

static int truncate_path(struct fastffs_volume *volume, const char *path, off_t bytes)
{
    int fd, result, closed;

    if (bytes < 0 || bytes > INT32_MAX)
        return bytes < 0 ? -EINVAL : -EFBIG;
    fd = open_path(volume, path, O_WRONLY);
    if (fd < 0)
        return fd;
    result = fffs_posix_truncate(&volume->posix, &volume->descriptors[fd]->file, (uint32_t)bytes);
    closed = fffs_posix_close(&volume->posix, &volume->descriptors[fd]->file);
    free(volume->descriptors[fd]);
    volume->descriptors[fd] = NULL;
    return result < 0 ? result : closed;
}

static int vfs_truncate(void *context, const char *path, off_t bytes)
{
    struct fastffs_volume *volume = enter(context);

    return leave_changed(volume, truncate_path(volume, path, bytes));
}

/* ---- Directories ---- */

struct fastffs_vfs_dir {
    DIR dir;                             /* must be first: the VFS writes into it */
    struct fffs_posix_dir listing;
    struct dirent entry;
};

static struct fastffs_vfs_dir *listing_of(DIR *dir)
{
    void *whole = dir;

    return whole;
}

static DIR *vfs_opendir(void *context, const char *path)
{
    struct fastffs_vfs_dir *dir = calloc(1, sizeof *dir);
    struct fastffs_volume *volume = enter(context);
    int result = dir == NULL ? -ENOMEM : fffs_posix_opendir(&volume->posix, &dir->listing, path);

    if (result < 0)
        free(dir);
    return leave(volume, result) < 0 ? NULL : &dir->dir;
}

/* 1 and the entry filled, 0 at the end, or a negative errno. */
static int next_entry(struct fastffs_volume *volume, struct fastffs_vfs_dir *dir, struct dirent *entry)
{
    struct fffs_info info;
    int result = fffs_posix_readdir(&volume->posix, &dir->listing, &info);

    if (result != 1)
        return result;
    memset(entry, 0, sizeof *entry);
    entry->d_type = info.is_folder ? DT_DIR : DT_REG;
    memcpy(entry->d_name, info.name, (size_t)info.name_length + 1u);
    return 1;
}

static struct dirent *vfs_readdir(void *context, DIR *pdir)
{
    struct fastffs_volume *volume = enter(context);
    struct fastffs_vfs_dir *dir = listing_of(pdir);

    return leave(volume, next_entry(volume, dir, &dir->entry)) == 1 ? &dir->entry : NULL;
}

/* Returns an error number, as POSIX has it. */
static int vfs_readdir_r(void *context, DIR *pdir, struct dirent *entry, struct dirent **out)
{
    struct fastffs_volume *volume = enter(context);
    int result = next_entry(volume, listing_of(pdir), entry);

    (void)leave(volume, 0);
    *out = result == 1 ? entry : NULL;
    return result < 0 ? -result : 0;
}

static long vfs_telldir(void *context, DIR *pdir)
{
    (void)context;
    return (long)listing_of(pdir)->listing.position;
}

static void vfs_seekdir(void *context, DIR *pdir, long position)
{
    struct fastffs_volume *volume = enter(context);

    (void)leave(volume, position < 0 ? -EINVAL
                    : fffs_posix_seekdir(&volume->posix, &listing_of(pdir)->listing, (uint32_t)position));
}

static int vfs_closedir(void *context, DIR *pdir)
{
    struct fastffs_volume *volume = enter(context);
    struct fastffs_vfs_dir *dir = listing_of(pdir);
    int result = fffs_posix_closedir(&volume->posix, &dir->listing);

    free(dir);
    return leave(volume, result);
}

#endif

esp_err_t fastffs_vfs_attach(struct fastffs_volume *volume)
{
    const esp_vfs_t operations = {
        .flags = ESP_VFS_FLAG_CONTEXT_PTR, .open_p = vfs_open, .close_p = vfs_close, .read_p = vfs_read,
        .write_p = vfs_write, .pread_p = vfs_pread, .pwrite_p = vfs_pwrite, .lseek_p = vfs_lseek, .fsync_p = vfs_fsync,
        .fcntl_p = vfs_fcntl, .ioctl_p = vfs_ioctl, .fstat_p = vfs_fstat,
#ifdef CONFIG_VFS_SUPPORT_DIR
        .stat_p = vfs_stat, .access_p = vfs_access, .unlink_p = vfs_unlink, .rename_p = vfs_rename, .mkdir_p = vfs_mkdir,
        .rmdir_p = vfs_rmdir, .truncate_p = vfs_truncate, .ftruncate_p = vfs_ftruncate, .opendir_p = vfs_opendir,
        .readdir_p = vfs_readdir, .readdir_r_p = vfs_readdir_r, .telldir_p = vfs_telldir, .seekdir_p = vfs_seekdir,
        .closedir_p = vfs_closedir,
#endif
    };

    return esp_vfs_register(volume->base_path, &operations, volume);
}

/* See adapter_vfs.h. The names of files are appended to the mount path. */
#include "adapter_vfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int mount_volume(void *self)
{
    return ((struct adapter_vfs *)self)->mount->mount();
}

static int format_volume(void *self)
{
    return ((struct adapter_vfs *)self)->mount->format();
}

static int unmount_volume(void *self)
{
    return ((struct adapter_vfs *)self)->mount->unmount();
}

static const char *path_of(char *path, const char *name)
{
    size_t length = strlen(name), prefix = strlen(ADAPTER_VFS_PATH "/");

    if (prefix + length >= ADAPTER_VFS_NAME)
        length = ADAPTER_VFS_NAME - prefix - 1;
    memcpy(path, ADAPTER_VFS_PATH "/", prefix);
    memcpy(path + prefix, name, length);
    path[prefix + length] = '\0';
    return path;
}

static int failed(void)
{
    return errno > 0 ? -errno : -1;
}

static int open_name(struct adapter_vfs *adapter, const char *name, int flags)
{
    char path[ADAPTER_VFS_NAME];

    adapter->fd = open(path_of(path, name), flags, 0666);
    return adapter->fd < 0 ? failed() : 0;
}

static int open_read(void *self, const char *name)
{
    return open_name(self, name, O_RDONLY);
}

static int open_write(void *self, const char *name)
{
    return open_name(self, name, O_WRONLY | O_CREAT | O_TRUNC);
}

static int32_t size_of(void *self)
{
    struct stat st;

    return fstat(((struct adapter_vfs *)self)->fd, &st) < 0 ? failed() : (int32_t)st.st_size;
}

static int32_t read_bytes(void *self, void *buffer, uint32_t bytes)
{
    ssize_t done = read(((struct adapter_vfs *)self)->fd, buffer, bytes);

    return done < 0 ? failed() : (int32_t)done;
}

static int32_t write_bytes(void *self, const void *data, uint32_t bytes)
{
    ssize_t done = write(((struct adapter_vfs *)self)->fd, data, bytes);

    return done < 0 ? failed() : (int32_t)done;
}

static int seek_to(void *self, uint32_t offset)
{
    return lseek(((struct adapter_vfs *)self)->fd, (off_t)offset, SEEK_SET) < 0 ? failed() : 0;
}

static int close_file(void *self)
{
    return close(((struct adapter_vfs *)self)->fd) < 0 ? failed() : 0;
}

static int remove_file(void *self, const char *name)
{
    char path[ADAPTER_VFS_NAME];

    (void)self;
    return unlink(path_of(path, name)) < 0 ? failed() : 0;
}

static int exists(void *self, const char *name)
{
    char path[ADAPTER_VFS_NAME];
    struct stat st;

    (void)self;
    if (stat(path_of(path, name), &st) == 0)
        return 1;
    return errno == ENOENT ? 0 : failed();
}

/* A listing with sizes costs a stat per name: the directory entry has none. */
static int list(void *self, bench_visit_fn visit, void *context)
{
    char path[ADAPTER_VFS_NAME];
    struct dirent *entry;
    struct stat st;
    DIR *dir = opendir(ADAPTER_VFS_PATH);
    int result = 0;

    (void)self;
    if (dir == NULL)
        return failed();
    while (result == 0 && (entry = readdir(dir)) != NULL) {
        if (entry->d_type == DT_DIR)
            continue;
        if (stat(path_of(path, entry->d_name), &st) < 0)
            result = failed();
        else if (visit(context, entry->d_name, (uint32_t)st.st_size) != 0)
            break;
    }
    return closedir(dir) < 0 && result == 0 ? failed() : result;
}

static int space(void *self, struct bench_space *answer)
{
    uint64_t total = 0, free_bytes = 0;
    int result = ((struct adapter_vfs *)self)->mount->info(&total, &free_bytes);

    answer->capacity_bytes = (uint32_t)total;
    answer->free_bytes = (uint32_t)free_bytes;
    answer->index_bytes_per_file = 0;
    return result;
}

const struct bench_fs adapter_vfs_fs = {
    .name = "vfs", .format = format_volume, .mount = mount_volume, .unmount = unmount_volume, .open_read = open_read,
    .open_write = open_write, .size = size_of, .read = read_bytes, .write = write_bytes, .seek = seek_to,
    .close = close_file, .remove = remove_file, .exists = exists, .list = list, .space = space
};

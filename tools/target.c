/* Files below a folder of the host. Owns the way from a name to a file that can not leave the folder. */
#include "target.h"
#include "image.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEMPORARY_NAME = 64, PART_BYTES = 256 };

const char *target_refusal(const char *name)
{
    size_t length;

    for (;; name += length + 1) {
        length = strcspn(name, "/");
        if (length == 0)
            return "it has an empty part or a leading '/'";
        if ((length == 1 && name[0] == '.') || (length == 2 && name[0] == '.' && name[1] == '.'))
            return "it has a part '.' or '..'";
        if (name[length] == '\0')
            return NULL;
    }
}

int target_open(const char *folder)
{
    int root = -1;

    if (mkdir(folder, 0777) == 0 || errno == EEXIST)
        root = open(folder, O_RDONLY | O_DIRECTORY);
    if (root < 0)
        tool_error(folder, "%s", strerror(errno));
    return root;
}

/* Opens the folder that the name's file goes into, making what is missing. `last` is set to the file's own name. Returns
 * a descriptor, or -1 with errno. */
static int enter_folders(int root, const char *name, const char **last)
{
    char part[PART_BYTES];
    int folder = dup(root), next;
    size_t length;

    while (folder >= 0 && name[length = strcspn(name, "/")] == '/') {
        next = -1;
        errno = ENAMETOOLONG;
        if (length < PART_BYTES) {
            memcpy(part, name, length);
            part[length] = '\0';
            if (mkdirat(folder, part, 0777) == 0 || errno == EEXIST)
                next = openat(folder, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
        }
        close(folder);
        folder = next;
        name += length + 1;
    }
    *last = name;
    return folder;
}

/* A new file under a name that nobody has; `name` has room for TEMPORARY_NAME bytes. NULL with errno. */
static FILE *open_temporary(int folder, char *name)
{
    static unsigned long number;
    FILE *stream;
    int fd;

    do {
        snprintf(name, TEMPORARY_NAME, ".fastffs-%ld-%lu", (long)getpid(), number++);
        fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
    } while (fd < 0 && errno == EEXIST);
    stream = fd < 0 ? NULL : fdopen(fd, "wb");
    if (stream == NULL && fd >= 0)
        close(fd);
    return stream;
}

/* Gives the finished file its name. 0, or -1 with errno. */
static int publish(int folder, const char *temporary, const char *last, int keep)
{
    struct stat facts;

    if (keep && fstatat(folder, last, &facts, AT_SYMLINK_NOFOLLOW) == 0) {
        errno = EEXIST;
        return -1;
    }
    return renameat(folder, temporary, folder, last);
}

int target_write(int root, const char *name, int keep, int (*produce)(void *context, FILE *stream), void *context)
{
    char temporary[TEMPORARY_NAME];
    const char *last;
    FILE *stream = NULL;
    int folder = enter_folders(root, name, &last), status = IMAGE_HOST_ERROR, code;

    if (folder >= 0)
        stream = open_temporary(folder, temporary);
    if (stream != NULL) {
        status = produce(context, stream);
        if (fclose(stream) != 0 && status == FFFS_OK)
            status = IMAGE_HOST_ERROR;
        if (status == FFFS_OK && publish(folder, temporary, last, keep) != 0)
            status = IMAGE_HOST_ERROR;
    }
    code = errno;
    if (stream != NULL && status != FFFS_OK)
        (void)unlinkat(folder, temporary, 0);
    if (folder >= 0)
        close(folder);
    errno = code;
    return status;
}

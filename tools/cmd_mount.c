/* fastffs mount: an image as a folder of this machine, through FUSE. Owns the image file while it is mounted: every
 * program and erase goes to the file at once, so that a killed process leaves what a power cut leaves. */
#include "view.h"
#include "image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "  -f, --foreground      do not go to the background; messages stay on the terminal\n"
    "  -r, --read-only       the image is not changed, not even to repair it\n"
    "      --prefix TEXT     names on the volume begin with TEXT ('/' for volumes of programs that put one in front)\n"
    "      --sync            each flash operation is on the disk before the next begins (slow)\n"
    "  -o, --options LIST    more options for FUSE, as allow_other\n"
    "\n"
    "Unmount with 'fusermount3 -u DIR' (or umount). What works:\n"
    "  A file is committed, as one new version, when the process that wrote it closes it, when the last descriptor is\n"
    "  closed, when fsync() is called, and when it is renamed. Until then, also when 'fastffs mount' is killed, the name\n"
    "  keeps its old version. An open file is held in memory. No room is an error of write(), close() or fsync().\n"
    "  fsync() also waits until the image is on the disk of this machine; other commits wait only with --sync.\n"
    "  Rename is atomic for a file; a folder's files are renamed one after the other.\n"
    "  Folders are parts of names. An empty one is there until the unmount.\n"
    "  Modes, owners and times are not kept: the time of a file is its version number, so that newer is later.\n"
    "  No hard links, symbolic links or locks on byte ranges ('not supported'): databases that change a file in place, as\n"
    "  sqlite, do not work here.\n";

#ifdef FASTFFS_FUSE

#define FUSE_USE_VERSION 31
#include <fcntl.h>
#include <fuse.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

struct mount {
    struct image *image;
    struct view view;
    struct fffs_flash flash;    /* the emulated one, with its changes written to the file */
    const struct fffs_flash *inner;
    int fd;
    int read_only, foreground, sync;
    const char *prefix, *options, *path, *folder;
};

static struct mount mounted;    /* FUSE hands a context too, but only inside of its calls */

/* ---- The image file as flash ---- */

/* Copies bytes of the emulated flash to the file. */
static int write_through(uint32_t address, uint32_t bytes)
{
    uint8_t chunk[4096];

    while (bytes > 0) {
        uint32_t part = bytes < sizeof chunk ? bytes : (uint32_t)sizeof chunk;

        nor_peek(mounted.image->nor, address, chunk, part);
        if (pwrite(mounted.fd, chunk, part, (off_t)address) != (ssize_t)part)
            return -1;
        address += part;
        bytes -= part;
    }
    return FFFS_FLASH_OK;
}

static int live_program(void *context, uint32_t address, const void *data, uint32_t bytes)
{
    int status = mounted.inner->program(context, address, data, bytes);

    return status == FFFS_FLASH_OK ? write_through(address, bytes) : status;
}

static int live_erase(void *context, uint32_t address, uint32_t bytes)
{
    int status = mounted.inner->erase(context, address, bytes);

    return status == FFFS_FLASH_OK ? write_through(address, bytes) : status;
}

/* Opens the file for itself, and keeps others from changing it. */
static int open_file(void)
{
    int flags = (mounted.read_only ? O_RDONLY : O_RDWR) | O_CLOEXEC | (mounted.sync ? O_DSYNC : 0);

    mounted.fd = open(mounted.path, flags);
    if (mounted.fd < 0) {
        tool_error(mounted.path, "%s", strerror(errno));
        return -1;
    }
    if (flock(mounted.fd, (mounted.read_only ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0) {
        tool_error(mounted.path, "in use by another 'fastffs mount'");
        return -1;
    }
    return 0;
}

static int open_volume(void)
{
    struct image *image;
    int status = image_open(&mounted.image, mounted.path, NOR_TIME_ESP32S3_FIT);

    if (status != FFFS_OK)
        return -1;
    image = mounted.image;
    mounted.inner = image->config.flash;
    mounted.flash = *mounted.inner;
    mounted.flash.program = live_program;
    mounted.flash.erase = live_erase;
    image->config.flash = &mounted.flash;
    status = image_mount(image, mounted.read_only ? FFFS_MOUNT_READ_ONLY : 0);
    if (status != FFFS_OK) {
        tool_error(mounted.path, "%s", tool_status_text(status));
        return -1;
    }
    view_begin(&mounted.view, &image->fs, mounted.prefix);
    return 0;
}

/* ---- Calls of FUSE ---- */

static struct view_file *file_of(const struct fuse_file_info *info)
{
    return info != NULL ? (struct view_file *)(uintptr_t)info->fh : NULL;
}

static void fill_stat(const struct view_info *info, struct stat *facts)
{
    mode_t writable = mounted.read_only ? 0 : 0200;

    memset(facts, 0, sizeof *facts);
    facts->st_mode = info->is_folder ? S_IFDIR | 0555 | writable : S_IFREG | 0444 | writable;
    facts->st_nlink = info->is_folder ? 2 : 1;
    facts->st_uid = getuid();
    facts->st_gid = getgid();
    facts->st_size = (off_t)info->size;
    facts->st_blocks = (blkcnt_t)((info->size + 511) / 512);
    facts->st_blksize = 4096;
    facts->st_mtime = facts->st_ctime = facts->st_atime = (time_t)info->stamp;
}

static int do_getattr(const char *path, struct stat *facts, struct fuse_file_info *file)
{
    struct view_info info;
    int status = 0;

    if (file_of(file) != NULL) /* the kernel names handles of files only */
        view_describe(file_of(file), &info);
    else
        status = view_stat(&mounted.view, path, &info);
    if (status == 0)
        fill_stat(&info, facts);
    return status;
}

struct filling {
    void *buffer;
    fuse_fill_dir_t fill;
};

static int fill_one(void *context, const char *name)
{
    const struct filling *filling = context;
    return filling->fill(filling->buffer, name, NULL, 0, 0);
}

/* Calls on what is open come without a path, since it may have none any more: an open folder remembers its own. */
static int do_opendir(const char *path, struct fuse_file_info *folder)
{
    folder->fh = (uint64_t)(uintptr_t)tool_copy(path);
    return 0;
}

static int do_releasedir(const char *path, struct fuse_file_info *folder)
{
    (void)path;
    free((char *)(uintptr_t)folder->fh);
    return 0;
}

static int do_readdir(const char *path, void *buffer, fuse_fill_dir_t fill, off_t offset, struct fuse_file_info *folder,
                      enum fuse_readdir_flags flags)
{
    struct filling filling = { buffer, fill };

    (void)path, (void)offset, (void)flags;
    fill(buffer, ".", NULL, 0, 0);
    fill(buffer, "..", NULL, 0, 0);
    return view_list(&mounted.view, (const char *)(uintptr_t)folder->fh, fill_one, &filling);
}

static int open_with(const char *path, unsigned flags, struct fuse_file_info *info)
{
    struct view_file *file;
    int changes = (info->flags & O_ACCMODE) != O_RDONLY || (info->flags & O_TRUNC) != 0 || flags != 0, status;

    if (changes && mounted.read_only)
        return -EROFS;
    if ((info->flags & O_TRUNC) != 0)
        flags |= VIEW_TRUNCATE;
    if ((info->flags & O_EXCL) != 0)
        flags |= VIEW_EXCLUSIVE;
    status = view_open(&mounted.view, path, flags, &file);
    if (status == 0)
        info->fh = (uint64_t)(uintptr_t)file;
    return status;
}

static int do_open(const char *path, struct fuse_file_info *info)
{
    return open_with(path, 0, info);
}

static int do_create(const char *path, mode_t mode, struct fuse_file_info *info)
{
    (void)mode;
    return open_with(path, VIEW_CREATE, info);
}

static int do_read(const char *path, char *buffer, size_t bytes, off_t offset, struct fuse_file_info *info)
{
    (void)path;
    return view_read(file_of(info), buffer, bytes, (uint64_t)offset);
}

static int do_write(const char *path, const char *data, size_t bytes, off_t offset, struct fuse_file_info *info)
{
    (void)path;
    file_of(info)->writer = (long)fuse_get_context()->pid;
    return view_write(&mounted.view, file_of(info), data, bytes, (uint64_t)offset);
}

/* A descriptor is closed, maybe not the last one: a shell opens the file of '>' and closes its copies before the program
 * writes, and that must not commit an empty or half-written version. The process that wrote last is taken to be done;
 * the others' closes are left to the release, which follows the last of all. */
static int do_flush(const char *path, struct fuse_file_info *info)
{
    struct view_file *file = file_of(info);

    (void)path;
    return file->writer == (long)fuse_get_context()->pid ? view_commit(&mounted.view, file) : 0;
}

static int do_release(const char *path, struct fuse_file_info *info)
{
    (void)path;
    (void)view_commit(&mounted.view, file_of(info)); /* the flush has told what went wrong */
    view_release(&mounted.view, file_of(info));
    return 0;
}

static int sync_image(void)
{
    return mounted.read_only || fdatasync(mounted.fd) == 0 ? 0 : -errno;
}

static int do_fsync(const char *path, int data_only, struct fuse_file_info *info)
{
    int status = view_commit(&mounted.view, file_of(info));

    (void)path, (void)data_only;
    return status != 0 ? status : sync_image();
}

static int do_fsyncdir(const char *path, int data_only, struct fuse_file_info *info)
{
    (void)path, (void)data_only, (void)info;
    return sync_image();
}

static int do_truncate(const char *path, off_t size, struct fuse_file_info *info)
{
    struct view_file *file = file_of(info);
    int status, own = file == NULL;

    if (mounted.read_only)
        return -EROFS;
    status = own ? view_open(&mounted.view, path, 0, &file) : 0;
    if (status != 0)
        return status;
    file->writer = (long)fuse_get_context()->pid;
    status = view_resize(&mounted.view, file, (uint64_t)size);
    if (own) {
        if (status == 0)
            status = view_commit(&mounted.view, file);
        view_release(&mounted.view, file);
    }
    return status;
}

static int do_unlink(const char *path)
{
    return mounted.read_only ? -EROFS : view_delete(&mounted.view, path);
}

static int do_rename(const char *from, const char *to, unsigned flags)
{
    if (mounted.read_only)
        return -EROFS;
    if ((flags & ~1u) != 0) /* RENAME_NOREPLACE is 1 */
        return -EINVAL;
    return view_rename(&mounted.view, from, to, (flags & 1u) != 0);
}

static int do_mkdir(const char *path, mode_t mode)
{
    (void)mode;
    return mounted.read_only ? -EROFS : view_make_folder(&mounted.view, path);
}

static int do_rmdir(const char *path)
{
    return mounted.read_only ? -EROFS : view_remove_folder(&mounted.view, path);
}

static int do_statfs(const char *path, struct statvfs *facts)
{
    struct fffs_space space;
    int status = fffs_space(&mounted.image->fs, &space);

    (void)path;
    if (status != FFFS_OK)
        return -view_errno(status);
    memset(facts, 0, sizeof *facts);
    facts->f_bsize = 4096;
    facts->f_frsize = 512;
    facts->f_blocks = space.capacity_bytes / 512;
    facts->f_bfree = facts->f_bavail = space.free_bytes / 512;
    facts->f_files = space.max_files;
    facts->f_ffree = facts->f_favail = space.max_files - space.files;
    facts->f_namemax = FFFS_NAME_MAX;
    return 0;
}

/* Modes, owners and times are accepted and not kept: programs that copy files set them. */
static int accept(const char *path, struct fuse_file_info *info)
{
    struct view_info facts;

    if (mounted.read_only)
        return -EROFS;
    return file_of(info) != NULL ? 0 : view_stat(&mounted.view, path, &facts);
}

static int do_chmod(const char *path, mode_t mode, struct fuse_file_info *info)
{
    (void)mode;
    return accept(path, info);
}

static int do_chown(const char *path, uid_t user, gid_t group, struct fuse_file_info *info)
{
    (void)user, (void)group;
    return accept(path, info);
}

static int do_utimens(const char *path, const struct timespec times[2], struct fuse_file_info *info)
{
    (void)times;
    return accept(path, info);
}

static int do_symlink(const char *target, const char *path)
{
    (void)target, (void)path;
    return -EPERM;
}

static int do_link(const char *from, const char *to)
{
    (void)from, (void)to;
    return -EPERM;
}

static int do_lock(const char *path, struct fuse_file_info *info, int command, struct flock *lock)
{
    (void)path, (void)info, (void)command;
    if (lock->l_type == F_UNLCK)
        return 0;
    tool_error(mounted.path, "a program wants to lock a part of a file: databases that change files in place (sqlite) do "
               "not work here");
    return -ENOTSUP;
}

static void *do_init(struct fuse_conn_info *connection, struct fuse_config *config)
{
    if ((connection->capable & FUSE_CAP_ATOMIC_O_TRUNC) != 0)
        connection->want |= FUSE_CAP_ATOMIC_O_TRUNC;
    config->hard_remove = 1;
    config->nullpath_ok = 1;
    return NULL;
}

static void do_destroy(void *data)
{
    struct view_file *file;

    (void)data;
    for (file = mounted.view.files; file != NULL; file = file->next)
        (void)view_commit(&mounted.view, file);
    (void)fffs_unmount(&mounted.image->fs);
    (void)sync_image();
}

static const struct fuse_operations operations = {
    .getattr = do_getattr, .opendir = do_opendir, .releasedir = do_releasedir, .readdir = do_readdir,
    .open = do_open, .create = do_create, .read = do_read, .write = do_write, .flush = do_flush, .release = do_release, .fsync = do_fsync, .fsyncdir = do_fsyncdir,
    .truncate = do_truncate, .unlink = do_unlink, .rename = do_rename, .mkdir = do_mkdir, .rmdir = do_rmdir,
    .statfs = do_statfs, .chmod = do_chmod, .chown = do_chown, .utimens = do_utimens, .symlink = do_symlink,
    .link = do_link, .lock = do_lock, .init = do_init, .destroy = do_destroy
};

/* ---- Command ---- */

static int serve(void)
{
    struct fuse_args arguments = FUSE_ARGS_INIT(0, NULL);
    int failed = fuse_opt_add_arg(&arguments, "fastffs") != 0 || fuse_opt_add_arg(&arguments, "-s") != 0 ||
                 fuse_opt_add_arg(&arguments, "-ofsname=fastffs,subtype=fastffs,default_permissions") != 0;

    if (mounted.foreground)
        failed |= fuse_opt_add_arg(&arguments, "-f") != 0;
    if (mounted.read_only)
        failed |= fuse_opt_add_arg(&arguments, "-oro") != 0;
    if (mounted.options != NULL)
        failed |= fuse_opt_add_arg(&arguments, "-o") != 0 || fuse_opt_add_arg(&arguments, mounted.options) != 0;
    failed |= fuse_opt_add_arg(&arguments, mounted.folder) != 0;
    if (!failed)
        failed = fuse_main(arguments.argc, arguments.argv, &operations, NULL) != 0;
    fuse_opt_free_args(&arguments);
    return failed ? EXIT_FAILED : EXIT_OK;
}

static int mount_image(void)
{
    struct stat facts;
    int code = EXIT_FAILED;

    mounted.fd = -1;
    if (stat(mounted.folder, &facts) != 0 || !S_ISDIR(facts.st_mode))
        tool_error(mounted.folder, "not a folder");
    else if (open_file() == 0 && open_volume() == 0)
        code = serve();
    if (mounted.image != NULL && mounted.image->mounted && code != EXIT_OK)
        (void)fffs_unmount(&mounted.image->fs);
    view_end(&mounted.view);
    image_close(mounted.image);
    if (mounted.fd >= 0)
        close(mounted.fd);
    return code;
}

enum { OPTION_PREFIX = 256, OPTION_SYNC };

static const struct option options[] = {
    { "foreground", no_argument, NULL, 'f' }, { "read-only", no_argument, NULL, 'r' },
    { "prefix", required_argument, NULL, OPTION_PREFIX }, { "sync", no_argument, NULL, OPTION_SYNC },
    { "options", required_argument, NULL, 'o' }, { "help", no_argument, NULL, 'h' }, { NULL, 0, NULL, 0 }
};

static int run(int argc, char **argv)
{
    int option;

    mounted.prefix = "";
    while ((option = getopt_long(argc, argv, "fro:h", options, NULL)) != -1) {
        switch (option) {
        case 'f': mounted.foreground = 1; break;
        case 'r': mounted.read_only = 1; break;
        case OPTION_PREFIX: mounted.prefix = optarg; break;
        case OPTION_SYNC: mounted.sync = 1; break;
        case 'o': mounted.options = optarg; break;
        case 'h': return tool_help(&command_mount);
        default: return tool_usage(&command_mount, "wrong option");
        }
    }
    if (argc - optind != 2)
        return tool_usage(&command_mount, "IMAGE and DIR are needed");
    if (strlen(mounted.prefix) > FFFS_NAME_MAX)
        return tool_usage(&command_mount, "the prefix is longer than a name");
    mounted.path = argv[optind];
    mounted.folder = argv[optind + 1];
    return mount_image();
}

#else

static int run(int argc, char **argv)
{
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
        return tool_help(&command_mount);
    tool_error(NULL, "mount: this program was built without libfuse3: install its development files and build again");
    return EXIT_FAILED;
}

#endif

const struct command command_mount = { "mount", "IMAGE DIR [options]", "Shows an image as a folder, through FUSE.", help,
    EXIT_USAGE, run };

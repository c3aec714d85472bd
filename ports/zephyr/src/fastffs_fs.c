/* The operations of Zephyr's file system interface: each locks and calls fffs_posix, whose results are what Zephyr wants. */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include <zephyr/fs/fs.h>
#include <zephyr/fs/fs_sys.h>
#include <zephyr/init.h>
#include <zephyr/kernel.h>

#include "fastffs_zephyr/fastffs.h"
#include "fffs_first_boot.h"

enum { OLD_BUFFER_SIZE = 64, GRANULE_MAX = 64 };

struct open_file {
	struct fffs_posix_file file;
	uint32_t buffer[CONFIG_FASTFFS_FILE_BUFFER_SIZE / 4];
	uint32_t old_buffer[OLD_BUFFER_SIZE / 4];
};

struct open_dir {
	struct fffs_posix_dir dir;
};

K_MEM_SLAB_DEFINE_STATIC(file_slab, ROUND_UP(sizeof(struct open_file), 8), CONFIG_FASTFFS_NUM_FILES, 8);
K_MEM_SLAB_DEFINE_STATIC(dir_slab, ROUND_UP(sizeof(struct open_dir), 8), CONFIG_FASTFFS_NUM_DIRS, 8);

/* ---- Locking ---- */

static void hook_lock(void *context)
{
	struct fastffs_data *data = context;

	(void)k_mutex_lock(&data->mutex, K_FOREVER);
}

static void hook_unlock(void *context)
{
	struct fastffs_data *data = context;

	(void)k_mutex_unlock(&data->mutex);
}

static struct fastffs_data *enter(const struct fs_mount_t *mount)
{
	struct fastffs_data *data = mount->fs_data;

	hook_lock(data);
	return data;
}

static int leave(struct fastffs_data *data, int result)
{
	hook_unlock(data);
	return result;
}

static void hook_progress(void *context, uint32_t done, uint32_t total)
{
	struct fastffs_data *data = context;

	if (data->progress != NULL) {
		data->progress(data->progress_context, done, total);
	}
}

/* What lies behind the mount point. */
static const char *below(const struct fs_mount_t *mount, const char *path)
{
	return path + mount->mountp_len;
}

/* ---- Mount ---- */

static void configure(struct fastffs_data *data, int read_only)
{
	struct fffs_config *config = &data->config;

	memset(&data->fs, 0, sizeof(data->fs));
	memset(config, 0, sizeof(*config));
	config->flash = &data->flash;
	config->scratch = data->scratch;
	config->scratch_bytes = data->scratch_size;
	config->segment_table = data->segments;
	config->segment_table_entries = data->segments_count;
	config->cache = data->cache;
	config->cache_bytes = data->cache_size;
	config->flags = read_only ? (uint32_t)FFFS_MOUNT_READ_ONLY : 0u;
	config->lock = hook_lock;
	config->unlock = hook_unlock;
	config->progress = hook_progress;
	config->hook_context = data;
	data->posix.fs = &data->fs;
	data->posix.copy = data->copy;
	data->posix.copy_bytes = sizeof(data->copy);
	data->posix.made = data->made;
	data->posix.made_count = FASTFFS_MADE;
	data->posix.read_only = read_only;
	memset(data->made, 0, sizeof(data->made));
}

static enum fffs_format_policy policy_of(const struct fs_mount_t *mount, const struct fastffs_data *data)
{
	if (mount->flags & (FS_MOUNT_FLAG_NO_FORMAT | FS_MOUNT_FLAG_READ_ONLY)) {
		return FFFS_FORMAT_NEVER;
	}
	return data->format_foreign ? FFFS_FORMAT_FOREIGN : FFFS_FORMAT_BLANK;
}

static int mount_or_format(const struct fs_mount_t *mount, struct fastffs_data *data)
{
	struct fffs_format_options options;
	int status = fffs_mount(&data->fs, &data->config);

	data->mount_status = status;
	data->formatted = 0;
	memset(&options, 0, sizeof(options));
	options.geometry.max_files = data->max_files;
	if (!fffs_first_boot(&data->flash, status, policy_of(mount, data), data->copy, sizeof(data->copy), &options)) {
		return status;
	}
	status = fffs_format(&data->fs, &data->config, &options);
	data->formatted = status == FFFS_OK;
	return status == FFFS_OK ? fffs_mount(&data->fs, &data->config) : status;
}

/* Opens the flash area and fills the driver. */
static int open_area(struct fastffs_data *data, uintptr_t id)
{
	int result = flash_area_open((uint8_t)id, &data->area);

	if (result < 0) {
		return result;
	}
	result = fastffs_area_init(&data->flash, data->area);
	if (result == 0 && data->flash.granule_bytes > GRANULE_MAX) {
		result = -ENOTSUP;
	}
	if (result < 0) {
		flash_area_close(data->area);
	}
	return result;
}

static int op_mount(struct fs_mount_t *mount)
{
	struct fastffs_data *data = mount->fs_data;
	int result;

	if (mount->flags & FS_MOUNT_FLAG_USE_DISK_ACCESS) {
		return -ENOTSUP;
	}
	if (data->is_mounted) {
		return -EBUSY;
	}
	(void)k_mutex_init(&data->mutex);
	result = open_area(data, (uintptr_t)mount->storage_dev);
	if (result < 0) {
		return result;
	}
	configure(data, (mount->flags & FS_MOUNT_FLAG_READ_ONLY) != 0);
	result = -fffs_posix_errno(mount_or_format(mount, data));
	if (result < 0) {
		flash_area_close(data->area);
	}
	data->is_mounted = result == 0;
	return result;
}

static int op_unmount(struct fs_mount_t *mount)
{
	struct fastffs_data *data = enter(mount);
	int status = data->open_files > 0 ? FFFS_ERR_BUSY : fffs_unmount(&data->fs);

	if (status != FFFS_ERR_BUSY) {
		flash_area_close(data->area);
		data->is_mounted = 0;
	}
	return leave(data, -fffs_posix_errno(status));
}

/* ---- Files ---- */

static unsigned open_flags(fs_mode_t flags)
{
	return (flags & FS_O_READ ? (unsigned)FFFS_POSIX_READ : 0u) | (flags & FS_O_WRITE ? (unsigned)FFFS_POSIX_WRITE : 0u)
		| (flags & FS_O_CREATE ? (unsigned)FFFS_POSIX_CREATE : 0u)
		| (flags & FS_O_APPEND ? (unsigned)FFFS_POSIX_APPEND : 0u)
#ifdef FS_O_TRUNC
		| (flags & FS_O_TRUNC ? (unsigned)FFFS_POSIX_TRUNCATE : 0u)
#endif
		;
}

static int op_open(struct fs_file_t *filp, const char *path, fs_mode_t flags)
{
	struct fastffs_data *data;
	struct open_file *file;
	void *block;
	int result;

	if (k_mem_slab_alloc(&file_slab, &block, K_NO_WAIT) != 0) {
		return -ENOMEM;
	}
	file = block;
	memset(file, 0, sizeof(*file));
	file->file.buffer = file->buffer;
	file->file.buffer_bytes = sizeof(file->buffer);
	file->file.old_buffer = file->old_buffer;
	file->file.old_buffer_bytes = sizeof(file->old_buffer);
	data = enter(filp->mp);
	result = fffs_posix_open(&data->posix, &file->file, below(filp->mp, path), open_flags(flags));
	if (result == 0) {
		filp->filep = file;
		data->open_files++;
	} else {
		k_mem_slab_free(&file_slab, file);
	}
	return leave(data, result);
}

static int op_close(struct fs_file_t *filp)
{
	struct open_file *file = filp->filep;
	struct fastffs_data *data = enter(filp->mp);
	int result = fffs_posix_close(&data->posix, &file->file);

	data->open_files--;
	filp->filep = NULL;
	k_mem_slab_free(&file_slab, file);
	return leave(data, result);
}

static uint32_t bounded(size_t bytes)
{
	return bytes > INT32_MAX ? (uint32_t)INT32_MAX : (uint32_t)bytes;
}

static ssize_t op_read(struct fs_file_t *filp, void *dest, size_t nbytes)
{
	struct open_file *file = filp->filep;
	struct fastffs_data *data = enter(filp->mp);

	return leave(data, (int)fffs_posix_read(&data->posix, &file->file, dest, bounded(nbytes)));
}

static ssize_t op_write(struct fs_file_t *filp, const void *src, size_t nbytes)
{
	struct open_file *file = filp->filep;
	struct fastffs_data *data = enter(filp->mp);

	return leave(data, (int)fffs_posix_write(&data->posix, &file->file, src, bounded(nbytes)));
}

static int op_lseek(struct fs_file_t *filp, off_t off, int whence)
{
	struct open_file *file = filp->filep;
	struct fastffs_data *data = enter(filp->mp);
	int how = whence == FS_SEEK_SET ? FFFS_SEEK_SET : whence == FS_SEEK_CUR ? FFFS_SEEK_CUR
		: whence == FS_SEEK_END ? FFFS_SEEK_END : -1;
	int32_t result = -EINVAL;

	if (off <= INT32_MAX && off >= -INT32_MAX) {
		result = fffs_posix_seek(&data->posix, &file->file, (int32_t)off, how);
	}
	return leave(data, result < 0 ? (int)result : 0);
}

static off_t op_tell(struct fs_file_t *filp)
{
	struct open_file *file = filp->filep;
	struct fastffs_data *data = enter(filp->mp);

	return leave(data, (int)fffs_posix_seek(&data->posix, &file->file, 0, FFFS_SEEK_CUR));
}

static int op_truncate(struct fs_file_t *filp, off_t length)
{
	struct open_file *file = filp->filep;
	struct fastffs_data *data = enter(filp->mp);

	if (length < 0) {
		return leave(data, -EINVAL);
	}
	return leave(data, length > INT32_MAX ? -EFBIG : fffs_posix_truncate(&data->posix, &file->file, (uint32_t)length));
}

/* Nothing is durable before close, and it does not claim so once something was written. */
static int op_sync(struct fs_file_t *filp)
{
	struct open_file *file = filp->filep;
	struct fastffs_data *data = enter(filp->mp);
	int result = fffs_posix_sync(&data->posix, &file->file);

	return leave(data, result == -EINVAL ? -ENOTSUP : result);
}

/* ---- Names ---- */

/* Fills the entry with the last part of the name. A name that does not fit is an error, it is not cut. */
static int fill_entry(struct fs_dirent *entry, const struct fffs_info *info)
{
	const char *name = strrchr(info->name, '/');

	name = name != NULL ? name + 1 : info->name;
	if (strlen(name) > MAX_FILE_NAME) {
		return -ENAMETOOLONG;
	}
	memset(entry, 0, sizeof(*entry));
	entry->type = info->is_folder ? FS_DIR_ENTRY_DIR : FS_DIR_ENTRY_FILE;
	entry->size = info->size;
	strcpy(entry->name, name);
	return 0;
}

static int op_stat(struct fs_mount_t *mount, const char *path, struct fs_dirent *entry)
{
	struct fastffs_data *data = enter(mount);
	struct fffs_info info;
	int result = fffs_posix_stat(&data->posix, below(mount, path), &info);

	return leave(data, result == 0 ? fill_entry(entry, &info) : result);
}

static int op_unlink(struct fs_mount_t *mount, const char *path)
{
	struct fastffs_data *data = enter(mount);
	int result = fffs_posix_unlink(&data->posix, below(mount, path));

	if (result == -EISDIR) {
		result = fffs_posix_rmdir(&data->posix, below(mount, path));
	}
	return leave(data, result);
}

static int op_rename(struct fs_mount_t *mount, const char *from, const char *to)
{
	struct fastffs_data *data = enter(mount);

	return leave(data, fffs_posix_rename(&data->posix, below(mount, from), below(mount, to)));
}

static int op_mkdir(struct fs_mount_t *mount, const char *path)
{
	struct fastffs_data *data = enter(mount);

	return leave(data, fffs_posix_mkdir(&data->posix, below(mount, path)));
}

static int op_statvfs(struct fs_mount_t *mount, const char *path, struct fs_statvfs *stat)
{
	struct fastffs_data *data = enter(mount);
	struct fffs_space space;
	int status = fffs_space(&data->fs, &space);

	(void)path;
	if (status < 0) {
		return leave(data, -fffs_posix_errno(status));
	}
	/* Space is counted in bytes; blocks of a page keep the numbers small. */
	memset(stat, 0, sizeof(*stat));
	stat->f_bsize = data->flash.erase_bytes[0];
	stat->f_frsize = stat->f_bsize;
	stat->f_blocks = space.capacity_bytes / stat->f_frsize;
	stat->f_bfree = space.free_bytes / stat->f_frsize;
	return leave(data, 0);
}

/* ---- Directories ---- */

static int op_opendir(struct fs_dir_t *dirp, const char *path)
{
	struct fastffs_data *data;
	struct open_dir *dir;
	void *block;
	int result;

	if (k_mem_slab_alloc(&dir_slab, &block, K_NO_WAIT) != 0) {
		return -ENOMEM;
	}
	dir = block;
	memset(dir, 0, sizeof(*dir));
	data = enter(dirp->mp);
	result = fffs_posix_opendir(&data->posix, &dir->dir, below(dirp->mp, path));
	if (result == 0) {
		dirp->dirp = dir;
		data->open_files++;
	} else {
		k_mem_slab_free(&dir_slab, dir);
	}
	return leave(data, result);
}

static int op_readdir(struct fs_dir_t *dirp, struct fs_dirent *entry)
{
	struct open_dir *dir = dirp->dirp;
	struct fastffs_data *data = enter(dirp->mp);
	struct fffs_info info;
	int result = fffs_posix_readdir(&data->posix, &dir->dir, &info);

	if (result == 0) {
		entry->name[0] = '\0';
	}
	return leave(data, result == 1 ? fill_entry(entry, &info) : result);
}

static int op_closedir(struct fs_dir_t *dirp)
{
	struct open_dir *dir = dirp->dirp;
	struct fastffs_data *data = enter(dirp->mp);
	int result = fffs_posix_closedir(&data->posix, &dir->dir);

	data->open_files--;
	dirp->dirp = NULL;
	k_mem_slab_free(&dir_slab, dir);
	return leave(data, result);
}

/* ---- Registration ---- */

#if defined(CONFIG_FILE_SYSTEM_MKFS)
/* `cfg` is the struct fastffs_data of a volume that is not mounted. */
static int op_mkfs(uintptr_t dev_id, void *cfg, int flags)
{
	struct fastffs_data *data = cfg;
	struct fffs_format_options options;
	int result;

	(void)flags;
	if (data == NULL) {
		return -EINVAL;
	}
	if (data->is_mounted) {
		return -EBUSY;
	}
	(void)k_mutex_init(&data->mutex);
	result = open_area(data, dev_id);
	if (result < 0) {
		return result;
	}
	configure(data, 0);
	memset(&options, 0, sizeof(options));
	options.geometry.max_files = data->max_files;
	result = -fffs_posix_errno(fffs_format(&data->fs, &data->config, &options));
	flash_area_close(data->area);
	return result;
}
#endif

int fastffs_collect(struct fs_mount_t *mount)
{
	struct fastffs_data *data = mount->fs_data;
	int action = fffs_gc_step(&data->fs, NULL, NULL);

	return action < 0 ? -fffs_posix_errno(action) : action;
}

static const struct fs_file_system_t operations = {
	.open = op_open, .read = op_read, .write = op_write, .lseek = op_lseek, .tell = op_tell, .truncate = op_truncate,
	.sync = op_sync, .close = op_close, .opendir = op_opendir, .readdir = op_readdir, .closedir = op_closedir,
	.mount = op_mount, .unmount = op_unmount, .unlink = op_unlink, .rename = op_rename, .mkdir = op_mkdir,
	.stat = op_stat, .statvfs = op_statvfs,
#if defined(CONFIG_FILE_SYSTEM_MKFS)
	.mkfs = op_mkfs,
#endif
};

static int fastffs_init(void)
{
	return fs_register(FS_FASTFFS, &operations);
}

SYS_INIT(fastffs_init, POST_KERNEL, CONFIG_FILE_SYSTEM_INIT_PRIORITY);

/* The functions behind the stub headers: one flash area on emulated flash, mutexes and slabs, and a file system core that
 * finds the mount by path. */
#include "ports/zephyr/stubs/stub_zephyr.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <zephyr/drivers/flash.h>
#include <zephyr/fs/fs_sys.h>
#include <zephyr/kernel.h>

/* ---- Kernel ---- */

int stub_areas_open, stub_blocks_used;

int k_mutex_init(struct k_mutex *mutex)
{
    pthread_mutexattr_t attributes;

    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&mutex->mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
    mutex->depth = 0;
    return 0;
}

int k_mutex_lock(struct k_mutex *mutex, k_timeout_t timeout)
{
    (void)timeout;
    pthread_mutex_lock(&mutex->mutex);
    mutex->depth++;
    return 0;
}

int k_mutex_unlock(struct k_mutex *mutex)
{
    if (mutex->depth-- <= 0)
        abort();
    return pthread_mutex_unlock(&mutex->mutex);
}

int k_mem_slab_alloc(struct k_mem_slab *slab, void **mem, k_timeout_t timeout)
{
    uint32_t i;

    (void)timeout;
    for (i = 0; i < slab->count; i++)
        if (!(slab->used >> i & 1)) {
            slab->used |= (uint64_t)1 << i;
            *mem = slab->memory + i * slab->block;
            stub_blocks_used++;
            return 0;
        }
    return -ENOMEM;
}

void k_mem_slab_free(struct k_mem_slab *slab, void *mem)
{
    size_t i = (size_t)((char *)mem - slab->memory) / slab->block;

    if (!(slab->used >> i & 1))
        abort();
    slab->used &= ~((uint64_t)1 << i);
    stub_blocks_used--;
}

/* ---- Flash ---- */

struct device { int unused; };
static const struct device device;
static struct flash_area area = { STUB_PARTITION_storage_partition, 0, 0, 0, &device };
static struct nor *nor;
static uint32_t page_size;
static uint8_t erased_value = 0xFF;
static long fail_after = -1;

void stub_flash(struct nor *of, uint32_t offset, uint32_t page_bytes)
{
    nor = of;
    area.fa_off = (off_t)offset;
    area.fa_size = nor_size(of);
    page_size = page_bytes;
}

void stub_flash_erased_value(uint8_t value)
{
    erased_value = value;
}

void stub_flash_fail_after(long calls)
{
    fail_after = calls;
}

static int fails(void)
{
    if (fail_after < 0)
        return 0;
    if (fail_after == 0)
        return 1;
    fail_after--;
    return 0;
}

int flash_area_open(uint8_t id, const struct flash_area **fa)
{
    if (id != area.fa_id || nor == NULL)
        return -ENOENT;
    *fa = &area;
    stub_areas_open++;
    return 0;
}

void flash_area_close(const struct flash_area *fa)
{
    if (fa != &area)
        abort();
    stub_areas_open--;
}

static int in_area(const struct flash_area *fa, off_t off, size_t len)
{
    return off >= 0 && (size_t)off <= fa->fa_size && len <= fa->fa_size - (size_t)off;
}

int flash_area_read(const struct flash_area *fa, off_t off, void *dst, size_t len)
{
    const struct fffs_flash *flash = nor_flash(nor);

    if (!in_area(fa, off, len))
        return -EINVAL;
    return fails() || flash->read(flash->context, (uint32_t)off, dst, (uint32_t)len) != 0 ? -EIO : 0;
}

int flash_area_write(const struct flash_area *fa, off_t off, const void *src, size_t len)
{
    const struct fffs_flash *flash = nor_flash(nor);

    if (!in_area(fa, off, len))
        return -EINVAL;
    return fails() || flash->program(flash->context, (uint32_t)off, src, (uint32_t)len) != 0 ? -EIO : 0;
}

int flash_area_erase(const struct flash_area *fa, off_t off, size_t len)
{
    const struct fffs_flash *flash = nor_flash(nor);

    if (!in_area(fa, off, len) || (size_t)off % page_size != 0 || len % page_size != 0)
        return -EINVAL;
    return fails() || flash->erase(flash->context, (uint32_t)off, (uint32_t)len) != 0 ? -EIO : 0;
}

uint32_t flash_area_align(const struct flash_area *fa)
{
    (void)fa;
    return nor_flash(nor)->granule_bytes;
}

uint8_t flash_area_erased_val(const struct flash_area *fa)
{
    (void)fa;
    return erased_value;
}

const struct device *flash_area_get_device(const struct flash_area *fa)
{
    return fa->fa_dev;
}

int flash_get_page_info_by_offs(const struct device *dev, off_t offset, struct flash_pages_info *info)
{
    if (dev != &device)
        return -EINVAL;
    info->size = page_size;
    info->start_offset = offset / (off_t)page_size * (off_t)page_size;
    info->index = (uint32_t)offset / page_size;
    return 0;
}

/* ---- File system core ---- */

enum { MOUNTS = 2 };
static const struct fs_file_system_t *registered;
static int registered_type;
static struct fs_mount_t *mounts[MOUNTS];

int fs_register(int type, const struct fs_file_system_t *fs)
{
    if (type < FS_TYPE_EXTERNAL_BASE)
        return -EINVAL;
    registered = fs;
    registered_type = type;
    return 0;
}

static struct fs_mount_t *mount_of(const char *path)
{
    int i;

    for (i = 0; i < MOUNTS; i++)
        if (mounts[i] != NULL && strncmp(path, mounts[i]->mnt_point, mounts[i]->mountp_len) == 0
            && (path[mounts[i]->mountp_len] == '/' || path[mounts[i]->mountp_len] == '\0'))
            return mounts[i];
    return NULL;
}

int fs_mount(struct fs_mount_t *mp)
{
    int i, result;

    if (mp->type != registered_type)
        return -ENOENT;
    for (i = 0; i < MOUNTS && mounts[i] != NULL; i++)
        ;
    if (i == MOUNTS || mount_of(mp->mnt_point) != NULL)
        return -EBUSY;
    mp->mountp_len = strlen(mp->mnt_point);
    mp->fs = registered;
    result = registered->mount(mp);
    if (result == 0)
        mounts[i] = mp;
    return result;
}

int fs_unmount(struct fs_mount_t *mp)
{
    int i, result = mp->fs == NULL ? -EINVAL : mp->fs->unmount(mp);

    for (i = 0; i < MOUNTS; i++)
        if (result == 0 && mounts[i] == mp)
            mounts[i] = NULL;
    return result;
}

int fs_open(struct fs_file_t *zfp, const char *file_name, fs_mode_t flags)
{
    const struct fs_mount_t *mp = mount_of(file_name);
    int result;

    if (mp == NULL)
        return -ENOENT;
    if (zfp->mp != NULL)
        return -EBUSY;
    zfp->mp = mp;
    result = mp->fs->open(zfp, file_name, flags);
    if (result < 0)
        zfp->mp = NULL;
    return result;
}

int fs_close(struct fs_file_t *zfp)
{
    int result = zfp->mp == NULL ? 0 : zfp->mp->fs->close(zfp);

    zfp->mp = NULL;
    return result;
}

#define OF_FILE(zfp, call, ...) return (zfp)->mp == NULL ? -EBADF : (zfp)->mp->fs->call(__VA_ARGS__)
ssize_t fs_read(struct fs_file_t *zfp, void *ptr, size_t size) { OF_FILE(zfp, read, zfp, ptr, size); }
ssize_t fs_write(struct fs_file_t *zfp, const void *ptr, size_t size) { OF_FILE(zfp, write, zfp, ptr, size); }
int fs_seek(struct fs_file_t *zfp, off_t offset, int whence) { OF_FILE(zfp, lseek, zfp, offset, whence); }
off_t fs_tell(struct fs_file_t *zfp) { OF_FILE(zfp, tell, zfp); }
int fs_truncate(struct fs_file_t *zfp, off_t length) { OF_FILE(zfp, truncate, zfp, length); }
int fs_sync(struct fs_file_t *zfp) { OF_FILE(zfp, sync, zfp); }
int fs_readdir(struct fs_dir_t *zdp, struct fs_dirent *entry) { OF_FILE(zdp, readdir, zdp, entry); }

#define OF_PATH(path, call, ...) \
    struct fs_mount_t *mp = mount_of(path); \
    return mp == NULL ? -ENOENT : mp->fs->call(mp, __VA_ARGS__)
int fs_unlink(const char *path) { OF_PATH(path, unlink, path); }
int fs_rename(const char *from, const char *to) { OF_PATH(from, rename, from, to); }
int fs_mkdir(const char *path) { OF_PATH(path, mkdir, path); }
int fs_stat(const char *path, struct fs_dirent *entry) { OF_PATH(path, stat, path, entry); }
int fs_statvfs(const char *path, struct fs_statvfs *stat) { OF_PATH(path, statvfs, path, stat); }

int fs_opendir(struct fs_dir_t *zdp, const char *path)
{
    const struct fs_mount_t *mp = mount_of(path);
    int result;

    if (mp == NULL)
        return -ENOENT;
    zdp->mp = mp;
    result = mp->fs->opendir(zdp, path);
    if (result < 0)
        zdp->mp = NULL;
    return result;
}

int fs_closedir(struct fs_dir_t *zdp)
{
    int result = zdp->mp->fs->closedir(zdp);

    zdp->mp = NULL;
    return result;
}

int fs_mkfs(int type, uintptr_t dev_id, void *cfg, int flags)
{
    return type == registered_type ? registered->mkfs(dev_id, cfg, flags) : -EINVAL;
}

/* Public entry: checks arguments, takes the lock, calls the module, releases the lock. No filesystem logic of its own. */
#include <stddef.h>
#include <string.h>

#include "bytes.h"
#include "check.h"
#include "dir.h"
#include "file.h"
#include "commit.h"
#include "gc.h"
#include "handles.h"
#include "index_log.h"
#include "mount.h"
#include "rename.h"
#include "segments.h"
#include "transaction.h"
#include "wear.h"

uint32_t fffs_version(void)
{
    return (uint32_t)FFFS_VERSION_MAJOR << 16 | FFFS_VERSION_MINOR << 8 | FFFS_VERSION_PATCH;
}

unsigned fffs_format_version(void)
{
    return FFFS_FORMAT_VERSION;
}

const char *fffs_status_name(int status)
{
    static const char *const names[] = {
        "FFFS_OK", "FFFS_ERR_IO", "FFFS_ERR_CORRUPT", "FFFS_ERR_NOT_FOUND", "FFFS_ERR_EXISTS", "FFFS_ERR_NO_SPACE",
        "FFFS_ERR_INDEX_FULL", "FFFS_ERR_COLLECT_FIRST", "FFFS_ERR_BAD_NAME", "FFFS_ERR_NAME_TOO_LONG",
        "FFFS_ERR_INVALID", "FFFS_ERR_BUSY", "FFFS_ERR_NOT_OPEN", "FFFS_ERR_NOT_MOUNTED", "FFFS_ERR_READ_ONLY",
        "FFFS_ERR_WRITE_ONLY", "FFFS_ERR_STALE", "FFFS_ERR_BLANK", "FFFS_ERR_FOREIGN", "FFFS_ERR_NEWER_FORMAT",
        "FFFS_ERR_WRONG_SIZE", "FFFS_ERR_NO_MEMORY", "FFFS_ERR_TOO_BIG", "FFFS_ERR_UNSUPPORTED", "FFFS_ERR_ABANDONED",
        "FFFS_ERR_REMOUNT"
    };

    if (status > 0 || status <= -(int)(sizeof names / sizeof names[0]))
        return "FFFS_ERR_?";
    return names[-status];
}

/* ---- Entry and exit ---- */

static void lock(const struct fffs_config *config)
{
    if (config->lock != NULL)
        config->lock(config->hook_context);
}

static void unlock(const struct fffs_config *config)
{
    if (config->unlock != NULL)
        config->unlock(config->hook_context);
}

static int is_mounted(const struct fffs *fs)
{
    return fs != NULL && fs->mounted == FFFS_MOUNTED;
}

/* Locks a mounted volume. A call from inside another one would change what that one is working on. */
static int enter(struct fffs *fs)
{
    if (fs == NULL)
        return FFFS_ERR_INVALID;
    if (!is_mounted(fs))
        return FFFS_ERR_NOT_MOUNTED;
    lock(fs->config);
    if ((fs->state & FFFS_STATE_INSIDE) != 0) {
        unlock(fs->config);
        return FFFS_ERR_BUSY;
    }
    fs->state |= FFFS_STATE_INSIDE;
    return FFFS_OK;
}

static int leave(struct fffs *fs, int status)
{
    fs->state &= (uint8_t)~FFFS_STATE_INSIDE;
    unlock(fs->config);
    return status;
}

static int32_t leave_count(struct fffs *fs, int32_t result)
{
    fs->state &= (uint8_t)~FFFS_STATE_INSIDE;
    unlock(fs->config);
    return result;
}

/* Whether changes may be made; does the recovery that mount put off. */
static int may_change(struct fffs *fs)
{
    if ((fs->flags & FFFS_MOUNT_READ_ONLY) != 0)
        return FFFS_ERR_READ_ONLY;
    return fs->failed != 0 ? fs->failed : fffs_mount_recover(fs);
}

/* As an array of uint32_t is: to 4 bytes, on 8-bit processors to 1. */
static int is_aligned(const void *buffer)
{
    struct probe { char byte; uint32_t word; };
    return (uintptr_t)buffer % offsetof(struct probe, word) == 0;
}

/* The same for changes of names: while a transaction is open they are its own. */
static int may_rename(struct fffs *fs)
{
    return fs->txn != NULL ? FFFS_ERR_BUSY : may_change(fs);
}

static int check_config(const struct fffs_config *config)
{
    const struct fffs_flash *flash;
    int writable;

    if (config == NULL || config->flash == NULL)
        return FFFS_ERR_INVALID;
    flash = config->flash;
    writable = (config->flags & FFFS_MOUNT_READ_ONLY) == 0;
    if (flash->read == NULL || (writable && (flash->program == NULL || flash->erase == NULL)) ||
        (config->flags & ~(uint32_t)(FFFS_MOUNT_READ_ONLY | FFFS_MOUNT_DEFER_RECOVERY | FFFS_MOUNT_LAZY_WEIGHTS |
                                     FFFS_MOUNT_NO_INLINE_GC | FFFS_MOUNT_VERIFY | FFFS_MOUNT_NO_LEVELLING)) != 0)
        return FFFS_ERR_INVALID;
    if (!fffs_is_power_of_two(flash->granule_bytes) || flash->granule_bytes > 256u ||
        !fffs_is_power_of_two(flash->erase_bytes[0]) || flash->erase_bytes[0] > 65536u)
        return FFFS_ERR_UNSUPPORTED;
    if (flash->size_bytes == 0)
        return FFFS_ERR_INVALID;
    if (config->scratch == NULL || !is_aligned(config->scratch) || !is_aligned(config->cache))
        return FFFS_ERR_INVALID;
    return config->scratch_bytes < FFFS_SCRATCH_MIN ? FFFS_ERR_NO_MEMORY : FFFS_OK;
}

/* ---- Volume ---- */

static void tell_geometry(const struct fffs_shape *shape, unsigned version, struct fffs_geometry *geometry)
{
    geometry->sector_bytes = (uint32_t)1 << shape->sector_shift;
    geometry->sector_count = shape->sectors;
    geometry->granule_bytes = (uint32_t)1 << shape->granule_shift;
    geometry->segment_bytes = geometry->sector_bytes << shape->segment_shift;
    geometry->max_files = shape->max_files;
    geometry->probe_limit = shape->probes;
    geometry->index_bytes = (uint32_t)shape->first_sector << shape->sector_shift;
    geometry->segment_count = shape->segments;
    geometry->format_version = version;
}

int fffs_discover(const struct fffs_flash *flash, struct fffs_geometry *geometry)
{
    struct fffs_header header;
    int status;

    if (flash == NULL || flash->read == NULL || geometry == NULL)
        return FFFS_ERR_INVALID;
    status = fffs_discover_newest(flash, &header);
    if (status != FFFS_OK)
        return status;
    tell_geometry(&header.shape, header.version, geometry);
    return fffs_volume_bytes(&header.shape) > flash->size_bytes ? FFFS_ERR_WRONG_SIZE : FFFS_OK;
}

int fffs_format_plan(const struct fffs_flash *flash, const struct fffs_format_options *options,
                     struct fffs_geometry *geometry)
{
    struct fffs_shape shape;
    int status;

    if (flash == NULL || geometry == NULL)
        return FFFS_ERR_INVALID;
    status = fffs_plan_shape(flash, options, &shape);
    if (status == FFFS_OK)
        tell_geometry(&shape, FFFS_FORMAT_VERSION, geometry);
    return status;
}

int fffs_format(struct fffs *fs, const struct fffs_config *config, const struct fffs_format_options *options)
{
    int status = fs == NULL ? FFFS_ERR_INVALID : check_config(config);

    if (status != FFFS_OK)
        return status;
    lock(config);
    if (is_mounted(fs)) {
        status = FFFS_ERR_BUSY;
    } else if ((config->flags & FFFS_MOUNT_READ_ONLY) != 0) {
        status = FFFS_ERR_READ_ONLY;
    } else {
        status = fffs_format_volume(fs, config, options);
        memset(fs, 0, sizeof *fs);
    }
    unlock(config);
    return status;
}

static int begin_mount(struct fffs *fs, const struct fffs_config *config)
{
    int status = fs == NULL ? FFFS_ERR_INVALID : check_config(config);

    if (status != FFFS_OK)
        return status;
    lock(config);
    if (!is_mounted(fs))
        return FFFS_OK;
    unlock(config);
    return FFFS_ERR_BUSY;
}

static int end_mount(struct fffs *fs, const struct fffs_config *config, int status)
{
    if (status == FFFS_OK)
        fs->mounted = FFFS_MOUNTED;
    else
        memset(fs, 0, sizeof *fs);
    unlock(config);
    return status;
}

int fffs_mount(struct fffs *fs, const struct fffs_config *config)
{
    int status = begin_mount(fs, config);
    return status != FFFS_OK ? status : end_mount(fs, config, fffs_mount_load(fs, config));
}

int fffs_mount_reading(struct fffs *fs, const struct fffs_config *config)
{
    int status = config != NULL && (config->flags & FFFS_MOUNT_READ_ONLY) == 0 ? FFFS_ERR_INVALID : begin_mount(fs, config);
    return status != FFFS_OK ? status : end_mount(fs, config, fffs_mount_load_reading(fs, config));
}

int fffs_unmount_reading(struct fffs *fs)
{
    const struct fffs_config *config;
    int status = enter(fs);

    if (status != FFFS_OK)
        return status;
    if (fs->files != NULL || fs->dirs != NULL || (fs->flags & FFFS_MOUNT_READ_ONLY) == 0)
        return leave(fs, fs->files != NULL || fs->dirs != NULL ? FFFS_ERR_BUSY : FFFS_ERR_INVALID);
    config = fs->config;
    memset(fs, 0, sizeof *fs);
    unlock(config);
    return FFFS_OK;
}

int fffs_unmount(struct fffs *fs)
{
    const struct fffs_config *config;
    int status = enter(fs);

    if (status != FFFS_OK)
        return status;
    if (fs->files != NULL || fs->dirs != NULL || fs->txn != NULL)
        return leave(fs, FFFS_ERR_BUSY);
    if ((fs->flags & FFFS_MOUNT_READ_ONLY) == 0)
        status = fffs_mount_settle(fs);
    config = fs->config;
    memset(fs, 0, sizeof *fs);
    unlock(config);
    return status;
}

int fffs_settle(struct fffs *fs)
{
    int status = enter(fs);

    if (status != FFFS_OK)
        return status;
    if ((fs->flags & FFFS_MOUNT_READ_ONLY) != 0)
        return leave(fs, FFFS_ERR_READ_ONLY);
    return leave(fs, fffs_mount_settle(fs));
}

int fffs_grow(struct fffs *fs, uint32_t sector_count)
{
    int status = enter(fs);
    uint32_t most;

    if (status != FFFS_OK)
        return status;
    most = fs->config->flash->size_bytes >> fs->shape.sector_shift;
    if (sector_count == 0)
        sector_count = fffs_min(most, 65535u);
    status = may_rename(fs);
    if (status != FFFS_OK)
        return leave(fs, status);
    if (sector_count < fs->shape.sectors)
        return leave(fs, FFFS_ERR_INVALID);
    if (sector_count > most || sector_count > 65535u)
        return leave(fs, FFFS_ERR_WRONG_SIZE);
    return leave(fs, sector_count == fs->shape.sectors ? FFFS_OK : fffs_mount_grow(fs, sector_count));
}

/* ---- Files ---- */

int fffs_open(struct fffs *fs, struct fffs_file *file, const char *name, unsigned flags, void *buffer,
              uint32_t buffer_bytes)
{
    int status = enter(fs);

    if (status != FFFS_OK)
        return status;
    if (file == NULL)
        return leave(fs, FFFS_ERR_INVALID);
    if ((flags & FFFS_WRITE) != 0)
        status = may_change(fs);
    if (status == FFFS_OK)
        status = fffs_file_open(fs, file, name, flags, buffer, buffer_bytes);
    return leave(fs, status);
}

/* Locks, and checks that the handle is open on this volume. */
int fffs_open_reading(struct fffs *fs, struct fffs_file *file, const char *name, void *buffer, uint32_t buffer_bytes)
{
    int status = enter(fs);

    if (status != FFFS_OK)
        return status;
    return leave(fs, file == NULL ? FFFS_ERR_INVALID : fffs_file_open_reading(fs, file, name, buffer, buffer_bytes));
}

static int enter_file(struct fffs *fs, const struct fffs_file *file)
{
    int status = enter(fs);

    if (status != FFFS_OK)
        return status;
    if (file != NULL && fffs_file_is_open(fs, file))
        return FFFS_OK;
    return leave(fs, file == NULL ? FFFS_ERR_INVALID : FFFS_ERR_NOT_OPEN);
}

int32_t fffs_read(struct fffs *fs, struct fffs_file *file, void *buffer, uint32_t bytes)
{
    int status = enter_file(fs, file);

    if (status != FFFS_OK)
        return status;
    if (buffer == NULL && bytes > 0)
        return leave_count(fs, FFFS_ERR_INVALID);
    return leave_count(fs, fffs_file_read(fs, file, buffer, bytes));
}

int32_t fffs_write(struct fffs *fs, struct fffs_file *file, const void *data, uint32_t bytes)
{
    int status = enter_file(fs, file);

    if (status != FFFS_OK)
        return status;
    if (data == NULL && bytes > 0)
        return leave_count(fs, FFFS_ERR_INVALID);
    if ((file->state & FFFS_FILE_WRITER) == 0)
        return leave_count(fs, FFFS_ERR_READ_ONLY);
    status = may_change(fs);
    return leave_count(fs, status != FFFS_OK ? status : fffs_file_write(fs, file, data, bytes));
}

int32_t fffs_seek(struct fffs *fs, struct fffs_file *file, int32_t offset, int whence)
{
    int status = enter_file(fs, file);
    return status != FFFS_OK ? status : leave_count(fs, fffs_file_seek(fs, file, offset, whence));
}

int32_t fffs_tell(struct fffs *fs, struct fffs_file *file)
{
    int status = enter_file(fs, file);
    return status != FFFS_OK ? status : leave_count(fs, fffs_file_tell(fs, file));
}

int fffs_fstat(struct fffs *fs, struct fffs_file *file, struct fffs_info *info)
{
    int status = enter_file(fs, file);

    if (status != FFFS_OK)
        return status;
    return leave(fs, info == NULL ? FFFS_ERR_INVALID : fffs_file_fstat(fs, file, info));
}

int fffs_close(struct fffs *fs, struct fffs_file *file)
{
    int status = enter_file(fs, file);

    if (status != FFFS_OK)
        return status;
    if (fs->txn != NULL && (file->state & FFFS_FILE_WRITER) != 0)
        return leave(fs, FFFS_ERR_BUSY);
    return leave(fs, fffs_file_close(fs, file));
}

int fffs_close_reading(struct fffs *fs, struct fffs_file *file)
{
    int status = enter_file(fs, file);

    if (status != FFFS_OK)
        return status;
    if ((file->state & FFFS_FILE_WRITER) != 0)
        return leave(fs, FFFS_ERR_WRITE_ONLY);
    fffs_file_unlink(fs, file);
    return leave(fs, FFFS_OK);
}

int fffs_discard(struct fffs *fs, struct fffs_file *file)
{
    int status = enter_file(fs, file);
    return status != FFFS_OK ? status : leave(fs, fffs_file_discard(fs, file));
}

int32_t fffs_map(struct fffs *fs, struct fffs_file *file, uint32_t offset, const void **data)
{
    int status = enter_file(fs, file);

    if (status != FFFS_OK)
        return status;
    return leave_count(fs, data == NULL ? FFFS_ERR_INVALID : fffs_file_map(fs, file, offset, data));
}

int fffs_stat(struct fffs *fs, const char *name, struct fffs_info *info)
{
    int status = enter(fs);

    if (status != FFFS_OK)
        return status;
    return leave(fs, info == NULL ? FFFS_ERR_INVALID : fffs_file_stat(fs, name, info));
}

int fffs_exists(struct fffs *fs, const char *name)
{
    int status = enter(fs);
    return status != FFFS_OK ? status : leave(fs, fffs_file_exists(fs, name));
}

int fffs_delete(struct fffs *fs, const char *name)
{
    int status = enter(fs);

    if (status != FFFS_OK)
        return status;
    status = may_rename(fs);
    return leave(fs, status != FFFS_OK ? status : fffs_file_delete(fs, name));
}

int fffs_rename(struct fffs *fs, const char *from, const char *to)
{
    int status = enter(fs);

    if (status != FFFS_OK)
        return status;
    status = may_rename(fs);
    return leave(fs, status != FFFS_OK ? status : fffs_file_rename(fs, from, to));
}

int32_t fffs_delete_prefix(struct fffs *fs, const char *prefix)
{
    int status = enter(fs);

    if (status != FFFS_OK)
        return status;
    status = may_rename(fs);
    return leave_count(fs, status != FFFS_OK ? status : fffs_dir_delete_prefix(fs, prefix));
}

/* ---- Transactions ---- */

int fffs_txn_begin(struct fffs *fs, struct fffs_txn *txn, struct fffs_change *changes, uint32_t count)
{
    int status = enter(fs);

    if (status != FFFS_OK)
        return status;
    status = txn == NULL ? FFFS_ERR_INVALID : may_change(fs);
    return leave(fs, status != FFFS_OK ? status : fffs_transaction_begin(fs, txn, changes, count));
}

/* Locks, and checks that the transaction is open on this volume. */
static int enter_txn(struct fffs *fs, const struct fffs_txn *txn)
{
    int status = enter(fs);

    if (status != FFFS_OK)
        return status;
    status = txn == NULL ? FFFS_ERR_INVALID : fs->txn != txn ? FFFS_ERR_NOT_OPEN : may_change(fs);
    return status != FFFS_OK ? leave(fs, status) : FFFS_OK;
}

int fffs_txn_put(struct fffs *fs, struct fffs_txn *txn, struct fffs_file *file)
{
    int status = enter_txn(fs, txn);

    if (status != FFFS_OK)
        return status;
    if (file == NULL || !fffs_file_is_open(fs, file))
        return leave(fs, file == NULL ? FFFS_ERR_INVALID : FFFS_ERR_NOT_OPEN);
    if ((file->state & FFFS_FILE_WRITER) == 0)
        return leave(fs, FFFS_ERR_READ_ONLY);
    return leave(fs, fffs_transaction_put(fs, txn, file));
}

int fffs_txn_delete(struct fffs *fs, struct fffs_txn *txn, const char *name)
{
    int status = enter_txn(fs, txn);
    return status != FFFS_OK ? status : leave(fs, fffs_transaction_delete(fs, txn, name));
}

int fffs_txn_rename(struct fffs *fs, struct fffs_txn *txn, const char *from, const char *to)
{
    int status = enter_txn(fs, txn);
    return status != FFFS_OK ? status : leave(fs, fffs_transaction_rename(fs, txn, from, to));
}

int fffs_txn_commit(struct fffs *fs, struct fffs_txn *txn)
{
    int status = enter_txn(fs, txn);
    return status != FFFS_OK ? status : leave(fs, fffs_transaction_commit(fs, txn));
}

int fffs_txn_abort(struct fffs *fs, struct fffs_txn *txn)
{
    int status = enter(fs);

    if (status != FFFS_OK)
        return status;
    if (txn == NULL || fs->txn != txn)
        return leave(fs, txn == NULL ? FFFS_ERR_INVALID : FFFS_ERR_NOT_OPEN);
    return leave(fs, fffs_transaction_abort(fs, txn));
}

/* ---- Directories ---- */

int fffs_dir_open(struct fffs *fs, struct fffs_dir *dir, const char *prefix, char delimiter)
{
    int status = enter(fs);

    if (status != FFFS_OK)
        return status;
    return leave(fs, dir == NULL ? FFFS_ERR_INVALID : fffs_dir_begin(fs, dir, prefix, delimiter));
}

static int enter_dir(struct fffs *fs, const struct fffs_dir *dir)
{
    int status = enter(fs);

    if (status != FFFS_OK)
        return status;
    if (dir != NULL && fffs_dir_is_open(fs, dir))
        return FFFS_OK;
    return leave(fs, dir == NULL ? FFFS_ERR_INVALID : FFFS_ERR_NOT_OPEN);
}

int fffs_dir_read(struct fffs *fs, struct fffs_dir *dir, struct fffs_info *info)
{
    int status = enter_dir(fs, dir);

    if (status != FFFS_OK)
        return status;
    return leave(fs, info == NULL ? FFFS_ERR_INVALID : fffs_dir_next(fs, dir, info));
}

int fffs_dir_close(struct fffs *fs, struct fffs_dir *dir)
{
    int status = enter_dir(fs, dir);
    return status != FFFS_OK ? status : leave(fs, fffs_dir_end(fs, dir));
}

int fffs_list(struct fffs *fs, const char *prefix, int (*visit)(void *context, const struct fffs_info *info),
              void *context)
{
    int status = enter(fs);

    if (status != FFFS_OK)
        return status;
    return leave(fs, visit == NULL ? FFFS_ERR_INVALID : fffs_dir_list(fs, prefix, visit, context));
}

/* ---- Space and collection ---- */

static uint32_t writable_bytes(const struct fffs *fs, uint32_t free_bytes)
{
    uint32_t overhead = fffs_node_bound(fs, 32u) + fffs_unit_bytes(&fs->shape);
    uint32_t rounding = free_bytes / 64u, bytes;

    bytes = free_bytes > overhead + rounding ? free_bytes - overhead - rounding : 0;
    while (bytes > 0 && fffs_footprint_bytes(fs, bytes + fffs_node_bound(fs, 32u)) > free_bytes)
        bytes -= fffs_min(bytes, rounding + fffs_unit_bytes(&fs->shape));
    return bytes;
}

static void count_segments(const struct fffs *fs, struct fffs_space *space)
{
    uint32_t i;

    for (i = 0; i < fs->shape.segments; i++) {
        if (fs->config->segment_table[i] == FFFS_SEGMENT_ERASED) {
            space->segments_erased++;
            space->erased_bytes += fffs_segment_high(fs, i) - fffs_segment_low(fs, i);
        } else if (fffs_segment_is_dead(fs, i)) {
            space->segments_dead++;
        }
    }
    if (fs->user.segment != FFFS_NONE16)
        space->erased_bytes += fs->user.limit - fs->user.next;
}

static void fill_space(const struct fffs *fs, struct fffs_space *space)
{
    uint32_t taken = fs->used + fs->pending;

    memset(space, 0, sizeof *space);
    space->capacity_bytes = fffs_capacity(fs);
    /* A move that puts a file in one place rounds its footprint anew: the sum may pass the capacity by that. */
    space->used_bytes = fffs_min(taken, space->capacity_bytes);
    space->free_bytes = space->capacity_bytes > taken ? space->capacity_bytes - taken : 0;
    space->writable_bytes = fs->files_live < fs->shape.max_files ? writable_bytes(fs, space->free_bytes) : 0;
    space->files = fs->files_live;
    space->max_files = fs->shape.max_files;
    space->segment_bytes = fffs_segment_bytes(fs);
    space->segments = fs->shape.segments;
    space->bad_segments = fs->bad;
    space->erases_total = fs->erases;
    space->wear_mean = fs->erases / fs->shape.segments;
    fffs_wear_range(fs, &space->wear_min, &space->wear_max);
    count_segments(fs, space);
}

int fffs_space(struct fffs *fs, struct fffs_space *space)
{
    int status = enter(fs);

    if (status != FFFS_OK)
        return status;
    status = space == NULL ? FFFS_ERR_INVALID : fffs_segments_weigh(fs);
    if (status == FFFS_OK)
        fill_space(fs, space);
    return leave(fs, status);
}

static uint32_t count_left(const struct fffs *fs)
{
    uint32_t i, count = fs->gc.victim != FFFS_NONE16;

    for (i = 0; i < fs->shape.segments; i++)
        count += (uint32_t)fffs_segment_is_dead(fs, i);
    return count;
}

/* The most that the next slice is expected to cost. */
static uint32_t slice_us(const struct fffs *fs, uint32_t largest_erase)
{
    uint32_t erase = largest_erase != 0 ? fffs_min(largest_erase, fffs_segment_bytes(fs)) : fffs_segment_bytes(fs);

    if (fs->gc.victim != FFFS_NONE16)
        return fffs_gc_copy_us(fs, fs->config->scratch_bytes) * 2u;
    return fffs_gc_erase_us(fs, erase);
}

static int run_slices(struct fffs *fs, const struct fffs_gc_limits *limits, struct fffs_gc_report *report)
{
    uint32_t budget = limits != NULL ? limits->budget_us : 0, spent = 0;
    uint32_t largest = limits != NULL ? limits->largest_erase_bytes : 0;
    int action;

    do {
        spent += slice_us(fs, largest);
        action = fffs_gc_slice(fs, FFFS_GC_BACKGROUND, largest);
        if (action < 0)
            return action;
        report->slices += action != FFFS_GC_IDLE;
        report->action = (uint8_t)action;
    } while (action != FFFS_GC_IDLE && spent + slice_us(fs, largest) <= budget);
    return action;
}

int fffs_gc_step(struct fffs *fs, const struct fffs_gc_limits *limits, struct fffs_gc_report *report)
{
    struct fffs_gc_report local;
    int status = enter(fs);

    if (status != FFFS_OK)
        return status;
    memset(&local, 0, sizeof local);
    if ((fs->flags & FFFS_MOUNT_READ_ONLY) != 0)
        return leave(fs, FFFS_ERR_READ_ONLY);
    if ((fs->state & FFFS_STATE_RECOVER) != 0)
        status = fffs_mount_recover(fs);
    if (status == FFFS_OK)
        status = run_slices(fs, limits, &local);
    local.more = (uint8_t)fffs_gc_has_work(fs);
    if ((fs->state & FFFS_STATE_WEIGHED) != 0)
        local.segments_left = count_left(fs);
    if (report != NULL)
        *report = local;
    return leave(fs, status);
}

/* More slices than it takes to collect every segment several times, one small file a slice. A volume whose sizes lie (damage,
 * or made so) may gain nothing by it for ever. */
static uint32_t most_turns(const struct fffs *fs)
{
    return 8u * (fs->shape.segments + 8u) * (fffs_segment_bytes(fs) / 32u + 16u);
}

int fffs_gc(struct fffs *fs)
{
    uint32_t turns = 0;
    int status;

    /* Each turn locks anew, so that other calls get in between. */
    do {
        status = fffs_gc_step(fs, NULL, NULL);
    } while (status > 0 && ++turns < most_turns(fs));
    return status < 0 ? status : FFFS_OK;
}

int fffs_check(struct fffs *fs, void (*report)(void *context, const struct fffs_finding *finding), void *context)
{
    int status = enter(fs);
    return status != FFFS_OK ? status : leave(fs, fffs_check_volume(fs, report, context));
}

/* The functions behind the stub headers: partitions on emulated flash, a VFS that finds the filesystem by path, FreeRTOS
 * on threads. */
#include "ports/esp-idf/stubs/stub_idf.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "esp_heap_caps.h"
#include "esp_idf_version.h"
#include "esp_log.h"
#include "esp_task_wdt.h"
#include "esp_timer.h"
#include "esp_vfs.h"
#include "freertos/semphr.h"
#include "freertos/task.h"

/* ---- Errors, log, heap, time ---- */

const char *esp_err_to_name(esp_err_t err)
{
    return err == ESP_OK ? "ESP_OK" : err == ESP_FAIL ? "ESP_FAIL" : "ESP_ERR";
}

void stub_abort(const char *text)
{
    fprintf(stderr, "ESP_ERROR_CHECK failed: %s\n", text);
    abort();
}

void stub_log(const char *tag, const char *format, ...)
{
    (void)tag;
    (void)format;
}

unsigned stub_heap_calls, stub_heap_caps, stub_wdt_resets, stub_tasks_created, stub_tasks_ended;
long stub_heap_fail_after = -1;

void *heap_caps_calloc(size_t count, size_t size, uint32_t caps)
{
    stub_heap_calls++;
    stub_heap_caps = caps;
    if (stub_heap_fail_after >= 0 && stub_heap_fail_after-- == 0)
        return NULL;
    return calloc(count, size);
}

size_t heap_caps_get_free_size(uint32_t caps)
{
    (void)caps;
    return 300000;
}

size_t heap_caps_get_minimum_free_size(uint32_t caps)
{
    return heap_caps_get_free_size(caps);
}

esp_err_t esp_task_wdt_reset(void)
{
    stub_wdt_resets++;
    return ESP_OK;
}

static struct nor *clock_nor;

void stub_clock(struct nor *nor)
{
    clock_nor = nor;
}

static uint64_t host_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

int64_t esp_timer_get_time(void)
{
    return (int64_t)(clock_nor != NULL ? nor_time_ns(clock_nor) / 1000u : host_us());
}

/* ---- Partitions ---- */

enum { PARTITIONS = 16, SECTOR = 4096, BLOCK = 65536 };

static struct { esp_partition_t partition; struct nor *nor; } table[PARTITIONS];
static unsigned table_used;
static long fail_after = -1;

const esp_partition_t *stub_partition_add(const char *label, uint32_t address, struct nor *nor, int encrypted)
{
    esp_partition_t *partition = &table[table_used].partition;

    table[table_used++].nor = nor;
    partition->type = ESP_PARTITION_TYPE_DATA;
    partition->subtype = ESP_PARTITION_SUBTYPE_DATA_UNDEFINED;
    partition->address = address;
    partition->size = nor_size(nor);
    partition->erase_size = SECTOR;
    partition->encrypted = encrypted != 0;
    snprintf(partition->label, sizeof partition->label, "%s", label);
    return partition;
}

void stub_partitions_remove(void)
{
    table_used = 0;
}

void stub_fail_after(long calls)
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

const esp_partition_t *esp_partition_find_first(esp_partition_type_t type, esp_partition_subtype_t subtype, const char *label)
{
    unsigned i;

    for (i = 0; i < table_used; i++)
        if (table[i].partition.type == type && (subtype == ESP_PARTITION_SUBTYPE_ANY || subtype == table[i].partition.subtype)
            && (label == NULL || strcmp(label, table[i].partition.label) == 0))
            return &table[i].partition;
    return NULL;
}

static struct nor *nor_of(const esp_partition_t *partition)
{
    unsigned i;

    for (i = 0; i < table_used; i++)
        if (&table[i].partition == partition)
            return table[i].nor;
    abort();
}

static esp_err_t in_range(const esp_partition_t *partition, size_t offset, size_t size)
{
    if (offset > partition->size)
        return ESP_ERR_INVALID_ARG;
    return size > partition->size - offset ? ESP_ERR_INVALID_SIZE : ESP_OK;
}

/* A cipher that depends on the address, so that erased flash reads as anything but ones. */
static uint8_t cipher(size_t address)
{
    uint32_t x = (uint32_t)address * 0x9E3779B9u;

    return (uint8_t)(x >> 24 ^ x >> 13 ^ 0x5Au);
}

esp_err_t esp_partition_read_raw(const esp_partition_t *partition, size_t offset, void *dst, size_t size)
{
    const struct fffs_flash *flash = nor_flash(nor_of(partition));
    esp_err_t err = in_range(partition, offset, size);

    if (err != ESP_OK)
        return err;
    return fails() || flash->read(flash->context, (uint32_t)offset, dst, (uint32_t)size) != 0 ? ESP_FAIL : ESP_OK;
}

esp_err_t esp_partition_read(const esp_partition_t *partition, size_t offset, void *dst, size_t size)
{
    esp_err_t err = esp_partition_read_raw(partition, offset, dst, size);
    size_t i;

    for (i = 0; err == ESP_OK && partition->encrypted && i < size; i++)
        ((uint8_t *)dst)[i] ^= cipher(offset + i);
    return err;
}

static esp_err_t write_encrypted(const struct fffs_flash *flash, size_t offset, const uint8_t *src, size_t size)
{
    uint8_t line[16];
    size_t at, i;

    if (offset % sizeof line != 0 || size % sizeof line != 0)
        return ESP_ERR_INVALID_SIZE;
    for (at = 0; at < size; at += sizeof line) {
        for (i = 0; i < sizeof line; i++)
            line[i] = src[at + i] ^ cipher(offset + at + i);
        if (flash->program(flash->context, (uint32_t)(offset + at), line, sizeof line) != 0)
            return ESP_FAIL;
    }
    return ESP_OK;
}

esp_err_t esp_partition_write(const esp_partition_t *partition, size_t offset, const void *src, size_t size)
{
    const struct fffs_flash *flash = nor_flash(nor_of(partition));
    esp_err_t err = in_range(partition, offset, size);

    if (err != ESP_OK)
        return err;
    if (fails())
        return ESP_FAIL;
    if (partition->encrypted)
        return write_encrypted(flash, offset, src, size);
    return flash->program(flash->context, (uint32_t)offset, src, (uint32_t)size) == 0 ? ESP_OK : ESP_FAIL;
}

/* In blocks where the flash address and what is left allow it, else in sectors: one command each. */
esp_err_t esp_partition_erase_range(const esp_partition_t *partition, size_t offset, size_t size)
{
    const struct fffs_flash *flash = nor_flash(nor_of(partition));
    esp_err_t err = in_range(partition, offset, size);

    if (err != ESP_OK)
        return err;
    if (offset % SECTOR != 0 || size % SECTOR != 0)
        return ESP_ERR_INVALID_ARG;
    while (size > 0) {
        size_t part = (partition->address + offset) % BLOCK == 0 && size >= BLOCK ? BLOCK : SECTOR;

        if (fails() || flash->erase(flash->context, (uint32_t)offset, (uint32_t)part) != 0)
            return ESP_FAIL;
        offset += part;
        size -= part;
    }
    return ESP_OK;
}

esp_err_t esp_partition_mmap(const esp_partition_t *partition, size_t offset, size_t size, esp_partition_mmap_memory_t memory,
                             const void **out_ptr, esp_partition_mmap_handle_t *out_handle)
{
    const struct fffs_flash *flash = nor_flash(nor_of(partition));

    (void)memory;
    if (partition->encrypted || flash->map == NULL)
        return ESP_ERR_NOT_SUPPORTED;
    *out_ptr = flash->map(flash->context, (uint32_t)offset, (uint32_t)size);
    *out_handle = 1;
    return *out_ptr != NULL ? ESP_OK : ESP_ERR_NO_MEM;
}

void esp_partition_munmap(esp_partition_mmap_handle_t handle)
{
    (void)handle;
}

/* ---- The virtual filesystem ---- */

enum { MOUNTS = 8, FDS = 32 };

static struct { char path[ESP_VFS_PATH_MAX + 1]; esp_vfs_t ops; void *context; int used; } mounts[MOUNTS];
static struct { int used, mount, fd; } fds[FDS];

esp_err_t esp_vfs_register(const char *base_path, const esp_vfs_t *vfs, void *ctx)
{
    int i;

    if (strlen(base_path) > ESP_VFS_PATH_MAX || !(vfs->flags & ESP_VFS_FLAG_CONTEXT_PTR))
        return ESP_ERR_INVALID_ARG;
    for (i = 0; i < MOUNTS; i++)
        if (!mounts[i].used) {
            strcpy(mounts[i].path, base_path);
            mounts[i].ops = *vfs;
            mounts[i].context = ctx;
            mounts[i].used = 1;
            return ESP_OK;
        }
    return ESP_ERR_NO_MEM;
}

esp_err_t esp_vfs_unregister(const char *base_path)
{
    int i;

    for (i = 0; i < MOUNTS; i++)
        if (mounts[i].used && strcmp(mounts[i].path, base_path) == 0) {
            mounts[i].used = 0;
            return ESP_OK;
        }
    return ESP_ERR_INVALID_STATE;
}

/* The mount of a path and the path below it; -1 and ENOENT. */
static int mount_of(const char *path, const char **rest)
{
    int i;

    for (i = 0; i < MOUNTS; i++) {
        size_t length = strlen(mounts[i].path);

        if (mounts[i].used && strncmp(path, mounts[i].path, length) == 0 && (path[length] == '/' || path[length] == '\0')) {
            *rest = path[length] == '\0' ? "/" : path + length;
            return i;
        }
    }
    errno = ENOENT;
    return -1;
}

static int fd_mount(int fd)
{
    if (fd >= 0 && fd < FDS && fds[fd].used)
        return fds[fd].mount;
    errno = EBADF;
    return -1;
}

#define OF_PATH(path, member, ...) \
    const char *rest; \
    int m = mount_of(path, &rest); \
    if (m < 0) \
        return -1; \
    if (mounts[m].ops.member == NULL) { \
        errno = ENOSYS; \
        return -1; \
    } \
    return mounts[m].ops.member(mounts[m].context, __VA_ARGS__)

#define OF_FD(fd, member, ...) \
    int m = fd_mount(fd); \
    if (m < 0) \
        return -1; \
    if (mounts[m].ops.member == NULL) { \
        errno = ENOSYS; \
        return -1; \
    } \
    return mounts[m].ops.member(mounts[m].context, fds[fd].fd, __VA_ARGS__)

static pthread_mutex_t fds_lock = PTHREAD_MUTEX_INITIALIZER;

static int take_fd(int mount)
{
    int fd;

    pthread_mutex_lock(&fds_lock);
    for (fd = 0; fd < FDS && fds[fd].used; fd++)
        ;
    if (fd < FDS) {
        fds[fd].used = 1;
        fds[fd].mount = mount;
        fds[fd].fd = -1;
    }
    pthread_mutex_unlock(&fds_lock);
    return fd < FDS ? fd : -1;
}

static void give_fd(int fd)
{
    pthread_mutex_lock(&fds_lock);
    fds[fd].used = 0;
    pthread_mutex_unlock(&fds_lock);
}

int stub_open(const char *path, int flags, ...)
{
    const char *rest;
    int m = mount_of(path, &rest), fd;

    if (m < 0)
        return -1;
    fd = take_fd(m);
    if (fd < 0) {
        errno = ENFILE;
        return -1;
    }
    fds[fd].fd = mounts[m].ops.open_p(mounts[m].context, rest, flags, 0);
    if (fds[fd].fd >= 0)
        return fd;
    give_fd(fd);
    return -1;
}

int stub_close(int fd)
{
    int m = fd_mount(fd), result;

    if (m < 0)
        return -1;
    result = mounts[m].ops.close_p(mounts[m].context, fds[fd].fd);
    give_fd(fd);
    return result;
}

ssize_t stub_read(int fd, void *buffer, size_t bytes) { OF_FD(fd, read_p, buffer, bytes); }
ssize_t stub_write(int fd, const void *data, size_t bytes) { OF_FD(fd, write_p, data, bytes); }
ssize_t stub_pread(int fd, void *buffer, size_t bytes, off_t offset) { OF_FD(fd, pread_p, buffer, bytes, offset); }
ssize_t stub_pwrite(int fd, const void *data, size_t bytes, off_t offset) { OF_FD(fd, pwrite_p, data, bytes, offset); }
off_t stub_lseek(int fd, off_t offset, int whence) { OF_FD(fd, lseek_p, offset, whence); }
int stub_fstat(int fd, struct stat *st) { OF_FD(fd, fstat_p, st); }
int stub_ftruncate(int fd, off_t bytes) { OF_FD(fd, ftruncate_p, bytes); }
int stub_stat(const char *path, struct stat *st) { OF_PATH(path, stat_p, rest, st); }
int stub_access(const char *path, int mode) { OF_PATH(path, access_p, rest, mode); }
int stub_unlink(const char *path) { OF_PATH(path, unlink_p, rest); }
int stub_mkdir(const char *path, mode_t mode) { OF_PATH(path, mkdir_p, rest, mode); }
int stub_rmdir(const char *path) { OF_PATH(path, rmdir_p, rest); }
int stub_truncate(const char *path, off_t bytes) { OF_PATH(path, truncate_p, rest, bytes); }

int stub_fsync(int fd)
{
    int m = fd_mount(fd);

    return m < 0 ? -1 : mounts[m].ops.fsync_p(mounts[m].context, fds[fd].fd);
}

int stub_fcntl(int fd, int command, ...)
{
    int m = fd_mount(fd);

    return m < 0 ? -1 : mounts[m].ops.fcntl_p(mounts[m].context, fds[fd].fd, command, 0);
}

int stub_ioctl(int fd, int command, ...)
{
    int m = fd_mount(fd), result;
    va_list arguments;

    if (m < 0)
        return -1;
    va_start(arguments, command);
    result = mounts[m].ops.ioctl_p(mounts[m].context, fds[fd].fd, command, arguments);
    va_end(arguments);
    return result;
}

int stub_rename(const char *from, const char *to)
{
    const char *from_rest, *to_rest;
    int m = mount_of(from, &from_rest), n = mount_of(to, &to_rest);

    if (m < 0 || n < 0)
        return -1;
    if (m != n) {
        errno = EXDEV;
        return -1;
    }
    return mounts[m].ops.rename_p(mounts[m].context, from_rest, to_rest);
}

DIR *stub_opendir(const char *path)
{
    const char *rest;
    int m = mount_of(path, &rest);
    DIR *dir = m < 0 ? NULL : mounts[m].ops.opendir_p(mounts[m].context, rest);

    if (dir != NULL)
        dir->dd_vfs_idx = (uint16_t)m;
    return dir;
}

struct dirent *stub_readdir(DIR *dir)
{
    return mounts[dir->dd_vfs_idx].ops.readdir_p(mounts[dir->dd_vfs_idx].context, dir);
}

int stub_readdir_r(DIR *dir, struct dirent *entry, struct dirent **out)
{
    return mounts[dir->dd_vfs_idx].ops.readdir_r_p(mounts[dir->dd_vfs_idx].context, dir, entry, out);
}

long stub_telldir(DIR *dir)
{
    return mounts[dir->dd_vfs_idx].ops.telldir_p(mounts[dir->dd_vfs_idx].context, dir);
}

void stub_seekdir(DIR *dir, long position)
{
    mounts[dir->dd_vfs_idx].ops.seekdir_p(mounts[dir->dd_vfs_idx].context, dir, position);
}

int stub_closedir(DIR *dir)
{
    return mounts[dir->dd_vfs_idx].ops.closedir_p(mounts[dir->dd_vfs_idx].context, dir);
}

/* ---- FreeRTOS ---- */

struct stub_semaphore { pthread_mutex_t mutex; pthread_cond_t condition; int given; };
struct stub_task { pthread_t thread; void (*run)(void *); void *context; struct stub_semaphore *notified; };

static pthread_mutex_t critical = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t task_key;
static pthread_once_t task_once = PTHREAD_ONCE_INIT;

void stub_enter_critical(portMUX_TYPE *mux)
{
    (void)mux;
    pthread_mutex_lock(&critical);
}

void stub_exit_critical(portMUX_TYPE *mux)
{
    (void)mux;
    pthread_mutex_unlock(&critical);
}

static SemaphoreHandle_t new_semaphore(int type)
{
    struct stub_semaphore *semaphore = calloc(1, sizeof *semaphore);
    pthread_mutexattr_t attributes;

    if (semaphore == NULL)
        return NULL;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, type);
    pthread_mutex_init(&semaphore->mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
    pthread_cond_init(&semaphore->condition, NULL);
    return semaphore;
}

SemaphoreHandle_t xSemaphoreCreateRecursiveMutex(void)
{
    return new_semaphore(PTHREAD_MUTEX_RECURSIVE);
}

SemaphoreHandle_t xSemaphoreCreateBinary(void)
{
    return new_semaphore(PTHREAD_MUTEX_DEFAULT);
}

BaseType_t xSemaphoreTakeRecursive(SemaphoreHandle_t semaphore, TickType_t ticks)
{
    (void)ticks;
    return pthread_mutex_lock(&semaphore->mutex) == 0;
}

BaseType_t xSemaphoreGiveRecursive(SemaphoreHandle_t semaphore)
{
    return pthread_mutex_unlock(&semaphore->mutex) == 0;
}

BaseType_t xSemaphoreTake(SemaphoreHandle_t semaphore, TickType_t ticks)
{
    (void)ticks;
    pthread_mutex_lock(&semaphore->mutex);
    while (semaphore->given == 0)
        pthread_cond_wait(&semaphore->condition, &semaphore->mutex);
    semaphore->given = 0;
    pthread_mutex_unlock(&semaphore->mutex);
    return pdTRUE;
}

BaseType_t xSemaphoreGive(SemaphoreHandle_t semaphore)
{
    pthread_mutex_lock(&semaphore->mutex);
    semaphore->given = 1;
    pthread_cond_signal(&semaphore->condition);
    pthread_mutex_unlock(&semaphore->mutex);
    return pdTRUE;
}

void vSemaphoreDelete(SemaphoreHandle_t semaphore)
{
    pthread_mutex_destroy(&semaphore->mutex);
    pthread_cond_destroy(&semaphore->condition);
    free(semaphore);
}

static void make_key(void)
{
    pthread_key_create(&task_key, NULL);
}

static void *task_main(void *context)
{
    struct stub_task *task = context;

    pthread_setspecific(task_key, task);
    task->run(task->context);
    return NULL;
}

BaseType_t xTaskCreate(void (*run)(void *), const char *name, uint32_t stack, void *context, UBaseType_t priority,
                       TaskHandle_t *handle)
{
    struct stub_task *task = calloc(1, sizeof *task);

    (void)name;
    (void)stack;
    (void)priority;
    pthread_once(&task_once, make_key);
    if (task == NULL)
        return 0;
    task->run = run;
    task->context = context;
    task->notified = xSemaphoreCreateBinary();
    stub_tasks_created++;
    if (handle != NULL)
        *handle = task;
    return pthread_create(&task->thread, NULL, task_main, task) == 0 && pthread_detach(task->thread) == 0;
}

/* Only NULL, the task itself. Its memory stays, since the semaphore that told of its end comes before. */
void vTaskDelete(TaskHandle_t task)
{
    (void)task;
    __atomic_add_fetch(&stub_tasks_ended, 1, __ATOMIC_SEQ_CST);
    pthread_exit(NULL);
}

void vTaskDelay(TickType_t ticks)
{
    struct timespec time = { (time_t)(ticks / 1000u), (long)(ticks % 1000u) * 1000000L };

    nanosleep(&time, NULL);
}

TickType_t xTaskGetTickCount(void)
{
    return (TickType_t)(host_us() / 1000u);
}

uint32_t ulTaskNotifyTake(BaseType_t clear, TickType_t ticks)
{
    struct stub_task *task = pthread_getspecific(task_key);

    (void)clear;
    (void)xSemaphoreTake(task->notified, ticks);
    return 1;
}

BaseType_t xTaskNotifyGive(TaskHandle_t task)
{
    return xSemaphoreGive(task->notified);
}

UBaseType_t uxTaskGetStackHighWaterMark(TaskHandle_t task)
{
    (void)task;
    return 12288; /* no stack is measured here */
}

const char *esp_get_idf_version(void)
{
    return "stub";
}

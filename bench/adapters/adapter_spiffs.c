/* SPIFFS under test, against its public API (spiffs.h): page 256, block 4096. The configuration header that the library
 * was built with must set SPIFFS_SINGLETON 0, SPIFFS_HAL_CALLBACK_EXTRA 1, SPIFFS_OBJ_NAME_LEN at least 24, a cache.
 */
#include "bench/adapters/peers.h"

#include <stdlib.h>
#include <string.h>

#include "spiffs.h"

enum { PAGE_BYTES = 256, BLOCK_BYTES = 4096, FILES = 2, CACHE_PAGES = 8 };

struct state {
    spiffs fs;
    spiffs_config config;
    spiffs_file file;
    const struct fffs_flash *flash;
    uint32_t work[2 * PAGE_BYTES / 4];
    uint64_t descriptors[FILES * 8];
    uint64_t cache[(PAGE_BYTES + 32) * CACHE_PAGES / 8];
    uint8_t mirror[];              /* what the flash holds: see device_program */
};

static const struct fffs_flash *flash_of(spiffs *fs)
{
    return ((struct state *)fs->user_data)->flash;
}

static s32_t device_read(spiffs *fs, u32_t address, u32_t bytes, u8_t *buffer)
{
    const struct fffs_flash *flash = flash_of(fs);
    return flash->read(flash->context, address, buffer, bytes) == 0 ? SPIFFS_OK : SPIFFS_ERR_INTERNAL;
}

/* The library programs ones over zeros and counts on the chip to keep the zeros; the emulated flash takes that for a
 * mistake, so the chip's AND is done here. */
static s32_t device_program(spiffs *fs, u32_t address, u32_t bytes, u8_t *data)
{
    const struct fffs_flash *flash = flash_of(fs);
    uint8_t *cells = ((struct state *)fs->user_data)->mirror + address;
    for (u32_t i = 0; i < bytes; i++)
        cells[i] &= data[i];
    return flash->program(flash->context, address, cells, bytes) == 0 ? SPIFFS_OK : SPIFFS_ERR_INTERNAL;
}

static s32_t device_erase(spiffs *fs, u32_t address, u32_t bytes)
{
    const struct fffs_flash *flash = flash_of(fs);
    memset(((struct state *)fs->user_data)->mirror + address, 0xFF, bytes);
    return flash->erase(flash->context, address, bytes) == 0 ? SPIFFS_OK : SPIFFS_ERR_INTERNAL;
}

static void *create(const struct fffs_flash *flash)
{
    struct state *s = calloc(1, sizeof *s + flash->size_bytes);
    if (s == NULL)
        return NULL;
    memset(s->mirror, 0xFF, flash->size_bytes);
    s->flash = flash;
    s->config.hal_read_f = device_read;
    s->config.hal_write_f = device_program;
    s->config.hal_erase_f = device_erase;
    s->config.phys_size = flash->size_bytes;
    s->config.phys_erase_block = s->config.log_block_size = BLOCK_BYTES;
    s->config.log_page_size = PAGE_BYTES;
    return s;
}

static int mount(void *self)
{
    struct state *s = self;
    memset(&s->fs, 0, sizeof s->fs);
    s->fs.user_data = s;
    return SPIFFS_mount(&s->fs, &s->config, (u8_t *)s->work, (u8_t *)s->descriptors, sizeof s->descriptors, s->cache,
                        sizeof s->cache, NULL);
}

static int unmount(void *self)
{
    SPIFFS_unmount(&((struct state *)self)->fs);
    return 0;
}

/* The library wants one attempt to mount before it formats, so that it knows the configuration. */
static int format(void *self)
{
    struct state *s = self;
    if (mount(self) == SPIFFS_OK)
        SPIFFS_unmount(&s->fs);
    return SPIFFS_format(&s->fs);
}

static int open_flags(struct state *s, const char *name, spiffs_flags flags)
{
    s->file = SPIFFS_open(&s->fs, name, flags, 0);
    return s->file < 0 ? (int)s->file : 0;
}

static int open_read(void *self, const char *name)
{
    return open_flags(self, name, SPIFFS_O_RDONLY);
}

static int open_write(void *self, const char *name)
{
    return open_flags(self, name, SPIFFS_O_CREAT | SPIFFS_O_TRUNC | SPIFFS_O_WRONLY);
}

static int32_t size(void *self)
{
    struct state *s = self;
    spiffs_stat info;
    s32_t result = SPIFFS_fstat(&s->fs, s->file, &info);
    return result < 0 ? result : (int32_t)info.size;
}

static int32_t read_bytes(void *self, void *buffer, uint32_t bytes)
{
    struct state *s = self;
    return SPIFFS_read(&s->fs, s->file, buffer, (s32_t)bytes);
}

static int32_t write_bytes(void *self, const void *data, uint32_t bytes)
{
    struct state *s = self;
    void *source;
    memcpy(&source, &data, sizeof source); /* the API takes a pointer to non-const and only reads */
    return SPIFFS_write(&s->fs, s->file, source, (s32_t)bytes);
}

static int seek(void *self, uint32_t offset)
{
    struct state *s = self;
    s32_t at = SPIFFS_lseek(&s->fs, s->file, (s32_t)offset, SPIFFS_SEEK_SET);
    return at < 0 ? at : 0;
}

static int close_file(void *self)
{
    struct state *s = self;
    return SPIFFS_close(&s->fs, s->file);
}

static int remove_file(void *self, const char *name)
{
    return SPIFFS_remove(&((struct state *)self)->fs, name);
}

static int exists(void *self, const char *name)
{
    spiffs_stat info;
    s32_t result = SPIFFS_stat(&((struct state *)self)->fs, name, &info);
    return result == SPIFFS_ERR_NOT_FOUND ? 0 : result < 0 ? result : 1;
}

static int list(void *self, bench_visit_fn visit, void *context)
{
    struct state *s = self;
    spiffs_DIR dir;
    struct spiffs_dirent entry, *met;
    int result = 0;
    if (SPIFFS_opendir(&s->fs, "/", &dir) == NULL)
        return SPIFFS_errno(&s->fs);
    while (result == 0 && (met = SPIFFS_readdir(&dir, &entry)) != NULL)
        result = visit(context, (const char *)met->name, met->size);
    (void)SPIFFS_closedir(&dir);
    return result;
}

static int space(void *self, struct bench_space *answer)
{
    u32_t total, used;
    s32_t result = SPIFFS_info(&((struct state *)self)->fs, &total, &used);
    answer->capacity_bytes = total;
    answer->free_bytes = total - used;
    answer->index_bytes_per_file = 0;
    return result;
}

static void memory(void *self, struct bench_memory *answer)
{
    const struct state *s = self;
    answer->base_bytes = (uint32_t)(sizeof(spiffs) + sizeof s->work + sizeof s->cache);
    answer->open_bytes = (uint32_t)sizeof s->descriptors / FILES;
}

const struct peer adapter_spiffs_peer = { create };
const struct bench_fs adapter_spiffs_fs = {
    .name = "spiffs", .format = format, .mount = mount, .unmount = unmount, .open_read = open_read,
    .open_write = open_write, .size = size, .read = read_bytes, .write = write_bytes, .seek = seek,
    .close = close_file, .remove = remove_file, .exists = exists, .list = list, .space = space, .memory = memory
};

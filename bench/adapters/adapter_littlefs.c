/* LittleFS under test, against its public API (lfs.h, version 2). Cache and buffer sizes as in the published board runs:
 * read 128, program 128, cache 512, lookahead 128, block 4096, block_cycles 512.
 */
#include "bench/adapters/peers.h"

#include <stdlib.h>
#include <string.h>

#include "lfs.h"

enum { READ_BYTES = 128, CACHE_BYTES = 512, LOOKAHEAD_BYTES = 128, BLOCK_BYTES = 4096 };

struct state {
    lfs_t lfs;
    lfs_file_t file;
    struct lfs_config config;
    struct lfs_file_config file_config;
    uint8_t read_buffer[CACHE_BYTES], program_buffer[CACHE_BYTES], file_buffer[CACHE_BYTES];
    uint32_t lookahead[LOOKAHEAD_BYTES / 4];
};

static const struct fffs_flash *flash_of(const struct lfs_config *config)
{
    return config->context;
}

static int device_read(const struct lfs_config *config, lfs_block_t block, lfs_off_t off, void *buffer, lfs_size_t size)
{
    const struct fffs_flash *flash = flash_of(config);
    return flash->read(flash->context, block * BLOCK_BYTES + off, buffer, size) == 0 ? 0 : LFS_ERR_IO;
}

static int device_program(const struct lfs_config *config, lfs_block_t block, lfs_off_t off, const void *data,
                          lfs_size_t size)
{
    const struct fffs_flash *flash = flash_of(config);
    return flash->program(flash->context, block * BLOCK_BYTES + off, data, size) == 0 ? 0 : LFS_ERR_IO;
}

static int device_erase(const struct lfs_config *config, lfs_block_t block)
{
    const struct fffs_flash *flash = flash_of(config);
    return flash->erase(flash->context, block * BLOCK_BYTES, BLOCK_BYTES) == 0 ? 0 : LFS_ERR_IO;
}

static int device_sync(const struct lfs_config *config)
{
    (void)config;
    return 0;
}

static void *create(const struct fffs_flash *flash)
{
    struct state *s = calloc(1, sizeof *s);
    if (s == NULL)
        return NULL;
    struct lfs_config *config = &s->config;
    memcpy(&config->context, &flash, sizeof flash);
    config->read = device_read;
    config->prog = device_program;
    config->erase = device_erase;
    config->sync = device_sync;
    config->read_size = config->prog_size = READ_BYTES;
    config->block_size = BLOCK_BYTES;
    config->block_count = flash->size_bytes / BLOCK_BYTES;
    config->block_cycles = 512;
    config->cache_size = CACHE_BYTES;
    config->lookahead_size = LOOKAHEAD_BYTES;
    config->read_buffer = s->read_buffer;
    config->prog_buffer = s->program_buffer;
    config->lookahead_buffer = s->lookahead;
    s->file_config.buffer = s->file_buffer;
    return s;
}

static int format(void *self)
{
    struct state *s = self;
    return lfs_format(&s->lfs, &s->config);
}

static int mount(void *self)
{
    struct state *s = self;
    return lfs_mount(&s->lfs, &s->config);
}

static int unmount(void *self)
{
    return lfs_unmount(&((struct state *)self)->lfs);
}

static void forget(void *self)
{
    struct state *s = self;
    memset(&s->lfs, 0, sizeof s->lfs);
}

static int open_read(void *self, const char *name)
{
    struct state *s = self;
    return lfs_file_opencfg(&s->lfs, &s->file, name, LFS_O_RDONLY, &s->file_config);
}

static int open_write(void *self, const char *name)
{
    struct state *s = self;
    return lfs_file_opencfg(&s->lfs, &s->file, name, LFS_O_WRONLY | LFS_O_CREAT | LFS_O_TRUNC, &s->file_config);
}

static int32_t size(void *self)
{
    struct state *s = self;
    return lfs_file_size(&s->lfs, &s->file);
}

static int32_t read_bytes(void *self, void *buffer, uint32_t bytes)
{
    struct state *s = self;
    return lfs_file_read(&s->lfs, &s->file, buffer, bytes);
}

static int32_t write_bytes(void *self, const void *data, uint32_t bytes)
{
    struct state *s = self;
    return lfs_file_write(&s->lfs, &s->file, data, bytes);
}

static int seek(void *self, uint32_t offset)
{
    struct state *s = self;
    lfs_soff_t at = lfs_file_seek(&s->lfs, &s->file, (lfs_soff_t)offset, LFS_SEEK_SET);
    return at < 0 ? at : 0;
}

static int close_file(void *self)
{
    struct state *s = self;
    return lfs_file_close(&s->lfs, &s->file);
}

static int remove_file(void *self, const char *name)
{
    return lfs_remove(&((struct state *)self)->lfs, name);
}

static int exists(void *self, const char *name)
{
    struct lfs_info info;
    int result = lfs_stat(&((struct state *)self)->lfs, name, &info);
    return result == LFS_ERR_NOENT ? 0 : result < 0 ? result : 1;
}

static int list(void *self, bench_visit_fn visit, void *context)
{
    struct state *s = self;
    lfs_dir_t dir;
    struct lfs_info info;
    int result = lfs_dir_open(&s->lfs, &dir, "/");
    if (result < 0)
        return result;
    while ((result = lfs_dir_read(&s->lfs, &dir, &info)) > 0)
        if (info.type == LFS_TYPE_REG && visit(context, info.name, info.size) != 0)
            break;
    (void)lfs_dir_close(&s->lfs, &dir);
    return result;
}

static int space(void *self, struct bench_space *answer)
{
    struct state *s = self;
    lfs_ssize_t used = lfs_fs_size(&s->lfs);
    if (used < 0)
        return used;
    answer->capacity_bytes = s->config.block_count * BLOCK_BYTES;
    answer->free_bytes = (s->config.block_count - (lfs_size_t)used) * BLOCK_BYTES;
    answer->index_bytes_per_file = 0;
    return 0;
}

static void memory(void *self, struct bench_memory *answer)
{
    (void)self;
    answer->base_bytes = sizeof(lfs_t) + 2 * CACHE_BYTES + LOOKAHEAD_BYTES;
    answer->open_bytes = sizeof(lfs_file_t) + CACHE_BYTES;
}

const struct peer adapter_littlefs_peer = { create };
const struct bench_fs adapter_littlefs_fs = {
    .name = "littlefs", .format = format, .mount = mount, .unmount = unmount, .forget = forget, .open_read = open_read,
    .open_write = open_write, .size = size, .read = read_bytes, .write = write_bytes, .seek = seek,
    .close = close_file, .remove = remove_file, .exists = exists, .list = list, .space = space, .memory = memory
};

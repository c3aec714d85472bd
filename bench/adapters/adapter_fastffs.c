/* See adapter_fastffs.h. */
#include "bench/adapters/adapter_fastffs.h"

#include <string.h>

enum { CACHE_ENTRIES = 500 };

const struct adapter_fastffs_setup adapter_fastffs_minimal = { 256, 0, 0, 64, 0, 0 };
const struct adapter_fastffs_setup adapter_fastffs_default = {
    512, CACHE_ENTRIES * FFFS_CACHE_ENTRY_BYTES, 0, 256, 0, 0
};
const struct adapter_fastffs_setup adapter_fastffs_fast = {
    4096, CACHE_ENTRIES * FFFS_CACHE_ENTRY_BYTES, 4096, 256, 0, 0
};

/* The next `bytes` of the arena, kept 8-byte aligned; NULL for 0 bytes. */
static void *carve(uint8_t *arena, uint32_t *used, uint32_t bytes)
{
    uint32_t at = *used;
    *used += (bytes + 7u) & ~7u;
    return bytes != 0 ? arena + at : NULL;
}

int adapter_fastffs_init(struct adapter_fastffs *adapter, const struct fffs_flash *flash,
                         const struct adapter_fastffs_setup *setup, void *arena, uint32_t arena_bytes)
{
    struct fffs_geometry plan;
    uint32_t used = 0;
    memset(adapter, 0, sizeof *adapter);
    adapter->format.device_is_erased = 1;
    adapter->format.geometry.max_files = setup->max_files;
    if (fffs_format_plan(flash, &adapter->format, &plan) < 0)
        return -1;
    struct fffs_config *config = &adapter->config;
    config->flash = flash;
    config->flags = setup->flags;
    config->scratch_bytes = setup->scratch_bytes;
    config->cache_bytes = setup->cache_bytes;
    config->write_buffer_bytes = setup->write_buffer_bytes;
    config->segment_table_entries = plan.segment_count;
    adapter->file_buffer_bytes = setup->file_buffer_bytes;
    config->scratch = carve(arena, &used, setup->scratch_bytes);
    config->cache = carve(arena, &used, setup->cache_bytes);
    config->write_buffer = carve(arena, &used, setup->write_buffer_bytes);
    config->segment_table = carve(arena, &used, plan.segment_count * (uint32_t)sizeof(uint16_t));
    adapter->file_buffer = carve(arena, &used, setup->file_buffer_bytes);
    return used <= arena_bytes ? 0 : -1;
}

static int format(void *self)
{
    struct adapter_fastffs *adapter = self;
    return fffs_format(&adapter->fs, &adapter->config, &adapter->format);
}

static int mount(void *self)
{
    struct adapter_fastffs *adapter = self;
    return fffs_mount(&adapter->fs, &adapter->config);
}

static int unmount(void *self)
{
    return fffs_unmount(&((struct adapter_fastffs *)self)->fs);
}

static void forget(void *self)
{
    struct adapter_fastffs *adapter = self;
    memset(&adapter->fs, 0, sizeof adapter->fs);
    memset(&adapter->file, 0, sizeof adapter->file);
}

static int open_flags(struct adapter_fastffs *adapter, const char *name, unsigned flags)
{
    return fffs_open(&adapter->fs, &adapter->file, name, flags, adapter->file_buffer, adapter->file_buffer_bytes);
}

static int open_read(void *self, const char *name)
{
    return open_flags(self, name, FFFS_READ);
}

static int open_write(void *self, const char *name)
{
    return open_flags(self, name, FFFS_WRITE | FFFS_CREATE | FFFS_TRUNCATE);
}

static int32_t size(void *self)
{
    struct adapter_fastffs *adapter = self;
    struct fffs_info info;
    int status = fffs_fstat(&adapter->fs, &adapter->file, &info);
    return status < 0 ? status : (int32_t)info.size;
}

static int32_t read_bytes(void *self, void *buffer, uint32_t bytes)
{
    struct adapter_fastffs *adapter = self;
    return fffs_read(&adapter->fs, &adapter->file, buffer, bytes);
}

static int32_t write_bytes(void *self, const void *data, uint32_t bytes)
{
    struct adapter_fastffs *adapter = self;
    return fffs_write(&adapter->fs, &adapter->file, data, bytes);
}

static int seek(void *self, uint32_t offset)
{
    struct adapter_fastffs *adapter = self;
    int32_t at = fffs_seek(&adapter->fs, &adapter->file, (int32_t)offset, FFFS_SEEK_SET);
    return at < 0 ? (int)at : 0;
}

static int close_file(void *self)
{
    struct adapter_fastffs *adapter = self;
    return fffs_close(&adapter->fs, &adapter->file);
}

static int remove_file(void *self, const char *name)
{
    return fffs_delete(&((struct adapter_fastffs *)self)->fs, name);
}

static int exists(void *self, const char *name)
{
    return fffs_exists(&((struct adapter_fastffs *)self)->fs, name);
}

struct visitor { bench_visit_fn visit; void *context; };

static int visit_info(void *context, const struct fffs_info *info)
{
    const struct visitor *visitor = context;
    return visitor->visit(visitor->context, info->name, info->size);
}

static int list(void *self, bench_visit_fn visit, void *context)
{
    struct visitor visitor = { visit, context };
    return fffs_list(&((struct adapter_fastffs *)self)->fs, "", visit_info, &visitor);
}

static int space(void *self, struct bench_space *answer)
{
    struct adapter_fastffs *adapter = self;
    struct fffs_space space;
    int status = fffs_space(&adapter->fs, &space);
    if (status < 0)
        return status;
    uint32_t granule = adapter->config.flash->granule_bytes;
    answer->capacity_bytes = space.capacity_bytes;
    answer->free_bytes = space.free_bytes;
    answer->index_bytes_per_file = granule > 8 ? granule : 8;
    return 0;
}

static int background(void *self)
{
    int action = fffs_gc_step(&((struct adapter_fastffs *)self)->fs, NULL, NULL);
    return action > 0 ? 1 : action;
}

static void memory(void *self, struct bench_memory *answer)
{
    const struct adapter_fastffs *adapter = self;
    const struct fffs_config *config = &adapter->config;
    answer->base_bytes = (uint32_t)sizeof adapter->fs + config->scratch_bytes + config->cache_bytes
        + config->write_buffer_bytes + config->segment_table_entries * (uint32_t)sizeof(uint16_t);
    answer->open_bytes = (uint32_t)sizeof adapter->file + adapter->file_buffer_bytes;
}

const struct bench_fs adapter_fastffs_fs = {
    .name = "fastffs", .format = format, .mount = mount, .unmount = unmount, .forget = forget, .open_read = open_read,
    .open_write = open_write, .size = size, .read = read_bytes, .write = write_bytes, .seek = seek,
    .close = close_file, .remove = remove_file, .exists = exists, .list = list, .space = space,
    .background = background, .memory = memory
};

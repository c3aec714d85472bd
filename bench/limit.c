/* See limit.h. */
#include "bench/limit.h"

#include "emulator/nor_time.h"

#include <string.h>

enum { BLOCK = 65536, SECTOR = 4096, PAGE = 256, RECORD = 8 };

void limit_init(struct limit *limit, struct nor *clock, uint32_t chunk_bytes, int blank)
{
    memset(limit, 0, sizeof *limit);
    limit->clock = clock;
    limit->model = nor_get_config(clock)->model;
    limit->chunk_bytes = chunk_bytes;
    limit->blank_bytes = blank ? nor_size(clock) : 0;
}

void limit_done(struct limit *limit)
{
    adapter_ram_clear(&limit->ram);
}

/* A page-aligned program of `bytes`, and the erase of a block when 64 KiB more are full. */
static void pay_program(struct limit *limit, uint32_t bytes)
{
    nor_advance(limit->clock, nor_time_program(limit->model, 0, bytes, PAGE));
    limit->programmed_bytes += bytes;
    while (limit->programmed_bytes >= limit->blank_bytes + limit->erased_bytes + BLOCK) {
        limit->erased_bytes += BLOCK;
        nor_advance(limit->clock, nor_time_erase(limit->model, BLOCK, BLOCK / SECTOR));
    }
}

static int format(void *self)
{
    struct limit *limit = self;
    limit->programmed_bytes = limit->erased_bytes = 0;
    return adapter_ram_fs.format(&limit->ram);
}

static int nothing(void *self)
{
    (void)self;
    return 0;
}

static int open_read(void *self, const char *name)
{
    return adapter_ram_fs.open_read(&((struct limit *)self)->ram, name);
}

static int open_write(void *self, const char *name)
{
    struct limit *limit = self;
    limit->pending_bytes = 0;
    return adapter_ram_fs.open_write(&limit->ram, name);
}

static int32_t size(void *self)
{
    return adapter_ram_fs.size(&((struct limit *)self)->ram);
}

static int32_t read_bytes(void *self, void *buffer, uint32_t bytes)
{
    struct limit *limit = self;
    int32_t result = adapter_ram_fs.read(&limit->ram, buffer, bytes);
    if (result > 0)
        nor_advance(limit->clock, nor_time_read(limit->model, (uint32_t)result));
    return result;
}

static int32_t write_bytes(void *self, const void *data, uint32_t bytes)
{
    struct limit *limit = self;
    limit->pending_bytes += bytes;
    while (limit->pending_bytes > 0 && limit->pending_bytes >= limit->chunk_bytes) {
        uint32_t part = limit->chunk_bytes != 0 ? limit->chunk_bytes : limit->pending_bytes;
        limit->pending_bytes -= part;
        pay_program(limit, part);
    }
    return adapter_ram_fs.write(&limit->ram, data, bytes);
}

static int seek(void *self, uint32_t offset)
{
    return adapter_ram_fs.seek(&((struct limit *)self)->ram, offset);
}

static int close_file(void *self)
{
    struct limit *limit = self;
    if (limit->ram.writing) {
        if (limit->pending_bytes > 0)
            pay_program(limit, limit->pending_bytes);
        limit->pending_bytes = 0;
        pay_program(limit, RECORD);
    }
    return adapter_ram_fs.close(&limit->ram);
}

static int remove_file(void *self, const char *name)
{
    struct limit *limit = self;
    pay_program(limit, RECORD);
    return adapter_ram_fs.remove(&limit->ram, name);
}

static int exists(void *self, const char *name)
{
    return adapter_ram_fs.exists(&((struct limit *)self)->ram, name);
}

static int list(void *self, bench_visit_fn visit, void *context)
{
    return adapter_ram_fs.list(&((struct limit *)self)->ram, visit, context);
}

static int space(void *self, struct bench_space *answer)
{
    return adapter_ram_fs.space(&((struct limit *)self)->ram, answer);
}

static void memory(void *self, struct bench_memory *answer)
{
    (void)self;
    memset(answer, 0, sizeof *answer);
}

const struct bench_fs limit_fs = {
    .name = "limit", .format = format, .mount = nothing, .unmount = nothing, .open_read = open_read,
    .open_write = open_write, .size = size, .read = read_bytes, .write = write_bytes, .seek = seek,
    .close = close_file, .remove = remove_file, .exists = exists, .list = list, .space = space, .memory = memory
};

/* See adapter_ram.h. */
#include "bench/adapters/adapter_ram.h"

#include <stdlib.h>
#include <string.h>

static struct adapter_ram_file *find(struct adapter_ram *ram, const char *name)
{
    for (uint32_t i = 0; i < ADAPTER_RAM_FILES; i++)
        if (strcmp(ram->files[i].name, name) == 0)
            return &ram->files[i];
    return NULL;
}

static void drop(struct adapter_ram_file *file)
{
    free(file->data);
    memset(file, 0, sizeof *file);
}

void adapter_ram_clear(struct adapter_ram *ram)
{
    for (uint32_t i = 0; i < ADAPTER_RAM_FILES; i++)
        drop(&ram->files[i]);
    drop(&ram->writer);
    ram->writing = 0;
}

static int format(void *self)
{
    adapter_ram_clear(self);
    return 0;
}

static int nothing(void *self)
{
    (void)self;
    return 0;
}

static int open_read(void *self, const char *name)
{
    struct adapter_ram *ram = self;
    ram->reader = find(ram, name);
    ram->position = 0;
    ram->writing = 0;
    return ram->reader != NULL ? 0 : -1;
}

static int open_write(void *self, const char *name)
{
    struct adapter_ram *ram = self;
    drop(&ram->writer);
    strncpy(ram->writer.name, name, ADAPTER_RAM_NAME - 1);
    ram->writing = 1;
    return 0;
}

static int32_t size(void *self)
{
    const struct adapter_ram *ram = self;
    return (int32_t)ram->reader->size;
}

static int32_t read_bytes(void *self, void *buffer, uint32_t bytes)
{
    struct adapter_ram *ram = self;
    uint32_t left = ram->reader->size - ram->position;
    uint32_t part = bytes < left ? bytes : left;
    memcpy(buffer, ram->reader->data + ram->position, part);
    ram->position += part;
    return (int32_t)part;
}

static int32_t write_bytes(void *self, const void *data, uint32_t bytes)
{
    struct adapter_ram_file *file = &((struct adapter_ram *)self)->writer;
    if (file->size + bytes > file->room) {
        uint32_t room = 2 * (file->size + bytes);
        uint8_t *grown = realloc(file->data, room);
        if (grown == NULL)
            return -2;
        file->data = grown;
        file->room = room;
    }
    memcpy(file->data + file->size, data, bytes);
    file->size += bytes;
    return (int32_t)bytes;
}

static int seek(void *self, uint32_t offset)
{
    struct adapter_ram *ram = self;
    ram->position = offset;
    return offset <= ram->reader->size ? 0 : -3;
}

static int close_file(void *self)
{
    struct adapter_ram *ram = self;
    if (!ram->writing)
        return 0;
    struct adapter_ram_file *old = find(ram, ram->writer.name);
    if (old == NULL)
        old = find(ram, "");
    if (old == NULL)
        return -4;
    free(old->data);
    *old = ram->writer;
    memset(&ram->writer, 0, sizeof ram->writer);
    ram->writing = 0;
    return 0;
}

static int remove_file(void *self, const char *name)
{
    struct adapter_ram_file *file = find(self, name);
    if (file == NULL)
        return -1;
    drop(file);
    return 0;
}

static int exists(void *self, const char *name)
{
    return find(self, name) != NULL;
}

static int list(void *self, bench_visit_fn visit, void *context)
{
    struct adapter_ram *ram = self;
    for (uint32_t i = 0; i < ADAPTER_RAM_FILES; i++)
        if (ram->files[i].name[0] != 0 && visit(context, ram->files[i].name, ram->files[i].size) != 0)
            return -1;
    return 0;
}

static int space(void *self, struct bench_space *answer)
{
    const struct adapter_ram *ram = self;
    memset(answer, 0, sizeof *answer);
    answer->capacity_bytes = answer->free_bytes = 4u << 20;
    for (uint32_t i = 0; i < ADAPTER_RAM_FILES; i++)
        answer->free_bytes -= ram->files[i].size;
    answer->index_bytes_per_file = 8;
    return 0;
}

static void memory(void *self, struct bench_memory *answer)
{
    (void)self;
    memset(answer, 0, sizeof *answer);
}

const struct bench_fs adapter_ram_fs = {
    .name = "ram", .format = format, .mount = nothing, .unmount = nothing, .open_read = open_read,
    .open_write = open_write, .size = size, .read = read_bytes, .write = write_bytes, .seek = seek,
    .close = close_file, .remove = remove_file, .exists = exists, .list = list, .space = space, .memory = memory
};

/* Files in host memory, no flash: a self-check of the workloads and the content store behind the limit rows. Never
 * reported as a filesystem.
 */
#ifndef ADAPTER_RAM_H
#define ADAPTER_RAM_H

#include "bench/adapter.h"

enum { ADAPTER_RAM_FILES = 8192, ADAPTER_RAM_NAME = 24 };

struct adapter_ram_file {
    char name[ADAPTER_RAM_NAME];   /* "": free */
    uint8_t *data;
    uint32_t size, room;
};

struct adapter_ram {
    struct adapter_ram_file files[ADAPTER_RAM_FILES];
    struct adapter_ram_file writer; /* the version being written */
    struct adapter_ram_file *reader;
    uint32_t position;
    int writing;
};

extern const struct bench_fs adapter_ram_fs; /* self: struct adapter_ram, zeroed before first use */
void adapter_ram_clear(struct adapter_ram *ram);

#endif

/* What the benchmark needs from a filesystem: one small table of functions.
 *
 * An adapter owns one volume and one open file at a time; its state is behind `self`. Functions return 0 or a count, or
 * a negative number of the filesystem's own; a read at the end returns 0. The device is erased by the caller before
 * format (untimed), so an adapter may tell its filesystem so.
 */
#ifndef BENCH_ADAPTER_H
#define BENCH_ADAPTER_H

#include <stddef.h>
#include <stdint.h>

struct bench_space {
    uint32_t capacity_bytes;       /* what files may take in all */
    uint32_t free_bytes;
    uint32_t index_bytes_per_file; /* flash that a new file takes and that free_bytes does not tell of */
};

/* RAM in bytes, without stack. */
struct bench_memory {
    uint32_t base_bytes;           /* volume state and all buffers given at mount */
    uint32_t open_bytes;           /* per open file, its buffer included */
};

typedef int (*bench_visit_fn)(void *context, const char *name, uint32_t size);

struct bench_fs {
    const char *name;
    int (*format)(void *self);
    int (*mount)(void *self);
    int (*unmount)(void *self);
    void (*forget)(void *self);    /* power loss: RAM state is gone. NULL: not offered */
    int (*open_read)(void *self, const char *name);
    int (*open_write)(void *self, const char *name); /* creates, or replaces what exists; `name` stays valid */
    int32_t (*size)(void *self);   /* of the file open for reading, as fstat tells it */
    int32_t (*read)(void *self, void *buffer, uint32_t bytes);
    int32_t (*write)(void *self, const void *data, uint32_t bytes);
    int (*seek)(void *self, uint32_t offset);
    int (*close)(void *self);
    int (*remove)(void *self, const char *name);
    int (*exists)(void *self, const char *name);     /* 1 or 0 */
    int (*list)(void *self, bench_visit_fn visit, void *context);
    int (*space)(void *self, struct bench_space *space);
    int (*background)(void *self); /* one bounded step: 1 did something, 0 idle. NULL: the filesystem has none */
    void (*memory)(void *self, struct bench_memory *memory);
};

#endif

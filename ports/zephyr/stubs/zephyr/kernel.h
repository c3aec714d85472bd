/* Stub of Zephyr's kernel: what the port uses. */
#ifndef STUB_ZEPHYR_KERNEL_H
#define STUB_ZEPHYR_KERNEL_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#define ROUND_UP(x, align) (((x) + (align) - 1) / (align) * (align))
#define BIT(n) (1u << (n))

typedef struct { int64_t ticks; } k_timeout_t;
#define K_FOREVER ((k_timeout_t){ -1 })
#define K_NO_WAIT ((k_timeout_t){ 0 })

struct k_mutex { pthread_mutex_t mutex; int depth; };
int k_mutex_init(struct k_mutex *mutex);
int k_mutex_lock(struct k_mutex *mutex, k_timeout_t timeout);
int k_mutex_unlock(struct k_mutex *mutex);

struct k_mem_slab { char *memory; size_t block; uint32_t count; uint64_t used; };
#define K_MEM_SLAB_DEFINE_STATIC(name, block_size, num_blocks, align) \
    static char name##_memory[(block_size) * (num_blocks)] __attribute__((aligned(align))); \
    static struct k_mem_slab name = { name##_memory, block_size, num_blocks, 0 }
int k_mem_slab_alloc(struct k_mem_slab *slab, void **mem, k_timeout_t timeout);
void k_mem_slab_free(struct k_mem_slab *slab, void *mem);

#endif

/* The device behind struct nor, shared by nor.c (array, rules, copies) and nor_fault.c (what faults leave behind). */
#ifndef NOR_INTERNAL_H
#define NOR_INTERNAL_H

#include "nor.h"
#include "nor_fault.h"

enum { NOR_TAGS = 8, NOR_FAULT_SLOTS = 2, NOR_JOURNAL = 4096 };

/* What a failing driver call returns; the library only sees that it is not 0. */
enum nor_error {
    NOR_ERROR_OFF = -100,        /* no power */
    NOR_ERROR_RULE = -101,       /* a rule was broken, NOR_COUNT */
    NOR_ERROR_FAULT = -102,      /* F6 */
    NOR_ERROR_WORN = -103        /* F8 */
};

/* What a cut or failed operation left behind: a range that is no longer ordinary until it is erased. */
enum nor_scar_kind {
    NOR_SCAR_PROGRAM = 1,        /* only the identical repeat of the program may follow; weak bits by mask */
    NOR_SCAR_ERASE               /* nothing may be programmed before an erase has completed */
};

/* How a scarred range reads. */
enum nor_noise {
    NOR_NOISE_NONE = 0,          /* as stored */
    NOR_NOISE_BITS,              /* masked bits, each for itself */
    NOR_NOISE_ALIKE,             /* masked bits, all blank or all done in one read */
    NOR_NOISE_JUNK,
    NOR_NOISE_BLANK,             /* blank in most reads; what it held before shows through in some */
    NOR_NOISE_OLD                /* as before in most reads */
};

struct nor_scar {
    uint32_t address;
    uint32_t bytes;
    uint32_t pool;               /* NOR_SCAR_PROGRAM: where its bytes start in pool_intended and pool_weak */
    uint8_t kind;                /* enum nor_scar_kind */
    uint8_t noise;               /* enum nor_noise */
};

struct nor_fault_slot {
    uint64_t left;               /* matching operations before it strikes */
    uint64_t seed;
    unsigned op_mask;            /* 0: not armed */
    enum nor_fault_kind kind;
};

struct nor {
    struct nor_config config;    /* defaults filled in */
    struct fffs_flash flash;

    /* The array, in chunks of a power of two. Dense: `data` and `used` are whole; sparse: a chunk's data and then its
     * bitmap lie in sparse[chunk], NULL while it is blank. A used bit: that granule was programmed since its erase. */
    uint32_t chunk_bytes, chunk_shift, chunks;
    uint32_t used_stride;        /* bytes of bitmap per chunk */
    uint32_t granule_shift, unit_shift;
    uint8_t *data;
    uint8_t *used;
    uint8_t **sparse;
    uint8_t *free_chunks;        /* sparse: a list of chunks to use again */

    uint32_t units;
    uint32_t *wear;              /* erases per unit */
    uint32_t *wear_limit;        /* NULL: no unit wears out */
    uint32_t *unit_calls[NOR_OPS]; /* NULL: not counted */

    /* Change tracking, so that a copy costs what differs. Every change of a chunk takes the next sequence number:
     * stamp[chunk] holds its latest, journal[] the chunk of each recent number. */
    uint64_t id;                 /* of this device, never used again */
    uint64_t sequence;
    uint64_t *stamp;
    uint32_t *journal;
    uint64_t twin_id;            /* the device this one was last copied from, */
    uint64_t twin_sequence;      /* its sequence then, */
    uint64_t own_sequence;       /* and ours */

    struct nor_scar *scars;      /* in ascending order of pool */
    uint32_t scar_count, scar_room;
    uint8_t *pool_intended;      /* the bytes that the faulted program should have left */
    uint8_t *pool_weak;          /* the bits that may read either way */
    uint32_t pool_used, pool_room;
    uint64_t noise;              /* random state of metastable reads, never 0 */

    int is_off;
    int dead;                    /* -1, or the byte that every read returns */
    struct nor_fault_slot faults[NOR_FAULT_SLOTS]; /* [0] the plain cut, [1] the fault */
    nor_branch_fn branch;
    void *branch_context;
    const struct nor_pending *pending; /* the mutation about to happen, inside `branch` only */

    uint64_t time_ns;
    uint64_t mutations;
    int tag;
    unsigned tags_used;          /* bit per tag whose counts are not all zero */
    struct nor_counts counts;
    struct nor_counts tag_counts[NOR_TAGS];
    FILE *trace;
};

/* xorshift64*: fast and good enough; state is never 0. */
static inline uint64_t nor_random(uint64_t *state)
{
    uint64_t x = *state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return x * UINT64_C(2685821657736338717);
}

static inline uint64_t nor_seed(uint64_t seed)
{
    uint64_t x = seed + UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    x ^= x >> 31;
    return x == 0 ? 1 : x;
}

/* nor.c: the array past all rules, untimed. */
void *nor_allocate(void *old, size_t bytes);
void nor_raw_read(const struct nor *nor, uint32_t address, uint8_t *buffer, uint32_t bytes);
void nor_raw_write(struct nor *nor, uint32_t address, const uint8_t *data, uint32_t bytes);
void nor_raw_mark(struct nor *nor, uint32_t address, uint32_t bytes, int used);
/* The operation, done completely. */
void nor_apply(struct nor *nor, const struct nor_pending *pending);
void nor_add_wear(struct nor *nor, uint32_t address, uint32_t bytes);

/* nor_fault.c: scars. */
void nor_scars_trim(struct nor *nor, uint32_t address, uint32_t bytes);
void nor_scars_copy(struct nor *to, const struct nor *from);
/* How a program of `data` over a scar is to be taken: the scar that covers `address`, or NULL. */
const struct nor_scar *nor_scar_at(const struct nor *nor, uint32_t address);
/* Programmed bits are solid from now on, where allow_overwrite let a program pass over a scar. */
void nor_scars_harden(struct nor *nor, const struct nor_pending *pending);
/* Makes what was read from `address` what a metastable read would see; `settled`: the typical view, no randomness. */
void nor_scars_noise(struct nor *nor, uint32_t address, uint8_t *buffer, uint32_t bytes);
void nor_scars_settled(const struct nor *nor, uint32_t address, uint8_t *buffer, uint32_t bytes);

/* nor_fault.c: the fault that strikes this operation, or NULL. A slot that strikes is disarmed; its contents stay valid
 * until it is armed again. */
const struct nor_fault_slot *nor_fault_due(struct nor *nor, enum nor_op op);
/* Does the damage of `fault` instead of the operation; the driver call's result. */
int nor_fault_strike(struct nor *nor, const struct nor_pending *pending, const struct nor_fault_slot *fault);
int nor_fault_strike_read(struct nor *nor, uint8_t *buffer, uint32_t bytes, const struct nor_fault_slot *fault);

#endif

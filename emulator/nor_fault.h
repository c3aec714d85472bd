/* Faults of the emulated flash (F1-F9 of docs/TESTING.md), deterministic from a seed. */
#ifndef NOR_FAULT_H
#define NOR_FAULT_H

#include "nor.h"

enum nor_fault_kind {
    NOR_FAULT_NONE = 0,
    NOR_FAULT_BEFORE,        /* F1 the operation is not done */
    NOR_FAULT_AFTER,         /* F1 the operation is done, nothing after it */
    NOR_FAULT_PREFIX,        /* F2 a prefix (in bits) of the program is done, pages in order */
    NOR_FAULT_SUBSET,        /* F3 any subset of the bits to clear is done, pages in any order */
    NOR_FAULT_WEAK,          /* F4 as SUBSET, and every touched bit that should be 0 may read either way, each time */
    NOR_FAULT_WEAK_BLANK,    /* F4 reads blank or done, per read, all bits alike */
    NOR_FAULT_ERASE_JUNK,    /* F5 contents arbitrary, metastable */
    NOR_FAULT_ERASE_PART,    /* F5 some sectors of the erase done, one junk, others untouched */
    NOR_FAULT_ERASE_BLANK,   /* F5 reads blank (mostly), programs do not stick reliably until erased */
    NOR_FAULT_ERASE_OLD,     /* F5 reads as before (mostly), bits metastable */
    NOR_FAULT_ERROR,         /* F6 the call fails with an error, not done */
    NOR_FAULT_ERROR_PART,    /* F6 the call fails with an error, partly done */
    NOR_FAULT_LIE,           /* F7 the call reports success and did nothing */
    NOR_FAULT_KINDS
};

/* A kind that does not fit the operation becomes its counterpart: a program takes PREFIX for ERASE_OLD, SUBSET for
 * ERASE_PART, WEAK for ERASE_JUNK and WEAK_BLANK for ERASE_BLANK, an erase the other way round; a read or sync is cut (the
 * power goes) or fails, and a read that lies delivers wrong bytes.
 *
 * Granules touched by a cut or half-failed program may only be programmed again with the identical bytes, those touched by a
 * cut or half-failed erase not at all, until an erase has completed: anything else is a violation.
 *
 * Applies `kind` to the operation number `n` from now (counted over the ops in `op_mask`, bits 1 << enum nor_op). Kinds
 * BEFORE .. ERASE_OLD cut the power there. */
void nor_fault_at(struct nor *nor, uint64_t n, unsigned op_mask, enum nor_fault_kind kind, uint64_t seed);
void nor_fault_clear(struct nor *nor);
/* F8: erase unit `unit` fails program and erase for good after `cycles` erases (UINT32_MAX: never). */
void nor_wear_out(struct nor *nor, uint32_t unit, uint32_t cycles);
/* F9: flips one bit at rest. */
void nor_flip(struct nor *nor, uint32_t address, unsigned bit);
/* Every read returns `value` bytes from now on (a dead chip); -1 ends it. */
void nor_dead(struct nor *nor, int value);

/* Branching: before each mutation of `nor` that is about to happen, `branch` is called with what it is. It may call
 * nor_branch() any number of times to make a damaged clone of the flash as a cut of the given kind there would leave it. */
struct nor_pending { enum nor_op op; uint32_t address; uint32_t bytes; const uint8_t *data; uint64_t number; };
typedef void (*nor_branch_fn)(void *context, struct nor *nor, const struct nor_pending *pending);
void nor_on_mutation(struct nor *nor, nor_branch_fn branch, void *context);
/* `into` (same config as nor; created once, reused, no allocation per branch) becomes the flash after the damaged
 * operation, powered on, faults off, metastable bits seeded. */
void nor_branch(struct nor *nor, struct nor *into, enum nor_fault_kind kind, uint64_t seed);
/* The same with a chosen outcome, for exhaustive sweeps: the pending program left the bits of its range at `left` (which can
 * only be cleared as far as the program would have), those set in `weak` (NULL: none) read either way. */
void nor_branch_torn(struct nor *nor, struct nor *into, const uint8_t *left, const uint8_t *weak, uint64_t seed);

/* Whether any metastable bit exists in the range. */
int nor_is_weak(const struct nor *nor, uint32_t address, uint32_t bytes);

#endif

/* Enumeration of torn programs. Each family takes numbers from 0 on and hands on what lies beyond it. */
#include "patterns.h"

#include <string.h>

enum { MOST_PARTS = 12, MOST_PAIR_BITS = 64 };

struct program {
    const uint8_t *to_clear;
    uint32_t bytes, bits;        /* bits to clear */
    uint8_t *missing;
};

static uint32_t count_bits(uint8_t byte)
{
    uint32_t count = 0;

    for (; byte != 0; byte = (uint8_t)(byte & (byte - 1u)))
        count++;
    return count;
}

/* The n-th bit to clear. */
static void toggle(const struct program *program, uint32_t n)
{
    uint32_t i, bit;

    for (i = 0; i < program->bytes; i++) {
        for (bit = 0; bit < 8; bit++) {
            if ((program->to_clear[i] >> bit & 1u) != 0 && n-- == 0) {
                program->missing[i] = (uint8_t)(program->missing[i] ^ (1u << bit));
                return;
            }
        }
    }
}

static void set_all(const struct program *program, int missing)
{
    if (missing)
        memcpy(program->missing, program->to_clear, program->bytes);
    else
        memset(program->missing, 0, program->bytes);
}

/* Subsets of parts; prefixes where there are too many. */
static int take_parts(const struct program *program, uint32_t *number)
{
    uint32_t size = program->bytes <= MOST_PARTS ? 1 : 8, parts = (program->bytes + size - 1) / size;
    uint32_t count = parts <= MOST_PARTS ? 1u << parts : parts + 1, i;

    if (*number >= count) {
        *number -= count;
        return 0;
    }
    for (i = 0; i < program->bytes; i++) {
        uint32_t part = i / size;
        int done = parts <= MOST_PARTS ? (int)(*number >> part & 1u) : part < *number;

        program->missing[i] = done ? 0 : program->to_clear[i];
    }
    return 1;
}

/* The first or last bits done. */
static int take_runs(const struct program *program, uint32_t *number)
{
    uint32_t i;

    if (*number >= 2 * program->bits) {
        *number -= 2 * program->bits;
        return 0;
    }
    set_all(program, 1);
    for (i = 0; i <= *number / 2; i++)
        toggle(program, *number % 2 == 0 ? i : program->bits - 1 - i);
    return 1;
}

static int take_single(const struct program *program, uint32_t *number)
{
    if (*number >= 2 * program->bits) {
        *number -= 2 * program->bits;
        return 0;
    }
    set_all(program, (int)(*number % 2));
    toggle(program, *number / 2);
    return 1;
}

static int take_pairs(const struct program *program, uint32_t *number)
{
    uint32_t bits = program->bits <= MOST_PAIR_BITS ? program->bits : 0, a, pair;

    if (*number >= bits * bits) {
        *number -= bits * bits;
        return 0;
    }
    /* Below the diagonal two missing, above it two done; on it nothing new. */
    a = *number / bits;
    pair = *number % bits;
    set_all(program, pair > a);
    toggle(program, a);
    if (pair != a)
        toggle(program, pair);
    return 1;
}

static int take_bytes(const struct program *program, uint32_t *number)
{
    uint32_t i, bit, chosen;

    for (i = 0; i < program->bytes; i++) {
        uint32_t count = 2u << count_bits(program->to_clear[i]);

        if (*number < count) {
            set_all(program, (int)(*number % 2));
            program->missing[i] = 0;
            for (bit = 0, chosen = *number / 2; bit < 8; bit++) {
                if ((program->to_clear[i] >> bit & 1u) == 0)
                    continue;
                program->missing[i] = (uint8_t)(program->missing[i] | (chosen & 1u) << bit);
                chosen >>= 1;
            }
            return 1;
        }
        *number -= count;
    }
    return 0;
}

int pattern_at(uint32_t number, const uint8_t *to_clear, uint32_t bytes, uint8_t *missing)
{
    struct program program = { to_clear, bytes, 0, missing };
    uint32_t i;

    for (i = 0; i < bytes; i++)
        program.bits += count_bits(to_clear[i]);
    return take_parts(&program, &number) || take_runs(&program, &number) || take_single(&program, &number) ||
           take_pairs(&program, &number) || take_bytes(&program, &number);
}

/* Faults of the emulated flash: what a cut, an error or a lie leaves behind, and how it reads.
 *
 * Owns the scars of struct nor. A scar is a range that a cut or half-failed operation touched; it says what may be
 * programmed there (see judge_granule in nor.c) and how it reads: the array holds one view, noise makes each read differ.
 * Only an erase, or the identical repeat of the program, ends it. Everything follows from seeds.
 */
#include "nor_internal.h"

#include <string.h>

enum { PIECE_BYTES = 256, KEEP_POOL_BYTES = 4096 };

static uint32_t minimum(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t maximum(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* ---- the list of scars ---- */

static void make_scar_room(struct nor *nor, uint32_t count)
{
    if (count > nor->scar_room) {
        nor->scar_room = maximum(count, nor->scar_room * 2);
        nor->scars = nor_allocate(nor->scars, nor->scar_room * sizeof *nor->scars);
    }
}

static void make_pool_room(struct nor *nor, uint32_t bytes)
{
    if (bytes > nor->pool_room) {
        nor->pool_room = maximum(maximum(bytes, nor->pool_room * 2), KEEP_POOL_BYTES);
        nor->pool_intended = nor_allocate(nor->pool_intended, nor->pool_room);
        nor->pool_weak = nor_allocate(nor->pool_weak, nor->pool_room);
    }
}

/* Closes the gaps that trimmed scars left in the pools. */
static void compact_pools(struct nor *nor)
{
    uint32_t end = 0;
    for (uint32_t i = 0; i < nor->scar_count; i++) {
        struct nor_scar *scar = &nor->scars[i];
        if (scar->kind == NOR_SCAR_PROGRAM) {
            memmove(nor->pool_intended + end, nor->pool_intended + scar->pool, scar->bytes);
            memmove(nor->pool_weak + end, nor->pool_weak + scar->pool, scar->bytes);
            scar->pool = end;
            end += scar->bytes;
        }
    }
    nor->pool_used = end;
}

/* Adds a scar on a range that has none. `intended`: what a program was to leave, else NULL. */
static struct nor_scar *add_scar(struct nor *nor, enum nor_noise noise, uint32_t address, uint32_t bytes,
                                 const uint8_t *intended)
{
    make_scar_room(nor, nor->scar_count + 1);
    if (intended != NULL) {
        if (nor->pool_used + bytes > nor->pool_room) {
            compact_pools(nor);
        }
        make_pool_room(nor, nor->pool_used + bytes);
    }
    struct nor_scar *scar = &nor->scars[nor->scar_count++];
    scar->address = address;
    scar->bytes = bytes;
    scar->pool = nor->pool_used;
    scar->kind = (uint8_t)(intended != NULL ? NOR_SCAR_PROGRAM : NOR_SCAR_ERASE);
    scar->noise = (uint8_t)noise;
    if (intended != NULL) {
        memcpy(nor->pool_intended + scar->pool, intended, bytes);
        memset(nor->pool_weak + scar->pool, 0, bytes);
        nor->pool_used += bytes;
    }
    return scar;
}

/* Takes [start, end) out of scar number `i`; returns how many scars it became. */
static uint32_t cut_scar(struct nor *nor, uint32_t i, uint32_t start, uint32_t end)
{
    struct nor_scar left = nor->scars[i];
    struct nor_scar right = left;
    uint32_t parts = 0;
    uint32_t scar_end = left.address + left.bytes;
    left.bytes = start > left.address ? start - left.address : 0;
    right.bytes = scar_end > end ? scar_end - end : 0;
    right.pool += end - right.address;
    right.address = end;
    parts = (uint32_t)(left.bytes > 0) + (uint32_t)(right.bytes > 0);
    make_scar_room(nor, nor->scar_count + 1);
    memmove(&nor->scars[i + parts], &nor->scars[i + 1], (nor->scar_count - i - 1) * sizeof *nor->scars);
    if (left.bytes > 0) {
        nor->scars[i] = left;
    }
    if (right.bytes > 0) {
        nor->scars[i + parts - 1] = right;
    }
    nor->scar_count = nor->scar_count - 1 + parts;
    return parts;
}

void nor_scars_trim(struct nor *nor, uint32_t address, uint32_t bytes)
{
    uint32_t end = address + bytes;
    for (uint32_t i = 0; i < nor->scar_count;) {
        const struct nor_scar *scar = &nor->scars[i];
        if (scar->address < end && scar->address + scar->bytes > address) {
            i += cut_scar(nor, i, address, end);
        } else {
            i++;
        }
    }
    if (nor->scar_count == 0) {
        nor->pool_used = 0;
    }
}

void nor_scars_copy(struct nor *to, const struct nor *from)
{
    to->scar_count = from->scar_count;
    to->pool_used = from->pool_used;
    if (from->scar_count > 0) {
        make_scar_room(to, from->scar_count);
        memcpy(to->scars, from->scars, from->scar_count * sizeof *to->scars);
    }
    if (from->pool_used > 0) {
        make_pool_room(to, from->pool_used);
        memcpy(to->pool_intended, from->pool_intended, from->pool_used);
        memcpy(to->pool_weak, from->pool_weak, from->pool_used);
    }
}

const struct nor_scar *nor_scar_at(const struct nor *nor, uint32_t address)
{
    for (uint32_t i = 0; i < nor->scar_count; i++) {
        const struct nor_scar *scar = &nor->scars[i];
        if (address >= scar->address && address - scar->address < scar->bytes) {
            return scar;
        }
    }
    return NULL;
}

/* The part of a scar that lies in a range. */
struct overlap {
    uint32_t address, bytes;
    uint8_t *weak;               /* NOR_SCAR_PROGRAM: its mask, else NULL */
};

static int find_overlap(const struct nor *nor, uint32_t i, uint32_t address, uint32_t bytes, struct overlap *found)
{
    const struct nor_scar *scar = &nor->scars[i];
    uint32_t end = minimum(address + bytes, scar->address + scar->bytes);
    found->address = maximum(address, scar->address);
    if (found->address >= end) {
        return 0;
    }
    found->bytes = end - found->address;
    found->weak = scar->kind == NOR_SCAR_PROGRAM ? nor->pool_weak + scar->pool + (found->address - scar->address) : NULL;
    return 1;
}

void nor_scars_harden(struct nor *nor, const struct nor_pending *pending)
{
    struct overlap o;
    for (uint32_t i = 0; i < nor->scar_count; i++) {
        if (find_overlap(nor, i, pending->address, pending->bytes, &o) && o.weak != NULL) {
            const uint8_t *data = pending->data + (o.address - pending->address);
            for (uint32_t k = 0; k < o.bytes; k++) {
                o.weak[k] = (uint8_t)(o.weak[k] & data[k]);
            }
        }
    }
}

/* Weak bits count as blank from now on, so that a repeat that is cut again starts from the weakest state. */
static void loosen(struct nor *nor, uint32_t address, uint32_t bytes)
{
    struct overlap o;
    for (uint32_t i = 0; i < nor->scar_count; i++) {
        if (find_overlap(nor, i, address, bytes, &o) && o.weak != NULL) {
            for (uint32_t k = 0; k < o.bytes; k++) {
                uint8_t byte;
                nor_raw_read(nor, o.address + k, &byte, 1);
                byte = (uint8_t)(byte | o.weak[k]);
                nor_raw_write(nor, o.address + k, &byte, 1);
            }
        }
    }
}

int nor_is_weak(const struct nor *nor, uint32_t address, uint32_t bytes)
{
    struct overlap o;
    for (uint32_t i = 0; i < nor->scar_count; i++) {
        if (nor->scars[i].noise == NOR_NOISE_NONE || !find_overlap(nor, i, address, bytes, &o)) {
            continue;
        }
        if (o.weak == NULL) {
            return 1;
        }
        for (uint32_t k = 0; k < o.bytes; k++) {
            if (o.weak[k] != 0) {
                return 1;
            }
        }
    }
    return 0;
}

/* ---- how scars read ---- */

/* Random bytes, each bit set with probability 1/2, 1/4, 1/8, ... for 0, 1, 2 ... `thin`. */
struct bits {
    uint64_t *state;
    uint64_t word;
    unsigned left, thin;
};

static struct bits make_bits(uint64_t *state, unsigned thin)
{
    struct bits bits = { state, 0, 0, thin };
    return bits;
}

static uint8_t next_bits(struct bits *bits)
{
    if (bits->left == 0) {
        bits->word = nor_random(bits->state);
        for (unsigned i = 0; i < bits->thin; i++) {
            bits->word &= nor_random(bits->state);
        }
        bits->left = 8;
    }
    uint8_t byte = (uint8_t)bits->word;
    bits->word >>= 8;
    bits->left--;
    return byte;
}

static unsigned pick(uint64_t *state, unsigned count)
{
    return (unsigned)((nor_random(state) >> 33) % count);
}

/* Masked bits read done (0) or blank (1). One read in four shows everything done, one in eight everything blank: a torn
 * record that verifies in this read and not in the next is the worst case. */
static void read_weak_bits(uint64_t *state, int alike, const uint8_t *weak, uint8_t *buffer, uint32_t bytes)
{
    unsigned mood = alike ? pick(state, 2) * 2 : pick(state, 8);
    struct bits bits = make_bits(state, mood == 4 || mood == 5 ? 2 : 0);
    for (uint32_t i = 0; i < bytes; i++) {
        uint8_t blank;
        switch (mood) {
        case 0: case 1: blank = 0; break;
        case 2: blank = 0xFF; break;
        case 4: blank = next_bits(&bits); break;                 /* nearly done */
        case 5: blank = (uint8_t)~next_bits(&bits); break;       /* nearly blank */
        case 6: blank = buffer[i]; break;                        /* as stored */
        default: blank = next_bits(&bits); break;
        }
        buffer[i] = (uint8_t)((buffer[i] & ~weak[i]) | (blank & weak[i]));
    }
}

static void set_random_bits(uint64_t *state, unsigned thin, uint8_t *buffer, uint32_t bytes)
{
    struct bits bits = make_bits(state, thin);
    for (uint32_t i = 0; i < bytes; i++) {
        buffer[i] = (uint8_t)(buffer[i] | next_bits(&bits));
    }
}

static void flip_random_bits(uint64_t *state, unsigned thin, uint8_t *buffer, uint32_t bytes)
{
    struct bits bits = make_bits(state, thin);
    for (uint32_t i = 0; i < bytes; i++) {
        buffer[i] = (uint8_t)(buffer[i] ^ next_bits(&bits));
    }
}

static void read_junk(uint64_t *state, uint8_t *buffer, uint32_t bytes)
{
    switch (pick(state, 4)) {
    case 0: break;
    case 1: flip_random_bits(state, 3, buffer, bytes); break;
    case 2: flip_random_bits(state, 0, buffer, bytes); break;
    default: set_random_bits(state, 1, buffer, bytes); break;
    }
}

/* The array still holds what was there before the erase. */
static void read_nearly_blank(uint64_t *state, uint8_t *buffer, uint32_t bytes)
{
    switch (pick(state, 16)) {
    case 0: break;
    case 1: set_random_bits(state, 0, buffer, bytes); break;
    case 2: case 3:
        for (int i = 0; i < 3; i++) {
            set_random_bits(state, 0, buffer, bytes);
        }
        break;
    default: memset(buffer, 0xFF, bytes); break;
    }
}

static void read_nearly_old(uint64_t *state, uint8_t *buffer, uint32_t bytes)
{
    switch (pick(state, 8)) {
    case 5: set_random_bits(state, 3, buffer, bytes); break;
    case 6: set_random_bits(state, 0, buffer, bytes); break;
    case 7: memset(buffer, 0xFF, bytes); break;
    default: break;
    }
}

void nor_scars_noise(struct nor *nor, uint32_t address, uint8_t *buffer, uint32_t bytes)
{
    struct overlap o;
    for (uint32_t i = 0; i < nor->scar_count; i++) {
        if (!find_overlap(nor, i, address, bytes, &o)) {
            continue;
        }
        uint8_t *part = buffer + (o.address - address);
        switch (nor->scars[i].noise) {
        case NOR_NOISE_BITS: read_weak_bits(&nor->noise, 0, o.weak, part, o.bytes); break;
        case NOR_NOISE_ALIKE: read_weak_bits(&nor->noise, 1, o.weak, part, o.bytes); break;
        case NOR_NOISE_JUNK: read_junk(&nor->noise, part, o.bytes); break;
        case NOR_NOISE_BLANK: read_nearly_blank(&nor->noise, part, o.bytes); break;
        case NOR_NOISE_OLD: read_nearly_old(&nor->noise, part, o.bytes); break;
        default: break;
        }
    }
}

void nor_scars_settled(const struct nor *nor, uint32_t address, uint8_t *buffer, uint32_t bytes)
{
    struct overlap o;
    for (uint32_t i = 0; i < nor->scar_count; i++) {
        if (nor->scars[i].noise == NOR_NOISE_BLANK && find_overlap(nor, i, address, bytes, &o)) {
            memset(buffer + (o.address - address), 0xFF, o.bytes);
        }
    }
}

/* ---- a program that was not finished ---- */

/* What happened to one page: nothing, everything, or some of its bits. */
enum page_state { PAGE_UNTOUCHED, PAGE_DONE, PAGE_SOME };

struct tear {
    enum nor_fault_kind kind;
    uint64_t random;
    uint64_t prefix_bits;        /* PREFIX: bits of the program still to be done */
    int high_bit_first;
    int one_page;
};

static enum page_state choose_page(struct tear *tear)
{
    if (tear->kind == NOR_FAULT_WEAK_BLANK || tear->one_page) {
        return PAGE_SOME;
    }
    switch (pick(&tear->random, 4)) {
    case 0: return PAGE_UNTOUCHED;
    case 1: return PAGE_DONE;
    default: return PAGE_SOME;
    }
}

static uint8_t prefix_mask(const struct tear *tear)
{
    unsigned bits = (unsigned)tear->prefix_bits;
    return (uint8_t)(tear->high_bit_first ? 0xFF00u >> bits : 0xFFu >> (8 - bits));
}

/* PREFIX: which bits of each byte get their new value. */
static void choose_prefix(struct tear *tear, uint8_t *done, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++) {
        if (tear->prefix_bits >= 8) {
            done[i] = 0xFF;
            tear->prefix_bits -= 8;
        } else {
            done[i] = tear->prefix_bits == 0 ? 0 : prefix_mask(tear);
            tear->prefix_bits = 0;
        }
    }
}

static void toggle_one_bit(struct tear *tear, const uint8_t *to_clear, uint8_t *done, uint32_t bytes)
{
    uint32_t start = pick(&tear->random, bytes);
    for (uint32_t k = 0; k < bytes; k++) {
        uint32_t i = (start + k) % bytes;
        if (to_clear[i] != 0) {
            unsigned bit = pick(&tear->random, 8);
            while (((to_clear[i] >> bit) & 1) == 0) {
                bit = (bit + 1) & 7;
            }
            done[i] = (uint8_t)(done[i] ^ (1u << bit));
            return;
        }
    }
}

/* SUBSET: any subset; the extremes (one bit missing, one bit done) matter more than a fair coin gives them. */
static void choose_subset(struct tear *tear, const uint8_t *to_clear, uint8_t *done, uint32_t bytes)
{
    unsigned style = pick(&tear->random, 8);
    struct bits bits = make_bits(&tear->random, style == 4 || style == 5 ? 2 : 0);
    for (uint32_t i = 0; i < bytes; i++) {
        switch (style) {
        case 0: case 1: done[i] = 0xFF; break;                   /* all but one bit, or all */
        case 2: done[i] = 0; break;                              /* one bit */
        case 3: done[i] = pick(&tear->random, 2) ? 0xFF : 0; break; /* whole bytes */
        case 5: done[i] = (uint8_t)~next_bits(&bits); break;     /* most */
        default: done[i] = next_bits(&bits); break;
        }
    }
    if (style == 0 || style == 2) {
        toggle_one_bit(tear, to_clear, done, bytes);
    }
}

/* One piece of a page: chooses what was done, writes it, fills in its weak bits. */
static void tear_piece(struct nor *nor, struct tear *tear, enum page_state page, struct overlap *piece,
                       const uint8_t *intended)
{
    uint8_t data[PIECE_BYTES];
    uint8_t to_clear[PIECE_BYTES];
    uint8_t done[PIECE_BYTES];
    nor_raw_read(nor, piece->address, data, piece->bytes);
    for (uint32_t i = 0; i < piece->bytes; i++) {
        to_clear[i] = (uint8_t)(data[i] & ~intended[i]);
    }
    if (tear->kind == NOR_FAULT_PREFIX) {
        choose_prefix(tear, done, piece->bytes);
    } else if (page == PAGE_SOME && tear->kind != NOR_FAULT_WEAK_BLANK) {
        choose_subset(tear, to_clear, done, piece->bytes);
    } else {
        memset(done, page == PAGE_DONE ? 0xFF : 0, piece->bytes);
    }
    int weak = page == PAGE_SOME && (tear->kind == NOR_FAULT_WEAK || tear->kind == NOR_FAULT_WEAK_BLANK);
    for (uint32_t i = 0; i < piece->bytes; i++) {
        data[i] = (uint8_t)(data[i] & ~(to_clear[i] & done[i]));
        if (weak) {
            piece->weak[i] = to_clear[i];
        }
    }
    nor_raw_write(nor, piece->address, data, piece->bytes);
}

static struct nor_scar *scar_program(struct nor *nor, const struct nor_pending *p, enum nor_noise noise)
{
    if (nor->scar_count > 0) {
        loosen(nor, p->address, p->bytes);
        nor_scars_trim(nor, p->address, p->bytes);
    }
    nor_raw_mark(nor, p->address, p->bytes, 1);
    return add_scar(nor, noise, p->address, p->bytes, p->data);
}

static enum nor_noise noise_of_program(enum nor_fault_kind kind)
{
    if (kind == NOR_FAULT_WEAK) {
        return NOR_NOISE_BITS;
    }
    return kind == NOR_FAULT_WEAK_BLANK ? NOR_NOISE_ALIKE : NOR_NOISE_NONE;
}

static void tear_program(struct nor *nor, const struct nor_pending *p, enum nor_fault_kind kind, uint64_t seed)
{
    struct tear tear = { kind, nor_seed(seed), 0, 0, 0 };
    uint32_t page_mask = nor->config.page_bytes - 1;
    const struct nor_scar *scar = scar_program(nor, p, noise_of_program(kind));
    enum page_state page = PAGE_SOME;
    tear.prefix_bits = nor_random(&tear.random) % ((uint64_t)p->bytes * 8 + 1);
    tear.high_bit_first = (int)pick(&tear.random, 2);
    tear.one_page = ((p->address ^ (p->address + p->bytes - 1)) & ~page_mask) == 0;
    for (uint32_t at = 0; at < p->bytes;) {
        struct overlap piece;
        piece.address = p->address + at;
        piece.bytes = minimum(p->bytes - at, nor->config.page_bytes - (piece.address & page_mask));
        piece.bytes = minimum(piece.bytes, PIECE_BYTES);
        piece.weak = nor->pool_weak + scar->pool + at;
        if (at == 0 || (piece.address & page_mask) == 0) {
            page = choose_page(&tear);
        }
        tear_piece(nor, &tear, page, &piece, p->data + at);
        at += piece.bytes;
    }
}

/* ---- an erase that was not finished ---- */

static void make_junk_piece(uint64_t *random, unsigned style, uint8_t *data, uint32_t bytes)
{
    struct bits bits = make_bits(random, 0);
    for (uint32_t i = 0; i < bytes; i++) {
        uint8_t r = next_bits(&bits);
        switch (style) {
        case 0: data[i] = r; break;
        case 1: data[i] = (uint8_t)(data[i] | r); break;         /* some of its zeros already gone */
        case 2: data[i] = (uint8_t)(data[i] & r); break;         /* cut while it was programmed to zero first */
        case 3: data[i] = 0; break;
        case 4: data[i] = (uint8_t)(r | next_bits(&bits) | next_bits(&bits)); break; /* nearly blank */
        default:                                                 /* words of old contents, words of blank */
            if (i % 8 == 0 && (r & 1)) {
                memset(data + i, 0xFF, minimum(8, bytes - i));
            }
            break;
        }
    }
}

static void make_junk(struct nor *nor, uint64_t *random, uint32_t address, uint32_t bytes)
{
    uint8_t data[PIECE_BYTES];
    unsigned style = pick(random, 6);
    while (bytes > 0) {
        uint32_t part = minimum(bytes, PIECE_BYTES);
        nor_raw_read(nor, address, data, part);
        make_junk_piece(random, style, data, part);
        nor_raw_write(nor, address, data, part);
        address += part;
        bytes -= part;
    }
}

static void make_blank(struct nor *nor, uint32_t address, uint32_t bytes)
{
    uint8_t blank[PIECE_BYTES];
    memset(blank, 0xFF, sizeof blank);
    while (bytes > 0) {
        uint32_t part = minimum(bytes, PIECE_BYTES);
        nor_raw_write(nor, address, blank, part);
        address += part;
        bytes -= part;
    }
}

/* Some units erased, one junk, others untouched, in any order. The library cannot know which: all of them are scarred. */
static void erase_part(struct nor *nor, uint64_t *random, const struct nor_pending *p)
{
    uint32_t unit = nor->config.erase_bytes[0];
    uint32_t junk = p->address + (uint32_t)(nor_random(random) % (p->bytes / unit)) * unit;
    uint32_t end = p->address + p->bytes;
    int in_order = (int)pick(random, 2);
    for (uint32_t at = p->address; at < end; at += unit) {
        if (at == junk) {
            make_junk(nor, random, at, unit);
        } else if (in_order ? at < junk : pick(random, 2) != 0) {
            make_blank(nor, at, unit);
        }
    }
    if (junk > p->address) {
        add_scar(nor, NOR_NOISE_NONE, p->address, junk - p->address, NULL);
    }
    add_scar(nor, NOR_NOISE_JUNK, junk, unit, NULL);
    if (end > junk + unit) {
        add_scar(nor, NOR_NOISE_NONE, junk + unit, end - junk - unit, NULL);
    }
}

static void tear_erase(struct nor *nor, const struct nor_pending *p, enum nor_fault_kind kind, uint64_t seed)
{
    uint64_t random = nor_seed(seed);
    nor_scars_trim(nor, p->address, p->bytes);
    nor_add_wear(nor, p->address, p->bytes);
    nor_raw_mark(nor, p->address, p->bytes, 1);
    switch (kind) {
    case NOR_FAULT_ERASE_BLANK:
        add_scar(nor, NOR_NOISE_BLANK, p->address, p->bytes, NULL);
        break;
    case NOR_FAULT_ERASE_OLD:
        add_scar(nor, NOR_NOISE_OLD, p->address, p->bytes, NULL);
        break;
    case NOR_FAULT_ERASE_PART:
        erase_part(nor, &random, p);
        break;
    default:
        make_junk(nor, &random, p->address, p->bytes);
        add_scar(nor, NOR_NOISE_JUNK, p->address, p->bytes, NULL);
        break;
    }
}

/* ---- which damage ---- */

static enum nor_fault_kind fit_kind(enum nor_fault_kind kind, enum nor_op op, uint64_t seed)
{
    if (op == NOR_PROGRAM) {
        switch (kind) {
        case NOR_FAULT_ERASE_JUNK: return NOR_FAULT_WEAK;
        case NOR_FAULT_ERASE_PART: return NOR_FAULT_SUBSET;
        case NOR_FAULT_ERASE_BLANK: return NOR_FAULT_WEAK_BLANK;
        case NOR_FAULT_ERASE_OLD: return NOR_FAULT_PREFIX;
        case NOR_FAULT_ERROR_PART: return seed & 1 ? NOR_FAULT_SUBSET : NOR_FAULT_PREFIX;
        default: return kind;
        }
    }
    switch (kind) {
    case NOR_FAULT_WEAK: return NOR_FAULT_ERASE_JUNK;
    case NOR_FAULT_SUBSET: return NOR_FAULT_ERASE_PART;
    case NOR_FAULT_WEAK_BLANK: return NOR_FAULT_ERASE_BLANK;
    case NOR_FAULT_PREFIX: return NOR_FAULT_ERASE_OLD;
    case NOR_FAULT_ERROR_PART: return seed & 1 ? NOR_FAULT_ERASE_JUNK : NOR_FAULT_ERASE_PART;
    default: return kind;
    }
}

/* An erase that lied: the caller may program there in good faith, bits are then only cleared. */
static void lie(struct nor *nor, const struct nor_pending *p)
{
    if (p->op == NOR_ERASE) {
        nor_scars_trim(nor, p->address, p->bytes);
        nor_raw_mark(nor, p->address, p->bytes, 0);
    }
}

static void damage(struct nor *nor, const struct nor_pending *p, enum nor_fault_kind kind, uint64_t seed)
{
    kind = fit_kind(kind, p->op, seed);
    switch (kind) {
    case NOR_FAULT_NONE: case NOR_FAULT_BEFORE: case NOR_FAULT_ERROR:
        return;
    case NOR_FAULT_AFTER:
        nor_apply(nor, p);
        return;
    case NOR_FAULT_LIE:
        lie(nor, p);
        return;
    default:
        break;
    }
    if (p->op == NOR_PROGRAM) {
        tear_program(nor, p, kind, seed);
    } else {
        tear_erase(nor, p, kind, seed);
    }
}

static int is_cut(enum nor_fault_kind kind)
{
    return kind >= NOR_FAULT_BEFORE && kind <= NOR_FAULT_ERASE_OLD;
}

static void note_in_trace(struct nor *nor, enum nor_fault_kind kind, uint64_t seed)
{
    static const char *const names[NOR_FAULT_KINDS] = {
        "none", "before", "after", "prefix", "subset", "weak", "weak-blank", "erase-junk", "erase-part", "erase-blank",
        "erase-old", "error", "error-part", "lie"
    };
    if (nor->trace != NULL) {
        fprintf(nor->trace, "%14.3f us  fault %s, seed %llu%s\n", (double)nor->time_ns / 1000.0, names[kind],
                (unsigned long long)seed, is_cut(kind) ? ", power off" : "");
    }
}

int nor_fault_strike(struct nor *nor, const struct nor_pending *pending, const struct nor_fault_slot *fault)
{
    note_in_trace(nor, fault->kind, fault->seed);
    damage(nor, pending, fault->kind, fault->seed);
    if (is_cut(fault->kind)) {
        nor->is_off = 1;
        return NOR_ERROR_OFF;
    }
    return fault->kind == NOR_FAULT_LIE ? 0 : NOR_ERROR_FAULT;
}

int nor_fault_strike_read(struct nor *nor, uint8_t *buffer, uint32_t bytes, const struct nor_fault_slot *fault)
{
    uint64_t random = nor_seed(fault->seed);
    note_in_trace(nor, fault->kind, fault->seed);
    if (buffer != NULL && bytes > 0 && (fault->kind == NOR_FAULT_LIE || fault->kind == NOR_FAULT_ERROR_PART)) {
        flip_random_bits(&random, pick(&random, 4), buffer, bytes);
        uint32_t at = (uint32_t)(nor_random(&random) % bytes);
        buffer[at] = (uint8_t)(buffer[at] ^ 0x10);
    }
    if (is_cut(fault->kind)) {
        nor->is_off = 1;
        return NOR_ERROR_OFF;
    }
    return fault->kind == NOR_FAULT_LIE ? 0 : NOR_ERROR_FAULT;
}

/* ---- arming ---- */

static int comes_due(struct nor_fault_slot *slot, enum nor_op op)
{
    if ((slot->op_mask & (1u << op)) == 0) {
        return 0;
    }
    if (slot->left > 0) {
        slot->left--;
        return 0;
    }
    slot->op_mask = 0;
    return 1;
}

const struct nor_fault_slot *nor_fault_due(struct nor *nor, enum nor_op op)
{
    const struct nor_fault_slot *due = NULL;
    for (int i = 0; i < NOR_FAULT_SLOTS; i++) {
        if (nor->faults[i].op_mask != 0 && comes_due(&nor->faults[i], op) && due == NULL) {
            due = &nor->faults[i];
        }
    }
    return due;
}

static void arm(struct nor_fault_slot *slot, uint64_t n, unsigned op_mask, enum nor_fault_kind kind, uint64_t seed)
{
    slot->left = n;
    slot->op_mask = n == UINT64_MAX || kind == NOR_FAULT_NONE ? 0 : op_mask;
    slot->kind = kind;
    slot->seed = seed;
}

void nor_cut_at(struct nor *nor, uint64_t n, int before)
{
    arm(&nor->faults[0], n, 1u << NOR_PROGRAM | 1u << NOR_ERASE, before ? NOR_FAULT_BEFORE : NOR_FAULT_AFTER, 0);
}

void nor_fault_at(struct nor *nor, uint64_t n, unsigned op_mask, enum nor_fault_kind kind, uint64_t seed)
{
    arm(&nor->faults[1], n, op_mask, kind, seed);
}

void nor_fault_clear(struct nor *nor)
{
    for (int i = 0; i < NOR_FAULT_SLOTS; i++) {
        nor->faults[i].op_mask = 0;
    }
}

void nor_wear_out(struct nor *nor, uint32_t unit, uint32_t cycles)
{
    if (nor->wear_limit == NULL) {
        nor->wear_limit = nor_allocate(NULL, nor->units * sizeof *nor->wear_limit);
        memset(nor->wear_limit, 0xFF, nor->units * sizeof *nor->wear_limit);
    }
    if (unit < nor->units) {
        nor->wear_limit[unit] = cycles;
    }
}

void nor_flip(struct nor *nor, uint32_t address, unsigned bit)
{
    uint8_t byte;
    if (address < nor->config.size_bytes) {
        nor_raw_read(nor, address, &byte, 1);
        byte = (uint8_t)(byte ^ (1u << (bit & 7)));
        nor_raw_write(nor, address, &byte, 1);
    }
}

void nor_dead(struct nor *nor, int value)
{
    nor->dead = value < 0 ? -1 : value & 0xFF;
}

/* ---- branches ---- */

void nor_on_mutation(struct nor *nor, nor_branch_fn branch, void *context)
{
    nor->branch = branch;
    nor->branch_context = context;
}

static void start_branch(struct nor *nor, struct nor *into, uint64_t seed)
{
    nor_copy(into, nor);
    into->is_off = 0;
    into->noise = nor_seed(seed ^ UINT64_C(0x6E6F697365));
}

void nor_branch(struct nor *nor, struct nor *into, enum nor_fault_kind kind, uint64_t seed)
{
    start_branch(nor, into, seed);
    if (nor->pending != NULL) {
        damage(into, nor->pending, kind, seed);
    }
}

void nor_branch_torn(struct nor *nor, struct nor *into, const uint8_t *left, const uint8_t *weak, uint64_t seed)
{
    const struct nor_pending *p = nor->pending;
    start_branch(nor, into, seed);
    if (p == NULL || p->op != NOR_PROGRAM) {
        return;
    }
    const struct nor_scar *scar = scar_program(into, p, weak != NULL ? NOR_NOISE_BITS : NOR_NOISE_NONE);
    for (uint32_t i = 0; i < p->bytes; i++) {
        uint8_t byte;
        nor_raw_read(into, p->address + i, &byte, 1);
        uint8_t to_clear = (uint8_t)(byte & ~p->data[i]);
        byte = (uint8_t)(byte & (left[i] | ~to_clear));
        nor_raw_write(into, p->address + i, &byte, 1);
        if (weak != NULL) {
            into->pool_weak[scar->pool + i] = (uint8_t)(weak[i] & to_clear);
        }
    }
}

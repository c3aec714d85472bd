/* Emulated NOR flash: the array, the rules, counters, time, copies, image files.
 *
 * Owns struct nor. Every program and erase of a driver passes through nor_mutate: rules first, then the branch callback,
 * then either the operation or the fault that strikes it. What a fault leaves behind is in nor_fault.c, what a call costs
 * in nor_time.c.
 */
#include "nor_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nor_time.h"

/* ---- allocation, bits ---- */

void *nor_allocate(void *old, size_t bytes)
{
    void *memory = realloc(old, bytes == 0 ? 1 : bytes);
    if (memory == NULL) {
        fprintf(stderr, "nor: out of memory (%lu bytes)\n", (unsigned long)bytes);
        abort();
    }
    return memory;
}

static void *allocate_zeroed(size_t count, size_t bytes)
{
    void *memory = calloc(count == 0 ? 1 : count, bytes);
    if (memory == NULL) {
        fprintf(stderr, "nor: out of memory (%lu x %lu bytes)\n", (unsigned long)count, (unsigned long)bytes);
        abort();
    }
    return memory;
}

static uint32_t minimum(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static int is_power_of_two(uint32_t value)
{
    return value != 0 && (value & (value - 1)) == 0;
}

static uint32_t log2_floor(uint32_t value)
{
    uint32_t shift = 0;
    while (value > 1) {
        value >>= 1;
        shift++;
    }
    return shift;
}

static int any_bit(const uint8_t *bits, uint32_t first, uint32_t count)
{
    while (count > 0) {
        if ((first & 7) == 0 && count >= 8) {
            if (bits[first >> 3] != 0) {
                return 1;
            }
            first += 8;
            count -= 8;
        } else {
            if ((bits[first >> 3] >> (first & 7)) & 1) {
                return 1;
            }
            first++;
            count--;
        }
    }
    return 0;
}

static void set_bits(uint8_t *bits, uint32_t first, uint32_t count, int value)
{
    while (count > 0) {
        if ((first & 7) == 0 && count >= 8) {
            memset(bits + (first >> 3), value ? 0xFF : 0, count >> 3);
            first += count & ~UINT32_C(7);
            count &= 7;
        } else {
            uint8_t bit = (uint8_t)(1u << (first & 7));
            bits[first >> 3] = (uint8_t)(value ? bits[first >> 3] | bit : bits[first >> 3] & ~bit);
            first++;
            count--;
        }
    }
}

static int is_erased(const uint8_t *bytes, uint32_t count)
{
    return count == 0 || (bytes[0] == 0xFF && memcmp(bytes, bytes + 1, count - 1) == 0);
}

/* ---- the array, in chunks ---- */

static uint32_t chunk_memory_bytes(const struct nor *nor)
{
    return nor->chunk_bytes + nor->used_stride;
}

/* NULL: blank. */
static const uint8_t *chunk_data(const struct nor *nor, uint32_t chunk)
{
    if (nor->sparse != NULL) {
        return nor->sparse[chunk];
    }
    return nor->data + ((size_t)chunk << nor->chunk_shift);
}

static const uint8_t *chunk_used(const struct nor *nor, uint32_t chunk)
{
    if (nor->sparse != NULL) {
        return nor->sparse[chunk] == NULL ? NULL : nor->sparse[chunk] + nor->chunk_bytes;
    }
    return nor->used + (size_t)chunk * nor->used_stride;
}

/* Makes a sparse chunk exist. */
static void touch_chunk(struct nor *nor, uint32_t chunk)
{
    if (nor->sparse == NULL || nor->sparse[chunk] != NULL) {
        return;
    }
    uint8_t *memory = nor->free_chunks;
    if (memory != NULL) {
        memcpy(&nor->free_chunks, memory, sizeof nor->free_chunks);
    } else {
        memory = nor_allocate(NULL, chunk_memory_bytes(nor));
    }
    memset(memory, 0xFF, nor->chunk_bytes);
    memset(memory + nor->chunk_bytes, 0, nor->used_stride);
    nor->sparse[chunk] = memory;
}

static void release_chunk(struct nor *nor, uint32_t chunk)
{
    uint8_t *memory = nor->sparse[chunk];
    if (memory != NULL) {
        memcpy(memory, &nor->free_chunks, sizeof nor->free_chunks);
        nor->free_chunks = memory;
        nor->sparse[chunk] = NULL;
    }
}

static uint8_t *own_data(struct nor *nor, uint32_t chunk)
{
    touch_chunk(nor, chunk);
    return nor->sparse != NULL ? nor->sparse[chunk] : nor->data + ((size_t)chunk << nor->chunk_shift);
}

static uint8_t *own_used(struct nor *nor, uint32_t chunk)
{
    touch_chunk(nor, chunk);
    return nor->sparse != NULL ? nor->sparse[chunk] + nor->chunk_bytes : nor->used + (size_t)chunk * nor->used_stride;
}

static void note_change(struct nor *nor, uint32_t chunk)
{
    nor->sequence++;
    nor->stamp[chunk] = nor->sequence;
    nor->journal[nor->sequence % NOR_JOURNAL] = chunk;
}

/* The part of a range that lies in one chunk. */
struct piece {
    uint32_t chunk, offset, bytes;
};

static struct piece first_piece(const struct nor *nor, uint32_t address, uint32_t bytes)
{
    struct piece piece;
    piece.chunk = address >> nor->chunk_shift;
    piece.offset = address & (nor->chunk_bytes - 1);
    piece.bytes = minimum(bytes, nor->chunk_bytes - piece.offset);
    return piece;
}

static uint32_t granules_up(const struct nor *nor, uint32_t bytes)
{
    return (bytes + nor->config.granule_bytes - 1) >> nor->granule_shift;
}

void nor_raw_read(const struct nor *nor, uint32_t address, uint8_t *buffer, uint32_t bytes)
{
    if (nor->sparse == NULL) {
        memcpy(buffer, nor->data + address, bytes);
        return;
    }
    while (bytes > 0) {
        struct piece p = first_piece(nor, address, bytes);
        const uint8_t *data = chunk_data(nor, p.chunk);
        if (data == NULL) {
            memset(buffer, 0xFF, p.bytes);
        } else {
            memcpy(buffer, data + p.offset, p.bytes);
        }
        address += p.bytes;
        buffer += p.bytes;
        bytes -= p.bytes;
    }
}

void nor_raw_write(struct nor *nor, uint32_t address, const uint8_t *data, uint32_t bytes)
{
    while (bytes > 0) {
        struct piece p = first_piece(nor, address, bytes);
        memcpy(own_data(nor, p.chunk) + p.offset, data, p.bytes);
        note_change(nor, p.chunk);
        address += p.bytes;
        data += p.bytes;
        bytes -= p.bytes;
    }
}

/* The range is of whole granules. */
void nor_raw_mark(struct nor *nor, uint32_t address, uint32_t bytes, int used)
{
    while (bytes > 0) {
        struct piece p = first_piece(nor, address, bytes);
        set_bits(own_used(nor, p.chunk), p.offset >> nor->granule_shift, granules_up(nor, p.bytes), used);
        note_change(nor, p.chunk);
        address += p.bytes;
        bytes -= p.bytes;
    }
}

static int any_used(const struct nor *nor, uint32_t address, uint32_t bytes)
{
    while (bytes > 0) {
        struct piece p = first_piece(nor, address, bytes);
        const uint8_t *used = chunk_used(nor, p.chunk);
        if (used != NULL && any_bit(used, p.offset >> nor->granule_shift, granules_up(nor, p.bytes))) {
            return 1;
        }
        address += p.bytes;
        bytes -= p.bytes;
    }
    return 0;
}

static int holds_data(const struct nor *nor, uint32_t address, uint32_t bytes)
{
    while (bytes > 0) {
        struct piece p = first_piece(nor, address, bytes);
        const uint8_t *data = chunk_data(nor, p.chunk);
        if (data != NULL && !is_erased(data + p.offset, p.bytes)) {
            return 1;
        }
        address += p.bytes;
        bytes -= p.bytes;
    }
    return 0;
}

/* ---- creation ---- */

static void refuse_config(const char *what)
{
    fprintf(stderr, "nor: bad configuration: %s\n", what);
    abort();
}

static void fill_defaults(struct nor_config *config)
{
    static const uint32_t usual_sizes[FFFS_FLASH_ERASE_SIZES] = { 4096, 32768, 65536 };
    if (config->granule_bytes == 0) {
        config->granule_bytes = 1;
    }
    if (config->page_bytes == 0) {
        config->page_bytes = 256;
    }
    if (config->erase_bytes[0] == 0) {
        for (int i = 0; i < FFFS_FLASH_ERASE_SIZES; i++) {
            config->erase_bytes[i] = usual_sizes[i] <= config->size_bytes ? usual_sizes[i] : 0;
        }
    }
}

static void check_config(const struct nor_config *config)
{
    uint32_t unit = config->erase_bytes[0];
    if (!is_power_of_two(config->granule_bytes) || config->granule_bytes > 256) {
        refuse_config("granule_bytes is not a power of two up to 256");
    }
    if (!is_power_of_two(config->page_bytes) || config->page_bytes < config->granule_bytes) {
        refuse_config("page_bytes is not a power of two, or less than a granule");
    }
    if (!is_power_of_two(unit) || unit < config->granule_bytes) {
        refuse_config("erase_bytes[0] is not a power of two, or less than a granule");
    }
    for (int i = 1; i < FFFS_FLASH_ERASE_SIZES && config->erase_bytes[i] != 0; i++) {
        if (!is_power_of_two(config->erase_bytes[i]) || config->erase_bytes[i] <= config->erase_bytes[i - 1]) {
            refuse_config("erase_bytes are not ascending powers of two");
        }
    }
    if (config->size_bytes == 0 || config->size_bytes % unit != 0) {
        refuse_config("size_bytes is not a multiple of erase_bytes[0]");
    }
    if (config->block_offset_bytes % unit != 0) {
        refuse_config("block_offset_bytes is not a multiple of erase_bytes[0]");
    }
}

/* Small chunks make copies of small images exact, large ones keep the tables of large devices small. */
static void choose_chunks(struct nor *nor)
{
    uint32_t most = nor->config.sparse ? 16384 : 4096;
    nor->chunk_bytes = nor->config.sparse ? 4096 : 256;
    while ((nor->config.size_bytes - 1) / nor->chunk_bytes >= most) {
        nor->chunk_bytes *= 2;
    }
    nor->chunk_shift = log2_floor(nor->chunk_bytes);
    nor->chunks = (nor->config.size_bytes - 1) / nor->chunk_bytes + 1;
    nor->granule_shift = log2_floor(nor->config.granule_bytes);
    nor->unit_shift = log2_floor(nor->config.erase_bytes[0]);
    nor->used_stride = ((nor->chunk_bytes >> nor->granule_shift) + 7) / 8;
}

static uint64_t next_id(void)
{
    static unsigned long last;
#if defined(__GNUC__)
    return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
#else
    return ++last;
#endif
}

static int flash_read(void *context, uint32_t address, void *buffer, uint32_t bytes);
static int flash_program(void *context, uint32_t address, const void *data, uint32_t bytes);
static int flash_erase(void *context, uint32_t address, uint32_t bytes);
static int flash_sync(void *context);
static int flash_is_blank(void *context, uint32_t address, uint32_t bytes);
static const void *flash_map(void *context, uint32_t address, uint32_t bytes);

static void make_driver(struct nor *nor)
{
    struct fffs_flash *flash = &nor->flash;
    flash->read = flash_read;
    flash->program = flash_program;
    flash->erase = flash_erase;
    flash->sync = flash_sync;
    flash->is_blank = nor->config.no_blank_check ? NULL : flash_is_blank;
    flash->map = flash_map;
    flash->context = nor;
    flash->size_bytes = nor->config.size_bytes;
    flash->granule_bytes = nor->config.granule_bytes;
    memcpy(flash->erase_bytes, nor->config.erase_bytes, sizeof flash->erase_bytes);
    flash->block_offset_bytes = nor->config.block_offset_bytes;
    nor_time_declare(nor->config.model, nor->config.page_bytes, flash);
}

/* A device whose dense array is not filled yet. */
static struct nor *make_device(const struct nor_config *config)
{
    struct nor *nor = allocate_zeroed(1, sizeof *nor);
    nor->config = *config;
    fill_defaults(&nor->config);
    check_config(&nor->config);
    choose_chunks(nor);
    if (nor->config.sparse) {
        nor->sparse = allocate_zeroed(nor->chunks, sizeof *nor->sparse);
    } else {
        nor->data = nor_allocate(NULL, (size_t)nor->chunks * nor->chunk_bytes);
        nor->used = nor_allocate(NULL, (size_t)nor->chunks * nor->used_stride);
    }
    nor->units = nor->config.size_bytes >> nor->unit_shift;
    nor->wear = allocate_zeroed(nor->units, sizeof *nor->wear);
    nor->stamp = allocate_zeroed(nor->chunks, sizeof *nor->stamp);
    nor->journal = allocate_zeroed(NOR_JOURNAL, sizeof *nor->journal);
    nor->id = next_id();
    nor->noise = nor_seed(0);
    nor->dead = -1;
    make_driver(nor);
    return nor;
}

struct nor *nor_create(const struct nor_config *config)
{
    struct nor *nor = make_device(config);
    nor_fill_erased(nor);
    return nor;
}

void nor_destroy(struct nor *nor)
{
    if (nor == NULL) {
        return;
    }
    if (nor->sparse != NULL) {
        for (uint32_t chunk = 0; chunk < nor->chunks; chunk++) {
            release_chunk(nor, chunk);
        }
    }
    while (nor->free_chunks != NULL) {
        uint8_t *memory = nor->free_chunks;
        memcpy(&nor->free_chunks, memory, sizeof nor->free_chunks);
        free(memory);
    }
    for (int op = 0; op < NOR_OPS; op++) {
        free(nor->unit_calls[op]);
    }
    free(nor->sparse);
    free(nor->data);
    free(nor->used);
    free(nor->wear);
    free(nor->wear_limit);
    free(nor->stamp);
    free(nor->journal);
    free(nor->scars);
    free(nor->pool_intended);
    free(nor->pool_weak);
    free(nor);
}

const struct fffs_flash *nor_flash(struct nor *nor)
{
    return &nor->flash;
}

uint32_t nor_size(const struct nor *nor)
{
    return nor->config.size_bytes;
}

const struct nor_config *nor_get_config(const struct nor *nor)
{
    return &nor->config;
}

/* ---- copies ---- */

/* Copies the erase counts of the units that start in the chunk; returns whether any differed. */
static int copy_wear(struct nor *to, const struct nor *from, uint32_t chunk)
{
    uint64_t address = (uint64_t)chunk << from->chunk_shift;
    uint64_t unit = (address + from->config.erase_bytes[0] - 1) >> from->unit_shift;
    uint64_t end = (address + from->chunk_bytes + from->config.erase_bytes[0] - 1) >> from->unit_shift;
    int differed = 0;
    for (; unit < end && unit < from->units; unit++) {
        differed |= to->wear[unit] != from->wear[unit];
        to->wear[unit] = from->wear[unit];
    }
    return differed;
}

static void copy_chunk(struct nor *to, const struct nor *from, uint32_t chunk)
{
    const uint8_t *data = chunk_data(from, chunk);
    int changed = copy_wear(to, from, chunk);
    if (data != NULL) {
        memcpy(own_data(to, chunk), data, from->chunk_bytes);
        memcpy(own_used(to, chunk), chunk_used(from, chunk), from->used_stride);
        changed = 1;
    } else if (to->sparse[chunk] != NULL) {
        release_chunk(to, chunk);
        changed = 1;
    }
    if (changed) {
        note_change(to, chunk);
    }
}

static void copy_everything(struct nor *to, const struct nor *from)
{
    for (uint32_t chunk = 0; chunk < from->chunks; chunk++) {
        copy_chunk(to, from, chunk);
    }
}

/* Copies the chunks that `changed` (one of the two) changed after its sequence number `since`, up to `until`. */
static void copy_changes(struct nor *to, const struct nor *from, const struct nor *changed, uint64_t since, uint64_t until)
{
    if (until - since > NOR_JOURNAL / 2) {
        for (uint32_t chunk = 0; chunk < from->chunks; chunk++) {
            if (changed->stamp[chunk] > since && changed->stamp[chunk] <= until) {
                copy_chunk(to, from, chunk);
            }
        }
        return;
    }
    /* Going through `to`'s own journal while copying adds to it, at most one entry for each one read: half the ring. */
    for (uint64_t sequence = since + 1; sequence <= until; sequence++) {
        uint32_t chunk = changed->journal[sequence % NOR_JOURNAL];
        if (changed->stamp[chunk] == sequence) {
            copy_chunk(to, from, chunk);
        }
    }
}

static void copy_wear_limits(struct nor *to, const struct nor *from)
{
    if (from->wear_limit == NULL) {
        free(to->wear_limit);
        to->wear_limit = NULL;
        return;
    }
    if (to->wear_limit == NULL) {
        to->wear_limit = nor_allocate(NULL, from->units * sizeof *to->wear_limit);
    }
    memcpy(to->wear_limit, from->wear_limit, from->units * sizeof *to->wear_limit);
}

static int same_shape(const struct nor *a, const struct nor *b)
{
    return a->config.size_bytes == b->config.size_bytes && a->config.granule_bytes == b->config.granule_bytes
        && a->config.erase_bytes[0] == b->config.erase_bytes[0] && (a->sparse == NULL) == (b->sparse == NULL);
}

void nor_copy(struct nor *to, const struct nor *from)
{
    if (to == from) {
        return;
    }
    if (!same_shape(to, from)) {
        refuse_config("copy between devices of different shape");
    }
    uint64_t own = to->sequence;
    if (to->twin_id != from->id) {
        copy_everything(to, from);
    } else {
        /* `to`'s own changes first: while they are walked, its journal grows. */
        copy_changes(to, from, to, to->own_sequence, own);
        copy_changes(to, from, from, to->twin_sequence, from->sequence);
    }
    to->twin_id = from->id;
    to->twin_sequence = from->sequence;
    to->own_sequence = to->sequence;
    copy_wear_limits(to, from);
    nor_scars_copy(to, from);
    to->noise = from->noise;
    to->is_off = from->is_off;
    to->time_ns = from->time_ns;
    to->mutations = 0;
    nor_fault_clear(to);
    nor_dead(to, -1);
    nor_reset_counts(to);
}

struct nor *nor_clone(struct nor *nor)
{
    struct nor *clone = make_device(&nor->config);
    nor_copy(clone, nor);
    return clone;
}

/* ---- past the rules ---- */

static void check_range(const struct nor *nor, const char *what, uint32_t address, uint32_t bytes)
{
    if ((uint64_t)address + bytes > nor->config.size_bytes) {
        fprintf(stderr, "nor: %s of %lu bytes at 0x%08lx is out of bounds\n", what, (unsigned long)bytes,
                (unsigned long)address);
        abort();
    }
}

/* A granule counts as programmed unless it is all 0xFF. */
static void mark_piece(struct nor *nor, struct piece p)
{
    const uint8_t *data = chunk_data(nor, p.chunk) + p.offset;
    uint8_t *used = own_used(nor, p.chunk);
    uint32_t granule = nor->config.granule_bytes;
    set_bits(used, p.offset >> nor->granule_shift, p.bytes >> nor->granule_shift, 0);
    for (uint32_t i = 0; i < p.bytes; i += granule) {
        if (!is_erased(data + i, granule)) {
            set_bits(used, (p.offset + i) >> nor->granule_shift, 1, 1);
        }
    }
}

/* The range is of whole granules. */
static void mark_by_contents(struct nor *nor, uint32_t address, uint32_t bytes)
{
    while (bytes > 0) {
        struct piece p = first_piece(nor, address, bytes);
        if (chunk_data(nor, p.chunk) != NULL) {
            mark_piece(nor, p);
        }
        address += p.bytes;
        bytes -= p.bytes;
    }
}

void nor_fill_erased(struct nor *nor)
{
    for (uint32_t chunk = 0; chunk < nor->chunks; chunk++) {
        if (nor->sparse != NULL) {
            release_chunk(nor, chunk);
        } else {
            memset(own_data(nor, chunk), 0xFF, nor->chunk_bytes);
            memset(own_used(nor, chunk), 0, nor->used_stride);
        }
        note_change(nor, chunk);
    }
    nor_scars_trim(nor, 0, nor->config.size_bytes);
}

void nor_fill(struct nor *nor, uint8_t value)
{
    for (uint32_t chunk = 0; chunk < nor->chunks; chunk++) {
        memset(own_data(nor, chunk), value, nor->chunk_bytes);
        memset(own_used(nor, chunk), 0xFF, nor->used_stride);
        note_change(nor, chunk);
    }
    nor_scars_trim(nor, 0, nor->config.size_bytes);
}

void nor_peek(const struct nor *nor, uint32_t address, void *buffer, uint32_t bytes)
{
    check_range(nor, "peek", address, bytes);
    nor_raw_read(nor, address, buffer, bytes);
    if (nor->scar_count > 0) {
        nor_scars_settled(nor, address, buffer, bytes);
    }
}

void nor_poke(struct nor *nor, uint32_t address, const void *data, uint32_t bytes)
{
    check_range(nor, "poke", address, bytes);
    uint32_t start = address & ~(nor->config.granule_bytes - 1);
    uint32_t touched = granules_up(nor, address + bytes - start) << nor->granule_shift;
    nor_raw_write(nor, address, data, bytes);
    mark_by_contents(nor, start, touched);
    nor_scars_trim(nor, start, touched);
}

int nor_load(struct nor *nor, const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return -1;
    }
    uint8_t buffer[4096];
    uint32_t address = 0;
    int error = 0;
    nor_fill_erased(nor);
    for (;;) {
        size_t got = fread(buffer, 1, sizeof buffer, file);
        if (got == 0) {
            error = ferror(file) ? EIO : 0;
            break;
        }
        if (got > nor->config.size_bytes - address) {
            error = EFBIG;
            break;
        }
        if (nor->sparse == NULL || !is_erased(buffer, (uint32_t)got)) {
            nor_poke(nor, address, buffer, (uint32_t)got);
        }
        address += (uint32_t)got;
    }
    fclose(file);
    errno = error != 0 ? error : errno;
    return error != 0 ? -1 : 0;
}

int nor_save(const struct nor *nor, const char *path)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL) {
        return -1;
    }
    uint8_t buffer[4096];
    int error = 0;
    for (uint32_t address = 0; address < nor->config.size_bytes && error == 0;) {
        uint32_t bytes = minimum((uint32_t)sizeof buffer, nor->config.size_bytes - address);
        nor_peek(nor, address, buffer, bytes);
        if (fwrite(buffer, 1, bytes, file) != bytes) {
            error = errno != 0 ? errno : EIO;
        }
        address += bytes;
    }
    if (fclose(file) != 0 && error == 0) {
        error = errno != 0 ? errno : EIO;
    }
    errno = error != 0 ? error : errno;
    return error != 0 ? -1 : 0;
}

/* ---- counters, time, log ---- */

const struct nor_counts *nor_counts(const struct nor *nor)
{
    return &nor->counts;
}

const struct nor_counts *nor_tag_counts(const struct nor *nor, int tag)
{
    return &nor->tag_counts[tag & (NOR_TAGS - 1)];
}

void nor_reset_counts(struct nor *nor)
{
    memset(&nor->counts, 0, sizeof nor->counts);
    for (int tag = 0; tag < NOR_TAGS; tag++) {
        if (nor->tags_used & (1u << tag)) {
            memset(&nor->tag_counts[tag], 0, sizeof nor->tag_counts[tag]);
        }
    }
    nor->tags_used = 0;
    for (int op = 0; op < NOR_OPS; op++) {
        if (nor->unit_calls[op] != NULL) {
            memset(nor->unit_calls[op], 0, nor->units * sizeof *nor->unit_calls[op]);
        }
    }
}

void nor_set_tag(struct nor *nor, int tag)
{
    nor->tag = tag & (NOR_TAGS - 1);
}

uint64_t nor_time_ns(const struct nor *nor)
{
    return nor->time_ns;
}

void nor_advance(struct nor *nor, uint64_t ns)
{
    nor->time_ns += ns;
}

uint64_t nor_mutations(const struct nor *nor)
{
    return nor->mutations;
}

uint32_t nor_wear(const struct nor *nor, uint32_t unit)
{
    return unit < nor->units ? nor->wear[unit] : 0;
}

void nor_count_units(struct nor *nor)
{
    for (int op = 0; op < NOR_SYNC; op++) {
        if (nor->unit_calls[op] == NULL) {
            nor->unit_calls[op] = allocate_zeroed(nor->units, sizeof *nor->unit_calls[op]);
        }
    }
}

uint32_t nor_unit_calls(const struct nor *nor, enum nor_op op, uint32_t unit)
{
    return nor->unit_calls[op] != NULL && unit < nor->units ? nor->unit_calls[op][unit] : 0;
}

void nor_trace(struct nor *nor, FILE *out)
{
    nor->trace = out;
}

static const char *const op_names[NOR_OPS] = { "read", "program", "erase", "sync" };

/* What one call adds to the counters. */
struct cost {
    uint64_t time_ns;
    uint64_t pages;
    uint64_t sectors;
    uint64_t erases_by_size[FFFS_FLASH_ERASE_SIZES];
};

static void add_counts(struct nor_counts *counts, enum nor_op op, uint32_t bytes, const struct cost *cost)
{
    counts->calls[op]++;
    counts->bytes[op] += bytes;
    counts->time_ns[op] += cost->time_ns;
    counts->calls_by_size[op][minimum(log2_floor(bytes), NOR_SIZE_CLASSES - 1)]++;
    counts->pages_programmed += cost->pages;
    counts->erased_sectors += cost->sectors;
    for (int i = 0; i < FFFS_FLASH_ERASE_SIZES; i++) {
        counts->erase_calls_by_size[i] += cost->erases_by_size[i];
    }
}

static void account(struct nor *nor, enum nor_op op, uint32_t address, uint32_t bytes, const struct cost *cost)
{
    if (nor->trace != NULL) {
        fprintf(nor->trace, "%14.3f us  %-7s 0x%08lx %6lu B  %10.3f us  tag %d\n", (double)nor->time_ns / 1000.0, op_names[op],
                (unsigned long)address, (unsigned long)bytes, (double)cost->time_ns / 1000.0, nor->tag);
    }
    nor->time_ns += cost->time_ns;
    add_counts(&nor->counts, op, bytes, cost);
    add_counts(&nor->tag_counts[nor->tag], op, bytes, cost);
    nor->tags_used |= 1u << nor->tag;
    if (nor->unit_calls[op] != NULL && bytes > 0) {
        for (uint32_t unit = address >> nor->unit_shift; unit <= (address + bytes - 1) >> nor->unit_shift; unit++) {
            nor->unit_calls[op][unit]++;
        }
    }
}

/* The erase operation that the chip does first when told to erase the range: the largest listed size that is aligned and
 * fits. Returns its index. */
static int first_erase(const struct nor *nor, uint32_t address, uint32_t bytes)
{
    int best = 0;
    uint64_t place = (uint64_t)address + nor->config.block_offset_bytes;
    for (int i = 1; i < FFFS_FLASH_ERASE_SIZES && nor->config.erase_bytes[i] != 0; i++) {
        if (place % nor->config.erase_bytes[i] == 0 && bytes >= nor->config.erase_bytes[i]) {
            best = i;
        }
    }
    return best;
}

static uint32_t sectors_with_data(const struct nor *nor, uint32_t address, uint32_t bytes)
{
    uint32_t count = 0;
    while (bytes > 0) {
        uint32_t part = minimum(bytes, 4096);
        count += (uint32_t)holds_data(nor, address, part);
        address += part;
        bytes -= part;
    }
    return count;
}

static struct cost cost_of_erase(const struct nor *nor, uint32_t address, uint32_t bytes)
{
    struct cost cost = { 0, 0, 0, { 0 } };
    int look = nor_time_needs_contents(nor->config.model);
    cost.sectors = bytes >> nor->unit_shift;
    while (bytes > 0) {
        int size = first_erase(nor, address, bytes);
        uint32_t part = nor->config.erase_bytes[size];
        uint32_t holding = look ? sectors_with_data(nor, address, part) : 0;
        cost.time_ns += nor_time_erase(nor->config.model, part, holding);
        cost.erases_by_size[size]++;
        address += part;
        bytes -= part;
    }
    return cost;
}

static struct cost cost_of_program(const struct nor *nor, uint32_t address, uint32_t bytes)
{
    struct cost cost = { 0, 0, 0, { 0 } };
    uint32_t page = nor->config.page_bytes;
    cost.time_ns = nor_time_program(nor->config.model, address, bytes, page);
    cost.pages = (address + bytes - 1) / page - address / page + 1;
    return cost;
}

/* ---- rules ---- */

static int break_rule(struct nor *nor, const struct nor_pending *p, const char *rule, uint32_t at, const uint8_t *wanted)
{
    if (nor->config.on_violation == NOR_COUNT) {
        nor->counts.violations++;
        nor->tag_counts[nor->tag].violations++;
        nor->tags_used |= 1u << nor->tag;
        return NOR_ERROR_RULE;
    }
    fprintf(stderr, "nor: %s of %lu bytes at 0x%08lx: %s", op_names[p->op], (unsigned long)p->bytes,
            (unsigned long)p->address, rule);
    if (at < nor->config.size_bytes) {
        uint8_t byte;
        nor_peek(nor, at, &byte, 1);
        fprintf(stderr, "; at 0x%08lx is 0x%02x", (unsigned long)at, (unsigned)byte);
        if (wanted != NULL) {
            fprintf(stderr, ", to be programmed 0x%02x", (unsigned)*wanted);
        }
    }
    fprintf(stderr, " (mutation %llu, tag %d)\n", (unsigned long long)nor->mutations, nor->tag);
    abort();
}

/* Whether the granule at `at`, which was touched before, may take `data`; NULL or the rule that it would break. */
static const char *judge_granule(const struct nor *nor, uint32_t at, const uint8_t *data)
{
    uint32_t granule = nor->config.granule_bytes;
    const struct nor_scar *scar = nor->scar_count > 0 ? nor_scar_at(nor, at) : NULL;
    if (scar != NULL && scar->kind == NOR_SCAR_ERASE) {
        return "a cut erase touched the granule and no erase has completed since";
    }
    if (nor->config.allow_overwrite) {
        uint8_t old[256];
        nor_raw_read(nor, at, old, granule);
        for (uint32_t i = 0; i < granule; i++) {
            if (data[i] & ~old[i]) {
                return "would set a bit from 0 to 1";
            }
        }
        return NULL;
    }
    if (scar == NULL) {
        return "the granule was already programmed since its erase";
    }
    if (memcmp(nor->pool_intended + scar->pool + (at - scar->address), data, granule) != 0) {
        return "a cut program touched the granule and this is not its identical repeat";
    }
    return NULL;
}

static int check_program(struct nor *nor, const struct nor_pending *p)
{
    uint32_t granule = nor->config.granule_bytes;
    if ((p->address | p->bytes) & (granule - 1)) {
        return break_rule(nor, p, "not aligned to granules", UINT32_MAX, NULL);
    }
    if (!any_used(nor, p->address, p->bytes)) {
        return 0;
    }
    for (uint32_t i = 0; i < p->bytes; i += granule) {
        if (any_used(nor, p->address + i, granule)) {
            const char *rule = judge_granule(nor, p->address + i, p->data + i);
            if (rule != NULL) {
                return break_rule(nor, p, rule, p->address + i, p->data + i);
            }
        }
    }
    return 0;
}

static int check_rules(struct nor *nor, const struct nor_pending *p)
{
    if (p->bytes == 0) {
        return break_rule(nor, p, "nothing to do", UINT32_MAX, NULL);
    }
    if ((uint64_t)p->address + p->bytes > nor->config.size_bytes) {
        return break_rule(nor, p, "out of bounds", UINT32_MAX, NULL);
    }
    if (p->op == NOR_PROGRAM) {
        return check_program(nor, p);
    }
    if ((p->address | p->bytes) & (nor->config.erase_bytes[0] - 1)) {
        return break_rule(nor, p, "not aligned to erase units", UINT32_MAX, NULL);
    }
    return 0;
}

/* ---- mutations ---- */

void nor_add_wear(struct nor *nor, uint32_t address, uint32_t bytes)
{
    for (uint32_t unit = address >> nor->unit_shift; unit < (address + bytes) >> nor->unit_shift; unit++) {
        nor->wear[unit]++;
    }
}

static void apply_program(struct nor *nor, const struct nor_pending *p)
{
    uint32_t address = p->address;
    uint32_t bytes = p->bytes;
    const uint8_t *from = p->data;
    while (bytes > 0) {
        struct piece piece = first_piece(nor, address, bytes);
        uint8_t *data = own_data(nor, piece.chunk) + piece.offset;
        for (uint32_t i = 0; i < piece.bytes; i++) {
            data[i] = (uint8_t)(data[i] & from[i]);
        }
        set_bits(own_used(nor, piece.chunk), piece.offset >> nor->granule_shift, piece.bytes >> nor->granule_shift, 1);
        note_change(nor, piece.chunk);
        address += piece.bytes;
        from += piece.bytes;
        bytes -= piece.bytes;
    }
    if (nor->scar_count == 0) {
        return;
    }
    if (nor->config.allow_overwrite) {
        nor_scars_harden(nor, p);
    } else {
        nor_scars_trim(nor, p->address, p->bytes);
    }
}

static void apply_erase(struct nor *nor, const struct nor_pending *p)
{
    uint32_t address = p->address;
    uint32_t bytes = p->bytes;
    while (bytes > 0) {
        struct piece piece = first_piece(nor, address, bytes);
        if (nor->sparse != NULL && piece.bytes == nor->chunk_bytes) {
            release_chunk(nor, piece.chunk);
        } else if (chunk_data(nor, piece.chunk) != NULL) {
            memset(own_data(nor, piece.chunk) + piece.offset, 0xFF, piece.bytes);
            set_bits(own_used(nor, piece.chunk), piece.offset >> nor->granule_shift, piece.bytes >> nor->granule_shift, 0);
        }
        note_change(nor, piece.chunk);
        address += piece.bytes;
        bytes -= piece.bytes;
    }
    nor_add_wear(nor, p->address, p->bytes);
    nor_scars_trim(nor, p->address, p->bytes);
}

void nor_apply(struct nor *nor, const struct nor_pending *pending)
{
    if (pending->op == NOR_PROGRAM) {
        apply_program(nor, pending);
    } else {
        apply_erase(nor, pending);
    }
}

static int is_worn(const struct nor *nor, uint32_t address, uint32_t bytes)
{
    if (nor->wear_limit == NULL) {
        return 0;
    }
    for (uint32_t unit = address >> nor->unit_shift; unit <= (address + bytes - 1) >> nor->unit_shift; unit++) {
        if (nor->wear[unit] >= nor->wear_limit[unit]) {
            return 1;
        }
    }
    return 0;
}

static void call_branch(struct nor *nor, const struct nor_pending *pending)
{
    if (nor->branch != NULL) {
        nor->pending = pending;
        nor->branch(nor->branch_context, nor, pending);
        nor->pending = NULL;
    }
}

/* The one function through which every mutation passes. */
static int nor_mutate(struct nor *nor, enum nor_op op, uint32_t address, const uint8_t *data, uint32_t bytes)
{
    struct nor_pending pending = { op, address, bytes, data, nor->mutations };
    if (nor->is_off) {
        return NOR_ERROR_OFF;
    }
    int error = check_rules(nor, &pending);
    if (error != 0) {
        return error;
    }
    int worn = is_worn(nor, address, bytes);
    if (!worn) {
        call_branch(nor, &pending);
    }
    struct cost cost = op == NOR_PROGRAM ? cost_of_program(nor, address, bytes) : cost_of_erase(nor, address, bytes);
    account(nor, op, address, bytes, &cost);
    nor->mutations++;
    const struct nor_fault_slot *fault = nor_fault_due(nor, op);
    if (fault != NULL) {
        return nor_fault_strike(nor, &pending, fault);
    }
    if (worn) {
        return NOR_ERROR_WORN;
    }
    if (nor->dead < 0) {
        nor_apply(nor, &pending);
    }
    return 0;
}

/* ---- the driver ---- */

static int flash_program(void *context, uint32_t address, const void *data, uint32_t bytes)
{
    return nor_mutate(context, NOR_PROGRAM, address, data, bytes);
}

static int flash_erase(void *context, uint32_t address, uint32_t bytes)
{
    return nor_mutate(context, NOR_ERASE, address, NULL, bytes);
}

/* Power, bounds, counters of a call that changes nothing. */
static int begin_read(struct nor *nor, enum nor_op op, uint32_t address, uint32_t bytes)
{
    struct nor_pending pending = { op, address, bytes, NULL, nor->mutations };
    struct cost cost = { 0, 0, 0, { 0 } };
    if (nor->is_off) {
        return NOR_ERROR_OFF;
    }
    if ((uint64_t)address + bytes > nor->config.size_bytes) {
        return break_rule(nor, &pending, "out of bounds", UINT32_MAX, NULL);
    }
    cost.time_ns = op == NOR_READ ? nor_time_read(nor->config.model, bytes) : 0;
    account(nor, op, address, bytes, &cost);
    return 0;
}

static void read_bytes(struct nor *nor, uint32_t address, uint8_t *buffer, uint32_t bytes)
{
    if (nor->dead >= 0) {
        memset(buffer, nor->dead, bytes);
        return;
    }
    nor_raw_read(nor, address, buffer, bytes);
    if (nor->scar_count > 0) {
        nor_scars_noise(nor, address, buffer, bytes);
    }
}

static int flash_read(void *context, uint32_t address, void *buffer, uint32_t bytes)
{
    struct nor *nor = context;
    int error = begin_read(nor, NOR_READ, address, bytes);
    if (error != 0) {
        return error;
    }
    read_bytes(nor, address, buffer, bytes);
    const struct nor_fault_slot *fault = nor_fault_due(nor, NOR_READ);
    return fault != NULL ? nor_fault_strike_read(nor, buffer, bytes, fault) : 0;
}

static int flash_sync(void *context)
{
    struct nor *nor = context;
    int error = begin_read(nor, NOR_SYNC, 0, 0);
    if (error != 0) {
        return error;
    }
    const struct nor_fault_slot *fault = nor_fault_due(nor, NOR_SYNC);
    return fault != NULL ? nor_fault_strike_read(nor, NULL, 0, fault) : 0;
}

/* Counts as a read of the range, as on a chip where the driver has to look. */
static int flash_is_blank(void *context, uint32_t address, uint32_t bytes)
{
    struct nor *nor = context;
    uint8_t buffer[256];
    int error = begin_read(nor, NOR_READ, address, bytes);
    const struct nor_fault_slot *fault = error == 0 ? nor_fault_due(nor, NOR_READ) : NULL;
    int blank = 1;
    if (error != 0) {
        return error;
    }
    while (bytes > 0) {
        uint32_t part = minimum(bytes, (uint32_t)sizeof buffer);
        read_bytes(nor, address, buffer, part);
        blank = blank && is_erased(buffer, part);
        address += part;
        bytes -= part;
    }
    if (fault != NULL) {
        error = nor_fault_strike_read(nor, NULL, 0, fault);
        blank = fault->kind == NOR_FAULT_LIE ? !blank : blank;
    }
    return error != 0 ? error : blank;
}

/* Uncounted. What reads differently each time has no place in memory. */
static const void *flash_map(void *context, uint32_t address, uint32_t bytes)
{
    struct nor *nor = context;
    if (nor->is_off || nor->dead >= 0 || (uint64_t)address + bytes > nor->config.size_bytes
        || nor_is_weak(nor, address, bytes)) {
        return NULL;
    }
    if (nor->sparse == NULL) {
        return nor->data + address;
    }
    struct piece p = first_piece(nor, address, bytes);
    const uint8_t *data = p.bytes == bytes ? chunk_data(nor, p.chunk) : NULL;
    return data == NULL ? NULL : data + p.offset;
}

/* ---- power ---- */

int nor_is_off(const struct nor *nor)
{
    return nor->is_off;
}

void nor_power_on(struct nor *nor)
{
    nor->is_off = 0;
}

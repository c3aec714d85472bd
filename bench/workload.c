/* Workloads: see workload.h. The numbers in here define the benchmark; a change makes all results incomparable. */
#include "bench/workload.h"

#include <string.h>

enum { TINY_FILES = 192, TINY_BYTES = 64, MEDIUM_FILES = 16, GROWTH_BYTES = 100, GROWTH_SAMPLES = 64 };
static const uint32_t MEDIUM_BYTES = 51200, LARGE_BYTES = 358400, BACKGROUND_MAX = 100000; /* int may have 16 bits */

const struct bench_mix bench_churn = {
    0x4F465346u, 256, 2308848u, 131072u, 8388608u, 7340032u, BENCH_SIZES_CHURN, "w"
};
const struct bench_mix bench_smallfiles = {
    0x53464348u, 5000, 2308848u, 32768u, 8388608u, 0, BENCH_SIZES_SMALL, "sf"
};

/* ---- Content ---- */

static uint32_t content_word(uint32_t seed, uint32_t index)
{
    uint32_t x = seed * 0x85EBCA6Bu + index * 0x9E3779B9u + 0x7F4A7C15u;
    x ^= x >> 16;
    x *= 0x7FEB352Du;
    x ^= x >> 15;
    x *= 0x846CA68Bu;
    return x ^ (x >> 16);
}

void bench_fill(uint8_t *buffer, uint32_t seed, uint32_t offset, uint32_t bytes)
{
    uint32_t word = content_word(seed, offset >> 2);
    for (uint32_t i = 0; i < bytes; i++) {
        uint32_t at = offset + i;
        if ((at & 3u) == 0)
            word = content_word(seed, at >> 2);
        buffer[i] = (uint8_t)(word >> (8u * (at & 3u)));
    }
}

static int content_matches(const uint8_t *data, uint32_t seed, uint32_t offset, uint32_t bytes)
{
    uint8_t expected[64];
    for (uint32_t done = 0; done < bytes; done += sizeof expected) {
        uint32_t part = bytes - done < sizeof expected ? bytes - done : (uint32_t)sizeof expected;
        bench_fill(expected, seed, offset + done, part);
        if (memcmp(data + done, expected, part) != 0)
            return 0;
    }
    return 1;
}

/* ---- Names ---- */

static char *put_decimal(char *to, uint32_t value, unsigned digits)
{
    for (unsigned i = digits; i-- > 0; value /= 10u)
        to[i] = (char)('0' + (int)(value % 10u));
    return to + digits;
}

static char *put_hex(char *to, uint32_t value, unsigned digits)
{
    for (unsigned i = digits; i-- > 0; value >>= 4)
        to[i] = "0123456789abcdef"[value & 15u];
    return to + digits;
}

static void finish_name(char *to)
{
    memcpy(to, ".bin", 5);
}

/* One letter and three digits: the baseline's names. */
static const char *short_name(struct bench *bench, char letter, uint32_t number)
{
    bench->name[0] = letter;
    finish_name(put_decimal(bench->name + 1, number, 3));
    return bench->name;
}

/* prefix, slot in four digits, tag in hex: the churn machine's names. */
static const char *long_name(struct bench *bench, const char *prefix, uint32_t slot, uint32_t tag)
{
    char *to = bench->name;
    while (*prefix != 0)
        *to++ = *prefix++;
    to = put_decimal(to, slot, 4);
    *to++ = '-';
    finish_name(put_hex(to, tag, 8));
    return bench->name;
}

static const char *slot_name(struct bench *bench, uint32_t slot)
{
    return long_name(bench, bench->mix->prefix, slot, bench->slots[slot].tag);
}

/* ---- Calls with hooks ---- */

static int fail(struct bench *bench, const char *text, int32_t status)
{
    if (bench->failure.text == NULL) {
        bench->failure.text = text;
        bench->failure.status = status;
        memcpy(bench->failure.name, bench->name, sizeof bench->name);
    }
    return -1;
}

static void section(struct bench *bench, enum bench_section which)
{
    bench->hooks->section(bench->hooks_self, which);
}

static void begin(struct bench *bench, enum bench_op op)
{
    bench->hooks->begin(bench->hooks_self, op);
}

static void end(struct bench *bench, enum bench_op op, uint32_t bytes)
{
    bench->hooks->end(bench->hooks_self, op, bytes);
}

/* A call that has no argument but the volume. */
static int plain_call(struct bench *bench, enum bench_op op, int (*call)(void *self), const char *text)
{
    begin(bench, op);
    int result = call(bench->fs_self);
    end(bench, op, 0);
    return result < 0 ? fail(bench, text, result) : 0;
}

static int start_volume(struct bench *bench)
{
    memset(bench->slots, 0, bench->slot_count * sizeof *bench->slots);
    memset(&bench->failure, 0, sizeof bench->failure);
    bench->written_bytes = bench->deletes = bench->writes = bench->live_bytes = bench->live_files = 0;
    bench->version = 0;
    bench->hooks->erase_device(bench->hooks_self);
    section(bench, BENCH_S_FORMAT);
    if (plain_call(bench, BENCH_FORMAT, bench->fs->format, "format") < 0)
        return -1;
    return plain_call(bench, BENCH_MOUNT, bench->fs->mount, "mount");
}

static int run_background(struct bench *bench)
{
    if (!bench->background || bench->fs->background == NULL)
        return 0;
    for (uint32_t i = 0; i < BACKGROUND_MAX; i++) {
        begin(bench, BENCH_BACKGROUND);
        int result = bench->fs->background(bench->fs_self);
        end(bench, BENCH_BACKGROUND, 0);
        if (result < 0)
            return fail(bench, "background step", result);
        if (result == 0)
            return 0;
    }
    return fail(bench, "background steps do not come to an end", 0);
}

static int write_chunks(struct bench *bench, uint32_t version, uint32_t size)
{
    for (uint32_t done = 0; done < size; ) {
        uint32_t part = size - done < BENCH_CHUNK ? size - done : BENCH_CHUNK;
        bench_fill(bench->buffer, version, done, part);
        begin(bench, BENCH_WRITE);
        int32_t result = bench->fs->write(bench->fs_self, bench->buffer, part);
        end(bench, BENCH_WRITE, part);
        if (result != (int32_t)part)
            return fail(bench, "write", result);
        done += part;
    }
    return 0;
}

/* Writes a whole file under bench->name with content `version`. */
static int write_file(struct bench *bench, uint32_t version, uint32_t size)
{
    begin(bench, BENCH_OPEN_WRITE);
    int result = bench->fs->open_write(bench->fs_self, bench->name);
    end(bench, BENCH_OPEN_WRITE, 0);
    if (result < 0)
        return fail(bench, "open for writing", result);
    if (write_chunks(bench, version, size) < 0)
        return -1;
    return plain_call(bench, BENCH_CLOSE_WRITE, bench->fs->close, "close after writing");
}

static int open_file(struct bench *bench, uint32_t size)
{
    begin(bench, BENCH_OPEN_READ);
    int32_t result = bench->fs->open_read(bench->fs_self, bench->name);
    end(bench, BENCH_OPEN_READ, 0);
    if (result < 0)
        return fail(bench, "open for reading", result);
    begin(bench, BENCH_SIZE);
    result = bench->fs->size(bench->fs_self);
    end(bench, BENCH_SIZE, 0);
    return result == (int32_t)size ? 0 : fail(bench, "size", result);
}

static int read_chunk(struct bench *bench, uint32_t version, uint32_t offset, uint32_t bytes)
{
    begin(bench, BENCH_READ);
    int32_t result = bench->fs->read(bench->fs_self, bench->buffer, bytes);
    end(bench, BENCH_READ, bytes);
    if (result != (int32_t)bytes)
        return fail(bench, "read", result);
    if (!content_matches(bench->buffer, version, offset, bytes))
        return fail(bench, "content differs from what was written", (int32_t)offset);
    return 0;
}

static int close_reader(struct bench *bench)
{
    return plain_call(bench, BENCH_CLOSE_READ, bench->fs->close, "close after reading");
}

static int read_file(struct bench *bench, uint32_t version, uint32_t size)
{
    if (open_file(bench, size) < 0)
        return -1;
    for (uint32_t done = 0; done < size; ) {
        uint32_t part = size - done < BENCH_CHUNK ? size - done : BENCH_CHUNK;
        if (read_chunk(bench, version, done, part) < 0)
            return -1;
        done += part;
    }
    return close_reader(bench);
}

static int expect_exists(struct bench *bench, int expected)
{
    begin(bench, BENCH_EXISTS);
    int result = bench->fs->exists(bench->fs_self, bench->name);
    end(bench, BENCH_EXISTS, 0);
    return result == expected ? 0 : fail(bench, expected ? "exists: not found" : "exists: found a missing name", result);
}

/* The slot that a listed name stands for, or slot_count. Baseline names: tNNN is slot NNN, mNNN slot 192 + NNN. */
static uint32_t slot_of_name(const struct bench *bench, const char *name)
{
    const char *digits = name + (bench->mix != NULL ? strlen(bench->mix->prefix) : 1);
    uint32_t number = 0;
    while (*digits >= '0' && *digits <= '9')
        number = number * 10u + (uint32_t)(*digits++ - '0');
    if (bench->mix == NULL && name[0] == 'm')
        number += TINY_FILES;
    return number < bench->slot_count ? number : bench->slot_count;
}

static const char *name_of_slot(struct bench *bench, uint32_t slot)
{
    if (bench->mix != NULL)
        return slot_name(bench, slot);
    return slot < TINY_FILES ? short_name(bench, 't', slot) : short_name(bench, 'm', slot - TINY_FILES);
}

static int visit_name(void *context, const char *name, uint32_t size)
{
    struct bench *bench = context;
    if (*name == '/')
        name++;
    uint32_t slot = slot_of_name(bench, name);
    if (slot == bench->slot_count || bench->slots[slot].size == 0 || strcmp(name, name_of_slot(bench, slot)) != 0)
        return fail(bench, "list: unknown name", 0);
    if (bench->slots[slot].size != size)
        return fail(bench, "list: size", (int32_t)size);
    if (bench->slots[slot].seen)
        return fail(bench, "list: name twice", 0);
    bench->slots[slot].seen = 1;
    bench->list_files++;
    return 0;
}

static int list_files(struct bench *bench)
{
    for (uint32_t i = 0; i < bench->slot_count; i++)
        bench->slots[i].seen = 0;
    bench->list_files = 0;
    begin(bench, BENCH_LIST);
    int result = bench->fs->list(bench->fs_self, visit_name, bench);
    end(bench, BENCH_LIST, 0);
    if (result != 0)
        return fail(bench, "list", result);
    return bench->list_files == bench->live_files ? 0 : fail(bench, "list: count", (int32_t)bench->list_files);
}

static int query_space(struct bench *bench, struct bench_space *space)
{
    begin(bench, BENCH_SPACE);
    int result = bench->fs->space(bench->fs_self, space);
    end(bench, BENCH_SPACE, 0);
    return result < 0 ? fail(bench, "space", result) : 0;
}

/* Unmount and mount, each its own section. */
static int remount(struct bench *bench)
{
    section(bench, BENCH_S_UNMOUNT);
    if (plain_call(bench, BENCH_UNMOUNT, bench->fs->unmount, "unmount") < 0)
        return -1;
    section(bench, BENCH_S_MOUNT);
    return plain_call(bench, BENCH_MOUNT, bench->fs->mount, "mount");
}

enum seek_kind { SEEK_NEAR, SEEK_FORWARD, SEEK_RANDOM, SEEK_FROM_END };

static uint32_t seek_offset(enum seek_kind kind, uint32_t i, uint32_t size)
{
    switch (kind) {
    case SEEK_NEAR: return (i * 53u + 7u) % 511u;
    case SEEK_FORWARD: return i * (size / 128u);
    case SEEK_RANDOM: return (i * 7919u + 123u) % size;
    case SEEK_FROM_END: break;
    }
    return size - 1u - (i * 53u + 7u) % 511u;
}

/* The file under bench->name: open, 64 near, 128 forward, 128 random, 64 from the end, one byte read each. */
static int seek_file(struct bench *bench, uint32_t version, uint32_t size)
{
    static const struct { enum bench_section section; enum seek_kind kind; uint32_t count; } steps[4] = {
        { BENCH_S_SEEK_NEAR, SEEK_NEAR, 64 }, { BENCH_S_SEEK_FORWARD, SEEK_FORWARD, 128 },
        { BENCH_S_SEEK_RANDOM, SEEK_RANDOM, 128 }, { BENCH_S_SEEK_END, SEEK_FROM_END, 64 }
    };
    section(bench, BENCH_S_NONE);
    if (open_file(bench, size) < 0)
        return -1;
    for (unsigned s = 0; s < 4; s++) {
        section(bench, steps[s].section);
        for (uint32_t i = 0; i < steps[s].count; i++) {
            uint32_t offset = seek_offset(steps[s].kind, i, size);
            begin(bench, BENCH_SEEK);
            int result = bench->fs->seek(bench->fs_self, offset);
            end(bench, BENCH_SEEK, 0);
            if (result < 0)
                return fail(bench, "seek", result);
            if (read_chunk(bench, version, offset, 1) < 0)
                return -1;
        }
    }
    section(bench, BENCH_S_NONE);
    return close_reader(bench);
}

/* Every file whole, and the listing: unreported. */
static int verify_all(struct bench *bench)
{
    section(bench, BENCH_S_NONE);
    if (list_files(bench) < 0)
        return -1;
    for (uint32_t i = 0; i < bench->slot_count; i++) {
        if (bench->slots[i].size == 0)
            continue;
        name_of_slot(bench, i);
        if (read_file(bench, bench->slots[i].version, bench->slots[i].size) < 0)
            return -1;
    }
    return 0;
}

/* Power goes without unmount after one more change; the mount that follows recovers. */
static int mount_unclean(struct bench *bench)
{
    section(bench, BENCH_S_NONE);
    uint32_t slot = 0;
    while (slot < bench->slot_count && bench->slots[slot].size == 0)
        slot++;
    if (bench->fs->forget == NULL || slot == bench->slot_count)
        return 0;
    name_of_slot(bench, slot);
    bench->slots[slot].version = ++bench->version;
    if (write_file(bench, bench->slots[slot].version, bench->slots[slot].size) < 0)
        return -1;
    bench->fs->forget(bench->fs_self);
    section(bench, BENCH_S_MOUNT_UNCLEAN);
    return plain_call(bench, BENCH_MOUNT, bench->fs->mount, "mount after an unclean stop");
}

/* ---- Baseline ---- */

static int baseline_write(struct bench *bench, uint32_t first, uint32_t count, uint32_t size)
{
    for (uint32_t slot = first; slot < first + count; slot++) {
        struct bench_slot *entry = &bench->slots[slot];
        name_of_slot(bench, slot);
        entry->size = size;
        entry->version = ++bench->version;
        bench->live_files++;
        bench->live_bytes += size;
        if (write_file(bench, entry->version, size) < 0 || run_background(bench) < 0)
            return -1;
    }
    return 0;
}

static int baseline_read(struct bench *bench, uint32_t slot)
{
    name_of_slot(bench, slot);
    return read_file(bench, bench->slots[slot].version, bench->slots[slot].size);
}

static int baseline_tiny(struct bench *bench)
{
    struct bench_space before, after;
    section(bench, BENCH_S_NONE);
    if (query_space(bench, &before) < 0)
        return -1;
    section(bench, BENCH_S_WRITE_TINY);
    if (baseline_write(bench, 0, TINY_FILES, TINY_BYTES) < 0)
        return -1;
    section(bench, BENCH_S_NONE);
    if (query_space(bench, &after) < 0)
        return -1;
    bench->tiny_free_delta = before.free_bytes - after.free_bytes;
    bench->tiny_index_bytes = TINY_FILES * after.index_bytes_per_file;
    section(bench, BENCH_S_LIST_TINY);
    if (list_files(bench) < 0)
        return -1;
    section(bench, BENCH_S_READ_TINY);
    for (uint32_t i = 0; i < TINY_FILES; i++)
        if (baseline_read(bench, (i * 37u + 5u) % TINY_FILES) < 0)
            return -1;
    return 0;
}

static int baseline_medium(struct bench *bench)
{
    uint32_t size = bench->medium_bytes != 0 ? bench->medium_bytes : MEDIUM_BYTES;
    section(bench, BENCH_S_WRITE_MEDIUM);
    if (baseline_write(bench, TINY_FILES, MEDIUM_FILES, size) < 0)
        return -1;
    section(bench, BENCH_S_READ_MEDIUM);
    for (uint32_t i = 0; i < MEDIUM_FILES; i++)
        if (baseline_read(bench, TINY_FILES + (i * 5u + 1u) % MEDIUM_FILES) < 0)
            return -1;
    name_of_slot(bench, TINY_FILES);
    return seek_file(bench, bench->slots[TINY_FILES].version, size);
}

static int baseline_exists(struct bench *bench)
{
    static const struct { enum bench_section section; char letter; uint32_t count, of; int expected; } steps[4] = {
        { BENCH_S_EXISTS_HIT, 't', 64, TINY_FILES, 1 }, { BENCH_S_EXISTS_MISS, 'x', 64, TINY_FILES, 0 },
        { BENCH_S_EXISTS_MEDIUM_HIT, 'm', 16, MEDIUM_FILES, 1 },
        { BENCH_S_EXISTS_MEDIUM_MISS, 'z', 16, MEDIUM_FILES, 0 }
    };
    for (unsigned s = 0; s < 4; s++) {
        section(bench, steps[s].section);
        for (uint32_t i = 0; i < steps[s].count; i++) {
            short_name(bench, steps[s].letter, (i * 37u + 5u) % steps[s].of);
            if (expect_exists(bench, steps[s].expected) < 0)
                return -1;
        }
    }
    return 0;
}

static int baseline_cold(struct bench *bench)
{
    if (remount(bench) < 0)
        return -1;
    section(bench, BENCH_S_LIST_COLD);
    if (list_files(bench) < 0)
        return -1;
    section(bench, BENCH_S_COLD_TINY);
    for (uint32_t i = 0; i < 32; i++)
        if (baseline_read(bench, (i * 37u + 5u) % TINY_FILES) < 0)
            return -1;
    section(bench, BENCH_S_COLD_MEDIUM);
    for (uint32_t i = 0; i < 4; i++)
        if (baseline_read(bench, TINY_FILES + (i * 5u + 1u) % MEDIUM_FILES) < 0)
            return -1;
    return 0;
}

int bench_run_baseline(struct bench *bench)
{
    bench->mix = NULL;
    if (start_volume(bench) < 0 || baseline_tiny(bench) < 0 || baseline_medium(bench) < 0)
        return -1;
    section(bench, BENCH_S_LIST);
    if (list_files(bench) < 0 || baseline_exists(bench) < 0 || baseline_cold(bench) < 0)
        return -1;
    if (mount_unclean(bench) < 0)
        return -1;
    return verify_all(bench);
}

/* ---- The churn machine ---- */

static uint32_t next_random(struct bench *bench)
{
    bench->random = bench->random * 1664525u + 1013904223u;
    return bench->random;
}

static uint32_t pick_size(struct bench *bench)
{
    if (bench->mix->force_large_at != 0 && !bench->forced && bench->written_bytes >= bench->mix->force_large_at) {
        bench->forced = 1;
        return LARGE_BYTES;
    }
    uint32_t class = next_random(bench) % 1000u;
    if (bench->mix->sizes == BENCH_SIZES_SMALL)
        return 1u + next_random(bench) % 5120u;
    if (class < 800u)
        return 10240u + next_random(bench) % 10241u;
    if (class < 950u)
        return 20480u + next_random(bench) % 40961u;
    return LARGE_BYTES;
}

/* Files that may go: all but the protected one, which goes only when it is the last. */
static int may_go(const struct bench *bench, uint32_t slot)
{
    return bench->slots[slot].size != 0 && (slot != bench->protected_slot || bench->live_files == 1);
}

static uint32_t weight(uint32_t size)
{
    return size / 4096u > 1u ? size / 4096u : 1u;
}

static uint32_t pick_victim(struct bench *bench)
{
    uint32_t total = 0, slot;
    for (slot = 0; slot < bench->mix->slots; slot++)
        if (may_go(bench, slot))
            total += weight(bench->slots[slot].size);
    uint32_t left = next_random(bench) % total;
    for (slot = 0; slot < bench->mix->slots; slot++) {
        if (!may_go(bench, slot))
            continue;
        if (left < weight(bench->slots[slot].size))
            break;
        left -= weight(bench->slots[slot].size);
    }
    return slot;
}

/* Deletes one file; its slot in *freed unless NULL. */
static int delete_one(struct bench *bench, uint32_t *freed)
{
    uint32_t slot = pick_victim(bench);
    slot_name(bench, slot);
    begin(bench, BENCH_REMOVE);
    int result = bench->fs->remove(bench->fs_self, bench->name);
    end(bench, BENCH_REMOVE, 0);
    if (result < 0)
        return fail(bench, "delete", result);
    bench->deletes++;
    bench->live_files--;
    bench->live_bytes -= bench->slots[slot].size;
    bench->slots[slot].size = 0;
    if (slot == bench->protected_slot)
        bench->protected_slot = bench->slot_count;
    if (freed != NULL)
        *freed = slot;
    return run_background(bench);
}

/* The n-th live slot that may be replaced, n drawn at random; slot_count when there is none. */
static uint32_t pick_replaced(struct bench *bench)
{
    uint32_t candidates = 0, slot;
    for (slot = 0; slot < bench->mix->slots; slot++)
        candidates += (uint32_t)may_go(bench, slot);
    if (candidates == 0)
        return bench->slot_count;
    uint32_t left = next_random(bench) % candidates;
    for (slot = 0; slot < bench->mix->slots; slot++)
        if (may_go(bench, slot) && left-- == 0)
            break;
    return slot;
}

static int pick_slot(struct bench *bench, uint32_t *slot)
{
    if (next_random(bench) % 100u < 25u) {
        *slot = pick_replaced(bench);
        if (*slot != bench->slot_count)
            return 0;
    }
    for (*slot = 0; *slot < bench->mix->slots; (*slot)++)
        if (bench->slots[*slot].size == 0)
            return 0;
    return delete_one(bench, slot);
}

static int make_room(struct bench *bench, uint32_t size)
{
    const struct bench_mix *mix = bench->mix;
    while (bench->live_bytes + size > mix->target_live + mix->slack && bench->live_files > 0)
        if (delete_one(bench, NULL) < 0)
            return -1;
    if (bench->live_bytes > mix->target_live && (next_random(bench) & 7u) == 0)
        return delete_one(bench, NULL);
    return 0;
}

static int churn_write(struct bench *bench, uint32_t slot, uint32_t size)
{
    struct bench_slot *entry = &bench->slots[slot];
    if (entry->size == 0)
        entry->tag = bench->written_bytes ^ slot;
    slot_name(bench, slot);
    if (write_file(bench, (uint16_t)(bench->version + 1u), size) < 0)
        return -1;
    entry->version = ++bench->version;
    bench->live_files += entry->size == 0;
    bench->live_bytes += size - entry->size;
    entry->size = size;
    bench->written_bytes += size;
    bench->writes++;
    if (size == LARGE_BYTES && bench->protected_slot == bench->slot_count)
        bench->protected_slot = slot;
    return run_background(bench);
}

/* Small files: the listing at 1, 10, 100, 1000 live files. */
static int list_at_mark(struct bench *bench)
{
    static const uint32_t marks[4] = { 1, 10, 100, 1000 };
    if (bench->mix->sizes != BENCH_SIZES_SMALL || bench->list_mark >= 4 || bench->live_files != marks[bench->list_mark])
        return 0;
    section(bench, (enum bench_section)(BENCH_S_LIST_1 + (int)bench->list_mark));
    bench->list_mark++;
    int result = list_files(bench);
    section(bench, BENCH_S_CHURN);
    return result;
}

static int churn_loop(struct bench *bench)
{
    uint32_t slot;
    section(bench, BENCH_S_CHURN);
    while (bench->written_bytes < bench->mix->target_written) {
        uint32_t size = pick_size(bench);
        if (make_room(bench, size) < 0 || pick_slot(bench, &slot) < 0 || churn_write(bench, slot, size) < 0)
            return -1;
        if (list_at_mark(bench) < 0)
            return -1;
    }
    return 0;
}

/* 12 small, 6 medium, 1 large file, slots visited in steps of 73. */
static int churn_read(struct bench *bench)
{
    uint32_t left[3] = { 12, 6, 1 };
    static const enum bench_section sections[3] = { BENCH_S_READ_SMALL, BENCH_S_READ_MEDIUM, BENCH_S_READ_LARGE };
    for (uint32_t p = 0; p < bench->mix->slots; p++) {
        uint32_t slot = (p * 73u + 19u) % bench->mix->slots, size = bench->slots[slot].size;
        unsigned class = size <= 20480u ? 0 : size <= 61440u ? 1 : 2;
        if (size == 0 || left[class] == 0)
            continue;
        left[class]--;
        section(bench, sections[class]);
        slot_name(bench, slot);
        if (read_file(bench, bench->slots[slot].version, size) < 0)
            return -1;
    }
    return 0;
}

static int churn_exists(struct bench *bench)
{
    section(bench, BENCH_S_EXISTS_HIT);
    uint32_t found = 0;
    for (uint32_t p = 0; p < bench->mix->slots && found < 32; p++) {
        uint32_t slot = (p * 73u + 19u) % bench->mix->slots;
        if (bench->slots[slot].size == 0)
            continue;
        found++;
        slot_name(bench, slot);
        if (expect_exists(bench, 1) < 0)
            return -1;
    }
    section(bench, BENCH_S_EXISTS_MISS);
    for (uint32_t p = 0; p < 32; p++) {
        long_name(bench, "x", p, p * 0x9E3779B9u);
        if (expect_exists(bench, 0) < 0)
            return -1;
    }
    return 0;
}

static int churn_after(struct bench *bench)
{
    struct bench_space space;
    section(bench, BENCH_S_LIST);
    if (list_files(bench) < 0)
        return -1;
    if (bench->protected_slot != bench->slot_count) {
        const struct bench_slot *entry = &bench->slots[bench->protected_slot];
        slot_name(bench, bench->protected_slot);
        if (seek_file(bench, entry->version, entry->size) < 0)
            return -1;
    }
    if (remount(bench) < 0)
        return -1;
    section(bench, BENCH_S_SPACE);
    if (query_space(bench, &space) < 0)
        return -1;
    section(bench, BENCH_S_LIST_COLD);
    if (list_files(bench) < 0 || churn_read(bench) < 0 || churn_exists(bench) < 0 || mount_unclean(bench) < 0)
        return -1;
    return verify_all(bench);
}

int bench_run_churn(struct bench *bench, const struct bench_mix *mix)
{
    bench->mix = mix;
    bench->random = mix->seed;
    bench->protected_slot = bench->slot_count;
    bench->forced = 0;
    bench->list_mark = 0;
    if (start_volume(bench) < 0 || churn_loop(bench) < 0)
        return -1;
    return churn_after(bench);
}

/* ---- Growth ---- */

static const struct bench_mix growth_mix = { 0, 0, 0, 0, 0, 0, BENCH_SIZES_SMALL, "g" };

int bench_growth_begin(struct bench *bench)
{
    bench->mix = &growth_mix;
    return start_volume(bench);
}

static int growth_open(struct bench *bench, uint32_t files)
{
    section(bench, BENCH_S_OPEN_READ);
    for (uint32_t i = 0; i < GROWTH_SAMPLES; i++) {
        uint32_t slot = (i * 7919u + 5u) % files;
        slot_name(bench, slot);
        if (read_file(bench, bench->slots[slot].version, GROWTH_BYTES) < 0)
            return -1;
    }
    section(bench, BENCH_S_EXISTS_MISS);
    for (uint32_t i = 0; i < GROWTH_SAMPLES; i++) {
        long_name(bench, "x", i, i * 0x9E3779B9u);
        if (expect_exists(bench, 0) < 0)
            return -1;
    }
    return 0;
}

int bench_growth_to(struct bench *bench, uint32_t files)
{
    struct bench_space space;
    section(bench, BENCH_S_CHURN);
    for (uint32_t slot = bench->live_files; slot < files; slot++) {
        struct bench_slot *entry = &bench->slots[slot];
        entry->tag = slot * 0x85EBCA6Bu;
        entry->version = ++bench->version;
        slot_name(bench, slot);
        if (write_file(bench, entry->version, GROWTH_BYTES) < 0)
            return -1;
        entry->size = GROWTH_BYTES;
        bench->live_files++;
    }
    if (remount(bench) < 0)
        return -1;
    section(bench, BENCH_S_SPACE);
    if (query_space(bench, &space) < 0 || growth_open(bench, files) < 0)
        return -1;
    section(bench, BENCH_S_LIST);
    return list_files(bench);
}

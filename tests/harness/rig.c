/* The volume under test. Owns the emulated device, every buffer handed to the library and the tap between them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "rig.h"
#include "random_model.h"

/* ---- The matrix ---- */

static const struct { const char *text; unsigned sets; } matrix[] = {
    /* 4 KiB sectors, the usual case */
    { "s4096-g1-n1024-hash-sc512-fb256", RIG_SET_FEW | RIG_SET_ROOMY },
    { "s4096-g1-n1024-full-sc4096-fb256-wb4096", RIG_SET_ROOMY },
    { "s4096-g1-n1024-none-sc512-fb64-lazy-wear", RIG_SET_ROOMY },
    { "s4096-g1-n256-small-sc512-fb256", RIG_SET_ROOMY },
    { "s4096-g8-n256-hash-sc512-fb256-wb1024-wear", RIG_SET_ROOMY },
    { "s4096-g16-n256-hash-sc4096-fb64-verify", RIG_SET_FEW | RIG_SET_ROOMY },
    { "s4096-g16-n1024-none-sc256-fb16-wb1024", RIG_SET_ROOMY },
    { "s4096-g256-n256-hash-sc512-fb256", RIG_SET_ROOMY },
    { "s4096-g256-n1024-small-sc512-fb256-wb4096-lazy", RIG_SET_ROOMY },
    { "s4096-g1-n64-none-sc256-fb16", 0 },
    { "s4096-g8-n64-full-sc512-fb64-verify", 0 },
    { "s4096-g1-n64-seg16384-hash-sc512-fb256-noinline", 0 },
    { "s4096-g1-n32-small-sc512-fb64", 0 },
    { "s4096-g8-n32-hash-sc256-fb256-wb1024-lazy", 0 },
    { "s4096-g1-n16-hash-sc512-fb256-wear", RIG_SET_FEW },
    { "s4096-g1-n8-hash-sc256-fb16", RIG_SET_FEW | RIG_SET_TINY },
    { "s4096-g8-n8-none-sc512-fb64-verify", RIG_SET_TINY },
    { "s4096-g1-n256-seg32768-hash-sc512-fb256-nolevel", RIG_SET_ROOMY },
    { "s4096-g1-n1024-seg4096-full-sc4096-fb64-noinline", RIG_SET_ROOMY },
    { "s4096-g16-n64-e1-none-sc512-fb256-wb4096", 0 },
    /* 1 KiB sectors */
    { "s1024-g1-n1024-hash-sc512-fb256", RIG_SET_ROOMY },
    { "s1024-g1-n256-none-sc256-fb64-wb1024", 0 },
    { "s1024-g8-n256-small-sc512-fb256-lazy-wear", 0 },
    { "s1024-g16-n64-hash-sc512-fb64-verify", 0 },
    { "s1024-g1-n64-full-sc4096-fb16-noinline", 0 },
    { "s1024-g256-n1024-hash-sc512-fb256", RIG_SET_FEW | RIG_SET_ROOMY },
    { "s1024-g1-n32-hash-sc256-fb256", 0 },
    { "s1024-g8-n16-none-sc512-fb64", RIG_SET_TINY },
    { "s1024-g1-n8-small-sc256-fb16", RIG_SET_TINY },
    /* 256 B sectors */
    { "s256-g1-n1024-hash-sc512-fb64", RIG_SET_FEW | RIG_SET_ROOMY },
    { "s256-g1-n256-none-sc256-fb16", 0 },
    { "s256-g8-n256-hash-sc512-fb256-wb1024-verify", 0 },
    { "s256-g16-n1024-small-sc512-fb64-lazy-wear", RIG_SET_ROOMY },
    { "s256-g1-n64-full-sc256-fb64", RIG_SET_TINY },
    { "s256-g8-n32-hash-sc256-fb16", RIG_SET_TINY },
    { "s256-g1-n16-none-sc256-fb16", RIG_SET_TINY },
    { "s256-g1-n8-hash-sc256-fb16", RIG_SET_FEW | RIG_SET_TINY },
    /* 64 KiB sectors */
    { "s65536-g1-n64-hash-sc4096-fb256-wb4096-wear", RIG_SET_ROOMY },
    { "s65536-g8-n16-none-sc512-fb64", RIG_SET_ROOMY },
    { "s65536-g16-n32-small-sc512-fb256-lazy", RIG_SET_ROOMY },
    { "s65536-g256-n32-hash-sc512-fb256-verify", RIG_SET_ROOMY },
    { "s65536-g1-n8-full-sc256-fb16-wb1024", RIG_SET_FEW | RIG_SET_ROOMY },
    { "s65536-u4096-g1-n256-hash-sc512-fb256-wb4096", RIG_SET_ROOMY },
    /* encrypted flash */
    { "s4096-g16-n256-hash-sc512-fb256-crypt", RIG_SET_ROOMY },
    { "s1024-g32-n256-none-sc256-fb64-crypt", 0 },
};

enum { MATRIX_POINTS = sizeof matrix / sizeof matrix[0] };

static const struct { const char *text; uint32_t flag; } flag_names[] = {
    { "verify", FFFS_MOUNT_VERIFY }, { "lazy", FFFS_MOUNT_LAZY_WEIGHTS }, { "noinline", FFFS_MOUNT_NO_INLINE_GC },
    { "defer", FFFS_MOUNT_DEFER_RECOVERY }, { "nolevel", FFFS_MOUNT_NO_LEVELLING }
};

static const char *const cache_names[] = { "none", "small", "hash", "full" };

static int parse_word(struct rig_point *point, const char *word)
{
    size_t i;
    for (i = 0; i < sizeof cache_names / sizeof cache_names[0]; i++) {
        if (strcmp(word, cache_names[i]) == 0) {
            point->cache = (enum rig_cache)i;
            return 1;
        }
    }
    if (strcmp(word, "wear") == 0) {
        point->wear = 1;
        return 1;
    }
    if (strcmp(word, "crypt") == 0) {
        point->encrypted = 1;
        return 1;
    }
    for (i = 0; i < sizeof flag_names / sizeof flag_names[0]; i++) {
        if (strcmp(word, flag_names[i].text) == 0) {
            point->flags |= flag_names[i].flag;
            return 1;
        }
    }
    return 0;
}

static int parse_number(struct rig_point *point, const char *word)
{
    struct { const char *key; uint32_t *value; } fields[10];
    size_t i, n = 0;

    fields[n].key = "seg"; fields[n++].value = &point->segment_bytes;
    fields[n].key = "sc"; fields[n++].value = &point->scratch_bytes;
    fields[n].key = "fb"; fields[n++].value = &point->file_buffer_bytes;
    fields[n].key = "wb"; fields[n++].value = &point->write_buffer_bytes;
    fields[n].key = "mf"; fields[n++].value = &point->max_files;
    fields[n].key = "s"; fields[n++].value = &point->sector_bytes;
    fields[n].key = "g"; fields[n++].value = &point->granule_bytes;
    fields[n].key = "n"; fields[n++].value = &point->sector_count;
    fields[n].key = "u"; fields[n++].value = &point->erase_unit_bytes;
    fields[n].key = "e"; fields[n++].value = &point->erase_sizes;
    for (i = 0; i < n; i++) {
        size_t key_bytes = strlen(fields[i].key);
        char *end;
        if (strncmp(word, fields[i].key, key_bytes) == 0 && word[key_bytes] >= '0' && word[key_bytes] <= '9') {
            *fields[i].value = (uint32_t)strtoul(word + key_bytes, &end, 10);
            return *end == '\0';
        }
    }
    return 0;
}

int rig_point_parse(struct rig_point *point, const char *text)
{
    char words[sizeof point->name], *word, *next;

    memset(point, 0, sizeof *point);
    if (strlen(text) >= sizeof point->name) { return 0; }
    strcpy(point->name, text);
    strcpy(words, text);
    point->sets = RIG_SET_ALL;
    point->sector_bytes = 4096;
    point->granule_bytes = 1;
    point->sector_count = 1024;
    point->erase_sizes = 3;
    point->scratch_bytes = 512;
    point->file_buffer_bytes = 256;
    point->cache = RIG_CACHE_HASH;
    for (word = words; word != NULL; word = next) {
        next = strchr(word, '-');
        if (next != NULL) { *next++ = '\0'; }
        if (!parse_number(point, word) && !parse_word(point, word)) { return 0; }
    }
    if (point->file_buffer_bytes < point->granule_bytes) { point->file_buffer_bytes = point->granule_bytes; }
    if (point->erase_unit_bytes == 0) { point->erase_unit_bytes = point->sector_bytes; }
    return 1;
}

const struct rig_point *rig_point_at(size_t index)
{
    static struct rig_point points[MATRIX_POINTS];

    if (index >= MATRIX_POINTS) { return NULL; }
    if (points[index].name[0] == '\0') {
        if (!rig_point_parse(&points[index], matrix[index].text)) {
            fprintf(stderr, "bad matrix point %s\n", matrix[index].text);
            abort();
        }
        points[index].sets |= matrix[index].sets;
    }
    return &points[index];
}

const struct rig_point *rig_point_of(const char *text)
{
    static struct rig_point points[16];
    static size_t next;
    struct rig_point *point = &points[next++ % 16];

    if (!rig_point_parse(point, text)) { harness_fail(__FILE__, __LINE__, "bad point %s", text); }
    return point;
}

static void print_point(struct rig_point *point)
{
    char text[sizeof point->name];
    size_t i;
    int n = snprintf(text, sizeof text, "s%u-u%u-g%u-n%u-e%u-%s-sc%u-fb%u", (unsigned)point->sector_bytes,
                     (unsigned)point->erase_unit_bytes, (unsigned)point->granule_bytes, (unsigned)point->sector_count,
                     (unsigned)point->erase_sizes, cache_names[point->cache], (unsigned)point->scratch_bytes,
                     (unsigned)point->file_buffer_bytes);
    if (point->segment_bytes != 0) {
        n += snprintf(text + n, sizeof text - (size_t)n, "-seg%u", (unsigned)point->segment_bytes);
    }
    if (point->write_buffer_bytes != 0) {
        n += snprintf(text + n, sizeof text - (size_t)n, "-wb%u", (unsigned)point->write_buffer_bytes);
    }
    for (i = 0; i < sizeof flag_names / sizeof flag_names[0]; i++) {
        if ((point->flags & flag_names[i].flag) != 0) {
            n += snprintf(text + n, sizeof text - (size_t)n, "-%s", flag_names[i].text);
        }
    }
    if (point->wear) { n += snprintf(text + n, sizeof text - (size_t)n, "-wear"); }
    if (point->encrypted) { snprintf(text + n, sizeof text - (size_t)n, "-crypt"); }
    if (!rig_point_parse(point, text)) { abort(); }
}

static void fill_nor_config(const struct rig_point *point, struct nor_config *config)
{
    uint64_t size = (uint64_t)point->sector_bytes * point->sector_count;
    uint32_t i, erase = point->erase_unit_bytes;

    memset(config, 0, sizeof *config);
    config->size_bytes = (uint32_t)size;
    config->granule_bytes = point->granule_bytes;
    config->page_bytes = 256;
    for (i = 0; i < point->erase_sizes && i < FFFS_FLASH_ERASE_SIZES; i++) {
        uint64_t bytes = i == 0 ? erase : (uint64_t)erase << (2 + i);
        if (bytes <= size && bytes <= 1048576) { config->erase_bytes[i] = (uint32_t)bytes; }
        else { break; }
    }
    config->sparse = size > 4u * 1024 * 1024;
    config->model = NOR_TIME_ESP32S3_FIT;
}

static void fill_geometry(const struct rig_point *point, struct fffs_format_options *options)
{
    memset(options, 0, sizeof *options);
    options->geometry.sector_bytes = point->sector_bytes;
    options->geometry.sector_count = point->sector_count;
    options->geometry.segment_bytes = point->segment_bytes;
    options->geometry.max_files = point->max_files;
}

void rig_point_random(struct rig_point *point, struct rng *rng, uint32_t size_limit)
{
    static const uint32_t granules[] = { 1, 1, 1, 2, 4, 8, 16, 32, 64, 128, 256 };
    static const uint32_t scratches[] = { 256, 512, 1024, 4096 }, buffers[] = { 16, 64, 256, 1024 };
    static const uint32_t write_buffers[] = { 0, 0, 512, 1024, 4096 };
    int tries;

    for (tries = 0; tries < 1000; tries++) {
        struct nor_config config;
        struct fffs_format_options options;
        struct fffs_geometry geometry;
        struct fffs_flash flash;
        uint32_t limit, count;

        memset(point, 0, sizeof *point);
        point->sector_bytes = 256u << rng_below(rng, 9);
        point->granule_bytes = granules[rng_below(rng, 11)];
        limit = size_limit / point->sector_bytes;
        count = 8u << rng_below(rng, 8);
        point->sector_count = count + rng_below(rng, count);
        if (point->sector_count > limit) { continue; }
        point->erase_unit_bytes = point->sector_bytes >> rng_below(rng, 3);
        if (point->erase_unit_bytes < 256) { point->erase_unit_bytes = point->sector_bytes; }
        if (rng_chance(rng, 40)) { point->segment_bytes = point->sector_bytes << rng_below(rng, 4); }
        point->erase_sizes = 1 + rng_below(rng, 3);
        point->cache = (enum rig_cache)rng_below(rng, 4);
        point->scratch_bytes = scratches[rng_below(rng, 4)];
        point->file_buffer_bytes = buffers[rng_below(rng, 4)];
        point->write_buffer_bytes = write_buffers[rng_below(rng, 5)];
        if (point->write_buffer_bytes != 0 && point->write_buffer_bytes < point->granule_bytes) { continue; }
        if (point->scratch_bytes < 2 * point->granule_bytes) { continue; }     /* two strides */
        if (rng_chance(rng, 20)) { point->flags |= FFFS_MOUNT_VERIFY; }
        if (rng_chance(rng, 30)) { point->flags |= FFFS_MOUNT_LAZY_WEIGHTS; }
        if (rng_chance(rng, 15)) { point->flags |= FFFS_MOUNT_NO_INLINE_GC; }
        if (rng_chance(rng, 15)) { point->flags |= FFFS_MOUNT_DEFER_RECOVERY; }
        point->wear = rng_chance(rng, 50);
        point->encrypted = point->granule_bytes >= 16 && rng_chance(rng, 30);
        print_point(point);
        fill_nor_config(point, &config);
        fill_geometry(point, &options);
        memset(&flash, 0, sizeof flash);
        {
            struct nor *nor = nor_create(&config);
            int status;
            flash = *nor_flash(nor);
            status = fffs_format_plan(&flash, &options, &geometry);
            nor_destroy(nor);
            if (status == FFFS_OK) { return; }
        }
    }
    harness_fail(__FILE__, __LINE__, "no random point found");
}

/* ---- The tap ---- */

static int tap_enter(struct rig *rig, enum nor_op op, uint32_t address, uint32_t bytes, const void *buffer)
{
    rig->tap.calls[op]++;
    rig->tap.bytes[op] += bytes;
    if (rig->geometry.index_bytes != 0 && bytes != 0 && address + bytes > rig->geometry.index_bytes) {
        rig->tap.data_calls[op]++;
    }
    if (bytes != 0 && op == NOR_ERASE && bytes > rig->tap.largest_erase) { rig->tap.largest_erase = bytes; }
    if (((uintptr_t)buffer & 3u) != 0) { rig->tap.unaligned_buffers++; }
    if (rig->call_budget != UINT64_MAX && rig->call_budget-- == 0) {
        harness_fail(__FILE__, __LINE__, "too many driver calls: an endless loop?");
    }
    if (rig->on_call != NULL) { rig->on_call(rig, op, address, bytes, buffer); }
    if ((rig->fail_ops & (1u << op)) != 0) {
        if (rig->fail_at != 0) { rig->fail_at--; }
        else {
            rig->fail_hit = 1;
            if (rig->fail_count == 0) { rig->fail_ops = 0; }
            else { rig->fail_count--; }
            return rig->lie ? 1 : -1;
        }
    }
    return 0;
}

/* The keystream of encrypted flash. */
static void encrypt(uint8_t *bytes, uint32_t address, uint32_t count)
{
    uint32_t i;
    for (i = 0; i < count; i++) { bytes[i] ^= (uint8_t)(0x5Au ^ ((address + i) * 0x9E3779B1u >> 24)); }
}

static int is_torn(const struct rig *rig, uint32_t address, uint32_t bytes)
{
    return address < rig->torn_address + rig->torn_bytes && rig->torn_address < address + bytes;
}

static int tap_read(void *context, uint32_t address, void *buffer, uint32_t bytes)
{
    struct rig *rig = context;
    const struct fffs_flash *under = nor_flash(rig->nor);
    int failed = tap_enter(rig, NOR_READ, address, bytes, buffer);

    if (failed != 0) { return -5; }
    if (rig->dead >= 0) {
        if (address > rig->flash.size_bytes || bytes > rig->flash.size_bytes - address) {
            harness_fail(__FILE__, __LINE__, "read outside the device: %#x + %#x", (unsigned)address, (unsigned)bytes);
        }
        memset(buffer, rig->dead, bytes);
        return 0;
    }
    if (is_torn(rig, address, bytes)) {
        memset(buffer, 0xA7, bytes);
        return FFFS_FLASH_ECC;
    }
    failed = under->read(under->context, address, buffer, bytes);
    if (failed == 0 && rig->point.encrypted) { encrypt(buffer, address, bytes); }
    return failed;
}

static int tap_program(void *context, uint32_t address, const void *data, uint32_t bytes)
{
    struct rig *rig = context;
    const struct fffs_flash *under = nor_flash(rig->nor);
    int failed = tap_enter(rig, NOR_PROGRAM, address, bytes, data);

    if (failed != 0) { return failed > 0 ? 0 : -5; }
    if (rig->point.encrypted) {
        uint8_t *copy = malloc(bytes);
        if (copy == NULL) { abort(); }
        memcpy(copy, data, bytes);
        encrypt(copy, address, bytes);
        failed = under->program(under->context, address, copy, bytes);
        free(copy);
        return failed;
    }
    return under->program(under->context, address, data, bytes);
}

static int tap_erase(void *context, uint32_t address, uint32_t bytes)
{
    struct rig *rig = context;
    const struct fffs_flash *under = nor_flash(rig->nor);
    int failed = tap_enter(rig, NOR_ERASE, address, bytes, NULL);

    if (failed != 0) { return failed > 0 ? 0 : -5; }
    if (is_torn(rig, address, bytes)) { rig->torn_bytes = 0; }
    return under->erase(under->context, address, bytes);
}

static int tap_sync(void *context)
{
    struct rig *rig = context;
    const struct fffs_flash *under = nor_flash(rig->nor);

    if (tap_enter(rig, NOR_SYNC, 0, 0, NULL) < 0) { return -5; }
    return under->sync != NULL ? under->sync(under->context) : 0;
}

static int tap_is_blank(void *context, uint32_t address, uint32_t bytes)
{
    struct rig *rig = context;
    const struct fffs_flash *under = nor_flash(rig->nor);
    return under->is_blank(under->context, address, bytes);
}

static const void *tap_map(void *context, uint32_t address, uint32_t bytes)
{
    struct rig *rig = context;
    const struct fffs_flash *under = nor_flash(rig->nor);
    return under->map(under->context, address, bytes);
}

static void hook_lock(void *context)
{
    struct rig *rig = context;
    rig->locks++;
    if (rig->lock_depth++ != 0) { harness_fail(__FILE__, __LINE__, "lock taken twice, or kept by an earlier call"); }
}

static void hook_unlock(void *context)
{
    struct rig *rig = context;
    if (rig->lock_depth-- != 1) { harness_fail(__FILE__, __LINE__, "unlock without lock"); }
}

static void hook_progress(void *context, uint32_t done, uint32_t total)
{
    struct rig *rig = context;
    rig->progress_calls++;
    rig->progress_done = done;
    rig->progress_total = total;
}

/* ---- Buffers ---- */

/* A block whose address is 4 modulo 16: aligned as documented and no better. */
static void *make_block(struct rig *rig, size_t number, uint32_t bytes)
{
    free(rig->blocks[number]);
    rig->blocks[number] = NULL;
    if (bytes == 0) { return NULL; }
    rig->blocks[number] = malloc((size_t)bytes + 4);
    if (rig->blocks[number] == NULL) { abort(); }
    memset(rig->blocks[number], 0xA5, (size_t)bytes + 4);
    return rig->blocks[number] + 4;
}

void rig_set_table(struct rig *rig, uint32_t entries)
{
    rig->config.segment_table = (uint16_t *)make_block(rig, 1, entries * 2);
    rig->config.segment_table_entries = entries;
}

void rig_set_cache_bytes(struct rig *rig, uint32_t bytes)
{
    rig->config.cache = make_block(rig, 2, bytes);
    rig->config.cache_bytes = bytes;
}

void rig_set_cache(struct rig *rig, enum rig_cache cache)
{
    uint32_t max_files = rig->geometry.max_files, bytes = 0;

    if (cache == RIG_CACHE_SMALL) { bytes = (max_files / 8 + 2) * FFFS_CACHE_ENTRY_BYTES; }
    if (cache == RIG_CACHE_HASH) { bytes = (max_files + max_files / 4 + 4) * FFFS_CACHE_ENTRY_BYTES; }
    if (cache == RIG_CACHE_FULL) { bytes = (uint32_t)FFFS_CACHE_FULL_BYTES; }
    rig_set_cache_bytes(rig, bytes);
}

static void fill_config(struct rig *rig)
{
    const struct rig_point *point = &rig->point;
    struct fffs_config *config = &rig->config;
    uint32_t entries = FFFS_SEGMENTS_MAX(rig->flash.size_bytes, rig->geometry.segment_bytes);

    memset(config, 0, sizeof *config);
    config->flash = &rig->flash;
    config->scratch = make_block(rig, 0, point->scratch_bytes);
    config->scratch_bytes = point->scratch_bytes;
    rig_set_table(rig, entries);
    config->wear = (uint32_t *)make_block(rig, 4, point->wear ? FFFS_WEAR_CELLS * 4u : 0);
    config->write_buffer = make_block(rig, 3, point->write_buffer_bytes);
    config->write_buffer_bytes = point->write_buffer_bytes;
    rig_set_cache(rig, point->cache);
    config->flags = point->flags;
    config->lock = hook_lock;
    config->unlock = hook_unlock;
    config->progress = hook_progress;
    config->hook_context = rig;
}

static struct rig *make_rig(const struct rig_point *point, struct nor *nor)
{
    struct rig *rig = calloc(1, sizeof *rig);
    const struct fffs_flash *under = nor_flash(nor);

    if (rig == NULL) { abort(); }
    rig->point = *point;
    rig->nor = nor;
    rig->flash = *under;
    rig->flash.read = tap_read;
    rig->flash.program = tap_program;
    rig->flash.erase = tap_erase;
    rig->flash.sync = tap_sync;
    rig->flash.is_blank = under->is_blank != NULL ? tap_is_blank : NULL;
    rig->flash.map = under->map != NULL ? tap_map : NULL;
    rig->flash.context = rig;
    rig->call_budget = UINT64_MAX;
    rig->dead = -1;
    fill_geometry(point, &rig->format);
    CHECK_OK(fffs_format_plan(&rig->flash, &rig->format, &rig->geometry));
    fill_config(rig);
    rig->fs = calloc(1, sizeof *rig->fs);
    if (rig->fs == NULL) { abort(); }
    return rig;
}

struct rig *rig_create(const struct rig_point *point)
{
    struct nor_config config;
    fill_nor_config(point, &config);
    return make_rig(point, nor_create(&config));
}

struct rig *rig_mounted(const struct rig_point *point)
{
    struct rig *rig = rig_create(point);
    CHECK_OK(rig_format(rig));
    CHECK_OK(rig_mount(rig));
    return rig;
}

struct rig *rig_clone(struct rig *rig)
{
    struct rig *clone = make_rig(&rig->point, nor_clone(rig->nor));

    clone->format = rig->format;
    clone->geometry = rig->geometry;
    rig_set_table(clone, rig->config.segment_table_entries);
    rig_set_cache_bytes(clone, rig->config.cache_bytes);
    return clone;
}

void rig_destroy(struct rig *rig)
{
    size_t i;
    nor_destroy(rig->nor);
    for (i = 0; i < sizeof rig->blocks / sizeof rig->blocks[0]; i++) { free(rig->blocks[i]); }
    free(rig->fs);
    free(rig);
}

/* ---- Volume ---- */

int rig_format(struct rig *rig)
{
    int status = fffs_format(rig->fs, &rig->config, &rig->format);
    CHECK_EQ(rig->lock_depth, 0);
    return status;
}

int rig_mount_flags(struct rig *rig, uint32_t flags)
{
    int status;
    rig->config.flags = flags;
    status = fffs_mount(rig->fs, &rig->config);
    CHECK_EQ(rig->lock_depth, 0);
    rig->mounted = status == FFFS_OK;
    return status;
}

int rig_mount(struct rig *rig) { return rig_mount_flags(rig, rig->point.flags); }

int rig_unmount(struct rig *rig)
{
    int status = fffs_unmount(rig->fs);
    CHECK_EQ(rig->lock_depth, 0);
    if (status != FFFS_ERR_BUSY) { rig->mounted = 0; }
    return status;
}

void rig_crash(struct rig *rig)
{
    uint32_t cache_bytes = rig->config.cache_bytes;

    memset(rig->fs, 0, sizeof *rig->fs);
    memset(rig->config.scratch, 0x5A, rig->config.scratch_bytes);
    memset(rig->config.segment_table, 0x5A, rig->config.segment_table_entries * 2u);
    if (cache_bytes != 0) { memset(rig->config.cache, 0x5A, cache_bytes); }
    if (rig->config.write_buffer_bytes != 0) { memset(rig->config.write_buffer, 0x5A, rig->config.write_buffer_bytes); }
    rig->mounted = 0;
    rig->lock_depth = 0;
}

void rig_power_on(struct rig *rig)
{
    nor_cut_at(rig->nor, UINT64_MAX, 0);
    nor_power_on(rig->nor);
}

void rig_restart(struct rig *rig)
{
    rig_crash(rig);
    CHECK_OK(rig_mount(rig));
}

void rig_remount(struct rig *rig)
{
    CHECK_OK(rig_unmount(rig));
    rig_crash(rig);
    CHECK_OK(rig_mount(rig));
}

struct first_finding { int count; struct fffs_finding finding; };

static void keep_first(void *context, const struct fffs_finding *finding)
{
    struct first_finding *first = context;
    if (first->count++ == 0) { first->finding = *finding; }
}

void rig_check(struct rig *rig)
{
    struct first_finding first;
    int found;

    memset(&first, 0, sizeof first);
    found = fffs_check(rig->fs, keep_first, &first);
    if (found < 0) { CHECK_OK(found); }
    if (found > 0 || first.count > 0) {
        harness_fail(__FILE__, __LINE__, "fffs_check: %d findings, first I%d at %#x, file \"%s\": %s", found,
                     first.finding.invariant, (unsigned)first.finding.address, first.finding.name,
                     first.finding.text != NULL ? first.finding.text : "");
    }
}

void rig_count(struct rig *rig) { memset(&rig->tap, 0, sizeof rig->tap); }
uint64_t rig_reads(const struct rig *rig) { return rig->tap.calls[NOR_READ]; }
uint64_t rig_programs(const struct rig *rig) { return rig->tap.calls[NOR_PROGRAM]; }
uint64_t rig_erases(const struct rig *rig) { return rig->tap.calls[NOR_ERASE]; }
uint64_t rig_changes(const struct rig *rig) { return rig_programs(rig) + rig_erases(rig); }

/* ---- Files ---- */

struct rig_file *rig_file_new(struct rig *rig)
{
    struct rig_file *handle = calloc(1, sizeof *handle);
    if (handle == NULL) { abort(); }
    handle->rig = rig;
    handle->file = calloc(1, sizeof *handle->file);
    handle->buffer_bytes = rig->point.file_buffer_bytes;
    handle->buffer = malloc(handle->buffer_bytes);
    if (handle->file == NULL || handle->buffer == NULL) { abort(); }
    return handle;
}

void rig_file_free(struct rig_file *handle)
{
    free(handle->file);
    free(handle->buffer);
    free(handle);
}

int rig_open(struct rig_file *handle, const char *name, unsigned flags)
{
    return fffs_open(handle->rig->fs, handle->file, name, flags, handle->buffer, handle->buffer_bytes);
}

/* One gc step; 0 when there was nothing to do. */
static int step_gc(struct rig *rig)
{
    int action = fffs_gc_step(rig->fs, NULL, NULL);
    if (action < 0 && !nor_is_off(rig->nor) && !rig->fail_hit) { CHECK_OK(action); }
    return action > FFFS_GC_IDLE;
}

int32_t rig_write(struct rig_file *handle, const void *data, uint32_t bytes)
{
    int32_t result = fffs_write(handle->rig->fs, handle->file, data, bytes);
    while (result == FFFS_ERR_COLLECT_FIRST && step_gc(handle->rig)) {
        result = fffs_write(handle->rig->fs, handle->file, data, bytes);
    }
    return result;
}

int rig_close(struct rig_file *handle)
{
    int result = fffs_close(handle->rig->fs, handle->file);
    while (result == FFFS_ERR_COLLECT_FIRST && step_gc(handle->rig)) {
        result = fffs_close(handle->rig->fs, handle->file);
    }
    return result;
}

const uint8_t *rig_data(uint32_t seed)
{
    enum { SPARE = 65536 };
    static uint8_t *pool;

    if (pool == NULL) {
        struct rng rng = { 20260101 };
        size_t i;
        pool = malloc(RIG_DATA_BYTES + SPARE);
        if (pool == NULL) { abort(); }
        for (i = 0; i < RIG_DATA_BYTES + SPARE; i += 8) {
            uint64_t value = rng_next(&rng);
            memcpy(pool + i, &value, 8);
        }
    }
    return pool + (seed * 7919u) % SPARE;
}

int rig_put_in(struct rig *rig, const char *name, const void *data, uint32_t bytes, uint32_t chunk)
{
    struct rig_file *handle = rig_file_new(rig);
    int status = rig_open(handle, name, RIG_WRITER);
    uint32_t done;

    if (status != FFFS_OK) {
        rig_file_free(handle);
        return status;
    }
    for (done = 0; done < bytes; done += chunk) {
        uint32_t n = bytes - done < chunk ? bytes - done : chunk;
        int32_t written = rig_write(handle, (const uint8_t *)data + done, n);
        if (written != (int32_t)n) {
            CHECK(written < 0);
            CHECK_OK(fffs_discard(rig->fs, handle->file));
            rig_file_free(handle);
            return written;
        }
    }
    status = rig_close(handle);
    if (status == FFFS_ERR_COLLECT_FIRST) { CHECK_OK(fffs_discard(rig->fs, handle->file)); }
    else { CHECK_STATUS(fffs_discard(rig->fs, handle->file), FFFS_ERR_NOT_OPEN); }
    rig_file_free(handle);
    return status;
}

int rig_put(struct rig *rig, const char *name, const void *data, uint32_t bytes)
{
    return rig_put_in(rig, name, data, bytes, 1024);
}

int rig_rename(struct rig *rig, const char *from, const char *to)
{
    int status = fffs_rename(rig->fs, from, to);
    while (status == FFFS_ERR_COLLECT_FIRST && step_gc(rig)) { status = fffs_rename(rig->fs, from, to); }
    return status;
}

/* 1 the open reader yields exactly this, 0 other bytes, else a status. */
static int compare_reader(struct rig_file *handle, const uint8_t *data, uint32_t bytes)
{
    static uint8_t chunk[5000];
    uint32_t done = 0, step = 100 + (bytes * 31u) % 4900u;

    for (;;) {
        int32_t n = fffs_read(handle->rig->fs, handle->file, chunk, step);
        if (n < 0) { return n; }
        if (n == 0) { return done == bytes; }
        if ((uint32_t)n > bytes - done || memcmp(chunk, data + done, (size_t)n) != 0) { return 0; }
        done += (uint32_t)n;
    }
}

int rig_holds(struct rig *rig, const char *name, const void *data, uint32_t bytes)
{
    struct rig_file *handle = rig_file_new(rig);
    int result = rig_open(handle, name, FFFS_READ);

    if (result == FFFS_OK) {
        struct fffs_info info;
        result = fffs_fstat(rig->fs, handle->file, &info);
        if (result == FFFS_OK) {
            result = info.size == bytes && strcmp(info.name, name) == 0;
            if (result == 1) { result = compare_reader(handle, data, bytes); }
        }
        CHECK_OK(fffs_close(rig->fs, handle->file));
    }
    rig_file_free(handle);
    return result;
}

void rig_expect(struct rig *rig, const char *name, const void *data, uint32_t bytes)
{
    int result = rig_holds(rig, name, data, bytes);
    if (result == 0) { harness_fail(__FILE__, __LINE__, "\"%s\" does not hold its %u bytes", name, (unsigned)bytes); }
    if (result < 0) {
        harness_fail(__FILE__, __LINE__, "\"%s\" of %u bytes answers %s", name, (unsigned)bytes, fffs_status_name(result));
    }
}

void rig_expect_missing(struct rig *rig, const char *name)
{
    struct rig_file *handle = rig_file_new(rig);
    struct fffs_info info;
    CHECK_EQ(fffs_exists(rig->fs, name), 0);
    CHECK_STATUS(fffs_stat(rig->fs, name, &info), FFFS_ERR_NOT_FOUND);
    CHECK_STATUS(rig_open(handle, name, FFFS_READ), FFFS_ERR_NOT_FOUND);
    rig_file_free(handle);
}

int rig_names(struct rig *rig, const char *prefix)
{
    struct fffs_dir *dir = calloc(1, sizeof *dir);
    char (*names)[FFFS_NAME_MAX + 1] = NULL;
    int count = 0, i, more;
    struct fffs_info info;

    if (dir == NULL) { abort(); }
    CHECK_OK(fffs_dir_open(rig->fs, dir, prefix, 0));
    while ((more = fffs_dir_read(rig->fs, dir, &info)) == 1) {
        CHECK(strncmp(info.name, prefix, strlen(prefix)) == 0);
        CHECK_EQ(strlen(info.name), info.name_length);
        CHECK_EQ(info.is_folder, 0);
        for (i = 0; i < count; i++) {
            if (strcmp(names[i], info.name) == 0) { harness_fail(__FILE__, __LINE__, "\"%s\" is listed twice", info.name); }
        }
        names = realloc(names, (size_t)(count + 1) * sizeof *names);
        if (names == NULL) { abort(); }
        memcpy(names[count++], info.name, sizeof info.name);
    }
    CHECK_OK(more);
    CHECK_OK(fffs_dir_close(rig->fs, dir));
    free(names);
    free(dir);
    return count;
}

struct fffs_space rig_space(struct rig *rig)
{
    struct fffs_space space;
    memset(&space, 0xEE, sizeof space);
    CHECK_OK(fffs_space(rig->fs, &space));
    return space;
}

uint32_t rig_capacity(struct rig *rig) { return rig_space(rig).capacity_bytes; }

uint32_t rig_overhead(const struct rig *rig)
{
    uint32_t align = rig->point.sector_bytes / 256;

    if (align < rig->point.granule_bytes) { align = rig->point.granule_bytes; }
    return 18 + 8 + 2 * align;  /* node, a short name, rounding */
}

uint32_t rig_share(struct rig *rig, uint32_t count, uint32_t limit)
{
    uint32_t each = rig_capacity(rig) / count, overhead = rig_overhead(rig), size;

    size = each > overhead ? each - overhead : 0;
    size -= (size + 32) / 33;   /* footprints are rounded up by 1/32 */
    return size < limit ? size : limit;
}

uint32_t rig_name_max(struct rig *rig)
{
    char name[FFFS_NAME_MAX + 1];
    struct rig_file *handle = rig_file_new(rig);
    uint32_t length = FFFS_NAME_MAX;

    for (;; length--) {
        int status;
        CHECK(length > 0);
        memset(name, 'm', length);
        name[length] = '\0';
        status = rig_open(handle, name, RIG_WRITER);
        if (status == FFFS_OK) { break; }
        CHECK_STATUS(status, FFFS_ERR_NAME_TOO_LONG);
    }
    CHECK_OK(fffs_discard(rig->fs, handle->file));
    rig_file_free(handle);
    return length;
}

/* random:point=P:seed=N:steps=N */
int rig_replay(const char *what)
{
    char point_text[128];
    unsigned long long seed;
    unsigned steps;
    struct rig_point point;

    if (sscanf(what, "random:point=%127[^:]:seed=%llu:steps=%u", point_text, &seed, &steps) != 3
        || !rig_point_parse(&point, point_text)) {
        fprintf(stderr, "--replay random:point=POINT:seed=N:steps=N\n");
        return 2;
    }
    random_model_run(&point, seed, steps, 1);
    printf("1 passed, 0 failed\n");
    return 0;
}

/* The ordered hash table against a plain array, at every load and with clustered slots. */
#include <stdlib.h>
#include <string.h>
#include "harness.h"
#include "src/index_cache.h"

struct cache_rig {
    struct fffs fs;
    struct fffs_config config;
    struct fffs_record *model;      /* by slot; head 0: absent */
    uint32_t present;
};

static void make(struct cache_rig *rig, uint32_t cells)
{
    memset(rig, 0, sizeof *rig);
    rig->config.cache = malloc((size_t)cells * sizeof(struct fffs_record));
    rig->config.cache_bytes = cells * (uint32_t)sizeof(struct fffs_record);
    rig->fs.config = &rig->config;
    rig->fs.cache_cells = cells;
    rig->model = calloc(65536, sizeof *rig->model);
    CHECK(rig->config.cache != NULL && rig->model != NULL);
    memset(rig->config.cache, 0xEE, rig->config.cache_bytes);
    fffs_cache_clear(&rig->fs);
}

static void drop(struct cache_rig *rig)
{
    free(rig->config.cache);
    free(rig->model);
}

static void put(struct cache_rig *rig, uint16_t slot, uint16_t head)
{
    struct fffs_record record = { 0, 0, 0, 0, 0, 0 };
    int fits = rig->model[slot].head != 0 || rig->present < rig->fs.cache_cells;

    record.slot = slot;
    record.head = head;
    record.tag = (uint8_t)(head * 7u);
    CHECK_EQ(fffs_cache_put(&rig->fs, &record), fits);
    if (fits) {
        rig->present += rig->model[slot].head == 0;
        rig->model[slot] = record;
    }
}

static void take(struct cache_rig *rig, uint16_t slot)
{
    fffs_cache_remove(&rig->fs, slot);
    rig->present -= rig->model[slot].head != 0;
    rig->model[slot].head = 0;
}

static void compare_find(struct cache_rig *rig, uint16_t slot)
{
    const struct fffs_record *found = fffs_cache_find(&rig->fs, slot);
    if (rig->model[slot].head == 0) {
        CHECK(found == NULL);
        return;
    }
    CHECK(found != NULL);
    CHECK_MEM(found, &rig->model[slot], sizeof *found);
}

static void compare_next(struct cache_rig *rig, uint16_t base, uint32_t from, uint32_t to)
{
    const struct fffs_record *found = fffs_cache_next(&rig->fs, base, from, to);
    uint32_t place = from;

    while (place < to && rig->model[(uint16_t)(base + place)].head == 0) { place++; }
    harness_note("cells %u, base %u, %u..%u", (unsigned)rig->fs.cache_cells, (unsigned)base, (unsigned)from, (unsigned)to);
    if (place == to) {
        CHECK(found == NULL);
        return;
    }
    CHECK(found != NULL);
    CHECK_EQ(found->slot, (uint16_t)(base + place));
}

static void compare_all(struct cache_rig *rig)
{
    uint32_t cursor = 0, count = 0;

    CHECK_EQ(rig->fs.cache_used, rig->present);
    for (;;) {
        const struct fffs_record *found = cursor < 65536 ? fffs_cache_next(&rig->fs, 0, cursor, 65536) : NULL;
        if (found == NULL) { break; }
        CHECK(found->slot >= cursor);
        CHECK(rig->model[found->slot].head != 0);
        cursor = found->slot + 1u;
        count++;
    }
    CHECK_EQ(count, rig->present);
}

/* Slots are drawn from `spread` values around `centre`, so that runs form and wrap. */
static void run(uint32_t cells, uint32_t centre, uint32_t spread, unsigned steps)
{
    struct cache_rig rig;
    struct rng rng = { cells * 31u + centre + spread };
    unsigned i;

    make(&rig, cells);
    for (i = 0; i < steps; i++) {
        uint16_t slot = (uint16_t)(centre + rng_below(&rng, spread));
        uint32_t dice = rng_below(&rng, 100);
        if (dice < 50) { put(&rig, slot, (uint16_t)(1 + rng_below(&rng, 65535))); }
        else if (dice < 85) { take(&rig, slot); }
        else {
            uint32_t from = rng_below(&rng, 60);
            compare_next(&rig, slot, from, from + 1 + rng_below(&rng, 64));
            if (dice > 97) { compare_next(&rig, slot, rng_below(&rng, 65536), 65536); }
        }
        compare_find(&rig, slot);
        compare_find(&rig, (uint16_t)(slot + 1));
        if (i % 500 == 0) { compare_all(&rig); }
    }
    compare_all(&rig);
    fffs_cache_clear(&rig.fs);
    memset(rig.model, 0, 65536 * sizeof *rig.model);
    rig.present = 0;
    compare_all(&rig);
    drop(&rig);
}

TEST(cache_matches_model_small_tables)
{
    uint32_t cells;
    for (cells = 1; cells <= 20; cells++) {
        run(cells, 100, 50, 2000);
        run(cells, 65530, 40, 2000);
        run(cells, 0, 65536, 2000);
    }
}

TEST(cache_matches_model_usual_tables)
{
    run(100, 0, 65536, 4000);
    run(130, 65500, 200, 6000);
    run(1000, 0, 65536, 8000);
    run(1024, 64000, 3000, 8000);
    run(1280, 30000, 1300, 8000);
}

TEST(cache_matches_model_full_table)
{
    run(65536, 0, 65536, 4000);
    run(65536, 65000, 1000, 4000);
    run(65535, 65000, 1000, 4000);
    run(40000, 65000, 1000, 4000);
}

TEST(cache_fills_to_the_last_cell)
{
    struct cache_rig rig;
    uint32_t i;

    make(&rig, 64);
    for (i = 0; i < 64; i++) { put(&rig, (uint16_t)(i * 977), 5); }
    put(&rig, 3, 5);            /* refused */
    put(&rig, 977, 9);          /* a replacement fits */
    compare_all(&rig);
    for (i = 0; i < 65536; i++) { compare_find(&rig, (uint16_t)i); }
    for (i = 0; i < 300; i++) { compare_next(&rig, (uint16_t)(i * 219), 0, 50); }
    for (i = 0; i < 64; i += 2) { take(&rig, (uint16_t)(i * 977)); }
    compare_all(&rig);
    drop(&rig);
}

TEST(cache_without_cells_is_empty)
{
    struct fffs fs;
    struct fffs_config config;
    struct fffs_record record = { 5, 5, 0, 0, 0, 0 };

    memset(&fs, 0, sizeof fs);
    memset(&config, 0, sizeof config);
    fs.config = &config;
    fffs_cache_clear(&fs);
    CHECK_EQ(fffs_cache_put(&fs, &record), 0);
    CHECK(fffs_cache_find(&fs, 5) == NULL);
    CHECK(fffs_cache_next(&fs, 0, 0, 65536) == NULL);
    fffs_cache_remove(&fs, 5);
}

SUITE(index_cache)
{
    RUN(cache_matches_model_small_tables);
    RUN(cache_matches_model_usual_tables);
    RUN(cache_matches_model_full_table);
    RUN(cache_fills_to_the_last_cell);
    RUN(cache_without_cells_is_empty);
}

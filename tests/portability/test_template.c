/* ports/template: the smallest port works on an emulated chip with page wrap, and its self-test finds what is wrong with
 * deliberately wrong drivers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "ports/template/chip.h"
#include "ports/template/main.c"
#include "ports/template/port.c"
#include "ports/template/selftest.c"

/* ---- A chip with commands, for the port: 4 MiB, pages wrap, erase addresses are masked ---- */

enum { CHIP_BYTES = 4 << 20 };
static uint8_t *chip;
static uint32_t chip_time_us;

int chip_read(uint32_t address, void *buffer, uint32_t bytes)
{
    chip_time_us += 5 + bytes / 10u;
    memcpy(buffer, chip + address, bytes);
    return 0;
}

int chip_program_page(uint32_t address, const void *data, uint32_t bytes)
{
    const uint8_t *from = data;
    uint32_t page = address - address % PAGE_BYTES, i;

    chip_time_us += 20 + bytes * 16u / 10u;
    for (i = 0; i < bytes; i++) {
        uint8_t *to = chip + page + (address + i) % PAGE_BYTES;
        *to = (uint8_t)(*to & from[i]);
    }
    return 0;
}

static int chip_erase(uint32_t address, uint32_t bytes, uint32_t us)
{
    chip_time_us += us;
    memset(chip + (address - address % bytes), 0xFF, bytes);
    return 0;
}

int chip_erase_small(uint32_t address) { return chip_erase(address, ERASE_BYTES, 45000); }
int chip_erase_block(uint32_t address) { return chip_erase(address, BLOCK_BYTES, 150000); }

static uint32_t chip_now(void) { return chip_time_us; }

static char printed[16384];

static void keep(const char *text)
{
    size_t length = strlen(printed);
    CHECK(length + strlen(text) < sizeof printed);
    memcpy(printed + length, text, strlen(text) + 1);
}

TEST(template_port_passes_and_stores_a_file)
{
    struct selftest test = { .flash = &port_flash, .print = keep };
    uint32_t i;

    chip = malloc(CHIP_BYTES);
    CHECK(chip != NULL);
    memset(chip, 0x5A, CHIP_BYTES);
    printed[0] = 0;
    if (first_light(keep, chip_now) != 0) { harness_fail(__FILE__, __LINE__, "%s", printed); }
    CHECK(strstr(printed, "volume: a file was written") != NULL);
    CHECK(strstr(printed, "note") == NULL);
    for (i = 0; i < PARTITION_OFFSET; i++) { CHECK_EQ(chip[i], 0x5A); }
    for (i = PARTITION_OFFSET + PARTITION_BYTES; i < CHIP_BYTES; i++) { CHECK_EQ(chip[i], 0x5A); }
    CHECK_EQ(selftest_run(&test), 1); /* it does not start unasked */
    free(chip);
}

/* ---- Drivers with one thing wrong ---- */

enum wrong {
    RIGHT, PAGE_WRAP, PAGE_CUT, ERASES_NOTHING, ERASES_ONE_UNIT, ERASE_TOO_LARGE, PROGRAM_SETS_BITS,
    PROGRAM_ERASES_FIRST, ADDRESS_16_BITS, BUSY_AFTER_PROGRAM, LAST_BYTE_LOST, READ_ALIGNED, READ_ROUNDS_UP, SOURCE_ALIGNED,
    GRANULE_TOO_SMALL, PADS_WITH_ZERO, NO_WRITE_ENABLE, BLANK_ALWAYS, BLANK_NEVER, MAP_OFFSET, OFFSET_NOT_TOLD, ERASED_IS_ZERO,
    SIZE_TOO_LARGE, ERASE_TAKES_NO_TIME, CACHE_NOT_WRITTEN, SYNC_FAILS, LENGTH_LIMIT, WRONGS
};

struct bad {
    enum wrong wrong;
    uint8_t *bytes;
    uint8_t *before;             /* contents before the last program */
    int busy, enabled;
    uint32_t time_us, size, granule, shift;
    struct fffs_flash flash;
};

static struct bad *bad;
enum { BAD_BYTES = 1 << 19, BAD_UNIT = 4096 };

static uint8_t bad_raw(uint32_t at) { return bad->wrong == ERASED_IS_ZERO ? (uint8_t)~bad->bytes[at] : bad->bytes[at]; }

static int bad_read(void *context, uint32_t address, void *buffer, uint32_t bytes)
{
    uint8_t *to = buffer;
    uint32_t i;

    (void)context;
    bad->time_us += 5 + bytes / 10u;
    if (bad->wrong == ADDRESS_16_BITS) { address &= 0xFFFFu; }
    if (bad->wrong == SIZE_TOO_LARGE) { address %= BAD_BYTES / 2; }
    if (bad->wrong == READ_ALIGNED) { address &= ~3u; }
    if (bad->wrong == READ_ROUNDS_UP) { bytes = (bytes + 3u) & ~3u; }
    if (address + bytes > bad->size) { return 1; }
    for (i = 0; i < bytes; i++) { to[i] = bad->busy ? bad->before[address + i] : bad_raw(address + i); }
    bad->busy = 0;
    return 0;
}

static void bad_byte(uint32_t at, uint8_t value)
{
    if (bad->wrong == PROGRAM_SETS_BITS || bad->wrong == PROGRAM_ERASES_FIRST) { bad->bytes[at] = value; }
    else { bad->bytes[at] = (uint8_t)(bad->bytes[at] & value); }
}

static int bad_program(void *context, uint32_t address, const void *data, uint32_t bytes)
{
    const uint8_t *from = data;
    uint32_t i, page = address - address % 256u;

    (void)context;
    CHECK_EQ(address % bad->granule, 0);
    CHECK_EQ(bytes % bad->granule, 0);
    bad->time_us += 20 + bytes * 16u / 10u;
    if (bad->wrong == LENGTH_LIMIT && bytes > 256) { return 1; }
    if (bad->wrong == ADDRESS_16_BITS) { address &= 0xFFFFu; page &= 0xFFFFu; }
    if (bad->wrong == SIZE_TOO_LARGE) { address %= BAD_BYTES / 2; page %= BAD_BYTES / 2; }
    if (bad->wrong == SOURCE_ALIGNED) { from = (const uint8_t *)((uintptr_t)from & ~(uintptr_t)3); }
    if (bad->wrong == NO_WRITE_ENABLE && !bad->enabled) { return 0; }
    bad->enabled = bad->wrong != NO_WRITE_ENABLE;
    if (bad->wrong == BUSY_AFTER_PROGRAM) { memcpy(bad->before, bad->bytes, bad->size); bad->busy = 1; }
    if (bad->wrong == PROGRAM_ERASES_FIRST) { memset(bad->bytes + (address - address % BAD_UNIT), 0xFF, BAD_UNIT); }
    if (bad->wrong == GRANULE_TOO_SMALL) { /* real granule 8: programming part of it again fails */
        for (i = address - address % 8u; i < ((address + bytes + 7u) & ~7u); i++) { if (bad->bytes[i] != 0xFF) { return 1; } }
    }
    if (bad->wrong == LAST_BYTE_LOST && bytes > 1) { bytes--; }
    for (i = 0; i < bytes && address + i < bad->size; i++) {
        uint32_t at = address + i;
        if (bad->wrong == PAGE_WRAP) { at = page + at % 256u; }
        if (bad->wrong == PAGE_CUT && at >= page + 256u) { break; }
        bad_byte(at, from[i]);
    }
    if (bad->wrong == PADS_WITH_ZERO) { for (; (address + i) % 4u != 0; i++) { bad_byte(address + i, 0); } }
    return 0;
}

static int bad_erase(void *context, uint32_t address, uint32_t bytes)
{
    uint32_t low = address, length = bytes;

    (void)context;
    if (bad->wrong == ADDRESS_16_BITS) { low &= 0xFFFFu; }
    if (bad->wrong == SIZE_TOO_LARGE) { low %= BAD_BYTES / 2; }
    if (bad->wrong != ERASE_TAKES_NO_TIME) { bad->time_us += bytes >= 65536u ? 150000u : 45000u * ((bytes + BAD_UNIT - 1u) / BAD_UNIT); }
    if (bad->wrong == ERASES_NOTHING) { return 0; }
    if (bad->wrong == ERASES_ONE_UNIT) { length = BAD_UNIT; }
    if (bad->wrong == ERASE_TOO_LARGE) { low -= low % (2u * BAD_UNIT); length = (bytes + 2u * BAD_UNIT - 1u) / (2u * BAD_UNIT) * 2u * BAD_UNIT; }
    if (bad->wrong == OFFSET_NOT_TOLD && bytes == 65536u) { low -= (low + bad->shift) % 65536u; } /* the chip's own grid */
    if (bad->wrong == NO_WRITE_ENABLE) { bad->enabled = 1; }
    if (low + length > bad->size) { length = bad->size - low; }
    memset(bad->bytes + low, 0xFF, length);
    bad->busy = 0;
    return 0;
}

static int bad_sync(void *context) { (void)context; return bad->wrong == SYNC_FAILS ? -1 : 0; }

static int bad_is_blank(void *context, uint32_t address, uint32_t bytes)
{
    uint32_t i;

    (void)context;
    if (bad->wrong == BLANK_ALWAYS) { return 1; }
    if (bad->wrong == BLANK_NEVER) { return 0; }
    for (i = 0; i < bytes; i++) { if (bad->bytes[address + i] != 0xFF) { return 0; } }
    return 1;
}

static const void *bad_map(void *context, uint32_t address, uint32_t bytes)
{
    (void)context;
    (void)bytes;
    return bad->bytes + address + (bad->wrong == MAP_OFFSET);
}

static uint32_t bad_now(void) { return bad->time_us; }

/* What a failure of each must say. */
static const struct { const char *rule; uint8_t granule; } expected[WRONGS] = {
    { NULL, 1 }, { "a long program arrives whole", 1 }, { "a long program arrives whole", 1 }, { "erase sets", 1 },
    { "erase sets every byte of every unit", 1 }, { "erase leaves the units before and behind alone", 1 },
    { "program clears bits only", 1 }, { "what was programmed reads back", 1 }, { "", 1 },
    { "what was programmed reads back", 1 }, { "what was programmed reads back", 1 }, { "reads of any address", 1 },
    { "reads write only the bytes asked for", 1 }, { "programs from any place in memory", 1 },
    { "single granules can be programmed in any order", 2 }, { "a program of one granule changes that granule only", 1 },
    { "what was programmed reads back", 1 }, { "is_blank tells programmed flash", 1 }, { "erase sets every byte", 1 },
    { "map shows what read reads", 1 }, { "erase of a larger block", 1 }, { "erase sets every byte of every unit", 1 },
    { "", 1 }, { "an erase takes time", 1 }, { NULL, 1 }, { "sync returns 0", 1 }, { "a long program that begins inside a page", 1 }
};

static uint32_t run_bad(enum wrong wrong, uint32_t granule_bytes, uint32_t unit_bytes)
{
    struct selftest test = { .print = keep, .now_us = bad_now, .erase_everything = 1 };
    uint32_t failures;

    bad = calloc(1, sizeof *bad);
    CHECK(bad != NULL);
    bad->wrong = wrong;
    bad->size = BAD_BYTES;
    bad->granule = granule_bytes;
    bad->shift = wrong == OFFSET_NOT_TOLD ? 3u * BAD_UNIT : 0;
    bad->bytes = malloc(BAD_BYTES + 1);
    bad->before = malloc(BAD_BYTES);
    CHECK(bad->bytes != NULL && bad->before != NULL);
    memset(bad->bytes, 0x21, BAD_BYTES + 1);
    bad->flash = (struct fffs_flash) {
        .read = bad_read, .program = bad_program, .erase = bad_erase, .size_bytes = BAD_BYTES, .granule_bytes = granule_bytes,
        .erase_bytes = { unit_bytes, unit_bytes < 65536u ? 65536u : 0 }, .erase_us = { 45000, 150000 }, .program_call_us = 20,
        .program_byte_ns = 1600, .read_call_us = 5, .read_byte_ns = 100 };
    if (wrong == RIGHT || wrong >= BLANK_ALWAYS) {
        bad->flash.is_blank = wrong == RIGHT || wrong == BLANK_ALWAYS || wrong == BLANK_NEVER ? bad_is_blank : NULL;
        bad->flash.map = bad_map;
        bad->flash.sync = bad_sync;
    }
    if (wrong == ERASED_IS_ZERO) { bad->flash.map = NULL; }
    test.flash = &bad->flash;
    printed[0] = 0;
    failures = selftest_run(&test);
    if (failures == 0 && wrong == CACHE_NOT_WRITTEN) { memset(bad->bytes, 0xFF, BAD_BYTES); } /* what power off leaves */
    if (failures == 0 && (wrong == RIGHT || wrong == CACHE_NOT_WRITTEN)) { failures = selftest_after_power_off(&test); }
    free(bad->before);
    free(bad->bytes);
    free(bad);
    return failures;
}

TEST(selftest_accepts_right_drivers)
{
    static const uint16_t granules[] = { 1, 2, 4, 8, 16, 32, 128, 256 };
    static const uint32_t units[] = { 256, 1024, 4096, 65536 };
    unsigned i, j;

    for (i = 0; i < sizeof granules / sizeof granules[0]; i++) {
        for (j = 0; j < sizeof units / sizeof units[0]; j++) {
            /* Two units hold sixteen granules and a few: smaller ones are no flash that exists. */
            if (units[j] < 16u * granules[i]) { continue; }
            harness_note("granule %u, unit %lu", granules[i], (unsigned long)units[j]);
            if (run_bad(RIGHT, granules[i], units[j]) != 0) { harness_fail(__FILE__, __LINE__, "%s", printed); }
            CHECK(strstr(printed, "note") == NULL || units[j] != BAD_UNIT);
        }
    }
}

TEST(selftest_finds_wrong_drivers)
{
    int wrong;

    for (wrong = RIGHT + 1; wrong < WRONGS; wrong++) {
        const char *rule = expected[wrong].rule;

        harness_note("wrong driver %d: %s", wrong, printed);
        CHECK(run_bad((enum wrong)wrong, expected[wrong].granule, BAD_UNIT) > 0);
        CHECK(strstr(printed, "fix: ") != NULL);
        if (rule != NULL) {
            harness_note("wrong driver %d: %s", wrong, printed);
            CHECK(strncmp(printed, "FAIL ", 5) == 0 && strstr(printed, rule) != NULL);
        }
    }
}

TEST(selftest_finds_wrong_declarations)
{
    static const struct { uint32_t granule, unit, second, size, offset; } cases[] = {
        { 3, 4096, 0, 65536, 0 }, { 512, 4096, 0, 65536, 0 }, { 1, 5000, 0, 65536, 0 }, { 1, 4096, 4096, 65536, 0 },
        { 1, 4096, 0, 65000, 0 }, { 1, 4096, 0, 4096, 0 }, { 1, 4096, 65536, 1048576, 100 }, { 1, 0, 0, 65536, 0 },
        { 1, 4096, 1024, 65536, 0 }
    };
    struct fffs_flash flash = port_flash;
    struct selftest test = { .flash = &flash, .print = keep, .erase_everything = 1 };
    unsigned i;

    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        harness_note("declaration %u", i);
        flash.granule_bytes = cases[i].granule;
        flash.erase_bytes[0] = cases[i].unit;
        flash.erase_bytes[1] = cases[i].second;
        flash.size_bytes = cases[i].size;
        flash.block_offset_bytes = cases[i].offset;
        printed[0] = 0;
        CHECK_EQ(selftest_run(&test), 1); /* stops before the flash is touched: there is none */
    }
    flash = port_flash;
    flash.erase = NULL;
    printed[0] = 0;
    CHECK_EQ(selftest_run(&test), 1);
}

SUITE(template)
{
    RUN(template_port_passes_and_stores_a_file);
    RUN(selftest_accepts_right_drivers);
    RUN(selftest_finds_wrong_drivers);
    RUN(selftest_finds_wrong_declarations);
}

/* A successor that a cut left without a second mark, and that a cut erase has touched since: its copies read right a few
 * times, then otherwise. Each mount works, and shows every committed file. */
#include <stdio.h>
#include <string.h>
#include "emulator/nor_fault.h"
#include "oracle.h"

enum { FILES = 40, HEADER_BYTES = 72 };

/* Reads of these bytes ... */
static uint32_t fickle_low, fickle_high;
/* ... are right so many times. */
static unsigned fickle_after;
static uint8_t fickle_mask;
static int (*read_flash)(void *context, uint32_t address, void *buffer, uint32_t bytes);

static int read_fickle(void *context, uint32_t address, void *buffer, uint32_t bytes)
{
    int result = read_flash(context, address, buffer, bytes);
    uint32_t at = fickle_low + 12;     /* in the second record */

    if (address >= fickle_high || address + bytes <= fickle_low) { return result; }
    if (fickle_after > 0) {
        fickle_after--;
        return result;
    }
    if (address <= at && at < address + bytes) { ((uint8_t *)buffer)[at - address] ^= fickle_mask; }
    return result;
}

static uint32_t erased_unit;

static void note_erase(struct rig *rig, enum nor_op op, uint32_t address, uint32_t bytes, const void *buffer)
{
    (void)rig; (void)bytes; (void)buffer;
    if (op == NOR_ERASE) { erased_unit = address; }
}

/* An erase makes bits sure again. */
static void end_fickle(struct rig *rig, enum nor_op op, uint32_t address, uint32_t bytes, const void *buffer)
{
    (void)rig; (void)bytes; (void)buffer;
    if (op == NOR_ERASE && address == erased_unit) { fickle_mask = 0; }
}

/* An unclean volume whose recovery was cut before its program number `n`; 0 when it has fewer. */
static int interrupted(const char *point, unsigned n, struct oracle *oracle, struct rig **made)
{
    struct rig *rig = rig_mounted(rig_point_of(point));
    char name[16];
    unsigned i;
    int cut;

    *made = rig;
    oracle_init(oracle);
    for (i = 0; i < FILES; i++) {
        sprintf(name, "f%u", i % 30u);
        CHECK_OK(rig_put(rig, name, rig_data(i), 20 + i));
        oracle_put(oracle, name, rig_data(i), 20 + i);
    }
    rig_crash(rig);
    rig->on_call = note_erase;
    nor_fault_at(rig->nor, n, 1u << NOR_PROGRAM, NOR_FAULT_BEFORE, 1);
    (void)rig_mount(rig);
    cut = nor_is_off(rig->nor);
    nor_fault_clear(rig->nor);
    rig_power_on(rig);
    rig_crash(rig);
    rig->on_call = NULL;
    return cut;
}

static void mount_fickle(const char *point, unsigned n, unsigned after, uint8_t mask, unsigned *runs)
{
    struct oracle oracle;
    struct rig *rig;

    harness_note("cut before program %u, right %u times, mask %02x", n, after, mask);
    if (interrupted(point, n, &oracle, &rig)) {
        ++*runs;
        fickle_low = erased_unit + HEADER_BYTES;
        fickle_high = fickle_low + 8u * 30u;
        fickle_after = after;
        fickle_mask = mask;
        read_flash = rig->flash.read;
        rig->flash.read = read_fickle;
        rig->on_call = end_fickle;
        CHECK_OK(rig_mount(rig));
        rig->flash.read = read_flash;
        rig->on_call = NULL;
        oracle_verify(&oracle, rig);
        rig_restart(rig);
        oracle_verify(&oracle, rig);
    }
    oracle_free(&oracle);
    rig_destroy(rig);
}

static void run(const char *point)
{
    static const uint8_t masks[] = { 0x01, 0x10, 0xFF };
    unsigned n, after, mask, runs = 0;

    for (n = 0; n < 12; n++) {
        for (after = 0; after < 8; after++) {
            for (mask = 0; mask < sizeof masks; mask++) { mount_fickle(point, n, after, masks[mask], &runs); }
        }
    }
    CHECK(runs >= 4 * 8 * 3);   /* copies, header, two marks */
}

TEST(copies_that_change_between_reads_with_a_cache) { run("s4096-g1-n64-hash"); }
TEST(copies_that_change_between_reads_without_cache) { run("s4096-g1-n64-none"); }
TEST(copies_that_change_between_reads_small_scratch) { run("s4096-g1-n64-hash-sc256"); }

SUITE(liquid)
{
    RUN(copies_that_change_between_reads_with_a_cache);
    RUN(copies_that_change_between_reads_without_cache);
    RUN(copies_that_change_between_reads_small_scratch);
}

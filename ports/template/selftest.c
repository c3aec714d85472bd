/* Each test works on erase units at the start, in the middle and at the end of the partition. A test that fails tells what
 * rule is broken and what usually breaks it; later tests are then often failures of the same kind: fix the first one first. */
#include "selftest.h"

#include <string.h>

/* ROOM: what every buffer has more than is read into it or programmed from it, so that a driver which rounds addresses or
 * lengths is told what it does wrong before it breaks the stack of the test. */
enum { CHUNK = 64, LONG = 600, ROOM = 32 };

static const char mark_text[] = "FASTFFS self-test"; /* at the end of the partition, padded to CHUNK bytes */

/* ---- Printing ---- */

static void print_number(struct selftest *test, uint32_t value)
{
    char text[11];
    unsigned at = sizeof text - 1;

    text[at] = 0;
    do {
        text[--at] = (char)('0' + value % 10u);
        value /= 10u;
    } while (value != 0);
    test->print(text + at);
}

static void print_address(struct selftest *test, uint32_t address)
{
    char text[] = "0x00000000";
    unsigned i;

    for (i = 0; i < 8; i++)
        text[9 - i] = "0123456789abcdef"[address >> (i * 4u) & 15u];
    test->print(text);
}

/* One rule: what it is, whether it holds, where it does not, how to mend it. Returns `good`. */
static int judge(struct selftest *test, const char *rule, int good, uint32_t address, const char *fix)
{
    if (good) {
        test->passed++;
        return 1;
    }
    test->failed++;
    test->print("FAIL ");
    test->print(rule);
    test->print(" (at ");
    print_address(test, address);
    test->print(")\n  fix: ");
    test->print(fix);
    test->print("\n");
    return 0;
}

static void warn(struct selftest *test, const char *what, uint32_t measured, uint32_t declared)
{
    test->warned++;
    test->print("note ");
    test->print(what);
    test->print(": measured ");
    print_number(test, measured);
    test->print(", declared ");
    print_number(test, declared);
    test->print("\n");
}

/* ---- The driver ---- */

static uint8_t pattern(uint32_t seed, uint32_t at)
{
    uint32_t mixed = (uint32_t)((at + seed * 977u) * 2654435761u);
    return (uint8_t)(mixed >> 24 ^ mixed >> 11);
}

static int program_pattern(struct selftest *test, uint32_t address, uint32_t bytes, uint32_t seed)
{
    static uint8_t data[LONG + 256 + ROOM];
    uint32_t i;

    for (i = 0; i < bytes; i++)
        data[i] = pattern(seed, i);
    return test->flash->program(test->flash->context, address, data, bytes);
}

/* Whether the bytes are the pattern's; reads in pieces. */
static int holds_pattern(struct selftest *test, uint32_t address, uint32_t bytes, uint32_t seed)
{
    uint8_t data[CHUNK + ROOM];
    uint32_t done, part, i;

    for (done = 0; done < bytes; done += part) {
        part = bytes - done < CHUNK ? bytes - done : CHUNK;
        if (test->flash->read(test->flash->context, address + done, data, part) != 0)
            return 0;
        for (i = 0; i < part; i++)
            if (data[i] != pattern(seed, done + i))
                return 0;
    }
    return 1;
}

/* Address of the first byte that is not blank, or the end. */
static uint32_t first_not_blank(struct selftest *test, uint32_t address, uint32_t end)
{
    uint8_t data[CHUNK + ROOM];
    uint32_t part, i;

    for (; address < end; address += part) {
        part = end - address < CHUNK ? end - address : CHUNK;
        if (test->flash->is_blank != NULL && test->flash->is_blank(test->flash->context, address, part) == 1)
            continue;
        if (test->flash->read(test->flash->context, address, data, part) != 0)
            return address;
        for (i = 0; i < part; i++)
            if (data[i] != 0xFF || test->flash->is_blank != NULL)
                return address + i;
    }
    return end;
}

static int erase(struct selftest *test, uint32_t address, uint32_t bytes)
{
    return test->flash->erase(test->flash->context, address, bytes);
}

static uint32_t unit(const struct selftest *test)
{
    return test->flash->erase_bytes[0];
}

static uint32_t granule(const struct selftest *test)
{
    return test->flash->granule_bytes;
}

static uint32_t round_up(uint32_t value, uint32_t to)
{
    return (value + to - 1u) / to * to;
}

/* ---- Tests ---- */

static int is_power_of_two(uint32_t value)
{
    return value != 0 && (value & (value - 1u)) == 0;
}

static int test_declaration(struct selftest *test)
{
    const struct fffs_flash *flash = test->flash;
    uint32_t failed = test->failed, i;

    judge(test, "read, program and erase are set", flash->read != NULL && flash->program != NULL && flash->erase != NULL, 0,
          "fill the three functions of struct fffs_flash");
    judge(test, "granule_bytes is a power of two, 256 at most", is_power_of_two(granule(test)) && granule(test) <= 256u, 0,
          "set granule_bytes to the smallest unit that can be programmed: 1, 2, 4 ... 256");
    judge(test, "erase_bytes[0] is a power of two, 65536 at most", is_power_of_two(unit(test)) && unit(test) <= 65536u, 0,
          "set erase_bytes[0] to the smallest erase");
    if (test->failed != failed)
        return 0;
    for (i = 1; i < FFFS_FLASH_ERASE_SIZES && flash->erase_bytes[i] != 0; i++)
        judge(test, "erase_bytes[] are powers of two, ascending",
              is_power_of_two(flash->erase_bytes[i]) && flash->erase_bytes[i] > flash->erase_bytes[i - 1], 0,
              "list erase sizes from small to large, then 0");
    judge(test, "size_bytes is a multiple of erase_bytes[0], 8 of them at least",
          flash->size_bytes % unit(test) == 0 && flash->size_bytes / unit(test) >= 8u, 0,
          "set size_bytes to the partition, rounded down to erase_bytes[0]");
    judge(test, "block_offset_bytes is a multiple of erase_bytes[0]", flash->block_offset_bytes % unit(test) == 0, 0,
          "the partition must begin at a multiple of the smallest erase");
    return test->failed == failed;
}

/* Erase sets the unit and nothing else, wherever it lies. */
static void test_erase(struct selftest *test, uint32_t first)
{
    uint32_t low = first + unit(test), high = low + unit(test), end = high + unit(test), edge = round_up(16, granule(test));

    if (!judge(test, "erase of three units in one call returns 0", erase(test, first, 3u * unit(test)) == 0, first,
               "erase any multiple of erase_bytes[0] in one call: loop over the units; wait for the chip with a bound that "
               "its data sheet allows"))
        return;
    judge(test, "erase sets every byte of every unit", first_not_blank(test, first, end) == end,
          first_not_blank(test, first, end),
          "loop over all units of the call; wait until the chip is ready before you return; where erased flash does not read "
          "as 0xFF set is_blank");
    judge(test, "program returns 0",
          program_pattern(test, low - edge, edge, 1) == 0 && program_pattern(test, low, edge, 2) == 0 &&
              program_pattern(test, high - edge, edge, 3) == 0 && program_pattern(test, high, edge, 4) == 0,
          low, "look at write enable, write protection and the status register");
    judge(test, "what was programmed reads back",
          holds_pattern(test, high, edge, 4) && holds_pattern(test, high - edge, edge, 3) && /* the last one first */
              holds_pattern(test, low, edge, 2) && holds_pattern(test, low - edge, edge, 1),
          low, "send write enable before each page and each erase; wait until the chip is ready before you return");
    judge(test, "erase of a programmed unit returns 0", erase(test, low, unit(test)) == 0, low, "see above");
    judge(test, "erase sets a programmed unit", first_not_blank(test, low, high) == high, first_not_blank(test, low, high),
          "send write enable before the erase command; wait until the chip is ready");
    judge(test, "erase leaves the units before and behind alone",
          holds_pattern(test, low - edge, edge, 1) && holds_pattern(test, high, edge, 4), low,
          "use an erase command of exactly erase_bytes[0]; the chip masks the address down to the size of its command");
}

/* Programs touch their granules only, may start and end anywhere on the grid, and cross pages. */
static void test_program(struct selftest *test, uint32_t first)
{
    uint32_t step = granule(test), at, i, long_bytes = round_up(LONG, step);
    uint32_t start = round_up(16u * step + 72u, step); /* behind the single granules, not at the start of a page */
    int good = 1;

    if (erase(test, first, 2u * unit(test)) != 0)
        return;
    /* Granule by granule, backwards, with a gap: neighbours must stay. */
    for (i = 8; i-- > 0; )
        good &= program_pattern(test, first + 2u * i * step, step, i) == 0;
    judge(test, "single granules can be programmed in any order", good, first,
          "granule_bytes may be too small for this flash: on-chip flash with ECC takes 8, 16 or 32 bytes at once");
    for (i = 0, good = 1; i < 8; i++)
        good &= holds_pattern(test, first + 2u * i * step, step, i) &&
                first_not_blank(test, first + (2u * i + 1u) * step, first + (2u * i + 2u) * step) ==
                    first + (2u * i + 2u) * step;
    judge(test, "a program of one granule changes that granule only", good, first,
          "granule_bytes may be too small for this flash; or the driver pads to words with something else than 0xFF; or it "
          "erases or rewrites the sector before it programs: program must do nothing but program");
    if (unit(test) * 2u < start + long_bytes + step)
        long_bytes = unit(test) * 2u - start - step;
    at = first + start;
    judge(test, "a long program that begins inside a page returns 0", program_pattern(test, at, long_bytes, 20) == 0, at,
          "accept every length that is a multiple of granule_bytes");
    judge(test, "a long program arrives whole, across pages", holds_pattern(test, at, long_bytes, 20), at,
          "split programs at page boundaries: inside one command most chips wrap to the start of the page");
    judge(test, "a long program does not touch what is before or behind it",
          first_not_blank(test, at + long_bytes, first + 2u * unit(test)) == first + 2u * unit(test) &&
              holds_pattern(test, first, step, 0),
          at, "split programs at page boundaries: inside one command most chips wrap to the start of the page");
}

/* A second program can only clear bits: where the flash allows one at all. */
static void test_clears_only(struct selftest *test, uint32_t first)
{
    static const uint8_t values[2 * ROOM] = { [ROOM] = 0xF0, [ROOM + 1] = 0x3C };
    uint8_t found[1 + ROOM] = { 0 };

    if (granule(test) != 1u || erase(test, first, unit(test)) != 0)
        return;
    if (test->flash->program(test->flash->context, first, &values[ROOM], 1) != 0 ||
        test->flash->program(test->flash->context, first, &values[ROOM + 1], 1) != 0)
        return; /* refused: as good */
    test->flash->read(test->flash->context, first, found, 1);
    judge(test, "program clears bits only", (found[0] & 0x0Fu) == 0, first,
          "the driver sets bits: it erases and rewrites, or it is no NOR flash. A driver with a cache or a translation layer "
          "below can not be used");
}

static void test_reads(struct selftest *test, uint32_t first)
{
    uint8_t data[CHUNK + ROOM];
    uint32_t at, bytes, i, whole = round_up(64, granule(test));
    int good = 1, clean = 1;

    if (erase(test, first, unit(test)) != 0 || program_pattern(test, first, whole, 30) != 0)
        return;
    for (at = 0; at < 9; at++) {
        for (bytes = 1; bytes < 40; bytes += 3) {
            memset(data, 0xA5, sizeof data);
            good &= test->flash->read(test->flash->context, first + at, data + 1 + at % 4u, bytes) == 0;
            for (i = 0; i < bytes; i++)
                good &= data[1 + at % 4u + i] == pattern(30, at + i);
            clean &= data[at % 4u] == 0xA5 && data[1 + at % 4u + bytes] == 0xA5;
        }
    }
    judge(test, "reads of any address and length, to any place in memory", good, first,
          "address, length and buffer need no alignment: read a word and copy where the hardware wants it");
    judge(test, "reads write only the bytes asked for", clean, first, "do not round the length up to words");
}

/* Data at any address in memory. */
static void test_source(struct selftest *test, uint32_t first)
{
    uint8_t data[256 + ROOM];
    uint32_t step = granule(test), shift, i;
    int good = 1;

    if (erase(test, first, unit(test)) != 0)
        return;
    for (shift = 0; shift < 4; shift++) {
        for (i = 0; i < step; i++)
            data[shift + i] = pattern(40 + shift, i);
        good &= test->flash->program(test->flash->context, first + shift * step, data + shift, step) == 0;
    }
    for (shift = 0; shift < 4; shift++)
        good &= holds_pattern(test, first + shift * step, step, 40 + shift);
    judge(test, "programs from any place in memory", good, first,
          "data needs no alignment and may lie in any memory: copy it through a small buffer where the hardware wants that");
}

/* Addresses that differ in one bit are different places. */
static void test_addresses(struct selftest *test)
{
    uint32_t bytes = round_up(16, granule(test)), bit, last = test->flash->size_bytes - unit(test);
    int good = erase(test, 0, unit(test)) == 0 && erase(test, last, unit(test)) == 0;

    for (bit = unit(test); bit < test->flash->size_bytes && bit != 0; bit <<= 1)
        if (bit != last)
            good &= erase(test, bit, unit(test)) == 0;
    good &= program_pattern(test, 0, bytes, 50) == 0 && program_pattern(test, last, bytes, 51) == 0;
    for (bit = unit(test); bit < test->flash->size_bytes && bit != 0; bit <<= 1)
        if (bit != last)
            good &= program_pattern(test, bit, bytes, bit / unit(test) + 52u) == 0;
    judge(test, "erase and program over the whole partition return 0", good, last,
          "look at write protection and at size_bytes: is the chip that large?");
    good = holds_pattern(test, 0, bytes, 50);
    judge(test, "the first unit keeps its bytes when others are written", good, 0,
          "an address is cut or masked: chips above 16 MiB want 4-byte addresses; size_bytes may be larger than the chip");
    for (bit = unit(test); bit < test->flash->size_bytes && bit != 0; bit <<= 1)
        if (bit != last && !judge(test, "every address is a place of its own", holds_pattern(test, bit, bytes, bit / unit(test) + 52u),
                                  bit, "an address is cut or masked"))
            return;
    judge(test, "the last unit is there", holds_pattern(test, last, bytes, 51), last, "size_bytes is larger than the partition");
}

/* The larger erases: exactly their block. */
static void test_block(struct selftest *test, uint32_t block)
{
    uint32_t edge = round_up(16, granule(test)), grid = test->flash->block_offset_bytes;
    uint32_t low = round_up(unit(test) + grid, block) - grid, high = low + block, at;

    if (high < low || high + unit(test) > test->flash->size_bytes)
        return;
    for (at = low - unit(test); at < high + unit(test); at += unit(test))
        if (erase(test, at, unit(test)) != 0 || program_pattern(test, at, edge, at) != 0)
            return;
    judge(test, "erase of a larger block returns 0", erase(test, low, block) == 0, low,
          "use the command of that size, or loop over smaller ones, or do not list the size");
    at = first_not_blank(test, low, high);
    judge(test, "erase of a larger block sets all of it", at == high, at,
          "the command of that size does not erase that much, or was sent for the wrong address: block_offset_bytes must tell "
          "where the partition lies in its block");
    judge(test, "erase of a larger block leaves the units before and behind alone",
          holds_pattern(test, low - unit(test), edge, low - unit(test)) && holds_pattern(test, high, edge, high), low,
          "the chip masks the address down to the block: set block_offset_bytes to the partition's offset modulo the largest "
          "erase size");
}

static void test_optional(struct selftest *test, uint32_t first)
{
    const struct fffs_flash *flash = test->flash;
    uint32_t bytes = round_up(32, granule(test)), i;
    const uint8_t *mapped;
    int good = 1;

    if (erase(test, first, unit(test)) != 0 || program_pattern(test, first, bytes, 60) != 0)
        return;
    if (flash->is_blank != NULL) {
        judge(test, "is_blank tells programmed flash", flash->is_blank(flash->context, first, bytes) == 0, first,
              "is_blank returns 1 only when every byte is erased, 0 when one is not");
        judge(test, "is_blank tells erased flash", flash->is_blank(flash->context, first + bytes, bytes) == 1, first + bytes,
              "is_blank returns 1 when every byte is erased");
    }
    if (flash->sync != NULL)
        judge(test, "sync returns 0", flash->sync(flash->context) == 0, 0, "sync returns 0 when all is durable");
    if (flash->map != NULL) {
        mapped = flash->map(flash->context, first + 1u, bytes - 1u);
        for (i = 0; mapped != NULL && i < bytes - 1u; i++)
            good &= mapped[i] == pattern(60, i + 1u);
        judge(test, "map shows what read reads", good, first,
              "add the partition's offset; invalidate the cache in front of mapped flash after each program and erase");
    }
}

/* ---- Timing: declared costs only schedule, so differences are notes; what takes no time at all is a failure ---- */

static void compare_cost(struct selftest *test, const char *what, uint32_t measured, uint32_t declared)
{
    if (measured > declared * 3u + 2u || declared > measured * 3u + 2u)
        warn(test, what, measured, declared);
}

static void test_timing(struct selftest *test, uint32_t first)
{
    const struct fffs_flash *flash = test->flash;
    uint32_t bytes = round_up(256, granule(test)), start, erase_us, program_us, read_us, i;
    uint8_t data[CHUNK + ROOM];

    if (test->now_us == NULL)
        return;
    program_pattern(test, first, bytes, 70);
    start = test->now_us();
    erase(test, first, unit(test));
    erase_us = test->now_us() - start;
    start = test->now_us();
    program_pattern(test, first, bytes, 70);
    program_us = test->now_us() - start;
    start = test->now_us();
    for (i = 0; i < 16; i++)
        flash->read(flash->context, first, data, CHUNK);
    read_us = (test->now_us() - start) / 16u;
    judge(test, "an erase takes time", erase_us > 0, first,
          "an erase of NOR flash takes milliseconds: the driver may return before the chip is ready, or the clock stands still");
    compare_cost(test, "erase_us[0]", erase_us, flash->erase_us[0]);
    compare_cost(test, "program_call_us and program_byte_ns, for 256 bytes",
                 program_us, flash->program_call_us + bytes * flash->program_byte_ns / 1000u);
    compare_cost(test, "read_call_us and read_byte_ns, for 64 bytes", read_us,
                 flash->read_call_us + CHUNK * (uint32_t)flash->read_byte_ns / 1000u);
}

/* ---- Entry ---- */

static uint32_t mark_address(const struct selftest *test)
{
    return test->flash->size_bytes - unit(test);
}

static uint32_t end_of(struct selftest *test)
{
    print_number(test, test->passed);
    test->print(" passed, ");
    print_number(test, test->failed);
    test->print(" failed\n");
    return test->failed;
}

uint32_t selftest_run(struct selftest *test)
{
    uint8_t mark[256 + ROOM];
    uint32_t middle, last, i;

    test->passed = test->failed = test->warned = 0;
    if (!test->erase_everything) {
        test->print("FAIL not started\n  fix: set erase_everything when all that is on this partition may be lost\n");
        return ++test->failed;
    }
    if (!test_declaration(test))
        return end_of(test);
    last = test->flash->size_bytes / unit(test) - 4u;
    middle = last / 2u * unit(test);
    last *= unit(test);
    test_erase(test, 0);
    test_erase(test, middle);
    test_erase(test, last);
    test_program(test, middle);
    test_clears_only(test, middle);
    test_reads(test, middle);
    test_source(test, middle);
    test_addresses(test);
    for (i = 1; i < FFFS_FLASH_ERASE_SIZES && test->flash->erase_bytes[i] != 0; i++)
        test_block(test, test->flash->erase_bytes[i]);
    test_optional(test, middle);
    test_timing(test, middle);
    memset(mark, ' ', sizeof mark);
    memcpy(mark, mark_text, sizeof mark_text);
    judge(test, "a mark for the next start can be left",
          erase(test, mark_address(test), unit(test)) == 0 &&
              test->flash->program(test->flash->context, mark_address(test), mark, round_up(CHUNK, granule(test))) == 0,
          mark_address(test), "see above");
    return end_of(test);
}

uint32_t selftest_after_power_off(struct selftest *test)
{
    char found[sizeof mark_text + ROOM];

    test->passed = test->failed = test->warned = 0;
    judge(test, "what was programmed is there after power was off",
          test->flash->read(test->flash->context, mark_address(test), found, sizeof mark_text) == 0 &&
              memcmp(found, mark_text, sizeof mark_text) == 0,
          mark_address(test), "program must return only when the chip is done: no cache in RAM; or selftest_run() did not end");
    return end_of(test);
}

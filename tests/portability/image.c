/* One fixed run of the library on a flash in RAM, the same on every processor: what is printed, the image included, must be
 * the same byte for byte. Small enough for a processor with 16 KiB of RAM. Needs nothing but a way to print a character.
 * Not the host's libc: no printf, so that the widths of int and long do not matter. */
#include <string.h>

#include "fastffs/fastffs.h"
#include "port.h"

enum { FLASH_BYTES = 8192, SECTOR = 256, GRANULE = 4, FILES = 10 };

static uint8_t flash_bytes[FLASH_BYTES];
static uint32_t broken_rules;    /* of the driver contract, by the library */
static uint32_t mutations;       /* programs and erases */
static uint32_t cut_at;          /* the mutation that power cuts, 0 none */
static uint8_t is_off;

static struct fffs volume;
static struct fffs_file file;
static struct fffs_dir dir;
static struct fffs_info info;
static struct fffs_space space;
static uint32_t scratch[FFFS_SCRATCH_MIN / 4u];
static uint16_t segments[FFFS_SEGMENTS_MAX(FLASH_BYTES, SECTOR)];
static uint32_t cache[12 * 2];
/* Buffers at odd addresses: bytes need no alignment. */
static struct { uint32_t aligned; uint8_t odd; uint8_t buffer[32]; uint8_t more[2]; uint8_t data[48]; } odd;
static unsigned passed, failed;

/* ---- Printing ---- */

static void print(const char *text)
{
    while (*text != 0)
        port_put(*text++);
}

static void print_hex(uint32_t value, unsigned digits)
{
    while (digits-- > 0)
        port_put("0123456789abcdef"[value >> (digits * 4u) & 15u]);
}

static void print_number(uint32_t value)
{
    char digits[10];
    unsigned count = 0;

    do {
        digits[count++] = (char)('0' + value % 10u);
        value /= 10u;
    } while (value != 0);
    while (count > 0)
        port_put(digits[--count]);
}

static void check(int good, const char *what)
{
    if (good) {
        passed++;
    } else {
        failed++;
        print("not ok ");
        print(what);
        print("\n");
    }
}

/* ---- The flash: programs clear bits of blank granules only ---- */

static int is_cut(void)
{
    if (is_off || (cut_at != 0 && ++mutations == cut_at))
        is_off = 1;
    return is_off;
}

static int flash_read(void *context, uint32_t address, void *to, uint32_t bytes)
{
    (void)context;
    if (is_off)
        return 1;
    if (address > FLASH_BYTES || bytes > FLASH_BYTES - address) {
        broken_rules++;
        return 1;
    }
    memcpy(to, flash_bytes + address, (size_t)bytes);
    return 0;
}

static int flash_program(void *context, uint32_t address, const void *from, uint32_t bytes)
{
    const uint8_t *source = from;
    uint32_t i, done = bytes;

    (void)context;
    if (address % GRANULE != 0 || bytes % GRANULE != 0 || address > FLASH_BYTES || bytes > FLASH_BYTES - address) {
        broken_rules++;
        return 1;
    }
    if (is_off)
        return 1;
    if (is_cut())
        done = bytes / 2u / GRANULE * GRANULE; /* half of it arrives */
    for (i = 0; i < done; i++) {
        if (flash_bytes[address + i] != 0xFF)
            broken_rules++;
        flash_bytes[address + i] = (uint8_t)(flash_bytes[address + i] & source[i]);
    }
    return is_off;
}

static int flash_erase(void *context, uint32_t address, uint32_t bytes)
{
    (void)context;
    if (address % SECTOR != 0 || bytes % SECTOR != 0 || address > FLASH_BYTES || bytes > FLASH_BYTES - address) {
        broken_rules++;
        return 1;
    }
    if (is_off || is_cut())
        return 1;
    memset(flash_bytes + address, 0xFF, (size_t)bytes);
    return 0;
}

static const struct fffs_flash flash = {
    flash_read, flash_program, flash_erase, NULL, NULL, NULL, NULL, FLASH_BYTES, GRANULE, { SECTOR, 0, 0 }, 0,
    { 1000, 0, 0 }, 10, 100, 5, 50
};

static struct fffs_config config = {
    &flash, scratch, sizeof scratch, segments, sizeof segments / sizeof segments[0], cache, sizeof cache, NULL, 0, 0, NULL,
    NULL, NULL, NULL, 0
};

/* ---- Files ---- */

/* CRC-32, bit by bit: not the library's. */
static uint32_t crc(uint32_t value, const uint8_t *bytes, uint32_t count)
{
    value = ~value;
    while (count-- > 0) {
        unsigned bit;
        value ^= *bytes++;
        for (bit = 0; bit < 8; bit++)
            value = (value & 1u) != 0 ? value >> 1 ^ 0xEDB88320uL : value >> 1;
    }
    return ~value;
}

static uint8_t content(uint32_t seed, uint32_t at)
{
    uint32_t mixed = (uint32_t)((seed + 1u) * 2654435761uL + at * 40503uL);
    return (uint8_t)(mixed >> 13 ^ mixed >> 3);
}

static const char *name_of(unsigned number)
{
    static char name[] = "d0/file00";
    name[1] = (char)('0' + number % 3u);
    name[7] = (char)('0' + number / 10u % 10u);
    name[8] = (char)('0' + number % 10u);
    return name;
}

static uint32_t size_of(uint32_t seed)
{
    static const uint16_t sizes[] = { 0, 1, 31, 32, 33, 100, 180, 256, 300, 420 };
    return sizes[seed % (sizeof sizes / sizeof sizes[0])];
}

static int put(const char *name, uint32_t seed)
{
    uint32_t size = size_of(seed), done = 0, i;
    int32_t result = fffs_open(&volume, &file, name, FFFS_WRITE | FFFS_CREATE | FFFS_TRUNCATE, odd.buffer, sizeof odd.buffer);

    while (result >= 0 && done < size) {
        uint32_t part = size - done < sizeof odd.data ? size - done : (uint32_t)sizeof odd.data;
        for (i = 0; i < part; i++)
            odd.data[i] = content(seed, done + i);
        result = fffs_write(&volume, &file, odd.data, part);
        done += part;
    }
    if (result < 0) {
        fffs_discard(&volume, &file);
        return (int)result;
    }
    return fffs_close(&volume, &file);
}

/* 1: the file holds exactly the content of `seed`; else 0 or a status. */
static int holds(const char *name, uint32_t seed)
{
    uint32_t done = 0;
    int good = 1;
    int32_t count = fffs_open(&volume, &file, name, FFFS_READ, odd.buffer, sizeof odd.buffer);

    if (count < 0)
        return (int)count;
    while ((count = fffs_read(&volume, &file, odd.data, 37)) > 0) {
        int32_t i;
        for (i = 0; i < count; i++)
            good &= odd.data[i] == content(seed, done + (uint32_t)i);
        done += (uint32_t)count;
    }
    good &= count == 0 && done == size_of(seed);
    fffs_close(&volume, &file);
    return good;
}

static void show(const char *what)
{
    print(what);
    print(" image ");
    print_hex(crc(0, flash_bytes, FLASH_BYTES), 8);
    print("\n");
}

static void show_files(void)
{
    uint32_t sum = 0;
    unsigned count = 0;

    check(fffs_dir_open(&volume, &dir, "", 0) == 0, "dir_open");
    while (fffs_dir_read(&volume, &dir, &info) == 1) {
        sum = crc(sum, (const uint8_t *)info.name, info.name_length);
        sum ^= info.size * 3u + info.stamp;
        count++;
    }
    check(fffs_dir_close(&volume, &dir) == 0, "dir_close");
    check(fffs_space(&volume, &space) == 0, "space");
    print("files ");
    print_number(count);
    print(" listing ");
    print_hex(sum, 8);
    print(" used ");
    print_number(space.used_bytes);
    print(" free ");
    print_number(space.free_bytes);
    print(" erased ");
    print_number(space.segments_erased);
    print("\n");
}

static void remount(void)
{
    memset(&volume, 0, sizeof volume);
    memset(&file, 0, sizeof file);
    memset(&dir, 0, sizeof dir);
    is_off = 0;
    cut_at = 0;
    check(fffs_mount(&volume, &config) == 0, "mount");
}

/* ---- The run ---- */

static void first_session(void)
{
    struct fffs_format_options options;
    unsigned i;

    memset(&options, 0, sizeof options);
    options.geometry.sector_bytes = SECTOR;
    options.geometry.max_files = 16;
    memset(flash_bytes, 0xFF, sizeof flash_bytes);
    check(fffs_mount(&volume, &config) == FFFS_ERR_BLANK, "blank");
    check(fffs_format_plan(&flash, &options, &options.geometry) == 0, "plan");
    print("index ");
    print_number(options.geometry.index_bytes);
    print(" segments ");
    print_number(options.geometry.segment_count);
    print("\n");
    options.geometry.index_bytes = options.geometry.segment_count = options.geometry.format_version = 0;
    options.geometry.granule_bytes = 0;
    check(fffs_format(&volume, &config, &options) == 0, "format");
    show("format");
    check(fffs_mount(&volume, &config) == 0, "mount");
    for (i = 0; i < FILES; i++) {
        check(put(name_of(i), i) == 0, "put");
        check(holds(name_of(i), i) == 1, "holds");
    }
    show("create");
    show_files();
}

static void churn(void)
{
    unsigned i, j;

    for (i = 0; i < 6; i++) {
        for (j = i % 2u; j < FILES; j += 2)
            check(put(name_of(j), j + i * 7u) == 0, "replace");
        for (j = i % 2u; j < FILES; j += 2)
            check(holds(name_of(j), j + i * 7u) == 1, "replaced");
        check(fffs_delete(&volume, name_of(i)) == 0, "delete");
        check(fffs_exists(&volume, name_of(i)) == 0, "gone");
        check(put(name_of(i), i) == 0, "put again");
        show("churn");
        if (i == 2) {
            check(fffs_unmount(&volume) == 0, "unmount");
            show("unmount");
            remount();
        }
        if (i == 4) {
            show("settle");
            check(fffs_settle(&volume) == 0, "settle");
            remount();
        }
    }
    check(fffs_gc(&volume) == 0, "gc");
    show("gc");
    show_files();
    check(fffs_check(&volume, NULL, NULL) == 0, "check");
}

/* A replace of one file, cut at each of its programs and erases in turn. */
static void cuts(void)
{
    uint32_t n, seed = 40;
    int result = -1;

    check(put("power", seed) == 0, "put");
    for (n = 1; n < 40 && result != 0; n++) {
        cut_at = n;
        mutations = 0;
        result = put("power", seed + 1u);
        remount();
        if (holds("power", seed + 1u) == 1)
            seed++;
        else
            check(holds("power", seed) == 1 && result != 0, "old or new");
        show("cut");
        check(fffs_check(&volume, NULL, NULL) == 0, "check");
    }
    check(n > 3, "cuts were tried");
    show_files();
    check(fffs_unmount(&volume) == 0, "unmount");
}

static void print_image(void)
{
    uint32_t i;

    for (i = 0; i < FLASH_BYTES; i++) {
        print_hex(flash_bytes[i], 2);
        if (i % 32u == 31u)
            print("\n");
    }
}

int main(void)
{
    port_begin();
    first_session();
    churn();
    cuts();
    print_image();
    check(broken_rules == 0, "rules of the driver contract");
    print_number(passed);
    print(" passed, ");
    print_number(failed);
    print(" failed\n");
    return port_end(failed != 0);
}

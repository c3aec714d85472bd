/* See volume.h. */
#include "volume.h"

#include <string.h>
#include "bench/workload.h"

#ifndef BOARD_ARENA_BYTES
#define BOARD_ARENA_BYTES 16384
#endif

#ifndef BOARD_SEGMENTS
#define BOARD_SEGMENTS 1100
#endif

enum { CHUNK = 192 };

struct volume volume;
static uint64_t arena[BOARD_ARENA_BYTES / 8];
static uint16_t segment_table[BOARD_SEGMENTS]; /* the adapter's is made for a volume on all of the flash */
static uint8_t chunk[CHUNK];

/* ---- Arguments ---- */

static char line[400];

/* Where the value of `key` begins, or NULL. */
static const char *find_argument(const char *key)
{
    size_t length = strlen(key);

    if (line[0] == 0)
        board_arguments(line, sizeof line);
    for (const char *at = line; (at = strstr(at, key)) != NULL; at++)
        if ((at == line || at[-1] == ' ') && (at[length] == '=' || at[length] == ' ' || at[length] == 0))
            return at + length;
    return NULL;
}

uint32_t argument_number(const char *key, uint32_t fallback)
{
    const char *at = find_argument(key);
    uint32_t value = 0;

    if (at == NULL || *at != '=')
        return fallback;
    for (at++; *at >= '0' && *at <= '9'; at++)
        value = value * 10u + (uint32_t)(*at - '0');
    return value;
}

int argument_word(const char *word)
{
    return find_argument(word) != NULL;
}

int argument_text(const char *key, char *text, uint32_t bytes)
{
    const char *at = find_argument(key);
    uint32_t i = 0;

    if (at == NULL || *at != '=')
        return 0;
    for (at++; at[i] != 0 && at[i] != ' ' && i < bytes - 1u; i++)
        text[i] = at[i];
    text[i] = 0;
    return 1;
}

/* ---- Start ---- */

static void print_value(const char *key, uint32_t value)
{
    board_print(" ");
    board_print(key);
    board_print("=");
    print_number(value);
}

/* What the host needs to build the same image: the flash as declared, the buffers as given. */
static void print_declaration(const struct fffs_flash *flash, const struct adapter_fastffs_setup *setup)
{
    static const char *const erase[3] = { "erase0", "erase1", "erase2" }, *const us[3] = { "us0", "us1", "us2" };

    board_print("declares");
    print_value("size", flash->size_bytes);
    print_value("granule", flash->granule_bytes);
    for (unsigned i = 0; i < FFFS_FLASH_ERASE_SIZES; i++) {
        print_value(erase[i], flash->erase_bytes[i]);
        print_value(us[i], flash->erase_us[i]);
    }
    print_value("program_us", flash->program_call_us);
    print_value("program_ns", flash->program_byte_ns);
    print_value("read_us", flash->read_call_us);
    print_value("read_ns", flash->read_byte_ns);
    print_value("scratch", setup->scratch_bytes);
    print_value("cache", setup->cache_bytes);
    print_value("write_buffer", setup->write_buffer_bytes);
    print_value("file_buffer", setup->file_buffer_bytes);
    print_value("files", setup->max_files);
    print_value("medium", volume.medium_bytes);
    board_print("\n");
}

int volume_init(void)
{
    struct adapter_fastffs_setup setup = *board->setup;

    setup.scratch_bytes = argument_number("scratch", setup.scratch_bytes);
    setup.cache_bytes = argument_number("cache", setup.cache_bytes);
    setup.write_buffer_bytes = argument_number("write_buffer", setup.write_buffer_bytes);
    setup.file_buffer_bytes = argument_number("file_buffer", setup.file_buffer_bytes);
    setup.max_files = argument_number("files", setup.max_files);
    volume.medium_bytes = argument_number("medium", board->medium_bytes);
    volume.flash = board_flash();
    if (volume.flash == NULL) {
        board_print("no flash\n");
        return -1;
    }
    print_declaration(volume.flash, &setup);
    if (adapter_fastffs_init(&volume.adapter, volume.flash, &setup, arena, sizeof arena) != 0) {
        board_print("the buffers do not fit\n");
        return -1;
    }
    volume.adapter.format.geometry.sector_bytes = argument_number("sector", 0);
    volume.adapter.config.segment_table = segment_table;
    volume.adapter.config.segment_table_entries = BOARD_SEGMENTS;
    return 0;
}

int volume_erase(uint32_t bytes)
{
    const struct fffs_flash *flash = volume.flash;
    uint32_t size = flash->erase_bytes[0];

    for (unsigned i = 0; i < FFFS_FLASH_ERASE_SIZES; i++)
        if (flash->erase_bytes[i] != 0)
            size = flash->erase_bytes[i];
    for (uint32_t at = 0; at < (bytes != 0 ? bytes : flash->size_bytes); at += size)
        if (flash->erase(flash->context, at, size) != 0)
            return -1;
    return 0;
}

int volume_format(uint32_t bytes, uint32_t segment_bytes)
{
    struct fffs_format_options options = volume.adapter.format;
    struct fffs_geometry plan;
    int status = fffs_format_plan(volume.flash, &options, &plan);

    if (status < 0)
        return status;
    options.geometry.sector_count = bytes / plan.sector_bytes;
    options.geometry.segment_bytes = segment_bytes;
    return fffs_format(&volume.adapter.fs, &volume.adapter.config, &options);
}

int volume_mount(uint32_t flags)
{
    volume.adapter.config.flags = flags;
    return fffs_mount(&volume.adapter.fs, &volume.adapter.config);
}

void volume_forget(void)
{
    adapter_fastffs_fs.forget(&volume.adapter);
}

int volume_collect(void)
{
    int action;

    do
        action = fffs_gc_step(&volume.adapter.fs, NULL, NULL);
    while (action > 0);
    return action;
}

/* ---- Files ---- */

static int write_content(struct adapter_fastffs *adapter, uint32_t seed, uint32_t size)
{
    for (uint32_t done = 0; done < size; ) {
        uint32_t part = size - done < CHUNK ? size - done : CHUNK;
        bench_fill(chunk, seed, done, part);
        int32_t result = fffs_write(&adapter->fs, &adapter->file, chunk, part);
        if (result == FFFS_ERR_COLLECT_FIRST) {
            if (fffs_gc_step(&adapter->fs, NULL, NULL) <= 0)
                return FFFS_ERR_NO_SPACE;
            continue;
        }
        if (result != (int32_t)part)
            return (int)result;
        done += part;
    }
    return 0;
}

int volume_put(const char *name, uint32_t seed, uint32_t size)
{
    struct adapter_fastffs *adapter = &volume.adapter;
    int status = adapter_fastffs_fs.open_write(adapter, name);

    if (status < 0)
        return status;
    status = write_content(adapter, seed, size);
    if (status >= 0)
        return fffs_close(&adapter->fs, &adapter->file);
    fffs_discard(&adapter->fs, &adapter->file);
    return status;
}

int volume_content_is(const uint8_t *data, uint32_t seed, uint32_t offset, uint32_t bytes)
{
    uint8_t expected[32];

    for (uint32_t done = 0; done < bytes; done += sizeof expected) {
        uint32_t part = bytes - done < sizeof expected ? bytes - done : (uint32_t)sizeof expected;
        bench_fill(expected, seed, offset + done, part);
        if (memcmp(data + done, expected, part) != 0)
            return 0;
    }
    return 1;
}

int volume_holds(const char *name, uint32_t seed, uint32_t size)
{
    struct adapter_fastffs *adapter = &volume.adapter;
    int status = adapter_fastffs_fs.open_read(adapter, name), same = 1;
    int32_t got;
    uint32_t done = 0;

    if (status < 0)
        return status;
    while ((got = fffs_read(&adapter->fs, &adapter->file, chunk, CHUNK)) > 0) {
        same = same && (uint32_t)got <= size - done && volume_content_is(chunk, seed, done, (uint32_t)got);
        done += (uint32_t)got;
    }
    status = fffs_close(&adapter->fs, &adapter->file);
    return got < 0 ? (int)got : status < 0 ? status : same && done == size;
}

static int count_one(void *context, const struct fffs_info *info)
{
    (void)info;
    ++*(int *)context;
    return 0;
}

int volume_count(const char *prefix)
{
    int count = 0, status = fffs_list(&volume.adapter.fs, prefix, count_one, &count);

    return status < 0 ? status : count;
}

static void print_finding(void *context, const struct fffs_finding *finding)
{
    (void)context;
    board_print("# finding: I");
    print_number((uint32_t)finding->invariant);
    board_print(" ");
    board_print(finding->text);
    board_print(" ");
    board_print(finding->name);
    board_print("\n");
}

int volume_check(void)
{
    return fffs_check(&volume.adapter.fs, print_finding, NULL);
}

uint32_t volume_crc32(uint32_t crc, const uint8_t *bytes, uint32_t count)
{
    crc = ~crc;
    while (count-- > 0) {
        crc ^= *bytes++;
        for (unsigned bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (0xEDB88320u & (0u - (crc & 1u)));
    }
    return ~crc;
}

void volume_print_line(const char *name, uint32_t size, uint32_t crc)
{
    board_print("file ");
    board_print(name);
    board_print(" ");
    print_number(size);
    board_print(" ");
    print_hex(crc, 8);
    board_print("\n");
}

void volume_print_file(const char *name, uint32_t seed, uint32_t size)
{
    uint32_t crc = 0;

    for (uint32_t done = 0; done < size; done += CHUNK) {
        uint32_t part = size - done < CHUNK ? size - done : CHUNK;
        bench_fill(chunk, seed, done, part);
        crc = volume_crc32(crc, chunk, part);
    }
    volume_print_line(name, size, crc);
}

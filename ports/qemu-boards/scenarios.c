/* Behaviour scenarios on a board: what the API promises, each on the flash as it is there. A small volume (at most 1 MiB)
 * is formatted once; the scenarios run one after the other on it. The last leaves files that the host compares. */
#include <string.h>
#include "bench/workload.h"
#include "volume.h"

#define EXPECT(condition) do { if (!(condition)) return __LINE__; } while (0)

enum { VOLUME_MAX = 1 << 20, LEFT_FILES = 24 };

static struct fffs *const fs = &volume.adapter.fs;
static struct fffs_file second;
static uint8_t second_buffer[64];
static uint8_t data[128];
static struct fffs_dir dir;
static struct fffs_info info;
static struct fffs_space space;
static uint32_t volume_bytes;
static uint32_t share;           /* a size of which several files fit */

static int open_second(const char *name, unsigned flags)
{
    return fffs_open(fs, &second, name, flags, second_buffer, sizeof second_buffer);
}

static int write_second(uint32_t seed, uint32_t bytes)
{
    for (uint32_t done = 0; done < bytes; ) {
        uint32_t part = bytes - done < sizeof data ? bytes - done : (uint32_t)sizeof data;
        bench_fill(data, seed, done, part);
        int32_t result = fffs_write(fs, &second, data, part);
        if (result != (int32_t)part)
            return (int)result;
        done += part;
    }
    return 0;
}

static int remount(uint32_t flags)
{
    int status = fffs_unmount(fs);
    return status < 0 ? status : volume_mount(flags);
}

/* "p/00" and so on. */
static const char *numbered(char *name, const char *prefix, uint32_t number)
{
    size_t length = strlen(prefix);

    memcpy(name, prefix, length);
    name[length] = (char)('0' + (int)(number / 10u % 10u));
    name[length + 1] = (char)('0' + (int)(number % 10u));
    name[length + 2] = 0;
    return name;
}

/* ---- Scenarios: 0, or the line that failed ---- */

static int blank_flash_is_told_and_never_formatted(void)
{
    EXPECT(volume_erase(volume_bytes) == 0);
    EXPECT(volume_mount(0) == FFFS_ERR_BLANK && volume_mount(0) == FFFS_ERR_BLANK);
    return 0;
}

static int foreign_flash_is_told(void)
{
    const struct fffs_flash *flash = volume.flash;

    memset(data, 0x5A, sizeof data);
    for (uint32_t at = 0; at < volume.flash->erase_bytes[0] * 16u; at += sizeof data)
        EXPECT(flash->program(flash->context, at, data, sizeof data) == 0);
    EXPECT(volume_mount(0) == FFFS_ERR_FOREIGN);
    EXPECT(volume_erase(volume_bytes) == 0);
    return 0;
}

static int format_and_mount(void)
{
    struct fffs_geometry geometry;

    EXPECT(volume_format(volume_bytes, 0) == 0);
    EXPECT(fffs_discover(volume.flash, &geometry) == 0 && geometry.sector_count * geometry.sector_bytes == volume_bytes);
    EXPECT(volume_mount(0) == 0 && volume_mount(0) == FFFS_ERR_BUSY);
    EXPECT(volume_count("") == 0 && fffs_space(fs, &space) == 0 && space.files == 0);
    share = space.free_bytes / 8u;
    return 0;
}

static int sizes_round_trip(void)
{
    static const uint32_t sizes[] = { 0, 1, 63, 64, 255, 256, 257, 1000, 4095, 4096, 4097, 9000 };
    char name[16];

    for (uint32_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        EXPECT(volume_put(numbered(name, "size", i), i, sizes[i]) == 0);
    EXPECT(remount(0) == 0);
    for (uint32_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        EXPECT(volume_holds(numbered(name, "size", i), i, sizes[i]) == 1);
    EXPECT(volume_count("size") == (int)(sizeof sizes / sizeof sizes[0]));
    return 0;
}

static int a_reader_keeps_the_version_it_opened(void)
{
    EXPECT(volume_put("kept", 1, 1500) == 0 && open_second("kept", FFFS_READ) == 0);
    EXPECT(fffs_read(fs, &second, data, 100) == 100 && volume_content_is(data, 1, 0, 100));
    EXPECT(volume_put("kept", 2, 700) == 0 && volume_holds("kept", 2, 700) == 1);
    for (uint32_t done = 100; done < 1500; done += 100)
        EXPECT(fffs_read(fs, &second, data, 100) == 100 && volume_content_is(data, 1, done, 100));
    EXPECT(fffs_read(fs, &second, data, 1) == 0 && fffs_close(fs, &second) == 0);
    return 0;
}

static int the_last_close_wins(void)
{
    EXPECT(open_second("twice", FFFS_WRITE | FFFS_CREATE | FFFS_TRUNCATE) == 0 && write_second(7, 300) == 0);
    EXPECT(volume_put("twice", 8, 400) == 0 && volume_holds("twice", 8, 400) == 1);
    EXPECT(fffs_close(fs, &second) == 0 && volume_holds("twice", 7, 300) == 1);
    return 0;
}

static int nothing_shows_before_close_or_after_discard(void)
{
    EXPECT(open_second("hidden", FFFS_WRITE | FFFS_CREATE) == 0 && write_second(3, 500) == 0);
    EXPECT(fffs_exists(fs, "hidden") == 0);
    EXPECT(fffs_discard(fs, &second) == 0 && fffs_exists(fs, "hidden") == 0);
    EXPECT(fffs_close(fs, &second) == FFFS_ERR_NOT_OPEN);
    return 0;
}

static int flags_of_open(void)
{
    EXPECT(volume_put("flags", 1, 10) == 0);
    EXPECT(open_second("flags", FFFS_WRITE | FFFS_CREATE | FFFS_EXCLUSIVE) == FFFS_ERR_EXISTS);
    EXPECT(open_second("none", FFFS_WRITE | FFFS_TRUNCATE) == FFFS_ERR_NOT_FOUND);
    EXPECT(open_second("none", FFFS_READ) == FFFS_ERR_NOT_FOUND);
    EXPECT(open_second("flags", FFFS_READ) == 0 && fffs_write(fs, &second, data, 1) == FFFS_ERR_READ_ONLY);
    EXPECT(fffs_close(fs, &second) == 0);
    EXPECT(open_second("flags", FFFS_WRITE | FFFS_TRUNCATE) == 0);
    EXPECT(fffs_read(fs, &second, data, 1) == FFFS_ERR_WRITE_ONLY && fffs_discard(fs, &second) == 0);
    return 0;
}

static int names(void)
{
    char name[FFFS_NAME_MAX + 2];

    memset(name, 'n', sizeof name);
    name[FFFS_NAME_MAX + 1] = 0;
    EXPECT(volume_put(name, 1, 10) == FFFS_ERR_NAME_TOO_LONG);
    name[FFFS_NAME_MAX] = 0;
    EXPECT(volume_put(name, 1, 10) == 0 && volume_holds(name, 1, 10) == 1);
    EXPECT(fffs_stat(fs, name, &info) == 0 && info.name_length == FFFS_NAME_MAX && strcmp(info.name, name) == 0);
    EXPECT(volume_put("", 1, 10) == FFFS_ERR_BAD_NAME && volume_put("\xFF\x01 /", 2, 20) == 0);
    EXPECT(volume_holds("\xFF\x01 /", 2, 20) == 1);
    EXPECT(fffs_delete(fs, name) == 0 && fffs_delete(fs, "\xFF\x01 /") == 0);
    return 0;
}

static int deleting(void)
{
    EXPECT(volume_put("gone", 1, 2000) == 0 && fffs_delete(fs, "gone") == 0);
    EXPECT(fffs_exists(fs, "gone") == 0 && fffs_delete(fs, "gone") == FFFS_ERR_NOT_FOUND);
    EXPECT(remount(0) == 0 && fffs_exists(fs, "gone") == 0);
    EXPECT(volume_put("gone", 2, 30) == 0 && volume_holds("gone", 2, 30) == 1 && fffs_delete(fs, "gone") == 0);
    return 0;
}

static int listing_by_prefix_and_folder(void)
{
    int folders = 0, files = 0;

    EXPECT(volume_put("d/a/1", 1, 5) == 0 && volume_put("d/a/2", 2, 5) == 0 && volume_put("d/b/1", 3, 5) == 0);
    EXPECT(volume_put("d/top", 4, 17) == 0 && volume_count("d/") == 4 && volume_count("d/a/") == 2);
    EXPECT(fffs_dir_open(fs, &dir, "d/", '/') == 0);
    while (fffs_dir_read(fs, &dir, &info) == 1) {
        folders += info.is_folder;
        files += !info.is_folder;
        EXPECT(info.is_folder || (strcmp(info.name, "d/top") == 0 && info.size == 17));
    }
    EXPECT(fffs_dir_close(fs, &dir) == 0 && folders == 2 && files == 1);
    EXPECT(fffs_delete_prefix(fs, "d/a/") == 2 && volume_count("d/") == 2 && fffs_delete_prefix(fs, "d/") == 2);
    EXPECT(volume_count("d/") == 0);
    return 0;
}

static int seeking(void)
{
    static const uint16_t offsets[] = { 0, 8999, 1, 4095, 4096, 300, 255, 256, 8000 };
    uint8_t expected;

    EXPECT(volume_put("seek", 9, 9000) == 0 && open_second("seek", FFFS_READ) == 0);
    for (uint32_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
        EXPECT(fffs_seek(fs, &second, offsets[i], FFFS_SEEK_SET) == offsets[i]);
        bench_fill(&expected, 9, offsets[i], 1);
        EXPECT(fffs_read(fs, &second, data, 1) == 1 && data[0] == expected);
    }
    EXPECT(fffs_seek(fs, &second, -5, FFFS_SEEK_END) == 8995 && fffs_read(fs, &second, data, 10) == 5);
    EXPECT(fffs_seek(fs, &second, 9001, FFFS_SEEK_SET) == FFFS_ERR_INVALID && fffs_tell(fs, &second) == 9000);
    EXPECT(fffs_close(fs, &second) == 0 && fffs_delete(fs, "seek") == 0);
    return 0;
}

/* Rewrites until the volume has been written over, so that whatever can be collected has been. */
static int churn(uint32_t times)
{
    char name[16];

    for (uint32_t i = 0; i < times * 8u; i++) {
        uint32_t number = i % 3u;
        EXPECT(volume_put(numbered(name, "churn", number), 100u + i, share) == 0);
        EXPECT(i % 4u != 0 || volume_holds(name, 100u + i, share) == 1);
    }
    EXPECT(fffs_delete_prefix(fs, "churn") == 3 && volume_collect() == 0);
    return 0;
}

/* The content of the file in place, all of it, at the addresses first told. */
static int mapped_is(const uint8_t **parts, const uint32_t *counts, uint32_t pieces, uint32_t seed)
{
    for (uint32_t i = 0, offset = 0; i < pieces; offset += counts[i], i++)
        if (!volume_content_is(parts[i], seed, offset, counts[i]))
            return 0;
    return 1;
}

static int content_in_place_stays_until_released(void)
{
    enum { SIZE = 6000, PIECES = 8 };
    const uint8_t *parts[PIECES];
    uint32_t counts[PIECES], pieces = 0;
    const void *at;
    int32_t count = 0;

    EXPECT(volume_put("map", 5, SIZE) == 0 && open_second("map", FFFS_READ) == 0);
    if (volume.flash->map == NULL) {
        EXPECT(fffs_map(fs, &second, 0, &at) == FFFS_ERR_UNSUPPORTED && at == NULL && fffs_close(fs, &second) == 0);
        return fffs_delete(fs, "map") == 0 ? 0 : __LINE__;
    }
    for (uint32_t offset = 0; offset < SIZE; offset += (uint32_t)count) {
        count = fffs_map(fs, &second, offset, &at);
        EXPECT(count > 0 && pieces < PIECES);
        parts[pieces] = at;
        counts[pieces++] = (uint32_t)count;
    }
    EXPECT(fffs_map(fs, &second, SIZE, &at) == 0 && fffs_map(fs, &second, SIZE + 1, &at) == FFFS_ERR_INVALID);
    EXPECT(mapped_is(parts, counts, pieces, 5));
    EXPECT(volume_put("map", 6, SIZE) == 0); /* replaced: nothing but the reader holds the old bytes */
    EXPECT(churn(2) == 0 && mapped_is(parts, counts, pieces, 5));
    EXPECT(fffs_delete(fs, "map") == 0 && churn(1) == 0 && mapped_is(parts, counts, pieces, 5));
    EXPECT(fffs_close(fs, &second) == 0);
    return 0;
}

static int collection_keeps_what_is_live(void)
{
    EXPECT(volume_put("live", 11, 3000) == 0 && churn(3) == 0 && volume_holds("live", 11, 3000) == 1);
    EXPECT(fffs_gc_step(fs, NULL, NULL) == FFFS_GC_IDLE && fffs_space(fs, &space) == 0 && space.erases_total > 0);
    return 0;
}

static int a_full_volume_stays_usable(void)
{
    char name[16];
    uint32_t count = 0;
    int status;

    while ((status = volume_put(numbered(name, "full", count), count, share)) == 0 && count < 90)
        count++;
    EXPECT(status == FFFS_ERR_NO_SPACE && count >= 4);
    for (uint32_t i = 0; i < count; i++)
        EXPECT(volume_holds(numbered(name, "full", i), i, share) == 1);
    EXPECT(fffs_exists(fs, numbered(name, "full", count)) == 0);
    EXPECT(fffs_delete(fs, numbered(name, "full", 0)) == 0 && volume_put(name, 55, share - 100u) == 0);
    EXPECT(volume_holds(name, 55, share - 100u) == 1 && volume_holds("live", 11, 3000) == 1);
    EXPECT(fffs_delete_prefix(fs, "full") == (int32_t)count);
    return 0;
}

static int collection_in_the_background(void)
{
    char name[16];
    uint32_t waits = 0;

    EXPECT(remount(FFFS_MOUNT_NO_INLINE_GC) == 0);
    for (uint32_t i = 0; i < 20; i++) {
        int status;
        while ((status = volume_put(numbered(name, "bg", i % 2u), i, share)) == FFFS_ERR_COLLECT_FIRST) {
            EXPECT(fffs_gc_step(fs, NULL, NULL) > 0 && waits < 10000);
            waits++;
        }
        EXPECT(status == 0 && volume_holds(name, i, share) == 1);
    }
    EXPECT(fffs_delete_prefix(fs, "bg") == 2 && volume_collect() == 0 && remount(0) == 0);
    return 0;
}

static int power_off_without_unmount(void)
{
    int before = volume_count("");

    EXPECT(volume_put("power", 21, 2222) == 0 && open_second("lost", FFFS_WRITE | FFFS_CREATE) == 0);
    EXPECT(write_second(22, 2000) == 0);
    volume_forget();
    memset(&second, 0, sizeof second);
    EXPECT(volume_mount(0) == 0 && volume_holds("power", 21, 2222) == 1 && fffs_exists(fs, "lost") == 0);
    EXPECT(volume_count("") == before + 1 && volume_check() == 0 && fffs_settle(fs) == 0);
    volume_forget();
    EXPECT(volume_mount(0) == 0 && volume_holds("power", 21, 2222) == 1);
    return 0;
}

static int read_only_mount(void)
{
    EXPECT(volume_put("ro", 1, 100) == 0);
    volume_forget(); /* unclean: shown as recovery would leave it */
    EXPECT(volume_mount(FFFS_MOUNT_READ_ONLY) == 0 && volume_holds("ro", 1, 100) == 1);
    EXPECT(volume_put("ro", 2, 5) == FFFS_ERR_READ_ONLY && fffs_delete(fs, "ro") == FFFS_ERR_READ_ONLY);
    EXPECT(fffs_gc_step(fs, NULL, NULL) == FFFS_ERR_READ_ONLY && remount(0) == 0);
    EXPECT(volume_holds("ro", 1, 100) == 1);
    return 0;
}

static int options_of_mount(void)
{
    struct fffs_config *config = &volume.adapter.config;
    void *cache = config->cache;

    EXPECT(remount(FFFS_MOUNT_VERIFY) == 0 && volume_put("verified", 1, 3000) == 0);
    EXPECT(volume_holds("verified", 1, 3000) == 1 && fffs_unmount(fs) == 0);
    config->cache = NULL;
    EXPECT(volume_mount(FFFS_MOUNT_LAZY_WEIGHTS) == 0 && volume_holds("verified", 1, 3000) == 1);
    EXPECT(volume_put("uncached", 2, 300) == 0 && fffs_exists(fs, "missing") == 0 && fffs_unmount(fs) == 0);
    config->cache = cache;
    EXPECT(volume_mount(0) == 0 && volume_holds("uncached", 2, 300) == 1);
    return 0;
}

static int the_volume_grows(void)
{
    struct fffs_geometry geometry;
    uint32_t sectors;

    EXPECT(fffs_discover(volume.flash, &geometry) == 0 && fffs_unmount(fs) == 0);
    EXPECT(volume_erase(volume_bytes) == 0);
    EXPECT(volume_format(volume_bytes / 2u, geometry.segment_bytes) == 0 && volume_mount(0) == 0); /* the table has no more room */
    EXPECT(volume_put("grown", 1, 5000) == 0);
    sectors = geometry.sector_count;
    EXPECT(fffs_grow(fs, sectors / 4u) == FFFS_ERR_INVALID && fffs_grow(fs, sectors) == 0);
    EXPECT(fffs_space(fs, &space) == 0 && volume_put("more", 2, space.free_bytes / 2u) == 0 && remount(0) == 0);
    EXPECT(fffs_discover(volume.flash, &geometry) == 0 && geometry.sector_count * geometry.sector_bytes == volume_bytes);
    EXPECT(volume_holds("grown", 1, 5000) == 1 && volume_holds("more", 2, space.free_bytes / 2u) == 1);
    EXPECT(fffs_delete(fs, "more") == 0);
    return 0;
}

/* What the host will find: replaced, deleted and collected before. */
static int files_are_left_for_the_host(void)
{
    char name[16];

    EXPECT(fffs_delete(fs, "grown") == 0 && volume_count("") == 0);
    for (uint32_t i = 0; i < LEFT_FILES; i++)
        EXPECT(volume_put(numbered(name, i % 2u != 0 ? "left/" : "left", i), i, 10u + i) == 0);
    for (uint32_t i = 0; i < LEFT_FILES; i += 3u)
        EXPECT(volume_put(numbered(name, i % 2u != 0 ? "left/" : "left", i), 1000u + i, i * i * 10u) == 0);
    EXPECT(volume_check() == 0 && fffs_unmount(fs) == 0);
    for (uint32_t i = 0; i < LEFT_FILES; i++) {
        uint32_t seed = i % 3u == 0 ? 1000u + i : i, size = i % 3u == 0 ? i * i * 10u : 10u + i;
        volume_print_file(numbered(name, i % 2u != 0 ? "left/" : "left", i), seed, size);
    }
    return 0;
}

#define SCENARIO(name) { #name, name }
static const struct { const char *name; int (*run)(void); } scenarios[] = {
    SCENARIO(blank_flash_is_told_and_never_formatted), SCENARIO(foreign_flash_is_told), SCENARIO(format_and_mount),
    SCENARIO(sizes_round_trip), SCENARIO(a_reader_keeps_the_version_it_opened), SCENARIO(the_last_close_wins),
    SCENARIO(nothing_shows_before_close_or_after_discard), SCENARIO(flags_of_open), SCENARIO(names),
    SCENARIO(deleting), SCENARIO(listing_by_prefix_and_folder), SCENARIO(seeking),
    SCENARIO(collection_keeps_what_is_live), SCENARIO(content_in_place_stays_until_released),
    SCENARIO(a_full_volume_stays_usable), SCENARIO(collection_in_the_background), SCENARIO(power_off_without_unmount),
    SCENARIO(read_only_mount), SCENARIO(options_of_mount), SCENARIO(the_volume_grows),
    SCENARIO(files_are_left_for_the_host)
};

/* The volume is sound between scenarios. */
static int findings(void)
{
    return fs->mounted != 0 ? volume_check() : 0;
}

int run_scenarios(void)
{
    int failed = 0;

    if (volume_init() != 0)
        return __LINE__;
    volume_bytes = volume.flash->size_bytes < VOLUME_MAX ? volume.flash->size_bytes : VOLUME_MAX;
    for (unsigned i = 0; failed == 0 && i < sizeof scenarios / sizeof scenarios[0]; i++) {
        failed = scenarios[i].run();
        if (failed == 0 && findings() != 0)
            failed = __LINE__;
        board_print(failed == 0 ? "ok " : "not ok ");
        board_print(scenarios[i].name);
        board_print("\n");
    }
    return failed != 0 ? failed : board_save("image.bin", volume.flash->size_bytes) == 0 ? 0 : __LINE__;
}

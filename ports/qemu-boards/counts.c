/* What operations cost the processor. Each is enclosed by count_begin() and one of the count_end_ functions, which the
 * counting plugin (count_plugin.c) knows by their addresses: what ran in between goes to the operation of that name. */
#include <string.h>
#include "bench/workload.h"
#include "volume.h"

enum { FILES = 500, TINY = 64, REPEATS = 50, PIECE = 1024 };

#define EXPECT(condition) do { if (!(condition)) return __LINE__; } while (0)
/* The line number keeps the compiler from making one function of all. */
#define MARK(name) \
    __attribute__((noinline)) static void name(void) { __asm__ volatile("" : : "i"(__LINE__) : "memory"); }

MARK(count_begin)
MARK(count_end_create)
MARK(count_end_replace)
MARK(count_end_open_read_close)
MARK(count_end_write_1k)
MARK(count_end_read_1k)
MARK(count_end_seek_read_1)
MARK(count_end_stat)
MARK(count_end_exists_missing)
MARK(count_end_delete)
MARK(count_end_list_500)
MARK(count_end_dir_read)
MARK(count_end_space)
MARK(count_end_mount_500)
MARK(count_end_mount_500_unclean)
MARK(count_end_unmount)
MARK(count_end_gc_idle)
MARK(count_end_gc_looked)
MARK(count_end_gc_moved)
MARK(count_end_gc_committed)
MARK(count_end_gc_erased)
MARK(count_end_gc_rotated)

static struct fffs *const fs = &volume.adapter.fs;
static struct fffs_file *const file = &volume.adapter.file;
static struct fffs_info info;
static struct fffs_dir dir;
static struct fffs_space space;
static uint8_t data[PIECE], buffer[256];
static char name[16];

static const char *make_name(char letter, uint32_t number)
{
    memcpy(name, "x000.bin", 9);
    name[0] = letter;
    for (unsigned i = 3; i > 0; i--, number /= 10u)
        name[i] = (char)('0' + (int)(number % 10u));
    return name;
}

static int write_whole(const char *text, const uint8_t *bytes, uint32_t count)
{
    if (fffs_open(fs, file, text, FFFS_WRITE | FFFS_CREATE | FFFS_TRUNCATE, buffer, sizeof buffer) < 0 ||
        fffs_write(fs, file, bytes, count) != (int32_t)count)
        return -1;
    return fffs_close(fs, file);
}

static int creating(void)
{
    for (uint32_t i = 0; i < FILES; i++) {
        make_name('t', i);
        bench_fill(data, i, 0, TINY);
        count_begin();
        EXPECT(write_whole(name, data, TINY) == 0);
        count_end_create();
    }
    for (uint32_t i = 0; i < REPEATS; i++) {
        make_name('t', i * 3u);
        bench_fill(data, i * 3u, 0, TINY);
        count_begin();
        EXPECT(write_whole(name, data, TINY) == 0);
        count_end_replace();
    }
    return 0;
}

static int reading(void)
{
    for (uint32_t i = 0; i < REPEATS; i++) {
        uint32_t number = i * 7u % FILES;
        make_name('t', number);
        count_begin();
        EXPECT(fffs_open(fs, file, name, FFFS_READ, buffer, sizeof buffer) == 0);
        EXPECT(fffs_read(fs, file, data, PIECE) == TINY && fffs_close(fs, file) == 0);
        count_end_open_read_close();
        EXPECT(volume_content_is(data, number, 0, TINY));
        count_begin();
        EXPECT(fffs_stat(fs, name, &info) == 0);
        count_end_stat();
        EXPECT(info.size == TINY);
        make_name('y', i);
        count_begin();
        EXPECT(fffs_exists(fs, name) == 0);
        count_end_exists_missing();
    }
    return 0;
}

static int large_file(void)
{
    EXPECT(fffs_open(fs, file, "large", FFFS_WRITE | FFFS_CREATE, buffer, sizeof buffer) == 0);
    for (uint32_t i = 0; i < REPEATS; i++) {
        bench_fill(data, 9, i * PIECE, PIECE);
        count_begin();
        EXPECT(fffs_write(fs, file, data, PIECE) == PIECE);
        count_end_write_1k();
    }
    EXPECT(fffs_close(fs, file) == 0 && fffs_open(fs, file, "large", FFFS_READ, buffer, sizeof buffer) == 0);
    for (uint32_t i = 0; i < REPEATS; i++) {
        count_begin();
        EXPECT(fffs_read(fs, file, data, PIECE) == PIECE);
        count_end_read_1k();
        EXPECT(volume_content_is(data, 9, i * PIECE, PIECE));
    }
    for (uint32_t i = 0; i < REPEATS; i++) {
        uint32_t offset = i * 7919u % (REPEATS * PIECE);
        count_begin();
        EXPECT(fffs_seek(fs, file, (int32_t)offset, FFFS_SEEK_SET) == (int32_t)offset && fffs_read(fs, file, data, 1) == 1);
        count_end_seek_read_1();
    }
    EXPECT(fffs_close(fs, file) == 0 && fffs_delete(fs, "large") == 0);
    return 0;
}

static int count_name(void *context, const struct fffs_info *listed)
{
    (void)listed;
    ++*(uint32_t *)context;
    return 0;
}

static int listing(void)
{
    uint32_t count = 0, read = 0;
    int more = 1;

    count_begin();
    EXPECT(fffs_list(fs, "", count_name, &count) == 0);
    count_end_list_500();
    EXPECT(count == FILES && fffs_dir_open(fs, &dir, "", 0) == 0);
    while (more == 1) {
        count_begin();
        more = fffs_dir_read(fs, &dir, &info);
        count_end_dir_read();
        read += more == 1;
    }
    EXPECT(more == 0 && read == FILES && fffs_dir_close(fs, &dir) == 0);
    count_begin();
    EXPECT(fffs_space(fs, &space) == 0);
    count_end_space();
    return 0;
}

static int mounting(void)
{
    for (uint32_t i = 0; i < 4; i++) {
        count_begin();
        EXPECT(fffs_unmount(fs) == 0);
        count_end_unmount();
        count_begin();
        EXPECT(fffs_mount(fs, &volume.adapter.config) == 0);
        count_end_mount_500();
        EXPECT(volume_put("t000.bin", 0, TINY) == 0);
    }
    for (uint32_t i = 0; i < 4; i++) {
        EXPECT(volume_put("t000.bin", 0, TINY) == 0);
        volume_forget();
        count_begin();
        EXPECT(fffs_mount(fs, &volume.adapter.config) == 0);
        count_end_mount_500_unclean();
    }
    return 0;
}

static void (*const count_gc[])(void) = {
    count_end_gc_idle, count_end_gc_moved, count_end_gc_committed, count_end_gc_erased, count_end_gc_rotated,
    count_end_gc_looked
};

static int gc_steps(void)
{
    int action;

    do {
        count_begin();
        action = fffs_gc_step(fs, NULL, NULL);
        EXPECT(action >= 0 && (unsigned)action < sizeof count_gc / sizeof count_gc[0]);
        count_gc[action]();
    } while (action > 0);
    return 0;
}

static int deleting(void)
{
    for (uint32_t i = 0; i < FILES; i += 2u) {
        make_name('t', i);
        count_begin();
        EXPECT(fffs_delete(fs, name) == 0);
        count_end_delete();
    }
    return 0;
}

/* A volume of 1 MiB, three quarters full of files of 3 KB, of which one after the other, in no order, is replaced: no
 * segment dies as a whole, so that the collector has to move. */
static int collecting(void)
{
    enum { BYTES = 1 << 20, SIZE = 3000, TIMES = 1500 };
    uint32_t random = 1;
    int line;

    EXPECT(fffs_unmount(fs) == 0 && volume_erase(BYTES) == 0);
    EXPECT(volume_format(BYTES, 0) == 0 && volume_mount(0) == 0);
    EXPECT(fffs_space(fs, &space) == 0);
    uint32_t files = space.free_bytes / 4u * 3u / (SIZE + 100u);
    for (uint32_t i = 0; i < files + TIMES; i++) {
        random = random * 1664525u + 1013904223u;
        EXPECT(volume_put(make_name('w', i < files ? i : (random >> 16) % files), i, SIZE) == 0);
        if ((line = gc_steps()) != 0)
            return line;
    }
    return 0;
}

int run_counts(void)
{
    static int (*const parts[])(void) = { creating, reading, large_file, listing, mounting, deleting, collecting };
    int line;

    if (volume_init() != 0)
        return __LINE__;
    EXPECT(volume_erase(0) == 0 && volume_format(0, 0) == 0 && volume_mount(0) == 0);
    for (unsigned i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if ((line = parts[i]()) != 0)
            return line;
    return volume_check() == 0 && fffs_unmount(fs) == 0 ? 0 : __LINE__;
}

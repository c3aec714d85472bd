/* Power cuts: a history of changes in which step n always does the same. After each boot the volume must be what it was
 * after some step; the next boot goes on from there.
 *
 * Arguments: format (makes the volume first; volume=BYTES), keys=N names, most=N bytes of a file, lo=N and hi=N the steps
 * that the volume may stand at, steps=N how many to do (then it unmounts), cut=N torn=N (see cut_bus.h), manifest.
 */
#include <string.h>
#include "bench/workload.h"
#include "volume.h"

enum { KEYS_MAX = 100, STEP_BYTES = 4 };

#define EXPECT(condition) do { if (!(condition)) return __LINE__; } while (0)

struct step { uint32_t key, size; };     /* size 0: delete */

static struct fffs *const fs = &volume.adapter.fs;
static struct fffs_file *const file = &volume.adapter.file;
static uint32_t keys, most;
static uint32_t observed[KEYS_MAX], expected[KEYS_MAX]; /* the step that wrote the file, 0: it is not there */
static char name[8];
static uint8_t data[200];

static uint32_t scramble(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7FEB352Du;
    x ^= x >> 15;
    x *= 0x846CA68Bu;
    return x ^ (x >> 16);
}

static struct step step_of(uint32_t number)
{
    uint32_t random = scramble(number), size = scramble(random);
    struct step step = { random % keys, 0 };

    if (random >> 16 & 7u)
        step.size = (uint32_t)STEP_BYTES + size % ((size >> 20 & 15u) == 0 ? 8u * most : most);
    return step;
}

static const char *key_name(uint32_t key)
{
    memcpy(name, "key", 3);
    name[3] = (char)('0' + (int)(key / 10u));
    name[4] = (char)('0' + (int)(key % 10u));
    name[5] = 0;
    return name;
}

/* Content: the step's number, then bytes that follow from it. */
static void fill(uint8_t *to, uint32_t number, uint32_t offset, uint32_t bytes)
{
    bench_fill(to, number, offset, bytes);
    for (uint32_t i = 0; i < STEP_BYTES && offset == 0; i++)
        to[i] = (uint8_t)(number >> (8u * i));
}

/* ---- Doing a step ---- */

static int write_file(uint32_t number, const struct step *step)
{
    EXPECT(adapter_fastffs_fs.open_write(&volume.adapter, key_name(step->key)) == 0);
    for (uint32_t done = 0; done < step->size; ) {
        uint32_t part = step->size - done < sizeof data ? step->size - done : (uint32_t)sizeof data;
        fill(data, number, done, part);
        EXPECT(fffs_write(fs, file, data, part) == (int32_t)part);
        done += part;
    }
    EXPECT(fffs_close(fs, file) == 0);
    return 0;
}

static int do_step(uint32_t number)
{
    struct step step = step_of(number);
    int line = 0;

    if (step.size != 0) {
        line = write_file(number, &step);
    } else {
        int status = fffs_delete(fs, key_name(step.key));
        EXPECT(status == FFFS_OK || status == FFFS_ERR_NOT_FOUND);
    }
    if (line == 0 && number % 3u == 0)
        EXPECT(fffs_gc_step(fs, NULL, NULL) >= 0);
    return line;
}

/* ---- Which step the volume stands at ---- */

/* The step that wrote the file, every byte compared; 0 when there is none. */
static int observe(uint32_t key, uint32_t *number)
{
    uint8_t wanted[sizeof data];
    int32_t got;
    uint32_t done = 0;
    int status = fffs_open(fs, file, key_name(key), FFFS_READ, volume.adapter.file_buffer, volume.adapter.file_buffer_bytes);
    struct step step = { 0, 0 };

    *number = 0;
    if (status == FFFS_ERR_NOT_FOUND)
        return 0;
    EXPECT(status == 0);
    while ((got = fffs_read(fs, file, data, sizeof data)) > 0) {
        if (done == 0) {
            EXPECT(got >= STEP_BYTES);
            *number = (uint32_t)data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 | (uint32_t)data[3] << 24;
            step = step_of(*number);
        }
        EXPECT(step.key == key && (uint32_t)got <= step.size - done);
        fill(wanted, *number, done, (uint32_t)got);
        EXPECT(memcmp(data, wanted, (uint32_t)got) == 0);
        done += (uint32_t)got;
    }
    EXPECT(got == 0 && done == step.size && fffs_close(fs, file) == 0);
    return 0;
}

static int observe_all(void)
{
    int present = 0, line;

    for (uint32_t key = 0; key < keys; key++) {
        if ((line = observe(key, &observed[key])) != 0)
            return line;
        present += observed[key] != 0;
    }
    EXPECT(volume_count("") == present);
    return 0;
}

/* The first step in lo .. hi behind which the volume is as observed. */
static int find_state(uint32_t lo, uint32_t hi, uint32_t *number)
{
    memset(expected, 0, sizeof expected);
    for (*number = 0;; ) {
        if (*number >= lo && memcmp(expected, observed, sizeof expected) == 0)
            return 0;
        if (*number == hi)
            break;
        struct step step = step_of(++*number);
        expected[step.key] = step.size != 0 ? *number : 0;
    }
    for (uint32_t key = 0; key < keys; key++) {
        if (expected[key] == observed[key])
            continue;
        board_print("# is, and after the last step would be: ");
        print_number(observed[key]);
        board_print(" ");
        print_number(expected[key]);
        board_print("\n");
    }
    return __LINE__;
}

static void print_manifest(void)
{
    for (uint32_t key = 0; key < keys; key++) {
        if (observed[key] == 0)
            continue;
        uint32_t size = step_of(observed[key]).size, crc = 0, part;
        for (uint32_t done = 0; done < size; done += part) {
            part = size - done < sizeof data ? size - done : (uint32_t)sizeof data;
            fill(data, observed[key], done, part);
            crc = volume_crc32(crc, data, part);
        }
        volume_print_line(key_name(key), size, crc);
    }
}

static void say(const char *what, uint32_t number)
{
    board_print(what);
    print_number(number);
    board_print("\n");
}

int run_power(void)
{
    uint32_t number, steps = argument_number("steps", 0);
    int line;

    if (volume_init() != 0)
        return __LINE__;
    keys = argument_number("keys", 40);
    most = argument_number("most", 900);
    EXPECT(keys <= KEYS_MAX);
    if (argument_word("format")) {
        uint32_t bytes = argument_number("volume", 0);
        EXPECT(volume_erase(0) == 0 && volume_format(bytes, 0) == 0);
    }
    EXPECT(board_cut_at(argument_number("cut", 0), argument_number("torn", 0)) == 0);
    EXPECT(volume_mount(0) == 0);
    if ((line = observe_all()) != 0)
        return line;
    if ((line = find_state(argument_number("lo", 0), argument_number("hi", 0), &number)) != 0)
        return line;
    EXPECT(volume_check() == 0);
    say("state ", number);
    if (argument_word("manifest"))
        print_manifest();
    for (; steps > 0; steps--) {
        if ((line = do_step(++number)) != 0)
            return line;
        say("acked ", number);
    }
    EXPECT(volume_check() == 0 && fffs_unmount(fs) == 0);
    board_print_operations();
    return 0;
}

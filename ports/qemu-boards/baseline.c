/* The benchmark's baseline workload on a board, its every read compared; afterwards a list of what the volume must hold. */
#include <string.h>
#include "bench/workload.h"
#include "volume.h"

static struct bench_slot slots[BENCH_BASELINE_SLOTS];
static uint8_t buffer[BENCH_CHUNK];

static void erase_device(void *self)
{
    (void)self;
    if (volume_erase(0) != 0)
        board_print("erase failed\n"); /* format answers to that */
}

static void ignore_section(void *self, enum bench_section section)
{
    (void)self;
    (void)section;
}

static void ignore_begin(void *self, enum bench_op op)
{
    (void)self;
    (void)op;
}

static void ignore_end(void *self, enum bench_op op, uint32_t bytes)
{
    (void)self;
    (void)op;
    (void)bytes;
}

static const struct bench_hooks hooks = { erase_device, ignore_section, ignore_begin, ignore_end };

/* The names of the baseline: t000 to t191, then m000 to m015. */
static void print_slot(unsigned slot)
{
    enum { TINY = 192 };
    char name[9] = "t000.bin";
    unsigned number = slot < TINY ? slot : slot - TINY;

    name[0] = slot < TINY ? 't' : 'm';
    for (unsigned i = 3; i > 0; i--, number /= 10u)
        name[i] = (char)('0' + (int)(number % 10u));
    volume_print_file(name, slots[slot].version, slots[slot].size);
}

int run_baseline(void)
{
    static struct bench bench;

    if (volume_init() != 0)
        return __LINE__;
    bench.fs = &adapter_fastffs_fs;
    bench.fs_self = &volume.adapter;
    bench.hooks = &hooks;
    bench.slots = slots;
    bench.slot_count = BENCH_BASELINE_SLOTS;
    bench.buffer = buffer;
    bench.medium_bytes = volume.medium_bytes;
    if (bench_run_baseline(&bench) != 0) {
        board_print("# ");
        board_print(bench.failure.text);
        board_print(" ");
        board_print(bench.failure.name);
        board_print(" ");
        board_print(fffs_status_name((int)bench.failure.status));
        board_print("\n");
        return __LINE__;
    }
    if (volume_check() != 0 || adapter_fastffs_fs.unmount(&volume.adapter) != 0)
        return __LINE__;
    for (unsigned i = 0; i < BENCH_BASELINE_SLOTS; i++)
        if (slots[i].size != 0)
            print_slot(i);
    return board_save("image.bin", volume.flash->size_bytes) == 0 ? 0 : __LINE__;
}

/* Host instructions per operation: each measured_ function repeats one operation; callgrind dumps its counts when the
 * function returns (report/cpu.sh). Times do not matter here, only what the processor does.
 */
#include "bench/adapters/adapter_fastffs.h"
#include "bench/workload.h"
#include "emulator/nor.h"

#include <stdio.h>
#include <string.h>

enum { FILES = 450, REPEATS = 50, TINY = 64 };

static struct adapter_fastffs adapter;
static uint64_t arena[4096];
static uint8_t data[1024];
static char name[24];
static int problems;

static void expect(int ok)
{
    problems += !ok;
}

static void make_name(char letter, int number)
{
    snprintf(name, sizeof name, "%c%03d.bin", letter, number);
}

static void create(char letter, int number)
{
    make_name(letter, number);
    expect(adapter_fastffs_fs.open_write(&adapter, name) == 0);
    expect(adapter_fastffs_fs.write(&adapter, data, TINY) == TINY);
    expect(adapter_fastffs_fs.close(&adapter) == 0);
}

static void measured_create(void)
{
    for (int i = 0; i < REPEATS; i++)
        create('n', i);
}

static void measured_open_read_close(void)
{
    for (int i = 0; i < REPEATS; i++) {
        make_name('t', i * 7);
        expect(adapter_fastffs_fs.open_read(&adapter, name) == 0);
        expect(adapter_fastffs_fs.read(&adapter, data, TINY) == TINY);
        expect(adapter_fastffs_fs.close(&adapter) == 0);
    }
}

static void measured_write_1k(void)
{
    for (int i = 0; i < REPEATS; i++)
        expect(adapter_fastffs_fs.write(&adapter, data, sizeof data) == (int)sizeof data);
}

static void measured_read_1k(void)
{
    for (int i = 0; i < REPEATS; i++)
        expect(adapter_fastffs_fs.read(&adapter, data, sizeof data) == (int)sizeof data);
}

static void measured_exists_hit(void)
{
    for (int i = 0; i < REPEATS; i++) {
        make_name('t', i);
        expect(adapter_fastffs_fs.exists(&adapter, name) == 1);
    }
}

static void measured_exists_miss(void)
{
    for (int i = 0; i < REPEATS; i++) {
        make_name('x', i);
        expect(adapter_fastffs_fs.exists(&adapter, name) == 0);
    }
}

static void measured_delete(void)
{
    for (int i = 0; i < REPEATS; i++) {
        make_name('n', i);
        expect(adapter_fastffs_fs.remove(&adapter, name) == 0);
    }
}

static int count_name(void *context, const char *listed, uint32_t size)
{
    (void)listed;
    (void)size;
    ++*(int *)context;
    return 0;
}

static void measured_list(void)
{
    for (int i = 0; i < REPEATS; i++) {
        int count = 0;
        expect(adapter_fastffs_fs.list(&adapter, count_name, &count) == 0 && count == FILES + 1);
    }
}

static void measured_space(void)
{
    struct bench_space space;
    for (int i = 0; i < REPEATS; i++)
        expect(adapter_fastffs_fs.space(&adapter, &space) == 0);
}

static void measured_gc_idle(void)
{
    for (int i = 0; i < REPEATS; i++)
        expect(adapter_fastffs_fs.background(&adapter) == 0);
}

static void measured_mount(void)
{
    for (int i = 0; i < REPEATS; i++) {
        adapter_fastffs_fs.forget(&adapter);
        expect(adapter_fastffs_fs.mount(&adapter) == 0);
    }
}

/* callgrind writes out what was before at its entry, so that it is not counted. */
static void begin_count(void)
{
}

/* Through pointers that the compiler can not see through, so that the functions stay ones that callgrind can name. */
static void call(void (*measured)(void))
{
    void (*volatile begin)(void) = begin_count;
    void (*volatile function)(void) = measured;
    begin();
    function();
}

static void write_large(void)
{
    make_name('l', 0);
    expect(adapter_fastffs_fs.open_write(&adapter, name) == 0);
    call(measured_write_1k);
    expect(adapter_fastffs_fs.close(&adapter) == 0);
    expect(adapter_fastffs_fs.open_read(&adapter, name) == 0);
    call(measured_read_1k);
    expect(adapter_fastffs_fs.close(&adapter) == 0);
}

int main(void)
{
    struct nor_config config;
    memset(&config, 0, sizeof config);
    config.size_bytes = 4u << 20;
    struct nor *nor = nor_create(&config);
    expect(adapter_fastffs_init(&adapter, nor_flash(nor), &adapter_fastffs_default, arena, sizeof arena) == 0);
    bench_fill(data, 1, 0, sizeof data);
    expect(adapter_fastffs_fs.format(&adapter) == 0 && adapter_fastffs_fs.mount(&adapter) == 0);
    for (int i = 0; i < FILES; i++)
        create('t', i);
    write_large();
    call(measured_create);
    call(measured_exists_hit);
    call(measured_exists_miss);
    call(measured_open_read_close);
    call(measured_delete);
    while (adapter_fastffs_fs.background(&adapter) > 0)
        continue;
    call(measured_gc_idle);
    call(measured_list);
    call(measured_space);
    expect(adapter_fastffs_fs.unmount(&adapter) == 0);
    call(measured_mount);
    nor_destroy(nor);
    if (problems != 0)
        fprintf(stderr, "cpu: %d calls did not do what was expected\n", problems);
    printf("%d\n", REPEATS);
    return problems != 0;
}

/* The n-th driver call fails, or lies, in a session that uses everything on a fragmented, nearly full volume, for every n
 * until the session runs clean. Each failed call tells so; nothing committed is lost; after a mount all goes on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fastffs/fffs_inspect.h"
#include "oracle.h"

enum { SMALLS = 12, PREFIXED = 4 };

struct sizes { uint32_t table, small, big, pieces; };

static struct sizes sizes_for(struct rig *rig)
{
    struct sizes sizes;
    uint32_t capacity = rig_capacity(rig);

    sizes.pieces = 20;
    sizes.table = capacity / 8 / sizes.pieces * sizes.pieces;
    sizes.small = capacity / 40;
    sizes.big = capacity / 7;
    return sizes;
}

/* Two files whose pieces alternate: more extents than a node holds. Then small files with holes between them. */
static struct rig *prepare(const char *point, struct sizes *sizes)
{
    struct rig *rig = rig_mounted(rig_point_of(point));
    struct rig_file *a = rig_file_new(rig), *b = rig_file_new(rig);
    uint32_t i, piece;
    char name[16];

    *sizes = sizes_for(rig);
    piece = sizes->table / sizes->pieces;
    CHECK_OK(rig_open(a, "t1", RIG_WRITER));
    CHECK_OK(rig_open(b, "t2", RIG_WRITER));
    for (i = 0; i < sizes->pieces; i++) {
        CHECK_EQ(rig_write(a, rig_data(1) + i * piece, piece), piece);
        CHECK_EQ(rig_write(b, rig_data(2) + i * piece, piece), piece);
    }
    CHECK_OK(rig_close(a));
    CHECK_OK(rig_close(b));
    for (i = 0; i < SMALLS; i++) {
        sprintf(name, "f%u", (unsigned)i);
        CHECK_OK(rig_put(rig, name, rig_data(i), sizes->small));
        if (i < PREFIXED) {
            sprintf(name, "g/%u", (unsigned)i);
            CHECK_OK(rig_put(rig, name, rig_data(100 + i), 10));
        }
    }
    for (i = 0; i < SMALLS; i += 2) {
        sprintf(name, "f%u", (unsigned)i);
        CHECK_OK(fffs_delete(rig->fs, name));
    }
    CHECK_OK(fffs_delete(rig->fs, "t2"));
    rig_check(rig);
    CHECK_OK(rig_unmount(rig));
    rig_file_free(a);
    rig_file_free(b);
    return rig;
}

enum { PUT_NEW, DELETE_OLD, REPLACE, LIST_FOLDERS, LIST_CALL, READ_TABLE, PREFIX, COLLECT, SPACE, CHECK_VOLUME, INSPECT, SETTLE,
       PUT_AGAIN, UNMOUNT, OPS };

static int see_entry(void *context, const struct fffs_info *info)
{
    (void)context;
    CHECK(info->name[0] != '\0');
    return 0;
}

static int see_item(void *context, const struct fffs_item *item)
{
    (void)context;
    (void)item;
    return 0;
}

static int list_folders(struct rig *rig)
{
    struct fffs_dir dir;
    struct fffs_info info;
    int status, more, count = 0;

    memset(&dir, 0, sizeof dir);
    status = fffs_dir_open(rig->fs, &dir, "", '/');
    if (status != FFFS_OK) { return status; }
    do {
        more = fffs_dir_read(rig->fs, &dir, &info);
        if (more < 0) { status = more; }
        CHECK(++count < 100);
    } while (more != 0 && status != FFFS_ERR_REMOUNT);
    CHECK_OK(fffs_dir_close(rig->fs, &dir));
    return status;
}

static int read_table(struct rig *rig, const struct sizes *sizes)
{
    struct rig_file *handle = rig_file_new(rig);
    static uint8_t bytes[4096];
    uint32_t at = 0, i;
    int32_t result = rig_open(handle, "t1", FFFS_READ);

    for (i = 0; result >= 0 && i < 30; i++) {
        uint32_t n = sizes->table / 9;
        n = n < sizeof bytes ? n : (uint32_t)sizeof bytes;
        result = fffs_seek(rig->fs, handle->file, (int32_t)at, FFFS_SEEK_SET);
        if (result >= 0) { result = fffs_read(rig->fs, handle->file, bytes, n); }
        if (result > 0) { CHECK_MEM(bytes, rig_data(1) + at, result); }
        at = (at + sizes->table * 5 / 7) % sizes->table;
    }
    if (result != FFFS_ERR_NOT_FOUND) { (void)fffs_close(rig->fs, handle->file); }
    rig_file_free(handle);
    return result < 0 ? result : FFFS_OK;
}

static int collect(struct rig *rig)
{
    unsigned i;
    for (i = 0; i < 40; i++) {
        int action = fffs_gc_step(rig->fs, NULL, NULL);
        if (action < 0) { return action; }
        if (action == FFFS_GC_IDLE) { break; }
    }
    return FFFS_OK;
}

static void session(struct rig *rig, const struct sizes *sizes, int *status)
{
    struct fffs_space space;
    struct fffs_info info;
    int found;

    status[PUT_NEW] = rig_put_in(rig, "n1", rig_data(50), sizes->big, 200);
    status[DELETE_OLD] = fffs_delete(rig->fs, "f1");
    status[REPLACE] = rig_put_in(rig, "f3", rig_data(51), sizes->small, 50);
    status[LIST_FOLDERS] = list_folders(rig);
    status[LIST_CALL] = fffs_list(rig->fs, "", see_entry, NULL);
    status[READ_TABLE] = read_table(rig, sizes);
    found = fffs_delete_prefix(rig->fs, "g/");
    status[PREFIX] = found == PREFIXED ? FFFS_OK : found;
    status[COLLECT] = collect(rig);
    status[SPACE] = fffs_space(rig->fs, &space);
    found = fffs_check(rig->fs, NULL, NULL);
    status[CHECK_VOLUME] = found < 0 ? found : FFFS_OK;
    status[INSPECT] = fffs_inspect(rig->fs, see_item, NULL);
    found = fffs_inspect_owner(rig->fs, rig->flash.size_bytes - 100, &info);
    if (found < 0 && status[INSPECT] == FFFS_OK) { status[INSPECT] = found; }
    status[SETTLE] = fffs_settle(rig->fs);
    status[PUT_AGAIN] = rig_put_in(rig, "n2", rig_data(52), sizes->big / 2, 300);
    status[UNMOUNT] = fffs_unmount(rig->fs);
}

/* The name holds `data` when the change is known to have happened, else that or what was before (NULL: nothing). */
static void expect_change(struct rig *rig, const char *name, int happened, const uint8_t *data, uint32_t size,
                          const uint8_t *old, uint32_t old_size)
{
    if (data != NULL && rig_holds(rig, name, data, size) == 1) { return; }
    if (data == NULL && fffs_exists(rig->fs, name) == 0) { return; }
    if (happened) { harness_fail(__FILE__, __LINE__, "\"%s\" lost a change that was reported as done", name); }
    if (old == NULL) { CHECK_EQ(fffs_exists(rig->fs, name), 0); }
    else { rig_expect(rig, name, old, old_size); }
}

static void verify(struct rig *rig, const struct sizes *sizes, const int *status)
{
    uint32_t i;
    char name[16];

    rig_expect(rig, "t1", rig_data(1), sizes->table);
    for (i = 5; i < SMALLS; i += 2) {
        sprintf(name, "f%u", (unsigned)i);
        rig_expect(rig, name, rig_data(i), sizes->small);
    }
    expect_change(rig, "n1", status[PUT_NEW] == FFFS_OK, rig_data(50), sizes->big, NULL, 0);
    expect_change(rig, "f1", status[DELETE_OLD] == FFFS_OK, NULL, 0, rig_data(1), sizes->small);
    expect_change(rig, "f3", status[REPLACE] == FFFS_OK, rig_data(51), sizes->small, rig_data(3), sizes->small);
    expect_change(rig, "n2", status[PUT_AGAIN] == FFFS_OK, rig_data(52), sizes->big / 2, NULL, 0);
    for (i = 0; i < PREFIXED; i++) {
        sprintf(name, "g/%u", (unsigned)i);
        expect_change(rig, name, status[PREFIX] == FFFS_OK, NULL, 0, rig_data(100 + i), 10);
    }
    rig_check(rig);
}

static int is_expected(int op, int status)
{
    if (status == FFFS_OK || status == FFFS_ERR_IO || status == FFFS_ERR_REMOUNT || status == FFFS_ERR_ABANDONED) { return 1; }
    if (op == PREFIX && status >= 0) { return 1; }                  /* some */
    if (op == UNMOUNT || op == READ_TABLE) { return status == FFFS_ERR_NOT_MOUNTED; }
    /* an earlier failure may have cost a victim, or kept a file */
    return (op == PUT_NEW || op == PUT_AGAIN || op == REPLACE) && status == FFFS_ERR_NO_SPACE;
}

static void one_failure(struct rig *base, const struct sizes *sizes, unsigned ops, int lie, uint64_t n, int *hit)
{
    struct rig *rig = rig_clone(base);
    int status[OPS], op, failed = 0;

    harness_note("call %u %s", (unsigned)n, lie ? "lies" : "fails");
    CHECK_OK(rig_mount_flags(rig, rig->point.flags | (lie ? FFFS_MOUNT_VERIFY : 0u)));
    rig->call_budget = 2000000;
    rig->fail_ops = ops;
    rig->fail_at = n;
    rig->lie = lie;
    session(rig, sizes, status);
    *hit = rig->fail_hit;
    rig->fail_ops = 0;
    for (op = 0; op < OPS; op++) {
        failed += status[op] != FFFS_OK;
        if (!is_expected(op, status[op])) {
            harness_fail(__FILE__, __LINE__, "operation %d answers %s", op, fffs_status_name(status[op]));
        }
    }
    if (!*hit) { CHECK_EQ(failed, 0); }
    rig_restart(rig);
    verify(rig, sizes, status);
    CHECK_OK(rig_put(rig, "more", rig_data(60), sizes->small));
    CHECK_OK(fffs_gc(rig->fs));
    rig_expect(rig, "more", rig_data(60), sizes->small);
    verify(rig, sizes, status);
    rig_destroy(rig);
}

static void every_nth(const char *point, unsigned ops, int lie, uint64_t stride)
{
    struct sizes sizes;
    struct rig *base = prepare(point, &sizes);
    uint64_t n, count = 0;
    int hit = 1;

    harness_timeout(120);
    for (n = 0; hit; n += 1 + n % stride) {
        one_failure(base, &sizes, ops, lie, n, &hit);
        count++;
        CHECK(n < 200000);
    }
    CHECK(count > 8);
    rig_destroy(base);
}

#define HASH "s1024-g1-n96-seg1024-hash-sc512-fb64"
#define NONE "s1024-g8-n64-mf40-seg2048-none-sc256-fb16"
#define WIDE "s4096-g64-n48-seg4096-small-sc512-fb64"
#define LAZY "s1024-g16-n80-seg1024-full-sc1024-fb256-wb1024-lazy"

TEST(programs_and_erases_fail_hash) { every_nth(HASH, 1u << NOR_PROGRAM | 1u << NOR_ERASE, 0, 1); }
TEST(programs_and_erases_fail_none) { every_nth(NONE, 1u << NOR_PROGRAM | 1u << NOR_ERASE, 0, 1); }
TEST(programs_and_erases_fail_wide) { every_nth(WIDE, 1u << NOR_PROGRAM | 1u << NOR_ERASE, 0, 1); }
TEST(programs_and_erases_fail_lazy) { every_nth(LAZY, 1u << NOR_PROGRAM | 1u << NOR_ERASE, 0, 1); }
TEST(reads_fail_hash) { every_nth(HASH, 1u << NOR_READ, 0, 83); }
TEST(reads_fail_none) { every_nth(NONE, 1u << NOR_READ, 0, 97); }
TEST(reads_fail_wide) { every_nth(WIDE, 1u << NOR_READ, 0, 29); }
TEST(reads_fail_lazy) { every_nth(LAZY, 1u << NOR_READ, 0, 167); }
TEST(syncs_fail) { every_nth(HASH, 1u << NOR_SYNC, 0, 1); }
TEST(programs_and_erases_lie_hash) { every_nth(HASH, 1u << NOR_PROGRAM | 1u << NOR_ERASE, 1, 1); }
TEST(programs_and_erases_lie_wide) { every_nth(WIDE, 1u << NOR_PROGRAM | 1u << NOR_ERASE, 1, 1); }

/* ---- ECC: a granule torn by a cut answers an error of its own ---- */

static void watch_programs(struct rig *rig, enum nor_op op, uint32_t address, uint32_t bytes, const void *buffer)
{
    uint32_t *last = rig->on_call_context;
    (void)buffer;
    if (op == NOR_PROGRAM) {
        last[0] = address;
        last[1] = bytes;
    }
}

/* The last program of a replace is the record: torn, the old version stands, and nothing is built on its place. */
static void ecc_tears(const char *point, int tear_node)
{
    struct rig *rig = rig_mounted(rig_point_of(point));
    uint32_t last[2] = { 0, 0 }, round, granule = rig->point.granule_bytes;

    rig->on_call = watch_programs;
    rig->on_call_context = last;
    CHECK_OK(rig_put(rig, "other", rig_data(9), 3000));
    for (round = 0; round < 25; round++) {
        struct rig_file *handle = rig_file_new(rig);
        CHECK_OK(rig_put(rig, "a", rig_data(round), 500 + round));
        CHECK_OK(rig_open(handle, "a", RIG_WRITER));
        CHECK_EQ(rig_write(handle, rig_data(77), 700), 700);
        if (tear_node) { nor_cut_at(rig->nor, 1, 1); (void)rig_close(handle); rig_power_on(rig); }
        else { CHECK_OK(rig_close(handle)); }
        rig_crash(rig);
        rig->torn_address = last[0] + last[1] - granule;
        rig->torn_bytes = granule;
        if (round % 3 == 0) {
            CHECK_OK(rig_mount_flags(rig, FFFS_MOUNT_READ_ONLY));
            rig_expect(rig, "a", rig_data(round), 500 + round);
            CHECK_OK(rig_unmount(rig));
        }
        rig_restart(rig);
        rig_expect(rig, "a", rig_data(round), 500 + round);
        rig_expect(rig, "other", rig_data(9), 3000);
        CHECK_EQ(rig_names(rig, ""), 2);
        rig_check(rig);
        rig_file_free(handle);
    }
    rig_destroy(rig);
}

TEST(ecc_torn_record_granule_16) { ecc_tears("s4096-g16-n64-hash", 0); }
TEST(ecc_torn_record_granule_32_none) { ecc_tears("s1024-g32-n96-none-sc256-fb64", 0); }
TEST(ecc_torn_record_encrypted) { ecc_tears("s4096-g16-n64-hash-crypt", 0); }

/* ---- Drivers with fewer functions ---- */

static void without(const char *point, int is_blank, int sync)
{
    struct rig *rig = rig_create(rig_point_of(point));
    uint32_t i;

    if (!is_blank) { rig->flash.is_blank = NULL; }
    if (!sync) { rig->flash.sync = NULL; }
    CHECK_OK(rig_format(rig));
    CHECK_OK(rig_mount(rig));
    for (i = 0; i < 60; i++) {
        CHECK_OK(rig_put(rig, i % 2 ? "a" : "b", rig_data(i), 5000 + i));
        if (i % 20 == 7) { rig_restart(rig); }
        if (i % 20 == 17) { rig_remount(rig); }
    }
    CHECK_OK(fffs_gc(rig->fs));
    rig_expect(rig, "a", rig_data(59), 5059);
    rig_expect(rig, "b", rig_data(58), 5058);
    rig_check(rig);
    rig_destroy(rig);
}

TEST(drivers_without_blank_check) { without("s4096-g1-n64-hash", 0, 1); }
TEST(drivers_without_blank_check_verify) { without("s4096-g8-n64-none-verify", 0, 1); }
TEST(drivers_without_sync) { without("s1024-g16-n128-hash-verify", 1, 0); }

SUITE(errors)
{
    RUN(programs_and_erases_fail_hash);
    RUN(programs_and_erases_fail_none);
    RUN(programs_and_erases_fail_wide);
    RUN(programs_and_erases_fail_lazy);
    RUN(reads_fail_hash);
    RUN(reads_fail_none);
    RUN(reads_fail_wide);
    RUN(reads_fail_lazy);
    RUN(syncs_fail);
    RUN(programs_and_erases_lie_hash);
    RUN(programs_and_erases_lie_wide);
    RUN(ecc_torn_record_granule_16);
    RUN(ecc_torn_record_granule_32_none);
    RUN(ecc_torn_record_encrypted);
    RUN(drivers_without_blank_check);
    RUN(drivers_without_blank_check_verify);
    RUN(drivers_without_sync);
}

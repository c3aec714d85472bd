/* The n-th driver call fails where test_errors.c does not look: in a mount that recovers, in format, in grow; twice in one
 * session; and lies without an index cache. Every n until all runs clean. After each: a documented error or success,
 * nothing committed lost, and after a mount all goes on. */
#include <stdio.h>
#include <string.h>
#include "oracle.h"

enum { FILES = 6, BUDGET = 400000 };

#define CHANGES (1u << NOR_PROGRAM | 1u << NOR_ERASE)
#define READS (1u << NOR_READ)

#define HASH "s1024-g1-n64-seg1024-hash-sc512-fb64"
#define NONE "s1024-g8-n64-mf40-seg2048-none-sc256-fb16"
#define TINY "s256-g4-n24-seg256-full-sc256-fb32"
#define DEFER "s1024-g16-n64-seg1024-hash-sc512-fb64-defer"

static const char *name_of(uint32_t i)
{
    static char name[16];
    sprintf(name, "file%u", (unsigned)i);
    return name;
}

/* Some versions of some files, the last with a rotation of the index behind it. */
static struct rig *filled(const char *point)
{
    struct rig *rig = rig_mounted(rig_point_of(point));
    uint32_t i;

    for (i = 0; i < 5 * FILES; i++) { CHECK_OK(rig_put(rig, name_of(i % FILES), rig_data(i), 40 + i)); }
    return rig;
}

static void expect_filled(struct rig *rig)
{
    uint32_t i;
    for (i = 4 * FILES; i < 5 * FILES; i++) { rig_expect(rig, name_of(i % FILES), rig_data(i), 40 + i); }
}

static void expect_goes_on(struct rig *rig)
{
    CHECK_OK(rig_put(rig, "more", rig_data(90), 70));
    CHECK_OK(fffs_gc(rig->fs));
    rig_restart(rig);
    rig_expect(rig, "more", rig_data(90), 70);
    rig_check(rig);
}

static int is_refusal(int status)
{
    return status == FFFS_ERR_IO || status == FFFS_ERR_REMOUNT || status == FFFS_ERR_ABANDONED;
}

static void expect_refusal(const char *what, int status)
{
    if (!is_refusal(status)) { harness_fail(__FILE__, __LINE__, "%s answers %s", what, fffs_status_name(status)); }
}

static void fail_nth(struct rig *rig, unsigned ops, uint64_t n, int lie)
{
    rig->call_budget = BUDGET;
    rig->fail_hit = 0;
    rig->fail_ops = ops;
    rig->fail_at = n;
    rig->fail_count = 0;
    rig->lie = lie;
}

static int end_failing(struct rig *rig)
{
    rig->fail_ops = 0;
    rig->on_call = NULL;
    return rig->fail_hit;
}

/* ---- Mount after a power loss ---- */

static void mount_fails(const char *point, unsigned ops, uint64_t stride)
{
    struct rig *base = filled(point);
    uint64_t n;
    int hit = 1;

    rig_crash(base);
    harness_timeout(120);
    for (n = 0; hit; n += 1 + n % stride) {
        struct rig *rig = rig_clone(base);
        int status;

        harness_note("call %u of the mount fails", (unsigned)n);
        fail_nth(rig, ops, n, 0);
        status = rig_mount(rig);
        if (status != FFFS_OK) {
            CHECK_EQ(status, FFFS_ERR_IO);
        } else { /* with recovery put off the failure may come in the first change */
            status = rig_put(rig, "first", rig_data(80), 60);
            if (status != FFFS_OK) { expect_refusal("the first put", status); }
        }
        hit = end_failing(rig);
        rig_restart(rig);
        expect_filled(rig);
        if (status == FFFS_OK) { rig_expect(rig, "first", rig_data(80), 60); }
        expect_goes_on(rig);
        rig_destroy(rig);
    }
    CHECK(n > 2);
    rig_destroy(base);
}

TEST(mount_changes_fail_hash) { mount_fails(HASH, CHANGES, 1); }
TEST(mount_changes_fail_none) { mount_fails(NONE, CHANGES, 1); }
TEST(mount_changes_fail_tiny) { mount_fails(TINY, CHANGES, 1); }
TEST(mount_changes_fail_deferred) { mount_fails(DEFER, CHANGES, 1); }
TEST(mount_reads_fail_hash) { mount_fails(HASH, READS, 1); }
TEST(mount_reads_fail_none) { mount_fails(NONE, READS, 7); }
TEST(mount_reads_fail_deferred) { mount_fails(DEFER, READS, 1); }

/* ---- Format ---- */

static void format_fails(const char *point, unsigned ops, int erased_before)
{
    struct rig *base = filled(point);
    uint64_t n;
    int hit = 1;

    CHECK_OK(rig_unmount(base));
    harness_timeout(120);
    for (n = 0; hit; n++) {
        struct rig *rig = rig_clone(base);
        int status, mounted;

        if (erased_before) { /* of another geometry: no format in place */
            rig->format.geometry.max_files = 17;
            rig->format.geometry.probe_limit = 11;
        }
        harness_note("call %u of the format fails", (unsigned)n);
        fail_nth(rig, ops, n, 0);
        status = rig_format(rig);
        hit = end_failing(rig);
        CHECK(status == FFFS_OK || status == FFFS_ERR_IO);
        mounted = rig_mount(rig);
        if (mounted == FFFS_OK && rig_names(rig, "") != 0) {
            CHECK(status != FFFS_OK);
            expect_filled(rig);
        } else if (mounted != FFFS_OK) {
            CHECK(status != FFFS_OK && erased_before);
            CHECK(mounted == FFFS_ERR_BLANK || mounted == FFFS_ERR_FOREIGN || mounted == FFFS_ERR_CORRUPT);
        }
        if (mounted == FFFS_OK) { CHECK_OK(rig_unmount(rig)); }
        CHECK_OK(rig_format(rig));
        CHECK_OK(rig_mount(rig));
        CHECK_EQ(rig_names(rig, ""), 0);
        expect_goes_on(rig);
        rig_destroy(rig);
    }
    CHECK(n > 2);
    rig_destroy(base);
}

TEST(format_in_place_changes_fail) { format_fails(HASH, CHANGES, 0); }
TEST(format_in_place_reads_fail) { format_fails(NONE, READS, 0); }
TEST(format_anew_changes_fail) { format_fails(HASH, CHANGES, 1); }
TEST(format_anew_reads_fail) { format_fails(NONE, READS, 1); }

/* ---- Two failures in one session, each change tried again ---- */

static void fail_again(struct rig *rig, enum nor_op op, uint32_t address, uint32_t bytes, const void *buffer)
{
    uint64_t *left = rig->on_call_context;

    (void)op, (void)address, (void)bytes, (void)buffer;
    if (!rig->fail_hit || *left == UINT64_MAX) { return; }
    rig->fail_ops = CHANGES;
    rig->fail_at = *left;
    *left = UINT64_MAX;
}

/* Tries a change up to three times; FFFS_OK or the last refusal. */
static int insist_put(struct rig *rig, const char *name, uint32_t seed, uint32_t bytes)
{
    int status = FFFS_ERR_IO, turn;

    for (turn = 0; turn < 3 && status != FFFS_OK; turn++) {
        status = rig_put(rig, name, rig_data(seed), bytes);
        if (status != FFFS_OK) { expect_refusal("a put", status); }
    }
    return status;
}

static void twice(const char *point, uint64_t first, uint64_t gap, int settled, int *hit)
{
    struct rig *rig = filled(point);
    uint64_t second = gap;
    int created, deleted, replaced;

    harness_note("calls %u and %u behind it fail", (unsigned)first, (unsigned)gap);
    if (settled) { rig_remount(rig); } /* the first change of a session is tried as well */
    fail_nth(rig, CHANGES, first, 0);
    rig->on_call = fail_again;
    rig->on_call_context = &second;
    created = insist_put(rig, "new", 81, 100);
    deleted = fffs_delete(rig->fs, name_of(0));
    if (deleted != FFFS_OK) {
        expect_refusal("a delete", deleted);
        deleted = fffs_delete(rig->fs, name_of(0));
    }
    replaced = insist_put(rig, name_of(1), 82, 90);
    *hit = rig->fail_hit;
    (void)end_failing(rig);
    if (!*hit) { CHECK(created == FFFS_OK && deleted == FFFS_OK && replaced == FFFS_OK); }
    rig_restart(rig);
    if (created == FFFS_OK) { rig_expect(rig, "new", rig_data(81), 100); }
    if (deleted == FFFS_OK) { CHECK_EQ(fffs_exists(rig->fs, name_of(0)), 0); }
    if (replaced == FFFS_OK) { rig_expect(rig, name_of(1), rig_data(82), 90); }
    rig_expect(rig, name_of(2), rig_data(4 * FILES + 2), 40 + 4 * FILES + 2);
    rig_expect(rig, name_of(5), rig_data(4 * FILES + 5), 40 + 4 * FILES + 5);
    expect_goes_on(rig);
    rig_destroy(rig);
}

static void fail_twice(const char *point, int settled)
{
    uint64_t first, gap;
    int hit = 1;

    harness_timeout(120);
    for (first = 0; hit; first++) {
        for (gap = 0; gap < 8 && hit; gap++) { twice(point, first, gap, settled, &hit); }
    }
    CHECK(first > 3);
}

TEST(two_failures_hash) { fail_twice(HASH, 0); }
TEST(two_failures_hash_first_change) { fail_twice(HASH, 1); }
TEST(two_failures_none_first_change) { fail_twice(NONE, 1); }
TEST(two_failures_tiny_first_change) { fail_twice(TINY, 1); }

/* ---- A driver that lies, without an index cache ---- */

static void lies(const char *point)
{
    uint64_t n;
    int hit = 1;

    harness_timeout(120);
    for (n = 0; hit; n++) {
        struct rig *rig = filled(point);
        int created, replaced;

        harness_note("call %u lies", (unsigned)n);
        rig_unmount(rig);
        CHECK_OK(rig_mount_flags(rig, rig->point.flags | FFFS_MOUNT_VERIFY));
        fail_nth(rig, CHANGES, n, 1);
        created = insist_put(rig, "new", 81, 100);
        replaced = insist_put(rig, name_of(1), 82, 900);
        hit = end_failing(rig);
        rig_restart(rig);
        if (created == FFFS_OK) { rig_expect(rig, "new", rig_data(81), 100); }
        if (replaced == FFFS_OK) { rig_expect(rig, name_of(1), rig_data(82), 900); }
        rig_expect(rig, name_of(2), rig_data(4 * FILES + 2), 40 + 4 * FILES + 2);
        expect_goes_on(rig);
        rig_destroy(rig);
    }
    CHECK(n > 3);
}

TEST(lies_none) { lies(NONE); }
TEST(lies_tiny) { lies(TINY); }

SUITE(nth)
{
    RUN(mount_changes_fail_hash);
    RUN(mount_changes_fail_none);
    RUN(mount_changes_fail_tiny);
    RUN(mount_changes_fail_deferred);
    RUN(mount_reads_fail_hash);
    RUN(mount_reads_fail_none);
    RUN(mount_reads_fail_deferred);
    RUN(format_in_place_changes_fail);
    RUN(format_in_place_reads_fail);
    RUN(format_anew_changes_fail);
    RUN(format_anew_reads_fail);
    RUN(two_failures_hash);
    RUN(two_failures_hash_first_change);
    RUN(two_failures_none_first_change);
    RUN(two_failures_tiny_first_change);
    RUN(lies_none);
    RUN(lies_tiny);
}

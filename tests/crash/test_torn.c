/* Random sessions that end in a torn program or a half-done erase, again and again on one volume, with cuts during recovery.
 * After each: every committed file is there byte for byte, the change in flight is done or not, and what the first writable
 * mount has shown, the next shows too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "emulator/nor_fault.h"
#include "oracle.h"

enum { NAMES = 9 };

struct torn {
    struct rig *rig;
    struct oracle oracle;
    struct rng rng;
    uint32_t limit;             /* largest file */
    uint32_t data_seed;
    int in_flight;              /* a change was cut: ... */
    char name[16];              /* ... of this name, to ... */
    const uint8_t *data;        /* ... this, or NULL: a delete, ... */
    char from[16];              /* ... or, when not "", the file of this name gets the name */
    uint32_t size;
    int has_after;              /* ... or, when set, this is all that a transaction leaves, with the file above in it */
    struct oracle after;
};

static void pick_name(struct torn *torn, char *name) { sprintf(name, "n%u", (unsigned)rng_below(&torn->rng, NAMES)); }

/* The fault: its kind, and how many programs or erases from now. */
static void plan_fault(struct torn *torn, uint32_t reach)
{
    struct nor *nor = torn->rig->nor;
    enum nor_fault_kind kind = (enum nor_fault_kind)(NOR_FAULT_BEFORE + rng_below(&torn->rng, 10));
    unsigned ops = 1u << NOR_PROGRAM | 1u << NOR_ERASE;

    if (kind >= NOR_FAULT_ERASE_JUNK) {
        ops = 1u << NOR_ERASE;
        reach = reach / 6 + 1;
    } else if (kind >= NOR_FAULT_PREFIX) { ops = 1u << NOR_PROGRAM; }
    nor_fault_at(nor, rng_below(&torn->rng, reach), ops, kind, rng_next(&torn->rng));
}

/* A transaction: a put, which tells later whether it was committed, a delete, a rename. */
static int transaction(struct torn *torn)
{
    struct fffs *fs = torn->rig->fs;
    struct rig_file *handle = rig_file_new(torn->rig);
    struct fffs_change changes[6];
    struct fffs_txn txn;
    char other[16], to[16];
    int status = fffs_txn_begin(fs, &txn, changes, 6);

    torn->data = rig_data(++torn->data_seed);
    torn->size = 1 + rng_below(&torn->rng, torn->limit / 8 + 1);
    oracle_copy(&torn->after, &torn->oracle);
    torn->has_after = 1;
    pick_name(torn, other);
    if (status == FFFS_OK && strcmp(other, torn->name) != 0 && fffs_txn_delete(fs, &txn, other) == FFFS_OK) {
        oracle_delete(&torn->after, other);
    }
    pick_name(torn, other);
    pick_name(torn, to);
    if (status == FFFS_OK && strcmp(to, torn->name) != 0 && strcmp(other, torn->name) != 0
        && fffs_txn_rename(fs, &txn, other, to) == FFFS_OK) { oracle_rename(&torn->after, other, to); }
    if (status == FFFS_OK) { status = rig_open(handle, torn->name, RIG_WRITER); }
    if (status == FFFS_OK) {
        status = rig_write(handle, torn->data, torn->size);
        if (status > 0) { status = fffs_txn_put(fs, &txn, handle->file); }
        if (status != FFFS_OK) { (void)fffs_discard(fs, handle->file); }
    }
    if (status == FFFS_OK) { oracle_put(&torn->after, torn->name, torn->data, torn->size); }
    if (status == FFFS_OK) { status = fffs_txn_commit(fs, &txn); }
    else { (void)fffs_txn_abort(fs, &txn); }
    rig_file_free(handle);
    return status;
}

/* The transaction is what counts from now on, or it never was. */
static void settle_transaction(struct torn *torn, int committed)
{
    if (committed) {
        oracle_free(&torn->oracle);
        torn->oracle = torn->after;
    } else { oracle_free(&torn->after); }
    torn->has_after = 0;
}

/* One change; when the power went, it is in flight. */
static void change(struct torn *torn)
{
    uint32_t dice = rng_below(&torn->rng, 100);
    int status;

    pick_name(torn, torn->name);
    torn->data = NULL;
    torn->size = 0;
    torn->from[0] = '\0';
    if (dice < 60) {
        torn->data = rig_data(++torn->data_seed);
        torn->size = rng_chance(&torn->rng, 70) ? rng_below(&torn->rng, torn->limit / 8 + 1) : rng_below(&torn->rng, torn->limit);
        status = rig_put_in(torn->rig, torn->name, torn->data, torn->size, 1 + rng_below(&torn->rng, 700));
        if (status == FFFS_OK) { oracle_put(&torn->oracle, torn->name, torn->data, torn->size); }
    } else if (dice < 70) {
        pick_name(torn, torn->from);
        status = rig_rename(torn->rig, torn->from, torn->name);
        if (status == FFFS_OK) { oracle_rename(&torn->oracle, torn->from, torn->name); }
        else if (status == FFFS_ERR_NOT_FOUND) { torn->from[0] = '\0'; }
    } else if (dice < 80) {
        status = fffs_delete(torn->rig->fs, torn->name);
        if (status == FFFS_OK) { oracle_delete(&torn->oracle, torn->name); }
    } else if (dice < 84) {
        status = transaction(torn);
        if (!nor_is_off(torn->rig->nor)) {
            settle_transaction(torn, status == FFFS_OK);
            CHECK(status == FFFS_OK || status == FFFS_ERR_NO_SPACE || status == FFFS_ERR_COLLECT_FIRST
                  || status == FFFS_ERR_INDEX_FULL || status == FFFS_ERR_NO_MEMORY);
            return;
        }
        if (status == FFFS_OK) { settle_transaction(torn, 1); }
    } else if (dice < 92) {
        int action = fffs_gc_step(torn->rig->fs, NULL, NULL);
        CHECK(action >= 0 || nor_is_off(torn->rig->nor));
        return;
    } else if (dice < 96) {
        status = fffs_settle(torn->rig->fs);
        CHECK(status == FFFS_OK || nor_is_off(torn->rig->nor));
        return;
    } else {
        status = fffs_unmount(torn->rig->fs);
        if (!nor_is_off(torn->rig->nor)) {
            CHECK_OK(status);
            rig_crash(torn->rig);
            status = rig_mount(torn->rig);
            CHECK(status == FFFS_OK || nor_is_off(torn->rig->nor));
        }
        return;
    }
    if (nor_is_off(torn->rig->nor)) { torn->in_flight = status != FFFS_OK; }
    else { CHECK(status == FFFS_OK || status == FFFS_ERR_NOT_FOUND || status == FFFS_ERR_NO_SPACE); }
}

/* The change in flight: whatever the volume shows is from now on what it must show. */
static void resolve(struct torn *torn)
{
    if (!torn->in_flight) { return; }
    torn->in_flight = 0;
    if (torn->has_after) {
        settle_transaction(torn, rig_holds(torn->rig, torn->name, torn->data, torn->size) == 1);
        return;
    }
    if (torn->from[0] != '\0') {
        if (fffs_exists(torn->rig->fs, torn->from) == 0) { oracle_rename(&torn->oracle, torn->from, torn->name); }
        return;
    }
    if (torn->data != NULL) {
        if (rig_holds(torn->rig, torn->name, torn->data, torn->size) == 1) {
            oracle_put(&torn->oracle, torn->name, torn->data, torn->size);
        }
    } else if (fffs_exists(torn->rig->fs, torn->name) == 0) { oracle_delete(&torn->oracle, torn->name); }
}

static void power_on(struct torn *torn)
{
    nor_fault_clear(torn->rig->nor);
    rig_power_on(torn->rig);
    rig_crash(torn->rig);
}

static void recover(struct torn *torn)
{
    uint32_t depth;

    power_on(torn);
    for (depth = rng_below(&torn->rng, 4); depth > 0; depth--) {
        plan_fault(torn, 6);
        if (rng_chance(&torn->rng, 30)) {
            /* The first change repairs; what is shown before it may still change. */
            if (rig_mount_flags(torn->rig, torn->rig->point.flags | FFFS_MOUNT_DEFER_RECOVERY) == FFFS_OK
                && rig_put(torn->rig, "first", "x", 1) == FFFS_OK) {
                resolve(torn);
                (void)fffs_delete(torn->rig->fs, "first");
            }
        } else { (void)rig_mount(torn->rig); }
        power_on(torn);
    }
    if (rng_chance(&torn->rng, 25)) {
        CHECK_OK(rig_mount_flags(torn->rig, torn->rig->point.flags | FFFS_MOUNT_READ_ONLY));
        rig_crash(torn->rig);
    }
    CHECK_OK(rig_mount(torn->rig));
    if (fffs_exists(torn->rig->fs, "first") == 1) { CHECK_OK(fffs_delete(torn->rig->fs, "first")); }
    resolve(torn);
}

static void run(const struct rig_point *point, uint64_t seed, unsigned rounds)
{
    struct torn torn;
    unsigned round;

    memset(&torn, 0, sizeof torn);
    torn.rng.state = seed;
    torn.rig = rig_mounted(point);
    torn.rig->point.flags &= ~(uint32_t)FFFS_MOUNT_DEFER_RECOVERY;     /* recover() chooses */
    rig_remount(torn.rig);
    torn.limit = rig_share(torn.rig, NAMES + 3, 20000) + 1;
    oracle_init(&torn.oracle);
    for (round = 0; round < rounds; round++) {
        unsigned steps = 0;
        harness_note("round %u", round);
        plan_fault(&torn, 60);
        while (!nor_is_off(torn.rig->nor) && steps++ < 40) { change(&torn); }
        recover(&torn);
        oracle_verify(&torn.oracle, torn.rig);
        if (rng_chance(&torn.rng, 50)) {
            rig_restart(torn.rig);
            oracle_verify(&torn.oracle, torn.rig);
        }
    }
    CHECK_EQ(nor_counts(torn.rig->nor)->violations, 0);
    oracle_free(&torn.oracle);
    rig_destroy(torn.rig);
}

TEST_AT(torn_sessions) { run(point, harness_seed(), harness_is_long() ? 5000 : 150); }

TEST(torn_sessions_at_random_points)
{
    struct rig_point point;
    struct rng rng = { harness_seed() };

    rig_point_random(&point, &rng, 256 * 1024);
    harness_note("point %s", point.name);
    run(&point, rng_next(&rng), harness_is_long() ? 5000 : 200);
}

SUITE(torn)
{
    unsigned i;
    char name[40];

    RUN_MATRIX(torn_sessions);
    for (i = 0; i < 30; i++) {
        sprintf(name, "torn_sessions_at_random_point_%02u", i);
        harness_add_named(name, torn_sessions_at_random_points, i);
    }
    harness_long_only(1);
    for (i = 30; i < 300; i++) {
        sprintf(name, "torn_sessions_at_random_point_%02u", i);
        harness_add_named(name, torn_sessions_at_random_points, i);
    }
}

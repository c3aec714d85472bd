/* Transactions: all changes or none, for readers, listings and after a cut, whatever is mixed, however full the volume is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "oracle.h"

#define USUAL "s4096-g1-n256-hash"

enum { ROOM = 24 };

/* A transaction and what the volume holds before and after it. */
struct work {
    struct rig *rig;
    struct fffs_txn txn;
    struct fffs_change changes[ROOM];
    struct oracle before, after;
};

static void begin(struct work *work)
{
    oracle_copy(&work->after, &work->before);
    CHECK_OK(fffs_txn_begin(work->rig->fs, &work->txn, work->changes, ROOM));
}

/* Index units of the smallest volumes hold too few records for the cases with many changes. */
static void need_room(struct work *work, unsigned changes)
{
    unsigned room;

    begin(work);
    room = work->txn.room;
    CHECK_OK(fffs_txn_abort(work->rig->fs, &work->txn));
    oracle_free(&work->after);
    if (room < changes) { harness_skip("an index unit holds too few records"); }
}

/* Each returns the status; only what worked is in `after`. */
static int put(struct work *work, const char *name, uint32_t seed, uint32_t bytes)
{
    struct rig_file *handle = rig_file_new(work->rig);
    uint32_t done = 0;
    int status = rig_open(handle, name, RIG_WRITER);

    if (status != FFFS_OK) {
        rig_file_free(handle);
        return status;
    }
    while (status >= 0 && done < bytes) {
        uint32_t part = bytes - done < 700 ? bytes - done : 700;
        status = rig_write(handle, rig_data(seed) + done, part);
        done += part;
    }
    if (status >= 0) {
        do { status = fffs_txn_put(work->rig->fs, &work->txn, handle->file); }
        while (status == FFFS_ERR_COLLECT_FIRST && fffs_gc_step(work->rig->fs, NULL, NULL) > 0);
    }
    if (status == FFFS_OK) { oracle_put(&work->after, name, rig_data(seed), bytes); }
    else if (!nor_is_off(work->rig->nor)) { CHECK_OK(fffs_discard(work->rig->fs, handle->file)); }
    else { rig_crash(work->rig); } /* nothing more can be done with the handle */
    rig_file_free(handle);
    return status;
}

static int delete(struct work *work, const char *name)
{
    int status = fffs_txn_delete(work->rig->fs, &work->txn, name);
    if (status == FFFS_OK) { oracle_delete(&work->after, name); }
    return status;
}

static int move(struct work *work, const char *from, const char *to)
{
    int status;
    do { status = fffs_txn_rename(work->rig->fs, &work->txn, from, to); }
    while (status == FFFS_ERR_COLLECT_FIRST && fffs_gc_step(work->rig->fs, NULL, NULL) > 0);
    if (status == FFFS_OK) { oracle_rename(&work->after, from, to); }
    return status;
}

/* Both ends: `after` or `before` is what counts from here on. */
static void commit(struct work *work)
{
    oracle_verify(&work->before, work->rig);
    CHECK_OK(fffs_txn_commit(work->rig->fs, &work->txn));
    oracle_verify(&work->after, work->rig);
    oracle_free(&work->before);
    work->before = work->after;
}

static void abort_it(struct work *work)
{
    CHECK_OK(fffs_txn_abort(work->rig->fs, &work->txn));
    oracle_verify(&work->before, work->rig);
    oracle_free(&work->after);
}

static void start(struct work *work, struct rig *rig)
{
    memset(work, 0, sizeof *work);
    work->rig = rig;
    oracle_init(&work->before);
}

static void finish(struct work *work)
{
    rig_restart(work->rig);
    oracle_verify(&work->before, work->rig);
    rig_remount(work->rig);
    CHECK_OK(fffs_gc(work->rig->fs));
    oracle_verify(&work->before, work->rig);
    oracle_free(&work->before);
    rig_destroy(work->rig);
}

static void plain(struct work *work, const char *name, uint32_t seed, uint32_t bytes)
{
    CHECK_OK(rig_put(work->rig, name, rig_data(seed), bytes));
    oracle_put(&work->before, name, rig_data(seed), bytes);
}

/* ---- What it does ---- */

TEST_AT(mix_of_changes_is_one_change)
{
    struct work work;
    uint32_t size;

    start(&work, rig_mounted(point));
    need_room(&work, 8);
    size = rig_share(work.rig, 14, 3000);
    plain(&work, "replaced", 1, size);
    plain(&work, "deleted", 2, size / 2);
    plain(&work, "renamed", 3, size);
    plain(&work, "over", 4, size / 3);
    plain(&work, "stays", 5, 10);
    begin(&work);
    CHECK_OK(put(&work, "replaced", 6, size / 2));
    CHECK_OK(put(&work, "created", 7, size));
    CHECK_OK(delete(&work, "deleted"));
    CHECK_OK(move(&work, "renamed", "over"));
    CHECK_OK(put(&work, "empty", 8, 0));
    commit(&work);
    rig_restart(work.rig);
    oracle_verify(&work.before, work.rig);
    begin(&work);
    CHECK_OK(delete(&work, "created"));
    CHECK_OK(put(&work, "replaced", 9, size));
    CHECK_OK(move(&work, "over", "again"));
    abort_it(&work);
    begin(&work);                                       /* the same names again, and this time they stay */
    CHECK_OK(delete(&work, "created"));
    CHECK_OK(put(&work, "replaced", 9, size));
    CHECK_OK(move(&work, "over", "again"));
    commit(&work);
    begin(&work);
    commit(&work);                                      /* nothing */
    finish(&work);
}

TEST_AT(calls_of_a_transaction_see_what_was_added)
{
    struct work work;
    uint32_t size;

    start(&work, rig_mounted(point));
    need_room(&work, 9);
    size = rig_share(work.rig, 14, 900);
    plain(&work, "a", 1, size);
    plain(&work, "b", 2, size / 2);
    begin(&work);
    CHECK_OK(move(&work, "a", "c"));                    /* a chain, and the first name in use again */
    CHECK_OK(move(&work, "c", "d"));
    CHECK_STATUS(move(&work, "c", "e"), FFFS_ERR_NOT_FOUND);
    CHECK_STATUS(delete(&work, "a"), FFFS_ERR_NOT_FOUND);
    CHECK_OK(put(&work, "a", 3, 5));
    CHECK_OK(delete(&work, "b"));
    CHECK_OK(move(&work, "d", "b"));                    /* over a name that was deleted here */
    CHECK_OK(put(&work, "new", 4, 7));
    CHECK_OK(put(&work, "new", 5, 9));
    CHECK_OK(move(&work, "new", "newer"));
    CHECK_OK(put(&work, "gone", 6, 11));
    CHECK_OK(delete(&work, "gone"));
    CHECK_STATUS(delete(&work, "gone"), FFFS_ERR_NOT_FOUND);
    CHECK_OK(move(&work, "newer", "newer"));
    CHECK_STATUS(move(&work, "new", "new"), FFFS_ERR_NOT_FOUND);
    commit(&work);
    CHECK_EQ(rig_names(work.rig, ""), 3);
    finish(&work);
}

/* Names of one probe window, so that slots are freed, taken and passed over within one transaction. */
TEST_AT(names_with_neighbouring_slots)
{
    struct work work;
    struct rng rng = { harness_seed() };
    char names[12][16];
    unsigned found = 0, number, round, i;

    for (number = 0; found < 12; number++) {            /* the low 16 bits of the CRC are the slot */
        uint32_t crc = 0xFFFFFFFFu, bit;
        char *c;
        sprintf(names[found], "n%u", number);
        for (c = names[found]; *c != '\0'; c++) {
            crc ^= (uint8_t)*c;
            for (bit = 0; bit < 8; bit++) { crc = crc >> 1 ^ (0xEDB88320u & (0u - (crc & 1u))); }
        }
        if (((~crc - 0x8000u) & 0xFFFFu) < 3) { found++; }
    }
    start(&work, rig_mounted(point));
    for (round = 0; round < 30; round++) {
        harness_note("round %u", round);
        begin(&work);
        for (i = 0; i < 7; i++) {
            const char *name = names[rng_below(&rng, 12)], *other = names[rng_below(&rng, 12)];
            int exists = oracle_get(&work.after, name) != NULL, status;
            switch (rng_below(&rng, 3)) {
            case 0: status = put(&work, name, round * 7 + i, rng_below(&rng, 30)); exists = 1; break;
            case 1: status = delete(&work, name); break;
            default: status = move(&work, name, other); break;
            }
            if (exists && (status == FFFS_ERR_NO_SPACE || status == FFFS_ERR_INDEX_FULL || status == FFFS_ERR_NO_MEMORY)) { continue; }
            CHECK_STATUS(status, exists ? FFFS_OK : FFFS_ERR_NOT_FOUND);
        }
        if (rng_chance(&rng, 80)) { commit(&work); }
        else { abort_it(&work); }
        if (rng_chance(&rng, 20)) { rig_restart(work.rig); }
    }
    finish(&work);
}

TEST(seven_changes_are_three_index_programs)
{
    struct work work;
    uint64_t index;

    start(&work, rig_mounted(rig_point_of(USUAL)));
    plain(&work, "a", 1, 64);
    plain(&work, "b", 2, 64);
    plain(&work, "c", 3, 64);
    plain(&work, "d", 4, 5000);
    plain(&work, "e", 5, 64);
    begin(&work);
    rig_count(work.rig);
    CHECK_OK(put(&work, "new", 6, 64));
    CHECK_OK(put(&work, "a", 7, 64));
    CHECK_OK(delete(&work, "b"));
    CHECK_OK(move(&work, "c", "c2"));
    CHECK_OK(move(&work, "d", "e"));
    CHECK_OK(put(&work, "n2", 8, 3000));
    CHECK_OK(move(&work, "new", "newer"));
    CHECK_EQ(work.rig->tap.calls[NOR_PROGRAM] - work.rig->tap.data_calls[NOR_PROGRAM], 0);
    CHECK_OK(fffs_txn_commit(work.rig->fs, &work.txn));
    index = work.rig->tap.calls[NOR_PROGRAM] - work.rig->tap.data_calls[NOR_PROGRAM];
    CHECK_EQ(index, 3);
    oracle_verify(&work.after, work.rig);
    oracle_free(&work.before);
    work.before = work.after;
    finish(&work);
}

TEST(other_changes_wait_for_the_end)
{
    struct work work;
    struct fffs_txn other;
    struct fffs_change changes[2];
    struct rig_file *writer, *reader;
    char bytes[16];

    start(&work, rig_mounted(rig_point_of(USUAL)));
    writer = rig_file_new(work.rig);
    reader = rig_file_new(work.rig);
    plain(&work, "a", 1, 64);
    memset(&other, 0, sizeof other);
    CHECK_STATUS(fffs_txn_commit(work.rig->fs, &other), FFFS_ERR_NOT_OPEN);
    CHECK_STATUS(fffs_txn_abort(work.rig->fs, &other), FFFS_ERR_NOT_OPEN);
    CHECK_STATUS(fffs_txn_begin(work.rig->fs, NULL, changes, 2), FFFS_ERR_INVALID);
    CHECK_STATUS(fffs_txn_begin(work.rig->fs, &other, NULL, 2), FFFS_ERR_INVALID);
    CHECK_STATUS(fffs_txn_begin(work.rig->fs, &other, changes, 0), FFFS_ERR_INVALID);
    begin(&work);
    CHECK_STATUS(fffs_txn_begin(work.rig->fs, &other, changes, 2), FFFS_ERR_BUSY);
    CHECK_STATUS(fffs_txn_begin(work.rig->fs, &work.txn, changes, 2), FFFS_ERR_BUSY);
    CHECK_STATUS(fffs_txn_commit(work.rig->fs, &other), FFFS_ERR_NOT_OPEN);
    CHECK_OK(rig_open(writer, "b", RIG_WRITER));
    CHECK_EQ(rig_write(writer, "text", 4), 4);
    CHECK_STATUS(fffs_close(work.rig->fs, writer->file), FFFS_ERR_BUSY);
    CHECK_STATUS(fffs_delete(work.rig->fs, "a"), FFFS_ERR_BUSY);
    CHECK_STATUS(fffs_rename(work.rig->fs, "a", "c"), FFFS_ERR_BUSY);
    CHECK_STATUS(fffs_delete_prefix(work.rig->fs, "a"), FFFS_ERR_BUSY);
    CHECK_STATUS(fffs_grow(work.rig->fs, 0), FFFS_ERR_BUSY);
    CHECK_STATUS(fffs_unmount(work.rig->fs), FFFS_ERR_BUSY);
    CHECK_OK(rig_open(reader, "a", FFFS_READ));
    CHECK_STATUS(fffs_txn_put(work.rig->fs, &work.txn, reader->file), FFFS_ERR_READ_ONLY);
    CHECK_EQ(fffs_read(work.rig->fs, reader->file, bytes, 10), 10);
    CHECK_OK(fffs_close(work.rig->fs, reader->file));
    CHECK_STATUS(fffs_txn_put(work.rig->fs, &work.txn, reader->file), FFFS_ERR_NOT_OPEN);
    CHECK_OK(fffs_settle(work.rig->fs));
    CHECK_OK(delete(&work, "a"));
    oracle_verify(&work.before, work.rig);
    CHECK_OK(fffs_txn_commit(work.rig->fs, &work.txn));
    CHECK_OK(fffs_close(work.rig->fs, writer->file)); /* waits no longer */
    rig_expect(work.rig, "b", "text", 4);
    rig_expect_missing(work.rig, "a");
    CHECK_STATUS(fffs_txn_commit(work.rig->fs, &work.txn), FFFS_ERR_NOT_OPEN);
    rig_check(work.rig);
    rig_file_free(writer);
    rig_file_free(reader);
    oracle_free(&work.before);
    oracle_free(&work.after);
    rig_destroy(work.rig);
}

/* As many as an index unit lets; the next is refused and the others stand. */
TEST_AT(as_many_changes_as_fit)
{
    struct rig *rig = rig_mounted(point);
    static struct fffs_change changes[400];
    struct fffs_txn txn;
    unsigned i, count = 0;
    char name[16];

    for (i = 0; i < 6; i++) {
        sprintf(name, "old%u", i);
        CHECK_OK(rig_put(rig, name, rig_data(i), 3));
    }
    CHECK_OK(fffs_txn_begin(rig->fs, &txn, changes, 400));
    for (i = 0; i < 400; i++) {
        struct rig_file *handle = rig_file_new(rig);
        int status;
        sprintf(name, "f%u", i);
        status = rig_open(handle, name, RIG_WRITER);
        if (status == FFFS_OK) {
            int32_t written = rig_write(handle, rig_data(i), 2);
            CHECK(written == 2 || written == FFFS_ERR_NO_SPACE);
            do { status = written < 0 ? written : fffs_txn_put(rig->fs, &txn, handle->file); }
            while (status == FFFS_ERR_COLLECT_FIRST && fffs_gc_step(rig->fs, NULL, NULL) > 0);
            if (status != FFFS_OK) { CHECK_OK(fffs_discard(rig->fs, handle->file)); }
        }
        rig_file_free(handle);
        if (status != FFFS_OK) {
            CHECK(status == FFFS_ERR_NO_MEMORY || status == FFFS_ERR_INDEX_FULL || status == FFFS_ERR_NO_SPACE);
            break;
        }
        count++;
    }
    CHECK(count >= 1);
    CHECK_EQ(rig_names(rig, ""), 6);
    CHECK_OK(fffs_txn_commit(rig->fs, &txn));
    CHECK_EQ(rig_names(rig, "f"), count);
    rig_restart(rig);
    CHECK_EQ(rig_names(rig, ""), count + 6);
    for (i = 0; i < count; i++) {
        sprintf(name, "f%u", i);
        rig_expect(rig, name, rig_data(i), 2);
    }
    rig_check(rig);
    rig_destroy(rig);
}

/* ---- Full volumes ---- */

TEST_AT(no_space_inside_leaves_everything)
{
    struct work work;
    struct fffs_space before, after;
    uint32_t size;
    unsigned i;
    char name[16];

    start(&work, rig_mounted(point));
    need_room(&work, 8);
    size = rig_capacity(work.rig) / 9;
    for (i = 0; i < 7; i++) {
        sprintf(name, "f%u", i);
        plain(&work, name, i, size);
    }
    before = rig_space(work.rig);
    for (i = 0; i < 3; i++) {
        int status;
        harness_note("round %u", i);
        begin(&work);
        CHECK_OK(delete(&work, "f0"));
        (void)move(&work, "f1", "g1");
        (void)put(&work, "f2", 20 + i, size / 4);
        status = put(&work, "large", 30, size * 3);
        CHECK_STATUS(status, FFFS_ERR_NO_SPACE);
        abort_it(&work);
        after = rig_space(work.rig);
        CHECK_EQ(work.rig->fs->pending, 0);
        CHECK_LE(after.used_bytes, before.used_bytes + before.used_bytes / 32); /* moves round anew */
        if (i == 1) { rig_restart(work.rig); }
    }
    begin(&work);
    CHECK_OK(delete(&work, "f0"));
    CHECK_OK(delete(&work, "f1"));
    commit(&work);
    begin(&work);
    CHECK_OK(put(&work, "f2", 40, size / 2));
    CHECK_OK(move(&work, "f3", "f4"));
    commit(&work);
    finish(&work);
}

/* Collections between the changes: files that the transaction renames or replaces are moved under it. */
TEST_AT(collection_goes_on_in_a_transaction)
{
    struct work work;
    struct rng rng = { harness_seed() };
    uint32_t size;
    unsigned round, i;
    char name[16], to[16];

    harness_timeout(120);
    start(&work, rig_mounted(point));
    size = rig_capacity(work.rig) / 30 + 1;
    for (round = 0; round < 60; round++) {
        harness_note("round %u", round);
        if (rng_chance(&rng, 60)) {
            for (i = 0; i < 4; i++) {
                uint32_t bytes = size / (1 + rng_below(&rng, 3));
                int status;
                sprintf(name, "n%u", (unsigned)rng_below(&rng, 12));
                status = rig_put(work.rig, name, rig_data(round), bytes);
                if (status == FFFS_OK) { oracle_put(&work.before, name, rig_data(round), bytes); }
                CHECK(status == FFFS_OK || status == FFFS_ERR_NO_SPACE || status == FFFS_ERR_INDEX_FULL);
            }
        }
        begin(&work);
        for (i = 0; i < 6; i++) {
            int status;
            sprintf(name, "n%u", (unsigned)rng_below(&rng, 12));
            sprintf(to, "n%u", (unsigned)rng_below(&rng, 12));
            switch (rng_below(&rng, 4)) {
            case 0: status = put(&work, name, round + i, rng_below(&rng, size)); break;
            case 1: status = delete(&work, name); break;
            default: status = move(&work, name, to); break;
            }
            CHECK(status == FFFS_OK || status == FFFS_ERR_NOT_FOUND || status == FFFS_ERR_NO_SPACE || status == FFFS_ERR_NO_MEMORY
                  || status == FFFS_ERR_INDEX_FULL);
            while (rng_chance(&rng, 60)) { CHECK(fffs_gc_step(work.rig->fs, NULL, NULL) >= 0); }
            rig_check(work.rig);
        }
        if (rng_chance(&rng, 75)) { commit(&work); }
        else { abort_it(&work); }
    }
    finish(&work);
}

/* ---- Cuts and failures ---- */

static uint32_t unit;

static int scenario(struct work *work)
{
    int status = fffs_txn_begin(work->rig->fs, &work->txn, work->changes, ROOM);

    if (status == FFFS_OK) { status = put(work, "created", 11, unit * 2); }
    if (status == FFFS_OK) { status = delete(work, "deleted"); }
    if (status == FFFS_OK) { status = move(work, "renamed", "over"); }
    if (status == FFFS_OK) { status = put(work, "replaced", 12, unit / 2); }
    if (status == FFFS_OK) { status = fffs_txn_commit(work->rig->fs, &work->txn); }
    return status;
}

static struct rig *prepared(const struct rig_point *point, struct work *work)
{
    start(work, rig_mounted(point));
    need_room(work, 8);
    unit = rig_share(work->rig, 16, 700);
    plain(work, "replaced", 1, unit);
    plain(work, "deleted", 2, unit / 2);
    plain(work, "renamed", 3, unit * 2);
    plain(work, "over", 4, unit / 3);
    plain(work, "stays", 5, 10);
    CHECK_OK(rig_unmount(work->rig));
    oracle_copy(&work->after, &work->before);
    oracle_put(&work->after, "created", rig_data(11), unit * 2);
    oracle_delete(&work->after, "deleted");
    oracle_rename(&work->after, "renamed", "over");
    oracle_put(&work->after, "replaced", rig_data(12), unit / 2);
    return work->rig;
}

/* All of it or nothing of it. */
static void is_whole(const struct work *work, struct rig *rig, int done)
{
    int is_after = fffs_exists(rig->fs, "created");

    CHECK(is_after || !done);
    oracle_verify(is_after ? &work->after : &work->before, rig);
}

TEST_AT(cut_at_every_operation_of_a_transaction)
{
    static struct work base, run;
    struct rig *rig = prepared(point, &base);
    uint64_t n;
    int before, finished = 0;

    harness_timeout(120);
    for (n = 0; !finished; n++) {
        CHECK_LE(n, 500);
        for (before = 0; before < 2; before++) {
            struct rig *copy = rig_clone(rig);
            int status;
            harness_note("cut %s mutation %u", before ? "before" : "after", (unsigned)n);
            CHECK_OK(rig_mount(copy));
            start(&run, copy);
            oracle_copy(&run.after, &base.before);
            nor_cut_at(copy->nor, n, before);
            status = scenario(&run);
            finished = !nor_is_off(copy->nor);
            if (finished) { CHECK_OK(status); }
            rig_power_on(copy);
            rig_restart(copy);
            is_whole(&base, copy, finished);
            rig_restart(copy);
            is_whole(&base, copy, finished);
            oracle_free(&run.after);
            rig_destroy(copy);
        }
    }
    oracle_free(&base.before);
    oracle_free(&base.after);
    rig_destroy(rig);
}

TEST_AT(any_failing_call_leaves_a_transaction_done_or_undone)
{
    static struct work base, run;
    struct rig *rig = prepared(point, &base);
    uint64_t n;
    int hit = 1;

    harness_timeout(120);
    for (n = 0; hit; n++) {
        struct rig *copy = rig_clone(rig);
        int status;
        harness_note("call %u fails", (unsigned)n);
        CHECK_LE(n, 4000);
        CHECK_OK(rig_mount(copy));
        start(&run, copy);
        oracle_copy(&run.after, &base.before);
        copy->fail_at = n;
        copy->fail_count = 0;
        copy->fail_ops = 1u << NOR_READ | 1u << NOR_PROGRAM | 1u << NOR_ERASE;
        status = scenario(&run);
        hit = copy->fail_hit;
        copy->fail_at = UINT64_MAX;
        if (status != FFFS_OK) {
            CHECK(hit);
            (void)fffs_txn_abort(copy->fs, &run.txn);
            if (copy->fs->failed == 0) { oracle_verify(&base.before, copy); }
        } else { oracle_verify(&base.after, copy); }
        rig_restart(copy);
        is_whole(&base, copy, status == FFFS_OK);
        oracle_free(&run.after);
        rig_destroy(copy);
    }
    oracle_free(&base.before);
    oracle_free(&base.after);
    rig_destroy(rig);
}

SUITE(transaction)
{
    RUN_MATRIX(mix_of_changes_is_one_change);
    RUN_MATRIX(calls_of_a_transaction_see_what_was_added);
    RUN_MATRIX(names_with_neighbouring_slots);
    RUN(seven_changes_are_three_index_programs);
    RUN(other_changes_wait_for_the_end);
    RUN_MATRIX(as_many_changes_as_fit);
    RUN_MATRIX(no_space_inside_leaves_everything);
    RUN_MATRIX(collection_goes_on_in_a_transaction);
    RUN_MATRIX(cut_at_every_operation_of_a_transaction);
    RUN_MATRIX(any_failing_call_leaves_a_transaction_done_or_undone);
}

/* Writers that have to wait, flash that stops answering, and readers whose version was moved while flash did not answer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "oracle.h"
#include "src/handles.h"
#include "src/record.h"

/* ---- Without inline collection: what COLLECT_FIRST refused goes on where it stopped ---- */

/* Puts of one of `names` names, until the volume holds about `bytes` in files of up to `size`. */
static void fill_some(struct rig *rig, struct rng *rng, unsigned count, unsigned names, uint32_t size)
{
    char name[16];

    while (count-- > 0) {
        int status;

        sprintf(name, "b%u", (unsigned)rng_below(rng, names));
        status = rig_put(rig, name, rig_data(1), rng_below(rng, size));
        if (status != FFFS_ERR_NO_SPACE && status != FFFS_ERR_COLLECT_FIRST) { CHECK_OK(status); }
    }
}

/* One file whose close comes while others use up the erased space. Returns how many closes were refused. */
static unsigned close_late(struct rig *rig, struct rng *rng, unsigned *closed)
{
    struct rig_file *handle = rig_file_new(rig);
    uint32_t size = 600 + rng_below(rng, 3000), seed = 2 + rng_below(rng, 50);
    unsigned refused = 0;
    int status;

    CHECK_OK(rig_open(handle, "A", RIG_WRITER));
    if (fffs_write(rig->fs, handle->file, rig_data(seed), size) != (int32_t)size) {
        CHECK_OK(fffs_discard(rig->fs, handle->file));
        CHECK_OK(fffs_gc(rig->fs));
        rig_file_free(handle);
        return 0;
    }
    fill_some(rig, rng, 6, 70, 5000);
    status = fffs_close(rig->fs, handle->file);
    while (status == FFFS_ERR_COLLECT_FIRST && refused < 50) {
        refused++;
        CHECK_OK(fffs_gc(rig->fs));
        status = fffs_close(rig->fs, handle->file);
    }
    if (status == FFFS_OK) {
        ++*closed;
        rig_expect(rig, "A", rig_data(seed), size);
    } else if (status == FFFS_ERR_COLLECT_FIRST) { CHECK_OK(fffs_discard(rig->fs, handle->file)); }
    else { CHECK_STATUS(status, FFFS_ERR_NO_SPACE); }
    rig_file_free(handle);
    return refused;
}

TEST(close_repeated_after_collection_keeps_every_byte)
{
    unsigned refused = 0, closed = 0, i;
    struct rng rng;
    uint64_t seed;

    harness_timeout(120);
    for (seed = 1; seed < 8; seed++) {
        struct rig *rig = rig_mounted(rig_point_of("s4096-g1-n64-seg4096-mf256-hash-fb4096-noinline"));

        rng.state = seed;
        for (i = 0; i < 300; i++) {
            harness_note("seed %u step %u", (unsigned)seed, i);
            refused += close_late(rig, &rng, &closed);
        }
        rig_check(rig);
        rig_destroy(rig);
    }
    CHECK(closed > 200);
    CHECK(refused > 20);    /* else nothing was tested */
}

/* The open segment holds as many files as one may and still has room; nothing else is erased: the next reserve closes it. */
TEST(room_of_a_segment_with_all_files_it_may_hold_does_not_count)
{
    struct rig *rig = rig_mounted(rig_point_of("s4096-g1-n256-seg32768-hash-noinline"));
    unsigned i, at_limit = 0, refused = 0;
    char name[16];
    struct rng rng = { 3 };

    harness_timeout(120);
    for (i = 0; i < 400; i++) {
        sprintf(name, "p%u", i < 185 ? i : (unsigned)rng_below(&rng, 185));
        CHECK_OK(rig_put(rig, name, rig_data(1), 3000 + rng_below(&rng, 1500)));
    }
    for (i = 0; i < 30000; i++) {
        struct rig_file *handle = rig_file_new(rig);
        int32_t bytes = rng_chance(&rng, 8) ? 600 : 4, written;
        int status;

        harness_note("step %u", i);
        sprintf(name, "s%u", (unsigned)rng_below(&rng, 45));
        CHECK_OK(rig_open(handle, name, RIG_WRITER));
        at_limit += rig->fs->user.segment != FFFS_NONE16 && rig->fs->user.items > fffs_txn_limit(&rig->fs->shape);
        written = fffs_write(rig->fs, handle->file, rig_data(2), (uint32_t)bytes);
        if (written == FFFS_ERR_COLLECT_FIRST) {    /* nothing was taken: it may be repeated */
            refused++;
            CHECK_OK(fffs_gc(rig->fs));
            written = fffs_write(rig->fs, handle->file, rig_data(2), (uint32_t)bytes);
        }
        if (written < 0) {
            CHECK_STATUS(written, FFFS_ERR_NO_SPACE);
            CHECK_OK(fffs_discard(rig->fs, handle->file));
        } else {
            status = fffs_close(rig->fs, handle->file);
            if (status == FFFS_ERR_COLLECT_FIRST) {
                CHECK_OK(fffs_gc(rig->fs));
                status = fffs_close(rig->fs, handle->file);
            }
            CHECK_OK(status);
        }
        rig_file_free(handle);
    }
    CHECK(at_limit > 0 && refused > 0);
    rig_check(rig);
    rig_destroy(rig);
}

/* ---- Flash that does not answer any more ---- */

static void fail_reads(struct rig *rig, uint64_t count)
{
    rig->fail_ops = 1u << NOR_READ;
    rig->fail_at = 0;
    rig->fail_count = count;
}

/* Every erase needs a walk of the log: nothing can be collected. */
static void write_while_reads_fail(const char *point, unsigned names)
{
    struct rig *rig = rig_mounted(rig_point_of(point));
    struct rig_file *handle = rig_file_new(rig);
    char name[16];
    unsigned i;

    for (i = 0; i < 400; i++) {
        sprintf(name, "x%u", i % names);
        CHECK_OK(rig_put(rig, name, rig_data(i), 2000));
    }
    CHECK_OK(rig_open(handle, "y", RIG_WRITER));
    fail_reads(rig, UINT64_MAX);
    rig->call_budget = 20000;       /* the case fails when it takes more */
    CHECK_STATUS(fffs_write(rig->fs, handle->file, rig_data(1), 200000), FFFS_ERR_IO);
    rig->call_budget = UINT64_MAX;
    CHECK(rig->fail_hit);
    rig->fail_ops = 0;
    CHECK_OK(fffs_discard(rig->fs, handle->file));
    rig_restart(rig);
    for (i = 400 - names; i < 400; i++) {
        sprintf(name, "x%u", i % names);
        rig_expect(rig, name, rig_data(i), 2000);
    }
    rig_expect_missing(rig, "y");
    rig_check(rig);
    rig_file_free(handle);
    rig_destroy(rig);
}

TEST(a_write_ends_when_reads_fail_for_good)
{
    write_while_reads_fail("s4096-g1-n128-seg4096-none", 1);
    write_while_reads_fail("s4096-g1-n128-seg4096-small", 40);
}

/* A reader's version was moved; the read that looks for it fails once. The version is there all the same. */
static void reattach(const char *point, unsigned failing)
{
    struct rig *rig = rig_mounted(rig_point_of(point));
    struct rig_file *handle = rig_file_new(rig);
    struct rng rng = { 11 };
    static uint8_t bytes[1000];
    unsigned i;

    CHECK_OK(rig_put(rig, "keep", rig_data(5), 1000));
    CHECK_OK(rig_open(handle, "keep", FFFS_READ));
    for (i = 0; i < 3000 && (handle->file->state & FFFS_FILE_LOST) == 0; i++) { fill_some(rig, &rng, 1, 70, 5000); }
    CHECK((handle->file->state & FFFS_FILE_LOST) != 0);
    fail_reads(rig, 0);
    rig->fail_at = failing;
    CHECK_STATUS(fffs_read(rig->fs, handle->file, bytes, 1000), FFFS_ERR_IO);
    CHECK(rig->fail_hit);
    rig->fail_ops = 0;
    CHECK_EQ(fffs_read(rig->fs, handle->file, bytes, 1000), 1000);
    CHECK_MEM(bytes, rig_data(5), 1000);
    CHECK_OK(fffs_close(rig->fs, handle->file));
    rig_file_free(handle);
    rig_destroy(rig);
}

TEST(one_read_error_while_attaching_is_not_stale)
{
    reattach("s4096-g1-n64-seg4096-mf256-hash", 0);  /* of the node */
    reattach("s4096-g1-n64-seg4096-mf256-none", 0);  /* of the log */
}

/* ---- A full index ---- */

TEST(missing_name_on_a_full_index_is_not_found)
{
    struct rig *rig = rig_mounted(rig_point_of("s4096-g1-n128-hash"));
    struct rig_file *handle = rig_file_new(rig);
    int status = FFFS_OK;
    unsigned i;
    char name[16];

    for (i = 0; status == FFFS_OK && i < 70000; i++) {
        sprintf(name, "n%u", i);
        status = rig_put(rig, name, rig_data(1), 1);
    }
    CHECK_STATUS(status, FFFS_ERR_INDEX_FULL);
    CHECK_STATUS(rig_open(handle, "zz", FFFS_WRITE | FFFS_TRUNCATE), FFFS_ERR_NOT_FOUND);
    CHECK_STATUS(rig_open(handle, "zz", FFFS_WRITE), FFFS_ERR_NOT_FOUND);
    CHECK_STATUS(rig_open(handle, "zz", FFFS_READ), FFFS_ERR_NOT_FOUND);
    CHECK_STATUS(rig_open(handle, "zz", RIG_WRITER), FFFS_ERR_INDEX_FULL);
    CHECK_OK(rig_open(handle, "n0", FFFS_WRITE | FFFS_TRUNCATE));
    CHECK_OK(fffs_discard(rig->fs, handle->file));
    rig_file_free(handle);
    rig_destroy(rig);
}

/* ---- Buffers ---- */

TEST(a_buffer_that_the_volume_uses_is_refused)
{
    struct rig *rig = rig_mounted(rig_point_of("s4096-g1-n128-hash-wb4096"));
    const struct fffs_config *config = &rig->config;
    struct fffs_file file;
    uint8_t *blocks[4];
    uint32_t sizes[4];
    unsigned i;

    blocks[0] = config->scratch;
    sizes[0] = config->scratch_bytes;
    blocks[1] = (uint8_t *)config->segment_table;
    sizes[1] = config->segment_table_entries * 2u;
    blocks[2] = config->cache;
    sizes[2] = config->cache_bytes;
    blocks[3] = config->write_buffer;
    sizes[3] = config->write_buffer_bytes;
    memset(&file, 0, sizeof file);
    for (i = 0; i < 4; i++) {
        harness_note("block %u of %u bytes", i, (unsigned)sizes[i]);
        CHECK_STATUS(fffs_open(rig->fs, &file, "x", RIG_WRITER, blocks[i], 16), FFFS_ERR_BUSY);
        CHECK_STATUS(fffs_open(rig->fs, &file, "x", RIG_WRITER, blocks[i] + sizes[i] - 1, 16), FFFS_ERR_BUSY);
        CHECK_STATUS(fffs_open(rig->fs, &file, "x", RIG_WRITER, blocks[i] - 15, 16), FFFS_ERR_BUSY);
    }
    CHECK_EQ(rig_names(rig, ""), 0);
    rig_destroy(rig);
}

SUITE(writers)
{
    RUN(close_repeated_after_collection_keeps_every_byte);
    RUN(room_of_a_segment_with_all_files_it_may_hold_does_not_count);
    RUN(a_write_ends_when_reads_fail_for_good);
    RUN(one_read_error_while_attaching_is_not_stale);
    RUN(missing_name_on_a_full_index_is_not_found);
    RUN(a_buffer_that_the_volume_uses_is_refused);
}

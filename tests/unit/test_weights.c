/* The weights of segments, kept change by change, against weights computed anew from the index: they must not drift, or a
 * segment that is in use seems dead. */
#include <stdio.h>
#include <string.h>
#include "oracle.h"
#include "src/segments.h"

static void compare_weights(struct rig *rig)
{
    uint16_t *table = rig->config.segment_table, kept[1024];
    struct fffs *fs = rig->fs;
    uint32_t used = fs->used, i;

    if ((fs->state & FFFS_STATE_WEIGHED) == 0) { return; }
    CHECK_LE(fs->shape.segments, 1024);
    memcpy(kept, table, fs->shape.segments * sizeof *table);
    fs->state &= (uint8_t)~FFFS_STATE_WEIGHED;
    CHECK_OK(fffs_segments_weigh(fs));
    CHECK_EQ(fs->used, used);
    for (i = 0; i < fs->shape.segments; i++) {
        uint32_t live = kept[i] & FFFS_SEGMENT_WEIGHT, fresh = table[i] & FFFS_SEGMENT_WEIGHT;

        if (live != FFFS_SEGMENT_WEIGHT && live != fresh) {
            harness_note("segment %u: weight %u, should be %u", (unsigned)i, (unsigned)live, (unsigned)fresh);
            CHECK_EQ(live, fresh);
        }
    }
    memcpy(table, kept, fs->shape.segments * sizeof *table);
}

/* Files of all sizes come and go on a nearly full volume, so that runs end at every distance from a segment's border. */
TEST_AT(weights_do_not_drift)
{
    struct rng rng = { harness_seed() };
    struct rig *rig = rig_mounted(point);
    uint32_t operations = harness_is_long() ? 40000 : 1200, names, largest, i;
    uint32_t target = rig_capacity(rig) / 100 * 85;

    harness_timeout(600);
    names = rig->geometry.max_files < 60 ? rig->geometry.max_files : 60;
    largest = target / 16 > 50000 ? 50000 : target / 16;
    for (i = 0; i < operations; i++) {
        uint32_t size = rng_below(&rng, rng_chance(&rng, 50) ? 600 : largest);
        char name[16];

        sprintf(name, "n%u", (unsigned)rng_below(&rng, names));
        if (rig_space(rig).used_bytes + rig_overhead(rig) + size + size / 32 > target) {
            int status = fffs_delete(rig->fs, name);

            CHECK(status == FFFS_OK || status == FFFS_ERR_NOT_FOUND);
        } else {
            CHECK_OK(rig_put_in(rig, name, rig_data(rng_below(&rng, 16)), size, 1 + rng_below(&rng, 2000)));
        }
        if (rng_chance(&rng, 10)) { CHECK(fffs_gc_step(rig->fs, NULL, NULL) >= 0); }
        if (i % 499 == 498) { rig_remount(rig); }
        harness_note("operation %u", (unsigned)i);
        compare_weights(rig);
    }
    rig_check(rig);
    rig_destroy(rig);
}

SUITE(weights)
{
    RUN_MATRIX(weights_do_not_drift);
}

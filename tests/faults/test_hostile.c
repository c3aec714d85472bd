/* What fuzzing found: images that are damaged or made by someone, in the smallest form. Damage is reported, never taken for
 * an empty volume, and never costs work without bound. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "emulator/nor_fault.h"
#include "oracle.h"
#include "src/format.h"
#include "src/index_log.h"

/* One bit of the session slot flips at rest. The records behind it do not count without it: that must not look as if there
 * were none. */
static void flip_session(const char *point, int clean)
{
    unsigned bit;

    for (bit = 0; bit < 64; bit++) {
        struct rig *rig = rig_mounted(rig_point_of(point));
        uint32_t at;
        int status;

        CHECK_OK(rig_put(rig, "a", rig_data(1), 100));
        at = fffs_stride_address(&rig->fs->shape, fffs_log_newest(rig->fs),
                                 fffs_header_strides(&rig->fs->shape) + rig->fs->log.copies + FFFS_START_SLOTS);
        if (clean) { CHECK_OK(rig_unmount(rig)); }
        else { rig_crash(rig); }
        nor_flip(rig->nor, at + bit / 8, bit % 8);
        status = rig_mount(rig);
        harness_note("bit %u: mount is %d", bit, status);
        if (status == FFFS_OK) { rig_expect(rig, "a", rig_data(1), 100); }
        else { CHECK_STATUS(status, FFFS_ERR_CORRUPT); }
        rig_destroy(rig);
    }
}

TEST(a_damaged_session_mark_is_damage_not_an_empty_volume)
{
    flip_session("s256-g1-n64-hash", 1);
    flip_session("s256-g1-n64-none", 0);
    flip_session("s4096-g16-n64-hash", 1);
}

SUITE(hostile)
{
    RUN(a_damaged_session_mark_is_damage_not_an_empty_volume);
}

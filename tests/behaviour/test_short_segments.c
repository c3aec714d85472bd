/* Segments of one small sector: a file has an extent in each, and its node lists them all. */
#include "rig.h"

/* Whatever number of bytes is left for the close, rest and node find room. */
static void every_size(const char *point)
{
    struct rig *rig = rig_mounted(rig_point_of(point));
    uint32_t size, most = rig_capacity(rig) / 5u * 2u; /* old and new version */

    for (size = 700; size < most; size += 1 + size % 7u) {
        int status = rig_put_in(rig, "zz", rig_data(size), size, 337);

        harness_note("%u bytes", (unsigned)size);
        CHECK_OK(status);
        rig_expect(rig, "zz", rig_data(size), size);
    }
    rig_check(rig);
    rig_destroy(rig);
}

TEST(files_of_every_size_with_many_extents) { every_size("s256-g1-n24-small-sc512-fb256"); }
TEST(files_of_every_size_with_tables) { every_size("s256-g1-n64-hash-sc512-fb256"); }
TEST(files_of_every_size_in_granules) { every_size("s256-g8-n48-hash-sc512-fb256"); }

SUITE(short_segments)
{
    RUN(files_of_every_size_with_many_extents);
    RUN(files_of_every_size_with_tables);
    RUN(files_of_every_size_in_granules);
}

/* The model-based random test at every point of the matrix and at random points. */
#include <stdio.h>
#include "random_model.h"

TEST_AT(model)
{
    unsigned steps = harness_is_long() ? 20000 : 1200;

    harness_timeout(harness_is_long() ? 1200 : 60);
    random_model_run(point, harness_seed(), steps, 0);
}

TEST(random_point)
{
    struct rig_point point;
    struct rng rng = { harness_seed() };

    harness_timeout(harness_is_long() ? 1200 : 60);
    rig_point_random(&point, &rng, 4u * 1024 * 1024);
    random_model_run(&point, rng_next(&rng), harness_is_long() ? 8000 : 800, 0);
}

SUITE(random)
{
    unsigned i;
    char name[32];

    RUN_MATRIX(model);
    for (i = 0; i < 40; i++) {
        sprintf(name, "random_point_%02u", i);
        harness_add_named(name, random_point, i);
    }
    harness_long_only(1);
    for (i = 40; i < 200; i++) {
        sprintf(name, "random_point_%02u", i);
        harness_add_named(name, random_point, i);
    }
}

/* The runner itself: checks that hold, and the random numbers. */
#include <string.h>
#include "harness.h"

TEST(checks_that_hold_pass)
{
    CHECK(1);
    CHECK_EQ(-1, -1);
    CHECK_LE(1, 1);
    CHECK_MEM("abc", "abc", 3);
    CHECK_STR("abc", "abc");
    CHECK_OK(0);
}

TEST(random_numbers_repeat_and_spread)
{
    struct rng a = { 5 }, b = { 5 };
    unsigned seen[10] = { 0 };
    int i;
    for (i = 0; i < 1000; i++) {
        uint32_t value = rng_below(&a, 10);
        CHECK_EQ(value, rng_below(&b, 10));
        seen[value]++;
    }
    for (i = 0; i < 10; i++) { CHECK(seen[i] > 50 && seen[i] < 150); }
}

SUITE(harness)
{
    RUN(checks_that_hold_pass);
    RUN(random_numbers_repeat_and_spread);
}

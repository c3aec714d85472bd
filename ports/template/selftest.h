/* Self-test of a flash driver, to be run on the hardware: does it keep the rules of fffs_flash.h? Prints each failure with
 * what to fix. ERASES what it works on. Needs 600 bytes of stack, no heap, no libc beyond memory functions. */
#ifndef SELFTEST_H
#define SELFTEST_H

#include "fastffs/fffs_flash.h"

struct selftest {
    const struct fffs_flash *flash;
    void (*print)(const char *text);
    uint32_t (*now_us)(void);        /* a running microsecond counter, or NULL: nothing is timed */
    int erase_everything;            /* must be nonzero: "yes, all that is on this partition may be lost" */
    /* Results */
    uint32_t passed, failed, warned;
};

/* All tests: the number of failures. Leaves a mark for the next function. */
uint32_t selftest_run(struct selftest *test);
/* After power was off: is what was programmed last still there? 0 when it is. */
uint32_t selftest_after_power_off(struct selftest *test);

#endif

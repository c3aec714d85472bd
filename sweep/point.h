/* One small volume to sweep: geometry, buffers and options, written as text, which is also its name:
 * "s4096-g1-n32-hash-sc512-fb256". The parts mean what they mean in tests/harness/rig.h; here also lvN: every n-th victim
 * is taken in ring order. */
#ifndef SWEEP_POINT_H
#define SWEEP_POINT_H

#include <stddef.h>
#include "emulator/nor.h"
#include "fastffs/fastffs.h"

struct point {
    char name[96];
    uint32_t sector_bytes;       /* s */
    uint32_t granule_bytes;      /* g */
    uint32_t sector_count;       /* n */
    uint32_t segment_bytes;      /* seg, 0 = the library's choice */
    uint32_t max_files;          /* mf, 0 = the library's choice */
    uint32_t names;              /* f: how many names the workload uses, 5 to 32, default 12 */
    uint32_t erase_sizes;        /* e: how many the driver declares (sector, x 8, x 16), default 1 */
    uint32_t cache_bytes;        /* none, small, hash, full */
    uint32_t scratch_bytes;      /* sc, default 512 */
    uint32_t file_buffer_bytes;  /* fb, default 256; raised to the granule */
    uint32_t write_buffer_bytes; /* wb, default 0 */
    uint32_t level_every;        /* lv, 0 = the library's choice */
    uint32_t flags;              /* verify, lazy, noinline, nolevel: enum fffs_mount_flags */
};

/* 0 when the text is no point. */
int point_parse(struct point *point, const char *text);
/* The texts of the built-in list; NULL behind the last. */
const char *point_text(size_t index);
void point_device(const struct point *point, struct nor_config *config);

#endif

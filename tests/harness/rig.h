/* A volume under test: emulated flash, buffers and configuration for one point of the geometry and option matrix.
 *
 * A point is written as text, which is also its name: "s4096-g1-n1024-hash-sc512-fb256". Parts that are left out have the
 * defaults below. All buffers are of exactly the size given and only as aligned as documented, so that sanitizers see
 * every access beyond. Between the library and the emulator stands a tap: it counts, limits, fails and reports calls.
 */
#ifndef RIG_H
#define RIG_H

#include "emulator/nor.h"
#include "fastffs/fastffs.h"
#include "harness.h"

enum rig_cache { RIG_CACHE_NONE, RIG_CACHE_SMALL, RIG_CACHE_HASH, RIG_CACHE_FULL };

enum rig_set {
    RIG_SET_ALL = 1,            /* every point of the matrix */
    RIG_SET_FEW = 2,            /* a handful that differ much: for cases that take long */
    RIG_SET_ROOMY = 4,          /* at least 200 KiB for files */
    RIG_SET_TINY = 8            /* the smallest volumes */
};

struct rig_point {
    char name[96];
    unsigned sets;              /* enum rig_set */
    uint32_t sector_bytes;      /* s */
    uint32_t granule_bytes;     /* g */
    uint32_t sector_count;      /* n */
    uint32_t segment_bytes;     /* seg, 0 = library's choice */
    uint32_t max_files;         /* mf, 0 = library's choice */
    uint32_t erase_unit_bytes;  /* u: the driver's smallest erase, default: the sector */
    uint32_t erase_sizes;       /* e: how many erase sizes the driver declares (unit, x 8, x 16), default 3 */
    enum rig_cache cache;       /* none, small, hash, full */
    uint32_t scratch_bytes;     /* sc, default 512 */
    uint32_t file_buffer_bytes; /* fb, default 256; raised to the granule */
    uint32_t write_buffer_bytes;/* wb, default 0 */
    uint32_t flags;             /* verify, lazy, noinline, defer, nolevel */
    int wear;                   /* wear: with a table of erase counts */
    int encrypted;              /* crypt: erased flash does not read as ones, the driver offers is_blank() */
};

/* The matrix: NULL behind the last. */
const struct rig_point *rig_point_at(size_t index);
/* Reads a point's text; 0 when it is none. */
int rig_point_parse(struct rig_point *point, const char *text);
/* A random point that the library can format, of at most `size_limit` bytes. */
void rig_point_random(struct rig_point *point, struct rng *rng, uint32_t size_limit);
/* A point with a name, aborts when it is wrong; the text must be a literal. Not thread-safe, up to 16 alive. */
const struct rig_point *rig_point_of(const char *text);
/* --replay WHAT. */
int rig_replay(const char *what);

struct rig_tap {
    uint64_t calls[NOR_OPS], bytes[NOR_OPS];
    uint64_t data_calls[NOR_OPS];       /* of these outside the index area */
    uint64_t largest_erase;             /* bytes */
    uint64_t unaligned_buffers;         /* library's own? see watch_alignment */
};

struct rig {
    struct rig_point point;
    struct nor *nor;
    struct fffs_flash flash;            /* the tap */
    struct fffs_config config;
    struct fffs_format_options format;
    struct fffs_geometry geometry;      /* of the volume as formatted */
    struct fffs *fs;
    int mounted;
    uint8_t *blocks[5];                 /* scratch, segment table, cache, write buffer, wear table as allocated */
    /* tap */
    struct rig_tap tap;
    uint64_t call_budget;               /* driver calls left before the case fails; UINT64_MAX: no limit */
    uint64_t fail_at;                   /* the driver call this many from now fails ... */
    uint64_t fail_count;                /* ... and this many after it (0: only that one) */
    unsigned fail_ops;                  /* bits 1 << enum nor_op that count and fail */
    int fail_hit;                       /* it has failed */
    int lie;                            /* the failing program or erase reports success instead */
    int dead;                           /* >= 0: every read returns these bytes */
    uint32_t torn_address, torn_bytes;  /* reads that touch it answer FFFS_FLASH_ECC, until it is erased */
    void (*on_call)(struct rig *rig, enum nor_op op, uint32_t address, uint32_t bytes, const void *buffer);
    void *on_call_context;
    /* hooks */
    int lock_depth;
    uint64_t locks;
    uint64_t progress_calls;
    uint32_t progress_done, progress_total;
};

/* An erased device and buffers, nothing formatted. */
struct rig *rig_create(const struct rig_point *point);
/* The same, formatted and mounted. */
struct rig *rig_mounted(const struct rig_point *point);
/* A second rig around the flash as it is now (a copy): to try something and go back. */
struct rig *rig_clone(struct rig *rig);
void rig_destroy(struct rig *rig);

int rig_format(struct rig *rig);
int rig_mount(struct rig *rig);         /* with point.flags */
int rig_mount_flags(struct rig *rig, uint32_t flags);
int rig_unmount(struct rig *rig);
/* Power off: RAM is lost, handles too. */
void rig_crash(struct rig *rig);
/* Ends a planned cut, whether it came or not. */
void rig_power_on(struct rig *rig);
/* Power off and a mount; clean unmount and a mount. Both must work. */
void rig_restart(struct rig *rig);
void rig_remount(struct rig *rig);
/* Other buffers from the next mount on. */
void rig_set_cache(struct rig *rig, enum rig_cache cache);
void rig_set_cache_bytes(struct rig *rig, uint32_t bytes);
void rig_set_table(struct rig *rig, uint32_t entries);
/* fffs_check() finds nothing. */
void rig_check(struct rig *rig);

/* Counters of the tap start again; driver calls since then. */
void rig_count(struct rig *rig);
uint64_t rig_reads(const struct rig *rig);
uint64_t rig_programs(const struct rig *rig);
uint64_t rig_erases(const struct rig *rig);
uint64_t rig_changes(const struct rig *rig); /* programs + erases */

/* A file handle with its buffer. */
struct rig_file {
    struct rig *rig;
    struct fffs_file *file;
    uint8_t *buffer;
    uint32_t buffer_bytes;
};
struct rig_file *rig_file_new(struct rig *rig);
void rig_file_free(struct rig_file *handle);
int rig_open(struct rig_file *handle, const char *name, unsigned flags);
/* These repeat after gc steps what answered FFFS_ERR_COLLECT_FIRST, until nothing is left to do. */
int32_t rig_write(struct rig_file *handle, const void *data, uint32_t bytes);
int rig_close(struct rig_file *handle);

enum { RIG_WRITER = FFFS_WRITE | FFFS_CREATE | FFFS_TRUNCATE };

/* Arbitrary bytes, always the same for a seed; at least RIG_DATA_BYTES of them, valid for ever. */
enum { RIG_DATA_BYTES = 4 * 1024 * 1024 };
const uint8_t *rig_data(uint32_t seed);

/* Whole files. A put that fails leaves no handle behind and returns the status. */
int rig_put(struct rig *rig, const char *name, const void *data, uint32_t bytes);
int rig_put_in(struct rig *rig, const char *name, const void *data, uint32_t bytes, uint32_t chunk);
/* The file holds exactly this. */
void rig_expect(struct rig *rig, const char *name, const void *data, uint32_t bytes);
void rig_expect_missing(struct rig *rig, const char *name);
/* fffs_rename(), with gc steps where it answers FFFS_ERR_COLLECT_FIRST. */
int rig_rename(struct rig *rig, const char *from, const char *to);
/* 1 it holds exactly this, 0 anything else readable, else the status. */
int rig_holds(struct rig *rig, const char *name, const void *data, uint32_t bytes);
/* Number of names with the prefix, by a directory read; each at most once. */
int rig_names(struct rig *rig, const char *prefix);
uint32_t rig_capacity(struct rig *rig);
/* A size of which `count` files fit, names and rounding included; at most `limit`. */
uint32_t rig_share(struct rig *rig, uint32_t count, uint32_t limit);
/* What one file costs beyond its bytes, at most. */
uint32_t rig_overhead(const struct rig *rig);
struct fffs_space rig_space(struct rig *rig);
/* Largest name this geometry can hold, at most FFFS_NAME_MAX: found by trying an open. */
uint32_t rig_name_max(struct rig *rig);

#endif

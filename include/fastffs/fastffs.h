/* FASTFFS: a filesystem for NOR flash on microcontrollers. The whole API.
 *
 * Files are created, replaced whole, listed and read. A change takes effect at one instant, the close (or the delete);
 * whatever power does, a name then holds the complete old or the complete new version. The library allocates nothing:
 * the caller owns every object and buffer and keeps it in place and untouched from the call that receives it to the call
 * that releases it.
 *
 * Conventions: a negative result is an enum fffs_status; 0 or a count is success. Sizes and offsets are bytes. "Cost" is
 * in flash driver calls on a volume with a complete cache (see cache_bytes) and an open segment with room; without cache
 * add a read of the index log per look-up, and without room add what garbage collection does.
 * No call may be made from inside a driver function, a hook or a callback of this library: it answers FFFS_ERR_BUSY,
 * where the lock hook lets it in at all.
 */
#ifndef FASTFFS_H
#define FASTFFS_H

#include <stddef.h>
#include <stdint.h>
#include "fffs_opts.h"
#include "fffs_flash.h"

#ifdef __cplusplus
extern "C" {
#if defined(__GNUC__) && !defined(__clang__) /* struct fffs_space and fffs_space(): g++ -Wshadow takes that for an accident */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif
#endif

/* ---- Versions ---- */

#define FFFS_VERSION_MAJOR 0
#define FFFS_VERSION_MINOR 1
#define FFFS_VERSION_PATCH 0
#define FFFS_FORMAT_VERSION 1   /* on-flash format that this library writes */

/* Library version as major << 16 | minor << 8 | patch. */
uint32_t fffs_version(void);
/* The format version this library writes. */
unsigned fffs_format_version(void);

/* ---- Errors: numbers are never reused ---- */

enum fffs_status {
    FFFS_OK = 0,
    FFFS_ERR_IO = -1,             /* the driver reported an error; nothing committed is lost */
    FFFS_ERR_CORRUPT = -2,        /* flash holds something that neither the library nor a power cut can have written */
    FFFS_ERR_NOT_FOUND = -3,      /* no file of that name */
    FFFS_ERR_EXISTS = -4,         /* the name exists and the flags do not allow that */
    FFFS_ERR_NO_SPACE = -5,       /* no room for the data */
    FFFS_ERR_INDEX_FULL = -6,     /* max_files reached, or the probe window of the name is full */
    FFFS_ERR_COLLECT_FIRST = -7,  /* no room at once, but fffs_gc_step() will make some (inline collection is off) */
    FFFS_ERR_BAD_NAME = -8,       /* empty or NULL */
    FFFS_ERR_NAME_TOO_LONG = -9,  /* longer than FFFS_NAME_MAX, or than this geometry can hold */
    FFFS_ERR_INVALID = -10,       /* an argument or option is out of range or NULL */
    FFFS_ERR_BUSY = -11,          /* already open, files are open, the buffer is in use, or a call is under way */
    FFFS_ERR_NOT_OPEN = -12,      /* the handle is not open on this volume */
    FFFS_ERR_NOT_MOUNTED = -13,   /* the volume is not mounted */
    FFFS_ERR_READ_ONLY = -14,     /* the mount is read-only, or the handle is a reader */
    FFFS_ERR_WRITE_ONLY = -15,    /* the handle is a writer: it can not be read, or sought */
    FFFS_ERR_STALE = -16,         /* this reader's version is gone and its space was reused */
    FFFS_ERR_BLANK = -17,         /* mount: the flash is erased; format may be wanted */
    FFFS_ERR_FOREIGN = -18,       /* mount: the flash holds something else */
    FFFS_ERR_NEWER_FORMAT = -19,  /* mount: written by a library with a format or feature unknown here */
    FFFS_ERR_WRONG_SIZE = -20,    /* mount: the volume is larger than the device, or erase sizes do not fit */
    FFFS_ERR_NO_MEMORY = -21,     /* a buffer given is smaller than this volume needs */
    FFFS_ERR_TOO_BIG = -22,       /* the file would pass 2^31 - 1 bytes, or hold too many extents */
    FFFS_ERR_UNSUPPORTED = -23,   /* the geometry or granule can not be used; the driver lacks a function */
    FFFS_ERR_ABANDONED = -24,     /* an earlier error on this writer: only close (which reports it) or discard help */
    FFFS_ERR_REMOUNT = -25        /* after a failed commit RAM and flash may disagree: unmount and mount */
};

/* The name of a status, for logs: "FFFS_ERR_IO". Unknown numbers give "FFFS_ERR_?". Static text. */
const char *fffs_status_name(int status);

/* ---- Configuration ---- */

enum fffs_mount_flags {
    FFFS_MOUNT_READ_ONLY = 1,      /* never programs or erases; an unclean volume is shown as recovery would leave it */
    FFFS_MOUNT_DEFER_RECOVERY = 2, /* an unclean volume is repaired at the first change instead of in mount */
    FFFS_MOUNT_LAZY_WEIGHTS = 4,   /* segment weights are computed when first needed (first write, gc step, space) */
    FFFS_MOUNT_NO_INLINE_GC = 8,   /* writes never collect: they answer FFFS_ERR_COLLECT_FIRST */
    FFFS_MOUNT_VERIFY = 16,        /* every program is read back and compared, every erase looked at */
    FFFS_MOUNT_NO_LEVELLING = 32   /* no static wear levelling */
};

/* Handed to format and mount; zero means default, members that are not wanted stay zero. The struct and all it points
 * at must stay valid until unmount. */
struct fffs_config {
    const struct fffs_flash *flash;   /* required */
    /* Required work buffer, at least FFFS_SCRATCH_MIN bytes and twice the granule, aligned as uint32_t is. Larger is faster: log reads, collection and
     * listings use it whole. 512 is a good default, 4096 the most that helps. */
    void *scratch;
    uint32_t scratch_bytes;
    /* Required for writable mounts: one uint16_t per segment (fffs_discover() tells how many; FFFS_SEGMENTS_MAX(size,
     * segment) bounds it). A read-only mount may leave it NULL (then fffs_space() answers FFFS_ERR_NO_MEMORY). */
    uint16_t *segment_table;
    uint32_t segment_table_entries;
    /* Optional index cache: 8 bytes per file, aligned as uint32_t is. NULL: every look-up reads the index log. Fewer entries
     * than files: works, with log reads for what does not fit. FFFS_CACHE_FULL_BYTES: direct-mapped full table. */
    void *cache;
    uint32_t cache_bytes;
    /* Optional write buffer, lent to one writer at a time: 4096 lets data go out in whole erase sectors. At most 32,768
     * bytes of it are used, as of any buffer of a file. */
    void *write_buffer;
    uint32_t write_buffer_bytes;
    uint32_t flags;                   /* enum fffs_mount_flags */
    /* Optional hooks. lock/unlock surround every public call once (fffs_gc: each of its steps). progress is called at least once per erase and per
     * index sector read in long loops (done of total steps; total 0 when unknown): feed the watchdog there. */
    void (*lock)(void *hook_context);
    void (*unlock)(void *hook_context);
    void (*progress)(void *hook_context, uint32_t done, uint32_t total);
    void *hook_context;
    uint16_t level_every;             /* static levelling: a segment in ring order after every n-th erase; 0 = 64, at most 255 */
    /* Optional erase counts, FFFS_WEAR_CELLS entries: one per segment, on volumes with more segments one per group of
     * neighbours. The library fills it at mount and keeps it; it is saved at unmount and whenever the index goes on in
     * another unit (about 180 bytes of index), so that an unclean stop loses what came since. NULL: fffs_space() tells the
     * total, and for the least and the most what ring order makes likely. */
    uint32_t *wear;
};

#define FFFS_WEAR_CELLS 64u

#define FFFS_SCRATCH_MIN 256u
#define FFFS_CACHE_ENTRY_BYTES 8u
#define FFFS_CACHE_FULL_BYTES (65536uL * FFFS_CACHE_ENTRY_BYTES)
/* Upper bound of segment_table_entries for a volume of `size` bytes with segments of `segment` bytes. */
#define FFFS_SEGMENTS_MAX(size, segment) ((size) / (segment) + 2u)

/* What a volume is made of. Zero in format options means: choose. */
struct fffs_geometry {
    uint32_t sector_bytes;      /* 256 .. 65536, power of two, a multiple of the driver's smallest erase; default: the
                                 * larger of 4096 and that erase size, less where the volume would be too small */
    uint32_t sector_count;      /* at most 65535; default: the whole device */
    uint32_t granule_bytes;     /* recorded from the driver */
    uint32_t segment_bytes;     /* reclaim unit, sector_bytes << n; default: the largest listed erase size that leaves at
                                 * least 28 segments, else one sector */
    uint32_t max_files;         /* default: one per 4 KiB of volume, at least 16; the index area is sized for it */
    uint32_t probe_limit;       /* slots tried per name, 1 .. 64; default 50 */
    /* Results only: */
    uint32_t index_bytes;       /* index area at the start of the volume */
    uint32_t segment_count;     /* data segments, the first and last may be short */
    uint32_t format_version;
};

struct fffs_format_options {
    struct fffs_geometry geometry;
    int device_is_erased;       /* nonzero: the caller has just erased the whole device; all segments count as erased */
};

#include "fffs_state.h"         /* struct fffs, struct fffs_file, struct fffs_dir: bodies are private */

/* ---- Volume ---- */

/* Finds the volume's geometry on the flash without mounting. Cost: 1 read, and 1 per index unit (at
 * most 16); at most 70 more when index unit 0 is not intact.
 * FFFS_ERR_BLANK, _FOREIGN, _NEWER_FORMAT, _WRONG_SIZE, _IO, _INVALID. */
int fffs_discover(const struct fffs_flash *flash, struct fffs_geometry *geometry);

/* Makes an empty volume. `options` may be NULL. `fs` must not be mounted. Over a valid volume of the same geometry it is
 * one atomic change (a cut leaves the old volume or the empty one); otherwise index areas are erased first and a cut
 * leaves old, nothing or new. Cost: erases of the index area at most. The volume is not mounted afterwards.
 * FFFS_ERR_INVALID, _UNSUPPORTED, _NO_MEMORY, _BUSY, _IO. */
int fffs_format(struct fffs *fs, const struct fffs_config *config, const struct fffs_format_options *options);

/* The geometry that fffs_format() would use, with all defaults filled in; no flash access. Same errors. */
int fffs_format_plan(const struct fffs_flash *flash, const struct fffs_format_options *options,
                     struct fffs_geometry *geometry);

/* Mounts. `fs` is zeroed before first use, or unmounted. Reads the index only (and nodes of files with several extents
 * unless FFFS_MOUNT_LAZY_WEIGHTS); programs and erases only after an unclean stop, never with FFFS_MOUNT_READ_ONLY.
 * Never formats. FFFS_ERR_BLANK, _FOREIGN, _CORRUPT, _NEWER_FORMAT, _WRONG_SIZE, _IO, _NO_MEMORY, _INVALID, _BUSY
 * (already mounted). */
int fffs_mount(struct fffs *fs, const struct fffs_config *config);

/* Writes a clean mark, so that the next mount needs no recovery and goes on in the open segment, and forgets the volume.
 * Cost: 0 or 2 programs. FFFS_ERR_BUSY when files, directories or a transaction are open (nothing happens); after any other error the
 * volume is unmounted all the same, as after a power cut. */
int fffs_unmount(struct fffs *fs);

/* Writes the clean mark and stays mounted: call it before a likely power-off. Open writers do not count. Cost: 0 when
 * nothing changed, else 2 programs; the next change costs one more. FFFS_ERR_IO, _REMOUNT. */
int fffs_settle(struct fffs *fs);

/* Extends a mounted volume to `sector_count` sectors (0: the whole device). Files are kept; a cut leaves the old or the
 * new size. segment_table must be large enough. FFFS_ERR_INVALID (smaller), _WRONG_SIZE, _NO_MEMORY, _IO. */
int fffs_grow(struct fffs *fs, uint32_t sector_count);

/* ---- Files ---- */

enum fffs_open_flags {
    FFFS_READ = 1,              /* read an existing file */
    FFFS_WRITE = 2,             /* write a new version from empty; it replaces the old one at close */
    FFFS_CREATE = 4,            /* with WRITE: the name need not exist */
    FFFS_TRUNCATE = 8,          /* with WRITE: the name may exist */
    FFFS_EXCLUSIVE = 16         /* with WRITE+CREATE: the name must not exist, checked now and again at close */
};

enum fffs_whence { FFFS_SEEK_SET = 0, FFFS_SEEK_CUR = 1, FFFS_SEEK_END = 2 };

struct fffs_info {
    uint32_t size;              /* bytes; for a directory entry that is a folder: 0 */
    uint32_t stamp;             /* version: grows with every commit of the volume */
    uint8_t is_folder;          /* only from directory reads with a delimiter */
    uint8_t name_length;
    char name[FFFS_NAME_MAX + 1];
};

/* Opens `name` (NUL-terminated, any other bytes; must stay valid until close when writing). `buffer` belongs to the
 * handle until close: at least FFFS_FILE_BUFFER_MIN or the granule, whichever is larger; 256 suits. A reader keeps the
 * version it opened. Several readers and writers may be open at once, on one name too: the last close wins.
 * Cost: reader 1 read (which also serves small files), writer 0 or 1 read. Nothing changes on flash.
 * FFFS_ERR_NOT_FOUND, _EXISTS, _BAD_NAME, _NAME_TOO_LONG, _INVALID, _BUSY (handle open, buffer in use by another handle),
 * _READ_ONLY, _INDEX_FULL, _CORRUPT, _IO. */
int fffs_open(struct fffs *fs, struct fffs_file *file, const char *name, unsigned flags, void *buffer,
              uint32_t buffer_bytes);

#define FFFS_FILE_BUFFER_MIN 16u

/* Reads up to `bytes` from the position; returns the count, 0 at the end. Cost: 1 read call for what is contiguous on
 * flash, 0 when the buffer holds it. FFFS_ERR_STALE, _CORRUPT, _IO, _NOT_OPEN, _WRITE_ONLY, _INVALID. */
int32_t fffs_read(struct fffs *fs, struct fffs_file *file, void *buffer, uint32_t bytes);

/* Appends `bytes` to the new version; returns `bytes`. Nothing is visible before close. Cost: 0 or 1 program call,
 * 2 when the buffer holds an odd rest; more where a segment ends. FFFS_ERR_NO_SPACE, _COLLECT_FIRST (both: nothing of
 * this call was taken and it may be repeated later; others abandon the writer), _TOO_BIG, _IO, _NOT_OPEN, _READ_ONLY. */
int32_t fffs_write(struct fffs *fs, struct fffs_file *file, const void *data, uint32_t bytes);

/* Moves a reader's position (0 .. size; beyond is FFFS_ERR_INVALID); returns it. No flash access. */
int32_t fffs_seek(struct fffs *fs, struct fffs_file *file, int32_t offset, int whence);
/* The position: of a reader where it reads next, of a writer the bytes written. */
int32_t fffs_tell(struct fffs *fs, struct fffs_file *file);
/* Size of the version that a reader has open, or that a writer has written so far. Fills info (name too). For a writer
 * and for a reader without re-reading: 0 reads; the reader's name is read from flash: at most 1 read. */
int fffs_fstat(struct fffs *fs, struct fffs_file *file, struct fffs_info *info);

/* Reader: releases the handle. Writer: commits; when this returns FFFS_OK the new version is durable and the old one
 * gone. Cost: 2 programs. On an error the old version stands and the handle is released all the same (but see
 * FFFS_ERR_COLLECT_FIRST: it stays open, collect and close again). FFFS_ERR_NO_SPACE only for names that do not fit the
 * rest of the budget that write left; _INDEX_FULL, _EXISTS (exclusive), _ABANDONED, _IO, _NOT_OPEN. */
int fffs_close(struct fffs *fs, struct fffs_file *file);

/* Releases a handle without committing; what was written is dead space. Cost: 0. FFFS_ERR_NOT_OPEN. */
int fffs_discard(struct fffs *fs, struct fffs_file *file);

/* The contiguous bytes of an open reader from `offset`, in place in memory-mapped flash: returns their count and sets
 * `data`, valid until the handle is closed (the segment is not collected meanwhile). FFFS_ERR_UNSUPPORTED (no map). */
int32_t fffs_map(struct fffs *fs, struct fffs_file *file, uint32_t offset, const void **data);

/* Facts about a name. Cost: 1 read; 0 for a missing name (hash collisions aside). FFFS_ERR_NOT_FOUND, names, _CORRUPT. */
int fffs_stat(struct fffs *fs, const char *name, struct fffs_info *info);
/* 1 when the name exists, 0 when not. Cost and errors as fffs_stat. */
int fffs_exists(struct fffs *fs, const char *name);
/* Deletes; durable on return. Open readers keep their version. Works on a full volume. Cost: 1 read, 1 program.
 * FFFS_ERR_NOT_FOUND, names, _READ_ONLY, _IO, _CORRUPT. */
int fffs_delete(struct fffs *fs, const char *name);
/* Gives the file `from` the name `to`, as one change: a file `to` is replaced, and at every moment, after a cut too,
 * either the old state shows or the new one. No data is copied: a new node lists where the data is, so that the first
 * read of a small file then costs one more read call, until collection moves it. Open readers keep their bytes and follow;
 * an open writer of either name goes on and creates or replaces that name at its close. `from` equal to `to` changes
 * nothing. Cost: 2 or 3 reads, 1 more for each of the two files that lists extents, 4 programs: node, begin, 2 records,
 * commit. On any error both names are as before. FFFS_ERR_NOT_FOUND (`from`), names, _INDEX_FULL (no free slot for `to`), _NO_SPACE: on a full volume the
 * new node may need some bytes more than the old one; replacing a file or deleting another helps. _COLLECT_FIRST:
 * collect and call again. _READ_ONLY, _CORRUPT, _IO. */
int fffs_rename(struct fffs *fs, const char *from, const char *to);
/* Deletes every name that begins with `prefix` (not ""), one after the other (a cut leaves the rest); returns the count.
 * Cost: 2 reads, 1 program each. */
int32_t fffs_delete_prefix(struct fffs *fs, const char *prefix);

/* ---- Transactions: several changes of names as one ---- */

/* Begins one; a volume has at most one. `changes` is the caller's and has room for `count` of them, of which a put or a
 * delete takes one and a rename two; at most a quarter of what an index unit holds are used (some 120 with 4 KiB units and
 * granules up to 8). Files are opened and written as usual, before or after the begin. Until commit every reader and
 * listing, and every mount after a cut, sees none of the changes, then all of them; calls of the transaction itself see
 * what was added before. Meanwhile closing a writer by itself, delete, rename, delete by prefix and grow answer FFFS_ERR_BUSY and
 * change nothing; reading, writing and collecting go on. Cost: 0. FFFS_ERR_BUSY (one is open), _INVALID, _READ_ONLY. */
int fffs_txn_begin(struct fffs *fs, struct fffs_txn *txn, struct fffs_change *changes, uint32_t count);
/* Instead of fffs_close(): the writer's file becomes part of the transaction and the handle is released. Cost: 1 program.
 * On an error the writer stays open and the transaction is as before: FFFS_ERR_NO_MEMORY (`changes` is used up), and those of fffs_close(). */
int fffs_txn_put(struct fffs *fs, struct fffs_txn *txn, struct fffs_file *file);
/* As fffs_delete() and fffs_rename(), within the transaction; errors leave it as before. Cost: 0 or 1 read; a rename 1
 * program, 1 or 2 reads. Readers of a renamed file keep their bytes as those of a deleted one do. */
int fffs_txn_delete(struct fffs *fs, struct fffs_txn *txn, const char *name);
int fffs_txn_rename(struct fffs *fs, struct fffs_txn *txn, const char *from, const char *to);
/* Makes all changes at once; durable on FFFS_OK. Cost: 3 programs while the records fit half the scratch buffer (16 of 8
 * bytes in 256), 1 more for each further part; without cache a read of the index log per change. On an error nothing has
 * changed and the transaction is over; only when a look-up failed (FFFS_ERR_IO) it is still open: abort it or try again. */
int fffs_txn_commit(struct fffs *fs, struct fffs_txn *txn);
/* Gives the changes up; what was written is dead space. Cost: 0. FFFS_ERR_NOT_OPEN. */
int fffs_txn_abort(struct fffs *fs, struct fffs_txn *txn);

/* ---- Reading alone ----
 * The same as mount (which must have FFFS_MOUNT_READ_ONLY), open with FFFS_READ, close of a reader and unmount, in code
 * that reaches nothing that writes: a boot loader that calls these instead, with fffs_read, fffs_seek, fffs_stat and so
 * on, links about a third of the library. They may be mixed with the others. */

int fffs_mount_reading(struct fffs *fs, const struct fffs_config *config);
int fffs_open_reading(struct fffs *fs, struct fffs_file *file, const char *name, void *buffer, uint32_t buffer_bytes);
int fffs_close_reading(struct fffs *fs, struct fffs_file *file);
int fffs_unmount_reading(struct fffs *fs);

/* ---- Directories: names are flat, listings filter by prefix ---- */

/* Begins a listing of the names that begin with `prefix` ("" or NULL: all). With a nonzero `delimiter` ('/'), names that
 * hold it behind the prefix are returned once per folder, as prefix..delimiter with is_folder set. `prefix` must stay
 * valid until close. Errors as fffs_open. */
int fffs_dir_open(struct fffs *fs, struct fffs_dir *dir, const char *prefix, char delimiter);
/* Next entry: 1 and `info` filled, or 0 at the end. A name that exists throughout and is not replaced is returned exactly
 * once whatever else happens meanwhile. Cost: 1 read per name seen. An unreadable node gives FFFS_ERR_CORRUPT once; the
 * listing can go on. */
int fffs_dir_read(struct fffs *fs, struct fffs_dir *dir, struct fffs_info *info);
int fffs_dir_close(struct fffs *fs, struct fffs_dir *dir);

/* Lists in one call, in the order of flash, with fewer and longer reads: `visit` is called for each name; a nonzero
 * result ends the listing and is returned. Returns 0 at the end. Cost: less than 1 read per name. */
int fffs_list(struct fffs *fs, const char *prefix, int (*visit)(void *context, const struct fffs_info *info),
              void *context);

/* ---- Space, health, collection ---- */

struct fffs_space {
    uint32_t capacity_bytes;     /* what live files may take, names and rounding included */
    uint32_t used_bytes;         /* taken by live files and open writers; a file that collection moves may take an extent
                                  * (8 bytes and rounding) more or less */
    uint32_t free_bytes;         /* capacity - used */
    uint32_t writable_bytes;     /* largest single new file that fits now (after collection), name of 32 bytes */
    uint32_t erased_bytes;       /* writable with no erase */
    uint32_t files, max_files;
    uint32_t segment_bytes, segments, segments_erased, segments_dead; /* dead: erasable without copying */
    uint32_t bad_segments;
    uint32_t erases_total;       /* segment erases since format, as far as checkpoints tell */
    uint32_t wear_min, wear_mean, wear_max; /* erases per segment */
};

/* Fills `space`. Cost: 0 reads once the weights are there (see FFFS_MOUNT_LAZY_WEIGHTS). */
int fffs_space(struct fffs *fs, struct fffs_space *space);

enum fffs_gc_action {
    FFFS_GC_IDLE = 0,            /* nothing to do */
    FFFS_GC_MOVED = 1,           /* copied live data */
    FFFS_GC_COMMITTED = 2,       /* committed moves */
    FFFS_GC_ERASED = 3,          /* erased a segment or part of one */
    FFFS_GC_ROTATED = 4,         /* rewrote an index unit */
    FFFS_GC_LOOKED = 5           /* only read */
};

struct fffs_gc_limits {
    uint32_t budget_us;          /* 0: one slice; else slices until the declared cost of the next would pass it */
    uint32_t largest_erase_bytes;/* 0: a whole segment */
};

struct fffs_gc_report {
    uint8_t action;              /* enum fffs_gc_action, of the last slice */
    uint8_t more;                /* nonzero: another step would do something */
    uint32_t slices;
    uint32_t segments_left;      /* dead or half-collected segments */
};

/* One bounded slice of background collection: at most one copy buffer, one commit, or one erase. Idle: 0 flash calls.
 * Returns the action (>= 0). `limits` and `report` may be NULL. FFFS_ERR_READ_ONLY, _IO, _CORRUPT. */
int fffs_gc_step(struct fffs *fs, const struct fffs_gc_limits *limits, struct fffs_gc_report *report);
/* Steps until nothing is left to do. */
int fffs_gc(struct fffs *fs);

/* ---- Check ---- */

struct fffs_finding {
    int invariant;               /* the I-number of docs/FORMAT.md */
    uint32_t address;            /* where on flash, 0xFFFFFFFF when not a place */
    const char *text;            /* static */
    char name[FFFS_NAME_MAX + 1];/* of the file concerned, or "" */
};

/* Checks every invariant of docs/FORMAT.md on the mounted volume, read-only. `report` is called per finding (may be
 * NULL). Returns the number of findings. Cost: reads the index and every node. */
int fffs_check(struct fffs *fs, void (*report)(void *context, const struct fffs_finding *finding), void *context);

#ifdef __cplusplus
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
}
#endif
#endif

/* Bodies of the caller-owned objects, public for static allocation only: every field is private to the library. Zero
 * them before first use. */
#ifndef FFFS_STATE_H
#define FFFS_STATE_H

#include <stdint.h>
#include "fffs_opts.h"
#include "fffs_flash.h"

struct fffs_config;

/* A decoded index record; also an entry of the index cache. head 0: delete, or an empty cache cell. */
struct fffs_record {
    uint16_t slot;              /* name hash plus probe distance, modulo 65536 */
    uint16_t head;              /* sector that holds the node's last byte; 0 delete, 1 control */
    uint8_t off;                /* place of the node's end in it: (off + 1) * sector_bytes / 256 */
    uint8_t len;                /* footprint code */
    uint8_t tag;                /* name and folder hash bits */
    uint8_t kind;               /* FFFS_KIND_ bits */
};

/* Contiguous bytes of a file. */
struct fffs_extent {
    uint32_t address;           /* flash address */
    uint32_t end;               /* offset in the file at which it ends */
};

/* The extents of a file being written: the last ones in RAM, older ones in table blocks on flash. */
struct fffs_builder {
    struct fffs_extent extents[FFFS_FILE_EXTENTS];
    uint32_t table;             /* address of the last table block, 0 none */
    uint32_t start;             /* offset in the file at which extents[0] begins */
    uint16_t tables;            /* table blocks written */
    uint16_t segment;           /* last segment that took bytes of the file, 0xFFFF none */
    uint8_t count;              /* used entries of extents */
};

/* An append point: where the next byte of its stream goes. */
struct fffs_point {
    uint32_t next;              /* address of the next byte to program, a multiple of the granule */
    uint32_t limit;             /* end of what is known to be erased in the segment */
    uint16_t segment;           /* open segment, 0xFFFF none */
    uint16_t items;             /* files that have bytes in it */
};

/* Geometry as recorded in the index headers, in the units that the code computes with. */
struct fffs_shape {
    uint16_t sectors;           /* of the volume */
    uint16_t phase;             /* sectors by which the segment grid is shifted */
    uint16_t segments;          /* data segments */
    uint16_t first_sector;      /* first sector behind the index area */
    uint16_t max_files;
    uint16_t format_id;
    uint8_t sector_shift;       /* log2 bytes */
    uint8_t granule_shift;      /* log2 bytes */
    uint8_t unit_shift;         /* log2 sectors */
    uint8_t segment_shift;      /* log2 sectors */
    uint8_t units;              /* index units */
    uint8_t spares;             /* index units kept outside the chain */
    uint8_t probes;             /* slots tried per name */
    uint8_t stride_shift;       /* log2 bytes of an index record's place */
};

/* The index log: what is known of the newest unit and the chain. */
struct fffs_log {
    uint32_t serial;            /* of the newest unit */
    uint32_t highest;           /* highest serial in any valid header */
    uint32_t header_crc;        /* CRC field of the newest unit's header */
    uint32_t base;              /* serial of the newest solid unit */
    uint16_t base_session;      /* stride index of its last valid session mark, 0xFFFF none */
    uint16_t spare_headed;      /* recovery: units above the newest whose start mark reads blank, taken after the others */
    uint16_t spare_above;       /* recovery: units above the newest, taken only before the next two */
    uint16_t spare_between;     /* recovery: units above the newest proven one */
    uint16_t spare_proven;      /* recovery: the chain of the newest proven unit, taken last */
    uint16_t tried;             /* units whose erase failed in this session */
    uint16_t copies;            /* of the newest unit */
    uint16_t end;               /* stride index of the next record */
    uint16_t valid_end;         /* records at or beyond it are not replayed */
    uint16_t session;           /* stride index of the last valid session mark, 0xFFFF none */
    uint16_t last_at;           /* stride index of the remembered last record, 0xFFFF none */
    struct fffs_record last;    /* as it was read at mount */
    uint8_t chain[16];          /* unit numbers, oldest first */
    uint8_t chain_length;
    uint8_t state;              /* bits of index_log.h */
};

struct fffs_gc {
    uint32_t cursor;            /* slot to go on with in the victim, 65536: all are moved */
    uint32_t from;              /* address at which this transaction's items begin */
    uint32_t last_end;          /* address behind the last item's node */
    uint32_t moved_bytes;       /* of the file in work: copied so far */
    uint32_t split;             /* of them to target[0] */
    uint32_t target[2];         /* where they went */
    uint32_t erase_next;        /* where a segment erased piece by piece goes on, 0 none */
    uint32_t written;           /* pacing: bytes programmed for the user and not yet charged */
    uint32_t owed;              /* pacing: bytes of victims to move for what was written */
    uint16_t victim;            /* segment, 0xFFFF none */
    uint16_t wanted;            /* free segments that a refused write waits for, 0 none */
    uint16_t rate;              /* pacing: bytes of the victim to move for 16 bytes written; 0 it is levelled */
    uint16_t items;             /* files moved since the last commit */
    uint16_t level;             /* levelling cursor: a segment */
    struct fffs_record file;    /* in work; head 0 none */
    uint8_t victims;            /* segments erased since the last levelling */
    uint8_t whole;              /* all of the file in work moves */
    uint8_t current;            /* the file in work is current: nothing was committed since that was looked up */
    uint8_t stuck;              /* victims in a row that gained nothing since the last change from outside */
    uint16_t room;              /* the most that was free when a victim was begun, in 256ths of a sector */
};

struct fffs {
    const struct fffs_config *config;
    struct fffs_file *files;    /* open handles */
    struct fffs_dir *dirs;
    struct fffs_txn *txn;       /* open transaction */
    uint32_t mounted;           /* a mark while mounted */
    struct fffs_shape shape;
    struct fffs_log log;
    struct fffs_point user, moved;
    struct fffs_gc gc;
    uint32_t used;              /* bytes of live files, as their records tell */
    uint32_t pending;           /* bytes of open writers */
    uint32_t stamp;             /* next version stamp */
    uint32_t changes;           /* counts commits and moves since mount */
    uint32_t erases;            /* segment erases since format */
    uint16_t files_live;
    uint16_t ring;              /* segment cursor for allocation */
    uint32_t cache_cells;       /* capacity of the cache */
    uint32_t cache_used;
    uint16_t erased;            /* segments known to be erased */
    uint16_t bad;               /* segments that could not be erased in this session */
    uint16_t first_segment;     /* number of the first data segment on the shifted grid */
    uint16_t writers;           /* open writers */
    uint8_t flags;              /* of mount */
    uint8_t state;              /* FFFS_STATE_ bits of volume.h */
    uint8_t buffer_taken;       /* the write buffer is lent */
    int8_t failed;              /* status that every change answers, 0 none */
};

struct fffs_file {
    struct fffs *fs;            /* NULL when not open */
    struct fffs_file *next;
    uint8_t *buffer;            /* the caller's; a writer may borrow the volume's instead */
    uint32_t size;
    struct fffs_record record;  /* reader: its version; writer: the version to be replaced, head 0 none */
    union {
        struct {
            uint32_t stamp;     /* version */
            uint32_t position;
            uint32_t address;   /* flash address of the buffer's first byte */
        } reader;
        struct {
            const char *name;
            uint32_t reserved;  /* its share of fs->pending */
            uint32_t seen;      /* value of fs->changes when `record` was looked up */
        } writer;
    } of;
    union {
        struct {
            uint32_t address, start, end; /* the extent last used */
        } read;
        struct fffs_builder write;
    } u;
    uint16_t buffer_bytes;      /* of the caller's, as far as they are used */
    uint16_t fill;              /* bytes in the buffer */
    uint16_t slot;              /* writer: chosen slot */
    uint8_t name_length;
    uint8_t flags;              /* of open */
    uint8_t state;              /* bits of handles.h */
    int8_t error;               /* writer: what abandoned it */
    uint8_t pinned;
};

/* Room for one change of a transaction. */
struct fffs_change {
    struct fffs_record records[2]; /* of the whole array: what to commit, then what that replaces */
};

struct fffs_txn {
    struct fffs *fs;            /* NULL when not open */
    struct fffs_record *records; /* one per slot that changes */
    struct fffs_record *olds;   /* at commit: what each replaces */
    uint32_t reserved;          /* its share of fs->pending */
    uint32_t stamp;             /* of the volume when it began */
    uint16_t room;              /* entries of records */
    uint16_t count;
    int16_t created;            /* names that come to be, less those that go */
};

struct fffs_dir {
    struct fffs *fs;            /* NULL when not open */
    struct fffs_dir *next;
    const char *prefix;
    uint32_t cursor;            /* next slot to look at, 65536: end */
    struct {
        uint32_t hash;          /* of a folder returned */
        uint16_t slot;          /* of the file that showed it */
    } folders[FFFS_DIR_FOLDERS];
    uint8_t folder_count;       /* used entries; the next one is overwritten in turn when all are */
    uint8_t folders_lost;       /* an entry was overwritten */
    uint8_t prefix_length;
    char delimiter;
};

#endif

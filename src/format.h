/* Every byte on flash: magic, types, offsets, sizes. docs/FORMAT.md is the text of this file. */
#ifndef FFFS_FORMAT_H
#define FFFS_FORMAT_H

#include <stdint.h>

/* ---- Index records: 8 bytes at the start of a stride of max(8, granule) bytes ---- */
enum {
    FFFS_REC_SLOT = 0,          /* u16 */
    FFFS_REC_HEAD = 2,          /* u16 */
    FFFS_REC_OFF = 4,           /* u8 */
    FFFS_REC_LEN = 5,           /* u8 */
    FFFS_REC_TAG = 6,           /* u8 */
    FFFS_REC_CHECK = 7,         /* kind in bits 7..6, Berger count in bits 5..0 */
    FFFS_REC_BYTES = 8,
    FFFS_REC_CRC = 8,           /* u32 CRC-32 of bytes 0..7, in strides of 16 bytes and more; the rest is 0xFF */
    FFFS_REC_CRC_STRIDE = 16,

    FFFS_KIND_MULTI = 1,        /* put whose node lists all extents */
    FFFS_KIND_TXN = 2,          /* applies only with its transaction */

    FFFS_HEAD_DELETE = 0,
    FFFS_HEAD_CONTROL = 1
};

/* Control records: type in the low byte of slot, 32 payload bits: slot's high byte (low bits), off, len, tag (high). Bit 7
 * of a type set: a reader that does not know it may ignore it; clear: it must refuse the volume. */
enum fffs_control {
    FFFS_CTL_START = 0x01,      /* mark; payload = stride index */
    FFFS_CTL_SESSION = 0x02,    /* mark; payload = stride index */
    FFFS_CTL_CLEAN = 0x03,      /* mark; payload = stride index */
    FFFS_CTL_APPEND_USER = 0x04,/* append point of user data: sector, byte offset */
    FFFS_CTL_APPEND_GC = 0x05,  /* append point of moved data: sector, byte offset */
    FFFS_CTL_ERASED = 0x06,     /* erased segments: first, count */
    FFFS_CTL_BEGIN = 0x07,      /* transaction: number of records, low 16 bits of unit serial */
    FFFS_CTL_COMMIT = 0x08,     /* transaction: stride index of its begin, low 16 bits of unit serial */
    FFFS_CTL_BAD = 0x09,        /* segment that can not be erased: segment number */
    FFFS_CTL_WEAR = 0x81,       /* wear checkpoint: segment erases since format */
    FFFS_CTL_WEAR_LEAST = 0x82, /* erase counts: the least of all cells; cells that no record follows for have it */
    FFFS_CTL_WEAR_CELLS = 0x83  /* bits 0..4 n, 5..7 shift, then what cells 3n, 3n+1, 3n+2 have beyond it, >> shift */
};

/* ---- Index unit: header | copies | 4 start slots | session slot | log ---- */
enum {
    FFFS_HDR_MAGIC = 0,         /* 'F' 'F' 'F' 'S' */
    FFFS_HDR_VERSION = 4,       /* u8 format version that wrote it */
    FFFS_HDR_READABLE = 5,      /* u8 oldest format version whose readers understand it (read-only) */
    FFFS_HDR_REQUIRED = 6,      /* u16 feature bits: unknown ones refuse the mount */
    FFFS_HDR_OPTIONAL = 8,      /* u16 feature bits: unknown ones are ignored */
    FFFS_HDR_FORMAT_ID = 10,    /* u16 changes with every format */
    FFFS_HDR_SECTORS = 12,      /* u16 sectors of the volume */
    FFFS_HDR_SECTOR_SHIFT = 14, /* u8 log2 of sector bytes, 8..16 */
    FFFS_HDR_GRANULE_SHIFT = 15,/* u8 log2 of granule bytes, 0..8 */
    FFFS_HDR_UNIT_SHIFT = 16,   /* u8 log2 of sectors per index unit */
    FFFS_HDR_UNITS = 17,        /* u8 index units, 3..16 */
    FFFS_HDR_SEGMENT_SHIFT = 18,/* u8 log2 of sectors per segment */
    FFFS_HDR_SPARES = 19,       /* u8 index units kept outside the chain */
    FFFS_HDR_PHASE = 20,        /* u16 sectors by which segment boundaries are shifted */
    FFFS_HDR_MAX_FILES = 22,    /* u16 */
    FFFS_HDR_SERIAL = 24,       /* u32 of this unit */
    FFFS_HDR_OLDEST = 28,       /* u32 serial of the oldest unit in the chain */
    FFFS_HDR_UNIT = 32,         /* u8 own number */
    FFFS_HDR_PREVIOUS = 33,     /* u8 number of the next older unit in the chain, 0xFF none */
    FFFS_HDR_COPIES = 34,       /* u16 */
    FFFS_HDR_BASE = 36,         /* u32 serial of the newest solid unit when this was written, 0 none */
    FFFS_HDR_BASE_SESSION = 40, /* u16 stride index of its last valid session mark, 0xFFFF none */
    FFFS_HDR_RING = 42,         /* u16 segment cursor for allocation */
    FFFS_HDR_LEVEL = 44,        /* u16 segment cursor for levelling */
    FFFS_HDR_PROBES = 46,       /* u8 slots tried per name, 1..64 */
    FFFS_HDR_VICTIMS = 47,      /* u8 segments erased since the last levelling */
    FFFS_HDR_STAMP = 48,        /* u32 version stamps used are below this */
    FFFS_HDR_ERASES = 52,       /* u32 segment erases since format */
    FFFS_HDR_CLOSES = 56,       /* u32 CRC-32 of the closed unit's header, 0 none */
    FFFS_HDR_BERGER = 60,       /* u16 zero bits of bytes 0..59 and 64..71 */
    FFFS_HDR_SPARE = 62,        /* u16 reserved, 0xFFFF */
    FFFS_HDR_CRC = 64,          /* u32 CRC-32 of the copies (whole strides), then bytes 0..59 */
    FFFS_HDR_OWN_CRC = 68,      /* u32 CRC-32 of bytes 0..59 alone: a header is believed before its copies are read */
    FFFS_HDR_BYTES = 72,

    FFFS_START_SLOTS = 4,
    FFFS_MARKS = 5,             /* start slots and the session slot */
    FFFS_UNITS_MAX = 16,
    FFFS_UNITS_MIN = 3,
    FFFS_DATA_SEGMENTS_MIN = 5,
    FFFS_UNIT_STRIDES = 128,    /* a unit has at least so many strides ... */
    FFFS_UNIT_STRIDES_TINY = 24,/* ... or so many on small volumes */
    FFFS_UNIT_NONE = 0xFF
};

/* ---- Node: table refs | extents | data CRC | attributes | their length | name | trailer ---- */
enum {
    FFFS_NODE_SIZE = 0,         /* u32 bytes of the file */
    FFFS_NODE_STAMP = 4,        /* u32 version stamp */
    FFFS_NODE_SLOT = 8,         /* u16 */
    FFFS_NODE_NAME_LENGTH = 10, /* u8 1..255 */
    FFFS_NODE_PAD = 11,         /* u8 bytes between data and node, put only */
    FFFS_NODE_FLAGS = 12,       /* u8 */
    FFFS_NODE_EXTENTS = 13,     /* u8 extents listed in the node */
    FFFS_NODE_CRC = 14,         /* u32 CRC-32 of the node's bytes before it */
    FFFS_NODE_TRAILER = 18,

    FFFS_NODE_MULTI = 1,        /* extents are listed; clear: the data is what stands before pad and node */
    FFFS_NODE_TABLES = 2,       /* table blocks are listed: refs u32 each (newest first), then their number u16 */
    FFFS_NODE_ATTRS = 4,        /* attributes stand before the name, then their length u8 */
    FFFS_NODE_DATA_CRC = 8,     /* a u32 CRC-32 of the data stands before the attributes */
    FFFS_NODE_KNOWN = 15,

    FFFS_EXTENT_ADDRESS = 0,    /* u32 */
    FFFS_EXTENT_END = 4,        /* u32 offset in the file at which the extent ends */
    FFFS_EXTENT_BYTES = 8,

    /* Table block: header, extents, CRC-32 of all before it */
    FFFS_TABLE_PREVIOUS = 0,    /* u32 address of the table block before, 0 none */
    FFFS_TABLE_START = 4,       /* u32 offset in the file at which its first extent begins */
    FFFS_TABLE_COUNT = 8,       /* u16 extents */
    FFFS_TABLE_INDEX = 10,      /* u16 number of table blocks before this one */
    FFFS_TABLE_HEADER = 12,
    FFFS_TABLE_CRC_BYTES = 4,
    FFFS_EXTENTS_MAX = 28       /* most extents of a table block */
};

enum { FFFS_FEATURES_KNOWN = 0 };

#endif

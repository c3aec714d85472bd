/* What all modules know of a mounted volume: bits of struct fffs, limits. No functions of its own. */
#ifndef FFFS_VOLUME_H
#define FFFS_VOLUME_H

#include "fastffs/fastffs.h"
#include "record.h"

/* Not enumerators: those are int, which may have 16 bits. */
#define FFFS_NONE16 0xFFFFu
#define FFFS_SLOTS_END 65536uL /* cursor behind the last slot */

#define FFFS_NO_ADDRESS 0xFFFFFFFFuL
#define FFFS_MOUNTED 0x46464D31uL

/* struct fffs.state */
enum {
    FFFS_STATE_CACHED = 1,      /* a cache was given */
    FFFS_STATE_PARTIAL = 2,     /* not every record fits the cache: the log is the truth */
    FFFS_STATE_WEIGHED = 4,     /* weights, used and files_live are right */
    FFFS_STATE_RECOVER = 8,     /* an unclean stop was found and recovery is put off to the first change */
    FFFS_STATE_INSIDE = 16      /* a call is under way */
};

/* struct fffs_log.state */
enum {
    FFFS_LOG_SESSION = 1,       /* this session's mark is written: changes may follow */
    FFFS_LOG_CLEAN = 2,         /* the last record is a valid clean */
    FFFS_LOG_FRESH = 4,         /* no session mark in the newest unit yet: its session slot is the next mark */
    FFFS_LOG_LIQUID = 8         /* the newest unit may read differently: its copies count only with their CRC */
};

#endif

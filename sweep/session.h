/* A volume in use, and what it must hold. Level 0 is the volume that the workload runs on; level n + 1 is a damaged copy of
 * level n. All memory is taken once. */
#ifndef SWEEP_SESSION_H
#define SWEEP_SESSION_H

#include <setjmp.h>
#include "emulator/nor_fault.h"
#include "model.h"
#include "point.h"

enum { SESSION_WRITERS = 3, SESSION_READERS = 2, SWEEP_LEVELS = 4, SWEEP_OPERATIONS_MAX = 32 };

/* splitmix64. */
struct dice { uint64_t state; };
static inline uint64_t dice_next(struct dice *dice)
{
    uint64_t z = (dice->state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}
static inline uint32_t dice_below(struct dice *dice, uint32_t limit)
{
    return limit == 0 ? 0 : (uint32_t)((dice_next(dice) >> 32) % limit);
}
static inline int dice_percent(struct dice *dice, uint32_t percent)
{
    return dice_below(dice, 100) < percent;
}

struct writer {
    struct fffs_file file;
    uint8_t *buffer;
    int open;
    uint32_t name;
    struct version version;
    uint32_t written;
};

struct reader {
    struct fffs_file file;
    uint8_t *buffer;
    int open;
    struct version version;
    uint32_t position;
};

struct sweep;

struct session {
    struct sweep *sweep;
    unsigned level;
    struct nor *nor;
    struct fffs_flash flash;     /* counts the calls, then goes to nor */
    uint32_t calls_left;         /* driver calls before this counts as endless */
    struct fffs_config config;
    const struct point *point;
    uint32_t capacity;           /* bytes, once formatted */
    uint32_t index_bytes;        /* the index area, from address 0 */
    struct fffs fs;
    int mounted;
    struct model model;
    struct dice dice;
    struct writer writers[SESSION_WRITERS];
    struct reader readers[SESSION_READERS];
    uint8_t *buffer;             /* of files that are opened and closed at once */
    unsigned workload;           /* chooses the sizes */
    const char *doing;           /* for messages */
    unsigned operation;          /* number of the operation in work */
    /* Exploring: */
    uint64_t seed;
    uint32_t mutations;          /* numbers what may be cut */
    unsigned explore_percent;    /* chance that a mutation is cut; 0: none */
};

/* Ends this branch: the text says what is wrong. Does not return. */
void sweep_fail(struct session *session, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3), noreturn))
#endif
    ;

void session_create(struct session *session, struct sweep *sweep, const struct point *point, unsigned level);
void session_destroy(struct session *session);
/* Formats; must work. */
void session_format(struct session *session, uint32_t sectors);
int session_mount(struct session *session, uint32_t more_flags);
/* RAM is lost. */
void session_power_off(struct session *session);
int session_unmount(struct session *session);

/* Every file is compared with the model. Groups in doubt: either way; when `settle` what was seen is from now on the
 * model. */
void session_look(struct session *session, int settle);
/* Listings, the free query, fffs_check(). */
void session_check(struct session *session);
/* The status of a call that may not fail. */
void session_must(struct session *session, const char *what, int status);
int session_refused(int status);
/* Writes a whole file in pieces, with collection steps where they are asked for, and puts the change in doubt before the
 * close: the caller settles it. The status of the call that failed. */
int session_write(struct session *session, uint32_t name, const struct version *version);
/* Both repeat after collection steps what asks for them. */
int session_close(struct session *session, struct fffs_file *file);
int32_t session_append(struct session *session, struct fffs_file *file, const uint8_t *data, uint32_t bytes);

#endif

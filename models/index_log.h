/* The model of the index log: flash with cuts, the protocol, the ghost that knows what may be shown. See docs/MODEL.md. */
#ifndef MODEL_INDEX_LOG_H
#define MODEL_INDEX_LOG_H

#include <stdint.h>

/* ---- Size ---- */
enum {
    UNITS_MAX = 6, SLOTS = 2, STARTS = 4, LOG_MAX = 8,
    HEADER = 0,                 /* cells of a unit: header, copies, start slots, session slot, log */
    COPIES = 1,
    START = COPIES + SLOTS,
    SESSION = START + STARTS,
    LOG = SESSION + 1,
    CELLS_MAX = LOG + LOG_MAX,
    NO_UNIT = 0xFF, NO_PLACE = 0xFF
};

/* ---- Flash ---- */

enum type { NOTHING, HEAD, PUT, MARK_START, MARK_SESSION, MARK_CLEAN, HINT, BEGIN, COMMIT };

/* What was meant to be in a cell. A put of value 0 is a delete. */
struct record {
    uint8_t type;
    uint8_t slot, value;        /* put */
    uint8_t txn;                /* put: part of a transaction */
    uint8_t place;              /* mark: its cell; commit: the cell of its begin; begin: number of records; hint: see DATA */
};

/* BLANK reads blank, SURE reads as programmed; WEAK was touched by a cut: each read is blank, torn or what was programmed
 * there last (never, if nothing was), until the unit is erased whole. */
enum { BLANK, SURE, WEAK };
struct cell {
    uint8_t state;
    struct record record;
};

struct header {
    uint8_t serial, oldest, previous, base, base_session, copies;
    struct record sum[SLOTS];   /* the CRC: what the copies must read as */
};

struct unit {
    struct header header;       /* of the cell HEADER */
    struct cell cells[CELLS_MAX];
};

/* ---- Ghost: what the world outside may rely on ---- */

struct view {
    uint8_t values[SLOTS];
};

struct world {
    struct unit units[UNITS_MAX];
    uint8_t data;               /* changes with every program of file data: what a hint tells is true for one value only */
    struct view committed;      /* what the next mount shows ... */
    struct view in_flight;      /* ... or this, if `doubt`: the change that a cut stopped */
    uint8_t doubt;
    uint8_t in_row;             /* sessions in a row that a cut has ended */
    uint8_t forced;             /* a unit was taken that a rule of choice protects: no other was left */
};

/* ---- Rules: each can be switched off ---- */

#define RULES(RULE) \
    RULE(SESSION_FIRST, "a session's first change is its session mark") \
    RULE(SESSION_COUNTS, "a log counts only behind its session mark") \
    RULE(SESSION_BLANK, "the session mark goes only where it is blank, else a successor") \
    RULE(UNCLEAN_REFRESH, "an unclean log is never continued: a successor replaces it") \
    RULE(CLEAN_LAST, "clean only if the mark is the last that is not blank") \
    RULE(CLEAN_ALONE, "the clean mark is a call of its own, behind the hints") \
    RULE(HINTS_DROPPED, "hints behind which no clean mark stands are not replayed") \
    RULE(LAST_ONCE, "the last record is read once and remembered") \
    RULE(ERASE_ALWAYS, "a spare is erased before use, also when it reads blank") \
    RULE(HEADER_BEFORE_START, "start 1 is a call of its own, after the header returned") \
    RULE(COPIES_SUMMED, "the header's CRC covers the copies") \
    RULE(START_COUNTS, "a unit counts only with its start mark") \
    RULE(SECOND_START, "a refresh proves itself by a second start mark") \
    RULE(SOLID_LATER, "solid only if a later start or the session slot is not blank") \
    RULE(LIQUID_BASE, "a liquid unit counts only on the base it names") \
    RULE(LIQUID_SESSION, "... and only in the session it was written in") \
    RULE(LIQUID_ORPHAN, "... or when that base is gone and what is solid is older than it") \
    RULE(MARKS_ONCE, "the marks of a unit are read once and remembered") \
    RULE(LIQUID_REFRESH, "a liquid unit is never programmed: a successor replaces it") \
    RULE(LIQUID_SAME, "a liquid unit that reads differently is chosen anew") \
    RULE(PROVE, "a solid unit without a valid mark is proved first") \
    RULE(PROVE_BEHIND, "... in a start slot behind the last that is not blank") \
    RULE(RIVAL_REFRESH, "another valid header of the same or a higher serial: a successor") \
    RULE(SERIAL_ABOVE_ALL, "a serial is above that of every valid header") \
    RULE(SPARE_ABOVE, "no spare above the newest that has a start mark") \
    RULE(SPARE_HEADED, "... or a header, while others are left") \
    RULE(SPARE_BETWEEN, "no spare between an unproven newest and the proven unit") \
    RULE(SPARE_CHAIN, "no spare of the proven unit's chain") \
    RULE(BEGIN_ALONE, "begin is a call of its own, before the records") \
    RULE(COMMIT_ALONE, "commit is a call of its own, after the records") \
    RULE(COMMIT_COUNTS, "a transaction applies only with its commit") \
    RULE(FAILED_REFRESH, "after a failed program of a record: a successor") \
    RULE(FAILED_SERIAL, "a successor that failed has used up its serial") \
    RULE(FAILED_STOP, "when that successor fails too: no change until the next mount")

enum rule {
#define RULE(name, text) name,
    RULES(RULE)
#undef RULE
    RULE_COUNT
};

/* ---- Driving ---- */

struct setting {
    uint8_t units, spares, log; /* of a volume; log: cells of a unit's log */
    uint8_t failures;           /* driver calls that may fail in one run */
    uint8_t operations;         /* most in a session */
    uint8_t in_row;             /* most sessions in a row that end with a cut */
    uint64_t off;               /* bit per rule that is switched off */
};

extern struct setting setting;
extern struct world world;

enum choice { CHOICE_READ, CHOICE_CUT, CHOICE_PART, CHOICE_MODE, CHOICE_WORK };

/* One of 0 .. count - 1; 0 is the uneventful one for CUT and MODE. Defined by the search. */
unsigned choose(enum choice what, unsigned count);
void trace(const char *format, ...);

void model_format(void);
/* One session from power on to power off. NULL, or the property that was violated. */
const char *model_session(void);
/* Gives worlds that differ only in what no mount can tell the same bytes: serials and values by rank, no leftovers. */
void model_normalize(void);
/* Serials are a byte here: a run ends before they are used up. */
unsigned model_highest_serial(void);

#endif

/* The protocol of the index log, small enough to be searched. Functions bear the names of those in src/mount.c and
 * src/index_log.c whose decisions they mirror; what is left out stands in docs/MODEL.md. */
#include "index_log.h"

#include <setjmp.h>
#include <string.h>

struct setting setting;
struct world world;

static jmp_buf power_off;
static const char *violation;
static uint8_t failures_left;
static uint8_t seen_blank[UNITS_MAX][CELLS_MAX]; /* in this session */

static int on(enum rule rule)
{
    return (setting.off >> rule & 1u) == 0;
}

static void fail(const char *property)
{
    trace("VIOLATION: %s", property);
    violation = property;
    longjmp(power_off, 1);
}

static void cut(void)
{
    world.in_row++;
    longjmp(power_off, 1);
}

/* 0 the call returns, 1 power goes off in it, 2 the driver fails. */
static unsigned choose_cut(unsigned count)
{
    if (world.in_row >= setting.in_row)
        return 0;
    return choose(CHOICE_CUT, count);
}

/* ---- Flash ---- */

enum kind { READ_BLANK, READ_TORN, READ_VALID };

static int same_record(const struct record *a, const struct record *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static enum kind read_cell(uint8_t unit, uint8_t at, struct record *record)
{
    const struct cell *cell = &world.units[unit].cells[at];
    enum kind kind = READ_BLANK;

    memset(record, 0, sizeof *record);
    if (cell->state == SURE)
        kind = READ_VALID;
    else if (cell->state == WEAK)
        kind = (enum kind)choose(CHOICE_READ, cell->record.type == NOTHING ? 2 : 3);
    if (kind == READ_VALID)
        *record = cell->record;
    seen_blank[unit][at] = kind == READ_BLANK;
    if (cell->state == WEAK)
        trace("    unit %d cell %d reads %s", unit, at, kind == READ_BLANK ? "blank" : kind == READ_TORN ? "torn" : "valid");
    return kind;
}

static int is_mark(const struct record *record)
{
    return record->type == MARK_START || record->type == MARK_SESSION;
}

/* Programs one cell; `part`: 0 not at all, 1 in part, 2 whole. */
static void program_cell(uint8_t unit, uint8_t at, const struct record *record, unsigned part)
{
    struct cell *cell = &world.units[unit].cells[at];

    if (part == 0)
        return;
    /* The one exemption: the same mark again, where a cut left it blank. */
    if (cell->state != BLANK && !(is_mark(record) && same_record(&cell->record, record) && seen_blank[unit][at]))
        fail("P4 a cell is programmed twice");
    cell->record = *record;
    cell->state = part == 2 ? SURE : WEAK;
}

/* One program call of `count` cells. 0, or -1: the driver failed. A cut leaves each cell alone, weak or whole. */
static int program(uint8_t unit, uint8_t at, const struct record *records, unsigned count)
{
    unsigned event = choose_cut(failures_left > 0 ? 3 : 2), i;

    for (i = 0; i < count; i++)
        program_cell(unit, (uint8_t)(at + i), &records[i], event == 0 ? 2 : choose(CHOICE_PART, 3));
    trace("    program unit %d cell %d, %d records%s", unit, at, count, event == 1 ? ", CUT" : event == 2 ? ", FAILS" : "");
    if (event == 1)
        cut();
    failures_left = (uint8_t)(failures_left - (event == 2));
    return event == 2 ? -1 : 0;
}

static void erase(uint8_t unit)
{
    unsigned event = choose_cut(2), part = event == 0 ? 2 : choose(CHOICE_PART, 3), at;

    trace("    erase unit %d%s", unit, event == 0 ? "" : part == 1 ? ", CUT inside" : ", CUT");
    for (at = 0; at < CELLS_MAX && part != 0; at++) {
        if (part == 2)
            memset(&world.units[unit].cells[at], 0, sizeof world.units[unit].cells[at]);
        else
            world.units[unit].cells[at].state = WEAK;
    }
    if (event != 0)
        cut();
}

/* ---- RAM: what a mount finds (struct mounting), what it keeps (struct fffs_log) ---- */

enum { F_HEADER = 1, F_EXAMINED = 2, F_ACCEPTED = 4, F_START1 = 8, F_SOLID = 16, F_PROVEN = 32, F_SESSION = 64 };
enum { LOG_SESSION = 1, LOG_CLEAN = 2, LOG_FRESH = 4, LOG_LIQUID = 8 };
enum { OK = 0, FAILED = -1, CHANGED = -2, CORRUPT = -3 };

struct seen {
    struct header header;
    uint8_t flags, blank_start;
};

struct memory {
    struct seen units[UNITS_MAX];
    uint8_t excluded;           /* bit per unit */
    uint8_t newest, clean, recover, hinted;
    uint8_t hint;
    int damage;
    uint8_t chain[UNITS_MAX], chain_length; /* oldest first */
    uint8_t highest, serial, base, base_session, session;
    uint8_t end, valid_end, last_at, state, stopped;
    struct record last;
    uint8_t avoid_above, avoid_headed, avoid_between, avoid_chain;
    struct view view;           /* the index cache */
};

static struct memory ram;

static uint8_t cells_end(void)
{
    return (uint8_t)(LOG + setting.log);
}

static int is_solid(uint8_t unit)
{
    return (ram.units[unit].flags & (F_ACCEPTED | F_SOLID)) == (F_ACCEPTED | F_SOLID);
}

static uint8_t newest(void)
{
    return ram.chain[ram.chain_length - 1];
}

/* ---- Walk: mirrors fffs_scan_next() ---- */

struct scan {
    uint8_t link, end_link, at, torn;
};

static void scan_begin(struct scan *scan, uint8_t first, uint8_t last)
{
    scan->link = first;
    scan->end_link = last;
    scan->at = COPIES;
    scan->torn = 0;
}

static uint8_t scan_stop(const struct scan *scan)
{
    return scan->link + 1 == ram.chain_length ? ram.valid_end : cells_end();
}

/* 1, 0 at the end, CORRUPT. */
static int scan_next(struct scan *scan, struct record *record)
{
    while (scan->link < scan->end_link) {
        uint8_t unit = ram.chain[scan->link];
        enum kind kind;

        if (scan->at == COPIES + ram.units[unit].header.copies)
            scan->at = LOG;
        if (scan->at >= scan_stop(scan)) {
            if (scan->torn == 2)
                return CORRUPT;
            scan->link++;
            scan->at = COPIES;
            scan->torn = 0;
            continue;
        }
        kind = READ_VALID;
        if (scan->link + 1 == ram.chain_length && scan->at == ram.last_at && on(LAST_ONCE))
            *record = ram.last;
        else
            kind = read_cell(unit, scan->at, record);
        scan->at++;
        if (kind == READ_VALID) {
            if (scan->torn && record->type != MARK_SESSION)
                return CORRUPT;
            scan->torn = 0;
            return 1;
        }
        if (kind == READ_BLANK && scan->torn) {
            if (scan->torn == 2)
                return CORRUPT;
            scan->at = scan_stop(scan);
            scan->torn = 0;
        } else {
            scan->torn = kind == READ_BLANK ? 1 : 2;
        }
    }
    return 0;
}

static void apply(const struct record *record)
{
    if (record->type == PUT)
        ram.view.values[record->slot] = record->value;
}

/* Mirrors replay(). */
static void replay(uint8_t links)
{
    struct scan scan;
    struct record record;
    int status = 0;

    memset(&ram.view, 0, sizeof ram.view);
    ram.damage = OK;
    scan_begin(&scan, 0, links);
    while (links > 0 && (status = scan_next(&scan, &record)) == 1)
        apply(&record);
    if (status == CORRUPT)
        ram.damage = CORRUPT;
}

/* ---- Successors: mirrors choose_spare(), copy_link(), write_unit(), adopt() ---- */

static int in_chain(uint8_t unit)
{
    uint8_t i;

    for (i = 0; i < ram.chain_length; i++)
        if (ram.chain[i] == unit)
            return 1;
    return 0;
}

static uint8_t choose_spare(void)
{
    unsigned avoid[5], pass, i;

    avoid[4] = 0;
    avoid[3] = on(SPARE_CHAIN) ? ram.avoid_chain : 0u;
    avoid[2] = avoid[3] | (on(SPARE_BETWEEN) ? ram.avoid_between : 0u);
    avoid[1] = avoid[2] | (on(SPARE_ABOVE) ? ram.avoid_above : 0u);
    avoid[0] = avoid[1] | (on(SPARE_HEADED) ? ram.avoid_headed : 0u);
    for (pass = 0; pass < 5; pass++) {
        for (i = 1; i <= setting.units; i++) {
            uint8_t unit = (uint8_t)((newest() + i) % setting.units);

            if (in_chain(unit) || (avoid[pass] >> unit & 1u) != 0)
                continue;
            if (pass > 0)
                world.forced = 1;
            return unit;
        }
    }
    return NO_UNIT;
}

enum successor { NEXT, REFRESH };

/* Whether a later record of the slot stands in the chain behind link `link`. */
static int is_older(uint8_t slot, uint8_t link)
{
    struct scan scan;
    struct record record;

    scan_begin(&scan, (uint8_t)(link + 1), ram.chain_length);
    while (scan_next(&scan, &record) == 1)
        if (record.type == PUT && record.slot == slot)
            return 1;
    return 0;
}

/* The current records of a link; deletes go along unless it is the oldest. */
static int copy_link(uint8_t link, struct record *copies, uint8_t *count)
{
    struct record record, latest[SLOTS];
    struct scan scan;
    uint8_t slot, sum = 0;
    int status, changed = 0;
    const struct header *header = &ram.units[ram.chain[link]].header;

    memset(latest, 0, sizeof latest);
    *count = 0;
    scan_begin(&scan, link, (uint8_t)(link + 1));
    while ((status = scan_next(&scan, &record)) == 1) {
        if (scan.at <= COPIES + header->copies)
            changed |= !same_record(&record, &header->sum[sum++]);
        if (record.type == PUT)
            latest[record.slot] = record;
    }
    if ((ram.state & LOG_LIQUID) != 0 && link + 1 == ram.chain_length && on(LIQUID_SAME) &&
        (status != 0 || changed || sum != header->copies))
        return CHANGED;
    if (status != 0)
        return CORRUPT;
    for (slot = 0; slot < SLOTS; slot++) {
        if (latest[slot].type != PUT || (latest[slot].value == 0 && link == 0) || is_older(slot, link))
            continue;
        latest[slot].txn = 0;
        copies[(*count)++] = latest[slot];
    }
    return OK;
}

static struct record mark(enum type type, uint8_t place)
{
    struct record record;

    memset(&record, 0, sizeof record);
    record.type = (uint8_t)type;
    record.place = place;
    return record;
}

static int program_mark(uint8_t unit, enum type type, uint8_t at)
{
    struct record record = mark(type, at);

    return program(unit, at, &record, 1);
}

/* Copies, header, start 1, then start 2 (a refresh) or the session mark: each call after the one before returned. */
static int write_cells(uint8_t unit, const struct header *header, int refresh, int session)
{
    struct record both[START + 1];
    int status = OK;

    world.units[unit].header = *header; /* counts only with the cell HEADER */
    if (header->copies > 0)
        status = program(unit, COPIES, header->sum, header->copies);
    if (status == OK && !on(HEADER_BEFORE_START)) {
        /* One call for both; the cells between them are no part of it. */
        unsigned event = choose_cut(2);

        both[0] = mark(HEAD, HEADER);
        both[1] = mark(MARK_START, START);
        program_cell(unit, HEADER, &both[0], event == 0 ? 2 : choose(CHOICE_PART, 3));
        program_cell(unit, START, &both[1], event == 0 ? 2 : choose(CHOICE_PART, 3));
        trace("    program unit %d header and start 1%s", unit, event ? ", CUT" : "");
        if (event != 0)
            cut();
    } else if (status == OK) {
        status = program_mark(unit, HEAD, HEADER);
        if (status == OK)
            status = program_mark(unit, MARK_START, START);
    }
    if (status == OK && refresh && on(SECOND_START))
        status = program_mark(unit, MARK_START, START + 1);
    if (status == OK && session)
        status = program_mark(unit, MARK_SESSION, SESSION);
    return status;
}

static void adopt(const struct header *header, int session)
{
    ram.serial = ram.highest = ram.base = header->serial;
    ram.end = ram.valid_end = LOG;
    ram.session = ram.base_session = session ? SESSION : NO_PLACE;
    ram.last_at = NO_PLACE;
    ram.avoid_above = ram.avoid_headed = ram.avoid_between = ram.avoid_chain = 0;
    ram.state = session ? LOG_SESSION : LOG_FRESH;
    ram.units[newest()].header = *header;
}

static int is_blank_unit(uint8_t unit)
{
    struct record record;
    uint8_t at;

    for (at = 0; at < cells_end(); at++)
        if (read_cell(unit, at, &record) != READ_BLANK)
            return 0;
    return 1;
}

static int write_unit(enum successor kind, uint8_t unit, int session)
{
    uint8_t length = ram.chain_length, dropped = 0, kept_end = length;
    struct header header;
    int status = OK;

    memset(&header, 0, sizeof header);
    if (kind == REFRESH) {
        kept_end = (uint8_t)(length - 1);
        status = copy_link((uint8_t)(length - 1), header.sum, &header.copies);
    } else if (length + 1 + setting.spares > setting.units) {
        dropped = 1;
        status = copy_link(0, header.sum, &header.copies);
    }
    if (status != OK)
        return status;
    header.serial = (uint8_t)((on(SERIAL_ABOVE_ALL) ? ram.highest : ram.serial) + 1);
    header.base = ram.base;
    header.base_session = ram.base_session;
    header.previous = kept_end > dropped ? ram.chain[kept_end - 1] : NO_UNIT;
    header.oldest = kept_end > dropped ? ram.units[ram.chain[dropped]].header.serial : header.serial;
    status = write_cells(unit, &header, kind != NEXT, session);
    if (status != OK) {
        if (on(FAILED_SERIAL))
            ram.highest++;
        return status;
    }
    ram.chain_length = (uint8_t)(kept_end > dropped ? kept_end - dropped : 0);
    memmove(ram.chain, ram.chain + dropped, ram.chain_length);
    ram.chain[ram.chain_length++] = unit;
    adopt(&header, session);
    return OK;
}

/* Mirrors fffs_log_successor(). */
static int successor(enum successor kind, int session)
{
    uint8_t unit = choose_spare();
    int status;

    if (unit == NO_UNIT)
        fail("P3 no unit is left for a successor");
    trace("  successor in unit %d (%s)", unit, kind == NEXT ? "rotation" : "refresh");
    if (on(ERASE_ALWAYS) || !is_blank_unit(unit))
        erase(unit);
    status = write_unit(kind, unit, session);
    if (status == FAILED && (ram.state & LOG_SESSION) != 0 && on(FAILED_STOP))
        ram.stopped = 1;
    return status;
}

/* ---- Mount ---- */

/* A header is read valid or not at all: its CRC and Berger check tell. */
static int read_header(uint8_t unit, struct header *header)
{
    struct record record;

    if (read_cell(unit, HEADER, &record) != READ_VALID)
        return 0;
    *header = world.units[unit].header;
    return 1;
}

static void take_mark(struct seen *unit, uint8_t index, enum kind kind, int valid)
{
    if (index == 0) {
        unit->flags |= kind != READ_BLANK ? F_START1 : 0;
        unit->flags |= valid || (!on(START_COUNTS)) ? F_ACCEPTED : 0;
        return;
    }
    if (kind != READ_BLANK || !on(SOLID_LATER))
        unit->flags |= valid || !on(SOLID_LATER) ? F_SOLID | F_PROVEN : F_SOLID;
    if (index == STARTS)
        unit->flags |= valid ? F_SESSION : 0;
    else if (kind != READ_BLANK)
        unit->blank_start = on(PROVE_BEHIND) ? (uint8_t)(index + 1) : unit->blank_start;
    else if (!on(PROVE_BEHIND) && unit->blank_start == STARTS)
        unit->blank_start = index;
}

/* Copies and marks of a unit, read once. Mirrors examine() and the first part of read_unit(). */
static void examine(uint8_t number)
{
    struct seen *unit = &ram.units[number];
    struct record record;
    uint8_t i, right = 1;

    if ((unit->flags & F_EXAMINED) == 0 || !on(MARKS_ONCE)) {
        unit->flags = F_HEADER | F_EXAMINED;
        unit->blank_start = on(PROVE_BEHIND) ? 1 : STARTS;
        for (i = 0; i <= STARTS; i++) {
            enum kind kind = read_cell(number, (uint8_t)(START + i), &record);

            take_mark(unit, i, kind, kind == READ_VALID);
        }
    }
    for (i = 0; i < unit->header.copies; i++) {
        enum kind kind = read_cell(number, (uint8_t)(COPIES + i), &record);

        right &= kind == READ_VALID && same_record(&record, &unit->header.sum[i]);
        if (number == ram.newest && kind == READ_VALID)
            apply(&record);
    }
    if ((!right && on(COPIES_SUMMED)) || (ram.excluded >> number & 1u) != 0)
        unit->flags &= (uint8_t)~F_ACCEPTED;
}

/* ---- The newest unit's log: mirrors take_record(), take_control(), end_log() ---- */

struct reading {
    uint8_t begin, expected, counted, last_valid, last_used, bad, session, run, txn_bad;
    struct record last;
};

static int take_record(struct reading *r, const struct record *record, uint8_t at)
{
    if (r->bad != 0) {
        if (r->begin != 0)
            r->txn_bad = 1;
        else if (record->type == HINT)
            return OK;
        else if (record->type != MARK_SESSION || r->bad + 1 != at)
            return CORRUPT;
        r->bad = 0;
    }
    if (record->type != HINT && record->type != MARK_CLEAN)
        r->run = (uint8_t)(at + 1);
    r->last_valid = at;
    r->last = *record;
    switch (record->type) {
    case MARK_SESSION:
        r->session = at;
        return OK;
    case BEGIN:
        r->begin = at;
        r->expected = record->place;
        r->counted = r->txn_bad = 0;
        return OK;
    case COMMIT:
        if (r->begin != record->place || r->counted != r->expected || r->txn_bad)
            return CORRUPT;
        r->begin = 0;
        return OK;
    case PUT:
        r->counted = (uint8_t)(r->counted + record->txn);
        return record->txn && r->begin == 0 ? CORRUPT : OK;
    default:
        return OK;
    }
}

static void end_log(const struct reading *r)
{
    ram.end = r->last_used != 0 ? (uint8_t)(r->last_used + 1) : LOG;
    ram.valid_end = r->last_valid != 0 ? (uint8_t)(r->last_valid + 1) : LOG;
    ram.last_at = NO_PLACE;
    ram.clean = 0;
    if (r->begin != 0) {
        if (on(COMMIT_COUNTS))
            ram.valid_end = r->begin;
    } else if (r->last_valid != 0 && on(HINTS_DROPPED) &&
               (r->last.type == HINT || (r->last.type == MARK_CLEAN && r->last_valid != r->last_used))) {
        ram.valid_end = r->run;
    }
    if (r->last_valid != 0 && (r->last_valid == r->last_used || !on(CLEAN_LAST)) && r->last_valid < ram.valid_end) {
        ram.last_at = r->last_valid;
        ram.last = r->last;
        ram.clean = r->last.type == MARK_CLEAN;
    }
}

static int read_log(struct reading *r)
{
    int status = OK;
    uint8_t at;

    for (at = LOG; at < cells_end() && status == OK; at++) {
        struct record record;
        enum kind kind = read_cell(ram.newest, at, &record);

        if (kind != READ_BLANK)
            r->last_used = at;
        if (kind == READ_VALID) {
            status = take_record(r, &record, at);
            apply(&record);
            if (record.type == HINT) {
                ram.hinted = 1;
                ram.hint = record.place;
            } else if (record.type != MARK_CLEAN) {
                ram.hinted = 0;
            }
        } else if (r->bad == 0) {
            r->bad = at;
        }
    }
    return status;
}

/* Mirrors load_chain() and walk_chain(): by the headers remembered; 0 when it is broken. */
static uint8_t walk_chain(uint8_t unit, uint8_t oldest, uint8_t *chain)
{
    uint8_t length = 0;

    for (;;) {
        uint8_t previous = ram.units[unit].header.previous;

        chain[length++] = unit;
        if (ram.units[unit].header.serial == oldest)
            return length;
        if (length == setting.units || previous >= setting.units || (ram.units[previous].flags & F_HEADER) == 0 ||
            ram.units[previous].header.serial >= ram.units[unit].header.serial)
            return 0;
        unit = previous;
    }
}

/* Mirrors open_unit(): makes a unit the newest. */
static int open_unit(uint8_t number)
{
    struct seen *unit = &ram.units[number];
    struct header header;
    uint8_t chain[UNITS_MAX], length, i, read;
    struct reading r;
    int status = OK;

    read = (uint8_t)read_header(number, &header);
    if (!read || header.serial != unit->header.serial) {
        unit->flags = F_HEADER | F_EXAMINED;
        return OK;
    }
    ram.newest = number;
    ram.serial = header.serial;
    ram.hinted = 0;
    ram.last_at = NO_PLACE;
    ram.valid_end = LOG;
    length = walk_chain(number, header.oldest, chain);
    for (i = 0; i < length; i++)
        ram.chain[i] = chain[length - 1 - i];
    ram.chain_length = length;
    replay((uint8_t)(length > 0 ? length - 1 : 0));
    examine(number);
    memset(&r, 0, sizeof r);
    r.run = LOG;
    ram.state = (unit->flags & F_SESSION) != 0 ? 0 : LOG_FRESH;
    if ((unit->flags & F_SESSION) != 0 || !on(SESSION_COUNTS)) {
        status = read_log(&r);
    } else { /* records stand only behind a session mark that returned: no cut explains its loss */
        struct record record;

        for (i = LOG; i < cells_end() && status == OK; i++)
            status = read_cell(number, i, &record) != READ_BLANK ? CORRUPT : OK;
    }
    ram.session = r.session != 0 ? r.session : (unit->flags & F_SESSION) != 0 ? SESSION : NO_PLACE;
    end_log(&r);
    if (ram.clean)
        ram.state = LOG_CLEAN;
    if (length == 0)
        ram.damage = CORRUPT;
    else if (r.begin != 0 && status == OK) /* the transaction was applied before its commit was missed */
        replay(length);
    return status;
}

static int is_lower(uint8_t a, uint8_t b)
{
    const struct header *x = &ram.units[a].header, *y = &ram.units[b].header;

    return x->serial != y->serial ? x->serial < y->serial : a > b;
}

static uint8_t next_lower(uint8_t after)
{
    uint8_t best = setting.units, i;

    for (i = 0; i < setting.units; i++)
        if ((ram.units[i].flags & F_HEADER) != 0 && (after == setting.units || is_lower(i, after)) &&
            (best == setting.units || is_lower(best, i)))
            best = i;
    return best;
}

static int find_solid(uint8_t *solid)
{
    for (*solid = next_lower(setting.units); *solid < setting.units; *solid = next_lower(*solid)) {
        int status = open_unit(*solid);

        if (is_solid(*solid))
            return status;
    }
    return OK;
}

static int has_serial(uint8_t serial)
{
    uint8_t i;

    for (i = 0; i < setting.units; i++)
        if ((ram.units[i].flags & F_HEADER) != 0 && ram.units[i].header.serial == serial)
            return 1;
    return 0;
}

/* Whether a liquid unit counts: it was written on the solid one and in its last session; or what it was written on is gone,
 * taken as a spare by a mount that read a torn mark of this one as valid. */
static int counts(const struct header *header)
{
    if (ram.base == 0)
        return 1;
    if (header->base > ram.base && !has_serial(header->base) && on(LIQUID_ORPHAN))
        return 1;
    return (header->base == ram.base || !on(LIQUID_BASE)) &&
           (header->base_session == ram.base_session || !on(LIQUID_SESSION));
}

static uint8_t find_liquid(uint8_t solid)
{
    uint8_t unit;
    struct header header;

    for (unit = next_lower(setting.units); unit < setting.units && unit != solid; unit = next_lower(unit))
        if ((ram.units[unit].flags & F_ACCEPTED) != 0 && read_header(unit, &header) &&
            header.serial == ram.units[unit].header.serial && counts(&header))
            return unit;
    return setting.units;
}

static int choose_newest(void)
{
    uint8_t solid, liquid;
    int status = find_solid(&solid);

    if (status != OK)
        return status;
    ram.base = solid < setting.units ? ram.serial : 0;
    ram.base_session = solid < setting.units ? ram.session : NO_PLACE;
    while ((liquid = find_liquid(solid)) < setting.units) {
        status = open_unit(liquid);
        if ((ram.units[liquid].flags & F_ACCEPTED) == 0)
            continue;
        if (!is_solid(liquid))
            ram.state |= LOG_LIQUID;
        return status;
    }
    if (solid == setting.units)
        return CORRUPT;
    if (ram.newest != solid) {
        status = open_unit(solid);
        if (!is_solid(solid))
            status = CHANGED;
        ram.base_session = ram.session;
    }
    return status;
}

/* Mirrors mark_spares(). */
static void mark_spares(void)
{
    uint8_t chain[UNITS_MAX], proven = ram.newest, i, length;
    struct header header;

    ram.avoid_above = ram.avoid_headed = ram.avoid_between = ram.avoid_chain = 0;
    while (proven < setting.units && (ram.units[proven].flags & (F_ACCEPTED | F_PROVEN)) != (F_ACCEPTED | F_PROVEN)) {
        proven = next_lower(proven);
        if (proven == setting.units)
            break;
        if ((ram.units[proven].flags & F_EXAMINED) == 0 && read_header(proven, &header) &&
            header.serial == ram.units[proven].header.serial)
            examine(proven);
    }
    for (i = 0; i < setting.units; i++) {
        uint8_t bit = (uint8_t)(1u << i);
        int above = ram.units[i].header.serial >= ram.units[ram.newest].header.serial;
        int between = !above && (proven == setting.units || ram.units[i].header.serial > ram.units[proven].header.serial);

        if ((ram.units[i].flags & F_HEADER) == 0 || i == ram.newest)
            continue;
        if ((ram.units[i].flags & F_START1) == 0)
            ram.avoid_headed |= above ? bit : 0;
        else if (above)
            ram.avoid_above |= bit;
        else if (between)
            ram.avoid_between |= bit;
    }
    if (proven == ram.newest || proven == setting.units || !read_header(proven, &header))
        return;
    length = walk_chain(proven, header.oldest, chain);
    for (i = 0; i < length; i++)
        ram.avoid_chain |= (uint8_t)(1u << chain[i]);
}

static int has_rival(void)
{
    uint8_t i;

    for (i = 0; i < setting.units; i++)
        if (i != ram.newest && (ram.units[i].flags & F_HEADER) != 0 &&
            ram.units[i].header.serial >= ram.units[ram.newest].header.serial)
            return 1;
    return 0;
}

/* Mirrors prove(): 1 when it is done. */
static int prove(void)
{
    uint8_t slot = ram.units[ram.newest].blank_start;

    if (slot >= STARTS)
        return 0;
    trace("  prove unit %d by start %d", ram.newest, slot + 1);
    return program_mark(ram.newest, MARK_START, (uint8_t)(START + slot)) == OK;
}

/* Mirrors judge(). */
static void judge(int may_write)
{
    const struct seen *unit = &ram.units[ram.newest];

    ram.recover = (!is_solid(ram.newest) && on(LIQUID_REFRESH)) || (has_rival() && on(RIVAL_REFRESH));
    if ((unit->flags & F_SESSION) != 0 && !ram.clean && on(UNCLEAN_REFRESH))
        ram.recover = 1;
    if (!ram.recover && (unit->flags & F_PROVEN) == 0 && on(PROVE))
        ram.recover = (uint8_t)(may_write ? !prove() : 1);
    if (ram.recover)
        mark_spares();
    if (!on(UNCLEAN_REFRESH) && (unit->flags & F_SESSION) != 0 && !ram.clean)
        ram.state |= LOG_SESSION; /* goes on where the log ended */
}

static int load(int may_write)
{
    uint8_t i, excluded = ram.excluded;
    int status;

    memset(&ram, 0, sizeof ram);
    ram.excluded = excluded;
    for (i = 0; i < setting.units; i++) {
        if (!read_header(i, &ram.units[i].header))
            continue;
        ram.units[i].flags = F_HEADER;
        if (ram.units[i].header.serial > ram.highest)
            ram.highest = ram.units[i].header.serial;
    }
    ram.newest = NO_UNIT;
    status = choose_newest();
    if (status == OK)
        status = ram.damage;
    if (status == OK)
        judge(may_write);
    return status;
}

static int is_view(const struct view *view)
{
    return memcmp(view, &ram.view, sizeof *view) == 0;
}

/* Properties P1 (nothing committed is lost, nothing half done shows) and P2 (what a writable mount shows, stays). */
static void check_view(int decides)
{
    trace("  shows %d %d", ram.view.values[0], ram.view.values[1]);
    if (!is_view(&world.committed) && !(world.doubt && is_view(&world.in_flight)))
        fail("P1 the mount shows what was not committed");
    if (ram.hinted && ram.clean && !ram.recover && ram.hint != world.data)
        fail("P5 a hint tells of flash that was written since");
    if (decides) {
        world.committed = ram.view;
        world.doubt = 0;
    }
}

/* Mirrors fffs_mount_load(). OK, or FAILED when the driver failed. */
static int mount(int may_write, int read_only)
{
    int status, turns;

    ram.excluded = 0;
    for (turns = 0; turns < setting.units; turns++) {
        status = load(may_write);
        if (status == CHANGED) {
            ram.excluded |= (uint8_t)(1u << ram.newest);
            continue;
        }
        if (status != OK)
            fail(status == CORRUPT ? "P3 the volume does not mount" : "P3 mount fails");
        trace("  mount: newest unit %d, serial %d%s%s", ram.newest, ram.serial, is_solid(ram.newest) ? "" : ", liquid",
              ram.recover ? ", recovers" : "");
        if (!ram.recover || !may_write)
            break;
        status = successor(REFRESH, 0);
        if (status != CHANGED)
            break;
        ram.excluded |= (uint8_t)(1u << ram.newest);
    }
    if (status == CHANGED || status == CORRUPT)
        fail("P3 recovery fails");
    if (status == OK)
        check_view(may_write || (!read_only && !ram.recover));
    return status;
}

/* ---- Changes: mirrors fffs_log_begin_change(), fffs_log_reserve(), append_raw(), give_up() ---- */

/* 1 when changes may follow. */
static int begin_change(void)
{
    struct record record;
    uint8_t at = ram.end;

    if (ram.stopped)
        return 0;
    if (ram.recover) { /* put off by the mount */
        if (successor(REFRESH, 0) != OK) {
            ram.stopped = 1;
            return 0;
        }
        ram.recover = 0;
        world.committed = ram.view;
        world.doubt = 0;
    }
    if ((ram.state & LOG_SESSION) != 0)
        return 1;
    if (!on(SESSION_FIRST)) {
        ram.state = LOG_SESSION;
        return 1;
    }
    if ((ram.state & LOG_FRESH) != 0)
        at = SESSION;
    if (at >= cells_end() || (on(SESSION_BLANK) && read_cell(newest(), at, &record) != READ_BLANK) ||
        program_mark(newest(), MARK_SESSION, at) != OK) {
        if (successor(REFRESH, 1) == OK)
            return 1;
        ram.stopped = (uint8_t)on(FAILED_STOP); /* the successor may count, and lacks what would follow */
        return 0;
    }
    ram.avoid_above = ram.avoid_headed = ram.avoid_between = ram.avoid_chain = 0; /* this mark returned: it is proven now */
    ram.session = ram.base_session = at;
    ram.end = ram.valid_end = (uint8_t)(at + 1);
    ram.last_at = NO_PLACE;
    ram.state = LOG_SESSION;
    return 1;
}

static int reserve(uint8_t cells)
{
    if (!begin_change())
        return 0;
    while (cells_end() - ram.end < cells)
        if (successor(NEXT, 1) != OK)
            return 0;
    return 1;
}

static int append(const struct record *records, uint8_t count)
{
    int status = program(newest(), ram.end, records, count);

    if (status == OK) {
        ram.end = (uint8_t)(ram.end + count);
        return OK;
    }
    if (on(FAILED_REFRESH)) {
        ram.end = ram.valid_end;
        if (successor(REFRESH, 1) != OK)
            ram.stopped = 1;
    } else {
        ram.end = (uint8_t)(ram.end + count); /* goes on behind it */
        ram.valid_end = ram.end;
    }
    return status;
}

static struct record put(uint8_t slot, uint8_t value, uint8_t txn)
{
    struct record record;

    memset(&record, 0, sizeof record);
    record.type = PUT;
    record.slot = slot;
    record.value = value;
    record.txn = txn;
    return record;
}

/* A value that the slot does not have and could not show: small numbers are used again. */
static uint8_t fresh_value(uint8_t slot)
{
    uint8_t value = 1, u, at;

    for (u = 0; u < setting.units; u++)
        for (at = COPIES; at < cells_end(); at++) {
            const struct cell *cell = &world.units[u].cells[at];

            if (cell->state != BLANK && cell->record.type == PUT && cell->record.slot == slot && cell->record.value >= value)
                value = (uint8_t)(cell->record.value + 1);
        }
    if (world.committed.values[slot] >= value)
        value = (uint8_t)(world.committed.values[slot] + 1);
    return value;
}

static void done(int status)
{
    if (status == OK) {
        world.committed = world.in_flight;
        ram.view = world.committed;
        world.doubt = 0;
    } else if (!ram.stopped) {
        world.doubt = 0; /* a successor without it was written */
    }
}

/* A put or a delete: fffs_log_append(). */
static void write_one(uint8_t slot, uint8_t value)
{
    struct record record = put(slot, value, 0);
    int status;

    if (!reserve(1))
        return;
    world.data++;
    world.in_flight = world.committed;
    world.in_flight.values[slot] = value;
    world.doubt = 1;
    status = append(&record, 1);
    if (status == OK)
        ram.valid_end = ram.end;
    done(status);
}

/* A transaction over both slots: fffs_log_txn_begin(), fffs_log_txn_add(), fffs_log_txn_commit(). */
static void write_both(void)
{
    struct record records[SLOTS + 2];
    uint8_t slot, begin, first = 1, count = SLOTS;
    int status = OK;

    if (!reserve(SLOTS + 2))
        return;
    begin = ram.end;
    world.data++;
    world.in_flight = world.committed;
    world.doubt = 1;
    records[0] = mark(BEGIN, SLOTS);
    for (slot = 0; slot < SLOTS; slot++) {
        world.in_flight.values[slot] = fresh_value(slot);
        records[1 + slot] = put(slot, world.in_flight.values[slot], 1);
    }
    records[1 + SLOTS] = mark(COMMIT, begin);
    if (on(BEGIN_ALONE)) {
        status = append(&records[0], 1);
        if (status != OK) {
            done(status);
            return;
        }
    } else {
        first = 0;
        count++;
    }
    if (!on(COMMIT_ALONE))
        count++;
    status = program(newest(), ram.end, &records[first], count);
    ram.end = (uint8_t)(ram.end + count);
    if (status == OK && on(COMMIT_ALONE)) {
        status = program(newest(), ram.end, &records[1 + SLOTS], 1);
        ram.end++;
    }
    if (status == OK)
        ram.valid_end = ram.end;
    else
        ram.stopped = 1; /* append_txn(): recovery is left to the next mount */
    done(status);
}

/* Unmount: fffs_log_clean(). */
static void settle(void)
{
    struct record records[3];
    int status;

    if (ram.stopped || (ram.state & LOG_SESSION) == 0 || !reserve(3))
        return;
    records[0] = records[1] = mark(HINT, world.data);
    records[2] = mark(MARK_CLEAN, (uint8_t)(ram.end + 2));
    if (on(CLEAN_ALONE)) {
        status = append(&records[0], 2);
        if (status == OK)
            status = append(&records[2], 1);
    } else {
        status = append(records, 3);
    }
    if (status != OK)
        return;
    ram.valid_end = ram.end;
    ram.state = LOG_CLEAN;
}

/* ---- Session ---- */

static void work(void)
{
    switch (choose(CHOICE_WORK, 8)) {
    case 0: trace("  put slot 0"); write_one(0, fresh_value(0)); break;
    case 1: trace("  put slot 1"); write_one(1, fresh_value(1)); break;
    case 2: trace("  transaction"); write_both(); break;
    case 3: trace("  settle"); settle(); break;
    case 4: trace("  delete slot 0"); write_one(0, 0); break;
    case 5: trace("  write data only"); if (begin_change()) world.data++; break;
    case 6: trace("  rotate"); if (begin_change()) (void)successor(NEXT, 1); break;
    default: trace("  settle"); settle(); break;
    }
}

const char *model_session(void)
{
    unsigned mode, count;

    violation = NULL;
    memset(seen_blank, 0, sizeof seen_blank);
    failures_left = setting.failures;
    if (setjmp(power_off) == 0) {
        mode = choose(CHOICE_MODE, 3); /* 0 writable, 1 read-only, 2 deferred recovery */
        trace(" power on%s", mode == 1 ? ", read-only" : mode == 2 ? ", recovery deferred" : "");
        if (mount(mode == 0, mode == 1) != OK) {
            world.in_row++; /* a recovery that the driver ended is cut off as well */
        } else {
            for (count = mode == 1 ? 0 : choose(CHOICE_WORK, setting.operations + 1u); count > 0; count--)
                work();
            world.in_row = 0; /* power off, but in no call */
        }
    }
    return violation;
}

/* Replaces numbers by their rank among those in use; 0 stays 0. */
static void rank(const uint8_t *used, uint8_t *ranks)
{
    unsigned number, next = 0;

    for (number = 0; number < 256; number++)
        ranks[number] = (uint8_t)(number != 0 && used[number] ? ++next : 0);
}

static int holds_header(const struct unit *unit)
{
    return unit->cells[HEADER].state != BLANK && unit->cells[HEADER].record.type == HEAD;
}

static void normalize_serials(void)
{
    uint8_t used[256] = { 0 }, ranks[256], i;

    for (i = 0; i < setting.units; i++) {
        const struct header *header = &world.units[i].header;

        used[header->serial] = used[header->oldest] = used[header->base] = 1;
    }
    rank(used, ranks);
    for (i = 0; i < setting.units; i++) {
        struct header *header = &world.units[i].header;

        header->serial = ranks[header->serial];
        header->oldest = ranks[header->oldest];
        header->base = ranks[header->base];
    }
}

/* All places that hold a value of the slot, one after the other; NULL at the end. */
static uint8_t *value_at(unsigned number, uint8_t slot)
{
    unsigned each = CELLS_MAX + SLOTS, unit = number / each, at = number % each;
    struct record *record;

    if (unit >= setting.units)
        return number == setting.units * each       ? &world.committed.values[slot]
               : number == setting.units * each + 1 ? &world.in_flight.values[slot]
                                                    : NULL;
    record = at < CELLS_MAX ? &world.units[unit].cells[at].record : &world.units[unit].header.sum[at - CELLS_MAX];
    return record->type == PUT && record->slot == slot ? &record->value : &world.forced; /* which is 0 */
}

void model_normalize(void)
{
    uint8_t slot, u, at, used[256], ranks[256], *value;
    unsigned i;

    if (!world.doubt)
        world.in_flight = world.committed;
    for (u = 0; u < setting.units; u++) {
        struct unit *unit = &world.units[u];

        if (!holds_header(unit))
            memset(&unit->header, 0, sizeof unit->header);
        for (at = 0; at < CELLS_MAX; at++) {
            if (at >= cells_end() || unit->cells[at].state == BLANK)
                memset(&unit->cells[at], 0, sizeof unit->cells[at]);
            if (unit->cells[at].record.type == HINT)
                unit->cells[at].record.place = unit->cells[at].record.place == world.data;
        }
    }
    world.data = 1;
    normalize_serials();
    for (slot = 0; slot < SLOTS; slot++) {
        memset(used, 0, sizeof used);
        for (i = 0; (value = value_at(i, slot)) != NULL; i++)
            used[*value] = 1;
        rank(used, ranks);
        for (i = 0; (value = value_at(i, slot)) != NULL; i++)
            *value = ranks[*value];
    }
}

unsigned model_highest_serial(void)
{
    unsigned highest = 0;
    uint8_t i;

    for (i = 0; i < setting.units; i++)
        if (world.units[i].header.serial > highest)
            highest = world.units[i].header.serial;
    return highest;
}

/* Mirrors fffs_log_create(): a complete empty volume in unit 0. */
void model_format(void)
{
    struct header *header = &world.units[0].header;
    uint8_t i;

    memset(&world, 0, sizeof world);
    header->serial = header->oldest = 1;
    header->previous = NO_UNIT;
    header->base_session = NO_PLACE;
    for (i = 0; i < 3; i++) {
        static const uint8_t places[] = { HEADER, START, START + 1 };
        struct cell *cell = &world.units[0].cells[places[i]];

        cell->record = mark(i == 0 ? HEAD : MARK_START, places[i]);
        cell->state = SURE;
    }
}

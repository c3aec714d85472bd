/* Mount, recovery and format (docs/FORMAT.md, "Mount").
 *
 * What a power cut touched may read differently each time, so everything that decides is read once per mount and
 * remembered: headers and marks in struct unit, the last record of the newest log in struct fffs_log. A writable mount
 * then never builds on it: it proves the newest unit by a fixed mark, or writes a successor (I2). Loops are bounded by the
 * number of units and the strides of a unit. */
#include "mount.h"

#include <string.h>
#include "bytes.h"
#include "crc32.h"
#include "flash_io.h"
#include "index_cache.h"
#include "index_log.h"
#include "segments.h"
#include "wear.h"

/* ---- Discovery ---- */

/* Whether what is no header is erased flash that does not read as ones. */
static int header_is_erased(const struct fffs_flash *flash, uint32_t address)
{
    int blank = flash->is_blank == NULL ? 0 : flash->is_blank(flash->context, address, FFFS_HDR_BYTES);

    return blank < 0 ? FFFS_ERR_IO : blank == 1 ? FFFS_ERR_BLANK : FFFS_ERR_FOREIGN;
}

static int header_at(const struct fffs_flash *flash, uint32_t address, struct fffs_header *header)
{
    uint8_t bytes[FFFS_HDR_BYTES];
    int status;

    if (address > flash->size_bytes || flash->size_bytes - address < FFFS_HDR_BYTES)
        return FFFS_ERR_BLANK;
    status = fffs_io_read_device(flash, address, bytes, sizeof bytes);
    if (status == FFFS_OK)
        status = fffs_header_decode(bytes, header);
    if (status == FFFS_ERR_FOREIGN)
        return header_is_erased(flash, address);
    if (status == FFFS_OK && fffs_unit_address(&header->shape, header->unit) != address)
        return FFFS_ERR_FOREIGN; /* a copy of a unit, in file data say */
    return status;
}

int fffs_discover_header(const struct fffs_flash *flash, struct fffs_header *header)
{
    static const uint8_t factors[] = {1, 3, 5, 7};
    int worst = header_at(flash, 0, header);
    uint32_t shift, i;
    int first = worst;

    if (worst == FFFS_OK || worst == FFFS_ERR_IO || worst == FFFS_ERR_NEWER_FORMAT)
        return worst;
    /* Units begin at multiples of 256 << n; the first few of every possible size are looked at, lowest first. */
    for (shift = 8; shift < 25; shift++) {
        for (i = 0; i < sizeof factors; i++) {
            int status = header_at(flash, (uint32_t)factors[i] << shift, header);

            if (status == FFFS_OK || status == FFFS_ERR_IO || status == FFFS_ERR_NEWER_FORMAT)
                return status;
            if (status == FFFS_ERR_CORRUPT)
                worst = status;
            else if (status == FFFS_ERR_FOREIGN && worst == FFFS_ERR_BLANK)
                worst = status;
        }
    }
    return first == FFFS_ERR_CORRUPT ? first : worst;
}

int fffs_discover_newest(const struct fffs_flash *flash, struct fffs_header *header)
{
    struct fffs_header other;
    uint32_t i;
    int status = fffs_discover_header(flash, header);

    for (i = 0; status == FFFS_OK && i < header->shape.units; i++) {
        int found = header_at(flash, fffs_unit_address(&header->shape, i), &other);

        if (found == FFFS_ERR_IO)
            status = found;
        else if (found == FFFS_OK && other.shape.format_id == header->shape.format_id && other.serial > header->serial &&
                 other.shape.units == header->shape.units && other.shape.unit_shift == header->shape.unit_shift)
            *header = other;
    }
    return status;
}

static void set_shape(struct fffs *fs, const struct fffs_shape *shape)
{
    fs->shape = *shape;
    fs->first_segment = (uint16_t)(((uint32_t)shape->first_sector + shape->phase) >> shape->segment_shift);
}

/* ---- Units as mount finds them ---- */

enum {
    UNIT_HEADER = 1,            /* its header verifies */
    UNIT_EXAMINED = 2,
    UNIT_ACCEPTED = 4,          /* CRC over header and copies and start 1 are valid */
    UNIT_START1 = 8,            /* start 1 is not blank */
    UNIT_SOLID = 16,            /* a later start or the session slot is not blank */
    UNIT_PROVEN = 32,           /* and one of them is valid */
    UNIT_SESSION = 64           /* the session slot is valid */
};

struct unit {
    uint32_t serial;
    uint8_t previous;
    uint8_t flags;
    uint8_t blank_start;        /* first blank start slot behind the last that is not blank; 4 none */
};

struct mounting {
    struct unit units[FFFS_UNITS_MAX];
    struct fffs_header header;  /* of the unit looked at last */
    uint32_t erases;            /* as the newest unit's header tells */
    uint8_t newest;             /* unit number */
    uint8_t version;            /* that wrote the newest unit */
    uint8_t recover;            /* the newest unit needs a successor or a proof */
    uint8_t clean;              /* its log ends with a valid clean mark */
    uint8_t hints;              /* what hints told is in RAM */
    uint8_t known;              /* the marks of the unit in work were read before: what they were then stands */
    uint8_t again;              /* an unfinished transaction was replayed: replay anew without it */
    uint16_t excluded;          /* units whose copies read differently each time: not accepted */
    int log_status;             /* what is wrong in the newest unit's log */
    int damage;                 /* what is wrong with the chain and its records otherwise */
};

static int read_header(struct fffs *fs, uint32_t unit, struct fffs_header *header)
{
    struct fffs_shape expected = fs->shape;
    int status = header_at(fs->config->flash, fffs_unit_address(&fs->shape, unit), header);

    if (status != FFFS_OK)
        return status;
    if (header->shape.format_id != expected.format_id || header->shape.sector_shift != expected.sector_shift ||
        header->shape.unit_shift != expected.unit_shift || header->shape.units != expected.units ||
        header->shape.granule_shift != expected.granule_shift)
        return FFFS_ERR_FOREIGN;
    return FFFS_OK;
}

/* m->header is the one that discovery read. */
static int read_headers(struct fffs *fs, struct mounting *m)
{
    uint32_t i, known = m->header.unit;
    struct fffs_header found = m->header;

    for (i = 0; i < fs->shape.units; i++) {
        int status = i == known ? FFFS_OK : read_header(fs, i, &m->header);

        if (i == known)
            m->header = found;
        memset(&m->units[i], 0, sizeof m->units[i]);
        if (status == FFFS_ERR_IO || status == FFFS_ERR_NEWER_FORMAT)
            return status;
        if (status == FFFS_OK) {
            m->units[i].serial = m->header.serial;
            m->units[i].previous = m->header.previous;
            m->units[i].flags = UNIT_HEADER;
        }
    }
    return FFFS_OK;
}

/* The CRC of a unit's copies, a buffer at a time. */
static int copies_crc(struct fffs *fs, uint32_t unit, uint32_t copies, uint32_t *crc)
{
    uint32_t at = fffs_header_strides(&fs->shape), end = at + copies;
    uint32_t room = fs->config->scratch_bytes >> fs->shape.stride_shift;

    for (*crc = 0; at < end;) {
        uint32_t part = fffs_min(room, end - at);
        int status = fffs_io_read(fs, fffs_stride_address(&fs->shape, unit, at), fs->config->scratch,
                                  part << fs->shape.stride_shift);

        if (status != FFFS_OK)
            return status;
        *crc = fffs_crc32(*crc, fs->config->scratch, part << fs->shape.stride_shift);
        at += part;
    }
    return FFFS_OK;
}

/* Notes what one mark slot holds. */
static void take_mark(struct unit *unit, uint32_t index, enum fffs_stride kind, int valid)
{
    if (index == 0) {
        unit->flags |= kind != FFFS_STRIDE_BLANK ? UNIT_START1 : 0;
        unit->flags |= valid ? UNIT_ACCEPTED : 0;
        return;
    }
    if (kind != FFFS_STRIDE_BLANK)
        unit->flags |= valid ? UNIT_SOLID | UNIT_PROVEN : UNIT_SOLID;
    if (index == FFFS_START_SLOTS)
        unit->flags |= valid ? UNIT_SESSION : 0;
    else if (kind != FFFS_STRIDE_BLANK)
        unit->blank_start = (uint8_t)(index + 1u);
}

/* Whether a record in mark slot number `index` is the mark that belongs there. */
static int is_own_mark(const struct fffs_record *record, uint32_t index, uint32_t at)
{
    return fffs_is_mark(record, index == FFFS_START_SLOTS ? FFFS_CTL_SESSION : FFFS_CTL_START, at);
}

static int read_marks(struct fffs *fs, struct unit *unit, uint32_t number, uint32_t first)
{
    uint32_t room = fs->config->scratch_bytes >> fs->shape.stride_shift, index = 0;
    uint8_t *bytes = (uint8_t *)fs->config->scratch;

    unit->blank_start = 1;
    while (index < FFFS_MARKS) {
        uint32_t part = fffs_min(room, FFFS_MARKS - index), i;
        uint32_t address = fffs_stride_address(&fs->shape, number, first + index);
        int status = fffs_io_read(fs, address, bytes, part << fs->shape.stride_shift);

        if (status != FFFS_OK)
            return status;
        for (i = 0; i < part; i++, index++) {
            struct fffs_record mark;
            uint32_t offset = i << fs->shape.stride_shift;
            enum fffs_stride kind = fffs_io_decode(fs, address + offset, bytes + offset, &mark);

            take_mark(unit, index, kind, kind == FFFS_STRIDE_VALID && is_own_mark(&mark, index, first + index));
        }
    }
    return FFFS_OK;
}

/* Reads copies and marks of a unit once; leaves its header in m->header. */
static int examine(struct fffs *fs, struct mounting *m, uint32_t number)
{
    struct unit *unit = &m->units[number];
    uint8_t bytes[FFFS_HDR_BYTES];
    uint32_t crc;
    int status = fffs_io_read(fs, fffs_unit_address(&fs->shape, number), bytes, sizeof bytes);

    unit->flags |= UNIT_EXAMINED;
    if (status != FFFS_OK)
        return status;
    if (fffs_header_decode(bytes, &m->header) != FFFS_OK || m->header.serial != unit->serial)
        return FFFS_OK; /* it reads differently now: not accepted */
    status = copies_crc(fs, number, m->header.copies, &crc);
    if (status == FFFS_OK)
        status = read_marks(fs, unit, number, fffs_header_strides(&fs->shape) + m->header.copies);
    if (fffs_header_crc(crc, bytes) != m->header.crc)
        unit->flags &= (uint8_t)~UNIT_ACCEPTED;
    return status;
}

/* Whether unit `a` comes behind unit `b` in falling order of serials. Two can have the same: the header of one was cut and
 * did not count when the other was written. */
static int is_lower(const struct mounting *m, uint32_t a, uint32_t b)
{
    return m->units[a].serial != m->units[b].serial ? m->units[a].serial < m->units[b].serial : a > b;
}

/* The next unit behind `after` in falling order of serials, among those whose header verifies; `after` = units: the first.
 * units when there is none. */
static uint32_t next_lower(const struct fffs *fs, const struct mounting *m, uint32_t after)
{
    uint32_t best = fs->shape.units, i;

    for (i = 0; i < fs->shape.units; i++)
        if ((m->units[i].flags & UNIT_HEADER) != 0 && (after == fs->shape.units || is_lower(m, i, after)) &&
            (best == fs->shape.units || is_lower(m, best, i)))
            best = i;
    return best;
}

static int is_solid(const struct unit *unit)
{
    return (unit->flags & (UNIT_ACCEPTED | UNIT_SOLID)) == (UNIT_ACCEPTED | UNIT_SOLID);
}

/* ---- The log of a unit ---- */

struct reading {
    uint32_t begin;             /* of a transaction not yet committed, 0 none */
    uint32_t expected, counted; /* its records */
    uint32_t last_valid;        /* stride index, 0 none */
    uint32_t last_used;         /* last that is not blank */
    uint32_t bad;               /* first unreadable or blank one behind the last valid, 0 none */
    uint32_t session;
    uint32_t run;               /* first of the append and erased-run records that stand last */
    int txn_bad;                /* something unreadable in the open transaction */
    struct fffs_record last;
};

static int is_hint(uint8_t type)
{
    return type == FFFS_CTL_APPEND_USER || type == FFFS_CTL_APPEND_GC || type == FFFS_CTL_ERASED ||
           (type >= FFFS_CTL_WEAR && type <= FFFS_CTL_WEAR_CELLS);
}

static int take_control(const struct fffs *fs, struct reading *r, const struct fffs_record *record, uint32_t at)
{
    uint32_t payload = fffs_control_payload(record);
    uint8_t type = fffs_control_type(record);

    switch (type) {
    case FFFS_CTL_SESSION:
    case FFFS_CTL_CLEAN:
        if (payload != at)
            return fffs_corrupt();
        if (type == FFFS_CTL_SESSION)
            r->session = at;
        return FFFS_OK;
    case FFFS_CTL_BEGIN:
        r->begin = at;
        r->expected = payload & 0xFFFFu;
        r->counted = 0;
        r->txn_bad = 0;
        return payload >> 16 == (fs->log.serial & 0xFFFFu) ? FFFS_OK : fffs_corrupt();
    case FFFS_CTL_COMMIT:
        if (r->begin == 0 || (payload & 0xFFFFu) != r->begin || r->counted != r->expected || r->txn_bad)
            return fffs_corrupt();
        r->begin = 0;
        return FFFS_OK;
    default:
        return is_hint(type) || type == FFFS_CTL_BAD || (type & 0x80u) != 0 ? FFFS_OK : FFFS_ERR_NEWER_FORMAT;
    }
}

/* One valid record. What is unreadable before it must be explained: by the transaction it is in, by the session mark
 * behind a cut clean mark, or by being among the hints of an unmount that was cut. */
static int take_record(const struct fffs *fs, struct reading *r, const struct fffs_record *record, uint32_t at)
{
    uint8_t type = fffs_control_type(record);

    if (r->bad != 0) {
        if (r->begin != 0)
            r->txn_bad = 1;
        else if (is_hint(type))
            return FFFS_OK;
        else if (type != FFFS_CTL_SESSION || r->bad + 1u != at)
            return fffs_corrupt();
        r->bad = 0;
    }
    if (r->begin != 0 && type != FFFS_CTL_COMMIT && (type != 0 || (record->kind & FFFS_KIND_TXN) == 0))
        return fffs_corrupt(); /* nothing else is written before the commit, nor in this unit after a cut (I4) */
    if (!is_hint(type) && type != FFFS_CTL_CLEAN)
        r->run = at + 1u;
    r->last_valid = at;
    r->last = *record;
    if (type != 0)
        return take_control(fs, r, record, at);
    if ((record->kind & FFFS_KIND_TXN) != 0)
        r->counted++;
    return (record->kind & FFFS_KIND_TXN) != 0 && r->begin == 0 ? fffs_corrupt() : FFFS_OK;
}

/* One stride of a log. */
static int take_stride(const struct fffs *fs, struct reading *r, enum fffs_stride kind, const struct fffs_record *record,
                       uint32_t at)
{
    if (kind != FFFS_STRIDE_BLANK)
        r->last_used = at;
    if (kind == FFFS_STRIDE_VALID)
        return take_record(fs, r, record, at);
    if (r->bad == 0)
        r->bad = at;
    return FFFS_OK;
}

/* ---- Hints ---- */

static void take_erased(struct fffs *fs, uint32_t first, uint32_t count)
{
    uint32_t i;

    for (i = first; i < fs->shape.segments && i < first + count; i++) {
        uint16_t *entry = &fs->config->segment_table[i];

        if ((*entry & FFFS_SEGMENT_ERASED) != 0 || i == fs->user.segment || i == fs->moved.segment)
            continue; /* no image of this library says so */
        *entry |= FFFS_SEGMENT_ERASED;
        fs->erased++;
    }
}

/* A point in a segment that counts as erased, or that the other point is in, would be written over: it is not taken. */
static void take_point(struct fffs *fs, struct fffs_point *point, uint32_t sector, uint32_t within)
{
    uint32_t address = (sector << fs->shape.sector_shift) + within, segment;

    if (sector < fs->shape.first_sector || sector >= fs->shape.sectors || within >> fs->shape.sector_shift != 0)
        return;
    fffs_point_close(point);
    segment = fffs_segment_of(fs, address);
    if (segment == fs->user.segment || segment == fs->moved.segment ||
        (fs->config->segment_table[segment] & FFFS_SEGMENT_ERASED) != 0)
        return;
    point->segment = (uint16_t)segment;
    point->next = address;
    point->limit = fffs_segment_low(fs, segment); /* erased is the piece that it stands in or behind */
    do
        point->limit = fffs_segment_piece(fs, segment, point->limit, FFFS_NO_ADDRESS);
    while (point->limit < address);
    point->items = 0;
}

/* The append points and erased segments that stand before a clean mark. */
static void take_hint(struct fffs *fs, const struct fffs_record *record)
{
    uint32_t low = fffs_control_payload(record) & 0xFFFFu, high = fffs_control_payload(record) >> 16;
    uint8_t type = fffs_control_type(record);

    if (type == FFFS_CTL_WEAR)
        fs->erases = fffs_control_payload(record);
    else if (type == FFFS_CTL_ERASED)
        take_erased(fs, low, high);
    else if (type == FFFS_CTL_APPEND_USER)
        take_point(fs, &fs->user, low, high);
    else if (type == FFFS_CTL_APPEND_GC)
        take_point(fs, &fs->moved, low, high);
}

/* Forgets what hints told: no clean mark stands directly behind them. */
static void drop_hints(struct fffs *fs, struct mounting *m)
{
    const struct fffs_config *config = fs->config;

    if (!m->hints)
        return;
    if (config->segment_table != NULL)
        memset(config->segment_table, 0,
               fffs_min(config->segment_table_entries, fs->shape.segments) * sizeof *config->segment_table);
    fffs_point_close(&fs->user);
    fffs_point_close(&fs->moved);
    fs->erased = 0;
    fs->erases = m->erases;
    m->hints = 0;
}

/* Takes what a record of the log tells beside the index. */
static void hear(struct fffs *fs, struct mounting *m, const struct fffs_record *record)
{
    uint8_t type = fffs_control_type(record);

    if (!is_hint(type)) {
        if (type != FFFS_CTL_CLEAN)
            drop_hints(fs, m);
    } else if (fs->config->segment_table != NULL && fs->config->segment_table_entries >= fs->shape.segments) {
        take_hint(fs, record);
        m->hints = 1;
    }
}

/* ---- Replay ---- */

static void apply(struct fffs *fs, struct mounting *m, const struct fffs_record *record)
{
    uint8_t type = fffs_control_type(record);

    if (type > FFFS_CTL_BAD && (type & 0x80u) == 0)
        m->damage = FFFS_ERR_NEWER_FORMAT;
    else if (fffs_is_put(record) && (record->head < fs->shape.first_sector || record->head >= fs->shape.sectors))
        m->damage = fffs_corrupt();
    else if (fs->config->wear != NULL && type >= FFFS_CTL_WEAR)
        fffs_wear_take(fs, record);
    else
        fffs_index_apply(fs, record);
}

/* The first `links` units of the chain. */
static int replay(struct fffs *fs, struct mounting *m, uint32_t links)
{
    struct fffs_scan scan;
    struct fffs_record record;
    int status = 0;

    fffs_cache_clear(fs);
    fffs_wear_begin(fs, m->erases);
    fs->state &= (uint8_t)~FFFS_STATE_PARTIAL;
    m->damage = FFFS_OK;
    if (links == 0)
        return FFFS_OK;
    fffs_scan_begin(fs, &scan, 0, links, 0);
    while (m->damage == FFFS_OK && (status = fffs_scan_next(fs, &scan, &record)) == 1)
        apply(fs, m, &record);
    if (status == FFFS_ERR_CORRUPT)
        m->damage = status;
    return status == FFFS_ERR_IO ? status : FFFS_OK;
}

/* Units of the chain of `unit`, newest first, by the links remembered; 0 when it is broken. */
static uint32_t walk_chain(const struct fffs *fs, const struct mounting *m, uint32_t unit, uint32_t oldest,
                           uint8_t *chain)
{
    uint32_t length = 0;

    for (;;) {
        uint32_t previous = m->units[unit].previous;

        chain[length++] = (uint8_t)unit;
        if (m->units[unit].serial == oldest)
            return length;
        if (length == fs->shape.units || previous >= fs->shape.units ||
            (m->units[previous].flags & UNIT_HEADER) == 0 || m->units[previous].serial >= m->units[unit].serial)
            return 0;
        unit = previous;
    }
}

static void load_chain(struct fffs *fs, const struct mounting *m)
{
    uint8_t chain[FFFS_UNITS_MAX];
    uint32_t length = walk_chain(fs, m, m->newest, m->header.oldest, chain), i;

    for (i = 0; i < length; i++)
        fs->log.chain[i] = chain[length - 1u - i];
    fs->log.chain_length = (uint8_t)length;
}

/* ---- A unit as the newest ---- */

/* What the header tells. */
static void begin_log(struct fffs *fs, struct mounting *m, uint32_t unit)
{
    const struct fffs_header *header = &m->header;
    struct fffs_log *log = &fs->log;

    set_shape(fs, &header->shape);
    fs->ring = header->ring < fs->shape.segments ? header->ring : 0;
    fs->gc.level = header->level < fs->shape.segments ? header->level : 0;
    fs->gc.victims = header->victims;
    m->erases = header->erases;
    m->newest = (uint8_t)unit;
    m->version = header->version;
    m->hints = 1;
    drop_hints(fs, m);
    log->serial = header->serial;
    log->copies = header->copies;
    log->header_crc = header->crc;
    log->last_at = FFFS_NONE16;
    log->state = FFFS_LOG_FRESH;
}

/* Where the log ends. */
static void end_log(struct fffs *fs, struct mounting *m, const struct reading *r, uint32_t first)
{
    struct fffs_log *log = &fs->log;
    uint8_t type = fffs_control_type(&r->last);

    log->session = (uint16_t)r->session;
    log->end = (uint16_t)(r->last_used != 0 ? r->last_used + 1u : first);
    log->valid_end = (uint16_t)(r->last_valid != 0 ? r->last_valid + 1u : first);
    m->again = r->begin != 0;
    m->clean = 0;
    if (r->begin != 0)
        log->valid_end = (uint16_t)r->begin;
    /* Hints go out several in one call before the clean mark: without it each of them may read differently next time. So
     * may a clean mark that a cut touched and behind which the cut of a later session stands. */
    else if (r->last_valid != 0 && (is_hint(type) || (type == FFFS_CTL_CLEAN && r->last_valid != r->last_used)))
        log->valid_end = (uint16_t)r->run;
    if (r->last_valid != 0 && r->last_valid == r->last_used && r->last_valid < log->valid_end) {
        log->last_at = (uint16_t)r->last_valid;
        log->last = r->last;
        m->clean = type == FFFS_CTL_CLEAN;
    }
    if (m->clean)
        log->state = FFFS_LOG_CLEAN;
    else
        drop_hints(fs, m);
    fs->stamp = m->header.stamp + log->end; /* each commit takes one stamp and at least one stride */
}

/* Reads copies, marks and log of the newest unit, each stride once. The log is walked to the end of the unit: holes
 * occur. Transactions are applied before their commit is seen: see `again`. */
static int read_unit(struct fffs *fs, struct mounting *m, struct reading *r, uint32_t *copies_crc)
{
    struct unit *unit = &m->units[m->newest];
    uint32_t at = fffs_header_strides(&fs->shape), copies_end = at + fs->log.copies, first = copies_end + FFFS_MARKS;
    uint32_t end = fffs_unit_strides(&fs->shape), from = at, have = 0;
    uint8_t *buffer = (uint8_t *)fs->config->scratch, shift = fs->shape.stride_shift;

    *copies_crc = 0;
    for (; at < end && (at <= first || (unit->flags & UNIT_SESSION) != 0) && m->log_status == FFFS_OK; at++) {
        uint32_t address = fffs_stride_address(&fs->shape, m->newest, at);
        uint8_t *stride = buffer + ((at - from) << shift);
        struct fffs_record record;
        enum fffs_stride kind;

        if (at >= from + have) {
            int status;

            from = at;
            have = fffs_min(fs->config->scratch_bytes >> shift, end - at);
            stride = buffer;
            status = fffs_io_read(fs, address, buffer, have << shift);
            if (status != FFFS_OK)
                return status;
        }
        kind = fffs_io_decode(fs, address, stride, &record);
        if (kind == FFFS_STRIDE_VALID && (at < copies_end || at >= first))
            apply(fs, m, &record);
        if (at < copies_end) {
            *copies_crc = fffs_crc32(*copies_crc, stride, (uint32_t)1 << shift);
            if (kind != FFFS_STRIDE_VALID)
                m->damage = fffs_corrupt();
        } else if (at < first) {
            if (!m->known)
                take_mark(unit, at - copies_end, kind, kind == FFFS_STRIDE_VALID && is_own_mark(&record, at - copies_end, at));
        } else if ((unit->flags & UNIT_SESSION) == 0) {
            /* Records follow a session mark only after it returned: no cut explains its loss (I4). */
            m->log_status = kind != FFFS_STRIDE_BLANK ? fffs_corrupt() : FFFS_OK;
        } else {
            m->log_status = take_stride(fs, r, kind, &record, at);
            if (kind == FFFS_STRIDE_VALID)
                hear(fs, m, &record);
        }
    }
    return FFFS_OK;
}

/* Makes a unit the newest: replays its chain and reads it, in one pass. */
static int open_unit(struct fffs *fs, struct mounting *m, uint32_t number)
{
    struct unit *unit = &m->units[number];
    struct reading r;
    uint8_t header[FFFS_HDR_BYTES];
    uint32_t first, crc;
    int status = fffs_io_read(fs, fffs_unit_address(&fs->shape, number), header, sizeof header);

    m->known = (unit->flags & UNIT_EXAMINED) != 0;
    if (!m->known) {
        unit->flags |= UNIT_EXAMINED;
        unit->blank_start = 1;
    }
    m->log_status = FFFS_OK;
    if (status != FFFS_OK)
        return status;
    if (fffs_header_decode(header, &m->header) != FFFS_OK || m->header.serial != unit->serial) {
        unit->flags &= (uint8_t)~UNIT_ACCEPTED; /* it reads differently now */
        return FFFS_OK;
    }
    begin_log(fs, m, number);
    load_chain(fs, m);
    status = replay(fs, m, fs->log.chain_length > 0 ? fs->log.chain_length - 1u : 0u);
    if (status != FFFS_OK)
        return status;
    first = fffs_header_strides(&fs->shape) + fs->log.copies + FFFS_MARKS;
    memset(&r, 0, sizeof r);
    r.run = first;
    status = read_unit(fs, m, &r, &crc);
    if (fffs_header_crc(crc, header) != m->header.crc || (m->excluded >> number & 1u) != 0)
        unit->flags &= (uint8_t)~UNIT_ACCEPTED;
    if ((unit->flags & UNIT_SESSION) != 0)
        fs->log.state = 0;
    if (r.session == 0)
        r.session = (unit->flags & UNIT_SESSION) != 0 ? first - 1u : (uint32_t)FFFS_NONE16;
    end_log(fs, m, &r, first);
    return status;
}

/* ---- Choice of the newest unit ---- */

/* Opens the newest solid unit; examines all above it. units: none. */
static int find_solid(struct fffs *fs, struct mounting *m, uint32_t *solid)
{
    for (*solid = next_lower(fs, m, fs->shape.units); *solid < fs->shape.units; *solid = next_lower(fs, m, *solid)) {
        int status = open_unit(fs, m, *solid);

        if (status != FFFS_OK)
            return status;
        if (is_solid(&m->units[*solid]))
            return m->log_status;
    }
    return FFFS_OK;
}

static int has_serial(const struct fffs *fs, const struct mounting *m, uint32_t serial)
{
    uint32_t i;

    for (i = 0; i < fs->shape.units; i++)
        if ((m->units[i].flags & UNIT_HEADER) != 0 && m->units[i].serial == serial)
            return 1;
    return 0;
}

/* Whether the liquid unit whose header is in m->header was written on the newest solid one, in its last session. If what
 * it was written on is gone, a mount that read the torn mark of this one as valid took it as a spare: then this one is
 * complete, and what is solid now is older. */
static int counts(const struct fffs *fs, const struct mounting *m)
{
    const struct fffs_log *log = &fs->log;

    if (m->header.base > log->base)
        return log->base == 0 || !has_serial(fs, m, m->header.base);
    return m->header.base == log->base && m->header.base_session == log->base_session;
}

/* The highest liquid unit that counts. units: none. */
static int find_liquid(struct fffs *fs, struct mounting *m, uint32_t solid, uint32_t *liquid)
{
    for (*liquid = next_lower(fs, m, fs->shape.units); *liquid < fs->shape.units && *liquid != solid;
         *liquid = next_lower(fs, m, *liquid)) {
        int status;

        if ((m->units[*liquid].flags & UNIT_ACCEPTED) == 0)
            continue;
        status = read_header(fs, *liquid, &m->header);
        if (status == FFFS_ERR_IO)
            return status;
        if (status == FFFS_OK && m->header.serial == m->units[*liquid].serial && counts(fs, m))
            return FFFS_OK;
    }
    *liquid = fs->shape.units;
    return FFFS_OK;
}

/* Opens the liquid unit that counts, if there is one. Its copies are those of the read that its CRC is right for. */
static int open_liquid(struct fffs *fs, struct mounting *m, uint32_t solid, uint32_t *liquid)
{
    for (;;) {
        int status = find_liquid(fs, m, solid, liquid);

        if (status != FFFS_OK || *liquid == fs->shape.units)
            return status;
        status = open_unit(fs, m, *liquid);
        if (status != FFFS_OK)
            return status;
        if ((m->units[*liquid].flags & UNIT_ACCEPTED) == 0)
            continue; /* it reads differently now */
        if (!is_solid(&m->units[*liquid]))
            fs->log.state |= FFFS_LOG_LIQUID;
        return m->log_status;
    }
}

static int choose_newest(struct fffs *fs, struct mounting *m)
{
    uint32_t solid, liquid;
    int status = find_solid(fs, m, &solid);

    if (status != FFFS_OK)
        return status;
    fs->log.base = solid < fs->shape.units ? fs->log.serial : 0;
    fs->log.base_session = solid < fs->shape.units ? fs->log.session : (uint16_t)FFFS_NONE16;
    status = open_liquid(fs, m, solid, &liquid);
    if (status != FFFS_OK || liquid < fs->shape.units)
        return status;
    if (solid == fs->shape.units)
        return next_lower(fs, m, fs->shape.units) < fs->shape.units && fs->log.highest > 1u ? fffs_corrupt() : FFFS_ERR_BLANK;
    if (m->newest == solid)
        return FFFS_OK;
    status = open_unit(fs, m, solid); /* a liquid one was looked at in between */
    fs->log.base_session = fs->log.session;
    if (status == FFFS_OK && !is_solid(&m->units[solid]))
        status = FFFS_UNIT_CHANGED;
    return status == FFFS_OK ? m->log_status : status;
}

/* ---- Recovery ---- */

/* Units that a recovery must not take while others are left. */
static int mark_spares(struct fffs *fs, struct mounting *m)
{
    struct fffs_log *log = &fs->log;
    uint8_t chain[FFFS_UNITS_MAX];
    uint32_t proven = m->newest, i, length = 0;

    while (proven < fs->shape.units && (m->units[proven].flags & (UNIT_ACCEPTED | UNIT_PROVEN)) !=
                                           (UNIT_ACCEPTED | UNIT_PROVEN)) {
        proven = next_lower(fs, m, proven);
        if (proven < fs->shape.units && (m->units[proven].flags & UNIT_EXAMINED) == 0) {
            int status = examine(fs, m, proven);

            if (status != FFFS_OK)
                return status;
        }
    }
    for (i = 0; i < fs->shape.units; i++) {
        uint16_t bit = (uint16_t)((uint32_t)1 << i);

        if ((m->units[i].flags & UNIT_HEADER) == 0 || i == m->newest)
            continue;
        if ((m->units[i].flags & UNIT_START1) == 0) {
            /* A mark that a cut touched may read blank now and valid after a cut erase. */
            if (m->units[i].serial >= m->units[m->newest].serial)
                log->spare_headed |= bit;
        } else if (m->units[i].serial >= m->units[m->newest].serial)
            log->spare_above |= bit;
        else if (proven == fs->shape.units || m->units[i].serial > m->units[proven].serial)
            log->spare_between |= bit;
    }
    if (proven == m->newest || proven == fs->shape.units)
        return FFFS_OK;
    if (read_header(fs, proven, &m->header) == FFFS_OK)
        length = walk_chain(fs, m, proven, m->header.oldest, chain);
    for (i = 0; i < length; i++)
        log->spare_proven |= (uint16_t)((uint32_t)1 << chain[i]);
    return FFFS_OK;
}

/* Proves a solid unit whose marks read invalid: a fixed mark in the next blank start slot. 0 when none is left. */
static int prove(struct fffs *fs, const struct mounting *m, int *done)
{
    const struct unit *unit = &m->units[m->newest];
    uint32_t stride_bytes = (uint32_t)1 << fs->shape.stride_shift;
    uint32_t at = fffs_header_strides(&fs->shape) + fs->log.copies + unit->blank_start;
    struct fffs_record mark = fffs_control_record(FFFS_CTL_START, at);
    uint8_t *stride = (uint8_t *)fs->config->scratch;

    *done = unit->blank_start < FFFS_START_SLOTS;
    if (!*done)
        return FFFS_OK;
    fffs_record_encode(&mark, stride, stride_bytes);
    return fffs_io_program(fs, fffs_stride_address(&fs->shape, m->newest, at), stride, stride_bytes);
}

/* Whether another header has the newest's serial or a higher one. */
static int has_rival(const struct fffs *fs, const struct mounting *m)
{
    uint32_t i;

    for (i = 0; i < fs->shape.units; i++)
        if (i != m->newest && (m->units[i].flags & UNIT_HEADER) != 0 &&
            m->units[i].serial >= m->units[m->newest].serial)
            return 1;
    return 0;
}

/* Decides what recovery the state found asks for; does the part that is a mark only. */
static int judge(struct fffs *fs, struct mounting *m, int may_write)
{
    const struct unit *unit = &m->units[m->newest];
    int status, done = 0;

    m->recover = !is_solid(unit) || has_rival(fs, m);
    if ((unit->flags & UNIT_SESSION) != 0 && m->clean == 0)
        m->recover = 1;
    if (!m->recover && (unit->flags & UNIT_PROVEN) == 0) {
        m->recover = 1;
        if (may_write) {
            status = prove(fs, m, &done);
            if (status != FFFS_OK)
                return status;
            m->recover = !done;
        }
    }
    return m->recover ? mark_spares(fs, m) : FFFS_OK;
}

static int recover(struct fffs *fs)
{
    int status = fffs_log_successor(fs, FFFS_SUCCESSOR_REFRESH, 0);

    if (status == FFFS_OK)
        fs->state &= (uint8_t)~FFFS_STATE_RECOVER;
    return status;
}

int fffs_mount_recover(struct fffs *fs)
{
    int status = (fs->state & FFFS_STATE_RECOVER) != 0 ? recover(fs) : FFFS_OK;

    if (status == FFFS_UNIT_CHANGED)
        status = fs->failed = FFFS_ERR_REMOUNT; /* what it showed can not be kept: the next mount chooses again */
    return status;
}

/* ---- Mount ---- */

static int check_memory(const struct fffs *fs, const struct fffs_config *config)
{
    uint32_t stride_bytes = (uint32_t)1 << fs->shape.stride_shift;

    if (config->scratch_bytes < 2u * stride_bytes)
        return FFFS_ERR_NO_MEMORY;
    if (config->segment_table == NULL)
        return (config->flags & FFFS_MOUNT_READ_ONLY) != 0 ? FFFS_OK : FFFS_ERR_NO_MEMORY;
    return config->segment_table_entries >= fs->shape.segments ? FFFS_OK : FFFS_ERR_NO_MEMORY;
}

static int check_device(const struct fffs *fs, const struct fffs_flash *flash)
{
    uint32_t sector = (uint32_t)1 << fs->shape.sector_shift;

    if (fffs_volume_bytes(&fs->shape) > flash->size_bytes || (sector & (flash->erase_bytes[0] - 1u)) != 0)
        return FFFS_ERR_WRONG_SIZE;
    return ((uint32_t)1 << fs->shape.granule_shift) < flash->granule_bytes ? FFFS_ERR_UNSUPPORTED : FFFS_OK;
}

static void clear_volume(struct fffs *fs, const struct fffs_config *config)
{
    memset(fs, 0, sizeof *fs);
    fs->config = config;
    fs->flags = (uint8_t)config->flags;
    fs->cache_cells = config->cache == NULL ? 0 : fffs_min(config->cache_bytes / FFFS_CACHE_ENTRY_BYTES, 65536u);
    fs->state = fs->cache_cells > 0 ? FFFS_STATE_CACHED : 0;
    fs->gc.victim = FFFS_NONE16;
    fffs_point_close(&fs->user);
    fffs_point_close(&fs->moved);
}

static int find_volume(struct fffs *fs, struct mounting *m)
{
    uint32_t i;
    int status = fffs_discover_header(fs->config->flash, &m->header);

    if (status != FFFS_OK)
        return status;
    set_shape(fs, &m->header.shape);
    status = check_device(fs, fs->config->flash);
    if (status == FFFS_OK && fs->config->scratch_bytes < (uint32_t)2 << fs->shape.stride_shift)
        status = FFFS_ERR_NO_MEMORY;
    if (status == FFFS_OK)
        status = read_headers(fs, m);
    for (i = 0; i < fs->shape.units; i++)
        if (m->units[i].serial > fs->log.highest)
            fs->log.highest = m->units[i].serial;
    if (status == FFFS_OK)
        status = choose_newest(fs, m);
    if (status != FFFS_OK)
        return status;
    /* A newer format that this reader may show is not one that it may write. */
    if (m->version > FFFS_FORMAT_VERSION && (fs->flags & FFFS_MOUNT_READ_ONLY) == 0)
        return FFFS_ERR_NEWER_FORMAT;
    status = check_device(fs, fs->config->flash);
    return status == FFFS_OK && fs->log.chain_length == 0 ? fffs_corrupt() : status;
}

/* Finds and replays the volume. */
static int load_index(struct fffs *fs, struct mounting *m)
{
    int status = find_volume(fs, m);

    if (status == FFFS_OK)
        status = check_memory(fs, fs->config);
    if (status == FFFS_OK && m->again)
        status = replay(fs, m, fs->log.chain_length);
    return status == FFFS_OK ? m->damage : status;
}

/* The same, and decides what the volume needs. */
static int load(struct fffs *fs, struct mounting *m, int may_write)
{
    int status = load_index(fs, m);

    if (status == FFFS_OK)
        status = judge(fs, m, may_write);
    if (m->recover)
        drop_hints(fs, m);
    return status;
}

int fffs_mount_load_reading(struct fffs *fs, const struct fffs_config *config)
{
    struct mounting m;
    int status;

    memset(&m, 0, sizeof m);
    do {
        clear_volume(fs, config);
        status = load_index(fs, &m);
        m.excluded |= (uint16_t)((uint32_t)1 << m.newest); /* a bit more each time, so that this ends */
    } while (status == FFFS_UNIT_CHANGED);
    drop_hints(fs, &m);
    return status;
}

int fffs_mount_load(struct fffs *fs, const struct fffs_config *config)
{
    struct mounting m;
    int may_write = (config->flags & (FFFS_MOUNT_READ_ONLY | FFFS_MOUNT_DEFER_RECOVERY)) == 0, status;

    memset(&m, 0, sizeof m);
    for (;;) {
        clear_volume(fs, config);
        status = load(fs, &m, may_write);
        if (status == FFFS_OK && m.recover && (config->flags & FFFS_MOUNT_READ_ONLY) == 0) {
            fs->state |= FFFS_STATE_RECOVER;
            if (may_write)
                status = recover(fs);
        }
        if (status != FFFS_UNIT_CHANGED)
            break;
        m.excluded |= (uint16_t)((uint32_t)1 << m.newest); /* a bit more each time, so that this ends */
    }
    if (status == FFFS_OK && (config->flags & FFFS_MOUNT_LAZY_WEIGHTS) == 0 && config->segment_table != NULL)
        status = fffs_segments_weigh(fs);
    return status;
}

/* ---- Clean mark ---- */

static uint32_t add_hint(struct fffs_record *hints, uint32_t count, enum fffs_control type, uint32_t low, uint32_t high)
{
    if (count < FFFS_BATCH)
        hints[count++] = fffs_control_record(type, low | high << 16);
    return count;
}

static uint32_t add_point(const struct fffs *fs, const struct fffs_point *point, enum fffs_control type,
                          struct fffs_record *hints, uint32_t count)
{
    uint32_t sector_mask = ((uint32_t)1 << fs->shape.sector_shift) - 1u;

    if (point->segment == FFFS_NONE16)
        return count;
    return add_hint(hints, count, type, point->next >> fs->shape.sector_shift, point->next & sector_mask);
}

int fffs_mount_settle(struct fffs *fs)
{
    struct fffs_record hints[FFFS_BATCH];
    uint32_t count = 0, i, run = 0;
    int status;

    if (fs->failed != 0)
        return fs->failed;
    if ((fs->log.state & FFFS_LOG_SESSION) == 0)
        return FFFS_OK;
    status = fffs_log_save_wear(fs);
    if (status != FFFS_OK)
        return status;
    hints[count++] = fffs_control_record(FFFS_CTL_WEAR, fs->erases);
    count = add_point(fs, &fs->user, FFFS_CTL_APPEND_USER, hints, count);
    count = add_point(fs, &fs->moved, FFFS_CTL_APPEND_GC, hints, count);
    for (i = 0; i <= fs->shape.segments; i++) {
        int erased = i < fs->shape.segments && fs->config->segment_table[i] == FFFS_SEGMENT_ERASED;

        if (erased)
            run++;
        else if (run > 0) {
            count = add_hint(hints, count, FFFS_CTL_ERASED, i - run, run);
            run = 0;
        }
    }
    return fffs_log_clean(fs, hints, count);
}

/* ---- Format ---- */

static uint32_t records_in(const struct fffs_shape *shape, uint32_t units)
{
    return (units - shape->spares) * fffs_unit_records(shape) / 4u * 3u;
}

/* Index units for max_files: as few as hold them, at most 16 by making units longer. */
static int plan_index(struct fffs_shape *shape, uint32_t wanted, int exact)
{
    uint32_t strides_wanted = FFFS_UNIT_STRIDES, stride_bytes, sectors = shape->sectors;

    shape->stride_shift = shape->granule_shift < 3u ? 3u : shape->granule_shift;
    stride_bytes = (uint32_t)1 << shape->stride_shift;
    if (sectors < 64u)
        strides_wanted = FFFS_UNIT_STRIDES_TINY;
    shape->spares = sectors < 32u ? 2 : 3;
    shape->unit_shift = 0;
    while (((uint32_t)1 << (shape->unit_shift + shape->sector_shift)) / stride_bytes < strides_wanted)
        shape->unit_shift++;
    for (;;) {
        uint32_t units = shape->spares + 1u;
        uint32_t most = exact ? FFFS_UNITS_MAX : fffs_min(FFFS_UNITS_MAX, (sectors / 4u) >> shape->unit_shift);

        while (units < most && records_in(shape, units) < wanted)
            units++;
        shape->units = (uint8_t)units;
        if (records_in(shape, units) >= wanted || (!exact && units >= most && most < FFFS_UNITS_MAX))
            break;
        if (shape->unit_shift + shape->sector_shift >= 20u || fffs_unit_strides(shape) >= 0x8000u)
            return FFFS_ERR_INVALID;
        shape->unit_shift++;
    }
    shape->max_files = (uint16_t)fffs_min(fffs_min(wanted, records_in(shape, shape->units)), 65000u);
    return FFFS_OK;
}

static int plan_segments(const struct fffs_flash *flash, uint32_t wanted, struct fffs_shape *shape)
{
    uint32_t sector = (uint32_t)1 << shape->sector_shift, i, segment = sector;
    uint32_t data = (uint32_t)shape->sectors - ((uint32_t)shape->units << shape->unit_shift);

    if ((uint32_t)shape->units << shape->unit_shift >= shape->sectors)
        return FFFS_ERR_INVALID;
    for (i = 0; i < FFFS_FLASH_ERASE_SIZES && wanted == 0; i++)
        if (flash->erase_bytes[i] > sector && data / (flash->erase_bytes[i] / sector) >= 28u)
            segment = flash->erase_bytes[i];
    if (wanted != 0)
        segment = wanted;
    if (!fffs_is_power_of_two(segment) || segment < sector)
        return FFFS_ERR_INVALID;
    shape->segment_shift = (uint8_t)(fffs_log2(segment) - shape->sector_shift);
    shape->phase = (uint16_t)((flash->block_offset_bytes / sector) & (((uint32_t)1 << shape->segment_shift) - 1u));
    return FFFS_OK;
}

static uint32_t default_sector(const struct fffs_flash *flash)
{
    uint32_t sector = flash->erase_bytes[0] > 4096u ? flash->erase_bytes[0] : 4096u;

    while (sector > flash->erase_bytes[0] && sector > 256u && flash->size_bytes / sector < 16u)
        sector /= 2u;
    return sector;
}

static int check_driver(const struct fffs_flash *flash)
{
    if (flash == NULL || flash->read == NULL)
        return FFFS_ERR_INVALID;
    if (!fffs_is_power_of_two(flash->erase_bytes[0]) || !fffs_is_power_of_two(flash->granule_bytes) ||
        flash->granule_bytes > 256u || flash->erase_bytes[0] > 65536u)
        return FFFS_ERR_UNSUPPORTED;
    return FFFS_OK;
}

int fffs_plan_shape(const struct fffs_flash *flash, const struct fffs_format_options *options, struct fffs_shape *shape)
{
    struct fffs_geometry wish;
    uint32_t sectors, files;
    int status = check_driver(flash);

    memset(shape, 0, sizeof *shape);
    memset(&wish, 0, sizeof wish);
    if (status != FFFS_OK)
        return status;
    if (options != NULL)
        wish = options->geometry;
    if (wish.sector_bytes == 0)
        wish.sector_bytes = default_sector(flash);
    if (!fffs_is_power_of_two(wish.sector_bytes) || wish.sector_bytes < 256u || wish.sector_bytes > 65536u ||
        wish.sector_bytes < flash->erase_bytes[0] || wish.probe_limit > 64u || wish.max_files > 65000u)
        return FFFS_ERR_INVALID;
    sectors = wish.sector_count != 0 ? wish.sector_count : flash->size_bytes / wish.sector_bytes;
    if (sectors > 65535u || sectors < 8u || sectors > flash->size_bytes / wish.sector_bytes)
        return FFFS_ERR_INVALID;
    shape->sectors = (uint16_t)sectors;
    shape->sector_shift = fffs_log2(wish.sector_bytes);
    shape->granule_shift = fffs_log2(flash->granule_bytes);
    shape->probes = (uint8_t)(wish.probe_limit != 0 ? wish.probe_limit : 50u);
    files = sectors * (wish.sector_bytes / 256u) / 16u;
    files = files < 16u ? 16u : fffs_min(files, 65000u);
    status = plan_index(shape, wish.max_files != 0 ? wish.max_files : files, wish.max_files != 0);
    if (status == FFFS_OK)
        status = plan_segments(flash, wish.segment_bytes, shape);
    if (status == FFFS_OK)
        status = fffs_shape_derive(shape) == FFFS_OK ? FFFS_OK : FFFS_ERR_INVALID;
    return status;
}

static int same_volume(const struct fffs_shape *a, const struct fffs_shape *b)
{
    return a->sectors == b->sectors && a->sector_shift == b->sector_shift && a->granule_shift == b->granule_shift &&
           a->unit_shift == b->unit_shift && a->units == b->units && a->segment_shift == b->segment_shift &&
           a->phase == b->phase && a->spares == b->spares && a->probes == b->probes;
}

/* Erases the index areas of what was there and of what will be. */
static int erase_index(struct fffs *fs, const struct fffs_shape *old)
{
    uint32_t sector = (uint32_t)1 << fs->shape.sector_shift, bytes, at;

    bytes = (uint32_t)fs->shape.first_sector << fs->shape.sector_shift;
    if (old != NULL && ((uint32_t)old->first_sector << old->sector_shift) > bytes)
        bytes = (uint32_t)old->first_sector << old->sector_shift;
    bytes = fffs_min(fffs_align_up(bytes, sector), fffs_volume_bytes(&fs->shape));
    for (at = 0; at < bytes; at += sector) {
        int status = fffs_io_erase(fs, at, sector);

        fffs_io_progress(fs, at / sector + 1u, bytes / sector);
        if (status != FFFS_OK)
            return status;
    }
    return FFFS_OK;
}

/* The factory-fresh case: all segments count as erased, by a clean mark. */
static int settle_erased(struct fffs *fs)
{
    struct fffs_record hint = fffs_control_record(FFFS_CTL_ERASED, (uint32_t)fs->shape.segments << 16);
    int status = fffs_log_begin_change(fs);

    return status == FFFS_OK ? fffs_log_clean(fs, &hint, 1) : status;
}

/* Over a volume of the same geometry: one successor with no records. */
static int format_in_place(struct fffs *fs, const struct fffs_config *config, const struct fffs_shape *shape)
{
    struct mounting m;
    int status;

    memset(&m, 0, sizeof m);
    clear_volume(fs, config);
    status = find_volume(fs, &m);
    if (status != FFFS_OK)
        return status;
    if (!same_volume(&fs->shape, shape))
        return FFFS_ERR_FOREIGN;
    status = mark_spares(fs, &m);
    if (status != FFFS_OK)
        return status;
    fs->shape.max_files = shape->max_files;
    return fffs_log_successor(fs, FFFS_SUCCESSOR_EMPTY, 0);
}

int fffs_format_volume(struct fffs *fs, const struct fffs_config *config, const struct fffs_format_options *options)
{
    struct fffs_shape shape;
    struct fffs_header old;
    int erased = options != NULL && options->device_is_erased, had;
    int status = fffs_plan_shape(config->flash, options, &shape);

    if (status == FFFS_OK && config->scratch_bytes < (uint32_t)2 << shape.stride_shift)
        status = FFFS_ERR_NO_MEMORY;
    if (status != FFFS_OK)
        return status;
    if (!erased) {
        status = format_in_place(fs, config, &shape);
        if (status == FFFS_OK || status == FFFS_ERR_IO)
            return status;
    }
    had = !erased && fffs_discover_header(config->flash, &old) == FFFS_OK;
    shape.format_id = (uint16_t)(had ? old.shape.format_id + 1u : 1u);
    clear_volume(fs, config);
    set_shape(fs, &shape);
    if (!erased) {
        status = erase_index(fs, had ? &old.shape : NULL);
        if (status != FFFS_OK)
            return status;
    }
    status = fffs_log_create(fs);
    return status == FFFS_OK && erased ? settle_erased(fs) : status;
}

/* ---- Grow ---- */

int fffs_mount_grow(struct fffs *fs, uint32_t sectors)
{
    struct fffs_shape before = fs->shape, after = fs->shape;
    uint32_t i, last = before.segments - 1u;
    int status = fffs_segments_weigh(fs);

    after.sectors = (uint16_t)sectors;
    if (fffs_shape_derive(&after) != FFFS_OK)
        return FFFS_ERR_INVALID;
    if (after.segments > fs->config->segment_table_entries)
        return FFFS_ERR_NO_MEMORY;
    if (status == FFFS_OK)
        status = fffs_log_begin_change(fs);
    if (status != FFFS_OK)
        return status;
    set_shape(fs, &after);
    status = fffs_log_successor(fs, FFFS_SUCCESSOR_NEXT, 1);
    if (status != FFFS_OK) {
        set_shape(fs, &before);
        return status;
    }
    for (i = before.segments; i < after.segments; i++)
        fs->config->segment_table[i] = 0;
    if ((fs->config->segment_table[last] & FFFS_SEGMENT_ERASED) != 0) { /* it is longer now */
        fs->config->segment_table[last] &= (uint16_t)~FFFS_SEGMENT_ERASED;
        fs->erased--;
    }
    return FFFS_OK;
}

/* The index log. Owns struct fffs_log and the index area of the flash.
 *
 * Promises after a cut: a unit counts only behind a complete header and start mark (I3), a record only behind a session
 * mark of its session (I4), and nothing is ever programmed at a place that a cut may have touched (I2): after an unclean
 * stop mount writes a successor. Loops over flash are bounded by the strides of the chain. */
#include "index_log.h"

#include <string.h>
#include "bytes.h"
#include "crc32.h"
#include "extents.h"
#include "flash_io.h"
#include "index_cache.h"
#include "wear.h"

/* ---- Walk ---- */

static void enter_unit(struct fffs *fs, struct fffs_scan *scan)
{
    int newest = scan->link + 1 == fs->log.chain_length;

    scan->at = fffs_header_strides(&fs->shape);
    scan->stop = newest ? fs->log.valid_end : fffs_unit_strides(&fs->shape);
    scan->copies_end = newest ? scan->at + fs->log.copies : 0;
    scan->first = 0;
    scan->have = 0;
    scan->torn = 0;
}

void fffs_scan_begin(struct fffs *fs, struct fffs_scan *scan, uint32_t first, uint32_t last, int half)
{
    scan->buffer = (uint8_t *)fs->config->scratch;
    scan->room = (half ? fs->config->scratch_bytes / 2u : fs->config->scratch_bytes) >> fs->shape.stride_shift;
    scan->link = (uint8_t)first;
    scan->end_link = (uint8_t)last;
    scan->sum = 0;
    scan->crc = 0;
    enter_unit(fs, scan);
}

/* Fills the buffer from stride `at`, or from the header while the number of copies is unknown. */
static int fill(struct fffs *fs, struct fffs_scan *scan)
{
    uint32_t address;
    int status;

    scan->first = scan->copies_end == 0 ? 0 : scan->at;
    scan->have = fffs_min(scan->room, scan->stop - scan->first);
    address = fffs_stride_address(&fs->shape, fs->log.chain[scan->link], scan->first);
    status = fffs_io_read(fs, address, scan->buffer, scan->have << fs->shape.stride_shift);
    if (status != FFFS_OK)
        return status;
    if (scan->copies_end == 0) {
        uint32_t copies = fffs_get16(scan->buffer + FFFS_HDR_COPIES);

        if (copies > fffs_unit_records(&fs->shape))
            return fffs_corrupt();
        scan->copies_end = scan->at + copies;
    }
    return FFFS_OK;
}

/* Steps over the marks behind the copies, to the next unit at the end of one. 0 at the end of the walk. */
static int advance(struct fffs *fs, struct fffs_scan *scan)
{
    for (;;) {
        if (scan->copies_end != 0 && scan->at == scan->copies_end)
            scan->at += FFFS_MARKS;
        if (scan->at < scan->stop)
            return 1;
        if (scan->link + 1 >= scan->end_link)
            return 0;
        scan->link++;
        enter_unit(fs, scan);
    }
}

/* One stride of the current unit, as mount read it where that may differ from now. */
static enum fffs_stride decode_at(struct fffs *fs, const struct fffs_scan *scan, struct fffs_record *record)
{
    const uint8_t *bytes = scan->buffer + ((scan->at - scan->first) << fs->shape.stride_shift);

    if (scan->link + 1 == fs->log.chain_length && scan->at == fs->log.last_at) {
        *record = fs->log.last;
        return FFFS_STRIDE_VALID;
    }
    return fffs_io_decode(fs, fffs_stride_address(&fs->shape, fs->log.chain[scan->link], scan->at), bytes, record);
}

int fffs_scan_next(struct fffs *fs, struct fffs_scan *scan, struct fffs_record *record)
{
    while (advance(fs, scan)) {
        enum fffs_stride kind;

        if (scan->at >= scan->first + scan->have || scan->copies_end == 0) {
            int status = fill(fs, scan);

            if (status != FFFS_OK)
                return status;
            continue; /* the marks may begin at once */
        }
        if (scan->sum && scan->at < scan->copies_end)
            scan->crc = fffs_crc32(scan->crc, scan->buffer + ((scan->at - scan->first) << fs->shape.stride_shift),
                                   (uint32_t)1 << fs->shape.stride_shift);
        kind = decode_at(fs, scan, record);
        scan->at++;
        if (kind == FFFS_STRIDE_VALID) {
            /* A cut clean mark may read as torn or blank later; the session mark behind it tells that it was valid. */
            if (scan->torn && fffs_control_type(record) != FFFS_CTL_SESSION)
                return fffs_corrupt();
            scan->torn = 0;
            return 1;
        }
        if (kind == FFFS_STRIDE_BLANK && scan->torn) {
            if (scan->torn == 2)
                return fffs_corrupt();
            scan->at = scan->stop; /* two blank strides end a closed unit */
            scan->torn = 0;
        } else {
            scan->torn = kind == FFFS_STRIDE_BLANK ? 1 : 2;
        }
        if (scan->at >= scan->stop && scan->torn == 2)
            return fffs_corrupt();
    }
    return 0;
}

/* ---- Current records ---- */

static int wanted(const struct fffs *fs, const struct fffs_batch *batch, const struct fffs_record *record)
{
    return batch->low == batch->high || fffs_record_touches(&fs->shape, record, batch->low, batch->high);
}

static int collect_cached(struct fffs *fs, struct fffs_batch *batch, uint32_t from, uint32_t to)
{
    while (from < to && batch->count < FFFS_BATCH) {
        const struct fffs_record *record = fffs_cache_next(fs, batch->base, from, to);

        if (record == NULL)
            break;
        from = (uint32_t)(uint16_t)(record->slot - batch->base) + 1u;
        if (wanted(fs, batch, record))
            batch->records[batch->count++] = *record;
    }
    batch->next = batch->count == FFFS_BATCH ? from : to;
    return FFFS_OK;
}

static uint32_t place_in(const struct fffs_batch *batch, uint16_t slot)
{
    return (uint16_t)(slot - batch->base);
}

/* Takes one record of the walk: the newest of a slot replaces or removes the one before it. */
static void collect_one(struct fffs *fs, struct fffs_batch *batch, const struct fffs_record *record)
{
    uint32_t place = place_in(batch, record->slot), i = 0;

    while (i < batch->count && place_in(batch, batch->records[i].slot) < place)
        i++;
    if (i < batch->count && batch->records[i].slot == record->slot) {
        batch->count--;
        memmove(&batch->records[i], &batch->records[i + 1], (batch->count - i) * sizeof batch->records[0]);
    }
    if (!fffs_is_put(record) || !wanted(fs, batch, record))
        return;
    if (batch->count == FFFS_BATCH) {
        /* What is pushed out bounds this batch: nothing at or behind it is taken any more. */
        batch->next = i == FFFS_BATCH ? place : place_in(batch, batch->records[FFFS_BATCH - 1].slot);
        if (i == FFFS_BATCH)
            return;
        batch->count--;
    }
    memmove(&batch->records[i + 1], &batch->records[i], (batch->count - i) * sizeof batch->records[0]);
    batch->records[i] = *record;
    batch->records[i].kind &= FFFS_KIND_MULTI; /* its transaction was committed: that is all there is to know */
    batch->count++;
}

int fffs_index_collect(struct fffs *fs, struct fffs_batch *batch, uint32_t from, uint32_t to)
{
    struct fffs_scan scan;
    struct fffs_record record;
    int status;

    batch->count = 0;
    batch->next = to;
    if ((fs->state & (FFFS_STATE_CACHED | FFFS_STATE_PARTIAL)) == FFFS_STATE_CACHED)
        return collect_cached(fs, batch, from, to);
    fffs_scan_begin(fs, &scan, 0, fs->log.chain_length, 0);
    while ((status = fffs_scan_next(fs, &scan, &record)) == 1) {
        uint32_t place = place_in(batch, record.slot);

        if (record.head != FFFS_HEAD_CONTROL && place >= from && place < batch->next)
            collect_one(fs, batch, &record);
    }
    return status;
}

int fffs_index_find(struct fffs *fs, uint16_t slot, struct fffs_record *record)
{
    struct fffs_batch batch;
    int status;

    if ((fs->state & FFFS_STATE_CACHED) != 0) {
        const struct fffs_record *cached = fffs_cache_find(fs, slot);

        if (cached != NULL) {
            *record = *cached;
            return 1;
        }
        if ((fs->state & FFFS_STATE_PARTIAL) == 0)
            return 0;
    }
    batch.base = slot;
    batch.low = batch.high = 0;
    status = fffs_index_collect(fs, &batch, 0, 1);
    if (status != FFFS_OK || batch.count == 0)
        return status;
    *record = batch.records[0];
    return 1;
}

int fffs_index_find_all(struct fffs *fs, struct fffs_record *records, uint32_t count)
{
    int cached = (fs->state & (FFFS_STATE_CACHED | FFFS_STATE_PARTIAL)) == FFFS_STATE_CACHED, status;
    struct fffs_scan scan;
    struct fffs_record record;
    uint32_t i;

    for (i = 0; i < count; i++) {
        const struct fffs_record *found = cached ? fffs_cache_find(fs, records[i].slot) : NULL;
        uint16_t slot = records[i].slot;

        memset(&records[i], 0, sizeof records[i]);
        records[i].slot = slot;
        if (found != NULL)
            records[i] = *found;
    }
    if (cached)
        return FFFS_OK;
    fffs_scan_begin(fs, &scan, 0, fs->log.chain_length, 0);
    while ((status = fffs_scan_next(fs, &scan, &record)) == 1) {
        record.kind &= FFFS_KIND_MULTI;
        for (i = 0; i < count && record.head != FFFS_HEAD_CONTROL; i++)
            if (records[i].slot == record.slot)
                records[i] = record;
    }
    return status;
}

void fffs_index_apply(struct fffs *fs, const struct fffs_record *record)
{
    if ((fs->state & FFFS_STATE_CACHED) == 0 || record->head == FFFS_HEAD_CONTROL)
        return;
    if (record->head == FFFS_HEAD_DELETE) {
        fffs_cache_remove(fs, record->slot);
    } else {
        struct fffs_record plain = *record;

        plain.kind &= FFFS_KIND_MULTI;
        if (!fffs_cache_put(fs, &plain))
            fs->state |= FFFS_STATE_PARTIAL;
    }
}

/* ---- Programming ---- */

static uint8_t *staging(struct fffs *fs)
{
    return (uint8_t *)fs->config->scratch + fffs_align_down(fs->config->scratch_bytes / 2u, 4u);
}

uint32_t fffs_log_txn_room(const struct fffs *fs)
{
    return (fs->config->scratch_bytes / 2u) >> fs->shape.stride_shift;
}

/* Programs `count` records from stride `at` of `unit` in one call. */
static int program_records(struct fffs *fs, uint32_t unit, uint32_t at, const struct fffs_record *records,
                           uint32_t count)
{
    uint32_t stride_bytes = (uint32_t)1 << fs->shape.stride_shift, i;
    uint8_t *stage = staging(fs);

    for (i = 0; i < count; i++)
        fffs_record_encode(&records[i], stage + i * stride_bytes, stride_bytes);
    return fffs_io_program(fs, fffs_stride_address(&fs->shape, unit, at), stage, count * stride_bytes);
}

static int program_mark(struct fffs *fs, uint32_t unit, enum fffs_control type, uint32_t at)
{
    struct fffs_record mark = fffs_control_record(type, at);
    return program_records(fs, unit, at, &mark, 1);
}

/* ---- Successors ---- */

static int in_chain(const struct fffs *fs, uint32_t unit)
{
    uint32_t i;
    for (i = 0; i < fs->log.chain_length; i++)
        if (fs->log.chain[i] == unit)
            return 1;
    return 0;
}

/* A unit outside the chain, the next in ring order behind the newest. While a safe one is left none is taken that a later
 * mount may need: see spare_above, spare_between, spare_proven. */
static uint32_t choose_spare(const struct fffs *fs)
{
    const struct fffs_log *log = &fs->log;
    uint32_t avoid[5], pass, i;

    avoid[4] = log->tried;
    avoid[3] = avoid[4] | log->spare_proven;
    avoid[2] = avoid[3] | log->spare_between;
    avoid[1] = avoid[2] | log->spare_above;
    avoid[0] = avoid[1] | log->spare_headed;
    for (pass = 0; pass < 5; pass++) {
        for (i = 1; i <= fs->shape.units; i++) {
            uint32_t unit = (fffs_log_newest(fs) + i) % fs->shape.units;

            if (!in_chain(fs, unit) && (avoid[pass] >> unit & 1u) == 0)
                return unit;
        }
    }
    return FFFS_UNIT_NONE;
}

/* Records on their way into a new unit: they go out a staging buffer at a time. */
struct copier {
    uint32_t unit, at, crc;
    uint32_t staged;            /* records in the staging buffer, to be programmed from stride `at` */
    int status;
};

static void copy_staged(struct fffs *fs, struct copier *to)
{
    uint32_t bytes = to->staged << fs->shape.stride_shift;

    if (to->status == FFFS_OK && bytes > 0) {
        to->crc = fffs_crc32(to->crc, staging(fs), bytes);
        to->status = fffs_io_program(fs, fffs_stride_address(&fs->shape, to->unit, to->at), staging(fs), bytes);
        to->at += to->staged;
    }
    to->staged = 0;
}

static void copy_out(struct fffs *fs, struct copier *to, const struct fffs_record *record)
{
    uint32_t stride_bytes = (uint32_t)1 << fs->shape.stride_shift;

    fffs_record_encode(record, staging(fs) + to->staged * stride_bytes, stride_bytes);
    if (++to->staged == fffs_log_txn_room(fs))
        copy_staged(fs, to);
}

/* Records of one chain link on their way to a successor. */
struct gathered {
    struct fffs_record records[FFFS_BATCH];
    uint16_t at[FFFS_BATCH];    /* stride index behind each */
    uint32_t keep;              /* bit per record: it is current */
    uint32_t count;
};

/* Drops from `keep` what the cache tells is not current. */
static void strike_by_cache(const struct fffs *fs, struct gathered *some)
{
    uint32_t i;

    for (i = 0; i < some->count; i++) {
        const struct fffs_record *now = fffs_cache_find(fs, some->records[i].slot);
        int differs = now == NULL ? some->records[i].head != 0 && (fs->state & FFFS_STATE_PARTIAL) == 0
                                  : memcmp(now, &some->records[i], sizeof *now) != 0;

        if (differs)
            some->keep &= ~((uint32_t)1 << i);
    }
}

/* Drops from `keep` the records that are not the newest of their slot. */
static int strike_older(struct fffs *fs, struct gathered *some, struct fffs_scan *from)
{
    struct fffs_scan scan;
    struct fffs_record record;
    uint32_t i;
    int status;

    if ((fs->state & FFFS_STATE_CACHED) != 0)
        strike_by_cache(fs, some);
    if ((fs->state & (FFFS_STATE_CACHED | FFFS_STATE_PARTIAL)) == FFFS_STATE_CACHED)
        return FFFS_OK;
    fffs_scan_begin(fs, &scan, from->link, fs->log.chain_length, 1);
    from->have = 0; /* its buffer is used for the second walk */
    while ((status = fffs_scan_next(fs, &scan, &record)) == 1) {
        for (i = 0; i < some->count && record.head != FFFS_HEAD_CONTROL; i++)
            if (some->records[i].slot == record.slot && (scan.link > from->link || scan.at > some->at[i]))
                some->keep &= ~((uint32_t)1 << i);
    }
    return status;
}

/* The next puts of a chain link, and its deletes when `deletes`. */
static int gather(struct fffs *fs, struct fffs_scan *scan, struct gathered *some, int deletes)
{
    struct fffs_record record;
    int status = 0;

    some->count = 0;
    while (some->count < FFFS_BATCH && (status = fffs_scan_next(fs, scan, &record)) == 1) {
        if (!fffs_is_put(&record) && !(deletes && record.head == FFFS_HEAD_DELETE))
            continue;
        record.kind &= FFFS_KIND_MULTI;
        some->at[some->count] = (uint16_t)scan->at;
        some->records[some->count++] = record;
    }
    some->keep = 0xFFFFFFFFu >> (32u - FFFS_BATCH);
    return status < 0 ? status : FFFS_OK;
}

/* A liquid unit may be one that a cut erase has touched: what was copied out of it counts only if it is what the CRC was
 * right for when the unit was accepted. */
static int check_source(struct fffs *fs, uint32_t copies_crc)
{
    uint8_t header[FFFS_HDR_BYTES];
    int status = fffs_io_read(fs, fffs_unit_address(&fs->shape, fffs_log_newest(fs)), header, sizeof header);

    if (status == FFFS_OK && fffs_header_crc(copies_crc, header) != fs->log.header_crc)
        status = FFFS_UNIT_CHANGED;
    return status;
}

/* Copies the current records of a chain link. Deletes go along unless it is the oldest: then nothing older is left that
 * they could hide. */
static int copy_link(struct fffs *fs, struct copier *to, uint32_t link)
{
    struct gathered some;
    struct fffs_scan scan;
    uint32_t i;
    int status;

    fffs_scan_begin(fs, &scan, link, link + 1u, 1);
    scan.sum = (fs->log.state & FFFS_LOG_LIQUID) != 0 && link + 1u == fs->log.chain_length;
    do {
        status = gather(fs, &scan, &some, link > 0);
        if (status == FFFS_OK && some.count > 0)
            status = strike_older(fs, &some, &scan);
        if (status != FFFS_OK)
            return status == FFFS_ERR_CORRUPT && scan.sum ? (int)FFFS_UNIT_CHANGED : status;
        for (i = 0; i < some.count; i++)
            if ((some.keep >> i & 1u) != 0)
                copy_out(fs, to, &some.records[i]);
    } while (some.count == FFFS_BATCH && to->status == FFFS_OK);
    copy_staged(fs, to);
    return to->status == FFFS_OK && scan.sum ? check_source(fs, scan.crc) : to->status;
}

static void fill_header(const struct fffs *fs, struct fffs_header *header, const struct copier *copies)
{
    memset(header, 0, sizeof *header);
    header->shape = fs->shape;
    header->serial = fs->log.highest + 1u;
    header->unit = (uint8_t)copies->unit;
    header->copies = (uint16_t)(copies->at - fffs_header_strides(&fs->shape));
    header->base = fs->log.base;
    header->base_session = fs->log.base_session;
    header->ring = fs->ring;
    header->level = fs->gc.level;
    header->victims = fs->gc.victims;
    header->stamp = fs->stamp;
    header->erases = fs->erases;
    header->closes = fs->log.header_crc;
}

static int program_header(struct fffs *fs, struct fffs_header *header, const struct copier *copies)
{
    uint32_t bytes = fffs_header_strides(&fs->shape) << fs->shape.stride_shift;
    uint8_t *stage = (uint8_t *)fs->config->scratch;

    memset(stage, 0xFF, bytes);
    fffs_header_encode(header, stage);
    header->crc = fffs_header_crc(copies->crc, stage);
    fffs_header_seal(stage, header->crc);
    return fffs_io_program(fs, fffs_unit_address(&fs->shape, copies->unit), stage, bytes);
}

/* Serial of a chain link, from its header. */
static int serial_of(struct fffs *fs, uint32_t link, uint32_t *serial)
{
    uint8_t field[4];
    int status = fffs_io_read(fs, fffs_unit_address(&fs->shape, fs->log.chain[link]) + FFFS_HDR_SERIAL, field, 4);

    *serial = fffs_get32(field);
    return status;
}

/* Whether the next rotation leaves the oldest unit behind: always when spares would run short, else when the chain is
 * much longer than its live records (a short log is quick to walk). */
static int drops_oldest(const struct fffs *fs)
{
    uint32_t length = fs->log.chain_length;
    uint32_t strides = length * fffs_unit_records(&fs->shape);

    if (length + 1u + fs->shape.spares > fs->shape.units)
        return 1;
    return (fs->state & FFFS_STATE_WEIGHED) != 0 && strides * 10u > fs->files_live * (uint32_t)13u;
}

/* Marks behind a complete header: start 1 makes the unit count; start 2 or the session mark prove it. */
static int program_marks(struct fffs *fs, uint32_t unit, uint32_t first, int refresh, int session)
{
    int status = program_mark(fs, unit, FFFS_CTL_START, first);

    if (status == FFFS_OK && refresh)
        status = program_mark(fs, unit, FFFS_CTL_START, first + 1u);
    if (status == FFFS_OK && session)
        status = program_mark(fs, unit, FFFS_CTL_SESSION, first + FFFS_START_SLOTS);
    return status;
}

static void adopt(struct fffs *fs, const struct fffs_header *header, uint32_t first, int session)
{
    struct fffs_log *log = &fs->log;

    log->serial = log->highest = log->base = header->serial;
    log->header_crc = header->crc;
    log->copies = header->copies;
    log->end = log->valid_end = (uint16_t)(first + FFFS_MARKS);
    log->session = log->base_session = session ? (uint16_t)(first + FFFS_START_SLOTS) : (uint16_t)FFFS_NONE16;
    log->last_at = FFFS_NONE16;
    log->spare_headed = log->spare_above = log->spare_between = log->spare_proven = 0;
    log->state = session ? FFFS_LOG_SESSION : FFFS_LOG_FRESH;
}

/* Erases a spare, trying others when one can not be erased (F8). */
static int erase_spare(struct fffs *fs, uint32_t *unit)
{
    uint32_t bytes = (uint32_t)1 << (fs->shape.unit_shift + fs->shape.sector_shift);
    int status = FFFS_ERR_IO;

    for (;;) {
        *unit = choose_spare(fs);
        if (*unit == FFFS_UNIT_NONE)
            return status;
        status = fffs_io_erase(fs, fffs_unit_address(&fs->shape, *unit), bytes);
        if (status == FFFS_OK)
            return FFFS_OK;
        fs->log.tried |= (uint16_t)((uint32_t)1 << *unit);
    }
}

/* Which links of the chain stay, which one is copied. */
struct succession {
    uint32_t dropped;           /* oldest links that leave */
    uint32_t kept_end;          /* link behind the last that stays */
    uint32_t source;            /* link to copy, chain_length: none */
    int two_starts;             /* a replacement proves itself by a second start mark */
};

static struct succession plan_succession(const struct fffs *fs, enum fffs_successor kind)
{
    struct succession plan;
    uint32_t length = fs->log.chain_length;

    plan.dropped = kind == FFFS_SUCCESSOR_EMPTY ? length : 0;
    plan.kept_end = length;
    plan.source = length;
    plan.two_starts = kind != FFFS_SUCCESSOR_NEXT;
    if (kind == FFFS_SUCCESSOR_REFRESH) {
        plan.kept_end = length - 1u;
        plan.source = length - 1u;
    } else if (kind == FFFS_SUCCESSOR_NEXT && drops_oldest(fs)) {
        plan.dropped = 1;
        plan.source = 0;
    }
    return plan;
}

static int write_unit(struct fffs *fs, const struct succession *plan, uint32_t unit, int session)
{
    struct copier to;
    struct fffs_header header;
    int status = FFFS_OK, linked = plan->kept_end > plan->dropped;

    to.unit = unit;
    to.at = fffs_header_strides(&fs->shape);
    to.crc = 0;
    to.staged = 0;
    to.status = FFFS_OK;
    if (plan->source < fs->log.chain_length)
        status = copy_link(fs, &to, plan->source);
    if (status != FFFS_OK)
        return status;
    fill_header(fs, &header, &to);
    header.previous = linked ? fs->log.chain[plan->kept_end - 1u] : (uint8_t)FFFS_UNIT_NONE;
    header.oldest = header.serial;
    if (linked)
        status = serial_of(fs, plan->dropped, &header.oldest);
    if (status == FFFS_OK)
        status = program_header(fs, &header, &to);
    if (status == FFFS_OK)
        status = program_marks(fs, to.unit, to.at, plan->two_starts, session);
    if (status != FFFS_OK) {
        fs->log.highest++; /* the header may be there: its serial is used up */
        return status;
    }
    memmove(fs->log.chain, fs->log.chain + plan->dropped, linked ? plan->kept_end - plan->dropped : 0u);
    fs->log.chain_length = (uint8_t)(linked ? plan->kept_end - plan->dropped : 0u);
    fs->log.chain[fs->log.chain_length++] = (uint8_t)to.unit;
    adopt(fs, &header, to.at, session);
    fffs_io_progress(fs, 0, 0);
    return FFFS_OK;
}

int fffs_log_create(struct fffs *fs)
{
    struct succession plan;

    memset(&fs->log, 0, sizeof fs->log);
    fs->log.base_session = FFFS_NONE16;
    plan.dropped = plan.kept_end = plan.source = 0;
    plan.two_starts = 1;
    return write_unit(fs, &plan, 0, 0);
}

int fffs_log_successor(struct fffs *fs, enum fffs_successor kind, int session)
{
    struct succession plan = plan_succession(fs, kind);
    int in_session = (fs->log.state & FFFS_LOG_SESSION) != 0;
    uint32_t unit;
    int status = erase_spare(fs, &unit);

    if (status == FFFS_OK) {
        status = write_unit(fs, &plan, unit, session);
        in_session |= session;
    }
    /* The unfinished successor may or may not count at the next mount, and it lacks what would follow. */
    if (status != FFFS_OK && in_session)
        fs->failed = FFFS_ERR_REMOUNT;
    return status;
}

/* ---- Changes ---- */

int fffs_log_begin_change(struct fffs *fs)
{
    struct fffs_log *log = &fs->log;
    uint32_t at = log->end;
    uint8_t *stride = staging(fs);
    int status;

    if (fs->failed != 0)
        return fs->failed;
    if ((log->state & FFFS_LOG_SESSION) != 0)
        return FFFS_OK;
    if ((log->state & FFFS_LOG_FRESH) != 0)
        at = log->end - 1u; /* the session slot */
    if (at >= fffs_unit_strides(&fs->shape))
        return fffs_log_successor(fs, FFFS_SUCCESSOR_REFRESH, 1);
    status = fffs_io_read(fs, fffs_stride_address(&fs->shape, fffs_log_newest(fs), at), stride,
                          (uint32_t)1 << fs->shape.stride_shift);
    if (status != FFFS_OK)
        return status;
    if (!fffs_io_stride_is_blank(fs, fffs_stride_address(&fs->shape, fffs_log_newest(fs), at), stride,
                                 (uint32_t)1 << fs->shape.stride_shift))
        return fffs_log_successor(fs, FFFS_SUCCESSOR_REFRESH, 1);
    status = program_mark(fs, fffs_log_newest(fs), FFFS_CTL_SESSION, at);
    if (status != FFFS_OK)
        return fffs_log_successor(fs, FFFS_SUCCESSOR_REFRESH, 1) == FFFS_OK ? FFFS_OK : status;
    log->session = log->base_session = (uint16_t)at;
    log->end = log->valid_end = (uint16_t)(at + 1u);
    log->last_at = FFFS_NONE16;
    log->state = FFFS_LOG_SESSION;
    return FFFS_OK;
}

uint32_t fffs_log_room(const struct fffs *fs)
{
    return fffs_unit_strides(&fs->shape) - fs->log.end;
}

/* After a failed program nothing may follow in this unit: what was appended before moves to a successor. */
static int give_up(struct fffs *fs, int status)
{
    fs->log.end = fs->log.valid_end;
    if (fffs_log_successor(fs, FFFS_SUCCESSOR_REFRESH, 1) != FFFS_OK)
        fs->failed = FFFS_ERR_REMOUNT;
    return status;
}

static int append_raw(struct fffs *fs, const struct fffs_record *records, uint32_t count)
{
    int status = program_records(fs, fffs_log_newest(fs), fs->log.end, records, count);

    if (status == FFFS_OK)
        status = fffs_io_sync(fs);
    if (status != FFFS_OK)
        return give_up(fs, status);
    fs->log.end = (uint16_t)(fs->log.end + count);
    return FFFS_OK;
}

/* Saves the erase counts, if they are kept, take at most a quarter of a unit, and leave room for `strides` records. */
static int save_wear(struct fffs *fs, uint32_t strides)
{
    struct fffs_record records[FFFS_BATCH];
    uint32_t total = fffs_wear_records(fs), done = 0, count, i;
    uint32_t most = fffs_min(FFFS_BATCH, fffs_log_txn_room(fs));
    int status = FFFS_OK;

    if (4u * total > fffs_unit_records(&fs->shape) || fffs_log_room(fs) < total + strides)
        return FFFS_OK;
    while (done < total && status == FFFS_OK) {
        count = fffs_min(total - done, most);
        for (i = 0; i < count; i++)
            records[i] = fffs_wear_record(fs, done + i);
        status = append_raw(fs, records, count);
        if (status == FFFS_OK)
            fs->log.valid_end = fs->log.end;
        done += count;
    }
    return status;
}

int fffs_log_reserve(struct fffs *fs, uint32_t strides)
{
    uint32_t turns;
    int status = fffs_log_begin_change(fs);

    for (turns = 0; status == FFFS_OK && fffs_log_room(fs) < strides; turns++) {
        if (turns > 2u * fs->shape.units)
            return FFFS_ERR_INDEX_FULL;
        status = fffs_log_successor(fs, FFFS_SUCCESSOR_NEXT, 1);
    }
    return status == FFFS_OK && turns > 0 ? save_wear(fs, strides) : status;
}

int fffs_log_save_wear(struct fffs *fs)
{
    uint32_t total = fffs_wear_records(fs), rest = FFFS_BATCH + 2u; /* hints and the clean mark follow */
    int status = FFFS_OK;

    if (total > 0 && 4u * total <= fffs_unit_records(&fs->shape) && fffs_log_room(fs) < total + rest)
        status = fffs_log_successor(fs, FFFS_SUCCESSOR_NEXT, 1);
    return status == FFFS_OK ? save_wear(fs, rest) : status;
}

int fffs_log_append(struct fffs *fs, const struct fffs_record *record)
{
    int status = fffs_log_reserve(fs, 1);

    if (status == FFFS_OK)
        status = append_raw(fs, record, 1);
    if (status == FFFS_OK)
        fs->log.valid_end = fs->log.end;
    return status;
}

int fffs_log_append_all(struct fffs *fs, const struct fffs_record *records, uint32_t count)
{
    struct fffs_record control;
    uint32_t done = 0;
    int status = fffs_log_reserve(fs, count + 2u);

    control = fffs_control_record(FFFS_CTL_BEGIN, count | fs->log.serial << 16);
    if (status == FFFS_OK)
        status = append_raw(fs, &control, 1);
    while (done < count && status == FFFS_OK) {
        uint32_t part = fffs_min(count - done, fffs_log_txn_room(fs));

        status = append_raw(fs, records + done, part);
        done += part;
    }
    control = fffs_control_record(FFFS_CTL_COMMIT, fs->log.valid_end | fs->log.serial << 16);
    if (status == FFFS_OK)
        status = append_raw(fs, &control, 1);
    if (status == FFFS_OK)
        fs->log.valid_end = fs->log.end;
    return status;
}

int fffs_log_txn_begin(struct fffs *fs, uint32_t n)
{
    struct fffs_record begin = fffs_control_record(FFFS_CTL_BEGIN, n | fs->log.serial << 16);
    return append_raw(fs, &begin, 1);
}

/* From the first record on RAM is ahead of the flash, so a failure leaves recovery to the next mount. */
static int append_txn(struct fffs *fs, const struct fffs_record *records, uint32_t count)
{
    int status = program_records(fs, fffs_log_newest(fs), fs->log.end, records, count);

    if (status == FFFS_OK)
        status = fffs_io_sync(fs);
    if (status != FFFS_OK)
        fs->failed = FFFS_ERR_REMOUNT;
    else
        fs->log.end = (uint16_t)(fs->log.end + count);
    return status;
}

int fffs_log_txn_add(struct fffs *fs, const struct fffs_record *records, uint32_t count)
{
    return append_txn(fs, records, count);
}

int fffs_log_txn_commit(struct fffs *fs)
{
    struct fffs_record commit = fffs_control_record(FFFS_CTL_COMMIT, fs->log.valid_end | fs->log.serial << 16);
    int status = append_txn(fs, &commit, 1);

    if (status == FFFS_OK)
        fs->log.valid_end = fs->log.end;
    return status;
}

int fffs_log_clean(struct fffs *fs, const struct fffs_record *records, uint32_t count)
{
    struct fffs_record mark;
    int status = fffs_log_reserve(fs, 1);

    if (status != FFFS_OK)
        return status;
    count = fffs_min(count, fffs_min(fffs_log_room(fs) - 1u, fffs_log_txn_room(fs)));
    if (count > 0)
        status = append_raw(fs, records, count);
    if (status != FFFS_OK)
        return status;
    mark = fffs_control_record(FFFS_CTL_CLEAN, fs->log.end);
    status = append_raw(fs, &mark, 1);
    if (status != FFFS_OK)
        return status;
    fs->log.valid_end = fs->log.end;
    fs->log.state = FFFS_LOG_CLEAN;
    return FFFS_OK;
}

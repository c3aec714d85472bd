/* Segments. Owns the segment table, the append points, `used`, `erased`, `ring`, `erases` and `bad` of struct fffs.
 *
 * Weights are a hint for choosing; the reason to erase is always the walk of the current records (I7). A segment is
 * programmed only if its erase returned in this session or a clean mark tells that it is erased (I2). */
#include "segments.h"

#include "bytes.h"
#include "extents.h"
#include "flash_io.h"
#include "handles.h"
#include "index_cache.h"
#include "index_log.h"
#include "wear.h"

uint32_t fffs_segment_bytes(const struct fffs *fs)
{
    return (uint32_t)1 << (fs->shape.segment_shift + fs->shape.sector_shift);
}

uint32_t fffs_segment_of(const struct fffs *fs, uint32_t address)
{
    uint32_t sector = address >> fs->shape.sector_shift;
    return ((sector + fs->shape.phase) >> fs->shape.segment_shift) - fs->first_segment;
}

uint32_t fffs_segment_low(const struct fffs *fs, uint32_t segment)
{
    uint32_t sector = (segment + fs->first_segment) << fs->shape.segment_shift;

    if (segment == 0 || sector < fs->shape.phase + (uint32_t)fs->shape.first_sector)
        sector = fs->shape.first_sector;
    else
        sector -= fs->shape.phase;
    return sector << fs->shape.sector_shift;
}

uint32_t fffs_segment_high(const struct fffs *fs, uint32_t segment)
{
    uint32_t sector = ((segment + fs->first_segment + 1u) << fs->shape.segment_shift) - fs->shape.phase;
    return fffs_min(sector, fs->shape.sectors) << fs->shape.sector_shift;
}

uint32_t fffs_segment_weight(const struct fffs *fs, uint32_t segment)
{
    return fs->config->segment_table[segment] & FFFS_SEGMENT_WEIGHT;
}

static int is_open(const struct fffs *fs, uint32_t segment)
{
    return fs->user.segment == segment || fs->moved.segment == segment;
}

int fffs_segment_is_dead(const struct fffs *fs, uint32_t segment)
{
    return fs->config->segment_table[segment] == 0 && !is_open(fs, segment);
}

/* The first and the last segment may be shorter than the others. */
static uint32_t size_of(const struct fffs *fs, uint32_t segment)
{
    return fffs_segment_high(fs, segment) - fffs_segment_low(fs, segment);
}

static int is_free(const struct fffs *fs, uint32_t segment)
{
    uint16_t entry = fs->config->segment_table[segment];

    return (entry == 0 || entry == FFFS_SEGMENT_ERASED) && !is_open(fs, segment);
}

/* Each write asks several times: a loop without calls. Only the first and the last segment can be short. */
uint32_t fffs_segments_free(const struct fffs *fs)
{
    const uint16_t *table = fs->config->segment_table;
    uint32_t full = fffs_segment_bytes(fs), last = (uint32_t)fs->shape.segments - 1u, count = 0;
    uint32_t i = size_of(fs, 0) < full, end = last + (size_of(fs, last) == full);
    uint32_t user = fs->user.segment, moved = fs->moved.segment;

    for (; i < end; i++)
        count += (table[i] & ~(uint32_t)FFFS_SEGMENT_ERASED) == 0 && i != user && i != moved;
    return count;
}

uint32_t fffs_segments_room(const struct fffs *fs)
{
    uint32_t i, bytes = 0;

    for (i = 0; i < fs->shape.segments; i++)
        if (is_free(fs, i))
            bytes += size_of(fs, i);
    return bytes;
}

/* ---- Budget ---- */

/* One n-th of the space is what collection can not pack: ends of segments where the next node does not fit weigh more in
 * small ones, and where a transaction moves few files a segment takes few. */
static uint32_t unpacked_share(const struct fffs *fs)
{
    if (fs->shape.segments < 8u)
        return 16;
    if (fffs_txn_limit(&fs->shape) < 4u && fs->shape.segments >= 16u)
        return 4;
    return fffs_segment_bytes(fs) >= 4096u ? 16u : 8u;
}

uint32_t fffs_capacity(const struct fffs *fs)
{
    uint32_t segment = fffs_segment_bytes(fs);
    uint32_t data = fffs_volume_bytes(&fs->shape) - ((uint32_t)fs->shape.first_sector << fs->shape.sector_shift);
    uint32_t spared = (3u + fs->bad) * segment, usable;

    if (data <= spared)
        return 0;
    usable = data - spared;
    usable -= usable / unpacked_share(fs);
    return usable > segment ? usable - segment : 0;
}

uint32_t fffs_footprint_bytes(const struct fffs *fs, uint32_t bytes)
{
    uint32_t unit = fffs_unit_bytes(&fs->shape);
    uint32_t units = (bytes + unit - 1u) >> (fs->shape.sector_shift - 8u);
    uint8_t code = fffs_footprint_encode(units);

    if (code == 0)
        return units << (fs->shape.sector_shift - 8u);
    return fffs_footprint_decode(code) << (fs->shape.sector_shift - 8u);
}

/* ---- Weights ---- */

static void weigh_one(struct fffs *fs, uint32_t segment, uint32_t bytes, int add)
{
    uint16_t *entry = &fs->config->segment_table[segment];
    uint8_t total_shift = (uint8_t)(fs->shape.segment_shift + fs->shape.sector_shift);
    uint8_t shift = (uint8_t)(total_shift > 13u ? total_shift - 13u : 0u);
    uint32_t units = (bytes + ((uint32_t)1 << shift) - 1u) >> shift;
    uint32_t weight = *entry & FFFS_SEGMENT_WEIGHT;

    if (add)
        weight = fffs_min(weight + units, FFFS_SEGMENT_WEIGHT);
    else
        weight = weight > units ? weight - units : 0;
    *entry = (uint16_t)((*entry & ~(unsigned)FFFS_SEGMENT_WEIGHT) | weight);
}

/* Spreads a run over the segments it lies in. Each step moves on by at least one sector. */
static void weigh_run(struct fffs *fs, uint32_t address, uint32_t end, int add)
{
    while (address < end) {
        uint32_t segment = fffs_segment_of(fs, address);
        uint32_t part = fffs_min(fffs_segment_high(fs, segment), end) - address;

        weigh_one(fs, segment, part, add);
        address += part;
    }
}

static void charge(struct fffs *fs, uint32_t bytes, int add)
{
    fs->used = add ? fs->used + bytes : fs->used - bytes;
}

static int weigh_parts(struct fffs *fs, const struct fffs_node *node, int add)
{
    struct fffs_walk walk;
    int status;

    fffs_walk_begin(&walk);
    while ((status = fffs_walk_next(fs, node, &walk)) == 1) {
        uint32_t bytes = fffs_piece_bytes(fs, node, &walk.piece);

        charge(fs, bytes, add);
        weigh_run(fs, walk.piece.address, walk.piece.address + bytes, add);
        if (walk.entered) {
            charge(fs, walk.table.bytes, add);
            weigh_run(fs, walk.table.address, walk.table.address + walk.table.bytes, add);
        }
    }
    return status;
}

uint32_t fffs_segments_run_begin(const struct fffs *fs, const struct fffs_record *record)
{
    uint32_t end = fffs_record_end(&fs->shape, record), footprint = fffs_record_footprint(&fs->shape, record);
    uint32_t surely = record->len > 1u ? fffs_footprint_decode((uint8_t)(record->len - 1u)) << (fs->shape.sector_shift - 8u) : 0;
    uint32_t first = (uint32_t)fs->shape.first_sector << fs->shape.sector_shift, begin, low;

    begin = footprint < end - first ? end - footprint : first;
    low = fffs_segment_low(fs, fffs_segment_of(fs, surely < end - begin ? end - surely - 1u : begin));
    return begin < low ? low : begin;
}

int fffs_segments_account(struct fffs *fs, const struct fffs_record *record, int add)
{
    uint8_t window[FFFS_NODE_WINDOW];
    struct fffs_node node;
    uint32_t end = fffs_record_end(&fs->shape, record);
    int status = FFFS_OK;

    if ((fs->state & FFFS_STATE_WEIGHED) == 0 || !fffs_is_put(record))
        return FFFS_OK;
    if (record->head < fs->shape.first_sector || end > fffs_volume_bytes(&fs->shape))
        return fffs_corrupt();
    charge(fs, fffs_min(fffs_record_footprint(&fs->shape, record), end), add);
    weigh_run(fs, fffs_segments_run_begin(fs, record), end, add);
    if ((record->kind & FFFS_KIND_MULTI) != 0) {
        status = fffs_node_load(fs, record, &node, window, sizeof window);
        if (status == FFFS_OK)
            status = weigh_parts(fs, &node, add);
    }
    return status;
}

int fffs_segments_weigh(struct fffs *fs)
{
    struct fffs_batch batch;
    uint32_t from = 0, i;
    int fits = (fs->state & FFFS_STATE_PARTIAL) != 0;

    if ((fs->state & FFFS_STATE_WEIGHED) != 0)
        return FFFS_OK;
    if (fs->config->segment_table == NULL)
        return FFFS_ERR_NO_MEMORY;
    fs->state |= FFFS_STATE_WEIGHED; /* so that accounting counts */
    fs->used = 0;
    fs->files_live = 0;
    for (i = 0; i < fs->shape.segments; i++)
        fs->config->segment_table[i] &= FFFS_SEGMENT_ERASED | FFFS_SEGMENT_PENDING;
    batch.base = 0;
    batch.low = batch.high = 0;
    while (from < FFFS_SLOTS_END) {
        int status = fffs_index_collect(fs, &batch, from, FFFS_SLOTS_END);

        for (i = 0; i < batch.count && status == FFFS_OK; i++) {
            status = fffs_segments_account(fs, &batch.records[i], 1);
            if (status == FFFS_ERR_CORRUPT)
                status = FFFS_OK; /* its file answers corrupt when used; the walk before an erase stops there */
            fs->files_live++;
            if (fits)
                fits = fffs_cache_put(fs, &batch.records[i]);
        }
        if (status != FFFS_OK) {
            fs->state &= (uint8_t)~FFFS_STATE_WEIGHED;
            return status;
        }
        from = batch.next;
    }
    if (fits) /* the cache overflowed when there were more files: now it holds them all */
        fs->state &= (uint8_t)~FFFS_STATE_PARTIAL;
    return FFFS_OK;
}

void fffs_segments_hold(struct fffs *fs, uint32_t address, uint32_t end)
{
    while (address < end) {
        uint32_t segment = fffs_segment_of(fs, address);

        fs->config->segment_table[segment] |= FFFS_SEGMENT_PENDING;
        address = fffs_segment_high(fs, segment);
    }
}

void fffs_segments_settle_pending(struct fffs *fs)
{
    const struct fffs_file *at;
    uint32_t i, start;

    for (at = fs->files; at != NULL; at = at->next)
        if ((at->state & FFFS_FILE_WRITER) != 0 && at->u.write.tables > 0)
            return; /* its older extents are not in RAM */
    if (fs->config->segment_table == NULL || fs->gc.items > 0 || (fs->txn != NULL && fs->txn->count > 0))
        return; /* nor are those of files that were moved: cleared when they are committed */
    for (i = 0; i < fs->shape.segments; i++)
        fs->config->segment_table[i] &= (uint16_t)~FFFS_SEGMENT_PENDING;
    if (fs->gc.file.head != 0 && fs->gc.moved_bytes > 0) {
        fffs_segments_hold(fs, fs->gc.target[0], fs->gc.target[0] + fs->gc.split);
        fffs_segments_hold(fs, fs->gc.target[1], fs->gc.target[1] + (fs->gc.moved_bytes - fs->gc.split));
    }
    for (at = fs->files; at != NULL; at = at->next) {
        if ((at->state & FFFS_FILE_WRITER) == 0)
            continue;
        for (i = 0, start = 0; i < at->u.write.count; i++) {
            const struct fffs_extent *extent = &at->u.write.extents[i];

            fffs_segments_hold(fs, extent->address, extent->address + (extent->end - start));
            start = extent->end;
        }
    }
}

/* ---- Erase ---- */

int fffs_segment_in_use(struct fffs *fs, uint32_t segment)
{
    struct fffs_batch batch;
    uint32_t from = 0, i;

    if ((fs->config->segment_table[segment] & FFFS_SEGMENT_PENDING) != 0 || is_open(fs, segment))
        return 1;
    batch.base = 0;
    batch.low = fffs_segment_low(fs, segment);
    batch.high = fffs_segment_high(fs, segment);
    while (from < FFFS_SLOTS_END) {
        int status = fffs_index_collect(fs, &batch, from, FFFS_SLOTS_END);

        for (i = 0; i < batch.count && status == FFFS_OK; i++)
            status = fffs_record_uses(fs, &batch.records[i], batch.low, batch.high);
        if (status != FFFS_OK)
            return status;
        from = batch.next;
    }
    return fffs_handles_pin(fs, batch.low, batch.high);
}

uint32_t fffs_segment_erase_next(const struct fffs *fs, uint32_t segment)
{
    uint32_t low = fffs_segment_low(fs, segment), next = fs->gc.erase_next;

    return next > low && next < fffs_segment_high(fs, segment) ? next : low;
}

uint32_t fffs_segment_piece(const struct fffs *fs, uint32_t segment, uint32_t from, uint32_t largest)
{
    const struct fffs_flash *flash = fs->config->flash;
    uint32_t shift = (uint32_t)fs->shape.phase << fs->shape.sector_shift, i;
    uint32_t piece = (uint32_t)1 << fs->shape.sector_shift, high = fffs_segment_high(fs, segment);

    for (i = 0; i < FFFS_FLASH_ERASE_SIZES; i++) {
        uint32_t bytes = flash->erase_bytes[i];

        if (bytes > piece && bytes <= fffs_segment_bytes(fs) && bytes <= largest &&
            ((from + shift) & (bytes - 1u)) == 0 && bytes <= high - from)
            piece = bytes;
    }
    return from + piece;
}

int fffs_segment_erase(struct fffs *fs, uint32_t segment, uint32_t from, uint32_t to)
{
    uint16_t *entry = &fs->config->segment_table[segment];
    int status = fffs_log_begin_change(fs);

    if (status == FFFS_OK && from == fffs_segment_low(fs, segment)) {
        status = fffs_handles_before_erase(fs, from, fffs_segment_high(fs, segment));
        fs->erases++;
        fffs_wear_count(fs, segment);
        if (fs->gc.victims < 255u)
            fs->gc.victims++;
        if (segment == fs->gc.victim) { /* it emptied itself: no moved file is current any more */
            fs->gc.victim = FFFS_NONE16;
            fs->gc.items = 0;
            fs->gc.file.head = 0;
        }
    }
    if (status != FFFS_OK)
        return status;
    status = fffs_io_erase(fs, from, to - from);
    fs->gc.erase_next = 0;
    if (status != FFFS_OK) {
        *entry = FFFS_SEGMENT_WEIGHT; /* full and without a live byte: never chosen again in this session (F8) */
        fs->bad++;
        return status;
    }
    if (to < fffs_segment_high(fs, segment)) {
        fs->gc.erase_next = to;
        return FFFS_OK;
    }
    *entry = FFFS_SEGMENT_ERASED;
    fs->erased++;
    return FFFS_OK;
}

/* ---- Append points ---- */

void fffs_point_close(struct fffs_point *point)
{
    point->segment = FFFS_NONE16;
    point->next = point->limit = 0;
    point->items = 0;
}

/* Makes the beginning of a dead segment ready, lowers *limit to the end of it: 1 done, 0 it is in use after all, or an error. A
 * short segment takes several erase calls: the later ones follow as it is filled, so that no call waits for all. */
static int reclaim(struct fffs *fs, uint32_t segment, uint32_t *limit)
{
    uint32_t from = fffs_segment_erase_next(fs, segment);
    int status;

    /* Behind a piecewise erase: it was looked at then, and nothing can have got there since. */
    if (from == fffs_segment_low(fs, segment)) {
        status = fffs_segment_in_use(fs, segment);
        if (status == 1)
            fs->config->segment_table[segment] |= 1u; /* the weight was wrong: leave it alone */
        if (status != 0)
            return status < 0 ? status : 0;
    }
    /* Mount derives from an append point what is erased behind it: pieces count from the low end only. */
    if (from == fffs_segment_low(fs, segment))
        *limit = fffs_segment_piece(fs, segment, from, FFFS_NO_ADDRESS);
    status = fffs_segment_erase(fs, segment, from, *limit);
    if (status == FFFS_OK && *limit < fffs_segment_high(fs, segment)) {
        fs->gc.erase_next = 0;
        fs->erased++; /* balanced when it is opened */
    }
    return status == FFFS_OK ? 1 : status;
}

/* Opens segment number `segment` when the point may have it: 1, 0 not this one, or an error. */
static int try_open(struct fffs *fs, struct fffs_point *point, uint32_t segment)
{
    uint32_t limit = fffs_segment_high(fs, segment);
    int status = 1;

    if (fffs_segment_is_dead(fs, segment))
        status = reclaim(fs, segment, &limit);
    if (status == FFFS_ERR_CORRUPT)
        fs->config->segment_table[segment] |= FFFS_SEGMENT_WEIGHT; /* a node is unreadable: no proof that it is dead */
    if (status != 1)
        return status;
    fs->config->segment_table[segment] = 0;
    fs->erased--;
    point->segment = (uint16_t)segment;
    point->next = fffs_segment_low(fs, segment);
    point->limit = limit;
    point->items = 0;
    fs->ring = (uint16_t)(segment + 1u == fs->shape.segments ? 0 : segment + 1u);
    return 1;
}

int fffs_segments_levelling(const struct fffs *fs)
{
    return fs->gc.victim != FFFS_NONE16 && fs->gc.rate == 0;
}

/* The next segment behind `behind` others in ring order that the point may have, and that has `least` bytes. */
static uint32_t next_free(const struct fffs *fs, const struct fffs_point *point, uint32_t least, uint32_t *behind)
{
    /* The last one of full size is the collector's, and one more while it moves a victim that gains nothing. */
    int spare = point == &fs->user && fffs_segments_free(fs) < 2u + (uint32_t)fffs_segments_levelling(fs);

    while (*behind < fs->shape.segments) {
        uint32_t segment = fs->ring + (*behind)++;

        segment = segment >= fs->shape.segments ? segment - fs->shape.segments : segment;
        if (is_free(fs, segment) && size_of(fs, segment) >= least && (!spare || size_of(fs, segment) < fffs_segment_bytes(fs)))
            return segment;
    }
    return FFFS_NONE16;
}

uint32_t fffs_point_next(const struct fffs *fs, const struct fffs_point *point)
{
    uint32_t behind = 0;

    return next_free(fs, point, 1, &behind);
}

static int open_next(struct fffs *fs, struct fffs_point *point, uint32_t least)
{
    int none = FFFS_COLLECT; /* or the error that kept a dead segment from being opened */
    uint32_t behind = 0, segment;

    while ((segment = next_free(fs, point, least, &behind)) != FFFS_NONE16) {
        int status = try_open(fs, point, segment);

        if (status == 1)
            return FFFS_OK;
        if (status == FFFS_ERR_IO)
            none = status;
        if (status < 0 && status != FFFS_ERR_CORRUPT && (status != FFFS_ERR_IO || fs->failed != 0))
            return status; /* the others: leave that segment, take another */
    }
    return none;
}

uint32_t fffs_point_room(const struct fffs *fs, const struct fffs_point *point)
{
    return point->segment == FFFS_NONE16 ? 0 : fffs_segment_high(fs, point->segment) - point->next;
}

/* Erases on in the open segment until `need` bytes are there, or it is used up. */
static int extend(struct fffs *fs, struct fffs_point *point, uint32_t need)
{
    uint32_t high = fffs_segment_high(fs, point->segment);

    while (point->limit < high && point->limit - point->next < need) {
        uint32_t to = fffs_segment_piece(fs, point->segment, point->limit, FFFS_NO_ADDRESS);
        int status = fffs_io_erase(fs, point->limit, to - point->limit);

        if (status != FFFS_OK)
            return status;
        point->limit = to;
    }
    return FFFS_OK;
}

int fffs_point_reserve(struct fffs *fs, struct fffs_point *point, uint32_t need, uint32_t *room)
{
    return fffs_point_reserve_on(fs, point, need, fffs_min(need, fffs_segment_bytes(fs)), room);
}

int fffs_point_reserve_on(struct fffs *fs, struct fffs_point *point, uint32_t need, uint32_t least, uint32_t *room)
{
    int status = fffs_segments_weigh(fs);

    if (status == FFFS_OK)
        status = fffs_log_begin_change(fs);
    if (status != FFFS_OK)
        return status;
    if (point->segment != FFFS_NONE16 && point->items <= fffs_txn_limit(&fs->shape))
        status = extend(fs, point, need);
    if (point->segment != FFFS_NONE16 &&
        (status != FFFS_OK || point->limit - point->next < need || point->items > fffs_txn_limit(&fs->shape)))
        fffs_point_close(point);
    if (point->segment == FFFS_NONE16) {
        status = open_next(fs, point, least);
        if (status == FFFS_OK)
            status = extend(fs, point, need);
        if (status != FFFS_OK)
            return status;
    }
    *room = point->limit - point->next;
    return *room >= need ? FFFS_OK : FFFS_ERR_NO_SPACE;
}

void fffs_point_advance(struct fffs *fs, struct fffs_point *point, uint32_t bytes)
{
    fs->config->segment_table[point->segment] |= FFFS_SEGMENT_PENDING;
    if (point == &fs->user)
        fs->gc.written += bytes;
    point->next += bytes;
    if (point->next >= fffs_segment_high(fs, point->segment))
        fffs_point_close(point);
}

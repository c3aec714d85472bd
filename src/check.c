/* Invariants as code. Owns nothing and changes nothing on flash or in the volume's state; assumes nothing about the
 * bytes it reads. Damage becomes a finding; only driver errors end the check. Loops are bounded by units, slots, segments
 * and the extents of a file. */
#include "check.h"

#include <string.h>
#include "bytes.h"
#include "crc32.h"
#include "extents.h"
#include "flash_io.h"
#include "index_cache.h"
#include "index_log.h"
#include "lookup.h"
#include "segments.h"

enum {
    WINDOW = FFFS_NODE_TRAILER + FFFS_NAME_MAX + 14,
    SUMS = 32                   /* segments that one pass over the records sums up */
};

struct check {
    struct fffs *fs;
    void (*report)(void *context, const struct fffs_finding *finding);
    void *context;
    int findings;
    int unreadable;             /* current records whose node can not be read */
    uint32_t files;             /* current records */
    struct fffs_finding finding; /* name: of the file being checked */
};

static const uint32_t no_place = 0xFFFFFFFFu;

static void add_finding(struct check *check, int invariant, uint32_t address, const char *text)
{
    check->findings++;
    check->finding.invariant = invariant;
    check->finding.address = address;
    check->finding.text = text;
    if (check->report != NULL)
        check->report(check->context, &check->finding);
}

/* Turns damage into a finding: FFFS_OK when there was none, 1 when there was, or the driver's error. */
static int note_damage(struct check *check, int status, int invariant, uint32_t address, const char *text)
{
    if (status != FFFS_ERR_CORRUPT)
        return status;
    add_finding(check, invariant, address, text);
    return 1;
}

/* ---- I2: what is to be blank is blank ---- */

static int check_blank(struct check *check, uint32_t low, uint32_t high, const char *text)
{
    struct fffs *fs = check->fs;
    uint8_t *bytes = (uint8_t *)fs->config->scratch;

    while (low < high) {
        uint32_t part = fffs_min(fs->config->scratch_bytes & ~((uint32_t)FFFS_SCRATCH_MIN - 1u), high - low);
        int status = fffs_io_read(fs, low, bytes, part);

        if (status != FFFS_OK)
            return note_damage(check, status, 2, low, "an append point lies outside the volume") < 0 ? status : FFFS_OK;
        if (!fffs_io_stride_is_blank(fs, low, bytes, part)) {
            add_finding(check, 2, low, text);
            return FFFS_OK;
        }
        low += part;
    }
    return FFFS_OK;
}

static int check_point(struct check *check, const struct fffs_point *point)
{
    if (point->segment == FFFS_NONE16)
        return FFFS_OK;
    return check_blank(check, point->next, point->limit, "the flash behind an append point is not blank");
}

/* The newest unit behind its last record. Where a log was read and this session has changed nothing mount has judged it. */
static int check_log_end(struct check *check)
{
    const struct fffs *fs = check->fs;
    uint32_t unit = fffs_log_newest(fs);

    if ((fs->log.state & (FFFS_LOG_SESSION | FFFS_LOG_FRESH)) == 0 || fs->failed != 0)
        return FFFS_OK;
    return check_blank(check, fffs_stride_address(&fs->shape, unit, fs->log.end),
                       fffs_unit_address(&fs->shape, unit + 1u), "the index behind its last record is not blank");
}

static int check_erased(struct check *check)
{
    const struct fffs *fs = check->fs;
    uint32_t i, erased = 0;
    int status = check_log_end(check);

    if (status == FFFS_OK)
        status = check_point(check, &fs->user);
    if (status == FFFS_OK)
        status = check_point(check, &fs->moved);
    for (i = 0; fs->config->segment_table != NULL && i < fs->shape.segments && status == FFFS_OK; i++) {
        if ((fs->config->segment_table[i] & FFFS_SEGMENT_ERASED) == 0)
            continue;
        erased++;
        status = check_blank(check, fffs_segment_low(fs, i), fffs_segment_high(fs, i),
                             "a segment that counts as erased is not blank");
        fffs_io_progress(check->fs, i, fs->shape.segments);
    }
    if (status == FFFS_OK && fs->config->segment_table != NULL && erased != fs->erased)
        add_finding(check, 9, no_place, "the count of erased segments is wrong");
    return status;
}

/* ---- I3: the chain of index units ---- */

/* The CRC of header and copies. */
static int check_unit_crc(struct check *check, uint32_t unit, const uint8_t *bytes, const struct fffs_header *header)
{
    struct fffs *fs = check->fs;
    uint32_t at = fffs_header_strides(&fs->shape), end = at + header->copies, crc = 0;
    uint32_t room = fs->config->scratch_bytes >> fs->shape.stride_shift;

    while (at < end) {
        uint32_t part = fffs_min(room, end - at);
        int status = fffs_io_read(fs, fffs_stride_address(&fs->shape, unit, at), fs->config->scratch,
                                  part << fs->shape.stride_shift);

        if (status != FFFS_OK)
            return status;
        crc = fffs_crc32(crc, fs->config->scratch, part << fs->shape.stride_shift);
        at += part;
    }
    if (fffs_header_crc(crc, bytes) != header->crc)
        add_finding(check, 3, fffs_unit_address(&fs->shape, unit), "the CRC of an index unit is wrong");
    return FFFS_OK;
}

/* The first start mark; a later mark does too: recovery proves a unit with one whose first a cut left unsure. */
static int check_marks(struct check *check, uint32_t unit, uint32_t first)
{
    struct fffs *fs = check->fs;
    uint32_t stride_bytes = (uint32_t)1 << fs->shape.stride_shift, i;
    uint8_t *bytes = (uint8_t *)fs->config->scratch;

    for (i = 0; i < FFFS_MARKS; i++) {
        uint32_t address = fffs_stride_address(&fs->shape, unit, first + i);
        struct fffs_record mark;
        int status = fffs_io_read(fs, address, bytes, stride_bytes);

        if (status != FFFS_OK)
            return status;
        if (fffs_io_decode(fs, address, bytes, &mark) == FFFS_STRIDE_VALID &&
            fffs_is_mark(&mark, i == FFFS_START_SLOTS ? FFFS_CTL_SESSION : FFFS_CTL_START, first + i))
            return FFFS_OK;
    }
    add_finding(check, 3, fffs_stride_address(&fs->shape, unit, first), "an index unit has no valid start mark");
    return FFFS_OK;
}

/* What the header of chain link `link` tells about the chain. `above` is the serial of the next newer link. */
static void check_links(struct check *check, const struct fffs_header *header, uint32_t link, uint32_t above)
{
    const struct fffs_log *log = &check->fs->log;
    uint32_t address = fffs_unit_address(&check->fs->shape, log->chain[link]);

    if (header->unit != log->chain[link] || header->shape.format_id != check->fs->shape.format_id)
        add_finding(check, 3, address, "an index unit is not the one that the chain names");
    if (link + 1u == log->chain_length ? header->serial != log->serial : header->serial >= above)
        add_finding(check, 3, address, "the serials of the chain do not descend");
    if (link > 0 && header->previous != log->chain[link - 1u])
        add_finding(check, 3, address, "an index unit names another predecessor");
}

static int check_chain(struct check *check)
{
    struct fffs *fs = check->fs;
    uint32_t link, oldest = 0, above = 0;

    for (link = fs->log.chain_length; link-- > 0;) {
        uint32_t unit = fs->log.chain[link];
        uint8_t bytes[FFFS_HDR_BYTES];
        struct fffs_header header;
        int status = fffs_io_read(fs, fffs_unit_address(&fs->shape, unit), bytes, sizeof bytes);

        if (status == FFFS_OK && fffs_header_decode(bytes, &header) != FFFS_OK)
            status = FFFS_ERR_CORRUPT;
        status = note_damage(check, status, 3, fffs_unit_address(&fs->shape, unit), "an index unit has no header");
        if (status != FFFS_OK)
            return status < 0 ? status : FFFS_OK;
        check_links(check, &header, link, above);
        above = header.serial;
        if (link + 1u == fs->log.chain_length)
            oldest = header.oldest;
        status = check_unit_crc(check, unit, bytes, &header);
        if (status == FFFS_OK)
            status = check_marks(check, unit, fffs_header_strides(&fs->shape) + header.copies);
        if (status != FFFS_OK)
            return status;
    }
    if (above != oldest)
        add_finding(check, 3, no_place, "the chain ends at another unit than its newest tells");
    return FFFS_OK;
}

/* ---- I4: the records of the log ---- */

/* An open transaction of the walk. */
struct transaction {
    uint32_t left;              /* records to come */
    uint32_t begin;             /* stride index of its begin, 0 none is open */
    uint8_t link;
};

static void check_control(struct check *check, const struct fffs_scan *scan, const struct fffs_record *record,
                          struct transaction *txn)
{
    const struct fffs *fs = check->fs;
    uint32_t at = scan->at - 1u, payload = fffs_control_payload(record);
    uint32_t address = fffs_stride_address(&fs->shape, fs->log.chain[scan->link], at);

    switch (fffs_control_type(record)) {
    case FFFS_CTL_START:
    case FFFS_CTL_SESSION:
    case FFFS_CTL_CLEAN:
        if (payload != at)
            add_finding(check, 4, address, "a mark was made for another place");
        break;
    case FFFS_CTL_BEGIN:
        if (txn->begin != 0)
            add_finding(check, 4, address, "a transaction begins in another");
        txn->begin = at;
        txn->left = payload & 0xFFFFu;
        txn->link = scan->link;
        break;
    case FFFS_CTL_COMMIT:
        if (txn->begin != (payload & 0xFFFFu) || txn->left != 0 || txn->link != scan->link)
            add_finding(check, 4, address, "a commit does not fit its transaction");
        txn->begin = 0;
        break;
    default:
        break;
    }
}

static void check_log_record(struct check *check, const struct fffs_scan *scan, const struct fffs_record *record,
                             struct transaction *txn)
{
    const struct fffs *fs = check->fs;
    uint32_t address = fffs_stride_address(&fs->shape, fs->log.chain[scan->link], scan->at - 1u);

    if (record->head == FFFS_HEAD_CONTROL) {
        check_control(check, scan, record, txn);
        return;
    }
    if ((record->kind & FFFS_KIND_TXN) == 0) {
        if (txn->begin != 0)
            add_finding(check, 4, address, "a record stands in a transaction that it does not belong to");
        return;
    }
    if (txn->begin == 0 || txn->left == 0)
        add_finding(check, 4, address, "a transaction's record stands outside of it");
    else
        txn->left--;
}

/* Whether records of a link stand behind a session mark: its slot is the stride behind the start marks. */
static int check_session(struct check *check, uint32_t link, uint32_t copies_end)
{
    struct fffs *fs = check->fs;
    uint32_t at = copies_end + FFFS_START_SLOTS, stride_bytes = (uint32_t)1 << fs->shape.stride_shift;
    uint32_t address = fffs_stride_address(&fs->shape, fs->log.chain[link], at);
    uint8_t bytes[256]; /* the largest stride */
    struct fffs_record mark;
    int status = fffs_io_read(fs, address, bytes, stride_bytes);

    if (status == FFFS_OK && (fffs_io_decode(fs, address, bytes, &mark) != FFFS_STRIDE_VALID ||
                              !fffs_is_mark(&mark, FFFS_CTL_SESSION, at)))
        status = FFFS_ERR_CORRUPT;
    status = note_damage(check, status, 4, address, "records stand behind no session mark");
    return status < 0 ? status : FFFS_OK;
}

/* 1: the log can not be walked to its end. */
static int check_log(struct check *check)
{
    struct fffs *fs = check->fs;
    struct transaction txn = {0, 0, 0};
    struct fffs_scan scan;
    struct fffs_record record;
    uint32_t proven = FFFS_UNIT_NONE;
    int status;

    fffs_scan_begin(fs, &scan, 0, fs->log.chain_length, 0);
    while ((status = fffs_scan_next(fs, &scan, &record)) == 1) {
        check_log_record(check, &scan, &record, &txn);
        if (scan.at > scan.copies_end && proven != scan.link) {
            proven = scan.link;
            status = check_session(check, scan.link, scan.copies_end);
            if (status != FFFS_OK)
                return status;
        }
    }
    status = note_damage(check, status, 4, fffs_stride_address(&fs->shape, fs->log.chain[scan.link], scan.at),
                         "the log holds a damaged record");
    if (status == FFFS_OK && txn.begin != 0)
        add_finding(check, 4, fffs_stride_address(&fs->shape, fs->log.chain[txn.link], txn.begin),
                    "a transaction that applies has no commit");
    return status;
}

/* ---- I1: what a current record leads to ---- */

static int in_data_area(const struct fffs *fs, uint32_t address, uint32_t bytes)
{
    uint32_t first = (uint32_t)fs->shape.first_sector << fs->shape.sector_shift, size = fffs_volume_bytes(&fs->shape);
    return address >= first && bytes <= size && address <= size - bytes;
}

/* Extents follow each other and end with the file. */
static int check_extents(struct check *check, const struct fffs_node *node)
{
    struct fffs *fs = check->fs;
    struct fffs_piece piece;
    uint8_t field[4];
    uint32_t at, i, address, bytes;
    int status = FFFS_OK;

    for (at = 0; at < node->size && status == FFFS_OK; at = piece.end) {
        status = fffs_extent_find(fs, node, at, &piece);
        if (status == FFFS_OK && piece.start != at)
            status = FFFS_ERR_CORRUPT;
    }
    if (status == FFFS_OK && node->extents > 0)
        status = fffs_node_read(fs, node, fffs_node_extents_from_end(node) - (node->extents - 1u) * FFFS_EXTENT_BYTES -
                                FFFS_EXTENT_END, field, 4);
    if (status == FFFS_OK && node->extents > 0 && fffs_get32(field) != node->size)
        status = FFFS_ERR_CORRUPT;
    for (i = 0; i < node->tables && status == FFFS_OK; i++) {
        status = fffs_table_place(fs, node, i, &address, &bytes);
        if (status == FFFS_OK && !in_data_area(fs, address, bytes))
            status = FFFS_ERR_CORRUPT;
    }
    return note_damage(check, status, 1, node->end - node->bytes, "a file's extents do not cover it");
}

static int check_node(struct check *check, const struct fffs_node *node)
{
    const struct fffs *fs = check->fs;
    uint32_t start = node->end - node->bytes, run = node->end - fffs_node_run(node);

    if (!in_data_area(fs, run, node->end - run)) {
        add_finding(check, 1, start, "a file lies outside the data area");
        return 1;
    }
    if (fffs_segment_of(fs, start) != fffs_segment_of(fs, node->end - 1u))
        add_finding(check, 1, start, "a node crosses a segment");
    return check_extents(check, node);
}

/* ---- I8: names and slots ---- */

static int check_found(struct check *check, const struct fffs_record *record, const struct fffs_name *name)
{
    uint8_t window[FFFS_NODE_WINDOW];
    struct fffs_found found;
    uint32_t end = fffs_record_end(&check->fs->shape, record);
    int status = fffs_lookup(check->fs, name, &found, window, sizeof window, 0);

    if (status == FFFS_ERR_CORRUPT)
        return FFFS_OK; /* another file's node, which is a finding of its own */
    if (status < 0)
        return status;
    if (status == 0)
        add_finding(check, 8, end, "a name is not found");
    else if (found.record.slot != record->slot)
        add_finding(check, 8, end, "a name stands twice");
    return FFFS_OK;
}

static int check_name(struct check *check, const struct fffs_record *record, uint32_t length)
{
    const struct fffs *fs = check->fs;
    uint32_t end = fffs_record_end(&fs->shape, record), distance;
    struct fffs_name name;

    if (length > FFFS_NAME_MAX)
        return FFFS_OK; /* no call of this library can reach it */
    if (fffs_name_set(fs, &name, check->finding.name) != FFFS_OK || name.length != length) {
        add_finding(check, 8, end, "a name holds a NUL or can not be one of this volume");
        return FFFS_OK;
    }
    distance = (uint16_t)(record->slot - name.slot);
    if (distance >= fs->shape.probes)
        add_finding(check, 8, end, "a file stands outside its name's probe window");
    else if (record->tag != fffs_name_tag(&name, distance))
        add_finding(check, 8, end, "a record's tag is not its name's");
    else
        return check_found(check, record, &name);
    return FFFS_OK;
}

/* ---- I5: no byte belongs to two files ---- */

/* Compares addresses low .. high - 1 of a file with the files of all higher slots. 1: shared. */
static int is_shared(struct fffs *fs, uint16_t slot, uint32_t low, uint32_t high)
{
    struct fffs_batch batch;
    uint32_t from = slot + 1u, i;

    batch.base = 0;
    batch.low = low;
    batch.high = high;
    while (from < FFFS_SLOTS_END && low < high) {
        int status = fffs_index_collect(fs, &batch, from, FFFS_SLOTS_END);

        if (status != FFFS_OK)
            return status;
        for (i = 0; i < batch.count; i++) {
            status = fffs_record_uses(fs, &batch.records[i], low, high);
            if (status != 0 && status != FFFS_ERR_CORRUPT)
                return status;
        }
        from = batch.next;
    }
    return 0;
}

/* The parts of a file that lists its extents. */
static int parts_are_shared(struct fffs *fs, const struct fffs_node *node)
{
    struct fffs_piece piece;
    uint32_t i, address, bytes;
    int status = 0;

    for (piece.end = 0; piece.end < node->size && status == 0;) {
        status = fffs_extent_find(fs, node, piece.end, &piece);
        if (status == FFFS_OK)
            status = is_shared(fs, node->slot, piece.address, piece.address + (piece.end - piece.start));
    }
    for (i = 0; i < node->tables && status == 0; i++) {
        status = fffs_table_place(fs, node, i, &address, &bytes);
        if (status == FFFS_OK)
            status = is_shared(fs, node->slot, address, address + bytes);
    }
    return status;
}

static int check_sharing(struct check *check, const struct fffs_node *node)
{
    struct fffs *fs = check->fs;
    uint32_t low = node->end - node->bytes;
    int status;

    if ((node->flags & FFFS_NODE_MULTI) == 0)
        low = fffs_node_data_address(node);
    status = is_shared(fs, node->slot, low, node->end);
    if (status == 0 && (node->flags & FFFS_NODE_MULTI) != 0)
        status = parts_are_shared(fs, node);
    if (status == 1)
        add_finding(check, 5, low, "two files share flash");
    return status == FFFS_ERR_IO ? status : FFFS_OK;
}

/* ---- Files ---- */

static int take_name(struct check *check, const struct fffs_node *node)
{
    uint32_t length = fffs_min(node->name_length, FFFS_NAME_MAX);

    check->finding.name[length] = '\0';
    return fffs_node_read(check->fs, node, fffs_node_name_from_end(node), check->finding.name, length);
}

static int check_file(struct check *check, const struct fffs_record *record)
{
    uint8_t window[WINDOW];
    struct fffs_node node;
    uint32_t end = fffs_record_end(&check->fs->shape, record);
    int status = fffs_node_load(check->fs, record, &node, window, sizeof window);

    if (status == FFFS_OK)
        status = take_name(check, &node);
    status = note_damage(check, status, 1, end, "a record leads to no valid node");
    if (status == FFFS_OK)
        status = check_node(check, &node);
    if (status != FFFS_OK) {
        check->unreadable++;
        return status < 0 ? status : FFFS_OK;
    }
    status = check_name(check, record, node.name_length);
    return status == FFFS_OK ? check_sharing(check, &node) : status;
}

static int check_files(struct check *check)
{
    struct fffs *fs = check->fs;
    struct fffs_batch batch;
    uint32_t from = 0, i;

    batch.base = 0;
    batch.low = batch.high = 0;
    while (from < FFFS_SLOTS_END) {
        int status = fffs_index_collect(fs, &batch, from, FFFS_SLOTS_END);

        for (i = 0; i < batch.count && status == FFFS_OK; i++) {
            check->finding.name[0] = '\0';
            status = check_file(check, &batch.records[i]);
            check->files++;
        }
        check->finding.name[0] = '\0';
        if (status != FFFS_OK)
            return status;
        fffs_io_progress(fs, batch.next, FFFS_SLOTS_END);
        from = batch.next;
    }
    return FFFS_OK;
}

/* ---- I9: weights and budget ---- */

/* What the records weigh in some segments, without the table's saturation. */
struct sums {
    uint32_t units[SUMS];
    uint32_t first;             /* segment of units[0] */
    uint32_t used;              /* bytes in all segments */
};

static uint8_t weight_shift(const struct fffs *fs)
{
    uint8_t shift = (uint8_t)(fs->shape.segment_shift + fs->shape.sector_shift);
    return (uint8_t)(shift > 13u ? shift - 13u : 0u);
}

static void sum_run(const struct fffs *fs, struct sums *sums, uint32_t address, uint32_t end)
{
    uint32_t i, round = ((uint32_t)1 << weight_shift(fs)) - 1u;

    for (i = 0; i < SUMS && sums->first + i < fs->shape.segments; i++) {
        uint32_t low = fffs_segment_low(fs, sums->first + i), high = fffs_segment_high(fs, sums->first + i);

        if (address > low)
            low = address;
        high = fffs_min(high, end);
        if (low < high)
            sums->units[i] += (high - low + round) >> weight_shift(fs);
    }
}

static void sum_part(const struct fffs *fs, struct sums *sums, uint32_t address, uint32_t bytes)
{
    sums->used += bytes;
    sum_run(fs, sums, address, address + bytes);
}

static int sum_parts(struct fffs *fs, struct sums *sums, const struct fffs_record *record)
{
    uint8_t window[FFFS_NODE_WINDOW];
    struct fffs_node node;
    struct fffs_piece piece;
    uint32_t i, address, bytes;
    int status = fffs_node_load(fs, record, &node, window, sizeof window);

    for (piece.end = 0; status == FFFS_OK && piece.end < node.size;) {
        status = fffs_extent_find(fs, &node, piece.end, &piece);
        if (status == FFFS_OK)
            sum_part(fs, sums, piece.address, fffs_piece_bytes(fs, &node, &piece));
    }
    for (i = 0; status == FFFS_OK && i < node.tables; i++) {
        status = fffs_table_place(fs, &node, i, &address, &bytes);
        if (status == FFFS_OK)
            sum_part(fs, sums, address, bytes);
    }
    return status;
}

static int sum_records(struct fffs *fs, struct sums *sums)
{
    struct fffs_batch batch;
    uint32_t from = 0, i;
    int status = FFFS_OK;

    batch.base = 0;
    batch.low = batch.high = 0;
    for (; from < FFFS_SLOTS_END && status == FFFS_OK; from = batch.next) {
        status = fffs_index_collect(fs, &batch, from, FFFS_SLOTS_END);
        for (i = 0; i < batch.count && status == FFFS_OK; i++) {
            const struct fffs_record *record = &batch.records[i];
            uint32_t end = fffs_record_end(&fs->shape, record), begin = fffs_segments_run_begin(fs, record);

            sums->used += fffs_min(fffs_record_footprint(&fs->shape, record), end);
            sum_run(fs, sums, begin, end);
            if ((record->kind & FFFS_KIND_MULTI) != 0)
                status = sum_parts(fs, sums, record);
        }
    }
    return status;
}

/* A segment that weighed nothing but held bytes of a reader in place was given a weight of 1, which it keeps; one that
 * collection gave up is heavier than any that is full. */
static void check_weight(struct check *check, uint32_t segment, uint32_t sum)
{
    const struct fffs *fs = check->fs;
    uint32_t weight = fffs_segment_weight(fs, segment);

    if (weight > sum + 1u && weight < FFFS_SEGMENT_WEIGHT / 2u)
        add_finding(check, 9, fffs_segment_low(fs, segment), "a segment weighs more than its files");
    if (weight < sum)
        add_finding(check, 9, fffs_segment_low(fs, segment), "a segment weighs less than its files");
}

/* Not when a node is unreadable: then nobody knows what its file weighs. */
static int check_weights(struct check *check)
{
    struct fffs *fs = check->fs;
    struct sums sums;
    uint32_t i;

    if ((fs->state & FFFS_STATE_WEIGHED) == 0 || check->unreadable > 0)
        return FFFS_OK;
    for (sums.first = 0; sums.first < fs->shape.segments; sums.first += SUMS) {
        int status;

        memset(sums.units, 0, sizeof sums.units);
        sums.used = 0;
        status = sum_records(fs, &sums);
        if (status != FFFS_OK)
            return status;
        for (i = 0; i < SUMS && sums.first + i < fs->shape.segments; i++)
            check_weight(check, sums.first + i, sums.units[i]);
    }
    if (sums.used != fs->used)
        add_finding(check, 9, no_place, "the bytes in use are counted wrong");
    return FFFS_OK;
}

/* ---- I9: cache and log ---- */

static int same_record(const struct fffs_record *a, const struct fffs_record *b)
{
    return a->slot == b->slot && a->head == b->head && a->off == b->off && a->len == b->len && a->tag == b->tag &&
           ((a->kind ^ b->kind) & FFFS_KIND_MULTI) == 0;
}

static int check_cache(struct check *check)
{
    struct fffs *fs = check->fs;
    struct fffs by_log = *fs; /* the same volume, as it looks without a cache */
    struct fffs_batch batch;
    uint32_t from = 0, cached = 0, i;

    if ((fs->state & FFFS_STATE_CACHED) == 0)
        return FFFS_OK;
    by_log.state &= (uint8_t)~FFFS_STATE_CACHED;
    batch.base = 0;
    batch.low = batch.high = 0;
    for (; from < FFFS_SLOTS_END; from = batch.next) {
        int status = fffs_index_collect(&by_log, &batch, from, FFFS_SLOTS_END);

        if (status != FFFS_OK)
            return status;
        for (i = 0; i < batch.count; i++) {
            const struct fffs_record *entry = fffs_cache_find(fs, batch.records[i].slot);
            uint32_t end = fffs_record_end(&fs->shape, &batch.records[i]);

            cached += entry != NULL;
            if (entry == NULL ? (fs->state & FFFS_STATE_PARTIAL) == 0 : !same_record(entry, &batch.records[i]))
                add_finding(check, 9, end, "the index cache differs from the log");
        }
    }
    if (cached != fs->cache_used)
        add_finding(check, 9, no_place, "the index cache holds records that the log does not");
    return FFFS_OK;
}

/* ---- All ---- */

static int check_records(struct check *check)
{
    int status = check_files(check);

    if (status == FFFS_OK)
        status = check_weights(check);
    if (status == FFFS_OK)
        status = check_cache(check);
    if (status == FFFS_OK && (check->fs->state & FFFS_STATE_WEIGHED) != 0 && check->files != check->fs->files_live)
        add_finding(check, 9, no_place, "the count of files is wrong");
    return status;
}

int fffs_check_volume(struct fffs *fs, void (*report)(void *context, const struct fffs_finding *finding),
                      void *context)
{
    struct check check;
    int status;

    memset(&check, 0, sizeof check);
    check.fs = fs;
    check.report = report;
    check.context = context;
    status = check_chain(&check);
    if (status == FFFS_OK)
        status = check_erased(&check);
    if (status == FFFS_OK)
        status = check_log(&check);
    /* Without a log that can be walked nobody knows which records are current. */
    if (status == FFFS_OK) {
        status = check_records(&check);
        status = note_damage(&check, status, 4, no_place, "the log can not be walked");
    }
    return status < 0 ? status : check.findings;
}

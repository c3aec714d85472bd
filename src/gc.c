/* Garbage collection. Owns struct fffs_gc.
 *
 * A victim is emptied file by file in slot order: its bytes in the victim are copied to the moved append point and a node
 * with the changed extents is written behind them. The moves are committed in one transaction, so that a cut leaves either
 * all of them or none (I6); the records are made at the commit by walking the new nodes backwards, each only if its file
 * is still the version that was copied. The emptied segment is then dead: it is erased when it is opened, or by a step.
 * Loops are bounded: by the slots, by the items of a transaction, and in fffs_gc_make_room() by the segments. */
#include "gc.h"

#include <string.h>
#include "bytes.h"
#include "commit.h"
#include "extents.h"
#include "flash_io.h"
#include "handles.h"
#include "index_log.h"
#include "segments.h"

/* Internal results of moving: commit what was moved before going on; or begin the victim again. */
enum { COMMIT_FIRST = 2, BEGIN_AGAIN };

/* What the nodes of files may take that lie in the victim in part only. */
enum { NODES_BYTES = 192 };

/* Room that must stay beyond a victim that is levelled: it gains nothing, so that its moves must never end in want. */
enum { LEVEL_ROOM = 512 };

/* After so many victims in a row that gained next to nothing collection waits for a change from outside: where nodes do not fit
 * the ends of small segments it would go round for ever. */
enum { STUCK = 8 };

/* Pacing of a levelled victim: 2 bytes for each one written, so that half a segment of writes is enough for it. */
enum { LEVEL_RATE = 32 };

/* Pacing stops after about this long in one call of the application: what is left stays owed. */
enum { PACE_US = 25000 };

/* ---- Costs ---- */

uint32_t fffs_gc_erase_us(const struct fffs *fs, uint32_t bytes)
{
    const struct fffs_flash *flash = fs->config->flash;
    uint32_t i, us = 0;

    for (i = 0; i < FFFS_FLASH_ERASE_SIZES && flash->erase_bytes[i] != 0 && flash->erase_bytes[i] <= bytes; i++) {
        uint32_t one = flash->erase_us[i] != 0 ? flash->erase_us[i] : 45000u;

        us = one * (bytes / flash->erase_bytes[i]);
    }
    return us;
}

uint32_t fffs_gc_copy_us(const struct fffs *fs, uint32_t bytes)
{
    const struct fffs_flash *flash = fs->config->flash;
    uint32_t call = (uint32_t)flash->program_call_us + flash->read_call_us;
    uint32_t byte_ns = (uint32_t)flash->program_byte_ns + flash->read_byte_ns;

    return (call != 0 ? call : 500u) + (byte_ns != 0 ? byte_ns : 4000u) * (bytes / 64u) / 16u;
}

/* ---- Choice ---- */

/* 64ths of a segment that are live. */
static uint32_t fill_of(const struct fffs *fs, uint32_t segment)
{
    uint8_t total_shift = (uint8_t)(fs->shape.segment_shift + fs->shape.sector_shift);
    uint8_t unit_shift = (uint8_t)(total_shift > 13u ? total_shift - 13u : 0u);
    uint32_t bytes = fffs_segment_high(fs, segment) - fffs_segment_low(fs, segment);

    return ((fffs_segment_weight(fs, segment) << unit_shift) + (bytes / 64u) - 1u) / (bytes / 64u);
}

static int can_be_victim(const struct fffs *fs, uint32_t segment)
{
    uint16_t entry = fs->config->segment_table[segment];

    return entry != 0 && entry < FFFS_SEGMENT_WEIGHT && segment != fs->user.segment && segment != fs->moved.segment;
}

static uint32_t live_bytes(const struct fffs *fs, uint32_t segment)
{
    uint32_t bytes = fffs_segment_high(fs, segment) - fffs_segment_low(fs, segment);

    return fffs_min(fill_of(fs, segment), 64u) * (bytes / 64u);
}

/* Bytes that the moves could take. Where no segment of full size is free they must do with the open one: spread over
 * short ones too they could end in none being free for good. */
static uint32_t room_for_moves(const struct fffs *fs)
{
    uint32_t room = fffs_point_room(fs, &fs->moved);

    return fffs_segments_free(fs) == 0 ? room : room + fffs_segments_room(fs);
}

/* Bytes that the moves of a victim take at most: it is begun only when they are there. */
static uint32_t need_of(const struct fffs *fs, uint32_t victim)
{
    return live_bytes(fs, victim) + fffs_segment_bytes(fs) / 32u + fffs_min(fffs_segment_bytes(fs) / 8u, NODES_BYTES);
}

/* Bytes that the moves may still take beyond what lives in the victim; none when that may not find room at all. */
static uint32_t room_beyond(const struct fffs *fs, uint32_t victim)
{
    uint32_t room = room_for_moves(fs), need = need_of(fs, victim);

    return room > need ? room - need : 0;
}

/* Bytes that the collection of a segment gains; 0 when it is none to choose: it is open, fuller than `limit` 64ths, or can not be
 * emptied to the end and would use up the spare for nothing. A short one brings no spare: it may not use up the last. */
static uint32_t gain_of(const struct fffs *fs, uint32_t segment, uint32_t limit, uint32_t room, uint32_t room_of_short)
{
    uint32_t bytes = fffs_segment_high(fs, segment) - fffs_segment_low(fs, segment), fill;

    if (!can_be_victim(fs, segment))
        return 0;
    fill = fill_of(fs, segment);
    if (fill > limit || need_of(fs, segment) >= (bytes < fffs_segment_bytes(fs) ? room_of_short : room))
        return 0;
    return (64u - fill) * (bytes / 64u);
}

/* The closed segment whose collection gains most behind `skip` others; 0xFFFF when there is none. */
static uint32_t least_filled(const struct fffs *fs, uint32_t limit, uint32_t skip)
{
    uint32_t room = room_for_moves(fs), best = FFFS_NONE16, most = UINT32_MAX, last = FFFS_NONE16, i;
    uint32_t room_of_short = fffs_segments_free(fs) < 2u ? fffs_point_room(fs, &fs->moved) : room;

    do {
        uint32_t best_gain = 0;

        best = FFFS_NONE16;
        for (i = 0; i < fs->shape.segments; i++) {
            uint32_t gain = gain_of(fs, i, limit, room, room_of_short);

            if (gain > best_gain && (gain < most || (gain == most && i > last))) {
                best_gain = gain;
                best = i;
            }
        }
        most = best_gain;
        last = best;
    } while (skip-- > 0 && best != FFFS_NONE16);
    return best;
}

/* Static wear levelling: after every n-th erase the next segment in ring order is emptied whatever it holds, also when that
 * gains nothing. Counted in erases, not in victims: where files die in whole segments there are no victims. */
static int level_due(const struct fffs *fs)
{
    uint32_t every = fs->config->level_every != 0 ? fs->config->level_every : 64u;

    return (fs->flags & FFFS_MOUNT_NO_LEVELLING) == 0 && fs->gc.victims >= fffs_min(every, 255u) &&
           fffs_segments_free(fs) >= 2u;
}

static uint32_t next_to_level(const struct fffs *fs)
{
    uint32_t i;

    for (i = 0; i < fs->shape.segments; i++) {
        uint32_t segment = (fs->gc.level + i) % fs->shape.segments;

        if (can_be_victim(fs, segment) && room_beyond(fs, segment) > LEVEL_ROOM + fffs_segment_bytes(fs) / 8u)
            return segment;
    }
    return FFFS_NONE16;
}

/* Bytes of the victim to move for 16 bytes written: twice its live bytes for each byte that it gains. */
static uint32_t rate_of(const struct fffs *fs, uint32_t victim)
{
    uint32_t live = live_bytes(fs, victim);
    uint32_t gain = fffs_segment_high(fs, victim) - fffs_segment_low(fs, victim);

    gain = live < gain - gain / 16u ? gain - live : gain / 16u;
    return 32u * live / gain + 1u;
}

/* 15/16 of a segment where a write waits, or was refused; 3/4 to collect ahead. */
static uint32_t fill_limit(const struct fffs *fs, enum fffs_gc_mode mode)
{
    return mode == FFFS_GC_PRESSURE || fs->gc.wanted != 0 ? 60u : 48u;
}

/* The victim to choose next, 0xFFFF none. Where one gained nothing its moves are the least filled again: another one then. */
static uint32_t find_victim(const struct fffs *fs, enum fffs_gc_mode mode)
{
    uint32_t limit = fill_limit(fs, mode), victim = FFFS_NONE16;

    if (fs->gc.stuck < STUCK)
        victim = least_filled(fs, limit, fs->gc.stuck);
    if (victim == FFFS_NONE16 && fs->gc.stuck > 0 && fs->gc.stuck < STUCK)
        victim = least_filled(fs, limit, 0);
    return victim;
}

/* Whether all that stands in the point's segment is dead, as after moves that were never committed. */
static int holds_nothing(const struct fffs *fs, const struct fffs_point *point)
{
    return point->segment != FFFS_NONE16 && fs->config->segment_table[point->segment] == 0 &&
           point->next > fffs_segment_low(fs, point->segment);
}

/* When no victim can be emptied: an open segment that holds nothing is as good as one, for an erase. 1: it was closed. */
static int close_for_nothing(struct fffs *fs)
{
    struct fffs_point *point = holds_nothing(fs, &fs->moved) ? &fs->moved : &fs->user;

    if (!holds_nothing(fs, point))
        return 0;
    fffs_point_close(point);
    return 1;
}

static int can_make_room(const struct fffs *fs, enum fffs_gc_mode mode)
{
    return find_victim(fs, mode) != FFFS_NONE16 || holds_nothing(fs, &fs->moved) || holds_nothing(fs, &fs->user);
}

/* Bytes that appends could take, in 256ths of a sector. */
static uint16_t free_room(const struct fffs *fs)
{
    uint32_t room = (fffs_point_room(fs, &fs->moved) + fffs_segments_room(fs)) >> (fs->shape.sector_shift - 8u);

    return (uint16_t)fffs_min(room, FFFS_NONE16);
}

static void start_victim(struct fffs *fs, uint32_t victim, uint32_t rate)
{
    if (rate != 0 && (fs->gc.stuck == 0 || free_room(fs) > fs->gc.room))
        fs->gc.room = free_room(fs); /* the most there ever was: what only goes round does not exceed it */
    fs->gc.victim = (uint16_t)victim;
    fs->gc.rate = (uint16_t)rate;
    fs->gc.cursor = 0;
    fs->gc.items = 0;
    fs->gc.file.head = 0;
}

static int choose_victim(struct fffs *fs, enum fffs_gc_mode mode)
{
    uint32_t victim = find_victim(fs, mode);

    if (victim == FFFS_NONE16)
        return 0;
    start_victim(fs, victim, rate_of(fs, victim));
    return 1;
}

static void choose_level(struct fffs *fs)
{
    uint32_t victim = next_to_level(fs);

    fs->gc.victims = 0;
    if (victim == FFFS_NONE16)
        return;
    fs->gc.level = (uint16_t)((victim + 1u) % fs->shape.segments);
    start_victim(fs, victim, 0);
}

static void drop_victim(struct fffs *fs)
{
    fs->gc.victim = FFFS_NONE16;
    fs->gc.file.head = 0;
    fffs_segments_settle_pending(fs); /* what was copied of its last file is nothing now */
}

/* A victim that can not be emptied is left alone until the next mount. */
static void give_up_victim(struct fffs *fs)
{
    if (fs->gc.victim != FFFS_NONE16) /* a commit of its last moves may have let it go */
        fs->config->segment_table[fs->gc.victim] |= FFFS_SEGMENT_WEIGHT;
    drop_victim(fs);
}

/* ---- Moving one file ---- */

/* What of a file moves, in one slice. */
struct move {
    struct fffs_node node;      /* of the version being moved */
    uint8_t window[FFFS_NODE_WINDOW];
    uint32_t low, high;         /* the victim */
    uint32_t total;             /* bytes that move */
    int whole;                  /* all of the file moves */
};

/* The part of a piece inside the victim. */
static uint32_t clip(const struct move *move, const struct fffs_piece *piece, uint32_t *skip)
{
    uint32_t end = piece->address + (piece->end - piece->start);
    uint32_t from = piece->address < move->low ? move->low : piece->address;
    uint32_t to = end > move->high ? move->high : end;

    *skip = from < to ? from - piece->address : 0;
    return from < to ? to - from : 0;
}

static int measure_move(struct fffs *fs, struct move *move)
{
    struct fffs_piece piece;
    uint32_t skip, segment = fffs_segment_bytes(fs), along;

    move->total = 0;
    for (piece.end = 0; piece.end < move->node.size;) {
        int status = fffs_extent_find(fs, &move->node, piece.end, &piece);

        if (status != FFFS_OK)
            return status;
        move->total += clip(move, &piece, &skip);
    }
    /* What stays behind is short, and there is room: it moves along, so that files do not fall to pieces. Decided once. */
    along = move->node.size - move->total;
    if (fs->gc.moved_bytes == 0)
        fs->gc.whole = along == 0 || (along < segment / 4u && along < room_beyond(fs, fs->gc.victim) &&
                                      move->node.size + fffs_node_bound(fs, move->node.bytes) <= segment);
    move->whole = fs->gc.whole;
    if (move->whole)
        move->total = move->node.size;
    return FFFS_OK;
}

/* Where the moving byte number `at` stands now, and how many contiguous ones follow. */
static int find_source(struct fffs *fs, const struct move *move, uint32_t at, uint32_t *address, uint32_t *run)
{
    struct fffs_piece piece;
    uint32_t skip, seen = 0;
    int status;

    if (move->whole) {
        status = fffs_extent_find(fs, &move->node, at, &piece);
        *address = piece.address + (at - piece.start);
        *run = piece.end - at;
        return status;
    }
    for (piece.end = 0; piece.end < move->node.size; seen += *run) {
        status = fffs_extent_find(fs, &move->node, piece.end, &piece);
        if (status != FFFS_OK)
            return status;
        *run = clip(move, &piece, &skip);
        if (at - seen < *run) {
            *address = piece.address + skip + (at - seen);
            *run -= at - seen;
            return FFFS_OK;
        }
    }
    return fffs_corrupt();
}

static uint8_t *copy_buffer(const struct fffs *fs, uint32_t *bytes)
{
    const struct fffs_config *config = fs->config;
    uint32_t granule = (uint32_t)1 << fs->shape.granule_shift;

    if (!fs->buffer_taken && config->write_buffer != NULL && config->write_buffer_bytes > config->scratch_bytes) {
        *bytes = fffs_align_down(config->write_buffer_bytes, granule);
        return (uint8_t *)config->write_buffer;
    }
    *bytes = fffs_align_down(config->scratch_bytes, granule);
    return (uint8_t *)config->scratch;
}

/* Bytes to copy next: what is contiguous at both ends, a buffer at most, up to a page boundary where that is no extra
 * call, whole granules but at the end of the moving bytes. */
static uint32_t copy_size(const struct fffs *fs, uint32_t run, uint32_t left, uint32_t buffer)
{
    uint32_t size = fffs_min(fffs_min(run, buffer), fs->moved.limit - fs->moved.next);
    uint32_t past = (fs->moved.next + size) & 255u;

    if (size < left && size > 256u && past < size && run > size)
        size -= past;
    return size;
}

/* Room for the next bytes of the file in work. It lands in two places at most: the second has room for all the rest. */
static int reserve_copy(struct fffs *fs, const struct move *move)
{
    uint32_t granule = (uint32_t)1 << fs->shape.granule_shift, least = granule, room;

    if (fs->gc.moved_bytes > 0)
        least = fffs_min(move->total - fs->gc.moved_bytes, fffs_segment_bytes(fs));
    return fffs_point_reserve_on(fs, &fs->moved, granule, least, &room);
}

/* Copies one buffer of the file in work. Runs that end off a granule are padded out: only the last bytes of a put's run
 * can, and those move with the whole file. */
static int copy_some(struct fffs *fs, struct move *move)
{
    struct fffs_gc *gc = &fs->gc;
    uint32_t granule = (uint32_t)1 << fs->shape.granule_shift, address, run, buffer_bytes, size, padded;
    uint8_t *buffer = copy_buffer(fs, &buffer_bytes);
    int status = find_source(fs, move, gc->moved_bytes, &address, &run);

    if (status == FFFS_OK)
        status = reserve_copy(fs, move);
    if (status != FFFS_OK)
        return status;
    size = copy_size(fs, run, move->total - gc->moved_bytes, buffer_bytes);
    if (gc->moved_bytes == 0)
        gc->target[0] = fs->moved.next;
    else if (gc->split == gc->moved_bytes && fs->moved.next != gc->target[0] + gc->split)
        gc->target[1] = fs->moved.next;
    else if (gc->split < gc->moved_bytes && fs->moved.next != gc->target[1] + (gc->moved_bytes - gc->split))
        return FFFS_ERR_NO_SPACE; /* a third place */
    status = fffs_io_read(fs, address, buffer, size);
    padded = fffs_align_up(size, granule);
    memset(buffer + size, 0xFF, padded - size);
    if (status == FFFS_OK)
        status = fffs_io_program(fs, fs->moved.next, buffer, padded);
    if (status != FFFS_OK) {
        fffs_point_close(&fs->moved);
        return status;
    }
    if (gc->split == gc->moved_bytes && (gc->moved_bytes == 0 || fs->moved.next == gc->target[0] + gc->split))
        gc->split += size;
    gc->moved_bytes += size;
    fffs_point_advance(fs, &fs->moved, padded);
    return FFFS_OK;
}

/* Adds `bytes` moved bytes, of which `before` moved before them, to the new list of extents. */
static int add_moved(struct fffs *fs, struct fffs_builder *builder, uint32_t before, uint32_t bytes, uint32_t file_end)
{
    const struct fffs_gc *gc = &fs->gc;
    uint32_t first = before < gc->split ? fffs_min(bytes, gc->split - before) : 0;
    int status = FFFS_OK;

    if (first > 0)
        status = fffs_builder_add(fs, &fs->moved, builder, gc->target[0] + before, file_end - bytes + first);
    if (status == FFFS_OK && bytes > first)
        status = fffs_builder_add(fs, &fs->moved, builder, gc->target[1] + (before + first - gc->split), file_end);
    return status;
}

/* The extents after the move: of each old piece what stands before the victim, in it, and behind it. */
static int map_extents(struct fffs *fs, const struct move *move, struct fffs_builder *builder)
{
    struct fffs_piece piece;
    uint32_t moved = 0, skip;

    for (piece.end = 0; piece.end < move->node.size;) {
        uint32_t inside, length;
        int status = fffs_extent_find(fs, &move->node, piece.end, &piece);

        if (status != FFFS_OK)
            return status;
        length = piece.end - piece.start;
        inside = clip(move, &piece, &skip);
        if (inside == 0)
            skip = length;
        if (skip > 0)
            status = fffs_builder_add(fs, &fs->moved, builder, piece.address, piece.start + skip);
        if (status == FFFS_OK && inside > 0)
            status = add_moved(fs, builder, moved, inside, piece.start + skip + inside);
        if (status == FFFS_OK && skip + inside < length)
            status = fffs_builder_add(fs, &fs->moved, builder, piece.address + skip + inside, piece.end);
        if (status != FFFS_OK)
            return status;
        moved += inside;
    }
    return FFFS_OK;
}

/* Reads the rest of a wholly moving file into the scratch buffer when it and the node fit: they go out in one call. */
static int read_tail(struct fffs *fs, const struct move *move, struct fffs_node_plan *plan)
{
    uint8_t *scratch = (uint8_t *)fs->config->scratch;
    uint32_t left = move->node.size - fs->gc.moved_bytes, at = 0;

    plan->tail = scratch;
    plan->tail_room = fs->config->scratch_bytes;
    plan->tail_bytes = left;
    while (at < left) {
        uint32_t address, run;
        int status = find_source(fs, move, fs->gc.moved_bytes + at, &address, &run);

        run = fffs_min(run, left - at);
        if (status == FFFS_OK)
            status = fffs_io_read(fs, address, scratch + at, run);
        if (status != FFFS_OK)
            return status;
        at += run;
    }
    return FFFS_OK;
}

/* Whether what is left of a wholly moving file goes out together with its node. */
static int ends_with_node(const struct fffs *fs, const struct move *move)
{
    uint32_t granule = (uint32_t)1 << fs->shape.granule_shift;
    uint32_t left = move->total - fs->gc.moved_bytes;

    return move->whole && left > 0 && left + fffs_node_bound(fs, move->node.bytes) + 4u * FFFS_EXTENT_BYTES <=
                                          fffs_align_down(fs->config->scratch_bytes, granule);
}

/* Writes the new node: the file is moved, to be committed with the others. */
static int finish_file(struct fffs *fs, struct move *move, int with_tail)
{
    struct fffs_gc *gc = &fs->gc;
    struct fffs_builder builder;
    struct fffs_node_plan plan;
    struct fffs_record record;
    uint32_t room;
    int status = FFFS_OK;

    memset(&plan, 0, sizeof plan);
    fffs_builder_clear(&builder);
    if (!move->whole)
        status = map_extents(fs, move, &builder);
    else if (gc->moved_bytes > 0)
        status = add_moved(fs, &builder, 0, gc->moved_bytes, gc->moved_bytes);
    /* Room first: opening a segment walks the index, which uses the scratch buffer that the tail is read into. */
    if (status == FFFS_OK && with_tail)
        status = fffs_point_reserve(fs, &fs->moved, move->total - gc->moved_bytes + fffs_node_bound(fs, move->node.bytes),
                                    &room);
    if (status == FFFS_OK && with_tail)
        status = read_tail(fs, move, &plan);
    if (status != FFFS_OK)
        return status;
    plan.point = &fs->moved;
    plan.builder = &builder;
    plan.old = &move->node;
    plan.meta_bytes = fffs_node_extents_from_end(&move->node) - FFFS_NODE_TRAILER -
                      move->node.extents * (uint32_t)FFFS_EXTENT_BYTES;
    plan.size = move->node.size;
    plan.stamp = move->node.stamp;
    plan.slot = gc->file.slot;
    plan.tag = gc->file.tag;
    plan.name_length = move->node.name_length;
    plan.flags = move->node.flags & (FFFS_NODE_ATTRS | FFFS_NODE_DATA_CRC);
    status = fffs_node_write(fs, &plan, &record);
    if (status != FFFS_OK)
        return status;
    gc->last_end = fffs_record_end(&fs->shape, &record);
    if (gc->items == 0 && (gc->from < fffs_segment_low(fs, fffs_segment_of(fs, gc->last_end - 1u)) ||
                           gc->from >= gc->last_end))
        gc->from = fffs_segment_low(fs, fffs_segment_of(fs, gc->last_end - 1u));
    gc->items++;
    gc->cursor = (uint32_t)gc->file.slot + 1u;
    gc->file.head = 0;
    return FFFS_OK;
}

/* Takes the next current record that uses the victim as the file in work. 1, 0 none left, or an error. */
static int next_file(struct fffs *fs, const struct move *move)
{
    struct fffs_batch batch;
    uint32_t i;

    batch.base = 0;
    batch.low = move->low;
    batch.high = move->high;
    while (fs->gc.cursor < FFFS_SLOTS_END) {
        int status = fffs_index_collect(fs, &batch, fs->gc.cursor, FFFS_SLOTS_END);

        if (status != FFFS_OK)
            return status;
        for (i = 0; i < batch.count; i++) {
            status = fffs_record_uses(fs, &batch.records[i], move->low, move->high);
            if (status < 0)
                return status;
            fs->gc.cursor = batch.records[i].slot; /* this one again if it has to wait */
            if (status == 1) {
                fs->gc.file = batch.records[i];
                fs->gc.moved_bytes = fs->gc.split = 0;
                fs->gc.current = 1;
                return 1;
            }
        }
        fs->gc.cursor = batch.next;
    }
    return 0;
}

/* Whether the file in work is still the current version. */
static int still_current(struct fffs *fs)
{
    struct fffs_record now;
    int status;

    if (fs->gc.current)
        return 1;
    status = fffs_index_find(fs, fs->gc.file.slot, &now);
    if (status != 1)
        return status;
    now.kind &= FFFS_KIND_MULTI;
    fs->gc.current = memcmp(&now, &fs->gc.file, sizeof now) == 0;
    return fs->gc.current;
}

/* Begins a file: loads its node; what was moved is committed first when the file may not fit behind it. */
/* Whether a commit of a part of the victim could leave no way on: without a free segment a power cut takes the rest of the
 * open one (I2), and neither it nor the victim would be dead. Uncommitted, the open one is. */
static int strands(const struct fffs *fs)
{
    return fffs_segments_free(fs) == 0;
}

static int begin_file(struct fffs *fs, struct move *move)
{
    struct fffs_gc *gc = &fs->gc;
    uint32_t need, bound, limit = fffs_txn_limit(&fs->shape);
    int status = fffs_node_load(fs, &gc->file, &move->node, move->window, sizeof move->window);

    if (status == FFFS_OK)
        status = measure_move(fs, move);
    if (status != FFFS_OK || gc->moved_bytes > 0)
        return status;
    bound = fffs_node_bound(fs, move->node.bytes);
    need = move->total + ((uint32_t)1 << fs->shape.granule_shift) + bound +
           move->node.tables * (uint32_t)(2u * FFFS_TABLE_HEADER + FFFS_FILE_EXTENTS * 2u * FFFS_EXTENT_BYTES);
    if (!strands(fs)) /* some more: short ends are not worth a commit that may not get through */
        need += bound;
    if (gc->items > 0 && (fffs_point_room(fs, &fs->moved) < need || gc->items >= limit || fs->moved.items > limit)) {
        gc->file.head = 0; /* the cursor still points at it */
        /* A segment may hold one file more than a transaction takes: that commit has to be made all the same. */
        return strands(fs) && gc->items < limit ? FFFS_ERR_NO_SPACE : COMMIT_FIRST;
    }
    if (gc->items == 0)
        gc->from = fs->moved.segment == FFFS_NONE16 ? 0 : fs->moved.next;
    return FFFS_OK;
}

/* Goes on moving: at most one buffer of a file, or several small files up to one buffer. */
static int move_some(struct fffs *fs)
{
    struct fffs_gc *gc = &fs->gc;
    struct move move;
    uint32_t budget = fs->config->scratch_bytes;
    int status;

    move.low = fffs_segment_low(fs, gc->victim);
    move.high = fffs_segment_high(fs, gc->victim);
    for (;;) {
        if (gc->file.head != 0) {
            status = still_current(fs);
            if (status == 0) { /* deleted or replaced while it was copied: its copy is dead space */
                gc->file.head = 0;
                gc->cursor = (uint32_t)gc->file.slot + 1u;
                if (gc->items == 0)
                    return FFFS_OK;
                return strands(fs) ? BEGIN_AGAIN : COMMIT_FIRST; /* items follow one another without a gap */
            }
        } else {
            status = next_file(fs, &move);
            if (status == 0)
                return gc->items > 0 ? COMMIT_FIRST : FFFS_OK;
        }
        if (status < 0)
            return status;
        status = begin_file(fs, &move);
        if (status != FFFS_OK)
            return status;
        if (ends_with_node(fs, &move))
            status = finish_file(fs, &move, 1);
        else if (gc->moved_bytes < move.total)
            return copy_some(fs, &move);
        else
            status = finish_file(fs, &move, 0);
        if (status != FFFS_OK)
            return status;
        if (move.total >= budget)
            return FFFS_OK;
        budget -= move.total;
        if (gc->items >= FFFS_BATCH && gc->items % FFFS_BATCH == 0)
            return FFFS_OK;
    }
}

/* ---- Committing the moves ---- */

/* The address at which the item that ends with `node` begins: its pieces stand right before the node. */
static int item_start(struct fffs *fs, const struct fffs_node *node, uint32_t *start)
{
    struct fffs_piece piece;
    uint32_t i, address, bytes;

    *start = node->end - node->bytes;
    if ((node->flags & FFFS_NODE_MULTI) == 0) {
        *start = fffs_node_data_address(node);
        return FFFS_OK;
    }
    for (piece.end = 0; piece.end < node->size;) {
        int status = fffs_extent_find(fs, node, piece.end, &piece);

        if (status != FFFS_OK)
            return status;
        if (piece.address >= fs->gc.from && piece.address < *start)
            *start = piece.address;
    }
    for (i = 0; i < node->tables; i++) {
        int status = fffs_table_place(fs, node, i, &address, &bytes);

        if (status != FFFS_OK)
            return status;
        if (address >= fs->gc.from && address < *start)
            *start = address;
    }
    return FFFS_OK;
}

/* What is to be committed of a batch of items. */
struct item_batch {
    struct fffs_record records[FFFS_BATCH];
    struct fffs_record olds[FFFS_BATCH];    /* what they replace */
    uint32_t sizes[FFFS_BATCH], stamps[FFFS_BATCH];
    uint32_t count;
};

/* Takes an item into the batch: the record of the moved version. */
static void add_item(const struct fffs *fs, struct item_batch *batch, const struct fffs_node *node)
{
    struct fffs_record *record = &batch->records[batch->count];
    uint8_t unit_shift = (uint8_t)(fs->shape.sector_shift - 8u);

    record->slot = batch->olds[batch->count].slot = node->slot;
    record->head = (uint16_t)((node->end - 1u) >> fs->shape.sector_shift);
    record->off = (uint8_t)((node->end - 1u) >> unit_shift);
    record->len = fffs_footprint_encode((fffs_node_charge(node) + ((uint32_t)1 << unit_shift) - 1u) >> unit_shift);
    record->tag = 0;
    record->kind = (node->flags & FFFS_NODE_MULTI) != 0 ? FFFS_KIND_MULTI : 0;
    batch->sizes[batch->count] = node->size;
    batch->stamps[batch->count] = node->stamp;
    batch->count++;
}

/* Makes the record of item `i` its slot's present state again when the file is no longer the version that was copied. */
static int settle_item(struct fffs *fs, struct item_batch *batch, uint32_t i)
{
    uint8_t window[FFFS_NODE_WINDOW];
    struct fffs_node now;
    struct fffs_record *record = &batch->records[i], *old = &batch->olds[i];
    int status = FFFS_ERR_CORRUPT;

    if (old->head != 0)
        status = fffs_node_load(fs, old, &now, window, FFFS_NODE_WINDOW);
    if (status == FFFS_ERR_IO)
        return status;
    if (status != FFFS_OK || now.stamp != batch->stamps[i] || now.size != batch->sizes[i])
        *record = *old;
    record->tag = old->tag;
    record->kind |= FFFS_KIND_TXN;
    return FFFS_OK;
}

/* Appends the records of a batch and takes them into RAM once they are on flash. */
static int add_batch(struct fffs *fs, struct item_batch *batch)
{
    uint32_t i;
    int status = fffs_index_find_all(fs, batch->olds, batch->count);

    for (i = 0; i < batch->count && status == FFFS_OK; i++)
        status = settle_item(fs, batch, i);
    if (status == FFFS_OK)
        status = fffs_log_txn_add(fs, batch->records, batch->count);
    for (i = 0; i < batch->count && status == FFFS_OK; i++)
        fffs_commit_apply(fs, &batch->records[i], &batch->olds[i]);
    batch->count = 0;
    return status;
}

static int commit_items(struct fffs *fs)
{
    struct fffs_gc *gc = &fs->gc;
    struct item_batch batch;
    uint32_t end = gc->last_end, left, most = fffs_min(FFFS_BATCH, fffs_log_txn_room(fs));
    int status = fffs_log_txn_begin(fs, gc->items);

    batch.count = 0;
    for (left = gc->items; left > 0 && status == FFFS_OK; left--) {
        uint8_t window[FFFS_NODE_WINDOW];
        struct fffs_node node;
        uint32_t start = 0;

        status = fffs_node_load_at(fs, end, &node, window, sizeof window);
        if (status == FFFS_OK)
            status = item_start(fs, &node, &start);
        if (status != FFFS_OK)
            break;
        add_item(fs, &batch, &node);
        end = fffs_align_down(start, fffs_node_align(&fs->shape));
        if (batch.count == most || left == 1u)
            status = add_batch(fs, &batch);
    }
    if (status == FFFS_OK)
        status = fffs_log_txn_commit(fs);
    else if (fs->failed == 0)
        fs->failed = FFFS_ERR_REMOUNT; /* an open transaction can not be closed: recovery drops it */
    gc->items = 0;
    fffs_segments_settle_pending(fs);
    return status;
}

/* ---- Slices ---- */

/* What the victim brought, now that it is done with. */
static void count_gain(struct fffs *fs)
{
    if (fs->gc.rate == 0)
        return; /* levelled: nothing was expected */
    if (fs->gc.room == FFFS_NONE16 ||
        free_room(fs) > fs->gc.room + (8u << fs->shape.segment_shift)) /* 1/32 of a segment */
        fs->gc.stuck = 0;
    else
        fs->gc.stuck++;
}

/* After the last commit of a victim: its weight is 0 and it is dead, or it can not be emptied. */
static int finish_victim(struct fffs *fs)
{
    uint32_t victim = fs->gc.victim;
    int status = FFFS_OK;

    if (fffs_segment_weight(fs, victim) != 0) {
        status = fffs_segment_in_use(fs, victim);
        if (status == 0)
            fs->config->segment_table[victim] &= (uint16_t)~FFFS_SEGMENT_WEIGHT;
        else
            give_up_victim(fs);
    }
    fs->gc.victim = FFFS_NONE16;
    count_gain(fs);
    return status < 0 ? status : FFFS_GC_LOOKED;
}

static int commit_slice(struct fffs *fs)
{
    int status;

    if (fffs_log_room(fs) < fs->gc.items + 2u) {
        status = fffs_log_reserve(fs, fs->gc.items + 2u);
        return status == FFFS_OK ? FFFS_GC_ROTATED : status;
    }
    status = commit_items(fs);
    if (status != FFFS_OK)
        return status;
    if (fs->gc.victim != FFFS_NONE16 && fffs_segment_is_dead(fs, fs->gc.victim)) {
        drop_victim(fs); /* now, before a write that waits takes what it brought */
        count_gain(fs);
    }
    return FFFS_GC_COMMITTED;
}

/* Lets go of what was moved and not committed; the segment that it is in is as good as dead. */
static void begin_again(struct fffs *fs)
{
    fs->gc.items = 0;
    fs->gc.file.head = 0;
    fs->gc.cursor = 0;
    fffs_segments_settle_pending(fs);
    (void)close_for_nothing(fs);
}

static int victim_slice(struct fffs *fs)
{
    int status;

    /* Its last files may have been deleted meanwhile, and the segment opened again. */
    if (!can_be_victim(fs, fs->gc.victim)) {
        if (fs->gc.items > 0)
            return commit_slice(fs);
        drop_victim(fs);
        count_gain(fs);
        return FFFS_GC_LOOKED;
    }
    status = move_some(fs);
    if (status == FFFS_OK && fs->gc.cursor >= FFFS_SLOTS_END && fs->gc.file.head == 0 && fs->gc.items == 0)
        return finish_victim(fs);
    if (status == FFFS_OK)
        return FFFS_GC_MOVED;
    if (status == COMMIT_FIRST)
        return commit_slice(fs);
    if (status == BEGIN_AGAIN) {
        begin_again(fs);
        return FFFS_GC_LOOKED;
    }
    if (fs->gc.items > 0 && strands(fs))
        fs->gc.items = 0; /* dead copies */
    if (fs->gc.items > 0 && fs->failed == 0 && commit_slice(fs) == FFFS_GC_ROTATED && fs->failed == 0)
        (void)commit_slice(fs);
    if (status == FFFS_COLLECT || status == FFFS_ERR_NO_SPACE) {
        drop_victim(fs); /* nothing is wrong with it: another time */
        if (fs->gc.rate != 0) /* a levelled victim is only put off */
            fs->gc.stuck = STUCK;
        return FFFS_GC_LOOKED;
    }
    give_up_victim(fs);
    return status;
}

static uint32_t next_dead(const struct fffs *fs)
{
    uint32_t i;

    for (i = 0; i < fs->shape.segments; i++) {
        uint32_t segment = (fs->ring + i) % fs->shape.segments;

        if (fffs_segment_is_dead(fs, segment))
            return segment;
    }
    return FFFS_NONE16;
}

/* Whether the point, when its open segment is used up, would have to erase. The victim itself is left to its last commit. */
static int opens_dead(const struct fffs *fs, const struct fffs_point *point)
{
    uint32_t segment = fffs_point_next(fs, point);

    return segment != FFFS_NONE16 && segment != fs->gc.victim && fffs_segment_is_dead(fs, segment);
}

static int erase_slice(struct fffs *fs, uint32_t segment, uint32_t largest)
{
    uint32_t from = fffs_segment_erase_next(fs, segment), to;
    int status = FFFS_OK;

    if (from == fffs_segment_low(fs, segment))
        status = fffs_segment_in_use(fs, segment);
    if (status == 1)
        fs->config->segment_table[segment] |= 1u;
    if (status != FFFS_OK) {
        if (status == FFFS_ERR_CORRUPT)
            fs->config->segment_table[segment] |= FFFS_SEGMENT_WEIGHT;
        return status < 0 ? status : FFFS_GC_LOOKED;
    }
    to = fffs_segment_piece(fs, segment, from, largest != 0 ? largest : FFFS_NO_ADDRESS);
    status = fffs_segment_erase(fs, segment, from, to);
    return status == FFFS_OK ? FFFS_GC_ERASED : status;
}

/* Whether the next changes would soon have to rotate the index, which erases: better done now. */
static int rotation_is_near(const struct fffs *fs)
{
    uint32_t begin = fffs_header_strides(&fs->shape) + fs->log.copies + FFFS_MARKS;

    return (fs->log.state & FFFS_LOG_SESSION) != 0 && fffs_log_room(fs) < 8u && fs->log.end >= begin + 8u;
}

static uint32_t free_goal(const struct fffs *fs)
{
    return fs->gc.wanted > 2u ? fs->gc.wanted : 2u;
}

int fffs_gc_has_work(const struct fffs *fs)
{
    if (fs->failed != 0 || (fs->state & FFFS_STATE_WEIGHED) == 0)
        return 0;
    return fs->gc.victim != FFFS_NONE16 || rotation_is_near(fs) || next_dead(fs) != FFFS_NONE16 ||
           level_due(fs) || (fffs_segments_free(fs) < free_goal(fs) && can_make_room(fs, FFFS_GC_BACKGROUND));
}

int fffs_gc_slice(struct fffs *fs, enum fffs_gc_mode mode, uint32_t largest_erase)
{
    uint32_t dead;
    int status = fffs_segments_weigh(fs);

    if (status != FFFS_OK)
        return status;
    if (fs->failed != 0)
        return fs->failed;
    if (rotation_is_near(fs)) {
        status = fffs_log_reserve(fs, fffs_log_room(fs) + 1u);
        return status == FFFS_OK ? FFFS_GC_ROTATED : status;
    }
    dead = next_dead(fs);
    if (fs->gc.victim != FFFS_NONE16) {
        /* The segment that the moves go on in is erased in a slice of its own. */
        if (opens_dead(fs, &fs->moved) && fffs_point_room(fs, &fs->moved) < 2u * fs->config->scratch_bytes)
            return erase_slice(fs, fffs_point_next(fs, &fs->moved), largest_erase);
        status = fffs_log_begin_change(fs);
        return status == FFFS_OK ? victim_slice(fs) : status;
    }
    if (dead != FFFS_NONE16 && mode == FFFS_GC_BACKGROUND)
        return erase_slice(fs, dead, largest_erase);
    if (level_due(fs)) {
        choose_level(fs);
        return FFFS_GC_LOOKED;
    }
    /* The spare, begun for moves that were not committed, is wanted whole. */
    if (fffs_segments_free(fs) == 0 && close_for_nothing(fs))
        return FFFS_GC_LOOKED;
    if (fffs_segments_free(fs) >= free_goal(fs) || (!choose_victim(fs, mode) && !close_for_nothing(fs))) {
        fs->gc.wanted = 0;
        return FFFS_GC_IDLE;
    }
    return FFFS_GC_LOOKED;
}

int fffs_gc_make_room(struct fffs *fs, uint32_t segments)
{
    uint32_t turns = 0, most = 64u * (fs->shape.segments + 8u) * (fffs_segment_bytes(fs) / 64u + 16u);

    if ((fs->flags & FFFS_MOUNT_NO_INLINE_GC) != 0) {
        /* What is promised here is what background slices then do: until that many are free, under the same limit. */
        if (fs->gc.victim == FFFS_NONE16 && !can_make_room(fs, FFFS_GC_PRESSURE))
            return FFFS_ERR_NO_SPACE;
        fs->gc.wanted = (uint16_t)segments;
        return FFFS_ERR_COLLECT_FIRST;
    }
    while (fffs_segments_free(fs) < segments || fffs_segments_levelling(fs)) {
        int status = fffs_gc_slice(fs, FFFS_GC_PRESSURE, 0);

        if (status < 0)
            return status;
        if (status == FFFS_GC_IDLE || turns++ > most)
            return FFFS_ERR_NO_SPACE;
    }
    return FFFS_OK;
}

/* ---- Pacing ---- */

uint32_t fffs_gc_heavy(const struct fffs *fs)
{
    return fs->erases + fs->log.serial + fs->gc.erase_next;
}

/* What a slice did, in bytes copied; programs of few bytes and commits count for more than they carry. */
static uint32_t slice_bytes(const struct fffs *fs, const struct fffs_point *before, int action)
{
    uint32_t bytes = fs->moved.segment == before->segment ? fs->moved.next - before->next : fs->config->scratch_bytes;

    return action == FFFS_GC_LOOKED ? 0 : bytes < 128u ? 128u : bytes;
}

/* The dead segment to erase now because an append point will soon need it; 0xFFFF none. An erase takes as long as a call
 * may: it is not left to the call that also has to program. */
static uint32_t erase_ahead(const struct fffs *fs)
{
    uint32_t low = fffs_segment_bytes(fs) / 8u;
    int user = fffs_point_room(fs, &fs->user) <= low;
    int moved = fffs_point_room(fs, &fs->moved) <= low && (fs->gc.victim != FFFS_NONE16 || fffs_segments_free(fs) < 2u);

    if (user && opens_dead(fs, &fs->user))
        return fffs_point_next(fs, &fs->user);
    if (moved && opens_dead(fs, &fs->moved))
        return fffs_point_next(fs, &fs->moved);
    return (user || moved) && fs->erased == 0 ? next_dead(fs) : FFFS_NONE16;
}

int fffs_gc_pace(struct fffs *fs, uint32_t heavy)
{
    uint32_t bytes = fs->gc.written, victim = fs->gc.victim, spent = 0, ahead;

    fs->gc.written = 0;
    ahead = fffs_gc_heavy(fs) == heavy ? erase_ahead(fs) : FFFS_NONE16;
    if (ahead != FFFS_NONE16 && erase_slice(fs, ahead, 0) < 0 && fs->failed != 0)
        return fs->failed;
    if (fffs_segments_free(fs) >= 2u && victim == FFFS_NONE16 && !rotation_is_near(fs)) {
        fs->gc.owed = 0;
        if (level_due(fs) && fffs_point_room(fs, &fs->user) >= fffs_segment_bytes(fs) / 2u)
            choose_level(fs);
        return FFFS_OK;
    }
    if (victim == FFFS_NONE16 && fffs_segments_free(fs) < 2u)
        victim = find_victim(fs, FFFS_GC_PRESSURE);
    if (victim != FFFS_NONE16) {
        uint32_t rate = fs->gc.victim != FFFS_NONE16 ? fs->gc.rate : rate_of(fs, victim);

        rate = rate != 0 ? rate : LEVEL_RATE;
        fs->gc.owed += (fffs_min(bytes, fffs_segment_bytes(fs)) / 16u + 1u) * rate;
    }
    while (fffs_gc_heavy(fs) == heavy && spent < PACE_US && (fs->gc.owed > 0 || rotation_is_near(fs))) {
        struct fffs_point before = fs->moved;
        int status = fffs_gc_slice(fs, FFFS_GC_PRESSURE, 0);

        if (status < 0)
            return fs->failed != 0 ? status : FFFS_OK; /* the collection that is due later will tell */
        if (status == FFFS_GC_IDLE)
            break;
        bytes = slice_bytes(fs, &before, status);
        fs->gc.owed -= fffs_min(fs->gc.owed, bytes);
        spent += fffs_gc_copy_us(fs, bytes);
    }
    return FFFS_OK;
}

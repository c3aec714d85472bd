/* Files. Owns struct fffs_file and `pending` of struct fffs.
 *
 * A reader holds its version's record; what it needs of the node is read again when an extent ends. A writer appends at
 * the user's point; nothing it programs is reachable before close commits the record (I1), so a cut or a discard leaves
 * the old version. */
#include "file.h"

#include <string.h>
#include "bytes.h"
#include "commit.h"
#include "extents.h"
#include "flash_io.h"
#include "gc.h"
#include "handles.h"
#include "index_log.h"
#include "lookup.h"
#include "segments.h"

#define FILE_SIZE_MAX 0x7FFFFFFFuL

/* Collections in a row that a step of a writer waits for. */
enum { COLLECT_TURNS = 16 };

/* Of a larger buffer no more is used: a whole number of any granule. */
#define BUFFER_MOST 32768u

static uint32_t granule_of(const struct fffs *fs)
{
    return (uint32_t)1 << fs->shape.granule_shift;
}

/* ---- Open ---- */

static int check_flags(unsigned flags)
{
    unsigned writing = FFFS_CREATE | FFFS_TRUNCATE | FFFS_EXCLUSIVE;

    if ((flags & ~(unsigned)(FFFS_READ | FFFS_WRITE | writing)) != 0)
        return FFFS_ERR_INVALID;
    if ((flags & (FFFS_READ | FFFS_WRITE)) == FFFS_READ)
        return (flags & writing) == 0 ? FFFS_OK : FFFS_ERR_INVALID;
    if ((flags & (FFFS_READ | FFFS_WRITE)) != FFFS_WRITE)
        return FFFS_ERR_INVALID;
    return (flags & FFFS_EXCLUSIVE) != 0 && (flags & FFFS_CREATE) == 0 ? FFFS_ERR_INVALID : FFFS_OK;
}

/* The buffer then holds the file's last bytes before the node: small files are read whole by the open. */
static void keep_window(struct fffs_file *file, const struct fffs_node *node)
{
    file->fill = (uint16_t)(node->tail == file->buffer ? node->tail_bytes : 0);
    file->of.reader.address = node->end - file->fill;
}

static int open_reader(struct fffs *fs, struct fffs_file *file, const struct fffs_name *name)
{
    uint8_t window[FFFS_NODE_WINDOW];
    struct fffs_found found;
    int own = file->buffer_bytes >= FFFS_NODE_TRAILER;
    int status = fffs_lookup(fs, name, &found, own ? file->buffer : window,
                             own ? file->buffer_bytes : (uint32_t)sizeof window, own);

    if (status != 1)
        return status == 0 ? FFFS_ERR_NOT_FOUND : status;
    file->record = found.record;
    file->size = found.node.size;
    file->of.reader.stamp = found.node.stamp;
    file->name_length = found.node.name_length;
    keep_window(file, &found.node);
    if ((found.node.flags & FFFS_NODE_MULTI) == 0) {
        file->u.read.address = fffs_node_data_address(&found.node);
        file->u.read.end = file->size;
    }
    return FFFS_OK;
}

/* Looks the writer's name up: the version it replaces, and the slot it will take. */
static int place_writer(struct fffs *fs, struct fffs_file *file)
{
    uint8_t window[FFFS_NODE_WINDOW];
    struct fffs_found found;
    struct fffs_name name;
    int status = fffs_name_set(fs, &name, file->of.writer.name);

    if (status == FFFS_OK)
        status = fffs_lookup(fs, &name, &found, window, sizeof window, 0);
    if (status < 0)
        return status;
    file->record = found.record;
    file->of.writer.seen = fs->changes;
    if (status == 1) {
        file->slot = found.record.slot;
        return (file->flags & FFFS_EXCLUSIVE) != 0 ? FFFS_ERR_EXISTS : FFFS_OK;
    }
    file->slot = (uint16_t)(name.slot + found.free);
    file->record.tag = fffs_name_tag(&name, found.free);
    return found.free == fs->shape.probes || fs->files_live >= fs->shape.max_files ? FFFS_ERR_INDEX_FULL : FFFS_OK;
}

static int open_writer(struct fffs *fs, struct fffs_file *file, const char *text, uint32_t length)
{
    const struct fffs_config *config = fs->config;
    int status = fffs_segments_weigh(fs);

    file->state = FFFS_FILE_WRITER;
    file->of.writer.name = text;
    file->name_length = (uint8_t)length;
    if (status == FFFS_OK)
        status = place_writer(fs, file);
    if (status != FFFS_OK && status != FFFS_ERR_INDEX_FULL)
        return status;
    if (file->record.head == 0 && (file->flags & FFFS_CREATE) == 0)
        return FFFS_ERR_NOT_FOUND;
    if (status != FFFS_OK)
        return status;
    if (file->record.head != 0 && (file->flags & FFFS_TRUNCATE) == 0)
        return FFFS_ERR_EXISTS;
    fffs_builder_clear(&file->u.write);
    if (!fs->buffer_taken && config->write_buffer != NULL && config->write_buffer_bytes > file->buffer_bytes) {
        file->state |= FFFS_FILE_BORROWED;
        fs->buffer_taken = 1;
    }
    return FFFS_OK;
}

/* What a reader and a writer have in common. */
static int begin_open(struct fffs *fs, struct fffs_file *file, void *buffer, uint32_t buffer_bytes)
{
    if (buffer == NULL || buffer_bytes < FFFS_FILE_BUFFER_MIN || buffer_bytes < granule_of(fs))
        return FFFS_ERR_INVALID;
    if (fffs_buffer_in_use(fs, buffer, buffer_bytes))
        return FFFS_ERR_BUSY;
    memset(file, 0, sizeof *file);
    file->buffer = (uint8_t *)buffer;
    file->buffer_bytes = (uint16_t)fffs_min(buffer_bytes, BUFFER_MOST);
    return FFFS_OK;
}

int fffs_file_open_reading(struct fffs *fs, struct fffs_file *file, const char *text, void *buffer, uint32_t buffer_bytes)
{
    struct fffs_name name;
    int status = fffs_file_is_open(fs, file) ? FFFS_ERR_BUSY : fffs_name_set(fs, &name, text);

    if (status == FFFS_OK)
        status = begin_open(fs, file, buffer, buffer_bytes);
    if (status != FFFS_OK)
        return status;
    file->flags = FFFS_READ;
    status = open_reader(fs, file, &name);
    if (status == FFFS_OK)
        fffs_file_link(fs, file);
    return status;
}

int fffs_file_open(struct fffs *fs, struct fffs_file *file, const char *text, unsigned flags, void *buffer,
                   uint32_t buffer_bytes)
{
    struct fffs_name name;
    int status = check_flags(flags);

    if (fffs_file_is_open(fs, file))
        return FFFS_ERR_BUSY;
    if (status == FFFS_OK && (flags & FFFS_WRITE) == 0)
        return fffs_file_open_reading(fs, file, text, buffer, buffer_bytes);
    if (status == FFFS_OK)
        status = fffs_name_set(fs, &name, text);
    if (status == FFFS_OK)
        status = begin_open(fs, file, buffer, buffer_bytes);
    if (status != FFFS_OK)
        return status;
    file->buffer_bytes = (uint16_t)fffs_align_down(file->buffer_bytes, granule_of(fs));
    file->flags = (uint8_t)flags;
    status = open_writer(fs, file, text, name.length);
    if (status == FFFS_OK)
        fffs_file_link(fs, file);
    return status;
}

/* ---- Readers ---- */

/* After its place was erased: finds the version where it was moved to. */
static int attach(struct fffs *fs, struct fffs_file *file)
{
    uint8_t window[FFFS_NODE_WINDOW];
    struct fffs_record record;
    struct fffs_node node;
    int status;

    if ((file->state & FFFS_FILE_STALE) != 0)
        return FFFS_ERR_STALE;
    if ((file->state & FFFS_FILE_LOST) == 0)
        return FFFS_OK;
    status = fffs_index_find(fs, file->record.slot, &record);
    if (status == 1) {
        status = fffs_node_load(fs, &record, &node, window, sizeof window);
        if (status == FFFS_OK || status == FFFS_ERR_CORRUPT)
            status = status == FFFS_OK;
    }
    if (status < 0)
        return status; /* flash did not answer: the version may well be there */
    if (status == 0 || node.stamp != file->of.reader.stamp || node.size != file->size) {
        file->state |= FFFS_FILE_STALE;
        return FFFS_ERR_STALE;
    }
    file->record = record;
    file->state &= (uint8_t)~FFFS_FILE_LOST;
    file->fill = 0;
    file->u.read.start = file->u.read.end = 0;
    return FFFS_OK;
}

/* Makes u.read the extent that holds `offset`. */
static int seek_extent(struct fffs *fs, struct fffs_file *file, uint32_t offset)
{
    uint8_t window[FFFS_NODE_WINDOW];
    struct fffs_node node;
    struct fffs_piece piece;
    int status;

    if (offset >= file->u.read.start && offset < file->u.read.end)
        return FFFS_OK;
    status = fffs_node_load(fs, &file->record, &node, window, sizeof window);
    if (status == FFFS_OK && node.stamp != file->of.reader.stamp)
        status = fffs_corrupt();
    if (status == FFFS_OK)
        status = fffs_extent_find(fs, &node, offset, &piece);
    if (status != FFFS_OK)
        return status;
    file->u.read.address = piece.address;
    file->u.read.start = piece.start;
    file->u.read.end = piece.end;
    return FFFS_OK;
}

/* One step of a read: what the buffer holds, or one call to flash. Returns the bytes delivered. */
static int32_t read_some(struct fffs *fs, struct fffs_file *file, uint8_t *to, uint32_t bytes)
{
    uint32_t address, run, inside;
    int status = seek_extent(fs, file, file->of.reader.position);

    if (status != FFFS_OK)
        return status;
    address = file->u.read.address + (file->of.reader.position - file->u.read.start);
    run = fffs_min(bytes, file->u.read.end - file->of.reader.position);
    inside = address - file->of.reader.address; /* wraps to a large number when before it */
    if (inside < file->fill) {
        run = fffs_min(run, file->fill - inside);
        memcpy(to, file->buffer + inside, run);
        return (int32_t)run;
    }
    if (run >= file->buffer_bytes) {
        status = fffs_io_read(fs, address, to, run);
        return status == FFFS_OK ? (int32_t)run : status;
    }
    file->fill = 0;
    inside = fffs_min(file->buffer_bytes, file->u.read.end - file->of.reader.position);
    status = fffs_io_read(fs, address, file->buffer, inside);
    if (status != FFFS_OK)
        return status;
    file->fill = (uint16_t)inside;
    file->of.reader.address = address;
    memcpy(to, file->buffer, run);
    return (int32_t)run;
}

int32_t fffs_file_read(struct fffs *fs, struct fffs_file *file, void *buffer, uint32_t bytes)
{
    uint8_t *to = (uint8_t *)buffer;
    uint32_t done = 0;
    int status;

    if ((file->state & FFFS_FILE_WRITER) != 0)
        return FFFS_ERR_WRITE_ONLY;
    if (bytes > FILE_SIZE_MAX)
        return FFFS_ERR_INVALID;
    status = attach(fs, file);
    if (status != FFFS_OK)
        return status;
    bytes = fffs_min(bytes, file->size - file->of.reader.position);
    while (done < bytes) {
        int32_t part = read_some(fs, file, to + done, bytes - done);

        if (part < 0)
            return part;
        done += (uint32_t)part;
        file->of.reader.position += (uint32_t)part;
    }
    return (int32_t)done;
}

int32_t fffs_file_seek(struct fffs *fs, struct fffs_file *file, int32_t offset, int whence)
{
    int64_t base = 0;

    (void)fs;
    if ((file->state & FFFS_FILE_WRITER) != 0)
        return FFFS_ERR_WRITE_ONLY;
    if (whence == FFFS_SEEK_CUR)
        base = file->of.reader.position;
    else if (whence == FFFS_SEEK_END)
        base = file->size;
    else if (whence != FFFS_SEEK_SET)
        return FFFS_ERR_INVALID;
    base += offset;
    if (base < 0 || base > (int64_t)file->size)
        return FFFS_ERR_INVALID;
    file->of.reader.position = (uint32_t)base;
    return (int32_t)base;
}

int32_t fffs_file_tell(struct fffs *fs, struct fffs_file *file)
{
    (void)fs;
    return (int32_t)((file->state & FFFS_FILE_WRITER) != 0 ? file->size : file->of.reader.position);
}

static int fill_info(struct fffs *fs, const struct fffs_node *node, struct fffs_info *info)
{
    uint32_t length = node->name_length; /* of 255 at most, which FFFS_NAME_MAX may be */
    int status;

    memset(info, 0, sizeof *info);
    if (length > FFFS_NAME_MAX)
        return FFFS_ERR_NAME_TOO_LONG;
    status = fffs_node_read(fs, node, fffs_node_name_from_end(node), info->name, length);
    info->size = node->size;
    info->stamp = node->stamp;
    info->name_length = node->name_length;
    return status;
}

int fffs_file_fstat(struct fffs *fs, struct fffs_file *file, struct fffs_info *info)
{
    uint8_t window[FFFS_NODE_WINDOW];
    struct fffs_node node;
    int status;

    if ((file->state & FFFS_FILE_WRITER) != 0) {
        memset(info, 0, sizeof *info);
        info->size = file->size;
        info->name_length = file->name_length;
        memcpy(info->name, file->of.writer.name, file->name_length);
        return FFFS_OK;
    }
    status = attach(fs, file);
    if (status != FFFS_OK)
        return status;
    /* Served from the buffer while it still holds the node as open read it. */
    if (file->fill >= FFFS_NODE_TRAILER + (uint32_t)file->name_length &&
        file->of.reader.address + file->fill == fffs_record_end(&fs->shape, &file->record)) {
        node.end = file->of.reader.address + file->fill;
        node.tail = file->buffer;
        node.tail_bytes = file->fill;
        if (fffs_node_decode_trailer(&node) && node.stamp == file->of.reader.stamp)
            return fill_info(fs, &node, info);
    }
    status = fffs_node_load(fs, &file->record, &node, window, sizeof window);
    return status == FFFS_OK ? fill_info(fs, &node, info) : status;
}

int32_t fffs_file_map(struct fffs *fs, struct fffs_file *file, uint32_t offset, const void **data)
{
    const struct fffs_flash *flash = fs->config->flash;
    uint32_t run;
    int status;

    *data = NULL;
    if ((file->state & FFFS_FILE_WRITER) != 0)
        return FFFS_ERR_WRITE_ONLY;
    if (flash->map == NULL)
        return FFFS_ERR_UNSUPPORTED;
    if (offset > file->size)
        return FFFS_ERR_INVALID;
    status = attach(fs, file);
    if (status != FFFS_OK || offset == file->size)
        return status;
    status = seek_extent(fs, file, offset);
    if (status != FFFS_OK)
        return status;
    run = file->u.read.end - offset;
    *data = flash->map(flash->context, file->u.read.address + (offset - file->u.read.start), run);
    if (*data == NULL)
        return FFFS_ERR_UNSUPPORTED;
    file->pinned = 1;
    return (int32_t)run;
}

/* ---- Writers ---- */

static int abandon(struct fffs_file *file, int status)
{
    file->error = (int8_t)status;
    return status;
}

/* The buffer that a writer fills: its own, or the volume's. */
static uint8_t *buffer_of(const struct fffs *fs, const struct fffs_file *file)
{
    return (file->state & FFFS_FILE_BORROWED) != 0 ? (uint8_t *)fs->config->write_buffer : file->buffer;
}

static uint32_t buffer_room(const struct fffs *fs, const struct fffs_file *file)
{
    if ((file->state & FFFS_FILE_BORROWED) == 0)
        return file->buffer_bytes;
    return fffs_align_down(fffs_min(fs->config->write_buffer_bytes, BUFFER_MOST), granule_of(fs));
}

/* After FFFS_COLLECT. Where segments that count as free can not be opened time after time, flash can not be read. */
static int collect(struct fffs *fs, uint32_t *turns)
{
    return ++*turns > COLLECT_TURNS ? FFFS_ERR_IO : fffs_gc_make_room(fs, 2u);
}

/* The file offset behind what is on flash and listed. */
static uint32_t listed_end(const struct fffs_file *file)
{
    const struct fffs_builder *builder = &file->u.write;

    return builder->count > 0 ? builder->extents[builder->count - 1u].end : builder->start;
}

/* Room for the next bytes at the user's point and in the list of extents: FFFS_OK, FFFS_COLLECT, or an error. */
static int prepare(struct fffs *fs, struct fffs_file *file, uint32_t *room)
{
    int status;

    do { /* twice at most: the list is empty then */
        status = fffs_point_reserve(fs, &fs->user, granule_of(fs), room);
        if (status == FFFS_OK)
            status = fffs_builder_ready(fs, &fs->user, &file->u.write);
    } while (status == FFFS_BUILDER_SPILLED);
    return status;
}

/* Programs the next bytes of the file, whole granules, at the user's point; collects when that is what it takes. After an
 * error listed_end() tells how far it came. */
static int program(struct fffs *fs, struct fffs_file *file, const uint8_t *data, uint32_t bytes)
{
    uint32_t room, part, address, turns = 0;

    while (bytes > 0) {
        int status = prepare(fs, file, &room);

        if (status == FFFS_COLLECT) {
            status = collect(fs, &turns);
            if (status == FFFS_OK)
                continue;
        }
        if (status != FFFS_OK)
            return status;
        turns = 0;
        part = fffs_min(bytes, room);
        address = fs->user.next;
        status = fffs_io_program(fs, address, data, part);
        if (status != FFFS_OK) {
            fffs_point_close(&fs->user);
            return status;
        }
        fffs_builder_enter(&fs->user, &file->u.write);
        fffs_point_advance(fs, &fs->user, part);
        status = fffs_builder_add(fs, &fs->user, &file->u.write, address, listed_end(file) + part);
        if (status != FFFS_OK)
            return status;
        data += part;
        bytes -= part;
    }
    return FFFS_OK;
}

/* Bytes of a full buffer to program: up to a page boundary, so that later calls begin there. */
static uint32_t flush_size(const struct fffs *fs, const struct fffs_file *file)
{
    uint32_t room = buffer_room(fs, file), page = room >= 4096u ? 4096u : 256u;
    uint32_t next = fs->user.segment == FFFS_NONE16 ? 0 : fs->user.next;
    uint32_t past = (next + room) & (page - 1u);

    return past < room ? room - past : room;
}

/* Programs the first `bytes` of the buffer and keeps the rest; after an error too, so that a close that must wait for a
 * collection goes on where it stopped. */
static int flush(struct fffs *fs, struct fffs_file *file, uint32_t bytes)
{
    uint8_t *buffer = buffer_of(fs, file);
    uint32_t before = listed_end(file), done;
    int status = program(fs, file, buffer, bytes);

    done = listed_end(file) - before;
    file->fill = (uint16_t)(file->fill - done);
    memmove(buffer, buffer + done, file->fill);
    return status;
}

/* Into the buffer; when that is full and more is to come it goes out. */
static int fill_buffer(struct fffs *fs, struct fffs_file *file, const uint8_t *data, uint32_t part, uint32_t bytes)
{
    int early = (file->state & FFFS_FILE_BORROWED) != 0 || bytes < buffer_room(fs, file);

    memcpy(buffer_of(fs, file) + file->fill, data, part);
    file->fill = (uint16_t)(file->fill + part);
    return part < bytes ? flush(fs, file, early ? flush_size(fs, file) : file->fill) : FFFS_OK;
}

static int take_bytes(struct fffs *fs, struct fffs_file *file, const uint8_t *data, uint32_t bytes)
{
    uint32_t room = buffer_room(fs, file);

    while (bytes > 0) {
        uint32_t part = fffs_min(bytes, room - file->fill);
        int status;

        if (file->fill == 0 && bytes > room) {
            /* Past the buffer: one call for all whole granules. */
            part = fffs_align_down(bytes, (file->state & FFFS_FILE_BORROWED) != 0 ? room : granule_of(fs));
            status = program(fs, file, data, part);
        } else {
            status = fill_buffer(fs, file, data, part, bytes);
        }
        if (status != FFFS_OK)
            return status;
        data += part;
        bytes -= part;
    }
    return FFFS_OK;
}

static uint32_t share_of(const struct fffs *fs, const struct fffs_file *file, uint32_t size)
{
    return fffs_footprint_bytes(fs, size + fffs_node_bound(fs, file->name_length));
}

static void set_share(struct fffs *fs, struct fffs_file *file, uint32_t share)
{
    fs->pending += share - file->of.writer.reserved;
    file->of.writer.reserved = share;
}

/* Without inline collection a write is refused before anything of it is taken. */
static int check_room(struct fffs *fs, const struct fffs_file *file, uint32_t bytes)
{
    /* A segment with as many files as it may hold is closed by the next reserve. */
    int closed = fs->user.segment == FFFS_NONE16 || fs->user.items > fffs_txn_limit(&fs->shape);
    uint32_t room = closed ? 0 : fffs_point_room(fs, &fs->user);
    uint32_t need = bytes + file->fill + 2u * fffs_node_bound(fs, file->name_length), segments;

    if (need <= room)
        return FFFS_OK;
    /* One stays for the collector, two while it levels. */
    segments = (need - room) / fffs_segment_bytes(fs) + 2u + (uint32_t)fffs_segments_levelling(fs);
    return fffs_segments_free(fs) >= segments ? FFFS_OK : fffs_gc_make_room(fs, segments);
}

int32_t fffs_file_write(struct fffs *fs, struct fffs_file *file, const void *data, uint32_t bytes)
{
    uint32_t share, heavy = fffs_gc_heavy(fs);
    int status;

    if (file->error != 0)
        return FFFS_ERR_ABANDONED;
    if (bytes > FILE_SIZE_MAX - file->size)
        return FFFS_ERR_TOO_BIG;
    if (bytes == 0)
        return 0;
    share = share_of(fs, file, file->size + bytes);
    if (fs->used + fs->pending - file->of.writer.reserved + share > fffs_capacity(fs))
        return FFFS_ERR_NO_SPACE;
    if ((fs->flags & FFFS_MOUNT_NO_INLINE_GC) != 0) {
        status = check_room(fs, file, bytes);
        if (status != FFFS_OK)
            return status;
    }
    set_share(fs, file, share);
    status = take_bytes(fs, file, (const uint8_t *)data, bytes);
    if (status != FFFS_OK)
        return abandon(file, status);
    file->size += bytes;
    if ((fs->flags & FFFS_MOUNT_NO_INLINE_GC) == 0) {
        status = fffs_gc_pace(fs, heavy);
        if (status != FFFS_OK)
            return abandon(file, status);
    }
    return (int32_t)bytes;
}

static void release(struct fffs *fs, struct fffs_file *file)
{
    int writer = (file->state & FFFS_FILE_WRITER) != 0;

    if (writer)
        set_share(fs, file, 0);
    fffs_file_unlink(fs, file);
    if (writer) {
        fs->gc.stuck = 0;
        fffs_segments_settle_pending(fs);
    }
}

int fffs_file_discard(struct fffs *fs, struct fffs_file *file)
{
    release(fs, file);
    return FFFS_OK;
}

/* A long rest that does not fit the open segment together with the node goes out before it: it fills that segment, and a
 * run of rest and node never crosses one. */
static int shorten_tail(struct fffs *fs, struct fffs_file *file)
{
    uint32_t segment = fffs_segment_bytes(fs);
    uint32_t room = fs->user.segment == FFFS_NONE16 ? segment : fffs_point_room(fs, &fs->user);
    const struct fffs_builder *builder = &file->u.write;
    uint32_t need = file->fill + fffs_node_bound(fs, file->name_length);

    /* The node lists all extents, and the table block that the last ones may still need. */
    need += builder->count * (uint32_t)FFFS_EXTENT_BYTES + (builder->count > 1u ? 6u + 4u * (uint32_t)builder->tables : 0u);
    if (need <= room || (file->fill < 512u && need <= segment))
        return FFFS_OK;
    return flush(fs, file, fffs_align_down(file->fill, granule_of(fs)));
}

/* Programs what is left and the node; collects when that is what it takes. */
static int write_node(struct fffs *fs, struct fffs_file *file, struct fffs_record *record)
{
    struct fffs_node_plan plan;
    uint32_t turns = 0;
    int status = shorten_tail(fs, file);

    if (status != FFFS_OK)
        return status;
    memset(&plan, 0, sizeof plan);
    plan.point = &fs->user;
    plan.builder = &file->u.write;
    plan.tail = buffer_of(fs, file);
    plan.tail_bytes = file->fill;
    plan.tail_room = buffer_room(fs, file);
    plan.meta = (const uint8_t *)file->of.writer.name;
    plan.meta_bytes = file->name_length;
    plan.name_length = file->name_length;
    plan.size = file->size;
    plan.stamp = fs->stamp;
    do {
        if (file->of.writer.seen != fs->changes && (file->state & FFFS_FILE_PLACED) == 0) {
            status = place_writer(fs, file);
            if (status != FFFS_OK)
                return status;
        }
        plan.slot = file->slot;
        plan.tag = file->record.tag;
        status = fffs_node_write(fs, &plan, record);
        if (status != FFFS_COLLECT)
            return status;
        status = collect(fs, &turns);
    } while (status == FFFS_OK);
    return status;
}

/* The node, for the slot that is chosen; the record is for the caller to commit. */
static int finish(struct fffs *fs, struct fffs_file *file, struct fffs_record *record)
{
    int status;

    if (file->of.writer.reserved == 0) { /* nothing was written: the node alone needs room */
        uint32_t share = share_of(fs, file, 0);

        if (fs->used + fs->pending + share > fffs_capacity(fs))
            return FFFS_ERR_NO_SPACE;
        set_share(fs, file, share);
    }
    status = write_node(fs, file, record);
    if (status == FFFS_OK)
        fs->stamp++;
    return status;
}

int fffs_file_finish(struct fffs *fs, struct fffs_file *file, uint16_t slot, uint8_t tag, struct fffs_record *record)
{
    int status;

    if (file->error != 0)
        return FFFS_ERR_ABANDONED;
    file->slot = slot;
    file->record.tag = tag;
    file->state |= FFFS_FILE_PLACED;
    status = finish(fs, file, record);
    file->state &= (uint8_t)~FFFS_FILE_PLACED;
    file->of.writer.seen = fs->changes - 1u; /* a close by itself looks the name up again */
    return status;
}

static int commit(struct fffs *fs, struct fffs_file *file)
{
    struct fffs_record record;
    int status;

    if (fs->failed != 0)
        return fs->failed;
    if (file->error != 0)
        return FFFS_ERR_ABANDONED;
    status = file->of.writer.seen != fs->changes ? place_writer(fs, file) : FFFS_OK;
    if (status == FFFS_OK)
        status = finish(fs, file, &record);
    return status == FFFS_OK ? fffs_commit_put(fs, &record, &file->record) : status;
}

int fffs_file_close(struct fffs *fs, struct fffs_file *file)
{
    int status = FFFS_OK;

    if ((file->state & FFFS_FILE_WRITER) != 0) {
        status = commit(fs, file);
        if (status == FFFS_ERR_COLLECT_FIRST)
            return status; /* stays open: collect and close again */
    }
    release(fs, file);
    return status;
}

/* ---- By name ---- */

static int find(struct fffs *fs, const char *text, struct fffs_found *found, uint8_t *window)
{
    struct fffs_name name;
    int status = fffs_name_set(fs, &name, text);

    return status == FFFS_OK ? fffs_lookup(fs, &name, found, window, FFFS_NODE_WINDOW, 0) : status;
}

int fffs_file_stat(struct fffs *fs, const char *name, struct fffs_info *info)
{
    uint8_t window[FFFS_NODE_WINDOW];
    struct fffs_found found;
    int status = find(fs, name, &found, window);

    if (status == 0)
        return FFFS_ERR_NOT_FOUND;
    return status == 1 ? fill_info(fs, &found.node, info) : status;
}

int fffs_file_exists(struct fffs *fs, const char *name)
{
    uint8_t window[FFFS_NODE_WINDOW];
    struct fffs_found found;

    return find(fs, name, &found, window);
}

int fffs_file_delete(struct fffs *fs, const char *name)
{
    uint8_t window[FFFS_NODE_WINDOW];
    struct fffs_found found;
    int status = find(fs, name, &found, window);

    if (status == 0)
        return FFFS_ERR_NOT_FOUND;
    return status == 1 ? fffs_commit_delete(fs, &found.record) : status;
}

/* Transactions. Owns struct fffs_txn.
 *
 * Data and nodes are written when a change is added; nothing leads to them until all records go out as one transaction of
 * the index log. While one is open no other call changes names, so that the slots chosen here stay the right ones;
 * collection may move files, which changes where a slot leads but not whose it is. Segments that hold bytes of the
 * transaction count as pending, so that nothing is moved out of them or erased. Loops are bounded by the changes. */
#include "transaction.h"

#include <string.h>
#include "bytes.h"
#include "commit.h"
#include "extents.h"
#include "file.h"
#include "gc.h"
#include "handles.h"
#include "index_log.h"
#include "lookup.h"
#include "rename.h"
#include "segments.h"

/* Collections in a row that a node waits for. */
enum { COLLECT_TURNS = 16 };

/* A name as the transaction would leave it. */
struct seen {
    struct fffs_name name;
    struct fffs_found found;    /* when it exists */
    uint16_t slot;              /* that it has, or will take */
    uint8_t tag;
    int exists;
    uint8_t window[FFFS_NODE_WINDOW]; /* of its node */
};

/* ---- Entries ---- */

static struct fffs_record *entry_of(const struct fffs_txn *txn, uint16_t slot)
{
    uint32_t i;

    for (i = 0; i < txn->count; i++)
        if (txn->records[i].slot == slot)
            return &txn->records[i];
    return NULL;
}

/* Whether entries for these slots fit; `other` may be the same slot. */
static int has_room(const struct fffs_txn *txn, uint16_t slot, uint16_t other)
{
    uint32_t more = entry_of(txn, slot) == NULL;

    more += other != slot && entry_of(txn, other) == NULL;
    return txn->count + more <= txn->room;
}

/* What the transaction does to a slot; the last call counts. */
static void set_entry(struct fffs_txn *txn, const struct fffs_record *record)
{
    struct fffs_record *entry = entry_of(txn, record->slot);

    if (entry == NULL)
        entry = &txn->records[txn->count++];
    *entry = *record;
    entry->kind |= FFFS_KIND_TXN;
}

static void set_delete(struct fffs_txn *txn, uint16_t slot)
{
    struct fffs_record record;

    memset(&record, 0, sizeof record);
    record.slot = slot;
    set_entry(txn, &record);
}

static void reserve(struct fffs *fs, struct fffs_txn *txn, uint32_t bytes)
{
    fs->pending += bytes;
    txn->reserved += bytes;
}

/* ---- Names ---- */

/* Loads the node of an entry: 1 when its name is the one looked for, 0 when not, or an error. */
static int is_entry(struct fffs *fs, struct seen *seen, const struct fffs_record *entry)
{
    int status;

    seen->found.record = *entry;
    seen->found.record.kind &= FFFS_KIND_MULTI;
    status = fffs_node_load(fs, &seen->found.record, &seen->found.node, seen->window, sizeof seen->window);
    if (status != FFFS_OK)
        return status;
    return fffs_node_has_name(fs, &seen->found.node, seen->name.text, seen->name.length);
}

/* Looks among the names that the transaction makes. 1, 0, or an error. */
static int find_made(struct fffs *fs, const struct fffs_txn *txn, struct seen *seen)
{
    uint32_t i;

    for (i = 0; i < txn->count; i++) {
        const struct fffs_record *entry = &txn->records[i];
        uint32_t distance = (uint16_t)(entry->slot - seen->name.slot);
        int status;

        if (!fffs_is_put(entry) || distance >= fs->shape.probes || entry->tag != fffs_name_tag(&seen->name, distance))
            continue;
        status = is_entry(fs, seen, entry);
        if (status != 0)
            return status;
    }
    return 0;
}

/* The first slot of the window that neither a file nor the transaction has. */
static int choose_slot(struct fffs *fs, const struct fffs_txn *txn, struct seen *seen)
{
    uint32_t distance;

    for (distance = seen->found.free; distance < fs->shape.probes; distance++) {
        const struct fffs_record *entry;
        struct fffs_record record;
        int status;

        seen->slot = (uint16_t)(seen->name.slot + distance);
        seen->tag = fffs_name_tag(&seen->name, distance);
        entry = entry_of(txn, seen->slot);
        if (entry != NULL && fffs_is_put(entry))
            continue;
        status = fffs_index_find(fs, seen->slot, &record);
        if (status <= 0)
            return status;
    }
    return FFFS_ERR_INDEX_FULL;
}

/* Fills `seen`; a name that does not exist gets a slot, where there is one (FFFS_ERR_INDEX_FULL). */
static int look(struct fffs *fs, const struct fffs_txn *txn, const char *text, struct seen *seen)
{
    const struct fffs_record *entry;
    int status = fffs_name_set(fs, &seen->name, text);

    if (status == FFFS_OK)
        status = fffs_lookup(fs, &seen->name, &seen->found, seen->window, sizeof seen->window, 0);
    if (status < 0)
        return status;
    seen->exists = status;
    entry = status == 1 ? entry_of(txn, seen->found.record.slot) : NULL;
    if (entry != NULL) {
        seen->exists = fffs_is_put(entry);
        seen->slot = entry->slot;
        seen->tag = seen->found.record.tag;
        status = seen->exists ? is_entry(fs, seen, entry) : 0;
        return status < 0 ? status : FFFS_OK;
    }
    if (status == 0) {
        uint32_t free = seen->found.free;

        seen->exists = status = find_made(fs, txn, seen);
        seen->found.free = free;
        if (status == 0)
            return choose_slot(fs, txn, seen);
    }
    seen->slot = seen->found.record.slot;
    seen->tag = seen->found.record.tag;
    return status < 0 ? status : FFFS_OK;
}

static int check_files(const struct fffs *fs, const struct fffs_txn *txn, const struct seen *seen)
{
    int32_t files = (int32_t)fs->files_live + txn->created;

    return !seen->exists && files >= (int32_t)fs->shape.max_files ? FFFS_ERR_INDEX_FULL : FFFS_OK;
}

/* ---- Changes ---- */

int fffs_transaction_begin(struct fffs *fs, struct fffs_txn *txn, struct fffs_change *changes, uint32_t count)
{
    int status = fffs_segments_weigh(fs);

    if (fs->txn != NULL)
        return FFFS_ERR_BUSY;
    if (changes == NULL || count == 0)
        return FFFS_ERR_INVALID;
    if (status != FFFS_OK)
        return status;
    memset(txn, 0, sizeof *txn);
    txn->fs = fs;
    txn->records = changes[0].records;
    txn->room = (uint16_t)fffs_min(count, fffs_txn_limit(&fs->shape));
    txn->olds = txn->records + txn->room;
    txn->stamp = fs->stamp;
    fs->txn = txn;
    return FFFS_OK;
}

int fffs_transaction_put(struct fffs *fs, struct fffs_txn *txn, struct fffs_file *file)
{
    struct fffs_record record;
    struct seen seen;
    int status = look(fs, txn, file->of.writer.name, &seen);

    if (status == FFFS_OK)
        status = check_files(fs, txn, &seen);
    if (status == FFFS_OK && seen.exists && (file->flags & FFFS_EXCLUSIVE) != 0)
        status = FFFS_ERR_EXISTS;
    if (status == FFFS_OK && !has_room(txn, seen.slot, seen.slot))
        status = FFFS_ERR_NO_MEMORY;
    if (status == FFFS_OK)
        status = fffs_file_finish(fs, file, seen.slot, seen.tag, &record);
    if (status != FFFS_OK)
        return status;
    set_entry(txn, &record);
    txn->created = (int16_t)(txn->created + !seen.exists);
    reserve(fs, txn, file->of.writer.reserved);
    return fffs_file_discard(fs, file); /* the handle and its share; the bytes are the transaction's */
}

int fffs_transaction_delete(struct fffs *fs, struct fffs_txn *txn, const char *name)
{
    struct seen seen;
    int status = look(fs, txn, name, &seen);

    if (status == FFFS_ERR_INDEX_FULL || (status == FFFS_OK && !seen.exists))
        return FFFS_ERR_NOT_FOUND;
    if (status == FFFS_OK && !has_room(txn, seen.slot, seen.slot))
        status = FFFS_ERR_NO_MEMORY;
    if (status != FFFS_OK)
        return status;
    set_delete(txn, seen.slot);
    txn->created--;
    return FFFS_OK;
}

/* The extents of a file that is renamed stay where they are until the end. */
static int hold_extents(struct fffs *fs, const struct fffs_node *node)
{
    struct fffs_piece piece;
    uint32_t i, address, bytes;
    int status = FFFS_OK;

    for (piece.end = 0; piece.end < node->size && status == FFFS_OK;) {
        status = fffs_extent_find(fs, node, piece.end, &piece);
        if (status == FFFS_OK)
            fffs_segments_hold(fs, piece.address, piece.address + (piece.end - piece.start));
    }
    for (i = 0; i < node->tables && status == FFFS_OK; i++) {
        status = fffs_table_place(fs, node, i, &address, &bytes);
        if (status == FFFS_OK)
            fffs_segments_hold(fs, address, address + bytes);
    }
    return status;
}

/* Looks both names up and writes the node, once. FFFS_COLLECT: repeat after a collection. */
static int try_rename(struct fffs *fs, struct fffs_txn *txn, const char *from, struct seen *old, struct seen *new)
{
    struct fffs_record record;
    uint32_t share;
    int status = look(fs, txn, from, old);

    if (status == FFFS_ERR_INDEX_FULL || (status == FFFS_OK && !old->exists))
        return FFFS_ERR_NOT_FOUND;
    if (status == FFFS_OK)
        status = look(fs, txn, new->name.text, new);
    if (status != FFFS_OK || (new->exists && new->slot == old->slot))
        return status; /* onto itself: nothing to do */
    if (!has_room(txn, old->slot, new->slot))
        return FFFS_ERR_NO_MEMORY;
    record.slot = new->slot;
    record.tag = new->tag;
    share = fffs_rename_share(fs, &old->found.node, &new->name);
    if (fs->used + fs->pending + share > fffs_capacity(fs))
        return FFFS_ERR_NO_SPACE;
    status = hold_extents(fs, &old->found.node);
    if (status == FFFS_OK)
        status = fffs_rename_write(fs, &old->found.node, &new->name, &record);
    if (status != FFFS_OK)
        return status;
    fs->stamp++;
    set_delete(txn, old->slot);
    set_entry(txn, &record);
    txn->created = (int16_t)(txn->created - new->exists);
    reserve(fs, txn, share);
    return FFFS_OK;
}

int fffs_transaction_rename(struct fffs *fs, struct fffs_txn *txn, const char *from, const char *to)
{
    struct seen old, new;
    uint32_t turns;
    int status = FFFS_COLLECT;

    for (turns = 0; status == FFFS_COLLECT; turns++) {
        new.name.text = to;
        status = try_rename(fs, txn, from, &old, &new);
        if (status != FFFS_COLLECT)
            break;
        status = turns == COLLECT_TURNS ? FFFS_ERR_IO : fffs_gc_make_room(fs, 2u);
        if (status == FFFS_OK)
            status = FFFS_COLLECT;
    }
    return status;
}

/* ---- End ---- */

static void end(struct fffs *fs, struct fffs_txn *txn)
{
    fs->pending -= txn->reserved;
    fs->txn = NULL;
    txn->fs = NULL;
    fffs_segments_settle_pending(fs);
}

int fffs_transaction_commit(struct fffs *fs, struct fffs_txn *txn)
{
    uint32_t i;
    int status = FFFS_OK;

    for (i = 0; i < txn->count; i++) { /* collection may have moved what is replaced */
        status = fffs_index_find(fs, txn->records[i].slot, &txn->olds[i]);
        if (status < 0)
            return status;
        if (status == 0)
            memset(&txn->olds[i], 0, sizeof txn->olds[i]);
    }
    status = txn->count == 0 ? FFFS_OK : fffs_commit_all(fs, txn->records, txn->olds, txn->count);
    end(fs, txn);
    return status;
}

int fffs_transaction_abort(struct fffs *fs, struct fffs_txn *txn)
{
    fs->stamp = txn->stamp; /* each version takes a place in the log, by which mount counts stamps; these took none */
    end(fs, txn);
    return FFFS_OK;
}

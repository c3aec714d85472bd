/* Listings and deletes by prefix. Owns struct fffs_dir.
 *
 * A listing goes through the slots in order and remembers only the next one: a file keeps its slot as long as its name
 * exists, whatever is collected, so it is met exactly once. A folder counts as returned when a file that showed it
 * stands before the cursor; a small table of hashes spares looking for one. Loops are bounded by the slots. */
#include "dir.h"

#include <string.h>
#include "bytes.h"
#include "commit.h"
#include "extents.h"
#include "flash_io.h"
#include "handles.h"
#include "index_log.h"
#include "lookup.h"

enum {
    WINDOW = FFFS_NODE_TRAILER + FFFS_NAME_MAX + 14, /* trailer, the longest name, the list of one extent */
    PICKED = 16,                /* nodes that one pass over the records selects */
    JOIN_GAP = 400              /* bytes that a read call costs: a smaller gap is read along */
};

/* ---- Names ---- */

struct prefix {
    const char *text;
    uint32_t length;
};

/* `text` NULL: "". */
static int set_prefix(struct prefix *prefix, const char *text)
{
    prefix->text = text == NULL ? "" : text;
    for (prefix->length = 0; prefix->text[prefix->length] != '\0'; prefix->length++)
        if (prefix->length == FFFS_NAME_MAX)
            return FFFS_ERR_NAME_TOO_LONG;
    return FFFS_OK;
}

/* Fills `info` from the node when its name begins with the prefix: 1, 0 when it does not, or an error. A name beyond
 * the limit is cut off; see is_too_long(). */
static int take_name(struct fffs *fs, const struct fffs_node *node, const struct prefix *prefix,
                     struct fffs_info *info)
{
    uint32_t length = fffs_min(node->name_length, FFFS_NAME_MAX);
    int status;

    if (length < prefix->length)
        return 0;
    status = fffs_node_read(fs, node, fffs_node_name_from_end(node), info->name, length);
    if (status != FFFS_OK)
        return status;
    if (memcmp(info->name, prefix->text, prefix->length) != 0)
        return 0;
    info->name[length] = '\0';
    info->name_length = (uint8_t)length;
    info->is_folder = 0;
    info->size = node->size;
    info->stamp = node->stamp;
    return 1;
}

static int is_too_long(const struct fffs_node *node)
{
    uint32_t length = node->name_length;
    return length > FFFS_NAME_MAX;
}

/* Reads the node of a record and takes its name. */
static int load_name(struct fffs *fs, const struct fffs_record *record, struct fffs_node *node,
                     const struct prefix *prefix, struct fffs_info *info)
{
    uint8_t window[WINDOW];
    int status = fffs_node_load(fs, record, node, window, sizeof window);

    if (status == FFFS_OK)
        status = take_name(fs, node, prefix, info);
    node->tail = NULL; /* the window is gone */
    return status;
}

static void begin_batch(struct fffs_batch *batch)
{
    batch->base = 0;
    batch->low = batch->high = 0;
}

/* ---- Folders ---- */

static struct prefix prefix_of(const struct fffs_dir *dir)
{
    struct prefix prefix;

    prefix.text = dir->prefix;
    prefix.length = dir->prefix_length;
    return prefix;
}

/* A folder that a file shows. */
struct folder {
    const char *text;
    uint32_t length;            /* with the prefix and the delimiter */
    uint32_t hash;
    uint16_t slot;              /* of the file */
};

/* Length of the folder in a name that begins with the listing's prefix, 0 when there is none. */
static uint32_t folder_length(const struct fffs_dir *dir, const struct fffs_info *info)
{
    uint32_t at;

    for (at = dir->prefix_length; dir->delimiter != '\0' && at < info->name_length; at++)
        if (info->name[at] == dir->delimiter)
            return at + 1u;
    return 0;
}

enum { SHOWS_OTHER = 0, SHOWS_IT = 1, SHOWS_NONE = 2 };

/* Whether the file of a record shows the folder, another one with its hash, or neither. */
static int shows_folder(struct fffs *fs, const struct fffs_dir *dir, const struct fffs_record *record,
                        const struct folder *folder)
{
    struct fffs_info info;
    struct fffs_node node;
    struct prefix prefix = prefix_of(dir);
    uint32_t length;
    int status = load_name(fs, record, &node, &prefix, &info);

    if (status < 0)
        return status == FFFS_ERR_CORRUPT ? SHOWS_NONE : status;
    length = status == 1 ? folder_length(dir, &info) : 0;
    if (length == folder->length && memcmp(info.name, folder->text, length) == 0)
        return SHOWS_IT;
    return length > 0 && fffs_name_hash(0, info.name, length) == folder->hash ? SHOWS_OTHER : SHOWS_NONE;
}

/* The same for the file that stands in a slot now. */
static int slot_shows(struct fffs *fs, const struct fffs_dir *dir, uint16_t slot, const struct folder *folder)
{
    struct fffs_record record;
    int status = fffs_index_find(fs, slot, &record);

    if (status != 1)
        return status == 0 ? SHOWS_NONE : status;
    return shows_folder(fs, dir, &record, folder);
}

/* Whether a file in a slot before the folder's shows it: 1, 0, or an error. */
static int lower_slot_shows(struct fffs *fs, const struct fffs_dir *dir, const struct folder *folder)
{
    struct fffs_batch batch;
    uint32_t from = 0, i;

    begin_batch(&batch);
    while (from < folder->slot) {
        int status = fffs_index_collect(fs, &batch, from, folder->slot);

        if (status != FFFS_OK)
            return status;
        for (i = 0; i < batch.count; i++) {
            status = shows_folder(fs, dir, &batch.records[i], folder);
            if (status < 0 || status == SHOWS_IT)
                return status;
        }
        from = batch.next;
    }
    return 0;
}

static void remember_folder(struct fffs_dir *dir, const struct folder *folder)
{
    if (dir->folder_count == FFFS_DIR_FOLDERS) {
        dir->folder_count = 0;
        dir->folders_lost = 1;
    }
    dir->folders[dir->folder_count].hash = folder->hash;
    dir->folders[dir->folder_count].slot = folder->slot;
    dir->folder_count++;
}

/* Whether the folder was returned before: 1, 0, or an error. A hash is taken for the folder's unless the file that
 * showed it proves otherwise: when that file is gone, the same folder is what it was. */
static int was_returned(struct fffs *fs, struct fffs_dir *dir, const struct folder *folder)
{
    uint32_t used = dir->folders_lost ? FFFS_DIR_FOLDERS : dir->folder_count, i;
    int shown;

    for (i = 0; i < used; i++) {
        int shows;

        if (dir->folders[i].hash != folder->hash)
            continue;
        shows = slot_shows(fs, dir, dir->folders[i].slot, folder);
        if (shows < 0)
            return shows;
        if (shows == SHOWS_NONE)
            dir->folders[i].slot = folder->slot;
        if (shows != SHOWS_OTHER)
            return 1;
    }
    /* Forgotten folders are found by the files that showed them. */
    shown = dir->folders_lost ? lower_slot_shows(fs, dir, folder) : 0;
    if (shown >= 0)
        remember_folder(dir, folder);
    return shown;
}

/* ---- Listing in steps ---- */

int fffs_dir_begin(struct fffs *fs, struct fffs_dir *dir, const char *prefix, char delimiter)
{
    struct prefix measured;
    int status;

    if (fffs_dir_is_open(fs, dir))
        return FFFS_ERR_BUSY;
    status = set_prefix(&measured, prefix);
    if (status != FFFS_OK)
        return status;
    memset(dir, 0, sizeof *dir);
    dir->prefix = measured.text;
    dir->prefix_length = (uint8_t)measured.length;
    dir->delimiter = delimiter;
    fffs_dir_link(fs, dir);
    return FFFS_OK;
}

/* Whether the record's file makes an entry: 1 and `info`, 0, or an error. */
static int make_entry(struct fffs *fs, struct fffs_dir *dir, const struct fffs_record *record, struct fffs_info *info)
{
    struct fffs_node node;
    struct prefix prefix = prefix_of(dir);
    struct folder folder;
    int status = load_name(fs, record, &node, &prefix, info);

    if (status != 1)
        return status;
    folder.length = folder_length(dir, info);
    if (folder.length == 0)
        return is_too_long(&node) ? FFFS_ERR_NAME_TOO_LONG : 1;
    folder.text = info->name;
    folder.slot = record->slot;
    folder.hash = fffs_name_hash(0, folder.text, folder.length);
    status = was_returned(fs, dir, &folder);
    if (status != 0)
        return status == 1 ? 0 : status;
    info->name[folder.length] = '\0';
    info->name_length = (uint8_t)folder.length;
    info->is_folder = 1;
    info->size = 0;
    return 1;
}

int fffs_dir_next(struct fffs *fs, struct fffs_dir *dir, struct fffs_info *info)
{
    struct fffs_batch batch;
    uint32_t i;

    if (!fffs_dir_is_open(fs, dir))
        return FFFS_ERR_NOT_OPEN;
    begin_batch(&batch);
    while (dir->cursor < FFFS_SLOTS_END) {
        int status = fffs_index_collect(fs, &batch, dir->cursor, FFFS_SLOTS_END);

        if (status != FFFS_OK) {
            if (status == FFFS_ERR_CORRUPT)
                dir->cursor = FFFS_SLOTS_END; /* the log itself is damaged: there is nothing to go on with */
            return status;
        }
        for (i = 0; i < batch.count; i++) {
            status = make_entry(fs, dir, &batch.records[i], info);
            if (status != FFFS_ERR_IO)
                dir->cursor = batch.records[i].slot + 1u;
            if (status != 0)
                return status;
        }
        dir->cursor = batch.next;
    }
    return 0;
}

int fffs_dir_end(struct fffs *fs, struct fffs_dir *dir)
{
    if (!fffs_dir_is_open(fs, dir))
        return FFFS_ERR_NOT_OPEN;
    fffs_dir_unlink(fs, dir);
    return FFFS_OK;
}

/* ---- Listing in one call ---- */

struct listing {
    struct prefix prefix;
    int (*visit)(void *context, const struct fffs_info *info);
    void *context;
    int damage;                 /* what could not be shown, reported at the end */
    struct fffs_info info;
};

/* Records ordered by the place of their nodes. */
struct picked {
    struct fffs_record records[PICKED];
    uint32_t count;
};

static int is_before(const struct fffs *fs, const struct fffs_record *a, const struct fffs_record *b)
{
    uint32_t a_end = fffs_record_end(&fs->shape, a), b_end = fffs_record_end(&fs->shape, b);
    return a_end < b_end || (a_end == b_end && a->slot < b->slot);
}

/* Takes the record when it is among the first PICKED. */
static void pick(const struct fffs *fs, struct picked *picked, const struct fffs_record *record)
{
    uint32_t at = picked->count;

    if (at == PICKED) {
        if (!is_before(fs, record, &picked->records[PICKED - 1]))
            return;
        at--;
    } else {
        picked->count++;
    }
    for (; at > 0 && is_before(fs, record, &picked->records[at - 1u]); at--)
        picked->records[at] = picked->records[at - 1u];
    picked->records[at] = *record;
}

/* The first records behind `last`, NULL: of all. */
static int pick_behind(struct fffs *fs, struct picked *picked, const struct fffs_record *last)
{
    struct fffs_batch batch;
    uint32_t from = 0, i;

    picked->count = 0;
    begin_batch(&batch);
    while (from < FFFS_SLOTS_END) {
        int status = fffs_index_collect(fs, &batch, from, FFFS_SLOTS_END);

        if (status != FFFS_OK)
            return status;
        for (i = 0; i < batch.count; i++)
            if (last == NULL || is_before(fs, last, &batch.records[i]))
                pick(fs, picked, &batch.records[i]);
        from = batch.next;
    }
    return FFFS_OK;
}

/* Where the wanted part of a node begins. Nodes end behind the index area, so the subtraction holds. */
static uint32_t window_start(const struct fffs *fs, const struct fffs_record *record)
{
    uint32_t bytes = fffs_min(fffs_record_footprint(&fs->shape, record), WINDOW);

    bytes = fffs_min(bytes, fs->config->scratch_bytes);
    return fffs_record_end(&fs->shape, record) - (bytes < FFFS_NODE_TRAILER ? FFFS_NODE_TRAILER : bytes);
}

/* Index behind the last of the picked nodes that one read from the first of them covers. */
static uint32_t join_nodes(const struct fffs *fs, const struct picked *picked, uint32_t first)
{
    uint32_t low = window_start(fs, &picked->records[first]), i;
    uint32_t reached = fffs_record_end(&fs->shape, &picked->records[first]);

    for (i = first + 1u; i < picked->count; i++) {
        uint32_t start = window_start(fs, &picked->records[i]);
        uint32_t end = fffs_record_end(&fs->shape, &picked->records[i]);

        if (start >= reached + JOIN_GAP || end - low > fs->config->scratch_bytes || start < low ||
            end > fffs_volume_bytes(&fs->shape))
            break;
        reached = end;
    }
    return i;
}

/* Shows one file whose node is in the scratch buffer, which begins at address `low`. */
static int show_file(struct fffs *fs, struct listing *list, const struct fffs_record *record, uint32_t low)
{
    struct fffs_node node;
    uint32_t bytes = fffs_record_end(&fs->shape, record) - low;
    int status = fffs_node_parse(fs, record, &node, (const uint8_t *)fs->config->scratch, bytes);

    if (status == FFFS_OK)
        status = take_name(fs, &node, &list->prefix, &list->info);
    if (status == 1 && is_too_long(&node))
        status = FFFS_ERR_NAME_TOO_LONG;
    if (status == FFFS_ERR_CORRUPT || status == FFFS_ERR_NAME_TOO_LONG) {
        list->damage = status;
        return 0;
    }
    return status == 1 ? list->visit(list->context, &list->info) : status;
}

static int show_picked(struct fffs *fs, struct listing *list, const struct picked *picked)
{
    uint32_t first = 0, next;

    for (; first < picked->count; first = next) {
        uint32_t low = window_start(fs, &picked->records[first]), high, i;
        int status;

        next = join_nodes(fs, picked, first);
        high = fffs_record_end(&fs->shape, &picked->records[next - 1u]);
        status = fffs_io_read(fs, low, fs->config->scratch, high - low);
        if (status == FFFS_ERR_CORRUPT) {
            list->damage = status; /* a place outside the volume */
            continue;
        }
        for (i = first; i < next && status == FFFS_OK; i++)
            status = show_file(fs, list, &picked->records[i], low);
        if (status != FFFS_OK)
            return status;
    }
    return FFFS_OK;
}

static int list_by_address(struct fffs *fs, struct listing *list)
{
    struct picked picked;
    struct fffs_record last;
    int status = pick_behind(fs, &picked, NULL);

    while (status == FFFS_OK && picked.count > 0) {
        status = show_picked(fs, list, &picked);
        if (status != FFFS_OK || picked.count < PICKED)
            return status;
        last = picked.records[PICKED - 1];
        status = pick_behind(fs, &picked, &last);
    }
    return status;
}

/* Without a complete cache each pass walks the log, so that only the files of a few batches are ordered at a time. */
static int list_by_slot(struct fffs *fs, struct listing *list)
{
    struct fffs_batch batch;
    struct picked picked;
    uint32_t from = 0, i;

    picked.count = 0;
    begin_batch(&batch);
    while (from < FFFS_SLOTS_END) {
        int status = fffs_index_collect(fs, &batch, from, FFFS_SLOTS_END);

        for (i = 0; i < batch.count && status == FFFS_OK; i++) {
            pick(fs, &picked, &batch.records[i]);
            if (picked.count == PICKED) {
                status = show_picked(fs, list, &picked);
                picked.count = 0;
            }
        }
        if (status != FFFS_OK)
            return status;
        from = batch.next;
    }
    return show_picked(fs, list, &picked);
}

int fffs_dir_list(struct fffs *fs, const char *prefix, int (*visit)(void *context, const struct fffs_info *info),
                  void *context)
{
    struct listing list;
    int status = set_prefix(&list.prefix, prefix);

    if (status != FFFS_OK)
        return status;
    list.visit = visit;
    list.context = context;
    list.damage = FFFS_OK;
    if ((fs->state & (FFFS_STATE_CACHED | FFFS_STATE_PARTIAL)) == FFFS_STATE_CACHED)
        status = list_by_address(fs, &list);
    else
        status = list_by_slot(fs, &list);
    return status == FFFS_OK ? list.damage : status;
}

/* ---- Delete ---- */

/* Deletes the file of a record when its name begins with the prefix: 1, 0, or an error. */
static int delete_match(struct fffs *fs, const struct fffs_record *record, const struct prefix *prefix)
{
    struct fffs_info info;
    struct fffs_node node;
    int status = load_name(fs, record, &node, prefix, &info);

    if (status != 1)
        return status;
    status = fffs_commit_delete(fs, record);
    return status == FFFS_OK ? 1 : status;
}

int32_t fffs_dir_delete_prefix(struct fffs *fs, const char *prefix)
{
    struct fffs_batch batch;
    struct prefix measured;
    uint32_t from = 0, i;
    int32_t deleted = 0, damage = FFFS_OK;
    int status = set_prefix(&measured, prefix);

    if (status != FFFS_OK || measured.length == 0)
        return status != FFFS_OK ? status : FFFS_ERR_BAD_NAME;
    begin_batch(&batch);
    while (from < FFFS_SLOTS_END) {
        status = fffs_index_collect(fs, &batch, from, FFFS_SLOTS_END);
        if (status != FFFS_OK)
            return status;
        for (i = 0; i < batch.count; i++) {
            status = delete_match(fs, &batch.records[i], &measured);
            if (status == FFFS_ERR_CORRUPT && fs->failed == 0)
                damage = status;
            else if (status < 0)
                return status;
            deleted += status == 1;
        }
        from = batch.next;
    }
    return damage != FFFS_OK ? damage : deleted;
}

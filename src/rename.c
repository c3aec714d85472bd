/* Rename. Owns nothing. No data is copied: a node with the new name lists the extents of the old one, and its put is
 * committed together with the delete of the old name. A cut leaves the old state or the new one; before the commit the
 * new node is dead space. Loops are bounded by the collections that a step waits for. */
#include "rename.h"

#include <string.h>
#include "bytes.h"
#include "commit.h"
#include "extents.h"
#include "gc.h"
#include "handles.h"
#include "lookup.h"
#include "segments.h"

/* Collections in a row that the node waits for. */
enum { COLLECT_TURNS = 16 };

struct renaming {
    struct fffs_found from;
    struct fffs_name to;
    struct fffs_record target;  /* of the new name, to be replaced; head 0: none, then slot and tag are set */
    uint32_t target_bytes;      /* what it takes of the budget */
    uint8_t window[FFFS_NODE_WINDOW]; /* of the old node */
};

/* What a file takes of the budget, without table blocks. */
static uint32_t share_of(const struct fffs *fs, const struct fffs_found *found)
{
    return fffs_record_footprint(&fs->shape, &found->record) +
           ((found->record.kind & FFFS_KIND_MULTI) != 0 ? found->node.size : 0u);
}

/* Looks the new name up: what it replaces, and the slot that it will take. */
static int find_target(struct fffs *fs, struct renaming *job)
{
    uint8_t window[FFFS_NODE_WINDOW];
    struct fffs_found found;
    int status = fffs_lookup(fs, &job->to, &found, window, sizeof window, 0);

    if (status < 0)
        return status;
    job->target = found.record;
    job->target_bytes = status == 1 ? share_of(fs, &found) : 0;
    if (status == 1)
        return FFFS_OK;
    job->target.slot = (uint16_t)(job->to.slot + found.free);
    job->target.tag = fffs_name_tag(&job->to, found.free);
    return found.free == fs->shape.probes ? FFFS_ERR_INDEX_FULL : FFFS_OK;
}

static int find_both(struct fffs *fs, const struct fffs_name *from, struct renaming *job)
{
    int status = fffs_lookup(fs, from, &job->from, job->window, sizeof job->window, 0);

    if (status != 1)
        return status == 0 ? FFFS_ERR_NOT_FOUND : status;
    return find_target(fs, job);
}

/* Bytes of the new node without padding. */
static uint32_t node_bytes(const struct fffs_node *old, const struct fffs_name *to)
{
    int adds_extent = (old->flags & FFFS_NODE_MULTI) == 0 && old->size > 0;

    return old->bytes - old->name_length + to->length + (adds_extent ? (uint32_t)FFFS_EXTENT_BYTES : 0u);
}

uint32_t fffs_rename_share(const struct fffs *fs, const struct fffs_node *old, const struct fffs_name *to)
{
    return fffs_footprint_bytes(fs, node_bytes(old, to) + fffs_node_align(&fs->shape) - 1u) +
           ((uint32_t)1 << fs->shape.granule_shift) - 1u;
}

int fffs_rename_write(struct fffs *fs, const struct fffs_node *old, const struct fffs_name *to,
                      struct fffs_record *record)
{
    struct fffs_builder builder;
    struct fffs_node_plan plan;
    int status = FFFS_OK;

    memset(&plan, 0, sizeof plan);
    fffs_builder_clear(&builder);
    plan.point = &fs->user;
    plan.builder = &builder;
    plan.old = old;
    plan.kept = old->bytes - fffs_node_name_from_end(old);
    plan.meta = (const uint8_t *)to->text;
    plan.meta_bytes = to->length;
    plan.name_length = (uint8_t)to->length;
    plan.flags = old->flags;
    plan.size = old->size;
    plan.stamp = fs->stamp;
    plan.slot = record->slot;
    plan.tag = record->tag;
    if ((old->flags & FFFS_NODE_MULTI) == 0 && old->size > 0)
        status = fffs_builder_add(fs, &fs->user, &builder, fffs_node_data_address(old), old->size);
    return status == FFFS_OK ? fffs_node_write(fs, &plan, record) : status;
}

/* The budget after the change: the same data, in granules of its own, another node, and the replaced file gone. */
static int check_budget(const struct fffs *fs, const struct renaming *job)
{
    uint32_t after = fs->used + fs->pending + job->from.node.size + fffs_rename_share(fs, &job->from.node, &job->to);

    return after > fffs_capacity(fs) + share_of(fs, &job->from) + job->target_bytes ? FFFS_ERR_NO_SPACE : FFFS_OK;
}

/* Programs the new node; collects when that is what it takes, and then all is looked up again. */
static int write_node(struct fffs *fs, const struct fffs_name *from, struct renaming *job, struct fffs_record *record)
{
    uint32_t turns;
    int status = FFFS_OK;

    for (turns = 0; status == FFFS_OK; turns++) {
        status = find_both(fs, from, job);
        if (status == FFFS_OK)
            status = check_budget(fs, job);
        *record = job->target;
        if (status == FFFS_OK)
            status = fffs_rename_write(fs, &job->from.node, &job->to, record);
        if (status == FFFS_OK)
            break;
        if (status == FFFS_COLLECT)
            status = turns == COLLECT_TURNS ? FFFS_ERR_IO : fffs_gc_make_room(fs, 2u);
    }
    return status;
}

static int commit(struct fffs *fs, const struct renaming *job, const struct fffs_record *put)
{
    struct fffs_record records[2], olds[2];
    int status;

    /* The delete is applied first: so no weight counts the data twice. */
    memset(records, 0, sizeof records);
    records[0].slot = job->from.record.slot;
    records[0].kind = FFFS_KIND_TXN;
    olds[0] = job->from.record;
    records[1] = *put;
    records[1].kind |= FFFS_KIND_TXN;
    olds[1] = job->target;
    status = fffs_commit_all(fs, records, olds, 2);
    if (status == FFFS_OK)
        fffs_handles_follow(fs, &job->from.record, job->from.node.stamp, put, fs->stamp - 1u);
    return status;
}

int fffs_file_rename(struct fffs *fs, const char *from_text, const char *to_text)
{
    struct fffs_name from;
    struct renaming job;
    struct fffs_record record;
    int status = fffs_name_set(fs, &from, from_text);

    if (status == FFFS_OK)
        status = fffs_name_set(fs, &job.to, to_text);
    if (status == FFFS_OK)
        status = fffs_segments_weigh(fs);
    if (status == FFFS_OK && from.length == job.to.length && memcmp(from_text, to_text, from.length) == 0) {
        status = fffs_lookup(fs, &from, &job.from, job.window, sizeof job.window, 0);
        return status == 1 ? FFFS_OK : status == 0 ? FFFS_ERR_NOT_FOUND : status;
    }
    if (status == FFFS_OK)
        status = write_node(fs, &from, &job, &record);
    if (status != FFFS_OK)
        return status;
    fs->stamp++;
    status = commit(fs, &job, &record);
    fffs_segments_settle_pending(fs);
    return status;
}

/* What a workload does, one function an operation. */
#include "operations.h"

#include <string.h>

static const char *const workload_names[WORKLOADS] = { "mixed", "small", "large", "full", "writers", "power" };
enum { MIXED, SMALL, LARGE, FULL, WRITERS, POWER };

const char *workload_name(unsigned index)
{
    return index < WORKLOADS ? workload_names[index] : NULL;
}

/* ---- Choices ---- */

static uint32_t pick_name(struct session *session)
{
    return dice_below(&session->dice, session->model.names);
}

static uint32_t pick_size(struct session *session)
{
    struct dice *dice = &session->dice;
    uint32_t most = session->capacity / 4u, sector = session->point->sector_bytes, chance = dice_below(dice, 100), size;

    switch (session->workload) {
    case SMALL: size = dice_below(dice, 90); break;
    case LARGE: size = dice_below(dice, most); break;
    case FULL: size = chance < 20 ? dice_below(dice, 60) : dice_below(dice, session->capacity / 7u); break;
    default:
        size = chance < 10 ? 0 : chance < 60 ? dice_below(dice, 200) : chance < 92 ? dice_below(dice, 2u * sector)
            : dice_below(dice, most);
        break;
    }
    return size < most ? size : most;
}

/* ---- Changes of one name ---- */

static int put(struct session *session, uint32_t name, uint32_t size)
{
    struct version version = model_new_version(&session->model, size);
    int status;

    status = session_write(session, name, &version);
    if (!session_refused(status))
        session_must(session, "put", status);
    model_settle(&session->model, status == FFFS_OK);
    return status;
}

static void do_put(struct session *session)
{
    (void)put(session, pick_name(session), pick_size(session));
}

static void delete_name(struct session *session, uint32_t name)
{
    struct version none = { 0, 0 };
    int exists = session->model.now[name].number != 0, status;

    model_change(model_doubt(&session->model), name, none);
    status = fffs_delete(&session->fs, model_name(name));
    if (status != FFFS_ERR_NOT_FOUND || exists)
        session_must(session, "delete", status);
    model_settle(&session->model, status == FFFS_OK);
}

static void do_delete(struct session *session)
{
    delete_name(session, pick_name(session));
}

/* Names go one after the other: each is in doubt by itself. */
static void do_delete_prefix(struct session *session)
{
    static const char prefix[] = "b/";
    struct version none = { 0, 0 };
    uint32_t i;

    for (i = 0; i < session->model.names; i++)
        if (session->model.now[i].number != 0 && strncmp(model_name(i), prefix, sizeof prefix - 1) == 0)
            model_change(model_doubt(&session->model), i, none);
    session_must(session, "delete by prefix", fffs_delete_prefix(&session->fs, prefix));
    model_settle(&session->model, 1);
}

/* ---- Several names as one change ---- */

static void do_rename(struct session *session)
{
    uint32_t from = pick_name(session), to = pick_name(session);
    struct version none = { 0, 0 };
    struct group *both;
    int exists = session->model.now[from].number != 0, status;

    if (from == to)
        return;
    both = model_doubt(&session->model);
    model_change(both, from, none);
    model_change(both, to, session->model.now[from]);
    status = fffs_rename(&session->fs, model_name(from), model_name(to));
    if (!session_refused(status) && (status != FFFS_ERR_NOT_FOUND || exists))
        session_must(session, "rename", status);
    model_settle(&session->model, status == FFFS_OK);
}

/* A file or a delete into the transaction; the status of the call that failed. */
static int add_to_transaction(struct session *session, struct fffs_txn *txn, uint32_t name, struct group *all)
{
    struct version version = model_new_version(&session->model, dice_below(&session->dice, 150)), none = { 0, 0 };
    struct fffs_file file;
    int32_t status;

    if (session->model.now[name].number != 0 && dice_percent(&session->dice, 40)) {
        model_change(all, name, none);
        return fffs_txn_delete(&session->fs, txn, model_name(name));
    }
    memset(&file, 0, sizeof file);
    status = fffs_open(&session->fs, &file, model_name(name), FFFS_WRITE | FFFS_CREATE | FFFS_TRUNCATE, session->buffer,
                       session->point->file_buffer_bytes);
    if (status != FFFS_OK)
        return status;
    if (version.size > 0)
        status = session_append(session, &file, model_data(&version), version.size);
    if (status >= 0)
        status = fffs_txn_put(&session->fs, txn, &file);
    if (status < 0)
        session_must(session, "discard", fffs_discard(&session->fs, &file));
    model_change(all, name, version);
    return status < 0 ? status : FFFS_OK;
}

static void do_transaction(struct session *session)
{
    struct fffs_change changes[4];
    struct fffs_txn txn;
    struct group all;
    uint32_t i, first = pick_name(session), count = 2u + dice_below(&session->dice, 3);
    int status;

    memset(&txn, 0, sizeof txn);
    all.count = 0;
    session_must(session, "begin", fffs_txn_begin(&session->fs, &txn, changes, 4));
    for (i = 0, status = FFFS_OK; i < count && status == FFFS_OK; i++)
        status = add_to_transaction(session, &txn, (first + i) % session->model.names, &all);
    if (status != FFFS_OK) {
        if (!session_refused(status) && status != FFFS_ERR_NO_MEMORY) /* a tiny index unit takes few changes at once */
            session_must(session, "part of a transaction", status);
        session_must(session, "abort", fffs_txn_abort(&session->fs, &txn));
        return;
    }
    *model_doubt(&session->model) = all;
    status = fffs_txn_commit(&session->fs, &txn);
    if (!session_refused(status))
        session_must(session, "commit of a transaction", status);
    model_settle(&session->model, status == FFFS_OK);
}

/* ---- Writers, several at once ---- */

static void open_writer(struct session *session, struct writer *writer)
{
    int status;

    writer->name = pick_name(session);
    writer->version = model_new_version(&session->model, pick_size(session));
    writer->written = 0;
    status = fffs_open(&session->fs, &writer->file, model_name(writer->name), FFFS_WRITE | FFFS_CREATE | FFFS_TRUNCATE,
                       writer->buffer, session->point->file_buffer_bytes);
    if (!session_refused(status))
        session_must(session, "open to write", status);
    writer->open = status == FFFS_OK;
}

static void append_some(struct session *session, struct writer *writer)
{
    uint32_t left = writer->version.size - writer->written, bytes = 1 + dice_below(&session->dice, left);
    int32_t result = session_append(session, &writer->file, model_data(&writer->version) + writer->written, bytes);

    if (session_refused(result)) {
        session_must(session, "discard", fffs_discard(&session->fs, &writer->file));
        writer->open = 0;
        return;
    }
    session_must(session, "write", result);
    writer->written += bytes;
}

static void close_writer(struct session *session, struct writer *writer)
{
    struct version version = writer->version;
    int status;

    version.size = writer->written;
    model_change(model_doubt(&session->model), writer->name, version);
    status = session_close(session, &writer->file);
    if (!session_refused(status))
        session_must(session, "close", status);
    model_settle(&session->model, status == FFFS_OK);
    writer->open = 0;
}

static void do_writer(struct session *session)
{
    struct writer *writer = &session->writers[dice_below(&session->dice, SESSION_WRITERS)];
    uint32_t chance = dice_below(&session->dice, 100);

    if (!writer->open)
        open_writer(session, writer);
    else if (writer->written < writer->version.size && chance < 80)
        append_some(session, writer);
    else if (chance < 92)
        close_writer(session, writer);
    else {
        session_must(session, "discard", fffs_discard(&session->fs, &writer->file));
        writer->open = 0;
    }
}

/* ---- Readers: the version that was opened, or stale ---- */

static void read_on(struct session *session, struct reader *reader)
{
    uint8_t data[300];
    uint32_t left = reader->version.size - reader->position, most = 1 + dice_below(&session->dice, sizeof data);
    int32_t got = fffs_read(&session->fs, &reader->file, data, most);

    if (got == FFFS_ERR_STALE)
        return;
    session_must(session, "read", got);
    if ((uint32_t)got > left || memcmp(data, model_data(&reader->version) + reader->position, (uint32_t)got) != 0 ||
        (got == 0 && left != 0))
        sweep_fail(session, "an open reader gets other bytes");
    reader->position += (uint32_t)got;
}

static void do_reader(struct session *session)
{
    struct reader *reader = &session->readers[dice_below(&session->dice, SESSION_READERS)];
    uint32_t name = pick_name(session);

    if (reader->open && dice_percent(&session->dice, 60)) {
        read_on(session, reader);
    } else if (reader->open) {
        session_must(session, "close of a reader", fffs_close(&session->fs, &reader->file));
        reader->open = 0;
    } else if (session->model.now[name].number != 0) {
        session_must(session, "open to read", fffs_open(&session->fs, &reader->file, model_name(name), FFFS_READ,
                                                        reader->buffer, session->point->file_buffer_bytes));
        reader->open = 1;
        reader->version = session->model.now[name];
        reader->position = 0;
    }
}

/* ---- Collection, power ---- */

static void do_gc_step(struct session *session)
{
    struct fffs_gc_limits limits;
    uint32_t i, count = 1 + dice_below(&session->dice, 4);

    limits.budget_us = dice_percent(&session->dice, 20) ? 100000 : 0;
    limits.largest_erase_bytes = dice_percent(&session->dice, 30) ? session->point->sector_bytes : 0;
    for (i = 0; i < count; i++)
        session_must(session, "gc step", fffs_gc_step(&session->fs, &limits, NULL));
}

static void do_gc(struct session *session)
{
    session_must(session, "gc", fffs_gc(&session->fs));
}

static void do_settle(struct session *session)
{
    session_must(session, "settle", fffs_settle(&session->fs));
}

static void mount_again(struct session *session)
{
    uint32_t flags = dice_percent(&session->dice, 25) ? FFFS_MOUNT_DEFER_RECOVERY : 0;

    session_must(session, "mount", session_mount(session, flags));
    session_look(session, 0);
}

static void do_remount(struct session *session)
{
    session_must(session, "unmount", session_unmount(session));
    mount_again(session);
}

static void do_power_off(struct session *session)
{
    session_power_off(session);
    mount_again(session);
}

static void do_read_only(struct session *session)
{
    session_power_off(session);
    session_must(session, "read-only mount", session_mount(session, FFFS_MOUNT_READ_ONLY));
    session_look(session, 0);
    session_power_off(session);
    mount_again(session);
}

/* Over a volume of the same geometry: one change of all names. */
static void do_format(struct session *session)
{
    struct version none = { 0, 0 };
    struct group *all;
    uint32_t i;

    session_must(session, "unmount", session_unmount(session));
    all = model_doubt(&session->model);
    for (i = 0; i < session->model.names; i++)
        model_change(all, i, none);
    session_format(session, session->point->sector_count);
    model_settle(&session->model, 1);
    mount_again(session);
}

/* ---- After a recovery ---- */

void operation_fill(struct session *session)
{
    struct fffs_space space;
    uint32_t i, name = MODEL_NAMES;

    session_must(session, "space", fffs_space(&session->fs, &space));
    for (i = 0; i < session->model.names; i++)
        if (session->model.now[i].number == 0)
            name = i;
    if (space.capacity_bytes != session->capacity)
        sweep_fail(session, "the capacity is %lu, was %lu", (unsigned long)space.capacity_bytes,
                   (unsigned long)session->capacity);
    if (name == MODEL_NAMES || space.writable_bytes == 0 || space.files >= space.max_files)
        return;
    session_must(session, "put of half of what the free query promises", put(session, name, space.writable_bytes / 2u));
}

int operation_first_change(struct session *session)
{
    uint32_t name = pick_name(session);
    struct version version = model_new_version(&session->model, dice_below(&session->dice, 100)), none = { 0, 0 };
    uint32_t before = session->model.groups, turns;
    int status, fresh;

    for (turns = 0; turns < session->model.names && model_in_doubt(&session->model, name); turns++)
        name = (name + 1u) % session->model.names;
    if (turns == session->model.names)
        return 0;
    fresh = session->model.now[name].number == 0 || dice_percent(&session->dice, 50);
    if (fresh) {
        status = session_write(session, name, &version);
    } else {
        model_change(model_doubt(&session->model), name, none);
        status = fffs_delete(&session->fs, model_name(name));
    }
    if (!session_refused(status))
        session_must(session, "first change", status);
    if (session->model.groups > before)
        model_settle_group(&session->model, &session->model.doubt[before], status == FFFS_OK);
    session->model.groups = before;
    return status == FFFS_OK;
}

static const struct operation operations[] = {
    /*                       mixed small large full writers power  use */
    { "put", do_put,           { 24, 40, 12, 40,  4, 20 }, 30 },
    { "writer", do_writer,     { 24,  6, 50, 12, 70, 10 }, 12 },
    { "delete", do_delete,     { 10, 16,  6, 12,  4,  8 }, 12 },
    { "delete-prefix", do_delete_prefix, { 2, 2, 1, 1, 1, 2 }, 2 },
    { "rename", do_rename,     {  6,  8,  4,  6,  2,  6 }, 6 },
    { "transaction", do_transaction, { 6, 8, 4, 6, 2, 6 }, 6 },
    { "reader", do_reader,     {  6,  2,  6,  4,  8,  2 }, 4 },
    { "gc-step", do_gc_step,   { 16, 10, 16, 20, 10, 12 }, 16 },
    { "gc", do_gc,             {  2,  1,  2,  3,  1,  2 }, 2 },
    { "settle", do_settle,     {  4,  6,  2,  2,  2, 12 }, 6 },
    { "remount", do_remount,   {  4,  4,  3,  3,  1, 16 }, 6 },
    { "power-off", do_power_off, { 4, 4, 3,  3,  1, 14 }, 6 },
    { "read-only", do_read_only, { 1, 1, 1,  1,  1,  2 }, 1 },
    { "format", do_format,     {  1,  1,  0,  0,  0,  1 }, 0 }
};

const struct operation *operation_at(unsigned index)
{
    return index < sizeof operations / sizeof operations[0] ? &operations[index] : NULL;
}

void operation_do(struct session *session, int workload)
{
    uint32_t total = 0, chosen, i;

    for (i = 0; operation_at(i) != NULL; i++)
        total += workload < 0 ? operations[i].use : operations[i].weight[workload];
    chosen = dice_below(&session->dice, total);
    for (i = 0; operation_at(i) != NULL; i++) {
        uint32_t weight = workload < 0 ? operations[i].use : operations[i].weight[workload];

        if (chosen < weight)
            break;
        chosen -= weight;
    }
    session->operation = i;
    session->doing = operations[i].name;
    operations[i].run(session);
}

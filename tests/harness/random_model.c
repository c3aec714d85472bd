/* The random test. Owns the oracle and every handle it has open; each step changes the volume and the oracle alike and is
 * followed by fffs_check(). What a failed write or a full index may refuse is allowed, what it leaves behind is compared. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "oracle.h"
#include "random_model.h"

enum { READERS = 4, WRITERS = 3, DIRS = 2, NAMES_MAX = 700 };

struct reader {
    struct rig_file *handle;
    const uint8_t *data;        /* the version it has open */
    uint32_t size, position;
    int open, stale;
};

struct writer {
    struct rig_file *handle;
    char name[FFFS_NAME_MAX + 1]; /* must stay valid while it is open */
    const uint8_t *data;
    uint32_t written, wanted;
    int open, exclusive, abandoned;
};

struct listing {
    struct fffs_dir *dir;
    char prefix[FFFS_NAME_MAX + 1];
    uint32_t *changes_at_open;  /* per oracle entry; absent entries: 0xFFFFFFFF */
    uint8_t *seen;
    size_t known;               /* oracle entries at open */
    int open;
};

struct model {
    struct rig *rig;
    struct oracle oracle;
    struct rng rng;
    struct reader readers[READERS];
    struct writer writers[WRITERS];
    struct listing dirs[DIRS];
    uint32_t capacity, max_files, name_max, names;
    uint32_t data_seed;
    int read_only, trace;
    unsigned step, refused;
};

static void say(struct model *model, const char *text, const char *name, long long number)
{
    harness_note("step %u: %s %s %lld", model->step, text, name, number);
    if (model->trace) { printf("step %u: %s %s %lld\n", model->step, text, name, number); fflush(stdout); }
}

/* ---- Names and sizes ---- */

static void pick_name(struct model *model, char *name)
{
    static const char *const folders[] = { "", "", "a/", "a/b/", "ab/", "log/2024/", "x" };
    uint32_t number = rng_below(&model->rng, model->names);
    const char *folder = folders[number % 7];
    uint32_t length;

    snprintf(name, FFFS_NAME_MAX + 1, "%s%x", folder, (unsigned)number);
    if (strlen(name) > model->name_max) { snprintf(name, FFFS_NAME_MAX + 1, "%x", (unsigned)number); }
    if (number % 11 == 3) {     /* some as long as can be */
        length = (uint32_t)strlen(name);
        for (; length < model->name_max; length++) { name[length] = (char)('a' + length % 26); }
        name[length] = '\0';
    }
}

static void pick_prefix(struct model *model, char *prefix)
{
    size_t length;
    pick_name(model, prefix);
    length = strlen(prefix);
    prefix[rng_below(&model->rng, (uint32_t)length + 1)] = '\0';
}

static uint32_t pick_size(struct model *model)
{
    struct rng *rng = &model->rng;
    uint32_t dice = rng_below(rng, 100), limit = model->capacity, size;

    if (dice < 5) { return 0; }
    if (dice < 55) { size = rng_below(rng, 300); }
    else if (dice < 85) { size = rng_below(rng, 2 * model->rig->point.sector_bytes + 100); }
    else if (dice < 97) { size = rng_below(rng, limit / 16 + 2); }
    else { size = rng_below(rng, limit / 4 + 2); }
    return size > limit / 3 ? size % (limit / 3 + 1) : size;
}

static const uint8_t *next_data(struct model *model) { return rig_data(++model->data_seed); }

/* ---- Rules for answers that depend on room ---- */

static int is_refusal(int status)
{
    return status == FFFS_ERR_NO_SPACE || status == FFFS_ERR_INDEX_FULL || status == FFFS_ERR_COLLECT_FIRST;
}

/* ---- Writers ---- */

static void commit(struct model *model, struct writer *writer)
{
    oracle_put(&model->oracle, writer->name, writer->data, writer->written);
}

static void step_open_writer(struct model *model, struct writer *writer)
{
    static const unsigned modes[] = {
        FFFS_WRITE | FFFS_CREATE | FFFS_TRUNCATE, FFFS_WRITE | FFFS_CREATE | FFFS_TRUNCATE,
        FFFS_WRITE | FFFS_CREATE | FFFS_TRUNCATE, FFFS_WRITE | FFFS_CREATE, FFFS_WRITE | FFFS_TRUNCATE, FFFS_WRITE,
        FFFS_WRITE | FFFS_CREATE | FFFS_EXCLUSIVE
    };
    unsigned mode = modes[rng_below(&model->rng, 7)];
    int exists, status, expected = FFFS_OK;

    pick_name(model, writer->name);
    exists = oracle_get(&model->oracle, writer->name) != NULL;
    if (exists && (mode & FFFS_TRUNCATE) == 0) { expected = FFFS_ERR_EXISTS; }
    if (!exists && (mode & FFFS_CREATE) == 0) { expected = FFFS_ERR_NOT_FOUND; }
    say(model, "open to write", writer->name, (long long)mode);
    status = rig_open(writer->handle, writer->name, mode);
    if (expected == FFFS_OK && status == FFFS_ERR_INDEX_FULL) {
        CHECK(!exists);
        model->refused++;
        return;
    }
    CHECK_STATUS(status, expected);
    if (status != FFFS_OK) { return; }
    writer->open = 1;
    writer->exclusive = (mode & FFFS_EXCLUSIVE) != 0;
    writer->abandoned = 0;
    writer->written = 0;
    writer->wanted = pick_size(model);
    writer->data = next_data(model);
    CHECK_EQ(fffs_tell(model->rig->fs, writer->handle->file), 0);
}

static void step_write(struct model *model, struct writer *writer)
{
    struct rng *rng = &model->rng;
    uint32_t left = writer->wanted - writer->written, bytes;
    struct fffs_info info;
    int32_t result;

    if (left == 0) { return; }
    switch (rng_below(rng, 4)) {
    case 0: bytes = 1 + rng_below(rng, 20); break;
    case 1: bytes = 1 + rng_below(rng, 300); break;
    case 2: bytes = 1024; break;
    default: bytes = left; break;
    }
    if (bytes > left) { bytes = left; }
    say(model, "write", writer->name, bytes);
    result = rig_write(writer->handle, writer->data + writer->written, bytes);
    if (is_refusal(result)) {
        model->refused++;
        writer->wanted = writer->written;
    } else {
        CHECK_EQ(result, bytes);
        writer->written += bytes;
    }
    CHECK_EQ(fffs_tell(model->rig->fs, writer->handle->file), writer->written);
    CHECK_OK(fffs_fstat(model->rig->fs, writer->handle->file, &info));
    CHECK_EQ(info.size, writer->written);
    CHECK_STR(info.name, writer->name);
}

static void step_close_writer(struct model *model, struct writer *writer)
{
    int status, exists = oracle_get(&model->oracle, writer->name) != NULL;

    say(model, "commit", writer->name, writer->written);
    status = rig_close(writer->handle);
    if (status == FFFS_ERR_COLLECT_FIRST) { CHECK_OK(fffs_discard(model->rig->fs, writer->handle->file)); }
    writer->open = 0;
    CHECK_STATUS(fffs_tell(model->rig->fs, writer->handle->file), FFFS_ERR_NOT_OPEN);
    if (is_refusal(status)) {
        model->refused++;
        return;
    }
    if (exists && writer->exclusive) {
        CHECK_STATUS(status, FFFS_ERR_EXISTS);
        return;
    }
    CHECK_OK(status);
    commit(model, writer);
}

static void step_discard(struct model *model, struct writer *writer)
{
    say(model, "discard", writer->name, writer->written);
    CHECK_OK(fffs_discard(model->rig->fs, writer->handle->file));
    writer->open = 0;
}

static void step_writer(struct model *model)
{
    struct writer *writer = &model->writers[rng_below(&model->rng, WRITERS)];
    uint32_t dice = rng_below(&model->rng, 100);

    if (!writer->open) { step_open_writer(model, writer); }
    else if (writer->written < writer->wanted && dice < 85) { step_write(model, writer); }
    else if (dice < 95) { step_close_writer(model, writer); }
    else { step_discard(model, writer); }
}

/* A whole file at once: most of what happens on a real volume. */
static void step_put(struct model *model)
{
    char name[FFFS_NAME_MAX + 1];
    uint32_t size = pick_size(model);
    const uint8_t *data = next_data(model);
    int status;

    pick_name(model, name);
    say(model, "put", name, size);
    status = rig_put_in(model->rig, name, data, size, 1 + rng_below(&model->rng, 2000));
    if (is_refusal(status)) {
        model->refused++;
        return;
    }
    CHECK_OK(status);
    oracle_put(&model->oracle, name, data, size);
}

/* ---- Readers ---- */

static void step_open_reader(struct model *model, struct reader *reader)
{
    char name[FFFS_NAME_MAX + 1];
    const struct oracle_file *file;
    int status;

    pick_name(model, name);
    file = oracle_get(&model->oracle, name);
    say(model, "open to read", name, file != NULL);
    status = rig_open(reader->handle, name, FFFS_READ);
    CHECK_STATUS(status, file != NULL ? FFFS_OK : FFFS_ERR_NOT_FOUND);
    if (file == NULL) { return; }
    reader->open = 1;
    reader->stale = 0;
    reader->position = 0;
    reader->data = file->data;
    reader->size = file->size;
}

static void read_some(struct model *model, struct reader *reader)
{
    static uint8_t buffer[70000];
    uint32_t bytes = rng_chance(&model->rng, 50) ? 1 + rng_below(&model->rng, 300) : 1 + rng_below(&model->rng, 70000);
    uint32_t left = reader->size - reader->position, expected = bytes < left ? bytes : left;
    int32_t result;

    say(model, "read at", "", reader->position);
    result = fffs_read(model->rig->fs, reader->handle->file, buffer, bytes);
    if (result == FFFS_ERR_STALE) {
        reader->stale = 1;
        return;
    }
    CHECK_EQ(result, expected);
    CHECK_MEM(buffer, reader->data + reader->position, expected);
    reader->position += expected;
}

static void step_reader(struct model *model)
{
    struct reader *reader = &model->readers[rng_below(&model->rng, READERS)];
    struct fffs *fs = model->rig->fs;
    uint32_t dice = rng_below(&model->rng, 100), offset;

    if (!reader->open) {
        step_open_reader(model, reader);
        return;
    }
    if (dice < 60) { read_some(model, reader); }
    else if (dice < 80) {
        offset = rng_below(&model->rng, reader->size + 1);
        say(model, "seek", "", offset);
        switch (rng_below(&model->rng, 3)) {
        case 0: CHECK_EQ(fffs_seek(fs, reader->handle->file, (int32_t)offset, FFFS_SEEK_SET), offset); break;
        case 1:
            CHECK_EQ(fffs_seek(fs, reader->handle->file, (int32_t)offset - (int32_t)reader->position, FFFS_SEEK_CUR), offset);
            break;
        default:
            CHECK_EQ(fffs_seek(fs, reader->handle->file, (int32_t)offset - (int32_t)reader->size, FFFS_SEEK_END), offset);
            break;
        }
        reader->position = offset;
    } else if (dice < 85) {
        struct fffs_info info;
        int status = fffs_fstat(fs, reader->handle->file, &info);
        if (status != FFFS_ERR_STALE) {
            CHECK_OK(status);
            CHECK_EQ(info.size, reader->size);
        }
        CHECK_EQ(fffs_tell(fs, reader->handle->file), reader->position);
    } else {
        say(model, "close reader", "", 0);
        CHECK_OK(fffs_close(fs, reader->handle->file));
        reader->open = 0;
    }
}

/* ---- Deletes ---- */

static void step_delete(struct model *model)
{
    char name[FFFS_NAME_MAX + 1];
    int status;

    pick_name(model, name);
    say(model, "delete", name, 0);
    status = fffs_delete(model->rig->fs, name);
    CHECK_STATUS(status, oracle_get(&model->oracle, name) != NULL ? FFFS_OK : FFFS_ERR_NOT_FOUND);
    oracle_delete(&model->oracle, name);
}

static void step_delete_prefix(struct model *model)
{
    char prefix[FFFS_NAME_MAX + 1];
    size_t expected, i;

    pick_prefix(model, prefix);
    if (prefix[0] == '\0') { return; }
    expected = oracle_count_prefix(&model->oracle, prefix);
    if (expected > 8 && expected * 4 > model->oracle.present) { return; }
    say(model, "delete prefix", prefix, (long long)expected);
    CHECK_EQ(fffs_delete_prefix(model->rig->fs, prefix), expected);
    for (i = 0; i < model->oracle.count; i++) {
        if (strncmp(model->oracle.files[i].name, prefix, strlen(prefix)) == 0) {
            oracle_delete(&model->oracle, model->oracle.files[i].name);
        }
    }
}

static void step_rename(struct model *model)
{
    char from[FFFS_NAME_MAX + 1], to[FFFS_NAME_MAX + 1];
    int exists, status;

    if (model->oracle.present > 0 && rng_chance(&model->rng, 70)) {
        strcpy(from, oracle_at(&model->oracle, rng_below(&model->rng, (uint32_t)model->oracle.present))->name);
    } else { pick_name(model, from); }
    pick_name(model, to);
    exists = oracle_get(&model->oracle, from) != NULL;
    say(model, "rename", from, exists);
    say(model, "to", to, oracle_get(&model->oracle, to) != NULL);
    status = rig_rename(model->rig, from, to);
    if (exists && is_refusal(status)) {
        CHECK(strcmp(from, to) != 0);
        CHECK(status != FFFS_ERR_INDEX_FULL || oracle_get(&model->oracle, to) == NULL);
        model->refused++;
        return;
    }
    CHECK_STATUS(status, exists ? FFFS_OK : FFFS_ERR_NOT_FOUND);
    if (exists) { oracle_rename(&model->oracle, from, to); }
}

/* A file as part of a transaction. */
static int put_in_txn(struct model *model, struct fffs_txn *txn, const char *name, const uint8_t *data, uint32_t size)
{
    struct rig_file *handle = rig_file_new(model->rig);
    int status = rig_open(handle, name, RIG_WRITER);

    if (status == FFFS_OK) {
        status = size == 0 ? FFFS_OK : rig_write(handle, data, size);
        if (status >= 0) {
            do { status = fffs_txn_put(model->rig->fs, txn, handle->file); }
            while (status == FFFS_ERR_COLLECT_FIRST && fffs_gc_step(model->rig->fs, NULL, NULL) > 0);
        }
        if (status != FFFS_OK) { CHECK_OK(fffs_discard(model->rig->fs, handle->file)); }
    }
    rig_file_free(handle);
    return status;
}

/* One change of a transaction; `after` is what the volume holds once it is committed. */
static void change_in_txn(struct model *model, struct fffs_txn *txn, struct oracle *after)
{
    char name[FFFS_NAME_MAX + 1], to[FFFS_NAME_MAX + 1];
    uint32_t dice = rng_below(&model->rng, 100), size = pick_size(model);
    const uint8_t *data = next_data(model);
    int exists, status;

    if (after->present > 0 && rng_chance(&model->rng, 60)) {
        strcpy(name, oracle_at(after, rng_below(&model->rng, (uint32_t)after->present))->name);
    } else { pick_name(model, name); }
    pick_name(model, to);
    exists = oracle_get(after, name) != NULL;
    say(model, dice < 40 ? "  txn put" : dice < 60 ? "  txn delete" : "  txn rename", name, size);
    if (dice < 40) {
        status = put_in_txn(model, txn, name, data, size);
        if (status == FFFS_OK) { oracle_put(after, name, data, size); }
        exists = 1;
    } else if (dice < 60) {
        status = fffs_txn_delete(model->rig->fs, txn, name);
        if (status == FFFS_OK) { oracle_delete(after, name); }
    } else {
        do { status = fffs_txn_rename(model->rig->fs, txn, name, to); }
        while (status == FFFS_ERR_COLLECT_FIRST && fffs_gc_step(model->rig->fs, NULL, NULL) > 0);
        if (status == FFFS_OK) { oracle_rename(after, name, to); }
    }
    if (exists && (is_refusal(status) || status == FFFS_ERR_NO_MEMORY)) { model->refused++; }
    else { CHECK_STATUS(status, exists ? FFFS_OK : FFFS_ERR_NOT_FOUND); }
}

static void step_txn(struct model *model)
{
    struct fffs_change changes[12];
    struct fffs_txn txn;
    struct oracle after;
    uint32_t count = rng_below(&model->rng, 8);

    say(model, "transaction of", "", count);
    oracle_copy(&after, &model->oracle);
    CHECK_OK(fffs_txn_begin(model->rig->fs, &txn, changes, 12));
    for (; count > 0; count--) {
        change_in_txn(model, &txn, &after);
        if (rng_chance(&model->rng, 20)) { CHECK(fffs_gc_step(model->rig->fs, NULL, NULL) >= 0); }
        if (rng_chance(&model->rng, 10)) { oracle_verify_names(&model->oracle, model->rig); }
    }
    if (rng_chance(&model->rng, 70)) {
        CHECK_OK(fffs_txn_commit(model->rig->fs, &txn));
        oracle_free(&model->oracle);
        model->oracle = after;
    } else {
        CHECK_OK(fffs_txn_abort(model->rig->fs, &txn));
        oracle_free(&after);
    }
}

/* ---- Listings ---- */

static void listing_start(struct model *model, struct listing *listing)
{
    size_t i;

    pick_prefix(model, listing->prefix);
    if (rng_chance(&model->rng, 50)) { listing->prefix[0] = '\0'; }
    say(model, "dir open", listing->prefix, 0);
    CHECK_OK(fffs_dir_open(model->rig->fs, listing->dir, listing->prefix, 0));
    listing->known = model->oracle.count;
    listing->changes_at_open = realloc(listing->changes_at_open, (listing->known + 1) * sizeof *listing->changes_at_open);
    free(listing->seen);
    listing->seen = calloc(listing->known + 1, 1);
    if (listing->seen == NULL || listing->changes_at_open == NULL) { abort(); }
    for (i = 0; i < listing->known; i++) {
        const struct oracle_file *file = &model->oracle.files[i];
        listing->changes_at_open[i] = file->present ? file->changes : UINT32_MAX;
    }
    listing->open = 1;
}

/* Nonzero when the entry was there at the open and is still the same. */
static int is_steady(struct model *model, struct listing *listing, size_t number)
{
    const struct oracle_file *file = &model->oracle.files[number];
    return number < listing->known && file->present && listing->changes_at_open[number] == file->changes
        && strncmp(file->name, listing->prefix, strlen(listing->prefix)) == 0;
}

static void listing_end(struct model *model, struct listing *listing)
{
    size_t i;
    for (i = 0; i < listing->known; i++) {
        if (is_steady(model, listing, i) && !listing->seen[i]) {
            harness_fail(__FILE__, __LINE__, "the listing left out \"%s\"", model->oracle.files[i].name);
        }
    }
    CHECK_OK(fffs_dir_close(model->rig->fs, listing->dir));
    listing->open = 0;
}

static void step_listing(struct model *model)
{
    struct listing *listing = &model->dirs[rng_below(&model->rng, DIRS)];
    uint32_t count = 1 + rng_below(&model->rng, 40);
    struct fffs_info info;

    if (!listing->open) { listing_start(model, listing); }
    say(model, "dir read", listing->prefix, count);
    for (; count > 0; count--) {
        const struct oracle_file *file;
        int more = fffs_dir_read(model->rig->fs, listing->dir, &info);
        if (more == 0) {
            listing_end(model, listing);
            return;
        }
        CHECK_EQ(more, 1);
        CHECK(strncmp(info.name, listing->prefix, strlen(listing->prefix)) == 0);
        file = oracle_get(&model->oracle, info.name);
        if (file == NULL) { harness_fail(__FILE__, __LINE__, "\"%s\" is listed and does not exist", info.name); }
        CHECK_EQ(info.size, file->size);
        if ((size_t)(file - model->oracle.files) < listing->known) {
            size_t number = (size_t)(file - model->oracle.files);
            if (listing->seen[number] && is_steady(model, listing, number)) {
                harness_fail(__FILE__, __LINE__, "\"%s\" is listed twice", info.name);
            }
            listing->seen[number] = 1;
        }
    }
}

static void step_folders(struct model *model)
{
    struct fffs_dir *dir = calloc(1, sizeof *dir);
    char prefix[FFFS_NAME_MAX + 1];
    struct fffs_info info;
    size_t count = 0;
    int more;

    if (dir == NULL) { abort(); }
    pick_prefix(model, prefix);
    say(model, "folders", prefix, 0);
    CHECK_OK(fffs_dir_open(model->rig->fs, dir, prefix, '/'));
    while ((more = fffs_dir_read(model->rig->fs, dir, &info)) == 1) {
        CHECK(strncmp(info.name, prefix, strlen(prefix)) == 0);
        if (info.is_folder) {
            CHECK(oracle_count_prefix(&model->oracle, info.name) > 0);
            CHECK_EQ(info.name[strlen(info.name) - 1], '/');
            CHECK_EQ(info.size, 0);
        } else { CHECK(oracle_get(&model->oracle, info.name) != NULL); }
        count++;
    }
    CHECK_OK(more);
    CHECK_EQ(count, oracle_count_folders(&model->oracle, prefix, '/'));
    CHECK_OK(fffs_dir_close(model->rig->fs, dir));
    free(dir);
}

/* ---- Facts ---- */

static void step_facts(struct model *model)
{
    char name[FFFS_NAME_MAX + 1];
    const struct oracle_file *file;
    struct fffs_info info;
    struct fffs_space space;

    pick_name(model, name);
    file = oracle_get(&model->oracle, name);
    say(model, "facts", name, file != NULL);
    CHECK_EQ(fffs_exists(model->rig->fs, name), file != NULL);
    CHECK_STATUS(fffs_stat(model->rig->fs, name, &info), file != NULL ? FFFS_OK : FFFS_ERR_NOT_FOUND);
    if (file != NULL) {
        CHECK_EQ(info.size, file->size);
        CHECK_STR(info.name, name);
        CHECK_EQ(info.name_length, strlen(name));
    }
    space = rig_space(model->rig);
    CHECK_EQ(space.files, model->oracle.present);
    CHECK_EQ(space.capacity_bytes, model->capacity);
    CHECK_EQ(space.max_files, model->max_files);
    CHECK_LE(space.used_bytes, space.capacity_bytes);
    CHECK_EQ(space.used_bytes + space.free_bytes, space.capacity_bytes);
    CHECK_LE(model->oracle.bytes, (uint64_t)space.used_bytes);
}

/* ---- Collection, power ---- */

static void step_gc(struct model *model)
{
    if (rng_chance(&model->rng, 10)) {
        say(model, "gc", "", 0);
        CHECK_OK(fffs_gc(model->rig->fs));
        return;
    }
    if (rng_chance(&model->rng, 30)) {
        struct fffs_gc_limits limits;
        struct fffs_gc_report report;
        limits.budget_us = rng_below(&model->rng, 60000);
        limits.largest_erase_bytes = rng_chance(&model->rng, 50) ? model->rig->flash.erase_bytes[0] : 0;
        say(model, "gc step of us", "", limits.budget_us);
        CHECK(fffs_gc_step(model->rig->fs, &limits, &report) >= 0);
        return;
    }
    say(model, "gc step", "", 0);
    CHECK(fffs_gc_step(model->rig->fs, NULL, NULL) >= 0);
}

static void close_all(struct model *model, int forget)
{
    size_t i;
    for (i = 0; i < READERS; i++) {
        if (model->readers[i].open && !forget) { CHECK_OK(fffs_close(model->rig->fs, model->readers[i].handle->file)); }
        model->readers[i].open = 0;
    }
    for (i = 0; i < WRITERS; i++) {
        if (model->writers[i].open && !forget) { CHECK_OK(fffs_discard(model->rig->fs, model->writers[i].handle->file)); }
        model->writers[i].open = 0;
    }
    for (i = 0; i < DIRS; i++) {
        if (model->dirs[i].open && !forget) { CHECK_OK(fffs_dir_close(model->rig->fs, model->dirs[i].dir)); }
        model->dirs[i].open = 0;
    }
    if (!forget) { return; }
    for (i = 0; i < READERS; i++) { memset(model->readers[i].handle->file, 0, sizeof *model->readers[i].handle->file); }
    for (i = 0; i < WRITERS; i++) { memset(model->writers[i].handle->file, 0, sizeof *model->writers[i].handle->file); }
    for (i = 0; i < DIRS; i++) { memset(model->dirs[i].dir, 0, sizeof *model->dirs[i].dir); }
}

static void look_read_only(struct model *model)
{
    rig_count(model->rig);
    CHECK_OK(rig_mount_flags(model->rig, model->rig->point.flags | FFFS_MOUNT_READ_ONLY));
    oracle_verify(&model->oracle, model->rig);
    CHECK_OK(rig_unmount(model->rig));
    CHECK_EQ(rig_changes(model->rig), 0);
    rig_crash(model->rig);
}

static void step_power(struct model *model)
{
    int clean = rng_chance(&model->rng, 50);

    say(model, clean ? "unmount" : "power off", "", 0);
    close_all(model, !clean);
    if (clean) { CHECK_OK(rig_unmount(model->rig)); }
    rig_crash(model->rig);
    if (rng_chance(&model->rng, 30)) { rig_set_cache(model->rig, (enum rig_cache)rng_below(&model->rng, 4)); }
    if (rng_chance(&model->rng, 20)) { look_read_only(model); }
    CHECK_OK(rig_mount_flags(model->rig, model->rig->point.flags
                             | (rng_chance(&model->rng, 20) ? FFFS_MOUNT_DEFER_RECOVERY : 0u)));
    if (rng_chance(&model->rng, 40)) { oracle_verify(&model->oracle, model->rig); }
}

static void step_settle(struct model *model)
{
    say(model, "settle", "", 0);
    CHECK_OK(fffs_settle(model->rig->fs));
}

static void one_step(struct model *model)
{
    uint32_t dice = rng_below(&model->rng, 1000);

    if (dice < 250) { step_writer(model); }
    else if (dice < 400) { step_put(model); }
    else if (dice < 550) { step_reader(model); }
    else if (dice < 610) { step_delete(model); }
    else if (dice < 640) { step_rename(model); }
    else if (dice < 660) { step_txn(model); }
    else if (dice < 680) { step_delete_prefix(model); }
    else if (dice < 760) { step_listing(model); }
    else if (dice < 790) { step_folders(model); }
    else if (dice < 870) { step_facts(model); }
    else if (dice < 960) { step_gc(model); }
    else if (dice < 970) { step_settle(model); }
    else if (dice < 985) { step_power(model); }
    else { oracle_verify_names(&model->oracle, model->rig); }
}

static void start(struct model *model, const struct rig_point *point, uint64_t seed)
{
    size_t i;

    memset(model, 0, sizeof *model);
    model->rng.state = seed;
    model->rig = rig_mounted(point);
    oracle_init(&model->oracle);
    model->capacity = rig_capacity(model->rig);
    model->max_files = model->rig->geometry.max_files;
    model->name_max = rig_name_max(model->rig);
    model->names = model->max_files < NAMES_MAX ? model->max_files + model->max_files / 4 : NAMES_MAX;
    for (i = 0; i < READERS; i++) { model->readers[i].handle = rig_file_new(model->rig); }
    for (i = 0; i < WRITERS; i++) { model->writers[i].handle = rig_file_new(model->rig); }
    for (i = 0; i < DIRS; i++) {
        model->dirs[i].dir = calloc(1, sizeof *model->dirs[i].dir);
        if (model->dirs[i].dir == NULL) { abort(); }
    }
}

static void finish(struct model *model)
{
    size_t i;

    close_all(model, 0);
    oracle_verify(&model->oracle, model->rig);
    rig_remount(model->rig);
    oracle_verify(&model->oracle, model->rig);
    CHECK_OK(rig_unmount(model->rig));
    for (i = 0; i < READERS; i++) { rig_file_free(model->readers[i].handle); }
    for (i = 0; i < WRITERS; i++) { rig_file_free(model->writers[i].handle); }
    for (i = 0; i < DIRS; i++) {
        free(model->dirs[i].dir);
        free(model->dirs[i].changes_at_open);
        free(model->dirs[i].seen);
    }
    oracle_free(&model->oracle);
    rig_destroy(model->rig);
}

void random_model_run(const struct rig_point *point, uint64_t seed, unsigned steps, int trace)
{
    static struct model model;

    harness_replay("--replay random:point=%s:seed=%llu:steps=%u", point->name, (unsigned long long)seed, steps);
    start(&model, point, seed);
    model.trace = trace;
    for (model.step = 0; model.step < steps; model.step++) {
        one_step(&model);
        rig_check(model.rig);
        if (model.step % 97 == 96) { oracle_verify(&model.oracle, model.rig); }
    }
    finish(&model);
    if (trace) { printf("%u steps, %u refused for room, %zu files at the end\n", steps, model.refused, model.oracle.present); }
}

/* The model of a volume's contents. Owns names and sizes; file bytes belong to whoever made them. */
#include <stdlib.h>
#include <string.h>
#include "oracle.h"

void oracle_init(struct oracle *oracle) { memset(oracle, 0, sizeof *oracle); }

void oracle_free(struct oracle *oracle)
{
    free(oracle->files);
    oracle_init(oracle);
}

void oracle_copy(struct oracle *copy, const struct oracle *oracle)
{
    *copy = *oracle;
    copy->room = oracle->count + 1;
    copy->files = malloc(copy->room * sizeof *copy->files);
    if (copy->files == NULL) { abort(); }
    if (oracle->count > 0) { memcpy(copy->files, oracle->files, oracle->count * sizeof *copy->files); }
}

static struct oracle_file *find(const struct oracle *oracle, const char *name)
{
    size_t i;
    for (i = 0; i < oracle->count; i++) {
        if (strcmp(oracle->files[i].name, name) == 0) { return &oracle->files[i]; }
    }
    return NULL;
}

void oracle_put(struct oracle *oracle, const char *name, const uint8_t *data, uint32_t size)
{
    struct oracle_file *file = find(oracle, name);

    if (file == NULL) {
        if (oracle->count == oracle->room) {
            oracle->room = oracle->room == 0 ? 64 : oracle->room * 2;
            oracle->files = realloc(oracle->files, oracle->room * sizeof *oracle->files);
            if (oracle->files == NULL) { abort(); }
        }
        file = &oracle->files[oracle->count++];
        memset(file, 0, sizeof *file);
        strcpy(file->name, name);
    }
    if (file->present) { oracle->bytes -= file->size; }
    else { oracle->present++; }
    file->present = 1;
    file->data = data;
    file->size = size;
    file->changes++;
    oracle->bytes += size;
}

void oracle_delete(struct oracle *oracle, const char *name)
{
    struct oracle_file *file = find(oracle, name);

    if (file == NULL || !file->present) { return; }
    file->present = 0;
    file->changes++;
    oracle->present--;
    oracle->bytes -= file->size;
}

void oracle_rename(struct oracle *oracle, const char *from, const char *to)
{
    const struct oracle_file *file = find(oracle, from);
    const uint8_t *data = file->data;
    uint32_t size = file->size;

    if (strcmp(from, to) == 0) { return; }
    oracle_delete(oracle, from);
    oracle_put(oracle, to, data, size);
}

const struct oracle_file *oracle_find(const struct oracle *oracle, const char *name) { return find(oracle, name); }

const struct oracle_file *oracle_get(const struct oracle *oracle, const char *name)
{
    const struct oracle_file *file = find(oracle, name);
    return file != NULL && file->present ? file : NULL;
}

const struct oracle_file *oracle_at(const struct oracle *oracle, size_t number)
{
    size_t i;
    for (i = 0; i < oracle->count; i++) {
        if (oracle->files[i].present && number-- == 0) { return &oracle->files[i]; }
    }
    return NULL;
}

size_t oracle_count_prefix(const struct oracle *oracle, const char *prefix)
{
    size_t i, count = 0, bytes = strlen(prefix);
    for (i = 0; i < oracle->count; i++) {
        count += oracle->files[i].present && strncmp(oracle->files[i].name, prefix, bytes) == 0;
    }
    return count;
}

/* Bytes of the folder that the file belongs to behind the prefix, delimiter included; 0: the file stands for itself. */
static size_t folder_bytes(const char *name, size_t prefix_bytes, char delimiter)
{
    const char *end = strchr(name + prefix_bytes, delimiter);
    return delimiter == '\0' || end == NULL ? 0 : (size_t)(end - name) + 1;
}

size_t oracle_count_folders(const struct oracle *oracle, const char *prefix, char delimiter)
{
    size_t i, j, count = 0, bytes = strlen(prefix);
    for (i = 0; i < oracle->count; i++) {
        const struct oracle_file *file = &oracle->files[i];
        size_t folder;
        if (!file->present || strncmp(file->name, prefix, bytes) != 0) { continue; }
        folder = folder_bytes(file->name, bytes, delimiter);
        for (j = 0; folder != 0 && j < i; j++) {
            if (oracle->files[j].present && strncmp(oracle->files[j].name, file->name, folder) == 0) { break; }
        }
        count += folder == 0 || j == i;
    }
    return count;
}

struct listing { const struct oracle *oracle; uint8_t *seen; size_t count; };

static void see(struct listing *listing, const struct fffs_info *info)
{
    const struct oracle_file *file = oracle_get(listing->oracle, info->name);

    if (file == NULL) { harness_fail(__FILE__, __LINE__, "\"%s\" is listed and should not exist", info->name); }
    if (listing->seen[file - listing->oracle->files]++) {
        harness_fail(__FILE__, __LINE__, "\"%s\" is listed twice", info->name);
    }
    if (info->size != file->size) {
        harness_fail(__FILE__, __LINE__, "\"%s\" is listed with %u bytes, not %u", info->name, (unsigned)info->size,
                     (unsigned)file->size);
    }
    CHECK_EQ(info->name_length, strlen(info->name));
    CHECK_EQ(info->is_folder, 0);
    listing->count++;
}

static int visit(void *context, const struct fffs_info *info)
{
    see(context, info);
    return 0;
}

static void fail_missing(const struct listing *listing, const char *what)
{
    size_t i;
    for (i = 0; i < listing->oracle->count; i++) {
        if (listing->oracle->files[i].present && !listing->seen[i]) {
            harness_fail(__FILE__, __LINE__, "\"%s\" is missing in the %s (%zu of %zu there)", listing->oracle->files[i].name,
                         what, listing->count, listing->oracle->present);
        }
    }
}

void oracle_verify_names(const struct oracle *oracle, struct rig *rig)
{
    struct listing listing;
    struct fffs_dir *dir = calloc(1, sizeof *dir);
    struct fffs_info info;
    int more;

    listing.oracle = oracle;
    listing.seen = calloc(oracle->count + 1, 1);
    listing.count = 0;
    if (listing.seen == NULL || dir == NULL) { abort(); }
    CHECK_OK(fffs_dir_open(rig->fs, dir, "", 0));
    while ((more = fffs_dir_read(rig->fs, dir, &info)) == 1) { see(&listing, &info); }
    CHECK_OK(more);
    CHECK_OK(fffs_dir_close(rig->fs, dir));
    fail_missing(&listing, "directory");
    memset(listing.seen, 0, oracle->count + 1);
    listing.count = 0;
    CHECK_OK(fffs_list(rig->fs, "", visit, &listing));
    fail_missing(&listing, "list call");
    free(listing.seen);
    free(dir);
}

void oracle_verify(const struct oracle *oracle, struct rig *rig)
{
    size_t i;

    oracle_verify_names(oracle, rig);
    for (i = 0; i < oracle->count; i++) {
        const struct oracle_file *file = &oracle->files[i];
        if (file->present) { rig_expect(rig, file->name, file->data, file->size); }
        else { rig_expect_missing(rig, file->name); }
    }
    CHECK_EQ(rig_space(rig).files, oracle->present);
    rig_check(rig);
}

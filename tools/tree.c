/* Reads a folder of the host. Owns the rules of what is taken and which name it gets: the path below the folder with '/'
 * between its parts, without a leading '/'. Folders themselves leave no trace in a flat namespace. */
#include "tree.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FILE_BYTES_MAX = 2147483647 };

/* Folders still to be read, and those read: the list doubles as the chain of parents, to find links that loop. */
struct folder {
    char *path;
    char *name;                 /* prefix of the names inside: "" or ends with '/' (after the caller's prefix) */
    dev_t device;
    ino_t inode;
    size_t parent;              /* index, its own for the first */
};

struct scan {
    struct tree *tree;
    const struct tree_options *options;
    struct folder *folders;
    size_t folder_count;
    int failed;
};

static char *join(const char *left, const char *middle, const char *right)
{
    char *text = tool_alloc(strlen(left) + strlen(middle) + strlen(right) + 1);

    return strcat(strcat(strcpy(text, left), middle), right);
}

static void add_file(struct tree *tree, const char *path, const char *name, uint64_t bytes)
{
    struct tree_file *file;

    if ((tree->count & (tree->count - 1)) == 0)     /* grows at 0, 1, 2, 4 ... */
        tree->files = tool_resize(tree->files, (tree->count == 0 ? 1 : 2 * tree->count) * sizeof *tree->files);
    file = &tree->files[tree->count++];
    file->path = tool_copy(path);
    file->name = tool_copy(name);
    file->bytes = bytes;
    tree->bytes += bytes;
}

/* 1 when the folder is one of its own ancestors. */
static int is_loop(const struct scan *scan, size_t parent, const struct stat *facts)
{
    size_t at = parent;

    for (;;) {
        const struct folder *folder = &scan->folders[at];

        if (folder->device == facts->st_dev && folder->inode == facts->st_ino)
            return 1;
        if (folder->parent == at)
            return 0;
        at = folder->parent;
    }
}

static void add_folder(struct scan *scan, char *path, char *name, size_t parent, const struct stat *facts)
{
    struct folder *folder;
    size_t count = scan->folder_count;

    if ((count & (count - 1)) == 0)
        scan->folders = tool_resize(scan->folders, (count == 0 ? 1 : 2 * count) * sizeof *scan->folders);
    folder = &scan->folders[scan->folder_count++];
    folder->path = path;
    folder->name = name;
    folder->device = facts->st_dev;
    folder->inode = facts->st_ino;
    folder->parent = parent;
}

static void fail(struct scan *scan, const char *path, const char *reason)
{
    tool_error(path, "%s", reason);
    scan->failed = 1;
}

static void take_entry(struct scan *scan, size_t parent, const char *entry)
{
    char *path = join(scan->folders[parent].path, "/", entry);
    char *name = join(scan->folders[parent].name, "", entry);
    struct stat facts;

    if (stat(path, &facts) != 0) {
        fail(scan, path, strerror(errno));
    } else if (S_ISREG(facts.st_mode)) {
        add_file(scan->tree, path, name, (uint64_t)facts.st_size);
    } else if (!S_ISDIR(facts.st_mode)) {
        fail(scan, path, "neither a file nor a folder: take it out of the tree");
    } else if (is_loop(scan, parent, &facts)) {
        fail(scan, path, "a link to a folder that contains it: take it out of the tree");
    } else {
        add_folder(scan, path, join(name, "/", ""), parent, &facts);
        path = NULL;
    }
    free(path);
    free(name);
}

static int is_skipped(const struct scan *scan, const char *entry)
{
    return !scan->options->all && (strcmp(entry, ".git") == 0 || strcmp(entry, ".DS_Store") == 0);
}

static void read_folder(struct scan *scan, size_t index)
{
    DIR *stream = opendir(scan->folders[index].path);
    struct dirent *entry;

    if (stream == NULL) {
        fail(scan, scan->folders[index].path, strerror(errno));
        return;
    }
    while ((entry = readdir(stream)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (is_skipped(scan, entry->d_name))
            scan->tree->skipped++;
        else
            take_entry(scan, index, entry->d_name);
    }
    closedir(stream);
}

static int by_name(const void *left, const void *right)
{
    return strcmp(((const struct tree_file *)left)->name, ((const struct tree_file *)right)->name);
}

/* Every name and size against what the target can hold; prints each that does not fit. */
static int check_files(const struct tree *tree, const struct tree_options *options)
{
    uint32_t name_max = options->name_max != 0 ? options->name_max : FFFS_NAME_MAX;
    int result = 0;
    size_t i;

    for (i = 0; i < tree->count; i++) {
        const struct tree_file *file = &tree->files[i];

        if (strlen(file->name) > name_max) {
            tool_error(file->path, "its name in the image, '%s', has %zu bytes, the limit is %" PRIu32
                       ": shorten it or leave it out", tool_name_text(file->name), strlen(file->name), name_max);
            result = -1;
        }
        if (file->bytes > FILE_BYTES_MAX) {
            tool_error(file->path, "it has %" PRIu64 " bytes, a file can have %d", file->bytes, FILE_BYTES_MAX);
            result = -1;
        }
    }
    return result;
}

int tree_scan(struct tree *tree, const char *folder, const struct tree_options *options)
{
    struct scan scan = { tree, options, NULL, 0, 0 };
    struct stat facts;
    size_t i;

    memset(tree, 0, sizeof *tree);
    if (stat(folder, &facts) != 0) {
        tool_error(folder, "%s", strerror(errno));
        return -1;
    }
    if (!S_ISDIR(facts.st_mode)) {
        tool_error(folder, "not a folder ('fastffs add' takes single files)");
        return -1;
    }
    add_folder(&scan, tool_copy(folder), tool_copy(options->prefix), 0, &facts);
    for (i = 0; i < scan.folder_count; i++)
        read_folder(&scan, i);
    for (i = 0; i < scan.folder_count; i++) {
        free(scan.folders[i].path);
        free(scan.folders[i].name);
    }
    free(scan.folders);
    if (tree->count > 0)
        qsort(tree->files, tree->count, sizeof *tree->files, by_name);
    if (check_files(tree, options) != 0)
        scan.failed = 1;
    return scan.failed ? -1 : 0;
}

int tree_single(struct tree *tree, const char *path, const char *name, const struct tree_options *options)
{
    struct stat facts;

    memset(tree, 0, sizeof *tree);
    if (stat(path, &facts) != 0) {
        tool_error(path, "%s", strerror(errno));
        return -1;
    }
    if (!S_ISREG(facts.st_mode)) {
        tool_error(path, "not a regular file%s", S_ISDIR(facts.st_mode) ? " ('fastffs load' takes folders)" : "");
        return -1;
    }
    add_file(tree, path, name, (uint64_t)facts.st_size);
    return check_files(tree, options);
}

void tree_free(struct tree *tree)
{
    size_t i;

    for (i = 0; i < tree->count; i++) {
        free(tree->files[i].path);
        free(tree->files[i].name);
    }
    free(tree->files);
    memset(tree, 0, sizeof *tree);
}

/* A folder of the host as a sorted list of files with the names they get in the image. */
#ifndef TREE_H
#define TREE_H

#include "tool.h"

struct tree_file {
    char *path;                 /* on the host */
    char *name;                 /* in the image: prefix, then the path below the folder with '/' */
    uint64_t bytes;
};

struct tree {
    struct tree_file *files;    /* by name, byte by byte: the same tree gives the same list on every host */
    size_t count;
    uint64_t bytes;             /* of all files */
    size_t skipped;             /* .git and .DS_Store left out */
};

struct tree_options {
    const char *prefix;         /* put before every name; "" for none */
    int all;                    /* nonzero: take .git and .DS_Store as well */
    uint32_t name_max;          /* longest name that the target takes; 0: what this tool takes */
};

/* Reads the folder (links are followed) and checks every name and size. 0, or -1 with every fault printed. */
int tree_scan(struct tree *tree, const char *folder, const struct tree_options *options);
/* A list of one file, for what adds single files. Same results. */
int tree_single(struct tree *tree, const char *path, const char *name, const struct tree_options *options);
void tree_free(struct tree *tree);

#endif

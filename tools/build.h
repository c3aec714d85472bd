/* What create, load and add have in common: build or change an image in memory, then replace the file. Each returns the
 * exit code, with the messages printed. */
#ifndef BUILD_H
#define BUILD_H

#include "image.h"
#include "pack.h"
#include "tree.h"

struct build_options {
    int quiet, verbose, json, verify;
};

/* A new image with the tree in it (which may be empty). */
int build_create(const char *path, const struct tree *tree, const struct image_plan *plan,
                 const struct build_options *options);
/* The tree into an existing image. `dry_run` nonzero: says whether it fits and writes nothing. */
int build_load(const char *path, const struct tree *tree, const struct build_options *options, int dry_run);
/* Says the smallest size of a new image that holds the tree. */
int build_measure(const struct tree *tree, const struct image_plan *plan, const struct build_options *options);

#endif

/* Writing a list of host files into an image in memory, and measuring what it takes. */
#ifndef PACK_H
#define PACK_H

#include "image.h"
#include "tree.h"

struct pack_result {
    int status;                 /* FFFS_OK, a status, or IMAGE_HOST_ERROR (message printed) */
    size_t done;                /* files written before the failure */
    const struct tree_file *failed;  /* NULL when no single file failed */
    uint32_t free_before;       /* bytes the volume had free before the first file */
    uint32_t max_files;         /* names the volume has room for */
};

/* Writes all files to a mounted image, in the order of the list. `progress` nonzero: shows a bar. */
int pack_tree(struct image *image, const struct tree *tree, struct pack_result *result, int progress);
/* Prints why pack_tree() failed: the file, the bytes needed and available, what to do. `plan` as for pack_smallest(). */
void pack_report(const char *image_path, const struct tree *tree, const struct pack_result *result,
                 const struct image_plan *plan);
/* Compares every file of a mounted image with the host's. 0, or -1 with the difference printed. */
int pack_compare(struct image *image, const struct tree *tree);

/* A fresh image with all files in it, unmounted, in memory. When the plan names no max_files, there are at least as many as
 * the tree has. */
int pack_build(struct image **image, const char *path, const struct tree *tree, const struct image_plan *plan,
               struct pack_result *result, int progress);
/* The smallest size that pack_build() succeeds with, every other value of the plan as given; with one sector less it
 * fails. Found by building in memory. FFFS_OK; FFFS_ERR_NO_SPACE when no size works; IMAGE_HOST_ERROR. */
int pack_smallest(const struct tree *tree, const struct image_plan *plan, uint32_t *size_bytes);

#endif

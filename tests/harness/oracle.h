/* What a volume must hold, in RAM: names and the bytes of their newest committed version. The bytes are not copied: they
 * come from rig_data() or are static. */
#ifndef ORACLE_H
#define ORACLE_H

#include "rig.h"

struct oracle_file {
    char name[FFFS_NAME_MAX + 1];
    const uint8_t *data;
    uint32_t size;
    int present;
    uint32_t changes;           /* versions and deletes so far */
};

struct oracle {
    struct oracle_file *files;
    size_t count, room;
    size_t present;
    uint64_t bytes;             /* of all present files */
};

void oracle_init(struct oracle *oracle);
void oracle_free(struct oracle *oracle);
/* `copy` is not initialised. */
void oracle_copy(struct oracle *copy, const struct oracle *oracle);
void oracle_put(struct oracle *oracle, const char *name, const uint8_t *data, uint32_t size);
void oracle_delete(struct oracle *oracle, const char *name);
/* `from` must be there. */
void oracle_rename(struct oracle *oracle, const char *from, const char *to);
/* NULL when the name does not exist. */
const struct oracle_file *oracle_get(const struct oracle *oracle, const char *name);
/* The entry whether present or not; NULL when never seen. */
const struct oracle_file *oracle_find(const struct oracle *oracle, const char *name);
size_t oracle_count_prefix(const struct oracle *oracle, const char *prefix);
/* Number of entries a listing with a delimiter returns: names and folders. `is_entry` tells whether one of them is this. */
size_t oracle_count_folders(const struct oracle *oracle, const char *prefix, char delimiter);
/* A file that is present, by number 0 .. present-1 in order of first appearance. */
const struct oracle_file *oracle_at(const struct oracle *oracle, size_t number);

/* The volume holds exactly this: both listings, sizes, contents of every file, the file count, and no finding. */
void oracle_verify(const struct oracle *oracle, struct rig *rig);
/* The listings and sizes only. */
void oracle_verify_names(const struct oracle *oracle, struct rig *rig);

#endif

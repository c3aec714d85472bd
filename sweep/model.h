/* What a volume must hold: a fixed set of names, each absent or one version. A call that a cut interrupted leaves groups of
 * changes in doubt: each group as a whole is done or not done, nothing else is allowed. */
#ifndef SWEEP_MODEL_H
#define SWEEP_MODEL_H

#include <stddef.h>
#include <stdint.h>

enum {
    MODEL_NAMES = 32,            /* at most; a point says how many it uses */
    MODEL_GROUPS = 8,
    MODEL_DATA_BYTES = 1 << 16   /* largest file */
};

/* The state of one name. Bytes follow from the version number. */
struct version {
    uint32_t number;             /* 0: absent */
    uint32_t size;
};

struct group {
    uint8_t count;               /* 0 in doubt no more */
    uint8_t name[MODEL_NAMES];
    struct version after[MODEL_NAMES];
};

struct model {
    struct version now[MODEL_NAMES]; /* before all groups */
    struct group doubt[MODEL_GROUPS];
    uint32_t groups;
    uint32_t names;              /* used: the first of the list */
    uint32_t numbers;            /* versions given out */
};

const char *model_name(uint32_t index);
/* The bytes of a version; valid for ever. */
const uint8_t *model_data(const struct version *version);

struct version model_new_version(struct model *model, uint32_t size);
/* One more group in doubt, with one change; more changes are added to it. A name is in at most one group. */
struct group *model_doubt(struct model *model);
void model_change(struct group *group, uint32_t name, struct version after);
int model_in_doubt(const struct model *model, uint32_t name);
/* All groups are settled one way. */
void model_settle(struct model *model, int done);
void model_settle_group(struct model *model, struct group *group, int done);
/* Bytes of all present files. */
uint32_t model_bytes(const struct model *model);
uint32_t model_present(const struct model *model);

#endif

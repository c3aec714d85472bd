/* The operations that workloads consist of: one table, so that a new call of the library is one more entry. */
#ifndef SWEEP_OPERATIONS_H
#define SWEEP_OPERATIONS_H

#include "session.h"

enum { WORKLOADS = 6 };

struct operation {
    const char *name;
    /* Does it on a mounted volume and leaves it mounted. Before each call that changes names the change is put in doubt
     * (model_doubt), behind it settled; a cut in between is compared with both. */
    void (*run)(struct session *session);
    uint16_t weight[WORKLOADS];
    uint16_t use;                /* weight after a recovery */
};

const struct operation *operation_at(unsigned index); /* NULL behind the last */
/* Name of a workload; NULL behind the last. */
const char *workload_name(unsigned index);
/* Picks one by weight and does it. workload < 0: by the weights after a recovery. */
void operation_do(struct session *session, int workload);
/* A new file of half the size that the free query promises to take: space is not lost for good. */
void operation_fill(struct session *session);
/* A change of a name that is not in doubt; 0 when there was no room for it. */
int operation_first_change(struct session *session);

#endif

/* The random test: many steps on one volume, each compared with the oracle. The same point, seed and number of steps do the
 * same for ever, so that three values replay a failure. */
#ifndef RANDOM_MODEL_H
#define RANDOM_MODEL_H

#include "rig.h"

/* Fails the case at the first difference. `trace` nonzero prints each step. */
void random_model_run(const struct rig_point *point, uint64_t seed, unsigned steps, int trace);

#endif

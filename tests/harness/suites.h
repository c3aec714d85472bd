/* What the generated build/suites.c tells the runner: the suites, the matrix, what --replay runs. */
#ifndef SUITES_H
#define SUITES_H

#include <stddef.h>

struct rig_point;

const char *suites_name(size_t index);      /* NULL behind the last */
void suites_call(size_t index);
const struct rig_point *suites_point(size_t index); /* NULL behind the last */
const char *suites_point_name(size_t index);
unsigned suites_point_sets(size_t index);
int suites_replay(const char *what);

#endif

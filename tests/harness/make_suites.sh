#!/bin/sh
# Prints suites.c for the test files given: make_suites.sh WITH_RIG FILE...; WITH_RIG is 1 when rig.c is linked.
with_rig=$1
shift
names=$(sed -n 's/^SUITE(\([A-Za-z0-9_]*\)).*/\1/p' "$@")
echo '#include "tests/harness/suites.h"'
[ "$with_rig" = 1 ] && echo '#include "tests/harness/rig.h"'
for name in $names; do echo "void suite_$name(void);"; done
echo 'static const struct { const char *name; void (*call)(void); } suites[] = {'
for name in $names; do echo "    { \"$name\", suite_$name },"; done
cat <<'END'
    { NULL, NULL }
};
const char *suites_name(size_t index) { return suites[index].name; }
void suites_call(size_t index) { suites[index].call(); }
END
if [ "$with_rig" = 1 ]; then cat <<'END'
const struct rig_point *suites_point(size_t index) { return rig_point_at(index); }
const char *suites_point_name(size_t index) { return rig_point_at(index)->name; }
unsigned suites_point_sets(size_t index) { return rig_point_at(index)->sets; }
int suites_replay(const char *what) { return rig_replay(what); }
END
else cat <<'END'
const struct rig_point *suites_point(size_t index) { (void)index; return NULL; }
const char *suites_point_name(size_t index) { (void)index; return ""; }
unsigned suites_point_sets(size_t index) { (void)index; return 0; }
int suites_replay(const char *what) { (void)what; return 2; }
END
fi

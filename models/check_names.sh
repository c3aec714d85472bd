#!/bin/sh
# The model mirrors functions of src/ by name: each name that its comments cite must still be there.
# usage: check_names.sh           prints "ok ..." or "not ok ..."
set -u
cd "$(dirname "$0")/.." || exit 1
missing=
for name in $(grep '/[*]\|^ [*]' models/index_log.c | grep -o '[a-z_0-9]*()' | sort -u); do
    name=${name%()}
    grep -q "[ *]$name(" src/*.c || missing="$missing $name"
done
if [ -n "$missing" ]; then
    echo "not ok model_names: not in src:$missing"
    exit 1
fi
echo "ok model_names"

#!/bin/sh
# Tests of fastffs sweep itself. usage: test_sweep.sh BUILD. Prints "ok" and "not ok" lines, "N passed, N failed" at the end.
set -u
export LC_ALL=C
tool=$1/fastffs
work=$(mktemp -d "${TMPDIR:-/tmp}/fastffs-sweep.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
case $tool in /*) ;; *) tool=$PWD/$tool ;; esac
cd "$work" || exit 1
passed=0
failed=0

judge() { # NAME STATUS
    if [ "$2" -eq 0 ]; then echo "ok $1"; passed=$((passed + 1)); else echo "not ok $1"; failed=$((failed + 1)); fi
}
without_time() { sed 's/"seconds": [0-9.]*//' "$1"; }

one="--geometry s256-g1-n64-hash-sc512-fb64 --workload power --steps 20"
"$tool" sweep $one --seed 3 --seeds 2 --threads 1 --json >first
judge "two seeds without a failure" $?
"$tool" sweep $one --seed 3 --seeds 2 --threads 2 --json >second
[ -s first ] && [ "$(without_time first)" = "$(without_time second)" ]
judge "the same seeds give the same states, whatever the number of processes" $?
grep -q '"damaged_states": [1-9][0-9][0-9][0-9]' first
judge "thousands of damaged states" $?
"$tool" sweep $one --seed 3 --path 20.0 --save kept.img --trace >trace && grep -q '^no failure in 1 states' trace && [ -s kept.img ]
judge "a path leads to one state, whose image is kept" $?
"$tool" sweep $one --exhaustive --steps 3 --cuts 1 --depth 1 >table && grep -q ', 0 failed' table
judge "every pattern of a few operations" $?
"$tool" sweep --geometry nonsense >out 2>err
[ $? -eq 2 ]
judge "a geometry that is none is refused" $?
"$tool" sweep --depth 9 >out 2>err
[ $? -eq 2 ]
judge "a depth out of range is refused" $?

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

#!/bin/sh
# Shows that the crash sweep finds deliberate bugs: for each patch a build of the core with that one rule switched off, which
# the sweep must fail on. TOOL_LIBS: libraries of the image tool. usage: run.sh BUILD SEEDS [NAME...]; prints a table, then "N mutants, N caught".
set -u
export LC_ALL=C
cd "$(dirname "$0")/../.." || exit 1
build=$1
seeds=$2
shift 2
work=$build/mutants
compiler=${CC:-cc}
caught=0
total=0
objects=$(find "$build/tools" "$build/sweep" -name '*.o')
mkdir -p "$work"
[ $# -gt 0 ] || set -- $(ls tests/mutants/*.patch | sed 's|.*/||; s|\.patch$||')

printf '%-32s %-8s %10s  %s\n' "rule switched off" result seed "what the sweep saw"
for name in "$@"; do
    patch=tests/mutants/$name.patch
    total=$((total + 1))
    rm -rf "$work/$name"
    mkdir -p "$work/$name"
    cp -r src "$work/$name/src"
    # Names of the files that the patch changes; one each.
    file=$(sed -n 's|^+++ b/||p' "$patch")
    if ! patch -s -p1 -F1 -d "$work/$name" <"$patch" >"$work/$name/log" 2>&1 ||
        ! $compiler -std=c99 -O2 -Iinclude -I. -Isrc -c "$work/$name/$file" -o "$work/$name/mutant.o" >>"$work/$name/log" 2>&1 ||
        ! $compiler $objects "$work/$name/mutant.o" "$build/libfastffs.a" "$build/libnor.a" ${TOOL_LIBS:-} -o "$work/$name/fastffs" \
            >>"$work/$name/log" 2>&1; then
        printf '%-32s %-8s\n' "$name" "no build"
        sed 's/^/# /' "$work/$name/log" | head -5
        continue
    fi
    (cd "$work/$name" && ./fastffs sweep --seeds "$seeds" >out 2>err)
    result=$?
    # The command that the failure tells must fail too.
    repeat=$(sed -n 's/^repeat it: fastffs //p' "$work/$name/err" | head -1)
    if [ $result -eq 1 ] && (cd "$work/$name" && ./fastffs $repeat >repeat 2>&1); then
        printf '%-32s %-8s\n' "$name" "no repeat"
    elif [ $result -eq 1 ]; then
        caught=$((caught + 1))
        printf '%-32s %-8s %10s  %s\n' "$name" caught "$(sed -n 's/^failed: .* seed \([0-9]*\),.*/\1/p' "$work/$name/err" | head -1)" \
            "$(sed -n 's/^failed: .*branch [^:]*: //p' "$work/$name/err" | head -1 | cut -c 1-90)"
    else
        printf '%-32s %-8s\n' "$name" MISSED
    fi
done
echo "$total mutants, $caught caught"
[ "$total" -eq "$caught" ]

#!/bin/sh
# All tests: run_all.sh BUILD. Runs BUILD/run_tests, then the scripts whose "ok NAME" / "not ok NAME" lines count as cases,
# and ends with "N passed, N failed".
build=$1
out=$build/test-output
passed=0
failed=0

add() { # FILE LABEL STATUS: adds the last line "N passed, N failed" of the file, or its ok lines
    sum=$(sed -n 's/^\([0-9][0-9]*\) passed, \([0-9][0-9]*\) failed$/\1 \2/p' "$1" | tail -1)
    if [ -z "$sum" ]; then
        sum="$(grep -c '^ok' "$1") $(grep -c '^not ok' "$1")"
    fi
    good=${sum% *}
    bad=${sum#* }
    if [ "$3" -ne 0 ] && [ "$bad" -eq 0 ]; then
        echo "not ok $2: exit status $3"
        bad=1
    fi
    passed=$((passed + good))
    failed=$((failed + bad))
}

mkdir -p "$build"
"$build/run_tests" >"$out" 2>&1
status=$?
sed '$d' "$out"
tail -1 "$out" | grep -v ' passed, .* failed$'
add "$out" run_tests "$status"
for script in tests/tool/test_*.sh scripts/check_*.sh; do
    [ -f "$script" ] || continue
    case $script in tests/*) set -- "$build" ;; *) set -- ;; esac
    BUILD=$build sh "$script" "$@" >"$out" 2>&1
    status=$?
    grep skipped "$out"
    if [ "$status" -eq 0 ]; then grep '^not ok' "$out"; else grep -v '^ok' "$out"; fi
    add "$out" "$script" "$status"
done
for replay in "$build"/replay-*; do # the committed inputs of the fuzz targets: "ok FILE" for each, the last before a crash
    [ -x "$replay" ] || continue
    target=${replay##*/replay-}
    "$replay" fuzz/*/"$target" >"$out" 2>"$out.error"
    status=$?
    if [ "$status" -ne 0 ]; then tail -5 "$out.error"; fi
    add "$out" "$replay" "$status"
done
rm -f "$out" "$out.error"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]

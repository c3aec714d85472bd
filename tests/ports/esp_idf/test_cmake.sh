#!/bin/sh
# The component's CMake files on a stub of ESP-IDF's build system: test_cmake.sh BUILD [COMPONENT]. The component is the
# packed one when given. Prints "ok NAME" or "not ok NAME", and "N passed, N failed" at the end.
build=$1
root=$(pwd)
component=${2:-$root/ports/esp-idf/fastffs}
case $build in /*) ;; *) build=$root/$build ;; esac
case $component in /*) ;; *) component=$root/$component ;; esac
work=$build/idf-cmake
passed=0
failed=0

verdict() { # NAME STATUS
    if [ "$2" -eq 0 ]; then echo "ok $1"; passed=$((passed + 1)); else echo "not ok $1"; failed=$((failed + 1)); fi
}
configure() { # FOLDER [OPTION...]
    out=$1
    shift
    cmake -S ports/esp-idf/stubs/cmake -B "$out" "-DSTUB_COMPONENT=$component" "$@" >"$out.log" 2>&1
}

if ! command -v cmake >/dev/null; then
    echo "skipped: no cmake" >&2
    echo "0 passed, 0 failed"
    exit 0
fi
rm -rf "$work"
mkdir -p "$work"
tool="-DFASTFFS_TOOL=$build/fastffs"

configure "$work/a" "$tool" && cmake --build "$work/a" >>"$work/a.log" 2>&1
verdict component_compiles_and_images_are_made $?
[ "$(wc -c <"$work/a/storage.bin")" -eq 1048576 ] && "$build/fastffs" check "$work/a/storage.bin" >/dev/null &&
    "$build/fastffs" list "$work/a/storage.bin" | grep -q www/index.html
verdict image_holds_the_files $?
"$build/fastffs" check "$work/a/odd.bin" >/dev/null && "$build/fastffs" dump "$work/a/odd.bin" >/dev/null
verdict image_of_a_partition_between_blocks $?
grep -q '^flash storage ' "$work/a/flashed.txt" && grep -q '^storage-flash storage ' "$work/a/flashed.txt" &&
    ! grep -q '^flash odd ' "$work/a/flashed.txt"
verdict flash_in_project_only_where_asked $?
configure "$work/b" "$tool" -DSTUB_BAD=missing && ! cmake --build "$work/b" >>"$work/b.log" 2>&1 &&
    grep -q "no partition" "$work/b.log"
verdict missing_partition_is_told_at_build_time $?
configure "$work/c" "$tool" -DSTUB_BAD=secret && ! cmake --build "$work/c" >>"$work/c.log" 2>&1 &&
    grep -q "is encrypted" "$work/c.log"
verdict encrypted_partition_is_told_at_build_time $?
PATH=/usr/bin:/bin configure "$work/d" && cmake --build "$work/d" >>"$work/d.log" 2>&1 &&
    cmp -s "$work/a/storage.bin" "$work/d/storage.bin"
verdict host_tool_is_built_when_there_is_none $?
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

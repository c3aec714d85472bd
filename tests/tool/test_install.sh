#!/bin/sh
# The installed library, as other projects use it. usage: test_install.sh [BUILD]
# Prints "ok NAME" or "not ok NAME" per case and "N passed, N failed". Cases that need CMake or pkg-config are skipped, and
# not counted, where these are not installed.

build=${1:-build}
case $build in /*) ;; *) build=$PWD/$build ;; esac
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/fastffs-install.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
export LC_ALL=C
cc=${CC:-cc}
passed=0
failed=0

die() { echo "$*"; exit 1; }
has() { command -v "$1" >/dev/null || { echo "no $1"; return 1; }; }
runs() { # PROGRAM TEXT
    [ "$("$1")" = "$2" ] || die "$1 prints: $("$1")"
}
make_installed() { # PREFIX [VARIABLE=...]
    prefix=$1
    shift
    (cd "$root" && make -s install BUILD="$build" PREFIX="$prefix" "$@") >log 2>&1 || die "make install: $(tail -3 log)"
}
cmake_project() { # FOLDER OPTION...: configures and builds the consumer
    folder=$1
    shift
    cmake -S "$root/examples/cmake" -B "$folder" "$@" >log 2>&1 || die "configure: $(tail -5 log)"
    cmake --build "$folder" >log 2>&1 || die "build: $(tail -5 log)"
}

case_make_install_and_compiler() {
    make_installed "$PWD/to"
    "$cc" -std=c99 -Wall -Wextra -Werror -Ito/include "$root/examples/cmake/main.c" -Lto/lib -lfastffs -o c || die compile
    runs ./c "hello, names up to 64 bytes"
    to/bin/fastffs --version >out && grep -q "format 1" out || die "the installed tool: $(cat out)"
    to/bin/mkfastffs --help >out || die mkfastffs
}
case_pkg_config() {
    has pkg-config || return 77
    make_installed "$PWD/a"
    mv a elsewhere              # the files do not name the folder that they were installed to
    PKG_CONFIG_PATH=$PWD/elsewhere/lib/pkgconfig
    export PKG_CONFIG_PATH
    pkg-config --exists 'fastffs >= 0.1' || die "not found"
    # shellcheck disable=SC2046
    "$cc" -std=c99 $(pkg-config --cflags fastffs) "$root/examples/cmake/main.c" $(pkg-config --libs fastffs) -o c || die compile
    runs ./c "hello, names up to 64 bytes"
}
case_find_package_after_make_install() {
    has cmake || return 77
    make_installed "$PWD/a" LIBDIR=lib/some-machine
    mv a elsewhere
    cmake_project c -DCMAKE_PREFIX_PATH="$PWD/elsewhere" -Dfastffs_DIR="$PWD/elsewhere/lib/some-machine/cmake/fastffs" -DWANTED_VERSION=0.1
    runs c/consumer "hello, names up to 64 bytes"
    if cmake -S "$root/examples/cmake" -B d -DCMAKE_PREFIX_PATH="$PWD/elsewhere" -DWANTED_VERSION=7.0 >log 2>&1; then
        die "version 7.0 was found"
    fi
}
case_find_package_after_cmake_install() {
    has cmake || return 77
    cmake -S "$root" -B b -DCMAKE_INSTALL_PREFIX="$PWD/to" -DFASTFFS_NAME_MAX=100 >log 2>&1 || die "configure: $(tail -5 log)"
    cmake --build b >log 2>&1 && cmake --install b >log 2>&1 || die "install: $(tail -5 log)"
    cmake_project c -DCMAKE_PREFIX_PATH="$PWD/to"
    runs c/consumer "hello, names up to 100 bytes"
    if has pkg-config; then
        PKG_CONFIG_PATH=$(dirname "$(find to -name fastffs.pc)") pkg-config --cflags fastffs | grep -q FFFS_NAME_MAX=100 || die "cflags"
    fi
}
case_subdirectory() {
    has cmake || return 77
    cmake_project c -DFASTFFS_DIR_OF_SOURCES="$root" -DCMAKE_C_FLAGS="-Wall -Wextra -Werror" -DFASTFFS_NAME_MAX=32
    runs c/consumer "hello, names up to 32 bytes"
    runs c/hello "Hello, flash!"
}
case_example_of_a_transaction() {
    "$cc" -std=c99 -Wall -Wextra -Werror -I"$root/include" -I"$root" "$root/examples/transaction.c" "$build/libfastffs.a" \
        "$build/libnor.a" -o t || die compile
    runs ./t "both files are of the second version"
}
case_version_is_the_headers() {
    make_installed "$PWD/to"
    want=$(sed -n 's/^#define FFFS_VERSION_[A-Z]* \([0-9]*\)$/\1/p' "$root/include/fastffs/fastffs.h" | tr '\n' . | sed 's/\.$//')
    grep -q "^Version: $want$" to/lib/pkgconfig/fastffs.pc || die "pc: $(cat to/lib/pkgconfig/fastffs.pc)"
    grep -q "\"$want\"" to/lib/cmake/fastffs/fastffs-config-version.cmake || die cmake
    ! grep -r "@" to/lib/cmake to/lib/pkgconfig || die "a placeholder is left"
}

for name in $(sed -n 's/^case_\([a-z0-9_]*\)() .*/\1/p' "$root/tests/tool/test_install.sh"); do
    mkdir "$work/$name" || exit 1
    (cd "$work/$name" && "case_$name") >"$work/$name.log" 2>&1
    case $? in
    0) echo "ok install_$name"; passed=$((passed + 1)) ;;
    77) echo "skipped install_$name: $(tail -1 "$work/$name.log")" ;;
    *) echo "not ok install_$name"; sed 's/^/# /' "$work/$name.log"; failed=$((failed + 1)) ;;
    esac
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

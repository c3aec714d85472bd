#!/bin/bash
# Section L of the cases: builds without warnings, headers alone, alignment: build_matrix.sh BUILD. Prints "ok ..." / "not ok
# ..." and ends with "N passed, N failed".
set -u
export LC_ALL=C
cd "$(dirname "$0")/../.." || exit 1
work=$1/build_matrix
passed=0
failed=0
mkdir -p "$work"

judge() { # NAME LOG: an empty log is good
    if [ -s "$2" ]; then
        head -8 "$2" | cut -c1-300 | sed 's/^/# /'
        echo "not ok $1"
        failed=$((failed + 1))
    else
        echo "ok $1"
        passed=$((passed + 1))
    fi
}

sources=$(sed -n '/^FFFS_SRC/,/[^\\]$/p' sources.mk | tr ' \\' '\n\n' | grep '^src/')
warnings="-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wformat=2 -Wundef -Wcast-align -Werror"
small="-DFFFS_NAME_MAX=8 -DFFFS_DIR_FOLDERS=1 -DFFFS_FILE_EXTENTS=3 -DFFFS_BATCH=2"
large="-DFFFS_NAME_MAX=255 -DFFFS_DIR_FOLDERS=64 -DFFFS_FILE_EXTENTS=28 -DFFFS_BATCH=32"

# ---- C-70 ----
compile() { # LOG COMPILER FLAGS...: every file of the core
    local log=$1 source
    shift
    : >"$log"
    for source in $sources; do
        "$@" $warnings -Iinclude -I. -c "$source" -o "$work/object.o" >>"$log" 2>&1 || echo "$source: exit status" >>"$log"
    done
}
for compiler in gcc clang; do
    for width in 64 32; do
        for standard in c99 c11; do
            # Warnings that follow from flow need -O2: once each.
            optimize=-fsyntax-only
            [ "$standard" = c99 ] && optimize=-O2
            compile "$work/log" $compiler -m$width -std=$standard $optimize
            judge "c70 no warnings: $compiler -m$width -std=$standard" "$work/log"
        done
    done
    compile "$work/log" $compiler -std=c99 -fsyntax-only $small
    judge "c70 no warnings: $compiler, smallest limits" "$work/log"
    compile "$work/log" $compiler -std=c99 -fsyntax-only $large
    judge "c70 no warnings: $compiler, largest limits" "$work/log"
done
compile "$work/log" gcc -std=c99 -fsyntax-only -Wcast-align=strict
judge "c70 no cast raises alignment (gcc -Wcast-align=strict)" "$work/log"
compile "$work/log" arm-none-eabi-gcc --specs=picolibc.specs -mcpu=cortex-m0plus -mthumb -std=c99 -Os -ffreestanding
judge "c70 no warnings: gcc for Cortex-M0+" "$work/log"
# size_t has 16 bits there: lengths of memory functions are the one conversion that can not be otherwise.
: >"$work/log"
for source in $sources; do
    avr-gcc -mmcu=atmega1284p -std=c99 -Os -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wundef -Iinclude -I. -c "$source" \
        -o "$work/object.o" 2>&1 | grep 'warning\|error' | grep -v "to 'size_t {aka unsigned int}' from\|aka unsigned char}' from 'int'"
done >"$work/log"
judge "c70 no warnings: gcc for AVR, 16-bit int" "$work/log"

# ---- C-72 ----
alone() { # NAME COMPILER FLAGS...: each public header alone, and twice
    local name=$1 header
    shift
    : >"$work/log"
    for header in include/fastffs/*.h; do
        printf '#include "fastffs/%s"\n#include "fastffs/%s"\nextern int x;\nint x;\n' "${header##*/}" "${header##*/}" >"$work/alone.src"
        "$@" $warnings -Iinclude -fsyntax-only "$work/alone.src" >>"$work/log" 2>&1 || echo "$header" >>"$work/log"
    done
    judge "c72 each public header alone: $name" "$work/log"
}
for compiler in gcc clang; do
    alone "$compiler C99" $compiler -x c -std=c99
    alone "$compiler C11" $compiler -x c -std=c11
    alone "$compiler C++11" $compiler -x c++ -std=c++11
    alone "$compiler C++20" $compiler -x c++ -std=c++20
done
: >"$work/log"
for header in src/*.h; do
    printf '#include "src/%s"\nextern int x;\nint x;\n' "${header##*/}" >"$work/alone.c"
    gcc -std=c99 -Wall -Wextra -Wpedantic -Iinclude -I. -fsyntax-only "$work/alone.c" >>"$work/log" 2>&1 || echo "$header" >>"$work/log"
done
judge "c72 each internal header alone" "$work/log"
for standard in c++11 c++20; do
    : >"$work/log"
    { for source in $sources; do gcc -std=c99 -O1 -Iinclude -I. -c "$source" -o "$work/cpp_$(basename "$source" .c).o" || echo "$source"; done
      g++ -std=$standard -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wundef -Werror -Iinclude -I. \
          tests/portability/class.cpp "$work"/cpp_*.o -o "$work/class" && "$work/class" || echo "exit status $?"; } >>"$work/log" 2>&1
    judge "c72 a class of $standard uses the library; flags combine without casts" "$work/log"
done

# ---- Alignment at run time ----
: >"$work/log"
clang -std=c99 -g -O1 -fsanitize=undefined,alignment,address -fno-sanitize-recover=all -Iinclude -I. $sources \
    tests/portability/image.c tests/portability/port_host.c -o "$work/aligned" >>"$work/log" 2>&1 &&
    "$work/aligned" >"$work/out" 2>>"$work/log" || echo "exit status $?" >>"$work/log"
judge "buffers at odd addresses: no misaligned access (clang sanitizers)" "$work/log"

# ---- C-73, C-76: what numbers do not show is checked by footprint.py too ----
: >"$work/log"
compile "$work/log" gcc -std=c99 -O2 -Wvla -Wstack-usage=1400 -Wframe-larger-than=1400
judge "c73 no variable-length arrays, no frame above 1,400 B on a 64-bit host" "$work/log"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

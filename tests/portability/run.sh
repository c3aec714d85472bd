#!/bin/bash
# The library on other processors: run.sh BUILD [quick]. Prints "ok ..." / "not ok ..." and ends with "N passed, N failed".
#
# One fixed run (image.c) on each must print the same, the image included; the host tool must find that image good. Then the
# test program itself, as 32-bit and as big-endian code: parts of it with "quick".
set -u
export LC_ALL=C
cd "$(dirname "$0")/../.." || exit 1
build=$1
quick=${2:-}
work=$build/portability
passed=0
failed=0
mkdir -p "$work"

ok() { echo "ok $*"; passed=$((passed + 1)); }
not_ok() { echo "not ok $*"; failed=$((failed + 1)); }

sources=$(sed -n '/^FFFS_SRC/,/[^\\]$/p' sources.mk | tr ' \\' '\n\n' | grep '^src/')
specs=$(dpkg -L picolibc-xtensa-lx106-elf 2>/dev/null | grep 'picolibc\.specs$')

# NAME COMPILER-AND-FLAGS -- RUNNER PORT
image() {
    local name=$1 port=$2 runner=$3
    shift 3
    if ! "$@" -Iinclude -I. $sources tests/portability/image.c "tests/portability/$port" -o "$work/$name" >"$work/$name.log" 2>&1
    then
        sed -n '1,10s/^/# /p' "$work/$name.log"
        not_ok "image.c on $name: does not build"
        return
    fi
    timeout 300 $runner "$work/$name" >"$work/$name.raw" 2>&1
    # simavr colours each line and prints a full stop for its end.
    sed -e 's/\x1b\[[0-9;]*m//g' -e '/^Loaded /d' -e 's/\r$//' "$work/$name.raw" | sed -e "$([ "$name" = avr ] && echo 's/\.$//;/^$/d')" \
        >"$work/$name.out"
    if ! tail -1 "$work/$name.out" | grep -q '^[1-9][0-9]* passed, 0 failed$'; then
        tail -3 "$work/$name.out" | cut -c1-200 | sed 's/^/# /'
        not_ok "image.c on $name"
    elif cmp -s "$work/$name.out" "$work/host.out"; then
        ok "image.c on $name: same output and image, byte for byte"
    else
        diff "$work/host.out" "$work/$name.out" | head -6 | sed 's/^/# /'
        not_ok "image.c on $name: differs from the host"
    fi
}

image host port_host.c "" gcc -std=c99 -O2
image host-O0 port_host.c "" gcc -std=c99 -O0
image clang port_host.c "" clang -std=c99 -Os
image 32-bit port_host.c "" gcc -m32 -std=c99 -O2
image unsigned-char port_host.c "" gcc -funsigned-char -fshort-enums -std=c99 -O2
image mips-big-endian port_host.c qemu-mips mips-linux-gnu-gcc -static -std=c99 -Os
image avr port_avr.c "simavr -m atmega1284p -f 16000000" avr-gcc -mmcu=atmega1284p -std=gnu99 -Os -ffunction-sections \
    -Wl,--gc-sections

# The image as the host tool sees it.
sed -n '/^[0-9a-f]\{64\}$/p' "$work/avr.out" | sed 's/../\\x&/g' | while read -r line; do printf "$line"; done >"$work/avr.img"
if [ "$(wc -c <"$work/avr.img")" -eq 8192 ] && "$build/fastffs" check "$work/avr.img" >"$work/check.log" 2>&1; then
    ok "the host tool finds the image of the AVR good"
else
    head -5 "$work/check.log" | sed 's/^/# /'
    not_ok "the host tool finds the image of the AVR good"
fi

# NAME RUNNER COMPILER FLAGS: the test program, built beside.
suite() {
    local name=$1 runner=$2 compiler=$3 flags=$4 filter
    if ! make -s BUILD="$work/$name-tests" CC="$compiler" OPT="-O1" CFLAGS="$flags" LDFLAGS="${5:-}" tests >"$work/$name.log" 2>&1; then
        tail -5 "$work/$name.log" | sed 's/^/# /'
        not_ok "tests as $name: do not build"
        return
    fi
    for filter in $6; do
        timeout 1500 $runner "$work/$name-tests/run_tests" --slow 20 --filter "$filter" >"$work/$name.out" 2>&1
        if [ $? -eq 0 ] && tail -1 "$work/$name.out" | grep -q '^[1-9][0-9]* passed, 0 failed$'; then
            ok "tests '$filter' as $name: $(tail -1 "$work/$name.out")"
        else
            grep '^not ok\|FAIL\|passed' "$work/$name.out" | head -5 | sed 's/^/# /'
            not_ok "tests '$filter' as $name"
        fi
    done
}

if [ "$quick" = quick ]; then some="golden record. node. names. cost"
else some="golden record. node. names. cost mount. handles media random. gc."; fi
suite 32-bit "" gcc "-m32 -idirafter /usr/include/$(gcc -dumpmachine)" "-m32" "$some"
suite mips-big-endian qemu-mips mips-linux-gnu-gcc "" -static "$some"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

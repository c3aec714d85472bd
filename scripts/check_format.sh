#!/bin/sh
# Compares docs/FORMAT.md with src/format.h (offsets, values, sizes, version) and its hex dump with bytes really produced.
# usage: check_format.sh           prints "ok ..." / "not ok ..." lines
#        check_format.sh --dump    prints the dump of the sample volume, to be commented in FORMAT.md
set -u
export LC_ALL=C
cd "$(dirname "$0")/.." || exit 1
build=${BUILD:-build}
work=$build/check_format
document=docs/FORMAT.md
header=src/format.h
failures=0
mkdir -p "$work"

ok() { echo "ok $*"; }
not_ok() { echo "not ok $*"; failures=$((failures + 1)); }
# Result of a check whose complaints are in the file: none is good.
judge() { # NAME FILE
    if [ -s "$2" ]; then sed 's/^/# /' "$2"; not_ok "$1"; else ok "$1"; fi
}

# ---- format.h as "NAME VALUE", decimal ----
sed 's|/\*.*||' "$header" | tr ',{}' '\n\n\n' |
    sed -n 's/^[^A-Z]*\(FFFS_[A-Z0-9_]*\) *= *\(0x[0-9A-Fa-f]*\|[0-9]*\).*/\1 \2/p' |
    while read -r name value; do echo "$name $((value))"; done | sort >"$work/constants"

# Rows "| number | bytes | `NAME` |" and "| number | `NAME` |", and "`NAME`" with its bytes in the text.
awk -F'|' '
    NF >= 4 && $2 ~ /^ *(0x[0-9A-Fa-f]+|[0-9]+) *$/ {
        gsub(/ /, "", $2)
        bytes = $3 ~ /^ *[0-9]+ *$/ ? $3 + 0 : -1
        for (i = 3; i <= 4; i++)
            if (match($i, /`FFFS_[A-Z0-9_]+`/)) { print substr($i, RSTART + 1, RLENGTH - 2), $2, bytes; break }
    }' "$document" | while read -r name value bytes; do echo "$name $((value)) $bytes"; done >"$work/rows"

[ -s "$work/constants" ] && [ -s "$work/rows" ] || not_ok "FORMAT.md tables: nothing to compare"
awk 'NR == FNR { value[$1] = $2; next }
    !($1 in value) { print $1 " is not in src/format.h"; next }
    value[$1] != $2 { print $1 " is " value[$1] " in src/format.h, " $2 " in FORMAT.md" }' \
    "$work/constants" "$work/rows" >"$work/found"
judge "FORMAT.md tables give the numbers of src/format.h" "$work/found"

awk 'NR == FNR { seen[$1] = 1; next }
    $1 ~ /^FFFS_(REC|HDR|NODE|EXTENT|TABLE|CTL)_/ && $1 !~ /_(BYTES|TRAILER|HEADER|STRIDE|KNOWN)$/ && !($1 in seen) {
        print $1 " is not in a table of FORMAT.md" }' "$work/rows" "$work/constants" >"$work/found"
judge "FORMAT.md tables name every constant of src/format.h" "$work/found"

# Fields follow one another without a gap.
awk '{ group = $1; sub(/^FFFS_/, "", group); sub(/_.*/, "", group) }
    $3 > 0 && group == last && $2 != next_offset { print $1 " is at " $2 ", the field before ends at " next_offset }
    $3 > 0 { last = group; next_offset = $2 + $3 }' "$work/rows" >"$work/found"
judge "FORMAT.md tables have no gaps" "$work/found"

: >"$work/found"
for pair in FFFS_HDR_BYTES:72 FFFS_NODE_TRAILER:18 FFFS_TABLE_HEADER:12; do
    name=${pair%:*}
    value=$(sed -n "s/^$name //p" "$work/constants")
    grep -q "$value bytes.*(\`$name\`)" "$document" || echo "$name: $value bytes in src/format.h" >>"$work/found"
done
judge "FORMAT.md gives the sizes of src/format.h" "$work/found"

version=$(sed -n 's/^#define FFFS_FORMAT_VERSION *\([0-9]*\).*/\1/p' include/fastffs/fastffs.h)
if grep -q "^# FASTFFS on-flash format, version $version\$" "$document"; then ok "FORMAT.md is of format version $version"
else not_ok "FORMAT.md is of another format version than $version"; fi

# Every invariant that the code cites is listed.
sed -n 's/^| \(I[0-9]*\) | .*/\1/p' "$document" >"$work/listed"
{
    grep -ho '\<I[0-9][0-9]*\>' src/*.c src/*.h
    sed -n 's/.*add_finding([a-z]*, \([0-9][0-9]*\),.*/I\1/p; s/.*note_damage([^"]*, \([0-9][0-9]*\), .*/I\1/p' src/check.c
} 2>/dev/null | sort -u | while read -r number; do
    grep -qx "$number" "$work/listed" || echo "$number is cited in src but not in the list of FORMAT.md"
done >"$work/found"
judge "FORMAT.md lists every invariant that src cites" "$work/found"

# ---- The dump ----
cat >"$work/sample.c" <<'SAMPLE'
#include <stdio.h>
#include <string.h>
#include "emulator/nor.h"
#include "fastffs/fastffs.h"

static struct fffs fs;
static struct fffs_file file;
static uint32_t scratch[128];
static uint16_t table[32];
static uint8_t buffer[256];

static int put(const char *name, const char *text)
{
    int status = fffs_open(&fs, &file, name, FFFS_WRITE | FFFS_CREATE, buffer, sizeof buffer);
    if (status == FFFS_OK && fffs_write(&fs, &file, text, (uint32_t)strlen(text)) < 0)
        status = FFFS_ERR_IO;
    return status == FFFS_OK ? fffs_close(&fs, &file) : status;
}

/* Lines of up to 16 bytes; erased bytes at their ends are left out. */
static void dump(const struct nor *nor)
{
    uint32_t address, from, to;
    uint8_t line[8];

    for (address = 0; address < nor_size(nor); address += sizeof line) {
        nor_peek(nor, address, line, sizeof line);
        for (from = 0; from < sizeof line && line[from] == 0xFF; from++)
            continue;
        for (to = sizeof line; to > from && line[to - 1] == 0xFF; to--)
            continue;
        if (from == to)
            continue;
        printf("%04x:", (unsigned)address);
        for (from = 0; from < sizeof line; from++)
            printf(" %02x", line[from]);
        printf("\n");
    }
}

int main(void)
{
    struct nor_config nor_config = {0};
    struct fffs_config config = {0};
    struct fffs_format_options options = {0};
    struct nor *nor;
    int status;

    nor_config.size_bytes = 4096;
    nor_config.erase_bytes[0] = 256;
    nor = nor_create(&nor_config);
    config.flash = nor_flash(nor);
    config.scratch = scratch;
    config.scratch_bytes = sizeof scratch;
    config.segment_table = table;
    config.segment_table_entries = 32;
    options.geometry.sector_bytes = 256;
    options.device_is_erased = 1;
    status = fffs_format(&fs, &config, &options);
    if (status == FFFS_OK)
        status = fffs_mount(&fs, &config);
    if (status == FFFS_OK)
        status = put("hello.txt", "Hello, flash!\n");
    if (status == FFFS_OK)
        status = put("log/old", "gone\n");
    if (status == FFFS_OK)
        status = fffs_delete(&fs, "log/old");
    if (status == FFFS_OK)
        status = fffs_unmount(&fs);
    if (status != FFFS_OK) {
        fprintf(stderr, "sample: %s\n", fffs_status_name(status));
        return 1;
    }
    dump(nor);
    nor_destroy(nor);
    return 0;
}
SAMPLE

if ! ${CC:-cc} -std=c99 -Iinclude -I. "$work/sample.c" "$build/libfastffs.a" "$build/libnor.a" -o "$work/sample" \
    >"$work/found" 2>&1 || ! "$work/sample" >"$work/produced" 2>"$work/found"; then
    sed 's/^/# /' "$work/found"
    not_ok "FORMAT.md dump: the sample volume could not be made"
    exit 1
fi
if [ "${1:-}" = --dump ]; then
    cat "$work/produced"
    exit 0
fi
# Dump lines may hold any number of bytes; they are compared byte by byte, "ADDRESS BYTE".
sed -n '/^<!-- dump -->/,/^<!-- end of dump -->/p' "$document" | grep '^[0-9a-f]*:' >"$work/written"
bytes_of() {
    while read -r place rest; do
        at=$((0x${place%:}))
        for byte in $rest; do
            case $byte in [0-9a-f][0-9a-f]) ;; *) break ;; esac
            [ "$byte" = ff ] || echo "$at $byte"
            at=$((at + 1))
        done
    done
}
bytes_of <"$work/written" | sort >"$work/written.bytes"
bytes_of <"$work/produced" | sort >"$work/produced.bytes"
[ -s "$work/written.bytes" ] || echo x >>"$work/produced.bytes"
diff "$work/written.bytes" "$work/produced.bytes" | sed -n 's/^</FORMAT.md:/p; s/^>/produced: /p' >"$work/found"
judge "FORMAT.md dump is what the library writes" "$work/found"

[ "$failures" -eq 0 ]

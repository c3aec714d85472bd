#!/bin/sh
# Rules of the core's structure, checked on src/: the order of sources.mk is the call order, one module uses the driver, no
# writable globals, nothing from libc but memory functions, short functions with few parameters.
# usage: check_layers.sh           prints "ok ..." / "not ok ..." lines
set -u
export LC_ALL=C
cd "$(dirname "$0")/.." || exit 1
work=${BUILD:-build}/check_layers
failures=0
mkdir -p "$work"

ok() { echo "ok $*"; }
not_ok() { echo "not ok $*"; failures=$((failures + 1)); }
judge() { # NAME FILE: the file holds the complaints, none is good
    if [ -s "$2" ]; then sed 's/^/# /' "$2"; not_ok "$1"; else ok "$1"; fi
}

# ---- Order: headers without a source file first, then sources.mk; volume.h belongs to record.h, which it includes ----
sources=$(sed -n '/^FFFS_SRC/,/[^\\]$/p' sources.mk | tr ' \\' '\n\n' | sed -n 's|^src/\(.*\)\.c$|\1|p')
order="bytes berger format"
for module in $sources; do
    order="$order $module"
    [ "$module" = record ] && order="$order volume"
done

: >"$work/found"
for file in src/*.c; do
    module=$(basename "$file" .c)
    case " $order " in *" $module "*) ;; *) echo "$file is not in sources.mk" ;; esac
done >"$work/found"
for module in $sources; do
    [ -f "src/$module.c" ] || echo "src/$module.c of sources.mk is not there"
done >>"$work/found"
judge "sources.mk lists every file of src" "$work/found"

grep -Hn '^#include "' src/*.c src/*.h | awk -v order="$order" '
    BEGIN { n = split(order, names, " "); for (i = 1; i <= n; i++) rank[names[i]] = i }
    {
        split($0, part, ":")
        from = part[1]; sub(/^src\//, "", from); sub(/\.[ch]$/, "", from)
        match($0, /"[^"]*"/); to = substr($0, RSTART + 1, RLENGTH - 2)
        if (to ~ /^fastffs\//) next
        sub(/\.h$/, "", to)
        if (!(from in rank)) print part[1] ": not a module of sources.mk"
        else if (!(to in rank)) print part[1] ":" part[2] ": includes " to ".h, which is no header of src"
        else if (rank[to] > rank[from]) print part[1] ":" part[2] ": " from " includes " to ".h, which comes later"
    }' >"$work/found"
judge "no module includes one that comes later in sources.mk" "$work/found"

# ---- The driver ----
grep -n -E '(->|\.) *(read|program|erase|sync) *\(' src/*.c src/*.h | grep -v '^src/flash_io\.c:' >"$work/found"
judge "only flash_io.c calls the driver's read, program, erase and sync" "$work/found"

# ---- Objects ----
compiler=${CC:-cc}
: >"$work/found"
rm -f "$work"/*.o
for module in $sources; do
    [ -f "src/$module.c" ] || continue
    $compiler -std=c99 -O1 -fno-pic -fno-pie -fno-stack-protector -ffreestanding -Iinclude -I. -c "src/$module.c" \
        -o "$work/$module.o" >>"$work/found" 2>&1 || echo "src/$module.c does not compile" >>"$work/found"
done
judge "every file of src compiles freestanding" "$work/found"

for object in "$work"/*.o; do
    nm "$object" | awk -v file="$(basename "$object" .o)" '
        $(NF - 1) ~ /^[BbCDdGgSs]$/ { print "src/" file ".c: writable object " $NF }'
done >"$work/found"
judge "no writable globals in src" "$work/found"

for object in "$work"/*.o; do
    nm -u "$object" | awk -v file="$(basename "$object" .o)" '
        $NF !~ /^(fffs_|mem(cpy|set|move|cmp)$)/ { print "src/" file ".c: uses " $NF }'
done >"$work/found"
judge "src uses memory functions only: no heap, no output, no library arithmetic" "$work/found"

# ---- Functions: from the line that begins in column 1 to the brace in column 1 ----
awk '
    FNR == 1 { head = ""; body = 0 }
    body > 0 {
        body++
        if ($0 ~ /^}/) {
            if (body > 62) print FILENAME ":" start ": " name " has " body - 2 " lines"
            body = 0; head = ""
        }
        next
    }
    /^[#\/ *}]/ && head == "" { next }
    /^[ ]/ { head = head " " $0 }
    /^[A-Za-z]/ { head = $0; start = FNR }
    /^{/ {
        if (head ~ /\(/ && head !~ /=/) {
            name = head; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name)
            depth = 0; commas = 0
            for (i = 1; i <= length(head); i++) {
                c = substr(head, i, 1)
                if (c == "(") depth++
                if (c == ")") depth--
                if (c == "," && depth == 1) commas++
            }
            if (commas + 1 > most) print FILENAME ":" start ": " name " has " commas + 1 " parameters"
            count++
            body = 1
        }
        next
    }
    /;/ || /^}/ { head = "" }
    END { print count + 0 > counted }
' most=6 counted="$work/functions" src/*.c src/*.h >"$work/all"
grep ' lines$' "$work/all" >"$work/found"
judge "no function of src is longer than 60 lines" "$work/found"
# fffs_open() is the public API, and fffs_file_open() takes its arguments: the exceptions.
grep ' parameters$' "$work/all" | grep -v -E ': (fffs_open|fffs_file_open) has 6 ' >"$work/found"
judge "no function of src has more than 5 parameters" "$work/found"
functions=$(cat "$work/functions")
if [ "$functions" -gt 100 ]; then ok "$functions functions of src were measured"
else not_ok "only $functions functions of src were measured"; fi

[ "$failures" -eq 0 ]

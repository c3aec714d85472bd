#!/bin/sh
# Real files into a 4 MiB flash image, out again, compared byte for byte; some replaced, some deleted; checked; and what it
# cost in flash operations and emulated time. The files are the C headers that this machine's compiler uses.
# usage: demo.sh [BUILD]      (make demo builds the tool first)
set -eu
export LC_ALL=C

build=${1:-build}
tool=$build/fastffs
work=$build/demo
image=$work/image.bin
bytes_max=3145728
files_max=640

fail() { echo "demo: FAILED: $*" >&2; exit 1; }
say() { printf '%-9s %s\n' "$1" "$2"; }

[ -x "$tool" ] || fail "no $tool: run 'make demo'"
rm -rf "$work"
mkdir -p "$work/tree"

# ---- A real tree: "SIZE PATH" of files in DIR up to LARGEST bytes, sorted ----
headers_in() { # DIR LARGEST
    [ -d "$1" ] || return 0
    find "$1" -type f -exec wc -c {} + 2>/dev/null | awk -v most="$2" -v root="$1" '
        { size = $1; sub(/^ *[0-9]+ /, ""); if ($0 == "total" || size > most) next
          if (length($0) - length(root) + 3 <= 64) print size, $0 }' | sort -k 2
}
# Copies the files named on stdin below DIR to tree/NAME until BYTES or FILES are reached.
take() { # DIR NAME BYTES FILES
    awk -v bytes="$3" -v files="$4" '{ if (sum + $1 > bytes || n >= files) next; sum += $1; n++; sub(/^[0-9]+ /, ""); print }' |
    while IFS= read -r path; do
        target=$work/tree/$2/${path#"$1"/}
        mkdir -p "${target%/*}"
        cp "$path" "$target"
    done
}
count_files() { find "$1" -type f | wc -l | tr -d ' '; }
count_bytes() { find "$1" -type f -exec cat {} + | wc -c | tr -d ' '; }

compiler=$(${CC:-cc} -print-file-name=include 2>/dev/null || true)
headers_in "$compiler" 262144 | take "$compiler" cc 786432 200
have=$(count_bytes "$work/tree")
headers_in /usr/include 16384 | take /usr/include usr $((bytes_max - have)) $((files_max - $(count_files "$work/tree")))
if [ "$(count_files "$work/tree")" -lt 300 ]; then # few headers here: the project's own files as well
    have=$(count_bytes "$work/tree")
    find . -name .git -prune -o -path "./$build" -prune -o -type f -exec wc -c {} + | sed 's/^ *//' | grep -v ' total$' |
        sort -k 2 | take . own $((bytes_max - have)) $files_max
fi
files=$(count_files "$work/tree")
bytes=$(count_bytes "$work/tree")
[ "$files" -gt 0 ] || fail "no files found to load"
say tree "$files files, $bytes bytes, largest $(find "$work/tree" -type f -exec wc -c {} + | awk '$2 != "total" && $1 > m { m = $1 } END { print m }')"

# ---- In, and out again ----
"$tool" create "$image" --size 4M >"$work/log" || fail "create"
say create "$(cat "$work/log")"
"$tool" load "$image" "$work/tree" -v >"$work/log" || fail "load"
say load "$(sed -n 's/^load: //p' "$work/log")"
"$tool" extract "$image" "$work/out" -q || fail "extract"
diff -r "$work/tree" "$work/out" >"$work/differences" || fail "files differ: $work/differences"
say extract "all $files files are equal byte for byte"

# ---- Every tenth file replaced by another's contents, every eleventh deleted ----
mkdir "$work/new"
(cd "$work/tree" && find . -type f | sed 's|^\./||' | sort) >"$work/names"
previous=$(tail -1 "$work/names")
: >"$work/deleted"
number=0
while IFS= read -r name; do
    number=$((number + 1))
    if [ $((number % 10)) -eq 0 ]; then
        mkdir -p "$work/new/$(dirname "$name")"
        cp "$work/out/$previous" "$work/new/$name"
        cp "$work/out/$previous" "$work/tree/$name"
    elif [ $((number % 11)) -eq 0 ]; then
        echo "$name" >>"$work/deleted"
        rm "$work/tree/$name"
        (cd "$work/tree" && rmdir -p "$(dirname "$name")" 2>/dev/null) || true
    fi
    previous=$name
done <"$work/names"
"$tool" load "$image" "$work/new" -v >"$work/log" || fail "replace"
say replace "$(count_files "$work/new") files, $(count_bytes "$work/new") bytes: $(sed -n 's/^load: //p' "$work/log")"
set -f
IFS='
'
"$tool" remove "$image" -v -- $(cat "$work/deleted") >"$work/log" || fail "remove"
unset IFS
set +f
say delete "$(wc -l <"$work/deleted" | tr -d ' ') files: $(sed -n 's/^remove: //p' "$work/log")"
rm -rf "$work/out"
"$tool" extract "$image" "$work/out" -q || fail "extract"
diff -r "$work/tree" "$work/out" >"$work/differences" || fail "files differ: $work/differences"
say extract "all $(count_files "$work/tree") files are equal byte for byte"
"$tool" check "$image" >"$work/log" || fail "check: $(cat "$work/log")"
say check "$(sed 's|^[^ ]*: ||' "$work/log")"

# ---- What it costs ----
echo
"$tool" probe "$image" || fail "probe"
echo
echo "demo: done; the image is $image"

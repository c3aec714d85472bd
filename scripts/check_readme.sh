#!/bin/sh
# The example of README.md is examples/hello.c, compiles without warnings, and does what README.md says; so do its commands.
# usage: check_readme.sh           prints "ok ..." / "not ok ..." lines
set -u
export LC_ALL=C
cd "$(dirname "$0")/.." || exit 1
build=${BUILD:-build}
work=$build/check_readme
failures=0
mkdir -p "$work"

ok() { echo "ok $*"; }
not_ok() { echo "not ok $*"; failures=$((failures + 1)); }

# The first ```c block; the first ```text block is what it prints.
block() { awk -v fence="\`\`\`$1" '$0 == fence && !done { on = 1; next } on && $0 == "```" { on = 0; done = 1 } on' README.md; }
block c >"$work/example.c"
block text >"$work/expected"

if [ -s "$work/example.c" ] && diff "$work/example.c" examples/hello.c >"$work/diff"; then ok "README example is examples/hello.c"
else not_ok "README example is not examples/hello.c"; fi

lines=$(wc -l <"$work/example.c")
if [ "$lines" -gt 0 ] && [ "$lines" -le 32 ]; then ok "README example has $lines lines"
else not_ok "README example has $lines lines, 32 are the limit"; fi

if ${CC:-cc} -std=c99 -Wall -Wextra -Wpedantic -Werror -Iinclude -I. "$work/example.c" "$build/libfastffs.a" \
    "$build/libnor.a" -o "$work/example" >"$work/log" 2>&1 && "$work/example" >"$work/printed" 2>>"$work/log" &&
    [ -s "$work/expected" ] && diff "$work/expected" "$work/printed" >>"$work/log"; then
    ok "README example"
else
    sed 's/^/# /' "$work/log"
    not_ok "README example"
fi

# The commands of "In your project": the first two ```sh blocks, in a build folder of their own.
commands() { # NUMBER
    awk -v wanted="$1" '$0 == "```sh" { n++; on = n == wanted; next } $0 == "```" { on = 0 } on' README.md
}
run_commands() { # NUMBER TITLE TEXT: runs them; TEXT is somewhere in what they print
    { echo 'set -e'; commands "$1" | sed "s,\$PWD/build/,$folder/,g; s,build/,$build/,g; s,^make ,make BUILD=$build ,"; } >"$work/commands"
    if [ "$(wc -l <"$work/commands")" -gt 1 ] && sh "$work/commands" >"$work/log" 2>&1 && grep -q -- "$3" "$work/log"; then ok "$2"
    else sed 's/^/# /' "$work/log"; not_ok "$2"; fi
}
rm -rf "$build/sdk" "$build/cmake" "$build/flash.bin"
folder=$(cd "$build" && pwd)
if command -v cmake >/dev/null; then run_commands 1 "README: CMake project" "^hello, names"
else echo "skipped: README: CMake project: no cmake"; fi
if [ -c /dev/fuse ] && command -v fusermount3 >/dev/null && ! "$build/fastffs" mount none none 2>&1 | grep -q "without libfuse3"
then run_commands 2 "README: image on the desktop" "README.md"
else echo "skipped: README: image on the desktop: no FUSE"; fi

# Every file that a document links to is there.
for document in *.md docs/*.md; do
    grep -o '](\([^)#: ]*\)[)#]' "$document" | sed 's/^](//; s/[)#]$//' | while read -r target; do
        [ -z "$target" ] || [ -e "$(dirname "$document")/$target" ] || echo "$document links to $target"
    done
done >"$work/links"
if [ -s "$work/links" ]; then sed 's/^/# /' "$work/links"; not_ok "documents link to files that exist"
else ok "documents link to files that exist"; fi

# Every "make TARGET" in a document is a target.
sed -n 's/^\([a-z][a-z -]*\):.*/\1/p' Makefile */*.mk */*/*.mk | tr ' ' '\n' | sort -u >"$work/targets"
grep -ho '`make [a-z-]*' README.md CONTRIBUTING.md docs/*.md | sed 's/.*make //' | sort -u | while read -r target; do
    grep -qx -- "$target" "$work/targets" || echo "no target $target in the Makefile"
done >"$work/missing"
if [ -s "$work/missing" ]; then sed 's/^/# /' "$work/missing"; not_ok "documents name make targets that exist"
else ok "documents name make targets that exist"; fi

[ "$failures" -eq 0 ]

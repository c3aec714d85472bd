#!/bin/sh
# Puts the tables of the last results into docs/BENCHMARKS.md, between its two result marks. Usage: docs.sh <build/bench>
set -eu
folder=$1
here=$(dirname "$0")
page=$here/../../docs/BENCHMARKS.md
awk -v md=1 -f "$here/tables.awk" "$folder/results.csv" "$here/../peers.csv" "$here/../targets.csv" > "$folder/tables.md"
awk -v tables="$folder/tables.md" '
    /^<!-- \/results -->/ { inside = 0 }
    !inside { print }
    /^<!-- results -->/ { inside = 1; while ((getline line < tables) > 0) print line; print "" }' "$page" > "$folder/page.md"
cp "$folder/page.md" "$page"
echo "bench-docs: $page"

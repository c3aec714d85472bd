#!/bin/sh
# The report of `make bench` from logs of boards: report.sh LOG_TO_CSV FOLDER LOG... Rows of a host run (build/bench) and of
# the peers are taken along where there are any; what a board measured is in a table of its own.
set -eu
converter=$1
folder=$2
shift 2
[ $# -gt 0 ] || { echo "usage: report.sh LOG_TO_CSV FOLDER LOG..." >&2; exit 2; }
here=$(dirname "$0")
mkdir -p "$folder"
status=0
"$converter" "$@" >"$folder/board.csv" || status=1
cp "$folder/board.csv" "$folder/results.csv"
for name in wear percentiles; do : >"$folder/$name.csv"; done
host=$folder/../bench
if [ -f "$host/results.csv" ]; then
    sed 1d "$host/results.csv" >>"$folder/results.csv"
    cp "$host/wear.csv" "$host/percentiles.csv" "$folder"
fi
awk -f "$here/../report/tables.awk" "$folder/results.csv" "$here/../peers.csv" "$here/../targets.csv" \
    >"$folder/tables.txt"
sh "$here/../report/report.sh" "$folder"
exit "$status"

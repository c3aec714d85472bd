#!/bin/sh
# Counts host instructions per operation under callgrind and compares them with the committed ones: up to 10 % more is
# let pass, since compilers differ. Usage: cpu.sh <build/bench>
set -eu
folder=$1
here=$(dirname "$0")
committed=$here/../cpu_committed.csv
rm -f "$folder"/callgrind.out*
repeats=$(valgrind --quiet --tool=callgrind --callgrind-out-file="$folder/callgrind.out" \
    --dump-before=begin_count --dump-after='measured_*' "$folder/cpu")
echo "operation,library,other,driver" > "$folder/cpu.csv"
(cd "$folder" && ls callgrind.out.[0-9]*) | sort -t. -k3 -n | sed "s|^|$folder/|" |
    xargs awk -v repeats="$repeats" -f "$here/callgrind.awk" | sort >> "$folder/cpu.csv"
echo "host instructions per operation: library, C library, driver and caller"
awk -F, 'FILENAME ~ /committed/ { old[$1] = $2; next }
    FNR > 1 { worse = ($1 in old) && $2 > old[$1] * 1.1
              printf "  %-18s %9d %9d %9d   committed %9s%s\n", $1, $2, $3, $4, ($1 in old) ? old[$1] : "-", worse ? "  WORSE" : ""
              bad += worse }
    END { exit bad > 0 }' "$committed" "$folder/cpu.csv"

#!/bin/sh
# Writes <build/bench>/report.html from results.csv, wear.csv and percentiles.csv there: tables, and plots where gnuplot is
# installed. The page needs no other file. Usage: report.sh <build/bench>
set -eu
folder=$1
here=$(dirname "$0")
bench=$here/..
data=$folder/plot
page=$folder/report.html
mkdir -p "$data"

plot_data() {
    awk -v out="$data" -f "$here/plotdata.awk" "$folder/results.csv" "$bench/peers.csv"
    for phase in churn smallfiles; do
        awk -F, -v phase=$phase '$1 == "default" && $3 == phase && $4 == "inline" { print $5, $6 }' "$folder/wear.csv" \
            > "$data/wear-$phase.dat"
    done
    for phase in churn-57 churn-80 churn-90 small-57 small-80 small-90; do
        for mode in inline background; do
            awk -F, -v phase="latency-$phase" -v mode=$mode \
                '$1 == "default" && $2 == phase && $3 == mode { print $4, $5 }' "$folder/percentiles.csv" \
                > "$data/latency-$phase-$mode.dat"
        done
    done
}

# A plot as an image that lies in the page itself: picture <name> <caption>
picture() {
    [ -s "$data/$1.svg" ] || return 0
    printf '<figure><img alt="%s" src="data:image/svg+xml;base64,' "$2"
    base64 < "$data/$1.svg" | tr -d '\n'
    printf '"><figcaption>%s</figcaption></figure>\n' "$2"
}

pictures() {
    picture speed "Throughput, esp32s3-fit, flash time only (logarithmic)"
    picture look "Look-ups, listing, mount (logarithmic; a value of 0 has no bar)"
    picture total "Whole workloads (logarithmic; a peer's smallfiles bar ends where it failed)"
    picture split_flash "Churn: time in program, erase and read calls of the flash, inline and with background steps"
    picture split_call "Churn: time in calls of the application"
    picture latency_churn "Write calls of 1 KiB by percentile and fill of the volume"
    picture latency_small "The same with small files"
    picture wear_churn "Erases of each sector after churn, default, inline"
    picture wear_smallfiles "Erases of each sector after smallfiles, default, inline"
    picture growth_files "Growth with the number of files"
    picture growth_size "Growth with the size of the volume"
}

head_of_page() {
    cat <<'HTML'
<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>FASTFFS benchmark</title>
<meta name="viewport" content="width=device-width">
<style>
body { font: 15px/1.45 "DejaVu Sans", Verdana, sans-serif; color: #222; margin: 2em auto; max-width: 1080px; padding: 0 1em }
h1 { font-size: 1.6em } h2 { font-size: 1.15em; margin: 2em 0 .5em; border-bottom: 1px solid #ccc }
table { border-collapse: collapse; font-size: 12.5px; display: block; overflow-x: auto; margin: .5em 0 }
th, td { padding: 3px 8px; text-align: right; border-bottom: 1px solid #e6e6e6; white-space: nowrap }
th { background: #f3f6f9; position: sticky; top: 0 } .name { text-align: left } tr:hover td { background: #f8fafc }
.miss { color: #b30000; font-weight: bold } .ok { color: #1a7f37 }
figure { margin: 1em 0 } img { max-width: 100%; height: auto } figcaption { color: #555; font-size: 13px }
</style></head><body>
<h1>FASTFFS benchmark</h1>
<p>Virtual time on emulated NOR flash, 4 MiB: the same on any machine. Model <b>esp32s3-fit</b> is calibrated on the board
results of four other filesystems; the processor's time is in no model. Method and limits: docs/BENCHMARKS.md.</p>
HTML
}

plot_data
if command -v gnuplot > /dev/null 2>&1; then
    rm -f "$data"/*.svg
    gnuplot -e "data='$data'; out='$data'" "$here/plots.gp" 2> "$data/gnuplot.log" || cat "$data/gnuplot.log" >&2
else
    rm -f "$data"/*.svg
    echo "bench-report: gnuplot is not installed, the report has no plots" >&2
fi
{
    head_of_page
    pictures
    awk -v html=1 -f "$here/tables.awk" "$folder/results.csv" "$bench/peers.csv" "$bench/targets.csv"
    echo "</body></html>"
} > "$page"
echo "bench-report: $page"

# Draws the report's plots: gnuplot -e "data='DIR'; out='DIR'" plots.gp
set encoding utf8
array name[8] = ["minimal", "default", "fast", "limit", "LittleFS", "FatFs+WL", "JesFs", "SPIFFS"]
array colour[8] = ["#9ecae1", "#3182bd", "#08306b", "#9a9a9a", "#e6550d", "#fdae6b", "#31a354", "#756bb1"]
set style line 100 lc rgb "#d8d8d8" lw 0.7
set border 3 lc rgb "#606060"
set tics nomirror

# Bars, logarithmic.
set terminal svg size 960,380 font "DejaVu Sans,12" background "white"
set style data histograms
set style histogram clustered gap 1.5
set style fill solid 1 noborder
set logscale y
set grid ytics ls 100
set key outside right top Left reverse
set ylabel "KiB/s"
set output out."/speed.svg"
plot for [i=1:8] data."/speed.dat" using (column(i+1)):xtic(1) title name[i] lc rgb colour[i]
set ylabel "seconds of flash time"
set output out."/total.svg"
plot for [i=1:8] data."/total.dat" using (column(i+1)):xtic(1) title name[i] lc rgb colour[i]
set ylabel "time (unit at the group)"
set yrange [0.1:*]
set output out."/look.svg"
plot for [i=1:8] data."/look.dat" using (column(i+1) > 0.1 ? column(i+1) : 0.1):xtic(1) title name[i] lc rgb colour[i]
set autoscale y

# Stacked: where churn's time goes.
unset logscale y
set style histogram rowstacked
set boxwidth 0.7
set yrange [0:*]
set key outside right top Left reverse
set terminal svg size 960,340 font "DejaVu Sans,12" background "white"
set ylabel "seconds"
set output out."/split_flash.svg"
plot data."/split.dat" using 2:xtic(1) title "program" lc rgb "#3182bd", '' using 3 title "erase" lc rgb "#e6550d", \
     '' using 4 title "read" lc rgb "#31a354"
set output out."/split_call.svg"
plot data."/split.dat" using 5:xtic(1) title "writing calls" lc rgb "#3182bd", '' using 6 title "delete" lc rgb "#756bb1", \
     '' using 7 title "background steps" lc rgb "#9a9a9a"
unset yrange
set autoscale y

# Latency of write calls: x is how many calls in a thousand are slower.
set style data linespoints
set pointsize 0.5
set xlabel "share of calls, percent"
set ylabel "1 KiB write call, ms"
set grid xtics ytics ls 100
set key inside left top Left reverse
position(p) = p >= 1000 ? 3.6 : -log10(1 - p / 1000.0)
set xtics ("50" 0.301, "90" 1, "99" 2, "99.9" 3, "max" 3.6)
set xrange [0.25:3.7]
set terminal svg size 960,420 font "DejaVu Sans,12" background "white"
do for [mix in "churn small"] {
    set output out."/latency_".mix.".svg"
    set title (mix eq "churn" ? "churn files" : "small files").", default configuration"
    plot for [level in "57 80 90"] for [m=1:2] \
        data."/latency-".mix."-".level."-".word("inline background", m).".dat" using (position($1)):2 \
        title (level." % full, ".(m == 1 ? "inline" : "background steps")) dt m lw 1.6 \
        lc rgb (level eq "57" ? "#9ecae1" : level eq "80" ? "#3182bd" : "#08306b")
}
unset title
set autoscale x
set xtics autofreq

# Wear: one square a sector, 64 to a row, so that a 64 KiB segment is a quarter row.
set terminal svg size 960,330 font "DejaVu Sans,12" background "white"
set palette defined (0 "#f7fbff", 1 "#c6dbef", 2 "#6baed6", 3 "#2171b5", 4 "#08306b")
set style fill solid 1 noborder
set xlabel "sector in row"
set ylabel "row of 64 sectors"
set yrange [15.5:-0.5]
set xrange [-0.5:63.5]
set cbrange [0:*]
set cblabel "erases"
unset grid
unset key
do for [phase in "churn smallfiles"] {
    set output out."/wear_".phase.".svg"
    plot data."/wear-".phase.".dat" using (int($1) % 64):(int($1) / 64):(0.46):(0.46):2 with boxxyerror lc palette
}
set autoscale x
set autoscale y
unset colorbox

# Growth.
set terminal svg size 960,860 font "DejaVu Sans,11" background "white"
set grid xtics ytics ls 100
set logscale xy
array metric[5] = ["open a file, µs", "missing name, µs", "list all files, ms", "clean mount, ms", "free-space query, ms"]
array column_of[5] = [2, 3, 4, 5, 6]
array config[3] = ["minimal", "default", "default-all-cached"]
array config_title[3] = ["no cache", "cache of 500 entries", "cache of 5,200 entries"]
array config_colour[3] = ["#e6550d", "#3182bd", "#08306b"]
do for [kind in "files size"] {
    set output out."/growth_".kind.".svg"
    set multiplot layout 3,2
    set xlabel (kind eq "files" ? "files (4 MiB volume)" : "volume, MiB (1,000 files)")
    do for [m=1:5] {
        if (m == 1) { set key outside top center horizontal } else { unset key }
        set ylabel metric[m]
        if (m == 5) { unset logscale y; set yrange [0:1<*] } else { set logscale y; set autoscale y }
        plot for [c=1:3] data."/".kind."-".config[c].".dat" using 1:(column(column_of[m]) > 0 || m == 5 ? column(column_of[m]) : NaN) \
            title config_title[c] lw 1.6 lc rgb config_colour[c]
    }
    unset multiplot
    set autoscale y
    set logscale y
}

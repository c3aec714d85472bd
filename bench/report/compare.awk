# Compares committed results with fresh ones, given in this order; the virtual time is the same on any machine, so every
# value must be the same. Says for each difference whether it is better or worse. Exit 1 when anything differs.
BEGIN { FS = "," }
FNR == 1 { file++; next }
$1 != "fastffs" && $1 != "limit" { next }
$3 == "host" { next }
{ key = $1 "," $2 "," $3 "," $4 "," $5 }
file == 1 { committed[key] = $7; order[++count] = key; next }
file == 2 { fresh[key] = $7; unit[key] = $6; if (!(key in committed)) { print "new      " key " = " $7; differences++ } }
END {
    for (i = 1; i <= count; i++) {
        key = order[i]
        if (!(key in fresh)) {
            print "missing  " key " (was " committed[key] ")"
            differences++
        } else if (fresh[key] != committed[key]) {
            better = unit[key] == "KiB/s" ? fresh[key] + 0 > committed[key] + 0 : fresh[key] + 0 < committed[key] + 0
            print (better ? "better   " : "WORSE    ") key ": " committed[key] " -> " fresh[key]
            differences++
            worse += !better
        }
    }
    printf "bench-check: %d values, %d differ, %d of them worse\n", count, differences, worse
    exit differences > 0
}

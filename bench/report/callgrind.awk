# Sums callgrind's dumps, given in the order in which they were written (a name is spelled out in the first dump that uses
# it): instructions in the library (src/), in the C library, and in driver, emulator and caller.
# Prints: operation,library,other,driver (per repeat).  -v repeats=N
function flush() {
    if (op != "")
        printf "%s,%.0f,%.0f,%.0f\n", op, library / repeats, other / repeats, driver / repeats
    op = ""
    library = other = driver = 0
}
FNR == 1 { flush() }
/^desc: Trigger: --dump-after/ { op = $0; sub(/.*measured_/, "", op); sub(/[^a-z0-9_].*/, "", op) }
/^(fl|fi|fe|cfi|cfl)=/ {
    number = $0; sub(/^[a-z]*=/, "", number)
    path = number
    sub(/\).*/, ")", number)
    sub(/^\([0-9]+\) ?/, "", path)
    if (path != "") name[number] = path
    if ($0 !~ /^c/) file = name[number]
    next
}
/^calls=/ { skip = 1; next }
/^[0-9+*-]/ {
    if (skip) { skip = 0; next }
    if (file ~ /(^|\/)src\//) library += $2
    else if (file ~ /emulator\// || file ~ /bench\//) driver += $2
    else other += $2
}
END { flush() }

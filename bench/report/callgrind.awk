# Sums a callgrind output file: instructions inside the library (src/), in the C library's memory functions and the like,
# and in driver, emulator and caller. Prints: operation,library,other,driver (per repeat).
#   -v repeats=N
/^desc: Trigger:/ { op = $0; sub(/.*measured_/, "", op); sub(/[^a-z0-9_].*/, "", op) }
/^(fl|fi|fe)=/ {
    id = $0; sub(/^f[lie]=/, "", id)
    number = id; sub(/\).*/, ")", number)
    path = id; sub(/^\([0-9]+\) ?/, "", path)
    if (path != "") name[number] = path
    file = name[number]
    next
}
/^calls=/ { skip = 1; next }
/^[0-9+*-]/ {
    if (skip) { skip = 0; next }
    if (file ~ /(^|\/)src\//) library += $2
    else if (file ~ /emulator\// || file ~ /bench\//) driver += $2
    else other += $2
}
END { if (op != "") printf "%s,%.0f,%.0f,%.0f\n", op, library / repeats, other / repeats, driver / repeats }

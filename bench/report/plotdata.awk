# Turns results.csv and peers.csv, given in this order, into the data files of plots.gp.
#   -v out=DIR
BEGIN {
    FS = ","
    subjects = split("fastffs:minimal fastffs:default fastffs:fast limit:limit littlefs:default fatfs:wl jesfs:nowait " \
        "spiffs:default", subject, " ")
}
FNR == 1 { file++; next }
$3 == "esp32s3-fit" { value[$1 ":" $2, $4 "." $5] = $7 }
file == 1 && $4 ~ /^growth-/ { growth[++growths] = $0 }

function cell(who, metric) { return (who, metric) in value ? value[who, metric] : "NaN" }
function bars(path, metrics, labels,    n, i, s, name, text) {
    n = split(metrics, name, " ")
    split(labels, text, ";")
    for (i = 1; i <= n; i++) {
        printf "\"%s\"", text[i] > path
        for (s = 1; s <= subjects; s++)
            printf " %s", cell(subject[s], name[i]) > path
        printf "\n" > path
    }
    close(path)
}
function split_times(path,    i, c, n, config, mode, suffix) {
    n = split("minimal default fast", config, " ")
    for (mode = 0; mode < 2; mode++)
        for (c = 1; c <= n; c++) {
            suffix = mode ? "_background" : ""
            printf "\"%s%s\"", config[c], mode ? " +steps" : "" > path
            for (i = 1; i <= 6; i++)
                printf " %s", value["fastffs:" config[c], "churn." times[i] suffix] + 0 > path
            printf "\n" > path
        }
    close(path)
}
function curves(path, mib, files, config,    i, part, name, x, found) {
    for (i = 1; i <= growths; i++) {
        split(growth[i], part, ",")
        if (part[2] != config)
            continue
        split(part[4], x, "-")
        split(part[5], name, "_")
        if ((mib != "" && x[2] + 0 != mib) || (files != "" && name[2] + 0 != files))
            continue
        found = mib != "" ? name[2] : x[2]
        point[found, name[1]] = part[7]
        if (!(found in seen)) { seen[found] = 1; order[++points] = found }
    }
    print "# x open missing list mount space" > path
    for (i = 1; i <= points; i++)
        print order[i], point[order[i], "open"], point[order[i], "missing"], point[order[i], "list"], \
            point[order[i], "mount"], point[order[i], "space"] > path
    close(path)
    delete point; delete seen; delete order; points = 0
}
END {
    split("time_program time_erase time_read time_write time_delete time_gc", times, " ")
    bars(out "/speed.dat", "baseline.write_tiny baseline.read_tiny baseline.write_medium baseline.read_medium", \
        "write 192 x 64 B;read 192 x 64 B;write 16 x 50 KiB;read 16 x 50 KiB")
    bars(out "/total.dat", "churn.total smallfiles.total", "churn;small files")
    bars(out "/look.dat", "baseline.list baseline.exists_hit baseline.exists_miss churn.mount", \
        "list 208 files [ms];existing name [us];missing name [us];mount after churn [ms]")
    split_times(out "/split.dat")
    n = split("minimal default default-all-cached", configs, " ")
    for (c = 1; c <= n; c++) {
        curves(out "/files-" configs[c] ".dat", 4, "", configs[c])
        curves(out "/size-" configs[c] ".dat", "", 1000, configs[c])
    }
}

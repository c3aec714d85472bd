# Prints the benchmark's tables from results.csv, peers.csv and targets.csv, given in this order.
#   -v html=1: HTML tables; -v md=1: Markdown, without the peers' board rows; else plain text.
# Values are found by fs,config,model,phase,metric. A value that misses its target is marked.
BEGIN {
    FS = ","
    split_list("baseline.write_tiny baseline.read_tiny baseline.open_tiny baseline.write_medium baseline.read_medium " \
        "baseline.list baseline.exists_hit baseline.exists_miss baseline.tiny_overhead baseline.seek_random " \
        "churn.total churn.total_background churn.write_small churn.write_medium churn.write_large churn.read_small " \
        "churn.mount churn.mount_unclean churn.list churn.delete_p50 churn.delete_max churn.write_call_p99 " \
        "churn.write_call_max churn.write_per_kib_p50 churn.write_per_kib_p99 churn.write_amplification " \
        "churn.wear_max churn.wear_mean smallfiles.failed_at smallfiles.total smallfiles.total_background " \
        "smallfiles.write smallfiles.mount smallfiles.list smallfiles.write_call_max smallfiles.write_amplification " \
        "smallfiles-3300k.total smallfiles-3300k.total_background smallfiles-3300k.write_call_max", headline)
    split_list("baseline.write_tiny baseline.read_tiny baseline.write_medium baseline.read_medium churn.total " \
        "smallfiles.total smallfiles-3300k.total churn.mount churn.list churn.delete_max churn.write_call_max", short)
    split_list("ram.base ram.open_file ram.stack baseline.tiny_overhead baseline.write_tiny baseline.read_tiny " \
        "baseline.open_tiny baseline.write_medium baseline.read_medium baseline.list baseline.exists_hit " \
        "baseline.exists_miss churn.total churn.write_small churn.write_medium churn.write_large churn.mount churn.list " \
        "churn.read_small churn.read_medium churn.read_large churn.exists_hit churn.exists_miss smallfiles.failed_at " \
        "smallfiles.total smallfiles.write", board)
}
function split_list(text, into,    n, i, part) {
    n = split(text, part, " ")
    into[0] = n
    for (i = 1; i <= n; i++)
        into[i] = part[i]
}
FNR == 1 { file++; next }
file <= 2 { value[$1, $2, $3, $4 "." $5] = $7; unit[$4 "." $5] = $6 }
# Rows from logs of boards, by bench/esp32s3.
file == 1 && ($3 ~ /-measured$/ || $3 == "host-stub") && !(($1, $2, $3) in run_seen) {
    run_seen[$1, $2, $3] = 1
    if (!($3 in run_columns)) run_models[++run_count] = $3
    run_columns[$3] = run_columns[$3] $1 " " $2 ";"
}
file == 3 {
    name = $3 "." $4
    targets++
    target[targets] = $1 SUBSEP $2 SUBSEP name
    goal[$1, $2, name] = $7
    direction[$1, $2, name] = $6
    predicted[$1, $2, name] = $8
    unit[name] = $5
}

# ---- cells ----
function number(v) {
    if (v == "") return "-"
    if (v + 0 >= 1000) return sprintf("%d", v + 0.5)
    if (v + 0 >= 100) return sprintf("%.0f", v)
    if (v + 0 >= 10) return sprintf("%.1f", v)
    if (v + 0 >= 1) return sprintf("%.2f", v)
    if (v + 0 == 0) return "0"
    return sprintf("%.3f", v)
}
function missed(config, model, name, v,    g) {
    g = goal[config, model, name]
    if (g == "" || v == "") return 0
    return direction[config, model, name] == ">=" ? v + 0 < g + 0 : v + 0 > g + 0
}
# Whether the phase of a metric did not come to its end, in either mode.
function failed(config, model, name,    phase) {
    phase = name
    sub(/\..*/, "", phase)
    return value["fastffs", config, model, phase ".failed_at"] != "" || \
        value["fastffs", config, model, phase ".failed_at_background"] != ""
}
function our_cell(config, model, name,    v) {
    v = value["fastffs", config, model, name]
    if (v != "" && failed(config, model, name))
        return "failed!"
    return number(v) (missed(config, model, name, v) ? "!" : "")
}

# ---- output in either form ----
function heading(text) {
    if (html) print "<h2>" text "</h2>"
    else if (md) print "\n### " text "\n"
    else print "\n" text "\n"
}
function note(text) {
    if (html) print "<p>" text "</p>"
    else if (md) print "\n" text "\n"
    else print "  " text
}
function start_table() { if (html) print "<table>" }
function end_table() { if (html) print "</table>" }
function row(cells, n, is_head,    i, tag, text, class) {
    if (md) {
        text = "|"
        for (i = 1; i <= n; i++)
            text = text " " cells[i] " |"
        if (is_head)
            text = text "\n|---|" substr("--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|", 1, 4 * (n - 1))
        print text
        return
    }
    if (!html) {
        text = sprintf("%-34s", cells[1])
        for (i = 2; i <= n; i++)
            text = text sprintf(" %12s", cells[i])
        print text
        return
    }
    tag = is_head ? "th" : "td"
    text = "<tr>"
    for (i = 1; i <= n; i++) {
        class = i == 1 ? " class=\"name\"" : cells[i] ~ /!$|MISS|FAILED/ ? " class=\"miss\"" : cells[i] == "ok" ? " class=\"ok\"" : ""
        gsub(/>=/, "\\&ge;", cells[i])
        gsub(/<=/, "\\&le;", cells[i])
        text = text "<" tag class ">" cells[i] "</" tag ">"
    }
    print text "</tr>"
}
function label(name) { return name " [" unit[name] "]" }

# One table of columns "fs config [title]" over the metrics of a list.
function comparison(model, list, columns, titles, count,    i, c, cells, part, any) {
    start_table()
    cells[1] = "metric"
    for (c = 1; c <= count; c++)
        cells[c + 1] = titles[c]
    row(cells, count + 1, 1)
    for (i = 1; i <= list[0]; i++) {
        any = 0
        cells[1] = label(list[i])
        for (c = 1; c <= count; c++) {
            split(columns[c], part, " ")
            cells[c + 1] = part[1] == "fastffs" ? our_cell(part[2], model, list[i]) : \
                number(value[part[1], part[2], model, list[i]])
            any += cells[c + 1] != "-"
        }
        if (any)
            row(cells, count + 1, 0)
    }
    end_table()
}
function add(column, title) { columns[++columns_count] = column; titles[columns_count] = title }
function clear() { columns_count = 0; delete columns; delete titles }

function table_targets(    i, part, v, cells, met, checked) {
    heading("Targets")
    start_table()
    cells[1] = "metric"; cells[2] = "config"; cells[3] = "model"; cells[4] = "value"; cells[5] = "target"
    cells[6] = "predicted"; cells[7] = "result"
    row(cells, 7, 1)
    for (i = 1; i <= targets; i++) {
        split(target[i], part, SUBSEP)
        v = value["fastffs", part[1], part[2], part[3]]
        cells[1] = label(part[3]); cells[2] = part[1]; cells[3] = part[2]; cells[4] = number(v)
        cells[5] = goal[target[i]] == "" ? "-" : direction[target[i]] " " goal[target[i]]
        cells[6] = predicted[target[i]] == "" ? "-" : predicted[target[i]]
        cells[7] = goal[target[i]] == "" ? "-" : v == "" ? "MISSING" : failed(part[1], part[2], part[3]) ? "FAILED" : missed(part[1], part[2], part[3], v) ? "MISS" : "ok"
        checked += goal[target[i]] != ""
        met += cells[7] == "ok"
        row(cells, 7, 0)
    }
    end_table()
    note(met + 0 " of " checked " targets met")
}

function table_latency(    phases, n, ops, m, i, o, f, cells, config, name, p) {
    heading("Latency of every call by fill of the volume, esp32s3-fit, default configuration, milliseconds: p50 / p99 / max")
    n = split("latency-churn-57 latency-churn-80 latency-churn-90 latency-small-57 latency-small-80 latency-small-90", phases, " ")
    m = split("open_write write close_write delete gc_step open_read read exists", ops, " ")
    for (f = 0; f < 2; f++) {
        note(f ? "With background steps between operations" : "Inline collection only")
        start_table()
        cells[1] = "call"
        for (i = 1; i <= n; i++) cells[i + 1] = substr(phases[i], 9)
        row(cells, n + 1, 1)
        for (o = 1; o <= m; o++) {
            cells[1] = ops[o]
            for (i = 1; i <= n; i++) {
                p = phases[i] "." ops[o] (f ? "_background_" : "_inline_")
                cells[i + 1] = value["fastffs", "default", "esp32s3-fit", p "max"] == "" ? "-" : \
                    number(value["fastffs", "default", "esp32s3-fit", p "p50"]) "/" \
                    number(value["fastffs", "default", "esp32s3-fit", p "p99"]) "/" \
                    number(value["fastffs", "default", "esp32s3-fit", p "max"])
            }
            if (f || ops[o] != "gc_step")
                row(cells, n + 1, 0)
        }
        end_table()
    }
}

function table_ram(    cells, i, n, configs, c, names) {
    heading("RAM in bytes, all buffers included (32-bit target / this host)")
    start_table()
    n = split("base_churn base_smallfiles base_smallfiles-3300k open_file", names, " ")
    split("minimal default fast", configs, " ")
    cells[1] = "what"; cells[2] = "minimal"; cells[3] = "default"; cells[4] = "fast"
    row(cells, 4, 1)
    for (i = 1; i <= n; i++) {
        cells[1] = names[i]
        for (c = 1; c <= 3; c++)
            cells[c + 1] = number(value["fastffs", configs[c], "ilp32", "ram." names[i]]) "/" \
                number(value["fastffs", configs[c], "host", "ram." names[i]])
        row(cells, 4, 0)
    }
    end_table()
}

# What the board projects measured: one table per kind of board, raw flash first.
function tables_board(    m, i, n, part, lists, word) {
    for (m = 1; m <= run_count; m++) {
        heading(run_models[m] == "host-stub" ? \
            "Board programs on a host (host-stub): emulated flash, no board, for testing the programs only" : \
            "Measured on a board with bench/esp32s3: " run_models[m])
        clear()
        n = split(run_columns[run_models[m]], part, ";")
        for (i = 1; i < n; i++) {
            split(part[i], word, " ")
            add(part[i], word[1] "-" word[2])
        }
        split_list("probe.read_4_mean probe.read_256_mean probe.read_4096_mean probe.program_4_mean probe.program_64_mean " \
            "probe.program_256_mean probe.program_1024_mean probe.program_4096_mean probe.erase_blank_4096_mean " \
            "probe.erase_full_4096_mean probe.erase_blank_32768_mean probe.erase_full_32768_mean " \
            "probe.erase_blank_65536_mean probe.erase_full_65536_mean", lists)
        comparison(run_models[m], lists, columns, titles, columns_count)
        comparison(run_models[m], board, columns, titles, columns_count)
    }
}

END {
    table_targets()
    heading("Simulated against simulated: esp32s3-fit, flash time only (a value with ! misses its target)")
    clear()
    add("fastffs minimal", "minimal"); add("fastffs default", "default"); add("fastffs fast", "fast")
    add("limit limit", "limit"); add("limit limit-4k", "limit-4k"); add("limit limit-blank", "limit-blank")
    add("littlefs default", "littlefs"); add("littlefs vfs", "littlefs-vfs"); add("fatfs wl", "fatfs-wl")
    add("jesfs nowait", "jesfs-nowait"); add("spiffs default", "spiffs")
    comparison("esp32s3-fit", headline, columns, titles, columns_count)
    heading("Bare chip: w25q64, data sheet times")
    clear()
    add("fastffs minimal", "minimal"); add("fastffs default", "default"); add("fastffs fast", "fast")
    add("limit limit", "limit"); add("limit limit-blank", "limit-blank")
    comparison("w25q64", short, columns, titles, columns_count)
    heading("Every program read back (verify), esp32s3-fit")
    clear()
    add("fastffs default", "default"); add("fastffs default-verify", "+verify"); add("fastffs fast", "fast")
    add("fastffs fast-verify", "+verify")
    comparison("esp32s3-fit", short, columns, titles, columns_count)
    table_ram()
    table_latency()
    heading("Board against board: published results on a real ESP32-S3 (FASTFFS has no row: not measured on a board)")
    clear()
    add("fastffs-prototype default", "prototype"); add("fastffs-prototype minimal", "proto-minimal")
    add("littlefs vfs", "littlefs"); add("fatfs wl", "fatfs-wl"); add("jesfs default", "jesfs"); add("spiffs default", "spiffs")
    comparison("esp32s3-board", board, columns, titles, columns_count)
    tables_board()
}

#!/bin/sh
# The board benchmark on a host, its logs and their conversion: test_board_log.sh BUILD. Prints "ok NAME" or "not ok NAME",
# and "N passed, N failed" at the end.
build=$1
s3=$build/s3
convert=$s3/log_to_csv
samples=bench/esp32s3/samples
work=$s3/test
passed=0
failed=0
mkdir -p "$work"

verdict() { # NAME STATUS
    if [ "$2" -eq 0 ]; then echo "ok $1"; passed=$((passed + 1)); else echo "not ok $1"; failed=$((failed + 1)); fi
}
# Adds the check to each line "FFB1 ..." of stdin
checked() {
    awk 'BEGIN { for (i = 32; i < 127; i++) code[sprintf("%c", i)] = i }
        { a = 1; b = 0; for (i = 1; i <= length($0); i++) { a = (a + code[substr($0, i, 1)]) % 251; b = (b + a) % 251 }
          printf "%s *%02x%02x\n", $0, b, a }'
}
# Rows of two results files, both of FASTFFS default, that match PATTERN ("phase metric") differ by at most this part, and
# there are at least so many: close_to FILE FILE PATTERN PART COUNT
close_to() {
    awk -F, -v pattern="$3" -v part="$4" -v count="$5" '
        FNR == 1 { file++; next }
        $1 != "fastffs" || $2 != "default" { next }
        file == 1 { value[$4, $5] = $7; next }
        ($4 " " $5) ~ pattern && ($4, $5) in value {
            v = value[$4, $5]; d = $7 - v; d = d < 0 ? -d : d; n++
            if (d > part * (v < 0 ? -v : v) + 0.0015) { print $4, $5, $7, "not", v; bad++ }
        }
        END { if (n < count) print "only", n + 0, "rows"; exit bad > 0 || n < count }' "$1" "$2"
}

"$convert" "$samples/fastffs_default.log" >"$work/sample.csv" && cmp -s "$work/sample.csv" "$samples/fastffs_default.csv"
verdict sample_log_gives_the_same_rows $?

"$convert" "$s3/fastffs_default.log" "$s3/littlefs.log" >"$work/live.csv"
verdict logs_of_a_whole_run_convert $?
"$build/bench/bench" --out "$work" --fs fastffs --config default --model esp32s3-fit 2>/dev/null
close_to "$work/results.csv" "$work/live.csv" "^baseline " 0.005 45
verdict baseline_is_what_make_bench_measures $?
# The partition driver has no 32 KiB erase: churn differs a little from the host's flash, which has one.
close_to "$work/results.csv" "$work/live.csv" "^(churn|smallfiles) (total|write|write_small|files|written|mount|list|programmed)$" 0.05 14
verdict churn_is_near_what_make_bench_measures $?
close_to "$work/results.csv" "$work/live.csv" "^(churn|smallfiles) (write_call_p50|delete_p50|close_p50|open_write_p50)$" 0.07 8
verdict percentiles_are_as_near_as_the_histogram $?
close_to "$work/results.csv" "$work/live.csv" "^growth-4 (open|list|mount|missing)_" 0.03 12
verdict growth_is_what_make_bench_measures $?
grep -q '^littlefs,vfs,host-stub,baseline,list,' "$work/live.csv" && grep -q '^littlefs,vfs,host-stub,smallfiles,total,' "$work/live.csv"
verdict mounted_filesystem_runs_through_the_vfs $?
! grep -q -e '-measured,' "$work/live.csv"
verdict nothing_from_a_host_is_called_measured $?

sed 's/^FFB1 cell section=write_tiny op=close_write calls=192/FFB1 cell section=write_tiny op=close_write calls=92/' \
    "$s3/fastffs_default.log" >"$work/damaged.log"
! "$convert" "$work/damaged.log" >/dev/null 2>"$work/err" && grep -q 'damaged line' "$work/err"
verdict damaged_line_is_told $?
head -30 "$s3/fastffs_default.log" >"$work/cut.log"
! "$convert" "$work/cut.log" >/dev/null 2>"$work/err" && grep -q 'did not end' "$work/err"
verdict log_that_ends_early_is_told $?
echo nothing >"$work/none.log"
! "$convert" "$work/none.log" >/dev/null 2>"$work/err" && grep -q 'no run' "$work/err"
verdict log_without_a_run_is_told $?

checked >"$work/failed.log" <<'END'
FFB1 run fs=spiffs config=default model=esp32s3-measured background=no idf=v5.4 size=4194304 address=2097152 encrypted=0
FFB1 phase name=smallfiles mode=inline files=0
FFB1 cell section=churn op=write calls=100 bytes=1048576 us=2000000 rc=1 rb=2 ru=3 pc=4 pb=2097152 pu=1000000 ec=1 eb=4096 eu=50000 es=1 e4=1 e64=0
FFB1 hist of=write n=3 max_us=5000 cells=10:2,130:1
FFB1 wear max=3 sum=40
FFB1 end result=failed text=write status=28 name=sf0001 written=1048576 writes=10 deletes=2 live_bytes=5 live_files=8 tiny_free_delta=0 tiny_index_bytes=0 target=8388608 stack=3000 heap_least=100000
END
"$convert" "$work/failed.log" >"$work/failed.csv" 2>"$work/err" && grep -q 'smallfiles failed: write, status -28' "$work/err" &&
    grep -q '^spiffs,default,esp32s3-measured,smallfiles,failed_at,%,12.5$' "$work/failed.csv" &&
    grep -q '^spiffs,default,esp32s3-measured,smallfiles,write_amplification,x,2$' "$work/failed.csv" &&
    grep -q '^spiffs,default,esp32s3-measured,smallfiles,wear_max,erases,3$' "$work/failed.csv" &&
    grep -q '^spiffs,default,esp32s3-measured,smallfiles,write_call_max,ms,5$' "$work/failed.csv" &&
    grep -q '^spiffs,default,esp32s3-measured,smallfiles,write_call_p50,ms,0.01$' "$work/failed.csv"
verdict failed_run_says_where $?

sh bench/esp32s3/report.sh "$convert" "$work/board" "$work/failed.log" "$s3/fastffs_default.log" >/dev/null 2>"$work/err" &&
    grep -q 'Measured on a board with bench/esp32s3: esp32s3-measured' "$work/board/report.html" &&
    grep -q 'no board, for testing the programs only' "$work/board/report.html" &&
    grep -q 'spiffs-default' "$work/board/report.html" && grep -q 'probe.erase_full_65536_mean' "$work/board/tables.txt"
verdict report_has_the_boards_tables $?
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

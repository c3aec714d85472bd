#!/bin/sh
# Tests of the image tool. usage: test_tool.sh [BUILD [CASE...]]
# Prints "ok NAME" or "not ok NAME" per case, what failed behind "# ", and "N passed, N failed" at the end.
# C-nn are the numbers of field cases. Needs sh, coreutils, cmp, diff, find, awk, grep.

build=${1:-build}
[ $# -gt 0 ] && shift
case $build in /*) ;; *) build=$PWD/$build ;; esac
tool=$build/fastffs
mktool=$build/mkfastffs
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/fastffs-tool.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
export LC_ALL=C
passed=0
failed=0

# ---- Helpers, used inside a case: each ends the case when it does not hold ----

die() { echo "$*"; exit 1; }
# code N COMMAND...: the exit code is N; stdout and stderr are in the files out and err
code() {
    want=$1; shift
    "$@" >out 2>err; got=$?
    [ "$got" -eq "$want" ] || die "exit $got, not $want: $* ($(head -c 300 err))"
}
says() { grep -q -e "$2" "$1" || die "'$2' is not in $1: $(head -c 400 "$1")"; }
same_tree() { diff -r "$1" "$2" >diffs 2>&1 || die "$1 and $2 differ: $(head -3 diffs)"; }
bytes_of() { wc -c <"$1" | tr -d ' '; }
# pattern N SEED: N bytes that differ for each seed
pattern() { awk -v n="$1" -v s="$2" 'BEGIN { x = s * 7919 + 17; for (i = 0; i < n; i++) { x = (x * 1103 + 12345) % 65521; printf "%c", 33 + x % 90 } }'; }
# a tree of COUNT files of about BYTES each, in three folders and outside
make_tree() {
    mkdir -p "$1/a/b" "$1/c" || exit 1
    i=0
    while [ $i -lt "$2" ]; do
        case $((i % 4)) in 0) d=$1 ;; 1) d=$1/a ;; 2) d=$1/a/b ;; *) d=$1/c ;; esac
        pattern $(($3 + i % 7)) "$i" >"$d/file$i.txt"
        i=$((i + 1))
    done
}
# the number that follows "KEY": in the JSON file
json() { sed -n "s/.*\"$2\": \([0-9]*\).*/\1/p" "$1" | head -1; }
no_leftovers() { set -- "$1".*; [ ! -e "$1" ] || die "left behind: $*"; }

# ---- Cases ----

round_trip() {  # SIZE SECTOR FILES BYTES
    make_tree tree "$3" "$4"
    code 0 "$tool" create i.bin --size "$1" --sector-size "$2" --from tree
    code 0 "$tool" list i.bin
    (cd tree && find . -type f | sed 's|^\./||' | sort) >expected
    cmp -s out expected || die "the listing differs"
    code 0 "$tool" extract i.bin got
    same_tree tree got
    code 0 "$tool" check i.bin
}
case_c52_64k_sector_4096() { round_trip 64K 4096 10 1000; [ "$(bytes_of i.bin)" -eq 65536 ] || die size; }
case_c52_64k_sector_8192() { round_trip 64K 8192 4 900; }
case_c52_112k_sector_4096() { round_trip 112K 4096 20 1500; [ "$(bytes_of i.bin)" -eq 114688 ] || die size; }
case_c52_112k_sector_8192() { round_trip 112K 8192 12 1500; }
case_c52_1m_sector_4096() { round_trip 1M 4096 60 4000; }
case_c52_1m_sector_8192() { round_trip 1M 8192 60 4000; }
case_c52_4m_sector_4096() { round_trip 4M 4096 100 5000; }
case_c52_4m_sector_8192() { round_trip 4M 8192 100 5000; }
case_small_sector_256() { round_trip 64K 256 10 1000; }
case_small_sector_512() { round_trip 128K 512 12 2000; }
case_large_sector_65536() { round_trip 2M 65536 12 9000; }
granule_round_trip() {
    make_tree tree 24 700
    code 0 "$tool" create i.bin --size 512K --granule "$1" --from tree
    code 0 "$tool" info i.bin --json
    [ "$(json out granule_bytes)" -eq "$1" ] || die "granule $(json out granule_bytes)"
    code 0 "$tool" add i.bin tree/file0.txt more
    code 0 "$tool" remove i.bin more
    code 0 "$tool" extract i.bin got
    same_tree tree got
    code 0 "$tool" check i.bin
}
case_granule_4() { granule_round_trip 4; }
case_granule_16() { granule_round_trip 16; }
case_granule_256() { granule_round_trip 256; }
case_c52_file_longer_than_volume() {
    make_tree tree 8 500
    code 0 "$tool" create i.bin --size 64K --from tree
    printf 'bytes behind the volume' >>i.bin
    code 0 "$tool" add i.bin tree/file0.txt again
    tail -c 23 i.bin | grep -q '^bytes behind the volume$' || die "the bytes behind the volume are gone"
    code 0 "$tool" cat i.bin again
    cmp -s out tree/file0.txt || die differs
}
case_c52_file_cut_short() {
    code 0 "$tool" create whole.bin --size 128K
    head -c 65536 whole.bin >i.bin
    code 1 "$tool" list i.bin
    says err 131072
    says err 65536
    code 4 "$tool" check i.bin
}

case_c53_too_small() {
    make_tree tree 36 2048
    code 1 "$tool" create i.bin --size 64K --from tree
    says err "file"
    says err "too small"
    says err "needed are [0-9]* bytes, available were [0-9]*"
    needed=$(sed -n 's/.*needed are \([0-9]*\) bytes.*/\1/p' err)
    available=$(sed -n 's/.*available were \([0-9]*\).*/\1/p' err)
    [ "$needed" -ge 73728 ] && [ "$needed" -gt "$available" ] || die "needed $needed, available $available"
    [ ! -e i.bin ] || die "an image was left"
    no_leftovers i.bin
}
case_c53_first_file_that_failed() {
    mkdir tree
    pattern 1000 1 >tree/a
    pattern 200000 2 >tree/b_too_large
    pattern 1000 3 >tree/c
    code 1 "$tool" create i.bin --size 64K --from tree
    says err "'b_too_large'"
    says err "1 of 3"
}
smallest_works() {  # further options of create
    code 0 "$tool" create --dry-run --json i.bin --from tree "$@"
    size=$(json out smallest_size)
    sector=$(json out sector_bytes)
    [ -n "$size" ] || die "no size"
    code 0 "$tool" create i.bin --size "$size" --from tree "$@"
    code 0 "$tool" extract i.bin got
    same_tree tree got
    code 0 "$tool" check i.bin
    rm i.bin
    code 1 "$tool" create i.bin --size $((size - sector)) --from tree "$@"
    [ ! -e i.bin ] || die "an image was left"
    no_leftovers i.bin
}
case_c53_smallest_size() { make_tree tree 36 2048; smallest_works; }
case_c53_smallest_size_sector_512() { make_tree tree 36 2048; smallest_works --sector-size 512; }
case_c53_smallest_size_sector_8192() { make_tree tree 20 3000; smallest_works --sector-size 8192; }
case_c53_smallest_size_granule_16() { make_tree tree 20 3000; smallest_works --granule 16; }
case_c53_smallest_size_many_tiny() { make_tree tree 300 10; smallest_works; }
case_c53_smallest_size_2m() { make_tree tree 60 30000; smallest_works; }
case_c53_smallest_size_empty_tree() { mkdir tree; smallest_works; }
case_c53_dry_run_writes_nothing() {
    make_tree tree 8 500
    code 0 "$tool" load i.bin tree --dry-run
    says out "smallest image"
    [ ! -e i.bin ] || die "an image was made"
    code 0 "$tool" create i.bin --size 64K
    cp i.bin before
    code 0 "$tool" load --dry-run i.bin tree
    says out "fit"
    cmp -s i.bin before || die "the image changed"
    make_tree large 30 8000
    code 1 "$tool" load --dry-run i.bin large
    says err "too small"
    cmp -s i.bin before || die "the image changed"
}
case_c53_failed_load_leaves_image() {
    make_tree tree 6 500
    code 0 "$tool" create i.bin --size 64K --from tree
    cp i.bin before
    pattern 200000 5 >large
    code 1 "$tool" add i.bin large
    says err "'large'"
    cmp -s i.bin before || die "add changed the image"
    mkdir more; cp large more/z; cp tree/file0.txt more/y
    code 1 "$tool" load i.bin more
    says err "'z'"
    cmp -s i.bin before || die "load changed the image"
    code 1 "$tool" create i.bin --size 64K --from more
    cmp -s i.bin before || die "create changed the image"
    no_leftovers i.bin
}
case_c53_too_many_files() {
    make_tree tree 40 10
    code 1 "$tool" create i.bin --size 256K --max-files 20 --from tree
    says err "max-files"
    [ ! -e i.bin ] || die "an image was left"
    code 0 "$tool" create i.bin --size 256K --from tree
    code 0 "$tool" list i.bin
    [ "$(wc -l <out)" -eq 40 ] || die "not 40 files"
}

case_c57_tree_to_names() {
    mkdir -p tree/a/b tree/empty
    echo c >tree/a/b/c.txt
    echo d >tree/d.txt
    code 0 "$tool" create i.bin --size 64K --from tree
    code 0 "$tool" list i.bin
    printf 'a/b/c.txt\nd.txt\n' | cmp -s - out || die "names: $(cat out)"
    code 0 "$tool" extract i.bin got
    rmdir tree/empty
    same_tree tree got
}
case_c57_unsafe_names() {
    code 0 "$tool" create i.bin --size 128K
    echo evil >evil; echo good >good
    mkdir jail
    for name in ../x "$work/abs" a/../../x a/.. .. . a//b /x b/ ./y a/./b; do
        code 0 "$tool" add i.bin evil -- "$name"
    done
    code 0 "$tool" add i.bin good fine/..good/g...
    code 1 "$tool" extract i.bin jail/target
    says err "refused"
    [ "$(grep -c refused err)" -eq 11 ] || die "refused: $(grep -c refused err)"
    [ -z "$(find . -name x -o -name abs -o -name y)" ] && [ ! -e "$work/abs" ] && [ ! -e /x ] || die "written outside"
    [ "$(find jail -type f | wc -l)" -eq 1 ] || die "files: $(find jail)"
    cmp -s good jail/target/fine/..good/g... || die "the good file is missing"
}
case_c57_links_in_the_target() {
    code 0 "$tool" create i.bin --size 64K
    echo new >new
    code 0 "$tool" add i.bin new link/f
    code 0 "$tool" add i.bin new last
    mkdir outside target
    echo old >outside/last
    ln -s ../outside target/link
    ln -s ../outside/last target/last
    code 1 "$tool" extract i.bin target
    [ ! -e outside/f ] || die "written through a linked folder"
    [ "$(cat outside/last)" = old ] || die "written through a link"
    [ "$(cat target/last)" = new ] || die "not extracted"
}
case_c57_file_and_folder_of_one_name() {
    code 0 "$tool" create i.bin --size 64K
    echo 1 >f
    code 0 "$tool" add i.bin f a
    code 0 "$tool" add i.bin f a/b
    code 0 "$tool" add i.bin f c
    code 1 "$tool" extract i.bin got
    says err "'a/b'"
    [ -f got/a ] && [ -f got/c ] || die "the others are missing"
}
case_c57_leading_slash() {
    mkdir -p tree/a; echo 1 >tree/a/x; echo 2 >tree/y
    code 0 "$tool" create i.bin --size 64K --from tree --prefix /
    code 0 "$tool" list i.bin
    printf '/a/x\n/y\n' | cmp -s - out || die "names: $(cat out)"
    code 1 "$tool" extract i.bin got
    code 0 "$tool" extract --prefix / i.bin got
    same_tree tree got
}

long_name() { printf '%*s' "$1" '' | tr ' ' n; }
case_c58_name_too_long() {
    make_tree tree 9 200
    mkdir -p tree/deep/folder
    name=$(long_name 70)
    echo x >tree/deep/folder/$name
    code 1 "$tool" create i.bin --size 64K --from tree
    says err "deep/folder/$name"
    says err "has 82 bytes"
    says err "limit is 64"
    [ ! -e i.bin ] || die "an image was left"
    code 0 "$tool" create i.bin --size 64K
    cp i.bin before
    code 1 "$tool" load i.bin tree
    says err "has 82 bytes"
    code 1 "$tool" add i.bin tree/file0.txt "$name"
    says err "has 70 bytes"
    cmp -s i.bin before || die "the image changed"
}
case_c58_name_at_the_limit() {
    mkdir tree
    name=$(long_name 64)
    echo x >tree/$name
    code 0 "$tool" create i.bin --size 64K --from tree
    code 0 "$tool" list i.bin
    [ "$(cat out)" = "$name" ] || die "name: $(cat out)"
}
case_c58_limit_of_the_target() {
    mkdir tree
    echo x >tree/short
    echo x >tree/a_name_of_24_bytes_length
    code 1 "$tool" create i.bin --size 64K --from tree --name-max 16
    says err "limit is 16"
    [ ! -e i.bin ] || die "an image was left"
    code 2 "$tool" create i.bin --size 64K --from tree --name-max 300
}

case_same_tree_same_image() {
    make_tree tree 50 700
    code 0 "$tool" create one.bin --size 256K --from tree
    cp -R tree copy
    mkdir other; for f in $(cd copy && find . -type f | sort -r); do mkdir -p "other/$(dirname "$f")"; cp "copy/$f" "other/$f"; done
    code 0 "$tool" create two.bin --size 256K --from other
    cmp one.bin two.bin || die "create differs"
    code 0 "$tool" create three.bin --size 256K
    cp three.bin four.bin
    code 0 "$tool" load three.bin tree
    code 0 "$tool" load four.bin other
    cmp three.bin four.bin || die "load differs"
}
case_reading_leaves_image() {
    make_tree tree 20 700
    code 0 "$tool" create i.bin --size 256K --from tree
    cp i.bin before
    for command in list info dump check probe; do code 0 "$tool" $command i.bin; done
    code 0 "$tool" cat i.bin a/file1.txt
    code 0 "$tool" extract i.bin got
    cmp i.bin before || die "the image changed"
}
case_replace_and_remove() {
    make_tree tree 60 1500
    code 0 "$tool" create i.bin --size 256K --from tree
    round=0
    while [ $round -lt 6 ]; do
        mkdir -p new/a
        for f in file0.txt a/file1.txt a/file5.txt; do pattern $((900 + round * 700)) $((round + 50)) >new/$f; cp new/$f tree/$f; done
        code 0 "$tool" load i.bin new
        rm tree/c/file$((3 + 4 * round)).txt
        code 0 "$tool" remove i.bin c/file$((3 + 4 * round)).txt
        code 0 "$tool" check i.bin
        round=$((round + 1))
    done
    code 0 "$tool" extract i.bin got
    same_tree tree got
}
case_remove_all_or_nothing() {
    make_tree tree 12 300
    code 0 "$tool" create i.bin --size 64K --from tree
    cp i.bin before
    code 1 "$tool" remove i.bin file0.txt no-such-file
    says err "no-such-file"
    cmp -s i.bin before || die "the image changed"
    code 1 "$tool" remove i.bin a
    says err "folder"
    cmp -s i.bin before || die "the image changed"
    code 0 "$tool" remove -r i.bin a
    code 0 "$tool" list i.bin a
    [ ! -s out ] || die "left: $(cat out)"
    code 0 "$tool" list i.bin
    [ "$(wc -l <out)" -eq 6 ] || die "left: $(cat out)"
    code 0 "$tool" remove -f i.bin no-such-file
}
case_rename() {
    make_tree tree 12 300
    code 0 "$tool" create i.bin --size 64K --from tree
    code 0 "$tool" rename i.bin file0.txt a/zero
    says out "file0.txt"
    mv tree/file0.txt tree/a/zero
    code 0 "$tool" extract i.bin got
    same_tree tree got
    code 0 "$tool" check i.bin
    cp i.bin before
    code 1 "$tool" rename i.bin no-such-file x
    says err "no-such-file"
    code 1 "$tool" rename i.bin file4.txt a/zero
    says err "exists"
    cmp -s i.bin before || die "the image changed"
    code 0 "$tool" rename -f i.bin file4.txt a/zero
    mv tree/file4.txt tree/a/zero
    code 0 "$tool" rename -r i.bin a moved/here
    mkdir tree/moved && mv tree/a tree/moved/here
    code 0 "$tool" check i.bin
    code 0 "$tool" extract i.bin got2
    same_tree tree got2
    code 1 "$tool" rename i.bin moved x
    says err "folder"
    code 2 "$tool" rename i.bin onlyone
    code 2 "$tool" rename i.bin a ''
}
case_extract_names() {
    make_tree tree 12 300
    code 0 "$tool" create i.bin --size 64K --from tree
    code 0 "$tool" extract i.bin got a/b file0.txt
    same_tree tree/a/b got/a/b
    cmp -s tree/file0.txt got/file0.txt || die differs
    [ ! -e got/c ] || die "too much"
    code 1 "$tool" extract i.bin got nothing c
    says err "'nothing'"
    same_tree tree/c got/c
}
case_list_prefix_and_folders() {
    make_tree tree 12 300
    code 0 "$tool" create i.bin --size 64K --from tree
    code 0 "$tool" list i.bin a/b/
    [ "$(wc -l <out)" -eq 3 ] || die "$(cat out)"
    code 0 "$tool" list i.bin --folders
    printf 'a/\nc/\nfile0.txt\nfile4.txt\nfile8.txt\n' | cmp -s - out || die "$(cat out)"
    code 0 "$tool" list i.bin --folders a/
    printf 'a/b/\na/file1.txt\na/file5.txt\na/file9.txt\n' | cmp -s - out || die "$(cat out)"
    code 0 "$tool" list i.bin --size file8
    says out '^ *301  file8.txt$'
}
case_cat() {
    mkdir tree; : >tree/empty; pattern 5000 1 >tree/one; pattern 70000 2 >tree/two
    code 0 "$tool" create i.bin --size 256K --from tree
    code 0 "$tool" cat i.bin two empty one
    cat tree/two tree/one | cmp -s - out || die differs
    code 1 "$tool" cat i.bin missing one
    says err "'missing'"
    cmp -s tree/one out || die "the other file is missing"
}
case_odd_contents() {
    mkdir tree
    : >tree/empty
    head -c 9000 /dev/zero | tr '\0' '\377' >tree/ones
    head -c 9000 /dev/zero >tree/zeros
    head -c 10000 "$tool" >tree/code
    printf x >tree/byte
    code 0 "$tool" create i.bin --size 128K --from tree --verify
    code 0 "$tool" extract i.bin got
    same_tree tree got
}
case_odd_names() {
    mkdir tree
    nl=$(printf 'a\nb'); bad=$(printf 'bad\377byte'); esc=$(printf 'e\033[1m')
    for n in "$nl" "$bad" "$esc" 'sp ace' 'back\slash' '"quote"' "umlaut-$(printf '\303\274')" -dash; do echo "$n" >"tree/$n"; done
    code 0 "$tool" create i.bin --size 64K --from tree
    code 0 "$tool" list i.bin
    [ "$(wc -l <out)" -eq 8 ] || die "lines: $(wc -l <out)"
    says out '^a\\x0ab$'
    code 0 "$tool" list i.bin --json
    says out '"a\\u000ab"'
    says out '"\\"quote\\""'
    says out 'name_hex": "626164ff62797465"'
    code 0 "$tool" extract i.bin got
    same_tree tree got
    code 0 "$tool" remove i.bin -- -dash "$nl"
    code 0 "$tool" check i.bin
}
case_ignored_entries_and_links() {
    mkdir -p tree/.git tree/real
    echo x >tree/.git/config; echo x >tree/.DS_Store; echo r >tree/real/f
    ln -s real/f tree/link
    ln -s real tree/folder
    code 0 "$tool" create i.bin --size 64K --from tree
    says out "left out: 2"
    code 0 "$tool" list i.bin
    printf 'folder/f\nlink\nreal/f\n' | cmp -s - out || die "$(cat out)"
    code 0 "$tool" create i.bin --size 64K --from tree --all
    code 0 "$tool" list i.bin .git/
    [ "$(cat out)" = .git/config ] || die "$(cat out)"
    ln -s .. tree/real/loop
    code 1 "$tool" create i.bin --size 64K --from tree
    says err loop
    rm tree/real/loop
    mkfifo tree/pipe
    code 1 "$tool" create i.bin --size 64K --from tree
    says err pipe
}
case_image_file_kept_in_place() {
    code 0 "$tool" create i.bin --size 64K
    chmod 640 i.bin
    ln -s i.bin link.bin
    echo x >x
    code 0 "$tool" add link.bin x
    [ -L link.bin ] || die "the link was replaced"
    [ "$(ls -l i.bin | cut -c1-10)" = -rw-r----- ] || die "$(ls -l i.bin)"
    code 0 "$tool" list i.bin
    [ "$(cat out)" = x ] || die "not in the file behind the link"
    mkdir folder
    code 1 "$tool" create folder --size 64K
    code 1 "$tool" create no/such/folder/i.bin --size 64K
    says err "no/such/folder"
}

case_check_exit_codes() {
    make_tree tree 12 300
    code 0 "$tool" create i.bin --size 64K --from tree
    code 0 "$tool" check i.bin
    says out "clean, 12 files"
    code 8 "$tool" check missing.bin
    code 16 "$tool" check
    code 16 "$tool" check --wrong i.bin
    head -c 65536 /dev/zero | tr '\0' '\377' >blank.bin
    code 8 "$tool" check blank.bin
    says err blank
    make_tree junk 1 65536
    code 8 "$tool" check junk/file0.txt
    says err "not a FASTFFS image"
    : >empty.bin
    code 8 "$tool" check empty.bin
}
case_check_finds_a_damaged_node() {
    mkdir tree
    pattern 600 1 >tree/unique-name-of-the-victim
    pattern 600 2 >tree/other
    code 0 "$tool" create i.bin --size 64K --from tree
    at=$(grep -abo unique-name-of-the-victim i.bin | head -1 | cut -d: -f1)
    [ -n "$at" ] || die "the name is not on flash"
    printf 'U' | dd of=i.bin bs=1 seek="$at" conv=notrunc 2>/dev/null
    code 4 "$tool" check i.bin
    says out "DAMAGED"
    code 4 "$tool" check i.bin --json
    says out '"clean": false'
    code 1 "$tool" list i.bin
    says out "^other$"
    code 1 "$tool" extract i.bin got
    cmp -s tree/other got/other || die "the sound file is missing"
}
case_usage_exit_codes() {
    code 2 "$tool"
    code 2 "$tool" nonsense
    code 2 "$tool" create i.bin
    code 2 "$tool" create i.bin --size
    code 2 "$tool" create i.bin --size 12Q
    code 2 "$tool" create i.bin --size 65000
    code 2 "$tool" create i.bin --size 64K --sector-size 1000
    code 2 "$tool" create --size 64K
    code 2 "$tool" create a b --size 64K
    code 2 "$tool" list
    code 2 "$tool" load i.bin
    code 2 "$tool" add i.bin
    code 2 "$tool" extract i.bin
    code 2 "$tool" cat i.bin
    code 2 "$tool" remove i.bin
    code 2 "$tool" info i.bin --wrong
    code 2 "$tool" dump
    code 2 "$tool" probe i.bin --scratch 3
    code 1 "$tool" create i.bin --size 16K
    [ ! -e i.bin ] || die "an image was made"
    for command in list info dump probe; do code 1 "$tool" $command missing.bin; says err missing.bin; done
}
case_help_and_version() {
    code 0 "$tool" --help
    says out "usage: fastffs"
    code 0 "$tool" --version
    says out '^fastffs [0-9]*\.[0-9]*\.[0-9]*, format 1'
    for command in create load add list extract cat remove rename info dump check probe mount; do
        code 0 "$tool" $command --help
        says out "usage: fastffs $command"
        [ ! -s err ] || die "help on stderr"
    done
    code 0 "$mktool" --help
    code 0 "$mktool" --version
}
case_sizes() {
    for size in 131072 128K 128k 0x20000 128KiB 128kB 0x80K; do
        code 0 "$tool" create i.bin --size $size
        [ "$(bytes_of i.bin)" -eq 131072 ] || die "$size: $(bytes_of i.bin)"
    done
    code 2 "$tool" create i.bin --size 8G
    code 2 "$tool" create i.bin --size -1
}
case_info() {
    make_tree tree 12 300
    code 0 "$tool" create i.bin --size 1M --sector-size 8K --granule 8 --segment-size 32K --max-files 200 --from tree
    code 0 "$tool" info i.bin --json
    for fact in volume_bytes=1048576 sector_bytes=8192 sectors=128 granule_bytes=8 segment_bytes=32768 files=12 format_version=1; do
        [ "$(json out "${fact%=*}")" = "${fact#*=}" ] || die "$fact: $(json out "${fact%=*}")"
    done
    [ "$(json out max_files)" -ge 200 ] || die "max_files $(json out max_files)"
    [ $(($(json out used_bytes) + $(json out free_bytes))) -eq "$(json out capacity_bytes)" ] || die "used + free"
    code 0 "$tool" info i.bin
    says out "^sector  *8192 bytes (8 KiB)$"
}
case_dump() {
    make_tree tree 12 300
    code 0 "$tool" create i.bin --size 64K --from tree
    code 0 "$tool" remove i.bin file4.txt
    code 0 "$tool" dump i.bin
    says out header
    says out "put "
    says out "delete "
    for f in $(cd tree && find . -type f ! -name file4.txt | sed 's|^\./||'); do says out "node  *'$f'"; done
    grep -q "'file4.txt'" out && die "a deleted file has a node"
    # the node's place is where the dump says: its name stands there
    offset=$(sed -n "s/^\([0-9a-f]*\) .*'a\/b\/file2.txt'.*/\1/p" out)
    tail -c +$((0x$offset + 1)) i.bin | head -c 64 | grep -aq 'a/b/file2.txt' || die "no name at $offset"
    code 0 "$tool" dump i.bin --owner 0x$offset
    [ "$(cat out)" = a/b/file2.txt ] || die "owner: $(cat out)"
    code 0 "$tool" dump i.bin --owner 0
    [ "$(cat out)" = "no file" ] || die "owner of the index: $(cat out)"
    code 0 "$tool" dump i.bin --current
    grep -q ' - put' out && die "outdated records"
    code 0 "$tool" dump i.bin --json
    says out '"kind": "node"'
}
case_probe() {
    make_tree tree 40 700
    code 0 "$tool" create i.bin --size 256K --from tree
    cp i.bin before
    code 0 "$tool" probe i.bin
    says out "esp32s3-fit"
    says out "w25q64"
    for operation in mount open "read whole" "list all" "look-up, exists" "look-up, missing" "create 64" delete; do says out "^$operation"; done
    cmp -s i.bin before || die "the image changed"
    code 0 "$tool" probe i.bin --json
    grep '"look-up, missing"' out >missing
    [ "$(json missing count)" -eq 40 ] || die "$(cat missing)"
    [ "$(json missing reads)" -lt 10 ] || die "missing names cost reads: $(cat missing)"
    grep '"operation": "open"' out >opened
    [ "$(json opened reads)" -le 44 ] || die "open costs: $(cat opened)"
    code 0 "$tool" probe i.bin --cache 0
    mkdir none
    code 0 "$tool" create e.bin --size 64K --from none
    code 0 "$tool" probe e.bin
}
case_verbose_counts() {
    make_tree tree 10 300
    code 0 "$tool" create i.bin --size 64K --from tree -v
    says out "programs .* erases; emulated time"
    code 0 "$tool" load i.bin tree -v
    says out "programs .* erases; emulated time"
    code 0 "$tool" remove i.bin file0.txt -v
    says out "programs .* erases; emulated time"
    code 0 "$tool" load i.bin tree -q
    [ ! -s out ] && [ ! -s err ] || die "not quiet"
}
case_json_is_json() {
    command -v python3 >/dev/null 2>&1 || return 0
    make_tree tree 10 300
    code 0 "$tool" create i.bin --size 64K --from tree
    mkdir none
    code 0 "$tool" create e.bin --size 64K --from none
    for image in i.bin e.bin; do
        for command in list info dump check probe; do
            code 0 "$tool" $command $image --json
            python3 -c 'import json, sys; json.load(open("out"))' 2>parse || die "$command: $(tail -1 parse)"
        done
    done
    code 0 "$tool" load x.bin tree --dry-run --json
    python3 -c 'import json, sys; json.load(open("out"))' 2>parse || die "dry-run: $(tail -1 parse)"
}
case_full_disk_is_reported() {
    [ -c /dev/full ] || return 0
    make_tree tree 10 300
    code 0 "$tool" create i.bin --size 64K --from tree
    "$tool" list i.bin >/dev/full 2>err && die "no error"
    says err "standard output"
}
case_failed_write_leaves_image() {
    make_tree tree 10 300
    code 0 "$tool" create i.bin --size 64K --from tree
    cp i.bin before
    (trap '' XFSZ; ulimit -f 16; "$tool" add i.bin tree/file0.txt more >out 2>err) && die "no error"
    says err "can not be written"
    cmp -s i.bin before || die "the image changed"
    no_leftovers i.bin
}
case_alias_mkfastffs() {
    make_tree tree 10 300
    code 0 "$mktool" -c tree -b 4096 -p 256 -s 0x20000 i.bin
    [ "$(bytes_of i.bin)" -eq 131072 ] || die size
    code 0 "$mktool" -l i.bin
    [ "$(wc -l <out)" -eq 10 ] || die "$(cat out)"
    code 0 "$mktool" -u got i.bin
    same_tree tree got
    code 0 "$mktool" -i i.bin
    code 0 "$tool" -c tree -s 128K j.bin
    cmp i.bin j.bin || die "two ways, two images"
    code 2 "$mktool" -c tree i.bin
    code 2 "$mktool" -c tree -u got i.bin
    code 2 "$mktool" i.bin
}
case_unclean_image() {
    # a volume whose clean mark is gone is read as recovery would leave it, and changed after recovery
    make_tree tree 10 300
    code 0 "$tool" create i.bin --size 64K --from tree
    code 0 "$tool" dump i.bin
    offset=$(sed -n 's/^\([0-9a-f]*\) .*clean.*/\1/p' out | tail -1)
    [ -n "$offset" ] || die "no clean mark"
    printf '\377\377\377\377\377\377\377\377' | dd of=i.bin bs=1 seek=$((0x$offset)) conv=notrunc 2>/dev/null
    code 0 "$tool" check i.bin
    code 0 "$tool" extract i.bin got
    same_tree tree got
    echo new >new; cp new tree/new
    code 0 "$tool" add i.bin new
    code 0 "$tool" extract i.bin got2
    same_tree tree got2
    code 0 "$tool" check i.bin
}

# destroy IMAGE BYTES WHAT: overwrites the first bytes with random, zero or blank ones
destroy() {
    case $3 in
        random) awk -v n="$2" 'BEGIN { srand(7); for (i = 0; i < n; i++) printf "%c", 1 + int(rand() * 126) }' ;;
        zero) head -c "$2" /dev/zero ;;
        blank) head -c "$2" /dev/zero | tr '\0' '\377' ;;
    esac | dd of="$1" conv=notrunc bs=65536 2>/dev/null
}
index_bytes() { "$tool" info "$1" --json >info.json; json info.json index_bytes; }
salvage_after() {  # SIZE SECTOR FILES BYTES WHAT
    make_tree tree "$3" "$4"
    : >tree/empty
    code 0 "$tool" create i.bin --size "$1" --sector-size "$2" --from tree
    destroy i.bin "$(index_bytes i.bin)" "$5"
    "$tool" list i.bin >/dev/null 2>&1 && die "the index is still there"
    cp i.bin before
    code 0 "$tool" salvage i.bin got
    says out "^proved *'empty', 0 bytes"
    [ "$(grep -c "passed over" out)" -eq 0 ] || die "passed over: $(grep passed out)"
    same_tree tree got
    cmp -s i.bin before || die "the image changed"
    code 0 "$tool" salvage i.bin got2 --sector-size "$2"
    same_tree tree got2
}
case_salvage_index_overwritten() { salvage_after 1M 4096 60 900 random; }
case_salvage_index_erased() { salvage_after 256K 4096 40 2000 blank; }
case_salvage_index_zeroed() { salvage_after 64K 256 30 700 zero; }
case_salvage_large_sectors() { salvage_after 2M 65536 12 90000 blank; }
case_salvage_newest_intact_version() {
    make_tree tree 6 300
    code 0 "$tool" create i.bin --size 128K --from tree
    echo second >v2; echo third >v3
    code 0 "$tool" add i.bin v2 file0.txt
    code 0 "$tool" add i.bin v3 file0.txt
    destroy i.bin "$(index_bytes i.bin)" random
    code 0 "$tool" salvage i.bin got -v
    says out "'file0.txt', 6 bytes.*2 versions passed over"
    [ "$(grep -c 'passed over: .*: older$' out)" -eq 2 ] || die "$(cat out)"
    cmp -s v3 got/file0.txt || die "not the newest"
    # its node damaged: the one before it is the newest that is intact
    node=$(sed -n "s/.*'file0.txt'.*node at 0x\([0-9a-f]*\),.*/\1/p" out)
    printf X | dd of=i.bin bs=1 seek=$((0x$node + 3)) conv=notrunc 2>/dev/null
    code 0 "$tool" salvage i.bin got2
    cmp -s v2 got2/file0.txt || die "not the second"
}
case_salvage_deleted() {
    make_tree tree 6 300
    code 0 "$tool" create i.bin --size 128K --from tree
    code 0 "$tool" remove i.bin file0.txt
    code 0 "$tool" salvage i.bin got
    says out "^deleted *'file0.txt'"
    [ ! -e got/file0.txt ] || die "it is there"
    code 0 "$tool" salvage i.bin all --deleted
    same_tree tree all
    destroy i.bin "$(index_bytes i.bin)" blank
    code 0 "$tool" salvage i.bin lost
    same_tree tree lost
}
case_salvage_after_churn() {
    # many versions, files of several extents, moved and erased segments: all that was current comes back
    make_tree tree 8 500
    code 0 "$tool" create i.bin --size 64K --sector-size 256 --from tree
    i=0
    while [ $i -lt 24 ]; do
        pattern $((300 + i * 37 % 900)) $i >v
        code 0 "$tool" add i.bin v "hot$((i % 5))"
        pattern 9000 $i >v
        code 0 "$tool" add i.bin v large
        i=$((i + 1))
    done
    code 0 "$tool" extract i.bin want
    destroy i.bin "$(index_bytes i.bin)" zero
    code 0 "$tool" salvage i.bin got
    same_tree want got
}
case_salvage_unsafe_names() {
    code 0 "$tool" create i.bin --size 128K
    echo evil >evil
    mkdir jail
    for name in ../x "$work/abs" a/../../x .. . a//b /x; do code 0 "$tool" add i.bin evil -- "$name"; done
    code 0 "$tool" add i.bin evil -- a
    code 0 "$tool" add i.bin evil -- a/inside
    destroy i.bin "$(index_bytes i.bin)" blank
    code 0 "$tool" salvage i.bin jail/target
    [ -z "$(find . -name x -o -name abs)" ] && [ ! -e "$work/abs" ] && [ ! -e /x ] || die "written outside"
    [ "$(find jail -type f | wc -l)" -eq 9 ] || die "files: $(find jail)"
    [ "$(find jail -type f -name 'salvaged-*' | wc -l)" -eq 8 ] || die "files: $(find jail)"
    [ "$(grep -c 'written as salvaged-' out)" -eq 8 ] || die "$(cat out)"
}
case_salvage_folder_in_use() {
    code 0 "$tool" create i.bin --size 64K
    mkdir got; echo mine >got/mine
    code 1 "$tool" salvage i.bin got
    says err "not empty"
    code 1 "$tool" salvage i.bin none
    says out "0 nodes"
    code 1 "$tool" salvage missing.bin other
    code 2 "$tool" salvage i.bin
    code 2 "$tool" salvage i.bin got --sector-size 300
}
# Images made by hand: what the library does not write yet, and what nobody should.
crafted() { command -v python3 >/dev/null 2>&1 || return 0; python3 "$here/craft_nodes.py" "$1" i.bin || die "craft_nodes.py"; }
case_salvage_data_crc() {
    crafted data_crc; [ -f i.bin ] || return 0
    code 1 "$tool" salvage i.bin got
    says out "^proved *'good'"
    says out "^proved *'repaired', 3 bytes, stamp 4,.*1 versions passed over"
    says out "passed over: stamp 5, .*the CRC of its data is wrong"
    says out "^lost *'bad'"
    says out "^lost *'overwritten'"
    says out "a proved file of another name has bytes of it"
    [ "$(cat got/repaired)" = old ] && [ ! -e got/bad ] && [ ! -e got/overwritten ] || die "written: $(find got)"
}
case_salvage_node_inside_a_file() {
    crafted embedded; [ -f i.bin ] || return 0
    code 0 "$tool" salvage i.bin got
    says out "^proved *'firmware'"
    says out "'config', 4 bytes, stamp 3"
    says out "passed over: stamp 900, .*inside the data of a proved file"
    [ "$(cat got/config)" = mine ] || die "the wrong one"
}
case_salvage_table_blocks() {
    crafted tables; [ -f i.bin ] || return 0
    code 1 "$tool" salvage i.bin got
    says out "'whole', 60 bytes"
    says out "^lost *'cut'"
    says out "list of its extents is damaged"
    [ "$(cat got/whole)" = aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffff ] || die "$(cat got/whole)"
}
case_salvage_disputed_bytes() {
    crafted dispute; [ -f i.bin ] || return 0
    code 0 "$tool" salvage i.bin got
    says out "'second' claims some of the same bytes"
    says out "'first' claims some of the same bytes"
    [ "$(grep -c '^unproved' out)" -eq 2 ] || die "$(cat out)"
}
case_salvage_hostile_images() {
    # each in bounded time; what comes out is bounded too, and inside the folder
    crafted bomb; [ -f i.bin ] || return 0
    (ulimit -t 20; code 1 "$tool" salvage i.bin got) || die "bomb: $(cat out err)"
    [ "$(find got -type f -exec cat {} + | wc -c)" -le $((4 * $(bytes_of i.bin))) ] || die "more than can be"
    for seed in 1 2 3 4 5 6 7 8 9 10 11 12; do
        crafted "mutate$seed"
        mkdir jail
        (ulimit -t 20; "$tool" salvage i.bin jail/got >out 2>err); got=$?
        [ $got -le 1 ] || die "seed $seed: exit $got: $(head -3 err)"
        [ "$(find . -newer i.bin -type f ! -path './jail/got/*' ! -name out ! -name err ! -name i.bin | wc -l)" -eq 0 ] || die outside
        rm -rf jail
    done
}

# hit IMAGE OFFSET: changes one byte
hit() { printf '\252' | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null; }
dump_offset() { sed -n "s|^\([0-9a-f]*\) .*$1.*|\1|p" out | tail -1; }
case_check_names_place_of_damage() {
    make_tree tree 12 700
    code 0 "$tool" create whole.bin --size 256K --from tree
    code 0 "$tool" dump whole.bin
    # a node, in its slot field: the file is named by what is left of the node
    cp whole.bin i.bin
    node=$(dump_offset "'a/file5.txt'")
    hit i.bin $((0x$node))
    code 4 "$tool" check i.bin
    says out "I1: offset 0x[0-9a-f]*, [0-9]* bytes (segment [0-9]*, sector [0-9]*):"
    says out "the file of slot 0x[0-9a-f]*: a record leads to no valid node"
    cp whole.bin i.bin
    hit i.bin $((0x$node + 11 + 4))
    code 4 "$tool" check i.bin
    says out "(segment [0-9]*, sector [0-9]*): 'a/file5.txt': a record leads to no valid node"
    # what counts as erased
    cp whole.bin i.bin
    hit i.bin 200001
    code 4 "$tool" check i.bin
    says out "I2: offset 0x00030d41, 1 bytes (segment [0-9]*, sector 48): a segment that counts as erased is not blank"
    # a record, a header, a start mark: the volume does not mount
    cp whole.bin i.bin
    code 0 "$tool" dump whole.bin
    record=$(dump_offset "\* put")
    hit i.bin $((0x$record + 3))
    code 4 "$tool" check i.bin
    says out "offset 0x$record, 8 bytes (index unit 0, stride $((0x$record / 8))): a record is unreadable"
    code 4 "$tool" check i.bin --json
    says out "\"offset\": $((0x$record)), \"bytes\": 8, \"unit\": 0, \"stride\": $((0x$record / 8))"
    code 0 "$tool" salvage i.bin got
    same_tree tree got
}

# ---- Running ----

run_case() {
    mkdir "$work/$1" || exit 1
    if (cd "$work/$1" && "case_$1") >"$work/$1.log" 2>&1; then
        echo "ok tool_$1"
        passed=$((passed + 1))
    else
        echo "not ok tool_$1"
        sed 's/^/# /' "$work/$1.log"
        failed=$((failed + 1))
    fi
    rm -rf "${work:?}/$1"
}
[ -x "$tool" ] || { echo "not ok tool_exists"; echo "# no $tool: make tool"; echo "0 passed, 1 failed"; exit 1; }
[ $# -gt 0 ] || set -- $(sed -n 's/^case_\([a-z0-9_]*\)() .*/\1/p' "$here/test_tool.sh")
for name in "$@"; do run_case "$name"; done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

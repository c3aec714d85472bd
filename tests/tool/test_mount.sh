#!/bin/sh
# Tests of 'fastffs mount': real programs on a mounted image. usage: test_mount.sh [BUILD [CASE...]]
# Prints "ok NAME" or "not ok NAME" per case and "N passed, N failed" at the end. Where FUSE is not there it says so, and
# nothing is counted. Needs sh, coreutils, tar, a C compiler; rsync and git where they are installed.

build=${1:-build}
[ $# -gt 0 ] && shift
case $build in /*) ;; *) build=$PWD/$build ;; esac
tool=$build/fastffs
here=$(cd "$(dirname "$0")" && pwd)
export LC_ALL=C
passed=0
failed=0

skip() { echo "skipped tests of 'fastffs mount': $1"; echo "0 passed, 0 failed"; exit 0; }
[ -x "$tool" ] || { echo "not ok mount_tool_exists"; echo "0 passed, 1 failed"; exit 1; }
[ -c /dev/fuse ] || skip "no /dev/fuse here"
"$tool" mount none none 2>&1 | grep -q "without libfuse3" && skip "built without libfuse3"
command -v fusermount3 >/dev/null || skip "no fusermount3 here"

work=$(mktemp -d "${TMPDIR:-/tmp}/fastffs-mount.XXXXXX") || exit 1
unmount_all() { for dir in "$work"/*/mnt*; do [ -d "$dir" ] && fusermount3 -u -z "$dir" 2>/dev/null; done; }
trap 'unmount_all; rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
${CC:-cc} -std=c99 -Wall -Wextra -O1 "$here/mount_calls.c" -o "$work/calls" || { echo "not ok mount_calls_compiles"; exit 1; }

# ---- Helpers, used inside a case: each ends the case when it does not hold ----

die() { echo "$*"; exit 1; }
mount_it() { mkdir -p mnt; "$tool" mount "$@" mnt || die "mount $*"; mounted mnt || die "not mounted"; }
mounted() { grep -q " $(cd "$1" 2>/dev/null && pwd) fuse" /proc/mounts; }
wait_gone() { # PID: the process that served the mount has ended, its image is complete
    n=0
    while kill -0 "$1" 2>/dev/null && [ $n -lt 100 ]; do n=$((n + 1)); sleep 0.1; done
    ! kill -0 "$1" 2>/dev/null || die "process $1 goes on after the unmount"
}
server() { # IMAGE: the process that has it mounted
    for p in /proc/[0-9]*; do
        [ "$(readlink "$p/exe")" = "$tool" ] || continue
        ls -l "$p/fd" 2>/dev/null | grep -q "$PWD/$1\$" && echo "${p#/proc/}" && return
    done
}
unmount() { # IMAGE
    pid=$(server "$1")
    fusermount3 -u mnt || die "unmount"
    [ -z "$pid" ] || wait_gone "$pid"
    "$tool" check "$1" >out 2>&1 || die "check after unmount: $(cat out)"
}
same_tree() { diff -r "$1" "$2" >diffs 2>&1 || die "$1 and $2 differ: $(head -3 diffs)"; }
pattern() { awk -v n="$1" -v s="$2" 'BEGIN { x = s * 7919 + 17; for (i = 0; i < n; i++) { x = (x * 1103 + 12345) % 65521; printf "%c", 33 + x % 90 } }'; }
make_tree() { # DIR COUNT BYTES
    mkdir -p "$1/a/b" "$1/c"
    i=0
    while [ $i -lt "$2" ]; do
        case $((i % 4)) in 0) f=$1/file$i ;; 1) f=$1/a/file$i ;; 2) f=$1/a/b/file$i ;; *) f=$1/c/file$i ;; esac
        pattern $(($3 / 2 + i * 37 % $3)) $i >"$f"
        i=$((i + 1))
    done
    : >"$1/empty"
}

# ---- Cases ----

case_copy_and_extract() {
    make_tree tree 60 3000
    "$tool" create i.bin --size 1M >/dev/null || die create
    mount_it i.bin
    cp -r tree/. mnt/ || die cp
    same_tree tree mnt
    unmount i.bin
    "$tool" extract i.bin got >/dev/null || die extract
    same_tree tree got
    mount_it i.bin
    same_tree tree mnt
    mkdir back && cp -r mnt/. back/ || die "cp back"
    same_tree tree back
    rm -r mnt/a || die "rm -r"
    mv mnt/c mnt/moved && mv mnt/file0 mnt/moved/zero || die mv
    rm -r tree/a && mv tree/c tree/moved && mv tree/file0 tree/moved/zero
    same_tree tree mnt
    echo appended >>mnt/moved/zero && echo appended >>tree/moved/zero
    same_tree tree mnt
    [ "$(df --output=itotal mnt | tail -1)" -gt 60 ] || die "df: $(df -i mnt)"
    unmount i.bin
    "$tool" extract i.bin got2 >/dev/null || die extract
    same_tree tree got2
}
case_tar() {
    make_tree tree 40 5000
    tar -cf t.tar -C tree . || die tar
    "$tool" create i.bin --size 1M --granule 16 >/dev/null || die create
    mount_it i.bin
    tar -xf t.tar -C mnt 2>err || die "tar: $(cat err)"
    same_tree tree mnt
    cp t.tar mnt/t.tar && tar -tf mnt/t.tar >list || die "tar of a file on the volume"
    tar -cf back.tar -C mnt a c || die "tar of the mount"
    unmount i.bin
}
case_rsync() {
    command -v rsync >/dev/null || { echo "no rsync"; return 77; }
    make_tree tree 40 5000
    "$tool" create i.bin --size 2M >/dev/null || die create
    mount_it i.bin
    rsync -r --checksum tree/ mnt/ || die rsync
    same_tree tree mnt
    pattern 7000 99 >tree/a/file1
    rm tree/c/file3
    rsync -r --checksum --delete tree/ mnt/ || die "rsync again"
    rsync -r --checksum --inplace tree/ mnt/ || die "rsync in place"
    same_tree tree mnt
    unmount i.bin
    "$tool" extract i.bin got >/dev/null && same_tree tree got
}
case_git() {
    command -v git >/dev/null || { echo "no git"; return 77; }
    export HOME="$PWD" GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@t GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@t GIT_CONFIG_NOSYSTEM=1
    make_tree tree 20 2000
    (cd tree && git init -q . && git add . && git commit -q -m one && echo more >>file0 && git commit -q -a -m two) || die "git at home"
    "$tool" create i.bin --size 4M --max-files 1000 >/dev/null || die create
    mount_it i.bin
    git clone -q --no-hardlinks tree mnt/r 2>err || die "clone: $(cat err)"
    (cd mnt/r && [ -z "$(git status --porcelain)" ] && [ "$(git log --oneline | wc -l)" -eq 2 ]) || die "status of the clone"
    (cd mnt/r && echo new >added && git add added && git commit -q -m three && git fsck --full 2>&1) >err || die "commit: $(cat err)"
    unmount i.bin
    mount_it i.bin
    (cd mnt/r && git fsck --full >../../err 2>&1 && [ "$(git log --oneline | wc -l)" -eq 3 ]) || die "fsck: $(cat err)"
    unmount i.bin
}
case_c77_errors_and_open_files() {
    "$tool" create i.bin --size 1M >/dev/null || die create
    mount_it i.bin
    "$work/calls" mnt errors || die "errors"
    "$work/calls" mnt || die "files"
    unmount i.bin
    before=$(cksum <i.bin)
    mount_it -r i.bin
    "$work/calls" mnt readonly || die "read only"
    unmount i.bin
    [ "$(cksum <i.bin)" = "$before" ] || die "a read-only mount changed the image"
}
case_full_volume() {
    "$tool" create i.bin --size 256K >/dev/null || die create
    mount_it i.bin
    "$work/calls" mnt full || die "full"
    unmount i.bin
}
case_kill_is_a_power_cut() {
    "$tool" create i.bin --size 256K >/dev/null || die create
    round=0
    while [ $round -lt 6 ]; do
        mount_it i.bin
        pid=$(server i.bin)
        [ -n "$pid" ] || die "no server"
        pattern 3000 $round >mnt/closed
        [ $round -eq 0 ] || cmp -s mnt/state kept || die "round $round: state is lost"
        pattern $((500 + round * 300)) $((round + 70)) >kept
        cp kept mnt/state.new && mv mnt/state.new mnt/state || die "write and rename"
        (n=0; while :; do n=$((n + 1)); pattern 2000 $n >mnt/busy; done) 2>/dev/null &
        busy=$!
        "$work/calls" mnt hold >held &
        hold=$!
        n=0; while [ ! -s held ] && [ $n -lt 50 ]; do n=$((n + 1)); sleep 0.1; done
        sleep 0.$((round + 1))
        kill -9 "$pid"
        kill -9 "$busy" "$hold" 2>/dev/null
        wait "$busy" "$hold" 2>/dev/null
        wait_gone "$pid"
        fusermount3 -u mnt || die "the dead mount stays"
        "$tool" check i.bin >out 2>&1 || die "round $round: $(cat out)"
        "$tool" cat i.bin closed >got && pattern 3000 $round | cmp -s - got || die "round $round: what was closed is lost"
        "$tool" cat i.bin state | cmp -s - kept || die "round $round: what was renamed is lost"
        "$tool" cat i.bin open >got 2>/dev/null && die "round $round: what was never closed is there"
        if "$tool" cat i.bin busy >got 2>/dev/null; then [ "$(wc -c <got)" -eq 2000 ] || die "round $round: half a file"; fi
        round=$((round + 1))
    done
    mount_it i.bin
    unmount i.bin
}
case_c33_mounted_twice() {
    "$tool" create i.bin --size 256K >/dev/null || die create
    mount_it i.bin
    echo text >mnt/file
    exec 7<mnt/file
    mkdir -p mnt2
    "$tool" mount i.bin mnt2 2>err && die "mounted twice"
    grep -q "in use" err || die "$(cat err)"
    "$tool" remove i.bin file 2>err && die "changed while mounted"
    [ "$(cat <&7)" = text ] || die "the open file is gone"
    exec 7<&-
    echo more >>mnt/file || die "the mount does not go on"
    unmount i.bin
    [ "$("$tool" cat i.bin file | wc -l)" -eq 2 ] || die "the append is lost"
}
case_c54_mount_never_formats() {
    mkdir mnt
    head -c 262144 /dev/zero | tr '\0' '\377' >blank.bin
    pattern 262144 5 >foreign.bin
    "$tool" create damaged.bin --size 256K >/dev/null || die create
    # unit headers and marks: four bytes in each of the first sectors
    for at in 0 4096 8192 12288 16384 20480; do printf 'XXXX' | dd of=damaged.bin bs=1 seek=$at conv=notrunc 2>/dev/null; done
    for image in blank foreign damaged; do
        before=$(cksum <$image.bin)
        "$tool" mount $image.bin mnt 2>err && die "$image was mounted"
        [ -s err ] || die "$image: no message"
        [ "$(cksum <$image.bin)" = "$before" ] || die "$image was changed"
    done
    "$tool" mount none.bin mnt 2>err && die "none was mounted"
    "$tool" create i.bin --size 256K >/dev/null && "$tool" mount i.bin no-such-folder 2>err && die "mounted nowhere"
    "$tool" check i.bin >out || die "$(cat out)"
}
case_prefix() {
    "$tool" create i.bin --size 256K >/dev/null || die create
    mount_it --prefix / i.bin
    mkdir mnt/www && echo page >mnt/www/index.html && echo x >mnt/x || die write
    [ "$(ls mnt | tr '\n' ' ')" = "www x " ] || die "ls: $(ls mnt)"
    unmount i.bin
    "$tool" list i.bin >out
    grep -q "/www/index.html" out || die "$(cat out)"
}

# ---- Running ----

run_case() {
    mkdir "$work/$1" || exit 1
    (cd "$work/$1" && "case_$1") >"$work/$1.log" 2>&1
    case $? in
    0) echo "ok mount_$1"; passed=$((passed + 1)) ;;
    77) echo "skipped mount_$1: $(tail -1 "$work/$1.log")" ;;
    *) echo "not ok mount_$1"; sed 's/^/# /' "$work/$1.log"; failed=$((failed + 1)) ;;
    esac
    unmount_all
    rm -rf "${work:?}/$1"
}
[ $# -gt 0 ] || set -- $(sed -n 's/^case_\([a-z0-9_]*\)() .*/\1/p' "$here/test_mount.sh")
for name in "$@"; do run_case "$name"; done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

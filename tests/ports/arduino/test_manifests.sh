#!/bin/sh
# The manifests name what is there, and the packed library compiles as the Arduino IDE would: every file below src/, with
# src/ as the only folder of the library to look into. test_manifests.sh BUILD. Ends with "N passed, N failed".
build=$1
passed=0
failed=0
verdict() { # NAME STATUS
    if [ "$2" -eq 0 ]; then echo "ok $1"; passed=$((passed + 1)); else echo "not ok $1"; failed=$((failed + 1)); fi
}
library=$build/arduino/FASTFFS
objects=$build/arduino/objects
mkdir -p "$objects"

version=$(awk '/FFFS_VERSION_(MAJOR|MINOR|PATCH) / { printf "%s%s", dot, $3; dot = "." }' include/fastffs/fastffs.h)
grep -q "^version=$version\$" ports/arduino/library.properties && grep -q "\"version\": \"$version\"" library.json &&
    grep -q "^version: \"$version\"" ports/esp-idf/fastffs/idf_component.yml
verdict manifests_have_the_librarys_version $?

status=0
for name in name version author maintainer sentence paragraph category architectures; do
    grep -q "^$name=." ports/arduino/library.properties || { echo "# $name is missing"; status=1; }
done
verdict library_properties_are_complete $status

status=0
for path in $(grep -o '[+]<[^>]*>' library.json | tr -d '+<>') ; do
    # shellcheck disable=SC2086 # a pattern
    [ -n "$(ls $path 2>/dev/null)" ] || { echo "# nothing at $path"; status=1; }
done
for path in $(grep -o '"-I[^"]*"' library.json | sed 's/"-I//; s/"//'); do
    [ -d "$path" ] || { echo "# no folder $path"; status=1; }
done
command -v python3 >/dev/null && { python3 -c 'import json; json.load(open("library.json"))' || status=1; }
verdict library_json_names_what_is_there $status

status=0
flags="-D_GNU_SOURCE -DSTUB_NO_KCONFIG -I$library/src -Iports/arduino/stubs -Iports/esp-idf/stubs"
for file in "$library"/src/*.c; do
    # shellcheck disable=SC2086
    ${CC:-cc} -std=gnu11 -Wall -Wextra -Werror $flags -c "$file" -o "$objects/$(basename "$file").o" 2>"$objects/err" ||
        { head -5 "$objects/err"; status=1; }
done
for file in "$library"/src/*.cpp; do
    # shellcheck disable=SC2086
    ${CXX:-c++} -std=gnu++17 -Wall -Wextra -Werror $flags -c "$file" -o "$objects/$(basename "$file").o" 2>"$objects/err" ||
        { head -5 "$objects/err"; status=1; }
done
verdict packed_library_compiles $status
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

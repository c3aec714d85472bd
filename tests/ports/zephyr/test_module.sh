#!/bin/sh
# module.yml, Kconfig and the module's CMake file on a stub of Zephyr's build system: test_module.sh BUILD. The options are
# the defaults that Kconfig gives. Prints "ok NAME" or "not ok NAME", and "N passed, N failed" at the end.
build=$1
root=$(pwd)
case $build in /*) ;; *) build=$root/$build ;; esac
work=$build/zephyr-cmake
passed=0
failed=0
verdict() { # NAME STATUS
    if [ "$2" -eq 0 ]; then echo "ok $1"; passed=$((passed + 1)); else echo "not ok $1"; failed=$((failed + 1)); fi
}
# The first default of each option: "CONFIG_NAME=value", joined by ';'
defaults() {
    awk '/^config / { name = $2 } /^\tdefault / && name != "" { printf "%sCONFIG_%s=%s", sep, name, $2; sep = ";"; name = "" }' \
        ports/zephyr/Kconfig
}
cmake_path=$(sed -n 's/^ *cmake: *//p' zephyr/module.yml)
kconfig_path=$(sed -n 's/^ *kconfig: *//p' zephyr/module.yml)
[ -f "$cmake_path/CMakeLists.txt" ] && [ -f "$kconfig_path" ]
verdict module_yml_names_what_is_there $?
status=0
for name in $(grep -oh 'CONFIG_FASTFFS_[A-Z_]*' ports/zephyr/src/*.c ports/zephyr/include/*/*.h ports/zephyr/CMakeLists.txt | sort -u); do
    grep -q "^config ${name#CONFIG_}\$" ports/zephyr/Kconfig || { echo "# $name is not in Kconfig"; status=1; }
done
verdict options_in_use_are_in_kconfig $status
if command -v cmake >/dev/null; then
    rm -rf "$work"
    cmake -S ports/zephyr/stubs/cmake -B "$work" "-DMODULE=$root/$cmake_path" \
        "-DKCONFIG=CONFIG_FILE_SYSTEM_FASTFFS=y;CONFIG_FILE_SYSTEM_MAX_FILE_NAME=64;CONFIG_FILE_SYSTEM_INIT_PRIORITY=99;$(defaults)" \
        >"$build/zephyr-cmake.log" 2>&1 && cmake --build "$work" >>"$build/zephyr-cmake.log" 2>&1 &&
        [ "$(find "$work" -name '*.o' | wc -l)" -ge 20 ]
    verdict module_builds $?
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

#!/bin/sh
# Copies the component and the core that it needs into a folder: pack.sh FOLDER, from the top of the repository.
set -eu
out=$1
rm -rf "$out"
mkdir -p "$out/core/ports" "$out/core/tools"
cp -R ports/esp-idf/fastffs/. "$out"
cp LICENSE "$out/LICENSE"
cp ports/esp-idf/README.md "$out/README.md"
# The host tool is built from the same folder, so the emulated flash that it works on goes along.
cp -R include src emulator "$out/core"
cp -R ports/common "$out/core/ports"
cp tools/*.c tools/*.h tools/tools.mk "$out/core/tools"
# What else tools.mk takes sources from.
mkdir -p "$out/core/sweep"
cp sweep/*.c sweep/*.h "$out/core/sweep"
cp Makefile sources.mk LICENSE "$out/core"

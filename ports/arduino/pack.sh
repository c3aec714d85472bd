#!/bin/sh
# Copies all that the Arduino library needs into a folder, in the layout that the Arduino IDE wants (every source below
# src/, headers found from there): pack.sh FOLDER, from the top of the repository.
set -eu
out=$1
rm -rf "$out"
mkdir -p "$out/src/fastffs"
cp -R ports/arduino/library.properties ports/arduino/keywords.txt ports/arduino/examples LICENSE "$out"
cp ports/arduino/README.md "$out/README.md"
cp ports/arduino/src/* "$out/src"
cp include/fastffs/*.h "$out/src/fastffs"
# The sources include their neighbours by plain names, and public headers as fastffs/...: one flat folder serves both.
cp src/*.c src/*.h ports/common/*.c ports/common/*.h ports/esp-idf/fastffs/src/* ports/esp-idf/fastffs/include/*.h "$out/src"

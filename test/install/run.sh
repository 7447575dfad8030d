#!/usr/bin/env bash
# Installs the build tree to a fresh prefix and builds a small program against it by CMake and by pkg-config.
# usage: run.sh BUILD_DIR
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/prefix" >/dev/null

cmake -S "$here" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/prefix" >/dev/null
cmake --build "$work/build" >/dev/null
"$work/build/with_shared"
"$work/build/with_static"

pc=$(dirname "$(find "$work/prefix" -name abut.pc)")
export PKG_CONFIG_PATH=$pc
cc -std=c11 "$here/consumer.c" $(pkg-config --cflags --libs abut) -o "$work/pc_shared"
LD_LIBRARY_PATH=$(pkg-config --variable=libdir abut) "$work/pc_shared"
"$work/prefix/bin/abut" --version
echo "1 passed, 0 failed"

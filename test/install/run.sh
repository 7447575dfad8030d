#!/usr/bin/env bash
# Installs the build tree to a fresh prefix, moves that somewhere else, and uses it there: small programs and the examples,
# in C and C++, by CMake and by a plain Makefile; the program with its pages and the papers' experiments.
# usage: run.sh BUILD_DIR
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/prefix" >/dev/null
prefix=$work/moved/somewhere
mkdir -p "$work/moved"
mv "$work/prefix" "$prefix"

cmake -S "$here" -B "$work/build" -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build "$work/build" >/dev/null
"$work/build/with_shared"
"$work/build/with_static"
"$work/build/with_either"

pc=$(dirname "$(find "$prefix" -name abut.pc)")
export PKG_CONFIG_PATH=$pc
cc -std=c11 "$here/consumer.c" $(pkg-config --cflags --libs abut) -o "$work/pc_shared"
libdir=$(pkg-config --variable=libdir abut)
LD_LIBRARY_PATH=$libdir "$work/pc_shared"

# The examples as a user has them: copied, far from the sources.
cp -r "$root/examples" "$work/examples"
cmake -S "$work/examples" -B "$work/examples/build" -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build "$work/examples/build" >/dev/null
"$work/examples/build/shelf"
make -s -C "$work/examples" OUT="$work"
for name in hello pushing reading_contacts custom_model shelf; do
  (cd "$root" && LD_LIBRARY_PATH=$libdir "$work/$name") >"$work/$name.txt"
  [ -s "$work/$name.txt" ] || { echo "the example $name prints nothing"; exit 1; }
done

abut=$prefix/bin/abut
"$abut" --version
cd "$work"
if [ -e "$prefix/share/abut/live.html" ]; then
  "$abut" live "$root/scenes/box_on_plane.xml" live.html >/dev/null
  [ -s live.html ]
fi
if [ -d "$libdir/abut/experiments" ]; then
  "$abut" paper --short --quiet --out paper hasegawa-gears xie-desk >paper.txt || { cat paper.txt; exit 1; }
  # as distributions have it: one folder deeper
  mkdir "$libdir/triplet"
  cp -r "$libdir/abut" "$libdir/triplet/abut"
  "$libdir/triplet/abut/experiments/experiment_xie-nonconvex_desk" --short >desk.txt || { cat desk.txt; exit 1; }
fi
# no file that is installed knows where it was built
if grep -rlF -e "$root/" -e "$build/" "$prefix" --include=* 2>/dev/null | grep -v '[.]html$'; then
  echo "these installed files name the folder they were built in"
  exit 1
fi
echo "1 passed, 0 failed"

#!/bin/sh
# The step needs libm alone: builds the library without expat, qhull, jansson, HDF5 and threads, and simulates a model file
# with it. usage: test/core/run.sh PATH_TO_ABUT BUILD_FOLDER
set -eu
here=$(cd "$(dirname "$0")" && pwd)
abut=$1 build=$2
fail() {
  echo "core: $*" >&2
  exit 1
}
mkdir -p "$build"
# -O1: the same results as at any other level, in a fraction of the time
cmake -S "$here" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE="-O1 -DNDEBUG" >/dev/null
cmake --build "$build" -j 2 >"$build/log" 2>&1 || { tail -20 "$build/log" >&2; fail "does not build"; }
grep -q warning: "$build/log" && { grep -A3 warning: "$build/log" >&2; fail "warns"; }

# Nothing but the C library is linked.
libraries=$(ldd "$build/core" | grep -vE 'linux-vdso|ld-linux|libm\.so|libc\.so' || true)
[ -z "$libraries" ] || fail "links $libraries"

for scene in gripper_pinch dominoes; do
  "$abut" convert "$here/../../scenes/$scene.xml" "$build/$scene.abm" --quiet
  step=$("$abut" info "$build/$scene.abm" --json | sed -n 's/.*"timestep": *\([0-9.e-]*\).*/\1/p' | head -1)
  time=$(awk "BEGIN { print 200 * $step }")
  want=$("$abut" run "$build/$scene.abm" --time "$time" --json --quiet | sed -n 's/.*"hash": *"\([0-9a-f]*\)".*/\1/p')
  have=$("$build/core" "$build/$scene.abm" 200)
  [ -n "$want" ] && [ "$want" = "$have" ] || fail "$scene: hash $have, but the full build has $want"
done

# What is left out says so.
if "$build/core" "$here/../../scenes/slide.xml" 1 2>"$build/message"; then fail "reads XML"; fi
grep -q "reads model files only" "$build/message" || fail "does not say why: $(cat "$build/message")"
echo "core: builds without expat, qhull, jansson, HDF5 and threads; links libm alone; same results"

#!/bin/sh
# The step needs libm alone: a program with the library's objects, but without those that need expat, qhull, jansson, HDF5 and
# threads, simulates a model file. usage: test/core/run.sh PATH_TO_ABUT PATH_TO_CORE FOLDER
set -eu
here=$(cd "$(dirname "$0")" && pwd)
abut=$1 core=$2 build=$3
fail() {
  echo "core: $*" >&2
  exit 1
}
mkdir -p "$build"

# Nothing but the C library is linked.
libraries=$(ldd "$core" | grep -vE 'linux-vdso|ld-linux|libm\.so|libc\.so' || true)
[ -z "$libraries" ] || fail "links $libraries"

for scene in gripper_pinch dominoes; do
  "$abut" convert "$here/../../scenes/$scene.xml" "$build/$scene.abm" --quiet
  step=$("$abut" info "$build/$scene.abm" --json | sed -n 's/.*"timestep": *\([0-9.e-]*\).*/\1/p' | head -1)
  time=$(awk "BEGIN { print 200 * $step }")
  want=$("$abut" run "$build/$scene.abm" --time "$time" --json --quiet | sed -n 's/.*"hash": *"\([0-9a-f]*\)".*/\1/p')
  have=$("$core" "$build/$scene.abm" 200)
  [ -n "$want" ] && [ "$want" = "$have" ] || fail "$scene: hash $have, but the full build has $want"
done

# What is left out says so.
if "$core" "$here/../../scenes/slide.xml" 1 2>"$build/message"; then fail "reads XML"; fi
grep -q "reads model files only" "$build/message" || fail "does not say why: $(cat "$build/message")"
echo "core: links without expat, qhull, jansson, HDF5 and threads; same results"

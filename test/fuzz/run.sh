#!/bin/sh
# Builds the fuzz targets with clang and runs each for a time: test/fuzz/run.sh SECONDS
# Seeds: all scenes and meshes under scenes/, compiled ones for the reader of model files, and recordings made for it. Fails when a
# target finds something; the input is then
# in the build folder, named crash-*, leak-*, timeout-* or oom-*.
set -eu
seconds=${1:-60}
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=${2:-$root/build/fuzz}
cmake -S "$here" -B "$build" -G Ninja -DCMAKE_C_COMPILER=clang >/dev/null
cmake --build "$build"
mkdir -p "$build/seed_scene" "$build/seed_mesh" "$build/seed_grammar" "$build/seed_model" \
  "$build/corpus_scene" "$build/corpus_grammar" "$build/corpus_mesh" "$build/corpus_model" \
  "$build/seed_recording.d" "$build/seed_recording_edit" "$build/corpus_recording" "$build/corpus_recording_edit"
"$build/seed_recording" "$build/seed_recording.d"
find "$root/scenes" -name '*.xml' -o -name '*.urdf' | while read -r f; do
  cp "$f" "$build/seed_scene/$(echo "$f" | cksum | cut -d' ' -f1)"
done
find "$root/scenes" -name '*.obj' -o -name '*.stl' | while read -r f; do
  # the first byte chooses the format
  case $f in *.obj) first=0 ;; *) first=1 ;; esac
  { printf "$first" && cat "$f"; } >"$build/seed_mesh/$(echo "$f" | cksum | cut -d' ' -f1)"
done
# Model files without their heads of 32 bytes.
find "$root/scenes/check" "$root/scenes/stories" -name '*.xml' | while read -r f; do
  "$build/compile_scene" "$f" "$build/seed.abm" || continue
  tail -c +33 "$build/seed.abm" >"$build/seed_model/$(echo "$f" | cksum | cut -d' ' -f1)"
done
cd "$build"
for kind in scene grammar mesh model recording recording_edit; do
  dict=
  seeds=seed_$kind
  # a program has the name
  [ $kind = recording ] && seeds=seed_recording.d
  [ $kind = recording_edit ] && dict=-max_len=64
  [ $kind = scene ] && dict="-dict=$here/mjcf.dict"
  echo "fuzz_$kind for $seconds s"
  ./fuzz_$kind -max_total_time="$seconds" -timeout=60 -rss_limit_mb=3000 -print_final_stats=1 \
    $dict "corpus_$kind" "$seeds" >"fuzz_$kind.log" 2>&1 || {
    tail -60 "fuzz_$kind.log"
    exit 1
  }
  grep -E 'stat::(number_of_executed_units|peak_rss_mb)' "fuzz_$kind.log"
done

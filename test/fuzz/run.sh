#!/bin/sh
# Builds the fuzz targets with clang and runs them: test/fuzz/run.sh SECONDS [BUILD] for a time each, or with EXECUTIONS=N in the
# environment until they have run N inputs together. With SEED=N the search is the same each time, as long as the code is: it begins
# with the seeds alone, not with what earlier ones have found. With JOBS=1 one target after the other, otherwise two side by side.
# Seeds: all scenes and meshes under scenes/, compiled ones for the reader of model files, and recordings made for it. Fails when a
# target finds something; the input is then in the build folder, named crash-*, leak-*, timeout-* or oom-*.
set -eu
seconds=${1:-60}
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=${2:-$root/build/fuzz}
cmake -S "$here" -B "$build" -G Ninja -DCMAKE_C_COMPILER=clang >/dev/null
cmake --build "$build"
[ -z "${SEED:-}" ] || rm -rf "$build"/corpus_*
mkdir -p "$build/seed_scene" "$build/seed_mesh" "$build/seed_grammar" "$build/seed_model" \
  "$build/corpus_scene" "$build/corpus_grammar" "$build/corpus_mesh" "$build/corpus_model" \
  "$build/seed_recording.d" "$build/seed_recording_edit" "$build/corpus_recording" "$build/corpus_recording_edit"
# Memory that was freed is watched for the last 2 MB of it, which stay in the processor's cache, and remembered without the calls that
# led there: four times the speed. A finding is run again with more, if need be.
export ASAN_OPTIONS="malloc_context_size=1:quarantine_size_mb=2:max_malloc_fill_size=256${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
"$build/seed_recording" "$build/seed_recording.d"
find "$root/scenes" -name '*.xml' -o -name '*.urdf' | while read -r f; do
  cp "$f" "$build/seed_scene/$(echo "$f" | cksum | cut -d' ' -f1)"
done
find "$root/scenes" -name '*.obj' -o -name '*.stl' | while read -r f; do
  # the first byte chooses the format
  case $f in *.obj) first=0 ;; *) first=1 ;; esac
  { printf "$first" && cat "$f"; } >"$build/seed_mesh/$(echo "$f" | cksum | cut -d' ' -f1)"
done
# Model files without their heads of 32 bytes; the large ones have only more of the same.
rm -f "$build"/seed_model/*
find "$root/scenes/check" "$root/scenes/stories" -name '*.xml' | while read -r f; do
  "$build/compile_scene" "$f" "$build/seed.abm" || continue
  [ "$(wc -c <"$build/seed.abm")" -le 20000 ] || continue
  tail -c +33 "$build/seed.abm" >"$build/seed_model/$(echo "$f" | cksum | cut -d' ' -f1)"
done
cd "$build"
run_target() {
  kind=$1 runs=$2
  dict=
  seeds=seed_$kind
  # a program has the name
  [ $kind = recording ] && seeds=seed_recording.d
  [ $kind = recording_edit ] && dict=-max_len=64
  [ $kind = scene ] && dict="-dict=$here/mjcf.dict"
  if [ -n "$runs" ]; then
    limit=-runs=$runs
    echo "fuzz_$kind, $runs executions"
  else
    limit=-max_total_time=$seconds
    echo "fuzz_$kind for $seconds s"
  fi
  ./fuzz_$kind "$limit" ${SEED:+-seed=$SEED} -timeout=60 -rss_limit_mb=3000 -print_final_stats=1 \
    $dict "corpus_$kind" "$seeds" >"fuzz_$kind.log" 2>&1 || {
    tail -60 "fuzz_$kind.log"
    return 1
  }
  grep -E '^Done|stat::peak_rss_mb' "fuzz_$kind.log"
}
# Of a number of executions each target gets what it does in about the same time, in percent.
for two in scene=10,model=15 grammar=25,recording=15 mesh=30,recording_edit=5; do
  one=${two%,*} other=${two#*,} good=yes
  share() { [ -z "${EXECUTIONS:-}" ] || echo $((EXECUTIONS / 100 * ${1#*=})); }
  if [ "${JOBS:-2}" = 1 ]; then
    run_target "${other%=*}" "$(share "$other")" && run_target "${one%=*}" "$(share "$one")" || good=no
  else
    run_target "${other%=*}" "$(share "$other")" &
    beside=$!
    run_target "${one%=*}" "$(share "$one")" || good=no
    wait $beside || good=no
  fi
  [ $good = yes ] || exit 1
done

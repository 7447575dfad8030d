#!/usr/bin/env bash
# All benchmarks, one after the other: tables on the terminal, CSV and a page in out/bench/.
# usage: bench/run.sh [BUILD] [ARGUMENTS OF bench_peers...]
set -u
cd "$(dirname "$0")/.." || exit 1
build=${1:-build/release}
shift 2>/dev/null
out=out/bench
mkdir -p "$out"
SECONDS=0
rm -f "$out"/*.csv "$out"/*.txt "$out"/*.png

# NAME PROGRAM ARGUMENTS...: a program that is not built is named and left out
run() {
  local name=$1 program=$build/bench/$2
  shift 2
  if [ ! -x "$program" ]; then
    echo "bench: $program is not built, left out" >&2
    return
  fi
  echo "bench: $name" >&2
  "$program" "$@" | tee "$out/$name.txt"
  [ "${PIPESTATUS[0]}" -eq 0 ] || echo "bench: $name ended with an error" >&2
  echo
}

bench/peers/python.sh "$out/venv"
run peers peers/bench_peers --out "$out" "$@"
if [ -e "$out/venv/mujoco.fetched" ] && [ -x "$build/bench/robots/bench_robots" ]; then
  echo "bench: robots" >&2
  "$out/venv/bin/python" bench/robots/robots.py "$build/bench/robots/bench_robots" "$out/models" "$out/robots.csv" |
    tee "$out/robots.txt"
  echo
else
  echo "bench: robots need the newest MuJoCo, left out" >&2
fi
if [ -e "$build/bench/motion/libbench_motion.so" ]; then
  echo "bench: motion" >&2
  python=$out/venv/bin/python # without it the newest MuJoCo is left out
  [ -e "$out/venv/mujoco.fetched" ] || python=/usr/bin/python3
  "$python" bench/motion/motion.py "$build/bench/motion/libbench_motion.so" scenes "$out/motion.csv" | tee "$out/motion.txt"
  echo
fi
run distance peers/bench_distance
run broadphase peers/bench_broadphase
run geometry geometry/bench_geometry
run tumble dynamics/bench_tumble
run chain dynamics/bench_chain --short
run solvers solve/bench_solvers
for program in "$build"/bench/{,ecp/,patch/}bench_*; do
  [ -f "$program" ] && [ -x "$program" ] || continue
  name=$(basename "$program")
  case $name in
    bench_patch_pile) arguments="100 1" ;; # boxes, seconds
    bench_patch_seeds) arguments="30 10" ;; # boxes, seeds
    *) arguments= ;;
  esac
  # shellcheck disable=SC2086
  run "${name#bench_}" "${program#"$build"/bench/}" $arguments
done

if /usr/bin/python3 -c 'import matplotlib' 2>/dev/null; then
  /usr/bin/python3 bench/report.py "$out" && echo "bench: $out/index.html" >&2
else
  echo "bench: no page, python3-matplotlib is missing; the numbers are in $out/*.csv" >&2
fi
echo "bench: $((SECONDS / 60)) min $((SECONDS % 60)) s" >&2

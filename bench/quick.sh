#!/usr/bin/env bash
# Counts the instructions of six kernels with callgrind and compares them with bench/baseline.csv: unlike times, the
# counts are the same on a busy machine. Changes above 5 % are reported; a kernel that got slower by more ends with 1.
# usage: bench/quick.sh [--update] [BUILD]      --update: make the present counts the baseline
set -u
cd "$(dirname "$0")/.." || exit 1
update=0
[ "${1:-}" = --update ] && { update=1; shift; }
build=${1:-build/release}
program=$build/bench/kernels/bench_kernels
baseline=bench/baseline.csv
out=out/bench
mkdir -p "$out"
command -v valgrind >/dev/null || { echo "bench-quick: valgrind is missing" >&2; exit 2; }
[ -x "$program" ] || { echo "bench-quick: $program is not built" >&2; exit 2; }
compiler=$(sed -n 's/^CMAKE_C_COMPILER:[^=]*=//p' "$build/CMakeCache.txt")
compiler=$("${compiler:-cc}" --version | head -n 1 | tr ',' ' ')

count() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null --collect-atstart=no --toggle-collect="kernel_*" \
    "$program" "$1" 2>&1 | sed -n 's/.*Collected : //p'
}

new=$out/quick.csv
echo "kernel,instructions,compiler" >"$new"
worse=0
printf '%-10s %14s %14s %9s\n' kernel instructions baseline change
for kernel in overlap distance pile moving ecp chain; do
  n=$(count "$kernel")
  [ -n "$n" ] || { echo "bench-quick: $kernel failed" >&2; exit 2; }
  echo "$kernel,$n,$compiler" >>"$new"
  old=$(awk -F, -v k="$kernel" '$1 == k { print $2 }' "$baseline" 2>/dev/null)
  if [ -z "$old" ]; then
    printf '%-10s %14d %14s\n' "$kernel" "$n" none
    continue
  fi
  change=$(awk -v a="$n" -v b="$old" 'BEGIN { printf "%+.1f", 100 * (a / b - 1) }')
  note=$(awk -v c="$change" 'BEGIN { print (c > 5 ? "SLOWER" : c < -5 ? "faster" : "") }')
  [ "$note" = SLOWER ] && worse=1
  printf '%-10s %14d %14d %8s%% %s\n' "$kernel" "$n" "$old" "$change" "$note"
done
if [ $update -eq 1 ]; then
  cp "$new" "$baseline"
  echo "bench-quick: $baseline updated"
  exit 0
fi
[ -f "$baseline" ] && ! grep -qF "$compiler" "$baseline" &&
  echo "bench-quick: the baseline was counted with another compiler; compare with care"
[ $worse -eq 0 ] || echo "bench-quick: slower by more than 5 %; if that is meant, bench/quick.sh --update"
exit $worse

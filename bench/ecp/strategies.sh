#!/usr/bin/env bash
# Which strategy of the implicit model solves what: counts over the model's tests, the papers' experiments, the drops of bench_ecp
# and throws of two and three bodies (THROWS of each kind, default 30; ten minutes). The table of src/contact/ecp/many.c is its output.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=build/count
cmake --preset release -B $build -DABUT_ECP_COUNT=ON -DABUT_WEB=OFF -DABUT_SHARED=OFF >/dev/null
cmake --build $build -j "${JOBS:-$(nproc)}" >/dev/null
export ABUT_ECP_COUNT=$PWD/$build/counts.tsv
rm -f "$ABUT_ECP_COUNT"
for test in $build/test/test_ecp_*; do "$test" >/dev/null 2>&1 || echo "$(basename "$test") fails" >&2; done
for test in test_state test_sleep; do $build/test/$test >/dev/null 2>&1 || echo "$test fails" >&2; done
$build/abut paper --out $build/paper hasegawa-top xie-cube-slide xie-cylinder-roll xie-cube-topple xie-manipulation xie-desk xie-t-bar >/dev/null 2>&1 || echo "an experiment fails" >&2
$build/bench/ecp/bench_ecp >/dev/null
$build/bench/ecp/bench_ecp_mcp >/dev/null
$build/abut run scenes/demo.xml --contact ecp --quiet >/dev/null 2>&1 || true
ABUT_THROWS=${THROWS:-30} $build/test/test_ecp_throw >/dev/null 2>&1 || echo "a throw fails" >&2
awk -F '\t' '{ tried[$1] += $2; solved[$1] += $3 } END { for (n in tried) printf "%-32s %10d %10d\n", n, tried[n], solved[n] }' "$ABUT_ECP_COUNT" | sort

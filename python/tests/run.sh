#!/usr/bin/env bash
# The tests of the Python package, in a virtual environment below build/. Where PyPI cannot be reached they are named and
# skipped (exit code 77, which ctest knows).
# usage: python/tests/run.sh [--asan] [PROGRAM] [pytest options]     PROGRAM: the program abut, to compare with
set -u
cd "$(dirname "$0")/../.." || exit 2
root=$PWD
asan=no
[ "${1:-}" = --asan ] && asan=yes && shift
program=${1:-$root/build/release/abut}
[ $# -gt 0 ] && shift
venv=$root/build/venv-python$([ $asan = yes ] && echo -asan)
python=$venv/bin/python
tests=$(cd python/tests && echo test_*.py)

skip() {
  echo "python: $1; skipped: $tests" >&2
  exit 77
}

[ -x "$python" ] || /usr/bin/python3 -m venv "$venv" >/dev/null || skip "no virtual environment can be made (python3-venv is missing)"
if ! "$python" -c 'import scikit_build_core, nanobind, numpy, pytest' 2>/dev/null; then
  "$python" -m pip install -q scikit-build-core nanobind numpy pytest || skip "PyPI cannot be reached"
fi
# What only some tests need; those say so and are skipped without it.
extras="gymnasium matplotlib pandas xarray h5py trimesh tqdm mypy nbclient nbformat ipykernel mujoco"
if [ $asan = no ] && ! "$python" -c 'import gymnasium, matplotlib, pandas, xarray, h5py, trimesh, tqdm, mypy, nbclient, ipykernel, mujoco' 2>/dev/null; then
  "$python" -m pip install -q $extras || echo "python: not all of $extras could be installed; their tests are skipped" >&2
fi

log=$venv/install.log
options=()
if [ $asan = yes ]; then
  options=(--config-settings=cmake.define.ABUT_SANITIZE=ON --config-settings=cmake.build-type=RelWithDebInfo
    --config-settings=build-dir=build/python/asan)
fi
if ! "$python" -m pip install --no-build-isolation --no-deps "${options[@]}" . >"$log" 2>&1; then
  tail -n 40 "$log" >&2
  exit 1
fi

export ABUT_PROGRAM=$program
if [ $asan = yes ]; then
  # The interpreter is not built with the sanitizer, so its runtime comes first; Python itself does not free all it takes.
  export LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)"
  export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
  export ABUT_LEAK_ROUNDS=20
  exec "$python" -m pytest -q -p no:cacheprovider --capture=sys --deselect python/tests/test_leaks.py --ignore python/tests/test_examples.py \
    --ignore python/tests/test_notebooks.py --ignore python/tests/test_same_as_program.py python/tests "$@"
fi
exec "$python" -m pytest -q -p no:cacheprovider python/tests "$@"

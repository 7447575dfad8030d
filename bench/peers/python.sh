#!/usr/bin/env bash
# Fetches the newest MuJoCo and Drake from the Python registry into a virtual environment, once. What cannot be had is named
# and left out of the benchmark. Nothing outside DIR is touched; remove DIR to fetch anew.
# usage: bench/peers/python.sh [DIR]
set -u
cd "$(dirname "$0")/../.." || exit 1
dir=${1:-out/bench/venv}
python=/usr/bin/python3
[ -x "$python" ] || python=python3
log=$(mktemp)
trap 'rm -f "$log"' EXIT

if [ ! -x "$dir/bin/pip" ]; then
  mkdir -p "$(dirname "$dir")"
  if ! "$python" -m venv "$dir" >"$log" 2>&1; then
    rm -rf "$dir"
    echo "bench: no virtual environment (python3-venv is missing?): newest MuJoCo and Drake are left out" >&2
    exit 0
  fi
fi
for package in mujoco drake; do
  [ -e "$dir/$package.fetched" ] && continue
  echo "bench: fetching $package into $dir" >&2
  # a registry that does not answer within a few seconds is taken as not there
  if timeout 300 "$dir/bin/pip" install --quiet --disable-pip-version-check --timeout 5 --retries 1 --only-binary :all: \
    "$package" >"$log" 2>&1; then
    touch "$dir/$package.fetched"
  else
    echo "bench: $package could not be fetched, left out: $(tail -n 1 "$log")" >&2
  fi
done
exit 0

#!/usr/bin/env bash
# Simulates a scene worth looking at, writes out/demo.html and says what it shows.
# usage: tools/demo.sh PATH_TO_ABUT
set -euo pipefail
abut=$1
mkdir -p out
"$abut" run scenes/demo.xml --key go --time 4 --record out/demo.html
echo
echo "Open out/demo.html in a browser: patches coloured by pressure, forces, stick and slip."

#!/usr/bin/env bash
# Simulates a scene worth looking at, writes out/demo.html and out/live.html, and says what they show.
# usage: tools/demo.sh PATH_TO_ABUT
set -euo pipefail
abut=$1
mkdir -p out
"$abut" run scenes/demo.xml --key go --time 4 --record out/demo.html
"$abut" live scenes/demo.xml out/live.html --step 0.004 --title "Tower, dominoes, coin" \
  --text "Draw a plank out of the tower, throw the orange block at it, or start from the keyframe go."
echo
echo "Open out/demo.html in a browser: patches coloured by pressure, forces, stick and slip."
echo "Open out/live.html: the same scene to touch. Grab a plank and draw it out of the tower."

#!/usr/bin/env bash
# Folders are layers: checks that every include of src/ points to the same or a lower layer, and that the programs on top
# use only the public headers.
set -u
cd "$(dirname "$0")/.." || exit 2

allowed() {
  case "$1" in
    base) echo "base" ;;
    math) echo "base math" ;;
    geometry) echo "base math geometry" ;;
    solve) echo "base math solve" ;;
    collide) echo "base math geometry collide" ;;
    contact) echo "base math geometry solve collide contact" ;;
    dynamics) echo "base math dynamics" ;;
    scene) echo "base math geometry scene" ;;
    io) echo "base math io" ;;
    haptic) echo "base math haptic" ;;
    *) echo "" ;;
  esac
}

bad=0
for folder in src/*/; do
  layer=$(basename "$folder")
  for include in $(grep -rhoE '^#include "[a-z_]+/' "$folder" | sed 's/.*"\(.*\)\//\1/' | sort -u); do
    case " $(allowed "$layer") " in
      *" $include "*) ;;
      *)
        grep -rnE "^#include \"$include/" "$folder"
        echo "layers: $layer/ may not include $include/" >&2
        bad=1
        ;;
    esac
  done
done
if grep -rnE '^#include "(base|math|geometry|solve|collide|contact|dynamics|scene|io|haptic)/' cli sweep examples experiments python 2>/dev/null; then
  echo "layers: cli/, sweep/, examples/, experiments/ and python/ use only include/abut" >&2
  bad=1
fi
[ $bad -eq 0 ] && echo "layers: every include points down"
exit $bad

#!/usr/bin/env bash
# Folders are layers: checks that every include of src/ points to the same or a lower layer, among folders and among the
# public headers, and that the programs on top use only the public ones.
set -u
cd "$(dirname "$0")/.." || exit 2

# Folders of src/ that a layer may include; "." stands for the headers of src/ itself (internal.h, pairs.h, ...).
folders() {
  case "$1" in
    base) echo "base" ;;
    math) echo "base math" ;;
    geometry) echo "base math geometry" ;;
    solve) echo "base math solve" ;;
    collide) echo "base math geometry collide ." ;;
    contact) echo "base math geometry solve collide contact ." ;;
    dynamics) echo "base math dynamics ." ;;
    scene) echo "base math geometry scene" ;;
    io) echo "base math io ." ;;
    haptic) echo "base math haptic ." ;;
    *) echo "" ;;
  esac
}

# Headers of include/abut that it may include.
headers() {
  case "$1" in
    base | math) echo "types" ;;
    geometry) echo "types model scene" ;;  # scene: how a mesh's mass is meant
    solve) echo "types solve" ;;
    collide) echo "types model contact data overlap" ;;
    contact) echo "types model contact data solve inverse" ;;
    dynamics) echo "types model contact data" ;;
    scene) echo "types model scene number" ;;
    haptic) echo "types model data couple device haptic" ;;
    *) echo "" ;;
  esac
}

# These define functions of <abut/abut.h>.
own_public='^src/(base/alloc[.]c|base/input[.]h|dynamics/energy[.]c):'

bad=0
# complain LAYER PATTERN WHAT
complain() {
  grep -rnE "$2" "src/$1" | grep -vE "$own_public"
  echo "layers: $1/ may not include $3" >&2
  bad=1
}
for folder in src/*/; do
  layer=$(basename "$folder")
  for include in $(grep -rhoE '^#include "[a-z0-9_]+/' "$folder" | sed 's/.*"\(.*\)\//\1/' | sort -u); do
    case " $(folders "$layer") " in *" $include "*) ;; *) complain "$layer" "^#include \"$include/" "$include/" ;; esac
  done
  case " $(folders "$layer") " in
    *" . "*) ;;
    *) grep -rqE '^#include "[a-z0-9_]+[.]h"' "$folder" && complain "$layer" '^#include "[a-z0-9_]+[.]h"' "headers of src/ itself" ;;
  esac
  [ "$layer" = io ] && continue  # it records all there is
  for include in $(grep -rnE '^#include <abut/' "$folder" | grep -vE "$own_public" | sed 's/.*<abut\/\(.*\)[.]h>.*/\1/' | sort -u); do
    case " $(headers "$layer") " in *" $include "*) ;; *) complain "$layer" "^#include <abut/$include[.]h>" "<abut/$include.h>" ;; esac
  done
done

# Programs. Benchmarks of single functions are named: nothing else in bench/ looks inside.
inside='^#include "((base|math|geometry|solve|collide|contact|dynamics|scene|io|haptic)/|(internal|pairs|fits|sleep|sleep_store|state|fault|folded|holdback|impulses|validate)[.]h")'
if grep -rnE "$inside" cli sweep examples experiments python web/wasm bench 2>/dev/null |
  grep -vE '^bench/(geometry|kernels)/|^bench/peers/bench_(broadphase|distance)[.]cpp:'; then
  echo "layers: cli/, sweep/, examples/, experiments/, python/, web/wasm and bench/ use only include/abut" >&2
  bad=1
fi
[ $bad -eq 0 ] && echo "layers: every include points down"
exit $bad

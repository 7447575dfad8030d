#!/usr/bin/env bash
# Bits must not depend on the compiler or the processor: builds the program with clang and for 64-bit ARM beside gcc's, and
# runs the scenes with all of them, on this processor and on emulated ones. The tests written in C run on the emulated ARM, too, but for
# those that take minutes there.
# usage: test/trust/processors.sh PROGRAM [BUILD]
# Debian's arm64 libraries come from apt into a folder of their own; nothing is installed, and no architecture is added.
set -euo pipefail
program=$(realpath "$1")
cd "$(dirname "$0")/../.."
build=$(mkdir -p "${2:-build/processors}" && realpath "${2:-build/processors}")
jobs=${JOBS:-$(nproc)}
bare="-G Ninja -DCMAKE_BUILD_TYPE=Release -DABUT_TESTS=OFF -DABUT_BENCH=OFF -DABUT_EXPERIMENTS=OFF -DABUT_EXAMPLES=OFF"

echo "building with clang"
cmake -S . -B "$build/clang" $bare -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ >/dev/null
cmake --build "$build/clang" --target abut_cli -j "$jobs" >"$build/clang.log" || { tail -40 "$build/clang.log"; exit 1; }

export ABUT_ROOT=$build/arm64
# apt with lists and archives of its own, for which no package is installed yet
fetch_arm64() {
  local apt=$build/apt
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$ABUT_ROOT.part"
  : >"$apt/status"
  cat >"$apt/conf" <<CONF
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Sandbox::User "root";
Dir::State "$apt";
Dir::State::Lists "$apt/lists";
Dir::State::status "$apt/status";
Dir::Cache "$apt/cache";
Debug::NoLocking "true";
CONF
  export APT_CONFIG=$apt/conf
  apt-get update >"$apt/log" 2>&1
  apt-get install --download-only -y --no-install-recommends libc6-dev libstdc++-12-dev libexpat1-dev libqhull-dev \
    libjansson-dev libhdf5-dev zlib1g-dev libcmocka-dev >>"$apt/log" 2>&1
  for package in "$apt"/cache/archives/*.deb; do dpkg -x "$package" "$ABUT_ROOT.part"; done
  # what the packages' scripts would do
  ln -sf hdf5-serial.pc "$ABUT_ROOT.part/usr/lib/aarch64-linux-gnu/pkgconfig/hdf5.pc"
  mv "$ABUT_ROOT.part" "$ABUT_ROOT"
  unset APT_CONFIG
}
if [ ! -d "$ABUT_ROOT" ]; then
  echo "fetching Debian's arm64 libraries into $ABUT_ROOT"
  fetch_arm64 || { tail -20 "$build/apt/log"; exit 2; }
fi

echo "building for 64-bit ARM"
cmake -S . -B "$build/aarch64" $bare -DABUT_TESTS=ON -DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/aarch64.cmake" >/dev/null
cmake --build "$build/aarch64" -j "$jobs" >"$build/aarch64.log" || { tail -40 "$build/aarch64.log"; exit 1; }

# Left out: what starts the program itself (an emulated program cannot), and searches over many random cases, whose numbers the
# scenes below compare to the bit.
started='test_overlap_program'
long='test_touch_round|test_patch_newton|test_step|test_prism|test_volume_scales|test_ecp_heap|test_law|test_ecp_throw|test_model_file'
long="$long|test_overlap|test_pile_seeds|test_touch_random|test_patch_geometry|test_tree_contact|test_robots|test_allocations"
long="$long|test_holdback|test_number|test_mujoco_motion|test_patch_stack|test_ecp_drop|test_sleep"
ctest --test-dir "$build/aarch64" -R '^test_' -E "^($started|$long)\$" -j "$jobs" --timeout 1800 --output-on-failure

test/trust/test_processors.py "$program" --with clang="$build/clang/abut" \
  --with "ARM=qemu-aarch64 -L $ABUT_ROOT $build/aarch64/abut"

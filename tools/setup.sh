#!/usr/bin/env bash
# Installs the Debian packages that are missing for the named groups, once, and says so. A second call does nothing.
# usage: tools/setup.sh GROUP...    groups: build test web live python bench paper lint mpi processors
# Without root or apt it names the packages and exits 2.
set -u

packages_of() {
  case "$1" in
    build) echo gcc g++ cmake ninja-build pkg-config libexpat1-dev libqhull-dev libjansson-dev libhdf5-dev zlib1g-dev libtomlplusplus-dev libspnav-dev libwebsockets-dev ;;
    test) echo libcmocka-dev libglpk-dev libccd-dev libgmp-dev libmujoco-dev clang libclang-rt-14-dev python3-numpy python3-h5py qemu-user ;;
    web) echo nodejs npm chromium ;;
    live) echo clang-19 lld-19 wasi-libc libclang-rt-19-dev-wasm32 nodejs npm ;;
    python) echo python3-venv python3-dev ;;
    bench) echo libmujoco-dev libbullet-dev libode-dev libdart-dev libccd-dev libsimbody-dev valgrind python3-venv python3-matplotlib python3-numpy ;;
    paper) echo python3-matplotlib python3-numpy ;;
    lint) echo clang clang-format clang-tidy ;;
    deb) echo debhelper dpkg-dev fakeroot ;;
    mpi) echo libopenmpi-dev openmpi-bin ;;
    processors) echo clang qemu-user gcc-aarch64-linux-gnu g++-aarch64-linux-gnu ;;
    *) echo "setup: unknown group '$1'; groups are build test web live python bench paper lint deb mpi processors" >&2; exit 2 ;;
  esac
}

# node and npm may come from elsewhere than Debian; what runs is enough.
is_there() {
  case "$1" in
    nodejs) command -v node >/dev/null ;;
    npm | gcc | g++ | cmake | chromium | clang | clang-format | clang-tidy | valgrind) command -v "$1" >/dev/null ;;
    ninja-build) command -v ninja >/dev/null ;;
    pkg-config) command -v pkg-config >/dev/null ;;
    *) dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'ok installed' ;;
  esac
}

missing=()
for group in "$@"; do
  list=$(packages_of "$group") || exit 2
  for package in $list; do
    is_there "$package" || missing+=("$package")
  done
done
[ ${#missing[@]} -eq 0 ] && exit 0

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  echo "setup: these packages are missing, and installing them needs root and apt:" >&2
  echo "  sudo apt-get install ${missing[*]}" >&2
  exit 2
fi
echo "setup: installing ${missing[*]}" >&2
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { apt-get update && apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
  tail -n 20 "$log" >&2
  echo "setup: apt-get could not install them; see the lines above" >&2
  exit 2
fi

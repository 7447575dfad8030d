#!/usr/bin/env python3
"""How well ranks of abut-sweep-mpi use their processors: a sweep of sliding cubes with one rank and with two.

usage: bench/sweep/ranks.py PROGRAM [runs]              PROGRAM: abut-sweep-mpi
       bench/sweep/ranks.py PROGRAM --master [runs]     what rank 0 takes for a chunk of another rank, with runs of five steps

A rank has a thread that computes and one that talks. What counts is the share of the runs in what a rank takes of its processor: in the
processor time of all its threads and in the time its computing thread waits for chunks. The kernel counts how long a thread was ready and waited for
a processor; that is left out, so other programs on the machine disturb little (they do where the talking thread waits for a processor and the
computing one for it). The efficiency from one rank to two is the ratio of the two shares.
"""

import glob
import json
import os
import subprocess
import sys
import tempfile
import time

SPEC = {
    "scene": os.path.abspath("scenes/slide.xml"), "time": 0.5, "step": 0.002,
    "vary": {"geom.cube.friction": {"uniform": [0.2, 0.9]}, "key.slide.qvel[0]": {"uniform": [1, 4]}},
    "measure": {"x": "body.cube.x", "y": "body.cube.y", "z": "body.cube.z", "vx": "body.cube.vx", "slip": "contact.cube.floor.slip",
                "peak": "contact.cube.floor.peak_force", "lost": "energy_lost", "rest": "time_to_rest", "face": "body.cube.up_face",
                "angle": "body.cube.angle"},
}


def children(pid):
    found = []
    for path in glob.glob(f"/proc/{pid}/task/*/children"):
        try:
            with open(path) as f:
                found += f.read().split()
        except OSError:
            pass
    return found


def look(rank, first, last):
    """What the kernel has counted for the threads of a rank: seconds it ran and was ready, and when."""
    for path in glob.glob(f"/proc/{rank}/task/*/schedstat"):
        try:
            with open(path) as f:
                ran, ready = (1e-9 * int(x) for x in f.read().split()[:2])
        except (OSError, ValueError):
            continue
        first.setdefault(path, (ran, ready, time.perf_counter()))
        last[path] = (ran, ready, time.perf_counter())


def measure(program, spec, folder, ranks):
    command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(ranks), program, spec, "--out", folder, "--quiet"]
    first, last = {}, {}
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while process.poll() is None:
        for rank in children(process.pid):
            look(rank, first, last)
        time.sleep(0.02)
    if process.returncode:
        sys.exit(f"{' '.join(command)} ended with {process.returncode}")
    computed = other = waited = 0
    for rank in {path.split("/")[2] for path in last}:
        threads = sorted((path for path in last if path.split("/")[2] == rank), key=lambda path: last[path][0])
        busiest = threads[-1]
        computed += last[busiest][0]
        other += sum(last[path][0] for path in threads[:-1])
        ran, ready, life = (b - a for a, b in zip(first[busiest], last[busiest]))
        waited += max(0, life - ran - ready)
    share = computed / (computed + other + waited)
    print(f"{ranks} rank{'s' * (ranks > 1)}: {computed:7.2f} s of runs, {other:6.2f} s of talk and start, {waited:6.2f} s of waiting: {100 * share:.1f} %")
    return share


def rank_number(pid):
    try:
        with open(f"/proc/{pid}/environ", "rb") as f:
            found = [word for word in f.read().split(b"\0") if word.startswith(b"OMPI_COMM_WORLD_RANK=")]
    except OSError:
        return None
    return int(found[0].split(b"=")[1]) if found else None


def master(program, runs):
    """The main thread of rank 0 talks, checks and writes; what it took until the other rank had no more runs, by chunk."""
    spec = os.path.join(os.path.dirname(os.path.abspath(__file__)), "short.json")
    with open(spec) as f:
        text = json.load(f) | {"samples": runs, "scene": SPEC["scene"]}
    with tempfile.TemporaryDirectory() as folder:
        spec = os.path.join(folder, "spec.json")
        with open(spec, "w") as f:
            json.dump(text, f)
        command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", program, spec, "--out", os.path.join(folder, "out"), "--quiet", "--no-csv"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        begun, took, before = None, 0, 0
        while process.poll() is None:
            first, last = {}, {}
            pid = {rank_number(child): child for child in children(process.pid)}
            for rank in (0, 1):
                if pid.get(rank):
                    look(pid[rank], first, last)
            talk = last.get(f"/proc/{pid.get(0)}/task/{pid.get(0)}/schedstat")
            work = max((last[path][0] for path in last if path.startswith(f"/proc/{pid.get(1)}/")), default=0)
            if talk and work > before:
                begun, took, before = talk[0] if begun is None else begun, talk[0], work
            time.sleep(0.02)
        if process.returncode:
            sys.exit(f"{' '.join(command)} ended with {process.returncode}")
    size = min(1024, -(-runs // 8192))
    count = -(-runs // size)
    print(f"{count} chunks of {size} runs: the main thread of rank 0 took {took - begun:.3f} s, {1e6 * (took - begun) / count:.1f} us a chunk, of which the other rank made about half")


def main():
    program = os.path.abspath(sys.argv[1])
    if "--master" in sys.argv:
        return master(program, int(sys.argv[3]) if len(sys.argv) > 3 else 100000)
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 12000
    with tempfile.TemporaryDirectory() as folder:
        spec = os.path.join(folder, "spec.json")
        with open(spec, "w") as f:
            json.dump(SPEC | {"samples": runs}, f)
        one, two = (measure(program, spec, os.path.join(folder, f"out{n}"), n) for n in (1, 2))
    print(f"efficiency from one rank to two: {100 * two / one:.1f} %")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Every scene from its start to rest: abut and the newest MuJoCo in turns, the same file, the same step, one thread each.

  scenes.py BENCH_ROBOTS SCENES OUT.csv [--time S] [--rounds N] [--only TEXT]
BENCH_ROBOTS is the program, SCENES a folder of MJCF files. Times are processor time in us a step: mean, 99th of a hundred and worst, of
the round with the least mean. What MuJoCo does not load is run without it."""
import pathlib
import statistics
import time
import xml.etree.ElementTree as tree

import mujoco

import robots

HEAD = ["scene", "nv", "steps", "abut mean", "p99", "worst", "unconverged", "MuJoCo mean", "p99", "worst", "ratio"]


class Peer(robots.MuJoCo):
    def each(self, n):
        mujoco.mj_resetData(self.model, self.data) if self.key < 0 else mujoco.mj_resetDataKeyframe(self.model, self.data, self.key)
        times = []
        for _ in range(n):
            before = time.thread_time_ns()
            mujoco.mj_step(self.model, self.data)
            times.append(1e-9 * (time.thread_time_ns() - before))
        times.sort()
        return statistics.fmean(times), times[len(times) * 99 // 100], times[-1]


def first_key(file):
    """The state to begin with: the file's first key, if it has one with a name."""
    key = tree.parse(file).getroot().find("keyframe/key")
    return "-" if key is None or not key.get("name") else key.get("name")


def measure(program, file, options):
    key = first_key(file)
    try:
        peer = Peer(str(file), key)
    except ValueError:
        peer = None
    step = tree.parse(file).getroot().find("option")
    h = peer.model.opt.timestep if peer else float(step.get("timestep", 0.002)) if step is not None else 0.002
    n, abut = max(1, round(options.time / h)), robots.Abut(program, str(file), key)
    ours, theirs = [], []
    for _ in range(options.rounds):
        ours.append(abut.run(n))
        if peer:
            theirs.append(peer.each(n))
    abut.close()
    best = min(ours)
    row = [file.stem, peer.model.nv if peer else "", n] + [f"{1e6 * x:.1f}" for x in (best[0], best[5], best[6])]
    row.append("broke down" if best[4] else best[3])
    if not peer:
        return row + ["", "", "", ""]
    return row + [f"{1e6 * x:.1f}" for x in min(theirs)] + [f"{statistics.median(o[0] / t[0] for o, t in zip(ours, theirs)):.2f}"]


def show(row):
    print(f"{row[0]:18} {row[1]:>5} {row[2]:>6} {row[3]:>10} {row[4]:>9} {row[5]:>9} {row[6]:>11} {row[7]:>12} {row[8]:>9} {row[9]:>9} {row[10]:>6}", flush=True)


def main():
    options = robots.arguments(__doc__, "scenes", 3, 3).parse_args()
    print(f"Scenes from start to rest: abut and MuJoCo {mujoco.__version__} in turns, {options.time:g} s each, us a step, one thread\n")
    found = [f for f in sorted(pathlib.Path(options.scenes).glob("*.xml")) if options.only in f.stem]
    robots.write_table(options.out, HEAD, show, [(f.stem, lambda f=f: measure(options.program, f, options)) for f in found])


if __name__ == "__main__":
    main()

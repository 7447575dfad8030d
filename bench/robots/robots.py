#!/usr/bin/env python3
"""Steps per second of robots: abut and the newest MuJoCo in turns, the same file, the same step, one thread each.

  robots.py BENCH_ROBOTS MODELS OUT.csv [--pip PIP] [--time S] [--rounds N] [--only TEXT]
BENCH_ROBOTS is the program, MODELS the folder of models.py. A round is TIME seconds of simulated time from the start; the time is
processor time, the ratio the median of the rounds."""
import argparse
import csv
import statistics
import subprocess
import sys
import time

import mujoco

import models


class Abut:
    def __init__(self, program, file, key):
        command = [program, file] + ([] if key == "-" else [key])
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, n):
        """Seconds per step, iterations, contacts, unconverged steps, broken; an error message where there is no answer."""
        try:
            self.process.stdin.write(f"{n}\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        line = self.process.stdout.readline().split()
        if len(line) != 5:
            errors = self.process.stderr.read().strip().splitlines()
            raise RuntimeError(next((e for e in errors if e.startswith("bench_robots:")), "no answer"))
        return float(line[0]), float(line[1]), float(line[2]), int(line[3]), line[4] == "1"

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class MuJoCo:
    def __init__(self, file, key):
        self.model = mujoco.MjModel.from_xml_path(file)
        self.data = mujoco.MjData(self.model)
        self.key = -1 if key == "-" else self.model.key(key).id

    def run(self, n):
        if self.key >= 0:
            mujoco.mj_resetDataKeyframe(self.model, self.data, self.key)
        else:
            mujoco.mj_resetData(self.model, self.data)
        before = time.process_time()
        mujoco.mj_step(self.model, self.data, n)
        return (time.process_time() - before) / n


def measure(program, name, file, key, options):
    peer = MuJoCo(file, key)
    abut = Abut(program, file, key)
    n = max(1, round(options.time / peer.model.opt.timestep))
    ours, theirs = [], []
    for _ in range(options.rounds):
        theirs.append(peer.run(n))
        ours.append(abut.run(n))
    abut.close()
    ratio = statistics.median(t / o[0] for t, o in zip(theirs, ours))
    _, iterations, contacts, unconverged, broken = ours[-1]
    return [name, peer.model.nv, round(1 / min(theirs)), round(1 / min(o[0] for o in ours)), f"{ratio:.2f}", f"{contacts:.1f}",
            f"{iterations:.1f}", n, "broke down" if broken else unconverged]


HEAD = ["model", "nv", "MuJoCo steps/s", "abut steps/s", "ratio", "contacts", "iterations", "steps", "unconverged"]


def show(row):
    print(f"{row[0]:20} {row[1]:>4} {row[2]:>15} {row[3]:>13} {row[4]:>6} {row[5]:>9} {row[6]:>11} {row[7]:>7} {row[8]:>12}", flush=True)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("program", "models", "out"):
        parser.add_argument(name)
    parser.add_argument("--time", type=float, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="")
    parser.add_argument("--pip", default=sys.executable + " -m pip")
    return parser.parse_args()


def main():
    options = arguments()
    print(f"Robots: MuJoCo {mujoco.__version__} and abut in turns, {options.time:g} s each, processor time, one thread\n")
    show(HEAD)
    with open(options.out, "w", newline="") as f:
        table = csv.writer(f)
        table.writerow(HEAD)
        for model in models.prepare(options.models, options.pip):
            if options.only not in model[0]:
                continue
            try:
                row = measure(options.program, *model, options)
            except (RuntimeError, ValueError) as error:
                print(f"{model[0]}: left out: {str(error).splitlines()[0]}", flush=True)
                continue
            table.writerow(row)
            show(row)


if __name__ == "__main__":
    main()

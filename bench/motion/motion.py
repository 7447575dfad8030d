#!/usr/bin/env python3
"""Scenes and heaps in motion: abut, the newest MuJoCo, Bullet and ODE in one run, the same scene, the same step, one thread each,
sleeping off, the engines' defaults.

  motion.py LIBRARY SCENES OUT.csv [--only NAME,...] [--engines NAME,...] [--rounds N] [--time S] [--budget S]
LIBRARY is libbench_motion.so, SCENES a folder of MJCF files; names are those of the files without .xml, and heap10, heap30, heap100,
heap300, heap1000. --time: simulated seconds at most; --budget: processor seconds an engine may spend on a case.

Rest, for every engine by its own motion: the kinetic energy stays below 1e-4 m g r (summed over the bodies, r the radius of
gyration) for half a second.
Scenes run from their first key, or their start, until abut's comes to rest, the same span for all engines ("to rest"). Where that
takes less than 0.1 s, the half second is measured ("at rest"), and where it does not happen in time, all of it ("moving").
Heaps run until each engine's own comes to rest, in three phases:
  falling   from the first touch (the first step that is no free fall) until the kinetic energy is a tenth of the largest so far
  settling  until rest begins
  at rest   the half second that follows
Times are processor time of a step in us: mean, 99th of a hundred, worst; of several rounds the least of each step, or the quickest
round of an engine that does not repeat itself exactly (ODE). Unconverged: steps the engine itself calls unsolved, or (MuJoCo) whose iterations are at their limit; Bullet and ODE
do not tell. ratio: abut's mean over that of the row's engine. What an engine cannot do is a dash, with the reason below."""
import argparse
import csv
import pathlib
import sys
import tempfile
import time
import xml.etree.ElementTree as tree

import numpy as np

import engines

HEAD = ["case", "phase", "engine", "begins [s]", "steps", "mean", "p99", "worst", "unconverged", "per body", "ratio"]
ENGINES = {"abut": "abut", "mujoco": "mujoco", "bullet": "bullet/default", "ode": "ode/quick"}
HEAPS = {f"heap{n}": n for n in (10, 30, 100, 300, 1000)}
STEP = 1e-3  # of heaps [s]
REST, STILL, FALLEN = 0.5, 1e-4, 0.1
ROUND = 20  # processor seconds of a round after which there is no other


def rest_begins(kinetic, scene):
    """The first step of the first REST seconds below the limit; None if there are none yet."""
    ends = np.concatenate(([-1], np.flatnonzero(~(kinetic < STILL * scene.unit)), [len(kinetic)]))
    long = np.flatnonzero(np.diff(ends) > round(REST / scene.h))
    return int(ends[long[0]] + 1) if len(long) else None


def first_touch(kinetic):
    """In free fall from rest the energy grows with the square of the time, in all these engines to rounding."""
    n = np.arange(1, len(kinetic) + 1)
    return int(np.argmax(np.abs(kinetic / (kinetic[0] * n * n) - 1) > 1e-6))


def heap_phases(kinetic, scene):
    touch, rest = first_touch(kinetic), rest_begins(kinetic, scene)
    end = len(kinetic) if rest is None else rest
    low = kinetic[touch:end] < FALLEN * np.maximum.accumulate(kinetic)[touch:end]
    landed = touch + int(np.argmax(low)) if low.any() else end
    phases = [("falling", touch, landed), ("settling", landed, end)]
    return phases + ([] if rest is None else [("at rest", rest, rest + round(REST / scene.h))])


def scene_span(kinetic, scene):
    """How the span is called, and its steps."""
    rest = rest_begins(kinetic, scene)
    if rest is None:
        return "moving", len(kinetic)
    return ("to rest", rest) if rest * scene.h >= 0.1 else ("at rest", round(REST / scene.h))


class Progress:
    """What is being done, on one line of a terminal."""

    def __init__(self, total):
        self.total, self.done, self.begun = total, 0, time.monotonic()

    def case(self, name):
        self.name, self.done = name, self.done + 1
        if not sys.stderr.isatty():
            print(f"bench: {time.monotonic() - self.begun:5.0f} s  {name} ({self.done} of {self.total})", file=sys.stderr, flush=True)

    def show(self, engine, at):
        if sys.stderr.isatty():
            print(f"\r{self.done} of {self.total}  {time.monotonic() - self.begun:.0f} s  {self.name}  {engine}  t {at:.2f} s\33[K", end="",
                  file=sys.stderr, flush=True)

    def clear(self):
        if sys.stderr.isatty():
            print("\r\33[K", end="", file=sys.stderr, flush=True)


class Case:
    """A scene file in all engines."""

    def __init__(self, name, file, options, progress):
        self.name, self.file, self.options, self.progress = name, file, options, progress
        self.scene = options.library.about(file)
        self.heap = name in HEAPS
        key = tree.parse(file).getroot().find("keyframe/key")
        self.key = "" if key is None else key.get("name", "")
        self.phase, self.span = "moving", None  # of a scene, once abut has said it
        self.notes = []

    def go(self, engine, worker):
        """Steps of one engine from the start to the end of its run."""
        h, steps, block = self.scene.h, np.empty((0, 3)), 1
        last = self.span or round(self.options.time / h)
        worker.ask(0)
        while len(steps) < last:
            new = worker.ask(min(block, last - len(steps)))
            steps = np.vstack((steps, new))
            self.progress.show(engine, len(steps) * h)
            if steps[-1, 2] == engines.BROKEN:
                broken = steps[:, 2] == engines.BROKEN
                self.note(engine, f"broke down at {int(np.argmax(broken)) * h:.2f} s")
                return steps[~broken]
            if not self.span and rest_begins(steps[:, 1], self.scene) is not None:
                return steps
            if steps[:, 0].sum() > self.options.budget:
                self.note(engine, f"cut at {len(steps) * h:.2f} s, when its {self.options.budget:g} s were spent")
                return steps
            block = max(1, min(round(0.05 / h), int(len(new) / (new[:, 0].sum() + 1e-9))))
        if not self.span:
            self.note(engine, f"not at rest after {len(steps) * h:g} s: kinetic energy {steps[-1, 1] / self.scene.unit:.1e} m g r")
        return steps

    def note(self, engine, text):
        if (line := f"{self.name}, {engine}: {text}") not in self.notes:
            self.notes.append(line)

    def phases(self, kinetic):
        return heap_phases(kinetic, self.scene) if self.heap else [(self.phase, 0, len(kinetic))]

    def open_all(self):
        workers = {}
        for engine in self.options.engines:
            try:
                workers[engine] = engines.Worker(self.options.library, ENGINES[engine], self.file, self.key)
            except engines.Failed as error:
                self.note(engine, str(error))
        return workers

    def one_round(self, workers, found):
        """Adds the steps of every engine to what was found; returns the processor seconds they took."""
        spent = 0
        for engine in list(workers):
            try:
                steps = self.go(engine, workers[engine])
            except engines.Failed as error:
                self.note(engine, str(error))
                workers.pop(engine).close()
                continue
            spent += steps[:, 0].sum()
            if engine == "abut" and len(steps) and not self.heap and not self.span:
                self.phase, self.span = scene_span(steps[:, 1], self.scene)
            if len(steps):
                found.setdefault(engine, []).append(steps[:self.span])
        return spent

    def measure(self):
        """{engine: steps with the least time of each}"""
        workers, found = self.open_all(), {}
        for _ in range(self.options.rounds):
            if self.one_round(workers, found) > ROUND:
                break
        for worker in workers.values():
            worker.close()
        return {engine: least(rounds) for engine, rounds in found.items()}

    def rows(self):
        self.progress.case(self.name)
        table = {}
        for engine, steps in self.measure().items():
            for phase, begin, end in self.phases(steps[:, 1]):
                if end > begin:
                    table[phase, engine] = (begin, steps[begin:end])
        self.progress.clear()
        names = ("falling", "settling", "at rest") if self.heap else (self.phase,)
        return [self.row(phase, engine, table) for phase in names for engine in self.options.engines]

    def row(self, phase, engine, table):
        if (phase, engine) not in table:
            return [self.name, phase, engine] + ["-"] * (len(HEAD) - 3)
        begin, steps = table[phase, engine]
        us = np.sort(1e6 * steps[:, 0])
        told = steps[:, 2][~np.isnan(steps[:, 2])]
        ours = table.get((phase, "abut"))
        return [self.name, phase, engine, f"{begin * self.scene.h:.3f}", len(us), f"{us.mean():.2f}", f"{us[len(us) * 99 // 100]:.2f}",
                f"{us[-1]:.2f}", int((told == 1).sum()) if len(told) else "-", f"{us.mean() / self.scene.bodies:.2f}",
                "-" if ours is None else f"{1e6 * ours[1][:, 0].mean() / us.mean():.2f}"]


def least(rounds):
    """Rounds that did the same are one: of each step the least time. Otherwise the quickest of them."""
    first = rounds[0]
    if all(np.array_equal(r[:, 1], first[:, 1]) for r in rounds):
        first[:, 0] = np.min([r[:, 0] for r in rounds], axis=0)
        return first
    return min(rounds, key=lambda r: r[:, 0].mean())


def show(row):
    widths = (13, 8, 7), (10, 6, 9, 9, 9, 11, 8, 6)
    left = [f"{cell:{width}}" for cell, width in zip(row, widths[0])]
    print(" ".join(left + [f"{cell:>{width}}" for cell, width in zip(row[3:], widths[1])]), flush=True)


def file_of(name, options, folder):
    if name not in HEAPS:
        return pathlib.Path(options.scenes) / f"{name}.xml"
    file = pathlib.Path(folder) / f"{name}.xml"
    options.library.write_heap(HEAPS[name], STEP, file)
    return file


def chosen(parser, what, text, known):
    """The names of the text, in the order of those that are known."""
    names = text.split(",") if text else known
    if unknown := [n for n in names if n not in known]:
        parser.error(f"no {what} {', '.join(unknown)}; there are {', '.join(known)}")
    return [n for n in known if n in names]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("library", "scenes", "out"):
        parser.add_argument(name)
    parser.add_argument("--only", default="")
    parser.add_argument("--engines", default="")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--time", type=float, default=5)
    parser.add_argument("--budget", type=float, default=120)
    options = parser.parse_args()
    scenes = sorted(f.stem for f in pathlib.Path(options.scenes).glob("*.xml"))
    options.cases = chosen(parser, "case", options.only, [*scenes, *HEAPS])
    options.engines = chosen(parser, "engine", options.engines, list(ENGINES))
    if "abut" not in options.engines:
        parser.error("abut must be among the engines: its rest ends the others' runs")
    try:
        options.library = engines.Library(options.library)
    except OSError as error:
        parser.error(f"{error}; make build makes it")
    return options


def main():
    options = arguments()
    version = engines.mujoco.__version__ if engines.mujoco else "(not installed)"
    print(f"Scenes and heaps in motion: abut, MuJoCo {version}, Bullet (defaults) and ODE (quick step), us of processor time a step\n")
    show(HEAD)
    notes = []
    with tempfile.TemporaryDirectory() as folder, open(options.out, "w", newline="") as f:
        progress = Progress(len(options.cases))
        table = csv.writer(f)
        table.writerow(HEAD)
        for name in options.cases:
            try:
                file = file_of(name, options, folder)
                case = Case(name, file, options, progress)
                rows = case.rows()
                notes += case.notes
            except engines.Failed as error:
                notes.append(f"{name}: left out: {error}")
                continue
            table.writerows(rows)
            f.flush()
            for row in rows:
                show(row)
    print("\n" + "\n".join(notes))


if __name__ == "__main__":
    main()

#!/usr/bin/python3
"""Stories 19 to 32 and more (33 on: `extra`): scenes in motion whose outcome is certain, run through the program and measured.

    test/stories/motion_stories.py [PROGRAM] [--story 19,22] [--case arm] [--step 1,10] [--quick] [--json FILE]

One row per claim: what was measured, its limit, the verdict, and how the program solved the steps of that case. Every claim rests
on statics, a closed form or a symmetry; its derivation stands at the case (test/stories/motion/story_*.py). Names with a slash are
variants: other sizes, speeds and friction, and the same scene turned, enlarged or shrunk. Exit code 1: a claim does not hold.
"""
import argparse
import json
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from motion import claims, extra, loads_and_limits, rebounds_and_orders, rolls_and_bounces, strikes, story_19_22, story_23_27, story_28_32  # noqa: E402,F401  (they register their cases)
from motion.program import Failed, Program  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TITLE = f"{'story':5} {'case':32} {'h ms':>5} {'claim':34} {'measured':>12} {'limit':22} {'verdict':7} {'unconv':>6} {'residual':>9} {'us/step':>8}"


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("program", nargs="?", default=os.path.join(ROOT, "build/release/abut"))
    p.add_argument("--story", help="numbers, comma separated")
    p.add_argument("--case", help="only cases whose name contains this")
    p.add_argument("--step", help="steps in ms, comma separated (those of the story)")
    p.add_argument("--quick", action="store_true", help="the short selection of `make test`")
    p.add_argument("--no-variants", action="store_true", help="without the variants")
    p.add_argument("--failures", action="store_true", help="print only the claims that do not hold")
    p.add_argument("--json", metavar="FILE", help="all rows, for machines")
    p.add_argument("--jobs", type=int, default=1, help="cases at a time (times per step then mean little)")
    p.add_argument("--timeout", type=float, default=120, help="seconds for one run of the program")
    p.add_argument("--set", action="append", default=[], help="handed on to the program")
    p.add_argument("--contact", help="handed on to the program")
    p.add_argument("--keep", metavar="DIR", help="keep scenes and CSV files here")
    p.add_argument("--list", action="store_true", help="only list the cases")
    p.add_argument("--write-scenes", metavar="DIR", help="only write the small base scenes as MJCF")
    return p.parse_args()


def selection(a):
    stories = {int(s) for s in a.story.split(",")} if a.story else None
    steps = [float(s) for s in a.step.split(",")] if a.step else None
    for c in sorted(claims.CASES, key=lambda c: c.story):
        if (stories and c.story not in stories) or (a.case and a.case not in c.name) or (a.no_variants and c.variant):
            continue
        own = c.quick if a.quick else c.steps
        if steps and own and None not in own and not a.quick:  # those asked for, also finer ones than the story has
            own = [ms for ms in steps if ms in own or ms < min(own)]
        for ms in own:
            if not (a.quick and (c.name, ms) in claims.OPEN):
                yield c, ms


def measure(c, ms, program):
    x = claims.Context(program, None if ms is None else ms * 1e-3, c.options)
    try:
        c.function(x, **x.options)
        x.finish()
    except Failed as why:
        x.rows.append((f"runs: {why}", float("nan"), "", False))
    rows = []
    for claim, measured, limit, ok in x.rows:
        rows.append(dict(story=c.story, case=c.name, variant=c.variant, h_ms=ms, claim=claim, measured=measured, limit=limit, ok=ok,
                         unconverged=x.unconverged, residual=x.residual, us_per_step=1e6 * x.wall / max(x.steps, 1)))
    return rows


def show(row):
    h = "all" if row["h_ms"] is None else f"{row['h_ms']:g}"
    verdict = "ok" if row["ok"] else "WRONG"
    print(f"{row['story']:<5} {row['case']:32} {h:>5} {row['claim']:34} {row['measured']:12.6g} {row['limit']:22} {verdict:7} "
          f"{row['unconverged']:6d} {row['residual']:9.1e} {row['us_per_step']:8.1f}", flush=True)


class Recorder:
    """Stands for the program where only the scenes are wanted: the first run of a case is written and ends it."""

    def __init__(self, folder):
        self.folder = folder

    def run(self, scene, *_):
        path = os.path.join(self.folder, scene.name + ".xml")
        with open(path, "w") as f:
            f.write(scene.xml())
        raise Failed("written")


def write_scenes(folder):
    for c in claims.CASES:
        if c.scene_file and not c.variant:
            measure(c, c.steps[0], Recorder(folder))


def stale_scenes():
    """Names of the files in scenes/stories that are not what the cases run."""
    with tempfile.TemporaryDirectory() as folder:
        write_scenes(folder)
        stale = []
        for name in sorted(os.listdir(folder)):
            kept = os.path.join(ROOT, "scenes/stories", name)
            if not os.path.exists(kept) or open(kept).read() != open(os.path.join(folder, name)).read():
                stale.append(name)
        return stale


def main():
    a = arguments()
    if a.write_scenes:
        return write_scenes(a.write_scenes)
    chosen = list(selection(a))
    if not chosen:
        sys.exit("motion_stories: no case is chosen; --list shows them")
    if a.list:
        for c, ms in chosen:
            print(c.story, c.name, ms)
        return 0
    if not os.access(a.program, os.X_OK):
        print(f"motion_stories: {a.program}: no such program; build it with `make build` or name it", file=sys.stderr)
        return 2
    passed_on = [w for s in a.set for w in ("--set", s)] + (["--contact", a.contact] if a.contact else [])
    program = Program(a.program, passed_on, a.timeout, a.keep)
    print(TITLE)
    everything = []
    with ThreadPoolExecutor(a.jobs) as pool:
        for rows in pool.map(lambda item: measure(*item, program), chosen):
            everything += rows
            for row in rows:
                if not (a.failures and row["ok"]):
                    show(row)
    if a.json:
        with open(a.json, "w") as f:
            json.dump(everything, f, indent=1)
    failed = sum(not r["ok"] for r in everything)
    stale = stale_scenes()
    if stale:
        failed += 1
        print(f"scenes/stories is not up to date ({', '.join(stale)}): run motion_stories.py --write-scenes scenes/stories")
    cases = {(r["story"], r["case"], r["h_ms"]): True for r in everything}
    for r in everything:
        cases[r["story"], r["case"], r["h_ms"]] &= r["ok"]
    print("\nstory: runs wrong of all")
    for story in sorted({k[0] for k in cases}):
        mine = [ok for k, ok in cases.items() if k[0] == story]
        print(f"{story:5}: {mine.count(False):3} of {len(mine)}")
    print(f"runs: {list(cases.values()).count(False)} wrong of {len(cases)}")
    print(f"{sum(r['ok'] for r in everything)} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

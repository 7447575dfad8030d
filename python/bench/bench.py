"""What the package costs: beside the C loop, and beside mujoco.rollout on the same MJCF in the same run.

usage: bench.py LOOP OUT.csv [--quick]     LOOP: the compiled loop.c

Ratios are taken in turns in the same run, the middle of several, and of processor time (of all threads), so that a busy machine disturbs them
little. Speed-ups by threads are told twice: of wall time, which says what the machine had to spare, and of the time a thread ran or was blocked,
without that in which it was ready and had to wait for a processor (the kernel counts it): this is what free processors give.
"""

from __future__ import annotations

import csv
import os
import statistics
import subprocess
import sys
import threading
import time
import warnings

import numpy as np

import abut

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ROWS: list[tuple[str, str, float, str]] = []


def tell(what: str, case: str, value: float, unit: str) -> None:
    ROWS.append((what, case, value, unit))
    print(f"{what:42s} {case:18s} {value:10.4g} {unit}", flush=True)


def seconds(work: object) -> float:
    assert callable(work)
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def cpu(work: object) -> float:
    """Processor seconds of this process, all threads."""
    assert callable(work)
    begun = time.process_time()
    work()
    return time.process_time() - begun


def ran_or_blocked(work: object) -> tuple[float, float]:
    """Of the calling thread: processor seconds; these and the seconds in which it waited for something other than a processor."""
    assert callable(work)

    def count() -> tuple[float, float]:
        with open(f"/proc/self/task/{threading.get_native_id()}/schedstat") as f:
            ran, ready = f.read().split()[:2]
        return 1e-9 * int(ran), 1e-9 * int(ready)

    before = count()
    wall = seconds(work)
    after = count()
    return after[0] - before[0], wall - (after[1] - before[1])


def scenes() -> dict[str, tuple[str, int, float]]:
    """Name -> path, steps, first velocity."""
    import gymnasium

    assets = os.path.join(os.path.dirname(gymnasium.__file__), "envs", "mujoco", "assets")
    return {
        "pushed box": (os.path.join(ROOT, "scenes", "box_on_plane.xml"), 500, 0.5),
        "arm and box": (os.path.join(ROOT, "scenes", "gripper_pinch.xml"), 300, 0.0),
        "ant": (os.path.join(assets, "ant.xml"), 300, 0.0),
        "humanoid": (os.path.join(assets, "humanoid.xml"), 200, 0.0),
    }


def beside_c(loop: str, rounds: int) -> None:
    for name, (path, steps, push) in scenes().items():
        model, worlds = abut.load(path), 16
        alone, batch = abut.Data(model), abut.Batch(model, worlds, threads=1)

        def single() -> None:
            for _ in range(worlds):
                alone.reset()
                alone.v[0] = push
                alone.step(steps)

        def many() -> None:
            batch.step(steps)

        single_, batch_ = [], []
        for _ in range(rounds):
            c = float(subprocess.run([loop, path, str(worlds), str(steps), str(push)], capture_output=True, text=True, check=True).stdout)
            single_.append(cpu(single) / c)
            batch.reset()
            batch.v[:, 0] = push
            batch_.append(cpu(many) / c)
        tell("Data.step(n) / C loop", name, statistics.median(single_), "x the time")
        tell("Batch.step(n), 1 thread / C loop", name, statistics.median(batch_), "x the time")


def beside_mujoco(rounds: int) -> None:
    try:
        import mujoco
        import mujoco.rollout
    except ImportError:
        print("mujoco is not installed: not compared")
        return
    for name, (path, steps, push) in scenes().items():
        worlds, threads = 32, os.cpu_count() or 1
        ours, theirs = abut.load(path), mujoco.MjModel.from_xml_path(path)
        rng = np.random.default_rng(0)
        controls = 0.1 * rng.normal(size=(worlds, steps, ours.nu))
        start = np.zeros((worlds, ours.nq + ours.nv))
        start[:, : ours.nq] = ours.q0
        start[:, ours.nq] = push
        full = np.concatenate([np.zeros((worlds, 1)), start], axis=1)
        data = [mujoco.MjData(theirs) for _ in range(threads)]

        def run_ours() -> None:
            abut.rollout(ours, start, controls, threads=threads)

        def run_theirs() -> None:
            mujoco.rollout.rollout([theirs] * worlds, data, full, controls)

        ratios, speeds = [], []
        for _ in range(rounds):
            a, b = cpu(run_ours), cpu(run_theirs)
            ratios.append(a / b)
            speeds.append(worlds * steps / a)
        tell("abut.rollout / mujoco.rollout", name, statistics.median(ratios), "x the time")
        tell("abut.rollout", name, statistics.median(speeds), "steps per processor second")


def two_threads(rounds: int) -> None:
    model = abut.load(os.path.join(ROOT, "scenes", "stack10.xml"))

    def run(d: abut.Data) -> None:
        d.reset()
        d.step(20000)

    pair = [abut.Data(model) for _ in range(2)]

    def in_turn() -> None:
        for d in pair:
            run(d)

    def together() -> None:
        threads = [threading.Thread(target=run, args=(d,)) for d in pair]
        for t in threads:
            t.start()
        for t in threads:
            t.join()

    def free_speedup() -> float:
        lanes: list[tuple[float, float]] = []
        threads = [threading.Thread(target=lambda d=d: lanes.append(ran_or_blocked(lambda: run(d)))) for d in pair]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        return sum(ran for ran, _ in lanes) / max(busy for _, busy in lanes)

    if os.path.exists("/proc/self/schedstat"):
        tell("two Python threads, speed-up on free cores", "stack10", statistics.median(free_speedup() for _ in range(rounds)), "x")
    tell("two Python threads, speed-up now", "stack10", statistics.median(seconds(in_turn) / seconds(together) for _ in range(rounds)), "x of wall time")
    # on a machine with other work the wall tells about that; what threads cost shows in processor time
    tell("two Python threads, processor time", "stack10", statistics.median(cpu(together) / cpu(in_turn) for _ in range(rounds)), "x of one's")
    worlds = 16
    batches = [abut.Batch(model, worlds, threads=t) for t in (1, 2)]
    ratio, cost = [], []
    for _ in range(rounds):
        times, spent = [], []
        for b in batches:
            b.reset()
            begun = time.process_time()
            times.append(seconds(lambda: b.step(100)))
            spent.append(time.process_time() - begun)
        ratio.append(times[0] / times[1])
        cost.append(spent[1] / spent[0])
    tell("Batch with two threads, speed-up now", "stack10", statistics.median(ratio), "x of wall time")
    tell("Batch with two threads, processor time", "stack10", statistics.median(cost), "x of one's")


def small_things(rounds: int) -> None:
    code = "import time; t = time.process_time(); import abut; print(time.process_time() - t)"
    times = [float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout) for _ in range(rounds)]
    tell("import abut", "", statistics.median(times), "processor s")
    model = abut.load(os.path.join(ROOT, "scenes", "box_on_plane.xml"))
    tell("Data(model)", "box", 1e6 * cpu(lambda: [abut.Data(model) for _ in range(200)]) / 200, "us")
    d = abut.Data(model)
    d.step(10)
    for name, work in {"d.q": lambda: d.q, "d.stat": lambda: d.stat, "d.contact_numbers": lambda: d.contact_numbers, "d.contacts": lambda: d.contacts,
                       "d.save()": d.save, "d.step()": d.step}.items():
        tell(name, "box", 1e6 * cpu(lambda: [work() for _ in range(2000)]) / 2000, "us")


def main() -> None:
    warnings.simplefilter("ignore", abut.SceneWarning)
    loop, out = sys.argv[1], sys.argv[2]
    rounds = 5 if "--quick" in sys.argv else 15
    small_things(rounds)
    two_threads(rounds)
    beside_c(loop, rounds)
    beside_mujoco(rounds)
    os.makedirs(os.path.dirname(os.path.abspath(out)), exist_ok=True)
    with open(out, "w", newline="") as f:
        csv.writer(f).writerows([("what", "case", "value", "unit"), *ROWS])


if __name__ == "__main__":
    main()

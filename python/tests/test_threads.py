"""Steps run without the interpreter's lock; simulations of different threads do not see each other."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import abut

from conftest import SCENES, heap


def test_two_threads_compute_what_one_does() -> None:
    m = heap(4)
    alone = abut.Data(m)
    alone.step(300)
    hashes: dict[int, str] = {}

    def run(k: int) -> None:
        d = abut.Data(m)
        for _ in range(30):
            d.step(10)
        hashes[k] = d.hash

    threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert set(hashes.values()) == {alone.hash} and len(hashes) == 4


def long_run(d: abut.Data, begun: threading.Event, done: threading.Event) -> None:
    begun.set()
    try:
        d.step(2000)
    finally:
        done.set()


def test_python_goes_on_while_a_simulation_steps() -> None:
    d = abut.Data(heap(6))
    begun, done = threading.Event(), threading.Event()
    t = threading.Thread(target=long_run, args=(d, begun, done))
    t.start()
    begun.wait()
    ticks = 0
    while not done.is_set():  # with the lock held this loop would hardly be entered
        ticks += 1
    t.join()
    assert ticks > 100


def test_a_second_thread_is_refused_while_one_steps() -> None:
    d = abut.Data(heap(6))
    begun, done = threading.Event(), threading.Event()
    t = threading.Thread(target=long_run, args=(d, begun, done))
    t.start()
    begun.wait()
    refused = 0
    while not done.is_set():
        try:
            d.reset()
        except RuntimeError as error:
            assert "another thread" in str(error)
            refused += 1
    t.join()
    assert refused > 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_has_threads_of_its_own() -> None:
    b = abut.Batch(heap(2), 6, threads=2)
    b.step(5)
    want = b.q.copy()
    b.reset()
    pid = os.fork()
    if pid == 0:
        b.step(5)
        os._exit(0 if np.array_equal(b.q, want) else 1)
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    b.step(5)
    assert np.array_equal(b.q, want)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_steps_a_simulation_that_has_threads() -> None:
    d = abut.Data(heap(4))
    d.threads = 2
    d.step(20)
    pid = os.fork()
    if pid == 0:
        signal.alarm(60)  # threads that are not there would be waited for
        d.step(20)
        hash = d.hash
        del d
        os._exit(int(hash[:2], 16))
    _, status = os.waitpid(pid, 0)
    d.step(20)
    assert os.waitstatus_to_exitcode(status) == int(d.hash[:2], 16)


SWEEP = {"scene": str(SCENES / "stack10.xml"), "time": 1e6, "vary": {"option.gravity[0]": [0.1, 0.2]}, "measure": {"e": "energy"}}
LONG = {
    "data": "abut.Data(m).step(10**9)",
    "batch": "abut.Batch(m, 4, threads=2).step(10**9)",
    "rollout": "abut.rollout(m, [m.q0] * 4, steps=4, substeps=10**7, threads=2)",
    "sweep": f"abut.sweep({SWEEP!r}, threads=2)",
    "one run": f"abut.sweep({SWEEP!r}, run=0)",
    "picture": "[abut.render(d, 640, 480) for _ in range(10**6)]",
}


@pytest.mark.parametrize("work", LONG)
def test_a_program_may_end_while_a_daemon_thread_works(work: str) -> None:
    code = f"""
import threading, time
import abut
m = abut.load({str(SCENES / "stack10.xml")!r})
d = abut.Data(m)
threading.Thread(target=lambda: {LONG[work]}, daemon=True).start()
time.sleep(0.5)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("work", [w for w in LONG if w != "picture"])
def test_ctrl_c_ends_a_single_long_run(work: str) -> None:
    m = abut.load(SCENES / "stack10.xml")
    run: Callable[[], Any] = eval(f"lambda: {LONG[work]}", {"abut": abut, "m": m})
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        run()
    timer.join()


class Forgetful(abut.Data):
    def __init__(self) -> None:
        pass


class ForgetfulBatch(abut.Batch):
    def __init__(self) -> None:
        pass


@pytest.mark.filterwarnings("ignore:nanobind")
def test_a_derived_class_that_forgets_to_initialise_is_told() -> None:
    for name in ["q", "applied", "pos", "rot", "asleep"]:
        with pytest.raises(TypeError, match="super"):
            getattr(Forgetful(), name)
    for name in ["q", "quat", "status"]:
        with pytest.raises(TypeError, match="super"):
            getattr(ForgetfulBatch(), name)

"""Steps run without the interpreter's lock; simulations of different threads do not see each other."""

from __future__ import annotations

import os
import threading

import numpy as np
import pytest

import abut

from conftest import heap


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

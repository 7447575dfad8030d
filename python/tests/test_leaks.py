"""What is made and thrown away leaves nothing."""

from __future__ import annotations

import gc
import os
import resource

import abut

from conftest import BOX, CART

N = int(os.environ.get("ABUT_LEAK_ROUNDS", "5000"))


def resident() -> int:
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * resource.getpagesize()


def grow(work: object, n: int) -> int:
    """Bytes the process grows by in n rounds, after a warm-up."""
    assert callable(work)
    for _ in range(n // 10):
        work()
    gc.collect()
    before = resident()
    for _ in range(n):
        work()
    gc.collect()
    return resident() - before


def test_a_hundred_thousand_simulations_leave_nothing(box: abut.Model) -> None:
    def work() -> None:
        d = abut.Data(box)
        d.step()
        del d

    # the smallest Python object has 16 bytes; the heap itself moves by less than a megabyte
    assert grow(work, 20 * N) < 20 * N * 5 + 1e6


def test_states_and_contacts_leave_nothing(box: abut.Model) -> None:
    def work() -> None:
        d = abut.Data(box)
        d.step()
        d.contacts
        d.save()

    # one leaked simulation is some ten kilobytes; a tenth of that per round would be seen
    assert grow(work, N) < N * 1000


def test_steps_and_views_leave_nothing(box: abut.Model) -> None:
    d = abut.Data(box)

    def work() -> None:
        d.step()
        d.q, d.pos, d.contact_numbers, d.stat, d.wrench("box"), d.body("box").quat
        d.restore(d.save())

    assert grow(work, 4 * N) < 4 * N * 25  # an array header is above 100 bytes


def test_models_and_batches_leave_nothing() -> None:
    def work() -> None:
        m = abut.loads(CART)
        b = abut.Batch(m, 2, threads=2)
        b.expand("geom_friction")
        b.reset()
        b.step()
        abut.rollout(abut.loads(BOX), abut.loads(BOX).q0, steps=1)

    assert grow(work, N // 20) < N // 20 * 2000


def test_sweeps_and_pictures_leave_nothing(box: abut.Model) -> None:
    d = abut.Data(box)
    spec = {"scene": box, "time": 0.002, "vary": {"geom.box.friction": [0.1, 0.2]}, "measure": {"x": "body.box.x"}}

    def work() -> None:
        abut.sweep(spec)
        abut.render(d, 20, 20)
        try:
            abut.sweep(spec, measure={"x": "body.bix.x"})
        except ValueError:
            pass

    assert grow(work, N // 20) < N // 20 * 2000


def test_errors_leave_nothing() -> None:
    def work() -> None:
        for text in ["<mujoco>", "<mujoco><worldbody><geom/></worldbody></mujoco>", "<mujoco><nothing/></mujoco>"]:
            try:
                abut.loads(text)
            except abut.SceneError:
                pass

    assert grow(work, N) < N * 100

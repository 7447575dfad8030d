"""Worlds in a batch are what they are alone, whoever computes them."""

from __future__ import annotations

import numpy as np
import pytest

import abut

from conftest import heap


def start(b: abut.Batch) -> None:
    rng = np.random.default_rng(1)
    b.v[:] = rng.normal(size=b.v.shape)


@pytest.mark.parametrize("threads", [2, 5])
def test_threads_change_nothing(threads: int) -> None:
    m = heap(2)
    batches = [abut.Batch(m, 13, threads=t) for t in (1, threads)]
    for b in batches:
        start(b)
        for _ in range(4):
            b.step(20)
    one, many = batches
    for name in ["q", "v", "pos", "quat", "twist", "time", "status"]:
        assert np.array_equal(getattr(one, name), getattr(many, name)), name
    assert np.array_equal(one.wrench("b0"), many.wrench("b0"))


def test_a_world_is_a_simulation() -> None:
    m = heap(2)
    b = abut.Batch(m, 4)
    start(b)
    alone = []
    for i in range(4):
        d = abut.Data(m)
        d.v[:] = b.v[i]
        alone.append(d)
    b.step(150)
    for i, d in enumerate(alone):
        d.step(150)
        assert np.array_equal(d.q, b.q[i]) and np.array_equal(d.pos, b.pos[i]) and np.array_equal(d.quat, b.quat[i])
        assert np.array_equal(d.twist, b.twist[i]) and d.time == b.time[i]
        assert np.array_equal(d.wrench("b1"), b.wrench("b1")[i])


def test_reset_by_mask(box: abut.Model) -> None:
    b = abut.Batch(box, 3, threads=2)
    b.v[:, 0] = 1
    b.step(50)
    q = b.q.copy()
    b.reset(np.array([False, True, False]))
    assert np.array_equal(b.q[1], box.q0) and b.time[1] == 0
    assert np.array_equal(b.q[[0, 2]], q[[0, 2]])
    b.reset(np.array([True, False, False]), key="high")
    assert b.q[0, 2] == 1
    b.reset()
    assert np.array_equal(b.q, np.tile(box.q0, (3, 1)))


def test_worlds_have_friction_and_mass_of_their_own(box: abut.Model) -> None:
    mu = np.array([0.2, 0.3, 0.5])
    b = abut.Batch(box, 3)
    b.expand("geom_friction")[:, :, 0] = mu[:, None]
    mass = b.expand("body_mass")
    mass[:, 1] = [0.5, 1, 2]
    b.reset()
    b.v[:, 0] = 1
    b.step(10)
    # sliding: the force is mu m g
    assert np.allclose(b.wrench("box", "world")[:, 0], -mu * [0.5, 1, 2] * 9.81, rtol=1e-3)
    b.step(1000)
    assert np.allclose(b.q[:, 0], 1 / (2 * mu * 9.81), atol=1e-3)  # a step's way
    one = abut.Data(box.changed(geom_friction=[[0.3, 0.005, 0.0001]] * 2, body_mass=[0, 1]))
    one.v[0] = 1
    one.step(1010)
    assert np.allclose(one.q, b.q[1], rtol=0, atol=1e-12)
    world = b.world(1)
    assert world.model.body("box").mass == 1 and np.array_equal(world.q, b.q[1])


def test_contact_parameters_of_their_own(box: abut.Model) -> None:
    b = abut.Batch(box, 2, threads=1)
    b.set_contact("volume-penalty")
    name = next(iter(b.world(0).params))
    values = b.expand("contact." + name)
    values[1] *= 2
    b.reset()
    b.step(1)
    assert b.world(1).params[name] == 2 * b.world(0).params[name]


def test_expanding_alone_changes_nothing(box: abut.Model) -> None:
    a, b = abut.Batch(box, 2), abut.Batch(box, 2)
    for name in abut.varying_fields():
        b.expand(name)
    b.reset()
    for x in (a, b):
        x.v[:, 0] = 1
        x.step(100)
    assert np.array_equal(a.q, b.q)


def test_a_broken_world_waits_for_its_reset(box: abut.Model) -> None:
    b = abut.Batch(box, 3)
    b.applied[1, 1] = 1e308
    b.step(3)
    assert b.status.tolist() == [0, 2, 0]
    assert np.isfinite(b.q).all() and b.time[1] == 0 and b.time[0] > 0
    b.applied[1] = 0
    b.step(3)
    assert b.time[1] == 0
    b.reset(b.status == 2)
    b.step(3)
    assert b.status.tolist() == [0, 0, 0]


def test_states_go_from_world_to_world() -> None:
    m = heap(2)
    b = abut.Batch(m, 2, threads=1)
    b.set_contact("volume-pgs")
    start(b)
    b.step(50)
    b.restore(1, b.save(0))
    assert b.time[0] == b.time[1]
    b.step(50)
    assert np.array_equal(b.q[0], b.q[1])


def test_a_rollout_is_the_loop(cart: abut.Model) -> None:
    rng = np.random.default_rng(2)
    states, controls = rng.normal(size=(6, 4)), rng.normal(size=(6, 10, 2))
    out = {t: abut.rollout(cart, states, controls, substeps=3, outputs=["q", "v", "pos", "quat", "ctrl", "time"], threads=t) for t in (1, 3)}
    for name in out[1].outputs:
        assert np.array_equal(out[1][name], out[3][name])
    d = abut.Data(cart)
    for i in range(6):
        d.reset()
        d.q[:], d.v[:] = states[i, :2], states[i, 2:]
        for t in range(10):
            d.ctrl[:] = controls[i, t]
            d.step(3)
            assert np.array_equal(d.q, out[1]["q"][i, t]) and np.array_equal(d.pos, out[1]["pos"][i, t])
    assert out[1].status.tolist() == [0] * 6 and out[1].length.tolist() == [10] * 6


def test_rollouts_from_saved_states_with_wrenches(box: abut.Model) -> None:
    d = abut.Data(box)
    d.set_contact("volume-pgs")
    d.step(20)
    push = np.zeros((5, 30, 2, 6))
    push[:, :, 1, 0] = np.linspace(0, 4, 5)[:, None]
    r = abut.rollout(box, d.save(), applied=push, outputs=["pos", "energy"], pairs=[("box", "world")], contact="volume-pgs")
    assert r["pos"].shape == (5, 30, 2, 3) and r["wrench"].shape == (5, 30, 1, 6)
    # 0.5 * 0.5 * 9.81 = 2.45 N hold the box against the first three pushes, of 0, 1 and 2 N
    assert np.allclose(r["wrench"][:3, -1, 0, 0], [0, -1, -2], atol=1e-3)
    assert (r["pos"][3:, -1, 1, 0] > 1e-5).all()


def test_a_broken_run_ends_in_nan(box: abut.Model) -> None:
    push = np.zeros((2, 5, 2, 6))
    push[1, 3, 1] = 1e308
    r = abut.rollout(box, box.q0, applied=push)
    assert r.status.tolist() == [0, 2] and r.length.tolist() == [5, 3]
    assert np.isfinite(r["q"][0]).all() and np.isnan(r["q"][1, 3:]).all() and np.isfinite(r["q"][1, :3]).all()


def test_odd_sizes(box: abut.Model, cart: abut.Model) -> None:
    empty = abut.rollout(cart, np.zeros((0, 4)), np.zeros((0, 3, 2)))
    assert empty["q"].shape == (0, 3, 2)
    assert abut.rollout(box, box.q0, steps=0)["q"].shape == (1, 0, 7)
    b = abut.Batch(box, 1, threads=8)
    b.step(0)
    b.step(np.int64(3))
    assert b.time[0] == pytest.approx(0.003)
    d = abut.Data(box)
    d.step(np.int32(2))
    d.h = 1e-3
    assert d.stat.steps == 2

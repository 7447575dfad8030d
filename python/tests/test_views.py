"""Arrays are views of the simulation's own memory, and live as long as anybody looks."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import abut


def test_views_are_live_and_not_copied(data: abut.Data) -> None:
    q = data.q
    data.q[0] = 0.25
    assert q[0] == 0.25
    assert np.shares_memory(q, data.q)
    before = data.pos
    data.step()
    assert np.shares_memory(before, data.pos)
    assert before[1, 0] == pytest.approx(0.25, abs=1e-9)  # the box stands still: only rounding


def test_a_view_outlives_its_simulation(box: abut.Model) -> None:
    d = abut.Data(box)
    dead = weakref.ref(d)
    d.step(10)
    views = [d.q, d.v, d.applied, d.pos, d.quat, d.twist, d.rot, d.origin, d.asleep, d.ctrl]
    values = [v.copy() for v in views]
    del d
    gc.collect()
    assert dead() is not None  # the views hold it
    for v, value in zip(views, values):
        assert np.array_equal(v, value)
    views[0][:] = 3
    del views, v
    gc.collect()
    assert dead() is None


def test_views_of_batches_and_models_outlive_them(box: abut.Model) -> None:
    b = abut.Batch(box, 5, threads=1)
    friction = b.expand("geom_friction")
    q, mass = b.q, box.body_mass
    value = mass.copy()
    del b, box
    gc.collect()
    friction[:] = 1
    q[:] = 2
    assert np.array_equal(mass, value)


def test_results_are_read_only(data: abut.Data) -> None:
    for name in ["pos", "quat", "twist", "rot", "origin", "asleep"]:
        with pytest.raises(ValueError, match="read-only"):
            getattr(data, name)[...] = 0
    with pytest.raises(ValueError, match="read-only"):
        data.model.geom_friction[...] = 0


def test_shapes_and_names(cart: abut.Model) -> None:
    d = abut.Data(cart)
    assert (cart.nq, cart.nv, cart.nbody, cart.nu) == (2, 2, 3, 2)
    assert cart.body_names == ("world", "cart", "mast")
    assert d.q.shape == (2,) and d.applied.shape == (3, 6) and d.pos.shape == (3, 3) and d.quat.shape == (3, 4)
    assert cart.joint("pivot").q == slice(1, 2)
    assert cart.geom("cart").type == "box" and cart.geom("cart").size.tolist() == [0.1, 0.1, 0.1]
    assert cart.body("mast").parent.name == "cart"
    assert cart.actuator("turn").joint.name == "pivot"
    d.joint("pivot").q = 0.5
    d.actuator("push").ctrl = 2
    assert d.q[1] == 0.5 and d.ctrl[0] == 2
    d.forward()
    # turned by 0.5 about y: (cos 0.25, 0, sin 0.25, 0)
    assert np.allclose(d.body("mast").quat, [np.cos(0.25), 0, np.sin(0.25), 0], atol=1e-15)


def test_assigning_moves_the_poses(data: abut.Data) -> None:
    data.q = [1, 2, 3, 1, 0, 0, 0]
    assert data.body("box").pos.tolist() == [1, 2, 3]
    data.applied = np.zeros((2, 6))
    data.body("box").applied = [0, 0, 4.905, 0, 0, 0]
    data.set_contact("none")
    data.step(10)
    # the weight of 0.5 kg at 9.81 m/s2 is balanced
    assert abs(data.v[2]) < 1e-15


def test_looking_changes_nothing(box: abut.Model) -> None:
    a, b = abut.Data(box), abut.Data(box)
    for d in (a, b):
        d.v[:] = [0.5, 0.1, 0, 0, 0, 2]
    for _ in range(100):
        a.step()
        b.step()
        b.pos, b.quat, b.energy, b.momentum, b.contacts, b.save(), b.hash, b.forward()
    assert a.hash == b.hash


def test_poses_are_those_of_what_was_written(data: abut.Data) -> None:
    data.q[0] = 0.5
    assert data.pos[1, 0] == 0.5
    data.v[0] = 2
    assert data.twist[1, 0] == 2 and data.energy.kinetic == 0.5 * 0.5 * 4
    assert data.momentum[0] == 1

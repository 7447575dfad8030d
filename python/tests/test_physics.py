"""What is known in closed form."""

from __future__ import annotations

import numpy as np
import pytest

import abut


def test_free_fall(box: abut.Model) -> None:
    d = abut.Data(box)
    d.reset("high")
    n, h, g = 200, d.h, 9.81
    d.step(n)
    # free flight moves by the mean velocity of each step, which is exact
    assert d.q[2] == pytest.approx(1 - g * (h * n) ** 2 / 2, abs=1e-12)
    assert d.time == pytest.approx(n * h, abs=1e-12)
    assert d.energy.kinetic == pytest.approx(0.5 * 0.5 * (g * h * n) ** 2, rel=1e-12)


def test_contacts_carry_the_weight(data: abut.Data) -> None:
    data.step(200)
    c = data.contacts
    assert len(c) == 1
    k = c[0]
    assert data.model.body_names[k["body1"]] == "box"
    # the force of 0.5 kg; the solver's tolerance is far below this
    assert k["force"] == pytest.approx([0, 0, 0.5 * 9.81], abs=1e-6)
    assert data.wrench("box", "world")[2] == pytest.approx(0.5 * 9.81, abs=1e-6)
    assert data.wrench("world", "box")[2] == pytest.approx(-0.5 * 9.81, abs=1e-6)
    assert data.body("box").contact_wrench[2] == pytest.approx(0.5 * 9.81, abs=1e-6)
    assert k["area"] == pytest.approx(0.01, rel=1e-6)
    assert k["polygon"].shape == (4, 3) and k["pressure"].shape in [(4,), (0,)]
    assert np.abs(k["polygon"][:, :2]) == pytest.approx(np.full((4, 2), 0.05), abs=1e-9)


def test_a_pushed_cart(cart: abut.Model) -> None:
    d = abut.Data(cart.changed(body_mass=[0, 2, 1e-9], body_inertia=[[0, 0, 0], [0.1, 0.1, 0.1], [1e-9, 1e-9, 1e-9]]))
    d.actuator("push").ctrl = 4
    d.step(100)
    assert d.v[0] == pytest.approx(4 / 2 * 0.1, rel=1e-6)  # the mast weighs a part in 2e9


def test_friction_decides_how_far_a_box_slides(box: abut.Model) -> None:
    for mu in [0.2, 0.4]:
        d = abut.Data(box.changed(geom_friction=[[mu, 0, 0]] * 2))
        d.v[0] = 1
        d.step(1000)
        # v^2 / (2 mu g), and a step's way of 1 mm
        assert d.q[0] == pytest.approx(1 / (2 * mu * 9.81), abs=1e-3)


def test_the_builder_makes_what_a_file_makes(box: abut.Model) -> None:
    s = abut.Scene("box", timestep=0.001)
    s.add_geom("floor", type="plane", size=(1, 1, 0.1), friction=0.5)
    b = s.add_body("box", pos=(0, 0, 0.05), free=True)
    s.add_geom("box", body=b, type="box", size=(0.05, 0.05, 0.05), mass=0.5, friction=0.5)
    made, read = abut.Data(s.compile()), abut.Data(box)
    for d in (made, read):
        d.v[:] = [1, 0.2, 0, 0, 0, 3]
        d.step(300)
    assert made.hash == read.hash


def test_a_scene_is_written_and_read(tmp_path: object) -> None:
    s = abut.Scene("arm", gravity=(0, 0, -5))
    upper = s.add_body("upper", pos=(0, 0, 1))
    s.add_joint(upper, "shoulder", type="hinge", axis=(0, 1, 0), range=(-1, 1), damping=0.1)
    s.add_geom(body="upper", type="capsule", size=(0.02, 0.2))
    s.add_position("shoulder", "servo", kp=10, kv=1, ctrl_range=(-1, 1))
    s.add_velocity("shoulder", "speed", kv=0.1)
    s.add_key("bent", q=[0.5])
    s.save(f"{tmp_path}/arm.xml")
    a, b = abut.Data(s.compile()), abut.Data(abut.load(f"{tmp_path}/arm.xml"))
    for d in (a, b):
        d.reset("bent")
        d.ctrl[:] = [0.3, 0]
        d.step(100)
    assert np.allclose(a.q, b.q, rtol=0, atol=1e-12)  # numbers are written in decimal


def test_meshes_from_vertices() -> None:
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * 0.1
    s = abut.Scene()
    s.add_mesh("cube", corners)
    b = s.add_body("cube", pos=(0, 0, 0.1), free=True)
    s.add_geom(body=b, type="mesh", mesh="cube", density=1000)
    s.add_geom(type="plane", size=(1, 1, 1))
    m = s.compile()
    assert m.body("cube").mass == pytest.approx(8.0, rel=1e-9)
    d = abut.Data(m)
    d.step(100)
    assert d.wrench("cube")[2] == pytest.approx(8 * 9.81, rel=1e-3)  # it settles by the depth of its patch


def test_strict_steps_and_broken_ones(data: abut.Data) -> None:
    data.applied[1, 0] = 1e308
    data.applied[1, 5] = 1e308
    with pytest.raises(abut.StepError) as caught:
        data.step(10)
    assert caught.value.step == 1 and caught.value.body == "box"
    assert np.isfinite(data.q).all() and data.time == 0
    data.applied[:] = 0
    data.step(5, strict=True)
    assert data.stat.status == "ok"

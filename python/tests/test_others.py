"""What comes from other packages: MuJoCo's models, trimesh's meshes, matplotlib's pictures."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import abut

from conftest import BOX, CART, SCENES


@pytest.mark.parametrize("name", ["box_on_plane", "arm_place", "pendulum", "gears", "insect"])
def test_a_model_of_mujoco_is_the_file(name: str) -> None:
    mujoco = pytest.importorskip("mujoco")
    path = str(SCENES / f"{name}.xml")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        read = abut.load(path)
        made = abut.from_mujoco(mujoco.MjModel.from_xml_path(path))
    assert made.body_names == read.body_names and made.joint_names == read.joint_names
    assert (made.nq, made.nv, made.ngeom, made.nu, made.nkey) == (read.nq, read.nv, read.ngeom, read.nu, read.nkey)
    # MuJoCo computes inertias by formulas of its own, equal up to rounding and meshes' volumes
    assert np.allclose(made.body_mass[1:], read.body_mass[1:], rtol=1e-6)
    assert np.allclose(made.q0, read.q0, atol=1e-12)
    a, b = abut.Data(made), abut.Data(read)
    for d in (a, b):
        d.set_contact("none")
        d.step(50)
    assert np.allclose(a.q, b.q, atol=1e-6)  # the same falling and swinging, inertias differing as above


def test_specs_and_refusals() -> None:
    mujoco = pytest.importorskip("mujoco")
    m = abut.from_mujoco(mujoco.MjSpec.from_string(CART))
    assert m.actuator_names == ("push", "turn")
    weld = BOX.replace("<keyframe>", '<equality><weld body1="box"/></equality><keyframe>')
    with pytest.raises(abut.SceneError, match="equality"):
        abut.from_mujoco(mujoco.MjModel.from_xml_string(weld))
    with pytest.raises(TypeError, match="MjSpec"):
        abut.from_mujoco("scene.xml")


def test_a_trimesh_is_a_mesh() -> None:
    trimesh = pytest.importorskip("trimesh")
    s = abut.Scene()
    s.add_mesh("ball", trimesh.creation.icosphere(subdivisions=2, radius=0.1))
    b = s.add_body("ball", pos=(0, 0, 1), free=True)
    s.add_geom(body=b, type="mesh", mesh="ball", density=1000)
    # the polyhedron is within 7 % of the ball's volume
    assert s.compile().body("ball").mass == pytest.approx(1000 * 4 / 3 * np.pi * 1e-3, rel=0.07)


def contact_of_box(data: abut.Data) -> object:
    data.step(100)
    return data.contacts[0]


def test_the_limit_surface_of_a_square(data: abut.Data) -> None:
    from abut import plot

    c = contact_of_box(data)
    force, torque = plot.limit_surface(c, mu=0.5)
    weight = 0.5 * 9.81
    assert force.max() == pytest.approx(0.5 * weight, rel=1e-3)
    # mean distance from the centre of a square of side a: a (sqrt 2 + log(1 + sqrt 2)) / 6; 0.1 %: the pieces
    mean = 0.1 * (np.sqrt(2) + np.log(1 + np.sqrt(2))) / 6
    assert torque.max() == pytest.approx(0.5 * weight * mean, rel=1e-3)


def test_a_patch_is_drawn(data: abut.Data) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from abut import plot

    c = contact_of_box(data)
    left, right = plot.patch(c, data.model)
    assert left.get_title() == "patch" and len(right.lines) == 2
    left.figure.canvas.draw()
    with pytest.raises(ValueError, match="mu"):
        plot.patch(c)
    c["polygon"] = np.zeros((0, 3))  # type: ignore[index]
    with pytest.raises(ValueError, match="no area"):
        plot.patch(c, mu=1)

"""A hundred ways to use it wrongly: each ends in a Python error that says what is wrong, never in a crash."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import abut

from conftest import BOX, CART

NAN, INF = float("nan"), float("inf")


def d(text: str = BOX) -> abut.Data:
    return abut.Data(abut.loads(text))


def m(text: str = BOX) -> abut.Model:
    return abut.loads(text)


def b(n: int = 3, text: str = BOX) -> abut.Batch:
    return abut.Batch(abut.loads(text), n, threads=1)


def s() -> abut.Scene:
    return abut.Scene()


def put(target: Any, at: Any, value: Any, then: Callable[[], Any]) -> None:
    target[at] = value
    then()


def set_(target: Any, name: str, value: Any) -> None:
    setattr(target, name, value)


def poisoned(name: str, value: float, at: int = 0, text: str = BOX) -> None:
    x = d(text)
    getattr(x, name).flat[at] = value
    x.step()


def zero_quaternion() -> None:
    x = d()
    x.q[3:] = 0
    x.step()


def poisoned_batch() -> None:
    x = b()
    x.v[1, 2] = NAN
    x.step()


def other_model_restore() -> None:
    d(CART).restore(d().save())


def other_contact_restore() -> None:
    x = d()
    state = x.save()
    x.set_contact("point-pgs")
    x.restore(state)


def damaged(change: Callable[[bytearray], Any]) -> None:
    x = d()
    x.step(10)
    state = bytearray(x.save())
    change(state)
    x.restore(bytes(state))


def flip(at: int) -> Callable[[bytearray], None]:
    def change(x: bytearray) -> None:
        x[at] ^= 255
    return change


def expand_nan() -> None:
    x = b()
    x.expand("body_mass")[0, 1] = NAN
    x.reset()


def closed_recorder() -> None:
    import tempfile

    from abut import _core

    with tempfile.TemporaryDirectory() as folder:
        x = d()
        r = _core.Recorder(folder + "/x/", x)
        r.close()
        r.sample(x)


def two_free_joints() -> None:
    x = s()
    body = x.add_body(free=True)
    x.add_joint(body, type="free")
    x.add_geom(body=body, size=(0.1,), type="sphere")
    x.compile()


def no_mass() -> None:
    x = s()
    x.add_body("ghost", free=True)
    x.compile()


def flat_mesh() -> None:
    x = s()
    x.add_mesh("flat", [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]])
    body = x.add_body(free=True)
    x.add_geom(body=body, type="mesh", mesh="flat")
    x.compile()


def same_name() -> None:
    x = s()
    x.add_body("a")
    x.add_body("a")
    x.compile()


def key_too_long() -> None:
    x = s()
    body = x.add_body(free=True)
    x.add_geom(body=body, size=(0.1,))
    x.add_key("k", q=[1.0] * 99)
    x.compile()


V, T, K, I, E = ValueError, TypeError, KeyError, IndexError, abut.SceneError
CASES: list[tuple[Callable[[], Any], type[Exception] | tuple[type[Exception], ...], str]] = [
    # files and texts
    (lambda: abut.load("nowhere.xml"), FileNotFoundError, "nowhere.xml"),
    (lambda: abut.load("/"), IsADirectoryError, "folder"),
    (lambda: abut.load(3), T, ""),  # type: ignore[arg-type]
    (lambda: abut.load(None), T, ""),  # type: ignore[arg-type]
    (lambda: abut.load(b"x"), T, "string"),  # type: ignore[arg-type]
    (lambda: abut.loads(3), T, "text"),  # type: ignore[arg-type]
    (lambda: abut.loads(b"<mujoco/>"), T, "text"),  # type: ignore[arg-type]
    (lambda: abut.loads(""), E, ""),
    (lambda: abut.loads("hello"), E, ""),
    (lambda: abut.loads("<mujoco>"), E, ""),
    (lambda: abut.loads("<nothing/>"), E, "root element"),
    (lambda: abut.loads("<mujoco><worldbody><geom type='box'/></worldbody></mujoco>"), E, ""),
    (lambda: abut.loads("<mujoco><worldbody><body><freejoint/></body></worldbody></mujoco>"), E, ""),
    (lambda: abut.loads("<mujoco><worldbody><geom type='mesh' mesh='m'/></worldbody></mujoco>"), E, ""),
    (lambda: abut.loads("<mujoco><asset><mesh file='m.stl'/></asset></mujoco>"), E, ""),
    (lambda: abut.loads("<mujoco><option timestep='-1'/></mujoco>"), E, ""),
    (lambda: abut.loads("<mujoco><worldbody><geom size='nan'/></worldbody></mujoco>"), E, ""),
    (lambda: abut.loads("\0" * 100), E, ""),
    # models
    (lambda: abut.Model(3, ("text", "")), T, "made by"),  # type: ignore[arg-type]
    (lambda: m().body("bax"), K, "did you mean 'box'"),
    (lambda: m().body(""), K, "body"),
    (lambda: m().body(7), I, "body 7"),
    (lambda: m().body(-3), I, "body"),
    (lambda: m().body(None), T, "string or an index"),  # type: ignore[arg-type]
    (lambda: m().body(1.5), T, "string or an index"),  # type: ignore[arg-type]
    (lambda: m().joint("nothing"), K, "there are: box"),
    (lambda: m().geom("nothing"), K, "floor"),
    (lambda: m().actuator("push"), K, "there are none"),
    (lambda: m().actuator(0), I, "actuator"),
    (lambda: m().key("low"), K, "high"),
    (lambda: m().field("geom_frictoin"), V, "did you mean 'geom_friction'"),
    (lambda: m().changed(geom_friction=[[1, 2]]), V, "shape"),
    (lambda: m().changed(geom_friction="high"), V, ""),
    (lambda: m().changed(body_mass=[0, NAN]), V, "not finite"),
    (lambda: m().changed(geom_size=np.ones((2, 3))), V, "cannot be changed"),
    (lambda: m().changed(mass=1), V, "no numbers called 'mass'"),
    (lambda: put(m().body_mass, 1, 2.0, lambda: None), V, "read-only"),
    (lambda: set_(m(), "nq", 3), AttributeError, "nq"),
    (lambda: m().changed(body_mass=[0, -1]), V, "mass"),
    (lambda: m().changed(body_mass=[0, 0]), V, "mass"),
    (lambda: m().changed(body_inertia=[[0, 0, 0], [1, 1, 0]]), V, "inertia"),
    (lambda: m().changed(geom_friction=-1), V, "friction"),
    (lambda: m().changed(timestep=0), V, "timestep"),
    (lambda: m().changed(joint_damping=1), V, "free joint"),
    (lambda: m(CART).changed(joint_damping=[-1, 0]), V, "damping"),
    # simulations
    (lambda: abut.Data(None), T, "abut.Model"),  # type: ignore[arg-type]
    (lambda: abut.Data("scene.xml"), T, "abut.Model"),  # type: ignore[arg-type]
    (lambda: abut.Data(), T, ""),  # type: ignore[call-arg]
    (lambda: d().step(-1), V, "-1 steps"),
    (lambda: d().step(1.5), T, ""),  # type: ignore[arg-type]
    (lambda: d().step("ten"), T, ""),  # type: ignore[arg-type]
    (lambda: d().step(None), T, ""),  # type: ignore[arg-type]
    (lambda: d().step(10**30), (T, OverflowError), ""),
    (lambda: d().reset("low"), V, "did you mean 'high'|there is only: high"),
    (lambda: d().reset(5), V, "keyframe 5"),
    (lambda: d().reset(-1), V, "keyframe -1"),
    (lambda: d().reset(1.5), T, "string or an index"),  # type: ignore[arg-type]
    (lambda: set_(d(), "q", [1, 2]), V, "q has 7 numbers, 2 were given"),
    (lambda: set_(d(), "q", [NAN] * 7), V, r"q\[0\] is not a finite"),
    (lambda: set_(d(), "q", "abcdefg"), V, ""),
    (lambda: set_(d(), "q", None), (V, T), ""),
    (lambda: set_(d(), "q", [1j] * 7), T, ""),
    (lambda: set_(d(), "v", np.zeros(7)), V, "v has 6 numbers"),
    (lambda: set_(d(), "ctrl", [1]), V, "ctrl has 0 numbers"),
    (lambda: set_(d(), "applied", np.zeros((3, 6))), V, "applied has 12"),
    (lambda: set_(d(), "pos", np.zeros((2, 3))), AttributeError, ""),
    (lambda: set_(d(), "h", 0), V, "above 0"),
    (lambda: set_(d(), "h", NAN), V, "above 0"),
    (lambda: set_(d(), "h", INF), V, "above 0"),
    (lambda: set_(d(), "h", "fast"), T, ""),
    (lambda: set_(d(), "time", NAN), V, "finite"),
    (lambda: set_(d(), "threads", 0), V, "0 threads"),
    (lambda: set_(d(), "threads", 100000), V, "100000 threads"),
    (lambda: put(d().q, 9, 0, lambda: None), I, ""),
    (lambda: put(d().applied, "box", 0, lambda: None), I, ""),
    (lambda: poisoned("q", NAN, 2), V, r"q\[2\] \(joint 'box' of body 'box'\) is not a finite"),
    (lambda: poisoned("v", INF, 4), V, r"v\[4\]"),
    (lambda: poisoned("ctrl", NAN, 1, CART), V, r"ctrl\[1\] \(actuator 'turn'\)"),
    (lambda: poisoned("applied", -INF, 8), V, r"applied\[1, 2\] \(body 'box'\)"),
    (zero_quaternion, V, "quaternion"),
    (lambda: d().set_contact("patsch"), V, "did you mean 'patch'"),
    (lambda: d().set_contact(""), V, "contact model"),
    (lambda: d().set_contact("patch", toleranse=1), V, "did you mean 'tolerance'"),
    (lambda: d().set_contact("patch", tolerance=NAN), V, "finite"),
    (lambda: d().set_contact("none", tolerance=1), V, "no parameter"),
    (lambda: d(CART).set_contact("ecp"), (E, V), "joints"),
    (lambda: d().set_contact(3), T, ""),  # type: ignore[arg-type]
    (lambda: d().restore(b""), V, "not a saved state"),
    (lambda: d().restore(b"x" * 1000), V, "not a saved state"),
    (lambda: d().restore("state"), T, "bytes"),  # type: ignore[arg-type]
    (lambda: d().restore(None), T, "bytes"),  # type: ignore[arg-type]
    (other_model_restore, V, "another scene"),
    (other_contact_restore, V, "contact model patch"),
    (lambda: damaged(flip(-1)), V, "damaged"),
    (lambda: damaged(flip(100)), V, "damaged"),
    (lambda: damaged(flip(8)), V, "version"),
    (lambda: damaged(lambda x: x.extend(b"more")), V, "damaged"),
    (lambda: damaged(lambda x: x.__delitem__(slice(200, None))), V, "damaged"),
    (lambda: d().body("lid"), K, "there is no body 'lid'"),
    (lambda: d().wrench("box", "table"), K, "table"),
    (lambda: d().wake(17), V, "body 17"),
    (lambda: d().outline(0, False), I, "contact"),
    (lambda: pickle.loads(pickle.dumps(d())[:-20]), Exception, ""),
    (closed_recorder, V, "closed"),
    # batches and rollouts
    (lambda: abut.Batch(m(), 0), V, "at least one"),
    (lambda: abut.Batch(m(), -5), V, "at least one"),
    (lambda: abut.Batch(m(), 2.5), T, ""),  # type: ignore[arg-type]
    (lambda: abut.Batch(None, 2), T, "abut.Model"),  # type: ignore[arg-type]
    (lambda: abut.Batch(m(), 2, threads=-1), V, "threads"),
    (lambda: b().reset([True, False]), V, "3 bools"),  # type: ignore[arg-type]
    (lambda: b().reset([1, 0, 1]), T, "bools"),  # type: ignore[arg-type]
    (lambda: b().reset(key="low"), V, "keyframe"),
    (lambda: b().step(-1), V, "-1 steps"),
    (lambda: b().expand("geom_size"), V, "cannot differ"),
    (lambda: b().expand("color"), V, "color"),
    (lambda: b().expand("contact.stiffnes"), V, "no parameter"),
    (expand_nan, V, "body_mass of world 0"),
    (poisoned_batch, V, r"world 1: v\[2\]"),
    (lambda: b().world(3), I, "world"),
    (lambda: b().save(-4), I, "world"),
    (lambda: b().restore(0, b"x"), V, "not a saved state"),
    (lambda: b().wrench("lid"), K, "lid"),
    (lambda: put(b().q, (0, 9), 1, lambda: None), I, ""),
    (lambda: put(b().q, 0, np.zeros(3), lambda: None), V, ""),
    (lambda: put(b().pos, 0, 1, lambda: None), V, "read-only"),
    (lambda: abut.rollout(m(), np.zeros((2, 5)), steps=1), V, r"\(n, 7\)"),
    (lambda: abut.rollout(m(), m().q0), V, "how many samples"),
    (lambda: abut.rollout(m(), m().q0, steps=-1), V, "samples"),
    (lambda: abut.rollout(m(), m().q0, steps=1, substeps=0), V, "samples"),
    (lambda: abut.rollout(m(), m().q0, np.zeros((1, 3, 2))), V, "controls"),
    (lambda: abut.rollout(m(CART), np.zeros((2, 4)), np.zeros((3, 5, 2))), V, "differ"),
    (lambda: abut.rollout(m(CART), np.zeros((2, 4)), np.full((2, 5, 2), NAN)), V, "not finite"),
    (lambda: abut.rollout(m(), np.full(7, NAN), steps=1), V, "run 0: q"),
    (lambda: abut.rollout(m(), m().q0, steps=1.5), T, "steps must be a whole number"),  # type: ignore[arg-type]
    (lambda: abut.rollout(m(), m().q0, steps="2"), T, "steps must be a whole number"),  # type: ignore[arg-type]
    (lambda: abut.rollout(m(), m().q0, steps=1, substeps=2.0), T, "substeps must be"),  # type: ignore[arg-type]
    (lambda: abut.rollout(m(), m().q0, steps=1, threads=-1), V, "-1 threads"),
    (lambda: abut.rollout(m(), m().q0, steps=1, threads=10**9), V, "1024"),
    (lambda: abut.rollout(m(), m().q0, steps=1, h=0), V, "h must be"),
    (lambda: abut.rollout(m(), m().q0, steps=1, h=NAN), V, "h must be"),
    (lambda: set_(d(), "h", "fast"), T, "h must be a number, not str"),
    (lambda: set_(d(), "time", None), T, "time must be a number, not NoneType"),
    (lambda: set_(d(), "q", None), V, "q has 7 numbers"),
    (lambda: set_(d(), "threads", 1.5), V, "whole number"),
    (lambda: set_(b(), "h", [1]), T, "h must be a number, not list"),
    (lambda: abut.rollout(m(), m().q0, steps=1, outputs=["colour"]), V, "no output 'colour'"),
    (lambda: abut.rollout(m(), m().q0, steps=1, contact="glue"), V, "glue"),
    (lambda: abut.rollout(m(), [b"state"], steps=1), V, "not a saved state"),
    (lambda: abut.rollout(m(), m().q0, steps=1, pairs=[("box", "lid")]), K, "lid"),
    (lambda: b().copy_world(0, d(CART)), V, "another model"),
    # scenes
    (lambda: abut.Scene(timestep=0), V, "timestep"),
    (lambda: abut.Scene(gravity=(0, 1)), V, "gravity needs 3"),
    (lambda: s().add_body(parent="arm"), K, "arm"),
    (lambda: s().add_body(parent=9), (E, V), ""),
    (lambda: s().add_body(parent=1.5), T, "string or an index"),  # type: ignore[arg-type]
    (lambda: s().add_body(pos=(0, 0)), V, "pos needs 3"),
    (lambda: s().add_body(quat=(0, 0, 0, 0)), V, "quaternion is zero"),
    (lambda: s().add_body(pos=(0, 0, NAN)), V, "not finite"),
    (lambda: s().add_body(mass=1), V, "together"),
    (lambda: s().add_body(mass=1, inertia=(1, 2)), V, "3 or 6"),
    (lambda: s().add_body(pos="abc"), V, "abc"),  # type: ignore[arg-type]
    (lambda: s().add_body(7), T, "name must be a text, not int"),  # type: ignore[arg-type]
    (lambda: s().add_geom(type="sphere", size=[None]), V, "size has a number"),  # type: ignore[list-item]
    (lambda: s().add_geom(type="sphere", size=(1,), mass="heavy"), T, "mass must be a number"),  # type: ignore[arg-type]
    (lambda: abut.Scene(5), T, "name must be a text"),  # type: ignore[arg-type]
    (lambda: abut.Scene(timestep="fast"), (T, V), "timestep"),  # type: ignore[arg-type]
    (lambda: s().add_joint(0, type="rail"), K, "rail"),
    (lambda: s().add_joint(s().add_body(), range=(1,)), (V, E), ""),
    (lambda: s().add_geom(type="cone"), K, "cone"),
    (lambda: s().add_geom(size=(NAN,)), V, "not finite"),
    (lambda: s().add_geom(type="mesh", mesh="m"), K, "mesh"),
    (lambda: s().add_geom(rgba=(1, 1)), V, "rgba needs 4"),
    (lambda: s().add_mesh("m"), V, "vertices or a file"),
    (lambda: s().add_mesh("m", np.zeros((3, 2))), V, r"\(n, 3\)"),
    (lambda: s().add_mesh("m", np.full((4, 3), NAN)), V, "finite"),
    (lambda: s().add_mesh("m", np.eye(3), [[0, 1, 7]]), V, "vertex 7"),
    (lambda: s().add_mesh("m", np.eye(3), [[0, 1]]), V, r"\(m, 3\)"),
    (lambda: s().add_mesh("m", file="nowhere.stl"), (E, V), "nowhere.stl"),
    (lambda: s().add_motor("wheel"), K, "wheel"),
    (lambda: s().exclude("a", "b"), K, "a"),
    (lambda: s().save("/nowhere/at/all.xml"), E, "nowhere"),
    (lambda: s().add_geom(body=77), (E, V), ""),
    (lambda: s().add_geom(type="mesh", mesh=5), (E, V), ""),
    (lambda: s().add_motor(9), (E, V), ""),
    (lambda: s().add_pair(3, 4, friction=(1, 1, 0, 0, 0)), (E, V), ""),
    (lambda: s().exclude(3, 4), (E, V), ""),
    (lambda: d().copy_from(d(CART)), V, "another model"),
    (two_free_joints, E, ""),
    (no_mass, E, "mass"),
    (flat_mesh, E, "flat"),
    (same_name, E, "a"),
    (key_too_long, E, ""),
]


def test_there_are_a_hundred() -> None:
    assert len(CASES) >= 100


@pytest.mark.parametrize("case", range(len(CASES)))
def test_misuse_is_told(case: int) -> None:
    use, error, says = CASES[case]
    with pytest.raises(error, match=says or None) as caught:
        use()
    assert str(caught.value)

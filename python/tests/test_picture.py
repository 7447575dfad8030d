"""Pictures show things where they are."""

from __future__ import annotations

import numpy as np
import pytest

import abut

BALL = """<mujoco><worldbody>
  <body name="ball"><freejoint/><geom type="sphere" size="0.1" rgba="1 0 0 1"/></body>
  <body name="wall" pos="0 5 0"><freejoint/><geom type="box" size="2 0.1 2" rgba="0 0 1 1"/></body>
</worldbody></mujoco>"""
VIEW = {"eye": (0, -1, 0), "target": (0, 0, 0), "fovy": 0.5}


def coloured(picture: np.ndarray, channel: int) -> np.ndarray:
    other = [k for k in range(3) if k != channel]
    return (picture[..., channel] > 60) & (picture[..., other].max(axis=2) < 20)


def test_a_ball_is_a_disc_of_the_right_size_in_the_middle() -> None:
    p = abut.render(abut.Data(abut.loads(BALL)), 300, 300, **VIEW)  # type: ignore[arg-type]
    assert p.shape == (300, 300, 3) and p.dtype == np.uint8
    red = coloured(p, 0)
    # its outline is seen under asin(r / distance); 32 corners stand for the circle (0.6 % of its area), and pixels at the rim are mixed
    radius = np.tan(np.arcsin(0.1)) * 150 / np.tan(0.25)
    assert red.sum() == pytest.approx(np.pi * radius**2, rel=0.04)
    rows, columns = np.nonzero(red)
    assert rows.mean() == pytest.approx(149.5, abs=1) and columns.mean() == pytest.approx(149.5, abs=1)
    assert coloured(p, 2)[5, 5]  # the wall behind it fills the rest
    assert np.array_equal(p, abut.render(abut.Data(abut.loads(BALL)), 300, 300, **VIEW))  # type: ignore[arg-type]


def test_what_moves_moves_in_the_picture() -> None:
    d = abut.Data(abut.loads(BALL))
    d.q[0], d.q[2] = 0.1, 0.05  # to the right, and up
    rows, columns = np.nonzero(coloured(abut.render(d, 300, 300, **VIEW), 0))  # type: ignore[arg-type]
    scale = 150 / np.tan(0.25)
    assert columns.mean() == pytest.approx(150 + 0.1 * scale, abs=3) and rows.mean() == pytest.approx(150 - 0.05 * scale, abs=3)
    d.q[1] = 5.5  # behind the wall
    assert coloured(abut.render(d, 300, 300, **VIEW), 0).sum() == 0  # type: ignore[arg-type]


def test_all_moving_bodies_are_in_the_picture_by_default() -> None:
    d = abut.Data(abut.loads(BALL))
    for shift in (0.0, 100.0):
        d.q[[0, 7]] += shift
        p = abut.render(d)
        assert coloured(p, 0).sum() > 5 and coloured(p, 2).sum() > 1000


def test_views_from_anywhere_do() -> None:
    d = abut.Data(abut.loads(BALL))
    for eye in ((0, 0, 5), (0, 0, -5), (0, 0.01, 0), (0, 5, 0), (1e6, 0, 0)):
        assert abut.render(d, 40, 30, eye=eye).shape == (30, 40, 3)
    assert abut.render(d, 1, 1).shape == (1, 1, 3)


@pytest.mark.parametrize(
    "wrong", [{"width": 0}, {"height": 10**6}, {"width": 2.5}, {"eye": (1, 2)}, {"eye": (0, 0, 0), "target": (0, 0, 0)}, {"fovy": 4.0}, {"eye": (np.nan, 0, 0)}]
)
def test_impossible_pictures_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError):
        abut.render(abut.Data(abut.loads(BALL)), **wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="abut.Data"):
        abut.render(3)  # type: ignore[arg-type]


def test_environments_draw_themselves() -> None:
    gymnasium = pytest.importorskip("gymnasium")
    from abut._register import TASKS

    for name in TASKS:
        env = gymnasium.make(f"abut/{name}-v0", render_mode="rgb_array")
        env.reset(seed=1)
        before = env.render()
        goal = (before == (40, 150, 60)).all(axis=2).sum()
        env.step(np.ones(env.action_space.shape, np.float32))
        after = env.render()
        assert before.shape == (360, 480, 3) and goal > 20 and (before != after).any(axis=2).sum() > 20, name
    vector = gymnasium.make_vec("abut/PushT-v0", 2, render_mode="rgb_array")
    vector.reset(seed=1)
    a, b = vector.render()
    assert (a != b).any()
    assert gymnasium.make("abut/PushT-v0").unwrapped.render() is None
    with pytest.raises(ValueError, match="rgb_array"):
        abut.gym.PushTEnv(render_mode="ansi")

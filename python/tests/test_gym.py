"""The environments keep gymnasium's rules, and episodes depend on the seed alone."""

from __future__ import annotations

import subprocess
import sys
import warnings

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")

import abut
from abut._register import TASKS
from gymnasium.utils.env_checker import check_env

NAMES = [f"abut/{name}-v0" for name in TASKS]


@pytest.mark.parametrize("name", NAMES)
def test_gymnasium_finds_nothing_to_say(name: str) -> None:
    env = gymnasium.make(name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped)
    env.close()


@pytest.mark.parametrize("name", NAMES)
def test_a_vector_is_its_worlds(name: str) -> None:
    """World i of a vector with seed 7 is the single environment with seed 7 + i, to the bit, whatever the threads."""
    steps, n = 30, 3
    rng = np.random.default_rng(0)
    actions = rng.uniform(-1, 1, (steps, n, gymnasium.make(name).action_space.shape[0])).astype(np.float32)
    vectors = [gymnasium.make_vec(name, n, threads=t) for t in (1, 2)]
    seen = [[v.reset(seed=7)[0]] for v in vectors]
    over = np.zeros(n, bool)
    alive = [np.ones(n, bool)]
    for a in actions:
        results = [v.step(a) for v in vectors]
        for k in (0, 1):
            seen[k].append(results[k][0])
        assert np.array_equal(results[0][1], results[1][1])
        over = over | results[0][2] | results[0][3]
        alive.append(~over)
    assert np.array_equal(seen[0], seen[1])
    for i in range(n):
        env = gymnasium.make(name)
        obs, _ = env.reset(seed=7 + i)
        assert np.array_equal(obs, seen[0][0][i])
        for t in range(steps):
            obs, _, end, cut, _ = env.step(actions[t, i])
            assert np.array_equal(obs, seen[0][t + 1][i])
            if end or cut:
                break


@pytest.mark.parametrize("name", NAMES)
def test_an_ended_world_is_reset_by_the_next_step(name: str) -> None:
    v = gymnasium.make_vec(name, 2, max_episode_steps=3)
    v.reset(seed=1)
    zero = np.zeros(v.action_space.shape, np.float32)
    for _ in range(3):
        _, _, end, cut, _ = v.step(zero)
    assert (end | cut).all()
    obs, reward, end, cut, _ = v.step(zero)
    assert not (end | cut).any() and (reward == 0).all()
    assert np.allclose(v.unwrapped.batch.time, 0)
    _, _, end, cut, _ = v.step(zero)
    assert not cut.any()


def test_the_puck_stops_where_friction_says() -> None:
    """Pushed once, it goes v^2 / (2 mu g); the reward at rest is that of its distance from the target."""
    env = gymnasium.make("abut/SlideToTarget-v0").unwrapped
    obs, _ = env.reset(seed=4)
    mu = float(obs[7])
    env.batch.v[0, 0] = 1.5
    env.batch.q[0, 0] = env.task.zone  # pushes have no effect any more
    end = False
    for _ in range(200):
        obs, reward, end, _, info = env.step(np.ones(2, np.float32))
        if end:
            break
    assert end
    way = float(env.batch.q[0, 0]) - env.task.zone
    assert way == pytest.approx(1.5**2 / (2 * mu * 9.81), abs=0.005)  # a step's way of 3 mm
    far = float(np.linalg.norm(env.task.target[0] - env.batch.q[0, :2]))
    assert reward == pytest.approx(-0.02 * far + max(0.0, 1 - far / 0.25), abs=1e-9)
    assert info["success"] == (far < 0.05)


def test_success_is_seen_where_it_is() -> None:
    env = gymnasium.make("abut/PushT-v0").unwrapped
    env.reset(seed=0)
    a = env.task.goal[2]
    env.batch.q[0, :7] = [0.002, 0, 0.02, np.cos(a / 2), 0, 0, np.sin(a / 2)]
    env.batch.q[0, 7:9] = 0.2
    _, reward, end, _, info = env.step(np.zeros(2, np.float32))
    assert info["success"] and end and reward > 0.9


@pytest.mark.parametrize("code", [
    "import abut, gymnasium; gymnasium.make('abut/PushT-v0')",
    "import gymnasium, abut; gymnasium.make('abut/PushT-v0')",
    "import gymnasium; gymnasium.make('abut:abut/PushT-v0')",
    "import abut, importlib.util; importlib.util.find_spec('gymnasium'); import gymnasium; gymnasium.make('abut/PushT-v0')",
    "import abut, gymnasium, importlib.resources; list(importlib.resources.files('gymnasium').iterdir()); gymnasium.make('abut/PegInHole-v0')",
    "import abut.gym; import gymnasium; gymnasium.make_vec('abut/Stack-v0', 2)",
])
def test_environments_are_registered_in_any_order(code: str) -> None:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr

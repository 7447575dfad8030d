"""What the environments share: many worlds in one Batch, episodes, rewards; as one environment and as a vector of them."""

from __future__ import annotations

from typing import Any, ClassVar, cast

import gymnasium
import numpy as np
from gymnasium.utils import seeding
from numpy.typing import ArrayLike, NDArray

import abut
from abut._picture import mark, render

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]


class Task:
    """One kind of environment. Functions work on all worlds of a batch at once; rows are worlds."""

    nobs: ClassVar[int]
    nact: ClassVar[int]
    substeps: ClassVar[int] = 10
    """Steps of the simulation per step of the environment."""
    eye: ClassVar[tuple[float, float, float]] = (0.25, -0.5, 0.4)
    look_at: ClassVar[tuple[float, float, float]] = (0.0, 0.0, 0.08)
    """Where pictures are taken from, and of what [m]."""

    def __init__(self, n: int, threads: int) -> None:
        self.n = n
        self.batch = abut.Batch(self.model(), n, threads)
        self.action = np.zeros((n, self.nact))

    @staticmethod
    def scene() -> abut.Scene:
        raise NotImplementedError

    @classmethod
    def model(cls) -> abut.Model:
        if cls not in _compiled:
            _compiled[cls] = cls.scene().compile()
        return _compiled[cls]

    def begin(self, i: int, rng: np.random.Generator) -> None:
        """World i was reset; what an episode draws at random goes in here."""
        raise NotImplementedError

    def act(self, action: Array) -> None:
        """From actions in [-1, 1] to controls and forces."""
        raise NotImplementedError

    def observe(self) -> Array:
        raise NotImplementedError

    def judge(self) -> tuple[Array, Bools, Bools]:
        """Reward, success, and whether the episode ends."""
        raise NotImplementedError

    def goal_outline(self, i: int) -> Array:
        """Points (n, 3) that show the goal of world i in pictures."""
        return np.zeros((0, 3))

    # --- the same for all

    def picture(self, i: int) -> NDArray[np.uint8]:
        view: dict[str, Any] = {"eye": self.eye, "target": self.look_at, "fovy": 0.7}
        rgb = render(self.batch.world(i), *SIZE, **view)
        mark(rgb, self.goal_outline(i), color=(40, 150, 60), **view)
        return rgb

    def reset(self, mask: Bools, rng: list[np.random.Generator]) -> None:
        self.batch.reset(mask)
        for i in np.flatnonzero(mask):
            self.begin(int(i), rng[i])
        self.batch.forward()

    def step(self, action: Array, alive: Bools) -> tuple[Array, Bools, Bools]:
        self.action = np.clip(np.where(alive[:, None], action, 0), -1, 1)
        self.act(self.action)
        self.batch.step(self.substeps)
        reward, success, end = self.judge()
        broken = self.batch.status == 2  # a step that broke down ends the episode
        return np.where(alive & ~broken, reward, 0.0), success & ~broken, (end | broken) & alive

    def rows(self) -> NDArray[np.float32]:
        """Observations, held in the space."""
        return np.clip(np.nan_to_num(self.observe()), -BOUND, BOUND).astype(np.float32)


SIZE = (480, 360)
"""Width and height of pictures."""

BOUND = 20.0
"""No position [m], velocity [m/s] or other number of an observation is larger."""


def outline(corners: ArrayLike, closed: bool = True) -> Array:
    """Points along the edges of a polygon (n, 3), 2 mm apart."""
    at = np.asarray(corners, float)
    ends = np.roll(at, -1, axis=0) if closed else at[1:]
    return np.concatenate([a + (b - a) * np.linspace(0, 1, 2 + int(np.linalg.norm(b - a) / 0.002))[:, None] for a, b in zip(at, ends)])


_compiled: dict[type[Task], abut.Model] = {}


def _known_mode(mode: str | None) -> str | None:
    if mode not in (None, "rgb_array"):
        raise ValueError(f"there is no render_mode {mode!r}; there is 'rgb_array'")
    return mode


def _space(n: int, bound: float) -> gymnasium.Space[NDArray[np.float32]]:
    return cast(gymnasium.Space[NDArray[np.float32]], gymnasium.spaces.Box(-bound, bound, (n,), np.float32))


class TaskEnv(gymnasium.Env[NDArray[np.float32], NDArray[np.float32]]):
    """One world."""

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 20}
    task_type: ClassVar[type[Task]]

    def __init__(self, render_mode: str | None = None) -> None:
        self.task = self.task_type(1, threads=1)
        self.observation_space = _space(self.task.nobs, BOUND)
        self.action_space = _space(self.task.nact, 1.0)
        self.render_mode = _known_mode(render_mode)

    @property
    def batch(self) -> abut.Batch:
        return self.task.batch

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[NDArray[np.float32], dict[str, Any]]:
        super().reset(seed=seed)
        self.task.reset(np.ones(1, bool), [self.np_random])
        return self.task.rows()[0], {"success": False}

    def step(self, action: NDArray[np.float32]) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        reward, success, end = self.task.step(np.asarray(action, float).reshape(1, -1), np.ones(1, bool))
        return self.task.rows()[0], float(reward[0]), bool(end[0]), False, {"success": bool(success[0])}

    def render(self) -> NDArray[np.uint8] | None:
        """The world as a picture (360, 480, 3), its goal outlined; with render_mode "rgb_array"."""
        return None if self.render_mode is None else self.task.picture(0)


class TaskVectorEnv(gymnasium.vector.VectorEnv[NDArray[np.float32], NDArray[np.float32], Any]):
    """Many worlds, stepped in one call. A world whose episode has ended is reset by the next step (autoreset NEXT_STEP)."""

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 20, "autoreset_mode": gymnasium.vector.AutoresetMode.NEXT_STEP}
    task_type: ClassVar[type[Task]]

    def __init__(self, num_envs: int = 1, max_episode_steps: int | None = None, threads: int = 0, render_mode: str | None = None) -> None:
        self.num_envs = num_envs
        self.render_mode = _known_mode(render_mode)
        self.task = self.task_type(num_envs, threads)
        self.max_episode_steps = max_episode_steps
        self.single_observation_space = _space(self.task.nobs, BOUND)
        self.single_action_space = _space(self.task.nact, 1.0)
        self.observation_space = gymnasium.vector.utils.batch_space(self.single_observation_space, num_envs)
        self.action_space = gymnasium.vector.utils.batch_space(self.single_action_space, num_envs)
        self._rng = [seeding.np_random(None)[0] for _ in range(num_envs)]
        self._length = np.zeros(num_envs, int)
        self._over = np.zeros(num_envs, bool)

    @property
    def batch(self) -> abut.Batch:
        return self.task.batch

    def reset(self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None) -> tuple[NDArray[np.float32], dict[str, Any]]:
        seeds: list[int | None] = [None] * self.num_envs
        if isinstance(seed, (int, np.integer)):
            seeds = [int(seed) + i for i in range(self.num_envs)]
        elif seed is not None:
            seeds = list(seed)
        if len(seeds) != self.num_envs:
            raise ValueError(f"{len(seeds)} seeds for {self.num_envs} worlds")
        for i, s in enumerate(seeds):
            if s is not None:
                self._rng[i] = seeding.np_random(s)[0]
        mask = np.ones(self.num_envs, bool)
        if options and "reset_mask" in options:
            mask = np.asarray(options["reset_mask"], bool)
        self._begin(mask)
        return self.task.rows(), {"success": np.zeros(self.num_envs, bool)}

    def _begin(self, mask: Bools) -> None:
        self.task.reset(mask, self._rng)
        self._length[mask] = 0
        self._over[mask] = False

    def step(self, actions: NDArray[np.float32]) -> tuple[NDArray[np.float32], Array, Bools, Bools, dict[str, Any]]:
        alive = ~self._over
        reward, success, end = self.task.step(np.asarray(actions, float).reshape(self.num_envs, -1), alive)
        self._length[alive] += 1
        cut = np.zeros(self.num_envs, bool)
        if self.max_episode_steps is not None:
            cut = alive & (self._length >= self.max_episode_steps)
        again = self._over.copy()
        self._over = end | cut
        if again.any():
            self._begin(again)
            self._over[again] = False
        return self.task.rows(), reward, end, cut, {"success": success & alive}

    def render(self) -> tuple[NDArray[np.uint8], ...] | None:
        """A picture of each world."""
        return None if self.render_mode is None else tuple(self.task.picture(i) for i in range(self.num_envs))

"""The five tasks. Lengths in m, forces in N; actions are in [-1, 1]."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

import abut

from ._task import Array, Bools, Task, outline

WOOD, STEEL, MARK = (0.8, 0.6, 0.4, 1), (0.6, 0.6, 0.65, 1), (0.3, 0.7, 0.4, 1)


def _angle(q: Array) -> Array:
    """Turn about z of quaternions (n, 4)."""
    w, x, y, z = q.T
    return np.asarray(np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)))


def _wrapped(angle: Array) -> Array:
    return np.asarray((angle + np.pi) % (2 * np.pi) - np.pi)


class PushT(Task):
    """A T lies on a table; a round finger pushes it to the pose (0, 0, -45 degrees).

    Action (2): velocity of the finger, 0.3 m/s at 1. Observation (13): finger x, y; T x, y, cos and sin of its angle to the
    goal; velocity of finger (2) and T (3); distance of the finger to the T (2). Reward per step: minus the distance [m] of the T
    from its goal, minus 0.1 times its angle to the goal [rad], minus 0.1 times the distance of finger and T; 1 at success. Success,
    which ends the episode: within 10 mm and 0.1 rad.
    """

    nobs, nact, substeps = 13, 2, 25
    eye, look_at = (0.0, -0.45, 0.55), (0.0, 0.0, 0.0)
    goal = np.array([0.0, 0.0, -np.pi / 4])
    speed = 0.3

    @staticmethod
    def scene() -> abut.Scene:
        s = abut.Scene("push_t", timestep=0.002)
        s.add_geom("table", type="plane", size=(0.5, 0.5, 0.1), friction=0.4)
        t = s.add_body("t", pos=(0, 0, 0.02), free=True)
        s.add_geom("bar", body=t, type="box", size=(0.06, 0.015, 0.02), pos=(0, 0.0225, 0), mass=0.2, friction=0.4, rgba=WOOD)
        s.add_geom("stem", body=t, type="box", size=(0.015, 0.045, 0.02), pos=(0, -0.0375, 0), mass=0.15, friction=0.4, rgba=WOOD)
        rail = s.add_body("rail", pos=(0, 0, 0.025), mass=0.1, inertia=(1e-4, 1e-4, 1e-4), gravity=False)
        s.add_joint(rail, "x", type="slide", axis=(1, 0, 0))
        finger = s.add_body("finger", parent="rail", gravity=False)
        s.add_joint(finger, "y", type="slide", axis=(0, 1, 0))
        s.add_geom("finger", body=finger, type="cylinder", size=(0.012, 0.02), mass=0.1, friction=0.4, rgba=STEEL)
        s.add_velocity("x", "vx", kv=20)
        s.add_velocity("y", "vy", kv=20)
        return s

    def begin(self, i: int, rng: np.random.Generator) -> None:
        b = self.batch
        x, y, a = rng.uniform(-0.12, 0.12), rng.uniform(-0.12, 0.12), rng.uniform(-np.pi, np.pi)
        b.q[i, :7] = [x, y, 0.02, np.cos(a / 2), 0, 0, np.sin(a / 2)]
        away = rng.uniform(0, 2 * np.pi)  # the finger starts clear of the T
        b.q[i, 7:9] = [x + 0.14 * np.cos(away), y + 0.14 * np.sin(away)]

    def act(self, action: Array) -> None:
        self.batch.ctrl[:] = self.speed * action

    def goal_outline(self, i: int) -> Array:
        t = np.array([[-60, 37.5], [60, 37.5], [60, 7.5], [15, 7.5], [15, -82.5], [-15, -82.5], [-15, 7.5], [-60, 7.5]]) / 1000
        c, s = np.cos(self.goal[2]), np.sin(self.goal[2])
        return outline(np.column_stack([t @ np.array([[c, s], [-s, c]]) + self.goal[:2], np.zeros(len(t))]))

    def _error(self) -> tuple[Array, Array]:
        b = self.batch
        return b.q[:, :2] - self.goal[:2], _wrapped(_angle(b.quat[:, 1]) - self.goal[2])

    def observe(self) -> Array:
        b = self.batch
        place, angle = self._error()
        turn = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        return np.concatenate([b.q[:, 7:9], place, turn, b.v[:, 6:8], b.v[:, :2], b.v[:, 5:6], b.pos[:, 1, :2] - b.q[:, 7:9]], axis=1)

    def judge(self) -> tuple[Array, Bools, Bools]:
        place, angle = self._error()
        far = np.linalg.norm(place, axis=1)
        finger = np.linalg.norm(self.batch.q[:, 7:9] - self.batch.pos[:, 1, :2], axis=1)
        success = (far < 0.01) & (np.abs(angle) < 0.1)
        return -far - 0.1 * np.abs(angle) - 0.1 * finger + success, success, success


class SlideToTarget(Task):
    """A puck is pushed while it is in the start zone (x < 0.15) and then slides on its own; it is to stop at a target.

    Action (2): force on the puck, 6 N at 1; beyond the zone it has no effect. Observation (9): puck x, y; velocity (3: x, y and
    spin); target relative to the puck (2); friction coefficient; 1 while in the zone. Each episode draws the target (0.3 to 0.8 m
    ahead) and the friction (0.15 to 0.4). Reward: minus 0.02 times the distance from the target [m] per step, and when the
    puck has come to rest beyond the zone, which ends the episode, 1 - distance / 0.25 (at least 0). Success: at rest within 50 mm.
    """

    nobs, nact, substeps = 9, 2, 10
    eye, look_at = (0.35, -0.9, 0.8), (0.35, 0.0, 0.0)
    force, zone = 6.0, 0.15

    def __init__(self, n: int, threads: int) -> None:
        super().__init__(n, threads)
        self.friction = self.batch.expand("geom_friction")
        self.target = np.zeros((n, 2))

    @staticmethod
    def scene() -> abut.Scene:
        s = abut.Scene("slide_to_target", timestep=0.002)
        s.add_geom("table", type="plane", size=(1, 0.5, 0.1), friction=0.3)
        puck = s.add_body("puck", pos=(0, 0, 0.01), free=True)
        s.add_geom("puck", body=puck, type="box", size=(0.03, 0.03, 0.01), mass=0.2, friction=0.3, rgba=WOOD)
        return s

    def reset(self, mask: Bools, rng: list[np.random.Generator]) -> None:
        for i in np.flatnonzero(mask):
            self.friction[i, :, 0] = rng[i].uniform(0.15, 0.4)
        super().reset(mask, rng)

    def begin(self, i: int, rng: np.random.Generator) -> None:
        self.target[i] = [rng.uniform(0.3, 0.8), rng.uniform(-0.2, 0.2)]

    def goal_outline(self, i: int) -> Array:
        a = np.linspace(0, 2 * np.pi, 40)
        ring = np.stack([self.target[i, 0] + 0.05 * np.cos(a), self.target[i, 1] + 0.05 * np.sin(a), 0 * a], axis=1)
        return np.concatenate([outline(ring), outline([[self.zone, -0.3, 0], [self.zone, 0.3, 0]], closed=False)])

    def _in_zone(self) -> Bools:
        return np.asarray(self.batch.q[:, 0] < self.zone)

    def act(self, action: Array) -> None:
        self.batch.applied[:, 1, :2] = self.force * action * self._in_zone()[:, None]

    def observe(self) -> Array:
        b = self.batch
        zone = self._in_zone().astype(float)
        return np.concatenate(
            [b.q[:, :2], b.v[:, :2], b.v[:, 5:6], self.target - b.q[:, :2], self.friction[:, 1, :1], zone[:, None]], axis=1)

    def judge(self) -> tuple[Array, Bools, Bools]:
        b = self.batch
        far = np.linalg.norm(self.target - b.q[:, :2], axis=1)
        rest = ~self._in_zone() & (np.linalg.norm(b.v[:, :3], axis=1) < 1e-3)
        reward = -0.02 * far + np.where(rest, np.maximum(0, 1 - far / 0.25), 0)
        return reward, rest & (far < 0.05), rest


class _Gripper(Task):
    """A hand on three slides (x, y, z) with two flat fingers. The block it holds is the body `block`.

    Action (4): velocity of the hand, 0.2 m/s at 1 (3), and the fingers: they open while the last one is above 0.
    """

    nact, substeps = 4, 25
    speed, grip = 0.2, 0.004

    def __init__(self, n: int, threads: int) -> None:
        super().__init__(n, threads)
        m = self.batch.model
        self.hand = np.array([m.joint(name).q.start for name in ("hand_x", "hand_y", "hand_z")])
        self.fingers = np.array([m.joint(name).q.start for name in ("left", "right")])
        self.block = m.index("body", "block")
        self.free = m.joint("block").q.start
        self.start = np.array([0.0, 0.0, 0.0])

    @staticmethod
    def add_gripper(s: abut.Scene, half: tuple[float, float, float], height: float, mass: float) -> None:
        """A block with these half lengths between the fingers, its centre at this height."""
        wrist = s.add_body("wrist", pos=(0, 0, height + half[2] + 0.03), mass=0.2, inertia=(1e-3, 1e-3, 1e-3), gravity=False)
        for axis, name in enumerate(("hand_x", "hand_y", "hand_z")):
            s.add_joint(wrist, name, type="slide", axis=np.eye(3)[axis])
            s.add_position(name, name, kp=4000, kv=250)
        for side, name in ((-1, "left"), (1, "right")):
            f = s.add_body(name, parent="wrist", pos=(0, side * (half[1] + 0.005), -half[2] - 0.03), gravity=False)
            s.add_joint(f, name, type="slide", axis=(0, -side, 0), range=(-0.05, 0.02))
            s.add_geom(name, body=f, type="box", size=(0.012, 0.005, 0.012), pos=(0, 0, max(0.0, half[2] - 0.012)), mass=0.05, friction=1.0,
                       rgba=STEEL)
            s.add_position(name, name, kp=2000, kv=40)
        block = s.add_body("block", pos=(0, 0, height))
        s.add_joint(block, "block", type="free")
        s.add_geom("block", body=block, type="box", size=half, mass=mass, friction=0.6, rgba=WOOD)

    def begin(self, i: int, rng: np.random.Generator) -> None:
        b = self.batch
        b.ctrl[i, :3] = b.q[i, self.hand]
        b.ctrl[i, 3:5] = self.grip

    def shift(self, i: int, by: Array) -> None:
        """Moves hand and block."""
        b = self.batch
        b.q[i, self.hand] += by
        b.q[i, self.free : self.free + 3] += by

    def act(self, action: Array) -> None:
        b = self.batch
        step = self.speed * action[:, :3] * self.substeps * b.h
        # the servo's target runs ahead of the hand by no more than it can follow
        b.ctrl[:, :3] = np.clip(b.ctrl[:, :3] + step, b.q[:, self.hand] - 0.02, b.q[:, self.hand] + 0.02)
        b.ctrl[:, 3:5] = np.where(action[:, 3:4] > 0, -0.02, self.grip)

    def _open(self) -> Bools:
        return np.asarray((self.batch.q[:, self.fingers] < -0.005).all(axis=1))

    def _still(self) -> Bools:
        return np.asarray(np.abs(self.batch.twist[:, self.block]).max(axis=1) < 0.01)

    half: ClassVar[tuple[float, float, float]]

    def _target(self) -> Array:
        """Where the block is to be, per world."""
        raise NotImplementedError

    def goal_outline(self, i: int) -> Array:
        x, y, z = self._target()[i]
        a, b, c = self.half
        return outline([[x - a, y - b, z - c], [x + a, y - b, z - c], [x + a, y + b, z - c], [x - a, y + b, z - c]])

    def _state(self, target: Array) -> Array:
        """Hand, fingers, block relative to its target, the block's turn and velocity: 3 + 2 + 3 + 4 + 6."""
        b = self.batch
        return np.concatenate(
            [b.q[:, self.hand], b.q[:, self.fingers], b.pos[:, self.block] - target, b.quat[:, self.block], b.twist[:, self.block]], axis=1)


class PlaceOnEdge(_Gripper):
    """A block in a gripper is to be put on the edge of a board 30 mm thick, and to stay there.

    Action (4): velocity of the hand (3), open (1). Observation (18): hand (3), fingers (2), block relative to its place on the edge (3),
    its quaternion (4), its velocity and spin (6). Reward per step: minus the distance of the block from its place [m]; 1 at
    success. Success, which ends the episode: fingers open, block at rest within 10 mm of the height and 15 mm across the edge.
    The episode also ends, with -1, when the block is 50 mm below the edge.
    """

    nobs = 18
    top, half = 0.1, (0.025, 0.02, 0.02)

    @staticmethod
    def scene() -> abut.Scene:
        s = abut.Scene("place_on_edge", timestep=0.002)
        s.add_geom("floor", type="plane", size=(0.5, 0.5, 0.1))
        s.add_geom("board", type="box", size=(0.015, 0.15, PlaceOnEdge.top / 2), pos=(0, 0, PlaceOnEdge.top / 2), friction=0.6, rgba=MARK)
        _Gripper.add_gripper(s, PlaceOnEdge.half, PlaceOnEdge.top + 0.08, 0.1)
        return s

    def begin(self, i: int, rng: np.random.Generator) -> None:
        self.shift(i, np.array([rng.uniform(-0.08, 0.08), rng.uniform(-0.05, 0.05), rng.uniform(-0.02, 0.03)]))
        super().begin(i, rng)

    def _target(self) -> Array:
        at = self.batch.pos[:, self.block].copy()
        at[:, 0], at[:, 2] = 0, self.top + self.half[2]
        return at

    def observe(self) -> Array:
        return self._state(self._target())

    def judge(self) -> tuple[Array, Bools, Bools]:
        error = self.batch.pos[:, self.block] - self._target()
        placed = (np.abs(error[:, 2]) < 0.01) & (np.abs(error[:, 0]) < 0.015)
        success = placed & self._open() & self._still()
        fallen = error[:, 2] < -0.05
        return -np.linalg.norm(error, axis=1) + success - 1.0 * fallen, success, success | fallen


class Stack(_Gripper):
    """A block in a gripper is to be put on another block, and to stay there.

    Action (4): velocity of the hand (3), open (1). Observation (21): hand (3), fingers (2), block relative to its place on the lower
    block (3), its quaternion (4), its velocity and spin (6), the lower block (3). Reward per step: minus the distance of the block from
    its place [m]; 1 at success. Success, which ends the episode: fingers open, block at rest within 5 mm of the height and 15 mm of the
    middle of the lower one.
    """

    nobs = 21
    half = (0.02, 0.02, 0.02)

    @staticmethod
    def scene() -> abut.Scene:
        s = abut.Scene("stack", timestep=0.002)
        s.add_geom("floor", type="plane", size=(0.5, 0.5, 0.1), friction=0.6)
        low = s.add_body("low", pos=(0, 0, 0.02))
        s.add_joint(low, "low", type="free")
        s.add_geom("low", body=low, type="box", size=Stack.half, mass=0.1, friction=0.6, rgba=MARK)
        _Gripper.add_gripper(s, Stack.half, 0.14, 0.1)
        return s

    def __init__(self, n: int, threads: int) -> None:
        super().__init__(n, threads)
        self.low = self.batch.model.index("body", "low")

    def begin(self, i: int, rng: np.random.Generator) -> None:
        self.batch.q[i, :2] = rng.uniform(-0.08, 0.08, 2)
        self.shift(i, np.array([rng.uniform(-0.05, 0.05), rng.uniform(-0.05, 0.05), rng.uniform(-0.02, 0.03)]))
        super().begin(i, rng)

    def _target(self) -> Array:
        return self.batch.pos[:, self.low] + [0, 0, 2 * self.half[2]]

    def observe(self) -> Array:
        return np.concatenate([self._state(self._target()), self.batch.pos[:, self.low]], axis=1)

    def judge(self) -> tuple[Array, Bools, Bools]:
        error = self.batch.pos[:, self.block] - self._target()
        placed = (np.abs(error[:, 2]) < 0.005) & (np.linalg.norm(error[:, :2], axis=1) < 0.015)
        success = placed & self._open() & self._still()
        return -np.linalg.norm(error, axis=1) + success, success, success


class PegInHole(_Gripper):
    """A square peg of 30 mm in a gripper is to go 30 mm deep into a square hole of 32 mm in a fixed block.

    Action (4): velocity of the hand (3), open (1). Observation (18): hand (3), fingers (2), peg relative to its place in the hole (3), its
    quaternion (4), its velocity and spin (6). Reward per step: minus the distance of the peg from its place [m]; 1 at success.
    Success, which ends the episode: 30 mm deep.
    """

    nobs = 18
    half, hole, wall, depth = (0.015, 0.015, 0.04), 0.016, 0.02, 0.03

    @staticmethod
    def scene() -> abut.Scene:
        s = abut.Scene("peg_in_hole", timestep=0.002)
        s.add_geom("floor", type="plane", size=(0.5, 0.5, 0.1))
        g, w, z = PegInHole.hole, PegInHole.wall, 0.025
        for k, (x, y) in enumerate(((1, 0), (-1, 0), (0, 1), (0, -1))):
            along = (w / 2, g + w, z) if x else (g, w / 2, z)
            s.add_geom(f"wall{k}", type="box", size=along, pos=(x * (g + w / 2), y * (g + w / 2), z), friction=0.2, rgba=MARK)
        _Gripper.add_gripper(s, PegInHole.half, 0.05 + 0.04 + 0.02, 0.1)
        return s

    def begin(self, i: int, rng: np.random.Generator) -> None:
        self.shift(i, np.array([rng.uniform(-0.03, 0.03), rng.uniform(-0.03, 0.03), rng.uniform(0, 0.03)]))
        super().begin(i, rng)

    def _target(self) -> Array:
        return np.broadcast_to([0, 0, 0.05 - self.depth + self.half[2]], (self.n, 3))

    def observe(self) -> Array:
        return self._state(self._target())

    def judge(self) -> tuple[Array, Bools, Bools]:
        error = self.batch.pos[:, self.block] - self._target()
        success = (error[:, 2] < 0) & (np.linalg.norm(error[:, :2], axis=1) < self.hole)
        return -np.linalg.norm(error, axis=1) + success, success, success

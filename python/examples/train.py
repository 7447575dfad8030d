"""Trains an environment by PPO (Schulman et al. 2017), written out in numpy: no other library, two cores, minutes.

    python train.py [--env abut/SlideToTarget-v0] [--minutes 3] [--worlds 64] [--seed 0] [--out out/train]

Prints a line per iteration, and writes the learning curve as curve.csv and, with matplotlib, as curve.png. A library
(stable-baselines3, CleanRL) takes the same environments; this file shows that nothing else is needed.
"""

from __future__ import annotations

import argparse
import csv
import pathlib
import time

import gymnasium
import numpy as np
from numpy.typing import NDArray

import abut  # registers the environments

Array = NDArray[np.float64]
GAMMA, LAMBDA, CLIP, RATE, EPOCHS, MINIBATCH = 0.99, 0.95, 0.2, 1e-3, 6, 1024


class Net:
    """Two hidden layers of tanh, with Adam."""

    def __init__(self, rng: np.random.Generator, nin: int, nout: int, last: float) -> None:
        sizes = [nin, 64, 64, nout]
        scale = [1.0, 1.0, last]
        self.w = [rng.normal(size=(a, b)) * k / np.sqrt(a) for a, b, k in zip(sizes, sizes[1:], scale)]
        self.w += [np.zeros(b) for b in sizes[1:]]
        self.m = [np.zeros_like(w) for w in self.w]
        self.s = [np.zeros_like(w) for w in self.w]
        self.t = 0

    def __call__(self, x: Array) -> Array:
        self.a = [x]
        for k in range(3):
            x = x @ self.w[k] + self.w[3 + k]
            x = np.tanh(x) if k < 2 else x
            self.a.append(x)
        return x

    def learn(self, dy: Array) -> None:
        """One step of Adam along the gradient dy of the last output."""
        grads: list[Array] = [np.empty(0)] * 6
        for k in (2, 1, 0):
            grads[k], grads[3 + k] = self.a[k].T @ dy, dy.sum(0)
            if k:
                dy = (dy @ self.w[k].T) * (1 - self.a[k] ** 2)
        self.adam(grads)

    def adam(self, grads: list[Array]) -> None:
        self.t += 1
        norm = np.sqrt(sum(float((g**2).sum()) for g in grads))
        for w, m, s, g in zip(self.w, self.m, self.s, grads):
            g = g * min(1.0, 0.5 / (norm + 1e-9))
            m += 0.1 * (g - m)
            s += 0.001 * (g * g - s)
            w -= RATE * (m / (1 - 0.9**self.t)) / (np.sqrt(s / (1 - 0.999**self.t)) + 1e-8)


class Agent:
    def __init__(self, rng: np.random.Generator, nobs: int, nact: int) -> None:
        self.rng = rng
        self.policy, self.value = Net(rng, nobs, nact, 0.01), Net(rng, nobs, 1, 1.0)
        self.log_std = np.full(nact, -0.5)
        self.mean, self.var, self.count = np.zeros(nobs), np.ones(nobs), 1e-4

    def see(self, obs: Array) -> Array:
        return np.asarray(np.clip((obs - self.mean) / np.sqrt(self.var + 1e-8), -5, 5))

    def update_scale(self, obs: Array) -> None:
        n = len(obs)
        delta, total = obs.mean(0) - self.mean, self.count + n
        self.var = (self.var * self.count + obs.var(0) * n + delta**2 * self.count * n / total) / total
        self.mean = self.mean + delta * n / total
        self.count = total

    def act(self, x: Array) -> tuple[Array, Array]:
        mean = self.policy(x)
        a = mean + np.exp(self.log_std) * self.rng.normal(size=mean.shape)
        return a, self.log_prob(mean, a)

    def log_prob(self, mean: Array, a: Array) -> Array:
        return np.asarray((-0.5 * ((a - mean) / np.exp(self.log_std)) ** 2 - self.log_std).sum(1))

    def improve(self, x: Array, a: Array, old: Array, gain: Array, target: Array) -> None:
        gain = (gain - gain.mean()) / (gain.std() + 1e-8)
        for _ in range(EPOCHS):
            for part in np.array_split(self.rng.permutation(len(x)), max(1, len(x) // MINIBATCH)):
                n, mean, std = len(part), self.policy(x[part]), np.exp(self.log_std)
                ratio = np.exp(self.log_prob(mean, a[part]) - old[part])
                g = gain[part]
                # the clipped objective has no slope where the ratio has left its band in the direction of the gain
                slope = np.where((ratio * g > np.clip(ratio, 1 - CLIP, 1 + CLIP) * g), 0.0, ratio * g) / n
                z = (a[part] - mean) / std
                self.policy.learn(-slope[:, None] * z / std)
                self.log_std = np.clip(self.log_std + RATE * (slope[:, None] * (z**2 - 1)).sum(0) * 10, -3, 0)
                error = self.value(x[part])[:, 0] - target[part]
                self.value.learn(0.5 * error[:, None] / n)


def advantages(reward: Array, value: Array, last: Array, end: Array, over: Array) -> Array:
    """Generalised advantages. end: no future is worth anything; over: the next row belongs to another episode."""
    gain = np.zeros_like(reward)
    follow = np.zeros(reward.shape[1])
    for t in range(len(reward) - 1, -1, -1):
        after = value[t + 1] if t + 1 < len(reward) else last
        delta = reward[t] + GAMMA * after * (1 - end[t]) - value[t]
        follow = delta + GAMMA * LAMBDA * (1 - over[t]) * follow
        gain[t] = follow
    return gain


def train(name: str, minutes: float, worlds: int, seed: int, quiet: bool = False, length: int = 100) -> list[tuple[float, int, float, float]]:
    """Rows of the learning curve: seconds, steps, mean return of an episode, success rate."""
    env = gymnasium.make_vec(name, worlds)
    rng = np.random.default_rng(seed)
    nobs, nact = env.single_observation_space.shape[0], env.single_action_space.shape[0]  # type: ignore[index]
    agent, curve = Agent(rng, nobs, nact), []
    obs, _ = env.reset(seed=seed)
    begun, steps = time.monotonic(), 0
    score, over = np.zeros(worlds), np.zeros(worlds, bool)
    while time.monotonic() - begun < 60 * minutes:
        rows: list[tuple[Array, ...]] = []
        returns: list[float] = []
        wins = 0
        for _ in range(length):
            x = agent.see(obs)
            a, p = agent.act(x)
            v = agent.value(x)[:, 0]
            nxt, r, end, cut, info = env.step(a.astype(np.float32))
            rows.append((x, a, p, v, r, end, end | cut, ~over, obs))  # a step that only resets teaches nothing
            score += r
            done = end | cut
            returns += score[done].tolist()
            wins += int(info["success"][done].sum())
            score[done] = 0
            obs, over = nxt, done
            steps += worlds
        x, a, p, v, r, end, done_, live, raw = (np.array(column) for column in zip(*rows))
        gain = advantages(r, v, agent.value(agent.see(obs))[:, 0], end, done_)
        agent.improve(x[live], a[live], p[live], gain[live], (gain + v)[live])
        agent.update_scale(raw[live])
        mean = float(np.mean(returns)) if returns else float("nan")
        rate = wins / len(returns) if returns else float("nan")
        curve.append((time.monotonic() - begun, steps, mean, rate))
        if not quiet:
            print(f"{curve[-1][0]:6.1f} s  {steps:8d} steps  return {mean:8.3f}  success {100 * rate:5.1f} %", flush=True)
    env.close()
    return curve


def draw(curve: list[tuple[float, int, float, float]], name: str, path: pathlib.Path) -> None:
    """The learning curve, where matplotlib is installed."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        return
    steps = [row[1] / 1000 for row in curve]
    fig, axes = plt.subplots(1, 2, figsize=(9, 3.5))
    for ax, label, values in ((axes[0], "return of an episode", [row[2] for row in curve]), (axes[1], "success [%]", [100 * row[3] for row in curve])):
        ax.plot(steps, values)
        ax.set(xlabel="thousand steps of the environment", ylabel=label)
        ax.grid(alpha=0.3)
    fig.suptitle(name)
    fig.savefig(path, dpi=100, bbox_inches="tight")


def main() -> None:
    parser = argparse.ArgumentParser(description="PPO on an environment of abut")
    parser.add_argument("--env", default="abut/SlideToTarget-v0")
    parser.add_argument("--minutes", type=float, default=3)
    parser.add_argument("--worlds", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", default="out/train")
    args = parser.parse_args()
    curve = train(args.env, args.minutes, args.worlds, args.seed)
    out = pathlib.Path(args.out)
    out.mkdir(parents=True, exist_ok=True)
    with open(out / "curve.csv", "w", newline="") as f:
        csv.writer(f).writerows([("seconds", "steps", "return", "success"), *curve])
    draw(curve, args.env, out / "curve.png")


if __name__ == "__main__":
    main()

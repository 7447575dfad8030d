"""Writes the notebooks from the cells below: text that can be read and compared, without outputs.

usage: make.py [FOLDER]
"""

from __future__ import annotations

import json
import pathlib
import sys

FIRST = [
    "# First steps\nA cube is thrown on a table, slides, spins and comes to rest. Everything that a simulation knows is a numpy array.",
    """import abut
import numpy as np

scene = abut.Scene("first steps", timestep=0.001)
scene.add_geom("table", type="plane", size=(1, 1, 0.1), friction=0.4)
cube = scene.add_body("cube", pos=(0, 0, 0.05), free=True)
scene.add_geom("cube", body=cube, type="box", size=(0.05, 0.05, 0.05), mass=1.0, friction=0.4)
model = scene.compile()
model""",
    "`q` and `v` are live views: writing into them changes the simulation. The cube gets a velocity of 1 m/s and a spin of 8 rad/s.",
    """data = abut.Data(model)
data.v[:] = [1.0, 0, 0, 0, 0, 8.0]
with abut.record(data, every=5) as run:
    data.step(600)
data.body("cube").pos, data.stat.status""",
    "How it slid: speed, spin and energy over time. A sliding patch that spins has less friction against the sliding, so it goes farther than $v^2 / (2 \\\\mu g)$.",
    """import matplotlib.pyplot as plt

r = run.recording
fig, ax = plt.subplots(1, 2, figsize=(10, 3.5), layout="constrained")
ax[0].plot(r.time, r.twist[:, 1, 0], label="speed [m/s]")
ax[0].plot(r.time, r.twist[:, 1, 5] / 8, label="spin [8 rad/s]")
ax[0].set(xlabel="time [s]")
ax[0].legend()
ax[1].plot(r.pos[:, 1, 0], r.pos[:, 1, 1], ".-")
ax[1].axvline(1 / (2 * 0.4 * 9.81), color="gray", linestyle="--", label="without spin")
ax[1].set(xlabel="x [m]", ylabel="y [m]")
ax[1].legend()
plt.show()
assert r.pos[-1, 1, 0] > 1 / (2 * 0.4 * 9.81)""",
    "A state is a block of bytes; from it the same future follows.",
    """state = data.save()
data.body("cube").applied[0] = 6.0        # above the friction of 0.4 * 9.81 N
data.step(100)
moved = data.body("cube").pos[0]
data.restore(state)
len(state), moved - data.body("cube").pos[0]""",
    "The contact as it is: an area with a pressure.",
    """data.step(10)
c = data.contacts[0]
{name: c[name] for name in ("area", "force", "point", "polygon", "pressure")}""",
    "And the replay page, in the notebook:",
    "page = abut.show(run)\npage if len(page.text) < 5e6 else None",
]

TORQUE = [
    "# Which friction torque does a patch hold?\nA box on a table resists a torque about the vertical by friction over its whole face. For a pressure $p$ and a friction "
    "coefficient $\\\\mu$ the largest torque is $\\\\tau = \\\\mu \\\\int p\\\\, |r|\\\\, dA$. For a square of side $a$ under an even pressure that is "
    "$\\\\mu N a (\\\\sqrt 2 + \\\\ln(1 + \\\\sqrt 2)) / 6$; a simulator with four contact points at the corners would hold $\\\\mu N a / \\\\sqrt 2$, 1.85 times as much.",
    """import abut
import numpy as np
import matplotlib.pyplot as plt

mu, mass, side = 0.5, 1.0, 0.1
scene = abut.Scene("torque", timestep=0.001)
scene.add_geom("table", type="plane", size=(1, 1, 0.1), friction=mu)
box = scene.add_body("box", pos=(0, 0, 0.02), free=True)
scene.add_geom("box", body=box, type="box", size=(side / 2, side / 2, 0.02), mass=mass, friction=mu)
model = scene.compile()
weight = mass * 9.81
area = mu * weight * side * (np.sqrt(2) + np.log(1 + np.sqrt(2))) / 6
points = mu * weight * side / np.sqrt(2)
print(f"patch: {area:.4f} N m, four points: {points:.4f} N m")""",
    "32 worlds, each with a torque of its own. Which ones begin to turn?",
    """torque = np.linspace(0, 1.3 * points, 32)
worlds = abut.Batch(model, len(torque))
worlds.step(50)                            # the box settles
worlds.applied[:, 1, 5] = torque
worlds.step(200)
spin = worlds.twist[:, 1, 5]
fig, ax = plt.subplots(figsize=(6, 3.5))
ax.plot(torque, spin, "o")
ax.axvline(area, color="C2", label="patch, closed form")
ax.axvline(points, color="C3", linestyle="--", label="four points")
ax.set(xlabel="torque [N m]", ylabel="spin after 0.2 s [rad/s]")
ax.legend()
plt.show()
turns = spin > 0.1
# the first that turns is the first above the closed form, to the distance of two worlds
assert abs(torque[turns].min() - area) < 2 * (torque[1] - torque[0])""",
    "The box while a force pulls it and a torque turns it: what the patch holds of both together is its limit surface.",
    """data = abut.Data(model)
data.step(50)
data.body("box").applied[:] = [0.6 * mu * weight, 0, 0, 0, 0, 0.5 * area]
data.step(100)
abut.plot.patch(data.contacts[0], model)
plt.show()""",
    "Push harder, and the friction lies on the surface: the box slides and turns.",
    """data.body("box").applied[:] = [1.2 * mu * weight, 0, 0, 0, 0, 1.2 * area]
data.step(30)
c = data.contacts[0]
abut.plot.patch(c, model)
plt.show()
from abut._contacts import MODES
MODES[c["mode"]]""",
]

PUSHING = [
    "# A pushing controller\nPushing a box with one finger is unstable: the box turns away. A controller that looks at the angle and steers the finger sideways keeps it straight. "
    "Here its one gain is chosen by trying many at once in a batch.",
    """import abut
import numpy as np
import matplotlib.pyplot as plt

scene = abut.Scene("pushing", timestep=0.002)
scene.add_geom("table", type="plane", size=(1, 1, 0.1), friction=0.4)
box = scene.add_body("box", pos=(0, 0, 0.02), free=True)
scene.add_geom("box", body=box, type="box", size=(0.05, 0.05, 0.02), mass=0.5, friction=0.4)
rail = scene.add_body("rail", pos=(-0.062, 0, 0.02), mass=0.2, inertia=(1e-4, 1e-4, 1e-4), gravity=False)
scene.add_joint(rail, "x", type="slide", axis=(1, 0, 0))
finger = scene.add_body("finger", parent="rail", gravity=False)
scene.add_joint(finger, "y", type="slide", axis=(0, 1, 0))
scene.add_geom("finger", body=finger, type="cylinder", size=(0.01, 0.02), mass=0.1, friction=0.2)
scene.add_velocity("x", "vx", kv=500)
scene.add_velocity("y", "vy", kv=500)
model = scene.compile()""",
    "The angle of the box steers the finger: $v_y = k \\\\theta + c\\\\, (y_{box} - y_{finger})$.",
    """def push(gains, seconds=4.0, disturbance=0.004):
    worlds = abut.Batch(model, len(gains))
    worlds.q[:, 8] = disturbance            # the finger starts off the middle
    path = []
    for _ in range(int(seconds / 0.02)):
        q = worlds.quat[:, 1]
        angle = 2 * np.arctan2(q[:, 3], q[:, 0])
        worlds.ctrl[:, 0] = 0.05
        worlds.ctrl[:, 1] = np.clip(gains * angle + 2 * (worlds.q[:, 1] - worlds.q[:, 8]) * (gains != 0), -0.1, 0.1)
        worlds.step(10)
        path.append(np.column_stack([worlds.q[:, :2], angle]))
    return np.array(path)                   # (samples, worlds, 3)

gains = np.linspace(0, 1.0, 16)
path = push(gains)
path.shape""",
    "Without control the box turns away; with some gain it goes straight.",
    """fig, ax = plt.subplots(1, 2, figsize=(11, 3.5), layout="constrained")
for i in (0, 4, 10, 15):
    ax[0].plot(path[:, i, 0], np.degrees(path[:, i, 2]), label=f"gain {gains[i]:.2f}")
ax[0].set(xlabel="x of the box [m]", ylabel="angle [degrees]")
ax[0].legend()
ax[1].plot(gains, np.degrees(np.abs(path[-25:, :, 2]).max(0)), "o-")
ax[1].set(xlabel="gain", ylabel="angle in the last half second [degrees]")
plt.show()
best = int(np.abs(path[-25:, :, 2]).max(0).argmin())
assert np.abs(path[:, best, 2]).max() < np.abs(path[:, 0, 2]).max()
gains[best]""",
    "The best one, watched. `world(i)` of a batch is a simulation of its own.",
    """data = abut.Data(model)
data.q[8] = 0.004
with abut.record(data) as run:
    for _ in range(150):
        angle = 2 * np.arctan2(data.body("box").quat[3], data.body("box").quat[0])
        data.ctrl[:] = 0.05, np.clip(gains[best] * angle + 2 * (data.q[1] - data.q[8]), -0.1, 0.1)
        data.step(10)
len(run.recording)""",
]

NOTEBOOKS = {"1_first_steps": FIRST, "2_friction_torque": TORQUE, "3_pushing": PUSHING}


def notebook(cells: list[str]) -> dict[str, object]:
    """Text and code take turns; text comes first."""
    out = []
    for k, text in enumerate(cells):
        lines = (text.replace("\\\\", "\\") if k % 2 == 0 else text).splitlines(keepends=True)
        cell: dict[str, object] = {"cell_type": "markdown" if k % 2 == 0 else "code", "id": f"cell-{k}", "metadata": {}, "source": lines}
        if k % 2:
            cell |= {"execution_count": None, "outputs": []}
        out.append(cell)
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}, "language_info": {"name": "python"}}
    return {"cells": out, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}


def main() -> None:
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    for name, cells in NOTEBOOKS.items():
        (folder / f"{name}.ipynb").write_text(json.dumps(notebook(cells), indent=1) + "\n")


if __name__ == "__main__":
    main()

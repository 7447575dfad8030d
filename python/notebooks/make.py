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
    "How it slid: speed and spin over time, and its path. A sliding patch that spins has less friction against the sliding, so it goes farther than $v^2 / (2 \\\\mu g)$; and since it brakes, its pressure is larger in front, so the spin draws it aside.",
    """import matplotlib.pyplot as plt

r = run.recording
fig, ax = plt.subplots(1, 2, figsize=(10, 3.5), layout="constrained")
ax[0].plot(r.time, r.twist[:, 1, 0], label="speed [m/s]")
ax[0].plot(r.time, r.twist[:, 1, 5] / 8, label="spin [8 rad/s]")
ax[0].set(xlabel="time [s]", title="both end at the same time")
ax[0].legend()
ax[1].plot(1000 * r.pos[:, 1, 0], 1000 * r.pos[:, 1, 1], ".-", label="centre of the cube")
ax[1].axvline(1000 / (2 * 0.4 * 9.81), color="gray", linestyle="--", label="where it would stop without spin")
ax[1].set(xlabel="x [mm]", ylabel="y [mm], stretched", title="seen from above")
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
    "# A pushing controller\nPushing a box with one finger is unstable: the box turns away. A controller that looks at the box and steers the finger sideways keeps it straight. "
    "Its two gains are chosen by trying many at once in a batch.",
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
    "The finger is driven forwards, and sideways by $v_y = k\\, \\theta + c\\, (y_{box} - y_{finger})$: the angle of the box, and how far the finger is off its middle. "
    "It starts 4 mm off. `worlds.q` has a row a world: position (3) and orientation (4) of the box, x and y of the finger.",
    """def push(k, c, seconds=4.0):
    worlds = abut.Batch(model, len(k))
    worlds.q[:, 8] = 0.004
    path = []
    for _ in range(int(seconds / 0.02)):
        q = worlds.q
        angle = 2 * np.arctan2(q[:, 6], q[:, 3])
        worlds.ctrl[:, 0] = 0.05
        worlds.ctrl[:, 1] = np.clip(k * angle + c * (q[:, 1] - q[:, 8]), -0.1, 0.1)
        worlds.step(10)
        path.append(np.column_stack([q[:, :2], angle, q[:, 7] - 0.062, q[:, 8]]))
    return np.array(path)                   # (samples, worlds, 5): x, y and angle of the box, x and y of the finger

k, c = np.linspace(-0.4, 1.2, 9), np.linspace(0, 8, 9)
path = push(*(g.ravel() for g in np.meshgrid(k, c)))
worst = np.degrees(np.abs(path[-50:, :, 2]).max(0)).reshape(9, 9)    # of the last second
path.shape""",
    "Which gains keep the box straight? Every cell of the map is a world. With a gain for the angle that is negative, or none at all, the box is lost; with a gain that is "
    "positive it comes back, the straighter the larger the gain. Where c is the speed over the distance from the finger to the middle of the box, "
    "0.05 m/s / 0.05 m, the finger moves along the line through the middle, and the box hardly turns at all.",
    """from matplotlib.colors import LogNorm

best = int(worst.argmin())
chosen = {"no control (k = c = 0)": 2, "c alone (k = 0, c = 4)": 4 * 9 + 2, f"best (k = {k[best % 9]:.1f}, c = {c[best // 9]:.0f})": best}
fig, ax = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
colours = ax[0].pcolormesh(k, c, worst, norm=LogNorm(), cmap="viridis_r")
fig.colorbar(colours, ax=ax[0], label="largest angle in the last second [degrees]")
ax[0].set(xlabel="k, gain of the angle [m/s]", ylabel="c, gain of the offset [1/s]")
for i, (label, world) in enumerate(chosen.items()):
    ax[0].plot(k[world % 9], c[world // 9], "o", color=f"C{i + 1}", markeredgecolor="white", markersize=10)
    ax[1].plot(path[:, world, 0], np.degrees(path[:, world, 2]), color=f"C{i + 1}", label=label)
ax[1].set(xlabel="x of the box [m]", ylabel="angle of the box [degrees]")
ax[1].legend()
plt.show()
assert worst.ravel()[best] < 1 and worst.ravel()[2] > 20""",
    "The same three from above, a picture every half second; the finger is the dot.",
    """fig, axes = plt.subplots(1, 3, figsize=(12, 3), sharey=True, layout="constrained")
corner = 0.05 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]])
for i, (ax, (label, world)) in enumerate(zip(axes, chosen.items())):
    for x, y, angle, xf, yf in path[24::25, world]:
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        ax.plot(*(corner @ turn.T + [x, y]).T, color=f"C{i + 1}", linewidth=1)
        ax.add_patch(plt.Circle((xf, yf), 0.01, color="black"))
    ax.set(title=label, xlabel="x [m]", aspect="equal", xlim=(-0.07, 0.25), ylim=(-0.11, 0.07))
axes[0].set_ylabel("y [m]")
plt.show()""",
    "The best one, recorded and replayed; a simulation of its own does what its world in the batch did, to the bit.",
    """data = abut.Data(model)
data.q[8] = 0.004
with abut.record(data, every=10) as run:
    for _ in range(200):
        angle = 2 * np.arctan2(data.q[6], data.q[3])
        data.ctrl[:] = 0.05, np.clip(k[best % 9] * angle + c[best // 9] * (data.q[1] - data.q[8]), -0.1, 0.1)
        data.step(10)
assert np.array_equal(data.q[:2], path[-1, best, :2])
abut.show(run)""",
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

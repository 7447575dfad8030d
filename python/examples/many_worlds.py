"""A thousand pushes at once: how far does a box go for friction and speed drawn at random?"""

from __future__ import annotations

import numpy as np

import abut

BOX = """<mujoco><option timestep="0.002"/><worldbody>
  <geom name="floor" type="plane" size="1 1 .1"/>
  <body name="box" pos="0 0 .05"><freejoint/><geom name="box" type="box" size=".05 .05 .05" mass="1"/></body>
</worldbody></mujoco>"""

rng = np.random.default_rng(0)
worlds = abut.Batch(abut.loads(BOX), 200)
friction = worlds.expand("geom_friction")
friction[:, :, 0] = rng.uniform(0.2, 0.8, worlds.n)[:, None]
worlds.reset()  # what was expanded takes effect
worlds.v[:, 0] = rng.uniform(0.5, 1.5, worlds.n)
speed = worlds.v[:, 0].copy()
worlds.step(500)
expected = speed**2 / (2 * friction[:, 0, 0] * 9.81)
print(f"largest difference from v^2 / (2 mu g): {1e3 * np.abs(worlds.q[:, 0] - expected).max():.2f} mm")

"""A cube slides on a table and stops: state, contacts, energy."""

from __future__ import annotations

import abut

scene = abut.Scene("first steps", timestep=0.001)
scene.add_geom("table", type="plane", size=(1, 1, 0.1), friction=0.4)
cube = scene.add_body("cube", pos=(0, 0, 0.05), free=True)
scene.add_geom("cube", body=cube, type="box", size=(0.05, 0.05, 0.05), mass=1.0, friction=0.4)

data = abut.Data(scene.compile())
data.v[:] = [1.0, 0, 0, 0, 0, 4.0]  # it slides and spins
while data.energy.kinetic > 1e-9:
    data.step(10)
print(f"it came to rest after {data.time:.3f} s at x = {data.body('cube').pos[0]:.4f} m")

contact = data.contacts[0]
print(f"its patch of {1e4 * contact['area']:.1f} cm2 carries {contact['force'][2]:.3f} N")

"""Pictures of contacts (matplotlib)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._model import Model

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]


def _plane(contact: Any) -> tuple[Array, Array]:
    """Corners of the patch in its plane (t1, t2), about the equivalent contact point, and the pressure there."""
    polygon = np.asarray(contact["polygon"], float)
    if len(polygon) < 3:
        raise ValueError("this contact has no area: its patch is a point or a line")
    at = polygon - contact["point"]
    xy = np.stack([at @ contact["t1"], at @ contact["t2"]], axis=1)
    pressure = np.asarray(contact["pressure"], float)
    if len(pressure) != len(xy) or not np.isfinite(pressure).all():
        pressure = np.full(len(xy), float(contact["normal_force"] @ contact["normal"]) / float(contact["area"]))
    return xy, pressure


def _pieces(xy: Array, pressure: Array, n: int = 24) -> tuple[Array, Array]:
    """Points over the polygon and the normal force each carries: a fan of triangles, each cut into n^2 equal ones."""
    i, j = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
    up = np.stack([(i + 1 / 3) / n, (j + 1 / 3) / n], axis=-1)[i + j < n]
    down = np.stack([(i + 2 / 3) / n, (j + 2 / 3) / n], axis=-1)[i + j < n - 1]
    uv = np.concatenate([up, down])
    points, force = [], []
    centre, middle = xy.mean(0), pressure.mean()
    for k in range(len(xy)):
        a, b = xy[k] - centre, xy[(k + 1) % len(xy)] - centre
        area = 0.5 * abs(a[0] * b[1] - a[1] * b[0]) / n**2
        points.append(centre + uv @ np.stack([a, b]))
        p = middle + uv @ np.array([pressure[k] - middle, pressure[(k + 1) % len(xy)] - middle])
        force.append(np.maximum(p, 0) * area)
    return np.concatenate(points), np.concatenate(force)


def friction_of(contact: Any, model: Model) -> float:
    """The sliding friction of the pair: the larger of the two geoms'."""
    return float(max(model.geom_friction[int(contact[g]), 0] for g in ("geom1", "geom2")))


def limit_surface(contact: Any, mu: float, direction: Any = (1.0, 0.0), n: int = 181) -> tuple[Array, Array]:
    """What friction of the patch can hold: force along a direction of the plane, and torque about the equivalent contact point.

    For each ratio of sliding to spinning the whole patch slips, and friction is mu times the pressure against the slip everywhere. Returns
    (force, torque), n points from pure torque over pure force to pure torque the other way.
    """
    xy, pressure = _plane(contact)
    at, force = _pieces(xy, pressure)
    u = np.asarray(direction, float) / np.linalg.norm(direction)
    size = float(np.sqrt((at**2).sum(1).max()))
    forces, torques = [], []
    for angle in np.linspace(-np.pi / 2, np.pi / 2, n):
        spin = np.sin(angle) / size
        slip = np.cos(angle) * u + spin * np.stack([-at[:, 1], at[:, 0]], axis=1)
        speed = np.linalg.norm(slip, axis=1)
        pull = -mu * force[:, None] * slip / np.maximum(speed, 1e-12)[:, None]
        forces.append(float(-(pull @ u).sum()))
        torques.append(float(-(at[:, 0] * pull[:, 1] - at[:, 1] * pull[:, 0]).sum()))
    return np.array(forces), np.array(torques)


def patch(contact: Any, model: Model | None = None, *, mu: float | None = None, axes: tuple[Axes, Axes] | None = None) -> tuple[Axes, Axes]:
    """Draws a contact: polygon, pressure, equivalent contact point, friction; beside it the limit surface with the present friction.

    contact: one of `data.contacts`. The friction coefficient comes from the model, or is given.
    """
    import matplotlib.pyplot as plt

    if mu is None:
        if model is None:
            raise ValueError("give the model or mu: the limit surface needs the friction coefficient")
        mu = friction_of(contact, model)
    if axes is None:
        _, both = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
        axes = (both[0], both[1])
    left, right = axes
    xy, pressure = _plane(contact)
    points = np.vstack([xy, _pieces(xy, pressure)[0]])
    shade = left.tripcolor(
        1e3 * points[:, 0], 1e3 * points[:, 1], _pressure_at(points, xy, pressure), shading="gouraud", vmin=0, vmax=1.05 * pressure.max(), cmap="viridis")
    left.figure.colorbar(shade, ax=left, label="pressure [Pa]")
    closed = 1e3 * np.vstack([xy, xy[:1]])
    left.plot(closed[:, 0], closed[:, 1], color="black", linewidth=1)
    left.plot(0, 0, "o", color="red", label="centre of pressure")
    f = np.array([contact["friction_force"] @ contact["t1"], contact["friction_force"] @ contact["t2"]])
    if np.linalg.norm(f) > 0:
        reach = 0.4e3 * float(np.abs(xy).max())
        left.annotate("", xy=tuple(reach * f / np.linalg.norm(f)), xytext=(0, 0), arrowprops={"arrowstyle": "->", "color": "red"})
    left.set(xlabel="t1 [mm]", ylabel="t2 [mm]", title="patch")
    left.set_aspect("equal")
    left.legend(loc="upper right", fontsize=8)
    along = f if np.linalg.norm(f) > 0 else np.array([1.0, 0.0])
    force_limit, torque_limit = limit_surface(contact, mu, along)
    right.plot(np.concatenate([force_limit, -force_limit]), np.concatenate([torque_limit, -torque_limit]), label=f"limit surface, mu = {mu:g}")
    right.plot(float(np.linalg.norm(f)), float(contact["free_moment"]), "o", color="red", label="friction now")
    right.set(xlabel="friction force [N]", ylabel="friction torque [N m]", title="what the patch holds")
    right.legend(loc="lower left", fontsize=8)
    return axes


def _pressure_at(points: Array, xy: Array, pressure: Array) -> Array:
    """Pressure at the points: the affine function nearest to that at the corners."""
    design = np.column_stack([np.ones(len(xy)), xy])
    fit, *_ = np.linalg.lstsq(design, pressure, rcond=None)
    return np.asarray(np.maximum(np.column_stack([np.ones(len(points)), points]) @ fit, 0))

"""Pictures of simulations as arrays; drawn by the processor, so that they need no display."""

from __future__ import annotations

from typing import TYPE_CHECKING, Sequence

from . import _core
from ._data import Data

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Picture = NDArray[np.uint8]


def render(data: Data, width: int = 480, height: int = 360, *, eye: Sequence[float] | None = None, target: Sequence[float] | None = None,
           fovy: float | None = None) -> Picture:
    """A picture (height, width, 3) of a simulation as it stands. eye: where one looks from; target: at what; fovy: angle of view from the
    lower to the upper edge [rad]. Without them all moving bodies are in the picture.
    """
    if not isinstance(data, Data):
        raise TypeError(f"render needs an abut.Data, not {type(data).__name__}")
    for name, x in (("width", width), ("height", height)):
        if isinstance(x, bool) or not isinstance(x, int) or not 1 <= x <= 8192:
            raise ValueError(f"{name} {x!r}: give a whole number from 1 to 8192")
    all_eye, all_target, all_fovy = _core.view_all(data, width, height)
    place = list(map(float, target if target is not None else all_target))
    if eye is None:
        eye = [e + t - a for e, t, a in zip(all_eye, place, all_target)]
    return _core.picture(data, width, height, list(map(float, eye)), place, float(all_fovy if fovy is None else fovy))


def mark(picture: Picture, points: ArrayLike, *, eye: Sequence[float], target: Sequence[float], fovy: float, color: Sequence[int]) -> None:
    """Dots of 2 x 2 pixels at points (n, 3) of the world, in front of everything."""
    import numpy as np

    height, width = picture.shape[:2]
    at = np.asarray(points, float) - eye
    ahead = np.asarray(target, float) - eye
    ahead /= np.linalg.norm(ahead)
    right = np.cross(ahead, [0, 0, 1])
    right = right / np.linalg.norm(right) if np.linalg.norm(right) > 1e-9 else np.array([1.0, 0, 0])
    up = np.cross(right, ahead)
    z = at @ ahead
    at, z = at[z > 0], z[z > 0]
    scale = height / 2 / np.tan(fovy / 2)
    x, y = width / 2 + scale * (at @ right) / z, height / 2 - scale * (at @ up) / z
    for dx in (-0.5, 0.5):
        for dy in (-0.5, 0.5):
            i, j = np.floor(y + dy).astype(int), np.floor(x + dx).astype(int)
            inside = (i >= 0) & (i < height) & (j >= 0) & (j < width)
            picture[i[inside], j[inside]] = color

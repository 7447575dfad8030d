"""Scenes made in code."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Any, Sequence

from . import _core
from ._errors import SceneError, unknown
from ._model import JOINTS, SHAPES, Model

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    Numbers = Sequence[float] | ArrayLike

_GAINS = ("fixed", "affine")
_BIASES = ("none", "affine")


def _choice(what: str, name: str, known: tuple[str, ...]) -> int:
    if name not in known:
        raise unknown(what, name, known)
    return known.index(name)


def _pose(pos: Numbers, quat: Numbers) -> list[float]:
    import numpy as np

    p, q = np.asarray(pos, float).ravel(), np.asarray(quat, float).ravel()
    if p.shape != (3,) or q.shape != (4,):
        raise ValueError(f"pos needs 3 numbers and quat 4 (w, x, y, z), not {p.size} and {q.size}")
    norm = float(np.linalg.norm(q))
    if not norm > 0:
        raise ValueError("the quaternion is zero; (1, 0, 0, 0) is no rotation")
    return [*p.tolist(), *(q / norm).tolist()]


def _list(values: Numbers) -> list[float]:
    import numpy as np

    return [float(x) for x in np.atleast_1d(np.asarray(values, float)).ravel()]


class Scene:
    """A scene made in code. Every `add_*` returns an index that the next ones take.

    >>> s = abut.Scene()
    >>> s.add_geom(type="plane", size=(1, 1, 1))
    >>> cube = s.add_body("cube", pos=(0, 0, 0.5))
    >>> s.add_joint(cube, type="free")
    >>> s.add_geom(body=cube, type="box", size=(0.1, 0.1, 0.1), mass=1)
    >>> d = abut.Data(s.compile())
    """

    def __init__(self, name: str = "scene", *, gravity: Numbers = (0, 0, -9.81), timestep: float = 0.002,
                 integrator: str = "Euler", contact: str | None = None, **params: float) -> None:
        self._c = _core.Scene()
        self._c.set_option("name", name)
        self._c.set_option("gravity", _list(gravity))
        if isinstance(timestep, str) or not 0 < float(timestep) < float("inf"):
            raise ValueError(f"timestep must be a number above 0, it is {timestep!r}")
        self._c.set_option("timestep", float(timestep))
        self._c.set_option("integrator", ("Euler", "RK4")[_choice("integrator", integrator, ("Euler", "RK4"))])
        if contact is not None:
            self._c.set_option("contact", contact)
        for key, value in params.items():
            self._c.set_param(key, float(value))

    def add_body(self, name: str | None = None, *, parent: str | int = 0, pos: Numbers = (0, 0, 0), quat: Numbers = (1, 0, 0, 0),
                 mass: float | None = None, com: Numbers = (0, 0, 0), inertia: Numbers | None = None,
                 inertia_quat: Numbers = (1, 0, 0, 0), gravity: bool = True, free: bool = False) -> int:
        """A body in the frame of its parent. Mass and inertia (xx yy zz, or with xy xz yz) come from the geoms unless both are given.

        gravity=False: gravity does not act on it. free=True adds a free joint.
        """
        values: dict[str, Any] = {"parent": self._find("body", parent), "pose": _pose(pos, quat), "gravity": gravity}
        if name is not None:
            values["name"] = name
        if (mass is None) != (inertia is None):
            raise ValueError("give mass and inertia together, or neither (then they come from the geoms)")
        if mass is not None and inertia is not None:
            moments = _list(inertia)
            if len(moments) not in (3, 6):
                raise ValueError(f"inertia needs 3 or 6 numbers, not {len(moments)}")
            values |= {"has_inertial": True, "mass": float(mass), "inertial": _pose(com, inertia_quat),
                       "inertia": (moments + [0, 0, 0])[:6]}
        body = self._c.add_body(values)
        if free:
            self.add_joint(body, type="free")
        return body

    def add_joint(self, body: str | int, name: str | None = None, *, type: str = "hinge", pos: Numbers = (0, 0, 0),
                  axis: Numbers = (0, 0, 1), range: Numbers | None = None, margin: float = 0, stiffness: float = 0, damping: float = 0,
                  armature: float = 0, frictionloss: float = 0, ref: float = 0, springref: float = 0) -> int:
        """A joint between the body and its parent: free, ball, slide or hinge. Angles in rad."""
        values: dict[str, Any] = {
            "body": self._find("body", body), "type": _choice("joint type", type, JOINTS), "pos": _list(pos), "axis": _list(axis),
            "margin": margin, "stiffness": stiffness, "damping": damping, "armature": armature, "frictionloss": frictionloss,
            "ref": ref, "springref": springref}
        if name is not None:
            values["name"] = name
        if range is not None:
            values |= {"limited": True, "range": _list(range)}
        return self._c.add_joint(values)

    def add_geom(self, name: str | None = None, *, body: str | int = 0, type: str = "sphere", size: Numbers = (0, 0, 0), pos: Numbers = (0, 0, 0),
                 quat: Numbers = (1, 0, 0, 0), mesh: str | int | None = None, mass: float | None = None, density: float = 1000,
                 friction: Numbers | float = (1, 0.005, 0.0001), mu_static: float | None = None, e_r: float | None = None,
                 restitution: float = 0, condim: int = 3, contype: int = 1, conaffinity: int = 1, priority: int = 0,
                 rgba: Numbers = (0.5, 0.5, 0.5, 1)) -> int:
        """A shape of a body: plane, box, sphere, capsule, cylinder, ellipsoid or mesh; sizes as in MJCF."""
        f = _list(friction)
        values: dict[str, Any] = {
            "body": self._find("body", body), "type": _choice("geom type", type, SHAPES), "size": (_list(size) + [0, 0])[:3],
            "pose": _pose(pos, quat), "density": float(density), "friction": (f + [0.005, 0.0001][len(f) - 1 :])[:3] if f else f,
            "restitution": restitution, "condim": condim, "contype": contype, "conaffinity": conaffinity, "priority": priority,
            "rgba": _list(rgba)}
        optional = {"name": name, "mass": mass, "mu_static": mu_static, "e_r": e_r}
        values |= {k: v for k, v in optional.items() if v is not None}
        if mesh is not None:
            values["mesh"] = self._find("mesh", mesh)
        return self._c.add_geom(values)

    def add_mesh(self, name: str, vertices: Any = None, faces: Any = None, *, file: str | os.PathLike[str] | None = None,
                 scale: Numbers = (1, 1, 1)) -> int:
        """A mesh: vertices (n, 3) whose hull touches, with faces (m, 3) for drawing and inertia; a trimesh; or an OBJ or STL file."""
        import numpy as np

        if hasattr(vertices, "vertices") and hasattr(vertices, "faces"):
            vertices, faces = vertices.vertices, vertices.faces
        if (vertices is None) == (file is None):
            raise ValueError("give vertices or a file, and not both")
        vert = None if vertices is None else np.ascontiguousarray(vertices, dtype=np.float64)
        if vert is not None and (vert.ndim != 2 or vert.shape[1] != 3 or not np.isfinite(vert).all()):
            raise ValueError(f"vertices must be finite numbers of the shape (n, 3), not {vert.shape}")
        tri = None if faces is None else np.ascontiguousarray(faces, dtype=np.int32)
        if tri is not None and (tri.ndim != 2 or tri.shape[1] != 3):
            raise ValueError(f"faces must have the shape (m, 3), not {tri.shape}")
        three = _list(scale)
        if len(three) != 3:
            raise ValueError(f"scale needs 3 numbers, not {len(three)}")
        return self._c.add_mesh(name, "" if file is None else os.fspath(file), vert, tri, three)

    def add_motor(self, joint: str | int, name: str | None = None, *, gear: float = 1, ctrl_range: Numbers | None = None) -> int:
        """Force (torque) = gear * ctrl."""
        return self.add_actuator(joint, name, gear=gear, ctrl_range=ctrl_range)

    def add_position(self, joint: str | int, name: str | None = None, *, kp: float, kv: float = 0, ctrl_range: Numbers | None = None,
                     force_range: Numbers | None = None) -> int:
        """A servo: force = kp (ctrl - q) - kv v."""
        return self.add_actuator(joint, name, gainprm=(kp, 0, 0), bias="affine", biasprm=(0, -kp, -kv), ctrl_range=ctrl_range, force_range=force_range)

    def add_velocity(self, joint: str | int, name: str | None = None, *, kv: float, ctrl_range: Numbers | None = None,
                     force_range: Numbers | None = None) -> int:
        """A servo: force = kv (ctrl - v)."""
        return self.add_actuator(joint, name, gainprm=(kv, 0, 0), bias="affine", biasprm=(0, 0, -kv), ctrl_range=ctrl_range, force_range=force_range)

    def add_actuator(self, joint: str | int, name: str | None = None, *, gear: float | Numbers = 1, gain: str = "fixed", gainprm: Numbers = (1, 0, 0),
                     bias: str = "none", biasprm: Numbers = (0, 0, 0), ctrl_range: Numbers | None = None, force_range: Numbers | None = None) -> int:
        """As `general` of MJCF: force = gain * ctrl + bias, each constant or affine in length and velocity; the joint feels gear * force."""
        values: dict[str, Any] = {
            "joint": self._find("joint", joint), "gear": (_list(gear) + [0.0] * 5)[:6], "gain": _choice("gain", gain, _GAINS),
            "gainprm": _list(gainprm), "bias": _choice("bias", bias, _BIASES), "biasprm": _list(biasprm)}
        if name is not None:
            values["name"] = name
        if ctrl_range is not None:
            values |= {"ctrl_limited": True, "ctrl_range": _list(ctrl_range)}
        if force_range is not None:
            values |= {"force_limited": True, "force_range": _list(force_range)}
        return self._c.add_actuator(values)

    def add_key(self, name: str, *, q: Numbers = (), v: Numbers = (), ctrl: Numbers = (), time: float = 0) -> int:
        """A keyframe; v as MJCF means it (free joint: velocity of the frame's origin, angular velocity in body axes). What a list leaves out, all or its end, is initial."""
        return self._c.add_key(name, float(time), _list(q), _list(v), _list(ctrl))

    def add_pair(self, geom1: str | int, geom2: str | int, *, friction: Numbers, condim: int = 3) -> int:
        """Two geoms that collide with a friction of their own (two tangential, torsional, two rolling)."""
        return self._c.add_pair({"geom1": self._find("geom", geom1), "geom2": self._find("geom", geom2), "condim": condim,
                                 "friction": _list(friction)})

    def exclude(self, body1: str | int, body2: str | int) -> None:
        """Two bodies that do not touch each other."""
        self._c.add_exclude(self._find("body", body1), self._find("body", body2))

    def compile(self) -> Model:
        return Model(self._c.compile(), ("text", self._text()))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes MJCF that MuJoCo loads, too."""
        self._c.save(os.fspath(path))

    def _text(self) -> str:
        """As MJCF, for copies in other processes; empty where it cannot be written (a mesh from a file)."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "scene.xml")
            try:
                self._c.save(path)
            except SceneError:
                return ""
            with open(path) as f:
                return f.read()

    def _find(self, what: str, name: str | int) -> int:
        if isinstance(name, str):
            if what == "body" and name == "world":
                return 0
            i = self._c.find(what, name)
            if i < 0:
                raise unknown(what, name, ())
            return i
        try:
            return int(name.__index__())
        except AttributeError:
            raise TypeError(f"a {what} is named by a string or an index, not by {type(name).__name__}") from None

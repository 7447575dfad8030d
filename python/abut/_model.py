"""Models: what does not change while a scene is simulated."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Any

from . import _core
from ._errors import NameNotFound, SceneError, SceneWarning, unknown

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]

SHAPES = ("plane", "box", "sphere", "capsule", "cylinder", "ellipsoid", "mesh")
JOINTS = ("free", "ball", "slide", "hinge")
_NQ = (7, 4, 1, 1)
_NV = (6, 3, 1, 1)


class _Part:
    """One body, joint, geom or actuator of a model."""

    _of = ""

    def __init__(self, model: Model, index: int) -> None:
        self.model = model
        self.index = index

    @property
    def name(self) -> str:
        return self.model._names(self._of)[self.index]

    def _get(self, field: str) -> Any:
        value = self.model._c.field(f"{self._of}_{field}")[self.index]
        return value if value.ndim else value.item()

    def __repr__(self) -> str:
        return f"<{self._of} {self.name!r} of {self.model!r}>"


class Body(_Part):
    _of = "body"

    @property
    def mass(self) -> float:
        """[kg]"""
        return float(self._get("mass"))

    @property
    def com(self) -> Array:
        """Centre of mass in the body frame [m]."""
        return self._get("com")  # type: ignore[no-any-return]

    @property
    def inertia(self) -> Array:
        """Principal moments about the centre of mass [kg m2]."""
        return self._get("inertia")  # type: ignore[no-any-return]

    @property
    def parent(self) -> Body:
        return Body(self.model, int(self._get("parent")))


class Joint(_Part):
    _of = "joint"

    @property
    def type(self) -> str:
        return JOINTS[self._get("type")]

    @property
    def body(self) -> Body:
        return Body(self.model, int(self._get("body")))

    @property
    def axis(self) -> Array:
        """In the body frame."""
        return self._get("axis")  # type: ignore[no-any-return]

    @property
    def range(self) -> Array:
        return self._get("range")  # type: ignore[no-any-return]

    @property
    def damping(self) -> float:
        return float(self._get("damping"))

    @property
    def stiffness(self) -> float:
        return float(self._get("stiffness"))

    @property
    def armature(self) -> float:
        return float(self._get("armature"))

    @property
    def q(self) -> slice:
        """Where its coordinates stand in `q`."""
        at = int(self._get("q"))
        return slice(at, at + _NQ[self._get("type")])

    @property
    def v(self) -> slice:
        """Where its velocities stand in `v`."""
        at = int(self._get("v"))
        return slice(at, at + _NV[self._get("type")])


class Geom(_Part):
    _of = "geom"

    @property
    def type(self) -> str:
        return SHAPES[self._get("type")]

    @property
    def body(self) -> Body:
        return Body(self.model, int(self._get("body")))

    @property
    def size(self) -> Array:
        """As in MJCF: half lengths of a box, radius and half length of a cylinder, ..."""
        return self._get("size")  # type: ignore[no-any-return]

    @property
    def pos(self) -> Array:
        """In the body frame."""
        return self._get("pos")  # type: ignore[no-any-return]

    @property
    def quat(self) -> Array:
        """In the body frame."""
        return self._get("quat")  # type: ignore[no-any-return]

    @property
    def friction(self) -> Array:
        """Sliding, torsional, rolling, as in MJCF."""
        return self._get("friction")  # type: ignore[no-any-return]

    @property
    def mu_static(self) -> float:
        """Below 0: the same as friction[0]."""
        return float(self._get("mu_static"))

    @property
    def restitution(self) -> float:
        return float(self._get("restitution"))

    @property
    def rgba(self) -> NDArray[np.float32]:
        return self._get("rgba")  # type: ignore[no-any-return]


class Actuator(_Part):
    _of = "actuator"

    @property
    def joint(self) -> Joint:
        return Joint(self.model, int(self._get("joint")))

    @property
    def gear(self) -> Array:
        return self._get("gear")  # type: ignore[no-any-return]

    @property
    def ctrl_limited(self) -> bool:
        return bool(self._get("ctrl_limited"))

    @property
    def ctrl_range(self) -> Array:
        return self._get("ctrl_range")  # type: ignore[no-any-return]


class Key:
    """A keyframe."""

    def __init__(self, model: Model, index: int) -> None:
        self.model = model
        self.index = index

    @property
    def name(self) -> str:
        return self.model.key_names[self.index]

    @property
    def q(self) -> Array:
        return self.model._c.key_array(self.index, "q")

    @property
    def v(self) -> Array:
        return self.model._c.key_array(self.index, "v")

    @property
    def ctrl(self) -> Array:
        return self.model._c.key_array(self.index, "ctrl")


class Model:
    """A compiled scene. Made by `load`, `loads` or `Scene.compile`; its arrays are read-only."""

    def __init__(self, core: _core.Model, source: tuple[str, str], changes: dict[str, Array] | None = None) -> None:
        if not isinstance(core, _core.Model):
            raise TypeError("a Model is made by abut.load, abut.loads or Scene.compile")
        # here rather than by the first array, inside compiled code: a program that ends during that import would be aborted
        import numpy  # noqa: F401

        self._c = core
        self._source = source
        self._changes = dict(changes or {})
        self._name_cache: dict[str, tuple[str, ...]] = {}

    # --- sizes and names

    @property
    def nq(self) -> int:
        """Coordinates."""
        return self._c.nq

    @property
    def nv(self) -> int:
        """Velocities."""
        return self._c.nv

    @property
    def nbody(self) -> int:
        """Bodies, with the world, which is body 0."""
        return self._c.nbody

    @property
    def njoint(self) -> int:
        return self._c.njoint

    @property
    def ngeom(self) -> int:
        return self._c.ngeom

    @property
    def nu(self) -> int:
        """Actuators."""
        return self._c.nu

    @property
    def nkey(self) -> int:
        return self._c.nkey

    @property
    def name(self) -> str:
        return self._c.name

    @property
    def file(self) -> str:
        return self._c.file

    @property
    def contact(self) -> str:
        """The contact model of the scene, or the default one."""
        return self._c.contact

    def _names(self, what: str) -> tuple[str, ...]:
        if what not in self._name_cache:
            self._name_cache[what] = self._c.names(what)
        return self._name_cache[what]

    @property
    def body_names(self) -> tuple[str, ...]:
        return self._names("body")

    @property
    def joint_names(self) -> tuple[str, ...]:
        return self._names("joint")

    @property
    def geom_names(self) -> tuple[str, ...]:
        return self._names("geom")

    @property
    def actuator_names(self) -> tuple[str, ...]:
        return self._names("actuator")

    @property
    def key_names(self) -> tuple[str, ...]:
        return self._names("key")

    def index(self, what: str, name: str | int) -> int:
        """The index of a body, joint, geom, actuator or key, by its name or itself."""
        names = self._names(what)
        if isinstance(name, str):
            if name not in names or not name:
                raise unknown(what, name, names)
            return names.index(name)
        try:
            i = name.__index__()
        except AttributeError:
            raise TypeError(f"a {what} is named by a string or an index, not by {type(name).__name__}") from None
        if not -len(names) <= i < len(names):
            raise IndexError(f"there is no {what} {i}; the model has {len(names)}")
        return i % len(names)

    # --- named access

    def body(self, name: str | int) -> Body:
        return Body(self, self.index("body", name))

    def joint(self, name: str | int) -> Joint:
        return Joint(self, self.index("joint", name))

    def geom(self, name: str | int) -> Geom:
        return Geom(self, self.index("geom", name))

    def actuator(self, name: str | int) -> Actuator:
        return Actuator(self, self.index("actuator", name))

    def key(self, name: str | int) -> Key:
        return Key(self, self.index("key", name))

    # --- numbers

    @property
    def gravity(self) -> Array:
        return self._c.field("gravity")

    @property
    def timestep(self) -> float:
        return float(self._c.field("timestep"))

    @property
    def total_mass(self) -> float:
        return float(self._c.field("total_mass"))

    @property
    def q0(self) -> Array:
        """The initial coordinates."""
        return self._c.q0

    @property
    def body_mass(self) -> Array:
        return self._c.field("body_mass")

    @property
    def body_inertia(self) -> Array:
        return self._c.field("body_inertia")

    @property
    def geom_friction(self) -> Array:
        return self._c.field("geom_friction")

    @property
    def geom_size(self) -> Array:
        return self._c.field("geom_size")

    def field(self, name: str) -> NDArray[Any]:
        """Any numbers of the model by name, read-only; `varying_fields()` lists those `changed` takes."""
        return self._c.field(name)

    def changed(self, **numbers: ArrayLike) -> Model:
        """The same model with other numbers: `m.changed(geom_friction=f, body_mass=w)`."""
        import numpy as np

        arrays = dict(self._changes)
        for name, values in numbers.items():
            array = np.ascontiguousarray(values, dtype=np.float64)
            if not np.isfinite(array).all():
                raise ValueError(f"{name} has a number that is not finite")
            shape = self._c.field(name).shape
            if array.shape != shape:
                try:
                    array = np.ascontiguousarray(np.broadcast_to(array, shape))
                except ValueError:
                    raise ValueError(f"{name} has the shape {shape}, not {array.shape}") from None
            arrays[name] = array
        return Model(_core.changed(self._c, arrays), self._source, arrays)

    def json(self, meshes: bool = False) -> str:
        """What `abut info --json` prints."""
        return self._c.json(meshes)

    def __repr__(self) -> str:
        return f"<abut.Model {self.name!r}: {self.nbody - 1} bodies, {self.ngeom} geoms, {self.nu} actuators>"

    # --- copies for other processes: the scene is compiled again there

    def __reduce__(self) -> tuple[Any, tuple[tuple[str, str], dict[str, Array]]]:
        if not self._source[1]:
            raise TypeError("this model cannot be pickled: its scene refers to files; save it and load it from there")
        return _rebuild, (self._source, self._changes)


def _rebuild(source: tuple[str, str], changes: dict[str, Array]) -> Model:
    kind, text = source
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SceneWarning)
        model = load(text) if kind == "file" else loads(text)
    return model.changed(**changes) if changes else model


def _finish(scene: _core.Scene, notes: list[tuple[str, str, int]], source: tuple[str, str]) -> Model:
    for message, file, line in notes:
        warnings.warn(f"{file}:{line}: {message}" if line else f"{file}: {message}", SceneWarning, stacklevel=3)
    return Model(scene.compile(), source)


def load(path: str | os.PathLike[str]) -> Model:
    """A model from an MJCF or URDF file. What is wrong with it is told by a SceneError."""
    path = os.fspath(path)
    if not isinstance(path, str):
        raise TypeError("the path must be a string")
    if not os.path.exists(path):
        raise FileNotFoundError(f"there is no scene file {path!r}")
    if os.path.isdir(path):
        raise IsADirectoryError(f"{path!r} is a folder, not a scene file")
    scene, notes = _core.load(path)
    return _finish(scene, notes, ("file", os.path.abspath(path)))


def loads(xml: str) -> Model:
    """A model from the text of an MJCF or URDF scene. It may refer to no other files."""
    if not isinstance(xml, str):
        raise TypeError(f"the scene must be text, not {type(xml).__name__}")
    scene, notes = _core.loads(xml, "<text>")
    return _finish(scene, notes, ("text", xml))


__all__ = ["Actuator", "Body", "Geom", "Joint", "Key", "Model", "NameNotFound", "SceneError", "load", "loads"]

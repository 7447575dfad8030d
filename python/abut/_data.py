"""Simulations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from . import _core
from ._contacts import contact_numbers, contacts
from ._model import Model
from ._progress import Progress, in_pieces

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from ._record import record

    Array = NDArray[np.float64]


class Stat(NamedTuple):
    """What the last step did, and how well."""

    status: str
    """ok, unconverged or broken"""
    iterations: int
    residual: float
    """comparable with the contact model's parameter `tolerance`"""
    nregularised: int
    note: str | None
    ncandidate: int
    npair: int
    ncontact: int
    nasleep: int
    max_penetration: float
    bad_body: int
    steps: int
    """since the last reset"""
    unconverged: int
    """of these, how many were not solved to the tolerance"""


class Energy(NamedTuple):
    """[J]"""

    kinetic: float
    gravity: float
    spring: float

    @property
    def total(self) -> float:
        return self.kinetic + self.gravity + self.spring


def _row(array: Array, i: int) -> Array:
    return array[i]  # type: ignore[no-any-return]


class BodyView:
    """One body of a simulation: live arrays."""

    def __init__(self, data: Data, index: int) -> None:
        self._data = data
        self.index = index

    @property
    def name(self) -> str:
        return self._data.model.body_names[self.index]

    @property
    def pos(self) -> Array:
        """Centre of mass [m]."""
        return _row(self._data.pos, self.index)

    @property
    def origin(self) -> Array:
        """Origin of the body frame [m]."""
        return _row(self._data.origin, self.index)

    @property
    def quat(self) -> Array:
        """(w, x, y, z), body to world."""
        return _row(self._data.quat, self.index)

    @property
    def rot(self) -> Array:
        """The same as a matrix."""
        return _row(self._data.rot, self.index)

    @property
    def twist(self) -> Array:
        """Velocity of the centre of mass, angular velocity; world axes."""
        return _row(self._data.twist, self.index)

    @property
    def applied(self) -> Array:
        """Force at the centre of mass [N] and torque [N m]; world axes. May be written."""
        return _row(self._data.applied, self.index)

    @applied.setter
    def applied(self, wrench: ArrayLike) -> None:
        self._data.applied[self.index] = wrench

    @property
    def contact_wrench(self) -> Array:
        """Of all contacts of the last step on this body, about its centre of mass."""
        return self._data.wrench_on(self.index, -1)

    @property
    def asleep(self) -> bool:
        return bool(self._data.asleep[self.index])

    def __repr__(self) -> str:
        return f"<body {self.name!r} at {self.pos.tolist()}>"


class JointView:
    """One joint of a simulation: live arrays."""

    def __init__(self, data: Data, index: int) -> None:
        self._data = data
        self.index = index
        joint = data.model.joint(index)
        self._q, self._v = joint.q, joint.v

    @property
    def q(self) -> Array:
        return self._data.q[self._q]

    @q.setter
    def q(self, value: ArrayLike) -> None:
        self._data.q[self._q] = value

    @property
    def v(self) -> Array:
        return self._data.v[self._v]

    @v.setter
    def v(self, value: ArrayLike) -> None:
        self._data.v[self._v] = value


class ActuatorView:
    """One actuator of a simulation."""

    def __init__(self, data: Data, index: int) -> None:
        self._data = data
        self.index = index

    @property
    def ctrl(self) -> float:
        return float(self._data.ctrl[self.index])

    @ctrl.setter
    def ctrl(self, value: float) -> None:
        self._data.ctrl[self.index] = value

    @property
    def force(self) -> float:
        return float(self._data.actuator_force[self.index])


class Data(_core.Data):
    """A simulation of a model.

    `q`, `v`, `ctrl` and `applied` are live arrays: writing into them changes the simulation, and they stay valid after
    the simulation itself is deleted. `pos`, `quat`, `twist` follow from them and are read-only; an array that was taken before q or v was written
    is brought up to date by taking it again, by `forward` or by a step.
    """

    def __init__(self, model: Model) -> None:
        if not isinstance(model, Model):
            raise TypeError(f"Data needs an abut.Model, not {type(model).__name__}")
        super().__init__(model._c)
        self._model = model
        self._recorders: list[record] = []

    def step(self, n: int = 1, strict: bool = False, progress: Progress = False) -> None:
        """n steps of length h, without the interpreter's lock. A step that breaks down is a StepError, and so, with strict, is one that is not
        solved to the tolerance. progress=True: with a bar."""
        if progress is not False:
            in_pieces(lambda some: self.step(some, strict), n, "steps", progress)
            return
        if not self._recorders or not isinstance(n, int) or n < 1:
            super().step(n, strict)
            return
        while n > 0:
            some = min(n, *(r._until_sample() for r in self._recorders)) if n > 1 else n
            super().step(some, strict)
            for r in self._recorders:
                r._stepped(some)
            n -= some

    @property
    def model(self) -> Model:
        return self._model

    # --- results

    @property
    def stat(self) -> Stat:
        return Stat(*self.stat_tuple())

    @property
    def energy(self) -> Energy:
        return Energy(*self.energy_tuple())

    @property
    def momentum(self) -> Array:
        """Momentum, and angular momentum about the world's origin."""
        import numpy as np

        return np.array(self.momentum_tuple())

    @property
    def contacts(self) -> NDArray[Any]:
        """The contacts of the last step as a structured array (a copy), with polygon and pressure."""
        return contacts(self)

    @property
    def contact_numbers(self) -> NDArray[Any]:
        """The same without polygons: faster."""
        return contact_numbers(self)

    def wrench(self, body1: str | int, body2: str | int | None = None) -> Array:
        """Contact force and torque on body1 by body2 (None: by all), about body1's centre of mass."""
        b1 = self.model.index("body", body1)
        return self.wrench_on(b1, -1 if body2 is None else self.model.index("body", body2))

    # --- named access

    def body(self, name: str | int) -> BodyView:
        return BodyView(self, self.model.index("body", name))

    def joint(self, name: str | int) -> JointView:
        return JointView(self, self.model.index("joint", name))

    def actuator(self, name: str | int) -> ActuatorView:
        return ActuatorView(self, self.model.index("actuator", name))

    # --- state

    def reset(self, key: str | int | None = None) -> None:
        """Back to the initial state, or to a keyframe. Settings stay."""
        self.reset_to(key)

    def save(self) -> bytes:
        """The state to the bit: time, q, v, ctrl, applied, what contact remembers, who sleeps."""
        return self.state_get()

    def restore(self, state: bytes) -> None:
        """Puts a saved state back."""
        if not isinstance(state, bytes):
            raise TypeError(f"a saved state is bytes, not {type(state).__name__}")
        self.state_set(state)

    def copy(self) -> Data:
        """Another simulation with the same state and settings."""
        other = Data(self.model)
        other.copy_from(self)
        return other

    def __copy__(self) -> Data:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Data:
        return self.copy()

    def set_contact(self, name: str, **params: float) -> None:
        """Chooses a contact model ("none": no contact) and its parameters; `abut.contact_models()` lists them."""
        self.choose_contact(name)
        for key, value in params.items():
            self.set_param(key, value)

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return _rebuild, (self.model, self.contact, self.params, self.h, self.sleep, self.save())

    def __repr__(self) -> str:
        return f"<abut.Data of {self.model.name!r} at {self.time:.6g} s, {self.ncontact} contacts>"


def _rebuild(model: Model, contact: str, params: dict[str, float], h: float, sleep: bool, state: bytes) -> Data:
    data = Data(model)
    data.set_contact(contact, **params)
    data.h, data.sleep = h, sleep
    data.restore(state)
    return data

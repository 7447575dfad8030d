"""Many worlds at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Sequence

from . import _core
from ._data import Data
from ._errors import whole
from ._model import Model
from ._progress import Bar, Progress

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]


class Batch(_core.Batch):
    """n worlds of one model. `q` (n, nq), `v`, `ctrl`, `applied` (n, nbody, 6) are live arrays; `pos`, `quat`, `twist` follow.

    Worlds are shared out among threads (0: all processors); the numbers are the same for any number of them. A world whose
    step breaks keeps its state, has `status` 2, and is left alone until it is reset.
    """

    def __init__(self, model: Model, n: int, threads: int = 0) -> None:
        if not isinstance(model, Model):
            raise TypeError(f"Batch needs an abut.Model, not {type(model).__name__}")
        super().__init__(model._c, n, threads)
        self._model = model

    @property
    def model(self) -> Model:
        return self._model

    def __len__(self) -> int:
        return self.n

    def expand(self, name: str) -> Array:
        """Gives each world numbers of its own, and returns them as a live array (n, ...).

        Names are those `abut.varying_fields()` lists ("geom_friction", "body_mass", ...) and "contact.NAME" for a parameter
        of the contact model. What is written takes effect when the world is reset.
        """
        return super().expand(name)

    def reset(self, mask: NDArray[np.bool_] | None = None, key: str | int | None = None) -> None:
        """All worlds, or those the mask (n bools) names, back to the initial state or a keyframe."""
        if mask is not None:
            import numpy as np

            given = np.asarray(mask)
            if given.dtype != bool:
                raise TypeError(f"the mask must hold bools, not {given.dtype}")
            mask = np.ascontiguousarray(given)
        super().reset(mask, key)

    def step(self, k: int = 1, progress: Progress = False) -> None:  # type: ignore[override]
        """k steps of every world. A status tells the worst of the call's steps."""
        if progress is False:
            super().step(k)
            return
        with Bar(k, "steps", "steps", progress) as bar:
            super().step(k, bar.call)

    def set_contact(self, name: str, **params: float) -> None:
        self.choose_contact(name, params)

    def wrench(self, body1: str | int, body2: str | int | None = None) -> Array:
        """(n, 6): contact force and torque on body1 by body2 (None: by all), about body1's centre of mass."""
        b1 = self.model.index("body", body1)
        return self.wrench_on(b1, -1 if body2 is None else self.model.index("body", body2))

    def world(self, i: int) -> Data:
        """A simulation of its own that goes on from world i: to look at contacts, to record."""
        data = Data(Model(self.world_model(i), self.model._source))
        self.copy_world(i, data)
        return data

    def __repr__(self) -> str:
        return f"<abut.Batch of {self.n} x {self.model.name!r}, {self.threads} threads>"


class Rollout(NamedTuple):
    """Trajectories: every output has the shape (n, samples, ...)."""

    outputs: dict[str, Array]
    status: NDArray[np.int32]
    """per run: 0 solved, 1 some step was not, 2 broken"""
    length: NDArray[np.int32]
    """per run: samples before it broke; the rest is NaN"""

    def __getitem__(self, name: Any) -> Any:
        if isinstance(name, str):
            return self.outputs[name]
        return tuple.__getitem__(self, name)


def rollout(
    model: Model,
    states: ArrayLike | Sequence[bytes] | bytes,
    controls: ArrayLike | None = None,
    *,
    steps: int | None = None,
    substeps: int = 1,
    applied: ArrayLike | None = None,
    outputs: Sequence[str] = ("q", "v"),
    pairs: Sequence[tuple[str | int, str | int | None]] = (),
    contact: str | None = None,
    params: dict[str, float] | None = None,
    h: float | None = None,
    threads: int = 0,
    progress: Progress = None,
) -> Rollout:
    """Runs from each state under each sequence of controls.

    states: (n, nq) coordinates, (n, nq + nv) coordinates and velocities, or n saved states; one state serves all runs.
    controls: (n, samples, nu); a sequence (samples, nu) serves all runs. Without controls `steps` says how many samples.
    substeps: steps of the simulation per sample. applied: (n, samples, nbody, 6) wrenches.
    outputs: q, v, pos, quat, twist, ctrl, actuator_force, time, energy, ncontact, residual; wrench: of the `pairs` of bodies.
    progress: None for a bar on terminals and in notebooks when it takes long; True, False, or a function of (done, total).
    """
    import numpy as np

    if not isinstance(model, Model):
        raise TypeError(f"rollout needs an abut.Model, not {type(model).__name__}")
    blocks: list[bytes] | None = None
    q = v = None
    if isinstance(states, bytes):
        blocks = [states]
    elif isinstance(states, (list, tuple)) and states and all(isinstance(s, bytes) for s in states):
        blocks = [s for s in states if isinstance(s, bytes)]
    else:
        start = np.atleast_2d(np.asarray(states, dtype=np.float64))
        if start.ndim != 2 or start.shape[1] not in (model.nq, model.nq + model.nv):
            raise ValueError(f"states must be (n, {model.nq}) or (n, {model.nq + model.nv}), not {np.shape(states)}")
        q, v = start[:, : model.nq], start[:, model.nq :]
        if v.shape[1] == 0:
            v = np.zeros((len(q), model.nv))
    n = len(blocks) if blocks is not None else len(start)
    ctrl = _sequence(controls, "controls", (model.nu,))
    wrenches = _sequence(applied, "applied", (model.nbody, 6))
    given = [x for x in (ctrl, wrenches) if x is not None]
    lengths = {x.shape[1] for x in given} | ({whole(steps, "steps")} if steps is not None else set())
    if len(lengths) != 1:
        raise ValueError("say by controls, applied or steps how many samples there are" if not lengths else f"lengths differ: {sorted(lengths)}")
    nsample = lengths.pop()
    sizes = {n} | {len(x) for x in given}
    n = max(sizes)
    if sizes - {1, n}:
        raise ValueError(f"the numbers of states, controls and wrenches differ: {sorted(sizes)}")
    if nsample < 0 or whole(substeps, "substeps") < 1:
        raise ValueError(f"{nsample} samples of {substeps} steps: give at least 0 and 1")
    if not 0 <= whole(threads, "threads") <= 1024:
        raise ValueError(f"{threads} threads: use 0 (all processors) to 1024")
    if h is not None and not 0 < h < float("inf"):
        raise ValueError(f"h must be a number above 0, it is {h}")

    def spread(x: Array | None) -> Array | None:
        return None if x is None else np.ascontiguousarray(np.broadcast_to(x, (n, *x.shape[1:])))

    if blocks is not None and len(blocks) == 1:
        blocks = blocks * n
    index = [(model.index("body", a), -1 if b is None else model.index("body", b)) for a, b in pairs]
    names = list(outputs) + (["wrench"] if index and "wrench" not in outputs else [])
    settings = (contact or "", params or {}, float(h or 0))
    with Bar(n, "rollout", "runs", progress) as bar:
        result, status, length = _core.rollout(
            model._c, n, nsample, blocks, spread(q), spread(v), spread(ctrl), spread(wrenches), substeps, names, index, settings, threads, bar.call
        )
    shapes = {"pos": (model.nbody, 3), "quat": (model.nbody, 4), "twist": (model.nbody, 6), "wrench": (len(index), 6)}
    for name, array in result.items():
        if name in shapes:
            result[name] = array.reshape(n, nsample, *shapes[name])
        elif name in ("time", "energy", "ncontact", "residual"):
            result[name] = array.reshape(n, nsample)
    return Rollout(result, np.array(status, np.int32), np.array(length, np.int32))


def _sequence(values: ArrayLike | None, name: str, item: tuple[int, ...]) -> Array | None:
    import numpy as np

    if values is None:
        return None
    x = np.asarray(values, dtype=np.float64)
    if x.ndim == 1 + len(item):
        x = x[None]
    if x.ndim != 2 + len(item) or x.shape[2:] != item:
        raise ValueError(f"{name} must have the shape (n, samples, {', '.join(map(str, item))}), not {np.shape(values)}")
    return x

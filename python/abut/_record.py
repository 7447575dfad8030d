"""Recordings: made while a simulation steps, read from files, shown in notebooks, as tables."""

from __future__ import annotations

import html
import os
import tempfile
from types import TracebackType
from typing import TYPE_CHECKING, Any

from . import _core
from ._data import Data
from ._errors import SceneError

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import xarray as xr
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


class Page:
    """A replay page. In a notebook it shows itself."""

    def __init__(self, text: str, height: int = 480) -> None:
        self.text = text
        self.height = height

    def save(self, path: str | os.PathLike[str]) -> None:
        with open(path, "w", encoding="utf-8") as f:
            f.write(self.text)

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{html.escape(self.text, quote=True)}" width="100%" height="{self.height}" '
            'style="border:0" sandbox="allow-scripts"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<abut page of {len(self.text) / 1e6:.1f} MB; in a notebook it shows itself, save() writes it>"


class Recording:
    """Samples of a run. Arrays have one row per sample; `contacts` is a list of structured arrays."""

    def __init__(self, columns: dict[str, Any], contacts: list[NDArray[Any]], body_names: tuple[str, ...], joint_names: tuple[str, ...],
                 geom_names: tuple[str, ...], page: str | None = None, file: str | None = None) -> None:
        self.time: Array = columns["time"]
        self.q: Array = columns["q"]
        self.v: Array = columns["v"]
        self.pos: Array = columns["pos"]
        self.quat: Array = columns["quat"]
        self.twist: Array = columns["twist"]
        self.contacts = contacts
        self.body_names, self.joint_names, self.geom_names = body_names, joint_names, geom_names
        self.page, self.file = page, file

    def __len__(self) -> int:
        return len(self.time)

    def to_xarray(self) -> xr.Dataset:
        """pos, quat, twist over (time, body, ...), q and v over (time, ...)."""
        import xarray as xr

        axes = {"pos": ["x", "y", "z"], "quat": ["w", "x", "y", "z"], "twist": ["vx", "vy", "vz", "wx", "wy", "wz"]}
        data: dict[str, Any] = {
            name: (("time", "body", f"{name}_axis"), getattr(self, name)) for name in axes
        } | {"q": (("time", "q_index"), self.q), "v": (("time", "v_index"), self.v)}
        coords: dict[str, Any] = {"time": self.time, "body": list(self.body_names)}
        return xr.Dataset(data, coords=coords | {f"{name}_axis": labels for name, labels in axes.items()})

    def to_pandas(self, what: str = "bodies") -> pd.DataFrame:
        """The tables `abut run --csv` writes: bodies or contacts, one row per sample and body or contact."""
        import numpy as np
        import pandas as pd

        if what == "bodies":
            n, nbody = self.pos.shape[:2]
            numbers = np.concatenate([self.pos, self.quat, self.twist], axis=2)[:, 1:].reshape(-1, 13)
            table = pd.DataFrame(numbers, columns=["x", "y", "z", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy", "wz"])
            table.insert(0, "body", np.tile(self.body_names[1:], n))
            table.insert(0, "time", np.repeat(self.time, nbody - 1))
            return table
        if what != "contacts":
            raise ValueError(f"there is no table {what!r}; there are: bodies, contacts")
        from ._contacts import KINDS, MODES

        rows = []
        for time, contacts in zip(self.time, self.contacts):
            for c in contacts:
                row: dict[str, Any] = {"time": float(time)}
                row |= {f"body{k}": self.body_names[c[f"body{k}"]] for k in (1, 2)}
                row |= {f"geom{k}": self.geom_names[c[f"geom{k}"]] for k in (1, 2)}
                for letter, field in zip("pnft", ("point", "normal", "force", "torque")):
                    row |= {letter + axis: float(x) for axis, x in zip("xyz", c[field])}
                rows.append(row | {"area": float(c["area"]), "depth": float(c["depth"]), "kind": KINDS[c["kind"]], "mode": MODES[c["mode"]]})
        return pd.DataFrame(rows)

    def __repr__(self) -> str:
        return f"<abut.Recording of {len(self)} samples>"


class record:
    """Records a simulation while it steps.

    >>> with abut.record(d, "run.html"):
    ...     d.step(1000)
    >>> with abut.record(d) as r:      # in memory, and as a page
    ...     d.step(1000)
    >>> r.recording.pos; abut.show(r)

    The format follows the name: .h5, .html, .glb, a folder for CSV (a name that ends in '/'). `every`: steps between samples; None: 60 samples a
    second for pages, every step otherwise.
    """

    def __init__(self, data: Data, path: str | os.PathLike[str] | None = None, every: int | None = None) -> None:
        if not isinstance(data, Data):
            raise TypeError(f"record needs an abut.Data, not {type(data).__name__}")
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._in_memory = path is None
        if path is None:
            self._folder = tempfile.TemporaryDirectory()
            path = os.path.join(self._folder.name, "run.html")
        self.path = os.fspath(path)
        if every is not None and (not isinstance(every, int) or every < 1):
            raise ValueError(f"every {every} steps: give a whole number of 1 or more")
        picture = self.path.endswith((".html", ".htm", ".glb"))
        self.every = every or (max(1, int(1 / 60 / data.h * (1 + 1e-9))) if picture else 1)
        self._data = data
        self._rows: list[tuple[Any, ...]] = []
        self._recorder: _core.Recorder | None = None
        self._steps = 0
        self.recording: Recording | None = None

    def __enter__(self) -> record:
        try:
            self._recorder = _core.Recorder(self.path, self._data)
        except SceneError:
            if not self._in_memory:
                raise
            # this installation has no page (it was built without npm): the numbers are recorded all the same
        self._data._recorders.append(self)
        self._sample()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._data._recorders.remove(self)
        if self._recorder is not None:
            self._recorder.close()
        if not self._in_memory:
            return
        import numpy as np

        page = None
        if self._recorder is not None:
            with open(self.path, encoding="utf-8") as f:
                page = f.read()
        names = ("time", "q", "v", "pos", "quat", "twist")
        columns = {name: np.array([row[k] for row in self._rows]) for k, name in enumerate(names)}
        m = self._data.model
        self.recording = Recording(columns, [row[-1] for row in self._rows], m.body_names, m.joint_names, m.geom_names, page)
        if self._folder is not None:
            self._folder.cleanup()

    def _sample(self) -> None:
        if self._recorder is not None:
            self._recorder.sample(self._data)
        if self._in_memory:
            d = self._data
            self._rows.append((d.time, d.q.copy(), d.v.copy(), d.pos.copy(), d.quat.copy(), d.twist.copy(), d.contacts))

    # called by Data.step
    def _until_sample(self) -> int:
        return self.every - self._steps % self.every

    def _stepped(self, n: int) -> None:
        self._steps += n
        if self._steps % self.every == 0:
            self._sample()


def show(what: Data | Recording | record | str | os.PathLike[str], time: float | None = None, height: int = 480) -> Page:
    """The replay page of a recording, of an .html or .h5 file, or of a simulation: as it stands, or its next `time` seconds (of a copy)."""
    if isinstance(what, record):
        if not what._in_memory:
            return show(what.path, height=height)
        if what.recording is None:
            raise ValueError("the recording is not finished; leave the with block first")
        what = what.recording
    if isinstance(what, Recording):
        if what.page is None and what.file is not None:
            what.page = _page_of(what.file)
        if what.page is None:
            raise ValueError("this recording has no page: abut was built without npm")
        return Page(what.page, height)
    if isinstance(what, Data):
        copy = what.copy()
        with record(copy) as r:
            copy.step(round((time or 0) / copy.h))
        return show(r, height=height)
    path = os.fspath(what)
    if path.endswith(".h5"):
        return Page(_page_of(path), height)
    if not path.endswith((".html", ".htm")):
        raise ValueError(f"{path!r} is neither a page (.html) nor a recording (.h5)")
    with open(path, encoding="utf-8") as f:
        return Page(f.read(), height)


def read_recording(path: str | os.PathLike[str]) -> Recording:
    """An HDF5 recording: of `abut.record(d, "run.h5")` or of `abut run --record run.h5`."""
    import numpy as np

    from ._contacts import contact_dtype, number_dtype

    file = _open(path)
    rows = [file.sample(i) for i in range(file.count)]
    names = ("time", "q", "v", "pos", "quat", "twist")
    columns = {name: np.array([row[k] for row in rows]) for k, name in enumerate(names)}
    contacts = []
    for row in rows:
        numbers = np.frombuffer(row[6], number_dtype())
        a = np.empty(len(numbers), contact_dtype())
        for name in number_dtype().names or ():
            a[name] = numbers[name]
        for k, (polygon, pressure) in enumerate(row[7]):
            a["polygon"][k], a["pressure"][k] = polygon, pressure
        contacts.append(a)
    body, joint, geom = (tuple(file.names(what)) for what in ("body", "joint", "geom"))
    return Recording(columns, contacts, body, joint, geom, file=os.fspath(path))


def _open(path: str | os.PathLike[str]) -> _core.Recording:
    path = os.fspath(path)
    if not os.path.exists(path):
        raise FileNotFoundError(f"there is no recording {path!r}")
    return _core.Recording(path)


def _page_of(path: str) -> str:
    """The replay page of an HDF5 recording."""
    with tempfile.TemporaryDirectory() as folder:
        page = os.path.join(folder, "run.html")
        _open(path).convert(page)
        with open(page, encoding="utf-8") as f:
            return f.read()

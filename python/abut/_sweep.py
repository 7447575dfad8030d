"""Sweeps: one scene, many runs with other numbers. The engine is that of `abut sweep`; doc/sweeps.md describes specifications."""

from __future__ import annotations

import json
import os
import re
import tempfile
from typing import TYPE_CHECKING, Any, Iterator, Mapping

from . import _core
from ._errors import SceneError
from ._model import Model
from ._progress import Bar, Progress
from ._scene import Scene

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

STATUS = ("ok", "broken", "timeout", "refused")


class Sweep:
    """The results of a sweep, in the order of its runs.

    `s["x"]` is a column: a varied number, a measure, "run", "status" ("ok", "broken", "timeout", "refused"), "residual" (the largest of
    the run), "time", or "hash" where it was kept. `s.state` has the final q and v where `keep` asked for them.
    """

    def __init__(self, varied: tuple[str, ...], measured: tuple[str, ...], columns: dict[str, NDArray[Any]], state: Array | None,
                 missing: int = 0, out: str | None = None) -> None:
        self.varied, self.measured = varied, measured
        self.columns = columns
        self.state = state
        self.missing = missing
        """Runs that are not there: those of other shards."""
        self.out = out
        self.why: str | None = None
        """Of a single run that is not ok: what went wrong."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.columns)

    @property
    def run(self) -> NDArray[np.int64]:
        return self.columns["run"]

    @property
    def status(self) -> NDArray[np.str_]:
        return self.columns["status"]

    @property
    def ok(self) -> NDArray[np.bool_]:
        """Which runs came to their end."""
        import numpy as np

        return np.asarray(self.status == "ok")

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name not in self.columns:
            from ._errors import unknown

            raise unknown("column", name, self.names)
        return self.columns[name]

    def __len__(self) -> int:
        return len(self.columns["run"])

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def table(self) -> NDArray[Any]:
        """All columns as one structured array, as the table of results.h5."""
        import numpy as np

        all_ = np.empty(len(self), [(name, column.dtype) for name, column in self.columns.items()])
        for name, column in self.columns.items():
            all_[name] = column
        return all_

    def to_pandas(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame(self.columns)

    def __repr__(self) -> str:
        import numpy as np

        count = {name: int(np.sum(self.status == name)) for name in STATUS}
        told = ", ".join(f"{n} {name}" for name, n in count.items() if n)
        return f"<abut.Sweep of {len(self)} runs ({told or 'none'}): {', '.join(self.varied)} -> {', '.join(self.measured)}>"


def sweep(
    spec: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    *,
    out: str | os.PathLike[str] | None = None,
    threads: int = 0,
    shard: str | None = None,
    resume: bool = False,
    csv: bool = True,
    digits: int = 10,
    run: int | None = None,
    record_to: str | os.PathLike[str] | None = None,
    progress: Progress = None,
    **entries: Any,
) -> Sweep:
    """Runs a scene many times with other numbers, and returns what was measured as arrays.

    >>> s = abut.sweep(scene="slide.xml", time=5, stop={"rest": True}, samples=100,
    ...                vary={"geom.cube.friction": {"uniform": [0.1, 0.9]}}, measure={"x": "body.cube.x"})
    >>> s["geom.cube.friction"], s["x"]

    spec: a file (.json, .toml) or a dict with its entries; `entries` are added to it, or replace it. The scene may also be an
    `abut.Model` or an `abut.Scene`. Nothing is written, unless `out` names a folder: then it gets results.h5, results.csv (`csv`, `digits`) and index.html,
    a sweep that was interrupted goes on with `resume`, and `shard` "I/N" does a part. `run` K: only that run, recorded to the file `record_to` if one is named. threads: 0 for all processors; any number gives the same results.
    """
    if isinstance(threads, bool) or not isinstance(threads, int) or not 0 <= threads <= 1024:
        raise ValueError(f"{threads!r} threads: give a whole number from 0 (all processors) to 1024")
    if isinstance(digits, bool) or not isinstance(digits, int) or not 1 <= digits <= 17:
        raise ValueError(f"digits {digits!r}: give a whole number from 1 to 17")
    if out is None and (resume or shard is not None):
        raise ValueError("resume and shard need a folder: out=...")
    if run is not None and out is not None or run is None and record_to is not None:
        raise ValueError("run= repeats a single run, in memory; record_to= goes with it, out= does not")
    if out is not None and not _core.HAS_HDF5:
        raise NotImplementedError("this build of abut has no HDF5 to write results.h5; leave out= away, or use the program abut")
    with tempfile.TemporaryDirectory() as folder:
        core = _open(spec, entries, folder)
        if run is not None:
            return _one(core, run, record_to)
        if out is None and core.nrecord:
            raise ValueError('the specification asks for recordings ("record"); they need a folder: out=...')
        with Bar(core.count, "sweep", "runs", progress) as bar:
            if out is None:
                return _results(core, None, _run(core, threads, bar))
            try:
                number, rows, missing = core.run_in(os.fspath(out), _shard(shard), resume, csv, digits, threads, bar.call)
            except SceneError as error:
                raise SceneError(error.message.replace("--resume", "resume=True"), error.file, error.line) from None
        if rows is None:
            return _from_file(core, os.fspath(out))
        return _results(core, number, rows, missing, os.fspath(out))


def _run(core: _core.Sweep, threads: int, bar: Bar) -> Array:
    try:
        return core.run(threads, bar.call)
    except MemoryError:
        raise MemoryError(f"no memory for the rows of {core.count} runs; write them to a folder (out=...), or make fewer") from None


def _one(core: _core.Sweep, run: int, record_to: str | os.PathLike[str] | None) -> Sweep:
    import numpy as np

    if isinstance(run, bool) or not isinstance(run, int):
        raise TypeError(f"run {run!r}: give a whole number")
    rows, why = core.run_one(run, None if record_to is None else os.fspath(record_to))
    s = _results(core, np.array([run]), rows, core.count - 1)
    s.why = why or None
    return s


def _shard(text: str | None) -> tuple[int, int]:
    if text is None:
        return 0, 0
    match = re.fullmatch(r"(\d{1,7})/(\d{1,7})", text) if isinstance(text, str) else None
    if match is None or not 0 <= int(match[1]) <= int(match[2]) <= 1000000 or int(match[2]) < 1:
        raise ValueError(f"shard {text!r}: write it as 'I/N', I from 0 to N - 1 or from 1 to N")
    return int(match[1]), int(match[2])


def _plain(value: Any) -> Any:
    """What json does not know: numbers and arrays of numpy, paths."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(f"a {type(value).__name__} has no place in a specification: {value!r}")


def _scene_file(scene: Any, folder: str) -> Any:
    path = os.path.join(folder, "scene.xml")
    if isinstance(scene, Scene):
        scene.save(path)
        return path
    if not isinstance(scene, Model):
        return scene
    if scene._changes:
        raise ValueError('the numbers of this model were changed; give them in "set", or vary them')
    kind, text = scene._source
    if not text:
        raise ValueError("the scene of this model is not known any more; give its file, or the abut.Scene it was made of")
    if kind == "file":
        return text
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def _open(spec: Any, entries: dict[str, Any], folder: str) -> _core.Sweep:
    if spec is None or isinstance(spec, Mapping):
        given: dict[str, Any] = {**(spec or {}), **entries}
        if "scene" in given:
            given["scene"] = _scene_file(given["scene"], folder)
            if isinstance(given["scene"], os.PathLike):
                given["scene"] = os.fspath(given["scene"])
        try:
            text = json.dumps(given, default=_plain, allow_nan=False)
        except ValueError as error:
            raise ValueError(f"the specification holds a number that is not finite ({error})") from None
        return _core.Sweep.parse(text, os.getcwd())
    if not isinstance(spec, (str, os.PathLike)):
        raise TypeError(f"a specification is a file or a dict, not {type(spec).__name__}")
    path = os.fspath(spec)
    if entries:
        raise ValueError(f"{', '.join(entries)}: entries are added to a dict, not to a file; read it first (json.load)")
    if not os.path.exists(path):
        raise FileNotFoundError(f"there is no specification {path!r}")
    return _core.Sweep.load(path)


def _results(core: _core.Sweep, number: NDArray[np.int64] | None, rows: Array, missing: int = 0, out: str | None = None) -> Sweep:
    import numpy as np

    varied, measured = tuple(core.varied), tuple(core.measured)
    at = len(varied) + len(measured)
    columns: dict[str, NDArray[Any]] = {"run": np.arange(len(rows)) if number is None else number}
    for i, name in enumerate(varied + measured):
        columns[name] = rows[:, i].copy()
    columns["status"] = np.array(STATUS)[rows[:, at].astype(int)]
    columns["residual"], columns["time"] = rows[:, at + 1].copy(), rows[:, at + 2].copy()
    end = at + 3
    if core.keeps_hash:
        columns["hash"] = np.ascontiguousarray(rows[:, end]).view(np.uint64)
        end += 1
    state = rows[:, end : end + core.nstate].copy() if core.nstate else None
    return Sweep(varied, measured, columns, state, missing, out)


def _from_file(core: _core.Sweep, out: str) -> Sweep:
    """A folder that was complete: its rows are in results.h5 alone."""
    try:
        import h5py
    except ImportError:
        raise ImportError(f"all runs of {out!r} are done; to read its results.h5 install h5py (pip install h5py)") from None
    import numpy as np

    with h5py.File(os.path.join(out, "results.h5"), "r") as f:
        table = f["results"][:]
        state = f["state"][:] if "state" in f else None
    columns: dict[str, NDArray[Any]] = {name: np.ascontiguousarray(table[name]) for name in table.dtype.names}
    columns["status"] = np.array(STATUS)[columns["status"].astype(int)]
    return Sweep(tuple(core.varied), tuple(core.measured), columns, state, 0, out)

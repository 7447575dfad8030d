"""abut: rigid bodies that touch over areas.

>>> import abut
>>> m = abut.load("scene.xml")
>>> d = abut.Data(m)
>>> d.step(1000)
>>> d.body("cube").pos
"""

from __future__ import annotations

import os as _os
from typing import TYPE_CHECKING, Any

# The page that replays recordings comes with the package.
_share = _os.path.join(_os.path.dirname(__file__), "share")
if _os.path.exists(_os.path.join(_share, "replay.html")):
    _os.environ.setdefault("ABUT_DATA_DIR", _share)

from . import _core
from ._batch import Batch, Rollout, rollout
from ._data import Data, Energy, Stat
from ._errors import NameNotFound, SceneError, SceneWarning, StepError
from ._model import Model, load, loads
from ._scene import Scene

__version__ = _core.version()


def contact_models() -> dict[str, dict[str, Any]]:
    """The contact models: what each is, and its parameters with default, unit and meaning."""
    return {
        name: {"summary": summary, "source": source, "params": {p: {"default": x, "unit": u, "doc": d} for p, x, u, d in params}}
        for name, summary, source, params in _core.contact_models()
    }


def varying_fields() -> list[str]:
    """Names that `Model.changed` and `Batch.expand` take."""
    return _core.varying_fields()


# These need more than numpy, or are rarely wanted: imported when they are asked for.
_LATER = {
    "record": "_record", "show": "_record", "Recording": "_record", "read_recording": "_record",
    "from_mujoco": "_mujoco", "plot": "plot", "gym": "gym", "sweep": "_sweep", "Sweep": "_sweep",
    "render": "_picture",
}

if TYPE_CHECKING:
    from . import gym, plot
    from ._mujoco import from_mujoco
    from ._picture import render
    from ._record import Recording, read_recording, record, show
    from ._sweep import Sweep, sweep


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'abut' has no attribute {name!r}")
    import importlib

    module = importlib.import_module("." + _LATER[name], __name__)
    return module if _LATER[name] == name else getattr(module, name)


from ._register import register_when_imported as _register

_register()


def __dir__() -> list[str]:
    return sorted(__all__)


__all__ = [
    "Batch", "Data", "Energy", "Model", "NameNotFound", "Recording", "Rollout", "Scene", "SceneError", "SceneWarning", "Stat", "StepError", "Sweep",
    "contact_models", "from_mujoco", "gym", "load", "loads", "plot", "read_recording", "record", "render", "rollout", "show", "sweep", "varying_fields",
]

"""Tells gymnasium of the environments as soon as both packages are imported, whichever comes first.

Importing gymnasium takes longer than importing abut; so abut does not do it, but waits for it.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from types import ModuleType
from typing import Any, Sequence

TASKS = {"PushT": 200, "PlaceOnEdge": 120, "Stack": 150, "SlideToTarget": 100, "PegInHole": 150}
"""The environments, and after how many steps an episode is cut off."""


def register() -> None:
    import gymnasium

    for name, steps in TASKS.items():
        if f"abut/{name}-v0" in gymnasium.registry:
            continue
        gymnasium.register(
            id=f"abut/{name}-v0", entry_point=f"abut.gym:{name}Env", vector_entry_point=f"abut.gym:{name}VectorEnv", max_episode_steps=steps
        )


class _Loader(importlib.abc.Loader):
    """Loads gymnasium as its own loader would, and registers after that."""

    def __init__(self, loader: importlib.abc.Loader, finder: _Finder) -> None:
        self._loader = loader
        self._finder = finder

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        if self._finder in sys.meta_path:
            sys.meta_path.remove(self._finder)
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        register()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self) -> None:
        self._looking = False

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> importlib.machinery.ModuleSpec | None:
        if name != "gymnasium" or self._looking:
            return None
        self._looking = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._looking = False
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self)
        return spec


def register_when_imported() -> None:
    if "gymnasium" in sys.modules:
        if hasattr(sys.modules["gymnasium"], "register"):
            register()
    else:
        sys.meta_path.insert(0, _Finder())

"""Importing is light."""

from __future__ import annotations

import importlib.util
import subprocess
import sys


def test_importing_brings_nothing_heavy_along() -> None:
    code = "import abut, sys; print([m for m in ('numpy', 'gymnasium', 'matplotlib', 'pandas', 'h5py') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_what_is_promised_is_there() -> None:
    import abut

    assert set(abut.__all__) <= set(dir(abut))
    for name in abut.__all__:
        if name != "gym" or importlib.util.find_spec("gymnasium"):
            assert getattr(abut, name) is not None
    assert abut.__version__

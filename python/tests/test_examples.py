"""The examples run, and their types are right."""

from __future__ import annotations

import importlib.util
import pathlib
import subprocess
import sys

import numpy as np
import pytest

from conftest import ROOT

EXAMPLES = ROOT / "python" / "examples"


def mypy(*words: str) -> None:
    command = [sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports", "--cache-dir", "build/mypy", *words]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


def test_types_are_strict() -> None:
    pytest.importorskip("mypy")
    mypy("-p", "abut")
    for example in sorted(EXAMPLES.glob("*.py")):
        mypy(str(example))


def test_training_goes_round() -> None:
    pytest.importorskip("gymnasium")
    spec = importlib.util.spec_from_file_location("train", EXAMPLES / "train.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    curve = module.train("abut/SlideToTarget-v0", minutes=0.001, worlds=4, seed=0, quiet=True, length=120)
    assert len(curve) >= 1 and curve[0][1] == 480 and np.isfinite(curve[0][2])


@pytest.mark.parametrize("name", [p.name for p in sorted(EXAMPLES.glob("*.py")) if p.name != "train.py"])
def test_examples_run(name: str, tmp_path: pathlib.Path) -> None:
    done = subprocess.run([sys.executable, str(EXAMPLES / name)], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout

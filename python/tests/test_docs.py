"""What the documents tell to type does run."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT


@pytest.mark.parametrize("name", ["README.md", "doc/python.md"])
def test_the_examples_of_a_document_run_one_after_the_other(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    for folder in ("scenes", "examples"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / name).read_text(), re.S)
    names: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, name, "exec"), names)
    assert blocks and "abut" in names

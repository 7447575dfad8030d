"""The notebooks run from top to bottom. Their pictures are left in build/notebooks to be looked at."""

from __future__ import annotations

import base64
import importlib.util
import json
import pathlib

import pytest

from conftest import ROOT

FOLDER = ROOT / "python" / "notebooks"
OUT = ROOT / "build" / "notebooks"


@pytest.mark.parametrize("name", sorted(p.stem for p in FOLDER.glob("*.ipynb")))
def test_a_notebook_runs(name: str) -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    pytest.importorskip("matplotlib")
    book = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    nbclient.NotebookClient(book, timeout=300, kernel_name="python3").execute()
    OUT.mkdir(parents=True, exist_ok=True)
    pictures = 0
    for cell in book.cells:
        for output in cell.get("outputs", []):
            if "image/png" in output.get("data", {}):
                (OUT / f"{name}_{pictures}.png").write_bytes(base64.b64decode(output["data"]["image/png"]))
                pictures += 1
    assert pictures > 0


def test_notebooks_are_those_of_their_source(tmp_path: pathlib.Path) -> None:
    spec = importlib.util.spec_from_file_location("make", FOLDER / "make.py")
    assert spec is not None and spec.loader is not None
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    for name, cells in make.NOTEBOOKS.items():
        assert json.loads((FOLDER / f"{name}.ipynb").read_text()) == make.notebook(cells), name

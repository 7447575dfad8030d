"""Sweeps from Python are those of the program, and come back as arrays."""

from __future__ import annotations

import csv
import json
import pathlib
import signal
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import abut

from conftest import BOX, SCENES, run_program

SPEC: dict[str, Any] = {
    "scene": str(SCENES / "slide.xml"), "time": 0.3, "step": 0.001, "samples": 5, "seed": 3, "set": {"key.slide.qvel[1]": 0},
    "vary": {"geom.cube.friction": {"grid": [0.2, 0.8, 4]}, "key.slide.qvel[0]": {"uniform": [1, 2]}},
    "measure": {"x": "body.cube.x", "slip": "contact.cube.floor.slip", "lost": "energy_lost"}, "keep": {"hash": True, "state": True},
}


def test_columns_are_arrays_in_the_order_of_the_runs() -> None:
    s = abut.sweep(SPEC)
    assert s.names == ("run", *SPEC["vary"], *SPEC["measure"], "status", "residual", "time", "hash")
    assert len(s) == 20 and s.missing == 0 and s.ok.all() and np.array_equal(s.run, np.arange(20))
    assert np.allclose(s["geom.cube.friction"], np.repeat([0.2, 0.4, 0.6, 0.8], 5), rtol=1e-15)
    # v t - mu g t^2 / 2 as long as the cube slides; it sinks in and stops within steps, each of which costs less than mu g h^2 = 8e-6 m
    mu, v = s["geom.cube.friction"], s["key.slide.qvel[0]"]
    t = np.minimum(0.3, v / (9.81 * mu))
    assert np.allclose(s["x"], v * t - mu * 9.81 * t**2 / 2, atol=1e-5)
    assert s.state is not None and s.state.shape == (20, 13) and np.array_equal(s.state[:, 0], s["x"])
    assert s.table().dtype.names == s.names


def test_they_equal_the_program_to_the_bit(program: str, tmp_path: pathlib.Path) -> None:
    spec = tmp_path / "spec.json"
    spec.write_text(json.dumps(SPEC))
    run_program(program, "sweep", str(spec), "--out", str(tmp_path / "a"), "--quiet", "--digits", "17")
    from_file, from_dict = abut.sweep(spec, threads=1), abut.sweep(SPEC, threads=3)
    stored = abut.sweep(SPEC, out=tmp_path / "b", digits=17)
    with open(tmp_path / "a" / "results.csv", newline="") as f:
        rows = list(csv.DictReader(f))
    for s in (from_file, from_dict, stored):
        for name in ("geom.cube.friction", "x", "slip", "lost", "residual", "time"):
            assert np.array_equal(s[name], [float(r[name]) for r in rows]), name
        assert np.array_equal(s["hash"], [int(r["hash"], 16) for r in rows])
    assert (tmp_path / "a" / "results.csv").read_bytes() == (tmp_path / "b" / "results.csv").read_bytes()
    assert (tmp_path / "b" / "index.html").exists()


def test_shards_and_resume(tmp_path: pathlib.Path) -> None:
    whole = abut.sweep(SPEC)
    parts = [abut.sweep(SPEC, out=tmp_path / "all", shard=f"{i}/2", resume=True) for i in (0, 1)]
    # they share the folder: the second one has it all
    assert parts[0].missing == 10 and len(parts[0]) == 10
    assert parts[1].missing == 0 and np.array_equal(parts[1]["x"], whole["x"])
    pytest.importorskip("h5py")
    again = abut.sweep(SPEC, out=tmp_path / "all", resume=True)
    for name in whole:
        assert np.array_equal(again[name], whole[name]), name
    assert again.state is not None and whole.state is not None and np.array_equal(again.state, whole.state)


def test_scenes_may_be_objects() -> None:
    what: dict[str, Any] = {"time": 0.1, "vary": {"geom.box.friction": [0.2, 0.4]}, "measure": {"z": "body.box.z"}}
    s = abut.Scene("box", timestep=0.001)
    s.add_geom("floor", type="plane", size=(1, 1, 0.1))
    b = s.add_body("box", pos=(0, 0, 0.05), free=True)
    s.add_geom("box", body=b, type="box", size=(0.05, 0.05, 0.05), mass=0.5)
    for scene in (s, abut.loads(BOX)):
        # it stands: the patch gives way by less than a tenth of a millimetre
        assert np.allclose(abut.sweep(scene=scene, **what)["z"], 0.05, atol=1e-4)
    with pytest.raises(ValueError, match='"set"'):
        abut.sweep(scene=abut.loads(BOX).changed(geom_friction=0.1), **what)


def test_numpy_numbers_are_numbers() -> None:
    spec = SPEC | {"vary": {"geom.cube.friction": {"list": np.linspace(0.2, 0.4, 3)}}, "samples": np.int64(1)}
    assert len(abut.sweep(spec)) == 3


def test_a_run_that_breaks_is_a_row() -> None:
    s = abut.sweep(SPEC | {"vary": {"geom.cube.size[0]": [0.5, -1.0]}, "samples": 1})
    assert list(s.status) == ["ok", "refused"] and np.isnan(s["x"][1]) and list(s.ok) == [True, False]
    assert "1 refused" in repr(s)


def test_a_run_is_repeated_alone(tmp_path: pathlib.Path) -> None:
    whole, one = abut.sweep(SPEC), abut.sweep(SPEC, run=7, record_to=tmp_path / "run7.h5")
    assert len(one) == 1 and one.run[0] == 7 and one["hash"][0] == whole["hash"][7] and one.why is None
    assert abut.read_recording(tmp_path / "run7.h5").pos[-1, 1, 0] == whole["x"][7]
    broken = abut.sweep(SPEC | {"vary": {"geom.cube.size[0]": [0.5, -1.0]}, "samples": 1}, run=1)
    assert broken.why is not None and "half lengths" in broken.why
    for wrong in ({"run": 20}, {"run": -1}, {"record_to": "x.h5"}, {"run": 1, "out": tmp_path}):
        with pytest.raises(ValueError):
            abut.sweep(SPEC, **wrong)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"vary": {"geom.cub.friction": [1.0]}}, "did you mean 'cube'|cube"),
        ({"vary": {"geom.cube.friction": {"grid": [0, 1, 0]}}}, "geom.cube.friction"),
        ({"vary": {}}, "vary"),
        ({"measure": {"x": "body.cube.q"}}, "body.cube.q|'q'"),
        ({"measure": {"run": "body.cube.x"}}, "run"),
        ({"scene": "no_such_scene.xml"}, "no_such_scene.xml"),
        ({"sampels": 3}, "did you mean 'samples'|samples"),
        ({"contact": "pach"}, "patch"),
        ({"samples": 10**15}, "runs"),
        ({"time": float("nan")}, "finite"),
        ({"record": [0]}, "out="),
    ],
)
def test_bad_specifications_are_told_before_anything_runs(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        abut.sweep(SPEC | change)


def test_wrong_arguments_are_told(tmp_path: pathlib.Path) -> None:
    wrong: list[tuple[type[Exception], dict[str, Any]]] = [
        (ValueError, {"threads": -1}), (ValueError, {"threads": 2.5}), (ValueError, {"digits": 0}), (ValueError, {"resume": True}),
        (ValueError, {"shard": "0/2"}), (ValueError, {"shard": "3", "out": tmp_path}), (ValueError, {"shard": "3/2", "out": tmp_path}),
        (TypeError, {"progress": 3}), (TypeError, {"vary": {"geom.cube.friction": object()}}), (ValueError, {"scenes": "x.xml"}),
    ]
    for error, options in wrong:
        with pytest.raises(error):
            abut.sweep(SPEC, **options)
    with pytest.raises(FileNotFoundError):
        abut.sweep(tmp_path / "none.json")
    with pytest.raises(TypeError):
        abut.sweep(3)  # type: ignore[arg-type]
    abut.sweep(SPEC, out=tmp_path / "out")
    with pytest.raises(abut.SceneError, match="resume=True"):
        abut.sweep(SPEC, out=tmp_path / "out")
    with pytest.raises(MemoryError, match="out="):
        abut.sweep(SPEC, samples=10**12)
    with pytest.raises(KeyError, match="did you mean 'slip'"):
        abut.sweep(SPEC)["slep"]


def test_progress_is_told_and_may_end_it() -> None:
    told: list[float] = []
    abut.sweep(SPEC, progress=lambda done, total: told.append(done / total))
    assert told[-1] == 1 and told == sorted(told)

    def enough(done: float, total: float) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        abut.sweep(SPEC | {"samples": 100000}, progress=enough)


def test_an_interrupted_sweep_goes_on(tmp_path: pathlib.Path) -> None:
    spec = SPEC | {"samples": 150}
    code = f"""
import abut, os, signal
seen = []
def look(done, total):
    if done > 0 and not seen:
        seen.append(1)
        os.kill(os.getpid(), signal.SIGINT)
abut.sweep({spec!r}, out={str(tmp_path / 'out')!r}, progress=look)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert "KeyboardInterrupt" in done.stderr and done.returncode in (1, 130, -signal.SIGINT), done.stderr
    told: list[float] = []
    s = abut.sweep(spec, out=tmp_path / "out", resume=True, progress=lambda n, total: told.append(n))
    assert told[0] > 0 and len(s) == 600 and s.missing == 0
    assert np.array_equal(s["x"], abut.sweep(spec)["x"])

"""Recordings in memory and in files tell what the simulation did."""

from __future__ import annotations

import concurrent.futures
import csv
import os
import pathlib

import numpy as np
import pytest

import abut

from conftest import SCENES, run_program


HAS_PAGE = os.path.exists(os.path.join(os.environ.get("ABUT_DATA_DIR", ""), "replay.html"))
needs_h5 = pytest.mark.skipif(not abut._core.HAS_HDF5, reason="this build has no HDF5")
needs_page = pytest.mark.skipif(not HAS_PAGE, reason="this build has no replay page (it needs npm)")


def test_every_step_is_in_the_tables(data: abut.Data, tmp_path: pathlib.Path) -> None:
    data.v[0] = 0.5
    with abut.record(data, f"{tmp_path}/run/"):
        data.step(10)
        data.step(5)
    with open(tmp_path / "run" / "bodies.csv", newline="") as f:
        rows = list(csv.DictReader(f))
    assert len(rows) == 16
    assert float(rows[-1]["x"]) == data.body("box").pos[0]


def test_a_recording_in_memory(data: abut.Data) -> None:
    data.v[0] = 0.5
    with abut.record(data, every=4) as r:
        data.step(10)
        data.step(10)
    rec = r.recording
    assert rec is not None and len(rec) == 6
    assert np.allclose(rec.time, np.arange(6) * 4 * data.h)
    assert np.array_equal(rec.q[-1], data.q) and np.array_equal(rec.pos[-1], data.pos)
    assert len(rec.contacts[0]) == 0 and len(rec.contacts[-1]) == 1


@needs_page
def test_a_recording_shows_itself(data: abut.Data) -> None:
    with abut.record(data) as r:
        data.step(30)
    page = abut.show(r)
    assert "<html" in page.text.lower() and "iframe" in page._repr_html_()


def test_stepping_under_a_recorder_changes_nothing(box: abut.Model, tmp_path: pathlib.Path) -> None:
    a, b = abut.Data(box), abut.Data(box)
    a.v[0] = b.v[0] = 0.7
    with abut.record(a, f"{tmp_path}/x.glb"):
        a.step(200)
    b.step(200)
    assert a.hash == b.hash


@needs_page
def test_a_simulation_shows_itself(data: abut.Data, tmp_path: pathlib.Path) -> None:
    before = data.hash
    page = abut.show(data, time=0.05)
    assert data.hash == before
    page.save(tmp_path / "p.html")
    assert abut.show(tmp_path / "p.html").text == page.text


def test_tables(data: abut.Data) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("xarray")
    with abut.record(data, every=5) as r:
        data.step(20)
    rec = r.recording
    assert rec is not None
    bodies, contacts, cube = rec.to_pandas(), rec.to_pandas("contacts"), rec.to_xarray()
    assert len(bodies) == 5 and bodies["z"].iloc[-1] == data.body("box").pos[2]
    assert len(contacts) == 4 and contacts["body1"].iloc[0] == "box" and contacts["kind"].iloc[0] == "surface"
    assert float(cube.pos.sel(body="box", pos_axis="z")[-1]) == data.body("box").pos[2]
    with pytest.raises(ValueError, match="no table"):
        rec.to_pandas("colours")


def test_recordings_of_the_program_are_read(program: str, tmp_path: pathlib.Path) -> None:
    scene, path = str(SCENES / "slide.xml"), str(tmp_path / "run.h5")
    run_program(program, "run", scene, "--time", "0.1", "--record", path, "--quiet")
    rec = abut.read_recording(path)
    d = abut.Data(abut.load(scene))
    d.step(len(rec) - 1)
    assert np.array_equal(rec.q[-1], d.q) and np.array_equal(rec.quat[-1], d.quat)
    last = d.contacts
    assert len(rec.contacts[-1]) == len(last)
    for name in ("point", "force", "torque", "area", "free_moment", "body1", "geom2", "mode"):
        assert np.array_equal(rec.contacts[-1][name], last[name]), name
    assert np.array_equal(rec.contacts[-1]["polygon"][0], last["polygon"][0])


@needs_h5
def test_hdf5_from_here_is_that_of_the_program(program: str, tmp_path: pathlib.Path) -> None:
    """The same file but for the time it was made, and it can be read, shown, and turned into tables."""
    scene = str(SCENES / "slide.xml")
    run_program(program, "run", scene, "--time", "0.05", "--every", "1", "--record", str(tmp_path / "a.h5"), "--quiet")
    d = abut.Data(abut.load(scene))
    with abut.record(d, tmp_path / "b.h5"):
        d.step(round(0.05 / d.h))
    a, b = abut.read_recording(tmp_path / "a.h5"), abut.read_recording(tmp_path / "b.h5")
    assert len(a) == len(b) > 20 and np.array_equal(a.q, b.q) and np.array_equal(a.twist, b.twist) and a.body_names == b.body_names
    assert np.array_equal(a.contacts[-1]["force"], b.contacts[-1]["force"])
    run_program(program, "convert", str(tmp_path / "b.h5"), str(tmp_path / "csv") + "/")
    assert (tmp_path / "csv" / "bodies.csv").exists()
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "b.h5") as f:
        assert np.array_equal(f["q"][:], b.q)


@needs_h5
@needs_page
def test_a_file_shows_itself(data: abut.Data, tmp_path: pathlib.Path) -> None:
    with abut.record(data, tmp_path / "run.h5"):
        data.step(30)
    for what in (tmp_path / "run.h5", abut.read_recording(tmp_path / "run.h5")):
        assert "<html" in abut.show(what).text.lower()


@needs_h5
def test_threads_record_at_the_same_time(box: abut.Model, tmp_path: pathlib.Path) -> None:
    """The HDF5 library is not made for that; a lock makes it safe."""
    def run(i: int) -> str:
        d = abut.Data(box)
        d.v[0] = i / 10
        with abut.record(d, tmp_path / f"{i}.h5"):
            d.step(100)
        if i == 0:
            abut.sweep(scene=box, time=0.05, vary={"geom.box.friction": {"grid": [0.1, 0.5, 50]}}, measure={"x": "body.box.x"}, out=tmp_path / "sweep")
        return d.hash

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(run, range(8)))
    for i in range(8):
        rec = abut.read_recording(tmp_path / f"{i}.h5")
        assert len(rec) == 101 and rec.v[0, 0] == i / 10


@needs_h5
def test_damaged_files_are_told(data: abut.Data, tmp_path: pathlib.Path) -> None:
    with abut.record(data, tmp_path / "run.h5"):
        data.step(20)
    whole = (tmp_path / "run.h5").read_bytes()
    for n in (0, 10, 100, len(whole) // 2):
        (tmp_path / "cut.h5").write_bytes(whole[:n])
        with pytest.raises(abut.SceneError, match="cut.h5"):
            abut.read_recording(tmp_path / "cut.h5")
    with pytest.raises(FileNotFoundError):
        abut.read_recording(tmp_path / "none.h5")


def test_wrong_recordings_are_told(data: abut.Data, tmp_path: pathlib.Path) -> None:
    with pytest.raises(abut.SceneError, match="format"):
        with abut.record(data, tmp_path / "x.avi"):
            pass
    with pytest.raises(ValueError, match="every"):
        abut.record(data, every=0)
    with pytest.raises(TypeError, match="abut.Data"):
        abut.record(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="neither a page"):
        abut.show(tmp_path / "x.csv")
    data.step(3)  # and nothing is left behind

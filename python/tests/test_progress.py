"""Long work shows how far it is, with tqdm and without, and changes nothing."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import abut

from conftest import heap


def test_steps_with_a_bar_are_the_same_steps(capsys: pytest.CaptureFixture[str]) -> None:
    m = heap()
    a, b = abut.Data(m), abut.Data(m)
    a.step(300)
    b.step(300, progress=True)
    assert a.hash == b.hash and "300" in capsys.readouterr().err
    x, y = abut.Batch(m, 3), abut.Batch(m, 3)
    x.step(100)
    told: list[float] = []
    y.step(100, progress=lambda done, total: told.append(done))
    assert np.array_equal(x.q, y.q) and told[-1] == 100 and np.array_equal(x.status, y.status)


def test_a_rollout_tells_how_far_it_is() -> None:
    m = heap()
    told: list[float] = []
    a = abut.rollout(m, np.tile(m.q0, (6, 1)), steps=20, progress=lambda done, total: told.append(done / total))
    b = abut.rollout(m, np.tile(m.q0, (6, 1)), steps=20, progress=False)
    assert told[-1] == 1 and np.array_equal(a["q"], b["q"])


def test_there_is_a_line_where_tqdm_is_not_installed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    d = abut.Data(heap())
    d.step(50, progress=True)
    text = capsys.readouterr().err
    assert "steps" in text and "of 50" in text


def test_nobody_looks_at_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    d = abut.Data(heap())
    d.step(20, progress=None)
    abut.rollout(d.model, d.q, steps=5)
    assert capsys.readouterr().err == ""
    with pytest.raises(TypeError, match="progress"):
        d.step(5, progress="yes")  # type: ignore[arg-type]
    for n in (-5, 2.5):
        with pytest.raises((ValueError, TypeError)):
            d.step(n, progress=True)  # type: ignore[arg-type]
        with abut.record(d), pytest.raises((ValueError, TypeError)):
            d.step(n)  # type: ignore[arg-type]

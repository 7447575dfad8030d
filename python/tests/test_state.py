"""Whoever goes on from a saved state has the same future."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import numpy as np
import pytest

import abut

from conftest import heap

EXACT = list(abut.contact_models())


def saved(d: abut.Data) -> abut.Data:
    other = abut.Data(d.model)
    other.set_contact(d.contact, **d.params)
    other.h, other.sleep = d.h, d.sleep
    other.restore(d.save())
    return other


WAYS: dict[str, Callable[[abut.Data], abut.Data]] = {
    "save": saved, "copy": abut.Data.copy, "copy.copy": copy.copy, "deepcopy": copy.deepcopy,
    "pickle": lambda d: pickle.loads(pickle.dumps(d)),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("contact", EXACT)
def test_the_future_is_the_same_to_the_bit(contact: str, way: str) -> None:
    d = abut.Data(heap(1 if contact == "ecp" else 3))
    d.set_contact(contact)
    d.h = 0.0025
    d.sleep = True
    d.v[5] = 2
    d.step(40)
    d.body("b0").applied[0] = 0.3
    other = WAYS[way](d)
    for _ in range(5):
        d.step(10)
        other.step(10)
        assert d.hash == other.hash
        assert np.array_equal(d.contact_numbers, other.contact_numbers)


def test_the_default_model_goes_on_closely() -> None:
    d = abut.Data(heap(1))
    d.step(100)
    other = d.copy()
    d.step(20)
    other.step(20)
    assert np.allclose(d.q, other.q, rtol=0, atol=1e-6)  # the solver's tolerance


def test_restoring_goes_back(data: abut.Data) -> None:
    data.set_contact("volume-pgs")
    data.v[0] = 1
    data.step(20)
    state, time = data.save(), data.time
    data.step(50)
    end = data.hash
    data.restore(state)
    assert data.time == time and data.ncontact == 0
    data.step(50)
    assert data.hash == end


def test_reset_is_the_beginning(box: abut.Model) -> None:
    d, fresh = abut.Data(box), abut.Data(box)
    d.v[0] = 1
    d.step(100)
    d.reset()
    assert d.hash == fresh.hash and d.stat.steps == 0
    d.step(30)
    fresh.step(30)
    assert d.hash == fresh.hash
    d.reset("high")
    assert d.q[2] == 1
    d.reset(key=0)
    assert d.q[2] == 1


def test_models_are_pickled_with_their_changes(box: abut.Model) -> None:
    m = box.changed(body_mass=box.body_mass * 2, gravity=(0, 0, -5))
    again = pickle.loads(pickle.dumps(m))
    assert again.body("box").mass == 1.0 and again.gravity.tolist() == [0, 0, -5]
    assert again.total_mass == 1.0
    assert box.body("box").mass == 0.5

"""The package and the program compute the same numbers."""

from __future__ import annotations

import json

import pytest

import abut

from conftest import SCENES, run_program


@pytest.mark.parametrize("name", ["box_on_plane", "slide", "dominoes", "arm_place", "pendulum"])
def test_hash_is_that_of_the_program(name: str, program: str) -> None:
    scene = str(SCENES / f"{name}.xml")
    out = json.loads(run_program(program, "run", scene, "--time", "0.3", "--json").stdout)
    d = abut.Data(abut.load(scene))
    d.step(out["steps"])
    assert d.hash == out["hash"]
    assert d.time == out["time"]


def test_a_state_goes_from_the_program_to_the_package(program: str, tmp_path: object) -> None:
    scene, state = str(SCENES / "dominoes.xml"), f"{tmp_path}/state"
    words = ["run", scene, "--contact", "volume-pgs", "--json"]
    run_program(program, *words, "--time", "0.2", "--save", state)
    whole = json.loads(run_program(program, *words, "--time", "0.4").stdout)
    d = abut.Data(abut.load(scene))
    d.set_contact("volume-pgs")
    with open(state, "rb") as f:
        try:
            d.restore(f.read())
        except ValueError as error:  # another build of the extension may lay out its structs otherwise
            pytest.skip(str(error))
    while d.stat.steps < whole["steps"] // 2:
        d.step()
    assert d.hash == whole["hash"]


def test_wrong_scenes_say_where() -> None:
    with pytest.raises(abut.SceneError) as caught:
        abut.loads("<mujoco>\n<worldbody>\n<geom type='bix'/>\n</worldbody></mujoco>")
    assert caught.value.line == 3
    assert "bix" in str(caught.value)
    bad = sorted((SCENES / "bad").glob("*.xml"))
    assert bad
    for path in bad:
        with pytest.raises(abut.SceneError) as error:
            abut.Data(abut.load(path))
        assert error.value.file and error.value.message


def test_what_is_not_honoured_is_warned_of() -> None:
    with pytest.warns(abut.SceneWarning):
        abut.loads('<mujoco><worldbody><light pos="0 0 3"/><geom type="sphere" size=".1"/></worldbody></mujoco>')

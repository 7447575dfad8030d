"""Scenes and helpers the tests share. Run from the root of the sources with the package installed."""

from __future__ import annotations

import os
import pathlib
import subprocess

import numpy as np
import pytest

import abut

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCENES = ROOT / "scenes"

# A box of 0.5 kg on a floor, and a cart on a rail with a motor and a position servo on its mast.
BOX = """<mujoco model="box"><option timestep="0.001"/><worldbody>
  <geom name="floor" type="plane" size="1 1 .1" friction="0.5"/>
  <body name="box" pos="0 0 .05"><freejoint name="box"/><geom name="box" type="box" size=".05 .05 .05" mass=".5" friction="0.5"/></body>
</worldbody><keyframe><key name="high" qpos="0 0 1 1 0 0 0"/></keyframe></mujoco>"""
CART = """<mujoco model="cart"><option timestep="0.001" gravity="0 0 0"/><worldbody>
  <body name="cart"><joint name="rail" type="slide" axis="1 0 0"/><geom name="cart" type="box" size=".1 .1 .1" mass="2"/>
    <body name="mast" pos="0 0 .2"><joint name="pivot" type="hinge" axis="0 1 0"/><geom name="mast" type="capsule" size=".02 .1" mass=".5"/></body>
  </body>
</worldbody><actuator><motor name="push" joint="rail"/><position name="turn" joint="pivot" kp="5"/></actuator></mujoco>"""


@pytest.fixture
def box() -> abut.Model:
    return abut.loads(BOX)


@pytest.fixture
def cart() -> abut.Model:
    return abut.loads(CART)


@pytest.fixture
def data(box: abut.Model) -> abut.Data:
    return abut.Data(box)


@pytest.fixture
def program() -> str:
    path = os.environ.get("ABUT_PROGRAM")
    if not path:
        pytest.skip("ABUT_PROGRAM does not say where the program abut is")
    return path


def run_program(program: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([program, *words], capture_output=True, text=True, timeout=120, check=True)


def heap(n: int = 4) -> abut.Model:
    """Boxes that fall on each other."""
    s = abut.Scene("heap", timestep=0.002)
    s.add_geom("floor", type="plane", size=(1, 1, 0.1))
    for i in range(n):
        turn = np.array([1, 0.05, 0.02, 0.15 * i])
        b = s.add_body(f"b{i}", pos=(0.03 * i, 0.02 * (i % 2), 0.04 + 0.07 * i), quat=turn, free=True)
        s.add_geom(body=b, type="box", size=(0.1, 0.05, 0.025), mass=0.5, friction=0.5)
    return s.compile()

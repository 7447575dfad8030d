#!/usr/bin/env python3
"""Whether motion.py says of a motion what it is, and its engines see the same scene. usage: test_motion.py LIBRARY SCENES"""
import os
import pathlib
import signal
import sys
import tempfile
import unittest

import numpy as np

import engines
import motion

LIBRARY, SCENES = engines.Library(sys.argv[1]), pathlib.Path(sys.argv[2])
SCENE = engines.Scene(h=1e-3, bodies=10, unit=1)
JOINTS = """<mujoco><option timestep="0.001"/><worldbody>
  <body euler="0 30 0"><joint type="slide" axis="1 0 0"/><geom type="box" size=".1 .05 .05"/>
    <body pos="0 0 -.2"><joint type="ball" pos="0 0 .1"/><geom type="capsule" size=".03 .1" pos=".02 0 -.1"/></body></body>
</worldbody></mujoco>"""


def steps_of(engine, file, key, n):
    """Kinetic energies; None where the engine is not built in."""
    try:
        worker = engines.Worker(LIBRARY, engine, file, key)
    except engines.Failed as error:
        if str(error) == "not built in":
            return None
        raise
    worker.ask(0)
    steps = worker.ask(n)
    worker.close()
    return steps[:, 1]


class Phases(unittest.TestCase):
    def test_rest_is_the_first_half_second_below_the_limit(self):
        kinetic = np.full(2000, 1e-5)
        kinetic[[100, 599, 1400]] = 1
        self.assertEqual(motion.rest_begins(kinetic, SCENE), 600)
        self.assertIsNone(motion.rest_begins(kinetic[:1099], SCENE))
        self.assertIsNone(motion.rest_begins(np.full(600, np.nan), SCENE))

    def test_first_touch_is_the_first_step_that_is_no_free_fall(self):
        fall = 3e-5 * np.arange(1, 201.0) ** 2
        fall[150:] *= 0.999
        self.assertEqual(motion.first_touch(fall), 150)

    def test_a_heap_falls_settles_and_rests(self):
        t = np.arange(1, 3001.0)
        kinetic = np.where(t <= 300, 1e-4 * t * t, 9 * 10 ** (-(t - 300) / 200))
        names, begins, ends = zip(*motion.heap_phases(kinetic, SCENE))
        self.assertEqual(names, ("falling", "settling", "at rest"))
        self.assertEqual(begins[1:], ends[:2])
        self.assertAlmostEqual(begins[0], 300, delta=1)
        self.assertAlmostEqual(begins[1], 500, delta=1)  # a tenth of 9
        self.assertAlmostEqual(begins[2], 300 + 200 * np.log10(9e4), delta=1)
        self.assertEqual(ends[2] - begins[2], 500)

    def test_a_heap_that_does_not_rest_settles_to_the_end(self):
        phases = motion.heap_phases(np.concatenate((1e-4 * np.arange(1, 301.0) ** 2, np.full(700, 0.5))), SCENE)
        self.assertEqual([p[0] for p in phases], ["falling", "settling"])
        self.assertEqual(phases[1][2], 1000)


class Engines(unittest.TestCase):
    """The peers integrate to first order in the step, which moves a swing of a second by some thousandths."""

    def compare(self, file, key, tolerance):
        ours = steps_of("abut", file, key, 1000)
        for engine in ("bullet/default", "ode/quick"):
            theirs = steps_of(engine, file, key, 1000)
            if theirs is not None:
                np.testing.assert_allclose(theirs, ours, atol=tolerance * ours.max(), err_msg=engine)

    def test_hinges_swing_alike(self):
        self.compare(SCENES / "pendulum.xml", "high", 5e-3)

    def test_a_ball_joint_on_a_slide_moves_alike(self):
        with tempfile.NamedTemporaryFile("w", suffix=".xml") as f:
            f.write(JOINTS)
            f.flush()
            self.compare(f.name, "", 1e-3)

    def test_a_heap_falls_alike_until_it_touches(self):
        with tempfile.TemporaryDirectory() as folder:
            file = folder + "/heap.xml"
            LIBRARY.write_heap(30, 1e-3, file)
            for engine in ("abut", "bullet/default", "ode/quick"):
                kinetic = steps_of(engine, file, "", 200)
                if kinetic is not None:
                    # the lowest corner is not below 0.15 - 0.115 m: no touch before 0.084 s
                    self.assertGreater(motion.first_touch(kinetic), 83, engine)

    def test_what_cannot_be_represented_is_named(self):
        for engine in ("bullet/default", "ode/quick"):
            with self.assertRaisesRegex(engines.Failed, "actuators.*ellipsoids|not built in"):
                engines.Worker(LIBRARY, engine, SCENES / "insect.xml", "")

    def test_bad_input_is_told(self):
        with self.assertRaisesRegex(engines.Failed, "no key"):
            engines.Worker(LIBRARY, "abut", SCENES / "top.xml", "nothing")
        with self.assertRaises(engines.Failed):
            LIBRARY.about(SCENES / "nothing.xml")

    def test_an_engine_that_crashes_is_told(self):
        worker = engines.Worker(LIBRARY, "abut", SCENES / "top.xml", "")
        os.kill(worker.process.pid, signal.SIGSEGV)
        with self.assertRaisesRegex(engines.Failed, "ended with -11"):
            worker.ask(1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

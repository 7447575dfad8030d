"""Robots of scenes/ do what their controls are for, without a step unconverged.

  test_scenes.py ABUT"""
import csv
import json
import math
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
ABUT = ""


def run(scene, time):
    """What the run says, and the rows of bodies.csv by body, a sample every 0.1 s."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([ABUT, "run", os.path.join(ROOT, "scenes", scene + ".xml"), "--key", "home", "--controls",
                               os.path.join(ROOT, "scenes", "controls", scene + ".csv"), "--time", str(time), "--csv", folder, "--every", "50",
                               "--json", "--quiet"], capture_output=True, text=True)
        if done.returncode:
            raise AssertionError(done.stderr)
        bodies = {}
        with open(os.path.join(folder, "bodies.csv"), newline="") as f:
            for row in csv.DictReader(f):
                bodies.setdefault(row["body"], []).append({k: float(v) for k, v in row.items() if k != "body"})
    return json.loads(done.stdout), bodies


class Scenes(unittest.TestCase):
    def test_quadruped_walks_over_boxes_and_stands(self):
        said, bodies = run("quadruped", 14)
        self.assertEqual(said["unconverged_steps"], 0)
        trunk = bodies["trunk"]
        end = trunk[-1]
        # 26 strides of 9 cm while a foot pushes back and as much while the other pair does; some are lost at edges
        self.assertGreater(end["x"], 3.3)  # behind the last plank, which lies up to 3.3 m
        self.assertLess(abs(end["y"]), 1.0)
        self.assertGreater(max(r["z"] for r in trunk), 0.325)  # on the upper step, 5 cm high
        self.assertAlmostEqual(end["z"], 0.287, delta=0.01)  # and down again
        for r in trunk:  # never tilted by more than 15 degrees: z . z' = 1 - 2 (x^2 + y^2)
            self.assertGreater(1 - 2 * (r["qx"] ** 2 + r["qy"] ** 2), math.cos(math.radians(15)))
        self.assertLess(math.hypot(end["vx"], end["vy"]), 1e-2)  # it has stopped

    def test_arm_stacks_three_blocks_that_stay(self):
        said, bodies = run("stacker", 24)
        self.assertEqual(said["unconverged_steps"], 0)
        for k, name in enumerate(("red", "green", "blue")):
            start, before, end = bodies[name][0], bodies[name][-15], bodies[name][-1]
            self.assertGreater(math.dist([start["x"], start["y"]], [end["x"], end["y"]]), 0.2)  # it was carried
            # where it was put, to a tenth of a millimetre: the servos' error under the arm's own motion
            self.assertAlmostEqual(end["x"], 0.38, delta=1e-4)
            self.assertAlmostEqual(end["y"], 0.1, delta=1e-4)
            self.assertAlmostEqual(end["z"], 0.02 + 0.04 * k, delta=1e-5)
            self.assertAlmostEqual(end["qz"], 0, delta=1e-3)  # turned to the tower's faces
            self.assertLess(math.dist([before[c] for c in "xyz"], [end[c] for c in "xyz"]), 1e-7)  # and stays
        hand = bodies["hand"][-1]
        self.assertGreater(hand["z"], 0.3)  # the hand is away


if __name__ == "__main__":
    ABUT = os.path.abspath(sys.argv.pop(1))
    unittest.main()

#!/usr/bin/python3
"""Sweeps as a user meets them: specifications, results, failures, examples and the page.

usage: test_sweep.py ABUT_PROGRAM [unittest options]; run from the root of the sources.
"""
import csv
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import h5py
import numpy as np

PROGRAM = os.path.abspath(sys.argv.pop(1))
SLIDE = os.path.abspath("scenes/slide.xml")
FILES = ("results.csv", "results.h5", "index.html")

# A cube of 1 m that slides on a plane: friction of the plane is 0.12, and the larger one counts.
BASE = {
    "scene": SLIDE, "contact": "patch", "time": 0.2, "step": 0.004,
    "vary": {"geom.cube.friction": {"grid": [0.2, 0.8, 4]},
             "body.cube.mass": {"uniform": [500, 1500]},
             "key.slide.qvel[0]": {"list": [1, 2]}},
    "samples": 5, "seed": 7, "keep": {"hash": True},
    "measure": {"x": "body.cube.x", "slip": "contact.cube.floor.slip",
                "peak": "contact.cube.floor.peak_force", "lost": "energy_lost",
                "face": "body.cube.up_face"},
}


def abut(*words, **more):
    return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=400,
                          **more)


def read(path):
    with open(path, "rb") as f:
        return f.read()


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w") as f:
            f.write(text)
        return self.path(name)

    def spec(self, change=None, name="spec.json", **more):
        spec = {**BASE, **(change or {}), **more}
        return self.write(name, json.dumps({k: v for k, v in spec.items() if v is not None}))

    def good(self, *words, **more):
        done = abut(*words, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def sweep(self, spec, out="out", *words):
        self.good("sweep", spec, "--out", self.path(out), "--quiet", *words)
        return self.rows(out)

    def rows(self, out="out"):
        with open(os.path.join(self.path(out), "results.csv"), newline="") as f:
            return list(csv.DictReader(f))

    def column(self, rows, name):
        return np.array([float(r[name]) for r in rows])

    def same(self, a, b, files=FILES):
        for name in files:
            self.assertEqual(read(os.path.join(self.path(a), name)),
                             read(os.path.join(self.path(b), name)), name)


class Results(Case):
    def test_every_run_is_a_row_in_the_order_of_the_list(self):
        rows = self.sweep(self.spec())
        self.assertEqual(list(rows[0]), ["run", *BASE["vary"], *BASE["measure"], "status",
                                         "residual", "time", "hash"])
        self.assertEqual([int(r["run"]) for r in rows], list(range(40)))
        self.assertTrue(all(r["status"] == "ok" for r in rows))
        friction = self.column(rows, "geom.cube.friction")
        np.testing.assert_allclose(friction, np.repeat([0.2, 0.4, 0.6, 0.8], 10), rtol=1e-15)
        with h5py.File(os.path.join(self.path("out"), "results.h5")) as f:
            table = f["results"][:]
            self.assertEqual(json.loads(f["spec"][()])["seed"], 7)
        self.assertEqual(list(table.dtype.names), list(rows[0]))
        # half a unit in the last of ten digits; varied numbers are exact, a residual has three digits
        for name, rtol in {"geom.cube.friction": 0, "x": 5e-10, "lost": 5e-10, "residual": 5e-3, "time": 5e-10}.items():
            np.testing.assert_allclose(self.column(rows, name), table[name], rtol=rtol)
        np.testing.assert_array_equal(table["hash"], [int(r["hash"], 16) for r in rows])

    def test_all_digits_are_written_where_asked(self):
        rows = self.sweep(self.spec(), "out", "--digits", 17)
        with h5py.File(os.path.join(self.path("out"), "results.h5")) as f:
            table = f["results"][:]
        for name in ("geom.cube.friction", "x", "lost", "residual", "time"):
            np.testing.assert_array_equal(table[name], self.column(rows, name))
        three = self.sweep(self.spec(), "three", "--digits", 3)
        self.assertTrue(all(len(r["x"].lstrip("-0.").replace(".", "")) <= 3 for r in three))

    def test_ten_measures_take_less_than_200_bytes_a_run(self):
        names = ("x", "y", "z", "vx", "vy", "speed", "path", "angle", "yaw", "tilt")
        spec = self.spec(vary={"geom.cube.friction": {"uniform": [0.2, 0.8]}, "key.slide.qvel[0]": {"uniform": [1, 2]}},
                         measure={name: f"body.cube.{name}" for name in names}, samples=300, time=0.05, keep=None)
        self.sweep(spec)
        # what does not grow with the runs, the specification and names, is some kilobytes
        for name in ("results.csv", "results.h5"):
            self.assertLess(os.path.getsize(self.path(f"out/{name}")), 300 * 200, name)

    def test_threads_shards_and_repeats_give_the_same_bytes(self):
        spec = self.spec()
        self.sweep(spec, "one", "--threads", 1)
        self.sweep(spec, "three", "--threads", 3)
        self.same("one", "three")
        for i in range(3):
            self.sweep(spec, f"part{i}", "--shard", f"{i}/3")
        parts = [self.path(f"part{i}") for i in range(3)]
        self.good("sweep", "--merge", *parts[::-1], "--out", self.path("joined"), "--quiet")
        self.same("one", "joined")
        self.assertEqual(sum(len(self.rows(f"part{i}")) for i in range(3)), 40)

    def test_shards_counted_from_one_are_the_same_parts(self):
        spec = self.spec()
        for i in (1, 2):
            self.sweep(spec, f"part{i}", "--shard", f"{i}/2")
        self.good("sweep", "--merge", self.path("part1"), self.path("part2"), "--quiet")
        self.sweep(spec, "whole")
        self.same("part1", "whole")

    def test_a_shard_without_runs_is_empty(self):
        rows = self.sweep(self.spec(), "out", "--shard", "90/100")
        self.assertEqual(rows, [])
        with h5py.File(self.path("out/results.h5")) as f:
            self.assertEqual(len(f["results"]), 0)

    def test_a_number_can_follow_another(self):
        sizes = {"vary": {"geom.cube.size[0]": [0.4, 0.6]}, "samples": None, "key": "slide"}
        tied = self.sweep(self.spec(sizes, set={"geom.cube.size[1]": "geom.cube.size[0]"}), "tied")
        for row, size in zip(tied, (0.4, 0.6)):
            given = self.sweep(self.spec(sizes, set={"geom.cube.size[1]": size}), f"given{size}")
            self.assertIn(row["hash"], [r["hash"] for r in given])

    def test_shards_may_share_a_folder(self):
        spec = self.spec()
        for i in range(4):
            self.sweep(spec, "out", "--shard", f"{i}/4")
        self.sweep(spec, "whole")
        self.same("out", "whole")

    def test_one_run_alone_repeats_its_row(self):
        spec = self.spec()
        rows = self.sweep(spec, "out", "--digits", 17)
        alone = json.loads(self.good("sweep", spec, "--run", 33, "--json").stdout)
        for name in [*BASE["vary"], *BASE["measure"], "residual", "time"]:
            self.assertEqual(alone[name], float(rows[33][name]), name)

    def test_a_swept_value_is_that_of_the_edited_file(self):
        text = read(SLIDE).decode()
        edit = {"geom.cube.friction": ('density="1000" friction="0.12"', 'density="1000" friction="0.45"', 0.45),
                "geom.cube.size[2]": ('size=".5 .5 .5"', 'size=".5 .5 .45"', 0.45),
                "geom.cube.density": ('density="1000"', 'density="450"', 450),
                "key.slide.qvel[1]": ('qvel="4 3', 'qvel="4 4.5', 4.5),
                "option.timestep": ('timestep="0.001"', 'timestep="0.0045"', 0.0045)}
        for name, (old, new, value) in edit.items():
            self.assertIn(old, text)
            scene = self.write("edited.xml", text.replace(old, new))
            run = json.loads(self.good("run", scene, "--key", "slide", "--time", 0.3, "--json").stdout)
            # other values before and after it, on one thread: nothing may be left of them
            spec = self.spec(vary={name: [0.9 * value, value, 1.1 * value]}, key="slide", time=0.3,
                             step=None, samples=None)
            rows = self.sweep(spec, name, "--threads", 1)
            self.assertEqual(rows[1]["hash"], run["hash"], name)

    def test_toml_says_the_same_as_json(self):
        toml = f"""
scene = "{SLIDE}"
contact = "patch"
time = 0.2
step = 0.004
samples = 5
seed = 7
[vary]
geom.cube.friction = {{grid = [0.2, 0.8, 4]}}
"body.cube.mass" = {{uniform = [500, 1500]}}
"key.slide.qvel[0]" = {{list = [1, 2]}}
[measure]
x = "body.cube.x"
slip = "contact.cube.floor.slip"
peak = "contact.cube.floor.peak_force"
lost = "energy_lost"
face = "body.cube.up_face"
[keep]
hash = true
"""
        self.sweep(self.spec(), "json")
        self.sweep(self.write("spec.toml", toml), "toml")
        self.same("json", "toml", ["results.csv"])

    def test_dry_run_tells_and_does_nothing(self):
        spec = self.spec()
        done = self.good("sweep", spec, "--dry-run", "--out", self.path("out"))
        self.assertIn("40 runs", done.stdout)
        self.assertIn("geom.cube.friction", done.stdout)
        self.assertFalse(os.path.exists(self.path("out")))
        told = json.loads(self.good("sweep", spec, "--dry-run", "--json").stdout)
        self.assertEqual(told["runs"], 40)
        self.assertGreater(told["seconds"], 0)
        self.assertGreater(told["bytes"], 0)

    def test_the_csv_file_can_be_left_out(self):
        self.good("sweep", self.spec(), "--out", self.path("out"), "--quiet", "--no-csv")
        self.assertEqual(sorted(os.listdir(self.path("out"))), ["index.html", "manifest.json", "results.h5"])

    def test_final_states_are_kept_where_asked(self):
        rows = self.sweep(self.spec(keep={"state": True}), "out", "--digits", 17)
        with h5py.File(os.path.join(self.path("out"), "results.h5")) as f:
            state = f["state"][:]
        self.assertEqual(state.shape, (40, 13))
        # the centre of mass is the origin of the cube's frame
        np.testing.assert_array_equal(state[:, 0], self.column(rows, "x"))

    def test_chosen_runs_are_recorded(self):
        self.sweep(self.spec(record={"runs": [3, 38], "format": "h5"}))
        rows = self.rows()
        for run in (3, 38):
            with h5py.File(self.path(f"out/recordings/run-{run:06d}.h5")) as f:
                self.assertGreater(len(f.keys()), 0)
        self.assertEqual(sorted(os.listdir(self.path("out/recordings"))),
                         ["run-000003.h5", "run-000038.h5"])
        self.assertEqual(len(rows), 40)


class Physics(Case):
    def test_a_cube_stops_where_coulomb_says(self):
        rows = self.sweep(self.spec(
            vary={"geom.cube.friction": {"grid": [0.2, 0.8, 4]}, "key.slide.qvel[0]": [1, 2]},
            set={"key.slide.qvel[1]": 0}, time=3, step=0.001, samples=None, stop={"rest": True},
            measure={"x": "body.cube.x", "slip": "contact.cube.floor.slip", "rest": "time_to_rest",
                     "turn": "body.cube.angle", "way": "body.cube.path",
                     "force": "mean(contact.cube.floor.normal)"}))
        mu, v = self.column(rows, "geom.cube.friction"), self.column(rows, "key.slide.qvel[0]")
        stop = v**2 / (2 * 9.81 * mu)
        # a step moves by the mean of its two velocities, which is exact under constant friction;
        # in the step of the stop it is at most mu g h^2 = 8e-6 m off
        np.testing.assert_allclose(self.column(rows, "x"), stop, rtol=0, atol=8e-6)
        # slip adds up the velocities at the ends of the steps, from v down to 0: v h / 2 less than
        # their means; again the step of the stop is at most mu g h^2 off
        np.testing.assert_allclose(self.column(rows, "slip"), self.column(rows, "x") - v * 0.0005,
                                   rtol=0, atol=8e-6)
        np.testing.assert_allclose(self.column(rows, "way"), self.column(rows, "x"), rtol=1e-3)
        # at rest from when it is slower than the bound: a thousandth of sqrt(g r) = 2.9 m/s
        np.testing.assert_allclose(self.column(rows, "rest"), v / (9.81 * mu), atol=0.003)
        self.assertLess(np.abs(self.column(rows, "turn")).max(), 1e-9)
        np.testing.assert_allclose(self.column(rows, "force"), 9810, rtol=0.02)
        # stopped a quarter of a second after it came to rest
        np.testing.assert_allclose(self.column(rows, "time") - self.column(rows, "rest"), 0.25,
                                   atol=0.0011)

    def test_the_face_that_is_up_is_told(self):
        half = math.sqrt(0.5)
        turn = {(half, half): 2, (half, -half): -2, (1, 0): 3, (0, 1): -3}
        for (w, x), face in turn.items():
            spec = self.spec(vary={"key.slide.qpos[3]": [w]}, samples=None, time=0.05,
                             set={"key.slide.qpos[4]": x, "key.slide.qvel[0]": 0,
                                  "key.slide.qvel[1]": 0},
                             measure={"up": "body.cube.up_face", "down": "body.cube.down_face",
                                      "tilt": "body.cube.tilt"})
            rows = self.sweep(spec, f"out{face}")
            self.assertEqual(float(rows[0]["up"]), face)
            self.assertEqual(float(rows[0]["down"]), -face)
            np.testing.assert_allclose(float(rows[0]["tilt"]), 2 * math.atan2(abs(x), w),
                                       atol=1e-6)

    def test_forces_act_when_they_say(self):
        force = [{"time": 0, "body": "cube", "fx": 0}, {"time": 0.1, "body": "cube", "fx": 500}]
        spec = self.spec(forces=force, contact="none", samples=None, time=0.2, step=0.001,
                         vary={"force.cube[1].fx": [500, 1000], "force.cube[1].time": [0.1, 0.15]},
                         set={"option.gravity[2]": 0, "body.cube.mass": 50}, measure={"v": "body.cube.vx"})
        rows = self.sweep(spec)
        wanted = [500 / 50 * 0.1, 500 / 50 * 0.05, 1000 / 50 * 0.1, 1000 / 50 * 0.05]
        np.testing.assert_allclose(self.column(rows, "v"), wanted, rtol=1e-12)
        # files in place of rows, and a constant force without any
        self.write("a.csv", "time,body,fx,fy,fz,tx,ty,tz\n0,cube,50,0,0,0,0,0\n")
        self.write("b.csv", "time,body,fx,fy,fz,tx,ty,tz\n0,cube,75,0,0,0,0,0\n0.1,cube,0,0,0,0,0,0\n")
        common = dict(contact="none", samples=None, time=0.2, step=0.001, measure={"v": "body.cube.vx"},
                      set={"option.gravity[2]": 0, "body.cube.mass": 50})
        rows = self.sweep(self.spec(vary={"forces": {"list": ["a.csv", "b.csv"]}}, **common), "files")
        np.testing.assert_allclose(self.column(rows, "v"), [0.2, 0.15], rtol=1e-12)
        rows = self.sweep(self.spec(vary={"force.cube.fx": [50, -25]}, **common), "constant")
        np.testing.assert_allclose(self.column(rows, "v"), [0.2, -0.1], rtol=1e-12)

    def test_controls_act_when_they_say(self):
        scene = os.path.abspath("scenes/gripper_pinch.xml")
        spec = self.spec(scene=scene, contact="none", step=None, samples=None, time=0.4, keep=None,
                         key=None, controls=[{"time": 0.2, "actuator": "left", "value": 0.02}],
                         vary={"control.left[0].value": [0, 0.02], "control.right": [0, 0.01]},
                         measure={"left": "joint.left.q", "right": "joint.right.q",
                                  "force": "actuator.left.force"})
        rows = self.sweep(spec)
        np.testing.assert_allclose(self.column(rows, "left"), [0, 0, 0.02, 0.02], atol=2e-3)
        np.testing.assert_allclose(self.column(rows, "right"), [0, 0.01, 0, 0.01], atol=2e-3)

    def test_conditions_end_runs(self):
        spec = self.spec(vary={"key.slide.qpos[2]": [2, 3]}, samples=None, time=5, step=0.001,
                         set={"key.slide.qvel[0]": 0, "key.slide.qvel[1]": 0},
                         stop={"below": {"cube": 1}, "when": ["body.cube.speed > 5"]},
                         measure={"z": "body.cube.z", "speed": "body.cube.speed", "why": "stopped"})
        rows = self.sweep(spec)
        self.assertEqual([float(r["why"]) for r in rows], [3, 4])
        np.testing.assert_allclose(float(rows[0]["time"]), math.sqrt(2 / 9.81), atol=0.002)
        np.testing.assert_allclose(float(rows[1]["time"]), 5 / 9.81, atol=0.002)

    def test_a_bound_makes_a_measure_one_or_zero(self):
        bound = {"up": "max(body.cube.x)>=0.3", "slow": "body.cube.speed < 1e-3", "far": " body.cube.x > 0.5 ",
                 "rested": "time_to_rest < 10", "late": "time_to_rest > 10"}
        spec = self.spec(measure={**bound, "most": "max(body.cube.x)", "speed": "body.cube.speed",
                                  "x": "body.cube.x", "rest": "time_to_rest"}, time=0.7)
        rows = self.sweep(spec)
        most, speed, x, rest = (self.column(rows, name) for name in ("most", "speed", "x", "rest"))
        for name, truth in {"up": most >= 0.3, "slow": speed < 1e-3, "far": x > 0.5, "rested": rest < 10,
                            "late": rest > 10}.items():
            np.testing.assert_array_equal(self.column(rows, name), truth, name)
        self.assertEqual(len(set(self.column(rows, "far"))), 2)  # some do and some do not
        self.assertTrue(np.any(np.isnan(rest)))                  # what never came is neither below nor above

    def test_params_of_the_contact_model_vary(self):
        spec = self.spec(vary={"param.tolerance": [1e-3, 1e-10]}, samples=None,
                         measure={"residual_max": "residual"})
        rows = self.sweep(spec)
        self.assertEqual([float(r["param.tolerance"]) for r in rows], [1e-3, 1e-10])
        self.assertLessEqual(float(rows[1]["residual_max"]), 1e-10)


class Failures(Case):
    def test_broken_refused_and_slow_runs_are_rows(self):
        rows = self.sweep(self.spec(vary={"force.cube.fx": [0, 1e308, 10]}, samples=None,
                                    set={"body.cube.mass": 1e-3}))
        self.assertEqual([r["status"] for r in rows], ["ok", "broken", "ok"])
        rows = self.sweep(self.spec(vary={"geom.cube.friction": [0.3, -0.3, 0.4]}, samples=None,
                                    key="slide"), "refused")
        self.assertEqual([r["status"] for r in rows], ["ok", "refused", "ok"])
        self.assertEqual(rows[1]["x"], "nan")
        self.assertNotEqual(rows[0]["x"], rows[2]["x"])
        rows = self.sweep(self.spec(limit=1e-9), "slow")
        self.assertEqual({r["status"] for r in rows}, {"timeout"})
        page = read(self.path("refused/index.html")).decode()
        self.assertIn('"failures":[{"run":1,"status":"refused"', page)
        alone = abut("sweep", self.spec(vary={"geom.cube.friction": [0.3, -0.3]}, samples=None),
                     "--run", 1)
        self.assertEqual(alone.returncode, 2)
        self.assertIn("friction is -0.3", alone.stderr)

    def test_a_refused_run_leaves_the_next_one_alone(self):
        sizes = [0.5, -1, 0.5, 0.4]
        rows = self.sweep(self.spec(vary={"geom.cube.size[0]": sizes}, samples=None), "a", "--threads", 1)
        self.assertEqual([r["status"] for r in rows], ["ok", "refused", "ok", "ok"])
        self.assertEqual(rows[0]["hash"], rows[2]["hash"])

    def refused(self, words, *text):
        done = abut("sweep", *words)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        for t in text:
            self.assertIn(t, done.stderr)
        self.assertFalse(os.path.exists(self.path("out")), "something was made")

    def test_bad_specifications_are_refused_before_anything_runs(self):
        cases = [
            ({"scene": "nowhere.xml"}, "nowhere.xml"),
            ({"scene": None}, "scene"),
            ({"contact": "pach"}, "did you mean 'patch'?"),
            ({"vary": {"geom.cub.friction": [1]}}, "did you mean 'cube'?"),
            ({"vary": {"geom.cube.fricton": [1]}}, "did you mean 'friction'?"),
            ({"vary": {"param.tolerence": [1]}}, "did you mean 'tolerance'?"),
            ({"vary": {"key.slid.qpos[0]": [1]}}, "did you mean 'slide'?"),
            ({"vary": {"force.cub.fx": [1]}}, "did you mean 'cube'?"),
            ({"vary": {"control.motor": [1]}}, "there are none"),
            ({"vary": {"geom.cube.friction": [1], "geom.cube.friction[0]": [1]}}, "leave one of them out"),
            ({"vary": {"geom.cube.density": [1], "body.cube.mass": [1]}}, "leave one of them out"),
            ({"set": {"geom.cube.size[0]": "geom.cube.size[1]"}}, "is not among the numbers that vary"),
            ({"vary": {}}, "vary"),
            ({"vary": {"geom.cube.friction": {"grid": [0, 1, 0]}}}, "empty"),
            ({"vary": {"geom.cube.friction": {"grid": [1, 1, 5]}}}, "no extent"),
            ({"vary": {"geom.cube.friction": {"grid": [0, 1]}}}, "[first, last, count]"),
            ({"vary": {"geom.cube.friction": {"uniform": [1, 0]}}}, "empty"),
            ({"vary": {"geom.cube.friction": {"uniform": [1, 1]}}}, "empty"),
            ({"vary": {"geom.cube.friction": {"normal": [1, 0]}}}, "above 0"),
            ({"vary": {"geom.cube.friction": {"list": []}}}, "empty"),
            ({"vary": {"geom.cube.friction": {"unifrom": [0, 1]}}}, "did you mean 'uniform'?"),
            ({"measure": {"x": "body.cub.x"}}, "did you mean 'cube'?"),
            ({"measure": {"x": "body.cube.xx"}}, "'xx' is not known"),
            ({"measure": {"x": "body.cub.x < 1"}}, "did you mean 'cube'?"),
            ({"measure": {"x": "body.cube.x < much"}}, "write a quantity, < or >, and a number"),
            ({"measure": {"x": "body.cube.x <"}}, "write a quantity, < or >, and a number"),
            ({"measure": {"x": "body.cube.x < nan"}}, "write a quantity, < or >, and a number"),
            ({"measure": {"x": "1 < body.cube.x < 2"}}, "a measure begins with"),
            ({"measure": {"x": "contact.cube.flor.slip"}}, "did you mean 'floor'?"),
            ({"measure": {"x": "max(contact.cube.floor.slip)"}}, "adds up"),
            ({"measure": {"status": "body.cube.x"}}, "column"),
            ({"measure": {}}, "measure"),
            ({"metod": "grid"}, "did you mean 'method'?"),
            ({"method": "sobel"}, "did you mean 'sobol'?"),
            ({"samples": 0}, "samples"),
            ({"samples": 1.5}, "whole number"),
            ({"time": -1}, "time"),
            ({"stop": {"rset": True}}, "did you mean 'rest'?"),
            ({"stop": {"when": ["body.cube.z"]}}, "body.cube.z < 0.1"),
            ({"key": "slde"}, "did you mean 'slide'?"),
            ({"record": {"runs": [1000]}}, "no run 1000"),
            ({"samples": 10**12}, "GB"),
            ({"vary": {"geom.cube.friction": {"grid": [0, 1, 10**9]},
                       "body.cube.mass": {"grid": [1, 2, 10**9]}}, "samples": 10**6},
             "more runs than can be counted"),
        ]
        for change, text in cases:
            with self.subTest(change=change):
                self.refused([self.spec(change), "--out", self.path("out")], text)
        self.refused([self.write("s.json", "{"), "--out", self.path("out")], "s.json:1")
        self.refused([self.write("s.toml", "a = \n"), "--out", self.path("out")], "s.toml:1")
        self.refused([self.spec()], "--out")
        for digits in ("0", "18", "2.5", "many"):
            self.refused([self.spec(), "--digits", digits, "--out", self.path("out")], "--digits")
        self.refused([self.spec(), "--shard", "3", "--out", self.path("out")], "I/N")
        self.refused([self.spec(), "--shard", "3/2", "--out", self.path("out")], "I/N")
        self.refused([self.path("none.json"), "--out", self.path("out")], "none.json")

    def test_messages_name_the_line(self):
        spec = self.write("spec.json", json.dumps({**BASE, "metod": 1}, indent=1))
        line = read(spec).decode().splitlines().index(' "metod": 1') + 1
        self.refused([spec, "--out", self.path("out")], f"spec.json:{line}: ")


class Examples(Case):
    def test_a_placed_box_falls_where_its_centre_passes_the_edge(self):
        rows = self.sweep("examples/sweeps/overhang.json")
        x, mu = self.column(rows, "key.place.qpos[0]"), self.column(rows, "geom.box.friction")
        stays = self.column(rows, "stays")
        # where the centre would stop, and how far the pressure goes ahead of it while it slides; 2 mm
        # are more than a step of the way, and less than half of the grid
        stop = x + 0.3**2 / (2 * 9.81 * mu)
        self.assertTrue(np.all(stays[stop > 0.002] == 0))
        self.assertTrue(np.all(stays[stop + 0.03 * mu < -0.002] == 1))
        self.assertGreater(np.sum(stays == 1), 200)
        self.assertGreater(np.sum(stays == 0), 100)

    def test_a_pinch_holds_as_far_as_the_friction_torque_reaches(self):
        spec = "examples/sweeps/pinch.json"
        # pad 1.3 cm, friction 0.4: 2 mu N 0.765 a / (m g) = 4 cm; 0, 2, 8 and 10 cm off the middle
        turn = []
        for offset in (0, 2, 8, 10):
            run = json.loads(self.good("sweep", spec, "--run", 2 * 44 + 4 * offset + 1, "--json").stdout)
            self.assertEqual(run["status"], "ok")
            np.testing.assert_allclose([run["geom.left_pad.size[0]"], run["key.take.qpos[3]"],
                                        run["geom.bar.friction"]], [0.013, offset / 100, 0.4], atol=1e-12)
            np.testing.assert_allclose(run["area"], 0.026**2, rtol=1e-6)  # both pads follow
            turn.append(run["turn"])
            self.assertEqual(run["holds"], run["turn"] < 0.1)
        self.assertLess(turn[0], 1e-6)
        self.assertLess(turn[1], 0.1)
        self.assertGreater(turn[2], 0.5)  # its end lies on the floor
        self.assertGreater(turn[3], 0.5)


@unittest.skipUnless(shutil.which("chromium"), "needs chromium")
class Page(Case):
    def test_the_page_draws_itself(self):
        self.sweep(self.spec(title="</script> a <!-- title"))
        dom = subprocess.run(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000",
             "--dump-dom", "file://" + self.path("out/index.html")],
            capture_output=True, text=True, timeout=120).stdout
        self.assertIn('data-ready="1"', dom)
        self.assertIn("a &lt;!-- title", dom)
        # histograms of 8 numbers, 15 effects, a map, the pairs
        self.assertEqual(len(re.findall("<canvas", dom)), 8 + 15 + 1 + 1)


if __name__ == "__main__":
    unittest.main()

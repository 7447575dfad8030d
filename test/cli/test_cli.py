#!/usr/bin/python3
"""The program as a user meets it: what it prints and what it writes.

usage: test_cli.py ABUT_PROGRAM [unittest options]; run from the root of the sources.
"""
import filecmp
import glob
import json
import os
import shutil
import time
import unittest

import h5py
import numpy as np

from case import BODIES, BOX, CONTACTS, Case, abut, floats, read, rows


class Help(Case):
    def test_every_command_teaches(self):
        for command in ["run", "info", "models", "compare", "convert", "paper"]:
            text = self.good(command, "--help").stdout
            self.assertIn("abut " + command, text)
            self.assertIn("--help", text)
            self.assertGreater(len(text.splitlines()), 6)

    def test_version_and_commands(self):
        self.assertRegex(self.good("--version").stdout, r"^abut \d+\.\d+\.\d+\n$")
        self.assertIn("compare", self.good("--help").stdout)
        self.assertEqual(abut().returncode, 2)


class Run(Case):
    def test_json_has_what_is_promised(self):
        j = self.run_json(BOX, "--time", "0.1")
        for key in ["steps", "time", "wall_s", "contact", "max_residual", "unconverged_steps",
                    "max_penetration", "energy", "hash"]:
            self.assertIn(key, j)
        for key in ["initial", "final", "kinetic", "gravity", "spring", "max_gain"]:
            self.assertIn(key, j["energy"])
        self.assertEqual(j["steps"], 100)
        self.assertAlmostEqual(j["time"], 0.1, delta=1e-12)
        e = j["energy"]
        self.assertAlmostEqual(e["final"], e["kinetic"] + e["gravity"] + e["spring"], delta=1e-12)
        self.assertAlmostEqual(e["initial"], 0.5 * 9.81 * 0.05, delta=1e-12)

    def test_same_hash_twice_and_for_any_threads(self):
        hashes = {self.run_json("scenes/seven_bricks.xml", "--time", "0.15", "--threads", n)["hash"]
                  for n in ["1", "1", "2", "3"]}
        self.assertEqual(len(hashes), 1)
        self.assertRegex(hashes.pop(), "^[0-9a-f]{16}$")

    def test_another_step_is_another_hash(self):
        one, two = (self.run_json(BOX, "--time", "0.1", "--step", h) for h in ["0.001", "0.002"])
        self.assertEqual((one["steps"], two["steps"]), (100, 50))
        self.assertNotEqual(one["hash"], two["hash"])

    def test_silent_when_asked_and_no_bar_in_a_pipe(self):
        done = self.good("run", BOX, "--time", "0.1", "--quiet")
        self.assertEqual(done.stdout + done.stderr, "")
        self.assertEqual(self.good("run", BOX, "--time", "0.1").stderr, "")

    def test_keyframe_sets_pose_and_velocity(self):
        out = self.path("csv")
        self.good("run", "scenes/slide.xml", "--key", "slide", "--time", "0.01", "--csv", out)
        first = rows(out + "/bodies.csv")[0]
        self.assertEqual([float(first[k]) for k in ["x", "y", "z", "vx", "vy", "vz"]],
                         [0, 0, 0.5, 4, 3, 0])

    def test_contact_none_is_free_fall(self):
        out = self.path("csv")
        self.good("run", BOX, "--contact", "none", "--time", "0.1", "--csv", out)
        last = rows(out + "/bodies.csv")[-1]
        self.assertAlmostEqual(float(last["vz"]), -9.81 * 0.1, delta=1e-12)
        self.assertEqual(rows(out + "/contacts.csv"), [])


class Scenes(Case):
    def test_every_scene_runs(self):
        for scene in sorted(glob.glob("scenes/*.xml")):
            with self.subTest(scene=scene):
                step = json.loads(self.good("info", scene, "--json").stdout)["timestep"]
                j = self.run_json(scene, "--time", str(10 * step))
                self.assertEqual(j["steps"], 10)
                self.assertIsNone(j["failure"])

    def test_the_pendulum_swings_and_keeps_its_energy(self):
        out = self.path("csv")
        j = self.run_json("scenes/pendulum.xml", "--csv", out)
        e = j["energy"]
        # RK4 at 1 ms
        self.assertAlmostEqual(e["final"], e["initial"], delta=1e-6 * abs(e["initial"]))
        q = [float(r["q"]) for r in rows(out + "/joints.csv") if r["joint"] == "shoulder"]
        self.assertGreater(max(q) - min(q), 1)


class Csv(Case):
    def test_files_are_as_the_contract_says(self):
        out = self.path("a/b")
        self.good("run", BOX, "--time", "0.1", "--csv", out)
        heads = [read(f"{out}/{name}.csv").splitlines()[0] for name in
                 ["bodies", "joints", "contacts"]]
        self.assertEqual(heads, [BODIES, "time,joint,q,v", CONTACTS])
        bodies = rows(out + "/bodies.csv")
        self.assertEqual(len(bodies), 101)
        self.assertEqual(bodies[0]["time"], "0")
        self.assertTrue(np.allclose(floats(bodies, "time"), 0.001 * np.arange(101), atol=1e-12))
        contacts = rows(out + "/contacts.csv")
        self.assertGreater(float(contacts[0]["time"]), 0)
        self.assertEqual({r["body1"] for r in contacts}, {"box"})
        self.assertEqual({r["body2"] for r in contacts}, {"world"})
        self.assertTrue({r["kind"] for r in contacts} <= {"point", "line", "surface"})
        self.assertTrue({r["mode"] for r in contacts} <= {"stick", "slip", "separating"})

    def test_contact_forces_carry_the_weight(self):
        out = self.path("csv")
        self.good("run", BOX, "--time", "0.5", "--csv", out)
        fz = floats(rows(out + "/contacts.csv"), "fz")
        # 4.905 N; the models differ in how fast the first steps settle
        self.assertAlmostEqual(fz[-1], 4.905, delta=1e-3)

    def test_momentum_of_a_sample_is_that_of_its_contacts(self):
        out = self.path("csv")
        self.good("run", BOX, "--key", "drop", "--time", "0.3", "--csv", out)
        bodies = rows(out + "/bodies.csv")
        t, vz = floats(bodies, "time"), floats(bodies, "vz")
        force = dict.fromkeys(t, 0.0)
        for r in rows(out + "/contacts.csv"):
            force[float(r["time"])] += float(r["fz"])
        change = 0.5 * np.diff(vz) / 0.001 + 0.5 * 9.81
        self.assertGreater(max(force.values()), 1)
        # rounding of the velocities, divided by the step
        self.assertLess(np.abs(change - [force[x] for x in t[1:]]).max(), 1e-9)

    def test_every_keeps_every_kth_step(self):
        out = self.path("csv")
        self.good("run", BOX, "--time", "0.1", "--every", "25", "--csv", out)
        self.assertTrue(np.allclose(floats(rows(out + "/bodies.csv"), "time"),
                                    [0, 0.025, 0.05, 0.075, 0.1], atol=1e-12))

    def test_joints(self):
        out = self.path("csv")
        self.good("run", "scenes/pendulum.xml", "--key", "high", "--time", "0.05", "--csv", out)
        joints = rows(out + "/joints.csv")
        self.assertEqual([r["joint"] for r in joints[:2]], ["shoulder", "elbow"])
        self.assertEqual(len(joints), 2 * 51)
        self.assertEqual(float(joints[0]["q"]), -0.75)


class Forces(Case):
    """A body of 0.5 kg in free fall, contact off: the velocity is the sum of what acted."""

    def run_with(self, text, *more):
        out = self.path("csv")
        forces = self.write("forces.csv", text)
        self.good("run", BOX, "--contact", "none", "--time", "0.1", "--csv", out, "--forces", forces,
                  *more)
        return rows(out + "/bodies.csv")

    def test_a_row_holds_until_the_next(self):
        table = self.run_with("time,body,fx,fy,fz,tx,ty,tz\n"
                              "0.02,box,1,0,4.905,0,0,0\n"
                              "0.05,box,0,2,4.905,0,0,0\n")
        vx, vy = floats(table, "vx"), floats(table, "vy")
        vz = floats(table, "vz")
        # steps that start at 0.02 .. 0.049 feel the first row, those from 0.05 on the second
        n = np.arange(101)
        self.assertTrue(np.allclose(vx, 0.002 * np.clip(n - 20, 0, 30), atol=1e-13))
        self.assertTrue(np.allclose(vy, 0.004 * np.clip(n - 50, 0, None), atol=1e-13))
        self.assertTrue(np.allclose(vz, -0.00981 * np.clip(n, 0, 20), atol=1e-13))

    def test_torque_is_in_world_axes(self):
        table = self.run_with("time,body,fx,fy,fz,tx,ty,tz\n0,box,0,0,0,0,0,1e-3\n",
                              "--key", "drop")
        inertia = 0.5 * 0.1 * 0.1 / 6
        last = table[-1]
        self.assertAlmostEqual(float(last["wz"]), 1e-3 * 0.1 / inertia, delta=1e-9)
        self.assertAlmostEqual(float(last["wx"]), 0, delta=1e-9)

    def test_rows_in_any_order_and_quotes_and_crlf(self):
        table = self.run_with('time,body,fx,fy,fz,tx,ty,tz\r\n'
                              '0.05,"box",0,0,0,0,0,0\r\n\r\n'
                              '0,"box",1,0,0,0,0,0\r\n')
        self.assertAlmostEqual(float(table[-1]["vx"]), 0.1, delta=1e-13)

    def test_wrong_files_are_named_with_the_line(self):
        head = "time,body,fx,fy,fz,tx,ty,tz\n"
        for text, line, says in [
                ("", 1, "empty"), ("time,body\n", 1, "header"),
                (head + "0,bix,1,0,0,0,0,0\n", 2, "did you mean 'box'"),
                (head + "0,box,1,0,0,0,0,0\n0.1,box,a,0,0,0,0,0\n", 3, "fx is 'a'"),
                (head + "0,box,1,0,0,0,0\n", 2, "7 fields"),
                (head + "0,box,nan,0,0,0,0,0\n", 2, "finite"),
                (head + "0,box,inf,0,0,0,0,0\n", 2, "finite"),
                (head + "0,world,1,0,0,0,0,0\n", 2, "fixed to the world"),
                (head + '0,"box,1,0,0,0,0,0\n', 2, "quoted")]:
            path = self.write("bad.csv", text)
            self.refused("run", BOX, "--forces", path, says=[f"{path}:{line}: ", says])
        self.refused("run", BOX, "--forces", self.path("none.csv"), says="none.csv: cannot read")


SLIDER = """<mujoco><option timestep="0.001" gravity="0 0 0"/><worldbody>
  <body name="cart"><joint name="x" type="slide" axis="1 0 0"/><geom type="box" size=".1 .1 .1" mass="2"/></body>
</worldbody><actuator><motor name="push" joint="x"/></actuator></mujoco>
"""


class Controls(Case):
    """A cart of 2 kg without friction: its velocity is the sum of what the motor did."""

    def test_a_control_holds_until_the_next(self):
        scene = self.write("cart.xml", SLIDER)
        controls = self.write("c.csv", "time,actuator,value\n0.05,push,-4\n0.02,push,2\n")
        out = self.path("csv")
        self.good("run", scene, "--time", "0.1", "--csv", out, "--controls", controls)
        n = np.arange(101)
        # steps that start at 0.02 .. 0.049 feel 2 N, those from 0.05 on -4 N
        want = 0.001 * np.clip(n - 20, 0, 30) - 0.002 * np.clip(n - 50, 0, None)
        self.assertTrue(np.allclose(floats(rows(out + "/joints.csv"), "v"), want, atol=1e-13))

    def test_wrong_files_are_named_with_the_line(self):
        scene = self.write("cart.xml", SLIDER)
        head = "time,actuator,value\n"
        for text, line, says in [("", 1, "time,actuator,value"), ("time,body\n", 1, "header"),
                                 (head + "0,pusch,1\n", 2, "did you mean 'push'"),
                                 (head + "0,push,nan\n", 2, "value is 'nan'"),
                                 (head + "0,push\n", 2, "2 fields instead of 3")]:
            path = self.write("bad.csv", text)
            self.refused("run", scene, "--controls", path, says=[f"{path}:{line}: ", says])
        self.refused("run", BOX, "--controls", self.write("c.csv", head + "0,push,1\n"),
                     says="there is no actuator 'push'; there are none")


class Convert(Case):
    def test_the_same_run_gives_the_same_files(self):
        names = ["film.h5", "film.glb"]
        for folder in ("a", "b"):
            os.mkdir(self.path(folder))
            for name in names:
                self.good("run", BOX, "--time", "0.05", "--record", self.path(f"{folder}/{name}"))
            time.sleep(1.1)  # more than the second in which HDF5 counts the time of day
        for name in names:
            self.assertTrue(filecmp.cmp(self.path(f"a/{name}"), self.path(f"b/{name}"), shallow=False), name)

    def test_recording_to_csv_is_what_the_run_wrote(self):
        a, b, h5 = self.path("a"), self.path("b"), self.path("run.h5")
        self.good("run", "scenes/dominoes.xml", "--time", "0.2", "--csv", a, "--record", h5)
        self.good("convert", h5, b + "/")
        for name in ["bodies.csv", "joints.csv", "contacts.csv"]:
            self.assertEqual(read(f"{a}/{name}"), read(f"{b}/{name}"), name)

    def test_recording_holds_the_documented_columns(self):
        h5 = self.path("run.h5")
        self.good("run", BOX, "--time", "0.05", "--record", h5)
        with h5py.File(h5, "r") as f:
            self.assertEqual(f.attrs["format"], b"abut recording")
            self.assertEqual(f.attrs["step"], 0.001)
            self.assertEqual([n.decode() for n in f["model/body_name"][:]], ["world", "box"])
            model = json.loads(f["model/json"][()])
            self.assertEqual(model["geoms"][1]["type"], "box")
            n, c = f["time"].shape[0], f["contacts/area"].shape[0]
            self.assertEqual(n, 51)
            self.assertEqual(f["contacts/offset"][-1], c)
            self.assertEqual(f["contacts/polygon_offset"][-1], f["contacts/polygon"].shape[0])
            self.assertEqual(f["q"].shape, (51, 7))
            self.assertEqual(f["contacts/wrench"].shape, (c, 6))

    def test_a_scene_is_not_overwritten_by_what_is_made_of_it(self):
        scene, model = self.path("scene.xml"), self.path("scene.abm")
        shutil.copy("scenes/slide.xml", scene)
        self.good("convert", scene, model)
        for command in ["convert", "live"]:
            for given in [scene, model]:
                kept = shutil.copy(given, given + ".kept")
                other = os.path.join(os.path.dirname(given), ".", os.path.basename(given))
                for out in [given, other]:
                    self.refused(command, given, out, says="the same file")
                self.assertTrue(filecmp.cmp(given, kept, shallow=False))

    def test_scene_to_scene_moves_alike(self):
        out = self.path("again.xml")
        self.good("convert", "scenes/seven_bricks.xml", out)
        one = self.run_json("scenes/seven_bricks.xml", "--time", "0.1")
        two = self.run_json(out, "--time", "0.1")
        self.assertEqual(one["steps"], two["steps"])
        # numbers pass through text, so the last digits may differ
        self.assertAlmostEqual(one["energy"]["final"], two["energy"]["final"],
                               delta=1e-9 * abs(one["energy"]["final"]))


class Tables(Case):
    def test_info(self):
        text = self.good("info", "scenes/pendulum.xml").stdout
        for word in ["shoulder", "hinge", "upper", "capsule", "Keyframes: high"]:
            self.assertIn(word, text)
        j = json.loads(self.good("info", BOX, "--json").stdout)
        self.assertEqual([b["name"] for b in j["bodies"]], ["world", "box"])
        self.assertAlmostEqual(j["bodies"][1]["mass"], 0.5, delta=1e-15)
        self.assertAlmostEqual(j["bodies"][1]["inertia"][0], 0.5 * 0.01 / 6, delta=1e-15)

    def test_models_tell_their_parameters(self):
        models = json.loads(self.good("models", "--json").stdout)
        self.assertGreaterEqual(len(models), 5)
        for m in models:
            names = [p["name"] for p in m["parameters"]]
            self.assertIn("tolerance", names, m["name"])
            for p in m["parameters"]:
                self.assertTrue(p["doc"], (m["name"], p["name"]))
        self.assertIn("volume-pgs", self.good("models", "volume-pgs").stdout)

    def test_compare(self):
        words = ["compare", BOX, "--contact", "volume-pgs,point-pgs", "--time", "0.4"]
        table = json.loads(self.good(*words, "--json").stdout)
        self.assertEqual([r["contact"] for r in table], ["volume-pgs", "point-pgs"])
        for r in table:
            self.assertEqual(r["steps"], 400)
            self.assertAlmostEqual(r["floor_force"], 4.905, delta=0.05)
            self.assertEqual(r["zero_fraction"], 0)
            self.assertLess(r["drift"], 1e-3)
        text = self.good(*words).stdout
        self.assertIn("point-pgs", text)
        self.assertIn("chatter", text)


if __name__ == "__main__":
    unittest.main()

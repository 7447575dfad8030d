#!/usr/bin/python3
"""How a run ends: saved and gone on with, refused, failed, interrupted.

usage: test_endings.py ABUT_PROGRAM [unittest options]; run from the root of the sources.
"""
import json
import os
import signal
import subprocess
import tempfile
import time
import unittest

import h5py
import numpy as np

from case import BOX, PROGRAM, Case, abut, floats, read, rows


class SavedStates(Case):
    SCENE = "scenes/dominoes.xml"

    def test_a_run_in_two_parts_is_the_run(self):
        for more in [["--contact", "volume-pgs"], ["--contact", "volume-pgs", "--sleep"],
                     ["--contact", "point-pgs"]]:
            whole = self.run_json(self.SCENE, "--time", "1", *more)
            state = self.path("state")
            self.run_json(self.SCENE, "--time", "0.4", "--save", state, *more)
            rest = self.run_json(self.SCENE, "--time", "0.6", "--resume", state, *more)
            self.assertEqual(rest["hash"], whole["hash"])
            self.assertEqual(rest["time"], whole["time"])

    def test_a_state_is_the_same_bytes_every_time(self):
        states = []
        for name in "ab":
            self.good("run", self.SCENE, "--time", "0.8", "--sleep", "--save", self.path(name))
            with open(self.path(name), "rb") as file:
                states.append(file.read())
        self.assertEqual(states[0], states[1])  # no address, nothing left uninitialised

    def test_a_recording_is_gone_on_from_at_any_moment(self):
        for scene, more in [("scenes/dominoes.xml", []), ("scenes/dominoes.xml", ["--sleep"]),
                            ("scenes/dominoes.xml", ["--contact", "volume-pgs", "--every", "7"]),
                            ("scenes/coin.xml", ["--contact", "ecp"]),
                            ("scenes/arm_place.xml", [])]:
            record = self.path("run.h5")
            whole = self.run_json(scene, "--time", "0.2", "--record", record, *more)
            self.run_json(scene, "--time", "0.12", "--record", record, *more)
            for at in 0, 0.0371, 0.07, 0.112:
                n = round(at / whole["step"])
                rest = self.run_json(scene, "--resume", record, "--at", str(at), *more,
                                     "--time", repr((whole["steps"] - n) * whole["step"]))
                self.assertEqual((rest["hash"], rest["time"]), (whole["hash"], whole["time"]))
        rest = self.run_json(scene, "--resume", record, "--time", "0.08")
        self.assertEqual(rest["hash"], whole["hash"])  # its end is the usual moment

    def test_forces_are_part_of_going_on(self):
        push = self.write("push.csv", "time,body,fx,fy,fz,tx,ty,tz\n0.02,box,1,0,0,0,0,0\n")
        record = self.path("run.h5")
        whole = self.run_json(BOX, "--time", "0.2", "--forces", push, "--record", record)
        with h5py.File(record) as f:
            kept = f["states/time"][()]
        self.assertGreater(len(kept), 5)
        at = kept[kept > 0.1][0] + 3 * whole["step"]  # three steps are done again, and checked
        run = ["run", BOX, "--resume", record, "--at", repr(float(at)), "--time", repr(0.2 - float(at))]
        rest = self.run_json(*run[1:], "--forces", push)
        self.assertEqual(rest["hash"], whole["hash"])
        more = self.write("more.csv", "time,body,fx,fy,fz,tx,ty,tz\n0.02,box,2,0,0,0,0,0\n")
        self.refused(*run, "--forces", more, says="not the recorded one")
        self.refused(*run, "--forces", push, "--step", "0.0007", says="not the recorded one")
        self.refused(*run[:4], "--at", "0.5", says="ends at 0.2 s")
        self.refused(*run[:4], "--at", "-1", says="no state at or before -1 s")
        self.refused("run", self.SCENE, "--resume", record, says="another scene")
        self.refused("run", "scenes/coin.xml", "--resume", record, says="another scene")  # of the same sizes
        self.refused("run", BOX, "--at", "0.1", says="--resume")

    def test_wrong_states_are_refused(self):
        state = self.path("state")
        run = ["run", self.SCENE, "--time", "0.01"]
        self.good(*run, "--contact", "point-pgs", "--save", state)
        self.refused(*run, "--contact", "volume-pgs", "--resume", state, says="point-pgs")
        self.refused("run", "scenes/coin.xml", "--contact", "point-pgs", "--resume", state,
                     says="another scene")
        self.refused(*run, "--resume", self.write("text", "hello"), says="not a saved state")
        self.refused(*run, "--resume", self.path("none"), says="none: cannot read")
        self.refused(*run, "--save", self.path("no/folder"), says="cannot write the state")
        self.refused("run", BOX, "--key", "drop", "--resume", state, says="leave one out")
        self.refused(*run, "--contact", "point-pgs", "--resume", state, "--at", "0", says="--at is for recordings")
        for endless in "/dev/zero", "/dev":
            self.refused(*run, "--resume", endless, says="ordinary file")
        os.mkfifo(self.path("pipe"))
        self.refused(*run, "--resume", self.path("pipe"), says="it is a pipe")


class BadInput(Case):
    def test_command_lines(self):
        for words, says in [
                (["rum"], "did you mean 'run'"),
                (["run"], "usage: abut run SCENE"),
                (["run", BOX, "extra"], "too many"),
                (["run", BOX, "--tim", "1"], "did you mean '--time'"),
                (["run", BOX, "--time"], "needs a value"),
                (["run", BOX, "--time", "soon"], "not a number"),
                (["run", BOX, "--time", "-1"], "greater than 0"),
                (["run", BOX, "--time", "nan"], "not a number"),
                (["run", BOX, "--step", "0"], "greater than 0"),
                (["run", BOX, "--json=1"], "takes no value"),
                (["run", BOX, "--contact", "point-pqs"], "did you mean 'point-pgs'"),
                (["run", BOX, "--set", "tolerance"], "NAME=VALUE"),
                (["run", BOX, "--set", "tolerance=small"], "not a number"),
                (["run", BOX, "--set", "tolerence=1"], "did you mean 'tolerance'"),
                (["run", BOX, "--key", "drob"], "did you mean 'drop'"),
                (["run", BOX, "--on-failure", "panic"], "stop or warn"),
                (["run", BOX, "--every", "0"], "greater than 0"),
                (["run", BOX, "--every", "1.5", "--csv", "/tmp/x"], "whole number"),
                (["run", BOX, "--threads", "0"], "greater than 0"),
                (["run", BOX, "--threads", "1.5"], "whole number"),
                (["run", BOX, "--record", "film.mp4"], ".h5, .glb or .html"),
                (["run", BOX, "--csv", "/proc/nothing"], "/proc/nothing"),
                (["run", BOX, "--record", "/proc/nothing/a.h5"], "/proc/nothing"),
                (["run", "scenes/nothing.xml"], "scenes/nothing.xml"),
                (["info", "scenes/nothing.xml"], "scenes/nothing.xml"),
                (["models", "volume-gps"], "did you mean"),
                (["compare", BOX, "--contact", "volume-pgs,nosuch"], "nosuch"),
                (["compare", BOX, "--contact", ","], ""),
                (["convert", BOX], "usage"),
                (["convert", BOX, "out.urdf"], ".xml"),
                (["convert", "nothing.h5", "x.html"], "nothing.h5")]:
            with self.subTest(words=words):
                self.refused(*words, says=says)

    def test_everything_wrong_with_a_scene_is_told_at_once(self):
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "wrong.xml")
            with open(path, "w") as f:
                f.write("<mujoco>\n<option density='1'/>\n<worldbody>\n<geom size='1' colour='red'/>\n<geom/>\n</worldbody></mujoco>\n")
            r = abut("info", path)
            self.assertEqual(r.returncode, 2)
            self.assertEqual([line.split(":")[1] for line in r.stderr.splitlines()], ["2", "4", "5"])

    def test_a_urdf_floats_when_asked(self):
        fixed, free = (json.loads(abut("info", "scenes/check/arm.urdf", "--json", *o).stdout) for o in ([], ["--floating"]))
        self.assertEqual(free["nv"], fixed["nv"] + 6)
        r = abut("run", "scenes/check/arm.urdf", "--floating", "--time", "0.01", "--quiet", "--json")
        self.assertEqual(r.returncode, 0, r.stderr)

    def test_a_broken_scene_is_named_with_its_line(self):
        path = self.write("bad.xml", "<mujoco>\n  <worldbody>\n    <geom type=\"box\"\n</mujoco>\n")
        self.assertRegex(self.refused("run", path, says=path), r"bad\.xml:\d+: ")


class Failure(Case):
    HARD = ["--contact", "volume-pgs", "--set", "sweeps=1", "--set", "tolerance=1e-300"]

    def test_stop_ends_with_3_and_keeps_what_was_recorded(self):
        out = self.path("csv")
        done = abut("run", "scenes/seven_bricks.xml", *self.HARD, "--on-failure", "stop",
                    "--time", "1", "--csv", out, "--json")
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, r"step \d+ .*bodies .*brick.*residual")
        j = json.loads(done.stdout)
        self.assertEqual(j["failure"]["status"], "unconverged")
        times = floats(rows(out + "/bodies.csv"), "time")
        self.assertAlmostEqual(times[-1], 0.001 * j["failure"]["step"], delta=1e-9)

    def test_warn_goes_on_and_counts(self):
        j = self.run_json("scenes/seven_bricks.xml", *self.HARD, "--time", "0.2")
        self.assertEqual(j["steps"], 200)
        self.assertGreater(j["unconverged_steps"], 0)
        self.assertIsNone(j["failure"])

    def test_a_broken_step_ends_with_3(self):
        forces = self.write("f.csv", "time,body,fx,fy,fz,tx,ty,tz\n0.05,box,1e308,0,0,0,0,1e308\n")
        out = self.path("csv")
        done = abut("run", BOX, "--contact", "none", "--forces", forces, "--time", "1", "--csv", out)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertRegex(done.stderr, r"step 5\d .*broke down: bodies box")
        values = rows(out + "/bodies.csv")
        self.assertGreaterEqual(len(values), 51)
        self.assertTrue(all(np.isfinite(float(v)) for v in values[-1].values() if v != "box"))

    def test_energy_from_nowhere_ends_with_3(self):
        # an explicit spring so stiff that the first touch throws the box at 1e5 m/s
        done = abut("run", BOX, "--contact", "point-penalty", "--set", "k=1e14", "--time", "1", "--json")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertRegex(done.stderr, r"broke down: bodies box")
        j = json.loads(done.stdout)
        self.assertEqual(j["failure"]["status"], "broken")
        self.assertLess(j["energy"]["kinetic"], 1e3)  # the state is that before the step

    OVERLAP = """<mujoco><worldbody><geom name="base" type="box" size=".1 .1 .1" euler="3 1 0"/>
      <body name="link" pos="0 0 .19"><joint axis="0 0 1"/><geom name="tube" type="capsule" size=".05 .1"/></body></worldbody></mujoco>"""

    def test_a_contact_the_joints_cannot_open_is_named_once(self):
        scene = self.write("overlap.xml", self.OVERLAP)
        done = abut("run", scene, "--time", "0.5", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        told = [line for line in done.stderr.splitlines() if "warning" in line]
        self.assertEqual(len(told), 1)
        for word in ("'tube'", "'link'", "'base'", "'world'", "inside each other"):
            self.assertIn(word, told[0])
        j = json.loads(done.stdout)
        self.assertEqual(len(j["warnings"]), 1)
        self.assertEqual(j["warnings"][0]["steps"], j["steps"])
        self.assertLess(j["energy"]["max_gain"], 1e-9)  # nothing acts: rounding
        self.assertEqual(abut("run", scene, "--time", "0.1", "--quiet").stderr, "")


class Endings(Case):
    """Runs that are ended from outside keep what they recorded."""

    def start(self, *words):
        p = subprocess.Popen([PROGRAM, "run", "scenes/stack10.xml", "--time", "1e6", *words],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(p.communicate)
        self.addCleanup(p.kill)
        return p

    def wait_for(self, condition):
        end = time.monotonic() + 20
        while time.monotonic() < end:
            if condition():
                return
            time.sleep(0.05)
        self.fail("waited 20 s in vain")

    def samples(self, path, **how):
        try:
            with h5py.File(path, "r", **how) as f:
                return f["time"].shape[0]
        except OSError:
            return 0

    def test_interrupt_completes_the_recordings(self):
        for number in [signal.SIGINT, signal.SIGTERM]:
            out, h5 = self.path("csv"), self.path("run.h5")
            p = self.start("--csv", out, "--record", h5, "--json")
            self.wait_for(lambda: self.samples(h5) > 3)
            p.send_signal(number)
            stdout, _ = p.communicate(timeout=20)
            self.assertEqual(p.returncode, 128 + number)
            steps = json.loads(stdout)["steps"]
            self.assertEqual(self.samples(h5), steps + 1)
            self.assertEqual(len(rows(out + "/bodies.csv")), 10 * (steps + 1))
            os.remove(h5)

    def test_killed_runs_leave_readable_files(self):
        out, h5 = self.path("csv"), self.path("run.h5")
        p = self.start("--csv", out, "--record", h5, "--every", "5")
        self.wait_for(lambda: self.samples(h5) > 3)
        p.kill()
        p.communicate()
        text = read(out + "/bodies.csv")
        self.assertTrue(text.endswith("\n"))
        self.assertEqual((text.count("\n") - 1) % 10, 0)
        with h5py.File(h5, "r") as f:
            n = f["time"].shape[0]
            self.assertGreater(n, 3)
            self.assertTrue(np.allclose(f["time"][:], 0.01 * np.arange(n), atol=1e-6))
            self.assertEqual(f["pose"].shape, (n, 11, 7))
            self.assertEqual(f["contacts/offset"].shape[0], n + 1)

    def test_a_reader_can_follow(self):
        h5 = self.path("run.h5")
        self.start("--record", h5)
        self.wait_for(lambda: self.samples(h5, swmr=True, libver="latest") > 3)
        with h5py.File(h5, "r", swmr=True, libver="latest") as f:
            first = f["time"].shape[0]

            def grown():
                f["time"].refresh()
                return f["time"].shape[0] > first
            self.wait_for(grown)
            f["pose"].refresh()
            self.assertGreaterEqual(f["pose"].shape[0], f["time"].shape[0])
            self.assertTrue(np.isfinite(f["pose"][f["time"].shape[0] - 1]).all())


if __name__ == "__main__":
    unittest.main()

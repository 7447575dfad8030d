#!/usr/bin/python3
"""abut haptic as a user meets it: hands in the loop, what is printed, what is recorded, what is refused.

usage: test_haptic.py ABUT_PROGRAM [unittest options]; run from the root of the sources.
Nothing here depends on how fast the machine is: runs are offline, or only their ends are looked at.
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import h5py
import numpy as np

PROGRAM = os.path.abspath(sys.argv.pop(1))
SCENE = "scenes/six_blocks.xml"
HANDS = ["--pointer", "left=virtual:scenes/hands/left.csv", "--pointer", "right=virtual:scenes/hands/right.csv,seed=2"]


def abut(*words):
    return subprocess.run([PROGRAM, "haptic", *words], capture_output=True, text=True, timeout=300)


class Haptic(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def test_hands_pinch_lift_stack_and_drop_a_block(self):
        out = abut(SCENE, *HANDS, "--time", "14", "--offline", "--json", "--record", self.path("run.h5"))
        self.assertEqual(out.returncode, 0, out.stderr)
        result = json.loads(out.stdout)
        for key in ("rate", "steps", "missed", "step_us", "energy_drawn", "force", "jump", "pointers", "hash"):
            self.assertIn(key, result)
        for key in ("step_us", "cpu_us", "late_us"):
            self.assertEqual(set(result[key]), {"p50", "p99", "p999", "max"})
        self.assertGreater(result["cpu_us"]["p50"], 0)
        self.assertEqual((result["steps"], result["missed"]), (14000, 0))
        # 1.5 MB of results are written in 14000 steps, 370 pages; what is left is what contacts take the first time
        self.assertLess(result["faults"], 150, "no step waits for the memory of its results")
        self.assertLess(result["energy_drawn"], 1e-3, "the hands never draw a millijoule")
        self.assertLess(result["jump"], 5 * (1 + 1e-6), "the force changes by 5 N in a millisecond at most")
        self.assertEqual([p["freezes"] for p in result["pointers"]], [0, 0])
        csv = self.path("csv/")
        subprocess.run([PROGRAM, "convert", self.path("run.h5"), csv, "--quiet"], check=True)
        with open(csv + "bodies.csv") as f:
            lines = [line.split(",") for line in f]
        block = np.array([[float(x) for x in r[:1] + r[2:]] for r in lines if r[1] == "block2"])
        at = lambda t: block[np.argmin(abs(block[:, 0] - t)), 1:4]
        # within a tenth of a block's side of where the hands mean it to be
        np.testing.assert_allclose(at(3.4)[2], 0.24, atol=0.02, err_msg="lifted")
        np.testing.assert_allclose(at(7), [0, 0.25, 0.15], atol=0.01, err_msg="on top of another")
        np.testing.assert_allclose(at(11), [0, -0.25, 0.24], atol=0.02, err_msg="held high")
        np.testing.assert_allclose(at(14), [0, -0.25, 0.05], atol=0.02, err_msg="dropped")

    def test_hands_bring_the_block_back_again_and_again(self):
        hands = [w + ",repeat=20" if "csv" in w else w for w in HANDS]
        out = abut(SCENE, *hands, "--time", "40", "--offline", "--json", "--record", self.path("csv/"), "--every", "1000")
        self.assertEqual(out.returncode, 0, out.stderr)
        self.assertLess(json.loads(out.stdout)["energy_drawn"], 1e-3)
        with open(self.path("csv/bodies.csv")) as f:
            rows = [line.split(",") for line in f]
        block = {round(float(r[0])): [float(x) for x in r[2:5]] for r in rows if r[1] == "block2"}
        for t in (20, 40):  # the drop may turn it; within a fifth of its side
            np.testing.assert_allclose(block[t], [0, 0, 0.05], atol=0.02, err_msg=f"back after {t} s")

    def test_equal_hands_give_equal_motion(self):
        words = (SCENE, *HANDS, "--time", "2.5", "--offline", "--json")
        self.assertEqual(*[json.loads(abut(*words).stdout)["hash"] for _ in range(2)])

    def test_the_loop_keeps_to_the_clock(self):
        start = time.time()
        result = json.loads(abut(SCENE, *HANDS, "--time", "1.5", "--json", "--quiet").stdout)
        self.assertGreater(time.time() - start, 1.4, "it does not run ahead")
        self.assertEqual(result["steps"], 1500)
        self.assertEqual(set(result["realtime"]), {"fifo", "locked", "pinned"})

    def test_ctrl_c_leaves_a_readable_recording(self):
        program = subprocess.Popen([PROGRAM, "haptic", SCENE, *HANDS, "--time", "60", "--json", "--quiet",
                                    "--record", self.path("run.h5")], stdout=subprocess.PIPE, text=True)
        time.sleep(1.5)
        program.send_signal(signal.SIGINT)
        text, _ = program.communicate(timeout=120)
        self.assertEqual(program.returncode, 0)
        result = json.loads(text)
        self.assertTrue(result["stopped"])
        with h5py.File(self.path("run.h5")) as f:
            times = f["time"][:] if "time" in f else next(v[:] for k, v in f.items() if k.endswith("time"))
        self.assertLessEqual(times[-1], result["time"] + 1e-9)
        self.assertGreater(times[-1], result["time"] - 0.02, "to the end, but for the part of a sample")

    def test_a_terminal_that_is_closed_ends_the_run_in_order(self):
        program = subprocess.Popen([PROGRAM, "haptic", SCENE, *HANDS, "--time", "60", "--json", "--record", self.path("run.h5")],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        time.sleep(1.5)
        program.send_signal(signal.SIGHUP)
        text, _ = program.communicate(timeout=120)
        self.assertEqual(program.returncode, 0)
        self.assertTrue(json.loads(text)["stopped"])
        with h5py.File(self.path("run.h5")) as f:
            self.assertGreater(f["time"][-1], json.loads(text)["time"] - 0.02)

    @staticmethod
    def wait_for_processor_time(program, seconds):
        used = 0
        while used < seconds and program.poll() is None:
            time.sleep(0.02)
            with open(f"/proc/{program.pid}/stat") as f:
                fields = f.read().rpartition(")")[2].split()
            used = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def test_ctrl_c_twice_leaves_a_readable_recording_too(self):
        # Offline, each step is recorded, so the writing takes longer than the run did.
        program = subprocess.Popen([PROGRAM, "haptic", SCENE, *HANDS, "--time", "900", "--offline", "--json", "--every", "1",
                                    "--record", self.path("run.h5")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.wait_for_processor_time(program, 6)  # on a busy machine that is more than 6 s
        program.send_signal(signal.SIGINT)
        while os.path.getsize(self.path("run.h5")) < 1e5:  # the head alone has 26 kB
            time.sleep(0.01)
        program.send_signal(signal.SIGINT)
        text, said = program.communicate(timeout=120)
        self.assertEqual(program.returncode, 0)
        self.assertIn("the recording ends at", said)
        with h5py.File(self.path("run.h5")) as f:
            last = f["time"][-1]
        self.assertGreater(last, 0)
        self.assertLess(last, json.loads(text)["time"])
        self.assertIn(f"{last:.3f}", said)

    def test_a_lost_device_is_told_and_its_pointer_held(self):
        out = abut(SCENE, "--pointer", "left=recorded:scenes/hands/left.csv,stop=2.5", "--pointer",
                   "right=virtual:scenes/hands/right.csv", "--time", "4", "--offline", "--json")
        self.assertEqual(out.returncode, 0)
        self.assertIn("left at 2.5", out.stderr)
        self.assertIn("the device is lost", out.stderr)
        left = json.loads(out.stdout)["pointers"][0]
        self.assertEqual(left["freezes"], 1)
        self.assertLess(left["jump"], 5 * (1 + 1e-6))

    def test_wrong_words_are_refused_by_name(self):
        for words, message in [
            ((SCENE,), "no pointer"),
            ((SCENE, "--pointer", "left"), "BODY=DEVICE"),
            ((SCENE, "--pointer", "lft=virtual"), "no body 'lft'"),
            ((SCENE, "--pointer", "left=vrtual"), "did you mean 'virtual'"),
            ((SCENE, "--pointer", "left=virtual", "--pointer", "left=virtual"), "has a device already"),
            ((SCENE, "--pointer", "left=virtual:x.csv"), "x.csv"),
            ((SCENE, "--pointer", "world=virtual"), "moves"),
            ((SCENE, "--pointer", "left=virtual", "--rate", "0"), "--rate"),
            ((SCENE, "--pointer", "left=virtual", "--rate", "1e5", "--time", "1e6"), "shorter --time"),
            ((SCENE, "--pointer", "left=virtual:delay=1e9"), "a delay of at most"),
            ((SCENE, "--pointer", "left=recorded:scenes/hands/left.csv,speed=0"), "above 0"),
            ((SCENE, "--pointer", "left=recorded:scenes/hands/left.csv,speed=-1"), "above 0"),
            ((SCENE, "--pointer", "left=evdev:/dev/null"), "no input device"),
            ((SCENE, "--pointer", f"left=evdev:{SCENE}"), "no input device"),
            (("nowhere.xml", "--pointer", "left=virtual"), "nowhere.xml"),
            ((SCENE, "--pointer", "left=virtual", "--rate", "1", "--time", "0.2"), "before the first step"),
            # before the loop, which would outlast the test
            ((SCENE, "--pointer", "left=virtual", "--time", "900", "--record", self.path("run.avi")), "run.avi"),
            ((SCENE, "--pointer", "left=virtual", "--time", "900", "--record", self.path("run.h5"), "--every", "0"), "--every"),
        ]:
            out = abut(*words)
            self.assertEqual(out.returncode, 2, words)
            self.assertIn(message, out.stderr)


if __name__ == "__main__":
    unittest.main()

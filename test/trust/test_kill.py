#!/usr/bin/python3
"""A run killed at any moment leaves a recording that is readable to the last flush.

usage: test_kill.py ABUT_PROGRAM [unittest options]; from the root of the sources. The environment
variable ABUT_KILLS says how often to kill (12; 200 take some minutes).
"""
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import unittest

import case

PROGRAM = os.path.abspath(sys.argv.pop(1))
KILLS = int(os.environ.get("ABUT_KILLS", "12"))
# Some 2 MB of samples a simulated second: a flush every few steps.
SCENE = "scenes/pile.xml"
STEPS = ["--time", "0.6"]


def lines(path):
    with open(path) as f:
        return f.readlines()


class Killed(case.Case):
    def convert(self):
        shutil.rmtree(self.path("read"), ignore_errors=True)
        done = subprocess.run([PROGRAM, "convert", self.path("run.h5"), self.path("read/")],
                              capture_output=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {name: lines(self.path("read/" + name)) for name in ("bodies.csv", "contacts.csv")}

    def test_recordings_stay_readable(self):
        words = [PROGRAM, "run", SCENE, *STEPS, "--quiet", "--record", self.path("run.h5")]
        begun = time.monotonic()
        subprocess.run(words, check=True, timeout=600)
        whole = time.monotonic() - begun
        reference = self.convert()
        seed = int(os.environ.get("ABUT_SEED", "1"))
        chance = random.Random(seed)
        cut = 0
        for kill in range(KILLS):
            os.remove(self.path("run.h5"))
            run = subprocess.Popen(words)
            while not os.path.exists(self.path("run.h5")) or not os.path.getsize(self.path("run.h5")):
                self.assertIsNone(run.poll())
            time.sleep(chance.random() * whole)
            run.send_signal(signal.SIGKILL)
            run.wait()
            with self.subTest(kill=kill, seed=seed):
                read = self.convert()
                for name, text in read.items():
                    self.assertEqual(text, reference[name][:len(text)], name)
                cut += 1 < len(read["bodies.csv"]) < len(reference["bodies.csv"])
        # else nothing was tried
        self.assertGreater(cut, KILLS // 4)


if __name__ == "__main__":
    unittest.main()

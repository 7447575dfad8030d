#!/usr/bin/python3
"""What is left when a sweep does not end by itself: killed, stopped, out of room, two at once.

usage: test_kills.py ABUT_PROGRAM [unittest options]; run from the root of the sources.
"""
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_sweep import abut, Case, PROGRAM, read  # noqa: E402  (takes the program from the command line)


class Kills(Case):
    LONG = dict(time=2, samples=40, step=0.004)  # 320 runs

    def start(self, spec, out="out", *words, **more):
        return subprocess.Popen([PROGRAM, "sweep", spec, "--out", self.path(out), "--quiet", *words],
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **more)

    def wait_for_rows(self, process, out="out"):
        for _ in range(4000):
            names = [n for n in os.listdir(self.path(out)) if n.startswith("journal")] \
                if os.path.isdir(self.path(out)) else []
            if any(os.path.getsize(self.path(f"{out}/{n}")) > 1000 for n in names):
                return
            if process.poll() is not None:
                break
            time.sleep(0.005)
        self.fail("no rows before the end")

    def test_after_a_kill_resume_gives_the_same_bytes(self):
        spec = self.spec(self.LONG)
        self.sweep(spec, "whole")
        for _ in range(3):
            process = self.start(spec, "out", "--resume")
            self.wait_for_rows(process)
            time.sleep(0.05)
            process.kill()
            process.communicate()
        self.assertEqual(process.returncode, -signal.SIGKILL)
        self.assertFalse(os.path.exists(self.path("out/results.csv")))
        done = json.loads(self.good("sweep", spec, "--out", self.path("out"), "--resume", "--json").stdout)
        self.assertLess(done["done_here"], 320)
        self.same("whole", "out")
        again = self.good("sweep", spec, "--out", self.path("out"), "--resume")
        self.assertIn("nothing to do", again.stdout)

    def test_a_signal_ends_a_sweep_in_order(self):
        spec = self.spec(self.LONG)
        process = self.start(spec)
        self.wait_for_rows(process)
        process.send_signal(signal.SIGTERM)
        _, told = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 128 + signal.SIGTERM)
        self.assertIn("--resume", told)
        self.sweep(spec, "out", "--resume")
        self.sweep(spec, "whole")
        self.same("whole", "out")

    def test_a_full_disk_is_told_and_survived(self):
        spec = self.spec(self.LONG)

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000))

        process = self.start(spec, preexec_fn=limit)
        _, told = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 2, told)
        self.assertIn("--resume", told)
        self.assertLessEqual(os.path.getsize(self.path("out/journal.bin")), 6000)
        self.sweep(spec, "out", "--resume")
        self.sweep(spec, "whole")
        self.same("whole", "out")

    def test_torn_and_damaged_journals_lose_only_what_is_damaged(self):
        spec = self.spec(self.LONG)
        self.sweep(spec, "whole")
        process = self.start(spec)
        self.wait_for_rows(process)
        time.sleep(0.1)
        process.kill()
        process.communicate()
        journal = self.path("out/journal.bin")
        whole = read(journal)
        for damage in (whole[:-13], whole + b"\0" * 40, whole[:700] + b"x" + whole[701:], whole[:20], b""):
            with open(journal, "wb") as f:
                f.write(damage)
            shutil.rmtree(self.path("copy"), ignore_errors=True)
            shutil.copytree(self.path("out"), self.path("copy"))
            self.sweep(spec, "copy", "--resume")
            self.same("whole", "copy")

    def test_two_at_once_in_one_folder_are_kept_apart(self):
        spec = self.spec(self.LONG)
        process = self.start(spec)
        self.wait_for_rows(process)
        second = abut("sweep", spec, "--out", self.path("out"), "--resume")
        process.kill()
        process.communicate()
        self.assertEqual(second.returncode, 2)
        self.assertIn("another process", second.stderr)

    def test_nothing_is_overwritten_or_mixed(self):
        spec = self.spec()
        self.sweep(spec)
        again = abut("sweep", spec, "--out", self.path("out"))
        self.assertEqual(again.returncode, 2)
        self.assertIn("--resume", again.stderr)
        other = abut("sweep", self.spec(seed=8), "--out", self.path("out"), "--resume")
        self.assertEqual(other.returncode, 2)
        self.assertIn('"seed" differs', other.stderr)
        self.sweep(self.spec(name="b.json"), "part0", "--shard", "0/2")
        self.sweep(self.spec(name="b.json", seed=9), "part1", "--shard", "1/2")
        mixed = abut("sweep", "--merge", self.path("part0"), self.path("part1"), "--out", self.path("x"))
        self.assertEqual(mixed.returncode, 2)
        self.assertIn("another sweep", mixed.stderr)

    def test_joining_too_little_says_what_is_missing_and_can_go_on(self):
        spec = self.spec()
        self.sweep(spec, "part0", "--shard", "0/3")
        done = abut("sweep", "--merge", self.path("part0"), "--out", self.path("out"))
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"\d+ runs are missing")
        self.sweep(spec, "out", "--resume")
        self.sweep(spec, "whole")
        self.same("whole", "out")


if __name__ == "__main__":
    unittest.main()

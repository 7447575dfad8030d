#!/usr/bin/python3
"""abut-sweep-mpi under mpirun: the same bytes on any number of ranks, and what is left of a killed job.

usage: test_mpi.py MPI_PROGRAM ABUT_PROGRAM [unittest options]; run from the root of the sources.
"""
import json
import os
import signal
import subprocess
import sys
import time
import unittest

sys.dont_write_bytecode = True
RANKS = os.path.abspath(sys.argv.pop(1))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_sweep  # noqa: E402  (takes the other program from the command line)

ENVIRONMENT = {
    **os.environ,
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",  # containers
    # the library of MPI keeps memory of its own until the end
    "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0",
}


def mpirun(n, *words):
    # more ranks than cores, on any machine
    return ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(n), RANKS, *map(str, words)]


def run(n, *words):
    return subprocess.run(mpirun(n, *words), capture_output=True, text=True, timeout=400,
                          env=ENVIRONMENT)


class Mpi(test_sweep.Case):
    LONG = dict(time=2, samples=40, step=0.002)  # 320 runs

    def ranks(self, n, spec, out, *words):
        done = run(n, spec, "--out", self.path(out), "--quiet", *words)
        self.assertEqual(done.returncode, 0, done.stderr)

    def start(self, n, spec, out):
        """A job in the middle of its work: at least one chunk has come, the end is far."""
        job = subprocess.Popen(mpirun(n, spec, "--out", self.path(out), "--quiet"), env=ENVIRONMENT,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        journal = self.path(f"{out}/journal.bin")
        for _ in range(6000):
            if os.path.exists(journal) and os.path.getsize(journal) > 1000:
                return job
            self.assertIsNone(job.poll(), "the job ended too early")
            time.sleep(0.005)
        self.fail("no rows came")

    def processes(self, job):
        """The ranks of a job, by the number Open MPI gives them."""
        found = {}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/stat") as f:
                    parent = int(f.read().rsplit(")", 1)[1].split()[1])
                with open(f"/proc/{pid}/environ", "rb") as f:
                    words = f.read().split(b"\0")
            except OSError:
                continue
            if parent != job.pid:
                continue
            for word in words:
                if word.startswith(b"OMPI_COMM_WORLD_RANK="):
                    found[int(word.split(b"=")[1])] = int(pid)
        return found

    def test_any_number_of_ranks_gives_the_same_bytes(self):
        spec = self.spec()
        self.sweep(spec, "threads")
        for n in (1, 2, 4):
            self.ranks(n, spec, f"ranks{n}")
            self.same("threads", f"ranks{n}")
        self.ranks(2, spec, "mixed", "--threads", 3)
        self.same("threads", "mixed")

    def test_shards_of_jobs_are_joined_by_the_base_program(self):
        spec = self.spec()
        for i in range(2):
            self.ranks(2, spec, f"part{i}", "--shard", f"{i}/2")
        self.good("sweep", "--merge", self.path("part0"), self.path("part1"), "--out",
                  self.path("joined"), "--quiet")
        self.sweep(spec, "threads")
        self.same("threads", "joined")

    def killed(self, victim):
        spec = self.spec(self.LONG)
        job = self.start(3, spec, "out")
        os.kill(self.processes(job)[victim], signal.SIGKILL)
        job.communicate(timeout=60)
        self.assertNotEqual(job.returncode, 0)
        self.assertFalse(os.path.exists(self.path("out/results.csv")))
        self.ranks(4, spec, "out", "--resume")
        self.sweep(spec, "threads")
        self.same("threads", "out")

    def test_a_killed_worker_is_survived_by_resume(self):
        self.killed(2)

    def test_a_killed_master_is_survived_by_resume(self):
        self.killed(0)

    def test_the_end_of_the_queue_time_is_survived(self):
        spec = self.spec(self.LONG)
        job = self.start(2, spec, "out")
        job.send_signal(signal.SIGTERM)
        job.communicate(timeout=60)
        self.assertNotEqual(job.returncode, 0)
        done = json.loads(self.good("sweep", spec, "--out", self.path("out"), "--resume", "--json").stdout)
        self.assertLess(done["done_here"], 320)  # what the ranks did was kept
        self.sweep(spec, "threads")
        self.same("threads", "out")

    def test_bad_input_ends_all_ranks(self):
        done = run(3, self.spec(vary={"geom.cub.friction": [1]}), "--out", self.path("out"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("did you mean 'cube'?", done.stderr)
        self.assertEqual(done.stderr.count("did you mean"), 1)  # only one rank talks
        done = run(2, "--help")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stdout.count("Examples:"), 1)

    def test_dry_run_counts_the_ranks(self):
        done = run(3, self.spec(), "--dry-run")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("on 3 threads of all ranks", done.stdout)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/python3
"""Output that failed is an error: no command says it is done when what it wrote has not arrived.

usage: test_output.py ABUT_PROGRAM [unittest options]; run from the root of the sources.
"""
import base64
import csv
import hashlib
import io
import json
import os
import re
import resource
import signal
import struct
import subprocess
import sys
import time
import unittest
import zlib

import h5py

import case

PROGRAM = os.path.abspath(sys.argv.pop(1))
BOX = "scenes/box_on_plane.xml"
CASE = {"cases": [{"VA": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
                   "VB": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]}]}


class Case(case.Case):
    def abut(self, *words, **options):
        return subprocess.run([PROGRAM, *words], timeout=600, stderr=subprocess.PIPE, **options)

    def shell(self, text):
        return subprocess.run(["sh", "-c", text.replace("abut", PROGRAM, 1)], timeout=600,
                              capture_output=True)


class StandardOutput(Case):
    def commands(self):
        recording = self.path("box.h5")
        self.assertEqual(self.abut("run", BOX, "--time", "0.02", "--quiet", "--record",
                                   recording).returncode, 0)
        with open(self.path("case.json"), "w") as f:
            json.dump(CASE, f)
        return (["run", BOX, "--time", "0.01"], ["run", BOX, "--time", "0.01", "--json"],
                ["info", BOX], ["info", BOX, "--json"], ["models"], ["models", "--json"],
                ["compare", BOX, "--contact", "patch", "--time", "0.01"],
                ["inverse", recording, BOX], ["overlap", self.path("case.json")],
                ["--help"], ["run", "--help"], ["--version"])

    def test_full(self):
        for words in self.commands():
            with open("/dev/full", "w") as full:
                done = self.abut(*words, stdout=full)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(b"standard output", done.stderr, words)

    def test_closed(self):
        for words in self.commands():
            done = self.shell("abut %s >&-" % " ".join(words))
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(b"standard output", done.stderr, words)

    def test_closed_streams_do_not_become_files(self):
        def close():
            # the first file that is full is told about on standard error
            resource.setrlimit(resource.RLIMIT_FSIZE, (60000, 60000))
            for fd in (0, 1, 2):
                os.close(fd)
        done = subprocess.run([PROGRAM, "run", BOX, "--time", "1", "--csv", self.path("csv")],
                              preexec_fn=close, timeout=600)
        self.assertEqual(done.returncode, 2)
        for name in ("bodies", "joints", "contacts"):
            with open(self.path("csv/%s.csv" % name)) as f:
                text = f.read()
            self.assertNotIn("abut", text, name)
            self.assertNotIn("cannot", text, name)


MANY = """<mujoco><worldbody>
<replicate count="66000" offset="0 0 1">
  <geom type="box" size="0.1 0.1 0.1" pos="5 0 0" contype="0" conaffinity="0"/>
</replicate>
<geom name="floor" type="plane" size="1 1 1"/>
<body pos="0 0 0.1"><freejoint/><geom name="box" type="box" size="0.1 0.1 0.1"/></body>
</worldbody></mujoco>"""

ODD = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>
<body name="a,&quot;b&quot;&#10;&lt;/script>" pos="0 0 0.1">
<freejoint/><geom type="box" size="0.1 0.1 0.1"/></body></worldbody></mujoco>"""


class Names(Case):
    def write(self, name, text):
        path = os.path.join(self.folder.encode(), name)
        with open(path, "w") as f:
            f.write(text)
        return path

    def page(self, *words):
        path = self.path("o.html")
        done = self.abut("run", *words, "--record", path, stdout=subprocess.DEVNULL)
        if b"template" in done.stderr:
            self.skipTest("the page was not built")
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(path, encoding="utf-8") as f:
            text = f.read()
        head = re.search(r'id="abut-model">(.*?)</script>', text, re.S).group(1)
        chunk = re.findall(r'application/abut-chunk">(.*?)</script>', text, re.S)[-1]
        return text, json.loads(head), zlib.decompress(base64.b64decode(chunk))

    def test_pages_tell_apart_more_than_65536_geoms(self):
        _, head, chunk = self.page(self.write(b"many.xml", MANY), "--time", "0.004")
        frames, moving, contacts, _ = struct.unpack_from("<4I", chunk)
        self.assertGreater(contacts, 0)
        at = 16 + 8 * frames + 28 * frames * moving + 4 * frames
        names = [g["name"] for g in head["model"]["geoms"]]
        for i in range(contacts):
            one, = struct.unpack_from("<I", chunk, at + 4 * i)
            two, = struct.unpack_from("<I", chunk, at + 4 * (contacts + i))
            self.assertEqual({names[one], names[two]}, {"box", "floor"})

    def test_pages_let_only_their_own_script_run(self):
        text, head, _ = self.page(self.write(b"odd.xml", ODD), "--time", "0.01")
        policy = re.search(r'Content-Security-Policy" content="(.*?)"', text).group(1)
        self.assertIn("default-src 'none'", policy)
        scripts = re.findall(r"<script>(.*?)</script>", text, re.S)
        self.assertEqual(len(scripts), 1)
        digest = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
        self.assertIn("script-src 'sha256-%s'" % digest, policy)
        self.assertNotIn("'unsafe-eval'", policy)
        self.assertEqual(head["model"]["bodies"][1]["name"], 'a,"b"\n</script>')

    def test_inverse_quotes_names(self):
        scene, recording = self.write(b"odd.xml", ODD), self.path("odd.h5")
        self.abut("run", scene, "--time", "0.02", "--quiet", "--record", recording)
        done = self.abut("inverse", recording, scene, stdout=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = list(csv.DictReader(io.StringIO(done.stdout.decode(), newline="")))
        self.assertGreater(len(rows), 5)
        for row in rows:
            self.assertEqual(row["body"], 'a,"b"\n</script>')
            self.assertAlmostEqual(float(row["nz"]), 1)

    def test_files_whose_names_are_not_utf8(self):
        scene = self.write(b"caf\xe9 \xff.xml", ODD)
        for words in (["run", scene, "--time", "0.01", "--json"], ["info", scene, "--json"]):
            done = self.abut(*words, stdout=subprocess.PIPE)
            self.assertEqual(done.returncode, 0, done.stderr)
            told = json.loads(done.stdout.decode("utf-8"))
            self.assertIn("caf\ufffd \ufffd.xml", told.get("scene") or told.get("file"))
        recording = self.path("o.h5")
        self.assertEqual(self.abut("run", scene, "--time", "0.01", "--quiet", "--record",
                                   recording).returncode, 0)
        with h5py.File(recording, "r") as f:
            model = json.loads(f["model/json"][()].decode("utf-8"))
        self.assertIn("caf\ufffd", model["file"])


class Files(Case):
    def limited(self, size, *words):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
            # Python ignores it, and children inherit that
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        return self.abut(*words, preexec_fn=limit, stdout=subprocess.DEVNULL)

    def has_page(self):
        done = self.abut("run", BOX, "--time", "0.01", "--record", self.path("try.html"),
                         stdout=subprocess.DEVNULL)
        return b"template" not in done.stderr

    def test_files_that_may_not_grow(self):
        for name, size in (("o.h5", 4096), ("o.h5", 200000), ("o.html", 4096), ("o.glb", 4096),
                           ("csv/", 4096)):
            if name == "o.html" and not self.has_page():
                continue
            done = self.limited(size, "run", BOX, "--time", "1", "--record", self.path(name))
            self.assertEqual(done.returncode, 2, (name, size, done.stderr))
            self.assertIn(name.rstrip("/").encode(), done.stderr)

    def test_what_was_flushed_before_stays(self):
        path = self.path("o.h5")
        done = self.limited(4000000, "run", "scenes/pile.xml", "--time", "1", "--record", path)
        self.assertEqual(done.returncode, 2, done.stderr)
        done = self.abut("convert", path, self.path("csv/"), stdout=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("csv/bodies.csv")) as f:
            self.assertGreater(len(f.readlines()), 100)

    def test_full_disk(self):
        for words in (["inverse", "REC", BOX, "--csv", "/dev/full"],
                      ["inverse", "REC", BOX, "--svg", "/dev/full"],
                      ["convert", BOX, "FULL.xml"]):
            recording = self.path("box.h5")
            self.abut("run", BOX, "--time", "0.02", "--quiet", "--record", recording)
            if not os.path.lexists(self.path("full.xml")):
                os.symlink("/dev/full", self.path("full.xml"))
            words = [{"REC": recording, "FULL.xml": self.path("full.xml")}.get(w, w) for w in words]
            done = self.abut(*words, stdout=subprocess.DEVNULL)
            self.assertEqual(done.returncode, 2, words)

    def test_two_writers(self):
        for name in ("o.h5", "o.html", "o.glb", "csv/"):
            if name == "o.html" and not self.has_page():
                continue
            path = self.path(name)
            first = subprocess.Popen([PROGRAM, "run", BOX, "--time", "1e6", "--quiet", "--record",
                                      path], stderr=subprocess.PIPE)
            try:
                there = os.path.join(path, "contacts.csv") if name == "csv/" else path
                while not os.path.exists(there) and first.poll() is None:
                    time.sleep(0.01)
                # the file is locked right after it is made
                time.sleep(0.3)
                done = self.abut("run", BOX, "--time", "0.01", "--quiet", "--record", path)
                self.assertEqual(done.returncode, 2, (name, done.stderr))
                self.assertIn(b"another recording", done.stderr)
                self.assertIn(name.encode(), done.stderr)
            finally:
                first.send_signal(signal.SIGINT)
                first.communicate()
            self.assertEqual(first.returncode, 130)

    def test_one_run_twice_to_one_file(self):
        path = self.path("o.h5")
        done = self.abut("run", BOX, "--time", "0.01", "--record", path, "--record", path,
                         stdout=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"another recording", done.stderr)

    def test_convert_onto_itself_by_another_name(self):
        path, other = self.path("a.h5"), self.path("b.h5")
        self.abut("run", BOX, "--time", "0.02", "--quiet", "--record", path)
        os.symlink(path, other)
        done = self.abut("convert", path, other)
        self.assertEqual(done.returncode, 2)
        with h5py.File(path, "r") as f:
            self.assertEqual(f["time"].shape[0], 21)

    def test_a_link_is_written_through(self):
        path, link = self.path("real.h5"), self.path("link.h5")
        open(path, "w").close()
        os.symlink(path, link)
        self.assertEqual(self.abut("run", BOX, "--time", "0.02", "--quiet", "--record",
                                   link).returncode, 0)
        self.assertTrue(os.path.islink(link))
        with h5py.File(path, "r") as f:
            self.assertEqual(f["time"].shape[0], 21)


if __name__ == "__main__":
    unittest.main()

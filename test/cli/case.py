"""What the tests of the program share: the program itself, and a case with a folder of its own."""
import csv
import json
import os
import subprocess
import sys
import tempfile
import unittest

import numpy as np

PROGRAM = os.path.abspath(sys.argv.pop(1))
BOX = "scenes/box_on_plane.xml"
BODIES = "time,body,x,y,z,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz"
CONTACTS = ("time,body1,body2,geom1,geom2,px,py,pz,nx,ny,nz,fx,fy,fz,tx,ty,tz,"
            "area,depth,kind,mode")


def abut(*words):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=60)


def rows(path):
    with open(path, newline="") as f:
        return list(csv.DictReader(f))


def read(path):
    with open(path) as f:
        return f.read()


def floats(table, key):
    return np.array([float(r[key]) for r in table])


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text):
        with open(self.path(name), "w") as f:
            f.write(text)
        return self.path(name)

    def good(self, *words):
        done = abut(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def run_json(self, *words):
        return json.loads(self.good("run", *words, "--json").stdout)

    def refused(self, *words, says):
        done = abut(*words)
        self.assertEqual(done.returncode, 2, (words, done.stderr))
        for word in [says] if isinstance(says, str) else says:
            self.assertIn(word, done.stderr)
        self.assertEqual(done.stdout, "")
        return done.stderr

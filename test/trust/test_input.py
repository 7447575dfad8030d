#!/usr/bin/python3
"""Files that never end, pipes nobody writes to, devices: a message in little time and memory.

usage: test_input.py ABUT_PROGRAM [unittest options]; run from the root of the sources.
"""
import os
import resource
import subprocess
import sys
import threading
import unittest

import case

PROGRAM = os.path.abspath(sys.argv.pop(1))
BOX = "scenes/box_on_plane.xml"
ASAN = b"__asan_init" in open(PROGRAM, "rb").read()
# What is refused is refused within a second or two; what takes this long, on any machine, hangs.
HANGS = 300


def limit_memory():
    # twice the limit for a file, and the program; simulations reserve more than they use
    resource.setrlimit(resource.RLIMIT_DATA, (1 << 30, 1 << 30))


class Case(case.Case):
    def write(self, name, text):
        with open(self.path(name), "w") as f:
            f.write(text)
        return self.path(name)

    def endless(self, name, device="/dev/zero"):
        os.symlink(device, self.path(name))
        return self.path(name)

    def pipe(self, name):
        os.mkfifo(self.path(name))
        return self.path(name)

    def abut(self, *words, **options):
        return subprocess.run([PROGRAM, *words], capture_output=True, timeout=HANGS,
                              preexec_fn=None if ASAN or "run" in words else limit_memory,
                              **options)

    def refused(self, *words, says):
        done = self.abut(*words)
        self.assertEqual(done.returncode, 2, (words, done.stderr[-500:]))
        self.assertIn(says.encode(), done.stderr)

    def mesh(self, name):
        return self.write("mesh.xml", """<mujoco><asset><mesh name="m" file="%s"/></asset>
          <worldbody><geom type="mesh" mesh="m"/></worldbody></mujoco>""" % name)


class Endless(Case):
    def test_scenes(self):
        self.refused("info", self.endless("s.xml"), says="limit")
        self.refused("convert", self.path("s.xml"), self.path("o.xml"), says="limit")

    def test_includes(self):
        self.endless("part.xml")
        scene = self.write("s.xml", '<mujoco><include file="part.xml"/></mujoco>')
        self.refused("info", scene, says="device")

    def test_meshes(self):
        for name in ("m.obj", "m.stl"):
            self.endless(name)
            self.refused("info", self.mesh(name), says="device")
        self.endless("u.stl")
        robot = self.write("r.urdf", """<robot name="r"><link name="l"><collision><geometry>
          <mesh filename="u.stl"/></geometry></collision></link></robot>""")
        self.assertEqual(self.abut("info", robot).returncode, 2)

    def test_overlap_files(self):
        self.refused("overlap", self.endless("o.json"), says="limit")
        with open("/dev/zero", "rb") as zero:
            self.assertEqual(self.abut("overlap", "-", stdin=zero).returncode, 2)

    def test_forces(self):
        self.refused("run", BOX, "--forces", self.endless("f.csv"), says="not text")
        head = "time,body,fx,fy,fz,tx,ty,tz\n"
        pipe = self.pipe("g.csv")

        def feed():
            try:
                with open(pipe, "w") as f:
                    f.write(head)
                    while True:
                        f.write("0,box,0,0,0,0,0,0\n" * 1000)
            except BrokenPipeError:
                pass
        thread = threading.Thread(target=feed)
        thread.start()
        done = self.abut("--input-limit", "1M", "run", BOX, "--time", "0.01", "--forces", pipe)
        thread.join()
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"--input-limit", done.stderr)

    def test_recordings(self):
        self.refused("convert", self.endless("r.h5"), self.path("csv/"), says="r.h5")
        self.refused("inverse", self.path("r.h5"), BOX, says="r.h5")


class Pipes(Case):
    """Nobody ever writes to them."""

    def test_what_a_scene_names(self):
        self.pipe("part.xml")
        self.refused("info", self.write("s.xml", '<mujoco><include file="part.xml"/></mujoco>'),
                     says="pipe")
        self.pipe("m.stl")
        self.refused("info", self.mesh("m.stl"), says="pipe")
        robot = self.write("r.urdf", """<robot name="r"><link name="l"><collision><geometry>
          <mesh filename="m.stl"/></geometry></collision></link></robot>""")
        self.assertEqual(self.abut("info", robot).returncode, 2)

    def test_recordings(self):
        self.refused("convert", self.pipe("r.h5"), self.path("csv/"), says="r.h5")


@unittest.skipIf(ASAN, "frames of instrumented code are several times as large")
class Deep(Case):
    """A thousand levels on a stack of 1 MB, as threads of many hosts have."""
    N = 1000

    def shallow(self, *words):
        def limit():
            resource.setrlimit(resource.RLIMIT_STACK, (1 << 20, 1 << 20))
        done = subprocess.run([PROGRAM, *words], capture_output=True, timeout=HANGS,
                              preexec_fn=limit)
        self.assertEqual(done.returncode, 0, (words, done.stderr[-500:]))

    def check(self, scene):
        for words in (["info", scene], ["run", scene, "--time", "0.002", "--record",
                                        self.path("o.h5")],
                      ["convert", self.path("o.h5"), self.path("o.glb")],
                      ["convert", scene, self.path("again.xml")],
                      ["info", self.path("again.xml"), "--json"]):
            self.shallow(*words)

    def nested(self, begin, end, middle="", before=""):
        return self.write("deep.xml", "<mujoco>%s<worldbody>%s%s%s</worldbody></mujoco>" % (
            before, "".join(begin % {"i": i} for i in range(self.N)), middle, end * self.N))

    def test_bodies(self):
        self.check(self.nested('<body name="b%(i)d" pos="0 0 0.1"><joint axis="0 1 0"/>'
                               '<geom size="0.01"/>', "</body>"))

    def test_frames(self):
        self.check(self.nested('<frame pos="0 0 0.1">', "</frame>", '<geom size="0.01"/>'))

    def test_classes(self):
        classes = "".join('<default class="c%d">' % i for i in range(self.N))
        self.check(self.nested("", "", '<geom class="c%d" size="0.01"/>' % (self.N - 1),
                               '<default>%s%s</default>' % (classes, "</default>" * self.N)))

    def test_links_of_a_robot(self):
        link = """<link name="l%d"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"
          ixy="0" ixz="0" iyz="0"/></inertial></link>"""
        joint = """<joint name="j%d" type="continuous"><parent link="l%d"/><child link="l%d"/>
          <axis xyz="0 1 0"/></joint>"""
        self.check(self.write("deep.urdf", "<robot name='r'>%s%s</robot>" % (
            "".join(link % i for i in range(self.N + 1)),
            "".join(joint % (i, i, i + 1) for i in range(self.N)))))


@unittest.skipIf(ASAN, "instrumented programs take terabytes of address space")
class Memory(Case):
    def test_one_box_needs_little_address_space(self):
        for gigabytes in (1, 8, 64):
            for threads in ("1", "4"):
                def limit():
                    resource.setrlimit(resource.RLIMIT_AS, (gigabytes << 30, gigabytes << 30))
                done = subprocess.run([PROGRAM, "run", BOX, "--time", "0.05", "--threads", threads],
                                      capture_output=True, timeout=HANGS, preexec_fn=limit)
                self.assertEqual(done.returncode, 0, (gigabytes, threads, done.stderr))


class Limit(Case):
    def test_it_can_be_raised_and_lowered(self):
        self.refused("--input-limit", "100", "info", BOX, says="limit")
        self.refused("--input-limit=0.1K", "info", BOX, says="limit")
        self.assertEqual(self.abut("--input-limit", "4G", "info", BOX).returncode, 0)
        self.assertEqual(self.abut("info", BOX, env={"ABUT_INPUT_LIMIT": "100"}).returncode, 2)
        self.write("m.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n" + "# \n" * 1000)
        self.assertEqual(self.abut("info", self.mesh("m.obj")).returncode, 0)
        self.refused("--input-limit", "1K", "info", self.mesh("m.obj"), says="limit")

    def test_what_is_no_size_is_refused(self):
        for text in ("", "much", "4T", "-1", "1GG"):
            self.refused("--input-limit", text, "info", BOX, says="--input-limit")

    def test_a_scene_may_come_through_a_pipe(self):
        with open(BOX, "rb") as f:
            done = self.abut("info", "/dev/stdin", input=f.read())
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/python3
"""Crafted recordings: HDF5 files that no recorder wrote are refused with a message, quickly and in
little memory, whatever they claim.

usage: test_recordings.py ABUT_PROGRAM [unittest options]; run from the root of the sources.
"""
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

import h5py
import numpy as np

PROGRAM = os.path.abspath(sys.argv.pop(1))
SCENE = "scenes/box_on_plane.xml"
ASAN = b"__asan_init" in open(PROGRAM, "rb").read()
# Recordings of this size are read in milliseconds. What takes so many seconds of a processor, or
# sleeps for so many, does not end.
WORKS, SLEEPS = 150 if ASAN else 30, 600


def abut(*words):
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (WORKS, WORKS))
    return subprocess.run([PROGRAM, *words], capture_output=True, timeout=SLEEPS, preexec_fn=limit)


def fnv(data):
    """The check sum of saved states."""
    hash = 0xcbf29ce484222325
    for i in range(0, len(data), 8):
        hash = (hash ^ int.from_bytes(data[i:i + 8], "little")) * 0x100000001b3 % 2**64
        hash ^= hash >> 29
    return hash


def replace(f, path, data, **options):
    del f[path]
    return f.create_dataset(path, data=data, **options)


class Crafted(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.shared = tempfile.TemporaryDirectory()
        cls.recording = os.path.join(cls.shared.name, "good.h5")
        done = abut("run", SCENE, "--time", "0.05", "--record", cls.recording)
        assert done.returncode == 0, done.stderr

    @classmethod
    def tearDownClass(cls):
        cls.shared.cleanup()

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(self.folder, "crafted.h5")
        shutil.copy(self.recording, self.path)

    def edit(self):
        return h5py.File(self.path, "r+")

    def edit_model(self, change):
        with self.edit() as f:
            model = json.loads(f["model/json"][()])
            change(model)
            replace(f, "model/json", np.bytes_(json.dumps(model).encode()))

    def ends_well(self, out):
        """Converts; returns the exit code, which says refused or done but never crashed."""
        done = abut("convert", self.path, os.path.join(self.folder, out))
        self.assertIn(done.returncode, (0, 2), (out, done.stderr[-2000:]))
        self.assertNotIn(b"Sanitizer", done.stderr)
        if done.returncode == 2:
            self.assertIn(b"crafted.h5", done.stderr)
        return done.returncode

    def resumed(self, says):
        """Going on from it: done if `says` is None, else refused with these words."""
        done = abut("run", SCENE, "--resume", self.path, "--time", "0.01")
        self.assertNotIn(b"Sanitizer", done.stderr)
        self.assertEqual(done.returncode, 2 if says else 0, done.stderr[-2000:])
        if says:
            self.assertIn(b"crafted.h5", done.stderr)
            self.assertIn(says.encode(), done.stderr)

    def test_states_that_are_not_there_or_no_states(self):
        self.resumed(None)
        with self.edit() as f:
            words, offsets = f["states/word"][()], f["states/offset"][()]
        for path, data, says in [
                ("states/offset", offsets * 1000, "no state"), ("states/offset", -offsets, "no state"),
                ("states/offset", offsets + 2**62, "no state"), ("states/offset", offsets[:1], "no state"),
                ("states/bytes", np.full(len(offsets) - 1, 2**63 - 1), "no state"),
                ("states/bytes", np.full(len(offsets) - 1, -8), "no state"),
                ("states/time", np.full(len(offsets) - 1, np.nan), "no state"),
                ("states/time", np.full(len(offsets) - 1, 1e9), "no state"),
                ("states/word", words[:3], "no state"), ("states/word", words * 0, "not a saved state"),
                ("states/word", words ^ (1 << 40), "not a saved state"),
                ("states/word", words.astype("f8"), "kept states"), ("states/word", np.bytes_(b"x"), "kept states")]:
            with self.subTest(path=path, says=says):
                shutil.copy(self.recording, self.path)
                with self.edit() as f:
                    replace(f, path, data)
                self.resumed(says)
                self.assertEqual(self.ends_well("o.glb"), 0)  # whoever only looks does not care
        with self.edit() as f:
            del f["states"]
        self.resumed("kept states")

    # Many a number of a state changed so that its check sum is right again: counts and indices are checked.
    def test_states_with_a_check_sum_made_right(self):
        with self.edit() as f:
            n, words = int(f["states/bytes"][0]), f["states/word"][()]
            end = int(f["states/offset"][1])
        state = words[:end].tobytes()[:n]
        for at in range(72, n - 4, 12):
            shutil.copy(self.recording, self.path)
            bad = bytearray(state)
            bad[at:at + 4] = b"\xff\xff\xff\x7f"
            bad[64:72] = (0).to_bytes(8, "little")
            bad[64:72] = ((fnv(bad[:72]) + fnv(bad[72:])) % 2**64).to_bytes(8, "little")
            with self.edit() as f:
                words[:end] = np.frombuffer(bytes(bad) + bytes(-n % 8), dtype=words.dtype)
                f["states/word"][...] = words
            done = abut("run", SCENE, "--resume", self.path, "--at", "0", "--time", "0.003")
            self.assertIn(done.returncode, (0, 2, 3), (at, done.stderr[-2000:]))

    def refused(self, formats=("csv/", "o.glb", "o.h5")):
        for out in formats:
            self.assertEqual(self.ends_well(out), 2, out)
        done = abut("inverse", self.path, SCENE)
        self.assertEqual(done.returncode, 2, done.stderr[-2000:])
        self.assertNotIn(b"Sanitizer", done.stderr)


class Texts(Crafted):
    def test_model_of_many_texts(self):
        with self.edit() as f:
            text = f["model/json"][()]
            replace(f, "model/json", np.array([text] * 4000))
        self.refused()

    def test_model_of_variable_length(self):
        with self.edit() as f:
            replace(f, "model/json", "{}", dtype=h5py.string_dtype())
        self.refused()

    def test_model_of_numbers(self):
        with self.edit() as f:
            replace(f, "model/json", np.zeros(100))
        self.refused()

    def test_model_that_is_a_group(self):
        with self.edit() as f:
            del f["model/json"]
            f.create_group("model/json")
        self.refused()

    def test_model_larger_than_memory(self):
        with self.edit() as f:
            del f["model/json"]
            # no byte of it is stored
            f.create_dataset("model/json", shape=(), dtype="S2000000000")
        self.refused()

    def test_contact_of_many_names(self):
        with self.edit() as f:
            f.attrs.create("contact", np.array([b"x" * 200] * 250))
        self.refused()

    def test_contact_of_numbers(self):
        with self.edit() as f:
            f.attrs.create("contact", np.arange(4000.0))
        self.refused()

    def test_step_of_many_numbers(self):
        with self.edit() as f:
            f.attrs.create("step", np.full(6000, 0.001))
        self.refused()

    def test_step_that_is_no_time(self):
        for step in (np.nan, np.inf, 0.0, -1.0):
            with self.edit() as f:
                f.attrs.create("step", step)
            self.refused(("csv/",))


class Columns(Crafted):
    def test_other_types(self):
        kinds = {"compound": np.zeros(51, dtype=[("a", "f8"), ("b", "S80")]),
                 "strings": np.array([b"x" * 300] * 51),
                 "complex": np.zeros(51, dtype=complex),
                 "wide": np.zeros(51, dtype=np.longdouble)}
        for name, data in kinds.items():
            with self.subTest(name):
                with self.edit() as f:
                    replace(f, "time", data)
                self.refused(("csv/",))

    def test_pointers_and_lists(self):
        for kind in (h5py.string_dtype(), h5py.vlen_dtype(np.float64), h5py.ref_dtype):
            with self.edit() as f:
                del f["time"]
                f.create_dataset("time", (51,), dtype=kind)
            self.refused(("csv/",))

    def test_other_ranks(self):
        with self.edit() as f:
            replace(f, "q", np.zeros((51, 7, 2)))
        self.refused(("csv/",))
        with self.edit() as f:
            replace(f, "q", np.zeros((51 * 7,)))
        self.refused(("csv/",))
        with self.edit() as f:
            replace(f, "q", 1.0)
        self.refused(("csv/",))

    def test_rows_that_were_never_written(self):
        for rows in (2**61, 2**40, 2**31):
            with self.edit() as f:
                for name, row, kind in (("time", (), "f8"), ("q", (7,), "f8"), ("v", (6,), "f8"),
                                        ("pose", (2, 7), "f8"), ("com", (2, 3), "f8"),
                                        ("twist", (2, 6), "f8"), ("stat/status", (), "i4"),
                                        ("stat/iterations", (), "i4"), ("stat/residual", (), "f8"),
                                        ("contacts/offset", (), "i8")):
                    del f[name]
                    f.create_dataset(name, shape=(rows, *row), dtype=kind, chunks=(512, *row),
                                     maxshape=(None, *row))
            self.refused(("csv/", "o.glb"))

    def test_contacts_that_are_not_there(self):
        for first, last in ((0, 2**62), (-5, 3), (2**63 - 4, 2**63 - 1), (3, 1)):
            with self.edit() as f:
                f["contacts/offset"][1], f["contacts/offset"][2] = first, last
            self.refused(("csv/",))

    def test_vertices_that_are_not_there(self):
        for offset in ([2**63 - 1, -2**63], [-1, 2**62], [2**62, 2**62 + 4], [4, 0]):
            with self.edit() as f:
                f["contacts/polygon_offset"][0:2] = offset
            self.refused(("o.glb",))

    def test_bodies_and_geoms_that_are_not_there(self):
        for path in ("contacts/body", "contacts/geom"):
            for index in (-1, 2, 2**31 - 1, -2**31):
                shutil.copy(self.recording, self.path)
                with self.edit() as f:
                    f[path][3, 0] = index
                self.refused(("csv/",))

    def test_kinds_and_modes_that_are_not_there(self):
        for path in ("contacts/kind", "contacts/mode", "stat/status"):
            shutil.copy(self.recording, self.path)
            with self.edit() as f:
                f[path][3] = 77
            self.refused(("csv/",))

    def test_poses_that_are_nowhere(self):
        with self.edit() as f:
            f["pose"][3, 1, 0] = np.nan
        self.refused()


class Elsewhere(Crafted):
    """A recording says nothing about other files."""

    def secret(self):
        path = os.path.join(self.folder, "secret")
        with open(path, "wb") as f:
            f.write(np.arange(51.0).tobytes())
        return path

    def test_external_storage(self):
        with self.edit() as f:
            del f["time"]
            f.create_dataset("time", (51,), dtype="f8", external=[(self.secret(), 0, 408)])
        self.refused()

    def test_external_link(self):
        other = os.path.join(self.folder, "other.h5")
        shutil.copy(self.recording, other)
        for name in ("time", "model", "contacts/offset"):
            shutil.copy(self.recording, self.path)
            with self.edit() as f:
                del f[name]
                f[name] = h5py.ExternalLink(other, name)
            self.refused(("csv/",))

    def test_virtual_data_set(self):
        other = os.path.join(self.folder, "other.h5")
        shutil.copy(self.recording, other)
        with self.edit() as f:
            del f["time"]
            layout = h5py.VirtualLayout((51,), "f8")
            layout[:] = h5py.VirtualSource(other, "time", (51,))
            f.create_virtual_dataset("time", layout)
        self.refused()

    def test_soft_link(self):
        with self.edit() as f:
            f.move("time", "hidden")
            f["time"] = h5py.SoftLink("/hidden")
        self.refused(("csv/",))

    def test_filters_of_others(self):
        with self.edit() as f:
            time = f["time"][:]
            del f["time"]
            f.create_dataset("time", data=time, chunks=(51,), scaleoffset=8)
        self.refused(("csv/",))

    def test_chunks_that_unpack_to_gigabytes(self):
        with self.edit() as f:
            del f["q"]
            f.create_dataset("q", (2**20, 7), dtype="f8", chunks=(2**20, 7), compression="gzip")
            f["q"][:] = 0
        self.refused(("csv/",))


class Models(Crafted):
    """The model's text goes to every format; its indices are checked on the way in."""

    def check(self, change):
        shutil.copy(self.recording, self.path)
        self.edit_model(change)
        self.refused(("o.glb",))

    def test_indices(self):
        for part, key, values in (
                ("bodies", "parent", (-1, 2, 2**31, 2**40)), ("bodies", "weld", (-1, 5)),
                ("bodies", "mover", (-2, 77)), ("bodies", "geom0", (-1, 9, 2**31 - 1)),
                ("bodies", "ngeom", (-1, 9, 2**31 - 1)), ("bodies", "joint0", (-1, 9)),
                ("bodies", "njoint", (-1, 9)), ("joints", "body", (-1, 2)),
                ("joints", "q0", (-1, 1, 7, 2**32)), ("joints", "v0", (-1, 1, 6)),
                ("geoms", "body", (-1, 2, 2**32)), ("geoms", "mesh", (0, 5, -7))):
            for value in values:
                with self.subTest(part=part, key=key, value=value):
                    self.check(lambda m: m[part][-1].update({key: value}))

    def test_world_that_moves(self):
        # its colour is chosen by the number of its body minus one
        def change(m):
            m["bodies"][0]["mover"] = 0
            m["geoms"][0]["rgba"] = [0.5, 0.5, 0.5, 1]
        self.check(change)

    def test_mesh_without_mesh(self):
        self.check(lambda m: m["geoms"][1].update(type="mesh", mesh=-1))
        self.check(lambda m: m["geoms"][1].update(type="mesh", mesh=3))

    def test_mesh_of_faces_without_corners(self):
        # a face of corners that are not there was drawn from whatever lay behind them
        def change(m):
            m["meshes"] = [{"name": "bare", "file": "", "vert": [], "triangle": [0, 1, 2]}]
            m["geoms"][1].update(type="mesh", mesh=0)
        shutil.copy(self.recording, self.path)
        self.edit_model(change)
        self.ends_well("o.glb")

    def test_sizes(self):
        for key, value in (("nq", -1), ("nq", 2**31 - 1), ("nv", 2**33), ("nv", 5)):
            self.check(lambda m: m.update({key: value}))
        self.check(lambda m: m.update(bodies=[]))
        self.check(lambda m: m.update(bodies=7))
        self.check(lambda m: m.update(joints=[]))

    def test_odd_numbers_end_well(self):
        for size in ([1e308] * 3, [0, 0, 0], [-1, -1, -1], [1e-320] * 3, "none", [1e39] * 3):
            for kind in ("box", "sphere", "cylinder", "ellipsoid", "capsule", "plane", "cow"):
                shutil.copy(self.recording, self.path)
                self.edit_model(lambda m: m["geoms"][1].update(size=size, type=kind, pos=size))
                self.ends_well("o.glb")
        self.edit_model(lambda m: m.update(extent=-1, timestep=None, gravity={}))
        self.ends_well("o.glb")

    @unittest.skipIf(ASAN, "it takes gigabytes")
    def test_many_geoms_take_no_longer_than_they_should(self):
        n = 100000

        def change(m):
            geom = dict(m["geoms"][1])
            m["geoms"] += [dict(geom, size=[1e-3 * (i + 1), 1, 1]) for i in range(n)]
            m["bodies"][1]["ngeom"] += n
        self.edit_model(change)
        self.assertEqual(self.ends_well("o.glb"), 0)


class Damage(Crafted):
    def test_flipped_bits_end_quickly(self):
        with open(self.recording, "rb") as f:
            good = f.read()
        # Structures of HDF5 begin with four letters and end with a check sum.
        places = set()
        for word in (b"OHDR", b"OCHK", b"EAHD", b"EAIB", b"EASB", b"EADB", b"FRHP", b"FHDB",
                     b"BTHD", b"BTLF", b"\x89HDF"):
            at = good.find(word)
            while at >= 0:
                places.update((at + 1, at + 9, at + 16, at + 30))
                at = good.find(word, at + 1)
        places = sorted(p for p in places if p < len(good))
        for place in places[::29]:
            for flags in (0, 5):
                damaged = bytearray(good)
                damaged[place] ^= 4
                damaged[11] = flags if place != 11 else damaged[11]
                with open(self.path, "wb") as f:
                    f.write(damaged)
                self.ends_well("csv/")

    def test_cut_files_end_quickly(self):
        with open(self.recording, "rb") as f:
            good = f.read()
        for part in range(0, 100, 7):
            with open(self.path, "wb") as f:
                f.write(good[:len(good) * part // 100])
            self.ends_well("csv/")

    def test_pipes_and_devices_are_no_recordings(self):
        os.remove(self.path)
        os.mkfifo(self.path)
        self.refused(("csv/",))
        os.remove(self.path)
        os.symlink("/dev/zero", self.path)
        self.refused(("csv/",))


class Good(Crafted):
    """What is not crafted is still read."""

    def same(self):
        for out in ("a", "b"):
            path = self.recording if out == "a" else self.path
            done = abut("convert", path, os.path.join(self.folder, out) + "/")
            self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("bodies.csv", "joints.csv", "contacts.csv"):
            with open(os.path.join(self.folder, "a", name)) as a:
                with open(os.path.join(self.folder, "b", name)) as b:
                    self.assertEqual(a.read(), b.read())

    def test_rewritten_in_the_oldest_format(self):
        os.remove(self.path)
        with h5py.File(self.recording, "r") as a, h5py.File(self.path, "w") as b:
            for key in a.attrs:
                b.attrs.create(key, a.attrs[key])
            for key in a:
                a.copy(key, b)
        self.same()

    def test_packed(self):
        for options in ({"compression": "gzip"}, {"compression": "gzip", "shuffle": True},
                        {"fletcher32": True}):
            shutil.copy(self.recording, self.path)
            with self.edit() as f:
                q = f["q"][:]
                del f["q"]
                f.create_dataset("q", data=q, chunks=(16, 7), **options)
            self.same()

    def test_every_index_of_chunks(self):
        early = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        early.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
        for libver in ("earliest", "latest"):
            for options in ({"chunks": (1, 7), "maxshape": (None, 7)}, {"chunks": (1, 7)},
                            {"chunks": (51, 7)}, {"chunks": (100, 7), "maxshape": (None, 7)},
                            {"chunks": (4, 3), "maxshape": (None, 7)}, {"chunks": (4, 3)},
                            {"chunks": (4, 3), "maxshape": (None, 20)}, {},
                            {"chunks": (50, 3), "maxshape": (200, 9)}):
                for pack in ({}, {"compression": "gzip"}, {"compression": "gzip", "shuffle": True,
                                                          "fletcher32": True}):
                    if pack and "chunks" not in options:
                        continue
                    with self.subTest(libver=libver, options=options, pack=pack):
                        shutil.copy(self.recording, self.path)
                        with h5py.File(self.path, "r+", libver=libver) as f:
                            q, pose = f["q"][:], f["pose"][:]
                            del f["q"], f["pose"]
                            f.create_dataset("q", data=q, **options, **pack)
                            f.create_dataset("pose", data=pose, chunks=(3, 1, 4), **pack)
                            if not pack and "chunks" in options and "maxshape" not in options:
                                v = f["v"][:]
                                del f["v"]
                                space = h5py.h5s.create_simple(v.shape)
                                early.set_chunk((7, 6))
                                h5py.h5d.create(f.id, b"v", h5py.h5t.IEEE_F64LE, space,
                                                early).write(h5py.h5s.ALL, h5py.h5s.ALL, v)
                        self.same()

    def test_other_formats_of_numbers(self):
        with self.edit() as f:
            for path, kind in (("q", ">f8"), ("stat/status", "u1"), ("stat/iterations", ">i8"),
                               ("contacts/offset", ">u4"), ("contacts/polygon_offset", "i2"),
                               ("contacts/body", "i1"), ("contacts/geom", "<u8")):
                replace(f, path, f[path][:].astype(kind))
        self.same()

    def test_more_chunks_than_a_page(self):
        # 131057 is where the index begins to have pages (16 entries, then 2^13 - 1 times 16)
        n = 140000
        with h5py.File(self.path, "r+", libver="latest") as f:
            for path in ("time", "q", "v", "pose", "com", "twist", "stat/status",
                         "stat/iterations", "stat/residual"):
                data = f[path][:]
                replace(f, path, np.resize(data, (n, *data.shape[1:])))
            replace(f, "contacts/offset", np.zeros(n + 1, dtype="i8"))
            time = np.arange(float(n))
            del f["time"]
            f.create_dataset("time", data=time, chunks=(1,), maxshape=(None,))
        done = abut("convert", self.path, os.path.join(self.folder, "csv") + "/")
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(os.path.join(self.folder, "csv", "bodies.csv")) as f:
            next(f)
            read = np.array([float(line.split(",", 1)[0]) for line in f])
        self.assertTrue(np.array_equal(read, time))

    def test_with_many_attributes(self):
        with self.edit() as f:
            for i in range(40):
                f.attrs["remark%d" % i] = np.bytes_(b"x" * i)
            f.attrs.create("step", 0.5)
        done = abut("inverse", self.path, SCENE)
        self.assertIn(b"the step was 0.5 s", done.stderr)

    def test_with_notes_of_the_user(self):
        with self.edit() as f:
            f.attrs["remark"] = "the second try"
            f.create_dataset("weather", data=["fair", "windy"])
        self.same()


if __name__ == "__main__":
    unittest.main()

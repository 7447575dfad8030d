#!/usr/bin/python3
"""What the program and the shared library are built with, export, and where they look.

usage: test_binaries.py ABUT_PROGRAM SHARED_LIBRARY BUILD_DIR [unittest options]; from the root of
the sources.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM, LIBRARY, BUILD = (os.path.abspath(sys.argv.pop(1)) for _ in range(3))


def output(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


class Loading(unittest.TestCase):
    def test_run_paths_are_absolute(self):
        for path in (PROGRAM, LIBRARY):
            for found in re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", output("readelf", "-d", path)):
                for folder in found.split(":"):
                    self.assertTrue(folder.startswith("/usr/") or folder.startswith("/opt/"),
                                    (path, found))

    def test_no_library_is_taken_from_the_current_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            for line in output("ldd", PROGRAM).splitlines():
                name = line.split()[0]
                if name.startswith("lib"):
                    open(os.path.join(folder, name), "w").close()
            done = subprocess.run([PROGRAM, "--version"], cwd=folder, capture_output=True)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_no_network_library_where_hdf5_comes_without(self):
        with open(os.path.join(BUILD, "CMakeCache.txt")) as f:
            if "ABUT_HDF5_LINKS:INTERNAL=TRUE" not in f.read():
                self.skipTest("this system has no HDF5 without them")
        self.assertNotRegex(output("ldd", PROGRAM), "libcurl|libssl|libcrypto|libldap")


class Hardening(unittest.TestCase):
    def test_program_and_library(self):
        for path in (PROGRAM, LIBRARY):
            dynamic, header = output("readelf", "-d", path), output("readelf", "-hlW", path)
            self.assertRegex(dynamic, "FLAGS.*NOW", path)
            self.assertIn("GNU_RELRO", header, path)
            self.assertRegex(header, r"GNU_STACK.* RW ", path)
            self.assertRegex(header, "Type:.*DYN", path)
        self.assertRegex(output("readelf", "-d", PROGRAM), "FLAGS_1.*PIE")

    def test_our_own_code_is_guarded(self):
        # of the objects, for the libraries linked in bring guards of their own
        archive = os.path.join(BUILD, "libabut.a")
        symbols = output("nm", "-A", archive)
        guarded = {line.split(":")[1] for line in symbols.splitlines()
                   if line.endswith(" U __stack_chk_fail")}
        for name in ("buffer.c.o", "xml.c.o", "stl.c.o", "h5_read.c.o"):
            self.assertIn(name, guarded)
        self.assertRegex(symbols, r"error\.c\.o:.* U __v?snprintf_chk")


class Exports(unittest.TestCase):
    def test_the_library_exports_the_committed_list(self):
        found = sorted(line.split()[-1] for line in output("nm", "-D", "--defined-only",
                                                           LIBRARY).splitlines())
        with open("cmake/exports.txt") as f:
            wanted = f.read().split()
        self.assertEqual(found, wanted,
                         "cmake/exports.txt is the list; after a change of include/abut: nm -D "
                         "--defined-only libabut.so | awk '{print $3}' | sort > cmake/exports.txt")


class Layout(unittest.TestCase):
    def test_structs_and_constants_are_the_committed_ones(self):
        done = subprocess.run(["tools/layout.py"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_library_is_named_by_its_interface(self):
        with open("cmake/layout.txt") as f:
            number = f.readline().split()[1]
        self.assertRegex(output("readelf", "-d", LIBRARY), r"SONAME.*\[libabut\.so\." + number + r"\]")

    def test_a_change_that_breaks_programs_needs_a_new_number(self):
        with tempfile.TemporaryDirectory() as folder:
            for part in ("include", "tools", "cmake"):
                subprocess.run(["cp", "-r", part, folder], check=True)
            path = folder + "/include/abut/types.h"
            with open(path) as f:
                text = f.read()
            with open(path, "w") as f:
                f.write(text.replace("double x, y, z;", "double x, y, z, w;"))
            done = subprocess.run([folder + "/tools/layout.py", "--renew"], capture_output=True, text=True)
            self.assertEqual(done.returncode, 1)
            self.assertIn("AB_INTERFACE", done.stderr)
            path = folder + "/include/abut/version.h"
            with open(path) as f:
                text = f.read()
            with open(path, "w") as f:
                f.write(text.replace("#define AB_INTERFACE ", "#define AB_INTERFACE 9"))
            self.assertEqual(subprocess.run([folder + "/tools/layout.py", "--renew"]).returncode, 0)


class Release(unittest.TestCase):
    def test_the_list_of_dependencies_names_versions_and_licences(self):
        with open(os.path.join(BUILD, "sbom.spdx.json")) as f:
            packages = {p["name"]: p for p in json.load(f)["packages"]}
        for name in ("abut", "expat", "jansson", "qhull", "hdf5", "zlib", "three"):
            self.assertRegex(packages[name]["versionInfo"], r"^[0-9]+\.[0-9]", name)
            self.assertNotIn("NOASSERTION", packages[name]["licenseDeclared"])
        # every library the program loads that is not the C library's is on it
        known = {"libjansson": "jansson", "libexpat": "expat", "libqhull_r": "qhull", "libz": "zlib",
                 "libsz": "libaec", "libhdf5_serial": "hdf5", "libgcc_s": "libgcc",
                 "libwebsockets": "libwebsockets"}
        needed = output("readelf", "-d", PROGRAM)
        view = os.path.join(os.path.dirname(PROGRAM), "abut-view.so")  # the program loads it on demand
        needed += output("readelf", "-d", view) if os.path.exists(view) else ""
        for name in re.findall(r"\(NEEDED\).*\[(lib\w+)\.so", needed):
            if name not in ("libc", "libm"):
                self.assertIn(known[name], packages)

    def test_installing_asks_for_no_test_packages(self):
        with open("Makefile") as f:
            install = f.read().split("\ninstall:", 1)[1].split("\n\n", 1)[0]
        self.assertIn("tools/setup.sh build\n", install)
        with tempfile.TemporaryDirectory() as folder:
            # without cmocka, h5py and the like the configuration must still pass
            done = subprocess.run(["cmake", "--preset", "install", "-B", folder,
                                   "-DCMAKE_DISABLE_FIND_PACKAGE_cmocka=ON"], capture_output=True,
                                  text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("cmocka", done.stdout)
            self.assertFalse(os.path.exists(os.path.join(folder, "test")))


class Paths(unittest.TestCase):
    def test_no_path_of_the_build_machine(self):
        here = os.getcwd().encode()
        for path in (PROGRAM, LIBRARY):
            with open(path, "rb") as f:
                text = f.read()
            for word in (here, BUILD.encode()):
                at = text.find(word + b"/")
                self.assertEqual(at, -1, (path, text[at:at + 120]))

    def test_an_installed_tree_can_be_moved(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["cmake", "--install", BUILD, "--prefix", folder + "/a"], check=True,
                           stdout=subprocess.DEVNULL)
            os.rename(folder + "/a", folder + "/b")
            if not os.path.exists(folder + "/b/share/abut/replay.html"):
                self.skipTest("the page was not built")
            done = subprocess.run([folder + "/b/bin/abut", "run", "scenes/box_on_plane.xml", "--time",
                                   "0.01", "--record", folder + "/o.html"], capture_output=True)
            self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()

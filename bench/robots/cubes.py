#!/usr/bin/env python3
"""Some packages leave out the meshes of their models, which are only drawn. A small cube stands in for each mesh, and a grey picture for each
texture, that MuJoCo looks for and does not find, so that these models can be tried: collisions by primitives and stated masses stay.

  cubes.py DIR        below DIR, a folder of collection.py; files that are there are never touched
Where a package wants to collide by such a mesh, it does so with a cube."""
import os
import re
import struct
import sys
import zlib

import mujoco

import collection

CORNERS = [(x, y, z) for x in (-0.03, 0.03) for y in (-0.03, 0.03) for z in (-0.03, 0.03)]
FACES = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)]


def obj():
    return "".join("v %g %g %g\n" % c for c in CORNERS).encode() + "".join("f %d %d %d\n" % tuple(i + 1 for i in f) for f in FACES).encode()


def stl():
    triangle = lambda f: struct.pack("<12fH", 0, 0, 0, *(x for i in f for x in CORNERS[i]), 0)
    return bytes(80) + struct.pack("<I", len(FACES)) + b"".join(map(triangle, FACES))


def png():
    chunk = lambda name, data: struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    rows = zlib.compress((b"\0" + b"\x80" * 36) * 12)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 12, 12, 8, 2, 0, 0, 0)) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


MAKE = {".obj": obj, ".stl": stl, ".png": png}


def fill(file):
    """How many were missing, and the error that is left."""
    os.chdir(os.path.dirname(file))
    for made in range(1000):
        try:
            mujoco.MjModel.from_xml_path(file)
            return made, None
        except ValueError as error:
            found = re.search(r"opening file '([^']*)'", str(error))
            missing = os.path.join(os.path.dirname(file), found.group(1)) if found else ""
            make = MAKE.get(os.path.splitext(missing)[1].lower())
            if not make or os.path.exists(missing):
                return made, error
            os.makedirs(os.path.dirname(missing), exist_ok=True)
            with open(missing, "wb") as f:
                f.write(make())
    return made, None


def main():
    for package, path, file, kind in list(collection.files(os.path.abspath(sys.argv[1]))):
        if kind == "mjcf":
            made, error = fill(file)
            if made:
                print(f"{package}/{path}: {made}" + (f"; {str(error).splitlines()[0]}" if error else ""), flush=True)


if __name__ == "__main__":
    main()

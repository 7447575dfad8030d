"""A box as a volume mesh for hydroelastic contact with more quadrature points than Drake's own, which
has four polygons on a face.

The field of a box is linear from 0 on the surface to 1 on its medial surface, the rectangle with
halves (a - c, b - c) for halves a >= b >= c. Each point p of a grid on the surface is joined to its
image m(p) there; a triangle of the grid and its image bound a prism, which is cut in three
tetrahedra. Prisms that lie above a face share the face's linear field exactly, so that refining adds
points and does not change the pressure.
"""
import itertools

import numpy as np


def surface(half, n):
    """Triangles of the six faces, n x n cells each, as points."""
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for side, i, j in itertools.product((-1, 1), range(n), range(n)):
            def point(k, l):
                p = np.empty(3)
                p[axis], p[u], p[v] = side * half[axis], half[u] * (2 * k / n - 1), half[v] * (2 * l / n - 1)
                return p
            corner = [point(i, j), point(i + 1, j), point(i + 1, j + 1), point(i, j + 1)]
            cut = (0, 2) if (i + j) % 2 else (1, 3)  # diagonals alternate, and the mesh has no handedness
            for apex in cut:
                yield corner[apex], corner[(apex + 1) % 4], corner[(apex + 3) % 4]


def tetrahedra(half, n):
    half = np.array(half)
    image = (half - half.min()) / half
    index, vertex, cells = {}, [], []

    def number(p):
        key = tuple(np.round(p / half.min(), 9) + 0.0)
        if key not in index:
            index[key] = len(vertex)
            vertex.append(p)
        return index[key]

    for triangle in surface(half, n):
        # one order for both sides of a wall; points with a common image stand together, or a tetrahedron would be flat
        (m0, p0), (m1, p1), (m2, p2) = sorted((number(p * image), number(p)) for p in triangle)
        for cell in ((p0, p1, p2, m2), (p0, p1, m1, m2), (p0, m0, m1, m2)):
            if len(set(cell)) < 4:
                continue
            a, b, c, d = (vertex[k] for k in cell)
            volume = np.dot(np.cross(b - a, c - a), d - a)
            if abs(volume) > 1e-9 * half.prod() / n**2:
                cells.append(cell if volume > 0 else (cell[1], cell[0]) + cell[2:])
    return np.array(vertex), cells


def vtk(half, n):
    vertex, cells = tetrahedra(half, n)
    lines = ["# vtk DataFile Version 3.0", "box", "ASCII", "DATASET UNSTRUCTURED_GRID", f"POINTS {len(vertex)} double"]
    lines += [f"{p[0]:.17g} {p[1]:.17g} {p[2]:.17g}" for p in vertex]
    lines.append(f"CELLS {len(cells)} {5 * len(cells)}")
    lines += [f"4 {a} {b} {c} {d}" for a, b, c, d in cells]
    lines += [f"CELL_TYPES {len(cells)}"] + ["10"] * len(cells)
    return "\n".join(lines) + "\n"

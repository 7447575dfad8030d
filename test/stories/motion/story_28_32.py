"""Stories 28 to 32: bounces, tunnelling, small and large, limits of statics, rest depth."""
import numpy as np

from .claims import case
from .mjcf import G, Body, Scene, ball, box, geom, hinge, quat, rotate
from .program import turned
from .story_19_22 import TILT


# --- 28: bounces ---------------------------------------------------------------------------------
def dropper(e, height, shape):
    s = Scene("28_bounce", f"Dropped from {height} m with restitution {e}.")
    s.floor(0.5)
    r = 0.05
    g = ball("body", r, mass=0.3, mu=0.5, e=e) if shape == "ball" else box("body", [r, r, r], mass=0.3, mu=0.5, e=e)
    s.add(Body("body", [g], pos=(0, 0, r + height)))
    return s, r


# e = 1: the apex stays at the height.
@case(28, "e_1", quick=(10,), file=True, variants={"box": dict(shape="box"), "turned_small": dict(scale=0.1, turn=TILT), "high": dict(height=1.3)})
def bounces_for_ever(x, height=0.3, shape="ball", duration=20.0):
    s, r = dropper(1.0, height, shape)
    period = 2 * np.sqrt(2 * height / G)
    run = x.run(s, duration)
    apex = run.track["body"].x[run.t > duration - 1.1 * period, 2].max() - r
    # the highest of the steps is up to half a step from the apex
    x.check("apex after 20 s [m]", apex, near=height, within=2e-4 * height + G * x.h**2 / 8)
    x.check("highest ever [m]", run.track["body"].x[:, 2].max() - r, high=height * (1 + 1e-6))


# The flights last sqrt(2 H / g) (1 + 2 e + 2 e^2 + ...) = sqrt(2 H / g) (1 + e) / (1 - e). The last ones are shorter than any step, but
# their sum is known: within two steps and 0.1 %.
@case(28, "e_0.9", quick=(1, 10), base=dict(e=0.9), file=True, variants={"box": dict(shape="box"), "turned_large": dict(scale=10, turn=TILT)})
@case(28, "e_0.5", base=dict(e=0.5, height=0.5))
def comes_to_rest(x, e=0.9, height=0.3, shape="ball"):
    s, r = dropper(e, height, shape)
    s.name = f"28_bounce_{e:g}"
    expected = np.sqrt(2 * height / G) * (1 + e) / (1 - e)
    run = x.run(s, 1.2 * expected)
    b = run.track["body"]
    moving = run.t[np.abs(b.v[:, 2]) > 1e-3 * G * x.h + 1e-6]
    x.check("at rest after [s]", moving[-1], near=expected, within=1e-3 * expected + 2 * x.h)
    x.check("rest height [m]", abs(b.x[-1, 2] - r), high=1e-5)
    # apexes: e^2, e^4 ... of the height, while a flight has more than 20 steps
    z, apexes = b.x[:, 2] - r, []
    for i in range(1, len(z) - 1):
        if z[i] >= z[i - 1] and z[i] > z[i + 1]:
            apexes.append(z[i])
    for k in range(min(3, len(apexes))):
        if 2 * np.sqrt(2 * height * e ** (2 * k + 2) / G) > 20 * x.h:
            x.ratio(f"apex {k + 1} [m]", apexes[k], height * e ** (2 * k + 2), 0.01 + 0.04 * (x.h * 1e3 - 1) / 9)


# --- 29: nothing tunnels -------------------------------------------------------------------------
# The plate's way in a step, 1 m at 10 ms, is 50 times the wall's thickness. Flat against the wall, without restitution, it stops there.
@case(29, "plate", quick=(10,), file=True, variants={"faster_thinner": dict(v=300.0, wall=0.005, plate=0.002), "turned": dict(turn=TILT), "ball": dict(shape="ball"),
                                          "tilted": dict(tilt=0.5), "edge_on": dict(tilt=np.pi / 2), "spinning": dict(tilt=0.3, spin=200.0)})
def plate_against_wall(x, v=100.0, plate=0.01, wall=0.02, shape="plate", tilt=0.0, spin=0.0, distance=3.37):
    s = Scene("29_plate", "A plate of 1 cm at 100 m/s against a wall of 2 cm: it stops.", gravity=(0, 0, 0))
    s.fixed(box("wall", [wall / 2, 3, 3], mu=0.3))
    g = box("plate", [plate / 2, 0.1, 0.1], mass=1, mu=0.3) if shape == "plate" else ball("plate", plate / 2, mass=1, mu=0.3)
    s.add(Body("plate", [g], pos=(-distance, 0, 0), q=quat((0, 1, 0), tilt), v=(v, 0, 0), w=(0, spin, 0)))
    run = x.run(s, distance / v + 0.2)
    b = run.track["plate"]
    x.check("farthest [m]", b.x[:, 0].max(), high=0)
    if tilt == 0 or shape == "ball":
        x.check("stands before the wall [m]", b.x[-1, 0], near=-(wall + plate) / 2, within=1e-3)
        x.check("speed [m/s]", np.abs(b.v[-1, 0]), high=1e-3 * v)


@case(29, "two_plates", quick=(10,), variants={"heavy_light": dict(m2=50.0)})
def two_plates(x, v=60.0, m2=1.0):
    """Two plates meet: without restitution they go on together, with the momentum they had."""
    s = Scene("29_two_plates", "Two plates of 1 cm meet at 120 m/s: they go on together.", gravity=(0, 0, 0))
    for i, (side, m) in enumerate(((-1, 1.0), (1, m2))):
        s.add(Body(f"plate_{i}", [box(f"plate_{i}", [0.005, 0.1, 0.1], mass=m, mu=0.3)], pos=(side * 2.13, 0.0, 0), v=(-side * v, 0, 0)))
    run = x.run(s, 0.1)
    a, b = run.track["plate_0"], run.track["plate_1"]
    x.check("side by side [m]", (b.x[:, 0] - a.x[:, 0]).min(), low=0.01 - 1e-3)
    common = v * (1 - m2) / (1 + m2)
    x.check("common speed [m/s]", np.abs(np.array([a.v[-1, 0], b.v[-1, 0]]) - common).max(), high=1e-2 * v)
    x.check("momentum kept", np.abs(a.v[:, 0] + m2 * b.v[:, 0] - v * (1 - m2)).max() / (v * (1 + m2)), high=1e-10)


# Many thin bodies in a closed box with 2 cm walls: whoever is outside has passed through a wall.
def thin_geom(s, i, shapes):
    """One of three plates and sticks, or of three needles, discs and slivers of a hull."""
    name, kind = f"body_{i}", i % 3
    if shapes == "plates":
        return [box(name, [0.03, 0.03, 0.001], mass=0.02, mu=0.3), geom(name, "capsule", [0.002, 0.03], mass=0.02, mu=0.3),
                box(name, [0.04, 0.003, 0.001], mass=0.02, mu=0.3)][kind]
    if kind == 2 and i == 2:
        s.mesh("sliver", [(x, y, z) for x, y in ((0.04, 0), (-0.02, 0.012), (-0.02, -0.012)) for z in (-0.001, 0.001)])
    return [box(name, [0.05, 0.0008, 0.0008], mass=0.01, mu=0.3), geom(name, "cylinder", [0.03, 0.0012], mass=0.02, mu=0.3),
            geom(name, "mesh", None, mesh="sliver", mass=0.01, mu=0.3)][kind]


def closed_box(s, a, walls):
    for axis in range(3):
        for side in (-1, 1):
            half, at = np.full(3, a + 0.02), np.zeros(3)
            half[axis], at[axis] = 0.01, side * (a + 0.01)
            name = f"wall_{axis}_{side}"
            if walls == "mesh":
                s.mesh(name, [(2 * np.array(c) - 1) * half for c in np.ndindex(2, 2, 2)])
                s.fixed(geom(name, "mesh", None, mesh=name, pos=at, mu=0.3))
            else:
                s.fixed(box(name, half, pos=at, mu=0.3))


@case(29, "thin_bodies_100", quick=(10,), base=dict(n=100, duration=0.2),
      variants={"turned_small": dict(scale=0.1, turn=TILT), "seed_1": dict(seed=1), "seed_2": dict(seed=2), "seed_3": dict(seed=3), "seed_4": dict(seed=4),
                "needles": dict(shapes="needles"), "spinning": dict(spin=500.0), "faster": dict(speed=60.0), "hull_walls": dict(walls="mesh"),
                "needles_spinning": dict(shapes="needles", spin=1000.0, seed=3)})
@case(29, "thin_bodies_1000", steps=(5, 10), base=dict(n=1000, duration=0.3))
def thin_bodies(x, n=100, speed=20.0, duration=0.2, seed=7, spin=0.0, shapes="plates", walls="box"):
    rng = np.random.default_rng(seed)
    s = Scene(f"29_thin_{n}", f"{n} thin bodies at {speed:g} m/s in a box with walls of 2 cm: nobody gets out.")
    a = 0.06 * n ** (1 / 3) + 0.15  # half the inner size
    closed_box(s, a, walls)
    k = int(np.ceil(n ** (1 / 3)))
    for i in range(n):
        cell = np.array([i % k, i // k % k, i // (k * k)]) + 0.5
        q, v = rng.normal(size=4), rng.normal(size=3)
        w = spin * rng.normal(size=3) if spin else np.zeros(3)
        s.add(Body(f"body_{i}", [thin_geom(s, i, shapes)], pos=(2 * cell / k - 1) * (a - 0.06), q=q / np.linalg.norm(q), v=speed * v / np.linalg.norm(v), w=w))
    run = x.run(s, duration, every=1 if n <= 100 else max(1, int(0.05 / x.h)))
    out = [b for b in run.names if np.abs(run.track[b].x).max() > a]
    x.check("bodies outside", len(out), high=0)


# A heavy plate of 1 cm sweeps thin bodies before it: who is behind it has passed through it.
@case(29, "piston", quick=(10,), variants={"faster": dict(v=60.0), "needles": dict(shapes="needles")})
def piston(x, v=15.0, n=24, shapes="plates"):
    rng = np.random.default_rng(5)
    s = Scene("29_piston", "A heavy plate sweeps thin bodies before it: nobody passes through it.", gravity=(0, 0, 0))
    s.add(Body("piston", [box("piston", [0.005, 0.4, 0.4], mass=100, mu=0.3)], pos=(-0.1, 0, 0), v=(v, 0, 0)))
    for i in range(n):
        q = rng.normal(size=4)
        at = (0.1 + 0.1 * (i % 4), 0.12 * (i // 4 % 3 - 1), 0.12 * (i // 12 - 0.5))
        s.add(Body(f"body_{i}", [thin_geom(s, i, shapes)], pos=at, q=q / np.linalg.norm(q)))
    run = x.run(s, 0.6 / v)
    front = run.track["piston"].x[:, 0]
    x.check("bodies behind it", sum((run.track[f"body_{i}"].x[:, 0] < front).any() for i in range(n)), high=0)
    momentum = 100 * run.track["piston"].v + sum(m * run.track[f"body_{i}"].v for i, m in enumerate(masses(shapes, n)))
    x.check("momentum kept", np.abs(momentum - momentum[0]).max() / (100 * v), high=1e-9)


def masses(shapes, n):
    return [0.02 if shapes == "plates" or i % 3 == 1 else 0.01 for i in range(n)]


# --- 30: small and large -------------------------------------------------------------------------
@case(30, "millimetre", steps=(1, 2), quick=(1, 2), file=True, variants={"mesh_sized_floor": dict(ground="box"), "turned": dict(turn=TILT), "heavy": dict(mass=1e3)})
def millimetre(x, size=1e-3, v=0.1, mu=0.2, ground="plane"):
    s = Scene("30_millimetre", "A cube of 1 mm slides at 0.1 m/s: 2.55 mm.")
    if ground == "plane":
        s.floor(mu)
    else:
        s.fixed(box("floor", [0.5, 0.5, 0.1], pos=(0, 0, -0.1), mu=mu))
    s.add(Body("cube", [box("cube", [size / 2] * 3, mass=1e-6, mu=mu)], pos=(0, 0, size / 2), v=(v, 0, 0)))
    run = x.run(s, 0.15)
    b = run.track["cube"]
    x.ratio("path [m]", b.x[-1, 0], v * v / (2 * mu * G), 0.05)
    x.check("stays upright [rad]", turned(b.q).max(), high=1e-2)


@case(30, "house", quick=(10,), file=True, variants={"turned": dict(turn=TILT)})
def house(x, size=20.0, v=5.0, mu=0.2):
    s = Scene("30_house", "A cube of 20 m slides at 5 m/s.")
    s.floor(mu)
    s.add(Body("cube", [box("cube", [size / 2] * 3, mass=4e6, mu=mu)], pos=(0, 0, size / 2), v=(v, 0, 0)))
    run = x.run(s, v / (mu * G) + 0.3)
    path = v * v / (2 * mu * G)
    x.check("path [m]", run.track["cube"].x[-1, 0], near=path, within=0.002 * path + v * x.h / 2)
    x.check("depth [m]", size / 2 - run.track["cube"].x[:, 2].min(), high=1e-5 * size)


# The floor takes the cube back up; it may not throw it: not higher than it will stand, but for a hop of 1 % of its size.
@case(30, "overlap", quick=(1, 10), file=True, variants={"half": dict(share=0.5), "box_floor": dict(ground="box"), "turned_small": dict(scale=0.1, turn=TILT), "ball": dict(shape="ball")})
def overlap(x, size=0.1, share=0.9, ground="plane", shape="box"):
    s = Scene("30_overlap", "A cube starts with 90 % of it in the floor: it comes up within 1 s, without a kick.")
    if ground == "plane":
        s.floor(0.5)
    else:
        s.fixed(box("floor", [1, 1, 0.5], pos=(0, 0, -0.5), mu=0.5))
    g = box("cube", [size / 2] * 3, mass=1, mu=0.5) if shape == "box" else ball("cube", size / 2, mass=1, mu=0.5)
    s.add(Body("cube", [g], pos=(0, 0, size / 2 - share * size)))
    run = x.run(s, 1.5, conserves=False)
    b = run.track["cube"]
    x.check("height after 1 s [m]", b.x[run.t >= 1][0, 2], near=size / 2, within=1e-3 * size)
    x.check("highest above rest [m]", b.x[:, 2].max() - size / 2, high=0.01 * size)
    x.check("sideways [m]", np.linalg.norm(b.x[:, :2], axis=1).max(), high=1e-3 * size)
    x.check("turned [rad]", turned(b.q).max() if shape == "box" else 0, high=1e-3)


# --- 31: limits of statics -----------------------------------------------------------------------
def voussoirs(n, t):
    """Corners (inner left to outer, going round) of n stones of a half ring of mean radius 1 and thickness t, in the x-z plane."""
    a = np.pi * np.arange(n + 1) / n
    inner, outer = [np.stack([-r * np.cos(a), r * np.sin(a)], 1) for r in (1 - t / 2, 1 + t / 2)]
    return [np.array([inner[i], inner[i + 1], outer[i + 1], outer[i]]) for i in range(n)]


def polygon_mass(p):
    """Area and centroid."""
    x, z = p[:, 0], p[:, 1]
    cross = x * np.roll(z, -1) - np.roll(x, -1) * z
    area = cross.sum() / 2
    return abs(area), np.array([((x + np.roll(x, -1)) * cross).sum(), ((z + np.roll(z, -1)) * cross).sum()]) / (6 * area)


def arch_stands(n, t):
    """Whether a thrust line lies in the arch (Heyman: enough if nothing slips). By symmetry the force at the crown is horizontal, H
    at height y; at each joint below, the force's line must cross between the corners: with M(p) the moment of H and the weights
    above about p, M(inner) and M(outer) have opposite signs. Both are linear in (H, H y): a polygon in a plane, empty or not."""
    stones = voussoirs(n, t)[n // 2:]  # right half, from the crown down
    rows = [(1 + t / 2, -1.0, 0.0), (-(1 - t / 2), 1.0, 0.0)]  # c . (H, Hy) + d >= 0: the crown's force lies in the crown joint
    weight = moment = 0.0
    for p in stones:
        area, c = polygon_mass(p)
        weight += area
        moment += area * c[0]
        for corner, sign in ((p[1], 1.0), (p[2], -1.0)):
            # moment that turns the part above outwards over `corner`: H (y - corner_z) pushes out, the weight holds if it lies inside
            rows.append((-sign * corner[1], sign, sign * (moment - weight * corner[0])))
    rows = np.array(rows)
    best = -np.inf
    for i in range(len(rows)):
        for j in range(i):
            m = rows[[i, j], :2]
            if abs(np.linalg.det(m)) > 1e-12:
                at = np.linalg.solve(m, -rows[[i, j], 2])
                if at[0] > 0:
                    best = max(best, np.min(rows[:, :2] @ at + rows[:, 2]))
    return best >= -1e-12


def arch_limit(n):
    low, high = 0.05, 0.2
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if arch_stands(n, middle) else (middle, high)
    return high


@case(31, "arch_stands", quick=(10,), base=dict(factor=1.05), variants={"11_stones": dict(n=12), "turned_large": dict(scale=5, turn=TILT)})
@case(31, "arch_falls", quick=(10,), base=dict(factor=0.95), variants={"12_stones": dict(n=12)})
def arch(x, factor, n=16):
    t = factor * arch_limit(n)
    s = Scene("31_arch", f"An arch of {n} stones, {factor} of its limit thickness.")
    s.floor(1.0)
    depth = 0.1
    for i, p in enumerate(voussoirs(n, t)):
        area, c = polygon_mass(p)
        corners = [(q[0] - c[0], y, q[1] - c[1]) for q in p for y in (-depth, depth)]
        s.mesh(f"stone_{i}", corners)
        s.add(Body(f"stone_{i}", [geom(f"stone_{i}", "mesh", None, mesh=f"stone_{i}", mass=2000 * area * 2 * depth, mu=1.0)], pos=(c[0], 0, c[1])))
    run = x.run(s, 3.0)
    crown = run.track[f"stone_{n // 2}"].x[:, 2]
    if factor > 1:
        x.check("crown sinks [m]", np.abs(crown - crown[0]).max(), high=2e-3)
    else:
        x.check("crown falls [m]", crown[0] - crown.min(), low=0.3)


# Blocks of length L over an edge: the k-th from the top may reach L / (2 k) over the one below.
@case(31, "overhang_stands", quick=(10,), base=dict(factor=0.97), file=True, variants={"turned_large": dict(scale=5, turn=TILT), "12_blocks": dict(n=12)})
@case(31, "overhang_falls", quick=(10,), base=dict(factor=1.03), variants={"12_blocks": dict(n=12)})
def overhang(x, factor, n=8, L=0.2, half=0.015):
    s = Scene("31_overhang", f"Eight blocks over the edge of a table at {factor} of the harmonic limit.")
    s.fixed(box("table", [0.5, 0.2, 0.1], pos=(-0.5, 0, -0.1), mu=0.6))
    reach = -L / 2
    for i in range(n):  # from the bottom
        reach += factor * L / (2 * (n - i))
        s.add(Body(f"block_{i}", [box(f"block_{i}", [L / 2, 0.04, half], mass=0.3, mu=0.6)], pos=(reach, 0, half + 2 * half * i)))
    run = x.run(s, 3.0)
    top = run.track[f"block_{n - 1}"].x
    if factor < 1:
        x.check("top moves [m]", np.linalg.norm(top - top[0], axis=1).max(), high=5e-3 * L)
    else:
        x.check("top falls [m]", top[0, 2] - top[:, 2].min(), low=2 * half)


# tan = b / H. A block on a plane held at 0.99 and 1.01 of that angle; and on a plate that is tilted slowly.
@case(31, "slope_stands", quick=(10,), base=dict(factor=0.99), file=True, variants={"slim": dict(b=0.05, H=0.5), "large": dict(scale=10, turn=TILT), "box_ramp": dict(ground="box")})
@case(31, "slope_topples", quick=(10,), base=dict(factor=1.01), variants={"slim": dict(b=0.05, H=0.5), "large": dict(scale=10, turn=TILT), "box_ramp": dict(ground="box")})
def slope_block(x, factor, b=0.05, H=0.2, ground="plane"):
    angle = factor * np.arctan2(b, H)
    s = Scene("31_slope", f"A block b/H = {b / H:g} on a plane at {factor} of its toppling angle.")
    q = quat((0, 1, 0), angle)
    if ground == "plane":
        s.floor(0.9, q=q)
    else:
        s.fixed(box("ramp", [1, 1, 0.1], pos=rotate(q, (0, 0, -0.1)), q=q, mu=0.9))
    s.add(Body("block", [box("block", [b / 2, b, H / 2], mass=1, mu=0.9)], pos=rotate(q, (0, 0, H / 2)), q=q))
    run = x.run(s, 3.0)
    if factor < 1:
        x.check("turns [rad]", turned(run.track["block"].q).max(), high=1e-4)
    else:
        x.check("turns [rad]", turned(run.track["block"].q).max(), low=0.5)


# From the toppling angle on: lean'' = p^2 rate t with p^2 = m g r / I' at first, so lean = rate / p (sinh(p t) - p t): the lean of 2 mrad at
# which toppling is noticed comes late by a time that is taken off.
@case(31, "tilting_plate", quick=(10,), file=True, variants={"wide": dict(b=0.08, H=0.2)})
def tilting_plate(x, b=0.05, H=0.2, rate=0.004):
    critical = np.arctan2(b, H)
    start = 0.97 * critical
    s = Scene("31_tilting", "A block b/H = 0.25 on a plate that tilts slowly: it topples at atan(b/H).")
    s.add(Body("plate", [box("plate", [0.3, 0.3, 0.05], pos=(0, 0, -0.05), mass=20, mu=0.9)], inertia=(20, (0, 0, 0), (1, 1, 1)),
               joint=hinge("plate", (0, 1, 0), speed=rate, angle=start, armature=1e6)))
    q = quat((0, 1, 0), start)
    centre = rotate(q, (0, 0, H / 2))
    s.add(Body("block", [box("block", [b / 2, b, H / 2], mass=1, mu=0.9)], pos=centre, q=q, w=(0, rate, 0), v=np.cross((0, rate, 0), centre)))
    run = x.run(s, 0.07 * critical / rate, conserves=False)
    _, relative = run.track["block"].seen_from(run.track["plate"])
    lean = turned(relative)
    moved = np.nonzero(lean > 2e-3)[0]
    p = np.sqrt(G * np.hypot(b, H) / 2 / ((b * b + H * H) / 3))
    grid = np.linspace(0, 2, 20001)
    late = grid[np.searchsorted(rate / p * (np.sinh(p * grid) - p * grid), 2e-3)]
    tilt = (run.joint["plate"][moved[0], 0] if len(moved) else 2 * critical) - rate * late
    x.ratio("topples at [rad]", tilt, critical, 0.01)


# Two cards of length L and thickness t lean against each other by the angle a to the vertical: each touches the floor and the other with
# the corners of its lower side, L cos a apart in height; its weight acts (L/2) sin a - (t/2) cos a beside the lower one. Hence
# friction must be at least tan a / 2 - t / (2 L); between the cards there is none by symmetry.
@case(31, "cards_stand", quick=(10,), base=dict(factor=1.15), file=True, variants={"steep": dict(angle=np.radians(40)), "large": dict(scale=10, turn=TILT)})
@case(31, "cards_fall", quick=(10,), base=dict(factor=0.85), variants={"steep": dict(angle=np.radians(40))})
def cards(x, factor, angle=np.radians(25), L=0.09, t=0.001):
    needed = np.tan(angle) / 2 - t / (2 * L)
    mu = factor * needed
    s = Scene("31_cards", f"Two cards lean against each other with {factor} of the friction they need.")
    s.floor(mu)
    for name, side in (("left", 1), ("right", -1)):
        q = quat((0, 1, 0), side * angle)
        # the corner of the lower side at the top end goes to x = 0
        corner = rotate(q, (side * t / 2, 0, L / 2))
        low = rotate(q, (side * t / 2, 0, -L / 2))
        s.add(Body(name, [box(name, [t / 2, 0.03, L / 2], mass=0.002, mu=mu)], pos=(-corner[0], 0, -low[2]), q=q))
    run = x.run(s, 2.0)
    move = max(np.linalg.norm(run.track[b].x - run.track[b].x[0], axis=1).max() for b in ("left", "right"))
    if factor > 1:
        x.check("moves [m]", move, high=5e-4)
    else:
        x.check("sinks [m]", run.track["left"].x[0, 2] - run.track["left"].x[-1, 2], low=0.25 * L)


# --- 32: rest depth is zero ----------------------------------------------------------------------
def rest_limit(size):
    return max(1e-6, 1e-5 * size)


@case(32, "at_rest", quick=(1, 10), file=True, variants={"ball": dict(shape="sphere"), "cylinder": dict(shape="cylinder"), "lying": dict(shape="lying"), "ellipsoid": dict(shape="ellipsoid"),
                                             "box_floor": dict(ground="box"), "heavy": dict(mass=1000.0), "turned_large": dict(scale=20, turn=TILT), "dropped": dict(drop=0.05)})
def at_rest(x, shape="box", ground="plane", drop=0.0):
    s = Scene("32_at_rest", "A body at rest does not overlap the floor.")
    if ground == "plane":
        s.floor(0.5)
    else:
        s.fixed(box("floor", [1, 1, 0.2], pos=(0, 0, -0.2), mu=0.5))
    half = 0.05
    size = {"box": [half] * 3, "sphere": [half], "cylinder": [half, half], "lying": [half, half], "ellipsoid": [0.08, 0.08, half]}[shape]
    q = quat((1, 0, 0), np.pi / 2) if shape == "lying" else quat((0, 0, 1), 0)
    s.add(Body("body", [geom("body", "cylinder" if shape == "lying" else shape, size, mass=1, mu=0.5)], pos=(0, 0, half + drop), q=q))
    run = x.run(s, 1.5)
    z, late = run.track["body"].x[:, 2], run.t > (0 if drop == 0 else 1)
    x.check("depth at rest [m]", (half - z[late]).max(), high=rest_limit(2 * half))
    x.check("above the floor [m]", (z[late] - half).max(), high=rest_limit(2 * half))
    x.check("depth reported [m]", run.max_depth(0 if drop == 0 else 1), high=rest_limit(2 * half))


@case(32, "tower", quick=(10,), base=dict(n=20), variants={"turned_large": dict(scale=10, turn=TILT), "yawed": dict(yaw=0.3)})
def tower(x, n=20, half=0.05, yaw=0.0):
    s = Scene("32_tower", f"A tower of {n} cubes keeps its height.")
    s.floor(0.5)
    for i in range(n):
        s.add(Body(f"cube_{i}", [box(f"cube_{i}", [half] * 3, mass=1, mu=0.5)], pos=(0, 0, half + 2 * half * i), q=quat((0, 0, 1), yaw * i)))
    run = x.run(s, 2.0)
    z = np.stack([run.track[f"cube_{i}"].x[:, 2] for i in range(n)], 1)
    gaps = np.diff(np.concatenate([np.full((len(z), 1), -half), z], 1), axis=1) - 2 * half
    x.check("deepest overlap [m]", -gaps.min(), high=rest_limit(2 * half))
    x.check("height changes [m]", np.abs(z[:, -1] - z[0, -1]).max(), high=n * rest_limit(2 * half))
    top = run.track[f"cube_{n - 1}"]
    x.check("top moves sideways [m]", np.linalg.norm((top.x - top.x[0])[:, :2], axis=1).max(), high=1e-5)


# The limit of the story: 1 % of the height, that is 3 um a card.
@case(32, "cards", quick=(10,), base=dict(n=20), variants={"thinner": dict(thick=1e-4), "turned": dict(turn=TILT)})
def card_stack(x, n=20, thick=3e-4):
    s = Scene("32_cards", f"A stack of {n} cards of 0.3 mm keeps its height.")
    s.floor(0.4)
    for i in range(n):
        s.add(Body(f"card_{i}", [box(f"card_{i}", [0.044, 0.031, thick / 2], mass=0.002, mu=0.4)], pos=(0, 0, thick * (i + 0.5)), q=quat((0, 0, 1), 0.02 * i)))
    run = x.run(s, 1.5)
    height = run.track[f"card_{n - 1}"].x[:, 2] + thick / 2
    x.check("height [m]", height.min(), low=0.99 * n * thick, high=1.01 * n * thick)
    x.check("height, most [m]", height.max(), high=1.01 * n * thick)

"""Strikes, mixed shapes and symmetries, numbered from 70 on: closed forms of impacts, and what no motion may break."""
import numpy as np

from .claims import case
from .mjcf import G, Body, Scene, ball, box, geom, hinge, quat, quat_conj, quat_mul, rotate
from .story_19_22 import TILT


def box_inertia(mass, half):
    half = np.asarray(half, float)
    return mass / 3 * (np.sum(half * half) - half * half)


def matrix(q):
    return np.stack([rotate(q, e) for e in np.eye(3)], 1)


# A box without spin strikes a plane with one corner r from its centre: the impulse J stops that point, K J = -u with
# K = 1/m - [r] I^-1 [r]: along the normal only without friction, in all directions where it sticks. Then the corner is lifted by the
# spin it has got, and nothing else happens: both velocities are known.
@case(70, "corner_strikes", quick=(1, 10), variants={"sticks": dict(mu=8.0), "rebounds": dict(e=0.6), "slim": dict(half=(0.1, 0.02, 0.03)), "flat": dict(half=(0.1, 0.08, 0.01)),
                                                     "box_floor": dict(ground="box"), "turned_small": dict(scale=0.1, turn=TILT), "light": dict(mass=1e-6)})
def corner_strikes(x, mu=0.0, e=0.0, half=(0.05, 0.07, 0.04), v=(0.3, 0.1, -1.0), m=0.5, ground="plane"):
    s = Scene("70_corner", "Without gravity a box strikes a plane with a corner.", gravity=(0, 0, 0))
    if ground == "plane":
        s.floor(mu, e=e)
    else:
        s.fixed(box("floor", [1, 1, 0.1], pos=(0, 0, -0.1), mu=mu, e=e))
    q, half = quat((1, 2, 0.3), 0.9), np.asarray(half)
    corners = np.array([rotate(q, half * sign) for sign in ((a, b, c) for a in (1, -1) for b in (1, -1) for c in (1, -1))])
    r = corners[np.argmin(corners[:, 2])]
    s.add(Body("box", [box("box", half, mass=m, mu=mu, e=e)], pos=(0, 0, 0.02 - r[2]), q=q, v=v))
    run = x.run(s, 0.06)
    R = matrix(q)
    X = np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])
    inverse = R @ np.diag(1 / box_inertia(m, half)) @ R.T
    K = np.eye(3) / m - X @ inverse @ X
    u = np.array(v)
    if mu > 0:
        J = np.linalg.solve(K, -u)
    else:
        J = np.array([0, 0, -(1 + e) * u[2] / K[2, 2]])
    b = run.track["box"]
    x.check("off the velocity [m/s]", np.linalg.norm(b.v[-1] - (u + J / m)), high=1e-3)
    spin = inverse @ np.cross(r, J)
    # until the end of the run it turns on: the axes of inertia with it, the momentum not
    back = matrix(b.q[-1])
    L = back @ (box_inertia(m, half) * (back.T @ b.w[-1]))
    x.check("off the spin", np.linalg.norm(L - np.cross(r, J)) / np.linalg.norm(np.cross(r, J)), high=1e-3)
    x.check("spins [rad/s]", np.linalg.norm(spin), low=1)


# A cylinder rolls against a curb of height c and keeps its angular momentum about the curb's edge: w' / w = 1 - 2 c / (3 R). It climbs
# without losing anything: (3/4) v'' ^2 = (3/4) v' ^2 - g c.
@case(71, "curb", quick=(10,), variants={"low": dict(c=0.005), "ball": dict(shape="sphere"), "turned_small": dict(scale=0.1, turn=TILT)})
def curb(x, R=0.1, c=0.02, v=0.9, shape="cylinder"):
    s = Scene("71_curb", "A cylinder rolls over a curb.")
    s.floor(1.0)
    s.fixed(box("curb", [0.5, 0.5, c], pos=(0.75, 0, 0), mu=1.0))
    k = 0.5 if shape == "cylinder" else 0.4
    s.add(Body("wheel", [geom("wheel", shape, [R, 0.05] if shape == "cylinder" else [R], mass=1, mu=1.0)], pos=(0, 0, R), q=quat((1, 0, 0), np.pi / 2), v=(v, 0, 0), w=(0, v / R, 0)))
    run = x.run(s, 0.9)
    b = run.track["wheel"]
    after = v * (1 - c / R / (1 + k))
    top = np.sqrt(after**2 - 2 * G * c / (1 + k))
    # the moment of the strike is known to a step, the angle at which it takes place to v h / R
    x.ratio("speed on the curb [m/s]", b.v[-1, 0], top, 0.02 + 4 * x.h)
    x.check("height [m]", b.x[-1, 2], near=R + c, within=1e-4)
    x.check("off the straight line [m]", np.abs(b.x[:, 1]).max(), high=1e-4)


# A ball rolls down a ramp onto the floor. Its angular momentum about the new point of contact is kept: v' = v (cos a + 2/5) / (7/5).
@case(72, "ball_at_foot_of_ramp", quick=(10,), variants={"cylinder": dict(shape="cylinder"), "steep": dict(angle=np.radians(30)), "box_floor": dict(ground="box"), "turned_small": dict(scale=0.1, turn=TILT)})
def foot_of_ramp(x, R=0.04, angle=np.radians(15), d=0.3, shape="sphere", ground="plane"):
    s = Scene("72_foot", "A ball rolls from a ramp onto the floor.")
    down, up = np.array([np.cos(angle), 0, -np.sin(angle)]), np.array([np.sin(angle), 0, np.cos(angle)])
    s.fixed(box("ramp", [0.5, 0.3, 0.1], pos=-0.5 * down - 0.1 * up, q=quat((0, 1, 0), angle), mu=0.8))
    if ground == "plane":
        s.floor(0.8)
    else:
        s.fixed(box("floor", [2, 0.5, 0.1], pos=(2, 0, -0.1), mu=0.8))
    k = 0.4 if shape == "sphere" else 0.5
    s.add(Body("ball", [geom("ball", shape, [R] if shape == "sphere" else [R, 0.05], mass=0.3, mu=0.8)], pos=-d * down + R * up, q=quat((1, 0, 0), np.pi / 2)))
    # it meets the floor before its point of contact is at the ramp's foot, R tan(a / 2) before
    way = d - R * np.tan(angle / 2)
    v = np.sqrt(2 * G * np.sin(angle) * way / (1 + k))
    run = x.run(s, 2 * way / v + 0.5)
    b = run.track["ball"]
    expected = v * (np.cos(angle) + k) / (1 + k)
    x.ratio("speed on the floor [m/s]", b.v[-1, 0], expected, 0.01 + G * np.sin(angle) * x.h / v)
    x.ratio("turning [rad/s]", b.w[-1, 1], b.v[-1, 0] / R, 0.002)
    x.check("height [m]", b.x[-1, 2], near=R, within=1e-5)


# A spinning cylinder on a plank on ice: J (1/m + R^2/I + 1/M) = R w0.
@case(73, "spin_on_plank", quick=(10,), variants={"ball": dict(shape="sphere"), "light_plank": dict(M=0.1), "turned_small": dict(scale=0.2, turn=TILT)})
def spin_on_plank(x, R=0.05, w=20.0, m=0.4, M=1.0, mu=0.3, shape="cylinder"):
    s = Scene("73_plank", "A spinning cylinder on a plank that slides without friction.")
    s.fixed(geom("floor", "plane", None, mu=0))
    s.add(Body("plank", [box("ice", [1.0, 0.1, 0.01], mass=0.5 * M, mu=0), box("top", [1.0, 0.1, 0.01], pos=(0, 0, 0.02), mass=0.5 * M, mu=mu)], pos=(0, 0, 0.01)))
    s.add(Body("wheel", [geom("wheel", shape, [R, 0.05] if shape == "cylinder" else [R], mass=m, mu=mu)], pos=(0, 0, 0.04 + R), q=quat((1, 0, 0), np.pi / 2), w=(0, w, 0)))
    k = 0.5 if shape == "cylinder" else 0.4
    J = R * w / (1 / m + 1 / (k * m) + 1 / M)
    run = x.run(s, 2 * J / (mu * m * G) + 0.1)
    x.ratio("speed of the wheel [m/s]", run.track["wheel"].v[-1, 0], J / m, 0.005)
    x.ratio("speed of the plank [m/s]", run.track["plank"].v[-1, 0], -J / M, 0.005)
    momentum = m * run.track["wheel"].v[:, 0] + M * run.track["plank"].v[:, 0]
    x.check("momentum / J", np.abs(momentum).max() / J, high=1e-6)


# A ball strikes a rod that lies still, at d from its middle, without friction: J = (1 + e) v / (1/m + 1/M + d^2 / I).
@case(74, "rod_struck", quick=(10,), variants={"dull": dict(e=0.4), "end": dict(d=0.19), "capsule": dict(shape="capsule"), "mesh": dict(shape="mesh"), "heavy": dict(m=10.0)})
def rod_struck(x, e=1.0, d=0.12, m=0.2, M=0.5, v=2.0, r=0.03, shape="box"):
    s = Scene("74_rod", "Without gravity a ball strikes a rod beside its middle.", gravity=(0, 0, 0))
    half = np.array([0.02, 0.2, 0.02])
    I = M / 3 * (half[0]**2 + half[1]**2)
    if shape == "mesh":
        s.mesh("rod", [half * c for c in ((a, b, c) for a in (1, -1) for b in (1, -1) for c in (1, -1))])
        g = geom("rod", "mesh", None, mesh="rod", mass=M, mu=0, e=e)
    elif shape == "capsule":
        g = geom("rod", "capsule", [0.02, 0.2], q=quat((1, 0, 0), np.pi / 2), mass=M, mu=0, e=e)
    else:
        g = box("rod", half, mass=M, mu=0, e=e)
    s.add(Body("rod", [g], inertia=(M, (0, 0, 0), (I, I, I))))
    s.add(Body("ball", [ball("ball", r, mass=m, mu=0, e=e)], pos=(-0.1, d, 0), v=(v, 0, 0)))
    run = x.run(s, 0.05 / v + 0.03)
    J = (1 + e) * v / (1 / m + 1 / M + d * d / I)
    x.ratio("ball [m/s]", v - run.track["ball"].v[-1, 0], J / m, 0.005)
    x.ratio("rod [m/s]", run.track["rod"].v[-1, 0], J / M, 0.005)
    x.ratio("rod turns [rad/s]", -run.track["rod"].w[-1, 2], d * J / I, 0.005)


SHAPES = ("box", "sphere", "capsule", "cylinder", "ellipsoid", "mesh")


def any_geom(s, name, kind, size, rng, **more):
    if kind == "mesh":
        s.mesh(name, size * 1.2 * rng.normal(size=(12, 3)) / 1.7)
        return geom(name, "mesh", None, mesh=name, **more)
    half = {"box": size * rng.uniform(0.5, 1.2, 3), "sphere": [size], "capsule": [0.6 * size, size], "cylinder": [size, 0.7 * size],
            "ellipsoid": size * rng.uniform(0.6, 1.2, 3)}[kind]
    return geom(name, kind, half, **more)


def momentum_claims(x, run, names, inertia, mass, size, speed):
    """Linear and angular momentum of free bodies; inertia: name -> function of the orientation's matrix."""
    P = sum(mass[n] * run.track[n].v for n in names)
    x.check("momentum kept", np.linalg.norm(P - P[0], axis=1).max() / (speed * sum(mass.values())), high=1e-9)


# Bodies of all shapes fly together without gravity: momentum is kept, the energy falls, friction keeps its law, every step is solved.
@case(75, "cloud", quick=(10,), variants={f"seed_{i}": dict(seed=i) for i in range(2, 7)} | {"bouncy": dict(e=0.8), "smooth": dict(mu=0.0), "small": dict(scale=0.05), "fast": dict(speed=20.0), "boxes": dict(kinds=("box",)), "hulls": dict(kinds=("mesh",))})
def cloud(x, n=24, seed=1, mu=0.5, e=0.0, speed=2.0, size=0.05, kinds=SHAPES):
    rng = np.random.default_rng(seed)
    s = Scene("75_cloud", "Bodies of all shapes fly together.", gravity=(0, 0, 0))
    mass = {}
    k = int(np.ceil(n ** (1 / 3)))
    for i in range(n):
        name, q = f"body_{i}", rng.normal(size=4)
        at = (np.array([i % k, i // k % k, i // k // k]) - (k - 1) / 2) * 4 * size
        mass[name] = rng.uniform(0.2, 1.0)
        s.add(Body(name, [any_geom(s, name, kinds[i % len(kinds)], size, rng, mass=mass[name], mu=mu, e=e)], pos=at, q=q / np.linalg.norm(q),
                   v=-speed * at / (4 * size * k) + 0.2 * speed * rng.normal(size=3), w=3 * rng.normal(size=3)))
    run = x.run(s, 8 * size * k / speed)
    P = sum(mass[b] * run.track[b].v for b in mass)
    x.check("momentum kept", np.linalg.norm(P - P[0], axis=1).max() / (speed * n), high=1e-9)
    x.check("friction / (mu N)", run.friction_excess() if mu > 0 else 0, high=1.001)
    x.check("deepest / size", run.max_depth() / size, high=0.05)


# The same falls in a heap.
@case(76, "mixed_heap", quick=(10,), variants={f"seed_{i}": dict(seed=i) for i in range(2, 5)} | {"bouncy": dict(e=0.5), "slippery": dict(mu=0.05), "small": dict(scale=0.1), "turned": dict(turn=TILT), "heavy_light": dict(spread=3.0), "box_floor": dict(ground="box")})
def mixed_heap(x, n=18, seed=1, mu=0.5, e=0.0, size=0.05, spread=0.5, ground="plane"):
    rng = np.random.default_rng(seed)
    s = Scene("76_heap", "Bodies of all shapes fall in a heap.")
    if ground == "plane":
        s.floor(mu)
    else:
        s.fixed(box("floor", [1, 1, 0.1], pos=(0, 0, -0.1), mu=mu))
    for i in range(n):
        name, q = f"body_{i}", rng.normal(size=4)
        mass = 0.5 * 10 ** (spread * rng.uniform(-1, 1))
        s.add(Body(name, [any_geom(s, name, SHAPES[i % 6], size, rng, mass=mass, mu=mu, e=e)], pos=(*rng.uniform(-0.1, 0.1, 2), 0.15 + 0.13 * i), q=q / np.linalg.norm(q), w=2 * rng.normal(size=3)))
    run = x.run(s, 1.5, conserves=False)
    x.swings(run)
    x.check("friction / (mu N)", run.friction_excess(), high=1.001)
    x.check("deepest / size", run.max_depth() / size, high=0.05)


# A box slides without friction over the edge of a table and tips: nothing takes energy but the moment when its upper end... nothing.
@case(77, "over_the_edge", quick=(10,), variants={"fast": dict(v=1.5), "slim": dict(half=(0.15, 0.05, 0.01)), "turned_small": dict(scale=0.1, turn=TILT), "mesh_table": dict(ground="mesh")})
def over_the_edge(x, half=(0.1, 0.05, 0.02), v=0.4, ground="box"):
    s = Scene("77_edge", "A box slides without friction over the edge of a table: energy is kept, its forward speed never falls.")
    if ground == "mesh":
        s.mesh("table", [(np.array(c) * 2 - 1) * (0.5, 0.3, 0.1) for c in np.ndindex(2, 2, 2)])
        s.fixed(geom("table", "mesh", None, mesh="table", pos=(-0.5, 0, -0.1), mu=0))
    else:
        s.fixed(box("table", [0.5, 0.3, 0.1], pos=(-0.5, 0, -0.1), mu=0))
    s.add(Body("box", [box("box", half, mass=1, mu=0)], pos=(-half[0], 0, half[2]), v=(v, 0, 0)))
    run = x.run(s, half[0] / v + 0.45)
    kinetic, total, _ = run.energies
    x.check("energy lost / kinetic at the end", (total[0] - total[-1]) / kinetic[-1], low=-1e-3, high=0.02)
    x.check("turns [rad/s]", run.track["box"].w[-1, 1], low=0.5)
    x.check("sideways [m]", np.abs(run.track["box"].x[:, 1]).max(), high=1e-6)
    x.check("largest loss in a step [m/s]", -np.diff(run.track["box"].v[:, 0]).min(), high=1e-3 * v + 1e-3)


# A ball in a free box, both elastic and smooth: energy and momentum are kept through every bounce.
@case(78, "ball_in_box", quick=(10,), variants={"heavy": dict(m=3.0), "fast": dict(v=8.0), "rough_plastic": dict(e=0.0, mu=0.5)})
def ball_in_box(x, m=0.3, M=1.0, v=1.5, e=1.0, mu=0.0, a=0.15, r=0.04):
    s = Scene("78_box", "A ball in a free box without gravity.", gravity=(0, 0, 0))
    walls = []
    for axis in range(3):
        for side in (-1, 1):
            half, at = np.full(3, a + 0.02), np.zeros(3)
            half[axis], at[axis] = 0.01, side * (a + 0.01)
            walls.append(box(f"wall_{axis}_{side}", half, pos=at, mass=M / 6, mu=mu, e=e))
    s.add(Body("box", walls))
    s.add(Body("ball", [ball("ball", r, mass=m, mu=mu, e=e)], pos=(0.02, -0.03, 0.01), v=v * np.array([0.8, 0.5, -0.33])))
    run = x.run(s, 4.0)
    P = m * run.track["ball"].v + M * run.track["box"].v
    x.check("momentum kept", np.linalg.norm(P - P[0], axis=1).max() / (m * v), high=1e-9)
    kinetic, _, _ = run.energies
    if e == 1:
        x.check("energy left", kinetic[-1] / kinetic[0], low=0.97, high=1 + 1e-5)
    inside = rotate(quat_conj(run.track["box"].q), run.track["ball"].x - run.track["box"].x)
    x.check("leaves the box by [m]", np.abs(inside).max() - (a - r), high=2e-3 * r)


# A rack of balls is struck along its axis: the outcome is as symmetric as the scene.
@case(79, "rack", quick=(10,), variants={"plastic": dict(e=0.0), "half": dict(e=0.5), "rolling": dict(ground=True)})
def rack(x, rows=4, r=0.03, v=3.0, e=1.0, ground=False):
    s = Scene("79_rack", "A ball strikes a rack of balls along its axis.", gravity=(0, 0, -G if ground else 0))
    if ground:
        s.floor(0.3)
    names, mirror = [], {}
    for i in range(rows):
        for j in range(i + 1):
            names.append(f"ball_{i}_{j}")
            mirror[names[-1]] = f"ball_{i}_{i - j}"
            s.add(Body(names[-1], [ball(names[-1], r, mass=0.2, mu=0, e=e)], pos=(i * 1.7321 * r * 1.001, (2 * j - i) * r * 1.001, r)))
    s.add(Body("cue", [ball("cue", r, mass=0.2, mu=0, e=e)], pos=(-0.3, 0, r), v=(v, 0, 0)))
    run = x.run(s, 0.3)
    worst = max(np.abs(run.track[n].x * (1, -1, 1) - run.track[mirror[n]].x).max() for n in names)
    x.check("asymmetry [m]", worst, high=1e-6)
    P = sum(0.2 * run.track[n].v for n in names + ["cue"])
    if not ground:
        x.check("momentum kept", np.linalg.norm(P - P[0], axis=1).max() / (0.2 * v), high=1e-10)


# Two leaning stacks that mirror each other fall into each other and on the floor.
@case(80, "mirrored_fall", quick=(10,), variants={"slippery": dict(mu=0.1), "hulls": dict(shape="mesh"), "turned_small": dict(scale=0.1, turn=TILT)})
def mirrored_fall(x, mu=0.5, n=3, shape="box"):
    s = Scene("80_mirror", "Two leaning slabs with blocks on them fall towards each other.")
    s.floor(mu)
    half = np.array([0.02, 0.06, 0.15])
    for name, side in (("left", -1), ("right", 1)):
        q = quat((0, 1, 0), -side * 0.12)
        foot = rotate(q, (-side * half[0], 0, -half[2]))
        if shape == "mesh":
            s.mesh(f"{name}_slab", [(np.array(c) * 2 - 1) * half for c in np.ndindex(2, 2, 2)])
            g = geom(name, "mesh", None, mesh=f"{name}_slab", mass=1, mu=mu)
        else:
            g = box(name, half, mass=1, mu=mu)
        s.add(Body(name, [g], pos=(side * 0.12 - foot[0], 0, -foot[2]), q=q))
    run = x.run(s, 0.8)
    a, b = run.track["left"], run.track["right"]
    x.check("asymmetry [m]", np.abs(a.x * (-1, 1, 1) - b.x).max(), high=1e-5)
    x.check("sideways [m]", max(np.abs(a.x[:, 1]).max(), np.abs(b.x[:, 1]).max()), high=1e-5)


# Masses times 1024 change nothing to the last bit; lengths times 4 at twice the step neither.
@case(81, "same_when_heavier", quick=(10,), base=dict(heavier=1024.0), variants={"spread": dict(n=12, seed=3)})
@case(81, "same_when_larger", quick=(10,), base=dict(larger=4.0), variants={"spread": dict(n=12, seed=3)})
def same(x, heavier=1.0, larger=1.0, n=8, seed=1, mu=0.5):
    from .mjcf import Frame
    from .story_23_27 import heap
    s = heap(n, seed, mu)
    one = x.run(s, 1.0)
    keep, x.frame = x.frame, Frame(scale=larger, mass=heavier)
    two = x.run(s, 1.0)
    x.frame = keep
    off = max(np.abs(one.track[b].x - two.track[b].x).max() for b in one.names)
    x.check("off each other [m]", off, high=1e-9 if larger == 1 else 1e-6)


# A scene turned as a whole, gravity with it: the same, but for rounding that grows with every strike.
@case(82, "same_when_turned", quick=(10,), variants={"cylinder": dict(shape="cylinder"), "mesh": dict(shape="mesh"), "capsule": dict(shape="capsule")})
def same_when_turned(x, shape="box"):
    from .mjcf import Frame
    s = Scene("82_turned", "A body tumbles over the floor; the same in a turned scene.")
    s.floor(0.4)
    if shape == "mesh":
        s.mesh("hull", [(0.05, 0, 0), (-0.03, 0.04, 0.01), (-0.03, -0.04, 0), (0, 0, 0.06), (0.01, 0.02, -0.03)])
    size = {"box": [0.05, 0.04, 0.03], "cylinder": [0.05, 0.03], "capsule": [0.03, 0.05], "mesh": None}[shape]
    s.add(Body("body", [geom("body", shape, size, mesh="hull" if shape == "mesh" else None, mass=0.5, mu=0.4)], pos=(0, 0, 0.2), q=quat((1, 2, 0.5), 0.8), v=(0.8, 0.2, -0.5), w=(2, -3, 1)))
    one = x.run(s, 0.7, conserves=shape != "cylinder")
    keep, x.frame = x.frame, Frame(turn=TILT)
    two = x.run(s, 0.7, conserves=shape != "cylinder")
    x.frame = keep
    if shape == "cylinder":
        x.swings(one)
    x.check("off each other [m]", np.abs(one.track["body"].x - two.track["body"].x).max(), high=2e-5)  # the solver's tolerance, 1e-5 of 1 m/s, over 0.7 s


# A block of 1000 kg on four cubes of 1 g: nothing sinks, nothing creeps.
@case(83, "heavy_on_light", quick=(10,), variants={"plate": dict(m=1e-5), "turned_large": dict(scale=10, turn=TILT), "dropped": dict(drop=0.01)})
def heavy_on_light(x, m=1e-3, M=1000.0, drop=0.0):
    s = Scene("83_heavy", "A block of 1000 kg on four cubes of 1 g.")
    s.floor(0.5)
    for i, (a, b) in enumerate(((-1, -1), (-1, 1), (1, -1), (1, 1))):
        s.add(Body(f"cube_{i}", [box(f"cube_{i}", [0.01] * 3, mass=m, mu=0.5)], pos=(0.1 * a, 0.1 * b, 0.01)))
    s.add(Body("block", [box("block", [0.15, 0.15, 0.1], mass=M, mu=0.5)], pos=(0, 0, 0.12 + drop)))
    run = x.run(s, 1.0)
    late = run.t > (0.5 if drop else 0)
    x.check("block sinks [m]", 0.12 - run.track["block"].x[late, 2].min(), high=1e-6)
    x.check("cubes move [m]", max(np.linalg.norm(run.track[f"cube_{i}"].x - run.track[f"cube_{i}"].x[0], axis=1).max() for i in range(4)), high=1e-5)


# A stack falls as a whole: the lowest is stopped, the others by it, all in a few steps.
@case(84, "stack_dropped", quick=(10,), variants={"gaps": dict(gap=2e-3), "heavy_top": dict(heavy=50.0), "turned_small": dict(scale=0.1, turn=TILT), "cards": dict(half=(0.04, 0.03, 5e-4), n=10), "box_floor": dict(ground="box")})
def stack_dropped(x, n=6, half=(0.05, 0.05, 0.03), height=0.3, gap=0.0, heavy=1.0, ground="plane"):
    s = Scene("84_stack", "A stack falls on the floor: it lands as a stack.")
    if ground == "plane":
        s.floor(0.5)
    else:
        s.fixed(box("floor", [1, 1, 0.1], pos=(0, 0, -0.1), mu=0.5))
    t = half[2]
    for i in range(n):
        s.add(Body(f"box_{i}", [box(f"box_{i}", half, mass=0.4 * (heavy if i == n - 1 else 1), mu=0.5)], pos=(0, 0, height + t + i * (2 * t + gap))))
    run = x.run(s, 1.0)
    x.check("deepest [m]", run.max_depth(), high=1e-3 * 2 * t)
    top = run.track[f"box_{n - 1}"]
    x.check("height [m]", top.x[-1, 2], near=(2 * n - 1) * t, within=1e-5 * n * 2 * t + 1e-6)
    x.check("sideways [m]", np.linalg.norm(top.x[:, :2], axis=1).max(), high=1e-4 * t)

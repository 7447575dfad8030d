"""Impacts and what must not matter in them: the moment of the step, which body is named first, how large the scene is."""
import numpy as np

from .claims import case
from .mjcf import Body, Frame, Scene, ball, box, box_corners, geom, hinge, quat, quat_conj, quat_mul, rotate, sphere_points


def box_inertia(m, half):
    a, b, c = np.square(half)
    return m / 3 * np.array([b + c, a + c, a + b])


def angular_momentum(run, bodies):
    """About the origin, of all boxes and balls {name: (mass, diagonal of inertia)}, over time."""
    total = 0
    for name, (m, inertia) in bodies.items():
        t = run.track[name]
        total = total + m * np.cross(t.x, t.v) + rotate(t.q, inertia * rotate(quat_conj(t.q), t.w))
    return total


# Without friction and with restitution 1 nothing takes energy, however the body tumbles.
@case(85, "elastic_tumbling", variants={"capsule": dict(kind="capsule", seconds=2.0), "cylinder": dict(kind="cylinder"), "ellipsoid": dict(kind="ellipsoid")})
def elastic_tumbling(x, kind="box", seconds=1.2):
    s = Scene("85_tumbling", "A body turns, falls on a smooth floor and rebounds without loss.")
    s.floor(0.0, e=1.0)
    size = {"box": [0.05, 0.07, 0.04], "cylinder": [0.05, 0.04], "capsule": [0.03, 0.05], "ellipsoid": [0.06, 0.05, 0.04], "mesh": None}[kind]
    mesh = s.mesh("hull", sphere_points(30, 0.05)) if kind == "mesh" else None
    s.add(Body("body", [geom("body", kind, size, mesh=mesh, mass=1, mu=0.0, e=1.0)], pos=(0, 0, 0.4), q=quat((0.2, 1, -0.6), 1.2), w=(0.4, -1.6, 1.1)))
    run = x.run(s, seconds)
    total = run.energies[1]
    x.check("energy left", total[-1] / total[0], low=0.95, high=1 + 1e-6)


# A turning box strikes a smooth plane with one corner: J = -(1 + e) u / (n K n), u the corner's speed, K = 1/m - [r] I^-1 [r]. Twenty
# boxes start at heights that make them strike at twenty moments of a step: that must not matter. (At longer steps the next corner follows.)
@case(86, "turning_corner_rebounds", steps=(1, 2), variants={"elastic": dict(e=1.0), "plastic": dict(e=0.0)})
def turning_corner_rebounds(x, e=0.5, speed=2.0, half=(0.05, 0.07, 0.04), w=(0, -2, 0), n=20):
    s = Scene("86_corner", "Boxes that turn strike a plane with a corner, at every moment of a step.", gravity=(0, 0, 0))
    s.floor(0.0, e=e)
    half, w, q = np.asarray(half), np.asarray(w, float), quat((1, 2, 3), 0.7)
    when = (2 + (np.arange(n) + 0.5) / n) * x.h
    impulse = []
    for i, t in enumerate(when):
        then = quat_mul(quat(w, np.linalg.norm(w) * t), q)  # it turns by 1e-2 rad at most until it strikes: as if about a fixed axis
        corners = rotate(then, box_corners(half))
        r = corners[np.argmin(corners[:, 2])]
        s.add(Body(f"box_{i}", [box(f"box_{i}", half, mass=1, mu=0.0, e=e)], pos=(0.4 * i, 0, speed * t - r[2]), q=q, v=(0, 0, -speed), w=w))
        arm = rotate(quat_conj(then), np.cross(r, (0, 0, 1)))
        impulse.append(-(1 + e) * (-speed + np.cross(w, r)[2]) / (1 + np.sum(arm**2 / box_inertia(1, half))))
    run = x.run(s, 6 * x.h)
    given = np.array([run.track[f"box_{i}"].v[-1, 2] + speed for i in range(n)])
    x.check("least impulse / due", (given / impulse).min(), low=0.9)
    x.check("largest impulse / due", (given / impulse).max(), high=1.1)


# A block that leans by an angle strikes a smooth plane with its edge, b below and a beside its centre: w = a J / I, however flat it comes.
@case(87, "leaning_block_rebounds", steps=(1, 2), variants={"flatter": dict(lean=5.0), "plastic": dict(e=0.0), "steep": dict(lean=35.0)})
def leaning_block_rebounds(x, e=0.5, lean=10.0, v=1.5, half=(0.05, 0.15, 0.1), n=10):
    s = Scene("87_leaning", "Leaning blocks strike a plane with an edge.", gravity=(0, 0, 0))
    s.floor(0.0, e=e)
    q = quat((0, 1, 0), np.radians(lean))
    corners = rotate(q, box_corners(half))
    r = corners[np.argmin(corners[:, 2])]
    inertia = box_inertia(1, half)[1]
    J = (1 + e) * v / (1 + r[0]**2 / inertia)
    for i in range(n):
        s.add(Body(f"b{i}", [box(f"b{i}", half, mass=1, mu=0.0, e=e)], pos=(0.5 * i, 0, -r[2] + v * x.h * (2 + (i + 0.5) / n)), q=q, v=(0, 0, -v)))
    run = x.run(s, 5 * x.h)
    turning = np.array([run.track[f"b{i}"].w[-1, 1] for i in range(n)]) / (-r[0] * J / inertia)
    x.check("least turning / due", turning.min(), low=0.9)
    x.check("largest turning / due", turning.max(), high=1.1)


def two_that_collide(kind, e, mu, swapped):
    s = Scene("88_pair", "Two turning bodies collide.", gravity=(0, 0, 0))
    size = {"box": [0.05, 0.04, 0.03], "cylinder": [0.05, 0.04], "capsule": [0.03, 0.04], "ellipsoid": [0.05, 0.04, 0.03], "mesh": None, "sphere": [0.05]}[kind]
    mesh = s.mesh("hull", sphere_points(60, 0.05)) if kind == "mesh" else None
    a, b = (Body(n, [geom(n, kind, size, mesh=mesh, mass=1, mu=mu, e=e)], **more) for n, more in (
        ("a", dict(pos=(-0.2, 0.02, 0), q=quat((0.3, 0.5, 0.2), 0.8), v=(1, 0, 0), w=(1, 2, 3))),
        ("b", dict(pos=(0.2, -0.01, 0.01), q=quat((1, 2, 0), 0.5), v=(-1, 0, 0), w=(2, -1, -3)))))
    for body in (b, a) if swapped else (a, b):
        s.add(body)
    return s


# Which of two bodies stands first in the file must not matter. The solver stops at 1e-5 of the speeds: that much may differ.
@case(88, "order_of_two", variants={"cylinders": dict(kind="cylinder", mu=0.0), "hulls": dict(kind="mesh"), "ellipsoids": dict(kind="ellipsoid"), "rebounding": dict(e=0.6)})
def order_of_two(x, kind="box", mu=0.4, e=None):
    one, other = (x.run(two_that_collide(kind, e, mu, swapped), 0.3, conserves=kind == "box") for swapped in (False, True))
    if kind != "box":
        x.swings(one)
    x.check("they collide [m/s]", np.linalg.norm(one.track["a"].v[-1] - one.track["a"].v[0]), low=0.3)
    x.check("off in velocity [m/s]", max(np.linalg.norm(one.track[n].v[-1] - other.track[n].v[-1]) for n in "ab"), high=1e-4)
    x.check("off in spin [m/s]", 0.05 * max(np.linalg.norm(one.track[n].w[-1] - other.track[n].w[-1]) for n in "ab"), high=1e-4)


# Lengths times 4 and times times 2 are exact in binary, and the laws know no other length or time: not a bit may differ.
@case(89, "same_to_the_bit_when_larger", variants={"cylinders": dict(kind="cylinder"), "small": dict(factor=1 / 4096)})
def same_to_the_bit(x, kind="box", factor=4.0):
    def fall():
        s = Scene("89_fall", "Four bodies fall on each other.")
        s.floor(0.4)
        size = [0.05, 0.04, 0.03] if kind == "box" else [0.04, 0.03]
        for i in range(4):
            s.add(Body(f"b{i}", [geom(f"b{i}", kind, size, mass=1, mu=0.4)], pos=(0.02 * i, 0.015 * i, 0.06 + 0.12 * i), q=quat((1, 0.3 * i, 0.5), 0.3 * i)))
        return s
    runs = []
    for x.frame in (Frame(), Frame(scale=factor)):
        runs.append(x.run(fall(), 0.3, conserves=kind == "box"))
    x.check("apart [m]", max(np.abs(runs[0].track[n].x - runs[1].track[n].x).max() for n in runs[0].names), high=1e-12)


# Balls without friction: every force goes through both centres, so that neither gets any spin.
@case(90, "smooth_balls_get_no_spin", variants={"grazing": dict(offset=0.8), "rebounding": dict(e=0.8), "unequal": dict(m=5.0)})
def smooth_balls(x, offset=0.5, v=2.0, R=0.05, e=None, m=1.0, n=8):
    s = Scene("90_balls", "A smooth ball strikes another one off its centre.", gravity=(0, 0, 0))
    off = offset * 2 * R
    for i in range(n):
        at = np.array([-np.sqrt(4 * R * R - off * off) - v * x.h * (2 + (i + 0.5) / n), off + i, 0])
        s.add(Body(f"a{i}", [ball(f"a{i}", R, mass=1, mu=0.0, e=e)], pos=at, v=(v, 0, 0)))
        s.add(Body(f"b{i}", [ball(f"b{i}", R, mass=m, mu=0.0, e=e)], pos=(0, i, 0)))
    run = x.run(s, 6 * x.h)
    x.check("they collide [m/s]", min(np.linalg.norm(run.track[f"b{i}"].v[-1]) for i in range(n)), low=0.1 * v / m)
    x.check("spin R / v", max(np.linalg.norm(t.w[-1]) for t in run.track.values()) * R / v, high=1e-6)


# Forces of contact are equal and opposite in one line: the angular momentum of all together stays, whatever the law of impact.
@case(91, "angular_momentum_of_balls", variants={"plastic": dict(e=0.0), "smooth": dict(mu=0.0)})
def angular_momentum_of_balls(x, e=0.8, mu=0.2, v=2.0, R=0.05):
    s = Scene("91_balls", "A ball strikes another one off its centre and rebounds.", gravity=(0, 0, 0))
    s.add(Body("a", [ball("a", R, mass=1, mu=mu, e=e)], pos=(-0.16, R, 0), v=(v, 0, 0)))
    s.add(Body("b", [ball("b", R, mass=1, mu=mu, e=e)]))
    run = x.run(s, 0.1)
    L = angular_momentum(run, {n: (1.0, np.full(3, 0.4 * R * R)) for n in "ab"})
    x.check("they collide [m/s]", np.linalg.norm(run.track["b"].v[-1]), low=0.3)
    x.check("change / angular momentum", np.abs(L - L[0]).max() / np.linalg.norm(L[0]), high=1e-9)


# The same where one of the bodies has an arm on a hinge.
@case(92, "flail_strikes", variants={"rough": dict(mu=1.0)})
def flail_strikes(x, mu=0.3, e=None):
    s = Scene("92_flail", "A free body with an arm on a hinge strikes another one.", gravity=(0, 0, 0))
    grip, arm, struck = (0.05, 0.05, 0.05), (0.1, 0.01, 0.01), (0.05, 0.05, 0.05)
    a = s.add(Body("grip", [box("grip", grip, mass=1, mu=mu, e=e)], pos=(-0.3, 0, 0), v=(1, 0, 0), w=(0, 0, 1)))
    a.add(Body("arm", [box("arm", arm, pos=(0.1, 0, 0), mass=0.5, mu=mu, e=e)], pos=(0.05, 0, 0), joint=hinge("elbow", (0, 0, 1), speed=3.0)))
    s.add(Body("struck", [box("struck", struck, mass=2, mu=mu, e=e)], pos=(0.1, 0.03, 0.02)))
    run = x.run(s, 0.6)
    L = angular_momentum(run, {"grip": (1.0, box_inertia(1, grip)), "arm": (0.5, box_inertia(0.5, arm)), "struck": (2.0, box_inertia(2, struck))})
    x.check("it strikes [m/s]", np.linalg.norm(run.track["struck"].v[-1]), low=0.05)
    x.check("change of angular momentum", np.abs(L - L[0]).max() / np.linalg.norm(L[0]), high=1e-9)


# A shot that strikes a smooth face beside its edge is stopped by that face: nothing pushes it over the edge.
@case(93, "shot_beside_an_edge", variants={"close": dict(off=0.09)})
def shot_beside_an_edge(x, v=20.0, off=0.06, m=0.05, M=2.0, n=8):
    s = Scene("93_shot", "Shots strike smooth cubes near an edge.", gravity=(0, 0, 0))
    for i in range(n):
        s.add(Body(f"cube{i}", [box(f"cube{i}", [0.1, 0.1, 0.1], mass=M, mu=0.0)], pos=(0, i, 0)))
        s.add(Body(f"shot{i}", [ball(f"shot{i}", 0.02, mass=m, mu=0.0)], pos=(-0.12 - v * x.h * (1 + (i + 0.5) / n), i, off), v=(v, 0, 0)))
    run = x.run(s, 4 * x.h)
    # the cube turns with w = J off / I, and takes the shot along by w^2 off t at most
    w = m * v / (1 + m / M + m * off**2 / box_inertia(M, [0.1] * 3)[1]) * off / box_inertia(M, [0.1] * 3)[1]
    x.check("pushed aside [m/s]", max(abs(run.track[f"shot{i}"].v[:, 2]).max() for i in range(n)), high=w * w * 0.1 * 4 * x.h + 1e-3 * v * m / M + w * 0.02)

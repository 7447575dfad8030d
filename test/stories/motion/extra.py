"""Extra cases with certain outcomes, numbered from 33 on."""
import numpy as np

from .claims import case
from .mjcf import G, Body, Scene, ball, box, geom, hinge, quat, quat_conj, quat_mul, rotate, slide
from .story_19_22 import TILT, slide_claims, slope


# Two coplanar slabs at different yaw, one ending where the other begins: a plane.
@case(33, "seam_at_an_angle", quick=(10,), variants={"mesh": dict(mesh=True), "turned_small": dict(scale=0.2, turn=TILT)})
def seam(x, v=1.5, mu=0.15, mesh=False):
    s = Scene("33_seam", "A box slides over the seam of two slabs at different yaw: straight on.")
    # the seam runs through (0.3, 0) at 30 degrees; both slabs have an edge on it, one turned by 30 degrees and one a mesh cut along it
    a = np.radians(30)
    along, across = np.array([-np.sin(a), np.cos(a), 0]), np.array([np.cos(a), np.sin(a), 0])
    at = np.array([0.3, 0, 0])
    s.fixed(box("right", [1, 2, 0.1], pos=at + across + (0, 0, -0.1), q=quat((0, 0, 1), a), mu=mu))
    if mesh:
        top = [at + 1.5 * along, at - 1.5 * along, np.array([-2, -1.5, 0]), np.array([-2, 1.5, 0])]
        s.mesh("left", [p - (0, 0, d) for p in top for d in (0, 0.2)])
        s.fixed(geom("left", "mesh", None, mesh="left", mu=mu))
    else:
        s.fixed(box("left", [1, 2, 0.1], pos=at - across + (0, 0, -0.1), q=quat((0, 0, 1), a), mu=mu))
    s.add(Body("block", [box("block", [0.05, 0.03, 0.02], mass=0.5, mu=mu)], pos=(0, 0, 0.02), v=(v, 0, 0)))
    slide_claims(x, x.run(s, v / (mu * G) + 0.2), "block", v, mu)


# A thin disc that slides and turns: with uniform pressure sliding and turning end at the same moment (Farkas et al. 2003): as long
# as one of the two lasts, it takes the friction off the other. Its path is longer than without turning, v^2 / (2 mu g), and straight.
@case(34, "slides_and_spins", quick=(1, 10), variants={"fast_spin": dict(v=0.5, spin=40.0), "turned_large": dict(scale=10, turn=TILT)})
def slides_and_spins(x, v=1.0, spin=15.0, mu=0.2, R=0.05):
    s = Scene("34_slide_and_spin", "A disc slides and turns: both end at the same moment.")
    s.floor(mu)
    s.add(Body("disc", [geom("disc", "cylinder", [R, 0.001], mass=0.2, mu=mu)], pos=(0, 0, 0.001), v=(v, 0, 0), w=(0, 0, spin)))
    run = x.run(s, 2.5 * max(v, spin * R) / (mu * G))
    b = run.track["disc"]
    sliding = run.t[np.linalg.norm(b.v, axis=1) > 0.01 * v][-1]
    turning = run.t[np.abs(b.w[:, 2]) > 0.01 * spin][-1]
    # the two thresholds are passed at times that differ by at most a percent of the whole, and two steps
    x.check("sliding ends - turning ends [s]", abs(sliding - turning), high=0.015 * sliding + 2 * x.h)
    x.check("path / that without turning", b.x[-1, 0] / (v * v / (2 * mu * G)), low=1.02)
    # the disc is 2 mm thick: friction's moment shifts the pressure by mu times its half height, 0.4 % of R
    x.check("off the straight line [m]", np.abs(b.x[:, 1]).max(), high=0.01 * b.x[-1, 0] + 1e-4)


# A ball in a groove of 90 degrees inclined by a: it touches at 45 degrees to either side and rolls about an axis R / sqrt 2 above the two
# lines: a = g sin / (1 + 0.4 R^2 / (R^2 / 2)) = g sin / 1.8.
@case(35, "ball_in_groove", quick=(10,), variants={"steep": dict(angle=np.radians(20)), "turned_small": dict(scale=0.1, turn=TILT)})
def ball_in_groove(x, R=0.03, angle=np.radians(8)):
    s = Scene("35_groove", "A ball rolls down a groove of two inclined boxes.")
    q = quat((0, 1, 0), angle)
    for name, side in (("left", 1), ("right", -1)):
        turn = quat_mul(q, quat((1, 0, 0), side * np.pi / 4))
        s.fixed(box(name, [2, 0.1, 0.02], pos=rotate(turn, (0, side * 0.1, -0.02)), q=turn, mu=0.6))
    up, down = rotate(q, (0, 0, 1)), rotate(q, (1, 0, 0))
    s.add(Body("ball", [ball("ball", R, mass=0.2, mu=0.6)], pos=np.sqrt(2) * R * up))
    run = x.run(s, 1.0)
    b = run.track["ball"]
    x.ratio("speed after 1 s [m/s]", b.v[-1] @ down, G * np.sin(angle) / 1.8, 0.01)
    x.ratio("turning [rad/s]", b.w[-1, 1], G * np.sin(angle) / 1.8 * np.sqrt(2) / R, 0.01)
    x.check("sideways [m]", np.abs(b.x[:, 1]).max(), high=1e-4)


# A rod slides down a wall without friction: x = (L/2) sin f, f'' = k sin f with k = (m g L/2) / (m L^2/4 + I); it leaves the wall where
# x'' = 0, cos f = 2/3 cos f0, with x' = (L/2) cos f sqrt(2 k cos f0 / 3), and keeps that speed: the floor pushes upwards only.
@case(36, "rod_at_wall", quick=(10,), variants={"steep": dict(f0=0.2), "turned_small": dict(scale=0.2, turn=TILT), "box_wall": dict(ground="box")})
def rod_at_wall(x, L=0.5, r=0.01, f0=0.5, ground="plane"):
    s = Scene("36_rod", "A rod slides down a wall without friction and leaves it at two thirds of its height.")
    if ground == "plane":
        s.floor(0)
        s.floor(0, q=quat((0, 1, 0), np.pi / 2), name="wall")
    else:
        s.fixed(box("floor", [2, 1, 0.1], pos=(1.9, 0, -0.1), mu=0), box("wall", [0.1, 1, 1], pos=(-0.1, 0, 1), mu=0))
    m, I = 0.3, 0.3 * L * L / 12
    # along z of the body; leaning from the wall's top to the floor at +x
    s.add(Body("rod", [geom("rod", "capsule", [r, L / 2], mass=m, mu=0)], inertia=(m, (0, 0, 0), (I, I, 1e-5)),
               pos=(r + L / 2 * np.sin(f0), 0, r + L / 2 * np.cos(f0)), q=quat((0, 1, 0), -f0)))
    run = x.run(s, 0.9)
    k = (m * G * L / 2) / (m * L * L / 4 + I)
    c1 = 2 / 3 * np.cos(f0)
    final = L / 2 * c1 * np.sqrt(2 * k * np.cos(f0) / 3)
    b = run.track["rod"]
    x.ratio("speed after leaving [m/s]", b.v[-1, 0], final, 0.01 + 2 * x.h / np.sqrt(1 / k))
    x.check("largest loss in a step [m/s]", -np.diff(b.v[:, 0]).min(), high=2e-3 * final)
    # the wall's force falls to nothing where the upper end is at two thirds of its height; 1 % of the weight counts as nothing
    c = run.contacts
    held = c["t"][((c["geom1"] == "wall") | (c["geom2"] == "wall")) & (np.linalg.norm(c["f"], axis=1) > 0.01 * m * G)]
    top = b.point((0, 0, L / 2))[:, 2] - r
    x.ratio("upper end there [m]", np.interp(held.max() if len(held) else 0, run.t, top), c1 * L, 0.03 + 2 * x.h / np.sqrt(1 / k))


# Up a ramp and down again: (3/4) m v^2 = m g s sin: s = 3 v^2 / (4 g sin); it returns with the speed it had.
@case(37, "up_and_down", quick=(10,), variants={"ball": dict(shape="sphere"), "turned_small": dict(scale=0.1, turn=TILT), "mesh": dict(ground="mesh")})
def up_and_down(x, R=0.04, v=1.0, angle=np.radians(10), shape="cylinder", ground="box"):
    s = Scene("37_up_and_down", "A cylinder rolls up a ramp and down again.")
    down, up = slope(s, angle, ground, 0.5)
    k = 0.5 if shape == "cylinder" else 0.4
    g = geom("wheel", shape, [R, 0.05] if shape == "cylinder" else [R], mass=1, mu=0.5)
    s.add(Body("wheel", [g], pos=R * up, q=quat((1, 0, 0), np.pi / 2), v=-v * down, w=(0, -v / R, 0)))
    a = G * np.sin(angle) / (1 + k)
    run = x.run(s, 2 * v / a)
    b = run.track["wheel"]
    reach = v * v / (2 * a)
    x.check("reach [m]", -(b.x @ down).min(), near=reach, within=0.01 * reach + v * x.h / 2)
    # the run ends up to a step later than it is back
    x.ratio("speed after returning [m/s]", b.v[-1] @ down, a * run.t[-1] - v, 0.002)
    x.check("off the straight line [m]", np.abs(b.x[:, 1]).max(), high=1e-3)


# A belt (a long slab on a slide, too heavy to be slowed) runs at v under a box put down at rest: it slips for v / (mu g), falling behind by
# v^2 / (2 mu g), and is carried from then on.
@case(38, "conveyor", quick=(1, 10), variants={"static": dict(mu_s=0.7), "turned_small": dict(scale=0.2, turn=TILT), "fast": dict(v=2.0, mu=0.5)})
def conveyor(x, v=0.6, mu=0.3, mu_s=None):
    s = Scene("38_conveyor", "A box is put on a running belt.")
    s.add(Body("belt", [box("belt", [4, 0.3, 0.05], pos=(0, 0, -0.05), mass=100, mu=mu, mu_s=mu_s)], joint=slide("belt", (1, 0, 0), speed=v, armature=1e5)))
    s.add(Body("box", [box("box", [0.05, 0.05, 0.03], mass=0.5, mu=mu)], pos=(0, 0, 0.03)))
    slip = v / (mu * G)
    run = x.run(s, slip + 1.0, conserves=False)
    behind = run.track["belt"].x[:, 0] - run.track["box"].x[:, 0]
    behind -= behind[0]
    path = v * v / (2 * mu * G)
    x.check("falls behind [m]", behind[-1], near=path, within=0.01 * path + v * x.h / 2)
    x.ratio("carried at [m/s]", run.track["box"].v[-1, 0], v, 1e-4)
    late = behind[run.t > slip + 0.1]
    x.check("creeps while carried [m]", np.ptp(late), high=1e-5)


# A table on a slide, pulled so that table and two blocks on it accelerate at a < mu g together: x = a t^2 / 2, nothing slips. With the upper
# contact too slippery the upper block has mu2 g and stays behind.
@case(39, "accelerating_table", quick=(1, 10), variants={"turned_small": dict(scale=0.2, turn=TILT), "near_limit": dict(a=4.6)})
def accelerating_table(x, a=3.0, mu=0.5):
    s = Scene("39_table", "Two blocks on each other on a table that accelerates.")
    s.add(Body("table", [box("table", [2, 0.3, 0.05], pos=(0, 0, -0.05), mass=20, mu=mu)], joint=slide("table", (1, 0, 0))))
    s.motor("table", a * 22.0)
    s.add(Body("lower", [box("lower", [0.1, 0.1, 0.02], mass=1.5, mu=mu)], pos=(0, 0, 0.02)))
    s.add(Body("upper", [box("upper", [0.1, 0.1, 0.02], mass=0.5, mu=mu)], pos=(0, 0, 0.06)))
    run = x.run(s, 1.0)
    table = run.track["table"].x[:, 0] - run.track["table"].x[0, 0]
    for name in ("lower", "upper"):
        x.check(f"{name} slips [m]", np.abs(run.track[name].x[:, 0] - table).max(), high=1e-5)
    x.ratio("speed after 1 s [m/s]", run.track["upper"].v[-1, 0], a, 1e-4)


@case(39, "table_top_slips", quick=(10,), variants={"turned_small": dict(scale=0.2, turn=TILT)})
def table_top_slips(x, a=3.0, mu=0.5, mu2=0.1):
    s = Scene("39_table_slips", "The upper of two blocks on an accelerating table is slippery: it stays behind.")
    s.add(Body("table", [box("table", [2, 0.3, 0.05], pos=(0, 0, -0.05), mass=20, mu=mu)], joint=slide("table", (1, 0, 0))))
    force = a * 21.5 + mu2 * 0.5 * G  # 21.5 kg at a, and the friction of the upper block
    s.motor("table", force)
    s.add(Body("lower", [box("lower", [0.3, 0.1, 0.02], mass=1.5, mu=mu2)], pos=(0, 0, 0.02)))
    s.add(Body("upper", [box("upper", [0.02, 0.02, 0.01], mass=0.5, mu=mu2)], pos=(0, 0, 0.05)))
    run = x.run(s, 0.4)
    table = run.track["table"].x[:, 0] - run.track["table"].x[0, 0]
    x.check("lower slips [m]", np.abs(run.track["lower"].x[:, 0] - table).max(), high=1e-5)
    x.ratio("speed of the upper [m/s]", run.track["upper"].v[-1, 0], mu2 * G * 0.4, 0.005)
    x.ratio("speed of the table [m/s]", run.track["table"].v[-1, 0], a * 0.4, 0.002)


# Two free boxes strike each other: whatever the contact law, the sum of momenta and of moments of momentum is kept. The first order of
# a step may leave h times the impulse times the speed in the latter: the allowance is that of one step, h v / L.
@case(40, "two_free_boxes", quick=(1, 10), variants={"face_to_face": dict(skew=0.0), "bouncing": dict(e=0.7), "heavy_light": dict(m2=30.0), "spinning": dict(spin=20.0)})
def two_free_boxes(x, skew=0.6, e=None, m2=1.0, spin=2.0):
    s = Scene("40_two_boxes", "Two boxes strike each other without gravity.", gravity=(0, 0, 0))
    half = np.array([0.05, 0.07, 0.04])
    s.add(Body("a", [box("a", half, mass=1, mu=0.5, e=e)], pos=(-0.2, 0.01, 0), v=(2, 0.1, 0), q=quat((1, 2, 3), skew), w=np.array([1, -1, 0.5]) * spin * skew))
    s.add(Body("b", [box("b", half[::-1], mass=m2, mu=0.5)], pos=(0.2, -0.02, 0.015), v=(-1, 0, 0.1), q=quat((3, -1, 1), skew), w=np.array([0.3, 1, -1]) * spin * skew))
    run = x.run(s, 0.5)
    P, L, touched = 0, 0, len(run.contacts["t"]) > 0 and np.abs(run.contacts["f"]).max() > 0
    for name, m, d in (("a", 1.0, half), ("b", m2, half[::-1])):
        b = run.track[name]
        I = m / 3 * (np.sum(d * d) - d * d)
        local = rotate(quat_conj(b.q), b.w) * I
        P = P + m * b.v
        L = L + np.cross(b.x, m * b.v) + rotate(b.q, local)
    x.holds("they touch", touched)
    x.check("momentum kept", np.linalg.norm(P - P[0], axis=1).max() / (2 + m2), high=1e-9)
    size = 0.05 * (2 + m2)
    x.check("moment of momentum kept", np.linalg.norm(L - L[0], axis=1).max() / size, high=1e-6)


# A ball strikes a stack: nothing certain about where it ends, but laws hold: friction, energy, nothing goes into the floor.
@case(41, "stack_hit_by_ball", quick=(10,), variants={"fast": dict(v=8.0), "turned_small": dict(scale=0.1, turn=TILT)})
def stack_hit(x, n=6, v=4.0, mu=0.5):
    s = Scene("41_stack_hit", "A ball strikes a stack of boxes.")
    s.floor(mu)
    for i in range(n):
        s.add(Body(f"box_{i}", [box(f"box_{i}", [0.05, 0.05, 0.04], mass=0.3, mu=mu)], pos=(0, 0, 0.04 + 0.08 * i)))
    s.add(Body("ball", [ball("ball", 0.04, mass=0.5, mu=mu)], pos=(-0.4, 0.013, 0.3), v=(v, 0, 0.5)))
    run = x.run(s, 1.2)
    x.check("friction / (mu N)", run.friction_excess(), high=1.001)
    x.check("lowest centre [m]", min(run.track[b].x[:, 2].min() for b in run.names), low=0.04 - 1e-3)
    x.check("top moved [m]", np.linalg.norm(run.track[f"box_{n - 1}"].x[-1] - run.track[f"box_{n - 1}"].x[0]), low=0.02)


# A flap on a hinge lies on its limit; a box falls on it. The limit is rigid, the box comes to rest on the flap.
@case(42, "limit_hit_by_box", quick=(1, 10), variants={"heavy": dict(m=20.0), "turned_small": dict(scale=0.1, turn=TILT)})
def limit_hit(x, m=2.0, height=0.3):
    s = Scene("42_limit", "A box falls on a flap that lies on its joint limit.")
    s.add(Body("flap", [box("flap", [0.2, 0.1, 0.01], pos=(0.2, 0, 0), mass=0.5, mu=0.6)], joint=hinge("flap", (0, 1, 0), range=(-1.5, 0.0))))
    s.add(Body("box", [box("box", [0.05] * 3, mass=m, mu=0.6)], pos=(0.3, 0, 0.06 + height)))
    run = x.run(s, 1.5, conserves=False)  # a hinge swings: see the chain
    x.check("beyond the limit [rad]", run.joint["flap"][:, 0].max(), high=1e-3)
    late = run.t > 1.2
    x.check("box at rest [m/s]", np.linalg.norm(run.track["box"].v[late], axis=1).max(), high=1e-4)
    x.check("box on the flap [m]", np.abs(run.track["box"].x[-1, 2] - 0.06), high=5e-4)


# A sled with one runner on rough and one on smooth ground, pulled by nothing: friction turns it towards the rough side, and all
# friction stays within its bounds; its momentum falls by the sum of the frictions.
@case(43, "split_friction", quick=(10,), variants={"turned_small": dict(scale=0.2, turn=TILT)})
def split_friction(x, v=1.0, rough=0.4, smooth=0.05):
    s = Scene("43_split", "A plate slides with one half on rough and one on smooth ground: it turns to the rough side.")
    s.fixed(box("rough", [2, 0.5, 0.1], pos=(1.5, 0.5, -0.1), mu=rough), box("smooth", [2, 0.5, 0.1], pos=(1.5, -0.5, -0.1), mu=smooth))
    s.add(Body("plate", [box("plate", [0.1, 0.1, 0.005], mass=1, mu=0)], pos=(0, 0, 0.005), v=(v, 0, 0)))
    run = x.run(s, 0.05)
    b = run.track["plate"]
    # at the start: force (rough + smooth) / 2 m g, torque (rough - smooth) / 2 m g times the mean arm, 0.05
    t = run.t[-1]
    force, torque = (rough + smooth) / 2 * G, (rough - smooth) / 2 * G * 0.05
    inertia = (0.2**2 + 0.2**2) / 12
    # the turning itself is braked: its sideways speeds w x / v take mu m g <x^2> w / v; over 0.05 s the plate turns by 1 degree
    brake = (rough + smooth) / 2 * G * 0.1**2 / 3 / (inertia * v)
    x.ratio("loss of speed [m/s]", v - b.v[-1, 0], force * t, 0.02)
    x.ratio("turning [rad/s]", b.w[-1, 2], torque * t / inertia * (1 - brake * t / 2), 0.02 + x.h / (5 * t))  # friction points where the end of a step says
    x.check("friction / (mu N)", run.friction_excess(), high=1.001)


# A bar lies on two rails; statics gives both forces: N1 = m g b / (a + b).
@case(44, "bar_on_rails", quick=(1, 10), variants={"turned_large": dict(scale=10, turn=TILT), "cylinders": dict(rail="cylinder")})
def bar_on_rails(x, a=0.1, b=0.3, rail="box"):
    s = Scene("44_rails", "A bar on two rails: the forces are those of the lever.")
    for name, at in (("left", -a), ("right", b)):
        if rail == "box":
            s.fixed(box(name, [0.005, 0.1, 0.05], pos=(at, 0, -0.05), mu=0.4))
        else:
            s.fixed(geom(name, "cylinder", [0.02, 0.1], pos=(at, 0, -0.02), q=quat((1, 0, 0), np.pi / 2), mu=0.4))
    s.add(Body("bar", [box("bar", [0.4, 0.02, 0.01], mass=1, mu=0.4)], pos=(0, 0, 0.01)))
    run = x.run(s, 0.5)
    c = run.contacts
    late = c["t"] > 0.4
    for name, expected, width in (("left", G * b / (a + b), 0.005), ("right", G * a / (a + b), 0.005)):
        mine = late & ((c["geom2"] == name) | (c["geom1"] == name))
        force = np.abs(c["f"][mine][:, 2]).mean() if mine.any() else 0
        # the rails are 1 cm wide: where on them the force acts is not known to more than that
        x.ratio(f"force on the {name} rail [N]", force, expected, 2 * width / a if rail == "box" else 0.01)
    x.check("moves [m]", np.linalg.norm(run.track["bar"].x - run.track["bar"].x[0], axis=1).max(), high=1e-5)


# A wedge of angle a under a block, all without friction, the block guided upright: the block sinks with the wedge going out;
# m g = (m + M / tan^2 a) y'' for the block's y, wedge x'' = y'' / tan a.
@case(45, "wedge", quick=(10,), variants={"flat": dict(angle=np.radians(15)), "turned_small": dict(scale=0.2, turn=TILT)})
def wedge(x, angle=np.radians(30), m=1.0, M=2.0):
    s = Scene("45_wedge", "A block between guides presses a wedge away, without friction.")
    s.floor(0)
    length, tan = 1.0, np.tan(angle)
    prism = np.array([(0, 0), (length, 0), (0, length * tan)])
    c = prism.mean(0)
    s.mesh("wedge", [(p[0] - c[0], y, p[1] - c[1]) for p in prism for y in (-0.2, 0.2)])
    s.add(Body("wedge", [geom("wedge", "mesh", None, mesh="wedge", mass=M, mu=0)], pos=(c[0], 0, c[1])))
    # a ball on a vertical slide: its contact with the slope is a point whose normal is the slope's
    r, at = 0.05, 0.4
    top = (length - at) * tan + r / np.cos(angle)
    s.add(Body("ram", [ball("ram", r, mass=m, mu=0)], pos=(at, 0, top), joint=slide("ram", (0, 0, 1))))
    run = x.run(s, 0.25)
    y2 = m * G / (m + M / tan**2)
    x.ratio("ram sinks at [m/s]", -run.track["ram"].v[-1, 2], y2 * run.t[-1], 0.01)
    # the slope descends towards +x: pressed from above the wedge goes to -x
    x.ratio("wedge goes at [m/s]", -run.track["wedge"].v[-1, 0], y2 / tan * run.t[-1], 0.01)


# A capsule across a box's top, longer than it: a line contact; and on two edges of a frame: it lies still at any yaw.
@case(46, "capsule_on_frame", quick=(10,), variants={"yawed": dict(yaw=0.35), "turned_small": dict(scale=0.1, turn=TILT)})
def capsule_on_frame(x, yaw=0.0):
    s = Scene("46_capsule", "A capsule lies across two bars.")
    for name, at in (("left", -0.1), ("right", 0.15)):
        s.fixed(box(name, [0.01, 0.2, 0.03], pos=(at, 0, -0.03), mu=0.5))
    s.add(Body("capsule", [geom("capsule", "capsule", [0.02, 0.25], q=quat((0, 1, 0), np.pi / 2), mass=0.5, mu=0.5)], pos=(0, 0, 0.02), q=quat((0, 0, 1), yaw)))
    run = x.run(s, 1.0)
    b = run.track["capsule"]
    x.check("moves [m]", np.linalg.norm(b.x - b.x[0], axis=1).max(), high=1e-5)
    c = run.contacts
    late = c["t"] > 0.9
    steps = max(len(np.unique(c["t"][late])), 1)
    x.ratio("carried [N]", np.sum(c["f"][late][:, 2]) / steps, 0.5 * G, 1e-4)

"""Steady loads that must not move anything, motions with a closed form, and limits of statics where friction decides."""
import numpy as np

from .claims import case
from .mjcf import Body, Frame, G, Scene, ball, box, box_corners, geom, hinge, quat, rotate, slide, tiles
from .program import turned
from .story_19_22 import TILT

ACROSS = quat((1, 0, 0), np.pi / 2)  # a cylinder's axis along y


def rod(name, radius, half, **more):
    return geom(name, "cylinder", [radius, half], **more)


# A box is pushed at some height by half the force that tips it (F z = m g a at the limit), with friction to spare: it stands, as deep as at rest.
@case(94, "pushed_and_stands", variants={"harder": dict(share=0.9), "box_floor": dict(ground="box"), "turned_large": dict(scale=10, turn=TILT), "cube": dict(half=(0.1, 0.1, 0.1), at=0.15)})
def pushed_and_stands(x, share=0.5, half=(0.05, 0.1, 0.2), at=0.25, m=2.0, mu=5.0, ground="plane"):
    s = Scene("94_pushed", "A box is pushed by half of what would tip it.")
    if ground == "plane":
        s.floor(mu)
    else:
        s.fixed(box("floor", [1, 1, 0.1], pos=(0, 0, -0.1), mu=mu))
    s.add(Body("box", [box("box", half, mass=m, mu=mu)], pos=(0, 0, half[2])))
    F = share * m * G * half[0] / at
    run = x.run(s, 3.0, forces=[(0, "box", (F, 0, 0), (0, F * (at - half[2]), 0))])
    x.check("tilt [rad]", turned(run.track["box"].q).max(), high=1e-5)
    x.check("depth [m]", run.max_depth(), high=1e-5 * half[2])


# A box is twisted to and fro by 0.6 of what would turn it (0.3826 a mu m g for a square of side a): it stays, and does not sink.
@case(95, "twisted_to_and_fro", variants={"tall": dict(half=(0.05, 0.05, 0.15)), "turned_large": dict(scale=10, turn=TILT)})
def twisted_to_and_fro(x, share=0.6, half=(0.05, 0.05, 0.05), m=1.0, mu=0.5, rate=1.7, seconds=5.0):
    s = Scene("95_twisted", "A box is twisted to and fro by less than what turns it.")
    s.floor(mu)
    s.add(Body("box", [box("box", half, mass=m, mu=mu)], pos=(0, 0, half[2])))
    M = share * 0.3826 * 2 * half[0] * mu * m * G
    run = x.run(s, seconds, forces=[(k / (10 * rate), "box", (0, 0, 0), (0, 0, M * np.cos(2 * np.pi * k / 10))) for k in range(int(10 * rate * seconds))])
    x.check("turned [rad]", turned(run.track["box"].q).max(), high=1e-5 + 0.1 * x.h**2)
    x.check("depth [m]", run.max_depth(), high=1e-6)


# 1000 kg fall by 10 cm on 1 kg: after a second nothing is left of what the blow pressed in.
@case(96, "fallen_on_light", variants={"hundred": dict(M=100.0), "hull": dict(kind="mesh"), "small": dict(scale=0.1)})
def fallen_on_light(x, M=1000.0, drop=0.1, kind="box"):
    s = Scene("96_fallen", "A heavy cube falls on a light one.")
    s.floor(0.5)
    mesh = s.mesh("cube", box_corners([0.05] * 3)) if kind == "mesh" else None
    for name, m, z in (("light", 1.0, 0.05), ("heavy", M, 0.15 + drop)):
        s.add(Body(name, [geom(name, kind, [0.05] * 3, mesh=mesh, mass=m, mu=0.5)], pos=(0, 0, z)))
    run = x.run(s, 1.5)
    x.check("depth at the end [m]", run.max_depth(1.4), high=1e-6)


# A disc with a sharp rim, half as thick as b, rolls steadily in a circle of radius c of its centre, its axis a above the horizontal: with r from
# the centre to the rim's lowest point, (r_r, r_z) = (R sin a - b cos a, -R cos a - b sin a), the moment r x (m g z - m W^2 c e_r) turns the
# angular momentum with W: W^2 (m c (R cos a + b sin a) + A sin a cos a + C cos a (c - b cos a) / R) = m g (R sin a - b cos a). At these speeds
# the motion is stable.
@case(97, "disc_in_a_circle", variants={"thick": dict(lean=20.0, b=0.02), "smoother": dict(mu=0.3), "rougher": dict(mu=2.0), "small": dict(scale=0.1)})
def disc_in_a_circle(x, lean=10.0, R=0.1, b=0.002, c=0.5, m=1.0, mu=1.0):
    s = Scene("97_circle", "A leaning disc rolls in a circle.")
    s.floor(mu)
    a = np.radians(lean)
    sin, cos = np.sin(a), np.cos(a)
    A, C = m * R * R / 4 + m * b * b / 3, m * R * R / 2
    W = np.sqrt(m * G * (R * sin - b * cos) / (m * c * (R * cos + b * sin) + A * sin * cos + C * cos * (c - b * cos) / R))
    spin = -W * (c / R + sin - b / R * cos)  # the rim's lowest point stands still
    w = np.array([spin * cos, 0, W + spin * sin])
    s.add(Body("disc", [rod("disc", R, b, mass=m, mu=mu)], pos=(c, 0, R * cos + b * sin), q=quat((0, 1, 0), np.pi / 2 - a), v=(0, W * c, 0), w=w))
    run = x.run(s, 2 * np.pi / W, rolls=True)
    d = run.track["disc"]
    leans = np.degrees(np.arcsin(np.clip(d.axis((0, 0, 1))[:, 2], -1, 1)))
    x.check("off in lean [degrees]", np.abs(leans - lean).max(), high=0.1 + 60 * x.h)
    x.check("misses its start by / radius", np.linalg.norm(d.x[-1] - d.x[0]) / c, high=0.01 + 4 * x.h)
    x.check("depth [m]", run.max_depth(), high=1e-5 * R + 0.05 * x.h**2)  # what of the path's curvature is not foreseen


# A floor of tiles is a floor: a disc turns on them as on a plane, by w^2 (R^2/2) / (2 mu g 2R/3), also where its rim touches seams from inside.
@case(98, "disc_turns_on_tiles", variants={"between": dict(R=0.08), "large": dict(R=0.15), "turned_small": dict(scale=0.1, turn=TILT)})
def disc_turns_on_tiles(x, R=0.1, w=6.0, mu=0.3, size=0.05):
    s = Scene("98_disc_on_tiles", "A disc turns on the spot on tiles.")
    n = 2 * int(np.ceil(R / size) + 1)
    tiles(s, size, n, n, mu, x0=-n * size / 2)
    s.add(Body("disc", [rod("disc", R, 0.005, mass=1, mu=mu)], pos=(0, 0, 0.005), w=(0, 0, w)))
    way = w * w * R * 3 / (8 * mu * G)
    run = x.run(s, 2.5 * way / w)
    q = run.track["disc"].q
    x.ratio("turned [rad]", 2 * np.unwrap(np.arctan2(q[:, 3], q[:, 0]))[-1], way, 0.1)


# A wedge of angle a under a load in a guide holds if a < 2 atan mu, however heavy the load.
@case(99, "wedge_under_a_load", variants={"tons": dict(load=1000.0), "driven_out": dict(share=1.05)})
def wedge_under_a_load(x, share=0.95, mu=0.2, load=10.0, m=0.1, half=0.15, H=0.05, w=0.08):
    s = Scene("99_wedge", "A wedge carries a load in a guide.")
    s.floor(mu)
    slope = np.tan(2 * np.arctan(mu) * share)
    under = lambda p: H + (half - p) * slope  # height of the wedge's upper face at p
    for name, outline, mass, joint in (("wedge", [(-half, 0), (half, 0), (half, under(half)), (-half, under(-half))], m, "free"),
                                       ("load", [(-w, under(-w)), (w, under(w)), (w, under(-w) + 0.1), (-w, under(-w) + 0.1)], load, slide("guide", (0, 0, 1)))):
        s.mesh(name, [(p, y, z) for p, z in outline for y in (-0.1, 0.1)])
        s.add(Body(name, [geom(name, "mesh", None, mesh=name, mass=mass, mu=mu)], joint=joint))
    run = x.run(s, 0.5)
    way = np.linalg.norm(run.track["wedge"].x[-1] - run.track["wedge"].x[0])
    if share < 1:
        x.check("wedge moves [m]", way, high=1e-5)
    else:
        x.check("wedge moves [m]", way, low=1e-3)


# A ball that rolls on a turntable runs in circles, 2/7 of the table's speed, wherever and however it starts (k / (1 + k) with inertia k m R^2).
@case(100, "ball_on_turntable", quick=(1, 10), variants={"box_table": dict(table="box"), "faster": dict(W=10.0), "turned_small": dict(scale=0.1, turn=TILT)})
def ball_on_turntable(x, W=3.0, R=0.05, mu=0.8, v=(0.3, 0.1), r=0.3, table="cylinder"):
    s = Scene("100_turntable", "A ball rolls on a turntable.")
    size = [3.0, 0.1] if table == "cylinder" else [3.0, 3.0, 0.1]
    s.add(Body("table", [geom("table", table, size, pos=(0, 0, -0.1), mass=100, mu=mu)], joint=hinge("table", (0, 0, 1), speed=W, armature=1e6)))
    s.add(Body("ball", [ball("ball", R, mass=1, mu=mu)], pos=(r, 0, R), v=(*v, 0), w=((W * r - v[1]) / R, v[0] / R, 0)))
    turn = 2 / 7 * W
    run = x.run(s, 2 * np.pi / turn, conserves=False)
    b, radius = run.track["ball"], np.hypot(*v) / turn
    centre = np.array([r - v[1] / turn, v[0] / turn])
    x.check("off the circle / radius", np.abs(np.hypot(*(b.x[:, :2] - centre).T) / radius - 1).max(), high=0.01 + 2 * x.h * W)
    x.check("misses its start by / radius", np.linalg.norm(b.x[-1] - b.x[0]) / radius, high=0.01 + 2 * x.h * W)


# A table moved in circles of radius A without turning: what slides on it ends in circles of radius mu g / W^2, as friction is all that holds it there.
@case(101, "orbital_shaker", quick=(10,), variants={"carried": dict(share=0.95), "turned_small": dict(scale=0.1, turn=TILT)})
def orbital_shaker(x, A=0.1, mu=0.25, share=1.6):
    W = np.sqrt(share * mu * G / A)
    s = Scene("101_shaker", "A box on a table that is moved in circles.")
    arm = s.add(Body("arm", [box("arm", [0.01] * 3, mass=1, touch=False)], pos=(0, 0, -1), joint=hinge("arm", (0, 0, 1), speed=W, armature=1e9)))
    arm.add(Body("table", [box("table", [1, 1, 0.1], pos=(0, 0, 0.9), mass=10, mu=mu)], pos=(A, 0, 0), joint=hinge("table", (0, 0, 1), speed=-W, armature=1e9)))
    s.add(Body("box", [box("box", [0.04, 0.04, 0.005], mass=0.5, mu=mu)], pos=(A, 0, 0.005), v=(0, A * W, 0)))
    run = x.run(s, 2 * np.pi / W * (12 if share > 1 else 3), conserves=False)
    b = run.track["box"]
    if share < 1:
        x.check("slides on the table [m]", np.linalg.norm((b.x - run.track["table"].x)[:, :2] - (b.x - run.track["table"].x)[0, :2], axis=1).max(), high=1e-5 + G * x.h**2)
        return
    last = b.x[-int(round(2 * np.pi / W / x.h)):, :2]
    x.ratio("radius [m]", np.hypot(*(last - last.mean(0)).T).mean(), mu * G / W**2, 0.01 + 3 * x.h)


# A plank on two rollers that turn towards each other swings: m x'' = -mu (N1 - N2) with d/2 (N1 - N2) = -(x m g) + b mu (N1 - N2), b half its thickness.
@case(102, "plank_on_rollers", quick=(10,), variants={"thick": dict(b=0.03), "slow_rollers": dict(speed=5.0), "turned_small": dict(scale=0.1, turn=TILT)})
def plank_on_rollers(x, d=0.4, mu=0.3, b=0.005, R=0.05, speed=60.0, start=0.04):
    s = Scene("102_rollers", "A plank lies on two rollers that turn towards each other.")
    for name, side in (("left", -1), ("right", 1)):
        s.add(Body(name, [rod(name, R, 0.1, q=ACROSS, mass=1, mu=mu)], pos=(side * d / 2, 0, 0), joint=hinge(name, (0, 1, 0), speed=-side * speed, armature=1e5)))
    s.add(Body("plank", [box("plank", [1.0, 0.05, b], mass=1, mu=mu)], pos=(start, 0, R + b)))
    period = 2 * np.pi / np.sqrt(mu * G / (d / 2 - mu * b))
    run = x.run(s, 2.2 * period, conserves=False)
    at = run.track["plank"].x[:, 0]
    zero = np.flatnonzero(np.diff(np.sign(at)))
    when = run.t[zero] - at[zero] * x.h / (at[zero + 1] - at[zero])
    x.check("half swings", len(when), near=4, within=0.5)
    x.ratio("period [s]", 2 * np.diff(when).mean(), period, 0.01 + 2 * x.h)
    x.check("amplitude left", np.abs(at[-int(0.55 * period / x.h):]).max() / start, near=1, within=0.02 + 5 * x.h)


# A rod slides on its end, guided in a plane by its inertia: N = (g - l s w^2) / (1 - l^2 c (mu s - c) / k^2) with its angle's sine and cosine s, c. Below
# mu = (1 + 3 c^2) / (3 s c) that is a motion without a jump; beyond it (Painleve) the rod jams, and no energy comes of it.
@case(103, "rod_slides_on_its_end", quick=(1, 10), variants={"rough": dict(mu=0.9, seconds=0.06), "jams": dict(mu=2.0, seconds=0.3), "turned_small": dict(scale=0.1, turn=TILT)})
def rod_slides_on_its_end(x, mu=0.7, angle=60.0, L=1.0, v=2.0, seconds=0.12):
    s = Scene("103_rod", "A rod slides on its end.")
    s.floor(mu)
    start, l, inertia = np.radians(angle), L / 2, L * L / 12
    q, half = quat((0, 1, 0), start - np.pi / 2), np.array([5e-4, 0.02, l])
    low = rotate(q, box_corners(half))[:, 2].min()
    s.add(Body("rod", [box("rod", half, mu=mu)], pos=(0, 0, -low), q=q, v=(v, 0, 0), inertia=(1.0, (0, 0, 0), [1e4, inertia, 1e4])))
    run = x.run(s, seconds)
    d = run.track["rod"]
    if mu > (1 + 3 * np.cos(start)**2) / (3 * np.sin(start) * np.cos(start)):
        x.check("end in the floor [m]", -(d.x[:, 2] - l * d.axis((0, 0, 1))[:, 2]).min(), high=1e-3)
        return
    a, w, vx, n = start, 0.0, v, 20000
    for _ in range(n):
        turn = (l * np.sin(a) * mu - l * np.cos(a)) / inertia
        N = (G - l * np.sin(a) * w * w) / (1 - l * np.cos(a) * turn)
        vx, w = vx - mu * N * seconds / n, w + turn * N * seconds / n
        a += w * seconds / n
    x.check("speed [m/s]", d.v[-1, 0], near=vx, within=0.003 * v)
    x.check("turning [rad/s]", d.w[-1, 1], near=w, within=0.02 * abs(w) + 2 * x.h)


# A top that is a ball with its centre of mass off its centre: about the contact's arm r the friction has no moment, so L r stays (Jellett), while it turns over.
@case(104, "top_keeps_jelletts_constant", quick=(1, 10), variants={"rough": dict(mu=0.6), "small": dict(scale=0.1)})
def top_keeps_jelletts_constant(x, R=0.02, off=0.003, w=150.0, mu=0.3, m=0.02):
    s = Scene("104_top", "A tippe top.")
    s.floor(mu)
    A, C = 0.38 * m * R * R, 0.4 * m * R * R
    q = quat((0, 1, 0), 0.1)
    axis = rotate(q, (0, 0, 1))
    s.add(Body("top", [ball("top", R, pos=(0, 0, off), mu=mu)], pos=(0, 0, R) - off * axis, q=q, w=w * axis, inertia=(m, (0, 0, 0), [A, A, C])))
    run = x.run(s, 1.0)
    t = run.track["top"]
    axis = t.axis((0, 0, 1))
    along = np.sum(t.w * axis, 1)[:, None] * axis
    L = A * (t.w - along) + C * along
    kept = np.sum(L * (off * axis - (0, 0, R)), 1)
    x.check("constant changes by", np.abs(kept / kept[0] - 1).max(), high=0.01 + 5 * x.h)


# A stool with three small feet at distance a, equally loaded: pushed it goes at mu m g, twisted at mu m g a, and with a force beside its axis where the
# least power over all centres of rotation says.
@case(105, "stool_breaks_away", quick=(10,), variants={"goes": dict(share=1.03), "twisted": dict(arm=None), "twisted_goes": dict(arm=None, share=1.03),
                                                       "pushed_beside": dict(arm=0.35), "pushed_beside_goes": dict(arm=0.35, share=1.03)})
def stool_breaks_away(x, share=0.97, arm=0.0, a=0.3, mu=0.4, m=3.0, h=0.01):
    s = Scene("105_stool", "A stool with three feet is pushed and twisted.")
    s.floor(mu)
    angle = np.array([0, 2, 4]) * np.pi / 3 + 0.2
    feet = a * np.stack([np.cos(angle), np.sin(angle)], 1)
    s.add(Body("stool", [box("top", [0.2, 0.2, 0.002], mass=m, mu=mu)] +
               [box(f"foot_{i}", [0.003, 0.003, 0.004], pos=(*feet[i], -0.006), mass=1e-5, mu=mu) for i in range(3)], pos=(0, 0, h)))
    if arm is None:
        F, M = 0.0, mu * m * G * a
    else:
        centre = np.stack(np.meshgrid(np.linspace(-1, 1, 401), np.linspace(-3, 3, 1201)), -1)
        power = mu * m * G / 3 * sum(np.hypot(*np.moveaxis(f - centre, -1, 0)) for f in feet)
        speed = np.abs(centre[..., 1] + arm)
        F = mu * m * G if arm == 0 else (power / np.maximum(speed, 1e-9)).min()
        M = F * arm
    run = x.run(s, 0.6, forces=[(0, "stool", (share * F, 0, 0), (0, -share * F * h, share * M))])
    moved = max(np.linalg.norm(run.track["stool"].x[-1] - run.track["stool"].x[0]), a * turned(run.track["stool"].q)[-1])
    if share < 1:
        x.check("moves [m]", moved, high=1e-5 + G * x.h**2)
    else:
        x.check("moves [m]", moved, low=0.01)


# A drawer as long as L, pulled at a distance a beside its middle: it jams if a > L / (2 mu), however strongly it is pulled.
@case(106, "drawer", quick=(10,), variants={"jams": dict(share=1.04), "jams_pulled_strongly": dict(share=1.04, P=500.0), "rough": dict(mu=0.5), "turned_small": dict(scale=0.1, turn=TILT)})
def drawer(x, share=0.96, mu=0.3, half=(0.15, 0.05, 0.02), P=20.0, play=1e-5):
    s = Scene("106_drawer", "A drawer is pulled beside its middle.", gravity=(0, 0, 0))
    for side in (-1, 1):
        s.fixed(box(f"guide_{side}", [2, 0.05, 0.1], pos=(0, side * (half[1] + 0.05 + play), 0), mu=mu))
    s.add(Body("drawer", [box("drawer", half, mass=1, mu=mu)]))
    run = x.run(s, 0.5, forces=[(0, "drawer", (P, 0, 0), (0, 0, -P * share * half[0] / mu))])
    way = run.track["drawer"].x[-1, 0]
    if share < 1:  # friction takes the share of the pull
        x.ratio("way [m]", way, (1 - share) * P * 0.5**2 / 2, 0.05)
    else:
        x.check("way [m]", way, high=1e-4)


# Two logs side by side and one on top: they part if the friction between logs is below 2 - sqrt 3. Three balls and one: below sqrt 3 - sqrt 2.
@case(107, "logs", quick=(10,), variants={"part": dict(share=0.95), "balls": dict(kind="sphere"), "balls_part": dict(kind="sphere", share=0.95)})
def logs(x, share=1.05, kind="cylinder", R=0.1):
    s = Scene("107_logs", "Logs (balls) lie on each other.")
    s.floor(1.0)
    if kind == "cylinder":
        mu, at, q = 2 - np.sqrt(3), [(-R, 0, R), (R, 0, R), (0, 0, R + np.sqrt(3) * R)], ACROSS
    else:
        corner = 2 * R / np.sqrt(3) * np.exp(2j * np.pi * np.arange(3) / 3)
        mu, at, q = np.sqrt(3) - np.sqrt(2), [(c.real, c.imag, R) for c in corner] + [(0, 0, R + 2 * R * np.sqrt(2 / 3))], quat((0, 0, 1), 0)
    size = [R, 0.3] if kind == "cylinder" else [R]
    for i, p in enumerate(at):
        s.add(Body(f"log_{i}", [geom(f"log_{i}", kind, size, mass=2, mu=share * mu)], pos=p, q=q))
    run = x.run(s, 1.0)
    top = run.track[f"log_{len(at) - 1}"]
    if share > 1:
        x.check("top log moves [m]", np.linalg.norm(top.x[-1] - top.x[0]), high=1e-5)
    else:
        x.check("top log sinks [m]", top.x[0, 2] - top.x[-1, 2], low=0.02)


# A nut (a cylinder) between two jaws on hinges: it stays if the jaws' half angle is below atan mu, however hard they press.
@case(108, "nutcracker", quick=(10,), variants={"slips_out": dict(share=1.05), "strong": dict(torque=200.0), "turned_small": dict(scale=0.1, turn=TILT)})
def nutcracker(x, share=0.95, mu=0.3, torque=2.0, R=0.04):
    s = Scene("108_nut", "A nut between two jaws.", gravity=(0, 0, 0))
    b = share * np.arctan(mu)
    at = R / np.sin(b)
    s.add(Body("nut", [rod("nut", R, 0.05, mass=0.2, mu=mu)], pos=(at, 0, 0), q=ACROSS))
    for side in (1, -1):  # the jaws begin beside the hinge, so that they do not touch each other
        jaw = box(f"jaw_{side}", [at / 4, 0.06, 0.01], pos=(at, 0, side * 0.01), mass=0.5, mu=mu)
        s.add(Body(f"jaw_{side}", [jaw], q=quat((0, 1, 0), -side * b), joint=hinge(f"jaw_{side}", (0, 1, 0))))
        s.motor(f"jaw_{side}", side * torque)
    run = x.run(s, 0.5)
    way = run.track["nut"].x[-1, 0] - at
    if share < 1:
        x.check("nut moves [m]", abs(way), high=1e-4 + 50 * torque * x.h**2)
    else:
        x.check("nut moves [m]", way, low=3e-3)


# A cylinder lies on two edges along it. Whichever way the whole scene is turned, it lies there, and no force has a part along the edges' own
# direction but friction.
@case(109, "cylinder_on_edges", variants={"capsule": dict(kind="capsule")})
def cylinder_on_edges(x, kind="cylinder", R=0.1, apart=0.12, turns=24):
    s = Scene("109_edges", "A cylinder lies on two edges.")
    for side in (-1, 1):
        s.fixed(box(f"edge_{side}", [0.05, 0.5, 0.05], pos=(side * (0.05 + apart / 2), 0, -0.05), mu=0.5))
    s.add(Body("body", [geom("body", kind, [R, 0.1], mass=1, mu=0.5)], pos=(0, 0, np.sqrt(R**2 - apart**2 / 4)), q=ACROSS))
    rng = np.random.default_rng(0)
    moved, depth, along = [], [], []
    for _ in range(turns):
        turn = rng.normal(size=4)
        x.frame = Frame(turn / np.linalg.norm(turn))
        run = x.run(s, 20 * x.h)
        moved.append(np.linalg.norm(run.track["body"].x - run.track["body"].x[0], axis=1).max())
        depth.append(run.max_depth())
        along.append(np.abs(run.contacts["n"][:, 1]).max())
    x.check("moves [m]", max(moved), high=1e-5)
    x.check("depth [m]", max(depth), high=1e-6)
    x.check("normals along the edges", max(along), high=1e-6)

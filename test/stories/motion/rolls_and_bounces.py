"""Rolling on round bodies and rebounds of all kinds, numbered from 60 on: closed forms at every step."""
import numpy as np

from .claims import case
from .mjcf import G, Body, Scene, ball, box, geom, quat, slide
from .story_19_22 import TILT


def swing_claims(x, run, name, w, kept):
    """Period and amplitude of a body that rocks about y. Coordinates and velocities are half a step apart: what such a motion keeps is
    not its energy but E - (h/2) times its rate, so that the swing varies by (w h)^2 / 8 and the period by (w h)^2 / 24."""
    lean = np.arcsin(-run.track[name].axis((1, 0, 0))[:, 2])
    cross = np.nonzero(np.diff(np.sign(lean)))[0]
    if len(cross) < 6:
        return x.check("swings through", len(cross), low=6)
    times = run.t[cross] + (run.t[cross + 1] - run.t[cross]) * lean[cross] / (lean[cross] - lean[cross + 1])
    swing = np.abs(lean).max()
    # a swing of 0.1 rad changes the period by less than 0.5 %
    x.ratio("period [s]", 2 * (times[-1] - times[1]) / (len(times) - 2), 2 * np.pi / w, 0.005 + (w * x.h)**2 / 24)
    late = np.abs(lean[run.t > run.t[-1] - 2 * np.pi / w]).max()
    x.check("share of the swing left", late / swing, low=kept, high=1.001 + (w * x.h)**2 / 8)


# A plank of half thickness c on a log of radius R: raised by the angle f it rolls off by R f, so that its centre is at the height
# R cos f + R f sin f + c cos f: m g (R - c) f against I + m c^2.
@case(60, "plank_on_log", quick=(10,), variants={"thick": dict(c=0.05, R=0.12, rate=0.3), "turned_small": dict(scale=0.1, turn=TILT)})
def plank_on_log(x, L=0.3, c=0.02, R=0.2, rate=0.6):
    s = Scene("60_plank", "A plank rocks on a log with the period of its height, and goes on.")
    s.fixed(geom("log", "cylinder", [R, 0.3], pos=(0, 0, -R), q=quat((1, 0, 0), np.pi / 2), mu=0.8))
    s.add(Body("plank", [box("plank", [L, 0.05, c], mass=0.3, mu=0.8)], pos=(0, 0, c), w=(0, rate, 0), v=(rate * c, 0, 0)))
    w = np.sqrt(G * (R - c) / ((L * L + c * c) / 3 + c * c))
    swing_claims(x, x.run(s, 8.0), "plank", w, 0.97)


# An egg on a dome: its lowest point has the curvature radius p = a^2 / c, the dome R. Rolling by f moves the contact by f p R / (p + R)
# across, c below the centre: m g (p R / (p + R) - c) f against I + m c^2, and the egg turns by 1 + ... of what its normal does.
@case(61, "egg_on_dome", quick=(10,), variants={"ground": dict(R=None), "capsule_dome": dict(dome="capsule"), "turned_small": dict(scale=0.1, turn=TILT)})
def egg_on_dome(x, a=0.06, c=0.03, R=0.5, rate=0.6, dome="sphere"):
    s = Scene("61_egg", "An egg rocks on a dome with the period of the two curvatures, and goes on.")
    if R is None:
        s.floor(0.8)
    elif dome == "sphere":
        s.fixed(ball("dome", R, pos=(0, 0, -R), mu=0.8))
    else:
        s.fixed(geom("dome", "capsule", [R, 0.3], pos=(0, 0, -R), q=quat((1, 0, 0), np.pi / 2), mu=0.8))
    p = a * a / c
    s.add(Body("egg", [geom("egg", "ellipsoid", [a, 0.05, c], mass=0.3, mu=0.8)], pos=(0, 0, c), w=(0, rate, 0), v=(rate * c, 0, 0)))
    across = p if R is None else p * R / (p + R)
    w = np.sqrt(G * (across - c) / ((a * a + c * c) / 5 + c * c))
    swing_claims(x, x.run(s, 4.0), "egg", w, 0.97)


# A ball that spins strikes the floor: friction takes mu (1 + e) u from the velocity of its lowest point and ends when that is zero,
# after 2/7 of R w. From there on it flies.
@case(62, "spin_bounce", quick=(1, 10), variants={"slides": dict(spin=90.0, mu=0.1), "bouncy": dict(e=1.0), "box_floor": dict(ground="box"), "turned_small": dict(scale=0.1, turn=TILT)})
def spin_bounce(x, spin=30.0, mu=0.6, e=0.8, R=0.05, height=0.3, ground="plane"):
    s = Scene("62_spin_bounce", "A spinning ball is dropped: the floor turns its spin into speed.")
    if ground == "plane":
        s.floor(mu)
    else:
        s.fixed(box("floor", [1, 1, 0.1], pos=(0, 0, -0.1), mu=mu))
    s.add(Body("ball", [ball("ball", R, mass=0.3, mu=mu, e=e)], pos=(0, 0, R + height), w=(0, spin, 0)))
    strikes = np.sqrt(2 * height / G)
    u = G * strikes
    run = x.run(s, strikes + 1.9 * e * u / G)
    b, flight = run.track["ball"], run.t[-1] - strikes
    v = min(mu * (1 + e) * u, 2 / 7 * R * spin)
    # friction gives way by a thousandth of the velocity it acts on
    x.ratio("speed [m/s]", b.v[-1, 0], v, 1e-3)
    x.ratio("way [m]", b.x[-1, 0], v * flight, 1e-3)
    x.ratio("spin [rad/s]", b.w[-1, 1], spin - 2.5 * v / R, 1e-3)
    x.check("height [m]", b.x[-1, 2] - R, near=e * u * flight - G * flight**2 / 2, within=1e-4 * height)


# Against a plate that comes up at v, driven or very heavy, a ball at u leaves with v + e (u + v).
@case(63, "moving_plate", quick=(10,), variants={"heavy_and_free": dict(driven=False), "elastic": dict(e=1.0), "flees": dict(v=-0.4), "turned_small": dict(scale=0.1, turn=TILT)})
def moving_plate(x, v=0.5, u=1.0, e=0.7, driven=True):
    s = Scene("63_plate", "A ball meets a moving plate.", gravity=(0, 0, 0))
    plate = box("plate", [0.3, 0.3, 0.02], mass=1 if driven else 1e6, mu=0.5, e=e)
    s.add(Body("plate", [plate], joint=slide("plate", (0, 0, 1), speed=v, armature=1e6)) if driven else Body("plate", [plate], v=(0, 0, v)))
    s.add(Body("ball", [ball("ball", 0.05, mass=0.3, mu=0.5, e=e)], pos=(0, 0, 0.5), v=(0, 0, -u)))
    meet = 0.43 / (u + v)
    run = x.run(s, 2 * meet, conserves=False)
    b, leaves = run.track["ball"], v + e * (u + v)
    x.check("speed [m/s]", b.v[-1, 2], near=leaves, within=1e-4 * (u + v))
    x.check("height [m]", b.x[-1, 2], near=0.5 - u * meet + leaves * (run.t[-1] - meet), within=1e-4)


# Newton's cradle with room between its balls: all that comes in at one end goes out at the other. With unequal masses each impact
# passes 2 m1 / (m1 + m2) of the velocity on.
@case(64, "cradle", quick=(1, 10), variants={"narrow": dict(gap=1e-4), "seven": dict(n=7), "growing": dict(ratio=1.5), "turned_small": dict(scale=0.1, turn=TILT)})
def cradle(x, n=5, gap=0.01, R=0.03, v=1.0, ratio=1.0):
    s = Scene("64_cradle", "Newton's cradle: what comes in at one end goes out at the other.", gravity=(0, 0, 0))
    m = 0.2 * ratio ** np.arange(n)
    for i in range(n):
        s.add(Body(f"ball_{i}", [ball(f"ball_{i}", R, mass=m[i], mu=0, e=1.0)], pos=(i * (2 * R + gap) - (0.1 if i == 0 else 0), 0, 0), v=(v if i == 0 else 0, 0, 0)))
    expected, speed = np.zeros(n), v
    for i in range(n - 1):
        expected[i], speed = speed * (m[i] - m[i + 1]) / (m[i] + m[i + 1]), speed * 2 * m[i] / (m[i] + m[i + 1])
    expected[-1] = speed
    run = x.run(s, 0.1 / v + 4 * n * gap / v + 0.05)
    end = np.array([run.track[f"ball_{i}"].v[-1, 0] for i in range(n)])
    x.check("off the velocities of a cradle [m/s]", np.abs(end - expected).max(), high=1e-3 * v)
    momentum = sum(m[i] * run.track[f"ball_{i}"].v[:, 0] for i in range(n))
    x.check("momentum kept", np.abs(momentum / (m[0] * v) - 1).max(), high=1e-10)


# A small ball dropped close above a large one: the large one leaves the floor with u and meets the small one at 2 u.
@case(65, "ball_on_ball", quick=(10,), variants={"light": dict(m=1e-4), "not_elastic": dict(e=0.7)})
def ball_on_ball(x, R=0.1, r=0.03, M=5.0, m=0.01, height=0.4, gap=1e-3, e=1.0):
    s = Scene("65_ball_on_ball", "A small ball on a large one is thrown up at almost three times its speed.")
    s.floor(0)
    s.add(Body("large", [ball("large", R, mass=M, mu=0, e=e)], pos=(0, 0, R + height)))
    s.add(Body("small", [ball("small", r, mass=m, mu=0, e=e)], pos=(0, 0, 2 * R + r + height + gap)))
    u = np.sqrt(2 * G * height)
    run = x.run(s, u / G + 0.12)
    b = run.track["small"]
    thrown = (M * e * u - m * u + e * M * (1 + e) * u) / (M + m)
    start = np.sqrt(b.v[-1, 2]**2 + 2 * G * (b.x[-1, 2] - 2 * R - r))
    # where both impacts fall into one step, the second is seen a step late
    x.ratio("thrown up at [m/s]", start, thrown, 0.02)


# A box that tumbles and rebounds: chaos, but laws hold. Where a corner strikes while others follow in the same step, the rebound may
# be lowered, never its energy raised, and no corner is let in by more than 5 % of the way of a step.
@case(66, "tumbling_box", quick=(1, 10), variants={"elastic": dict(e=1.0), "flat": dict(half=(0.08, 0.06, 0.01)), "rod": dict(half=(0.1, 0.01, 0.01)), "rough": dict(mu=1.5)})
def tumbling_box(x, e=0.8, mu=0.4, half=(0.05, 0.07, 0.04)):
    s = Scene("66_box", "A box tumbles over the floor and rebounds.")
    s.floor(mu)
    s.add(Body("box", [box("box", half, mass=0.3, mu=mu, e=e)], pos=(0, 0, 0.5), q=quat((1, 2, 3), 0.7), w=(1, 2, 3), v=(0.5, 0, 0)))
    run = x.run(s, 4.0)
    x.check("deepest corner [m]", run.max_depth(), high=0.02 * min(half) + 0.05 * np.sqrt(2 * G * 0.5) * x.h)
    x.check("friction / (mu N)", run.friction_excess(), high=1.001)
    if e < 0.9:
        x.check("at rest after 4 s [m/s]", np.linalg.norm(run.track["box"].v[-1]), high=1e-4)

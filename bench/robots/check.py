#!/usr/bin/env python3
"""Does abut read and run the models people have? For every MJCF and URDF file below a folder, one subfolder per package
(collection.py fetches public ones): is it loaded, and by MuJoCo and Bullet, too; are the compiled numbers MuJoCo's; do two seconds from
the initial pose and from every keyframe break down or explode, and in MuJoCo, too; is the motion without contact MuJoCo's.

  check.py ABUT DIR [--out FILE.jsonl] [--only TEXT] [--time S] [--table] [--list]
One line of JSON per model goes to FILE; what stands there already is not done again. --table: only the table of FILE.
--list: behind the table whatever falls short, by name.
Needs python3 with `mujoco` and `numpy`; with `pybullet` also URDFs that only Bullet reads count."""
import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile

import collection
import peer
import verdict

LOAD_LIMIT, RUN_LIMIT = 60, 300  # s of wall time
MOTION_TIME, MOTION_STEP = 0.2, 5e-4  # s
BIG = 200  # velocities: larger models are loaded and compared, not run


def abut(options, arguments, limit):
    try:
        done = subprocess.run([options.abut, *arguments], capture_output=True, text=True, errors="replace", timeout=limit)
        return done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired:
        return "slow", "", ""


def load(options, file):
    """result, what is said, numbers"""
    code, out, err = abut(options, ["info", "--json", file], LOAD_LIMIT)
    said = [line for line in err.splitlines() if line.strip() and "warning:" not in line]
    if code == 0:
        return "loads", "", json.loads(out)
    if code == 2:
        return "refused", " | ".join(said), None
    return ("slow" if code == "slow" else "crash" if code < 0 else f"exit {code}"), " | ".join(said[-1:]), None


def run(options, file, key):
    """ok, breaks (exit code 3), explodes (energy from nowhere), slow, or what else; with what abut says of it"""
    arguments = ["run", file, "--time", repr(options.time), "--json", "--quiet"] + (["--key", key] if key else [])
    code, out, err = abut(options, arguments, RUN_LIMIT)
    if code == "slow":
        return dict(result="slow")
    if code not in (0, 3):
        return dict(result=f"exit {code}", said=err.strip()[-200:])
    said = json.loads(out)
    gain, begin = said["energy"]["max_gain"], said["energy"]["initial"]
    calm = gain is not None and begin is not None and gain < 1e3 + 100 * abs(begin)
    result = "breaks" if code == 3 else "ok" if calm else "explodes"
    return dict(result=result, unconverged=said["unconverged_steps"], steps=said["steps"], residual=said["max_residual"],
                penetration=said["max_penetration"], equality=said["equality_error"], gain=gain, said=said["failure"])


def runs(options, mujoco, file, found, theirs):
    """From the initial pose and every keyframe; where abut fails, MuJoCo is asked, too."""
    out = []
    for i, key in enumerate([None] + [k["name"] for k in found["keys"]]):
        done = dict(key=key or "", **run(options, file, key))
        if done["result"] != "ok" and theirs["ok"]:
            answer = mujoco.ask(dict(ask="run", file=file, time=options.time, key=i - 1), RUN_LIMIT)
            done["mujoco"] = (answer["bad"] or "ok") if answer["ok"] else answer["error"]
        out.append(done)
    return out


def without_contact(file, kind, state):
    """A file beside the model: the same in another state, integrated by RK4, without contacts, limits, dry friction and
    equalities, which are soft in MuJoCo."""
    name = os.path.join(os.path.dirname(file), collection.OURS + os.path.basename(file))
    option = '<option integrator="RK4"><flag contact="disable" limit="disable" frictionloss="disable" equality="disable"/></option>'
    if kind == "mjcf":
        text = (f'<mujoco><include file="{os.path.basename(file)}"/>{option}'
                f'<keyframe><key name="abut_check" {state}/></keyframe></mujoco>\n')
    else:
        with open(file, errors="replace") as f:
            text = f.read()
        head = re.search(r"<robot\b[^>]*>", text)
        if "<mujoco" in text or not head:
            return None
        text = f'{text[:head.end()]}<mujoco><compiler fusestatic="false"/>{option}</mujoco>{text[head.end():]}'
    with open(name, "w") as f:
        f.write(text)
    return name


def last_poses(folder):
    """name -> centre of mass at the start and at the end; names that occur twice are left out"""
    start, end, twice, moment = {}, {}, set(), None
    with open(os.path.join(folder, "bodies.csv")) as f:
        next(f)
        for line in f:
            time, name, *x = line.split(",")[:5]
            if time != moment:
                moment, end = time, {}
            if name in end:
                twice.add(name)
            end[name] = [float(c) for c in x]
            if float(time) == 0:
                start[name] = end[name]
    return [{n: x for n, x in p.items() if n not in twice} for p in (start, end)]


def farthest(mine, theirs, names, mass):
    """Largest distance of two centres of mass of the same name, and whose."""
    where = {n: i for i, n in enumerate(names) if mass[i] > 0 and names.count(n) == 1}
    return max([(math.dist(x, theirs[where[n]]), n) for n, x in mine.items() if n in where] or [(0, "")])


def compare_motion(options, mujoco, own, key, step):
    """start, end, body; or a note"""
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["run", own, "--time", repr(MOTION_TIME), "--step", repr(step), "--csv", folder, "--quiet",
                     "--every", repr(round(MOTION_TIME / step))] + (["--key", key] if key else [])
        code, _, err = abut(options, arguments, RUN_LIMIT)
        answer = mujoco.ask(dict(ask="run", file=own, key=key, time=MOTION_TIME, step=step), RUN_LIMIT)
        if code != 0 or not answer["ok"] or answer["bad"]:
            return dict(note=f"abut: {code} {err.strip()[-200:]}; MuJoCo: {answer.get('error') or answer.get('bad')}"), answer
        start, end = last_poses(folder)
    bodies = answer["names"], answer["mass"]
    far, body = farthest(end, answer["end"], *bodies)
    return dict(start=farthest(start, answer["start"], *bodies)[0], end=far, body=body), answer


def motion(options, mujoco, file, kind):
    """Largest distance of a centre of mass from where MuJoCo has it, at the start and after MOTION_TIME. Where it is not small: the same
    with a fifth of the step (the errors of RK4 are not the same in other coordinates), and how far MuJoCo's own motion gets from
    itself by a nudge of rounding's size, since RK4 may be unstable for stiff servos."""
    state = mujoco.ask(dict(ask="random_state", file=file))
    own = without_contact(file, kind, state.get("state", "")) if state["ok"] else None
    if not own:
        return dict(note="not compared")
    key = "abut_check" if kind == "mjcf" else ""
    try:
        for step in (MOTION_STEP, MOTION_STEP / 20):  # the second for what is too stiff for the first
            out, answer = compare_motion(options, mujoco, own, key, step)
            if "note" in out:
                continue
            if not out["end"] <= verdict.CLOSE:
                out["fine"] = compare_motion(options, mujoco, own, key, step / 5)[0].get("end")
                nudged = mujoco.ask(dict(ask="run", file=own, key=key, nudge=1e-13, time=MOTION_TIME, step=step), RUN_LIMIT)
                theirs = dict(zip(answer["names"], nudged["end"])) if nudged["ok"] else {}
                out["spread"] = farthest(theirs, answer["end"], answer["names"], answer["mass"])[0]
            break
        return out
    finally:
        os.remove(own)


def check(options, mujoco, bullet, package, path, file, kind):
    theirs = mujoco.ask(dict(ask="numbers", file=file))
    row = dict(package=package, path=path, kind=kind, mujoco=theirs["ok"], nv=theirs.get("nv"), theirs=theirs.get("error", ""))
    row["bullet"] = bool(bullet and kind == "urdf" and bullet.ask(dict(ask="numbers", file=file))["ok"])
    row["abut"], row["said"], found = load(options, file)
    if not found:
        return row
    row["nv"] = found["nv"] if row["nv"] is None else row["nv"]
    if theirs["ok"]:
        row["differ"] = verdict.differences(found, theirs, kind)
    if 0 < found["nv"] <= BIG:
        row["runs"] = runs(options, mujoco, file, found, theirs)
        if theirs["ok"]:
            row["motion"] = motion(options, mujoco, file, kind)
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("abut")
    parser.add_argument("dir")
    parser.add_argument("--out", default="robots.jsonl")
    parser.add_argument("--only", default="")
    parser.add_argument("--time", type=float, default=2)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    options.abut = os.path.abspath(options.abut)
    rows = []
    if os.path.exists(options.out):
        with open(options.out) as f:
            rows = [json.loads(line) for line in f]
    done = {(r["package"], r["path"]) for r in rows}
    if not options.table:
        mujoco = peer.Peer("mujoco")
        bullet = peer.Peer("bullet") if subprocess.run([sys.executable, "-c", "import pybullet"], capture_output=True).returncode == 0 else None
        with open(options.out, "a") as out:
            for model in collection.files(os.path.abspath(options.dir), options.only):
                if model[:2] in done:
                    continue
                row = check(options, mujoco, bullet, *model)
                print(json.dumps(row), file=out, flush=True)
                print(f"{row['package']}/{row['path']}: {row['abut']}", *[r["result"] for r in row.get("runs", [])], file=sys.stderr, flush=True)
                rows.append(row)
    rows = [r for r in rows if options.only in r["package"] + "/" + r["path"]]
    sys.exit(verdict.table(rows, options.list))


if __name__ == "__main__":
    main()

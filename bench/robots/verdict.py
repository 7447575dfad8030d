"""The table of check.py, and what makes two compiled models differ."""
import collections

CLOSE = 1e-9  # m: motion without contact
FLOAT = 1e-7  # m: centres of mass of MuJoCo's meshes, whose corners are floats


def near(a, b, relative, absolute):
    if isinstance(a, list):
        return len(a) == len(b) and all(near(x, y, relative, absolute) for x, y in zip(a, b))
    if isinstance(a, (str, bool)) or isinstance(b, (str, bool)):
        return a == b
    return abs(a - b) <= absolute + relative * max(abs(a), abs(b))


def silent(kind, field, mine, theirs, limits):
    """Numbers that say nothing: they may differ. limits: joints limit their actuators' forces, which is a limit of the actuator here."""
    round_joint = mine.get("type") in ("free", "ball")
    return (kind == "bodies" and field in ("com", "inertia") and mine["mass"] == 0
            or kind == "joints" and field in ("axis", "pos") and round_joint
            or kind == "joints" and field == "frictionloss" and mine.get(field) is None
            or kind in ("joints", "tendons") and field == "range" and not (mine["limited"] and theirs["limited"])
            or kind == "geoms" and field in ("size", "pos") and mine["type"] == "mesh"  # MuJoCo turns meshes to their axes
            or kind == "geoms" and field == "size" and mine["type"] == "plane"
            or kind == "actuators" and field == "joint" and mine["drives"] != "joint"
            or kind == "actuators" and field.startswith("force_") and limits
            or kind == "actuators" and field.endswith("_range") and not theirs[field.replace("range", "limited")])


def same(kind, field, mine, theirs):
    x, y = mine.get(field), theirs[field]
    if field == "inertia":
        x = sorted(x)
    if kind == "bodies" and field == "quat" and near([-c for c in x], y, 1e-5, 1e-9):
        return True
    if kind == "geoms" and field == "size":
        used = {"sphere": 1, "capsule": 2, "cylinder": 2}.get(mine["type"], 3)
        x, y = x[:used], y[:used]
    relative = 1e-4 if field in ("inertia", "com", "mass") else 1e-5
    return x is not None and near(x, y, relative, 1e-6 if field == "com" else 1e-9)


def differences(mine, theirs, kind):
    """What differs, the first of each field. MuJoCo joins what is fixed to each other in URDFs: there only sums are compared."""
    out = [f"{n} {mine[n]} for {theirs[n]}" for n in ("nq", "nv") if mine[n] != theirs[n]]
    mass = sum(b["mass"] for b in mine["bodies"] if b["mover"] >= 0)
    if not near(mass, theirs["moving_mass"], 1e-4, 1e-10):
        out.append(f"moving mass {mass:.6g} for {theirs['moving_mass']:.6g}")
    if kind == "urdf":
        return out
    for name in ("gravity", "timestep"):
        if not near(mine[name], theirs[name], 1e-9, 1e-12):
            out.append(f"{name} {mine[name]} for {theirs[name]}")
    still = "free" not in [j["type"] for j in mine["joints"]]  # else a key's velocities are those of centres of mass here
    for table in ("bodies", "joints", "geoms", "actuators", "tendons", "equalities", "keys"):
        a, b = mine[table], theirs[table]
        if len(a) != len(b):
            out.append(f"{table}: {len(a)} for {len(b)}")
            continue
        wrong = {}
        for i in range(table == "bodies", len(a)):
            for field in b[i]:
                if table == "keys" and field == "v" and not still:
                    continue
                if field not in wrong and not silent(table, field, a[i], b[i], theirs["joint_force_limits"]) and not same(table, field, a[i], b[i]):
                    wrong[field] = f"{table}[{i}].{field} {a[i].get(field)} for {b[i][field]}"
        out += wrong.values()
    return out


def share(part, whole):
    return f"{len(part)} of {len(whole)}" + (f" ({100 * len(part) / len(whole):.1f} %)" if whole else "")


def agrees(motion):
    """To CLOSE; or with a fifth of the step; or as well as MuJoCo with itself; or as well as at the start, where meshes are rounded."""
    bound = CLOSE + 10 * motion.get("spread", 0) + (2 * motion["start"] if motion["start"] < FLOAT else 0)
    return motion["end"] <= bound or (motion.get("fine") or 1) <= CLOSE


def name(row):
    return row["package"] + "/" + row["path"]


def table(rows, everything=False):
    """Prints it; 1 if something falls short that MuJoCo can."""
    lists = collections.defaultdict(list)
    for kind in ("mjcf", "urdf"):
        rows_of = [r for r in rows if r["kind"] == kind]
        peers = [r for r in rows_of if (r["mujoco"] or r["bullet"]) and (r["nv"] is None or r["nv"] > 0)]
        loaded = [r for r in peers if r["abut"] == "loads"]
        print(f"{kind}: {len(rows_of)} files; of those that move and MuJoCo{' or Bullet' if kind == 'urdf' else ''} loads, loaded: {share(loaded, peers)}")
        lists["not loaded"] += [f"{name(r)}: {r['said']}" for r in peers if r["abut"] == "refused"]
        lists["crashed or too slow to load"] += [f"{name(r)}: {r['abut']} {r['said']}" for r in rows_of if r["abut"] not in ("loads", "refused")]
        compared = [r for r in rows_of if "differ" in r]
        differ = [r for r in compared if r["differ"]]
        print(f"  compiled numbers differ: {share(differ, compared)}")
        lists["numbers differ"] += [f"{name(r)}: {'; '.join(r['differ'])}" for r in differ]
        runs = [(r, x) for r in rows_of for x in r.get("runs", [])]
        count = collections.Counter(x["result"] for _, x in runs)
        print(f"  runs: {len(runs)} from the initial pose and keyframes: {dict(count)}; "
              f"with unconverged steps {sum(x.get('unconverged', 0) > 0 for _, x in runs)}")
        for r, x in runs:
            if x["result"] != "ok":
                theirs = x.get("mujoco", "does not load")
                where = "run fails" if theirs in ("ok", "does not load") else "run fails, MuJoCo's, too"
                lists[where].append(f"{name(r)} {x['key']}: {x['result']}; MuJoCo: {theirs}; {x.get('said') or ''}")
            elif x["unconverged"]:
                lists["unconverged"].append(f"{name(r)} {x['key']}: {x['unconverged']} of {x['steps']}, {x['residual']:.1e}")
        moved = [r for r in rows_of if "end" in r.get("motion", {})]
        far = [r for r in moved if not agrees(r["motion"])]
        print(f"  motion without contact: compared {len(moved)}, farther than {CLOSE:g} m: {len(far)}")
        lists["motion differs"] += [f"{name(r)}: {r['motion']['start']:.1e} {r['motion']['end']:.1e} {r['motion']['body']}" for r in far]
        lists["motion whose difference is that of the start, goes with the step, or is what a nudge of 1e-13 makes of it"] += [
            f"{name(r)}: start {r['motion']['start']:.1e}, end {r['motion']['end']:.1e}, a fifth of the step {r['motion'].get('fine') or 0:.1e}, "
            f"by the nudge {r['motion']['spread']:.1e}"
            for r in moved if "spread" in r["motion"] and r not in far]
        lists["motion not compared"] += [f"{name(r)}: {r['motion']['note']}" for r in rows_of if "note" in r.get("motion", {})]
    for title in ("crashed or too slow to load", "run fails", "run fails, MuJoCo's, too"):
        print(f"{title}: {len(lists[title])}")
    if everything:
        for title, lines in lists.items():
            print(f"\n{title}: {len(lines)}", *lines, sep="\n  ")
    return int(bool(lists["run fails"] or lists["crashed or too slow to load"]))

"""Scenes that need a newer MuJoCo than Debian's: scenes/check/newer/NAME.json holds what MuJoCo compiles NAME.xml to, and
`abut info --json` must say the same, field by field, of the scene and of what `abut convert` makes of it.

  newer.py ABUT             compares; where the Python package mujoco is installed, also the stored numbers with it
  newer.py ABUT --write     stores the numbers of the installed mujoco"""
import glob, json, os, subprocess, sys, tempfile

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scenes", "check", "newer")


def compiled_by_mujoco(path):
    import mujoco as mj
    m = mj.MjModel.from_xml_path(path)
    rows = lambda x: [[float(v) for v in r] for r in x]
    flat = lambda x: [float(v) for v in x]
    quats = lambda x: rows(x)
    disabled = lambda bit: bool(m.opt.disableflags & bit)
    off = mj.mjtDisableBit
    joints = dict(type=[("free", "ball", "slide", "hinge")[t] for t in m.jnt_type],
                  limited=[bool(x) and not disabled(off.mjDSBL_LIMIT) for x in m.jnt_limited], range=rows(m.jnt_range),
                  damping=flat(m.dof_damping[m.jnt_dofadr]), armature=flat(m.dof_armature[m.jnt_dofadr]),
                  frictionloss=[0.0 if disabled(off.mjDSBL_FRICTIONLOSS) else float(x) for x in m.dof_frictionloss[m.jnt_dofadr]])
    named = lambda count, get: [get(i).name for i in range(count)]
    bodies = dict(name=named(m.nbody, m.body), mass=flat(m.body_mass), com=rows(m.body_ipos), inertia=[sorted(r, reverse=True) for r in rows(m.body_inertia)],
                  weld=[int(x) for x in m.body_weldid], mocap=[int(x) for x in m.body_mocapid], pos=rows(m.body_pos))
    geoms = dict(margin=flat(m.geom_margin), gap=flat(m.geom_gap), condim=[int(x) for x in m.geom_condim])
    sites = dict(body=[int(x) for x in m.site_bodyid], pos=rows(m.site_pos), quat=quats(m.site_quat))
    tendons = dict(limited=[bool(x) and not disabled(off.mjDSBL_LIMIT) for x in m.tendon_limited], range=rows(m.tendon_range), armature=flat(m.tendon_armature),
                   springlength=rows(m.tendon_lengthspring), length0=flat(m.tendon_length0), force_limited=[bool(x) for x in m.tendon_actfrclimited],
                   force_range=rows(m.tendon_actfrcrange),
                   joints=[[int(x) for x in m.wrap_objid[a:a + n]] for a, n in zip(m.tendon_adr, m.tendon_num)],
                   coef=[flat(m.wrap_prm[a:a + n]) for a, n in zip(m.tendon_adr, m.tendon_num)])
    drives = {mj.mjtTrn.mjTRN_JOINT: "joint", mj.mjtTrn.mjTRN_TENDON: "tendon", mj.mjtTrn.mjTRN_SITE: "site"}
    actuators = dict(name=named(m.nu, m.actuator), drives=[drives[mj.mjtTrn(t)] for t in m.actuator_trntype], joint=[int(x) for x in m.actuator_trnid[:, 0]],
                     gear=rows(m.actuator_gear), gainprm=rows(m.actuator_gainprm[:, :3]), biasprm=rows(m.actuator_biasprm[:, :3]),
                     ctrl_limited=[bool(x) for x in m.actuator_ctrllimited], ctrl_range=rows(m.actuator_ctrlrange),
                     force_limited=[bool(x) for x in m.actuator_forcelimited], force_range=rows(m.actuator_forcerange))
    equalities = [equality(mj, m, i) for i in range(m.neq)]
    keys = dict(name=named(m.nkey, m.key), time=flat(m.key_time), q=rows(m.key_qpos), ctrl=rows(m.key_ctrl), mocap_pos=[flat(r) for r in m.key_mpos], mocap_quat=[flat(r) for r in m.key_mquat])
    gravity = [0.0] * 3 if disabled(off.mjDSBL_GRAVITY) else flat(m.opt.gravity)
    return dict(version=mj.__version__, nq=int(m.nq), nv=int(m.nv), timestep=float(m.opt.timestep), gravity=gravity,
                integrator="RK4" if m.opt.integrator == mj.mjtIntegrator.mjINT_RK4 else "Euler", bodies=bodies, joints=joints, geoms=geoms, sites=sites, tendons=tendons,
                actuators=actuators, equalities=equalities, keys=keys)


def equality(mj, m, i):
    """The two points (connect) or frames (weld) in their bodies, or the polynomial."""
    kind, x, a, b = mj.mjtEq(m.eq_type[i]).name[5:].lower(), [float(v) for v in m.eq_data[i]], int(m.eq_obj1id[i]), int(m.eq_obj2id[i])
    out = dict(type=kind, active=bool(m.eq_active0[i]))
    if kind in ("joint", "tendon"): return dict(out, **{kind + "1": a, kind + "2": b}, polycoef=x[:5])
    if m.eq_objtype[i] == mj.mjtObj.mjOBJ_SITE:
        out.update(body1=int(m.site_bodyid[a]), body2=int(m.site_bodyid[b]), pos1=[float(v) for v in m.site_pos[a]], pos2=[float(v) for v in m.site_pos[b]])
        if kind == "weld": out.update(quat1=[float(v) for v in m.site_quat[a]], quat2=[float(v) for v in m.site_quat[b]])
    elif kind == "connect": out.update(body1=a, body2=b, pos1=x[:3], pos2=x[3:6])
    else: out.update(body1=a, body2=b, pos1=x[3:6], pos2=x[:3], quat1=x[6:10], quat2=[1.0, 0.0, 0.0, 0.0])
    return dict(out, torquescale=x[10]) if kind == "weld" else out


def unit(q):
    n = sum(v * v for v in q) ** 0.5
    return [v / n for v in q] if n else [1.0, 0.0, 0.0, 0.0]   # a zero quaternion is no turn


def near(field, ours, theirs):
    if "quat" in field and theirs and not isinstance(theirs[0], list):
        p, q = unit(ours), unit(theirs)
        return all(abs(x - y) < 1e-12 for x, y in zip(p, q)) or all(abs(x + y) < 1e-12 for x, y in zip(p, q))
    if ours is None: return False
    if isinstance(theirs, list): return len(ours) == len(theirs) and all(near(field, x, y) for x, y in zip(ours, theirs))
    if isinstance(theirs, (str, bool)): return ours == theirs
    # vertices of meshes are single precision in MuJoCo: 1e-6; all else agrees to rounding, far below
    return abs(ours - theirs) <= 1e-9 + 1e-6 * abs(theirs)


def compare(name, ours, theirs):
    wrong = []
    def check(what, x, y):
        if not near(what, x, y): wrong.append(f"{name}: {what}: {x}, MuJoCo has {y}")
    for field in ("nq", "nv", "timestep", "gravity", "integrator"): check(field, ours[field], theirs[field])
    for kind in ("bodies", "joints", "geoms", "sites", "tendons", "actuators", "keys"):
        for field, column in theirs[kind].items():
            if len(ours[kind]) != len(column): wrong.append(f"{name}: {len(ours[kind])} {kind}, MuJoCo has {len(column)}"); break
            for i, y in enumerate(column):
                x = ours[kind][i][field]
                if kind == "bodies" and (i == 0 or field in ("com", "inertia") and ours[kind][i]["mass"] == 0): continue
                if field == "inertia": x = sorted(x, reverse=True)
                if field == "range" and not ours[kind][i]["limited"]: continue
                if field == "name" and not y: continue  # here everything has a name
                if field in ("mocap_pos", "mocap_quat"):
                    x, y = (x, [y[k:k + len(y) // max(1, len(x))] for k in range(0, len(y), len(y) // max(1, len(x)))] if x else [])
                check(f"{kind}[{i}].{field}", x, y)
    if len(ours["equalities"]) != len(theirs["equalities"]): wrong.append(f"{name}: {len(ours['equalities'])} equalities")
    # those of attached models stand before the scene's own here, behind them in MuJoCo
    order = lambda e: (e["type"], [e.get(k, -1) for k in ("body1", "body2", "joint1", "joint2", "tendon1", "tendon2")])
    for i, (x, y) in enumerate(zip(sorted(ours["equalities"], key=order), sorted(theirs["equalities"], key=order))):
        for field in y: check(f"equalities[{i}].{field}", x.get(field), y[field])
    return wrong


def main():
    abut, write = sys.argv[1], "--write" in sys.argv
    wrong, n = [], 0
    for path in sorted(glob.glob(os.path.join(FOLDER, "*.xml")) + glob.glob(os.path.join(FOLDER, "*.urdf"))):
        stored = path.rsplit(".", 1)[0] + ".json"
        name = os.path.basename(path)
        if write:
            with open(stored, "w") as f: json.dump(compiled_by_mujoco(path), f, indent=1)
        with open(stored) as f: theirs = json.load(f)
        with tempfile.TemporaryDirectory() as folder:
            saved = os.path.join(folder, "saved.xml")
            c = subprocess.run([abut, "convert", path, saved], capture_output=True, text=True)
            if c.returncode: wrong.append(f"{name}: {c.stderr.strip()}")
            for file, what in ((path, name), (saved, name + " saved")):
                r = subprocess.run([abut, "info", "--json", file], capture_output=True, text=True)
                wrong += [f"{what}: {r.stderr.strip()}"] if r.returncode else compare(what, json.loads(r.stdout), theirs)
        n += 1
    print("\n".join(wrong) or f"{n} scenes compile to what MuJoCo {theirs['version']} compiles them to")
    sys.exit(bool(wrong) or n < 3)


main()

"""What others make of a model. A worker is a process of its own that answers one line of JSON by another, since a file may crash or
hang the program that reads it: `Peer("mujoco")`, `Peer("bullet")`, `.ask(question, seconds)`. Questions are functions below."""
import json
import math
import os
import select
import subprocess
import sys
import tempfile

FAST = 300  # rad/s, m/s: no robot moves so


class Peer:
    def __init__(self, name):
        self.name, self.process = name, None

    def ask(self, question, limit=60):
        """The answer with "ok", or "error"."""
        if not self.process:
            self.process = subprocess.Popen([sys.executable, os.path.abspath(__file__), self.name], stdin=subprocess.PIPE, text=True,
                                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=tempfile.gettempdir())
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], limit)
        line = self.process.stdout.readline() if ready else ""
        if line:
            return json.loads(line)
        self.process.kill()
        self.process.wait()
        self.process = None
        return {"ok": False, "error": "crash" if ready else "too slow"}


def numbers(mj, np, file):
    """The compiled model under the names of `abut info --json`."""
    m = mj.MjModel.from_xml_path(file)
    rows = lambda **fields: [dict(zip(fields, row)) for row in zip(*fields.values())]
    plain = lambda x: np.asarray(x).tolist()
    first = m.jnt_dofadr
    column = lambda x, n: plain(np.asarray(x).reshape(n, -1)[:, 0]) if n else []
    per_dof = lambda x: plain(np.asarray(x).reshape(m.nv, -1)[first, 0]) if m.njnt else []
    yes = lambda x: [bool(v) for v in x]
    moving = m.body_weldid != 0
    gravity = not m.opt.disableflags & mj.mjtDisableBit.mjDSBL_GRAVITY
    tendons = rows(limited=yes(m.tendon_limited), range=plain(m.tendon_range), stiffness=column(m.tendon_stiffness, m.ntendon),
                   damping=column(m.tendon_damping, m.ntendon), frictionloss=plain(m.tendon_frictionloss))
    return dict(
        nq=int(m.nq), nv=int(m.nv), nu=int(m.nu), nkey=int(m.nkey), moving_mass=float(m.body_mass[moving].sum()),
        gravity=plain(m.opt.gravity * gravity), timestep=float(m.opt.timestep),
        bodies=rows(mass=plain(m.body_mass), com=plain(m.body_ipos), inertia=plain(np.sort(m.body_inertia)), pos=plain(m.body_pos),
                    quat=plain(m.body_quat)),
        joints=rows(type=[("free", "ball", "slide", "hinge")[t] for t in m.jnt_type], limited=yes(m.jnt_limited), range=plain(m.jnt_range),
                    stiffness=column(m.jnt_stiffness, m.njnt), damping=per_dof(m.dof_damping), armature=per_dof(m.dof_armature),
                    frictionloss=per_dof(m.dof_frictionloss), axis=plain(m.jnt_axis), pos=plain(m.jnt_pos)),
        geoms=rows(type=[mj.mjtGeom(t).name[7:].lower() for t in m.geom_type], size=plain(m.geom_size), friction=plain(m.geom_friction),
                   condim=plain(m.geom_condim), contype=plain(m.geom_contype), conaffinity=plain(m.geom_conaffinity),
                   pos=plain(m.geom_pos), body=plain(m.geom_bodyid), margin=plain(m.geom_margin), gap=plain(m.geom_gap)),
        actuators=rows(joint=plain(m.actuator_trnid[:, 0]), gear=plain(m.actuator_gear[:, :6]), gainprm=plain(m.actuator_gainprm[:, :3]),
                       biasprm=plain(m.actuator_biasprm[:, :3]), ctrl_limited=yes(m.actuator_ctrllimited),
                       ctrl_range=plain(m.actuator_ctrlrange), force_limited=yes(m.actuator_forcelimited),
                       force_range=plain(m.actuator_forcerange)),
        joint_force_limits=bool(m.jnt_actfrclimited.any()),
        tendons=[t for t, spatial in zip(tendons, m.wrap_type[m.tendon_adr] != mj.mjtWrap.mjWRAP_JOINT) if not spatial],
        equalities=rows(type=[mj.mjtEq(t).name[5:].lower() for t in m.eq_type], active=yes(m.eq_active0)),
        keys=rows(q=plain(m.key_qpos), v=plain(m.key_qvel), ctrl=plain(m.key_ctrl))[:used_keys(m)])


def used_keys(m):
    """Without those at the end that <size nkey> alone makes: no name, the initial state."""
    n = m.nkey
    while n and not m.key(n - 1).name and (m.key_qpos[n - 1] == m.qpos0).all() and not m.key_qvel[n - 1].any() and not m.key_ctrl[n - 1].any():
        n -= 1
    return n


def random_state(mj, np, file):
    """A keyframe's attributes: near the initial pose, with speeds and controls, some of these beyond their range."""
    m = mj.MjModel.from_xml_path(file)
    draw = np.random.default_rng(7)
    q = m.qpos0.copy()
    mj.mj_integratePos(m, q, 0.2 * draw.standard_normal(m.nv), 1.0)
    v, ctrl = 0.5 * draw.standard_normal(m.nv), 0.1 * draw.standard_normal(m.nu)
    low, high = m.actuator_ctrlrange.T if m.nu else (0, 0)
    ctrl = np.where(m.actuator_ctrllimited, np.clip(0, low, high) + 0.2 * ctrl * (high - low), ctrl)
    text = lambda x: " ".join(map(repr, np.asarray(x).tolist()))
    return dict(state=f'qpos="{text(q)}" qvel="{text(v)}"' + (f' ctrl="{text(ctrl)}"' if m.nu else ""))


def run(mj, np, file, time, step=0, key=-1, nudge=0):
    """Simulates; where the centres of mass are then, whether it broke (a warning of MuJoCo's, or speeds that no robot has).
    The key is a name or a number; nudge changes the coordinates at the start."""
    m = mj.MjModel.from_xml_path(file)
    m.opt.timestep = step or m.opt.timestep
    d = mj.MjData(m)
    key = m.key(key).id if isinstance(key, str) and key else -1 if key == "" else key
    if key >= 0:
        mj.mj_resetDataKeyframe(m, d, key)
    mj.mj_integratePos(m, d.qpos, np.full(m.nv, float(nudge)), 1.0)
    mj.mj_forward(m, d)
    start, warnings = d.xipos.copy(), [mj.mjtWarning.mjWARN_BADQPOS, mj.mjtWarning.mjWARN_BADQVEL, mj.mjtWarning.mjWARN_BADQACC]
    bad = ""
    for _ in range(round(time / m.opt.timestep)):
        mj.mj_step(m, d)
        if any(d.warning[w].number for w in warnings) or not math.isfinite(d.qpos.sum()):
            bad = "breaks"
        elif m.nv and np.abs(d.qvel).max() > FAST:
            bad = "explodes"
        if bad:
            break
    mj.mj_forward(m, d)
    names = [mj.mj_id2name(m, mj.mjtObj.mjOBJ_BODY, i) or f"body{i}" for i in range(m.nbody)]
    return dict(names=names, start=start.tolist(), end=d.xipos.tolist(), mass=m.body_mass.tolist(), bad=bad, time=d.time)


def bullet(file):
    import pybullet
    if not pybullet.isConnected():
        pybullet.connect(pybullet.DIRECT)
    pybullet.resetSimulation()
    pybullet.setAdditionalSearchPath(os.path.dirname(file))
    return dict(joints=pybullet.getNumJoints(pybullet.loadURDF(file)))


def serve(name):
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the libraries print is no answer
    if name == "bullet":
        ask = dict(numbers=bullet)
    else:
        import mujoco
        import numpy
        ask = {f.__name__: lambda f=f, **q: f(mujoco, numpy, **q) for f in (numbers, random_state, run)}
    for line in sys.stdin:
        question = json.loads(line)
        try:
            os.chdir(os.path.dirname(question["file"]))
            answer = dict(ok=True, **ask[question.pop("ask")](**question))
        except Exception as error:  # whatever a file does to its reader is an answer
            answer = dict(ok=False, error=" ".join(str(error).split())[:300])
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    serve(sys.argv[1])

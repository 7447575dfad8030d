"""The newest MuJoCo. The same two settings as in engine_mujoco.cpp; "best" has the integrator that is
now recommended. (Boxes meet in several points, multiccd, by default.)"""
import mujoco
import numpy as np

import worker


def numbers(values):
    return " ".join(f"{v:.17g}" for v in values)


def place(pose):
    return f"pos='{numbers(pose[:3])}' quat='{numbers(pose[3:])}'"


def text(scene, best):
    free = len(scene["body"]) == 1
    option = f"timestep='{scene['h']:.17g}' gravity='{numbers(scene['gravity'])}'"
    geom = f"friction='{scene['mu']:.17g} 0.005 0.0001' mass='0'"
    if best:
        option += (" cone='elliptic' impratio='100' iterations='200' tolerance='1e-12' noslip_iterations='10'"
                   f" integrator='{'RK4' if free else 'implicitfast'}'")
        geom += f" solref='{4 * scene['h']:.17g} 1' solimp='0.95 0.99 0.0001'"
    # the arena is touched only as far as it is used
    memory = max(16, 2 * len(scene["body"]))
    out = [f"<mujoco><option {option}/><size memory='{memory}M'/><default><geom {geom}/></default><worldbody>"]
    for body in scene["body"]:
        if not body["fixed"]:
            out.append(f"<body {place(body['pose'])} gravcomp='{0 if body['gravity'] else 1}'>"
                       f"<inertial pos='0 0 0' mass='{body['mass']:.17g}' diaginertia='{numbers(body['inertia'])}'/>")
            out.append(f"<joint type='slide' axis='{numbers(body['axis'])}'/>" if body["rail"] else "<freejoint/>")
        for g in body["geom"]:
            size = g["size"][:2] + [1] if g["type"] in ("capsule", "cylinder") else g["size"]
            out.append(f"<geom type='{g['type']}' size='{numbers(size)}' {place(body['pose'] if body['fixed'] else g['pose'])}/>")
        if not body["fixed"]:
            out.append("</body>")
    return "".join(out) + "</worldbody></mujoco>"


class World:
    def __init__(self, scene, setting):
        self.model = mujoco.MjModel.from_xml_string(text(scene, setting == "best"))
        self.data = mujoco.MjData(self.model)
        self.n = len(scene["body"])
        m, index = self.model, 0
        self.index = np.zeros(self.n, dtype=int)
        self.free, self.q, self.v, rail = [], [], [], []
        for i, body in enumerate(scene["body"]):
            if body["fixed"]:
                continue
            index += 1
            self.index[i] = index
            joint = m.body_jntadr[index]
            if body["rail"]:
                rail.append((i, m.jnt_qposadr[joint], m.jnt_dofadr[joint], body["pose"], np.array(body["axis"])))
                continue
            self.free.append(i)
            self.q.append(m.jnt_qposadr[joint])
            self.v.append(m.jnt_dofadr[joint])
            self.data.qvel[self.v[-1]:self.v[-1] + 3] = body["twist"][:3]
            q = body["pose"][3:]
            local, inverse = np.zeros(3), np.array([q[0], -q[1], -q[2], -q[3]])
            mujoco.mju_rotVecQuat(local, np.array(body["twist"][3:]), inverse)  # free joints turn in the body's axes
            self.data.qvel[self.v[-1] + 3:self.v[-1] + 6] = local
        self.rail = rail
        self.q, self.v = np.array(self.q, dtype=int), np.array(self.v, dtype=int)
        self.out = np.zeros((self.n, 13))
        self.out[:, 3] = 1

    def step(self):
        mujoco.mj_step(self.model, self.data)

    def apply(self, body, wrench):
        self.data.xfrc_applied[self.index[body]] = wrench

    def state(self):
        d = self.data
        if len(self.free):
            pose = d.qpos[self.q[:, None] + np.arange(7)]
            twist = d.qvel[self.v[:, None] + np.arange(6)]
            q, w = pose[:, 3:], twist[:, 3:]
            t = 2 * np.cross(q[:, 1:], w)
            twist[:, 3:] = w + q[:, :1] * t + np.cross(q[:, 1:], t)
            self.out[self.free, :7], self.out[self.free, 7:] = pose, twist
        for i, q, v, pose, axis in self.rail:
            self.out[i, :3] = pose[:3] + axis * d.qpos[q]
            self.out[i, 7:10] = axis * d.qvel[v]
        return self.out

    def contacts(self):
        return self.data.ncon

    def broken(self):
        bad = (mujoco.mjtWarning.mjWARN_BADQPOS, mujoco.mjtWarning.mjWARN_BADQVEL, mujoco.mjtWarning.mjWARN_BADQACC,
               mujoco.mjtWarning.mjWARN_CONTACTFULL, mujoco.mjtWarning.mjWARN_CNSTRFULL)
        return any(self.data.warning[int(w)].number for w in bad)


worker.main(World, "MuJoCo " + mujoco.__version__)

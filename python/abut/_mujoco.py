"""Models from MuJoCo's Python package."""

from __future__ import annotations

import warnings
from typing import Any

from ._errors import SceneError, SceneWarning
from ._model import JOINTS, Model
from ._scene import Scene

_REFUSED = {"neq": "equality constraints", "ntendon": "tendons", "nflex": "flexible bodies", "nhfield": "height fields", "nplugin": "plugins"}
# MuJoCo's numbers of shapes, joints, gains and biases.
_SHAPES = {0: "plane", 2: "sphere", 3: "capsule", 4: "ellipsoid", 5: "cylinder", 6: "box", 7: "mesh"}


def from_mujoco(source: Any) -> Model:
    """A model from a mujoco.MjSpec or mujoco.MjModel. What abut does not do and would change the motion is refused by name."""
    if hasattr(source, "compile") and not hasattr(source, "nbody"):
        source = source.compile()
    if not hasattr(source, "body_mass") or not hasattr(source, "jnt_type"):
        raise TypeError(f"from_mujoco needs a mujoco.MjSpec or a mujoco.MjModel, not {type(source).__name__}")
    m = source
    for name, what in _REFUSED.items():
        if getattr(m, name, 0) > 0:
            raise SceneError(f"the model has {what}, which abut does not have")
    if int(m.opt.integrator) > 1:
        warnings.warn("MuJoCo's implicit integrators are not available; semi-implicit Euler is used", SceneWarning, stacklevel=2)
    names = _names(m)
    s = Scene(names["model"], gravity=m.opt.gravity, timestep=float(m.opt.timestep), integrator="RK4" if int(m.opt.integrator) == 1 else "Euler")
    bodies = _bodies(s, m, names["body"])
    joints = _joints(s, m, names["joint"], bodies)
    _geoms(s, m, names, bodies)
    _actuators(s, m, names["actuator"], joints)
    for k in range(m.nkey):
        s.add_key(names["key"][k] or f"key{k}", q=m.key_qpos[k], v=m.key_qvel[k], ctrl=m.key_ctrl[k], time=float(m.key_time[k]))
    for p in range(m.npair):
        s.add_pair(int(m.pair_geom1[p]), int(m.pair_geom2[p]), friction=m.pair_friction[p], condim=int(m.pair_dim[p]))
    for e in range(m.nexclude):
        pair = int(m.exclude_signature[e])
        s.exclude(bodies[pair >> 16], bodies[pair & 0xFFFF])
    return s.compile()


def _names(m: Any) -> dict[str, Any]:
    text = bytes(m.names)

    def at(address: Any) -> str:
        start = int(address)
        return text[start : text.index(b"\0", start)].decode()

    kinds = {"body": m.name_bodyadr, "joint": m.name_jntadr, "geom": m.name_geomadr, "actuator": m.name_actuatoradr, "key": m.name_keyadr,
             "mesh": m.name_meshadr}
    return {"model": at(0) or "model"} | {kind: [at(a) for a in addresses] for kind, addresses in kinds.items()}


def _bodies(s: Scene, m: Any, names: list[str]) -> list[int]:
    index = [0]
    for b in range(1, m.nbody):
        if m.body_mocapid[b] >= 0:
            raise SceneError(f"body {names[b]!r} is a mocap body, which abut does not have")
        gravcomp = float(m.body_gravcomp[b])
        if gravcomp not in (0.0, 1.0):
            raise SceneError(f"body {names[b]!r} has gravcomp {gravcomp}; abut knows 0 and 1")
        index.append(s.add_body(
            names[b] or None, parent=index[int(m.body_parentid[b])], pos=m.body_pos[b], quat=m.body_quat[b], mass=float(m.body_mass[b]),
            com=m.body_ipos[b], inertia=m.body_inertia[b], inertia_quat=m.body_iquat[b], gravity=gravcomp == 0.0))
    return index


def _joints(s: Scene, m: Any, names: list[str], bodies: list[int]) -> list[int]:
    index = []
    for j in range(m.njnt):
        kind, dof, q = JOINTS[int(m.jnt_type[j])], int(m.jnt_dofadr[j]), int(m.jnt_qposadr[j])
        scalar = kind in ("slide", "hinge")
        index.append(s.add_joint(
            bodies[int(m.jnt_bodyid[j])], names[j] or None, type=kind, pos=m.jnt_pos[j], axis=m.jnt_axis[j],
            range=m.jnt_range[j] if m.jnt_limited[j] else None, margin=float(m.jnt_margin[j]), stiffness=float(m.jnt_stiffness[j]),
            damping=float(m.dof_damping[dof]), armature=float(m.dof_armature[dof]), frictionloss=float(m.dof_frictionloss[dof]),
            ref=float(m.qpos0[q]) if scalar else 0.0, springref=float(m.qpos_spring[q]) if scalar else 0.0))
    return index


def _geoms(s: Scene, m: Any, names: dict[str, Any], bodies: list[int]) -> None:
    meshes: dict[int, int] = {}
    for g in range(m.ngeom):
        kind = int(m.geom_type[g])
        if kind not in _SHAPES:
            raise SceneError(f"geom {names['geom'][g]!r} has a shape that abut does not have")
        mesh = None
        if kind == 7:
            k = int(m.geom_dataid[g])
            if k not in meshes:
                first, count = int(m.mesh_vertadr[k]), int(m.mesh_vertnum[k])
                face, nface = int(m.mesh_faceadr[k]), int(m.mesh_facenum[k])
                meshes[k] = s.add_mesh(names["mesh"][k] or f"mesh{k}", m.mesh_vert[first : first + count], m.mesh_face[face : face + nface])
            mesh = meshes[k]
        s.add_geom(
            names["geom"][g] or None, body=bodies[int(m.geom_bodyid[g])], type=_SHAPES[kind], size=(0, 0, 0) if kind == 7 else m.geom_size[g],
            pos=m.geom_pos[g], quat=m.geom_quat[g], mesh=mesh, mass=0.0, friction=m.geom_friction[g], condim=int(m.geom_condim[g]),
            contype=int(m.geom_contype[g]), conaffinity=int(m.geom_conaffinity[g]), priority=int(m.geom_priority[g]), rgba=m.geom_rgba[g])


def _actuators(s: Scene, m: Any, names: list[str], joints: list[int]) -> None:
    for a in range(m.nu):
        if int(m.actuator_trntype[a]) != 0 or int(m.actuator_dyntype[a]) != 0 or int(m.actuator_gaintype[a]) > 1 or int(m.actuator_biastype[a]) > 1:
            raise SceneError(f"actuator {names[a]!r} is of a kind abut does not have: it knows motors and servos of joints without dynamics")
        s.add_actuator(
            joints[int(m.actuator_trnid[a][0])], names[a] or None, gear=m.actuator_gear[a], gain=("fixed", "affine")[int(m.actuator_gaintype[a])],
            gainprm=m.actuator_gainprm[a][:3], bias=("none", "affine")[int(m.actuator_biastype[a])], biasprm=m.actuator_biasprm[a][:3],
            ctrl_range=m.actuator_ctrlrange[a] if m.actuator_ctrllimited[a] else None,
            force_range=m.actuator_forcerange[a] if m.actuator_forcelimited[a] else None)

"""Drake with hydroelastic contact.

"default": the defaults of its plant and its own default of compliant bodies (modulus 1e7 Pa,
dissipation 50 s/m), on a rigid half-space.
"best": a body alone on the floor gets a finer mesh (8 x 8 cells on a face of a box instead of Drake's
four polygons, box_mesh.py): with it breakaway and spinning are right to 1 %. On stacks it is too
slow (8 ms a step for 3 cubes, 190 ms for 20), so that there boxes stay as they are. Slip below
which friction counts as sticking: 1e-6 m/s (several bodies 1e-5) instead of 1e-4. Modulus at least 1000
times the pressure of the whole weight on one face. Without contact the continuous plant with its default
integrator. Tried and left: the approximations "sap" and "similar" of contact (a sliding body turns, or
glides over the floor), a rigid body on a compliant half-space (less exact at large steps), modulus 1e9
(force chatters at 5 ms).
"""
from importlib.metadata import version
import logging

import numpy as np
from pydrake.common.eigen_geometry import Quaternion
from pydrake.common import MemoryFile
from pydrake.common.value import Value
from pydrake.geometry import (AddCompliantHydroelasticProperties, AddContactMaterial, AddRigidHydroelasticProperties,
                              Box, Capsule, Cylinder, HalfSpace, InMemoryMesh, Mesh, ProximityProperties, Sphere)
from pydrake.math import RigidTransform
from pydrake.multibody.math import SpatialForce
from pydrake.multibody.plant import (AddMultibodyPlant, CoulombFriction, ExternallyAppliedSpatialForce,
                                     MultibodyPlantConfig)
from pydrake.multibody.tree import FixedOffsetFrame, PrismaticJoint, SpatialInertia, UnitInertia
from pydrake.systems.analysis import Simulator
from pydrake.systems.framework import DiagramBuilder

import box_mesh
import worker


def transform(pose):
    return RigidTransform(Quaternion(np.array(pose[3:]) / np.linalg.norm(pose[3:])), pose[:3])


def shape(g, cells):
    s = g["size"]
    if g["type"] == "plane":
        return HalfSpace()
    if g["type"] == "sphere":
        return Sphere(s[0])
    if g["type"] == "capsule":
        return Capsule(s[0], 2 * s[1])
    if g["type"] == "cylinder":
        return Cylinder(s[0], 2 * s[1])
    if cells:
        return Mesh(InMemoryMesh(mesh_file=MemoryFile(box_mesh.vtk(s, cells), ".vtk", "box")))
    return Box(2 * s[0], 2 * s[1], 2 * s[2])


class Setting:
    def __init__(self, scene, name):
        self.best = name == "best"
        self.mu = CoulombFriction(scene["mu_static"], scene["mu"])
        self.plant = MultibodyPlantConfig(time_step=scene["h"])
        self.modulus, self.cells = 1e7, 0
        if self.best:
            self.improve([b for b in scene["body"] if not b["fixed"]], len(scene["body"]), scene)

    def improve(self, moving, count, scene):
        alone = len(moving) == 1
        self.plant.stiction_tolerance = 1e-6 if alone else 1e-5
        self.cells = 8 if alone else 0
        if count == 1:
            self.plant.time_step = 0
        weight = 9.8 * sum(b["mass"] for b in moving)
        area = min(4 * g["size"][0] * max(g["size"][1:]) for b in moving for g in b["geom"])
        self.modulus = max(1e7, 1e3 * weight / area)

    def surface(self, g):
        props = ProximityProperties()
        AddContactMaterial(50, None, self.mu, props)
        if g["type"] == "plane":
            AddRigidHydroelasticProperties(props)
        else:
            AddCompliantHydroelasticProperties(g["size"][0] / (16 if self.best else 2), self.modulus, props)
        return props


class World:
    def __init__(self, scene, name):
        setting = Setting(scene, name)
        self.h, self.k = scene["h"], 0
        builder = DiagramBuilder()
        plant, self.graph = AddMultibodyPlant(setting.plant, builder)
        plant.mutable_gravity_field().set_gravity_vector(scene["gravity"])
        self.plant, self.body, self.rail = plant, [], []
        for i, b in enumerate(scene["body"]):
            self.add(i, b, setting)
        plant.Finalize()
        self.diagram = builder.Build()
        self.context = self.diagram.CreateDefaultContext()
        self.inner = plant.GetMyMutableContextFromRoot(self.context)
        self.set_state(scene)
        self.force = {}
        self.simulator = Simulator(self.diagram, self.context)
        self.simulator.Initialize()
        self.out = np.zeros((len(self.body), 13))
        self.out[:, 3] = 1

    def add(self, i, b, setting):
        plant = self.plant
        if b["fixed"]:
            body = plant.world_body()
        else:
            instance = plant.AddModelInstance(f"m{i}")
            I = np.array(b["inertia"]) / b["mass"]
            inertia = SpatialInertia(b["mass"], [0, 0, 0], UnitInertia(*I), skip_validity_check=True)
            body = plant.AddRigidBody(f"b{i}", instance, inertia)
            if not b["gravity"]:
                plant.set_gravity_enabled(instance, False)
            if b["rail"]:
                start = plant.AddFrame(FixedOffsetFrame(f"s{i}", plant.world_frame(), RigidTransform(b["pose"][:3])))
                joint = plant.AddJoint(PrismaticJoint(f"j{i}", start, body.body_frame(), b["axis"]))
                self.rail.append((i, joint, b))
        for k, g in enumerate(b["geom"]):
            X = transform(b["pose"] if b["fixed"] else g["pose"])
            if setting.best and g["type"] == "plane":
                # its intersection of a mesh with a half-space fails where a vertex lies exactly in the plane
                X = RigidTransform(X.rotation(), X.translation() + [0, 0, 1e-9])
            plant.RegisterCollisionGeometry(body, X, shape(g, setting.cells), f"g{i}_{k}", setting.surface(g))
        self.body.append(body)

    def set_state(self, scene):
        self.free = [i for i, b in enumerate(scene["body"]) if not b["fixed"] and not b["rail"]]
        self.q = np.array([self.body[i].floating_positions_start() for i in self.free], dtype=int)
        self.v = np.array([self.body[i].floating_velocities_start_in_v() for i in self.free], dtype=int)
        q, v = self.plant.GetPositions(self.inner), self.plant.GetVelocities(self.inner)
        for i, k, l in zip(self.free, self.q, self.v):
            pose, twist = scene["body"][i]["pose"], scene["body"][i]["twist"]
            q[k:k + 7] = pose[3:] + pose[:3]
            v[l:l + 6] = twist[3:] + twist[:3]
        self.plant.SetPositions(self.inner, q)
        self.plant.SetVelocities(self.inner, v)

    def step(self):
        self.k += 1
        self.simulator.AdvanceTo(self.k * self.h)

    def apply(self, body, wrench):
        force = ExternallyAppliedSpatialForce()
        force.body_index = self.body[body].index()
        force.p_BoBq_B = np.zeros(3)
        force.F_Bq_W = SpatialForce(wrench[3:], wrench[:3])
        self.force[body] = force
        self.plant.get_applied_spatial_force_input_port().FixValue(
            self.inner, Value[list[ExternallyAppliedSpatialForce]](list(self.force.values())))

    def state(self):
        q, v = self.plant.GetPositions(self.inner), self.plant.GetVelocities(self.inner)
        if self.free:
            pose, twist = q[self.q[:, None] + np.arange(7)], v[self.v[:, None] + np.arange(6)]
            unit = pose[:, :4] / np.linalg.norm(pose[:, :4], axis=1)[:, None]  # its own drifts in length
            self.out[self.free, 3:7], self.out[self.free, :3] = unit, pose[:, 4:]
            self.out[self.free, 10:], self.out[self.free, 7:10] = twist[:, :3], twist[:, 3:]
        for i, joint, b in self.rail:
            axis = np.array(b["axis"])
            self.out[i, :3] = b["pose"][:3] + axis * joint.get_translation(self.inner)
            self.out[i, 7:10] = axis * joint.get_translation_rate(self.inner)
        return self.out

    def contacts(self):
        result = self.plant.get_contact_results_output_port().Eval(self.inner)
        return result.num_point_pair_contacts() + result.num_hydroelastic_contacts()

    def broken(self):
        return False


logging.getLogger("drake").setLevel(logging.ERROR)
worker.main(World, "Drake " + version("drake"))

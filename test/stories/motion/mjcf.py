"""Scenes as Python objects, written as MJCF; any scene can be turned, enlarged and made heavier.

A Frame turns a scene by the quaternion `turn`, multiplies its lengths by `scale` and its masses by `mass`. Gravity keeps its
size, so times are multiplied by sqrt(scale), speeds too, and forces by `mass` alone (a length over a time squared is unchanged).
The laws of rigid bodies with Coulomb's friction know no other length: what a story claims must hold in every Frame, in its units.
"""
import numpy as np

G = 9.81


def quat(axis, angle):
    axis = np.asarray(axis, float) / np.linalg.norm(axis)
    return np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * axis])


ONE = np.array([1.0, 0, 0, 0])


def quat_mul(a, b):
    a, b = np.asarray(a, float), np.asarray(b, float)
    w = a[..., 0] * b[..., 0] - np.sum(a[..., 1:] * b[..., 1:], -1)
    v = a[..., :1] * b[..., 1:] + b[..., :1] * a[..., 1:] + np.cross(a[..., 1:], b[..., 1:])
    return np.concatenate([w[..., None], v], -1)


def quat_conj(q):
    return np.asarray(q, float) * [1, -1, -1, -1]


def rotate(q, v):
    """v turned by q; both may be arrays of rows."""
    q, v = np.asarray(q, float), np.asarray(v, float)
    t = 2 * np.cross(q[..., 1:], v)
    return v + q[..., :1] * t + np.cross(q[..., 1:], t)


class Frame:
    def __init__(self, turn=ONE, scale=1.0, mass=1.0):
        self.turn, self.length, self.mass = np.asarray(turn, float), float(scale), float(mass)
        self.time = np.sqrt(self.length)


def words(values):
    return " ".join(f"{float(v):.17g}" for v in np.atleast_1d(values))


def geom(name, kind, size, pos=(0, 0, 0), q=ONE, mu=1.0, mass=None, mesh=None, mu_s=None, e=None, touch=True):
    """size: half sizes as in MJCF; mu_s and e (restitution) go into <custom>."""
    return dict(name=name, kind=kind, size=size, pos=pos, q=q, mu=mu, mass=mass, mesh=mesh, mu_s=mu_s, e=e, touch=touch)


def box(name, half, **more):
    return geom(name, "box", half, **more)


def ball(name, radius, **more):
    return geom(name, "sphere", [radius], **more)


class Body:
    def __init__(self, name, geoms, pos=(0, 0, 0), q=ONE, joint="free", v=(0, 0, 0), w=(0, 0, 0), inertia=None):
        """joint: 'free', None, or hinge(...) / slide(...). v, w: initial velocity of a free body, in world axes.
        inertia: (mass, centre, diagonal) instead of what the geoms give."""
        self.name, self.geoms, self.pos, self.q, self.joint = name, geoms, pos, np.asarray(q, float), joint
        self.v, self.w, self.inertia, self.children = v, w, inertia, []

    def add(self, child):
        self.children.append(child)
        return child


def hinge(name, axis, speed=0.0, angle=0.0, **more):
    """more: range, armature, damping, frictionloss, stiffness, ..., pos"""
    return dict(kind="hinge", name=name, axis=axis, v=speed, q=angle, more=more)


def slide(name, axis, speed=0.0, at=0.0, **more):
    return dict(kind="slide", name=name, axis=axis, v=speed, q=at, more=more)


class Scene:
    def __init__(self, name, about, gravity=(0, 0, -G)):
        self.name, self.about, self.gravity = name, about, gravity
        self.geoms, self.bodies, self.meshes, self.actuators = [], [], {}, []

    def fixed(self, *geoms):
        self.geoms += geoms

    def floor(self, mu, q=ONE, name="floor", e=None, mu_s=None, pos=(0, 0, 0)):
        self.fixed(geom(name, "plane", None, mu=mu, q=q, e=e, mu_s=mu_s, pos=pos))

    def add(self, body):
        self.bodies.append(body)
        return body

    def mesh(self, name, vertices):
        self.meshes[name] = np.asarray(vertices, float)
        return name

    def motor(self, joint, force):
        self.actuators.append(("motor", joint, force, 0))

    def position_servo(self, joint, kp, target=0.0):
        self.actuators.append(("position", joint, target, kp))

    def speed_servo(self, joint, kv, target):
        self.actuators.append(("velocity", joint, target, kv))

    def friction(self):
        """(static) friction of every geom, to check Coulomb's law from outside."""
        found = {}

        def visit(geoms):
            for g in geoms:
                found[g["name"]] = max(g["mu"], g["mu_s"] or 0)

        def walk(body):
            visit(body.geoms)
            for child in body.children:
                walk(child)

        visit(self.geoms)
        for body in self.bodies:
            walk(body)
        return found

    def xml(self, frame=None, step=0.001):
        return Writer(self, frame or Frame(), step).text()


class Writer:
    def __init__(self, scene, frame, step):
        self.scene, self.f, self.step = scene, frame, step
        self.out, self.qpos, self.qvel, self.joints = [], [], [], {}
        self.special = {"abut.mu_static": [], "abut.restitution": []}

    def put(self, depth, line):
        self.out.append("  " * depth + line)

    def place(self, pos, q, top):
        """pos and quat attributes; what hangs on the world is turned with the frame, the rest follows it."""
        pos, q = np.asarray(pos, float) * self.f.length, np.asarray(q, float)
        if top:
            pos, q = rotate(self.f.turn, pos), quat_mul(self.f.turn, q)
        text = "" if not np.any(pos) else f' pos="{words(pos)}"'
        return text + ("" if abs(abs(q[0]) - 1) < 1e-15 else f' quat="{words(q)}"'), pos, q

    def geom(self, g, depth, top):
        where, _, _ = self.place(g["pos"], g["q"], top)
        if g["kind"] == "plane":
            size = ' size="0 0 1"'
        elif g["kind"] == "mesh":
            size = f' mesh="{g["mesh"]}"'
        else:
            size = f' size="{words(np.asarray(g["size"], float) * self.f.length)}"'
        mass = "" if g["mass"] is None else f' mass="{g["mass"] * self.f.mass:.17g}"'
        mute = "" if g["touch"] else ' contype="0" conaffinity="0"'
        self.put(depth, f'<geom name="{g["name"]}" type="{g["kind"]}"{size}{where}{mass} friction="{g["mu"]:.17g}"{mute}/>')
        for key, name in (("mu_s", "abut.mu_static"), ("e", "abut.restitution")):
            if g[key] is not None:
                self.special[name].append((g["name"], g[key]))

    def joint(self, j, depth):
        f, hinged = self.f, j["kind"] == "hinge"
        torque = f.mass * (f.length if hinged else 1)  # of one unit of force or torque
        angle = 1 if hinged else f.length  # of one unit of the coordinate
        unit = {"armature": torque * f.time**2 / angle, "damping": torque * f.time / angle, "frictionloss": torque,
                "stiffness": torque / angle, "range": angle, "pos": f.length}
        self.joints[j["name"]] = (torque, angle)
        more = "".join(f' {k}="{words(np.asarray(v, float) * unit[k])}"' for k, v in j["more"].items())
        self.put(depth, f'<joint name="{j["name"]}" type="{j["kind"]}" axis="{words(j["axis"])}"{more}/>')
        self.qpos.append([j["q"] * angle])
        self.qvel.append([j["v"] * angle / f.time])

    def body(self, b, depth, top):
        f = self.f
        where, pos, q = self.place(b.pos, b.q, top)
        self.put(depth, f'<body name="{b.name}"{where}>')
        if b.joint == "free":
            self.put(depth + 1, f'<freejoint name="{b.name}"/>')
            self.qpos.append(np.concatenate([pos, q / np.linalg.norm(q)]))
            v = rotate(f.turn, b.v) * f.length / f.time
            self.qvel.append(np.concatenate([v, rotate(quat_conj(b.q), b.w) / f.time]))  # MJCF: turning in body axes
        elif b.joint:
            self.joint(b.joint, depth + 1)
        if b.inertia:
            m, centre, diagonal = b.inertia
            self.put(depth + 1, f'<inertial mass="{m * f.mass:.17g}" pos="{words(np.asarray(centre) * f.length)}" '
                                f'diaginertia="{words(np.asarray(diagonal) * f.mass * f.length**2)}"/>')
        for g in b.geoms:
            self.geom(g, depth + 1, False)
        for child in b.children:
            self.body(child, depth + 1, False)
        self.put(depth, "</body>")

    def drives(self):
        ctrl = []
        self.put(1, "<actuator>")
        for kind, joint, value, gain in self.scene.actuators:
            torque, angle = self.joints[joint]
            if kind == "motor":
                ctrl.append(value * torque)
                self.put(2, f'<motor name="{joint}" joint="{joint}"/>')
            elif kind == "position":
                ctrl.append(value * angle)
                self.put(2, f'<position name="{joint}" joint="{joint}" kp="{gain * torque / angle:.17g}"/>')
            else:
                ctrl.append(value * angle / self.f.time)
                self.put(2, f'<velocity name="{joint}" joint="{joint}" kv="{gain * torque * self.f.time / angle:.17g}"/>')
        self.put(1, "</actuator>")
        return ctrl

    def text(self):
        s, f = self.scene, self.f
        self.put(0, f"<!-- {s.about} -->")
        self.put(0, f'<mujoco model="{s.name}">')
        self.put(1, '<compiler angle="radian" autolimits="true"/>')
        self.put(1, f'<option timestep="{self.step:.17g}" gravity="{words(rotate(f.turn, s.gravity))}"/>')
        if s.meshes:
            self.put(1, "<asset>")
            for name, vertices in s.meshes.items():
                self.put(2, f'<mesh name="{name}" vertex="{words((vertices * f.length).ravel())}"/>')
            self.put(1, "</asset>")
        self.put(1, "<worldbody>")
        for g in s.geoms:
            self.geom(g, 2, True)
        for b in s.bodies:
            self.body(b, 2, True)
        self.put(1, "</worldbody>")
        ctrl = self.drives() if s.actuators else []
        if any(self.special.values()):
            self.put(1, "<custom>")
            for name, entries in self.special.items():
                if entries:
                    self.put(2, f'<tuple name="{name}">')
                    for target, value in entries:
                        self.put(3, f'<element objtype="geom" objname="{target}" prm="{value:.17g}"/>')
                    self.put(2, "</tuple>")
            self.put(1, "</custom>")
        if self.qpos:
            extra = f' ctrl="{words(ctrl)}"' if ctrl else ""
            self.put(1, "<keyframe>")
            self.put(2, f'<key name="start" qpos="{words(np.concatenate(self.qpos))}"')
            self.put(2, f'     qvel="{words(np.concatenate(self.qvel))}"{extra}/>')
            self.put(1, "</keyframe>")
        self.put(0, "</mujoco>")
        return "\n".join(self.out) + "\n"


def box_corners(half, centre=(0, 0, 0)):
    signs = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)], float)
    return signs * half + centre


def sphere_points(n, radius):
    """n points spread evenly over a sphere (golden angle)."""
    i = np.arange(n) + 0.5
    z, phi = 1 - 2 * i / n, i * np.pi * (3 - np.sqrt(5))
    r = np.sqrt(1 - z * z)
    return radius * np.stack([r * np.cos(phi), r * np.sin(phi), z], 1)


def tiles(scene, size, nx, ny, mu, x0=0.0, y0=None, thick=0.02, **more):
    """A floor of nx times ny boxes side by side, top at z = 0, from x0 on and centred in y (or from y0 on)."""
    y0 = -ny * size / 2 if y0 is None else y0
    for i in range(nx):
        for j in range(ny):
            centre = (x0 + (i + 0.5) * size, y0 + (j + 0.5) * size, -thick)
            scene.fixed(box(f"tile_{i}_{j}", [size / 2, size / 2, thick], pos=centre, mu=mu, **more))

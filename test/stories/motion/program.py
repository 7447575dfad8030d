"""Runs the program on a scene and gives its results back in the scene's own frame, whatever Frame it was run in."""
import json
import os
import subprocess
import tempfile

import numpy as np

from .mjcf import G, Frame, quat_conj, quat_mul, rotate

COLUMNS = ("px", "py", "pz", "nx", "ny", "nz", "fx", "fy", "fz", "tx", "ty", "tz", "area", "depth")


class Failed(Exception):
    pass


class Track:
    """One body over time: x, q, v, w as rows."""

    def __init__(self, rows, frame):
        back = quat_conj(frame.turn)
        self.x = rotate(back, rows[:, 0:3]) / frame.length
        self.q = quat_mul(np.broadcast_to(back, (len(rows), 4)), rows[:, 3:7])
        self.v = rotate(back, rows[:, 7:10]) * frame.time / frame.length
        self.w = rotate(back, rows[:, 10:13]) * frame.time

    def point(self, local):
        """A point of the body, given in body axes from its centre of mass, over time."""
        return self.x + rotate(self.q, np.broadcast_to(np.asarray(local, float), self.x.shape))

    def axis(self, local):
        return rotate(self.q, np.broadcast_to(np.asarray(local, float), self.x.shape))

    def seen_from(self, other):
        """Position and quaternion in the other body's axes, over time."""
        back = quat_conj(other.q)
        return rotate(back, self.x - other.x), quat_mul(back, self.q)


def turned(q):
    """Angle of each quaternion against the first."""
    d = quat_mul(quat_conj(q[0])[None], q)
    return 2 * np.arctan2(np.linalg.norm(d[:, 1:], axis=1), np.abs(d[:, 0]))


class Run:
    def __init__(self, folder, scene, frame, report, h):
        self.folder, self.scene, self.frame, self.report, self.h = folder, scene, frame, report, h
        self.read_bodies()
        self.read_joints()
        self._contacts = None

    def read_bodies(self):
        path = os.path.join(self.folder, "bodies.csv")
        names = []
        with open(path) as f:
            next(f)
            for line in f:
                name = line.split(",", 2)[1]
                if names and name == names[0]:
                    break
                names.append(name)
        rows = np.loadtxt(path, delimiter=",", skiprows=1, usecols=[0] + list(range(2, 15)), ndmin=2)
        rows = rows[: len(rows) // len(names) * len(names)].reshape(-1, len(names), 14)
        self.names, self.raw = names, rows[:, :, 1:]
        self.t = rows[:, 0, 0] / self.frame.time
        self.track = {n: Track(self.raw[:, i], self.frame) for i, n in enumerate(names)}

    def read_joints(self):
        self.joint = {}
        with open(os.path.join(self.folder, "joints.csv")) as f:
            next(f)
            for line in f:
                _, name, q, v = line.split(",")
                self.joint.setdefault(name, []).append((float(q), float(v)))
        hinged = {}

        def walk(bodies):
            for b in bodies:
                if isinstance(b.joint, dict):
                    hinged[b.joint["name"]] = b.joint["kind"] == "hinge"
                walk(b.children)

        walk(self.scene.bodies)
        for name, rows in self.joint.items():
            unit = 1 if hinged.get(name, True) else self.frame.length
            self.joint[name] = np.array(rows) / unit * [1, self.frame.time]

    @property
    def contacts(self):
        """dict of arrays: t, body1, body2, geom1, geom2, p, n, f, torque, area, depth."""
        if self._contacts is None:
            with open(os.path.join(self.folder, "contacts.csv")) as f:
                next(f)
                rows = [line.rstrip("\n").split(",") for line in f]
            names = np.array([r[1:5] for r in rows]).reshape(-1, 4)
            values = np.array([[r[0]] + r[5:19] for r in rows], float).reshape(-1, 15)
            back, f = quat_conj(self.frame.turn), self.frame
            self._contacts = dict(
                t=values[:, 0] / f.time, body1=names[:, 0], body2=names[:, 1], geom1=names[:, 2], geom2=names[:, 3],
                p=rotate(back, values[:, 1:4]) / f.length, n=rotate(back, values[:, 4:7]),
                f=rotate(back, values[:, 7:10]) / f.mass, torque=rotate(back, values[:, 10:13]) / (f.mass * f.length),
                area=values[:, 13] / f.length**2, depth=values[:, 14] / f.length)
        return self._contacts

    def max_depth(self, after=0.0):
        c = self.contacts
        seen = c["depth"][c["t"] > after]
        return float(seen.max()) if len(seen) else 0.0

    def friction_excess(self):
        """Largest |friction| / (mu N) of all contacts; forces below 1e-6 of the largest one are rounding and left out."""
        c, mu = self.contacts, self.scene.friction()
        if not len(c["t"]):
            return 0.0
        normal = np.sum(c["f"] * c["n"], 1)
        tangent = np.linalg.norm(c["f"] - normal[:, None] * c["n"], axis=1)
        bound = normal * np.array([max(mu[a], mu[b]) for a, b in zip(c["geom1"], c["geom2"])])
        tiny = 1e-6 * np.abs(normal).max()
        return float(np.max((tangent - tiny) / np.maximum(bound, 0.1 * tiny)))

    def whole_friction_excess(self, body):
        """The same for the sum of all contacts of one body with a common normal in each step: Coulomb's law adds up."""
        c, mu = self.contacts, self.scene.friction()
        mine = c["body1"] == body
        if not mine.any():
            return 0.0
        when, index = np.unique(c["t"][mine], return_inverse=True)
        force = np.zeros((len(when), 3))
        np.add.at(force, index, c["f"][mine])
        n = c["n"][mine][0]
        bound = max(max(mu[a], mu[b]) for a, b in zip(c["geom1"][mine][:50], c["geom2"][mine][:50]))
        normal = force @ n
        tangent = np.linalg.norm(force - normal[:, None] * n, axis=1)
        tiny = 1e-6 * np.abs(normal).max()
        return float(np.max((tangent - tiny) / np.maximum(bound * normal, 0.1 * tiny)))

    def energy(self, program, between=False):
        """Kinetic energy and total energy of all bodies over time, in the units of the run.

        between: with the mean of the velocities before and after each sample (all but the first and the last). What rolls or
        rocks is moved as by the leapfrog method: its velocities lie half a step before its coordinates, and an energy of
        both swings by the first order of the step while the motion keeps its energy.
        """
        info = json.loads(subprocess.run([program, "info", os.path.join(self.folder, "scene.xml"), "--json"],
                                         capture_output=True, text=True, check=True).stdout)
        body = {b["name"]: b for b in info["bodies"]}
        mass = np.array([body[n]["mass"] for n in self.names])
        inertia = np.array([body[n]["inertia"] for n in self.names])
        axes = np.array([body[n]["inertia_quat"] for n in self.names])
        g = np.array(info["gravity"])
        q = quat_mul(self.raw[:, :, 3:7], np.broadcast_to(axes, self.raw[:, :, 3:7].shape))
        x, v, w = self.raw[:, :, 0:3], self.raw[:, :, 7:10], rotate(quat_conj(q), self.raw[:, :, 10:13])
        if between:
            x, v, w = x[1:-1], 0.5 * (v[1:-1] + v[2:]), 0.5 * (w[1:-1] + w[2:])
        kinetic = 0.5 * np.sum(mass * np.sum(v ** 2, 2) + np.sum(inertia * w * w, 2), 1)
        return kinetic, kinetic - np.sum(mass * (x @ g), 1), mass.sum() * np.dot(g, g)

    def energy_rise(self):
        """Largest rise of the energy in a step against what is allowed, which is 1.

        Allowed is 1e-6 of the kinetic energy before the step, and 1e-2 of what the bodies' weight could give them in one step
        from rest, M (g h)^2 / 2: below that, taking back an overlap of 1e-8 m would count as a gain.
        """
        kinetic, total, weight = self.energies
        h = self.h * self.frame.time
        allowed = 1e-6 * kinetic[:-1] + 1e-2 * weight * h * h / 2 + 1e-12 * np.abs(kinetic).max() + 1e-300
        return float(np.max(np.diff(total) / allowed)) if len(total) > 1 else 0.0


class Program:
    def __init__(self, path, extra=(), timeout=120.0, keep=None):
        self.path, self.extra, self.timeout, self.keep = path, list(extra), timeout, keep
        self.used = 0

    def run(self, scene, duration, h, frame=None, forces=(), every=1, between=False):
        frame = frame or Frame()
        if self.keep:
            self.used += 1
            folder = os.path.join(self.keep, f"{self.used:04d}_{scene.name}")
            os.makedirs(folder, exist_ok=True)
            return self.run_in(folder, scene, duration, h, frame, forces, every, between)
        with tempfile.TemporaryDirectory(prefix="abut_story_") as folder:
            return self.run_in(folder, scene, duration, h, frame, forces, every, between)

    def run_in(self, folder, scene, duration, h, frame, forces, every, between):
        path = os.path.join(folder, "scene.xml")
        with open(path, "w") as f:
            f.write(scene.xml(frame, h * frame.time))
        command = [self.path, "run", path, "--time", f"{duration * frame.time:.17g}", "--step", f"{h * frame.time:.17g}",
                   "--csv", folder, "--json", "--quiet", "--key", "start", "--every", str(every)] + self.extra
        if forces:
            with open(os.path.join(folder, "forces.csv"), "w") as f:
                f.write("time,body,fx,fy,fz,tx,ty,tz\n")
                for t, body, force, torque in forces:
                    force = rotate(frame.turn, force) * frame.mass
                    torque = rotate(frame.turn, torque) * frame.mass * frame.length
                    f.write(",".join([f"{t * frame.time:.17g}", body] + [f"{v:.17g}" for v in (*force, *torque)]) + "\n")
            command += ["--forces", os.path.join(folder, "forces.csv")]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=self.timeout)
        except subprocess.TimeoutExpired:
            raise Failed(f"did not end in {self.timeout:g} s")
        try:
            report = json.loads(done.stdout)
        except ValueError:
            raise Failed(f"exit {done.returncode}: {(done.stderr or done.stdout).strip()[:200]}")
        if done.returncode not in (0, 1) or report.get("failure"):
            raise Failed(f"exit {done.returncode}: {report.get('failure')} {done.stderr.strip()[:160]}")
        run = Run(folder, scene, frame, report, h)
        run.contacts  # read while the folder is there
        run.energies = run.energy(self.path, between)
        run.rise = run.energy_rise() if every == 1 else None
        return run

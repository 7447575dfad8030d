"""The engines of motion.py, each in a process of its own: one that crashes or hangs costs its cells and nothing else."""
import ctypes
import multiprocessing
import pathlib

import numpy as np

try:
    import mujoco
except ImportError:
    mujoco = None

TEXT = 512  # bytes of a message, as in motion.h
PATIENCE = 300  # seconds for a block of steps, which is meant to take one
BROKEN = 2


class Step(ctypes.Structure):
    _fields_ = [(name, ctypes.c_double) for name in ("seconds", "kinetic", "status")]


class Scene(ctypes.Structure):
    _fields_ = [(name, ctypes.c_double) for name in ("h", "bodies", "unit")]


class Foreign(ctypes.Structure):
    _fields_ = [("step", ctypes.c_void_p), ("measure", ctypes.c_void_p), ("model", ctypes.c_void_p), ("data", ctypes.c_void_p),
                ("kinetic", ctypes.c_void_p), ("iterations", ctypes.c_void_p), ("niterations", ctypes.c_int), ("limit", ctypes.c_int)]


class Failed(Exception):
    """What an engine cannot do, or why it ended."""


class Library:
    """motion.h by ctypes."""

    def __init__(self, path):
        self.c = ctypes.CDLL(str(path))
        self.c.motion_open.restype = self.c.motion_adopt.restype = ctypes.c_void_p

    def call(self, function, *arguments):
        why = ctypes.create_string_buffer(TEXT)
        if function(*arguments, why):
            raise Failed(why.value.decode(errors="replace"))

    def about(self, file):
        scene = Scene()
        self.call(self.c.motion_about, str(file).encode(), ctypes.byref(scene))
        return scene

    def write_heap(self, n, h, file):
        self.call(self.c.motion_write_heap, n, ctypes.c_double(h), str(file).encode())

    def open(self, engine, file, key):
        why = ctypes.create_string_buffer(TEXT)
        motion = self.c.motion_open(engine.encode(), str(file).encode(), key.encode(), why)
        if not motion:
            raise Failed(why.value.decode(errors="replace"))
        return ctypes.c_void_p(motion)

    def run(self, motion, n):
        steps = (Step * n)()
        done = self.c.motion_run(motion, n, steps)
        return np.frombuffer(steps).reshape(n, 3)[:done].copy()


class Native:
    """abut, Bullet or ODE."""

    def __init__(self, library, engine, file, key):
        self.library, self.motion = library, library.open(engine, file, key)

    def reset(self):
        self.library.c.motion_reset(self.motion)

    def run(self, n):
        return self.library.run(self.motion, n)


class MuJoCo:
    """Its own library does the steps; Python only hands over where things are."""

    def __init__(self, library, file, key):
        if not mujoco:
            raise Failed("not installed (bench/peers/python.sh)")
        try:
            self.model = mujoco.MjModel.from_xml_path(str(file))
        except ValueError as error:
            raise Failed(str(error).splitlines()[0]) from None
        self.data = mujoco.MjData(self.model)
        self.key = self.model.key(key).id if key else -1
        self.library = library
        path = next(pathlib.Path(mujoco.__file__).parent.glob("libmujoco.so*"))
        self.c = ctypes.CDLL(str(path))
        address = lambda f: ctypes.cast(f, ctypes.c_void_p)
        self.foreign = Foreign(address(self.c.mj_step), address(self.c.mj_energyVel), self.model._address, self.data._address,
                               self.data.energy.ctypes.data + 8, self.data.solver_niter.ctypes.data, self.data.solver_niter.size,
                               self.model.opt.iterations)
        self.motion = ctypes.c_void_p(library.c.motion_adopt(ctypes.byref(self.foreign)))

    def reset(self):
        if self.key < 0:
            mujoco.mj_resetData(self.model, self.data)
        else:
            mujoco.mj_resetDataKeyframe(self.model, self.data, self.key)

    def run(self, n):
        """It begins anew by itself when it has broken down: the block in which that happened does not count."""
        steps = self.library.run(self.motion, n)
        bad = (w for w in mujoco.mjtWarning.__members__.values() if w.name not in ("mjWARN_INERTIA", "mjNWARNING"))
        if any(self.data.warning[int(w)].number for w in bad):
            steps[:, 2] = BROKEN
        return steps


def serve(pipe, library, engine, file, key):
    try:
        world = MuJoCo(library, file, key) if engine == "mujoco" else Native(library, engine, file, key)
        pipe.send(None)
        while (n := pipe.recv()) is not None:
            pipe.send(world.run(n) if n else world.reset())
    except Failed as error:
        pipe.send(error)
    except EOFError:
        pass


class Worker:
    """An engine in its process, on one scene."""

    def __init__(self, library, engine, file, key):
        self.pipe, far = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=serve, args=(far, library, engine, file, key), daemon=True)
        self.process.start()
        far.close()
        self.talk()

    def talk(self, *request):
        try:
            for word in request:
                self.pipe.send(word)
            if not self.pipe.poll(PATIENCE):
                raise Failed(f"no answer within {PATIENCE} s")
            answer = self.pipe.recv()
        except (EOFError, ConnectionError):
            self.process.join()
            raise Failed(f"ended with {self.process.exitcode}") from None
        if isinstance(answer, Failed):
            raise answer
        return answer

    def ask(self, n):
        """n steps, each (seconds, kinetic energy, status); 0: back to the start."""
        return self.talk(n)

    def close(self):
        self.process.kill()
        self.process.join()

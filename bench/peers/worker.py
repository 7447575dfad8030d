"""The far end of engine_python.cpp: an engine of the Python registry behind the interface of engine.h.

Requests are lines on the standard input, answers are binary on the standard output:

    scene ID SETTING JSON   build a scene                          -> state
    step ID                 one step                               -> state
    apply ID BODY 6 NUMBERS force and torque until the next call      (no answer)
    contacts ID             how many points or surfaces touch      -> state
    drop ID                 forget the scene                          (no answer)

A state is 4 doubles (broken?, contacts or -1, processor seconds, wall seconds of the engine's own
step) and 13 per body: place of the centre of mass, unit quaternion w x y z, velocity, angular velocity,
all in world axes. Time is taken here, around the engine's own step, so that neither the pipe nor
the reading of the state is counted. The clock is that of the thread: under a limit of processor time the
process's own goes in ticks.
"""
import json
import os
import sys
import time

import numpy as np


def serve(engine):
    """engine(scene, setting) must have step(), apply(body, wrench), state() -> (n, 13), contacts(), broken()."""
    # what an engine prints must not get between the answers
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    worlds = {}
    for line in sys.stdin:
        word = line.split(" ", 3)
        if word[0] == "scene":
            worlds[word[1]] = engine(json.loads(word[3]), word[2])
        elif word[0] == "apply":
            body, *wrench = word[2:3] + word[3].split()
            worlds[word[1]].apply(int(body), np.array(wrench, dtype=float))
            continue
        elif word[0] == "drop":
            worlds.pop(word[1].strip(), None)
            continue
        world = worlds[word[1].strip()]
        processor, wall = time.thread_time(), time.perf_counter()
        if word[0] == "step":
            world.step()
        head = [0, -1, time.thread_time() - processor, time.perf_counter() - wall]
        head[0] = float(world.broken())
        if word[0].strip() == "contacts":
            head[1] = world.contacts()
        answers.write(np.array(head).tobytes())
        answers.write(np.ascontiguousarray(world.state(), dtype=float).tobytes())
        answers.flush()


def main(engine, version):
    if sys.argv[1:] == ["--version"]:
        print(version)
    else:
        serve(engine)

"""Environments for gymnasium: `gymnasium.make("abut/PushT-v0")`, `gymnasium.make_vec("abut/PushT-v0", 64)`.

Each class says what its actions, observations and rewards are. Episodes depend on the seed alone: world i of a vector that is
reset with seed s lives through what a single environment with seed s + i does, to the bit, on any number of threads.
"""

from __future__ import annotations

from ._task import Task, TaskEnv, TaskVectorEnv
from ._tasks import PegInHole, PlaceOnEdge, PushT, SlideToTarget, Stack


class PushTEnv(TaskEnv):
    __doc__ = PushT.__doc__
    task_type = PushT


class PushTVectorEnv(TaskVectorEnv):
    __doc__ = PushT.__doc__
    task_type = PushT


class PlaceOnEdgeEnv(TaskEnv):
    __doc__ = PlaceOnEdge.__doc__
    task_type = PlaceOnEdge


class PlaceOnEdgeVectorEnv(TaskVectorEnv):
    __doc__ = PlaceOnEdge.__doc__
    task_type = PlaceOnEdge


class StackEnv(TaskEnv):
    __doc__ = Stack.__doc__
    task_type = Stack


class StackVectorEnv(TaskVectorEnv):
    __doc__ = Stack.__doc__
    task_type = Stack


class SlideToTargetEnv(TaskEnv):
    __doc__ = SlideToTarget.__doc__
    task_type = SlideToTarget


class SlideToTargetVectorEnv(TaskVectorEnv):
    __doc__ = SlideToTarget.__doc__
    task_type = SlideToTarget


class PegInHoleEnv(TaskEnv):
    __doc__ = PegInHole.__doc__
    task_type = PegInHole


class PegInHoleVectorEnv(TaskVectorEnv):
    __doc__ = PegInHole.__doc__
    task_type = PegInHole


__all__ = [
    "PegInHoleEnv", "PegInHoleVectorEnv", "PlaceOnEdgeEnv", "PlaceOnEdgeVectorEnv", "PushTEnv", "PushTVectorEnv", "SlideToTargetEnv",
    "SlideToTargetVectorEnv", "StackEnv", "StackVectorEnv", "Task", "TaskEnv", "TaskVectorEnv",
]

"""A case runs scenes and states claims; each claim is one row of the table."""
import numpy as np

from .mjcf import ONE, Frame
from .program import Failed

CASES = []
STEPS = (1, 2, 5, 10)  # ms


class Case:
    def __init__(self, story, name, function, options, variant, steps, quick, scene_file):
        self.story, self.name, self.function, self.options, self.variant = story, name, function, options, variant
        self.steps, self.quick, self.scene_file = steps, quick, scene_file


def case(story, name, steps=STEPS, quick=(), variants=None, file=False, base=None):
    """Registers a case. `variants` maps a name to arguments of the function; turn, scale and mass make its Frame.
    quick: the steps [ms] at which the base case belongs to the short run. steps = (None,): the case chooses its own.
    file: its scene is kept in scenes/stories."""

    def register(function):
        CASES.append(Case(story, name, function, base or {}, False, steps, quick, file))
        for key, options in (variants or {}).items():
            options = dict(options)
            CASES.append(Case(story, f"{name}/{key}", function, {**(base or {}), **options},
                              True, options.pop("steps", steps) if "steps" in options else steps, (), False))
            CASES[-1].options.pop("steps", None)
        return function

    return register


class Context:
    """What a case sees: it runs scenes at the step h [s] and states claims."""

    def __init__(self, program, h, options):
        self.program, self.h = program, h
        options = dict(options)
        self.frame = Frame(options.pop("turn", ONE), options.pop("scale", 1.0), options.pop("mass", 1.0))
        self.options, self.rows = options, []
        self.unconverged, self.residual, self.steps, self.wall = 0, 0.0, 0, 0.0
        self.first_scene = None

    def run(self, scene, duration, h=None, forces=(), every=1, conserves=True, rolls=False):
        """conserves: nothing but gravity and contact acts, so energy may not rise. rolls: energies are those between two steps."""
        self.first_scene = self.first_scene or scene
        run = self.program.run(scene, duration, h or self.h, self.frame, forces, every, rolls)
        report = run.report
        self.unconverged += report["unconverged_steps"]
        self.residual = max(self.residual, report["max_residual"])
        self.steps += report["steps"]
        self.wall += report["wall_s"]
        if conserves and not forces and not scene.actuators and run.rise is not None:
            self.rise = max(getattr(self, "rise", 0.0), run.rise)
        if not np.all(np.isfinite(run.raw)):
            raise Failed("a state is not finite")
        return run

    def swings(self, run):
        """What rolls has its velocities half a step before its coordinates: an energy of both swings by the first order of the
        step, and does not grow."""
        kinetic, total, _ = run.energies
        self.check("energy above its least / kinetic", (total - np.minimum.accumulate(total)).max() / kinetic.max(), high=1.5 * self.h)

    def check(self, claim, measured, low=None, high=None, near=None, within=None):
        """low <= measured <= high, or |measured - near| <= within."""
        if near is not None:
            low, high = near - within, near + within
        measured = float(measured)
        ok = np.isfinite(measured) and (low is None or measured >= low) and (high is None or measured <= high)
        if near is not None:
            limit = f"{near:.5g} +- {within:.2g}"
        else:
            limit = " ".join(x for x in (f">= {low:.5g}" if low is not None else "", f"<= {high:.5g}" if high is not None else "") if x)
        self.rows.append((claim, measured, limit, bool(ok)))

    def ratio(self, claim, measured, expected, tolerance):
        self.check(claim, measured, near=expected, within=abs(expected) * tolerance)

    def holds(self, claim, fact):
        self.rows.append((claim, float(bool(fact)), "true", bool(fact)))

    def finish(self):
        self.check("steps not solved", self.unconverged, high=0)
        if hasattr(self, "rise"):
            self.check("energy rise / allowed", self.rise, high=1)


# Cases and steps [ms] of which some claim does not hold yet: the full run measures and reports them, the short one leaves
# them out. A case that comes to hold is taken off this list.
OPEN = {(case_name, ms) for steps, names in {
    STEPS: """cloud/fast cloud/smooth corner_strikes/sticks flail_strikes flail_strikes/rough mixed_heap/bouncy mixed_heap/heavy_light
              wedge_under_a_load/tons""",
    (1, 2, 5): "order_of_two/cylinders",
    (2, 5, 10): """ball_in_box/fast heavy_on_light/plate mixed_heap mixed_heap/box_floor mixed_heap/seed_2 mixed_heap/seed_4 mixed_heap/slippery
                   mixed_heap/turned""",
    (5, 10): "cloud cloud/small mixed_heap/seed_3 mixed_heap/small twisted_to_and_fro/tall",
    (1,): "stack_dropped/gaps",
    (2,): "stack_hit_by_ball stack_hit_by_ball/turned_small",
    (5,): "ball_in_box",
    (10,): """ball_on_ball/not_elastic cloud/seed_2 cloud/seed_4 cloud/seed_5 drum/gentle same_to_the_bit_when_larger/small
              same_when_turned/mesh""",
}.items() for ms in steps for case_name in names.split()}

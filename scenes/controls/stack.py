#!/usr/bin/env python3
"""Writes stacker.csv beside it: controls for scenes/stacker.xml.

The hand points down. Its place (x, y, z between the fingertips) and its turn about the vertical give the joints: `turn` is the azimuth, and
in the vertical plane of the arm the wrist lies at the distance r and the height z + HAND, so with d its distance from the shoulder the two bones
of length L make the elbow 2 acos(d / 2 L), half of which turns the upper arm back from the line to the wrist; `bend` is what is left to point
down. Between places the hand moves along straight lines, with speed 0 at both ends."""
import csv
import math
import os

L, SHOULDER, HAND, SAMPLE = 0.3, 0.35, 0.05 + 0.093, 0.02  # m; wrist over what the fingers grip; s
BLOCKS = [(0.3, -0.25, 0.4), (0.42, -0.12, -0.3), (0.25, 0.3, 0.9)]  # x, y, turn about z
TOWER, SIDE, CLEAR = (0.38, 0.1, 0.0), 0.04, 0.1  # where, edge of a block, how far above things the hand travels
OPEN, CLOSED = -0.005, 0.016  # fingers: 15 mm off a block; 6 mm into it, which is 9 N
HOME = (0.3, 0.0, 0.25, 0.0)


def joints(x, y, z, turn):
    azimuth, r, up = math.atan2(y, x), math.hypot(x, y), z + HAND - SHOULDER
    half = math.acos(math.hypot(r, up) / (2 * L))
    shoulder = math.atan2(r, up) - half
    return {"turn": azimuth, "shoulder": shoulder, "elbow": 2 * half, "bend": math.pi - shoulder - 2 * half, "twist": azimuth - turn}


def plan():
    """(seconds, place, fingers): one leg of the way after the other"""
    yield 1.0, HOME, OPEN
    for k, (x, y, turn) in enumerate(BLOCKS):
        for place, (px, py, pt), height, grip in (("take", (x, y, turn), 0.5 * SIDE, CLOSED), ("put", TOWER, (k + 0.5) * SIDE + 3e-4, OPEN)):
            before = OPEN if place == "take" else CLOSED
            over = max(height, k * SIDE) + CLEAR
            yield 1.2, (px, py, over, pt), before
            yield 0.8, (px, py, height, pt), before
            yield 0.5, (px, py, height, pt), grip
            yield 0.7, (px, py, over, pt), grip
    yield 1.5, HOME, OPEN


def main():
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "stacker.csv"), "w", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["time", "actuator", "value"])
        t, place, fingers = 0.0, HOME, OPEN
        for seconds, goal, grip in plan():
            n = round(seconds / SAMPLE)
            for k in range(1, n + 1):
                s = k / n
                s = s * s * (3 - 2 * s)
                angle = joints(*(a + s * (b - a) for a, b in zip(place, goal)))
                angle["left"] = angle["right"] = fingers + s * (grip - fingers)
                for name, value in angle.items():
                    out.writerow([f"{t + k * SAMPLE:.2f}", name, f"{value:.6f}"])
            t, place, fingers = t + seconds, goal, grip
        print(f"{t:.1f} s; home: {joints(*HOME)}")


if __name__ == "__main__":
    main()

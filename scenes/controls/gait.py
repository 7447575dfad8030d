#!/usr/bin/env python3
"""Writes quadruped.csv beside it: controls for scenes/quadruped.xml, a trot at a fixed pace.

Diagonal legs swing together. A foot in the air goes forward by the stride on an arch, one on the ground goes back by it; the angles of thigh
and knee follow from its place under the hip: both bones have the length L, so with d the distance of hip and foot the knee is bent by
2 acos(d / 2 L), and half of that turns the thigh from the line between them."""
import csv
import math
import os

LEGS = {"fl": 0.0, "rr": 0.0, "fr": 0.5, "rl": 0.5}  # phase
L, HEIGHT = 0.2, 0.2787  # m: bones, hip over foot when standing
PERIOD, STRIDE, LIFT = 0.5, 0.09, 0.09  # s, m, m
STANCE, STEER = 0.12, 0.015  # rad that the legs are turned out; share that left steps are longer and right ones shorter
BEGIN, WALK, SAMPLE = 0.5, 12.5, 0.01  # s


def angles(x, z):
    d = math.hypot(x, z)
    half = math.acos(min(1.0, d / (2 * L)))
    return math.atan2(-x, -z) + half, -2 * half


def foot(phase, size):
    """Where a foot is under its hip; size grows from 0 to 1 as the gait begins."""
    if phase < 0.5:
        s = 2 * phase
        forward = -0.5 + s * s * s * (10 - 15 * s + 6 * s * s)  # up first, then forward, then down
        return STRIDE * size * forward, -HEIGHT + LIFT * size * (1 - (2 * s - 1) ** 4)
    return STRIDE * size * (0.5 - 2 * (phase - 0.5)), -HEIGHT


def main():
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "quadruped.csv"), "w", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["time", "actuator", "value"])
        for leg in LEGS:
            out.writerow(["0.00", leg + "_roll", STANCE if leg.endswith("l") else -STANCE])
        for k in range(round(WALK / SAMPLE) + 1):
            t = k * SAMPLE
            size = min(1.0, t / PERIOD, (WALK - t) / PERIOD)
            for leg, phase in LEGS.items():
                x, z = foot((t / PERIOD + phase) % 1, size)
                thigh, knee = angles(x * (1 + (STEER if leg.endswith("l") else -STEER)), z)
                out.writerow([f"{BEGIN + t:.2f}", leg + "_pitch", f"{thigh:.5f}"])
                out.writerow([f"{BEGIN + t:.2f}", leg + "_knee", f"{knee:.5f}"])


if __name__ == "__main__":
    main()

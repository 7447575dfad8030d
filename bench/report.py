#!/usr/bin/env python3
"""out/bench/*.csv -> out/bench/index.html: one table per case, one work-precision picture per case.

usage: report.py DIR

In a row with a reference, the engines whose relative error is within 10 % of the smallest are
marked; in a row without one, those within 10 % of the smallest value.
"""
import csv
import glob
import html
import math
import os
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 110rem; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; font-size: 12px; font-variant-numeric: tabular-nums; }
th, td { padding: 2px 7px; text-align: right; border-bottom: 1px solid #ddd; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; position: sticky; left: 0; background: #fff; }
td.best { background: #dff0d8; font-weight: 600; }
td.own { border-left: 2px solid #888; }
.scroll { overflow-x: auto; } img { max-width: 100%; } pre { font-size: 12px; overflow-x: auto; background: #f6f6f6; padding: 1rem; }
"""
COLOURS = {"abut": "tab:green", "mujoco": "tab:blue", "bullet": "tab:red", "ode": "tab:orange", "dart": "tab:purple"}
MARKS = "os^Dv<>P"


def number(text):
    try:
        return float(text)
    except ValueError:
        return math.nan


def read_case(path):
    notes, rows, ended = [], [], []
    with open(path, newline="") as f:
        lines = f.read().splitlines()
    for line in lines:
        if line.startswith("# ended "):
            ended.append(line[8:])
        elif line.startswith("# "):
            notes.append(line[2:])
        elif line:
            rows.append(next(csv.reader([line])))
    return notes, rows[0], rows[1:], ended


def marks(reference, values):
    """Which values count as best."""
    if math.isnan(reference):
        score = [abs(v) for v in values]
    else:
        score = [abs(v - reference) for v in values]
    finite = [s for s in score if not math.isnan(s)]
    if len(finite) < 2:
        return [False] * len(values)
    least = min(finite)
    return [not math.isnan(s) and s <= 1.1 * least + 1e-12 * abs(reference if reference == reference else 0) for s in score]


def show(v):
    return "&ndash;" if math.isnan(v) else f"{v:.4g}"


def table(header, rows):
    out = ["<div class=scroll><table><tr>" + "".join(f"<th>{html.escape(h)}</th>" for h in header) + "</tr>"]
    for row in rows:
        reference, values = number(row[1]), [number(v) for v in row[2:]]
        cells = [f"<td>{html.escape(row[0])}</td>", f"<td>{'' if math.isnan(reference) else show(reference)}</td>"]
        neutral = row[0].startswith("contacts")
        for v, best in zip(values, marks(reference, values)):
            cells.append(f"<td{' class=best' if best and not neutral else ''}>{show(v)}</td>")
        out.append("<tr>" + "".join(cells) + "</tr>")
    return "\n".join(out) + "</table></div>"


def work_precision(folder):
    """One picture per case; returns {case letter: file name}."""
    points = {}
    path = os.path.join(folder, "work_precision.csv")
    if not os.path.exists(path):
        return {}
    with open(path, newline="") as f:
        for r in csv.DictReader(f):
            points.setdefault(r["case"], {}).setdefault(r["engine"], []).append(
                (number(r["seconds per simulated second"]), number(r["error"])))
    names = {}
    for case, engines in points.items():
        figure, axes = plt.subplots(figsize=(9, 5.5))
        count = {}
        for engine, series in engines.items():
            family = engine.split("/")[0]
            k = count[family] = count.get(family, -1) + 1
            good = [(c, max(e, 1e-13)) for c, e in series if not math.isnan(e)]
            if good:
                axes.loglog(*zip(*good), marker=MARKS[k % len(MARKS)], color=COLOURS.get(family), label=engine,
                            linestyle="-" if k == 0 else ":", alpha=0.85)
        axes.set_xlabel("seconds per simulated second (left is faster)")
        axes.set_ylabel("relative error (low is better)")
        axes.set_title(f"case {case}: h = 1, 2, 5, 10 ms")
        axes.grid(True, which="major", alpha=0.3)
        axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
        name = f"work_{case}.png"
        figure.savefig(os.path.join(folder, name), dpi=110, bbox_inches="tight")
        plt.close(figure)
        names[case] = name
    return names


def pile_picture(folder):
    path = os.path.join(folder, "case_E.csv")
    if not os.path.exists(path):
        return None
    _, header, rows, _ = read_case(path)
    figure, axes = plt.subplots(1, 2, figsize=(12, 5))
    for axis, kind in zip(axes, ("falling, ms per step, n ", "settled, ms per step, n ")):
        count = {}
        chosen = sorted((r for r in rows if r[0].startswith(kind)), key=lambda r: int(r[0][len(kind):]))
        for j, engine in enumerate(header[2:], start=2):
            family = engine.split("/")[0]
            k = count[family] = count.get(family, -1) + 1
            pts = [(int(r[0][len(kind):]), number(r[j])) for r in chosen]
            pts = [p for p in pts if not math.isnan(p[1]) and p[1] > 0]
            if pts:
                axis.loglog(*zip(*pts), marker=MARKS[k % len(MARKS)], color=COLOURS.get(family), label=engine,
                            linestyle="-" if k == 0 else ":")
        axis.set_xlabel("boxes")
        axis.set_title(kind.split(",")[0])
        axis.grid(True, alpha=0.3)
    axes[0].set_ylabel("ms per step")
    axes[1].legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(os.path.join(folder, "pile.png"), dpi=110, bbox_inches="tight")
    plt.close(figure)
    return "pile.png"


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else "out/bench"
    pictures = work_precision(folder)
    pile = pile_picture(folder)
    parts = ["<!doctype html><meta charset=utf-8><title>abut beside its peers</title>", f"<style>{STYLE}</style>",
             "<h1>abut beside its peers</h1>",
             "<p>All numbers from one run on one machine. Marked: best of the row (within 10 %). "
             "A dash: not possible, not stable, or not within its limit of time.</p>"]
    engines = os.path.join(folder, "engines.csv")
    if os.path.exists(engines):
        with open(engines, newline="") as f:
            parts.append("<table>" + "".join(
                f"<tr><td>{html.escape(r['engine'])}</td><td style='text-align:left'>{html.escape(r['setting'])}</td></tr>"
                for r in csv.DictReader(f)) + "</table>")
    for path in sorted(glob.glob(os.path.join(folder, "case_*.csv"))):
        letter = os.path.basename(path)[5]
        notes, header, rows, ended = read_case(path)
        parts.append(f"<h2>{letter}. {html.escape(notes[0])}</h2><p>{html.escape(' '.join(notes[1:]))}</p>")
        parts.append(table(header, rows))
        parts.extend(f"<p>{html.escape(e)}</p>" for e in ended)
        if letter in pictures:
            parts.append(f"<img src={pictures[letter]} alt='work and precision, case {letter}'>")
        if letter == "E" and pile:
            parts.append(f"<img src={pile} alt='time per step over the number of boxes'>")
    for path in sorted(glob.glob(os.path.join(folder, "*.txt"))):
        name = os.path.basename(path)[:-4]
        if name == "peers":
            continue
        with open(path) as f:
            parts.append(f"<h2>{html.escape(name)}</h2><pre>{html.escape(f.read())}</pre>")
    with open(os.path.join(folder, "index.html"), "w") as f:
        f.write("\n".join(parts) + "\n")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""out/bench/*.csv -> out/bench/index.html: how abut stands, one table per case, one work-precision picture per case.

usage: report.py DIR

The first table (also summary.csv, and on the terminal) compares abut's default model with every setting of
every peer, number by number. In the tables of the cases: in a row with a reference, the engines whose relative error is within 10 % of the smallest are
marked; in a row without one, those within 10 % of the smallest value.
"""
import csv
import glob
import html
import math
import os
import re
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 110rem; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; font-size: 12px; font-variant-numeric: tabular-nums; }
th, td { padding: 2px 7px; text-align: right; border-bottom: 1px solid #ddd; white-space: nowrap; }
td.text { text-align: left; }
th:first-child, td:first-child { text-align: left; position: sticky; left: 0; background: #fff; }
td.best { background: #dff0d8; font-weight: 600; }
td.own { border-left: 2px solid #888; }
td.win { background: #dff0d8; } td.level { background: #f4f4f4; } td.loss { background: #f8d7da; }
.scroll { overflow-x: auto; } img { max-width: 100%; } pre { font-size: 12px; overflow-x: auto; background: #f6f6f6; padding: 1rem; }
"""
COLOURS = {"abut": "tab:green", "mujoco": "tab:blue", "mujoco-new": "tab:cyan", "bullet": "tab:red", "ode": "tab:orange",
           "dart": "tab:purple", "simbody": "tab:brown", "drake": "black"}
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
        elif line.startswith("# cost "):
            continue
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


OURS = "abut/patch"
# What counts as exact: differences below are noise of the measurement, and such numbers are level.
EXACT_RELATIVE, EXACT = 1e-5, 1e-9
RESOLUTION = {"breakaway": 1e-3, "combined load": 1e-3}  # of the bisection and of what counts as held
VARIANT = re.compile(r",? (h [0-9.]+ ms|n [0-9]+|[0-9]+ cubes|1 : [0-9e+]+|F [0-9.]+ of the limit)(?=,|$)")
NOT_COMPARED = ("contacts", "steps it calls", "same hash", "speed-up", "memory per body, counted", "memory per body [kB]")


def compare(name, reference, values):
    """(rank of abut among the peers, is it level with the best of them, the name of that one)"""
    def error(v):
        return math.inf if math.isnan(v) else abs(v if math.isnan(reference) else v - reference)

    relative = next((r for start, r in RESOLUTION.items() if name.startswith(start)), EXACT_RELATIVE)
    floor = EXACT if math.isnan(reference) else relative * abs(reference)
    ours = max(error(values[OURS]), floor)
    peers = {k: max(error(v), floor) for k, v in values.items() if not k.startswith("abut/")}
    best = min(peers, key=peers.get)
    rank = 1 + sum(p < ours / 1.05 for p in peers.values())
    level = rank == 1 and peers[best] < 1.05 * ours
    return rank, level, best


def summary(cases):
    """[(case, number, won, level, lost, worst rank, example: variant, ours, best peer's, its name, reference)]"""
    groups = {}
    for letter, (_, header, rows, _) in cases.items():
        if OURS not in header:
            continue
        for row in rows:
            values = {k: number(v) for k, v in zip(header[2:], row[2:])}
            known = [k for k, v in values.items() if not math.isnan(v)]
            if row[0].startswith(NOT_COMPARED) or not any(not k.startswith("abut/") for k in known):
                continue
            name = VARIANT.sub("", row[0])
            rank, level, best = compare(name, number(row[1]), values)
            variant = row[0][len(name):].lstrip(", ")
            groups.setdefault((letter, name), []).append(
                (rank, level, variant, values[OURS], values[best], best, number(row[1])))
    out = []
    for (letter, name), rows in groups.items():
        worst = max(rows, key=lambda r: r[0])
        won, level = sum(r[0] == 1 and not r[1] for r in rows), sum(r[1] for r in rows)
        out.append((letter, name, won, level, len(rows) - won - level) + worst)
    return out


def is_time(name):
    return "per step" in name or name.startswith("exponent") or name.startswith("memory")


def totals(rows):
    lines = []
    for kind, chosen in (("accuracy and rest", [r for r in rows if not is_time(r[1])]),
                         ("time and memory", [r for r in rows if is_time(r[1])])):
        won, level, lost = (sum(r[k] for r in chosen) for k in (2, 3, 4))
        lines.append(f"{kind}: of {won + level + lost} numbers {OURS} is alone the best in {won}, level with the best peer in "
                     f"{level}, behind in {lost}")
    return lines


def cell(cases, letter, start, engine):
    if letter not in cases or engine not in cases[letter][1]:
        return math.nan
    column = cases[letter][1].index(engine)
    return next((number(r[column]) for r in cases[letter][2] if r[0].startswith(start)), math.nan)


def accurate_peers(cases):
    """Peers right to 1 % in B and C at 1 ms, and what a step of the largest pile costs them."""
    lines = []
    engines = cases["C"][1][2:] if "C" in cases and "B" in cases else []
    for e in engines:
        errors = [cell(cases, "B", f"worst {w} of 4 yaws (rel.), h 1 ms", e) for w in ("place", "turn")]
        for start, reference in (("breakaway force [N], h 1 ms", 2.45), ("breakaway torque [N m], h 1 ms", 0.0937358),
                                 ("combined load / limit, h 1 ms", 1)):
            errors.append(abs(cell(cases, "C", start, e) / reference - 1))
        worst = max(errors) if not any(math.isnan(x) for x in errors) else math.inf
        if worst > 0.01:
            continue
        times = [f"n {n}: {show(cell(cases, 'E', f'falling, ms per step, n {n}', e))} falling, "
                 f"{show(cell(cases, 'E', f'settled, ms per step, n {n}', e))} settled" for n in (30, 100, 300, 1000)]
        lines.append(f"{e} (worst {100 * worst:.2g} %), ms per step of the pile: " + "; ".join(times))
    return lines


def summary_page(cases, folder):
    rows = summary(cases)
    if not rows:
        return []
    with open(os.path.join(folder, "summary.csv"), "w", newline="") as f:
        w = csv.writer(f)
        w.writerow(("case", "number", "won", "level", "lost", "worst rank", "level there", "where", OURS, "best peer", "its name",
                    "reference"))
        w.writerows(rows)
    head = ("case", "number", "won", "level", "lost", "worst rank", "there", OURS, "best peer", "", "reference")
    out = ["<h2>Where abut stands</h2>",
           f"<p>Default model {OURS} against every setting of every peer. Won: better than all of them by 5 %; level: within 5 % of "
           f"the best, or both exact (below {EXACT:g}, or {EXACT_RELATIVE:g} of the reference, or the resolution of the bisection); "
           "lost: some peer is better. Over the step sizes, counts or loads of the row; the right part shows the one where abut stands worst.</p>"]
    out += [f"<p><b>{line}.</b></p>" for line in totals(rows)]
    out.append("<div class=scroll><table><tr>" + "".join(f"<th>{h}</th>" for h in head) + "</tr>")
    for letter, name, won, level, lost, rank, _, variant, ours, theirs, who, reference in rows:
        kind = "loss" if lost else "win" if won else "level"
        cells = [html.escape(f"{letter}"), html.escape(name), won, level, lost, rank, html.escape(variant), show(ours), show(theirs),
                 html.escape(who), "" if math.isnan(reference) else show(reference)]
        style = ["plain", "text"] + [kind] * 4 + ["plain"] * 5
        out.append("<tr>" + "".join(f"<td class={k}>{c}</td>" for k, c in zip(style, cells)) + "</tr>")
    out.append("</table></div>")
    reasons = {}
    for letter, (_, _, _, ended) in cases.items():
        for line in ended:
            engine, _, why = line.partition(": ")
            reasons.setdefault(why, []).append(f"{letter} {engine}")
    out.append("<h3>Cut, left out or failed</h3>" if reasons else "")
    out += [f"<p>{html.escape(why)}: {html.escape(', '.join(who))}</p>" for why, who in sorted(reasons.items())]
    out.append("<h3>Accurate to 1 % in B and C at 1 ms</h3>")
    peers = accurate_peers(cases)
    out += [f"<p>{p}</p>" for p in peers] or ["<p>none</p>"]
    for line in totals(rows) + ["accurate to 1 % in B and C: " + p.replace("&ndash;", "-") for p in peers]:
        print("bench: " + line)
    return out


def engine_order(folder):
    path = os.path.join(folder, "engines.csv")
    if not os.path.exists(path):
        return []
    with open(path, newline="") as f:
        return [r["engine"] for r in csv.DictReader(f)]


def line_style(engine, k):
    """k: place within its family. The default model stands out; other first settings are drawn through."""
    style = {"marker": MARKS[k % len(MARKS)], "color": COLOURS.get(engine.split("/")[0]), "label": engine,
             "linestyle": "-" if k == 0 else ":", "alpha": 0.85}
    if engine == OURS:
        style.update(linewidth=3, markersize=9, zorder=5)
    return style


def work_precision(folder):
    """One picture per case; returns {case letter: file name}."""
    points, order = {}, engine_order(folder)
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
        for engine in sorted(engines, key=lambda e: order.index(e) if e in order else len(order)):
            series, family = sorted(engines[engine]), engine.split("/")[0]
            k = count[family] = count.get(family, -1) + 1
            good = [(c, max(e, 1e-13)) for c, e in series if math.isfinite(e)]
            if good:
                axes.loglog(*zip(*good), **line_style(engine, k))
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
    figure, axes = plt.subplots(2, 2, figsize=(12, 9))
    axes = axes.flatten()
    for axis, kind in zip(axes, ("falling, ms per step, n ", "settled, ms per step, n ", "penetration [m], n ",
                                 "force chatter std/weight, n ")):
        count = {}
        chosen = sorted((r for r in rows if r[0].startswith(kind)), key=lambda r: int(r[0][len(kind):]))
        for j, engine in enumerate(header[2:], start=2):
            family = engine.split("/")[0]
            k = count[family] = count.get(family, -1) + 1
            pts = [(int(r[0][len(kind):]), number(r[j])) for r in chosen]
            pts = [p for p in pts if not math.isnan(p[1]) and p[1] > 0]
            if pts:
                axis.loglog(*zip(*pts), **line_style(engine, k))
        if axis in axes[2:]:
            axis.set_xlabel("boxes")
        axis.set_title(kind[:-4])
        axis.grid(True, alpha=0.3)
    handles = {}
    for axis in axes:
        handles.update((label, h) for h, label in zip(*axis.get_legend_handles_labels()))
    axes[1].legend(handles.values(), handles.keys(), fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
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
    cases = {os.path.basename(p)[5]: read_case(p) for p in sorted(glob.glob(os.path.join(folder, "case_*.csv")))}
    parts += summary_page(cases, folder)
    parts.append("<h2>Engines and settings</h2>")
    engines = os.path.join(folder, "engines.csv")
    if os.path.exists(engines):
        with open(engines, newline="") as f:
            parts.append("<table>" + "".join(
                f"<tr><td>{html.escape(r['engine'])}</td><td style='text-align:left'>{html.escape(r['setting'])}</td></tr>"
                for r in csv.DictReader(f)) + "</table>")
    for letter, (notes, header, rows, ended) in cases.items():
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

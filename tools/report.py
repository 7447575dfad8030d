#!/usr/bin/env python3
"""Draws the report of the papers' experiments from the JSON files of a run.

usage: report.py DIR     reads DIR/list.txt and DIR/*.json, writes DIR/index.html (self-contained, plots as SVG)
"""
import html
import io
import json
import os
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

plt.rcParams.update(
    {
        "figure.figsize": (6.4, 3.8),
        "font.size": 10,
        "font.family": "serif",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.alpha": 0.3,
        "lines.linewidth": 1.3,
        "legend.frameon": False,
        "svg.fonttype": "path",
        "svg.hashsalt": "abut",
    }
)

STYLE = {"line": {"linestyle": "-"}, "dash": {"linestyle": "--"}, "points": {"linestyle": "", "marker": "o", "markersize": 3}}

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>abut: the papers' experiments</title>
<style>
body {{ font: 16px/1.5 Georgia, serif; color: #222; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }}
h1 {{ font-weight: normal; }} h2 {{ margin-top: 3rem; border-bottom: 1px solid #ccc; font-weight: normal; }}
table {{ border-collapse: collapse; width: 100%; font-size: 0.92rem; }}
td, th {{ text-align: left; vertical-align: top; padding: 0.3rem 0.6rem; border-bottom: 1px solid #eee; }}
.ok {{ color: #1a7f37; font-weight: bold; }} .fail {{ color: #b42318; font-weight: bold; }} .open {{ color: #9a6700; font-weight: bold; }}
code {{ background: #f4f4f4; padding: 0.1rem 0.3rem; }} .from {{ color: #666; font-style: italic; }}
.figures {{ display: flex; flex-wrap: wrap; gap: 1rem; }} .figures svg {{ max-width: 30rem; height: auto; }}
</style></head><body>
<h1>The papers' experiments</h1>
<p>Every number and curve on this page comes from the run that wrote it. {summary}</p>
<table><tr><th>experiment</th><th>claims</th><th>verdict</th></tr>{toc}</table>
{body}
</body></html>
"""


def draw(figure):
    fig, ax = plt.subplots()
    for series in figure["series"]:
        y = [float("nan") if v is None else v for v in series["y"]]
        ax.plot(series["x"], y, label=series["name"], **STYLE.get(series["style"], {}))
    ax.set_title(figure["title"])
    ax.set_xlabel(figure["xlabel"])
    ax.set_ylabel(figure["ylabel"])
    if figure.get("xlog"):
        ax.set_xscale("log")
    if figure.get("ylog"):
        ax.set_yscale("log")
    if len(figure["series"]) > 1:
        ax.legend(fontsize=8)
    out = io.StringIO()
    fig.tight_layout()
    fig.savefig(out, format="svg", metadata={"Date": None})
    plt.close(fig)
    text = out.getvalue()
    return text[text.index("<svg") :]


def section(ident, data):
    esc = html.escape
    rows = "".join(
        f'<tr><td class="{"ok" if c["pass"] else "fail"}">{"holds" if c["pass"] else "fails"}</td><td>{esc(c["text"])}</td>'
        f'<td>{esc(c["paper"])}</td><td>{esc(c["ours"])}</td></tr>'
        for c in data["claims"]
    )
    notes = "".join(f"<p>{esc(n)}</p>" for n in data.get("notes", []))
    plots = "".join(draw(f) for f in data.get("figures", []) if f["series"])
    return (
        f'<h2 id="{ident}">{esc(data["title"])}</h2><p class="from">{esc(data["paper"])}</p>'
        f"<p>Run it alone: <code>abut paper {ident}</code></p>"
        f"<table><tr><th></th><th>claim</th><th>paper or closed form</th><th>abut</th></tr>{rows}</table>{notes}"
        f'<div class="figures">{plots}</div>'
    )


def main():
    folder = sys.argv[1]
    toc, body, held, total = "", "", 0, 0
    for line in open(os.path.join(folder, "list.txt"), encoding="utf-8"):
        ident, state, title = line.rstrip("\n").split("\t")
        path = os.path.join(folder, ident + ".json")
        if state == "open":
            toc += f'<tr><td>{html.escape(title)}</td><td></td><td class="open">not done yet</td></tr>'
            continue
        if not os.path.exists(path):
            toc += f'<tr><td>{html.escape(title)}</td><td></td><td class="fail">did not run</td></tr>'
            continue
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
        good = sum(c["pass"] for c in data["claims"])
        held, total = held + good, total + len(data["claims"])
        verdict = '<td class="ok">all hold</td>' if good == len(data["claims"]) else '<td class="fail">some fail</td>'
        toc += f'<tr><td><a href="#{ident}">{html.escape(title)}</a></td><td>{good} of {len(data["claims"])}</td>{verdict}</tr>'
        body += section(ident, data)
    with open(os.path.join(folder, "index.html"), "w", encoding="utf-8") as file:
        file.write(PAGE.format(toc=toc, body=body, summary=f"{held} of {total} claims hold."))


main()

#!/usr/bin/env python3
"""Checks that nothing in a step calls itself, directly or by way of others: what a step puts on the stack is bounded by the code,
not by the scene. Usage: check-recursion.py [BUILD], a configured folder (default build/asan).

The layers that a step uses are compiled to assembly, not optimised. Whatever function or table an instruction names counts as
called, whether it is called there or handed on as a pointer; tables count as calling what stands in them.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LAYERS = ("base", "math", "geometry", "solve", "collide", "contact", "dynamics")
LABEL = re.compile(r"([A-Za-z_][\w.]*):")
NAME = re.compile(r"[A-Za-z_][\w.]*")
SILENT = re.compile(r"\s*\.(loc|file|type|size|globl|section|cfi|ident|string|asci|local|comm|weak|hidden|addrsig)")
NOT_THESE = re.compile(r"-(O.*|g.*|W.*|M.*|c|fsanitize.*|fno-sanitize.*)$")


def used_in_a_step(file):
    path = pathlib.Path(file)
    if not path.is_relative_to(ROOT / "src"):
        return False
    parts = path.relative_to(ROOT / "src").parts
    return len(parts) == 1 or parts[0] in LAYERS


def assembly(entry, to):
    words = shlex.split(entry["command"])
    out = words.index("-o")
    words = [w for w in words[:out] + words[out + 2 :] if not NOT_THESE.match(w)]
    subprocess.run([*words, "-w", "-O0", "-S", "-o", to], cwd=entry["directory"], check=True)
    return pathlib.Path(to).read_text()


def compile_all(build):
    # a source may be compiled more than once: once is enough
    entries = {e["file"]: e for e in json.loads((build / "compile_commands.json").read_text()) if used_in_a_step(e["file"])}
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        names = [os.path.join(folder, f"{i}.s") for i in range(len(entries))]
        return dict(zip(entries, pool.map(assembly, entries.values(), names)))


def read(texts):
    """Per symbol, which others it names. A symbol that other files do not see is (file, name), else ("", name)."""
    names, public = {}, set()
    for file, text in texts.items():
        public.update(re.findall(r"^\s*\.globl\s+(\S+)", text, re.M))
        at = None
        for line in text.splitlines():
            line = line.split("#")[0]  # clang names functions in comments, too
            label = LABEL.match(line)
            if label:
                at = (file, label[1])
                names[at] = set()
            elif at and not SILENT.match(line) and "\t" in line.strip():
                names[at].update(NAME.findall(line.strip().split("\t", 1)[1]))

    def owner(file, name):
        return (file, name) if (file, name) in names and name not in public else ("", name)

    calls = {}
    for (file, name), words in names.items():
        calls[owner(file, name)] = {owner(file, w) for w in words}
    return {symbol: {s for s in others if s in calls} for symbol, others in calls.items()}


def cycles(calls, root):
    """Strongly connected components reachable from the root that have a cycle (Tarjan), without recursion."""
    index, low, stack, found = {}, {}, [], []
    work = [(root, iter(calls[root]))]
    index[root] = low[root] = 0
    stack.append(root)
    while work:
        node, rest = work[-1]
        for other in rest:
            if other not in index:
                index[other] = low[other] = len(index)
                stack.append(other)
                work.append((other, iter(calls[other])))
                break
            if other in stack:
                low[node] = min(low[node], index[other])
        else:
            work.pop()
            if work:
                low[work[-1][0]] = min(low[work[-1][0]], low[node])
            if low[node] == index[node]:
                at = stack.index(node)
                if len(stack) - at > 1 or node in calls[node]:
                    found.append(stack[at:])
                del stack[at:]
    return found, set(index)


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/asan").resolve()
    calls = read(compile_all(build))
    found, reached = cycles(calls, ("", "ab_step"))
    for cycle in found:
        print("recursion: in a step:", ", ".join(f"{name} ({os.path.relpath(file, ROOT)})" if file else name for file, name in cycle))
    # the models are reached by pointers only: if they are not, this sees nothing
    models = {s for s in calls if re.fullmatch(r"ab_model_[a-z_]+", s[1]) and not s[0]}
    blind = models - reached
    if blind or not models:
        print("recursion: contact models are not seen from ab_step:", *sorted(name for _, name in blind))
    elif not found:
        print(f"recursion: none in a step, of {len(reached)} functions and tables")
    return 1 if found or blind or not models else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""The same scene gives the same bits whatever ran it: another compiler, a processor without AVX2 and FMA, ARM.

usage: test_processors.py PROGRAM [--with NAME=COMMAND]... [--hashes FILE [--renew]] [--quick]

Every scene is run by PROGRAM and by each COMMAND (a program with what it is started by), and all must end in the same
hash, or in the same message. --hashes compares PROGRAM with a list, --renew writes that list.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What the C library chooses its own variants by; the loader's choice among the library's clones cannot be masked so.
PLAIN = "glibc.cpu.hwcaps=-AVX2,-AVX,-FMA,-FMA4,-AVX512F"


def contact_models(program):
    out = subprocess.run([program, "models", "--json"], capture_output=True, text=True, check=True).stdout
    models = json.loads(out)
    return [m["name"] for m in (models["models"] if isinstance(models, dict) else models)]


def all_cases(program, quick):
    """(scene, contact model or None for the scene's own, simulated seconds)"""
    cases = []
    for scene in sorted((ROOT / "scenes").glob("*.xml")):
        large = "pile200" in scene.name
        for contact in [None] if quick else [None, *contact_models(program)]:
            # long enough that bodies meet, and short enough for an emulated processor
            cases.append((scene, contact, 0.01 if quick else 0.03 if large else 0.05))
    if not quick:
        for folder in "stories", "check":
            cases += [(scene, None, 0.05) for scene in sorted((ROOT / "scenes" / folder).glob("*.xml"))]
    return cases


def run(command, environment, case):
    scene, contact, time = case
    line = [*command, "run", str(scene.relative_to(ROOT)), "--time", str(time), "--json", "--quiet"]
    if contact:
        line += ["--contact", contact]
    done = subprocess.run(line, capture_output=True, text=True, cwd=ROOT, env={**os.environ, **environment}, timeout=900)
    if done.returncode == 2:
        return "refused"  # the message names the command; what matters is that all refuse
    if done.returncode < 0 or not done.stdout:
        return f"exit code {done.returncode}: {done.stderr[:200]}"
    return json.loads(done.stdout)["hash"]


def name_of(case):
    scene, contact, time = case
    return f"{scene.relative_to(ROOT / 'scenes')} {contact or '-'} {time:g}"


def compare_with_list(path, result, renew):
    if renew:
        path.write_text("# scene, contact model (-: the scene's own), seconds, hash of the state; `make hashes` writes this\n"
                        + "".join(f"{name} {value}\n" for name, value in result.items()))
        print(f"{path}: {len(result)} hashes")
        return 0
    stored = dict(line.rsplit(" ", 1) for line in path.read_text().splitlines() if line and line[0] != "#")
    wrong = [name for name in result if stored.get(name) != result[name]]
    for name in wrong[:20]:
        print(f"{name}: {result[name]}, the list says {stored.get(name, 'nothing')}")
    if wrong:
        print(f"{len(wrong)} of {len(result)} scenes end elsewhere than in {path}; if that is meant, `make hashes` renews it")
    return len(wrong)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--with", dest="others", action="append", default=[], metavar="NAME=COMMAND")
    parser.add_argument("--hashes", type=pathlib.Path)
    parser.add_argument("--renew", action="store_true")
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    program = str(args.program.resolve())
    ways = {"here": ([program], {})}
    if not args.hashes:
        ways["libm without FMA"] = ([program], {"GLIBC_TUNABLES": PLAIN})
        old = shutil.which("qemu-x86_64")
        if old and os.uname().machine == "x86_64":
            ways["old x86-64"] = ([old, "-cpu", "qemu64", program], {})
    for other in args.others:
        name, command = other.split("=", 1)
        ways[name] = (command.split(), {})
    cases = all_cases(program, args.quick)
    result, differ = {}, 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [(case, {way: pool.submit(run, *how, case) for way, how in ways.items()}) for case in cases]
        for case, runs in jobs:
            values = {way: job.result() for way, job in runs.items()}
            result[name_of(case)] = values["here"]
            if len(set(values.values())) > 1 or values["here"].startswith("exit"):
                differ += 1
                print(name_of(case), *(f"\n  {way}: {value}" for way, value in values.items()), flush=True)
    moved = sum(value != "refused" for value in result.values())
    print(f"{len(cases)} cases ({moved} simulated) run by: {', '.join(ways)}; {differ} differ")
    if args.hashes:
        differ += compare_with_list(args.hashes, result, args.renew)
    return 1 if differ or not moved else 0


if __name__ == "__main__":
    sys.exit(main())

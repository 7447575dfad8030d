#!/usr/bin/env python3
"""Checks names in src/: no two constants have the same one, and every source's tests are found by its name; and that in include/abut
every field of a struct has a line of its own that says what it is.

A constant is an enumerator, a macro without arguments, or a `const` number in capitals, wherever it stands. The tests of src/x/y.c are
test/x/test_y.c, or those that its head names after "Tests:", such as `// Tests: test_ecp_*.`; src/x/room/y.c may have test/x/test_y.c.
A field's line is a comment behind it or right above it; counts, and what only names the thing or says its type, need none.
"""
import collections
import fnmatch
import os
import re
import subprocess
import sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

# What stands in for a library that is left out is built by test/core; the rest has no code of its own.
NO_TEST = ("without_",)


def sources(*patterns):
    files = subprocess.run(["git", "ls-files", *patterns], check=True, capture_output=True, text=True).stdout.split()
    return [f for f in files if os.path.exists(f)]


def without_comments(text):
    """The same lines, with comments and strings blank."""
    blank = lambda m: re.sub(r"[^\n]", " ", m.group())
    text = re.sub(r"//[^\n]*|/\*.*?\*/", blank, text, flags=re.S)
    return re.sub(r'"(\\.|[^"\\\n])*"', '""', text)


NAME = r"([A-Z][A-Z0-9_]*)\b"
BODIES = [
    (re.compile(r"\benum\s*(?:\w+\s*)?\{([^}]*)\}"), re.compile(r"(?:^|,)\s*" + NAME)),
    (re.compile(r"\bconst (?:double|float|int|long|size_t|u?int\d+_t)\s+([^;(){]*?=[^;]*);"), re.compile(r"(?:^|,)\s*" + NAME + r"(?:\[[^\]]*\])*\s*=")),
    (re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(?=[ \t])", re.M), re.compile("^" + NAME)),
]


def constants(path):
    with open(path, encoding="utf-8") as file:
        text = without_comments(file.read())
    for body, name in BODIES:
        for m in body.finditer(text):
            for n in name.finditer(m.group(1)):
                yield n.group(1), text.count("\n", 0, m.start()) + 1


def check_constants():
    places = collections.defaultdict(list)
    for path in sources("src/*.c", "src/*.h", "include/*.h"):
        for name, line in constants(path):
            places[name].append((path, line))
    bad = 0
    for name, where in sorted(places.items()):
        files = {p for p, _ in where}
        if len(files) == 1 and all(p.endswith(".h") for p in files):
            continue  # two branches of an #if
        if len(where) < 2:
            continue
        print(f"names: {name} is two constants: " + ", ".join(f"{p}:{n}" for p, n in where), file=sys.stderr)
        bad += 1
    return bad, len(places)


def tests_named(path):
    """What the head of a source, the comment before its first line of code, names as its tests."""
    head = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            if not line.startswith("//"):
                break
            head.append(line[2:].strip())
    found = re.search(r"\bTests: ([^.]*(?:\.(?:c|py|mjs|sh)\b[^.]*)*)\.", " ".join(head))
    return re.split(r",\s*|\s+and\s+", found.group(1)) if found else []


def check_tests():
    tests = [os.path.splitext(os.path.basename(f))[0] for f in sources("test/*", "python/tests/*")]
    bad = 0
    for path in sources("src/*.c"):
        folder, name = os.path.split(path[len("src/"):])
        if name.startswith(NO_TEST):
            continue
        if any(os.path.exists(f"test/{f}/test_{name}") for f in {folder, folder.split("/")[0]}):
            continue
        named = tests_named(path)
        missing = [t for t in named if not fnmatch.filter(tests, os.path.splitext(t.strip())[0])]
        if missing or not named:
            what = "names no test" if not named else "names tests that do not exist: " + ", ".join(missing)
            print(f"names: {path} {what}; there is no test/{folder}/test_{name} either", file=sys.stderr)
            bad += 1
    return bad


# name, type, counts of arrays that follow
PLAIN_FIELD = re.compile(r"(name|type|drive|gain|bias|kind|mode|integrator|status|code|source|q|m|x|y|z|w|n[a-z_]*)$")


def fields(text):
    """Declarations inside structs, as (line, names, whether a comment belongs to it)."""
    inside, above = False, False
    lines = text.split("\n")
    for i, line in enumerate(lines):
        if re.match(r"typedef struct \w+ \{", line):
            inside, above = True, False
            continue
        if line.startswith("}"):
            inside = False
        code, _, comment = line.partition("//")
        if not inside or not code.strip():
            above = bool(comment)
            continue
        declared = re.sub(r"\([^()]*\)$|\[[^\]]*\]|=.*", "", code.strip().rstrip(";"))
        names = [re.findall(r"\w+", part)[-1] for part in declared.split(",") if re.findall(r"\w+", part)]
        named_by_type = re.match(r"const ab(\w+)\*\s*(\w+);", code.strip())
        same = named_by_type and named_by_type[1].lower() == named_by_type[2].replace("_", "")
        if ";" in code:
            yield i + 1, names, bool(comment) or above or bool(same)
        above = False


def check_fields():
    bad = count = 0
    for path in sources("include/abut/*.h"):
        with open(path, encoding="utf-8") as file:
            for line, names, said in fields(file.read()):
                count += len(names)
                if said or all(PLAIN_FIELD.match(n) for n in names):
                    continue
                print(f"names: {path}:{line}: {', '.join(names)} has no line that says what it is", file=sys.stderr)
                bad += 1
    return bad, count


def main():
    same, count = check_constants()
    untested = check_tests()
    unsaid, field_count = check_fields()
    if same or untested or unsaid:
        return 1
    print(f"names: {count} constants, each its own; every source's tests are found; {field_count} public fields are said")
    return 0


if __name__ == "__main__":
    sys.exit(main())

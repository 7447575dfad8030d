#!/usr/bin/python3
"""The layout of the public interface: sizes of the structs and values of the constants of include/abut.

usage: tools/layout.py           compares with cmake/layout.txt; exit code 1 if they differ
       tools/layout.py --renew   writes it; refused where something changed but AB_INTERFACE did not
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIST = os.path.join(ROOT, "cmake", "layout.txt")


def names():
    text = ""
    for path in sorted(glob.glob(os.path.join(ROOT, "include", "abut", "*.h"))):
        with open(path) as f:
            text += re.sub(r"//.*", "", f.read())
    structs = re.findall(r"typedef struct (ab\w+) \{", text)
    constants = []
    for body in re.findall(r"typedef enum \w+ \{(.*?)\}", text, re.S):
        constants += re.findall(r"\bAB_\w+", body)
    return sorted(structs), sorted(constants)


def measure():
    structs, constants = names()
    lines = ['printf("interface %d\\n", AB_INTERFACE);']
    lines += [f'printf("{s} %zu\\n", sizeof({s}));' for s in structs]
    lines += [f'printf("{c} %d\\n", (int){c});' for c in constants]
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "layout.c")
        with open(source, "w") as f:
            f.write("#include <abut/abut.h>\n#include <stdio.h>\nint main(void) {\n" + "\n".join(lines) +
                    "\nreturn 0;\n}\n")
        program = os.path.join(folder, "layout")
        subprocess.run([os.environ.get("CC", "cc"), "-std=c11", "-I", os.path.join(ROOT, "include"), source,
                        "-o", program], check=True)
        return subprocess.run([program], check=True, capture_output=True, text=True).stdout


def main():
    now = measure().splitlines()
    with open(LIST) as f:
        then = f.read().splitlines()
    if now == then:
        return 0
    changes = ["- " + line for line in then if line not in now] + ["+ " + line for line in now if line not in then]
    if "--renew" in sys.argv:
        # what is only added breaks nobody; what has changed or is gone does
        breaks = any(line not in now for line in then)
        if breaks and then and now[0] == then[0]:
            print("\n".join(changes))
            print("layout: programs built before would break: raise AB_INTERFACE in include/abut/version.h first",
                  file=sys.stderr)
            return 1
        with open(LIST, "w") as f:
            f.write("\n".join(now) + "\n")
        return 0
    print("\n".join(changes))
    print("layout: the public interface is not that of cmake/layout.txt; if that is meant, run tools/layout.py --renew",
          file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())

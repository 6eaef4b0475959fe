#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every function that wasm.h and hoist.h declare is used by a test program: used.py CC INCLUDE FILES. (exports.py: every one
is defined.)"""
import collections
import re
import subprocess
import sys

COMPILER, INCLUDE, FILES = sys.argv[1], sys.argv[2], sys.argv[3:]
NAME = re.compile(r"\b(?:wasm|hoist)_\w+\b")


def preprocessed(path):
    return subprocess.run([COMPILER, "-E", "-P", "-x", "c", "-I", INCLUDE, path], check=True, capture_output=True, text=True).stdout


def main():
    header = preprocessed(f"{INCLUDE}/hoist.h")
    declared = set(re.findall(r"__attribute__\(\(visibility\(\"default\"\)\)\)[^;]*?\b((?:wasm|hoist)_\w+)\(", header))
    before = collections.Counter(NAME.findall(header))  # as each program includes it
    used = set()
    for path in FILES:
        used |= {name for name, count in collections.Counter(NAME.findall(preprocessed(path))).items() if count > before[name]}
    unused = sorted(declared - used)
    for name in unused:
        print(f"no test program uses {name}")
    print(f"{len(declared)} functions, {len(unused)} unused")
    return 1 if unused or len(declared) < 400 else 0


sys.exit(main())

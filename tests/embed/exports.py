#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the libraries export: namespace hoist and the functions of wasm.h and hoist.h, each of them,
and nothing else; the shared library needs nothing but the C and C++ runtime."""
import argparse
import re
import subprocess
import sys

ALLOWED_LIBRARIES = re.compile(r"^(libstdc\+\+|libc\+\+|libc\+\+abi|libunwind|libm|libgcc_s|libc|ld-linux-x86-64|libpthread)\.so")


def symbols(path, *options):
    out = subprocess.run(["nm", "--defined-only", "-C", *options, path], check=True,
                         capture_output=True, text=True).stdout
    found = []
    for line in out.splitlines():
        parts = line.split(None, 2)
        if len(parts) == 3 and parts[1].isupper():
            found.append(parts[2])
    return found


def declared(include, compiler):
    """Functions that the preprocessed headers declare and do not define."""
    text = subprocess.run([compiler, "-E", "-P", "-x", "c", "-I", include, f"{include}/hoist.h"],
                          check=True, capture_output=True, text=True).stdout
    out = set()
    for match in re.finditer(r"__attribute__\(\(visibility\(\"default\"\)\)\)[^;]*?\b((?:wasm|hoist)_\w+)\(", text):
        out.add(match.group(1))
    return out


def main():
    parser = argparse.ArgumentParser()
    for name in ("shared", "static", "include", "cc"):
        parser.add_argument("--" + name, required=True)
    args = parser.parse_args()
    wanted = declared(args.include, args.cc)
    failed = len(wanted) < 300
    if failed:
        print(f"only {len(wanted)} functions found in the headers")
    for path, options in ((args.shared, ["-D"]), (args.static, [])):
        found = symbols(path, *options)
        c_names = {name for name in found if re.fullmatch(r"(wasm|hoist)_\w+", name)}
        for name in sorted(wanted - c_names):
            print(f"{path}: declared, not exported: {name}")
            failed = True
        for name in sorted(c_names - wanted):
            print(f"{path}: exported, not declared: {name}")
            failed = True
        for name in found:
            if name not in c_names and not re.match(r"hoist::(?!(base|platform|image|ir|opt|codegen|isa|masm|wasm|translate|compiler|jit|runtime|wasi|profiling|native)::)", name):
                print(f"{path}: should be hidden: {name}")
                failed = True
    dynamic = subprocess.run(["readelf", "-d", args.shared], check=True, capture_output=True,
                             text=True).stdout
    for library in re.findall(r"NEEDED.*\[(.*)\]", dynamic):
        if not ALLOWED_LIBRARIES.match(library) and "san" not in library:
            print(f"{args.shared} needs {library}")
            failed = True
    if not re.search(r"SONAME.*\[libhoist\.so\.\d+\]", dynamic):
        print("no soname")
        failed = True
    sys.exit(1 if failed else 0)


main()

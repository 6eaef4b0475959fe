#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Installs Hoist to a temporary prefix, moves that, and builds and runs the examples against it:
with find_package (static and shared) and with pkg-config. Also compiles the code in the documentation."""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

EXPECTED = {
    "hello": ["hello from the guest: 42"],
    "plugin": ["score: 4.5", "17 = 5 * 3 + 2", "1 / 0: integer divide by zero"],
    "guest_memory": ["guest: good morning", "work: 6", "lie: out of bounds memory access"],
    "limits": ["spin: all fuel consumed", "grew 9 times", "deep: call stack exhausted", "spin: interrupted"],
    "threads": ["fib(15) = 610", "fib(22) = 17711"],
}
MAX_LINES = 60


def run(*command, env=None, cwd=None):
    done = subprocess.run(command, capture_output=True, text=True, env=env, cwd=cwd, timeout=300)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}:\n{done.stdout}{done.stderr}")
    return done.stdout


def check_output(name, out):
    for line in EXPECTED[name]:
        if line not in out:
            sys.exit(f"{name} does not say '{line}':\n{out}")


def doc_programs(source):
    """C++ code blocks of the documentation that are whole programs."""
    for page in ("README.md", "docs/embedding.md", "docs/c-api.md"):
        path = source / page
        if not path.exists():
            continue
        for i, (language, text) in enumerate(re.findall(r"```(cpp|c)\n(.*?)```", path.read_text(), re.S)):
            if "int main(" in text and "hoist" in text:
                yield f"{path.stem}_{i}.{language}", text


def main():
    parser = argparse.ArgumentParser()
    for name in ("build", "source", "cxx", "cc"):
        parser.add_argument("--" + name, required=True, type=pathlib.Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hoist-embed-") as temp:
        temp = pathlib.Path(temp)
        for component in ("devel", "runtime"):
            run("cmake", "--install", args.build, "--prefix", temp / "first", "--component", component)
        (temp / "first").rename(temp / "moved")
        prefix = temp / "moved"
        if "libfmt" in run("ldd", next(prefix.rglob("libhoist.so"))):
            sys.exit("the shared library needs libfmt")
        build_type = ["-DCMAKE_BUILD_TYPE=Release", "-GNinja", f"-DCMAKE_CXX_COMPILER={args.cxx}",
                      f"-DCMAKE_PREFIX_PATH={prefix}"]
        for name in EXPECTED:
            folder = temp / "examples" / name
            shutil.copytree(args.source / "examples" / name, folder)
            lines = (folder / "main.cpp").read_text().count("\n")
            if lines >= MAX_LINES:
                sys.exit(f"the example {name} has {lines} lines")
            for shared in (["OFF", "ON"] if name == "hello" else ["OFF"]):
                out = folder / ("build" + shared)
                run("cmake", "-S", folder, "-B", out, f"-DBUILD_SHARED_LIBS={shared}", *build_type)
                run("cmake", "--build", out)
                check_output(name, run(out / name))
        pkgconfig = next(prefix.rglob("hoist.pc")).parent
        env = dict(os.environ, PKG_CONFIG_PATH=str(pkgconfig),
                   LD_LIBRARY_PATH=str(pkgconfig.parent))
        for static in ([], ["STATIC=--static"]):
            folder = temp / ("make" + str(len(static)))
            shutil.copytree(args.source / "examples/makefile", folder)
            run("make", f"CC={args.cc}", *static, env=env, cwd=folder)
            if "2 + 3 = 5" not in run(folder / "hello", env=env):
                sys.exit("the example with pkg-config does not add")
        flags = run("pkg-config", "--cflags", "--libs", "hoist", env=env).split()
        for name, text in doc_programs(args.source):
            (temp / name).write_text(text)
            compiler = [args.cxx, "-std=c++20"] if name.endswith("cpp") else [args.cc, "-std=c11"]
            run(*compiler, "-Wall", temp / name, "-o", temp / (name + ".out"), *flags, env=env)


main()

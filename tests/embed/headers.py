#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each public header compiles alone and without warnings: the C++ ones as C++20 by both compilers,
with and without exceptions and RTTI; the C ones as C99, C11 and C++20."""
import pathlib
import shutil
import subprocess
import sys

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror", "-fsyntax-only"]


def main():
    include = pathlib.Path(sys.argv[1])
    cpp_headers = sorted(p.relative_to(include) for p in (include / "hoist").rglob("*.hpp"))
    cpp = [c for c in ("clang++-22", "g++-12") if shutil.which(c)]
    c = [x for x in ("clang-22", "gcc-12") if shutil.which(x)]
    runs = []
    # One header for all in the fast configurations, each alone in one.
    for compiler in cpp:
        for flags in ([], ["-fno-exceptions", "-fno-rtti"]):
            runs.append((compiler, ["-std=c++20", *flags], '#include "hoist/hoist.hpp"\n'))
        runs.append((compiler, ["-std=c++20"], '#include "hoist.h"\n#include "hoist/hoist.hpp"\n'))
    for header in cpp_headers:
        runs.append((cpp[0], ["-std=c++20"], f'#include "{header}"\n'))
    for compiler in c:
        for standard in ("c99", "c11"):
            for header in ("wasm.h", "hoist.h"):
                runs.append((compiler, ["-std=" + standard, "-xc"], f'#include "{header}"\nint main(void) {{ return 0; }}\n'))
    failed = False
    for compiler, flags, text in runs:
        language = [] if "-xc" in flags else ["-xc++"]
        done = subprocess.run([compiler, *flags, *language, *WARNINGS, f"-I{include}", "-"],
                              input=text, capture_output=True, text=True)
        if done.returncode != 0:
            print(f"{compiler} {' '.join(flags)}: {text}{done.stderr}")
            failed = True
    sys.exit(1 if failed else 0)


main()

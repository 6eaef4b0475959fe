#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random scripts whose results a small model in Python computes, beside the differential test with V8: exceptions, calls
that move many values, wide arithmetic, memories of any page size. Needs nothing but the command.

  run.py HOIST [--count N] [--seed N] [--kinds exceptions,calls,wide,pages] [--keep FOLDER]

Each script runs at opt levels 0 and 2, and with the baseline of the CPU, code for limits and no signals. A script is its
seed's; those of a failing run are kept in FOLDER. Ends with "N passed, N failed" (scripts times modes).
"""
import argparse
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import calls
import exceptions
import pages
import wide

KINDS = {"exceptions": exceptions.make, "calls": calls.make, "wide": wide.make, "pages": pages.make}
MODES = (["--opt-level", "0"], ["--opt-level", "2"],
         ["--opt-level", "1", "--cpu", "baseline", "--signals", "off", "--fuel", "--epoch"])
FEATURES = ["--features", "+wide-arithmetic,+custom-page-sizes"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hoist")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--keep", default="build/models")
    options = parser.parse_args()
    passed = failed = 0
    for kind in options.kinds.split(","):
        scripts = {f"{kind}-{seed}.wast": KINDS[kind](random.Random(seed))
                   for seed in range(options.seed, options.seed + options.count)}
        with tempfile.TemporaryDirectory() as work:
            files = [pathlib.Path(work) / name for name in scripts]
            for file in files:
                file.write_text(scripts[file.name])
            for mode in MODES:
                command = [options.hoist, "wast"] + FEATURES + mode + [str(file) for file in files]
                done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=600)
                good = set(re.findall(r"(\w+-\d+\.wast): \d+ passed, 0 failed, 0 unsupported", done.stdout))
                bad = [file for file in files if file.name not in good]
                passed, failed = passed + len(files) - len(bad), failed + len(bad)
                for file in bad:
                    first = next((line for line in done.stdout.splitlines() if f"{file.name}:" in line), "no answer")
                    print(f"FAIL {file.name} {' '.join(mode)}: {first} (status {done.returncode})")
                    kept = pathlib.Path(options.keep)
                    kept.mkdir(parents=True, exist_ok=True)
                    (kept / file.name).write_text(scripts[file.name])
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())

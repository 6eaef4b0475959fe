#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What README.md and the pages say of the command, against the command: tests/cli/readme.py PATH-TO-HOIST. The commands of README.md and
of `hoist --help` run as they stand; options that pages name exist. Ends with "N passed, N failed"."""
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from tally import Tally  # noqa: E402

HOIST = str(pathlib.Path(sys.argv[1]).resolve())
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
tally = Tally()
check = tally.check

FILES = {
    "program.wasm": """(module (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
        (memory (export "memory") 1) (data (i32.const 0) "\\08\\00\\00\\00\\03\\00\\00\\00hi\\0a")
        (func (export "_start") (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 16)))))""",
    "math.wat": '(module (func (export "add") (param i32 i32) (result i32) (i32.add (local.get 0) (local.get 1))))',
    "lib.wasm": '(module (func (export "f")))',
    "app.wasm": '(module (import "lib" "f" (func $f)) (func (export "call") (call $f)) (func (export "_start")))',
    "module.wasm": "(module (func (nop)))",
    "test.wast": '(module (func (export "f") (result i32) (i32.const 1))) (assert_return (invoke "f") (i32.const 1))',
    "tests/a.wast": "(module)",
    "input.txt": "", "data/x": "",
    "crash.wat": """(module (memory 1) (func $load_far (drop (i32.load (i32.const -1))))
        (func $main (export "_start") (call $load_far)))""",
}


def hoist(work, *arguments):
    return subprocess.run([HOIST, *arguments], cwd=work, stdin=subprocess.DEVNULL, capture_output=True, timeout=120, text=True)


def commands(work, text, source):
    """Lines that begin with the command and end before a comment or a wide gap."""
    lines = re.findall(r"^ *(?:build/release/bin/)?hoist ((?:\S+ ?)+?)(?:  +\S.*| +#.*)?$", text, re.M)
    check(f"{source}: commands are found", len(lines) >= 9, lines)
    for line in lines:
        arguments = []
        for word in shlex.split(line):
            arguments += [str(path.relative_to(work)) for path in work.glob(word)] if "*" in word else [word]
        done = hoist(work, *arguments)
        check(f"{source}: hoist {line}", done.returncode == 0, done)
        if "--invoke add" in line:
            check(f"{source}: hoist {line}: result", done.stdout == "5\n", done.stdout)


def traps(work, readme):
    shown = re.search(r"```text\n(hoist: crash.*?)```", readme, re.S).group(1)
    done = hoist(work, "run", "crash.wat")
    same = [re.sub(r"0x[0-9a-f]+", "0x", text) for text in (shown, done.stderr.replace("_start", "main"))]
    check("the trap that README.md shows", done.returncode == 134 and same[0] == same[1], done.stderr)


def options():
    helps = "".join(hoist(".", *sub, "--help").stdout for sub in
                    ([], ["run"], ["profile"], ["compile"], ["objdump"], ["cache"], ["validate"], ["print"], ["wast"]))
    known = set(re.findall(r"--[a-z][\w-]*", helps))
    # Of the pages for users of the command; the others name options of other tools too.
    for page in ("README.md", "docs/wasi.md", "docs/limits.md", "docs/cache.md", "docs/images.md", "docs/memory.md", "docs/vectors.md",
                 "docs/text.md", "docs/host-process.md", "docs/instantiation.md"):
        named = set(re.findall(r"(?<![\w-])--[a-z][\w-]*", (ROOT / page).read_text())) - {"--times"}
        check(f"{page}: options", named <= known, sorted(named - known))


def main():
    readme = (ROOT / "README.md").read_text()
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        os.environ["XDG_CACHE_HOME"] = str(work / "cache")
        for file, content in FILES.items():
            (work / file).parent.mkdir(exist_ok=True)
            (work / file).write_text(content)
        block = re.search(r"## With a \.wasm file.*?```sh\n(.*?)```", readme, re.S).group(1)
        commands(work, block, "README.md")
        help_text = hoist(work, "--help").stdout
        commands(work, help_text[help_text.index("Examples:"):], "--help")
        traps(work, readme)
    options()
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())

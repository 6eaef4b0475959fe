#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scripts too large to be kept as text: functions at the limits of the format. tests/wast/large.py HOIST runs them at
every optimization level; with a folder in place of HOIST it writes them there. Each must end within a minute."""
import pathlib
import subprocess
import sys
import tempfile

MASK = (1 << 64) - 1
TYPES = ("i32", "i64", "f32", "f64")


def signed(x):
    x &= MASK
    return x - (1 << 64) if x >> 63 else x


def rows(items, per=10):
    items = list(items)
    return "\n".join("    " + " ".join(items[i:i + per]) for i in range(0, len(items), per))


def params_and_results():
    """1,000 parameters and results of all types: rotated, weighed, called directly and through a table."""
    types = [TYPES[i % 4] for i in range(1000)]
    turned = types[4:] + types[:4]
    params, results = "(param " + " ".join(types) + ")", "(result " + " ".join(turned) + ")"
    weigh = rows(f"(local.set $s (i64.add (i64.mul (local.get $s) (i64.const 3)) {to_i64(t, i)}))"
                 for i, t in enumerate(types))
    values = rows(f"({t}.const {i * 7 % 1001})" for i, t in enumerate(types))
    total = 0
    for i in range(1000):
        total = (total * 3 + (i + 12) % 1000 * 7 % 1001) & MASK
    yield f"""(module
  (type $turn (func {params} {results}))
  (type $weigh (func {params} (result i64)))
  (table funcref (elem $turn $weigh))
  (func $turn (type $turn)
{rows(f"(local.get {(i + 4) % 1000})" for i in range(1000))})
  (func $weigh (type $weigh) (local $s i64)
{weigh}
    (local.get $s))
  (func (export "direct") (result i64)
{values}
    (call $turn) (call $turn) (call $turn) (call $weigh))
  (func (export "indirect") (result i64)
{values}
    (call_indirect (type $turn) (i32.const 0)) (call $turn) (call_indirect (type $turn) (i32.const 0))
    (call_indirect (type $weigh) (i32.const 1)))
  (func (export "all") (type $turn)
{rows(f"(local.get {i})" for i in range(1000))}
    (call_indirect (type $turn) (i32.const 0))))
(assert_return (invoke "direct") (i64.const {signed(total)}))
(assert_return (invoke "indirect") (i64.const {signed(total)}))
(assert_return (invoke "all" {" ".join(f"({t}.const {i})" for i, t in enumerate(types))})
{rows(f"({t}.const {(i + 4) % 1000})" for i, t in enumerate(turned))})"""


def to_i64(kind, local):
    get = f"(local.get {local})"
    return {"i32": f"(i64.extend_i32_u {get})", "i64": get, "f32": f"(i64.trunc_f32_s {get})",
            "f64": f"(i64.trunc_f64_s {get})"}[kind]


def locals_50000():
    """50,000 locals, set from and added to their neighbours, some of them in a loop."""
    count = 49_998  # with the parameter and the sum
    value = [0] * count
    body = []
    for i in range(0, count, 5):
        value[i] = i * i + 3
        body.append(f"(local.set $v{i} (i64.add (local.get $p) (i64.const {i * i + 2})))")
    for i in range(1, count, 5):
        value[i] = value[i - 1] * 3
        body.append(f"(local.set $v{i} (i64.add (i64.mul (local.get $v{i - 1}) (i64.const 3)) (local.get $v{i})))")
    loop = [f"(local.set $v{i} (i64.add (local.get $v{i}) (local.get $v{i + 1})))" for i in range(0, count - 1, 100)]
    for i in range(0, count - 1, 100):
        value[i] += 10 * value[i + 1]
    total = 0
    tail = []
    for i in range(0, count, 7):
        total = (total * 5 + value[i]) & MASK
        tail.append(f"(local.set $s (i64.add (i64.mul (local.get $s) (i64.const 5)) (local.get $v{i})))")
    yield f"""(module (func (export "f") (param $p i64) (result i64) (local $s i64)
{rows((f"(local $v{i} i64)" for i in range(count)), 8)}
{rows(body, 2)}
    (loop
{rows(loop, 2)}
      (br_if 0 (i64.lt_u (local.tee $p (i64.add (local.get $p) (i64.const 1))) (i64.const 11))))
{rows(tail, 2)}
    (local.get $s)))
(assert_return (invoke "f" (i64.const 1)) (i64.const {signed(total)}))"""


def deep_blocks():
    """10,000 nested blocks, loops and ifs, left from the innermost to several depths, with and without values."""
    depth = 10_000
    for head in ("block", "loop", "i32.const 1 if", "local.get 1 i32.eqz if"):
        yield f"""(module (func (export "f") (param i32) (result i32) (local i32)
    block
{rows([head] * depth, 20)}
    local.get 0 br_if {depth}
{rows(["local.get 1 i32.const 1 i32.add local.set 1 end"] * depth, 4)}
    end
    local.get 1))
(assert_return (invoke "f" (i32.const 0)) (i32.const {depth}))
(assert_return (invoke "f" (i32.const 1)) (i32.const 0))"""
    yield f"""(module (func (export "f") (param i32) (result i64)
{rows(["block (result i64)"] * depth, 8)}
    i64.const 5 local.get 0 br_table {" ".join(str(i) for i in range(0, depth, 100))} {depth - 1}
{rows(["end i64.const 1 i64.add"] * depth, 5)}))
(assert_return (invoke "f" (i32.const 0)) (i64.const {5 + depth}))
(assert_return (invoke "f" (i32.const 50)) (i64.const {5 + depth - 5000}))
(assert_return (invoke "f" (i32.const -1)) (i64.const 6))"""


def many_joins():
    """70,000 conditional updates in a row: more values that outlive their block than a frame has slots."""
    count = 70_000
    yield f"""(module (func (export "f") (param i32) (result i32) (local i32)
{rows(["local.get 0 if local.get 1 i32.const 1 i32.add local.set 1 end"] * count, 4)}
    local.get 1))
(assert_return (invoke "f" (i32.const 0)) (i32.const 0))
(assert_return (invoke "f" (i32.const 1)) (i32.const {count}))"""


def deep_expressions():
    """An expression 10,000 operators deep on the right, on the left, and as nested selects."""
    depth = 10_000
    right = 0
    for i in range(depth, 0, -1):
        right = i - right
    yield f"""(module
  (func (export "right") (param i64) (result i64)
{rows((f"i64.const {i}" for i in range(1, depth + 1)), 10)}
    local.get 0
{rows(["i64.sub"] * depth, 10)})
  (func (export "left") (param i64) (result i64) local.get 0
{rows((f"i64.const {i} i64.add i64.const 3 i64.mul" for i in range(depth)), 4)})
  (func (export "select") (param i32) (result i32) i32.const -1
{rows((f"i32.const {i} local.get 0 i32.const {i} i32.ne select" for i in range(1000)), 4)}))
(assert_return (invoke "right" (i64.const 0)) (i64.const {right}))
(assert_return (invoke "left" (i64.const 7)) (i64.const {left_sum(depth)}))
(assert_return (invoke "select" (i32.const 777)) (i32.const 777))
(assert_return (invoke "select" (i32.const 1000)) (i32.const -1))"""


def left_sum(depth):
    x = 7
    for i in range(depth):
        x = (x + i) * 3 & MASK
    return signed(x)


def br_tables():
    """br_table with 65,519 targets, over 1,000 blocks, with a value."""
    size, blocks = 65_519, 1000
    target = [(i * 7919) % blocks for i in range(size)]
    yield f"""(module
  (func (export "f") (param i32) (result i32)
{rows(["block"] * blocks, 20)}
    local.get 0 br_table
{rows(map(str, target), 40)} {blocks - 1}
{rows((f"end i32.const {i} return" for i in range(blocks - 1)), 6)}
    end i32.const {blocks - 1})
  (func (export "value") (param i32 i64) (result i64)
    block (result i64) block (result i64)
    local.get 1 local.get 0 br_table
{rows((str(t & 1) for t in target), 60)} 1
    end i64.const 10 i64.mul end))
""" + "\n".join(f'(assert_return (invoke "f" (i32.const {i})) (i32.const {target[i] if i < size else blocks - 1}))'
                for i in (0, 1, 2, 127, 128, 999, 1000, 40_000, 65_517, 65_518, 65_519, 65_536, 0x80000000, 0xffffffff)) + "\n" + \
        "\n".join(f'(assert_return (invoke "value" (i32.const {i}) (i64.const 3)) (i64.const {3 if i >= size or target[i] & 1 else 30}))'
                  for i in (0, 1, 65_518, 65_519, 0xffffffff))


def long_function():
    """5,000 values on the operand stack at once, 10,000 statements in a row, and 3,000 ifs whose results meet."""
    live = 5000
    total = 0
    for i in range(live):
        total = (total * 3 + i * 2654435761 + 1) & MASK
    meet = 0
    for i in range(3000):
        meet = (meet + i if i % 3 else meet * 2 + 1) & MASK
    one, two = "(i64.add (local.get $s) (i64.const {}))", "(i64.add (i64.mul (local.get $s) (i64.const 2)) (i64.const 1))"
    ifs = [f"(local.set $s (if (result i64) (i32.rem_u (i32.const {i}) (local.get 0)) (then {one.format(i)}) (else {two})))"
           for i in range(3000)]
    yield f"""(module
  (memory 1)
  (func $id (param i64) (result i64) (local.get 0))
  (func (export "live") (param i64) (result i64) (local $s i64)
{rows((f"(i64.add (i64.mul (local.get 0) (i64.const {i})) (i64.const 1))" for i in range(live)), 2)}
    (drop (call $id (i64.const 1)))
{rows((f"(local.set $s) (i64.store offset={8 * i} (i32.const 0) (local.get $s))" for i in reversed(range(live))), 2)}
    (local.set $s (i64.const 0))
{rows((f"(local.set $s (i64.add (i64.mul (local.get $s) (i64.const 3)) (i64.load offset={8 * i} (i32.const 0))))" for i in range(live)), 1)}
    (local.get $s))
  (func (export "meet") (param i32) (result i64) (local $s i64)
{rows(ifs, 1)}
    (local.get $s)))
(assert_return (invoke "live" (i64.const 2654435761)) (i64.const {signed(total)}))
(assert_return (invoke "meet" (i32.const 3)) (i64.const {signed(meet)}))
(assert_trap (invoke "meet" (i32.const 0)) "integer divide by zero")
(module
  (memory 1)
  (func (export "statements") (param i32) (result i32)
{rows((f"(i32.store offset={4 * (i % 1000)} (i32.const 0) (i32.add (i32.load offset={4 * ((i + 999) % 1000)} (i32.const 0)) (local.get 0)))"
       for i in range(10_000)), 1)}
    (i32.load offset=3996 (i32.const 0))))
(assert_return (invoke "statements" (i32.const 3)) (i32.const 30000))"""


def many_functions():
    """5,000 functions that call their neighbours, 5,000 globals and one table of all of them."""
    count = 5000
    yield f"""(module
  (table funcref (elem
{rows(f"$f{i}" for i in range(count))}))
{chr(10).join(f"  (global $g{i} (mut i32) (i32.const {i}))" for i in range(count))}
  (func $f0 (param i32) (result i32) (i32.add (local.get 0) (global.get $g0)))
{chr(10).join(f"  (func $f{i} (param i32) (result i32) (call $f{i - 1} (i32.add (local.get 0) (global.get $g{i}))))" for i in range(1, count))}
  (func (export "all") (result i32) (call $f{count - 1} (i32.const 1)))
  (func (export "one") (param i32) (result i32) (call_indirect (param i32) (result i32) (i32.const 5) (local.get 0))))
(assert_return (invoke "all") (i32.const {count * (count - 1) // 2 + 1}))
(assert_return (invoke "one" (i32.const 2)) (i32.const 8))
(assert_return (invoke "one" (i32.const {count - 1})) (i32.const {count * (count - 1) // 2 + 5}))
(assert_trap (invoke "one" (i32.const {count})) "undefined element")"""


def growth():
    """memory.grow in steps up to 65,536 pages, and table.grow to 10,000 elements."""
    yield """(module
  (memory 1) (table 0 externref)
  (func (export "memory") (result i32) (local $n i32)
    (loop $l
      (i32.store (i32.sub (i32.shl (memory.size) (i32.const 16)) (i32.const 4)) (memory.size))
      (local.set $n (i32.add (local.get $n) (i32.const 1)))
      (br_if $l (i32.ne (memory.grow (i32.const 1285)) (i32.const -1))))
    (local.get $n))
  (func (export "size") (result i32) (memory.size))
  (func (export "grow") (param i32) (result i32) (memory.grow (local.get 0)))
  (func (export "load") (param i32) (result i32) (i32.load (local.get 0)))
  (func (export "table") (result i32)
    (loop $l (drop (table.grow 0 (ref.null extern) (i32.const 1))) (br_if $l (i32.lt_u (table.size 0) (i32.const 10000))))
    (table.size 0)))
(assert_return (invoke "memory") (i32.const 52))
(assert_return (invoke "size") (i32.const 65536))
(assert_return (invoke "grow" (i32.const 1)) (i32.const -1))
(assert_return (invoke "load" (i32.const 0xfffffffc)) (i32.const 65536))
(assert_return (invoke "load" (i32.const 0xfffc)) (i32.const 1))
(assert_trap (invoke "load" (i32.const 0xfffffffd)) "out of bounds memory access")
(assert_return (invoke "table") (i32.const 10000))"""


CASES = (params_and_results, locals_50000, deep_blocks, many_joins, deep_expressions, br_tables, long_function, many_functions, growth)


def main():
    place = pathlib.Path(sys.argv[1])
    if place.is_dir():
        write(place)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        write(pathlib.Path(folder))
        for level in ("0", "1", "2"):
            done = subprocess.run([str(place), "wast", "--opt-level", level, folder], timeout=600, check=False)
            if done.returncode:
                return 1
    return 0


def write(folder):
    for case in CASES:
        text = "\n".join(case())
        (folder / f"{case.__name__}.wast").write_text(text + "\n")


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Threads of WASI programs as a user sees them: tests/cli/threads.py PATH-TO-HOIST. Ends with
"N passed, N failed"."""
import pathlib
import re
import subprocess
import sys
import tempfile
import time

HOIST = str(pathlib.Path(sys.argv[1]).resolve())
PROGRAM = """(module
  (import "env" "memory" (memory 2 2 shared))
  (import "wasi" "thread-spawn" (func $spawn (param i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))
  (export "memory" (memory 0))
  ;; What the threads do is in memory at 0, who is done at 4.
  (func $print (param $at i32) (param $letter i32)
    (i32.store8 offset=64 (local.get $at) (local.get $letter))
    (i32.store8 offset=65 (local.get $at) (i32.const 10))
    (i32.store (local.get $at) (i32.add (local.get $at) (i32.const 64)))
    (i32.store offset=4 (local.get $at) (i32.const 2))
    (drop (call $write (i32.const 1) (local.get $at) (i32.const 1) (i32.add (local.get $at) (i32.const 8)))))
  (func $fail (unreachable))
  (func $spin (loop $again (br $again)))
  (func (export "wasi_thread_start") (param $id i32) (param $what i32)
    (if (i32.eq (local.get $what) (i32.const 1)) (then (call $fail)))
    (if (i32.eq (local.get $what) (i32.const 2)) (then (call $exit (i32.const 7))))
    (if (i32.eq (local.get $what) (i32.const 3)) (then (call $spin)))
    ;; A read of standard input that never ends.
    (if (i32.eq (local.get $what) (i32.const 4))
      (then
        (i32.store8 (i32.const 3008) (i32.const 1))
        (i32.store (i32.const 3016) (i32.const 0))
        (drop (call $poll (i32.const 3000) (i32.const 3100) (i32.const 1) (i32.const 3200)))))
    (call $print (i32.mul (local.get $id) (i32.const 1024)) (i32.add (local.get $id) (i32.const 64)))
    (drop (i32.atomic.rmw.add (i32.const 4) (i32.const 1)))
    (drop (memory.atomic.notify (i32.const 4) (i32.const 1))))
  (func $threads (param $count i32) (param $last i32) (result i32) (local $i i32) (local $spawned i32)
    (loop $next
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (local.set $spawned
        (call $spawn (select (local.get $last) (i32.const 0) (i32.eq (local.get $i) (local.get $count)))))
      (if (i32.lt_s (local.get $spawned) (i32.const 0)) (then (return (local.get $spawned))))
      (br_if $next (i32.ne (local.get $i) (local.get $count))))
    (local.get $i))
  (func $join (param $count i32) (local $done i32)
    (loop $wait
      (local.set $done (i32.atomic.load (i32.const 4)))
      (if (i32.ne (local.get $done) (local.get $count))
        (then
          (drop (memory.atomic.wait32 (i32.const 4) (local.get $done) (i64.const -1)))
          (br $wait)))))
  (func (export "both") (param $count i32) (param $last i32) (result i32)
    (if (i32.lt_s (call $threads (local.get $count) (local.get $last)) (i32.const 0)) (then (return (i32.const -1))))
    (call $join (local.get $count))
    (i32.load (i32.const 4)))
  (func (export "leave") (param $what i32) (result i32) (call $threads (i32.const 2) (local.get $what))))"""

failures = []
checks = 0


def case(name, arguments, status, out, err=r"^$", seconds=20):
    global checks
    checks += 1
    start = time.monotonic()
    run = subprocess.Popen([HOIST, "run", *arguments], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE)
    try:
        run.wait(60)
    except subprocess.TimeoutExpired:
        run.kill()
    taken = time.monotonic() - start
    stdout, stderr = run.stdout.read().decode(errors="replace"), run.stderr.read().decode(errors="replace")
    stdout = "\n".join(sorted(stdout.split()))
    if run.returncode != status or not re.search(out, stdout) or not re.search(err, stderr) or taken > seconds:
        failures.append(name)
        print(f"FAIL {name}: status {run.returncode} after {taken:.1f} s, stdout {stdout!r}, stderr {stderr!r}")


with tempfile.TemporaryDirectory() as temporary:
    folder = pathlib.Path(temporary)
    (folder / "t.wat").write_text(PROGRAM)
    for flags in ([], ["--opt-level=0"], ["--signals=off"], ["--bounds-checks=explicit", "--fuel=1000000"]):
        case(f"three {flags}", [*flags, "--invoke", "both", "t.wat", "3", "0"], 0, r"^3\nA\nB\nC$")
    case("trap", ["--invoke", "both", "t.wat", "2", "1"], 134, r"^A?$",
         r"thread 2 of the program failed\n.*unreachable(.|\n)*fail")
    case("exit", ["--invoke", "both", "t.wat", "2", "2"], 7, r"^A?$")
    case("main ends first", ["--invoke", "leave", "t.wat", "3"], 0, r"^2")
    case("main ends while one reads", ["--invoke", "leave", "t.wat", "4"], 0, r"^2")
    case("one reads, others print", ["--timeout=2s", "--invoke", "both", "t.wat", "4", "4"], 124, r"^A\nB\nC$",
         r"timeout")
    case("no threads", ["--max-threads=0", "--invoke", "both", "t.wat", "1", "0"], 0, r"^-1$")
    case("too many", ["--max-threads=1", "--invoke", "both", "t.wat", "2", "3"], 0, r"-1")
    case("fuel of a thread", ["--fuel=5000", "--invoke", "both", "t.wat", "1", "3"], 134, r"^$", r"all fuel consumed")

print(f"{checks - len(failures)} passed, {len(failures)} failed")
sys.exit(1 if failures else 0)

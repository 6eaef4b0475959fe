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
  (import "wasi_snapshot_preview1" "fd_read" (func $read_from (param i32 i32 i32 i32) (result i32)))
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
  ;; As long, without a loop and without frames.
  (func $tail (param $n i32) (return_call $tail (i32.add (local.get $n) (i32.const 1))))
  (func $read
    (i32.store (i32.const 3300) (i32.const 3400))
    (i32.store (i32.const 3304) (i32.const 1))
    (drop (call $read_from (i32.const 0) (i32.const 3300) (i32.const 1) (i32.const 3308))))
  (func (export "wasi_thread_start") (param $id i32) (param $what i32)
    (if (i32.eq (local.get $what) (i32.const 1)) (then (call $fail)))
    (if (i32.eq (local.get $what) (i32.const 2)) (then (call $exit (i32.const 7))))
    (if (i32.eq (local.get $what) (i32.const 3)) (then (call $spin)))
    (if (i32.eq (local.get $what) (i32.const 5)) (then (call $tail (i32.const 0))))
    (if (i32.eq (local.get $what) (i32.const 6)) (then (call $read)))
    (if (i32.eq (local.get $what) (i32.const 7))
      (then (drop (memory.atomic.wait32 (i32.const 40) (i32.const 0) (i64.const -1)))))
    ;; From 100 on, a thread that spawns one and spins.
    (if (i32.ge_u (local.get $what) (i32.const 100))
      (then (drop (call $spawn (i32.sub (local.get $what) (i32.const 100)))) (call $spin)))
    ;; A wait for standard input that never ends.
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
  ;; Two threads, and what the main thread does meanwhile.
  (func $two (param $a i32) (param $b i32)
    (if (i32.lt_s (call $spawn (local.get $a)) (i32.const 0)) (then (unreachable)))
    (if (i32.lt_s (call $spawn (local.get $b)) (i32.const 0)) (then (unreachable))))
  (func (export "spin") (param $a i32) (param $b i32) (call $two (local.get $a) (local.get $b)) (call $spin))
  (func (export "tail") (param $a i32) (param $b i32) (call $two (local.get $a) (local.get $b)) (call $tail (i32.const 0)))
  (func (export "read") (param $a i32) (param $b i32) (call $two (local.get $a) (local.get $b)) (call $read))
  (func (export "wait") (param $a i32) (param $b i32) (call $two (local.get $a) (local.get $b))
    (drop (memory.atomic.wait32 (i32.const 40) (i32.const 0) (i64.const -1))))
  (func (export "exit") (param $a i32) (param $b i32) (call $two (local.get $a) (local.get $b)) (call $exit (i32.const 9)))
  (func (export "trap") (param $a i32) (param $b i32) (call $two (local.get $a) (local.get $b)) (call $fail))
  (func (export "return") (param $a i32) (param $b i32) (call $two (local.get $a) (local.get $b)))
  (func (export "leave") (param $what i32) (result i32) (call $threads (i32.const 2) (local.get $what))))"""

# Its main thread spins in another module.
LIBRARY = '(module (func (export "spin") (loop (br 0))))'
LIBRARY_USER = """(module
  (import "env" "memory" (memory 1 1 shared))
  (import "lib" "spin" (func $spin))
  (import "wasi" "thread-spawn" (func $spawn (param i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (export "memory" (memory 0))
  (func (export "wasi_thread_start") (param i32 i32) (if (local.get 1) (then (call $exit (local.get 1)))) (unreachable))
  (func (export "f") (param i32) (drop (call $spawn (local.get 0))) (call $spin)))"""
# Each instance has a memory and a table of its own. The threads grow them, wait for each other and say how often they
# could: the sum is at 0 of the shared memory.
OWN = """(module
  (import "env" "memory" (memory $shared 1 8 shared))
  (import "wasi" "thread-spawn" (func $spawn (param i32) (result i32)))
  (memory $own 1 100)
  (table $t 10 1000 funcref)
  (func $grow (local $n i32)
    (loop $again
      (if (i32.ne (memory.grow $own (i32.const 1)) (i32.const -1))
        (then (local.set $n (i32.add (local.get $n) (i32.const 1))) (br $again))))
    (loop $again
      (if (i32.ne (table.grow $t (ref.null func) (i32.const 10)) (i32.const -1))
        (then (local.set $n (i32.add (local.get $n) (i32.const 1000))) (br $again))))
    (drop (i32.atomic.rmw.add $shared (i32.const 0) (local.get $n)))
    (drop (i32.atomic.rmw.add $shared (i32.const 4) (i32.const 1)))
    (drop (memory.atomic.notify $shared (i32.const 4) (i32.const 100))))
  ;; Whoever waits here keeps what it has.
  (func $wait (param $at i32) (param $for i32) (local $now i32)
    (loop $again
      (local.set $now (i32.atomic.load $shared (local.get $at)))
      (if (i32.lt_u (local.get $now) (local.get $for))
        (then (drop (memory.atomic.wait32 $shared (local.get $at) (local.get $now) (i64.const -1))) (br $again)))))
  (func (export "wasi_thread_start") (param i32) (param $all i32)
    (drop (i32.atomic.rmw.add $shared (i32.const 8) (i32.const 1)))
    (drop (memory.atomic.notify $shared (i32.const 8) (i32.const 100)))
    (call $wait (i32.const 8) (local.get $all))
    (call $grow)
    (call $wait (i32.const 4) (local.get $all)))
  (func (export "f") (param $threads i32) (param $shared i32) (result i32) (local $i i32)
    (drop (memory.grow $shared (local.get $shared)))
    (loop $next
      (if (i32.lt_s (call $spawn (local.get $threads)) (i32.const 0)) (then (return (i32.const -1))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $next (i32.ne (local.get $i) (local.get $threads))))
    (call $wait (i32.const 4) (local.get $threads))
    (i32.load $shared (i32.const 0))))"""

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

    # Whatever a thread or the main thread does, the program ends with any of them; at once, so that what takes seconds is
    # a failure. No limits are on: the code looks by itself.
    for flags in ([], ["--opt-level=0"], ["--signals=off"], ["--fuel=100000000000"], ["--timeout=100s"]):
        for main in ("spin", "tail", "read", "wait"):
            case(f"exit ends a main thread that does {main} {flags}", [*flags, "--invoke", main, "t.wat", "3", "2"], 7, r"^$", seconds=10)
        case(f"a trap ends a main thread that spins {flags}", [*flags, "--invoke", "spin", "t.wat", "3", "1"], 134, r"^$",
             r"^hoist: t.wat: thread 2 of the program failed\n.*unreachable(.|\n)*fail", seconds=10)
    for what, does in ((3, "spins"), (5, "calls itself"), (6, "reads"), (7, "waits"), (4, "polls"), (103, "has spawned one that spins")):
        case(f"exit of main while one {does}", ["--invoke", "exit", "t.wat", str(what), str(what)], 9, r"^$", seconds=10)
        case(f"trap of main while one {does}", ["--invoke", "trap", "t.wat", str(what), str(what)], 134, r"^$", r"^hoist: t.wat: .*unreachable", seconds=10)
        case(f"main returns while one {does}", ["--invoke", "return", "t.wat", str(what), str(what)], 0, r"^$", seconds=10)
        case(f"exit of a thread while one {does}", ["--invoke", "wait", "t.wat", str(what), "2"], 7, r"^$", seconds=10)
    case("exit of a thread's thread", ["--invoke", "spin", "t.wat", "7", "102"], 7, r"^$", seconds=10)
    case("trap of a thread's thread", ["--invoke", "spin", "t.wat", "7", "101"], 134, r"^$", r"thread 3 of the program failed", seconds=10)
    # Images are compiled the same way.
    subprocess.run([HOIST, "compile", "t.wat", "-o", "image"], cwd=folder, check=True)
    case("an image", ["--invoke", "spin", "image", "3", "2"], 7, r"^$", seconds=10)
    case("an image with a timeout", ["--timeout=200ms", "--invoke", "spin", "image", "3", "3"], 124, r"^$", r"timeout", seconds=10)
    # Code that does not look is not waited for.
    (folder / "lib.wat").write_text(LIBRARY)
    (folder / "user.wat").write_text(LIBRARY_USER)
    case("a library that its threads cannot have", ["--preload", "lib=lib.wat", "--invoke", "f", "user.wat", "6"], 1,
         r"^$", r"^hoist: user.wat: it starts threads, each in a store of its own: modules of --preload are not there\n$", seconds=10)

    # Limits are of all threads together.
    (folder / "own.wat").write_text(OWN)
    # Main and two threads have 4 pages and 30 elements at first; 20 pages and 100 elements may be.
    limits = ["--max-memory=1280KiB", "--max-total-table-elements=100", "--invoke", "f", "own.wat"]
    case("together", [*limits, "2", "0"], 0, r"^7016$")
    case("with shared memory that grew", [*limits, "2", "5"], 0, r"^7011$")
    case("a thread that has no memory", ["--max-memory=192KiB", "--invoke", "f", "own.wat", "2", "0"], 1, r"^$",
         r"^hoist: own.wat: thread \d of the program failed\nhoist: own.wat: a memory of 65536 bytes is more than the limit "
         r"--max-memory of 196608 bytes, of which others have \d+\n")
    case("a thread that has no table", ["--max-total-table-elements=20", "--invoke", "f", "own.wat", "2", "0"], 1, r"^$",
         r"a table of 10 elements is more than the limit --max-total-table-elements of 20 elements, of which others have 20\n")

print(f"{checks - len(failures)} passed, {len(failures)} failed")
sys.exit(1 if failures else 0)

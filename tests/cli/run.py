#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command line as a user sees it: tests/cli/run.py PATH-TO-HOIST. Each case gives arguments, files and
what stdout, stderr and the exit status must be. Ends with "N passed, N failed"."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HOIST = str(pathlib.Path(sys.argv[1]).resolve())

MATH = """(module $math
  (memory (export "memory") 1)
  (func (export "add") (param i32 i32) (result i32) (i32.add (local.get 0) (local.get 1)))
  (func (export "sub64") (param i64 i64) (result i64) (i64.sub (local.get 0) (local.get 1)))
  (func (export "half") (param f64) (result f64) (f64.mul (local.get 0) (f64.const 0.5)))
  (func (export "halff") (param f32) (result f32) (f32.mul (local.get 0) (f32.const 0.5)))
  (func (export "swap") (param i32 i64) (result i64 i32) (local.get 1) (local.get 0))
  (func (export "isnull") (param externref) (result i32) (ref.is_null (local.get 0)))
  (func $crash (export "crash") (param i32) (result i32) (i32.load (local.get 0)))
  (func $outer (export "outer") (result i32) (call $crash (i32.const -1)))
  (func (export "div") (param i32 i32) (result i32) (i32.div_s (local.get 0) (local.get 1)))
  (func $deep (export "deep") (param i32) (result i32) (i32.add (i32.const 1) (call $deep (local.get 0))))
  (func (export "unreachable") unreachable))"""

WASI = """(module
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (import "wasi_snapshot_preview1" "args_sizes_get" (func $sizes (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "environ_get" (func $env (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 16) "hello\\n")
  (func (export "_start")
    (i32.store (i32.const 0) (i32.const 16)) (i32.store (i32.const 4) (i32.const 6))
    (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))
    (drop (call $sizes (i32.const 100) (i32.const 104)))
    (drop (call $env (i32.const 200) (i32.const 300)))
    (call $exit (i32.add (i32.load (i32.const 100)) (i32.load8_u (i32.const 302))))))"""

REACTOR = """(module (global $ready (mut i32) (i32.const 0))
  (func (export "_initialize") (global.set $ready (i32.const 41)))
  (func (export "get") (result i32) (i32.add (global.get $ready) (i32.const 1))))"""

NAMED = """(module $m (func $double (export "d") (param $x i32) (result i32)
  (block $b (result i32) (br_if $b (local.get $x) (local.get $x))))
  (@custom "note" "hello") (memory 1) (data (i32.const 0) "abc\\00"))"""

PRINTED = r"""(module $m
  (type (;0;) (func (param i32) (result i32)))
  (memory (;0;) 1)
  (export "d" (func $double))
  (func $double (;0;) (type 0) (param $x i32) (result i32)
    block $b (result i32)
      local.get $x
      local.get $x
      br_if $b
    end
  )
  (data (;0;) (i32.const 0) "abc\00")
  (@custom "note" (after data) "hello"))
"""

FILES = {
    "math.wat": MATH, "wasi.wat": WASI, "reactor.wat": REACTOR,
    "start.wat": "(module (func $s) (start $s))",
    "trapstart.wat": "(module (func $s unreachable) (start $s))",
    "none.wat": "(module)",
    "import.wat": '(module (import "env" "missing" (func (param i32) (result i32))) (func (export "f") (result i32) (call 0 (i32.const 1))))',
    "importmem.wat": '(module (import "env" "mem" (memory 1)))',
    "wrongimport.wat": '(module (import "wasi_snapshot_preview1" "fd_close" (func (param i64))))',
    # fd_close of no descriptor gives 8 (badf); the functions that tail-call the host have other parameters than it.
    "tailhost.wat": '''(module (import "wasi_snapshot_preview1" "fd_close" (func $close (param i32) (result i32)))
      (import "wasi_snapshot_preview1" "sched_yield" (func $yield (result i32))) (memory (export "memory") 1)
      (func $w (param i32 i64 f64 i32) (result i32) (local.get 3) (return_call $close))
      (func $n (param i32 i64 f64) (result i32) (return_call $yield))
      (func (export "main") (param i32) (result i32)
        (i32.add (call $w (i32.const 1) (i64.const 2) (f64.const 3) (local.get 0)) (i32.const 100))
        (i32.add (call $n (i32.const 1) (i64.const 2) (f64.const 3)))))''',
    # In the older module's layout: a clock 8 bytes further than in the newer one.
    "older.wat": '''(module (import "wasi_unstable" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))
      (import "wasi_unstable" "fd_filestat_get" (func $stat (param i32 i32) (result i32)))
      (import "wasi_unstable" "proc_exit" (func $exit (param i32)))
      (memory (export "memory") 1)
      (func (export "_start")
        (i64.store (i32.const 0) (i64.const 77)) (i32.store (i32.const 24) (i32.const 1)) (i64.store (i32.const 32) (i64.const 1000))
        (i64.store (i32.const 16) (i64.const -1))
        (drop (call $stat (i32.const 0) (i32.const 65480)))
        (call $exit (i32.add (call $poll (i32.const 0) (i32.const 100) (i32.const 1) (i32.const 200))
          (i32.add (i32.load (i32.const 100)) (i32.load16_u (i32.const 108)))))))''',  # user data and errno of the event
    "oldaccept.wat": '(module (import "wasi_unstable" "sock_accept" (func (param i32 i32 i32) (result i32))) (func (export "_start")))',
    "bad.wat": "(module (func (result i32) (i64.const 0)))",
    "syntax.wat": "(module (func\n  (i32.bogus)))",
    "simd.wat": "(module (func (export \"f\") (drop (v128.const i32x4 0 0 0 0))))",
    "bad.wasm": b"\0asm\1\0\0\0\1\3\1\x60",
    "junk": b"\xff\xfe\x00junk",
    "empty": b"",
    "evilname.wat": '(module (func $"x\\1b[31m\\0ay\\c2\\9b" (export "_start") unreachable))',
    "evilexport.wat": '(module (func (export "\\c2\\9b31m\\1b\\e2\\80\\ae")))',
    "evil.wast": '(module (func (export "f") unreachable))(assert_return (invoke "\\0a\\1b[2J"))'
                 '(assert_trap (invoke "f") "\\0a\\1b[2J")(assert_invalid (module) "\\1b[2J")',
    "longname.wat": '(module (func (export "' + "n" * 100000 + '")))',
    "floats.wat": '(module (func (export "add") (param f32 f64) (result f64) (f64.add (f64.promote_f32 (local.get 0)) (local.get 1))))',
    "legacy.wat": '(module (func (try (do))))',
    "atomic.wat": '(module (memory 1 1 shared) (func (drop (i32.atomic.load (i32.const 0)))))',
    "named.wat": NAMED,
    # The opcode ff in the second function.
    "opcode.wasm": b"\0asm\1\0\0\0\1\4\1\x60\0\0\3\3\2\0\0\x0a\x09\2\3\0\1\x0b\3\0\xff\x0b",
    "lib.wat": '(module (memory (export "m") 1) (global $n (mut i32) (i32.const 40)) (func (export "_initialize") (global.set $n (i32.const 41)))'
               '(func (export "next") (result i32) (global.set $n (i32.add (global.get $n) (i32.const 1))) (global.get $n)))',
    "mid.wat": '(module (import "lib" "next" (func $next (result i32))) (func (export "twice") (result i32) (drop (call $next)) (call $next)))',
    "main.wat": '(module (import "mid" "twice" (func $t (result i32))) (import "lib" "m" (memory 1)) (func (export "f") (result i32) (call $t)))',
    "mismatch.wat": '(module (import "lib" "next" (func (result i64))))',
    "needs2.wat": '(module (import "lib" "m" (memory 2)))',
    "simd.wast": ';;! simd = true\n(module (func (export "f") (drop (v128.const i32x4 0 0 0 0))))\n(assert_return (invoke "f"))',
    "headers.wast": ';;! simd = true\n;;! nan_canonicalization = true\n(module)\n',
    "badheader.wast": '\n;;! sparkles = true\n(module)\n',
    "threads.wast": '(module $m (memory (export "mem") 1 1 shared))\n(thread $t (shared (module $m)) (register "m" $m)'
                    '(module (import "m" "mem" (memory 1 1 shared)) (func (export "f") (i32.atomic.store (i32.const 0) (i32.const 7))))\n(assert_return (invoke "f")))\n'
                    '(wait $t)\n(module (import "m" "mem" (memory 1 1 shared)) (func (export "g") (result i32) (i32.load (i32.const 0))))\n'
                    '(assert_return (invoke "g") (i32.const 7))',
    "forms.wast": '(module definition $d (global (export "g") i32 (i32.const 5)) (func (export "v") (result v128) (v128.const f32x4 nan 1 2 -nan)))\n'
                  '(module instance $i $d)\n(assert_return (get $i "g") (i32.const 5))\n(assert_return (get $i "g") (either (i32.const 4) (i32.const 5)))\n'
                  '(assert_return (invoke $i "v") (v128.const f32x4 nan:canonical 1 2 nan:arithmetic))\n'
                  '(module (tag $e) (func (export "t") (throw $e)))\n(assert_exception (invoke "t"))',
    "wrongforms.wast": '(module (func (export "f") (result i32) (i32.const 1)) (func (export "v") (result v128) (v128.const f32x4 nan 1 2 3)))\n'
                       '(assert_exception (invoke "f"))\n(assert_return (invoke "v") (v128.const f32x4 nan:canonical 1 2 nan:canonical))\n'
                       '(assert_return (invoke "f") (either (i32.const 2) (i32.const 3)))\n(assert_exhaustion (invoke "f") "call stack exhausted")',
    "messages.wast": '(assert_invalid (module (func (result i32))) "something else")',
    "heap.wast": '(module (type $s (struct)) (func (export "f") (drop (struct.new $s))))\n(assert_return (invoke "f"))',
    "good.wast": '(module (func (export "f") (result i32) (i32.const 1)))\n(assert_return (invoke "f") (i32.const 1))',
    "fails.wast": '(module (func (export "f") (result i32) (i32.const 1)))\n(assert_return (invoke "f") (i32.const 2))',
    # Writes to standard output without end, whatever comes back.
    "pour.wat": """(module (import "wasi_snapshot_preview1" "fd_write" (func $w (param i32 i32 i32 i32) (result i32)))
      (memory (export "memory") 1) (data (i32.const 0) "\\10\\00\\00\\00\\08\\00\\00\\00")
      (func (export "_start") (loop $l (drop (call $w (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8))) (br $l))))""",
}

# (name, arguments, expected exit status, regular expression for stdout, for stderr)
CASES = [
    ("version", ["--version"], 0, r"^hoist \d+\.\d+\.\d+\n", r"^$"),
    ("help names the subcommands", ["--help"], 0, r"(?s)run.*validate.*wast.*Examples", r"^$"),
    ("run help", ["run", "--help"], 0, r"(?s)--dir.*--env.*--invoke.*--timings.*--unknown-imports.*--threads.*--profile", r"^$"),
    ("hoist profile without FILE", ["profile"], 1, r"^$", r"^hoist: a FILE is needed: hoist profile \[OPTIONS\] FILE \[ARGS...\] \(see hoist profile --help\)\n$"),
    ("--profile= does not take FILE", ["run", "--profile=", "start.wat"], 1, r"^$", r"^hoist: --profile: the value is empty.*\n$"),
    ("--timeout= does not take FILE", ["run", "--timeout=", "start.wat"], 1, r"^$", r"^hoist: --timeout: the value is empty.*\n$"),
    ("words after FILE may end in =", ["run", "--invoke", "f", "import.wat", "--profile="], 1, r"^$", r"missing"),
    ("a short interval", ["run", "--profile=guest,interval=1us", "start.wat"], 1, r"^$", r"interval=1us is too short: it must be from 100us to 10s"),
    ("a long interval", ["run", "--profile=guest,interval=11s", "start.wat"], 1, r"^$", r"interval=11s is too long: it must be from 100us to 10s"),
    ("an interval without unit", ["run", "--profile=guest,interval=5", "start.wat"], 1, r"^$", r"interval=5 is no time"),
    ("an endless interval", ["run", "--profile=guest,interval=infs", "start.wat"], 1, r"^$", r"from 100us to 10s"),
    ("two profilers", ["run", "--profile=perfmap,guest", "start.wat"], 1, r"^$", r"one profiler at a time"),
    ("two profilers, guest first", ["run", "--profile=guest,jitdump", "start.wat"], 1, r"^$", r"one profiler at a time"),
    ("a profiler that is none", ["run", "--profile=gprof", "start.wat"], 1, r"^$", r"no profiler 'gprof': it is perfmap"),
    ("a setting that is none", ["run", "--profile=guest,what", "start.wat"], 1, r"^$", r"no setting 'what': it has interval="),
    ("settings of perfmap", ["run", "--profile=perfmap,x=1", "start.wat"], 1, r"^$", r"--profile=perfmap has no settings"),
    ("out= without a name", ["run", "--profile=guest,out=", "start.wat"], 1, r"^$", r"out= names no file"),
    ("a profile of unknown form", ["run", "--profile=guest,out=x.pdf", "start.wat"], 1, r"^$", r"x.pdf: the name of a profile ends with"),
    ("hoist profile with another profiler", ["profile", "--profile=perfmap", "start.wat"], 1, r"^$", r"hoist profile samples the guest"),
    ("no subcommand", [], 1, r"^$", r"^hoist: .*\n$"),
    ("unknown subcommand", ["frobnicate"], 1, r"^$", r"^hoist: there is no subcommand 'frobnicate'.*\n$"),
    ("unknown option", ["run", "--frobnicate", "math.wat"], 1, r"^$", r"^hoist: run has no option '--frobnicate'.*\n$"),
    ("bad --env without WASI", ["run", "--env", "novalue", "start.wat"], 1, r"^$", r"^hoist: --env takes.*\n$"),
    ("bad --dir without WASI", ["run", "--dir", "", "start.wat"], 1, r"^$", r"^hoist: --dir: the value is empty.*\n$"),
    ("a fraction of a count", ["run", "--fuel", "1.5", "start.wat"], 1, r"^$", r"^hoist: --fuel: '1.5' is not a plain number\n$"),
    ("a fraction of a size", ["run", "--max-memory", "1.5M", "start.wat"], 1, r"^$", r"^hoist: --max-memory: '1.5M' has a fraction.*\n$"),
    ("--dir HOST::ro", ["run", "--dir", ".::ro", "start.wat"], 1, r"^$", r"^hoist: --dir '.::ro': read-only is HOST::GUEST::ro.*\n$"),
    ("empty --timeout", ["run", "--timeout", "", "start.wat"], 1, r"^$", r"^hoist: --timeout: the value is empty.*\n$"),
    ("empty --cache-dir", ["cache", "--clear", "--cache-dir", ""], 1, r"^$", r"^hoist: --cache-dir: the value is empty.*\n$"),
    ("a backtrace is harmless", ["run", "evilname.wat"], 134, r"^$",
     r"^hoist: evilname.wat: unreachable\nwasm backtrace:\n    0: x\\x1b\[31m\\x0ay\\u\{9b\} @ 0x[0-9a-f]+\n$"),
    ("an export's name is harmless", ["run", "evilexport.wat"], 1, r"^$", r"^hoist: [\x20-\x7e]*\n$"),
    ("a script's text is harmless", ["wast", "evil.wast"], 1, r"^([\x20-\x7e]*\n)*$", r"^$"),
    ("messages are bounded", ["run", "longname.wat"], 1, r"^$", r"^hoist: .{100,5000}\n$"),
    ("no file", ["run"], 1, r"^$", r"^hoist: a FILE is needed.*\n$"),
    ("add", ["run", "--invoke", "add", "math.wat", "2", "-3"], 0, r"^-1\n$", r"^$"),
    ("hex and unsigned", ["run", "--invoke", "add", "math.wat", "0xffffffff", "4294967295"], 0, r"^-2\n$", r"^$"),
    ("i64", ["run", "--invoke", "sub64", "math.wat", "-9223372036854775808", "0"], 0, r"^-9223372036854775808\n$", r"^$"),
    ("f64", ["run", "--invoke", "half", "math.wat", "3"], 0, r"^1\.5\n$", r"^$"),
    ("f32", ["run", "--invoke", "halff", "math.wat", "0.2"], 0, r"^0\.1\n$", r"^$"),
    ("two results", ["run", "--invoke", "swap", "math.wat", "1", "2"], 0, r"^2\n1\n$", r"^$"),
    ("null reference", ["run", "--invoke", "isnull", "math.wat", "null"], 0, r"^1\n$", r"^$"),
    ("too few arguments", ["run", "--invoke", "add", "math.wat", "2"], 1, r"^$", r"^hoist: math.wat: .*takes 2 arguments, 1 given\n$"),
    ("not a number", ["run", "--invoke", "add", "math.wat", "2", "x"], 1, r"^$", r"^hoist: math.wat: argument 2 of 'add': 'x' is not a number of type i32\n$"),
    ("too large", ["run", "--invoke", "add", "math.wat", "2", "4294967296"], 1, r"^$", r"^hoist: math.wat: .*does not fit i32\n$"),
    ("no such export", ["run", "--invoke", "nope", "math.wat"], 1, r"^$", r"^hoist: math.wat: .*nope.*\n$"),
    ("export of another kind", ["run", "--invoke", "memory", "math.wat"], 1, r"^$", r"^hoist: math.wat: .*memory.*\n$"),
    ("nothing to run", ["run", "math.wat"], 1, r"^$", r"^hoist: math.wat: .*no _start.*--invoke: add, sub64.*\n$"),
    ("nothing at all", ["run", "none.wat"], 1, r"^$", r"^hoist: none.wat: .*no start function.*\n$"),
    ("start function", ["run", "start.wat"], 0, r"^$", r"^$"),
    ("trap in start", ["run", "trapstart.wat"], 134, r"^$", r"unreachable"),
    ("memory trap", ["run", "--invoke", "outer", "math.wat"], 134, r"^$", r"(?s)out of bounds memory access.*crash.*outer"),
    ("divide", ["run", "--invoke", "div", "math.wat", "1", "0"], 134, r"^$", r"integer divide by zero"),
    ("overflow", ["run", "--invoke", "div", "math.wat", "-2147483648", "-1"], 134, r"^$", r"integer overflow"),
    ("stack overflow", ["run", "--invoke", "deep", "math.wat", "0"], 134, r"^$", r"call stack exhausted"),
    ("unreachable", ["run", "--invoke", "unreachable", "math.wat"], 134, r"^$", r"unreachable"),
    ("all levels", ["run", "--opt-level", "0", "--invoke", "outer", "math.wat"], 134, r"^$", r"out of bounds memory access"),
    ("wasi, exit status, arguments, environment", ["run", "--env", "A=\x05", "wasi.wat", "x", "y"], 8, r"^hello\n$", r"^$"),
    ("options after FILE are the program's", ["run", "--env", "A=\x05", "wasi.wat", "--dir", "--help"], 8, r"^hello\n$", r"^$"),
    ("reactor", ["run", "--invoke", "get", "reactor.wat"], 0, r"^42\n$", r"^$"),
    ("tail calls of host functions", ["run", "--invoke", "main", "tailhost.wat", "99"], 0, r"^108\n$", r"^$"),
    ("tail calls of host functions, level 0", ["run", "--opt-level", "0", "--invoke", "main", "tailhost.wat", "99"], 0, r"^108\n$", r"^$"),
    ("wasi_unstable", ["run", "older.wat"], 77, r"^$", r"^$"),
    ("what wasi_unstable has not", ["run", "oldaccept.wat"], 1, r"^$",
     r'^hoist: oldaccept.wat: unknown import: "wasi_unstable"."sock_accept".*; "wasi_snapshot_preview1" has "sock_accept"\n$'),
    ("missing import", ["run", "--invoke", "f", "import.wat"], 1, r"^$", r"^hoist: import.wat: .*env.*missing.*\n$"),
    ("unknown import traps", ["run", "--unknown-imports=trap", "--invoke", "f", "import.wat"], 134, r"^$", r"unknown import"),
    ("unknown import gives zero", ["run", "--unknown-imports=default", "--invoke", "f", "import.wat"], 0, r"^0\n$", r"^$"),
    ("import of the wrong type", ["run", "wrongimport.wat"], 1, r"^$", r"^hoist: wrongimport.wat: .*fd_close.*\n$"),
    ("missing memory", ["run", "importmem.wat"], 1, r"^$", r"^hoist: importmem.wat: .*mem.*\n$"),
    ("invalid", ["run", "bad.wat"], 1, r"^$", r"^hoist: bad.wat: .*type mismatch.*\n$"),
    ("syntax error has line and column", ["run", "syntax.wat"], 1, r"^$", r"^hoist: syntax.wat:2:\d+: .*i32.bogus.*\n$"),
    ("malformed binary has an offset", ["run", "bad.wasm"], 1, r"^$", r"^hoist: bad.wasm: .*\(at offset 0x[0-9a-f]+\)\n$"),
    ("later feature is named", ["run", "--features=-simd", "simd.wat"], 1, r"^$", r"^hoist: simd.wat: .*simd.*\n$"),
    ("neither binary nor text", ["run", "junk"], 1, r"^$", r"^hoist: junk.*\n$"),
    ("no such file", ["run", "nowhere.wasm"], 1, r"^$", r"^hoist: nowhere.wasm: .*\n$"),
    ("a directory", ["run", "."], 1, r"^$", r"^hoist: \.: .*director.*\n$"),
    ("bad --dir", ["run", "--dir", "nowhere", "wasi.wat"], 1, r"^$", r"^hoist: .*nowhere.*\n$"),
    ("bad --env", ["run", "--env", "novalue", "wasi.wat"], 1, r"^$", r"^hoist: .*--env.*\n$"),
    ("bad --threads", ["run", "--threads", "-1", "math.wat"], 1, r"^$", r"^hoist: .*\n$"),
    ("bad --unknown-imports", ["run", "--unknown-imports=maybe", "math.wat"], 1, r"^$", r"^hoist: .*\n$"),
    ("timings", ["run", "--timings", "--invoke", "add", "math.wat", "1", "1"], 0, r"^2\n$", r"(?s)decode.*compile.*instantiate.*run.*functions.*machine code"),
    ("timings right before FILE", ["run", "--timings", "start.wat"], 0, r"^$", r"decode"),
    ("timings in an unknown form", ["run", "--timings=xml", "start.wat"], 1, r"^$", r"^hoist: .*timings.*\n$"),
    ("timings as json", ["run", "--timings=json", "--invoke", "add", "math.wat", "1", "1"], 0, r"^2\n$", r'^\{.*"compile_cpu_ms".*"machine_code_bytes".*\}\n$'),
    ("validate", ["validate", "math.wat", "wasi.wat"], 0, r"^$", r"^$"),
    ("validate names all that are invalid", ["validate", "bad.wat", "math.wat", "bad.wasm"], 1, r"^$", r"^hoist: bad.wat.*\nhoist: bad.wasm.*\n$"),
    ("validate nothing", ["validate"], 1, r"^$", r"^hoist: .*\n$"),
    ("validate an empty file", ["validate", "empty"], 0, r"^$", r"^$"),
    ("print", ["print", "named.wat"], 0, "^" + re.escape(PRINTED) + "$", r"^$"),
    ("print without names", ["print", "--indexes", "named.wat"], 0, r"(?s)^\(module\n.*local\.get 0\n.*br_if 0 \(;@1;\)", r"^$"),
    ("print shows what comes before a mistake", ["print", "opcode.wasm"], 1, r"(?s)\(func \(;0;\) \(type 0\)\n    nop\n  \)", r"^hoist: opcode.wasm: illegal opcode ff \(function 1\) \(at offset 0x1c\)\n$"),
    ("print an invalid module", ["print", "bad.wat"], 0, r"i64.const 0", r"^$"),
    ("print --check", ["print", "--check", "bad.wat"], 1, r"^$", r"^hoist: bad.wat: .*type mismatch.*\n$"),
    ("print junk", ["print", "junk"], 1, r"^$", r"^hoist: junk:.*\n$"),
    ("legacy exceptions are off", ["validate", "legacy.wat"], 1, r"^$", r"^hoist: legacy.wat: .*legacy-exceptions.*\n$"),
    ("--features on", ["validate", "--features=+legacy-exceptions", "legacy.wat"], 0, r"^$", r"^$"),
    ("--features off", ["validate", "--features=-threads,+legacy-exceptions", "atomic.wat", "legacy.wat"], 1, r"^$", r"^hoist: atomic.wat: .*threads.*\n$"),
    ("--features for run", ["run", "--features=-threads", "atomic.wat"], 1, r"^$", r"^hoist: atomic.wat: .*threads.*\n$"),
    ("--features for compile", ["compile", "--features=-threads", "atomic.wat", "-o", "out"], 1, r"^$", r"^hoist: atomic.wat: .*threads.*\n$"),
    ("--features for wast", ["wast", "-q", "--features=-simd", "simd.wast"], 0, r"0 passed, 0 failed, 2 unsupported", r"^$"),
    ("an unknown feature", ["run", "--features=+smid", "start.wat"], 1, r"^$", r"^hoist: .*'\+smid' is no feature; there are all, mutable-globals.*\n$"),
    ("preload", ["run", "--preload", "lib=lib.wat", "--preload", "mid=mid.wat", "--invoke", "f", "main.wat"], 0, r"^43\n$", r"^$"),
    ("preload in the wrong order", ["run", "--preload", "mid=mid.wat", "--preload", "lib=lib.wat", "--invoke", "f", "main.wat"], 1, r"^$", r'^hoist: mid.wat: unknown import: "lib"."next".*\n$'),
    ("preload: another type", ["run", "--preload", "lib=lib.wat", "mismatch.wat"], 1, r"^$", r'^hoist: mismatch.wat: incompatible import type: "lib"."next".*\n$'),
    ("preload: a memory that is too small", ["run", "--preload", "lib=lib.wat", "needs2.wat"], 1, r"^$", r'^hoist: needs2.wat: incompatible import type: "lib"."m".*\n$'),
    ("preload: no name", ["run", "--preload", "lib.wat", "start.wat"], 1, r"^$", r"^hoist: --preload takes NAME=FILE, not 'lib.wat'\n$"),
    ("preload: no file", ["run", "--preload", "a=nowhere.wat", "start.wat"], 1, r"^$", r"^hoist: nowhere.wat: .*\n$"),
    ("an option behind FILE is not Hoist's", ["run", "math.wat", "--invoke", "add"], 1, r"^$", r"^hoist: math.wat: .*--invoke came after FILE.*\n$"),
    ("FILE behind its arguments", ["run", "--invoke", "add", "42", "math.wat"], 1, r"^$", r"^hoist: 42: .*did you mean 'math.wat 42'.*\n$"),
    ("floats", ["run", "--invoke", "add", "floats.wat", "1.5", "-0.25"], 0, r"^1\.25\n$", r"^$"),
    ("hexadecimal floats", ["run", "--invoke", "add", "floats.wat", "0x1p3", "inf"], 0, r"^inf\n$", r"^$"),
    ("nan", ["run", "--invoke", "add", "floats.wat", "nan", "0x1p3"], 0, r"^nan\n$", r"^$"),
    ("not a float", ["run", "--invoke", "add", "floats.wat", "1.5x", "0"], 1, r"^$", r"is not a number of type f32"),
    ("image on stdout", ["compile", "start.wat", "-o", "-"], 0, r"^.ELF", r"^$"),
    ("wast headers", ["wast", "headers.wast"], 0, r"1 passed, 0 failed", r""),
    ("wast headers that are not understood", ["wast", "badheader.wast"], 1, r"badheader.wast:2: header 'sparkles = true' has an unknown key", r""),
    ("wast threads", ["wast", "threads.wast"], 0, r"(?m)^threads.wast: 8 passed, 0 failed, 0 unsupported$", r""),
    ("wast forms", ["wast", "forms.wast"], 0, r"(?m)^forms.wast: 7 passed, 0 failed, 0 unsupported$", r""),
    ("wast forms that fail", ["wast", "wrongforms.wast"], 1, r"(?m)^wrongforms.wast: 1 passed, 4 failed, 0 unsupported$", r""),
    ("wast messages", ["wast", "--messages", "messages.wast"], 1, r"messages.wast:1: rejected as invalid", r""),
    ("wast messages are not compared unless asked", ["wast", "messages.wast"], 0, r"1 passed, 0 failed", r""),
    ("wast names unsupported instructions", ["wast", "heap.wast"], 0, r"(?s)0 passed, 0 failed, 2 unsupported\n +2 unsupported: instruction struct.new\n", r""),
    ("wast passes", ["wast", "good.wast"], 0, r"(?s)2 passed, 0 failed", r""),
    ("wast fails with the line", ["wast", "fails.wast"], 1, r"(?s)fails.wast:2", r""),
    ("wast on a missing file", ["wast", "nowhere.wast"], 1, r"", r"nowhere.wast"),
]


def main():
    failed = streams = 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder + "/cache"  # not the user's
        for name, content in FILES.items():
            path = pathlib.Path(folder, name)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        for name, arguments, status, out, err in CASES:
            run = subprocess.run([HOIST, *arguments], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
            stdout, stderr = run.stdout.decode(errors="replace"), run.stderr.decode(errors="replace")
            problems = []
            if run.returncode != status:
                problems.append(f"status {run.returncode}, expected {status}")
            if not re.search(out, stdout):
                problems.append(f"stdout {stdout!r} does not match {out!r}")
            if not re.search(err, stderr):
                problems.append(f"stderr {stderr!r} does not match {err!r}")
            if problems:
                failed += 1
                print(f"FAIL {name}: {'; '.join(problems)}"[:1000])
        # A perf map names functions and trampolines.
        run = subprocess.Popen([HOIST, "run", "--profile=perfmap", "--invoke", "add", "math.wat", "1", "2"], cwd=folder,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        run.communicate(timeout=60)
        perf_map = pathlib.Path(f"/tmp/perf-{run.pid}.map")
        text = perf_map.read_text() if perf_map.exists() else ""
        if perf_map.exists():
            perf_map.unlink()
        if not (re.search(r"(?m)^[0-9a-f]+ [0-9a-f]+ .*crash", text) and re.search(r"(?i)trampoline", text)):
            failed += 1
            print(f"FAIL perf map: {text!r}")
        # A closed stdout is no crash.
        run = subprocess.run(f"'{HOIST}' run wasi.wat | true", shell=True, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        if run.returncode != 0:
            failed += 1
            print("FAIL closed pipe")
        # A program that writes on when nobody reads any more ends, as with SIGPIPE.
        run = subprocess.run(f"('{HOIST}' run pour.wat; echo $? >&2) | head -c 8 >/dev/null", shell=True, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        if run.stderr != b"141\n":
            failed += 1
            print(f"FAIL broken pipe: {run.stderr!r}")
        # What could not be written is no success; what cannot be said does not change the status.
        for command, status in ((f"'{HOIST}' run --invoke add math.wat 2 3 >/dev/full", 1),
                                (f"'{HOIST}' run --invoke add math.wat 2 3 >&-", 1),
                                (f"'{HOIST}' --help >/dev/full", 1), (f"'{HOIST}' wast good.wast >/dev/full", 1),
                                (f"'{HOIST}' run --timings --invoke add math.wat 2 3 2>/dev/full", 0),
                                (f"'{HOIST}' run --timings --invoke add math.wat 2 3 2>&-", 0),
                                (f"'{HOIST}' run --invoke outer math.wat 2>&-", 134),
                                (f"'{HOIST}' run nofile 2>/dev/full", 1), (f"'{HOIST}' run --threads -1 x 2>&-", 1)):
            run = subprocess.run(command, shell=True, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
            streams += 1
            if run.returncode != status:
                failed += 1
                print(f"FAIL {command}: status {run.returncode}, expected {status}")
    total = len(CASES) + 3 + streams
    print(f"{total - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The profilers as a user sees them: HOIST is the command, COLLECTOR the library of itt_collector.cpp; further
arguments are the tests to run. Real perf, where the kernel lets us use it; a stand-in for VTune's collector; the
sampler and its files; a browser, where there is one."""
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import jitdump  # noqa: E402
import make_module  # noqa: E402

HOIST = os.path.abspath(sys.argv[1])
COLLECTOR = os.path.abspath(sys.argv[2])
HERE = os.path.dirname(os.path.abspath(__file__))
passed, failed, skipped = 0, 0, 0


class Failed(Exception):
    pass


class Skip(Exception):
    pass


def expect(condition, what):
    if not condition:
        raise Failed(what)


def sh(*command, env=None, cwd=None, status=0, timeout=120):
    run = subprocess.run(command, capture_output=True, env=dict(os.environ, **(env or {})), cwd=cwd, timeout=timeout)
    out, err = run.stdout.decode("utf-8", "replace"), run.stderr.decode("utf-8", "replace")
    if status is not None and run.returncode != status:
        raise Failed("%s: status %d\n%s%s" % (" ".join(command), run.returncode, out[-2000:], err[-2000:]))
    return out, err


def hot_line(source):
    with open(os.path.join(HERE, "guests", source)) as file:
        return next(number for number, line in enumerate(file, 1) if "HOT" in line)


def build(work):
    guests = {}
    clang = shutil.which("clang-22")
    flags = ["--target=wasm32-wasi", "-Wno-deprecated", "-O2", "-g", "-fuse-ld=lld", "--no-wasm-opt"]
    if clang:
        sh(clang, *flags, os.path.join(HERE, "guests/hot.c"), "-o", work + "/hot_c.wasm")
        guests["c"] = work + "/hot_c.wasm"
        # No C++ library for wasm: a program that needs none.
        run = subprocess.run([clang, *flags, "-std=c++20", "-fno-exceptions", "-fno-rtti", os.path.join(HERE, "guests/hot.cpp"), "-o", work + "/hot_cpp.wasm"], capture_output=True)
        if run.returncode == 0:
            guests["cpp"] = work + "/hot_cpp.wasm"
    if shutil.which("rustc"):
        run = subprocess.run(["rustc", "--target=wasm32-wasip1", "-O", "-g", os.path.join(HERE, "guests/hot.rs"),
                              "-o", work + "/hot_rs.wasm"], capture_output=True)
        if run.returncode == 0:
            guests["rust"] = work + "/hot_rs.wasm"
    return guests


HOT = {"c": ("hot_loop", "hot.c"), "cpp": ("shop::Basket<unsigned long long>::mix", "hot.cpp"),
       "rust": ("hot::mill::Stone::grind", "hot.rs")}
SHORT = {"c": "hot_loop", "cpp": "shop::Basket<\u2026>::mix", "rust": "hot::mill::Stone::grind"}
# For some hundred milliseconds.
ROUNDS = {"c": "300", "cpp": "3000", "rust": "300"}


# ---- jitdump.

def dump_of(folder):
    names = [name for name in os.listdir(folder) if re.fullmatch(r"jit-\d+\.dump", name)]
    expect(len(names) == 1, "one jitdump: %r" % names)
    return os.path.join(folder, names[0])


def test_jitdump(work, guests):
    for kind, wasm in guests.items():
        folder = tempfile.mkdtemp(dir=work)
        sh(HOIST, "run", "--profile=jitdump", wasm, "1", cwd=folder)
        codes = jitdump.read(dump_of(folder))
        name, source = HOT[kind]
        hot = [code for code in codes if code.name.startswith(name)]
        expect(len(hot) == 1, "%s is there once: %r" % (name, [c.name for c in codes][:50]))
        files = {os.path.basename(file) for _, _, file in hot[0].lines}
        expect(source in files, "lines of %s: %r" % (name, files))
        expect(hot_line(source) in {line for _, line, _ in hot[0].lines}, "the hot line of %s" % name)
        for wanted in ("entry trampoline ", "exit trampoline ", "builtin trampoline "):
            expect(any(code.name.startswith(wanted) for code in codes), "a " + wanted)
        expect(all(code.unwind for code in codes), "unwinding information of each piece")
        expect(os.stat(dump_of(folder)).st_mode & 0o077 == 0, "for its owner alone")


def test_jitdump_offsets(work, guests):
    wat = work + "/plain.wat"
    with open(wat, "w") as file:
        file.write('(module $plain (func (export "f") (result i32) i32.const 1) (func (drop (i32.const 2))) (export "g" (func 1))'
                   ' (func (drop (i32.const 3))) (table funcref (elem 2)))')
    folder = tempfile.mkdtemp(dir=work)
    sh(HOIST, "run", "--profile=jitdump", "--opt-level=0", "--invoke", "f", wat, cwd=folder)
    codes = {code.name: code for code in jitdump.read(dump_of(folder))}
    expect("f" in codes and "g" in codes, "exports: %r" % list(codes))
    expect("wasm[plain]::function[2]" in codes, "a function without a name: %r" % list(codes))
    expect(codes["f"].lines and codes["f"].lines[0][2] == "plain.wasm", "offsets in the module: %r" % codes["f"].lines)


def test_unwritable(work, guests):
    folder = tempfile.mkdtemp(dir=work)
    missing = folder + "/missing"
    out, err = sh(HOIST, "run", "--profile=jitdump", guests["c"], "1", env={"JITDUMPDIR": missing}, status=1)
    expect(out == "" and "missing" in err, "jitdump into a folder that is not there: " + err)
    for where in (missing + "/x.html", folder + "/x.pdf", folder):
        out, err = sh(HOIST, "run", "--profile=guest,out=" + where, guests["c"], "1", status=1)
        expect(out == "" and ("profile" in err), "%s: %s" % (where, err))
    for option in ("nonsense", "guest,interval=1", "guest,interval=0ms", "guest,what=1", "perfmap,x", "guest,interval=1us"):
        out, err = sh(HOIST, "run", "--profile=" + option, guests["c"], "1", cwd=folder, status=1)
        expect(out == "", "%s: %s" % (option, err))


def test_odd_outputs(work, guests):
    """Pipes, devices and a full disk: an error or the profile, no hang, no half of a file."""
    folder = tempfile.mkdtemp(dir=work)
    os.mkfifo(folder + "/pipe.txt")
    run = "guest,out=pipe.txt"
    out, err = sh(HOIST, "run", "--profile=" + run, guests["c"], "10", cwd=folder, status=1, timeout=60)
    expect("nobody reads it" in err, "a pipe without a reader: " + err)
    reader = subprocess.Popen(["cat", "pipe.txt"], cwd=folder, stdout=subprocess.PIPE)
    try:
        sh(HOIST, "run", "--profile=" + run, guests["c"], "10", cwd=folder, timeout=60)
    except Failed as failed:
        expect("nobody reads it" in str(failed), "a pipe with a reader: %s" % failed)  # it came too late
    else:
        expect(b"_start" in reader.communicate(timeout=60)[0], "a pipe with a reader gets the profile")
    finally:
        reader.kill()
        reader.wait()
    out, err = sh(HOIST, "run", "--profile=guest,format=collapsed,out=/dev/stdout", guests["c"], "10", cwd=folder)
    expect("_start" in out, "the profile on standard output: " + out)
    sh(HOIST, "run", "--profile=guest,format=html,out=/dev/null", guests["c"], "10", cwd=folder)
    if os.path.exists("/dev/full"):
        out, err = sh(HOIST, "run", "--profile=guest,format=html,out=/dev/full", guests["c"], "10", cwd=folder, status=1)
        expect("cannot be written" in err and "space" in err, "a full disk: " + err)
    with open(folder + "/old.txt", "w") as file:
        file.write("old")
    os.symlink("old.txt", folder + "/link.txt")
    sh(HOIST, "run", "--profile=guest,out=link.txt", guests["c"], "10", cwd=folder)
    expect(os.path.islink(folder + "/link.txt") and "_start" in open(folder + "/old.txt").read(), "a link is followed")
    expect(not [name for name in os.listdir(folder) if name.startswith(".")], "no temporary file is left")


def test_backtrace_lines(work, guests):
    with open(work + "/trap.c", "w") as file:
        file.write("__attribute__((noinline)) int at(volatile int *p) {\n  return *p;\n}\n"
                   "void _start(void) {\n  at((int *)0x70000000);\n}\n")
    sh("clang-22", "--target=wasm32", "-O1", "-g", "-nostdlib", "-fuse-ld=lld", "--no-wasm-opt", work + "/trap.c", "-o", work + "/trap.wasm")
    out, err = sh(HOIST, "run", work + "/trap.wasm", status=None)
    expect("trap.c:2" in err and "trap.c:5" in err, "lines in a backtrace: " + err)


def test_inlined_by_the_guest(work, guests):
    """What the guest's compiler inlined: in profiles and in backtraces."""
    folder = tempfile.mkdtemp(dir=work)
    with open(folder + "/in.c", "w") as file:
        file.write("static inline __attribute__((always_inline)) unsigned mix(unsigned x) {\n  return x * 2654435761u ^ (x >> 13);\n}\n"
                   "static inline __attribute__((always_inline)) int get(volatile int *p) {\n  return *p;\n}\n"
                   "__attribute__((noinline)) unsigned table(unsigned n) {\n  unsigned h = 1;\n  for (unsigned i = 0; i < n; ++i)\n"
                   "    h = mix(h + i);\n  return h;\n}\n"
                   "int main(int argc, char **argv) {\n  volatile unsigned kept = table(300000000);\n"
                   "  return argc > 1 ? get((int *)0x70000000) : kept == 7;\n}\n")
    sh("clang-22", "--target=wasm32-wasi", "-O2", "-g", "--no-wasm-opt", "in.c", "-o", "in.wasm", cwd=folder)
    sh(HOIST, "run", "--profile=guest,lines,out=a.txt", "in.wasm", cwd=folder)
    stacks = collapsed(open(folder + "/a.txt").read())
    # Of the loop's four instructions, two are mix's.
    expect(share(stacks, lambda s: s[-1].startswith("mix [inlined]") and "in.c:2" in s[-1]) > 0.1, "inlined: %r" % stacks)
    expect(share(stacks, lambda s: s[-1].startswith("mix [inlined]") and not re.match(r"table .*in\.c:10$", s[-2])) < 0.02,
           "where it is called: %r" % stacks)
    out, err = sh(HOIST, "run", "in.wasm", "trap", cwd=folder, status=None)
    expect(re.search(r"  0: get at .*in\.c:5 \(inlined\)\n +\S*main\S* @ 0x[0-9a-f]+ at .*in\.c:15\n", err), "a backtrace: " + err)


def test_full_disk(work, guests):
    """A jitdump that does not fit is told, and the program goes on."""
    folder = tempfile.mkdtemp(dir=work)
    with open(folder + "/say.wat", "w") as file:
        file.write("""(module (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32))) (memory (export "memory") 1)
          (func (export "_start") (call $exit (i32.const 7))))""")
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))
    done = subprocess.run([HOIST, "run", "--no-cache", "--profile=jitdump", "say.wat"], cwd=folder, capture_output=True, preexec_fn=limit,
                          restore_signals=False)  # Python ignores SIGXFSZ
    expect(done.returncode == 7, "the program's status: %d %s" % (done.returncode, done.stderr))
    expect(b"its file is not whole" in done.stderr, "a message: %s" % done.stderr)


def need_perf(work):
    if not shutil.which("perf"):
        raise Skip("perf is not installed")
    probe = subprocess.run(["perf", "record", "-k", "mono", "-e", "cpu-clock", "-o", work + "/probe.data", "true"],
                           capture_output=True)
    if probe.returncode != 0:
        raise Skip("the kernel refuses perf: " + probe.stderr.decode()[-200:].strip().replace("\n", " "))


def test_perf(work, guests):
    need_perf(work)
    for kind, wasm in guests.items():
        folder = tempfile.mkdtemp(dir=work)
        sh("perf", "record", "-q", "-k", "mono", "-e", "cpu-clock", "-F", "2000", "-o", "perf.data", HOIST, "run",
           "--profile=jitdump", wasm, ROUNDS[kind], cwd=folder)
        sh("perf", "inject", "--jit", "-i", "perf.data", "-o", "perf.jit.data", cwd=folder)
        out, _ = sh("perf", "report", "-i", "perf.jit.data", "--stdio", "--sort", "symbol", cwd=folder)
        top = next(line for line in out.splitlines() if re.match(r"\s+\d", line))
        name, source = HOT[kind]
        expect(name in top, "%s on top: %s" % (name, out[:1500]))
        lines, _ = sh("perf", "report", "-i", "perf.jit.data", "--stdio", "--sort", "srcline", cwd=folder, status=None)
        expect("%s:%d" % (source, hot_line(source)) in lines, "the hot line of %s: %s" % (name, lines[:1500]))
        annotated, _ = sh("perf", "annotate", "-i", "perf.jit.data", "--stdio", "-l", cwd=folder, status=None)
        expect("// HOT" in annotated, "annotate of %s shows its source: %s" % (name, annotated[:1500]))
        expect("%s:%d" % (source, hot_line(source)) in annotated, "annotate names the hot line: " + annotated[:1500])


def perf_stacks(folder, *record):
    """Stacks of `perf script` as lists of names, innermost first, of code and what is around it."""
    sh("perf", "record", "-q", "-k", "mono", "-e", "cpu-clock", "-o", "perf.data", *record, cwd=folder)
    sh("perf", "inject", "--jit", "-i", "perf.data", "-o", "perf.jit.data", cwd=folder)
    out, _ = sh("perf", "script", "-i", "perf.jit.data", "--no-inline", "-F", "ip,sym", cwd=folder)
    return [[line.split(None, 1)[1] for line in block.splitlines() if line.strip()] for block in out.split("\n\n") if block]


def test_perf_stacks(work, guests):
    """Through guest frames to the host's, by frame pointers and by unwinding information."""
    need_perf(work)
    chains = {"c": ["__main_void", "_start"], "cpp": ["__main_void", "_start"], "rust": ["hot::main", "_start"]}
    for kind, wasm in guests.items():
        name = HOT[kind][0]
        for graph in (["--call-graph", "fp", "-F", "1000"], ["--call-graph", "dwarf,65528", "-F", "200"]):
            folder = tempfile.mkdtemp(dir=work)
            stacks = perf_stacks(folder, *graph, HOIST, "run", "--profile=jitdump", wasm, ROUNDS[kind])
            hot = [stack for stack in stacks if stack and stack[0].startswith(name)]
            expect(len(hot) > 20, "samples in %s: %d of %d" % (name, len(hot), len(stacks)))
            whole = 0
            for stack in hot:
                wanted = chains[kind] + ["entry trampoline ", "hoist::"] + (["__libc_start"] if "fp" not in graph else [])
                for frame in stack:
                    if wanted and frame.startswith(wanted[0]):
                        wanted.pop(0)
                whole += not wanted
            # The first instructions of a prologue hide a caller from frame pointers.
            expect(whole > 0.95 * len(hot), "%s, %s: %d of %d stacks are whole: %r" %
                   (kind, graph[1], whole, len(hot), hot[len(hot) // 2]))


def test_perf_calls(work, guests):
    """Code between guest and host has a name wherever it is interrupted."""
    need_perf(work)
    wat = work + "/calls.wat"
    with open(wat, "w") as file:
        file.write("""(module $calls (import "wasi_snapshot_preview1" "sched_yield" (func $yield (result i32)))
          (import "wasi_snapshot_preview1" "fd_seek" (func $seek (param i32 i64 i32 i32) (result i32)))
          (memory (export "memory") 1)
          (func (export "run") (local i32)
            (loop (drop (call $seek (i32.const 77) (i64.const 0) (i32.const 0) (i32.const 0)))
              (drop (memory.grow (i32.const 0)))
              (br_if 0 (i32.lt_u (local.tee 0 (i32.add (local.get 0) (i32.const 1))) (i32.const 3000000))))))""")
    for option in ("perfmap", "jitdump"):
        folder = tempfile.mkdtemp(dir=work)
        sh("perf", "record", "-q", "-k", "mono", "-e", "cpu-clock", "-F", "4000", "-o", "perf.data", HOIST, "run",
           "--profile=" + option, "--invoke", "run", wat, cwd=folder)
        if option == "jitdump":
            sh("perf", "inject", "--jit", "-i", "perf.data", "-o", "perf.data2", cwd=folder)
            os.rename(folder + "/perf.data2", folder + "/perf.data")
        out, _ = sh("perf", "script", "-i", "perf.data", "--no-inline", "-F", "ip,sym,dso", cwd=folder)
        unknown = [line for line in out.splitlines() if "[unknown]" in line and ("anon" in line or "/perf-" in line or "jit" in line)]
        expect(not unknown, "%s: samples in code without a name: %r" % (option, unknown[:5]))
        for wanted in ("exit trampoline ", "builtin trampoline "):
            expect(wanted in out, "%s: samples in a %s: %s" % (option, wanted, out[:600]))


# ---- Many functions, and names of all kinds.

def profile_all(work, wasm):
    """Runs under each agent; what they have written: codes of the jitdump, lines of the perf map, events for VTune."""
    folder = tempfile.mkdtemp(dir=work)
    sh(HOIST, "run", "--profile=jitdump", "--invoke", "run", wasm, "1", cwd=folder, timeout=300)
    dump = dump_of(folder)
    run = subprocess.Popen([HOIST, "run", "--profile=perfmap", "--invoke", "run", wasm, "1"], stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
    expect(run.wait() == 0, "runs with a perf map")
    path = "/tmp/perf-%d.map" % run.pid
    with open(path) as file:
        lines = file.read().splitlines()
    os.unlink(path)
    log = folder + "/itt.log"
    sh(HOIST, "run", "--profile=vtune", "--invoke", "run", wasm, "1", timeout=300,
       env={"INTEL_JIT_PROFILER64": COLLECTOR, "ITT_LOG": log})
    with open(log) as file:
        events = file.read().splitlines()
    return dump, lines, events


def test_many_functions(work, guests):
    count = 50000
    names = make_module.mixed_names(count)
    for lines in (False, True):
        wasm = work + "/many.wasm"
        with open(wasm, "wb") as file:
            file.write(make_module.make(count, names, lines))
        dump, mapped, events = profile_all(work, wasm)
        codes = jitdump.read(dump)
        functions = [code for code in codes if "trampoline" not in code.name]
        expect(len(functions) == count, "%d functions in the dump" % len(functions))
        expect(len({code.name for code in functions}) == count, "each with its name")
        if lines:
            for code in functions:
                number = int(re.search(r"\d+", code.name).group())
                expect(code.lines and all(line // 10 - 1 == number and file == "gen.c" for _, line, file in code.lines),
                       "the lines of %s: %r" % (code.name, code.lines))
        size = os.path.getsize(dump)
        expect(size < count * 500, "a dump of %d bytes" % size)
        expect(len(mapped) == len(codes), "%d lines in the perf map for %d pieces" % (len(mapped), len(codes)))
        loads = sum(line.startswith("load ") for line in events)
        expect(loads == len(codes), "%d methods for VTune" % loads)
        expect(sum(line.startswith("unload ") for line in events) == loads, "all unloaded")


def test_names_of_all_kinds(work, guests):
    million = 1 << 20
    kinds = {
        "long": [b"a" * million, b"_ZN" + b"1AI" * (million // 3), b"_R" + b"B" * million, "\u00e9".encode() * (million // 2)],
        "same": [b"twin"] * 50000,
        "odd": [b"nul\0behind", b"two\nlines", b"a\r\x1b[2J\x7f", "\u202eright to left".encode(), b"", b";", b" ", b"%s%n"],
        "bad": [b"fine", b"\xff\xfe\x80", b"after"],
    }
    for kind, names in kinds.items():
        wasm = work + "/names.wasm"
        with open(wasm, "wb") as file:
            file.write(make_module.make(len(names), names))
        dump, mapped, events = profile_all(work, wasm)
        codes = jitdump.read(dump)
        expect(len(codes) >= len(names), "%s: %d pieces" % (kind, len(codes)))
        expect(len(mapped) == len(codes), "%s: %d lines in the perf map for %d pieces" % (kind, len(mapped), len(codes)))
        expect(all(re.match(r"[0-9a-f]+ [0-9a-f]+ .", line) for line in mapped), "%s: lines of the perf map" % kind)
        expect(sum(line.startswith("load ") for line in events) == len(codes), "%s: methods for VTune" % kind)
        expect(max(len(code.name) for code in codes) <= 5000, "%s: names are bounded" % kind)
        for code in codes:
            expect(all(c.isprintable() or c == " " for c in code.name), "%s: %r is one line" % (kind, code.name[:100]))
        if kind == "same":
            expect(sum(code.name == "twin" for code in codes) == len(names), "twins")


# ---- perf map, VTune.

def test_perfmap(work, guests):
    run = subprocess.Popen([HOIST, "run", "--profile=perfmap", guests["c"], "1"], stdout=subprocess.DEVNULL)
    expect(run.wait() == 0, "runs")
    path = "/tmp/perf-%d.map" % run.pid
    text = open(path).read()
    os.unlink(path)
    expect(re.search(r"^[0-9a-f]+ [0-9a-f]+ hot_loop$", text, re.M), "hot_loop in the map")
    last = 0
    for line in text.splitlines():
        address, size, _ = line.split(" ", 2)
        expect(int(address, 16) >= last, "pieces do not overlap")
        last = int(address, 16) + int(size, 16)


def test_vtune(work, guests):
    library = COLLECTOR
    for kind, wasm in guests.items():
        log = work + "/itt.log"
        sh(HOIST, "run", "--profile=vtune", wasm, "1", env={"INTEL_JIT_PROFILER64": library, "ITT_LOG": log})
        text = open(log).read()
        name, source = HOT[kind]
        hot = [line for line in text.splitlines() if line.startswith("load ") and "name=" + name in line]
        expect(len(hot) == 1, "%s once:\n%s" % (name, text[:2000]))
        expect("/" + source in hot[0] and ":%d" % hot_line(source) in hot[0], "source and line: " + hot[0])
        for wanted in ("entry trampoline ", "exit trampoline ", "builtin trampoline "):
            expect("name=" + wanted in text, "a " + wanted)
        expect(len(re.findall(r"^unload id=", text, re.M)) == len(re.findall(r"^load id=", text, re.M)), "all unloaded")
        expect(text.endswith("shutdown\n"), "shutdown at the end")
    _, err = sh(HOIST, "run", "--profile=vtune", guests["c"], "1", status=1,
                env={"INTEL_JIT_PROFILER64": "", "INTEL_LIBITTNOTIFY64": ""})
    expect("INTEL_JIT_PROFILER64" in err, "no collector: " + err)
    sh(HOIST, "run", "--profile=vtune", guests["c"], "1", status=1, env={"INTEL_JIT_PROFILER64": "/nonexistent.so"})
    sh(HOIST, "run", "--profile=vtune", guests["c"], "1", status=1,
       env={"INTEL_JIT_PROFILER64": library, "ITT_LOG": work + "/off.log", "ITT_OFF": "1"})
    sh(HOIST, "run", "--profile=vtune", guests["c"], "1",
       env={"INTEL_JIT_PROFILER64": "", "INTEL_LIBITTNOTIFY64": library, "ITT_LOG": work + "/itt.log"})


# ---- The sampler.

def collapsed(text):
    out = {}
    for line in text.splitlines():
        stack, weight = line.rsplit(" ", 1)
        out[tuple(stack.split(";"))] = int(weight)
    return out


def share(stacks, test):
    return sum(weight for stack, weight in stacks.items() if test(stack)) / max(sum(stacks.values()), 1)


def test_sampler(work, guests):
    for kind, wasm in guests.items():
        folder = tempfile.mkdtemp(dir=work)
        name, source = HOT[kind]
        sh(HOIST, "run", "--profile=guest,out=a.collapsed", wasm, ROUNDS[kind], cwd=folder)
        stacks = collapsed(open(folder + "/a.collapsed").read())
        expect(sum(stacks.values()) > 50, "samples: %d" % sum(stacks.values()))
        expect(share(stacks, lambda s: any(f.startswith(name) for f in s[-4:])) > 0.8, "%s is hot: %r" % (name, stacks))
        expect(share(stacks, lambda s: s[0].startswith("_start") or "trampoline" in s[0]) > 0.99,
               "stacks are whole: %r" % stacks)
        sh(HOIST, "run", "--profile=guest,lines,out=b.txt", wasm, ROUNDS[kind], cwd=folder)
        stacks = collapsed(open(folder + "/b.txt").read())
        expect(share(stacks, lambda s: "%s:%d" % (source, hot_line(source)) in s[-1]) > 0.3, "lines: %r" % stacks)
        _, err = sh(HOIST, "profile", wasm, ROUNDS[kind], cwd=folder)
        lines = err.splitlines()
        first = lines[next(i for i, line in enumerate(lines) if line.endswith("  function")) + 1]
        expect(SHORT[kind] in first, "the hot function is the first: " + err)
        expect("%s:%d" % (source, hot_line(source)) in err, "the hot line: " + err)
        expect(".profile.html" in err, "where the page is: " + err)


def test_host_calls(work, guests):
    folder = tempfile.mkdtemp(dir=work)
    sh(HOIST, "run", "--profile=guest,out=a.txt", guests["c"], "1", "400", cwd=folder)
    stacks = collapsed(open(folder + "/a.txt").read())
    waiting = lambda s: s[-1] == "wasi_snapshot_preview1.poll_oneoff [host]" and "waits" in s
    expect(share(stacks, waiting) > 0.5, "waiting is seen: %r" % stacks)
    sh(HOIST, "run", "--profile=guest,clock=cpu,out=b.txt", guests["c"], "1", "400", cwd=folder)
    stacks = collapsed(open(folder + "/b.txt").read())
    expect(share(stacks, waiting) < 0.5 or sum(stacks.values()) < 100, "CPU time does not wait: %r" % stacks)


SPIN = """(module (func $inner (loop (br 0))) (func $busy (export "_start") (call $inner)))"""
SLEEP = """(module (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1) (data (i32.const 16) "\\01") (data (i32.const 24) "%s")
  (func (export "_start") (drop (call $poll (i32.const 0) (i32.const 256) (i32.const 1) (i32.const 512)))))"""


def sleeping(seconds):
    return SLEEP % "".join("\\%02x" % byte for byte in int(seconds * 1e9).to_bytes(8, "little"))


READ = """(module (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1) (data (i32.const 0) "\\10\\00\\00\\00\\08\\00\\00\\00")
  (func (export "_start") (drop (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8)))))"""


def run_and_signal(folder, wat, *options, signals=(signal.SIGINT,), command="run"):
    """Ends a program that does not end by itself, when it has run a while: status and stderr."""
    with open(folder + "/endless.wat", "w") as file:
        file.write(wat)
    run = subprocess.Popen([HOIST, command, *options, "endless.wat"], cwd=folder, stdin=subprocess.PIPE,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        # It has been told of signals when SIGINT is caught.
        deadline = time.time() + 30
        while time.time() < deadline:
            with open("/proc/%d/status" % run.pid) as file:
                caught = next(int(line.split()[1], 16) for line in file if line.startswith("SigCgt:"))
            if caught & 2:
                break
            time.sleep(0.02)
        time.sleep(0.3)
        for number in signals:
            run.send_signal(number)
        _, err = run.communicate(timeout=60)
        return run.returncode, err.decode("utf-8", "replace")
    finally:
        run.kill()


def test_signals(work, guests):
    """Ctrl-C and the like end the program, not the profile; wherever the program is."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        folder = tempfile.mkdtemp(dir=work)
        status, err = run_and_signal(folder, SPIN, "--profile=guest,out=a.txt", signals=(number,))
        expect(status == -number, "%s: the status is that of the signal: %d, %s" % (number, status, err))
        stacks = collapsed(open(folder + "/a.txt").read())
        expect(share(stacks, lambda s: s[-1] == "inner") > 0.9 and sum(stacks.values()) > 20, "the profile: %r" % stacks)
    for wat, name in ((sleeping(1000), "poll_oneoff"), (READ, "fd_read")):
        folder = tempfile.mkdtemp(dir=work)
        status, err = run_and_signal(folder, wat, "--profile=guest,out=a.txt", command="profile")
        expect(status == -signal.SIGINT, "%s: status %d, %s" % (name, status, err))
        expect(name in open(folder + "/a.txt").read() and name in err, "the profile and the report of a program that waits: " + err)
        expect("profile: a.txt" in err, "where the profile is: " + err)
        expect("interrupted" not in err, "no trap: " + err)
    # Nothing is changed for others, and what is ignored stays so.
    folder = tempfile.mkdtemp(dir=work)
    run = subprocess.Popen(["nohup", HOIST, "run", "--timeout=2s", "--profile=guest,out=a.txt", "../spin.wat"], cwd=folder,
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with open(work + "/spin.wat", "w") as file:
        file.write(SPIN)
    time.sleep(1)
    run.send_signal(signal.SIGHUP)
    _, err = run.communicate(timeout=60)
    expect(run.returncode == 124 and b"timeout" in err, "nohup: %d %r" % (run.returncode, err))
    expect("inner" in open(folder + "/a.txt").read(), "a profile of a program that took too long")


THREADS = """(module $threads (import "wasi" "thread-spawn" (func $spawn (param i32) (result i32)))
  (import "env" "memory" (memory 1 1 shared)) (export "memory" (memory 0))
  (func $spin (param i32) (loop (br_if 0 (local.tee 0 (i32.sub (local.get 0) (i32.const 1))))))
  (func (export "wasi_thread_start") (param i32 i32) (call $spin (i32.const %d))
    (drop (i32.atomic.rmw.add (i32.const 0) (i32.const 1))) (drop (memory.atomic.notify (i32.const 0) (i32.const 1))))
  (func $waits (drop (memory.atomic.wait32 (i32.const 0) (i32.const 0) (i64.const -1))))
  (func (export "_start") (drop (call $spawn (i32.const 0))) (call $waits)))"""


def test_threads(work, guests):
    folder = tempfile.mkdtemp(dir=work)
    with open(folder + "/threads.wat", "w") as file:
        file.write(THREADS % 600000000)
    for option in ([], ["--max-stack=2MiB"]):
        sh(HOIST, "run", *option, "--profile=guest,out=a.json", "threads.wat", cwd=folder)
        with open(folder + "/a.json") as file:
            threads = {thread["name"]: thread for thread in json.load(file)["threads"]}
        expect(sorted(threads) == ["main", "wasi thread 1"], "names of threads: %r" % list(threads))
        expect(threads["main"]["isMainThread"] and not threads["wasi thread 1"]["isMainThread"], "the main thread")
    sh(HOIST, "run", "--profile=guest,out=a.html", "threads.wat", cwd=folder)
    expect('"threads":[["main",' in open(folder + "/a.html").read(), "threads in the page")
    status, err = run_and_signal(folder, THREADS % 0, "--profile=guest,out=b.txt")
    expect(status == -signal.SIGINT, "ended while threads run: %d %s" % (status, err))
    text = open(folder + "/b.txt").read()
    expect("spin" in text and "waits" in text, "both threads: " + text)


def test_report(work, guests):
    folder = tempfile.mkdtemp(dir=work)
    name = "std::vector<" + "std::pair<int, std::string>, " * 20 + "int>::push_back"
    with open(folder + "/long.wat", "w") as file:
        file.write("""(module $long (func $leaf (param i32) (loop (br_if 0 (local.tee 0 (i32.sub (local.get 0) (i32.const 1))))))
          (func $"%s" (call $leaf (i32.const 400000000)))
          (func $caller (call $"%s")) (func (export "_start") (call $caller)))""" % (name, name))
    # What is inlined is told as well.
    _, err = sh(HOIST, "profile", "--opt-level=0", "long.wat", cwd=folder, env={"COLUMNS": "72"})
    expect(all(len(line) <= 72 for line in err.splitlines() if not line.startswith("hint")), "lines of 72 columns: " + err)
    expect("std::vector<\u2026>::push_back" in err, "a name folded: " + err)
    expect("function that calls what takes time" in err and re.search(r" 100\.0+  caller$", err, re.M), "callers: " + err)
    expect(err.count("hint: the module has no source lines") == 1, "a hint: " + err)
    expect("[long]" not in err, "no module where names are unique: " + err)
    if "rust" in guests:
        _, err = sh(HOIST, "profile", guests["rust"], ROUNDS["rust"], cwd=HERE)
        expect("hint" not in err, "lines are there: " + err)
        os.unlink(HERE + "/hot_rs.profile.html")
    # Two modules with functions of one name.
    with open(folder + "/lib.wat", "w") as file:
        file.write("""(module $lib (func $work (export "work") (local i32) (local.set 0 (i32.const 400000000))
          (loop (br_if 0 (local.tee 0 (i32.sub (local.get 0) (i32.const 1)))))))""")
    with open(folder + "/use.wat", "w") as file:
        file.write("""(module $use (import "lib" "work" (func $there)) (func $work (param i32)
          (loop (br_if 0 (local.tee 0 (i32.sub (local.get 0) (i32.const 1))))))
          (func (export "_start") (call $work (i32.const 400000000)) (call $there)))""")
    _, err = sh(HOIST, "profile", "--opt-level=0", "--preload", "lib=lib.wat", "use.wat", cwd=folder)
    expect("work [lib]" in err and "work [use]" in err, "modules of twins: " + err)


def test_nothing_to_report(work, guests):
    folder = tempfile.mkdtemp(dir=work)
    for name, text in (("import", '(module (import "a" "b" (func)) (func (export "_start")))'),
                       ("quick", '(module (func (export "_start")))'), ("other", '(module (func (export "f")))')):
        with open(folder + "/%s.wat" % name, "w") as file:
            file.write(text)
        with open(folder + "/%s.profile.html" % name, "w") as file:
            file.write("old")
    for command in (["import.wat"], ["other.wat"], ["--invoke", "g", "other.wat"], ["--invoke", "f", "other.wat", "1"]):
        _, err = sh(HOIST, "profile", *command, cwd=folder, status=1)
        expect("samples" not in err and "profile:" not in err, "no report of what did not run: " + err)
    expect(open(folder + "/import.profile.html").read() == "old", "a profile is kept when nothing has run")
    expect(open(folder + "/other.profile.html").read() == "old", "a profile is kept when nothing has run")
    _, err = sh(HOIST, "profile", "--profile=guest,interval=1s", "quick.wat", cwd=folder)
    expect("no samples: it ended after" in err and "interval=100us" in err, "why there is nothing: " + err)
    with open(folder + "/wait.wat", "w") as file:
        file.write(sleeping(0.2))
    _, err = sh(HOIST, "profile", "--profile=guest,clock=cpu", "wait.wat", cwd=folder)
    expect("clock=wall" in err, "only waited: " + err)


def test_standard_output(work, guests):
    folder = tempfile.mkdtemp(dir=work)
    out, err = sh(HOIST, "run", "--profile=guest,out=-", guests["c"], "1", cwd=folder)
    expect("<!DOCTYPE html>" in out and "a flame graph, HTML" in err, "the page on standard output: " + err)
    out, err = sh(HOIST, "run", "--profile=guest,format=json,out=-", guests["c"], "1", cwd=folder)
    expect('{"meta":' in out and "Firefox" in err, "JSON on standard output: " + err)
    sh(HOIST, "run", "--profile=guest,out=A.HTML", guests["c"], "1", cwd=folder)
    expect("<!DOCTYPE html>" in open(folder + "/A.HTML").read(), ".HTML is .html")
    sh(HOIST, "run", "--profile=guest,format=json", guests["c"], "1", cwd=folder)
    expect(os.listdir(folder) == ["A.HTML", "hot_c.profile.json"] or "hot_c.profile.json" in os.listdir(folder), "a name that fits the format")


def test_firefox(work, guests):
    for kind, wasm in guests.items():
        folder = tempfile.mkdtemp(dir=work)
        name, source = HOT[kind]
        sh(HOIST, "run", "--profile=guest,out=a.json", wasm, ROUNDS[kind], cwd=folder)
        with open(folder + "/a.json") as file:
            profile = json.load(file)
        check_firefox(profile, name, source)


def check_firefox(profile, name, source):
    meta = profile["meta"]
    expect(meta["interval"] == 1 and meta["preprocessedProfileVersion"] >= 40 and meta["oscpu"], "meta")
    for key in ("libs", "pages", "counters", "profilerOverhead"):
        expect(profile[key] == [], key)
    expect(len(profile["threads"]) >= 1, "threads")
    total = 0
    for thread in profile["threads"]:
        strings = thread["stringArray"]
        expect(len(set(strings)) == len(strings), "strings are there once")
        for table in ("funcTable", "frameTable", "stackTable", "samples", "markers", "resourceTable", "nativeSymbols"):
            length = thread[table]["length"]
            for column, values in thread[table].items():
                if isinstance(values, list):
                    expect(len(values) == length, "%s.%s has %d of %d" % (table, column, len(values), length))
        stacks, frames, funcs, samples = (thread[t] for t in ("stackTable", "frameTable", "funcTable", "samples"))
        for i, prefix in enumerate(stacks["prefix"]):
            expect(prefix is None or 0 <= prefix < i, "prefixes come first")
        expect(all(f < frames["length"] for f in stacks["frame"]), "frames")
        expect(all(c < len(meta["categories"]) for c in stacks["category"] + frames["category"]), "categories")
        expect(all(f < funcs["length"] for f in frames["func"]), "functions")
        expect(all(n < len(strings) for n in funcs["name"]), "names")
        expect(all(s < stacks["length"] for s in samples["stack"]), "stacks")
        expect(samples["time"] == sorted(samples["time"]), "times")
        total += sum(samples["weight"])
        expect(not [s for s in strings if s.endswith("[inlined]")], "inlined functions are the functions: %r" % strings)
        expect(thread["name"] == "main", "the thread's name: " + thread["name"])
        used = set(funcs["name"]) | {n for n in funcs["fileName"] if n is not None}
        expect(used == set(range(len(strings))), "all strings are used")
        expect(set(stacks["frame"]) == set(range(frames["length"])), "all frames are used")
        kinds = {strings[funcs["name"][f]]: meta["categories"][c]["name"] for f, c in zip(frames["func"], frames["category"])}
        expect(all((c == "Host") == n.endswith("[host]") for n, c in kinds.items()), "categories: %r" % kinds)
        names = [strings[n] for n in funcs["name"]]
        expect(len(set(names)) == len(names), "functions are there once, whatever files they have lines of: %r" % names)
        hot = [i for i, n in enumerate(names) if n.startswith(name)]
        expect(len(hot) == 1 and strings[funcs["fileName"][hot[0]]].endswith(source), "the hot function and its file: %r" % names)
        lines = {line for line, func in zip(frames["line"], frames["func"]) if func == hot[0]}
        expect(hot_line(source) in lines, "the hot line: %r" % lines)
    expect(total > 30, "samples: %d" % total)


def test_damaged(work, guests):
    data = bytearray(open(guests["c"], "rb").read())
    for section in (b".debug_line", b"name"):
        at = data.find(bytes([len(section)]) + section) + 1 + len(section)
        broken = bytearray(data)
        broken[at + (0 if section == b".debug_line" else 1)] = 0xff
        for i in range(3):
            broken[at + 20 + i] ^= 0x5a
        path = work + "/damaged.wasm"
        open(path, "wb").write(broken)
        plain, _ = sh(HOIST, "run", guests["c"], "2")
        for option in ("jitdump", "guest,out=a.html", "guest,out=b.txt"):
            folder = tempfile.mkdtemp(dir=work)
            out, err = sh(HOIST, "run", "--profile=" + option, path, "2", cwd=folder)
            expect(out == plain, "it runs")
            expect(err.count("warning") == 1 and "damaged" in err, "%s, %r: one warning: %s" % (option, section, err))


def test_hostile_names(work, guests):
    wat = work + "/names.wat"
    with open(wat, "w") as file:
        file.write(r'''(module (func (export "run") (call 1)) (func (export "</script><b>\0a\1b;_ 1") (local i32)
          (loop (br_if 0 (i32.lt_u (local.tee 0 (i32.add (local.get 0) (i32.const 1))) (i32.const 300000000)))))
          (func (export "_ZN%s") (nop)))''' % ("1AI" * 60000))
    folder = tempfile.mkdtemp(dir=work)
    for option in ("perfmap", "jitdump", "guest,out=a.html", "guest,out=a.json", "guest,out=a.txt"):
        sh(HOIST, "run", "--profile=" + option, "--invoke", "run", wat, cwd=folder)
    page = open(folder + "/a.html").read()
    expect("<b>" not in page, "names are no markup")
    expect(all("\x1b" not in line for line in open(folder + "/a.txt")), "names are one line")
    json.load(open(folder + "/a.json"))
    jitdump.read(dump_of(folder))


def test_raw_names(work, guests):
    # The linker has demangled the names of C++ already, but not those of Rust.
    if "rust" not in guests:
        raise Skip("no Rust guest")
    raw = "_ZN3hot4mill5Stone5grind17h"
    out, _ = sh(HOIST, "objdump", guests["rust"])
    expect("<hot::mill::Stone::grind>" in out and raw not in out, "objdump demangles")
    out, _ = sh(HOIST, "objdump", "--function", "hot::mill::Stone::grind", guests["rust"])
    expect("<hot::mill::Stone::grind>" in out, "objdump finds by the demangled name")
    out, _ = sh(HOIST, "objdump", "--demangle=off", guests["rust"])
    expect("<" + raw in out, "objdump shows raw names")
    folder = tempfile.mkdtemp(dir=work)
    sh(HOIST, "run", "--profile=jitdump", "--demangle=off", guests["rust"], "1", cwd=folder)
    expect(any(c.name.startswith(raw) for c in jitdump.read(dump_of(folder))), "jitdump has raw names")
    wat = work + "/trap.wat"
    with open(wat, "w") as file:
        file.write('(module (func $_ZN4shop3buyEi (export "run") unreachable))')
    _, err = sh(HOIST, "run", "--invoke", "run", wat, status=134)
    expect("shop::buy(int)" in err, "backtraces demangle: " + err)
    _, err = sh(HOIST, "run", "--demangle=off", "--invoke", "run", wat, status=134)
    expect("_ZN4shop3buyEi" in err, "backtraces have raw names: " + err)


def test_page(work, guests):
    if not shutil.which("chromedriver"):
        raise Skip("no chromedriver")
    import page
    folder = os.environ.get("HOIST_PAGE_DIR") or tempfile.mkdtemp(dir=work)
    sh(HOIST, "profile", "--profile=guest,out=%s/flame.html" % folder, guests["c"], "300", "100")
    page.check(folder + "/flame.html", "hot_loop", folder, expect)
    page.check_shapes(folder + "/flame.html", folder, expect)


def main():
    global passed, failed, skipped
    only = sys.argv[3:]
    with tempfile.TemporaryDirectory() as work:
        guests = build(work)
        if "c" not in guests:
            print("profiling: no compiler for guests: skipped")
            return 0
        tests = [(name, test) for name, test in sorted(globals().items()) if name.startswith("test_")]
        for name, test in tests:
            if only and name not in only:
                continue
            try:
                test(work, dict(guests))
                passed += 1
                print("ok   " + name, flush=True)
            except Skip as reason:
                skipped += 1
                print("skip %s: %s" % (name, reason), flush=True)
            except (Failed, jitdump.Bad, subprocess.TimeoutExpired) as error:
                failed += 1
                print("FAIL %s: %s" % (name, error), flush=True)
    print("%d passed, %d failed, %d skipped (guests: %s)" % (passed, failed, skipped, ", ".join(guests)))
    return 1 if failed else 0


sys.exit(main())

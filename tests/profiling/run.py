#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The profilers as a user sees them: HOIST is the command,
COLLECTOR the library of itt_collector.cpp; further arguments are the tests to run. Real perf, where the kernel lets us use it; a stand-in for
VTune's collector; the sampler and its files; a browser, where there is one."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import jitdump  # noqa: E402

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


def test_perf(work, guests):
    if not shutil.which("perf"):
        raise Skip("perf is not installed")
    probe = subprocess.run(["perf", "record", "-k", "mono", "-e", "cpu-clock", "-o", work + "/probe.data", "true"],
                           capture_output=True)
    if probe.returncode != 0:
        raise Skip("the kernel refuses perf: " + probe.stderr.decode()[-200:].strip().replace("\n", " "))
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
        expect("%s:" % source in annotated or "// HOT" in annotated, "annotate shows source: " + annotated[:1500])


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
        expect(share(stacks, lambda s: s[-1].startswith(name)) > 0.8, "%s is hot: %r" % (name, stacks))
        expect(share(stacks, lambda s: s[0].startswith("_start") or "trampoline" in s[0]) > 0.99,
               "stacks are whole: %r" % stacks)
        sh(HOIST, "run", "--profile=guest,lines,out=b.txt", wasm, ROUNDS[kind], cwd=folder)
        stacks = collapsed(open(folder + "/b.txt").read())
        expect(share(stacks, lambda s: "%s:%d" % (source, hot_line(source)) in s[-1]) > 0.3, "lines: %r" % stacks)
        _, err = sh(HOIST, "profile", wasm, ROUNDS[kind], cwd=folder)
        expect(name in err.splitlines()[3], "the hot function is the first: " + err)
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


def test_firefox(work, guests):
    folder = tempfile.mkdtemp(dir=work)
    sh(HOIST, "run", "--profile=guest,out=a.json", guests["c"], "200", cwd=folder)
    profile = json.load(open(folder + "/a.json"))
    expect(profile["meta"]["interval"] == 1 and profile["meta"]["preprocessedProfileVersion"] >= 40, "meta")
    expect(len(profile["threads"]) >= 1, "threads")
    total = 0
    for thread in profile["threads"]:
        strings = thread["stringArray"]
        for table in ("funcTable", "frameTable", "stackTable", "samples"):
            length = thread[table]["length"]
            for column, values in thread[table].items():
                if isinstance(values, list):
                    expect(len(values) == length, "%s.%s has %d of %d" % (table, column, len(values), length))
        stacks, frames, funcs, samples = (thread[t] for t in ("stackTable", "frameTable", "funcTable", "samples"))
        for i, prefix in enumerate(stacks["prefix"]):
            expect(prefix is None or 0 <= prefix < i, "prefixes come first")
        expect(all(f < frames["length"] for f in stacks["frame"]), "frames")
        expect(all(f < funcs["length"] for f in frames["func"]), "functions")
        expect(all(n < len(strings) for n in funcs["name"]), "names")
        expect(all(s < stacks["length"] for s in samples["stack"]), "stacks")
        expect(samples["time"] == sorted(samples["time"]), "times")
        total += samples["length"]
        expect("hot_loop" in strings, "names")
        files = [strings[f] for f in funcs["fileName"] if f is not None]
        expect(any(f.endswith("hot.c") for f in files), "files: %r" % files[:5])
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

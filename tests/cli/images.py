#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Images and the compilation cache as a user sees them: tests/cli/images.py PATH-TO-HOIST. Ends with
"N passed, N failed". What needs binutils is skipped without them."""
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HOIST = str(pathlib.Path(sys.argv[1]).resolve())
FIB = """(module $math
  (func $fib (export "fib") (param i32) (result i32)
    (if (result i32) (i32.lt_u (local.get 0) (i32.const 2)) (then (local.get 0))
      (else (i32.add (call $fib (i32.sub (local.get 0) (i32.const 1))) (call $fib (i32.sub (local.get 0) (i32.const 2)))))))
  (memory 1)
  (func $load (export "load") (param i32) (result i32) (i32.load (local.get 0))))"""

failures = []
checks = 0


def check(name, good, detail=""):
    global checks
    checks += 1
    if not good:
        failures.append(name)
        print(f"FAIL {name}: {detail}"[:1000])


def hoist(folder, *arguments, cache="cache", env=None, **more):
    environment = {"PATH": os.environ["PATH"], "XDG_CACHE_HOME": str(folder / cache)}
    for key in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
        if key in os.environ:
            environment[key] = os.environ[key]
    environment.update(env or {})
    return subprocess.run([HOIST, *map(str, arguments)], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=120, **more)


def expect(name, run, status, out, err=r"^$"):
    stdout, stderr = run.stdout.decode(errors="replace"), run.stderr.decode(errors="replace")
    check(name, run.returncode == status and re.search(out, stdout) and re.search(err, stderr),
          f"status {run.returncode}, stdout {stdout!r}, stderr {stderr!r}")


def large_module(functions):
    """Takes long enough to compile that something can happen meanwhile."""
    body = "(local.set 0 (i32.add (i32.mul (local.get 0) (i32.const {})) (i32.load (i32.and (local.get 0) (i32.const 1023)))))"
    text = "(module (memory 1)"
    for i in range(functions):
        text += "(func (param i32) (result i32)" + "".join(body.format(i * 31 + k) for k in range(40)) + "(local.get 0))"
    return text + '(func (export "f") (result i32) (i32.const 7)))'


def from_cache(run):
    return b"found compiled" in run.stderr


def compiles(folder):
    expect("compile", hoist(folder, "compile", "fib.wat", "-o", "fib"), 0, r"^$")
    image = (folder / "fib").read_bytes()
    check("executable", os.access(folder / "fib", os.X_OK))
    expect("run an image", hoist(folder, "run", "--invoke", "fib", "fib", "20"), 0, r"^6765\n$")
    expect("it traps with names", hoist(folder, "run", "--invoke", "load", "fib", "-1"), 134, r"^$",
           r"out of bounds memory access(.|\n)*load @ 0x")
    hoist(folder, "compile", "fib.wat", "-o", "fib")
    check("the same image again", (folder / "fib").read_bytes() == image)
    piped = hoist(folder, "compile", "fib.wat", "-o", "/dev/stdout")
    check("to standard output", piped.stdout == image, piped.stderr)
    with open(folder / "redirected", "wb") as to:
        subprocess.run([HOIST, "compile", "fib.wat", "-o", "/dev/stdout"], cwd=folder, stdout=to, timeout=60)
    check("to a redirected standard output", (folder / "redirected").read_bytes() == image)
    os.symlink("linked", folder / "link")
    (folder / "linked").write_text("old")
    expect("through a link", hoist(folder, "compile", "fib.wat", "-o", "link"), 0, r"^$")
    check("the link stays", (folder / "link").is_symlink() and (folder / "linked").read_bytes() == image)
    for cpu in ("baseline", "native", "popcnt,bmi1", "native,-avx,-bmi2"):
        expect(f"cpu {cpu}", hoist(folder, "compile", "--cpu", cpu, "fib.wat", "-o", "cpu"), 0, r"^$")
    expect("cpu runs", hoist(folder, "run", "--invoke", "fib", "cpu", "10"), 0, r"^55\n$")
    for level in ("0", "1", "2"):
        expect(f"level {level}", hoist(folder, "compile", f"-O{level}", "fib.wat", "-o", "level"), 0, r"^$")
        expect(f"level {level} runs", hoist(folder, "run", "--invoke", "fib", "level", "10"), 0, r"^55\n$")


    # Limits work if the image was made for them.
    for flag in ("--interruptible", "--epoch"):
        expect(f"for {flag}", hoist(folder, "compile", flag, "fib.wat", "-o", "limited"), 0, r"^$")
        for run in ([], ["--timeout", "10s"]):
            expect(f"{flag} runs with {run}", hoist(folder, "run", *run, "--invoke", "fib", "limited", "20"), 0, r"^6765\n$")
    expect("a timeout needs code that looks", hoist(folder, "run", "--timeout", "10s", "--invoke", "fib", "fib", "20"), 1, r"^$",
           r"^hoist: fib: the image was compiled with checks for interruption off, .*hoist compile with --interruptible, or hoist run with "
           r"no --timeout;")
    # The features of the module, not those that it was allowed.
    (folder / "simd.wat").write_text('(module (func (export "f") (result i32) (i8x16.extract_lane_s 0 (v128.const i32x4 7 0 0 0))))')
    expect("with vectors", hoist(folder, "compile", "simd.wat", "-o", "simd"), 0, r"^$")
    expect("runs", hoist(folder, "run", "--features=-threads,-relaxed-simd", "--invoke", "f", "simd"), 0, r"^7\n$")
    expect("needs vectors", hoist(folder, "run", "--features=-simd,-threads", "--invoke", "f", "simd"), 1, r"^$",
           r"^hoist: simd: the image's module uses features that the engine has off: simd \(hoist run with --features; in the API "
           r"Config::features\)\n$")
    expect("says so", hoist(folder, "objdump", "--function", "f", "simd"), 0, r"the module uses simd\n")
    for flag, run, status in (("--fuel", ["--fuel", "1000000000"], 0),
                              ("--signals=off", ["--signals=off"], 0), ("--bounds-checks=explicit", ["--bounds-checks=explicit"], 0),
                              ("--nan=canonical", ["--nan=canonical"], 0), ("--relaxed-simd=deterministic", ["--relaxed-simd=deterministic"], 0)):
        expect(f"for {flag}", hoist(folder, "compile", flag, "fib.wat", "-o", "limited"), 0, r"^$")
        expect(f"runs with {run}", hoist(folder, "run", *run, "--invoke", "fib", "limited", "20"), 0, r"^6765\n$")
        expect("and not without", hoist(folder, "run", "--invoke", "fib", "limited", "20"), 1, r"^$",
               rf"^hoist: limited: the image was compiled with .* both must be the same \(hoist compile with .*, "
               rf"or hoist run with {run[0]}; in the API Config::\w+\)\n$")


def refuses(folder):
    expect("no output named", hoist(folder, "compile", "fib.wat"), 1, r"^$", r"^hoist: .*output.*\n$")
    expect("no such file", hoist(folder, "compile", "nowhere", "-o", "x"), 1, r"^$", r"^hoist: nowhere: .*\n$")
    expect("an invalid module", hoist(folder, "compile", "bad.wat", "-o", "x"), 1, r"^$", r"^hoist: bad.wat: .*type mismatch.*\n$")
    expect("an image", hoist(folder, "compile", "fib", "-o", "x"), 1, r"^$", r"^hoist: fib: it is an image already\n$")
    for command in ("validate", "print"):
        expect("an image: " + command, hoist(folder, command, "fib"), 1, r"^$", r"^hoist: fib: it is an image, compiled already: .*\n$")
    expect("unknown feature", hoist(folder, "compile", "--cpu=sse9", "fib.wat", "-o", "x"), 1, r"^$", r"^hoist: unknown CPU feature 'sse9'.*avx2.*\n$")
    expect("a missing folder", hoist(folder, "compile", "fib.wat", "-o", "none/x"), 1, r"^$", r"^hoist: cannot write 'none/x'.*\n$")
    expect("a folder", hoist(folder, "compile", "fib.wat", "-o", "."), 1, r"^$", r"^hoist: cannot write '\.'.*\n$")
    expect("a full device", hoist(folder, "compile", "fib.wat", "-o", "/dev/full"), 1, r"^$", r"^hoist: cannot write '/dev/full'.*\n$")
    check("nothing was written", not (folder / "x").exists())
    image = (folder / "fib").read_bytes()

    def damaged(name, content, message, mode=0o755):
        (folder / "damaged").write_bytes(content)
        (folder / "damaged").chmod(mode)
        expect(name, hoist(folder, "run", "damaged"), 1, r"^$", r"^hoist: damaged: " + message + r".*\n$")

    damaged("cut off", image[:5000], r"damaged image: it is cut off: 5000 of \d+ bytes")
    damaged("longer", image + b"x", r"damaged image: 1 bytes follow")
    damaged("only a beginning", image[:20], r"damaged image: the file ends after 20 bytes")
    damaged("a flipped bit", image[:4100] + bytes([image[4100] ^ 4]) + image[4101:], r"damaged image: its checksum is wrong")
    damaged("another program", pathlib.Path("/bin/true").read_bytes(), r"not a Hoist image: an ELF file of another kind")
    damaged("not marked as a program", image, r"it is an image, which is machine code, but not executable", 0o644)


def atomic(folder):
    """A full disk or a kill leaves the old file and nothing else."""
    (folder / "out").mkdir()
    target = folder / "out" / "image"
    target.write_text("old")

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    expect("full disk", hoist(folder, "compile", "fib.wat", "-o", target, preexec_fn=limit), 1, r"^$", r"^hoist: cannot write .*\n$")
    check("the old file is there", target.read_text() == "old" and len(list((folder / "out").iterdir())) == 1)
    (folder / "large.wat").write_text(large_module(300))
    for i in range(6):
        process = subprocess.Popen([HOIST, "compile", "large.wat", "-o", str(target)], cwd=folder)
        time.sleep(0.03 + 0.05 * i)
        process.kill()
        process.wait()
        content = target.read_bytes()
        check("a kill leaves the old file or the new one", content == b"old" or content[:4] == b"\x7fELF")
    check("and nothing else", [p.name for p in (folder / "out").iterdir()] == ["image"], list((folder / "out").iterdir()))
    expect("and then it works", hoist(folder, "compile", "large.wat", "-o", target), 0, r"^$")
    expect("and runs", hoist(folder, "run", "--invoke", "f", target), 0, r"^7\n$")


def caches(folder):
    timed = ("run", "--timings", "--invoke", "fib", "fib.wat", "20")
    first, second = hoist(folder, *timed), hoist(folder, *timed)
    check("the second run finds it", not from_cache(first) and from_cache(second) and second.stdout == b"6765\n",
          second.stderr)
    check("--no-cache does not", not from_cache(hoist(folder, *timed[:2], "--no-cache", *timed[2:])))
    check("other settings do not", not from_cache(hoist(folder, "run", "--opt-level=1", *timed[1:])))
    expect("usage", hoist(folder, "cache"), 0, r"^.*/cache/hoist: 2 modules, \d+ bytes \(limit \d+\)\n$")
    expect("clear", hoist(folder, "cache", "--clear"), 0, r"^.*: removed 2 modules, .*\n$")
    expect("empty", hoist(folder, "cache"), 0, r"^.*: 0 modules, 0 bytes")
    check("--cache-dir", not from_cache(hoist(folder, "run", "--cache-dir", "mine", *timed[1:]))
          and from_cache(hoist(folder, "run", "--cache-dir", "mine", *timed[1:])) and (folder / "mine").is_dir())
    # Nothing about the place of the cache is an error.
    for name, env in (("no HOME", {"XDG_CACHE_HOME": ""}), ("unusable", {"XDG_CACHE_HOME": "/proc/nowhere"}),
                      ("relative", {"XDG_CACHE_HOME": "x", "HOME": "y"}), ("a file", {"XDG_CACHE_HOME": "/dev/null"})):
        expect(name, hoist(folder, "run", "--invoke", "fib", "fib.wat", "20", env=env), 0, r"^6765\n$")
    expect("no place to show", hoist(folder, "cache", env={"XDG_CACHE_HOME": ""}), 1, r"^$", r"^hoist: there is no cache.*\n$")
    # HOME is where it goes without XDG_CACHE_HOME.
    hoist(folder, *timed, env={"XDG_CACHE_HOME": "", "HOME": str(folder)})
    check("~/.cache/hoist", len(list((folder / ".cache" / "hoist").iterdir())) == 1)
    # A directory that others may write to is not used, and said so when asked.
    (folder / "cache" / "hoist").chmod(0o777)
    check("a directory of others", not from_cache(hoist(folder, *timed)) and not from_cache(hoist(folder, *timed)))
    expect("says why", hoist(folder, "cache"), 1, r"^$", r"^hoist: cannot use directory .*others may write.*\n$")
    (folder / "cache" / "hoist").chmod(0o700)
    # Damaged entries are made again.
    hoist(folder, *timed)
    entry = next(p for p in (folder / "cache" / "hoist").iterdir() if p.suffix == ".hoist")
    good = entry.read_bytes()
    for name, content in (("empty", b""), ("cut off", good[:-1]), ("flipped", good[:4097] + b"\xcc" + good[4098:]), ("zeros", bytes(len(good)))):
        entry.write_bytes(content)
        run = hoist(folder, *timed)
        check(f"{name} entry is made again", run.stdout == b"6765\n" and not from_cache(run) and from_cache(hoist(folder, *timed)))
    check("with the same bytes", entry.read_bytes() == good)
    if os.geteuid() != 0:
        (folder / "cache" / "hoist").chmod(0o500)
        check("a read-only cache is read", from_cache(hoist(folder, *timed)))
        expect("and not written", hoist(folder, "run", "--opt-level=0", "--invoke", "fib", "fib.wat", "20"), 0, r"^6765\n$")
        (folder / "cache" / "hoist").chmod(0o700)


def concurrent(folder):
    """Many processes at once, some of them killed: whatever is left is good."""
    if not (folder / "large.wat").exists():
        (folder / "large.wat").write_text(large_module(300))
    command = [HOIST, "run", "--invoke", "f", "large.wat"]
    env = dict(os.environ, XDG_CACHE_HOME=str(folder / "shared"))
    for round_number in range(4):
        shutil.rmtree(folder / "shared", ignore_errors=True)
        killed = [subprocess.Popen(command, cwd=folder, env=env, stdout=subprocess.DEVNULL) for _ in range(2)]
        others = [subprocess.Popen(command, cwd=folder, env=env, stdout=subprocess.PIPE) for _ in range(3)]
        time.sleep(0.05 + 0.12 * round_number)
        for process in killed:
            process.kill()
        outs = [process.communicate(timeout=120)[0] for process in others]
        for process in killed:
            process.wait()
        check("those that live answer", outs == [b"7\n"] * 3, outs)
        run = hoist(folder, "run", "--timings", "--invoke", "f", "large.wat", cache="shared")
        check("the cache is good", from_cache(run) and run.stdout == b"7\n", run.stderr)


def unusual(folder):
    """Outputs that cannot be, inputs without end, no threads to be had."""
    before = (folder / "fib.wat").read_bytes()
    expect("onto the input", hoist(folder, "compile", "fib.wat", "-o", "./fib.wat"), 1, r"^$", r"^hoist: -o './fib.wat' is the input itself.*\n$")
    check("which stays", (folder / "fib.wat").read_bytes() == before)
    closed = subprocess.run(f"'{HOIST}' compile fib.wat -o /dev/stdout >&-", shell=True, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    check("a closed output", closed.returncode == 1 and closed.stderr.startswith(b"hoist: cannot write '/dev/stdout'"), closed.stderr)
    with open(folder / "sparse", "wb") as sparse:
        sparse.truncate(5 << 30)
    expect("objdump of 5 GiB", hoist(folder, "objdump", "sparse"), 1, r"^$", r"^hoist: sparse: .*larger than 1073741824 bytes\n$")
    (folder / "sparse").unlink()

    def no_threads():
        resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
        if os.getuid() == 0:  # whom the limit does not bind
            os.setgid(65534)
            os.setuid(65534)
    # In a sanitizer build the leak checker forks at the end, which the limit refuses too.
    no_leaks = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}
    folder.chmod(0o755)
    (folder / "many.wat").write_text(large_module(400))
    try:
        for command in (["validate"], ["run", "--no-cache", "--threads", "4", "--invoke", "f"], ["objdump", "--threads", "4", "--function", "f"]):
            expect(f"{command[0]} without threads", hoist(folder, *command, "many.wat", env=no_leaks, preexec_fn=no_threads), 0, r"")
        expect("--timeout without threads", hoist(folder, "run", "--no-cache", "--timeout", "9s", "--invoke", "f", "many.wat", env=no_leaks, preexec_fn=no_threads),
               1, r"^$", r"^hoist: .*--timeout needs a thread, which the system refuses.*\n$")
    except PermissionError:
        print("without threads: skipped, the command is not accessible to another user")


def dumps(folder):
    image = hoist(folder, "objdump", "fib")
    expect("objdump of an image", image, 0, r"(?s)<fib>:  function 0.*call 0x1000  ; <fib>.*<load>:.*; trap: out of bounds memory access.*entry trampoline")
    module = hoist(folder, "objdump", "fib.wat")
    check("of a module: the same code", module.stdout.split(b"\n")[1:] == image.stdout.split(b"\n")[1:])
    expect("wasm offsets", image, 0, r"@0x[0-9a-f]+ ")
    one = hoist(folder, "objdump", "--function", "load", "fib")
    expect("one function", one, 0, r"<load>:")
    check("and no other", b"<fib>:" not in one.stdout)
    check("by index", hoist(folder, "objdump", "--function", "1", "fib").stdout == one.stdout)
    expect("no such function", hoist(folder, "objdump", "--function", "none", "fib"), 1, r"", r"^hoist: fib: it has no function 'none'\n$")
    expect("IR", hoist(folder, "objdump", "--ir", "--function", "fib", "fib.wat"), 0, r"(?s)function u0:0\(i64 vmctx, i32\).*block0.*<fib>:")
    expect("no IR in images", hoist(folder, "objdump", "--ir", "fib"), 1, r"^$", r"^hoist: fib: an image holds no IR.*\n$")
    expect("an invalid module", hoist(folder, "objdump", "bad.wat"), 1, r"^$", r"^hoist: bad.wat: .*type mismatch.*\n$")
    expect("an image is compiled already", hoist(folder, "objdump", "-O0", "fib"), 1, r"^$", r"^hoist: fib: it is an image, compiled already.*\n$")
    expect("neither", hoist(folder, "objdump", "/bin/true"), 1, r"^$", r"^hoist: /bin/true: not a Hoist image.*\n$")


def binutils(folder):
    def tool(*command):
        run = subprocess.run(command, cwd=folder, capture_output=True, timeout=60)
        check(f"{command[0]} has no complaint", run.returncode == 0 and run.stderr == b"", run.stderr)
        return run.stdout.decode()
    if shutil.which("nm"):
        names = tool("nm", "fib")
        check("nm", re.search(r"(?m)^0+1000 t fib$", names) and " t load" in names and "entry trampoline" in names, names)
    if shutil.which("readelf"):
        text = tool("readelf", "-aW", "fib")
        check("readelf", ".hoist.module" in text and "GNU_EH_FRAME" in text, text)
        frames = tool("readelf", "--debug-dump=frames", "fib")
        check("unwind information", frames.count("FDE") >= 3, frames)
    if shutil.which("objdump"):
        text = tool("objdump", "-d", "fib")
        check("objdump", re.search(r"<fib>:(.|\n)*call +1000 <fib>", text), text)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "fib.wat").write_text(FIB)
        (folder / "bad.wat").write_text("(module (func (result i32) (i64.const 0)))")
        for part in (compiles, refuses, atomic, caches, concurrent, dumps, unusual, binutils):
            part(folder)
    print(f"{checks - len(failures)} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

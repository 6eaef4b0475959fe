#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every subcommand under conditions that no user means: tests/cli/sweep.py PATH-TO-HOIST. Whatever is wrong, there is a
result or one line that says what, a status as documented, no crash and no wait. Ends with "N passed, N failed"."""
import os
import pathlib
import re
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from tally import Tally  # noqa: E402

HOIST = str(pathlib.Path(sys.argv[1]).resolve())
SUBCOMMANDS = ("run", "profile", "compile", "objdump", "cache", "validate", "print", "wast")
ODD = b"odd\xff name.wat"
tally = Tally()
check = tally.check

# Prints its arguments, each with a zero byte behind it.
ARGS = """(module
  (import "wasi_snapshot_preview1" "args_get" (func $args_get (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "args_sizes_get" (func $sizes (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "_start")
    (drop (call $sizes (i32.const 0) (i32.const 4)))
    (drop (call $args_get (i32.const 1024) (i32.const 8192)))
    (i32.store (i32.const 16) (i32.const 8192))
    (i32.store (i32.const 20) (i32.load (i32.const 4)))
    (drop (call $write (i32.const 1) (i32.const 16) (i32.const 1) (i32.const 8)))))"""
SPIN = '(module (func (export "_start") (loop $l (br $l))))'
# Waits for a connection on descriptor 3.
ACCEPT = """(module
  (import "wasi_snapshot_preview1" "sock_accept" (func $accept (param i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1)
  (func (export "_start") (call $exit (call $accept (i32.const 3) (i32.const 0) (i32.const 0)))))"""
# More text and code than a pipe holds.
LARGE = "(module " + "".join(f'(func (export "f{i}") (result i32) (i32.add (i32.const {i}) (i32.const 1)))' for i in range(4000)) + ")"


def hoist(work, *arguments, **options):
    options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run([HOIST, *arguments], cwd=work, capture_output=True, timeout=120, **options)


def one_line(name, done, status=1, stdout=rb"^$"):
    """One line of stderr that begins as all of them do, nothing on stdout."""
    good = done.returncode == status and re.fullmatch(rb"hoist: [\x20-\x7e]*\n", done.stderr) and re.search(stdout, done.stdout)
    check(name, good, done)


def helps(work):
    for sub in SUBCOMMANDS:
        done = hoist(work, sub, "--help")
        check(f"{sub} --help", done.returncode == 0 and b"Usage: hoist " + sub.encode() in done.stdout and not done.stderr, done)
        if sub in ("run", "profile"):
            check(f"{sub} --help: usage", f"Usage: hoist {sub} [OPTIONS] FILE [ARGS...]\n".encode() in done.stdout, done.stdout)
        if sub != "cache":
            done = hoist(work, sub)
            one_line(f"{sub} alone", done)
            check(f"{sub} alone names its help", f"see hoist {sub} --help".encode() in done.stderr, done.stderr)
        one_line(f"{sub}: unknown option", hoist(work, sub, "--no-such-option", "args.wat"))
    one_line("nothing at all", hoist(work))
    one_line("unknown subcommand", hoist(work, "frobnicate"))


def inputs(work):
    out = work / "image"
    for sub in SUBCOMMANDS:
        if sub == "cache":
            continue
        more = ["-o", out] if sub == "compile" else []
        about = rb"" if sub == "wast" else rb"^$"  # scripts are summed up on stdout
        for name in ("no-such-file", "huge.wasm", "args.wat/x", ""):
            one_line(f"{sub} '{name}'", hoist(work, sub, name, *more), stdout=about)
        one_line(f"{sub} a directory", hoist(work, sub, "folder", *more), stdout=about)
        # Nothing is a module (and a script) without anything in it.
        for name in ("/dev/null", "empty"):
            done = hoist(work, sub, name, *more)
            check(f"{sub} {name}", done.returncode == (1 if sub in ("run", "profile") else 0), done)
        # Text with the line ends of other systems, and one that begins with a mark.
        done = hoist(work, sub, "crlf.wat", *more)
        check(f"{sub} CRLF", done.returncode == 0, done)
        done = hoist(work, sub, "crlf-bad.wat", *more)
        place = b"(line 3, column 5)" if sub == "wast" else b"crlf-bad.wat:3:5: "
        check(f"{sub} CRLF: the line of a mistake", done.returncode == 1 and place in done.stderr + done.stdout, done)
        done = hoist(work, sub, "bom.wat", *more)
        check(f"{sub} byte order mark", done.returncode == 1 and b"byte order mark" in done.stderr + done.stdout, done)
        done = hoist(work, sub, ODD, *more)
        check(f"{sub} name that is no UTF-8", done.returncode == 0, done)
        done = hoist(work, sub, b"no" + ODD, *more)
        one_line(f"{sub} missing name that is no UTF-8", done, stdout=about)
    # From standard input.
    for sub in ("run", "compile", "validate", "print", "objdump"):
        more = ["-o", out] if sub == "compile" else []
        done = hoist(work, sub, *more, "-", stdin=open(work / "args.wat"))
        check(f"{sub} -", done.returncode == 0 and (sub != "run" or done.stdout == b"-\0"), done)
    image = out.read_bytes()
    done = hoist(work, "run", "-", stdin=open(out))
    check("run - of an image", done.returncode == 1 and b"image" in done.stderr and len(image) > 100, done)


def markers(work):
    (work / "-odd.wat").write_text(ARGS)
    for arguments, out in (
            (["run", "args.wat", "--", "--x"], "args.wat -- --x"),
            (["run", "args.wat", "a", "--", "b", "--"], "args.wat a -- b --"),
            (["run", "--", "args.wat", "a", "--x"], "args.wat a --x"),
            (["run", "--", "args.wat", "--", "--x"], "args.wat -- --x"),
            (["run", "--env", "A=b", "--dir", ".", "--", "args.wat", "--env"], "args.wat --env"),
            (["run", "--opt-level=1", "--timings", "--", "args.wat", "--help"], "args.wat --help"),
            (["run", "--", "-odd.wat", "-a"], "-odd.wat -a"),
            (["run", "args.wat", "--help"], "args.wat --help"),
            (["run", "args.wat", ""], "args.wat "),
            (["--", "run", "args.wat"], "args.wat"),
            (["profile", "--", "args.wat", "a", "--", "b"], "args.wat a -- b")):
        done = hoist(work, *arguments)
        check(" ".join(arguments), done.returncode == 0 and done.stdout == (out.replace(" ", "\0") + "\0").encode(), done)
    one_line("run --", hoist(work, "run", "--"))
    one_line("a wrong option before --", hoist(work, "run", "--none", "--", "args.wat"))
    done = hoist(work, "run", "--env", "--", "args.wat")
    check("-- as a value", done.returncode == 1, done)
    for sub, more in (("validate", []), ("print", []), ("compile", ["-o", "image"]), ("objdump", [])):
        done = hoist(work, sub, *more, "--", "-odd.wat")
        check(f"{sub} -- -odd.wat", done.returncode == 0, done)


def streams(work):
    def shell(command):
        return subprocess.run(["bash", "-c", command.replace("hoist", f"'{HOIST}'", 1)], cwd=work, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=120)
    commands = ("hoist print large.wat", "hoist objdump large.wat", "hoist compile large.wat -o -", "hoist --help", "hoist --version",
                "hoist run --help", "hoist cache", "hoist wast script.wast", "hoist run --invoke f1 large.wat")
    for command in commands:
        for where, message in ((">&-", b"Bad file descriptor"), (">/dev/full", b"No space left on device")):
            done = shell(f"{command} {where}")
            check(f"{command} {where}", done.returncode == 1 and done.stderr == b"hoist: cannot write to standard output: " + message + b"\n",
                  done)
    for command in commands[:3]:
        done = shell(f"{command} | head -c 1 >/dev/null; echo ${{PIPESTATUS[0]}}")
        check(f"{command} | head", done.stdout == b"141\n" and not done.stderr, done)
    for where in (">&-", ">/dev/full"):
        done = shell(f"hoist validate large.wat {where}")
        check(f"nothing to say {where}", done.returncode == 0, done)
    done = shell("hoist run args.wat <&- >out 2>&-")
    check("all streams closed", done.returncode == 0 and (work / "out").read_bytes() == b"args.wat\0", done)


def signals(work):
    for sub, number in (("run", signal.SIGINT), ("run", signal.SIGTERM), ("profile", signal.SIGTERM)):
        process = subprocess.Popen([HOIST, sub, "spin.wat"], cwd=work, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        time.sleep(0.5)
        process.send_signal(number)
        try:
            process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        check(f"{sub}: {number.name}", process.returncode == -number, process.returncode)


def surroundings(work):
    plain = {key: value for key, value in os.environ.items() if key not in ("HOME", "XDG_CACHE_HOME", "TMPDIR")}
    locked = work / "locked"
    locked.mkdir(mode=0o500)
    for name, changes in (("no HOME", {}), ("HOME that is missing", {"HOME": "/no/such/home"}), ("HOME that is no directory", {"HOME": "/dev/null"}),
                          ("a relative cache", {"XDG_CACHE_HOME": "here"}), ("a cache that cannot be made", {"XDG_CACHE_HOME": "/dev/null"}),
                          ("a read-only cache", {"XDG_CACHE_HOME": str(locked)}), ("a cache in /proc", {"XDG_CACHE_HOME": "/proc"}),
                          ("no TMPDIR", {"TMPDIR": "/no/such/folder"}), ("TMPDIR that is read-only", {"TMPDIR": "/proc"})):
        done = hoist(work, "run", "args.wat", env={**plain, **changes})
        check(name, done.returncode == 0 and done.stdout == b"args.wat\0" and not done.stderr, done)
        done = hoist(work, "compile", "args.wat", "-o", "image", env={**plain, **changes})
        check(name + ": compile", done.returncode == 0 and not done.stderr, done)
    one_line("cache without HOME", hoist(work, "cache", env=plain))
    one_line("cache that is a file", hoist(work, "cache", "--cache-dir", "args.wat"))
    for target in ("/proc/x", "no/such/folder/x", "folder", "/dev/full"):
        one_line(f"compile -o {target}", hoist(work, "compile", "args.wat", "-o", target))

    def limit(what, value):
        return lambda: resource.setrlimit(what, (value, value))
    one_line("a limit on file sizes", hoist(work, "compile", "large.wat", "-o", "big", preexec_fn=limit(resource.RLIMIT_FSIZE, 4096)))
    check("nothing is left of it", not (work / "big").exists())
    done = hoist(work, "run", "--no-cache", "args.wat", preexec_fn=limit(resource.RLIMIT_NOFILE, 5))
    check("few descriptors", done.returncode in (0, 1) and done.stderr.count(b"\n") == done.returncode, done)


def listening(work):
    for address, pattern in (("127.0.0.1:0", rb"127\.0\.0\.1:(\d+)"), (":0", rb"0\.0\.0\.0:(\d+)"), ("[::1]:0", rb"\[::1\]:(\d+)")):
        process = subprocess.Popen([HOIST, "run", "--timeout", "30s", "--listen", address, "accept.wat"], cwd=work, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        line = process.stderr.readline()
        if address.startswith("[") and not line.startswith(b"hoist: listening"):
            process.kill()
            process.communicate()
            continue  # no IPv6 here
        match = re.fullmatch(rb"hoist: listening on " + pattern + rb"\n", line)
        check(f"--listen {address}", match and int(match.group(1)) > 0, line)
        if match:
            socket.create_connection(("::1" if address.startswith("[") else "127.0.0.1", int(match.group(1))), timeout=30).close()
        else:
            process.kill()
        rest = process.communicate(timeout=30)
        check(f"--listen {address}: the rest", process.returncode == 0 and rest == (b"", b""), (process.returncode, rest))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        one_line("--listen on a port that is taken", hoist(work, "run", "--listen", f"127.0.0.1:{taken.getsockname()[1]}", "accept.wat"))
    one_line("--listen on no address", hoist(work, "run", "--listen", "localhost:0", "accept.wat"))


def main():
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        os.environ["XDG_CACHE_HOME"] = str(work / "cache")  # not the user's
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        (work / "folder").mkdir()
        text = '(module\r\n  (func (export "_start")\r\n    nop))\r\n'
        for file, content in {"args.wat": ARGS, "spin.wat": SPIN, "accept.wat": ACCEPT, "large.wat": LARGE, "empty": "",
                              "crlf.wat": text, "crlf-bad.wat": text.replace("nop", "bogus"), "bom.wat": "\ufeff" + text,
                              "script.wast": "(module)\r\n"}.items():
            (work / file).write_bytes(content.encode())
        (pathlib.Path(os.fsdecode(os.fsencode(name) + b"/" + ODD))).write_bytes(text.encode())
        with open(work / "huge.wasm", "wb") as huge:
            huge.truncate((1 << 30) + 1)
        for part in (helps, inputs, markers, streams, signals, surroundings, listening):
            part(work)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())

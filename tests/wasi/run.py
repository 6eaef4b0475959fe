#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""WASI as a program and its user see it: tests/wasi/run.py PATH-TO-HOIST. Guests are text modules, and C programs where
a compiler for wasm32-wasi is installed (else those cases are skipped). Ends with "N passed, N failed, N skipped"."""
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

HOIST = str(pathlib.Path(sys.argv[1]).resolve())
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
passed = failed = skipped = 0


def check(name, ok, detail=""):
    global passed, failed
    if ok:
        passed += 1
    else:
        failed += 1
        print(f"FAIL {name}: {detail}")


def skip(name, why):
    global skipped
    skipped += 1
    print(f"skip {name}: {why}")


def imports(*names):
    """Import lines for functions of the table, with their types."""
    lines = []
    for row in re.finditer(r'HOIST_WASI_P1\((\w+),\s*"([il]*)",', (ROOT / "src/wasi/p1/functions.def").read_text()):
        name, params = row.groups()
        if name in names:
            types = " ".join("i64" if p == "l" else "i32" for p in params)
            result = "" if name == "proc_exit" else "(result i32)"
            lines.append(f'(import "wasi_snapshot_preview1" "{name}" (func ${name} (param {types}) {result}))')
    return "\n".join(lines)


# Accepts one connection on descriptor 3, answers what it reads in upper case until the other end shuts down; exits with the
# number of bytes.
ECHO = "(module " + imports("sock_accept", "sock_recv", "sock_send", "sock_shutdown", "fd_close", "proc_exit") + """
  (memory (export "memory") 1)
  (func $check (param i32) (if (local.get 0) (then (call $proc_exit (local.get 0)))))
  (func (export "_start") (local $fd i32) (local $i i32) (local $n i32) (local $total i32)
    (call $check (call $sock_accept (i32.const 3) (i32.const 0) (i32.const 0)))
    (local.set $fd (i32.load (i32.const 0)))
    (block $end (loop $more
      (i32.store (i32.const 16) (i32.const 1024)) (i32.store (i32.const 20) (i32.const 100))
      (call $check (call $sock_recv (local.get $fd) (i32.const 16) (i32.const 1) (i32.const 0) (i32.const 4) (i32.const 8)))
      (local.set $n (i32.load (i32.const 4)))
      (br_if $end (i32.eqz (local.get $n)))
      (local.set $total (i32.add (local.get $total) (local.get $n)))
      (local.set $i (i32.const 0))
      (loop $up
        (i32.store8 (i32.add (i32.const 1024) (local.get $i))
          (i32.and (i32.load8_u (i32.add (i32.const 1024) (local.get $i))) (i32.const 0xdf)))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br_if $up (i32.lt_u (local.get $i) (local.get $n))))
      (i32.store (i32.const 20) (local.get $n))
      (call $check (call $sock_send (local.get $fd) (i32.const 16) (i32.const 1) (i32.const 0) (i32.const 4)))
      (br $more)))
    (call $check (call $sock_shutdown (local.get $fd) (i32.const 3)))
    (call $check (call $fd_close (local.get $fd)))
    (call $proc_exit (local.get $total))))"""

# Reads descriptor 3 (given with --fd) and writes it to standard output.
CAT3 = "(module " + imports("fd_read", "fd_write", "proc_exit") + """
  (memory (export "memory") 1)
  (func (export "_start")
    (i32.store (i32.const 0) (i32.const 1024)) (i32.store (i32.const 4) (i32.const 100))
    (drop (call $fd_read (i32.const 3) (i32.const 0) (i32.const 1) (i32.const 8)))
    (i32.store (i32.const 4) (i32.load (i32.const 8)))
    (call $proc_exit (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))))"""

# Exits with the errno of reading standard input / writing standard output.
READ0 = CAT3.replace("(call $fd_read (i32.const 3)", "(call $fd_read (i32.const 0)").replace(
    "(drop (call $fd_read", "(call $proc_exit (call $fd_read")

# Makes "new" in the first directory; exits with the errno.
MKDIR = "(module " + imports("path_create_directory", "proc_exit") + """
  (memory (export "memory") 1) (data (i32.const 0) "new")
  (func (export "_start") (call $proc_exit (call $path_create_directory (i32.const 3) (i32.const 0) (i32.const 3)))))"""

SLEEP = "(module " + imports("poll_oneoff", "proc_exit") + """
  (memory (export "memory") 1)
  (func (export "_start")
    (i32.store (i32.const 16) (i32.const 1)) (i64.store (i32.const 24) (i64.const %d))
    (call $proc_exit (call $poll_oneoff (i32.const 0) (i32.const 100) (i32.const 1) (i32.const 200)))))"""


def run(work, args, **kw):
    return subprocess.run([HOIST, "run", *args], cwd=work, capture_output=True, timeout=60, **kw)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def connect(port):
    for _ in range(500):
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=30)
        except ConnectionRefusedError:
            time.sleep(0.02)
    raise TimeoutError("nobody listens")


def sockets(work):
    for order in ([], ["--dir", "."]):
        port = free_port()
        process = subprocess.Popen([HOIST, "run", "--listen", f"127.0.0.1:{port}", *order, "echo.wat"], cwd=work)
        with connect(port) as client:
            client.sendall(b"hello")
            answer = client.recv(100)
            client.sendall(b"x" * 3000)
            client.shutdown(socket.SHUT_WR)
            rest = b""
            while part := client.recv(4096):
                rest += part
        status = process.wait(timeout=30)
        check(f"--listen {order}", (answer, rest, status) == (b"HELLO", b"X" * 3000, 255), (answer, len(rest), status))
    ours, theirs = socket.socketpair()
    ours.sendall(b"through a socket")
    done = run(work, ["--fd", str(theirs.fileno()), "cat3.wat"], pass_fds=[theirs.fileno()])
    check("--fd", (done.stdout, done.returncode) == (b"through a socket", 0), done)
    done = run(work, ["--fd", "77", "cat3.wat"])
    check("--fd not open", done.returncode == 1 and b"77 is not an open descriptor" in done.stderr, done)
    done = run(work, ["--listen", "localhost", "cat3.wat"])
    check("--listen bad address", done.returncode == 1 and b"'localhost' is not an address" in done.stderr, done)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = run(work, ["--listen", f"127.0.0.1:{taken.getsockname()[1]}", "cat3.wat"])
    check("--listen address in use", done.returncode == 1 and b"cannot listen on" in done.stderr, done)


def streams(work):
    done = run(work, ["read0.wat"], stdin=subprocess.DEVNULL)
    check("end of input", done.returncode == 0, done)
    done = subprocess.run(["sh", "-c", f'"{HOIST}" run --dir . read0.wat <&-'], cwd=work, capture_output=True)
    check("closed input is BADF", done.returncode == 8, done)
    done = subprocess.run(["sh", "-c", f'"{HOIST}" run --fd 5 cat3.wat 5<data >&-'], cwd=work, capture_output=True)
    check("closed output is BADF", done.returncode == 8, done)
    read, write = os.pipe()
    os.close(read)
    with open(work / "data") as data:
        done = subprocess.run([HOIST, "run", "--fd", str(data.fileno()), "cat3.wat"], cwd=work, stdout=write,
                              stderr=subprocess.PIPE, pass_fds=[data.fileno()])
    os.close(write)
    check("a broken pipe is PIPE, not a signal", done.returncode == 64, done)
    process = subprocess.Popen([HOIST, "run", "forever.wat"], cwd=work)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    check("a sleeper can be ended", process.wait(timeout=20) != 0)
    start = time.monotonic()
    done = run(work, ["--timeout", "300ms", "forever.wat"])
    check("--timeout wakes a sleeper", done.returncode == 124 and time.monotonic() - start < 20, done)
    start = time.monotonic()
    done = run(work, ["nap.wat"])
    check("sleeps", done.returncode == 0 and time.monotonic() - start >= 0.2, done)


def directories(work):
    (work / "box").mkdir()
    done = run(work, ["--dir", "box::/::ro", "mkdir.wat"])
    check("a read-only directory", done.returncode == 76 and not (work / "box/new").exists(), done)
    done = run(work, ["--dir", "box::/", "mkdir.wat"])
    check("a directory", done.returncode == 0 and (work / "box/new").is_dir(), done)
    done = run(work, ["--dir", "box::/::rw", "mkdir.wat"])
    check("a bad mode", done.returncode == 1 and b"--dir takes" in done.stderr, done)


def programs(work):
    for compiler in ("clang-22", "clang"):
        if shutil.which(compiler) is None:
            continue
        built = subprocess.run([compiler, "--target=wasm32-wasi", "-Wno-deprecated", "-O1", "-o", work / "paths.wasm",
                                HERE / "paths.c"], capture_output=True)
        if built.returncode == 0:
            break
    else:
        return skip("C programs", "no compiler for wasm32-wasi")
    (work / "d").mkdir()
    done = run(work, ["--dir", "d::/d", "paths.wasm", "/d"])
    expected = (HERE / "paths.expected").read_text().splitlines()
    actual = done.stdout.decode().splitlines()
    check("paths.c", actual == expected and done.returncode == 0,
          [(a, e) for a, e in zip(actual, expected) if a != e][:20] or done)


def documented():
    """docs/wasi.md lists the functions of the table, all of them and in its order."""
    table = re.findall(r'HOIST_WASI_P1\((\w+),', (ROOT / "src/wasi/p1/functions.def").read_text())
    table.remove("name")
    listed = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs/wasi.md").read_text(), re.M)
    check("docs/wasi.md", listed == table, set(table) ^ set(listed))


with tempfile.TemporaryDirectory() as name:
    directory = pathlib.Path(name)
    for file, text in {"echo.wat": ECHO, "cat3.wat": CAT3, "read0.wat": READ0, "mkdir.wat": MKDIR, "data": "data",
                       "forever.wat": SLEEP % -1, "nap.wat": SLEEP % 200000000}.items():
        (directory / file).write_text(text)
    sockets(directory)
    streams(directory)
    directories(directory)
    programs(directory)
    documented()
print(f"{passed} passed, {failed} failed, {skipped} skipped")
sys.exit(1 if failed else 0)

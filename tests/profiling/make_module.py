#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes WebAssembly modules of many small functions, with names and source lines as asked for.

As a program: make_module.py OUT COUNT [names] [lines]"""
import sys


def uleb(value):
    out = bytearray()
    while True:
        byte, value = value & 0x7f, value >> 7
        out.append(byte | (0x80 if value else 0))
        if not value:
            return bytes(out)


def sleb(value):
    out = bytearray()
    while True:
        byte, value = value & 0x7f, value >> 7
        done = (value == 0 and not byte & 0x40) or (value == -1 and byte & 0x40)
        out.append(byte | (0 if done else 0x80))
        if done:
            return bytes(out)


def section(number, content):
    return bytes([number]) + uleb(len(content)) + content


def custom(name, content):
    return section(0, uleb(len(name)) + name.encode() + content)


def vector(items):
    return uleb(len(items)) + b"".join(items)


def line_program(starts, end, lines_each, step):
    """DWARF 4: for the function at each start, up to `end`, `lines_each` rows `step` bytes apart, its lines from 10 times its
    number on."""
    program, line, address = bytearray(), 1, 0
    program += b"\x00\x05\x02" + (0).to_bytes(4, "little")  # DW_LNE_set_address
    for number, start in enumerate(starts):
        for i in range(lines_each):
            at, wanted = start + i * step, (number + 1) * 10 + i
            program += b"\x02" + uleb(at - address) + b"\x03" + sleb(wanted - line) + b"\x01"
            address, line = at, wanted
    program += b"\x02" + uleb(end - address) + b"\x00\x01\x01"
    files = b"\x00" + b"gen.c\x00\x00\x00\x00" + b"\x00"  # no directories; one file
    header = bytes([1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1]) + files
    body = (4).to_bytes(2, "little") + len(header).to_bytes(4, "little") + header + bytes(program)
    return len(body).to_bytes(4, "little") + body


def make(count, names=None, lines=False):
    """`names`: the bytes of the name of each function, in order. Function 0 is exported as "run", takes an i32 and
    returns one; each function calls the next one but every 16th."""
    bodies, starts = [], []
    prefix = len(uleb(count))
    offset = prefix
    for i in range(count):
        code = b"\x00"  # no locals
        for k in range(4):
            code += b"\x20\x00\x41" + sleb(i * 7 + k) + b"\x6a\x21\x00"
        code += b"\x20\x00" + (b"\x10" + uleb(i + 1) if i % 16 != 15 and i + 1 < count else b"") + b"\x0b"
        size = uleb(len(code))
        starts.append(offset + len(size) + 1)
        bodies.append(size + code)
        offset += len(bodies[-1])
    out = b"\0asm\1\0\0\0"
    out += section(1, b"\x01\x60\x01\x7f\x01\x7f")
    out += section(3, uleb(count) + b"\x00" * count)
    out += section(7, b"\x01\x03run\x00\x00")
    out += section(10, vector(bodies))
    if names is not None:
        out += custom("name", section(1, vector([uleb(i) + uleb(len(n)) + n for i, n in enumerate(names)])))
    if lines:
        out += custom(".debug_line", line_program(starts, offset, 3, 7))
    return out


def mixed_names(count):
    """Every other one mangled: work_0, shop::counter1(int), ..."""
    out = []
    for i in range(count):
        name = "counter%d" % i
        out.append(("_ZN4shop%d%sEi" % (len(name), name) if i % 2 else "work_%d" % i).encode())
    return out


if __name__ == "__main__":
    amount = int(sys.argv[2])
    made = make(amount, mixed_names(amount) if "names" in sys.argv else None, "lines" in sys.argv)
    with open(sys.argv[1], "wb") as file:
        file.write(made)

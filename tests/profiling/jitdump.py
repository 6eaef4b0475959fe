#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads a jitdump file and checks all of it; written after the specification, not after Hoist's writer.

As a program: prints the names, with --lines the lines too, or with --check nothing unless something is wrong."""
import struct
import sys


class Bad(Exception):
    pass


class Code:
    def __init__(self, name, address, code, index, time):
        self.name, self.address, self.code, self.index, self.time = name, address, code, index, time
        self.lines = []     # (address, line, file)
        self.unwind = None  # (eh_frame, eh_frame_hdr)


def cstring(data, at):
    end = data.find(b"\0", at)
    if end < 0:
        raise Bad("a string without an end")
    return data[at:end], end + 1


def check_unwind(code, frame, header):
    """The search table is empty. Places: code, then at a multiple of 8 the frame, then the header."""
    frame_at = (len(code.code) + 7) // 8 * 8
    header_at = frame_at + len(frame)
    version, frame_enc, count_enc, table_enc = header[:4]
    if (version, frame_enc, count_enc, table_enc) != (1, 0x1b, 0x03, 0x3b):
        raise Bad("an .eh_frame_hdr of another kind")
    pointer, count = struct.unpack_from("<iI", header, 4)
    if header_at + 4 + pointer != frame_at:
        raise Bad("the header does not point to the frame section")
    if count != 0 or len(header) != 12:
        raise Bad("%d entries in the search table, which perf looks for where they are not" % count)
    fde_at = struct.unpack_from("<I", frame)[0] + 4  # behind the CIE
    length, cie = struct.unpack_from("<II", frame, fde_at)
    if fde_at + 4 - cie != 0:
        raise Bad("the FDE does not lead to the CIE")
    begin, size = struct.unpack_from("<iI", frame, fde_at + 8)
    if frame_at + fde_at + 8 + begin != 0 or not 0 < size <= len(code.code):
        raise Bad("the FDE is of other code")
    if frame[-4:] != b"\0\0\0\0":
        raise Bad("no terminator")


def read(path):
    data = open(path, "rb").read()
    magic, version, size, machine, pad, pid, time, flags = struct.unpack_from("<IIIIIIQQ", data)
    if (magic, version, size, pad, flags) != (0x4A695444, 1, 40, 0, 0):
        raise Bad("a bad header")
    if machine not in (62, 183):
        raise Bad("machine %d" % machine)
    at, last, lines, unwind, closed, codes = 40, time, [], None, False, []
    indexes = set()
    while at < len(data):
        if closed:
            raise Bad("records after close")
        kind, total, when = struct.unpack_from("<IIQ", data, at)
        if total < 16 or at + total > len(data):
            raise Bad("a record of %d bytes at %d" % (total, at))
        if when < last:
            raise Bad("time goes back")
        last = when
        body = data[at + 16:at + total]
        if kind == 0:
            rpid, tid, vma, address, length, index = struct.unpack_from("<IIQQQQ", body)
            name, end = cstring(body, 40)
            if rpid != pid or tid == 0 or vma != address or len(body) != end + length:
                raise Bad("a bad code load: %r" % name)
            if index in indexes:
                raise Bad("code index %d twice" % index)
            indexes.add(index)
            code = Code(name.decode("utf-8"), address, body[end:], index, when)
            # perf's line table ends at the last entry: it is the one before, at the end of the code.
            if lines and (len(lines) < 2 or lines[-1][1:] != lines[-2][1:] or not lines[-2][0] < lines[-1][0] <= address + length):
                raise Bad("the lines of %r have no end" % name)
            for where, _, _ in lines[:-1]:
                if not address <= where < address + length:
                    raise Bad("a line of %r outside of its code" % name)
            code.lines = lines
            if unwind:
                check_unwind(code, *unwind)
                code.unwind = unwind
            lines, unwind = [], None
            codes.append(code)
        elif kind == 2:
            address, count = struct.unpack_from("<QQ", body)
            here = 16
            for _ in range(count):
                where, line, discriminator = struct.unpack_from("<QII", body, here)
                name, here = cstring(body, here + 16)
                if not name:
                    raise Bad("a line without a file")
                lines.append((where, line, name.decode("utf-8")))
            if here != len(body) or [w for w, _, _ in lines] != sorted(w for w, _, _ in lines):
                raise Bad("bad lines")
        elif kind == 3:
            closed = True
            if total != 16:
                raise Bad("a close with content")
        elif kind == 4:
            size, header, mapped = struct.unpack_from("<QQQ", body)
            if size > len(body) - 24 or header > size:
                raise Bad("bad unwinding information")
            blob = body[24:24 + size]
            unwind = (blob[:size - header], blob[size - header:])
        else:
            raise Bad("a record of kind %d" % kind)
        at += total
    if not closed:
        raise Bad("no close")
    return codes


if __name__ == "__main__":
    try:
        for code in read(sys.argv[-1]):
            if sys.argv[1] != "--check":
                print("%x %x %s" % (code.address, len(code.code), code.name))
            if sys.argv[1] == "--lines":
                for where, line, file in code.lines:
                    print("  %x %s:%d" % (where, file, line))
    except Bad as error:
        sys.exit("jitdump: %s" % error)

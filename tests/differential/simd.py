# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random modules that are mostly vector instructions, for run.py.

JavaScript cannot hold a v128, and the bits of NaNs are not determined. So functions take and give numbers;
vectors are made of parameters, constants and memory, and go through locals, blocks, calls, globals and
memory inside. Values are kept apart by whether NaN bits may be in them: those of float lanes become bits only
through a choice that puts the canonical NaN where there is any.

The instructions are those of src/wasm/format/opcodes.def with the prefix 0xfd, but the relaxed ones, whose
results differ between engines.
"""
import pathlib
import re

from leb128 import sleb, uleb

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
I32, I64, F32, F64, V128 = 0x7F, 0x7E, 0x7D, 0x7C, 0x7B
LETTERS = {"i": "i32", "l": "i64", "f": "f32", "d": "f64", "v": "v128", "a": "i32"}
CODES = {"i32": I32, "i64": I64, "f32": F32, "f64": F64, "v128": V128}
LANES = {"i8x16": 16, "i16x8": 8, "i32x4": 4, "i64x2": 2, "f32x4": 4, "f64x2": 2, "v128": 1}
BITS_ONLY = ("abs", "neg", "pmin", "pmax", "replace_lane", "splat")  # float operations that make no NaN


def read_instructions():
    row = re.compile(r'HOIST_WASM_\w+\((?:\w+, )?(\w+), 0xfd, (0x[0-9a-f]+), "([^"]+)", (\w+), "([a-z]*):([a-z]*)", Simd\)')
    text = (ROOT / "src/wasm/format/opcodes.def").read_text()
    return [(name, int(code, 16), imm, params, results)
            for _, code, name, imm, params, results in row.findall(text)]


INSTRUCTIONS = read_instructions()
CODE = {name: code for name, code, *_ in INSTRUCTIONS}


class Function:
    """Writes the body of a function of parameters (i64 i64 i64 i64 i32 f32 f64) and one i64 result."""
    PARAMS = ["i64", "i64", "i64", "i64", "i32", "f32", "f64"]

    def __init__(self, rng, number):
        self.rng, self.number = rng, number
        self.code = bytearray()
        self.locals = []     # kinds of the own locals: "i32", "i64", "f32", "f64", "bits", "F32", "F64"
        self.depth = 0

    # Kinds of vectors: bits, and lanes of floats whose NaNs are any.
    def new_local(self, kind):
        self.locals.append(kind)
        return len(self.PARAMS) + len(self.locals) - 1

    def op(self, name, immediates=b""):
        self.code += b"\xfd" + uleb(CODE[name]) + immediates

    def local(self, kind):
        """A local of this kind, or None."""
        found = [i for i, k in enumerate(self.PARAMS) if k == kind]
        found += [len(self.PARAMS) + i for i, k in enumerate(self.locals) if k == kind]
        # New ones are more interesting.
        return self.rng.choice(found[-6:] if self.rng.random() < 0.7 else found) if found else None

    def get(self, index):
        self.code += b"\x20" + uleb(index)

    def constant(self, kind):
        rng = self.rng
        if kind == "i32":
            self.code += b"\x41" + sleb(rng.choice([0, 1, -1, 7, 8, 31, 32, 33, 255, -128, 65535, rng.getrandbits(31)]))
        elif kind == "i64":
            self.code += b"\x42" + sleb(rng.choice([0, 1, -1, 63, 1 << 31, -(1 << 63), rng.getrandbits(63)]))
        elif kind == "f32":
            bits = rng.choice([0, 0x80000000, 0x3F800000, 0x7F800000, 0x4F000000, 0xCF000000, 0x7FC00000, rng.getrandbits(30)])
            self.code += b"\x43" + bits.to_bytes(4, "little")
        elif kind == "f64":
            bits = rng.choice([0, 1 << 63, 0x3FF << 52, 0x7FF << 52, 0x41E << 52, 0x7FF8 << 48, rng.getrandbits(62)])
            self.code += b"\x44" + bits.to_bytes(8, "little")
        else:
            self.op("v128.const", self.vector_bytes())

    def vector_bytes(self):
        rng = self.rng
        width = rng.choice([1, 2, 4, 8])
        lanes = []
        for _ in range(16 // width):
            top = 1 << (width * 8)
            lanes.append(rng.choice([0, 1, top - 1, top >> 1, (top >> 1) - 1, rng.randrange(top), rng.randrange(20),
                                     {4: 0x3F800000, 8: 0x3FF << 52}.get(width, 3), {4: 0x7FC00000, 8: 0x7FF8 << 48}.get(width, 5)]))
        if rng.random() < 0.4:
            lanes = [lanes[0]] * len(lanes)
        return b"".join(lane.to_bytes(width, "little") for lane in lanes)

    def scalar(self, kind):
        index = self.local(kind)
        if index is None or self.rng.random() < 0.25:
            self.constant(kind)
        else:
            self.get(index)

    def vector(self, kind, depth=0):
        """Pushes a vector of the kind; one of bits goes for floats."""
        rng = self.rng
        if depth < 3 and rng.random() < 0.45:
            return self.operation(kind, depth + 1)
        index = self.local(kind if rng.random() < 0.8 else "bits")
        if index is None or rng.random() < 0.1:
            return self.constant("bits")
        self.get(index)

    def canonical(self, kind, depth):
        """Floats as bits: the canonical NaN where there is one."""
        temporary = self.new_local(kind)
        self.vector(kind, depth)
        self.code += b"\x21" + uleb(temporary)
        lane = (0x7FC00000).to_bytes(4, "little") * 4 if kind == "F32" else (0x7FF8 << 48).to_bytes(8, "little") * 2
        self.op("v128.const", lane)
        self.get(temporary)
        self.get(temporary)
        self.get(temporary)
        self.op("f32x4.ne" if kind == "F32" else "f64x2.ne")
        self.op("v128.bitselect")

    def address(self, size):
        """An address and the immediates of an access of `size` bytes that is in bounds, nearly always."""
        rng = self.rng
        if rng.random() < 0.5:
            self.code += b"\x41" + sleb(rng.choice([0, 16, 64, 65536 - size - 100, rng.randrange(60000)]))
        else:
            self.scalar("i32")
            self.code += b"\x41" + sleb(0xFFF8 if rng.random() < 0.1 else 0x7FF0) + b"\x71"
        align = rng.randrange(size.bit_length())
        return uleb(align) + uleb(rng.choice([0, 0, 1, 8, 100]))

    def operation(self, kind, depth):
        """Pushes the result of an instruction whose result is a vector of the kind."""
        rng = self.rng
        while True:
            name, code, imm, params, results = rng.choice(INSTRUCTIONS)
            lanes, _, what = name.partition(".")
            if results != "v" or name == "v128.const":
                continue
            makes_float = lanes in ("f32x4", "f64x2") and what not in ("eq", "ne", "lt", "gt", "le", "ge")
            made = {"f32x4": "F32", "f64x2": "F64"}[lanes] if makes_float else "bits"
            if made != kind and not (kind != "bits" and rng.random() < 0.2 and made == "bits"):
                if rng.random() < 0.85:
                    continue
                if kind == "bits":
                    return self.canonical(rng.choice(["F32", "F64"]), depth)
                continue
            break
        takes = "bits"
        if makes_float:
            takes = made
            if "convert" in what:
                takes = "bits"
            if "promote" in what:
                takes = "F32"
            if "demote" in what:
                takes = "F64"
        elif "f32x4" in what or lanes == "f32x4":
            takes = "F32"
        elif "f64x2" in what or lanes == "f64x2":
            takes = "F64"
        immediates = b""
        lane_bytes = 16 // LANES[lanes]
        for position, letter in enumerate(params):
            if letter == "a":
                size = {"Mem1": 1, "Mem2": 2, "Mem4": 4, "Mem8": 8, "Mem16": 16, "MemLane1": 1, "MemLane2": 2,
                        "MemLane4": 4, "MemLane8": 8}[imm]
                immediates = self.address(size)
                lane_bytes = size
            elif letter == "v":
                self.vector(takes, depth)
            elif makes_float and letter in "fd":
                self.scalar(LETTERS[letter])
            elif letter in "il" and what.startswith("sh") and rng.random() < 0.6:
                self.constant(LETTERS[letter])
            else:
                self.scalar(LETTERS[letter])
        if imm == "Lane" or imm.startswith("MemLane"):
            immediates += bytes([rng.randrange(16 // lane_bytes)])
        elif imm == "Shuffle":
            immediates = self.shuffle()
        self.code += b"\xfd" + uleb(code) + immediates

    def shuffle(self):
        rng = self.rng
        width = rng.choice([1, 1, 2, 4, 8])
        units = 16 // width
        pick = rng.random()
        if pick < 0.2:
            start = rng.randrange(32)
            return bytes((start + i) % 32 for i in range(16))
        if pick < 0.4:
            half, swap = rng.randrange(2) * (units // 2), rng.randrange(2) * units
            order = [half + i // 2 + (units if i % 2 else 0) ^ swap for i in range(units)]
            order = [n % (2 * units) for n in order]
        elif pick < 0.6:
            order = [i + rng.randrange(2) * units for i in range(units)]
        elif pick < 0.7:
            order = [rng.randrange(2 * units)] * units
        else:
            limit = rng.choice([units, 2 * units])
            order = [rng.randrange(limit) for _ in range(units)]
        return bytes(n * width + i for n in order for i in range(width))

    def to_scalar(self):
        """A statement: a new local of a number made from a vector."""
        rng = self.rng
        while True:
            name, code, imm, params, results = rng.choice(INSTRUCTIONS)
            lanes, _, what = name.partition(".")
            if results in "ild" + "f" and len(results) == 1 and params == "v":
                break
        kind = LETTERS[results]
        if kind in ("f32", "f64"):
            # As bits of an integer: NaNs are any.
            self.canonical("F32" if kind == "f32" else "F64", 1)
            lanes, kind = ("i32x4", "i32") if kind == "f32" else ("i64x2", "i64")
            self.op(f"{lanes}.extract_lane", bytes([rng.randrange(LANES[lanes])]))
        else:
            self.vector("bits", 1)
            self.code += b"\xfd" + uleb(code)
            if imm == "Lane":
                self.code += bytes([rng.randrange(LANES[lanes])])
        self.set_new(kind)

    def set_new(self, kind):
        self.code += b"\x21" + uleb(self.new_local(kind))

    def store(self):
        rng = self.rng
        stores = [row for row in INSTRUCTIONS if row[3] == "av" and row[4] == ""]
        name, code, imm, _, _ = rng.choice(stores)
        size = 16 if name == "v128.store" else int(re.search(r"store(\d+)", name).group(1)) // 8
        immediates = self.address(size)
        self.vector("bits", 1)
        self.code += b"\xfd" + uleb(code) + immediates
        if imm.startswith("MemLane"):
            self.code += bytes([rng.randrange(16 // size)])

    def condition(self):
        rng = self.rng
        if rng.random() < 0.7:
            name = rng.choice(["v128.any_true", "i8x16.all_true", "i16x8.all_true", "i32x4.all_true", "i64x2.all_true"])
            self.vector("bits", 1)
            self.op(name)
            if rng.random() < 0.3:
                self.code += b"\x45"
        else:
            self.scalar("i32")

    def statement(self):
        rng = self.rng
        pick = rng.random()
        kind = rng.choice(["bits", "bits", "F32", "F64"])
        if pick < 0.45:
            self.operation(kind, 0)
            self.set_new(kind)
        elif pick < 0.6:
            self.to_scalar()
        elif pick < 0.72:
            self.store()
        elif pick < 0.78 and self.depth < 2:
            # if with a vector as its result
            self.condition()
            self.code += b"\x04\x7b"
            self.depth += 1
            for arm in (0, 1):
                known = list(self.locals)
                for _ in range(rng.randrange(3)):
                    self.statement()
                self.vector(kind, 1)
                # What an arm made may be unset on the other way; it is then zero, as good as any.
                del known
                if arm == 0:
                    self.code += b"\x05"
            self.depth -= 1
            self.code += b"\x0b"
            self.set_new(kind)
        elif pick < 0.83 and self.depth == 0:
            # A loop that changes a vector a few times.
            counter, value = self.new_local("count"), self.new_local(kind)
            self.vector(kind, 1)
            self.code += b"\x21" + uleb(value) + b"\x41" + sleb(rng.randrange(1, 6)) + b"\x21" + uleb(counter)
            self.code += b"\x03\x40"
            self.depth += 1
            for _ in range(rng.randrange(4)):
                self.statement()
            self.operation(kind, 1)
            self.code += b"\x21" + uleb(value)
            self.depth -= 1
            self.code += b"\x20" + uleb(counter) + b"\x41\x01\x6b\x22" + uleb(counter) + b"\x0d\x00\x0b"
        elif pick < 0.88:
            self.vector(kind, 1)
            self.vector(kind, 1)
            self.condition()
            self.code += b"\x1c\x01\x7b"
            self.set_new(kind)
        elif pick < 0.92:
            if rng.random() < 0.5:
                self.vector("bits", 1)
                self.code += b"\x24\x00"
            else:
                self.code += b"\x23\x00"
                self.set_new("bits")
        elif pick < 0.96 and self.number > 0:
            # A helper of type (v128 i32 v128) -> v128 of an earlier function.
            self.vector("bits", 1)
            self.scalar("i32")
            self.vector("bits", 1)
            self.code += b"\x10" + uleb(2 * rng.randrange(self.number))
            self.set_new("bits")
        elif self.locals:
            index = rng.randrange(len(self.locals))
            kind = self.locals[index]
            if kind in ("bits", "F32", "F64"):
                self.vector(kind, 1)
                self.code += b"\x21" + uleb(len(self.PARAMS) + index)

    def finish(self, result):
        self.code += b"\x0b"
        groups = b"".join(b"\x01" + bytes([CODES.get(k, I32 if k == "count" else V128)]) for k in self.locals)
        body = uleb(len(self.locals)) + groups + bytes(self.code)
        return uleb(len(body)) + body


class Helper(Function):
    PARAMS = ["bits", "i32", "bits"]


def write_function(rng, number, helper):
    f = (Helper if helper else Function)(rng, number)
    if not helper:
        for pair in ((0, 1), (2, 3)):
            f.get(pair[0])
            f.op("i64x2.splat")
            f.get(pair[1])
            f.op("i64x2.replace_lane", b"\x01")
            f.set_new("bits")
        f.get(5)
        f.op("f32x4.splat")
        f.set_new("F32")
        f.get(6)
        f.op("f64x2.splat")
        f.set_new("F64")
    for _ in range(rng.choice([3, 8, 20, 40]) if not helper else rng.randrange(6)):
        f.statement()
    if helper:
        f.vector("bits", 0)
        return f.finish("v128")
    # All that is alive, folded into one number.
    total = f.new_local("bits")
    for index, kind in enumerate(list(f.locals)):
        if kind not in ("bits", "F32", "F64") or len(f.PARAMS) + index == total or rng.random() < 0.3:
            continue
        f.get(total)
        if kind == "bits":
            f.get(len(f.PARAMS) + index)
        else:
            lane = (0x7FC00000).to_bytes(4, "little") * 4 if kind == "F32" else (0x7FF8 << 48).to_bytes(8, "little") * 2
            f.op("v128.const", lane)
            for _ in range(3):
                f.get(len(f.PARAMS) + index)
            f.op("f32x4.ne" if kind == "F32" else "f64x2.ne")
            f.op("v128.bitselect")
        f.op("i64x2.add")
        f.constant("i32")
        f.op("i32x4.shl")
        f.get(total)
        f.op("i16x8.add")
        f.code += b"\x21" + uleb(total)
    f.get(total)
    f.op("i64x2.extract_lane", b"\x00")
    f.get(total)
    f.op("i64x2.extract_lane", b"\x01")
    f.code += b"\x85"
    for index, kind in enumerate(f.locals):
        if kind == "i64":
            f.code += b"\x20" + uleb(len(f.PARAMS) + index) + b"\x7c"
        elif kind == "i32":
            f.code += b"\x20" + uleb(len(f.PARAMS) + index) + b"\xad\x7c"
    return f.finish("i64")


def section(number, body):
    return bytes([number]) + uleb(len(body)) + body


def make_simd(_tool, rng, path):
    count = rng.choice([1, 2, 4])
    types = [b"\x60\x03\x7b\x7f\x7b\x01\x7b", b"\x60\x07\x7e\x7e\x7e\x7e\x7f\x7d\x7c\x01\x7e"]
    bodies = [write_function(rng, i // 2, i % 2 == 0) for i in range(2 * count)]
    exports = [b"\x06memory\x02\x00"]
    exports += [bytes([len(name)]) + name + b"\x00" + uleb(2 * i + 1)
                for i, name in enumerate(f"f{i}".encode() for i in range(count))]
    data = rng.randbytes(2048)
    out = b"\0asm\1\0\0\0"
    out += section(1, uleb(len(types)) + b"".join(types))
    out += section(3, uleb(2 * count) + b"".join(uleb(i % 2) for i in range(2 * count)))
    out += section(5, b"\x01\x01\x01\x01")
    out += section(6, b"\x01\x7b\x01\xfd\x0c" + rng.randbytes(16) + b"\x0b")
    out += section(7, uleb(len(exports)) + b"".join(exports))
    out += section(10, uleb(2 * count) + b"".join(bodies))
    out += section(11, b"\x01\x00\x41\x00\x0b" + uleb(len(data)) + data)
    path.write_bytes(out)
    return True

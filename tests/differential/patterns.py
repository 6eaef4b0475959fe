# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random modules of what code generators combine, for run.py: loads that end where the memory ends, addresses made
of narrow values, shift counts around the width, operands that come from calls of the runtime, values that go through
blocks, tables of branches, globals, tables and several memories.

Functions take and give numbers. A float may be a NaN whose bits are not determined; what looks at bits gets the
canonical NaN instead. Loops and calls count fuel in a global, the export "fuel!", as the modules of smith do.
"""
import pathlib
import re

from leb128 import sleb, uleb

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CODES = {"c": 0x7F, "i": 0x7F, "l": 0x7E, "f": 0x7D, "d": 0x7C}
PAGE = 65536
BIT_USERS = ("reinterpret", "copysign", "store")


def signed(value, bits):
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def read_instructions():
    row = re.compile(r'HOIST_WASM_(\w+)\((?:\w+, )?(\w+), (0x[0-9a-f]+), (0x[0-9a-f]+), "([^"]+)", (\w+), '
                     r'"([ailfd]*):([ilfd]*)", (\w+)\)')
    text = (ROOT / "src/wasm/format/opcodes.def").read_text()
    plain, loads, stores, atomics = {}, {}, {}, {}
    for _, _, prefix, code, name, imm, params, results, feature in row.findall(text):
        prefix, code = int(prefix, 16), int(code, 16)
        data = bytes([code]) if prefix == 0 else bytes([prefix]) + uleb(code)
        if feature not in ("Core", "SignExtension", "SaturatingConversions", "Threads"):
            continue
        if imm == "None" and len(results) == 1 and "a" not in params:
            plain.setdefault(results, []).append((name, data, params))
        elif imm.startswith("Mem") and imm[3:].isdigit() and "wait" not in name and "notify" not in name:
            size = int(imm[3:])
            what = atomics if feature == "Threads" else loads if results else stores
            what.setdefault(results, []).append((name, data, params, size))
    return plain, loads, stores, atomics


PLAIN, LOADS, STORES, ATOMICS = read_instructions()
COMPARISONS = {kind: [name for name, _, params in PLAIN["i"] if params == kind * 2 and
                      name.split(".")[1][:2] in ("eq", "ne", "lt", "gt", "le", "ge")] for kind in "ilfd"}
BY_NAME = {name: (data, params) for group in PLAIN.values() for name, data, params in group}


class Module:
    def __init__(self, rng):
        self.rng = rng
        self.types = []
        self.wild = rng.choice([0, 0.01, 0.03, 0.1, 0.5])  # how often something that traps for many operands
        self.memories = [(rng.random() < 0.15, rng.choice([1, 1, 1, 1, 1, 2, 0]))]
        if rng.random() < 0.3:
            self.memories.append((rng.random() < 0.2, rng.choice([1, 1, 1, 0])))
        self.long_table = rng.random() < 0.1
        self.table = rng.choice([1, 5, 17])
        self.count = rng.choice([3, 6, 12])
        pick = lambda most: "".join(rng.choice("iilfd") for _ in range(rng.choice(most)))
        self.signatures = [(pick([0, 1, 2, 3, 3, 4, 7, 14]), pick([1, 1, 1, 1, 2, 3, 0, 9])) for _ in range(self.count)]
        if rng.random() < 0.5:  # some of the same type, for the table
            for index in range(1, self.count, 2):
                self.signatures[index] = self.signatures[index - 1]
        self.globals = [rng.choice("ilfd") for _ in range(4)]
        self.data = rng.randbytes(rng.choice([0, 64, 300]))

    def type(self, params, results):
        entry = b"\x60" + uleb(len(params)) + bytes(CODES[c] for c in params) + uleb(len(results)) + bytes(
            CODES[c] for c in results)
        if entry not in self.types:
            self.types.append(entry)
        return self.types.index(entry)


class Function:
    def __init__(self, module, number):
        self.m, self.rng, self.number = module, module.rng, number
        self.params, self.results = module.signatures[number]
        self.locals = list(self.params)  # the counters of loops are "c"
        for _ in range(self.rng.choice([2, 5, 12])):
            self.locals.append(self.rng.choice("iilfd"))
        self.code = bytearray()
        self.labels = []  # types that a branch to each carries, innermost last; None: nothing is to branch there
        self.budget = self.rng.choice([10, 30, 80])

    def chance(self, share):
        return self.rng.random() < share

    def wild(self):
        return self.chance(self.m.wild)

    def number_of(self, kind):
        bits = 32 if kind == "i" else 64
        value = self.rng.choice([0, 1, 2, 3, 4, 7, 8, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 0xFFFF, 0x8000, 0x10000,
                                 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 1 << (bits - 1), (1 << (bits - 1)) - 1, -1, -2, -128,
                                 -32768, -32769, self.rng.getrandbits(bits), 1 << self.rng.randrange(bits)])
        return signed(value, bits)

    def constant(self, kind):
        if kind == "i":
            self.code += b"\x41" + sleb(self.number_of(kind))
        elif kind == "l":
            self.code += b"\x42" + sleb(self.number_of(kind))
        else:
            size = 4 if kind == "f" else 8
            high = self.rng.choice([0, 0x3F800000, 0xBF800000, 0x80000000, 0x7F800000, 0x4F000000, 0xCF000000, 0x4F800000,
                                    0x3F000000, 0x40200000, 0x00000001, 0x7F7FFFFF] if kind == "f" else
                                   [0, 0x3FF00000, 0xBFF00000, 0x80000000, 0x7FF00000, 0x41E00000, 0xC1E00000, 0x41F00000,
                                    0x43E00000, 0x43F00000, 0x3FE00000, 0x40040000, 0x00000001, 0x7FEFFFFF])
            self.code += bytes([0x43 if kind == "f" else 0x44]) + (high << (8 * (size - 4))).to_bytes(size, "little")

    def pick_local(self, kind):
        found = [index for index, k in enumerate(self.locals) if k == kind]
        if found and (len(found) >= 3 or self.chance(0.8)):
            return self.rng.choice(found)
        self.locals.append(kind)
        return len(self.locals) - 1

    def get(self, index):
        self.code += b"\x20" + uleb(index)

    def leaf(self, kind):
        if self.chance(0.4):
            self.constant(kind)
        else:
            self.get(self.pick_local(kind))

    def op(self, name):
        self.code += BY_NAME[name][0]

    def bits(self, kind, depth):
        """A value whose bits are determined."""
        self.value(kind, depth)
        if kind in "il":
            return
        self.locals.append(kind)
        index = uleb(len(self.locals) - 1)
        self.code += b"\x22" + index
        self.code += b"\x43\x00\x00\xc0\x7f" if kind == "f" else b"\x44" + (0x7FF8 << 48).to_bytes(8, "little")
        self.code += b"\x20" + index + b"\x20" + index
        self.op("f32.eq" if kind == "f" else "f64.eq")
        self.code += b"\x1b"

    def narrow(self, depth):
        """An i32 of few bits, by way of something whose upper bits a generator may take for granted."""
        way = self.rng.randrange(8)
        if way == 0:
            self.value("l", depth)
            self.op("i32.wrap_i64")
        elif way == 1:
            self.value("i", depth)
            self.op(self.rng.choice(["i32.extend8_s", "i32.extend16_s"]))
        elif way == 2:
            self.value("i", depth)
            self.constant("i")
            self.op(self.rng.choice(["i32.shr_u", "i32.shr_s", "i32.and", "i32.rem_u", "i32.rotl"]))
        elif way == 3:
            self.grow(depth)
        elif way == 4:
            self.load("i", depth)
        elif way == 5:
            kind = self.rng.choice("ilfd")
            self.value(kind, depth)
            self.value(kind, depth)
            self.op(self.rng.choice(COMPARISONS[kind]))
        else:
            self.leaf("i")

    def grow(self, depth):
        if self.chance(0.5):
            index = self.rng.randrange(len(self.m.memories))
            wide = self.m.memories[index][0]
            if self.chance(0.5):
                self.code += b"\x3f" + uleb(index)
            else:
                self.code += (b"\x42" if wide else b"\x41") + sleb(self.rng.choice([0, 1, 1, 100, -1, -2]))
                self.code += b"\x40" + uleb(index)
        else:
            wide = self.m.long_table
            if self.chance(0.5):
                self.code += b"\xfc\x10\x00"
            else:
                self.reference()
                self.code += (b"\x42" if wide else b"\x41") + sleb(self.rng.choice([0, 1, 1, 1000, -1]))
                self.code += b"\xfc\x0f\x00"
        if wide:
            self.op("i32.wrap_i64")

    def reference(self):
        if self.chance(0.4):
            self.code += b"\xd0\x70"
        elif self.chance(0.5):
            self.table_index()
            self.code += b"\x25\x00"
        else:
            self.code += b"\xd2" + uleb(self.rng.randrange(self.m.count))

    def table_index(self):
        if self.chance(0.7):
            far = [self.m.table, -1] if self.wild() else []
            self.code += b"\x41" + sleb(self.rng.choice([0, 1 % self.m.table, self.m.table - 1] + far))
        elif not self.wild():
            self.narrow(0)
            self.code += b"\x41" + sleb(self.m.table)
            self.op("i32.rem_u")
        else:
            self.narrow(1)
        if self.m.long_table:
            self.op(self.rng.choice(["i64.extend_i32_u", "i64.extend_i32_s"]))

    def zero_index(self):
        self.code += b"\x42\x00" if self.m.long_table else b"\x41\x00"

    def address(self, size, aligned, depth):
        """Writes an address for an access of this size; gives the immediate that goes with it."""
        memory = self.rng.randrange(len(self.m.memories)) if self.chance(0.5) else 0
        wide, pages = self.m.memories[memory]
        if not self.wild():
            return memory, self.inside(memory, size, aligned, depth)
        end = pages * PAGE - size + self.rng.choice([0, 0, 0, 0, 1, -1, -4, -8, 2])
        target = self.rng.choice([end, end, self.rng.randrange(0, 64), 8 * self.rng.randrange(0, 5), 16])
        offset = self.rng.choice([0, 0, 1, 4, 8, 16, 100, max(target, 0), max(target - 1, 0), 65532, 0xFFFFFFFF, 0x7FFFFFFF,
                                  0x80000000] + ([0x100000000, 1 << 63] if wide else []))
        if self.chance(0.7) and offset > max(target, 0):
            offset = self.rng.choice([0, max(target, 0)])
        base = signed(target - offset, 64 if wide else 32)
        form = self.rng.randrange(7)
        number = lambda value: (b"\x42" if wide else b"\x41") + sleb(signed(value, 64 if wide else 32))
        add = "i64.add" if wide else "i32.add"
        if form <= 1:
            self.code += number(base)
        elif form == 2:
            self.get(self.pick_local("l" if wide else "i"))
        elif form == 3:  # constant and something small, scaled
            shift = self.rng.choice([0, 1, 2, 3, 4])
            mask = self.rng.choice([0, 1, 3, 7])
            self.narrow(depth)
            self.code += b"\x41" + sleb(mask)
            self.op("i32.and")
            if wide:
                self.op("i64.extend_i32_u")
            self.code += number(shift)
            self.op("i64.shl" if wide else "i32.shl")
            self.code += number(base - self.rng.choice([0, mask << shift]))
            self.op(add)
        elif form == 4:
            self.narrow(depth)
            if wide:
                self.op(self.rng.choice(["i64.extend_i32_u", "i64.extend_i32_s"]))
        elif form == 5:
            self.get(self.pick_local("l" if wide else "i"))
            self.code += number(self.rng.choice([0xFFFF, 0xFFF8, 0xFF, 0x10007]))
            self.op("i64.and" if wide else "i32.and")
        else:
            self.value("l" if wide else "i", depth)
            self.code += number(self.rng.choice([48, 16, 56]) if wide else self.rng.choice([16, 24, 15]))
            self.op("i64.shr_u" if wide else "i32.shr_u")
        return memory, offset

    def inside(self, memory, size, aligned, depth):
        """The same for an access that the memory has at its beginning."""
        wide, pages = self.m.memories[memory]
        shift = self.rng.choice([0, 0, 1, 2, 3, 4])
        mask = self.rng.choice([0, 1, 3, 7, 15, 255])
        if aligned:
            shift = size.bit_length() - 1
        spread = mask << shift
        target = self.rng.choice([max(pages * PAGE - size - spread, 0), 0, 8, 12, 64 * self.rng.randrange(6)])
        if aligned:
            target &= -size
        offset = self.rng.choice([0, 0, target, target // 2, max(target - 1, 0), max(target - 8, 0)])
        constant = (b"\x42" if wide else b"\x41") + sleb(target - offset)
        if self.chance(0.3):
            self.code += constant
            return offset
        first = self.chance(0.3)
        if first:
            self.code += constant
        self.narrow(depth)
        if self.chance(0.5):
            self.code += b"\x41" + sleb(mask)
            self.op("i32.and")
        else:
            self.code += b"\x41" + sleb(32 - mask.bit_length() if mask else 31)
            self.op("i32.shr_u")
            if not mask:
                self.code += b"\x41\x00"
                self.op("i32.and")
        if wide:
            self.op(self.rng.choice(["i64.extend_i32_u", "i64.extend_i32_s"]))
        kind = "i64" if wide else "i32"
        if shift or self.chance(0.2):
            multiply = self.chance(0.3)
            self.code += (b"\x42" if wide else b"\x41") + sleb(1 << shift if multiply else shift)
            self.op(f"{kind}.mul" if multiply else f"{kind}.shl")
        if not first and target == offset and self.chance(0.7):
            return offset
        if not first:
            self.code += constant
        self.op(f"{kind}.add")
        return offset

    def memarg(self, memory, offset, align):
        if memory:
            return uleb(align | 0x40) + uleb(memory) + uleb(offset)
        return uleb(align) + uleb(offset)

    def access(self, entry, operands, depth):
        name, data, _, size = entry
        log = size.bit_length() - 1
        memory, offset = self.address(size, "atomic" in name, depth)
        for kind in operands:
            self.bits(kind, depth)
        self.code += data + self.memarg(memory, offset, log if "atomic" in name else self.rng.choice([0, log]))

    def load(self, kind, depth):
        if self.chance(0.12) and kind in "il":
            entry = self.rng.choice(ATOMICS[kind])
            self.access(entry, entry[2][1:], depth - 1)
        else:
            self.access(self.rng.choice(LOADS[kind]), "", depth - 1)

    def value(self, kind, depth):
        self.budget -= 1
        if depth <= 0 or self.budget < 0:
            return self.leaf(kind)
        way = self.rng.random()
        if way < 0.17:
            self.leaf(kind)
        elif way < 0.34:
            self.load(kind, depth)
        elif way < 0.4 and kind == "i":
            self.narrow(depth - 1)
        elif way < 0.43:
            self.value(kind, depth - 1)
            self.value(kind, depth - 1)
            self.narrow(depth - 1)
            self.code += b"\x1b"
        elif way < 0.47:
            self.block(kind, depth - 1)
        elif way < 0.5:
            self.value(kind, depth - 1)
            self.code += b"\x22" + uleb(self.pick_local(kind))
        elif way < 0.53:
            index = self.rng.randrange(4)
            if self.m.globals[index] == kind:
                self.code += b"\x23" + uleb(index)
            else:
                self.leaf(kind)
        elif way < 0.57 and self.calls(kind, depth - 1):
            pass
        elif way < 0.6 and kind in "il":  # two shifts of one value
            name = "i32" if kind == "i" else "i64"
            for _ in range(2):
                self.value(kind, depth - 1)
                self.constant(kind) if self.chance(0.6) else self.value(kind, depth - 2)
                self.op(f"{name}.{self.rng.choice(['shl', 'shr_u', 'shr_s', 'rotl', 'rotr'])}")
            self.op(f"{name}.{self.rng.choice(['or', 'add', 'xor', 'and', 'sub'])}")
        elif way < 0.62 and kind != "i":
            self.narrow(depth - 1)
            name = {"l": "i64.extend_i32", "f": "f32.convert_i32", "d": "f64.convert_i32"}[kind]
            self.op(f"{name}_{self.rng.choice('us')}")
        else:
            name, data, params = self.rng.choice(PLAIN[kind])
            while re.search("div_|rem_|trunc_f", name) and kind in "il" and not self.wild():
                name, data, params = self.rng.choice(PLAIN[kind])
            for param in params:
                if any(user in name for user in BIT_USERS):
                    self.bits(param, depth - 1)
                else:
                    self.value(param, depth - 1)
            self.code += data

    def fuel(self):
        self.code += b"\x23\x04\x45\x04\x40\x00\x0b\x23\x04\x41\x01\x6b\x24\x04"

    def calls(self, kind, depth):
        """A call whose first result is of this kind; the others are dropped."""
        fit = [i for i, (params, results) in enumerate(self.m.signatures) if results[:1] == kind and len(params) < 8]
        if not fit or depth <= 0:
            return False
        index = self.rng.choice(fit)
        params, results = self.m.signatures[index]
        for param in params:
            self.value(param, depth - 1)
        entries = [i for i in range(self.m.table) if self.m.signatures[i % self.m.count] == self.m.signatures[index]]
        if self.chance(0.5) or (not entries and not self.wild()):
            self.code += b"\x10" + uleb(index)
        else:
            if entries and not self.wild():
                self.code += (b"\x42" if self.m.long_table else b"\x41") + sleb(self.rng.choice(entries))
            else:
                self.table_index()
            self.code += b"\x11" + uleb(self.m.type(params, results)) + b"\x00"
        self.code += b"\x1a" * (len(results) - 1)
        return True

    def block(self, results, depth):
        """A block that gives these values, some of them by a branch out of it."""
        takes = "".join(self.rng.choice("iilfd") for _ in range(self.rng.choice([0, 0, 1, 2])))
        for kind in takes:
            self.value(kind, depth)
        shape = self.rng.random()
        is_if = shape < 0.4
        if is_if:
            self.narrow(depth)
        self.code += bytes([0x04 if is_if else 0x02]) + sleb(self.m.type(takes, results))
        self.labels.append(results)
        for arm in range(2 if is_if else 1):
            if arm:
                self.code.append(0x05)
            for kind in reversed(takes):
                self.code += b"\x21" + uleb(self.pick_local(kind))
            for _ in range(self.rng.choice([0, 0, 1, 2])):
                self.statement(depth)
            for kind in results:
                self.value(kind, depth)
            if shape > 0.7:
                self.branch(results, depth)
        self.labels.pop()
        self.code.append(0x0B)

    def branch(self, carried, depth):
        """A branch with what is on the stack; it goes on behind it with the same there."""
        fit = [at for at, label in enumerate(reversed(self.labels)) if label == carried]
        if not fit:
            return
        if self.chance(0.6):
            self.narrow(depth)
            self.code += b"\x0d" + uleb(self.rng.choice(fit))
            return
        targets = [self.rng.choice(fit) for _ in range(self.rng.choice([0, 1, 3, 9]))]
        self.narrow(depth)
        self.code += b"\x0e" + uleb(len(targets)) + b"".join(uleb(t) for t in targets) + uleb(self.rng.choice(fit))

    def statement(self, depth):
        way = self.rng.random()
        if self.budget < 0:
            way = 0
        if way < 0.3:
            kind = self.rng.choice("iilfd")
            self.value(kind, depth)
            self.code += b"\x21" + uleb(self.pick_local(kind))
        elif way < 0.55:
            entry = self.rng.choice(STORES[""]) if self.chance(0.9) else self.rng.choice(ATOMICS[""])
            self.access(entry, entry[2][1:], depth - 1)
        elif way < 0.6:
            index = self.rng.randrange(4)
            self.value(self.m.globals[index], depth)
            self.code += b"\x24" + uleb(index)
        elif way < 0.66:  # a load for its trap only
            kind = self.rng.choice("ilfd")
            self.value(kind, depth)
            self.code += b"\x1a"
        elif way < 0.72:
            results = "".join(self.rng.choice("ilfd") for _ in range(self.rng.choice([0, 0, 1, 3])))
            self.block(results, depth - 1)
            for kind in reversed(results):
                self.code += b"\x21" + uleb(self.pick_local(kind))
        elif way < 0.78 and depth > 0:
            self.locals.append("c")
            counter = uleb(len(self.locals) - 1)
            if not self.wild():
                self.code += b"\x41" + sleb(self.rng.choice([1, 2, 3, 5])) + b"\x21" + counter
            self.code += b"\x03\x40"
            self.labels.append(None)
            self.fuel()
            for _ in range(self.rng.choice([1, 2, 3])):
                self.statement(depth - 1)
            if self.wild():
                self.narrow(1)
            else:
                self.code += b"\x20" + counter + b"\x41\x01\x6b\x22" + counter
            self.code += b"\x0d\x00\x0b"
            self.labels.pop()
        elif way < 0.86:
            self.bulk(depth)
        elif way < 0.9:
            self.table_index()
            self.reference()
            self.code += b"\x26\x00"
        elif way < 0.94:
            self.branch("", depth - 1)
        elif way < 0.96 and self.results is not None and self.chance(0.3):
            self.narrow(1)
            self.code += b"\x04\x40"
            self.labels.append(None)
            for kind in self.results:
                self.value(kind, 1)
            self.labels.pop()
            self.code += b"\x0f\x0b"
        else:
            self.grow(depth)
            self.code += b"\x21" + uleb(self.pick_local("i"))

    def bulk(self, depth):
        memory = self.rng.randrange(len(self.m.memories))
        wide, pages = self.m.memories[memory]

        def span(wide, length):
            far = [pages * PAGE - length + 1, pages * PAGE] if self.wild() else []
            at = self.rng.choice([0, max(pages * PAGE - length, 0)] + ([8, 100] if length < 1000 else []) + far)
            self.code += (b"\x42" if wide else b"\x41") + sleb(at)

        length = self.rng.choice([0, 1, 7, 8, 16, 33, 100, 65536])
        number = lambda wide: (b"\x42" if wide else b"\x41") + sleb(length)
        which = self.rng.randrange(5)
        if which == 0:
            span(wide, length)
            self.value("i", depth - 1)
            self.code += number(wide)
            self.code += b"\xfc\x0b" + uleb(memory)
        elif which == 1:
            other = self.rng.randrange(len(self.m.memories))
            span(wide, length)
            span(self.m.memories[other][0], length)
            self.code += number(wide and self.m.memories[other][0])
            self.code += b"\xfc\x0a" + uleb(memory) + uleb(other)
        elif which == 2:
            span(wide, length)
            length = length if self.wild() else min(length, len(self.m.data))
            self.code += b"\x41" + sleb(self.rng.choice([0, len(self.m.data) - length, 1][:3 if self.wild() else 2])) + number(False)
            self.code += b"\xfc\x08\x00" + uleb(memory)
        elif which == 3:
            for _ in range(2):
                self.table_index() if self.wild() else self.zero_index()
            self.code += (b"\x42" if self.m.long_table else b"\x41") + sleb(self.rng.choice([0, 1, 1, self.m.table]))
            self.code += b"\xfc\x0e\x00\x00"
        elif self.chance(0.1):
            self.code += b"\xfc\x09\x00"

    def body(self):
        self.fuel()
        self.labels.append(self.results)
        for _ in range(self.rng.choice([1, 3, 6, 12])):
            self.budget = max(self.budget, self.rng.choice([4, 10, 25]))
            self.statement(self.rng.choice([1, 2, 3, 4]))
        same = [i for i, (_, results) in enumerate(self.m.signatures) if results == self.results]
        if self.chance(0.15):
            index = self.rng.choice(same)
            for kind in self.m.signatures[index][0]:
                self.value(kind, 1)
            if self.chance(0.5):
                self.code += b"\x12" + uleb(index)
            else:
                self.table_index()
                self.code += b"\x13" + uleb(self.m.type(*self.m.signatures[index])) + b"\x00"
        else:
            for kind in self.results:
                self.value(kind, 3)
        own = self.locals[len(self.params):]
        out = uleb(len(own)) + b"".join(b"\x01" + bytes([CODES[kind]]) for kind in own) + bytes(self.code) + b"\x0b"
        return uleb(len(out)) + out


def section(number, items):
    body = uleb(len(items)) + b"".join(items)
    return bytes([number]) + uleb(len(body)) + body


def make_patterns(_tool, rng, path):
    module = Module(rng)
    indexes = [uleb(module.type(*signature)) for signature in module.signatures]
    bodies = [Function(module, i).body() for i in range(module.count)]
    name = lambda text: uleb(len(text)) + text.encode()
    exports = [name(f"f{i}") + b"\x00" + uleb(i) for i in range(module.count)]
    exports += [name(f"m{i}") + b"\x02" + uleb(i) for i in range(len(module.memories))]
    exports += [name("t") + b"\x01\x00", name("fuel!") + b"\x03\x04"] + [name(f"g{i}") + b"\x03" + uleb(i) for i in range(4)]
    zero = {"i": b"\x41\x07", "l": b"\x42\x79", "f": b"\x43\x00\x00\x80\x3f", "d": b"\x44" + bytes(6) + b"\xf0\xbf"}
    out = b"\0asm\1\0\0\0" + section(1, module.types) + section(3, indexes)
    out += section(4, [b"\x70" + (b"\x05" if module.long_table else b"\x01") + uleb(module.table) + uleb(module.table + 40)])
    out += section(5, [(b"\x05" if wide else b"\x01") + uleb(pages) + uleb(3) for wide, pages in module.memories])
    out += section(6, [bytes([CODES[k]]) + b"\x01" + zero[k] + b"\x0b" for k in module.globals] + [b"\x7f\x01\x41\xc8\x01\x0b"])
    out += section(7, exports)
    filled = [uleb(i % module.count) for i in range(rng.choice([module.table] * 5 + [0, module.table // 2]))]
    zero_index = b"\x42\x00" if module.long_table else b"\x41\x00"
    out += section(9, [b"\x00" + zero_index + b"\x0b" + uleb(len(filled)) + b"".join(filled),
                       b"\x03\x00" + uleb(module.count) + b"".join(uleb(i) for i in range(module.count))])
    out += section(12, [])[:-1] + b"\x01" + section(10, bodies)
    out += section(11, [b"\x01" + uleb(len(module.data)) + module.data])
    path.write_bytes(out)
    return True

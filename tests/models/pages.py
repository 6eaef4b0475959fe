# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memories of one-byte and usual pages, with addresses of 32 and 64 bits, several in a module: every kind of access at
their ends, with offsets that overflow; fill, copy between them, init, grow, size."""
from values import signed

LOADS = {"i32.load8_u": 1, "i32.load8_s": 1, "i32.load16_u": 2, "i32.load16_s": 2, "i32.load": 4, "i64.load": 8,
         "i64.load32_s": 4, "i64.load8_u": 1}
STORES = {"i32.store8": 1, "i32.store16": 2, "i32.store": 4, "i64.store": 8, "i64.store32": 4}
TRAP = "out of bounds memory access"


class Memory:
    def __init__(self, rng):
        self.wide = rng.random() < 0.4
        self.page = rng.choice([1, 1, 65536])
        self.pages = rng.choice([0, 1, 3, 7, 8, 9, 100, 4095, 4096, 4097, 65535, 65537] if self.page == 1 else [0, 1, 2])
        self.maximum = rng.choice([None, self.pages, self.pages + (70000 if self.page == 1 else 2)])
        self.data = bytearray(self.pages * self.page)
        self.type = "i64" if self.wide else "i32"
        self.bits = 64 if self.wide else 32

    def text(self):
        limits = f"{self.pages}" + ("" if self.maximum is None else f" {self.maximum}")
        return f"  (memory {self.type} {limits} (pagesize {self.page}))"

    def number(self, value):
        return f"({self.type}.const {signed(value, self.bits)})"


class Script:
    def __init__(self, rng):
        self.rng = rng
        self.memories = [Memory(rng) for _ in range(rng.choice([1, 2, 3]))]
        self.segment = rng.randbytes(rng.choice([0, 5, 40]))
        self.head = ["(module"] + [memory.text() for memory in self.memories]  # before they grow
        self.functions, self.commands = [], []

    def function(self, params, body, arguments, type, result):
        """Of a result of this type, if any; `result`: None for a trap, else what it gives as text. Half of the functions
        have their operands as constants."""
        name = f"f{len(self.functions)}"
        plain = self.rng.random() < 0.5
        for index, argument in enumerate(arguments):
            body = body.replace(f"${index}", argument if plain else f"(local.get {index})")
        given = f" (result {type})" if type else ""
        self.functions.append(f"  (func (export \"{name}\") (param {' '.join(params)}){given} {body})")
        call = f"(invoke \"{name}\" {' '.join(arguments)})"
        self.commands.append(f"(assert_trap {call} \"{TRAP}\")" if result is None else f"(assert_return {call} {result})")

    def access(self, index, memory):
        rng, data = self.rng, memory.data
        loads = rng.random() < 0.5
        name = rng.choice(list(LOADS if loads else STORES))
        size = (LOADS if loads else STORES)[name]
        target = rng.choice([len(data) - size, len(data) - size + 1, len(data) - size - 1, len(data), 0,
                             rng.randrange(len(data) + 1)])
        offset = rng.choice([0, 0, 1, 4, 16, 4096, 65536, len(data), max(len(data) - size, 0), 0xFFFFFFFF] +
                            ([1 << 40, (1 << 64) - 1] if memory.wide else []))
        base = (target - offset) % (1 << memory.bits)
        at = base + offset
        inside = at + size <= len(data)
        type, bits = name[:3], 32 if name[:3] == "i32" else 64
        if loads:
            value = int.from_bytes(data[at:at + size], "little")
            if name.endswith("_s"):
                value = signed(value, 8 * size)
            self.function([memory.type], f"({name} {index} offset={offset} $0)", [memory.number(base)], type,
                          f"({type}.const {signed(value, bits)})" if inside else None)
            return
        value = rng.getrandbits(bits)
        if inside:
            data[at:at + size] = (value & ((1 << 8 * size) - 1)).to_bytes(size, "little")
        self.function([memory.type, type], f"({name} {index} offset={offset} $0 $1)",
                      [memory.number(base), f"({type}.const {signed(value, bits)})"], "", "" if inside else None)

    def place(self, memory, length):
        size = len(memory.data)
        return self.rng.choice([0, size - length, size - length + 1, size, size + 1,
                                self.rng.randrange(size + 1)]) % (1 << memory.bits)

    def bulk(self, index, memory):
        rng, data = self.rng, memory.data
        length = rng.choice([0, 1, 3, 8, 17, 100, len(data), len(data) + 1, len(self.segment)])
        to = self.place(memory, length)
        what = rng.choice(["fill", "init", "copy"])
        inside = to + length <= len(data)
        if what == "fill":
            byte = rng.getrandbits(12)
            new = bytes([byte & 255]) * length
            self.function([memory.type, "i32", memory.type], f"(memory.fill {index} $0 $1 $2)",
                          [memory.number(to), f"(i32.const {byte})", memory.number(length)], "", "" if inside else None)
        elif what == "init":
            at = rng.choice([0, 1, len(self.segment), max(len(self.segment) - length, 0)])
            new = self.segment[at:at + length]
            inside &= at + length <= len(self.segment)
            self.function([memory.type, "i32", "i32"], f"(memory.init {index} 0 $0 $1 $2)",
                          [memory.number(to), f"(i32.const {at})", f"(i32.const {length})"], "", "" if inside else None)
        else:
            other_index = rng.randrange(len(self.memories))
            other = self.memories[other_index]
            at = self.place(other, length)
            new = bytes(other.data[at:at + length])
            inside &= at + length <= len(other.data)
            narrow = memory if not memory.wide else other
            self.function([memory.type, other.type, narrow.type], f"(memory.copy {index} {other_index} $0 $1 $2)",
                          [memory.number(to), other.number(at), narrow.number(length)], "", "" if inside else None)
        if inside:
            data[to:to + length] = new

    def grow(self, index, memory):
        by = self.rng.choice([0, 1, 5, 4096, 70000, -1] if memory.page == 1 else [0, 1, -1]) % (1 << memory.bits)
        pages = len(memory.data) // memory.page
        grown = by < 1 << 20 and (memory.maximum is None or pages + by <= memory.maximum)
        if grown:
            memory.data += bytes(by * memory.page)
        self.function([memory.type], f"(memory.grow {index} $0)", [memory.number(by)], memory.type,
                      memory.number(pages if grown else -1))

    def text(self):
        for _ in range(60):
            index = self.rng.randrange(len(self.memories))
            memory = self.memories[index]
            way = self.rng.random()
            if way < 0.6:
                self.access(index, memory)
            elif way < 0.85:
                self.bulk(index, memory)
            elif way < 0.95:
                self.grow(index, memory)
            else:
                self.function([], f"(memory.size {index})", [], memory.type,
                              memory.number(len(memory.data) // memory.page))
        data = "".join(f"\\{byte:02x}" for byte in self.segment)
        return "\n".join(self.head + [f"  (data \"{data}\")"] + self.functions + [")"] + self.commands) + "\n"


def make(rng):
    return Script(rng).text()

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""i64.add128, sub128 and mul_wide among other arithmetic: chains, unused halves, equal and constant operands."""
from values import MASK, signed

PLAIN = {"add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "and": lambda a, b: a & b,
         "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b, "shr_u": lambda a, b: a >> (b & 63),
         "shl": lambda a, b: a << (b & 63), "lt_u": lambda a, b: int(a < b)}
WIDE = {"add128": lambda a, b, c, d: (a | b << 64) + (c | d << 64), "sub128": lambda a, b, c, d: (a | b << 64) - (c | d << 64),
        "mul_wide_s": lambda a, b: signed(a) * signed(b), "mul_wide_u": lambda a, b: a * b}


def number(rng):
    return rng.choice([0, 1, 2, MASK, MASK - 1, 1 << 63, (1 << 63) - 1, 0xFFFFFFFF, 1 << 32, rng.getrandbits(32),
                       rng.getrandbits(64)])


class Function:
    def __init__(self, rng, name):
        self.name = name
        self.params = count = rng.choice([2, 4, 6])
        self.steps = []  # (operation, operands, which halves are kept, local of the first result)
        for _ in range(rng.choice([1, 2, 4, 8])):
            wide = rng.random() < 0.7
            operation = rng.choice(list(WIDE if wide else PLAIN))
            operands = [("const", number(rng)) if rng.random() < 0.3 else ("local", rng.randrange(count))
                        for _ in range(4 if operation.endswith("128") else 2)]
            if rng.random() < 0.2:
                operands[1] = operands[0]
            self.steps.append((operation, operands, rng.choice(["both", "both", "low", "high"]), count))
            count += 2 if wide else 1
        self.locals = count
        self.results = [count - 1] + [rng.randrange(count) for _ in range(rng.choice([0, 1, 3]))]

    def text(self):
        lines = [f"  (func (export \"{self.name}\") (param{' i64' * self.params}) (result{' i64' * len(self.results)})"
                 f" (local{' i64' * (self.locals - self.params)})"]
        for operation, operands, kept, first in self.steps:
            lines += [f"    local.get {value}" if kind == "local" else
                      f"    i64.const {signed(value)}" for kind, value in operands]
            lines.append(f"    i64.{operation}")
            if operation == "lt_u":
                lines.append("    i64.extend_i32_u")
            if operation in WIDE:
                lines.append("    drop" if kept == "low" else f"    local.set {first + 1}")
            lines.append("    drop" if kept == "high" and operation in WIDE else f"    local.set {first}")
        return "\n".join(lines + [f"    local.get {result}" for result in self.results]) + ")"

    def call(self, arguments):
        values = arguments + [0] * (self.locals - self.params)
        for operation, operands, kept, first in self.steps:
            taken = [value if kind == "const" else values[value] for kind, value in operands]
            result = (WIDE.get(operation) or PLAIN.get(operation))(*taken) & ((1 << 128) - 1)
            if operation in PLAIN or kept != "high":
                values[first] = result & MASK
            if operation in WIDE and kept != "low":
                values[first + 1] = result >> 64
        return [values[result] for result in self.results]


def make(rng):
    functions = [Function(rng, f"f{i}") for i in range(20)]
    lines = ["(module"] + [function.text() for function in functions] + [")"]
    show = lambda values: " ".join(f"(i64.const {signed(value)})" for value in values)
    for function in functions:
        for _ in range(4):
            arguments = [number(rng) for _ in range(function.params)]
            lines.append(f"(assert_return (invoke \"{function.name}\" {show(arguments)}) {show(function.call(arguments))})")
    return "\n".join(lines) + "\n"

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A chain of functions, each calling the next one in one of all ways with its own parameters in another order and number;
the last one stores what it got, the first caller the results."""
from values import SIZE, TYPES, constant, random_value

WAYS = ("call", "return_call", "call_indirect", "return_call_indirect", "call_ref", "return_call_ref", "try")
RESULTS_AT = 8192


def store_all(types, at):
    """Stores the first locals, which are of these types, one behind the other."""
    lines = []
    for index, type in enumerate(types):
        lines.append(f"    i32.const 0 local.get {index} {type}.store offset={at}")
        at += SIZE[type]
    return lines


class Chain:
    def __init__(self, rng):
        self.rng = rng
        types = rng.choice([TYPES, TYPES, ["i32"], ["f64", "i32"], ["v128", "i64"], ["i64", "f32", "i32"]])
        self.signatures = [[rng.choice(types) for _ in range(rng.choice([0, 1, 3, 6, 7, 9, 14, 20, 60, 200]))]
                           for _ in range(rng.choice([2, 4, 7]))]
        self.results = [rng.choice(TYPES) for _ in range(rng.choice([0, 1, 2, 5, 12, 40]))]

    def pick(self, wanted, types, values):
        """Instructions that push values of these types, most of them locals, and the values."""
        lines, picked = [], []
        for type in wanted:
            fit = [index for index, other in enumerate(types) if other == type]
            if fit and self.rng.random() < 0.85:
                index = self.rng.choice(fit)
                lines.append(f"    local.get {index}")
                picked.append(values[index])
            else:
                picked.append(random_value(self.rng, type))
                lines.append(f"    {constant(type, picked[-1])}")
        return lines, picked

    def call_next(self, way, next):
        if way == "try":
            return [f"    call $f{next}", "    end", "    return", "    end", "    unreachable"]
        if way.endswith("indirect"):
            return [f"    i32.const {next}", f"    {way} (type $s{next})"]
        if way.endswith("ref"):
            return [f"    ref.func $f{next}", f"    {way} $s{next}"]
        return [f"    {way} $f{next}"]

    def text(self):
        results = " ".join(self.results)
        last = len(self.signatures) - 1
        lines = ["(module", "  (memory 1)", "  (tag $e (param i32))", f"  (type $none (func (result {results})))"]
        lines += [f"  (type $s{i} (func (param {' '.join(types)}) (result {results})))"
                  for i, types in enumerate(self.signatures)]
        lines.append(f"  (table funcref (elem {' '.join(f'$f{i}' for i in range(last + 1))}))")
        start, values = self.pick(self.signatures[0], [], [])
        for i, types in enumerate(self.signatures):
            lines.append(f"  (func $f{i} (type $s{i})")
            if i == last:
                given, returned = self.pick(self.results, types, values)
                lines += store_all(types, 0) + given
            else:
                way = self.rng.choice(WAYS)
                if way == "try":
                    lines += ["    block $h (result i32)", "    try_table (type $none) (catch $e $h)"]
                given, values_next = self.pick(self.signatures[i + 1], types, values)
                lines += given + self.call_next(way, i + 1)
                values = values_next
            lines.append("  )")
        lines.append(f"  (func (export \"run\") (local {results})")
        lines += start + ["    call $f0"] + [f"    local.set {i}" for i in reversed(range(len(self.results)))]
        lines += store_all(self.results, RESULTS_AT)
        lines += ["  )", "  (func (export \"word\") (param i32) (result i64) (i64.load (local.get 0))))",
                  "(assert_return (invoke \"run\"))"]
        return lines, values, returned


def words(at, types, values):
    data = b"".join(value.to_bytes(SIZE[type], "little") for type, value in zip(types, values))
    data += bytes(-len(data) % 8)
    return [f"(assert_return (invoke \"word\" (i32.const {at + i})) (i64.const {int.from_bytes(data[i:i + 8], 'little')}))"
            for i in range(0, len(data), 8)]


def make(rng):
    chain = Chain(rng)
    lines, values, returned = chain.text()
    lines += words(0, chain.signatures[-1], values) + words(RESULTS_AT, chain.results, returned)
    return "\n".join(lines) + "\n"

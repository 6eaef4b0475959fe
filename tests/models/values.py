# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers and vectors as the models hold them: their bits, as one natural number."""
MASK = (1 << 64) - 1
TYPES = ("i32", "i64", "f32", "f64", "v128")
SIZE = {"i32": 4, "i64": 8, "f32": 4, "f64": 8, "v128": 16}


def signed(value, bits=64):
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def random_value(rng, type):
    """Floats are numbers, so that their bits are determined wherever they go."""
    return rng.getrandbits({"f32": 30, "f64": 62}.get(type, SIZE[type] * 8))


def constant(type, value):
    """As plain instructions."""
    if type in ("f32", "f64"):
        bits = "i32" if type == "f32" else "i64"
        return f"{bits}.const {value} {type}.reinterpret_{bits}"
    if type == "v128":
        return f"v128.const i64x2 {value & MASK} {value >> 64}"
    return f"{type}.const {value}"

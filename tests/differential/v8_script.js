// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Turns modules into test scripts that say what V8 answers: FILE.wasm becomes FILE.wast, which
// `hoist wast` (or another engine) runs without the driver.
//
//   node --experimental-wasm-type-reflection v8_script.js [--rounds N] FILE...
//
// What a module imports comes from a module that is made for it here: functions return constants,
// globals, tables and memories are as declared. Vectors and exception references can't be passed
// from JavaScript: exports with them are called from inside only. Assumes run.py's names of imports.
"use strict";
const fs = require("fs");

const kI32 = [0, 1, -1, -0x80000000, 0x7fffffff, 2, 31, 32, 33, 0xff, 0x8000, 65535, 65536, 65532, 0x12345678, 100];
const kReal = [0, -0, 1, -1, Infinity, -Infinity, NaN, 1.401298464324817e-45, 0.5, 2.5, -2.5, 2147483648, -2147483904,
  4294967296, 9223372036854775808, -9223372036854775808, 18446744073709551616, 100, 3.4028234663852886e38, 0.25];
const kTypeByte = { i32: 0x7f, i64: 0x7e, f32: 0x7d, f64: 0x7c, v128: 0x7b, funcref: 0x70, externref: 0x6f, exnref: 0x69 };
const kKind = { function: 0, table: 1, memory: 2, global: 3, tag: 4 };
const kHidden = ["v128", "exnref"];

function mix(a, b, c) {
  let h = Math.imul(a + 0x9e3779b1, 0x85ebca77);
  h ^= Math.imul(b + 0x7f4a7c15, 0xc2b2ae3d);
  h = Math.imul((h ^ (h >>> 15)) + c, 0x2c1b3c6d);
  h = Math.imul(h ^ (h >>> 12), 0x297a2d39);
  return (h ^ (h >>> 15)) >>> 0;
}
function leb(value, signed) {
  const out = [];
  for (let rest = BigInt(value); ;) {
    const byte = Number(rest & 0x7fn);
    rest >>= 7n;
    const done = signed ? (rest === 0n && byte < 64) || (rest === -1n && byte >= 64) : rest === 0n;
    out.push(done ? byte : byte | 0x80);
    if (done) return out;
  }
}
const sized = (list) => [...leb(list.length), ...list];
const vector = (items) => [...leb(items.length), ...items.flat()];
const bytesOfFloat = (value, wide) => {
  const view = new DataView(new ArrayBuffer(8));
  if (wide) view.setFloat64(0, value, true);
  else view.setFloat32(0, value, true);
  return Array.from({ length: wide ? 8 : 4 }, (_, i) => view.getUint8(i));
};

function argument(type, a, b, c) {
  const pick = mix(a, b, c), plain = pick % 4 !== 0, more = mix(pick, 1, 0);
  switch (type) {
    case "i32": return plain ? kI32[more % kI32.length] : more | 0;
    case "i64": return plain ? BigInt(kI32[more % kI32.length]) : BigInt.asIntN(64, (BigInt(more) << 32n) | BigInt(pick));
    case "f32": return plain ? Math.fround(kReal[more % kReal.length]) : Math.fround(more / 1000);
    case "f64": return plain ? kReal[more % kReal.length] : more / 1000;
  }
  return null;
}
function constant(type, value, salt) {
  switch (type) {
    case "i32": return [0x41, ...leb(value, true)];
    case "i64": return [0x42, ...leb(value, true)];
    case "f32": return [0x43, ...bytesOfFloat(value, false)];
    case "f64": return [0x44, ...bytesOfFloat(value, true)];
    case "v128": return [0xfd, 12, ...Array.from({ length: 16 }, (_, i) => mix(salt, i, 3) & 0xff)];
  }
  return [0xd0, kTypeByte[type]];
}
const limits = (type) => {
  const flags = (type.maximum === undefined ? 0 : 1) | (type.shared ? 2 : 0) | (type.address === "i64" ? 4 : 0);
  return [flags, ...leb(type.minimum), ...(type.maximum === undefined ? [] : leb(type.maximum))];
};

/** The bytes of a module that exports what the other one imports. */
function provider(wanted) {
  const types = [], parts = { function: [], table: [], memory: [], global: [], tag: [] }, code = [], names = [];
  wanted.forEach(({ name, kind, type }, index) => {
    const bytes = [...Buffer.from(name)];
    names.push([...sized(bytes), kKind[kind], ...leb(parts[kind].length)]);
    if (kind === "function" || kind === "tag") {
      const parameters = kind === "tag" ? name.split(":")[1].split(",").filter((part) => part) : type.parameters;
      const results = kind === "tag" ? [] : type.results;
      types.push([0x60, ...vector(parameters.map((part) => [kTypeByte[part]])), ...vector(results.map((part) => [kTypeByte[part]]))]);
      parts[kind].push([...(kind === "tag" ? [0] : []), ...leb(types.length - 1)]);
      if (kind === "function") {
        code.push(sized([0, ...results.flatMap((part, i) => constant(part, argument(part, index, i, 11), index)), 0x0b]));
      }
    } else if (kind === "table") {
      parts.table.push([kTypeByte[type.element], ...limits(type)]);
    } else if (kind === "memory") {
      parts.memory.push(limits(type));
    } else {
      parts.global.push([kTypeByte[type.value], type.mutable ? 1 : 0, ...constant(type.value, argument(type.value, index, 0, 13), index), 0x0b]);
    }
  });
  const sections = [[1, types], [3, parts.function], [4, parts.table], [5, parts.memory], [13, parts.tag], [6, parts.global],
    [7, names], [10, code]];
  return Uint8Array.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0,
    ...sections.flatMap(([id, items]) => (items.length ? [id, ...sized(vector(items))] : []))]);
}

const quoted = (bytes) => `"${Array.from(bytes, (byte) => "\\" + byte.toString(16).padStart(2, "0")).join("")}"`;
const quotedName = (name) => (/^[\w!]*$/.test(name) ? `"${name}"` : quoted(Buffer.from(name)));
const real = (value) => (Object.is(value, -0) ? "-0" : Number.isNaN(value) ? "nan" : String(value).replace("Infinity", "inf"));
function text(type, value) {
  switch (type) {
    case "i32": return `(i32.const ${value | 0})`;
    case "i64": return `(i64.const ${value})`;
    case "f32":
    case "f64": return `(${type}.const ${real(value)})`;
    case "funcref": return value === null ? "(ref.null func)" : "(ref.func)";
    case "externref": return value === null ? "(ref.null extern)" : "(ref.extern)";
  }
  return "";
}
// Whether an access that is neither aligned nor in bounds is the one or the other is open.
const kTraps = [[/^unreachable/, "unreachable"], [/divide result/, "integer overflow"], [/by zero/, "integer divide by zero"]];

function script(file, rounds) {
  const data = fs.readFileSync(file), module = new WebAssembly.Module(data);
  const wanted = WebAssembly.Module.imports(module), out = [";; What V8 answers.", ""], bytes = provider(wanted);
  const exports = WebAssembly.Module.exports(module);
  for (let round = 0; round < rounds; ++round) {
    const other = new WebAssembly.Instance(new WebAssembly.Module(bytes));
    if (wanted.length) out.push(`(module $m binary ${quoted(bytes)})`, `(register "m" $m)`);
    let instance;
    const binary = `(module $it binary ${quoted(data)})`;
    try {
      instance = new WebAssembly.Instance(module, { m: other.exports });
    } catch (error) {
      if (error instanceof WebAssembly.LinkError || error instanceof RangeError) throw new Error(`skip: ${error.message}`);
      if (error instanceof WebAssembly.RuntimeError) out.push(`(assert_trap ${binary.replace("$it ", "")} "")`);
      return out;
    }
    out.push(binary, `(register "it" $it)`);
    const fuel = exports.find(({ name }) => name === "fuel!");
    if (fuel) out.push(`(module $fuel (import "it" "fuel!" (global $g (mut i32))) (func (export "reset") (global.set $g (i32.const 1000))))`);
    const limit = exports.find(({ name }) => name === "hangLimitInitializer");
    exports.forEach(({ name, kind, type }, index) => {
      if (out.ended || kind !== "function" || [...type.parameters, ...type.results].some((part) => kHidden.includes(part))) return;
      if (fuel) {
        instance.exports["fuel!"].value = 1000;
        out.push(`(invoke $fuel "reset")`);
      }
      if (limit) {
        instance.exports.hangLimitInitializer();
        out.push(`(invoke $it "hangLimitInitializer")`);
      }
      const args = type.parameters.map((part, i) => (part.endsWith("ref") ? null : argument(part, index, round, i)));
      const call = `(invoke $it ${quotedName(name)}${type.parameters.map((part, i) => ` ${text(part, args[i])}`).join("")})`;
      try {
        const result = instance.exports[name](...args);
        const results = type.results.length === 1 ? [result] : type.results.length === 0 ? [] : result;
        // JavaScript cannot tell NaNs apart, and no script can say "some NaN".
        if (results.some((value) => Number.isNaN(value))) out.push(call);
        else out.push(`(assert_return ${call}${type.results.map((part, i) => ` ${text(part, results[i])}`).join("")})`);
      } catch (error) {
        if (error instanceof RangeError) out.ended = true; // frames differ in size
        else if (error instanceof WebAssembly.Exception) out.push(`(assert_exception ${call})`);
        else if (!(error instanceof WebAssembly.RuntimeError)) throw new Error(`skip: ${error}`);
        else out.push(`(assert_trap ${call} "${(kTraps.find(([pattern]) => pattern.test(error.message)) ?? [0, ""])[1]}")`);
      }
    });
    if (out.ended) return out;
    for (const { name, kind, type } of exports) {
      const item = instance.exports[name];
      if (kind === "global" && name !== "fuel!" && !kHidden.includes(type.value) && !Number.isNaN(item.value)) {
        out.push(`(assert_return (get $it ${quotedName(name)}) ${text(type.value, item.value)})`);
      } else if (kind === "memory" && item.buffer.byteLength < 4 << 20) {
        let hash = 0;
        for (const word of new Int32Array(item.buffer)) hash = (Math.imul(hash, 31) + word) | 0;
        const wide = type.address === "i64", index = wide ? "i64" : "i32", unit = wide ? "i64.const" : "i32.const";
        out.push(`(module $hash (import "it" ${quotedName(name)} (memory ${wide ? "i64 " : ""}0${type.shared ? ` ${type.maximum} shared` : type.maximum === undefined ? "" : ` ${type.maximum}`}))`,
          `  (func (export "hash") (result i32) (local $at ${index}) (local $hash i32)`,
          `    (block $end (loop $next (br_if $end (${index}.ge_u (local.get $at) (${index}.mul (memory.size) (${unit} 65536))))`,
          `      (local.set $hash (i32.add (i32.mul (local.get $hash) (i32.const 31)) (i32.load (local.get $at))))`,
          `      (local.set $at (${index}.add (local.get $at) (${unit} 4))) (br $next))) (local.get $hash)))`,
          `(assert_return (invoke $hash "hash") (i32.const ${hash}))`);
      }
    }
  }
  return out;
}

const files = process.argv.slice(2);
const rounds = files[0] === "--rounds" ? Number(files.splice(0, 2)[1]) : 2;
for (const file of files) {
  try {
    fs.writeFileSync(file.replace(/\.wasm$/, ".wast"), script(file, rounds).join("\n") + "\n");
  } catch (error) {
    console.log(`${file}: ${error.message}`);
  }
}

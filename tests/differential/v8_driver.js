// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs modules on V8 the way driver.cpp runs them on Hoist, and prints the same text. The numbers
// made here are made alike there, line by line.
//
//   node --experimental-wasm-type-reflection v8_driver.js FILE...
"use strict";
const fs = require("fs");

const kRounds = 4, kMaxHostLines = 500, kMaxDepth = 2, kFuel = 1000;
const kI32 = [0, 1, 0xffffffff, 0x80000000, 0x7fffffff, 2, 31, 32, 33, 0xff, 0x80, 0xffff, 0x8000, 0xffffff80,
  0xffff8000, 65535, 65536, 65532, 0x12345678, 10, 3, 0xfffffffe, 0x00010001, 100];
const kF32 = [0, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x00000001, 0x80000001,
  0x007fffff, 0x00800000, 0x7f7fffff, 0x4f000000, 0xcf000000, 0x4f800000, 0x5f000000, 0x5f800000, 0xdf000000,
  0x3f000000, 0x40200000, 0xc0200000, 0x4effffff, 0x42c80000, 0x3eaaaaab];
const kF64 = [0, 0x80000000, 0x3ff00000, 0xbff00000, 0x7ff00000, 0xfff00000, 0x7ff80000, 0x00000001, 0x80000001,
  0x000fffff, 0x00100000, 0x7fefffff, 0x41e00000, 0xc1e00000, 0x41f00000, 0x43e00000, 0x43f00000, 0xc3e00000,
  0x3fe00000, 0x40040000, 0xc0040000, 0x41dfffff, 0x40590000, 0x3fd55555];

function mix(a, b, c) {
  let h = Math.imul(a + 0x9e3779b1, 0x85ebca77);
  h ^= Math.imul(b + 0x7f4a7c15, 0xc2b2ae3d);
  h ^= h >>> 15;
  h = Math.imul(h + c, 0x2c1b3c6d);
  h ^= h >>> 12;
  h = Math.imul(h, 0x297a2d39);
  return (h ^ (h >>> 15)) >>> 0;
}

const scratch = new DataView(new ArrayBuffer(8));
const externs = Array.from({ length: 25 }, (_, i) => ({ id: i }));
const join = (high, low) => (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);

const canonical = (value) => (Number.isNaN(value) ? NaN : value);

const signature = ({ parameters, results }) => `${parameters}>${results}`;

// JavaScript has no values of these: what has one in its type is left alone on both sides.
const kHidden = ["v128", "exnref"];
const isHidden = ({ kind, type }) => kind === "global" ? kHidden.includes(type.value)
  : kind === "table" ? kHidden.includes(type.element)
  : kind === "function" && [...type.parameters, ...type.results].some((value) => kHidden.includes(value));

// Sizes and indexes of 64-bit memories and tables are BigInts.
const sized = (type, number) => (type.address === "i64" ? BigInt(number) : Number(number));

// Modules made here: each text is bytes, and a list stands for its length and its contents.
const bytesOf = (list) => list.flatMap((item) => (Array.isArray(item) ? [bytesOf(item).length, ...bytesOf(item)] : [item]));
const makeModule = (...sections) => new WebAssembly.Module(new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, ...bytesOf(sections.flat())]));
const kTypeByte = { i32: 0x7f, i64: 0x7e, f32: 0x7d, f64: 0x7c, v128: 0x7b, funcref: 0x70, externref: 0x6f, exnref: 0x69 };
const typeByte = (type) => {
  if (!(type in kTypeByte)) throw new Error(`skip: an import's type ${type}`);
  return kTypeByte[type];
};

// What a host function fails with is a trap, which handlers of exceptions let pass, unlike what JavaScript throws.
const unreachable = new WebAssembly.Instance(makeModule([1, [1, 0x60, 0, 0]], [3, [1, 0]], [7, [1, [0x74], 0, 0]],
  [10, [1, [0, 0, 0x0b]]])).exports.t;
function hostError() {
  try {
    unreachable();
  } catch (error) {
    error.isHostError = true;
    throw error;
  }
}
// A host function of types that JavaScript cannot hold: fails.
const failingFunction = ({ parameters, results }) => new WebAssembly.Instance(makeModule(
  [1, [2, 0x60, 0, 0, 0x60, parameters.map(typeByte), results.map(typeByte)]], [2, [1, [0x6d], [0x68], 0, 0]], [3, [1, 1]],
  [7, [1, [0x66], 0, 1]], [10, [1, [0, 0x10, 0, 0, 0x0b]]]), { m: { h: hostError } }).exports.f;
const vectorGlobal = (mutable) => new WebAssembly.Instance(makeModule(
  [6, [1, 0x7b, mutable ? 1 : 0, 0xfd, 12, ...Array(16).fill(0), 0x0b]], [7, [1, [0x67], 3, 0]])).exports.g;

function showOne(type, value) {
  switch (type) {
    case "i32": return `i32:${value | 0}`;
    case "i64": return `i64:${BigInt.asIntN(64, value)}`;
    case "f32":
      if (Number.isNaN(value)) return "f32:nan";
      scratch.setFloat32(0, value);
      return `f32:${scratch.getUint32(0).toString(16).padStart(8, "0")}`;
    case "f64":
      if (Number.isNaN(value)) return "f64:nan";
      scratch.setFloat64(0, value);
      return `f64:${scratch.getBigUint64(0).toString(16).padStart(16, "0")}`;
    case "funcref": return value === null ? "func:null" : "func";
    case "externref": return value === null ? "extern:null" : `extern:${value.id}`;
  }
  throw new Error(`type ${type}`);
}
const show = (types, values) => types.map((type, i) => ` ${showOne(type, values[i])}`).join("");

const kTraps = [
  [/^unreachable/, "unreachable"], [/memory access out of bounds|data segment.* out of bounds/, "memory"],
  [/table (index|access|segment)?.*out of bounds|element segment.* out of bounds/, "table"],
  [/null function or function signature|signature mismatch/, "indirect"], [/dereferencing a null/, "null"],
  [/unrepresentable in integer range/, "convert"], [/divide result unrepresentable/, "overflow"],
  [/(divide|remainder) by zero/, "divide"], [/rethrowing null|null reference/, "null"],
  [/unaligned/, "unaligned"],
];
function showTrap(error) {
  if (error?.isHostError) return "trap host";
  if (error instanceof RangeError && /call stack/.test(error.message)) return "trap stack";
  if (error instanceof WebAssembly.RuntimeError) {
    for (const [pattern, name] of kTraps) if (pattern.test(error.message)) return `trap ${name}`;
  }
  return `error ${error}`;
}

class Session {
  constructor(out) {
    this.out = out;
    this.exports = [];
    this.functions = [];
    this.signatures = []; // of the functions
    this.tags = []; // with the types of what they carry
    this.resets = [];
    this.fuel = [];
    this.hostCalls = 0;
    this.depth = 0;
  }
  value(type, a, b, c) {
    const pick = mix(a, b, c), more = mix(pick, 1, 0), at = (pick >>> 8) % 24, plain = pick % 4 !== 0;
    switch (type) {
      case "i32": return (plain ? kI32[at] : more) | 0;
      case "i64":
        if (!plain) return BigInt.asIntN(64, join(more, mix(more, 2, 0)));
        return BigInt.asIntN(64, join(more % 3 === 0 ? 0 : kI32[more % 24], kI32[at]));
      case "f32":
        scratch.setUint32(0, plain ? kF32[at] : more);
        return canonical(scratch.getFloat32(0));
      case "f64":
        scratch.setBigUint64(0, join(plain ? kF64[at] : more, plain && more % 2 === 0 ? 0 : mix(more, 3, 0)));
        return canonical(scratch.getFloat64(0));
      case "funcref":
        return plain || this.functions.length === 0 ? null : this.functions[more % this.functions.length];
      case "externref": return more % 4 === 0 ? null : externs[1 + at];
    }
    throw new Error(`type ${type}`);
  }
  showError(error) {
    if (!(error instanceof WebAssembly.Exception)) return showTrap(error);
    const at = this.tags.findIndex(({ tag }) => error.is(tag));
    if (at < 0) return "exception";
    const { tag, parameters } = this.tags[at];
    const payload = parameters.map((type, i) => (kHidden.includes(type) ? " ?" : ` ${showOne(type, error.getArg(tag, i))}`));
    return `exception ${at}${payload.join("")}`;
  }
  addTag(tag) {
    this.tags.push({ tag, parameters: tag.type().parameters });
  }
  static zero(type) {
    return type === "i64" ? 0n : type.endsWith("ref") ? null : 0;
  }
  disturb(choice) {
    if (this.exports.length === 0) return;
    const more = mix(choice, 5, 0), index = more % this.exports.length;
    const { kind, type, item } = this.exports[index];
    if (isHidden(this.exports[index])) return;
    if (kind === "memory") {
      const view = new Uint8Array(item.buffer);
      if (more % 5 === 0) {
        if (view.length < 40 * 65536) try { item.grow(sized(type, 1)); } catch { /* at its maximum */ }
      } else if (view.length >= 1024) {
        view[more % 1024] = choice & 0xff;
      }
    } else if (kind === "table") {
      const value = this.value(type.element, choice, 6, 0);
      if (more % 5 === 0) {
        if (item.length < 2000) try { item.grow(sized(type, 1), value); } catch { /* at its maximum */ }
      } else if (item.length > 0) {
        item.set(sized(type, more % Number(item.length)), value);
      }
    } else if (kind === "global") {
      if (type.mutable) item.value = this.value(type.value, choice, 7, 0);
    } else if (kind === "function") {
      if (this.depth < kMaxDepth) this.call(index, 1);
    }
  }
  host(index, type, args) {
    const number = this.hostCalls++;
    if (number < kMaxHostLines) this.out.push(`  host ${index}${show(type.parameters, args)}`);
    const choice = mix(number, index, 9);
    if (choice % 61 === 0) hostError();
    if (choice % 61 === 1 && this.tags.length > 0) {
      const { tag, parameters } = this.tags[(choice >>> 8) % this.tags.length];
      if (!parameters.some((part) => kHidden.includes(part))) {
        throw new WebAssembly.Exception(tag, parameters.map((part, i) => this.value(part, number, i, 12)));
      }
    }
    if (choice % 3 === 0) this.disturb(choice);
    const results = type.results.map((result, i) => this.value(result, number, i, 11));
    return results.length === 0 ? undefined : results.length === 1 ? results[0] : results;
  }
  makeImport({ name, kind, type }, index) {
    switch (kind) {
      case "function":
        if (isHidden({ kind, type })) return failingFunction(type);
        return (...args) => this.host(index, type, args);
      case "table": {
        const descriptor = { element: type.element === "funcref" ? "anyfunc" : type.element, address: type.address };
        if (type.element === "exnref") throw new Error("skip: a table of exnref");
        descriptor.initial = sized(type, type.minimum);
        if (type.maximum !== undefined) descriptor.maximum = sized(type, type.maximum);
        return new WebAssembly.Table(descriptor, null);
      }
      case "memory": {
        const descriptor = { initial: sized(type, type.minimum), address: type.address, shared: type.shared };
        if (type.maximum !== undefined) descriptor.maximum = sized(type, type.maximum);
        return new WebAssembly.Memory(descriptor);
      }
      case "global":
        if (type.value === "v128") return vectorGlobal(type.mutable);
        if (type.value === "exnref") throw new Error("skip: a global of exnref");
        return new WebAssembly.Global({ value: type.value === "funcref" ? "anyfunc" : type.value,
          mutable: type.mutable }, this.value(type.value, index, 0, 13));
      case "tag": {
        const parameters = name.split(":")[1].split(",").filter((part) => part !== ""); // run.py wrote them there
        const tag = new WebAssembly.Tag({ parameters });
        this.addTag(tag);
        return tag;
      }
    }
    throw new Error(`import of kind ${kind}`);
  }
  call(index, round) {
    const { type, item } = this.exports[index];
    const args = type.parameters.map((param, i) =>
      round === 0 ? Session.zero(param) : this.value(param, index, round, i));
    this.out.push(`call ${index}${show(type.parameters, args)}`);
    ++this.depth;
    let line;
    try {
      const result = item(...args);
      const results = type.results.length === 0 ? [] : type.results.length === 1 ? [result] : result;
      line = `=${show(type.results, results)}`;
    } catch (error) {
      line = this.showError(error);
    }
    --this.depth;
    this.out.push(line);
  }
  printState() {
    this.exports.forEach(({ kind, type, item }, i) => {
      if (isHidden({ kind, type })) return;
      if (kind === "memory") {
        let hash = 0;
        for (const word of new Int32Array(item.buffer)) hash = (Math.imul(hash, 31) + word) | 0;
        const text = (hash >>> 0).toString(16).padStart(8, "0");
        this.out.push(`memory ${i} ${item.buffer.byteLength / 65536} ${text}`);
      } else if (kind === "global") {
        this.out.push(`global ${i} ${showOne(type.value, item.value)}`);
      } else if (kind === "table") {
        let text = `table ${i} ${item.length}`;
        for (let at = 0; at < Math.min(Number(item.length), 400); ++at) text += ` ${showOne(type.element, item.get(sized(type, at)))}`;
        this.out.push(text);
      }
    });
  }
  instantiate(module, imports) {
    const object = {};
    WebAssembly.Module.imports(module).forEach(({ module: from, name }, index) => {
      const names = (object[from] ??= {});
      // JavaScript finds imports by name, so two of one name can't be two things (run.py renames them).
      if (Object.hasOwn(names, name)) throw new Error("skip: an import's name is used twice");
      names[name] = imports[index];
    });
    let instance;
    try {
      instance = new WebAssembly.Instance(module, object);
    } catch (error) {
      this.out.push(`instantiate ${this.showError(error)}`);
      return false;
    }
    for (const { name, kind, type } of WebAssembly.Module.exports(module)) {
      const item = instance.exports[name];
      if (name === "fuel!") {
        this.fuel.push(item);
        continue;
      }
      if (name === "hangLimitInitializer") this.resets.push(item);
      if (kind === "function") {
        this.functions.push(item);
        this.signatures.push(signature(type));
      }
      if (kind === "tag") this.addTag(item);
      this.exports.push({ kind, type, item });
    }
    return true;
  }
  run(module, round) {
    const wanted = WebAssembly.Module.imports(module);
    const imports = wanted.map((entry, index) => this.makeImport(entry, index));
    if (!this.instantiate(module, imports)) return;
    if (round % 2 === 1 && imports.length > 0) {
      const functions = [...this.functions], signatures = [...this.signatures];
      wanted.forEach(({ kind, type }, index) => {
        if (kind !== "function") return;
        const fit = functions.filter((_, at) => signatures[at] === signature(type));
        if (fit.length > 0) imports[index] = fit[mix(index, 21, 0) % fit.length];
      });
      this.instantiate(module, imports);
    }
    for (let i = 0; i < this.exports.length; ++i) {
      if (this.exports[i].kind !== "function" || isHidden(this.exports[i])) continue;
      for (const reset of this.resets) reset();
      for (const fuel of this.fuel) fuel.value = kFuel;
      this.call(i, round);
    }
    this.printState();
  }
}

for (const file of process.argv.slice(2)) {
  fs.writeSync(1, `module ${file}\n`);
  const out = [];
  try {
    const module = new WebAssembly.Module(fs.readFileSync(file));
    for (let round = 0; round < kRounds; ++round) new Session(out).run(module, round);
  } catch (error) {
    out.push(error instanceof WebAssembly.CompileError ? `compile ${error.message}` : `${error.message}`);
  }
  fs.writeSync(1, out.map((line) => `${line}\n`).join("") + "end\n");
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One kernel of bench/simd.c on V8: node simd.mjs simd.wasm NAME N. Prints milliseconds of CPU time.
import fs from 'node:fs';
const [file, name, n] = process.argv.slice(2);
const {exports} = new WebAssembly.Instance(new WebAssembly.Module(fs.readFileSync(file)));
exports[name](1);
const before = process.cpuUsage();
exports[name](Number(n));
const {user, system} = process.cpuUsage(before);
console.log((user + system) / 1e3);

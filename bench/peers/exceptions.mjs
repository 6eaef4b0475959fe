// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bench_exceptions for V8: node exceptions.mjs exceptions.wasm [BATCHES]
import fs from 'node:fs';
const batches = Number(process.argv[3] ?? 21);
const module = new WebAssembly.Module(fs.readFileSync(process.argv[2]));
const {exports} = new WebAssembly.Instance(module);
for (const name of ['call', 'call_in_try', 'throw_here', 'throw_1', 'throw_10', 'throw_1_ref']) {
  const rounds = name.startsWith('throw_1') ? 20_000 : 200_000;
  const samples = [];
  for (let i = 0; i < batches; ++i) {
    const start = process.hrtime.bigint();
    exports[name](rounds);
    samples.push(Number(process.hrtime.bigint() - start) / rounds);
  }
  samples.sort((a, b) => a - b);
  console.log(`${name}_ns ${samples[batches >> 1].toFixed(2)}`);
}

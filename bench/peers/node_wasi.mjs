// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a WASI program on V8: node node_wasi.mjs [--dir HOST::GUEST] FILE [ARGS...]; with --compile-only it
// compiles FILE eagerly and prints the milliseconds. With HOIST_BENCH_TIMES set, prints compile and run
// milliseconds to stderr at exit.
import { readFileSync } from 'node:fs';
import { WASI } from 'node:wasi';
import { argv, env, exit } from 'node:process';

const args = argv.slice(2);
const preopens = {};
let compileOnly = false;
while (args[0]?.startsWith('--')) {
  const flag = args.shift();
  if (flag === '--dir') {
    const [host, guest] = args.shift().split('::');
    preopens[guest ?? host] = host;
  } else if (flag === '--compile-only') compileOnly = true;
}
const bytes = readFileSync(args[0]);
let start = performance.now();
const module = new WebAssembly.Module(bytes);
const compiled = performance.now() - start;
if (compileOnly) {
  console.log(compiled.toFixed(3));
  exit(0);
}
const wasi = new WASI({ version: 'preview1', args, env: {}, preopens, returnOnExit: true });
const instance = new WebAssembly.Instance(module, wasi.getImportObject());
start = performance.now();
const code = wasi.start(instance);
if (env.HOIST_BENCH_TIMES) {
  console.error(JSON.stringify({ compile_ms: compiled, run_ms: performance.now() - start }));
}
exit(code);

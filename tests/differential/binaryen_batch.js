// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Binaryen's wasm-opt, where it is the JavaScript of the npm package, many times in one process: most of the
// time of a run of its own is spent on loading it.
//
//   node binaryen_batch.js WASM_OPT < lines, each a JSON list of arguments
//
// Assumes that the package is emscripten's output: it takes its arguments from `Module` and sets
// `process.exitCode` when it ends.
// What a run says is dropped; whether it succeeded shows in the file that it writes or does not write.
"use strict";
const fs = require("fs");
const path = require("path");

const tool = fs.realpathSync(process.argv[2]);
const source = fs.readFileSync(tool, "utf8").replace(/^#!.*/, "")
  .replace("function findWasmBinary(){return ", "function findWasmBinary(){return globalThis.binaryOfTool??=")
  .replaceAll("process.exitCode=status;", "Module.onExit(status);");
const start = new Function("Module", "require", "module", "exports", "__dirname", "__filename", source);

let compiled;
const instantiate = WebAssembly.instantiate;
WebAssembly.instantiate = async (bytes, imports) => {
  compiled ??= await WebAssembly.compile(bytes);
  return { module: compiled, instance: await instantiate(compiled, imports) };
};
process.on("unhandledRejection", () => {}); // how emscripten's exit leaves its caller

const quiet = () => {};
const run = (args) => new Promise((resolve) => {
  const module = { arguments: args, print: quiet, printErr: quiet, onExit: resolve, onAbort: resolve };
  start(module, require, { exports: {} }, {}, path.dirname(tool), tool);
});

(async () => {
  for (const line of fs.readFileSync(0, "utf8").split("\n")) {
    if (line) await run(JSON.parse(line));
  }
  process.exit(0);
})();

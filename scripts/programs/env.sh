# Sourced by the scripts beside it: how C becomes WebAssembly here. Debian's wasi-libc is of 2022: target
# wasm32-wasi.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
out=$root/build/programs
mkdir -p "$out"
wasm_cc=(clang-22 --target=wasm32-wasi -Wno-deprecated -O2)
hoist=${HOIST:-$root/build/release/bin/hoist}

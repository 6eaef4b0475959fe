#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Remakes vectors.txt with LLVM's assembler and disassembler.
# Usage: make_vectors.sh PATH/TO/test_asm [llvm-mc]
set -eu
test_asm=$1
llvm_mc=${2:-llvm-mc-22}
here=$(dirname "$0")
list=$(mktemp)
bytes=$(mktemp)
back=$(mktemp)
trap 'rm -f "$list" "$bytes" "$back"' EXIT
HOIST_VECTOR_LIST=$list "$test_asm" --gtest_filter=Encoder.AgreesWithAnotherAssembler >/dev/null
features=+bmi,+bmi2,+lzcnt,+popcnt,+cx16,+avx2,+fma,+f16c,+avx512f,+avx512vl,+avx512dq,+avx512bw
features=$features,+avx512cd,+avx512vbmi,+avx512bitalg,+avx512vpopcntdq
# Mnemonics of comparisons as they were assembled, numbers in decimal.
"$llvm_mc" --triple=x86_64 -x86-asm-syntax=intel --mattr=$features --show-encoding "$list" |
  sed -n 's/.*# encoding: \[\(.*\)\]$/\1/p' | sed 's/,/ /g' >"$bytes"
"$llvm_mc" --triple=x86_64 --disassemble -output-asm-variant=1 --mattr=$features "$bytes" |
  sed -n 's/^\t\([a-z].*\)$/\1/p' | sed 's/[\t ][\t ]*/ /g; s/ *#.*$//' |
  sed -e '/^lock$/{' -e N -e 's/\n */ /' -e '}' >"$back"
{
  echo "# bytes | text | disassembly; made by make_vectors.sh with $("$llvm_mc" --version | sed -n 's/^.*LLVM version/LLVM/p')"
  sed 's/0x//g; s/ //g' "$bytes" | paste -d'|' - "$list" "$back" | sed 's/|/ | /g'
} >"$here/vectors.txt"

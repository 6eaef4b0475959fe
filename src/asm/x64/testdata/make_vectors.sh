#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Remakes vectors.txt with LLVM's assembler. Usage: make_vectors.sh PATH/TO/test_asm [llvm-mc]
set -eu
test_asm=$1
llvm_mc=${2:-llvm-mc-22}
here=$(dirname "$0")
list=$(mktemp)
trap 'rm -f "$list"' EXIT
HOIST_VECTOR_LIST=$list "$test_asm" --gtest_filter=Encoder.AgreesWithAnotherAssembler >/dev/null
{
  echo "# bytes and text; made by make_vectors.sh with $("$llvm_mc" --version | sed -n 's/^.*LLVM version/LLVM/p')"
  "$llvm_mc" --triple=x86_64 -x86-asm-syntax=intel --mattr=+bmi,+bmi2 --show-encoding "$list" |
    sed -n 's/.*# encoding: \[\(.*\)\]$/\1/p' | sed 's/0x//g; s/,//g' | paste -d' ' - "$list"
} >"$here/vectors.txt"

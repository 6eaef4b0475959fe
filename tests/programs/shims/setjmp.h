// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stands in for the <setjmp.h> that Debian's wasi-libc of 2022 lacks: setjmp always takes the first
// return, longjmp ends the program with a message. Enough for Lua scripts without error recovery.
#pragma once
#include <stdio.h>
#include <stdlib.h>
typedef int jmp_buf[1];
#define setjmp(env) ((void)(env), 0)
static inline _Noreturn void longjmp(jmp_buf env, int value) {
  (void)env;
  fprintf(stderr, "longjmp(%d): error recovery is not available in this build\n", value);
  exit(70);
}

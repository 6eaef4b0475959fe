// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// <setjmp.h> for guests compiled with -mllvm -wasm-enable-sjlj; the other half is setjmp.c.
#pragma once
#ifdef __cplusplus
extern "C" {
#endif
typedef struct __jmp_buf_tag {
  unsigned long words[8];
} jmp_buf[1];
int setjmp(jmp_buf) __attribute__((__returns_twice__));
_Noreturn void longjmp(jmp_buf, int);
#ifdef __cplusplus
}
#endif
#define setjmp setjmp

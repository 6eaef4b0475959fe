// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What clang makes of setjmp and longjmp with -mllvm -wasm-enable-sjlj. Each call of setjmp in a function
// has a label; a longjmp throws the tag __c_longjmp with a pointer to `what to do`; whichever function
// catches it asks whether the buffer was set in this invocation of it, and at which label.
#include <stddef.h>
#include <stdint.h>

struct Buffer {
  void* invocation;  // of the function that called setjmp
  uint32_t label;
  struct Jump {  // what compiled code reads of a caught longjmp
    void* buffer;
    int value;
  } jump;
};

void __wasm_setjmp(void* buffer, uint32_t label, void* invocation) {
  struct Buffer* set = buffer;
  set->invocation = invocation;
  set->label = label;
}

uint32_t __wasm_setjmp_test(void* buffer, void* invocation) {
  const struct Buffer* set = buffer;
  return set->invocation == invocation ? set->label : 0;
}

void __wasm_longjmp(void* buffer, int value) {
  struct Buffer* set = buffer;
  set->jump.buffer = buffer;
  set->jump.value = value != 0 ? value : 1;
  enum { kLongjmpTag = 1 };
  __builtin_wasm_throw(kLongjmpTag, &set->jump);
}

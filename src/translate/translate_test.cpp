// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "translate/translate_test_support.hpp"
namespace hoist::translate::testing {
TEST(T, A) {
  std::puts(ir_of(R"((module (memory 1) (func (param i32 i32) (result i32)
   (local i32)
   (loop (local.set 2 (i32.add (local.get 2) (i32.load offset=4 (local.get 0))))
     (local.set 0 (i32.add (local.get 0) (i32.const 4)))
     (br_if 0 (i32.lt_u (local.get 0) (local.get 1))))
   (if (i32.eqz (local.get 2)) (then (return (i32.const 7))))
   (local.get 2))))").c_str());
}
}

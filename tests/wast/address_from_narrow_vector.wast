;; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;; Sign extension within 32 bits stays within: such an address of a vector load is large, not negative.
(module
  (memory 1)
  (func (export "extend16") (param i32) (result v128) (v128.load16x4_u offset=1 (i32.extend16_s (local.get 0))))
  (func (export "extend16_c") (result v128) (v128.load16x4_u offset=1 (i32.extend16_s (i32.const 0xffff))))
  (func (export "extend8") (param i32) (result v128) (v128.load16x4_u offset=1 (i32.extend8_s (local.get 0))))
  (func (export "extend8_c") (result v128) (v128.load16x4_u offset=1 (i32.extend8_s (i32.const 0xff)))))
(assert_trap (invoke "extend16" (i32.const 0xffff)) "out of bounds memory access")
(assert_trap (invoke "extend16_c") "out of bounds memory access")
(assert_trap (invoke "extend8" (i32.const 0xff)) "out of bounds memory access")
(assert_trap (invoke "extend8_c") "out of bounds memory access")
(assert_return (invoke "extend16" (i32.const 0x7fff)) (v128.const i64x2 0 0))
(assert_return (invoke "extend8" (i32.const 0x17f)) (v128.const i64x2 0 0))

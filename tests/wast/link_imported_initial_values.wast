;; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;; Imports as initial values: a global of references from an imported one, a segment into an imported memory that has
;; no page yet.
(module $a
  (global (export "null") funcref (ref.null func))
  (func $f (export "f") (result i32) (i32.const 3))
  (global (export "func") funcref (ref.func $f))
  (memory (export "none") 0 5)
  (func (export "grow") (result i32) (memory.grow (i32.const 1)))
  (func (export "load") (result i32) (i32.load (i32.const 0))))
(register "a" $a)
(module
  (import "a" "null" (global $n funcref))
  (import "a" "func" (global $f funcref))
  (global $m (mut funcref) (global.get $n))
  (global $k (mut funcref) (global.get $f))
  (table 1 funcref)
  (func (export "null") (result i32) (ref.is_null (global.get $m)))
  (func (export "call") (result i32) (table.set (i32.const 0) (global.get $k)) (call_indirect (result i32) (i32.const 0))))
(assert_return (invoke "null") (i32.const 1))
(assert_return (invoke "call") (i32.const 3))
(assert_trap
  (module (import "a" "none" (memory 0 5)) (data (i32.const 0) "abcd"))
  "out of bounds memory access")
;; An empty segment at the end of nothing is within bounds.
(module (import "a" "none" (memory 0 5)) (data (i32.const 0) ""))
(assert_return (invoke $a "grow") (i32.const 0))
(module (import "a" "none" (memory 0 5)) (data (i32.const 0) "abcd"))
(assert_return (invoke $a "load") (i32.const 0x64636261))
(assert_unlinkable (module (import "a" "none" (memory 2))) "incompatible import type")
(assert_unlinkable (module (import "a" "none" (memory 0 4))) "incompatible import type")
(assert_unlinkable (module (import "a" "nothing" (memory 0))) "unknown import")

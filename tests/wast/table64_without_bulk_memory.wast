;;! bulk_memory = false
;;! memory64 = true
;;! reference_types = true
;; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;; Segments for tables and memories with 64-bit indexes do not need bulk memory.
(module $a (table (export "t") i64 1 funcref) (memory (export "m") i64 1))
(register "a" $a)
(module
  (type $i (func (result i32)))
  (import "a" "t" (table $t i64 1 funcref))
  (import "a" "m" (memory i64 1))
  (func $f (type $i) (i32.const 42))
  (elem (table $t) (i64.const 0) func $f)
  (data (i64.const 65535) "*")
  (func (export "call") (result i32) (call_indirect (type $i) (i64.const 0)))
  (func (export "load") (result i32) (i32.load8_u (i64.const 65535))))
(assert_return (invoke "call") (i32.const 42))
(assert_return (invoke "load") (i32.const 42))

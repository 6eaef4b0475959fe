;; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;; call_indirect needs a table of functions; each table instruction names the table it means, and element types of
;; tables and segments must fit.
(assert_invalid
  (module (type $t (func)) (table 1 externref) (func (call_indirect 0 (type $t) (i32.const 0))))
  "type mismatch")
(assert_invalid
  (module (type $t (func)) (table 1 funcref) (table $x 1 externref) (func (call_indirect $x (type $t) (i32.const 0))))
  "type mismatch")
(assert_invalid (module (type $t (func)) (table 1 funcref) (func (call_indirect 1 (type $t) (i32.const 0)))) "unknown table")
(assert_invalid (module (table 1 funcref) (func (call_indirect 0 (type 5) (i32.const 0)))) "unknown type")
(assert_invalid (module (type $t (func)) (table 1 funcref) (func (call_indirect 0 (type $t) (i64.const 0)))) "type mismatch")
(assert_invalid (module (table $a 1 funcref) (table $b 1 externref) (func (table.copy $a $b (i32.const 0) (i32.const 0) (i32.const 0)))) "type mismatch")
(assert_invalid (module (table $a 1 externref) (elem $e func) (func (table.init $a $e (i32.const 0) (i32.const 0) (i32.const 0)))) "type mismatch")
(assert_invalid (module (table $a 1 externref) (func (table.set $a (i32.const 0) (ref.null func)))) "type mismatch")
(assert_invalid (module (table $a 1 externref) (func (drop (table.grow $a (ref.null func) (i32.const 1))))) "type mismatch")
(assert_invalid (module (table $a 1 funcref) (func (table.fill $a (i32.const 0) (ref.null extern) (i32.const 1)))) "type mismatch")
(assert_invalid (module (table 1 externref) (func $f) (elem (i32.const 0) func $f)) "type mismatch")
(assert_invalid (module (func $f) (func (drop (ref.func $f)))) "undeclared function reference")
(assert_invalid (module (func (result externref) (ref.null func))) "type mismatch")
(assert_invalid (module (func (param funcref externref i32) (drop (select (local.get 0) (local.get 1) (local.get 2))))) "type mismatch")
(assert_invalid (module (func (param funcref i32) (drop (select (local.get 0) (local.get 0) (local.get 1))))) "type mismatch")
(module
  (func (export "f") (param funcref i32) (result i32)
    (ref.is_null (select (result funcref) (local.get 0) (ref.null func) (local.get 1)))))
(assert_return (invoke "f" (ref.null func) (i32.const 1)) (i32.const 1))

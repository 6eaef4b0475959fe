;; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;; Names of types belong to their module: the same name means other types in the modules of later commands, also in
;; those that only are asserted about.
(module $a
  (type $t (func (param i32) (result i32)))
  (func $inc (type $t) (i32.add (local.get 0) (i32.const 1)))
  (table funcref (elem $inc))
  (global $g (export "g") (ref $t) (ref.func $inc))
  (func (export "call") (param (ref null $t)) (result i32) (call_ref $t (i32.const 4) (local.get 0)))
  (func (export "own") (result i32) (call_ref $t (i32.const 4) (global.get $g))))
(assert_return (invoke "own") (i32.const 5))
(assert_trap (invoke "call" (ref.null func)) "null function reference")
(register "a" $a)
(module $b
  (type $other (func))
  (type $t (func (param i32) (result i32)))
  (import "a" "g" (global $g (ref $t)))
  (func (export "use") (result i32) (call_ref $t (i32.const 9) (global.get $g))))
(assert_return (invoke $b "use") (i32.const 10))
(assert_unlinkable
  (module (type $t (func (param i64) (result i32))) (import "a" "g" (global (ref $t))))
  "incompatible import type")
(assert_invalid
  (module (type $t (func (param i64))) (func (param (ref $t)) (call_ref $t (i32.const 1) (local.get 0))))
  "type mismatch")
(assert_malformed (module quote "(func (param (ref $t)))") "unknown type")
(assert_malformed (module quote "(type $t (func)) (type $t (func (param i32)))") "duplicate type")
(assert_return (invoke $a "own") (i32.const 5))

;; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;; Types across modules: recursive types are equal by their structure, imports take what is below their type, and a
;; function keeps its own type wherever it comes through.
(module $a
  (type $super (sub (func (result i32))))
  (type $sub (sub $super (func (result i32))))
  (rec (type $x (func (param (ref null $y)))) (type $y (func (param (ref null $x)))))
  (func (export "f") (type $sub) (i32.const 99))
  (func $x (export "x") (type $x))
  (table (export "t") 2 4 (ref null $sub))
  (global (export "const") (ref $sub) (ref.func $g))
  (global (export "var") (mut (ref null $sub)) (ref.null $sub))
  (func $g (type $sub) (i32.const 98)))
(register "a" $a)

;; A function that is imported at a supertype is still what it is.
(module
  (type $super (sub (func (result i32))))
  (type $sub (sub $super (func (result i32))))
  (import "a" "f" (func $f (type $super)))
  (table funcref (elem $f))
  (func (export "super") (result i32) (call_indirect (type $super) (i32.const 0)))
  (func (export "sub") (result i32) (call_indirect (type $sub) (i32.const 0)))
  (export "again" (func $f)))
(assert_return (invoke "super") (i32.const 99))
(assert_return (invoke "sub") (i32.const 99))
(register "b")
(module
  (type $super (sub (func (result i32))))
  (type $sub (sub $super (func (result i32))))
  (import "b" "again" (func $f (type $sub)))
  (func (export "call") (result i32) (call $f)))
(assert_return (invoke "call") (i32.const 99))

;; The same rec group under other names and behind other types; another order is another group.
(module
  (type (func (param i64)))
  (rec (type $p (func (param (ref null $q)))) (type $q (func (param (ref null $p)))))
  (import "a" "x" (func (type $p))))
(assert_unlinkable
  (module
    (rec (type $p (func (param (ref null $q)))) (type $q (func (param (ref null $p)))))
    (import "a" "x" (func (type $q))))
  "incompatible import type")
(assert_unlinkable
  (module
    (rec (type $p (func (param (ref null $p)))) (type $q (func (param (ref null $p)))))
    (import "a" "x" (func (type $p))))
  "incompatible import type")
(assert_unlinkable
  (module (import "a" "f" (func (result i32))))
  "incompatible import type")

;; Immutable globals may be imported at a supertype, mutable ones and tables at their type only.
(module
  (type $super (sub (func (result i32))))
  (type $sub (sub $super (func (result i32))))
  (import "a" "const" (global $c (ref null $super)))
  (import "a" "const" (global funcref))
  (import "a" "const" (global (ref func)))
  (import "a" "var" (global (mut (ref null $sub))))
  (import "a" "t" (table 2 4 (ref null $sub)))
  (func (export "call") (result i32) (call_ref $super (global.get $c))))
(assert_return (invoke "call") (i32.const 98))
(assert_unlinkable
  (module
    (type $super (sub (func (result i32))))
    (import "a" "var" (global (mut (ref null $super)))))
  "incompatible import type")
(assert_unlinkable
  (module
    (type $super (sub (func (result i32))))
    (import "a" "t" (table 2 4 (ref null $super))))
  "incompatible import type")
(assert_unlinkable (module (import "a" "t" (table 2 4 funcref))) "incompatible import type")
(assert_unlinkable (module (import "a" "const" (global (mut funcref)))) "incompatible import type")
(assert_unlinkable (module (import "a" "const" (global externref))) "incompatible import type")
(assert_unlinkable (module (import "a" "nothing" (func))) "unknown import")

;; A tail call through an imported table runs in the callee's instance, though both modules have the same names.
(module $c
  (type $i (func (result i32)))
  (global $v i32 (i32.const 5))
  (func $f (type $i) (global.get $v))
  (table (export "table") funcref (elem $f)))
(register "c" $c)
(module
  (type $i (func (result i32)))
  (import "c" "table" (table 1 funcref))
  (global $v i32 (i32.const 6))
  (func $f (type $i) (global.get $v))
  (func (export "call") (result i32) (call_indirect (type $i) (i32.const 0)))
  (func (export "tail") (result i32) (return_call_indirect (type $i) (i32.const 0))))
(assert_return (invoke "call") (i32.const 5))
(assert_return (invoke "tail") (i32.const 5))

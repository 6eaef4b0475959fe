;; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;; Tail calls take no stack, whatever the signatures and the instances.

;; Mutual tail calls across modules.
(module $A
  (type $f (func (param i32) (result i32)))
  (table (export "table") 1 funcref)
  (func (export "f") (param i32) (result i32)
    (if (i32.eqz (local.get 0)) (then (return (i32.const 42))))
    (return_call_indirect (type $f) (i32.sub (local.get 0) (i32.const 1)) (i32.const 0))))
(register "A" $A)
(module $B
  (table (import "A" "table") 1 funcref)
  (func $f (import "A" "f") (param i32) (result i32))
  (func $g (param i32) (result i32) (return_call $f (local.get 0)))
  (elem (i32.const 0) func $g))
(assert_return (invoke $A "f" (i32.const 1000000)) (i32.const 42))

;; To a host function, from a function with other parameters.
(module
  (import "spectest" "print_i32" (func $print (param i32)))
  (import "spectest" "print" (func $nothing))
  (func $w (param i32 i64 f64 i32) (local.get 3) (return_call $print))
  (func $n (param i32 i64 f64) (return_call $nothing))
  (func (export "main") (result i32)
    (call $w (i32.const 1) (i64.const 2) (f64.const 3) (i32.const 4))
    (call $n (i32.const 1) (i64.const 2) (f64.const 3))
    (i32.const 108)))
(assert_return (invoke "main") (i32.const 108))

;; To a function with more constants and locals than its caller.
(module
  (func $callee (param i32) (result i64) (local i64)
    (local.set 1 (i64.const 0x123456789abcdef0))
    (i64.xor (i64.xor (local.get 1) (i64.const 0x123456789abcdef1))
      (i64.add (i64.extend_i32_u (local.get 0)) (i64.xor (i64.const 0x7fffffffffffffff) (i64.const 0x7ffffffffffffffe)))))
  (func $caller (result i64) (i32.const 42) (return_call $callee))
  (func (export "run") (result i64) (call $caller)))
(assert_return (invoke "run") (i64.const 42))

;; Different numbers of stack parameters, both ways, for long.
(module
  (func $few (param $n i32) (result i64)
    (if (i32.eqz (local.get $n)) (then (return (i64.const 0))))
    (return_call $many (local.get $n) (i64.const 1) (i64.const 2) (i64.const 3) (i64.const 4)
      (i64.const 5) (i64.const 6) (i64.const 7) (i64.const 8) (i64.const 9) (i64.const 10)
      (f64.const 1) (f64.const 2) (f64.const 3) (f64.const 4) (f64.const 5) (f64.const 6)
      (f64.const 7) (f64.const 8) (f64.const 9) (v128.const i64x2 1 2) (f32.const 11)))
  (func $many (param $n i32) (param i64 i64 i64 i64 i64 i64 i64 i64 i64 i64)
              (param f64 f64 f64 f64 f64 f64 f64 f64 f64) (param v128) (param f32) (result i64)
    (if (i64.ne (local.get 10) (i64.const 10)) (then unreachable))
    (if (f64.ne (local.get 19) (f64.const 9)) (then unreachable))
    (if (i64.ne (i64x2.extract_lane 1 (local.get 20)) (i64.const 2)) (then unreachable))
    (if (f32.ne (local.get 21) (f32.const 11)) (then unreachable))
    (return_call $middle (i32.sub (local.get $n) (i32.const 1)) (local.get 10) (local.get 9)
      (local.get 8) (local.get 7) (local.get 6) (local.get 5) (local.get 4) (local.get 3)))
  (func $middle (param $n i32) (param i64 i64 i64 i64 i64 i64 i64 i64) (result i64)
    (if (i64.ne (local.get 8) (i64.const 3)) (then unreachable))
    (if (i32.eqz (local.get $n)) (then (return (i64.add (local.get 1) (local.get 8)))))
    (return_call $few (local.get $n)))
  (func (export "run") (param i32) (result i64) (call $few (local.get 0))))
(assert_return (invoke "run" (i32.const 1)) (i64.const 13))
(assert_return (invoke "run" (i32.const 300000)) (i64.const 13))

;; Many results, in registers and in memory.
(module
  (func $results (param i32) (result i32 i64 f32 f64 i64 i64 i64 i64 i64 i64 i64)
    (local.get 0) (i64.const 1) (f32.const 2) (f64.const 3) (i64.const 4) (i64.const 5)
    (i64.const 6) (i64.const 7) (i64.const 8) (i64.const 9) (i64.const 10))
  (func $step (param i32 i32) (result i32 i64 f32 f64 i64 i64 i64 i64 i64 i64 i64)
    (if (local.get 0) (then (return_call $step (i32.sub (local.get 0) (i32.const 1)) (i32.add (local.get 1) (i32.const 2)))))
    (return_call $results (local.get 1)))
  (func (export "run") (param i32) (result i32 i64 f32 f64 i64 i64 i64 i64 i64 i64 i64)
    (call $step (local.get 0) (i32.const 1))))
(assert_return (invoke "run" (i32.const 100000)) (i32.const 200001) (i64.const 1) (f32.const 2)
  (f64.const 3) (i64.const 4) (i64.const 5) (i64.const 6) (i64.const 7) (i64.const 8) (i64.const 9)
  (i64.const 10))

;; A tail call leaves the handlers of its function.
(module
  (tag $t)
  (func $throw (throw $t))
  (func $f (result i32)
    (block $h (try_table (catch $t $h) (return_call $g)))
    (i32.const 1))
  (func $g (result i32) (call $throw) (i32.const 2))
  (func (export "run") (result i32)
    (block $h (try_table (catch $t $h) (drop (call $f))) (return (i32.const 4)))
    (i32.const 3)))
(assert_return (invoke "run") (i32.const 3))

;; What is checked before a tail call traps in the caller.
(module
  (type $v (func))
  (type $w (func (param i32)))
  (func $f)
  (table 2 funcref)
  (elem (i32.const 0) func $f)
  (func (export "bounds") (return_call_indirect (type $v) (i32.const 2)))
  (func (export "null") (return_call_indirect (type $v) (i32.const 1)))
  (func (export "type") (return_call_indirect (type $w) (i32.const 1) (i32.const 0))))
(assert_trap (invoke "bounds") "undefined element")
(assert_trap (invoke "null") "uninitialized element")
(assert_trap (invoke "type") "indirect call type mismatch")

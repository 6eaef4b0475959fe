;; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;; Active segments apply in order until one traps: what the earlier ones wrote stays, the trapping one writes
;; nothing, in tables and memories of another instance.
(module $a
  (type $i (func (result i32)))
  (table (export "t") 3 funcref)
  (memory (export "m") 1)
  (func (export "call") (param i32) (result i32) (call_indirect (type $i) (local.get 0)))
  (func (export "get") (param i32) (result i32) (i32.load8_u (local.get 0))))
(register "a" $a)
(assert_trap
  (module
    (import "a" "t" (table 3 funcref))
    (func $f (result i32) (i32.const 7))
    (elem (i32.const 0) $f)
    (elem (i32.const 2) $f $f)
    (elem (i32.const 1) $f))
  "out of bounds table access")
(assert_return (invoke $a "call" (i32.const 0)) (i32.const 7))
(assert_trap (invoke $a "call" (i32.const 1)) "uninitialized element")
(assert_trap (invoke $a "call" (i32.const 2)) "uninitialized element")
(assert_trap
  (module
    (import "a" "m" (memory 1))
    (data (i32.const 0) "abc")
    (data (i32.const 65534) "def")
    (data (i32.const 3) "x"))
  "out of bounds memory access")
(assert_return (invoke $a "get" (i32.const 2)) (i32.const 99))
(assert_return (invoke $a "get" (i32.const 3)) (i32.const 0))
(assert_return (invoke $a "get" (i32.const 65534)) (i32.const 0))
;; Element segments come before data segments, and the start function after both.
(assert_trap
  (module
    (import "a" "t" (table 3 funcref))
    (import "a" "m" (memory 1))
    (func $f (result i32) (i32.const 8))
    (func $s (unreachable))
    (elem (i32.const 1) $f)
    (data (i32.const 4) "d")
    (start $s))
  "unreachable")
(assert_return (invoke $a "call" (i32.const 1)) (i32.const 8))
(assert_return (invoke $a "get" (i32.const 4)) (i32.const 100))
(assert_trap
  (module
    (import "a" "m" (memory 1))
    (table 1 funcref)
    (func $f)
    (elem (i32.const 1) $f)
    (data (i32.const 5) "e"))
  "out of bounds table access")
(assert_return (invoke $a "get" (i32.const 5)) (i32.const 0))
;; Nothing but the empty segment fits at the end; past it not even that.
(module (import "a" "t" (table 3 funcref)) (import "a" "m" (memory 1)) (elem (i32.const 3)) (data (i32.const 65536) ""))
(assert_trap (module (import "a" "m" (memory 1)) (data (i32.const 65537) "")) "out of bounds memory access")
(assert_trap (module (import "a" "t" (table 3 funcref)) (elem (i32.const 4))) "out of bounds table access")
(assert_trap (module (import "a" "m" (memory 1)) (data (i32.const -1) "a")) "out of bounds memory access")

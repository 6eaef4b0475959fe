;; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;; Loops over memories whose accesses are compared: what the comparison reads may leave the loop, what
;; happens before a trap may not change.

(module
  (memory $m i64 1)
  (global $turns (export "turns") (mut i32) (i32.const 0))

  (func (export "byte") (param i64) (result i32) (i32.load8_u (local.get 0)))
  (func (export "reset") (global.set $turns (i32.const 0)) (memory.fill (i64.const 0) (i32.const 0) (i64.const 65536)))

  ;; Stores from p on until it traps.
  (func (export "fill") (param $p i64) (param $end i64)
    (loop $again
      (i32.store8 (local.get $p) (i32.const 7))
      (global.set $turns (i32.add (global.get $turns) (i32.const 1)))
      (local.set $p (i64.add (local.get $p) (i64.const 1)))
      (br_if $again (i64.lt_u (local.get $p) (local.get $end)))))

  ;; An access that does not change stands first.
  (func (export "constant_first") (param $p i64) (param $n i32) (result i32)
    (local $sum i32)
    (loop $again
      (local.set $sum (i32.add (local.get $sum) (i32.load (local.get $p))))
      (global.set $turns (i32.add (global.get $turns) (i32.const 1)))
      (local.set $n (i32.sub (local.get $n) (i32.const 1)))
      (br_if $again (local.get $n)))
    (local.get $sum))

  ;; And behind something that is seen.
  (func (export "constant_second") (param $p i64) (param $n i32)
    (loop $again
      (global.set $turns (i32.add (global.get $turns) (i32.const 1)))
      (i32.store (local.get $p) (i32.const 5))
      (local.set $n (i32.sub (local.get $n) (i32.const 1)))
      (br_if $again (local.get $n))))

  ;; And behind a division.
  (func (export "division_first") (param $p i64) (param $n i32) (param $by i32) (result i32)
    (local $sum i32)
    (loop $again
      (local.set $sum (i32.add (local.get $sum) (i32.div_u (i32.const 100) (local.get $by))))
      (local.set $sum (i32.add (local.get $sum) (i32.load8_u (local.get $p))))
      (local.set $n (i32.sub (local.get $n) (i32.const 1)))
      (br_if $again (local.get $n)))
    (local.get $sum))

  ;; Not in each turn.
  (func (export "sometimes") (param $p i64) (param $n i32)
    (loop $again
      (if (i32.eq (local.get $n) (i32.const 3))
        (then (i32.store (local.get $p) (i32.const 5))))
      (global.set $turns (i32.add (global.get $turns) (i32.const 1)))
      (local.set $n (i32.sub (local.get $n) (i32.const 1)))
      (br_if $again (local.get $n))))

  ;; Nested: the outer loop's address is the inner one's constant.
  (func (export "rows") (param $rows i64) (param $columns i64) (result i64)
    (local $r i64) (local $c i64) (local $sum i64)
    (loop $row
      (local.set $c (i64.const 0))
      (loop $column
        (local.set $sum (i64.add (local.get $sum) (i64.add
          (i64.load8_u (local.get $r))
          (i64.load8_u (i64.add (local.get $r) (local.get $c))))))
        (local.set $c (i64.add (local.get $c) (i64.const 1)))
        (br_if $column (i64.lt_u (local.get $c) (local.get $columns))))
      (local.set $r (i64.add (local.get $r) (i64.const 1)))
      (br_if $row (i64.lt_u (local.get $r) (local.get $rows))))
    (local.get $sum))
)
(assert_trap (invoke "fill" (i64.const 65530) (i64.const 70000)) "out of bounds memory access")
(assert_return (get "turns") (i32.const 6))
(assert_return (invoke "byte" (i64.const 65535)) (i32.const 7))
(assert_return (invoke "byte" (i64.const 65529)) (i32.const 0))
(invoke "reset")
(assert_trap (invoke "constant_first" (i64.const 65533) (i32.const 3)) "out of bounds memory access")
(assert_return (get "turns") (i32.const 0))
(assert_return (invoke "constant_first" (i64.const 65532) (i32.const 3)) (i32.const 0))
(assert_return (get "turns") (i32.const 3))
(invoke "reset")
(assert_trap (invoke "constant_second" (i64.const 65533) (i32.const 3)) "out of bounds memory access")
(assert_return (get "turns") (i32.const 1))
(assert_trap (invoke "constant_second" (i64.const -1) (i32.const 3)) "out of bounds memory access")
(assert_return (get "turns") (i32.const 2))
(assert_trap (invoke "division_first" (i64.const 65536) (i32.const 3) (i32.const 0)) "integer divide by zero")
(assert_trap (invoke "division_first" (i64.const 65536) (i32.const 3) (i32.const 1)) "out of bounds memory access")
(assert_return (invoke "division_first" (i64.const 65535) (i32.const 3) (i32.const 10)) (i32.const 30))
(invoke "reset")
(assert_return (invoke "sometimes" (i64.const 65536) (i32.const 2)))
(assert_return (get "turns") (i32.const 2))
(assert_trap (invoke "sometimes" (i64.const 65536) (i32.const 5)) "out of bounds memory access")
(assert_return (get "turns") (i32.const 4))
(assert_return (invoke "rows" (i64.const 10) (i64.const 10)) (i64.const 0))
(assert_trap (invoke "rows" (i64.const 65536) (i64.const 3)) "out of bounds memory access")

;; Growth in a loop, by itself and in a call.
(module
  (memory i64 1 4)
  (func $grow (export "grow") (drop (memory.grow (i64.const 1))))
  (func (export "grow_in_loop") (param $at i64) (param $n i32) (result i32)
    (local $sum i32)
    (loop $again
      (drop (memory.grow (i64.const 1)))
      (i32.store8 (local.get $at) (i32.const 1))
      (local.set $sum (i32.add (local.get $sum) (i32.load8_u (local.get $at))))
      (local.set $at (i64.add (local.get $at) (i64.const 65536)))
      (local.set $n (i32.sub (local.get $n) (i32.const 1)))
      (br_if $again (local.get $n)))
    (local.get $sum))
)
(assert_return (invoke "grow_in_loop" (i64.const 65536) (i32.const 3)) (i32.const 3))
(assert_trap (invoke "grow_in_loop" (i64.const 262144) (i32.const 1)) "out of bounds memory access")

(module
  (memory i64 1 4)
  (func $grow (drop (memory.grow (i64.const 1))))
  (func (export "grow_in_call") (param $at i64) (param $n i32) (result i32)
    (local $sum i32) (local $k i32)
    (loop $again
      (if (i32.and (local.get $n) (i32.const 1)) (then (call $grow)))
      (local.set $k (i32.const 4))
      (loop $inner
        (i32.store8 (local.get $at) (i32.const 1))
        (local.set $sum (i32.add (local.get $sum) (i32.load8_u (local.get $at))))
        (local.set $at (i64.add (local.get $at) (i64.const 16384)))
        (local.set $k (i32.sub (local.get $k) (i32.const 1)))
        (br_if $inner (local.get $k)))
      (local.set $n (i32.sub (local.get $n) (i32.const 1)))
      (br_if $again (local.get $n)))
    (local.get $sum))
)
(assert_return (invoke "grow_in_call" (i64.const 0) (i32.const 2)) (i32.const 8))
(assert_trap (invoke "grow_in_call" (i64.const 16384) (i32.const 5)) "out of bounds memory access")

;; A memory with pages of one byte: each end is compared.
(module
  (memory 100 (pagesize 1))
  (func (export "pairs") (param $p i32) (result i32)
    (i32.add (i32.load offset=8 (local.get $p))
      (i32.add (i32.load (local.get $p)) (i32.load offset=4 (local.get $p)))))
  (func (export "upwards") (param $p i32) (result i32)
    (i32.add (i32.load (local.get $p))
      (i32.add (i32.load offset=4 (local.get $p)) (i32.load offset=8 (local.get $p)))))
  (func (export "stores") (param $p i32)
    (i32.store (local.get $p) (i32.const 1))
    (i32.store offset=4 (local.get $p) (i32.const 2))
    (i32.store offset=8 (local.get $p) (i32.const 3)))
  (func (export "loop") (param $p i32) (result i32)
    (local $n i32)
    (loop $again
      (i32.store8 (local.get $p) (i32.const 1))
      (local.set $n (i32.add (local.get $n) (i32.load8_u (local.get $p))))
      (local.set $p (i32.add (local.get $p) (i32.const 1)))
      (br_if $again (i32.lt_u (local.get $p) (i32.const 100))))
    (local.get $n))
  (func (export "at") (param $p i32) (result i32) (i32.load8_u (local.get $p)))
)
(assert_return (invoke "pairs" (i32.const 88)) (i32.const 0))
(assert_trap (invoke "pairs" (i32.const 89)) "out of bounds memory access")
(assert_trap (invoke "pairs" (i32.const -4)) "out of bounds memory access")
(assert_return (invoke "upwards" (i32.const 88)) (i32.const 0))
(assert_trap (invoke "upwards" (i32.const 89)) "out of bounds memory access")
(assert_trap (invoke "stores" (i32.const 92)) "out of bounds memory access")
(assert_return (invoke "at" (i32.const 92)) (i32.const 1))
(assert_return (invoke "at" (i32.const 96)) (i32.const 2))
(assert_trap (invoke "stores" (i32.const 97)) "out of bounds memory access")
(assert_return (invoke "at" (i32.const 97)) (i32.const 0))
(assert_return (invoke "loop" (i32.const 0)) (i32.const 100))
(assert_return (invoke "loop" (i32.const 99)) (i32.const 1))
(assert_trap (invoke "loop" (i32.const 100)) "out of bounds memory access")

;; A shared memory that grows between atomic accesses; and a loop of no turns.
(module
  (memory $m i64 1 8 shared)
  (global $g (mut i32) (i32.const 0))
  (func $grow (drop (memory.grow (i64.const 1))))
  (func (export "f") (param $p i64) (param $n i32) (result i32)
    (local $s i32)
    (loop $l
      (i32.atomic.store (i64.const 0) (local.get $n))
      (local.set $s (i32.add (local.get $s) (i32.load8_u (local.get $p))))
      (if (i32.eq (local.get $n) (i32.const 3)) (then (call $grow)))
      (local.set $p (i64.add (local.get $p) (i64.const 16384)))
      (local.set $n (i32.sub (local.get $n) (i32.const 1)))
      (br_if $l (local.get $n)))
    (local.get $s))
  (func (export "zero") (param $p i64) (param $n i32) (result i32) (local $s i32)
    (block $b (loop $l
      (br_if $b (i32.eqz (local.get $n)))
      (local.set $s (i32.add (local.get $s) (i32.load (local.get $p))))
      (local.set $n (i32.sub (local.get $n) (i32.const 1)))
      (br $l)))
    (local.get $s)))
(assert_trap (invoke "f" (i64.const 0) (i32.const 9)) "out of bounds memory access")
(assert_return (invoke "f" (i64.const 0) (i32.const 4)) (i32.const 4))
(assert_return (invoke "zero" (i64.const -1) (i32.const 0)) (i32.const 0))
(assert_trap (invoke "zero" (i64.const -1) (i32.const 1)) "out of bounds memory access")
;; Growth in what a table has, which then throws: the length is read again in the handler.
(module
  (memory i64 1 8)
  (tag $e)
  (table 2 funcref) (elem (i32.const 0) $grow $throw)
  (func $grow (drop (memory.grow (i64.const 1))))
  (func $throw (drop (memory.grow (i64.const 1))) (throw $e))
  (func (export "f") (param $p i64) (param $t i32) (param $n i32) (result i32) (local $s i32)
    (loop $l
      (block $h (try_table (catch $e $h)
        (i32.store8 (local.get $p) (i32.const 1))
        (call_indirect (local.get $t))))
      (local.set $p (i64.add (local.get $p) (i64.const 65536)))
      (local.set $s (i32.add (local.get $s) (i32.load8_u (i64.sub (local.get $p) (i64.const 65536)))))
      (local.set $n (i32.sub (local.get $n) (i32.const 1)))
      (br_if $l (local.get $n)))
    (local.get $s)))
(assert_return (invoke "f" (i64.const 0) (i32.const 0) (i32.const 3)) (i32.const 3))
(assert_return (invoke "f" (i64.const 0) (i32.const 1) (i32.const 5)) (i32.const 5))
(assert_trap (invoke "f" (i64.const 0) (i32.const 1) (i32.const 9)) "out of bounds memory access")

;; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;; Recursion without end is a trap, every time, whatever the frames look like; the instance stays usable and the
;; whole stack is there again afterwards.
(module
  (type $v (func))
  (table funcref (elem $indirect))
  (global $depth (mut i32) (i32.const 0))
  (func $self (export "self") (call $self))
  (func $a (export "mutual") (call $b))
  (func $b (call $a))
  (func $indirect (export "indirect") (call_indirect (type $v) (i32.const 0)))
  (func $count (export "count") (global.set $depth (i32.add (global.get $depth) (i32.const 1))) (call $count))
  (func $values (export "values") (param i64 f64) (result i64 f64)
    (call $values (i64.add (local.get 0) (i64.const 1)) (local.get 1)) (f64.add (local.get 1)))
  (func $loops (export "loops")
    loop loop loop loop loop loop loop loop loop loop loop loop loop loop loop loop
    loop loop loop loop loop loop loop loop loop loop loop loop loop loop loop loop
      call $loops
    end end end end end end end end end end end end end end end end
    end end end end end end end end end end end end end end end end)
  (func (export "depth_and_reset") (result i32) (global.get $depth) (global.set $depth (i32.const 0)))
  (func $sum (export "sum") (param i32) (result i64)
    (if (result i64) (local.get 0)
      (then (i64.add (i64.extend_i32_u (local.get 0)) (call $sum (i32.sub (local.get 0) (i32.const 1)))))
      (else (i64.const 0)))))
(assert_return (invoke "sum" (i32.const 5000)) (i64.const 12502500))
(assert_exhaustion (invoke "self") "call stack exhausted")
(assert_exhaustion (invoke "self") "call stack exhausted")
(assert_exhaustion (invoke "mutual") "call stack exhausted")
(assert_exhaustion (invoke "mutual") "call stack exhausted")
(assert_exhaustion (invoke "indirect") "call stack exhausted")
(assert_exhaustion (invoke "indirect") "call stack exhausted")
(assert_exhaustion (invoke "values" (i64.const 1) (f64.const 2)) "call stack exhausted")
(assert_exhaustion (invoke "values" (i64.const 1) (f64.const 2)) "call stack exhausted")
(assert_exhaustion (invoke "loops") "call stack exhausted")
(assert_exhaustion (invoke "loops") "call stack exhausted")
(assert_exhaustion (invoke "count") "call stack exhausted")
(assert_return (invoke "sum" (i32.const 5000)) (i64.const 12502500))
(assert_exhaustion (invoke "sum" (i32.const 100000000)) "call stack exhausted")
(assert_exhaustion (invoke "sum" (i32.const 100000000)) "call stack exhausted")
(assert_return (invoke "sum" (i32.const 5000)) (i64.const 12502500))

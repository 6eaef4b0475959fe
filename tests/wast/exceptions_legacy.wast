;; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;;! legacy_exceptions = true
;; The legacy instructions: which part takes an exception, rethrow and delegate.

(module
  (tag $a (param i32)) (tag $b (param i64 f32)) (tag $none)
  (func $throw (param i32 i32)
    (if (i32.eq (local.get 0) (i32.const 0)) (then (throw $a (local.get 1))))
    (if (i32.eq (local.get 0) (i32.const 1)) (then (throw $b (i64.extend_i32_s (local.get 1)) (f32.const 0.5))))
    (if (i32.eq (local.get 0) (i32.const 2)) (then (throw $none))))

  (func $parts (export "parts") (param i32 i32) (result i32)
    try (result i32)
      (call $throw (local.get 0) (local.get 1))
      (i32.const 1000)
    catch $a
    catch $b
      (drop) (i32.wrap_i64) (i32.const 100) (i32.add)
    catch_all
      (i32.const 200)
    end)

  ;; In the part that ends a try, its own parts are out of force.
  (func (export "throw_in_part") (param i32) (result i32)
    try (result i32)
      try (result i32)
        (throw $a (local.get 0))
      catch $a
        (throw $a (i32.add (i32.const 1)))
      catch_all
        (i32.const -1)
      end
    catch $a
      (i32.const 10) (i32.mul)
    end)

  ;; rethrow of an outer part, from an inner one.
  (func (export "rethrow_outer") (result i32)
    try (result i32)
      try
        (call $throw (i32.const 0) (i32.const 3))
      catch $a
        (drop)
        try
          (call $throw (i32.const 2) (i32.const 0))
        catch $none
          rethrow 1
        end
      end
      (i32.const -1)
    catch $a
    catch_all
      (i32.const -2)
    end)

  ;; Locals in parts are those at the call.
  (func (export "locals") (param i32) (result i32) (local $x i32) (local $y i32)
    try
      (local.set $x (i32.const 1))
      (call $throw (local.get 0) (i32.const 0))
      (local.set $x (i32.const 2))
      (call $throw (i32.sub (local.get 0) (i32.const 10)) (i32.const 0))
      (local.set $x (i32.const 3))
    catch $a
      (drop) (local.set $y (i32.const 10))
    catch $b
      (drop) (drop) (local.set $y (i32.add (local.get $x) (i32.const 20)))
    catch_all
      (local.set $y (i32.const 30))
    end
    (i32.add (local.get $x) (i32.mul (local.get $y) (i32.const 100))))

  ;; delegate passes over the blocks between.
  (func (export "delegate") (param i32) (result i32)
    try $outer (result i32)
      try $middle (result i32)
        try
          (call $throw (local.get 0) (i32.const 1))
        delegate $outer
        (i32.const 5)
      catch_all
        (i32.const -1)
      end
    catch $a
      (i32.const 50) (i32.add)
    end)
  (func (export "delegate_to_caller") (result i32)
    try (result i32)
      (call $to_caller)
    catch_all
      (i32.const 7)
    end)
  (func $to_caller (result i32)
    try (result i32)
      try
        (throw $none)
      delegate 1
      (i32.const 1)
    catch_all
      (i32.const 2)
    end)
  (func (export "delegate_from_part") (result i32)
    try $outer (result i32)
      try $middle (result i32)
        (throw $none)
      catch_all
        ;; $middle no longer catches.
        try
          (throw $a (i32.const 8))
        delegate $middle
        (i32.const -1)
      end
    catch $a
    end)

  (func (export "nothing") (result i32)
    try (result i32) (call $parts (i32.const 9) (i32.const 0)) end)
  (func (export "uncaught") (param i32) try (call $throw (local.get 0) (i32.const 1)) catch $a (drop) end)

  (func (export "loop") (param i32) (result i32) (local $caught i32)
    (loop $again
      try
        (call $throw (i32.rem_u (local.get 0) (i32.const 4)) (local.get 0))
      catch $a
        (local.set $caught (i32.add (local.get $caught)))
      catch_all
        (local.set $caught (i32.add (local.get $caught) (i32.const 1)))
        try rethrow 1 catch $b (drop) (drop) catch $none end
      end
      (local.set 0 (i32.sub (local.get 0) (i32.const 1)))
      (br_if $again (local.get 0)))
    (local.get $caught)))
(assert_return (invoke "parts" (i32.const 0) (i32.const 5)) (i32.const 5))
(assert_return (invoke "parts" (i32.const 1) (i32.const 5)) (i32.const 105))
(assert_return (invoke "parts" (i32.const 2) (i32.const 5)) (i32.const 200))
(assert_return (invoke "parts" (i32.const 3) (i32.const 5)) (i32.const 1000))
(assert_return (invoke "throw_in_part" (i32.const 5)) (i32.const 60))
(assert_return (invoke "rethrow_outer") (i32.const 3))
(assert_return (invoke "locals" (i32.const 0)) (i32.const 1001))
(assert_return (invoke "locals" (i32.const 1)) (i32.const 2101))
(assert_return (invoke "locals" (i32.const 2)) (i32.const 3001))
(assert_return (invoke "locals" (i32.const 10)) (i32.const 1002))
(assert_return (invoke "locals" (i32.const 11)) (i32.const 2202))
(assert_return (invoke "locals" (i32.const 20)) (i32.const 3))
(assert_return (invoke "delegate" (i32.const 0)) (i32.const 51))
(assert_return (invoke "delegate" (i32.const 5)) (i32.const 5))
(assert_exception (invoke "delegate" (i32.const 2)))
(assert_return (invoke "delegate_to_caller") (i32.const 7))
(assert_return (invoke "delegate_from_part") (i32.const 8))
(assert_return (invoke "nothing") (i32.const 1000))
(assert_exception (invoke "uncaught" (i32.const 1)))
(assert_return (invoke "uncaught" (i32.const 0)))
(assert_return (invoke "loop" (i32.const 20000)) (i32.const 50020000))

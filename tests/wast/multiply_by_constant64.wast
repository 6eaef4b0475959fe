;; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;; i64: products by constants of all kinds (1, -1, powers of two, small and large odd numbers, borders) against the same
;; operation with the constant read from memory, over border values; the sum pins the results themselves.
(module
  (type $f (func (param i64) (result i64)))
  (memory 1)
  (data (i32.const 0)
    "\00\00\00\00\00\00\00\00\01\00\00\00\00\00\00\00\ff\ff\ff\ff\ff\ff\ff\ff\02\00\00\00\00\00\00\00\fe\ff\ff\ff\ff\ff\ff\ff\03\00\00\00\00\00\00\00"
    "\fd\ff\ff\ff\ff\ff\ff\ff\04\00\00\00\00\00\00\00\05\00\00\00\00\00\00\00\fb\ff\ff\ff\ff\ff\ff\ff\06\00\00\00\00\00\00\00\07\00\00\00\00\00\00\00"
    "\f9\ff\ff\ff\ff\ff\ff\ff\09\00\00\00\00\00\00\00\0a\00\00\00\00\00\00\00\f6\ff\ff\ff\ff\ff\ff\ff\0b\00\00\00\00\00\00\00\0c\00\00\00\00\00\00\00"
    "\0d\00\00\00\00\00\00\00\19\00\00\00\00\00\00\00\3c\00\00\00\00\00\00\00\3f\00\00\00\00\00\00\00\40\00\00\00\00\00\00\00\c0\ff\ff\ff\ff\ff\ff\ff"
    "\64\00\00\00\00\00\00\00\7d\00\00\00\00\00\00\00\7f\00\00\00\00\00\00\00\ff\00\00\00\00\00\00\00\00\01\00\00\00\00\00\00\71\02\00\00\00\00\00\00"
    "\81\02\00\00\00\00\00\00\e8\03\00\00\00\00\00\00\00\04\00\00\00\00\00\00\10\0e\00\00\00\00\00\00\10\27\00\00\00\00\00\00\ff\ff\00\00\00\00\00\00"
    "\00\00\01\00\00\00\00\00\01\00\01\00\00\00\00\00\40\42\0f\00\00\00\00\00\ff\ff\ff\7f\00\00\00\00\00\00\00\80\ff\ff\ff\ff\00\00\00\80\00\00\00\00"
    "\ff\ff\ff\ff\00\00\00\00\00\00\00\00\01\00\00\00\01\00\00\00\01\00\00\00\00\ca\9a\3b\00\00\00\00\00\10\a5\d4\e8\00\00\00\81\3d\66\00\00\00\00\00"
    "\ff\ff\ff\ff\ff\ff\ff\7f\01\00\00\00\00\00\00\80\00\00\00\00\00\00\00\80\00\00\00\00\00\00\00\c0\00\00\00\00\00\00\00\40\00\00\00\00\00\00\00\c0"
    "\0f\00\00\00\00\00\00\00\11\00\00\00\00\00\00\00\1f\00\00\00\00\00\00\00\21\00\00\00\00\00\00\00\28\00\00\00\00\00\00\00\2d\00\00\00\00\00\00\00"
    "\48\00\00\00\00\00\00\00\51\00\00\00\00\00\00\00\f7\ff\ff\ff\ff\ff\ff\ff\f1\ff\ff\ff\ff\ff\ff\ff\e1\ff\ff\ff\ff\ff\ff\ff")
  (data (i32.const 4096)
    "\00\00\00\00\00\00\00\00\01\00\00\00\00\00\00\00\02\00\00\00\00\00\00\00\03\00\00\00\00\00\00\00\06\00\00\00\00\00\00\00\07\00\00\00\00\00\00\00"
    "\09\00\00\00\00\00\00\00\0a\00\00\00\00\00\00\00\64\00\00\00\00\00\00\00\ff\00\00\00\00\00\00\00\00\01\00\00\00\00\00\00\e8\03\00\00\00\00\00\00"
    "\ff\ff\00\00\00\00\00\00\00\00\01\00\00\00\00\00\ff\ff\ff\ff\ff\ff\ff\ff\fe\ff\ff\ff\ff\ff\ff\ff\fd\ff\ff\ff\ff\ff\ff\ff\f9\ff\ff\ff\ff\ff\ff\ff"
    "\f6\ff\ff\ff\ff\ff\ff\ff\9c\ff\ff\ff\ff\ff\ff\ff\00\ff\ff\ff\ff\ff\ff\ff\00\00\ff\ff\ff\ff\ff\ff\fe\ff\ff\7f\00\00\00\00\ff\ff\ff\7f\00\00\00\00"
    "\00\00\00\80\ff\ff\ff\ff\fe\ff\ff\ff\00\00\00\00\ff\ff\ff\ff\00\00\00\00\00\00\00\00\01\00\00\00\00\00\00\00\ff\ff\ff\ff\ef\cd\ab\89\67\45\23\01"
    "\11\32\54\76\98\ba\dc\fe\55\55\55\55\55\55\55\55\fe\ff\ff\ff\ff\ff\ff\7f\ff\ff\ff\ff\ff\ff\ff\7f\01\00\00\00\00\00\00\80\02\00\00\00\00\00\00\80"
    "\01\00\00\00\00\00\00\80\00\00\00\00\00\00\00\80")
  (table funcref (elem
    $mul.0 $mul.1 $mul.2 $mul.3 $mul.4 $mul.5 $mul.6 $mul.7 $mul.8 $mul.9 $mul.10 $mul.11
    $mul.12 $mul.13 $mul.14 $mul.15 $mul.16 $mul.17 $mul.18 $mul.19 $mul.20 $mul.21 $mul.22 $mul.23
    $mul.24 $mul.25 $mul.26 $mul.27 $mul.28 $mul.29 $mul.30 $mul.31 $mul.32 $mul.33 $mul.34 $mul.35
    $mul.36 $mul.37 $mul.38 $mul.39 $mul.40 $mul.41 $mul.42 $mul.43 $mul.44 $mul.45 $mul.46 $mul.47
    $mul.48 $mul.49 $mul.50 $mul.51 $mul.52 $mul.53 $mul.54 $mul.55 $mul.56 $mul.57 $mul.58 $mul.59
    $mul.60 $mul.61 $mul.62 $mul.63 $mul.64))
  (func $mul.0 (type $f) (i64.mul (local.get 0) (i64.const 0)))
  (func $mul.1 (type $f) (i64.mul (local.get 0) (i64.const 1)))
  (func $mul.2 (type $f) (i64.mul (local.get 0) (i64.const -1)))
  (func $mul.3 (type $f) (i64.mul (local.get 0) (i64.const 2)))
  (func $mul.4 (type $f) (i64.mul (local.get 0) (i64.const -2)))
  (func $mul.5 (type $f) (i64.mul (local.get 0) (i64.const 3)))
  (func $mul.6 (type $f) (i64.mul (local.get 0) (i64.const -3)))
  (func $mul.7 (type $f) (i64.mul (local.get 0) (i64.const 4)))
  (func $mul.8 (type $f) (i64.mul (local.get 0) (i64.const 5)))
  (func $mul.9 (type $f) (i64.mul (local.get 0) (i64.const -5)))
  (func $mul.10 (type $f) (i64.mul (local.get 0) (i64.const 6)))
  (func $mul.11 (type $f) (i64.mul (local.get 0) (i64.const 7)))
  (func $mul.12 (type $f) (i64.mul (local.get 0) (i64.const -7)))
  (func $mul.13 (type $f) (i64.mul (local.get 0) (i64.const 9)))
  (func $mul.14 (type $f) (i64.mul (local.get 0) (i64.const 10)))
  (func $mul.15 (type $f) (i64.mul (local.get 0) (i64.const -10)))
  (func $mul.16 (type $f) (i64.mul (local.get 0) (i64.const 11)))
  (func $mul.17 (type $f) (i64.mul (local.get 0) (i64.const 12)))
  (func $mul.18 (type $f) (i64.mul (local.get 0) (i64.const 13)))
  (func $mul.19 (type $f) (i64.mul (local.get 0) (i64.const 25)))
  (func $mul.20 (type $f) (i64.mul (local.get 0) (i64.const 60)))
  (func $mul.21 (type $f) (i64.mul (local.get 0) (i64.const 63)))
  (func $mul.22 (type $f) (i64.mul (local.get 0) (i64.const 64)))
  (func $mul.23 (type $f) (i64.mul (local.get 0) (i64.const -64)))
  (func $mul.24 (type $f) (i64.mul (local.get 0) (i64.const 100)))
  (func $mul.25 (type $f) (i64.mul (local.get 0) (i64.const 125)))
  (func $mul.26 (type $f) (i64.mul (local.get 0) (i64.const 127)))
  (func $mul.27 (type $f) (i64.mul (local.get 0) (i64.const 255)))
  (func $mul.28 (type $f) (i64.mul (local.get 0) (i64.const 256)))
  (func $mul.29 (type $f) (i64.mul (local.get 0) (i64.const 625)))
  (func $mul.30 (type $f) (i64.mul (local.get 0) (i64.const 641)))
  (func $mul.31 (type $f) (i64.mul (local.get 0) (i64.const 1000)))
  (func $mul.32 (type $f) (i64.mul (local.get 0) (i64.const 1024)))
  (func $mul.33 (type $f) (i64.mul (local.get 0) (i64.const 3600)))
  (func $mul.34 (type $f) (i64.mul (local.get 0) (i64.const 10000)))
  (func $mul.35 (type $f) (i64.mul (local.get 0) (i64.const 65535)))
  (func $mul.36 (type $f) (i64.mul (local.get 0) (i64.const 65536)))
  (func $mul.37 (type $f) (i64.mul (local.get 0) (i64.const 65537)))
  (func $mul.38 (type $f) (i64.mul (local.get 0) (i64.const 1000000)))
  (func $mul.39 (type $f) (i64.mul (local.get 0) (i64.const 2147483647)))
  (func $mul.40 (type $f) (i64.mul (local.get 0) (i64.const -2147483648)))
  (func $mul.41 (type $f) (i64.mul (local.get 0) (i64.const 2147483648)))
  (func $mul.42 (type $f) (i64.mul (local.get 0) (i64.const 4294967295)))
  (func $mul.43 (type $f) (i64.mul (local.get 0) (i64.const 4294967296)))
  (func $mul.44 (type $f) (i64.mul (local.get 0) (i64.const 4294967297)))
  (func $mul.45 (type $f) (i64.mul (local.get 0) (i64.const 1000000000)))
  (func $mul.46 (type $f) (i64.mul (local.get 0) (i64.const 1000000000000)))
  (func $mul.47 (type $f) (i64.mul (local.get 0) (i64.const 6700417)))
  (func $mul.48 (type $f) (i64.mul (local.get 0) (i64.const 9223372036854775807)))
  (func $mul.49 (type $f) (i64.mul (local.get 0) (i64.const -9223372036854775807)))
  (func $mul.50 (type $f) (i64.mul (local.get 0) (i64.const -9223372036854775808)))
  (func $mul.51 (type $f) (i64.mul (local.get 0) (i64.const 13835058055282163712)))
  (func $mul.52 (type $f) (i64.mul (local.get 0) (i64.const 4611686018427387904)))
  (func $mul.53 (type $f) (i64.mul (local.get 0) (i64.const -4611686018427387904)))
  (func $mul.54 (type $f) (i64.mul (local.get 0) (i64.const 15)))
  (func $mul.55 (type $f) (i64.mul (local.get 0) (i64.const 17)))
  (func $mul.56 (type $f) (i64.mul (local.get 0) (i64.const 31)))
  (func $mul.57 (type $f) (i64.mul (local.get 0) (i64.const 33)))
  (func $mul.58 (type $f) (i64.mul (local.get 0) (i64.const 40)))
  (func $mul.59 (type $f) (i64.mul (local.get 0) (i64.const 45)))
  (func $mul.60 (type $f) (i64.mul (local.get 0) (i64.const 72)))
  (func $mul.61 (type $f) (i64.mul (local.get 0) (i64.const 81)))
  (func $mul.62 (type $f) (i64.mul (local.get 0) (i64.const -9)))
  (func $mul.63 (type $f) (i64.mul (local.get 0) (i64.const -15)))
  (func $mul.64 (type $f) (i64.mul (local.get 0) (i64.const -31)))
  ;; The sum of all results times 31 each time, and 1000 times divisor plus input of the first difference, or -1.
  (func (export "mul") (result i64 i32) (local $d i32) (local $x i32) (local $sum i64) (local $bad i32) (local $v i64)
    (local.set $bad (i32.const -1))
    (loop $divisors
      (local.set $x (i32.const 0))
      (loop $inputs
        (local.set $v (call_indirect (type $f) (i64.load offset=4096 (i32.mul (local.get $x) (i32.const 8)))
          (i32.add (i32.const 0) (local.get $d))))
        (if (i32.and (i32.lt_s (local.get $bad) (i32.const 0))
                     (i64.ne (local.get $v) (i64.mul (i64.load offset=4096 (i32.mul (local.get $x) (i32.const 8)))
                                                (i64.load (i32.mul (local.get $d) (i32.const 8))))))
          (then (local.set $bad (i32.add (i32.mul (local.get $d) (i32.const 1000)) (local.get $x)))))
        (local.set $sum (i64.add (i64.mul (local.get $sum) (i64.const 31)) (local.get $v)))
        (br_if $inputs (i32.lt_u (local.tee $x (i32.add (local.get $x) (i32.const 1))) (i32.const 38))))
      (br_if $divisors (i32.lt_u (local.tee $d (i32.add (local.get $d) (i32.const 1))) (i32.const 65))))
    (local.get $sum) (local.get $bad)))
(assert_return (invoke "mul") (i64.const 264918347277826095) (i32.const -1))

;; What bench_calls and bench/peers/wasmtime.c call and are called by.
(module
  (import "env" "typed" (func $typed (param i32) (result i32)))
  (import "env" "untyped" (func $untyped (param i32) (result i32)))
  (table 3 3 funcref)
  (elem (i32.const 0) $own $typed $untyped)
  (type $t (func (param i32) (result i32)))
  (func $own (export "add") (type $t) (i32.add (local.get 0) (i32.const 1)))
  (func (export "nothing"))
  (func (export "loop") (param $which i32) (param $count i32) (result i32)
    (local $x i32)
    (loop $again
      (local.set $x (call_indirect (type $t) (local.get $x) (local.get $which)))
      (br_if $again (local.tee $count (i32.sub (local.get $count) (i32.const 1)))))
    (local.get $x)))

;; A copy that overlaps itself and is longer than any piece that a runtime might copy between two looks
;; at a limit: the last bytes must be read before they are overwritten.
(module
  (memory 3200)
  (func (export "copy") (result i32)
    (i32.store8 (i32.const 134217727) (i32.const 0xaa))
    (i32.store8 (i32.const 134217728) (i32.const 0xbb))
    (memory.copy (i32.const 1) (i32.const 0) (i32.const 134217744))
    (i32.load8_u (i32.const 134217729))))
(assert_return (invoke "copy") (i32.const 0xbb))
;; Growth is seen at once by what follows in the same function.
(module
  (memory 1)
  (func (export "grow_and_fill") (param i32) (result i32)
    (drop (memory.grow (i32.const 1)))
    (memory.fill (i32.const 65536) (i32.const 9) (i32.const 10))
    (memory.fill (i32.const 131064) (i32.const 9) (local.get 0))
    (i32.load8_u (i32.const 65545)))
  (func (export "grow_and_load") (param i32) (result i32)
    (drop (i32.load (i32.const 0)))
    (drop (memory.grow (local.get 0)))
    (i32.store (i32.const 196604) (i32.const 42))
    (i32.load (i32.const 196604))))
(assert_return (invoke "grow_and_fill" (i32.const 8)) (i32.const 9))
(assert_trap (invoke "grow_and_fill" (i32.const 100000)) "out of bounds memory access")
(module
  (memory 1)
  (func (export "grow_and_load") (param i32) (result i32)
    (drop (i32.load (i32.const 0)))
    (drop (memory.grow (local.get 0)))
    (i32.store (i32.const 196604) (i32.const 42))
    (i32.load (i32.const 196604))))
(assert_trap (invoke "grow_and_load" (i32.const 1)) "out of bounds memory access")
(assert_return (invoke "grow_and_load" (i32.const 1)) (i32.const 42))

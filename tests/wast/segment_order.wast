;; Element segments come before data segments, each in order; what was written before one that does
;; not fit stays. Also where a memory's contents are worked out ahead of instantiation.

(module $host
  (table (export "table") 10 funcref)
  (memory (export "memory") 1)
  (type $get (func (result i32)))
  (func (export "call") (param i32) (result i32) (call_indirect (type $get) (local.get 0)))
  (func (export "load") (param i32) (result i32) (i32.load8_u (local.get 0))))
(register "host" $host)

;; An element segment does not fit: data segments are not applied, not even to the own memory.
(assert_trap
  (module
    (import "host" "table" (table 10 funcref))
    (memory 1)
    (func $f (result i32) (i32.load8_u (i32.const 5)))
    (elem (i32.const 0) $f)
    (elem (i32.const 10) $f)
    (data (i32.const 5) "\07"))
  "out of bounds table access")
(assert_return (invoke $host "call" (i32.const 0)) (i32.const 0))

;; A data segment does not fit: those before it are there, those after it are not.
(assert_trap
  (module
    (import "host" "table" (table 10 funcref))
    (memory 1)
    (func $before (result i32) (i32.load8_u (i32.const 5)))
    (func $after (result i32) (i32.load8_u (i32.const 6)))
    (elem (i32.const 1) $before $after)
    (data (i32.const 5) "\07")
    (data (i32.const 65536) "\01")
    (data (i32.const 6) "\09"))
  "out of bounds memory access")
(assert_return (invoke $host "call" (i32.const 1)) (i32.const 7))
(assert_return (invoke $host "call" (i32.const 2)) (i32.const 0))

;; The same for an imported memory.
(assert_trap
  (module
    (import "host" "memory" (memory 1))
    (data (i32.const 20) "\05")
    (data (i32.const 65535) "ab")
    (data (i32.const 21) "\06"))
  "out of bounds memory access")
(assert_return (invoke $host "load" (i32.const 20)) (i32.const 5))
(assert_return (invoke $host "load" (i32.const 21)) (i32.const 0))

;; Later segments win, zeros included; active segments are dropped, passive ones stay.
(module
  (memory 2)
  (data (i32.const 100) "abcdef")
  (data $passive "xyz")
  (data (i32.const 102) "\00\00")
  (data $active (i32.const 65534) "QRST")
  (func (export "load") (param i32) (result i32) (i32.load8_u (local.get 0)))
  (func (export "init passive") (memory.init $passive (i32.const 0) (i32.const 0) (i32.const 3)))
  (func (export "init active") (memory.init $active (i32.const 0) (i32.const 0) (i32.const 1)))
  (func (export "init nothing") (memory.init $active (i32.const 0) (i32.const 0) (i32.const 0))))
(assert_return (invoke "load" (i32.const 101)) (i32.const 98))
(assert_return (invoke "load" (i32.const 102)) (i32.const 0))
(assert_return (invoke "load" (i32.const 103)) (i32.const 0))
(assert_return (invoke "load" (i32.const 104)) (i32.const 101))
(assert_return (invoke "load" (i32.const 65537)) (i32.const 84))
(assert_trap (invoke "init active") "out of bounds memory access")
(assert_return (invoke "init nothing"))
(assert_return (invoke "init passive"))
(assert_return (invoke "load" (i32.const 2)) (i32.const 122))

;; An offset that only the instance knows comes between two constant ones that it overlaps.
(module (global (export "offset") i32 (i32.const 8)))
(register "offsets")
(module
  (import "offsets" "offset" (global $offset i32))
  (memory 1)
  (data (i32.const 8) "aaaa")
  (data (global.get $offset) "bbb")
  (data (i32.const 8) "cc")
  (func (export "load") (param i32) (result i32) (i32.load8_u (local.get 0))))
(assert_return (invoke "load" (i32.const 8)) (i32.const 99))
(assert_return (invoke "load" (i32.const 10)) (i32.const 98))
(assert_return (invoke "load" (i32.const 11)) (i32.const 97))

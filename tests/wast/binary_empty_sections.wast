;; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;; Sections that hold 0 things are as good as absent ones, in every order that is allowed; their order still counts.
;; type, import, function, table, memory, global, export, element, data count, code, data
(module binary "\00asm" "\01\00\00\00"
  "\01\01\00"
  "\02\01\00"
  "\03\01\00"
  "\04\01\00"
  "\05\01\00"
  "\06\01\00"
  "\07\01\00"
  "\09\01\00"
  "\0c\01\00"
  "\0a\01\00"
  "\0b\01\00")
(module binary "\00asm" "\01\00\00\00"
  "\05\01\00")
(module binary "\00asm" "\01\00\00\00"
  "\04\01\00")
(module binary "\00asm" "\01\00\00\00"
  "\06\01\00")
(module binary "\00asm" "\01\00\00\00"
  "\09\01\00")
(module binary "\00asm" "\01\00\00\00"
  "\0b\01\00")
(module binary "\00asm" "\01\00\00\00"
  "\0c\01\00")
;; around a function
(module binary "\00asm" "\01\00\00\00"
  "\01\05\01\60\00\01\7f"
  "\02\01\00"
  "\03\02\01\00"
  "\04\01\00"
  "\05\01\00"
  "\06\01\00"
  "\07\05\01\01\66\00\00"
  "\09\01\00"
  "\0a\06\01\04\00\41\07\0b"
  "\0b\01\00")
(assert_return (invoke "f") (i32.const 7))
;; twice; out of order; one byte left over; shorter than it says; no count at all
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\05\01\00"
  "\05\01\00")
  "unexpected content after last section")
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\05\01\00"
  "\04\01\00")
  "unexpected content after last section")
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\05\02\00\00")
  "section size mismatch")
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\05\02\00")
  "length out of bounds")
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\05\00")
  "unexpected end")
;; a function section without code, code without functions
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00")
  "function and code section have inconsistent lengths")
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\0a\04\01\02\00\0b")
  "function and code section have inconsistent lengths")

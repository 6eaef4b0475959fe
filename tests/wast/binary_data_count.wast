;; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;; The data count section and the data section must agree, and data.drop and memory.init need the former.
;; count 1, no data section
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\05\03\01\00\01"
  "\0c\01\01")
  "data count and data section have inconsistent lengths")
;; count 0, one active segment
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\05\03\01\00\01"
  "\0c\01\00"
  "\0b\07\01\00\41\00\0b\01\78")
  "data count and data section have inconsistent lengths")
;; count 2, one passive segment
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\05\03\01\00\01"
  "\0c\01\02"
  "\0b\04\01\01\01\78")
  "data count and data section have inconsistent lengths")
;; data.drop, memory.init without a count
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\05\03\01\00\01"
  "\0a\07\01\05\00\fc\09\00\0b"
  "\0b\04\01\01\01\78")
  "data count section required")
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\05\03\01\00\01"
  "\0a\0e\01\0c\00\41\00\41\00\41\00\fc\08\00\00\0b"
  "\0b\04\01\01\01\78")
  "data count section required")
;; an index beyond the count
(assert_invalid (module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\05\03\01\00\01"
  "\0c\01\01"
  "\0a\07\01\05\00\fc\09\01\0b"
  "\0b\04\01\01\01\78")
  "unknown data segment")
;; the section after the code section
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\05\03\01\00\01"
  "\0a\04\01\02\00\0b"
  "\0c\01\01"
  "\0b\04\01\01\01\78")
  "unexpected content after last section")
;; count 0, no data section; count 0, empty data section; no count, one active segment
(module binary "\00asm" "\01\00\00\00"
  "\05\03\01\00\01"
  "\0c\01\00")
(module binary "\00asm" "\01\00\00\00"
  "\05\03\01\00\01"
  "\0c\01\00"
  "\0b\01\00")
(module binary "\00asm" "\01\00\00\00"
  "\05\03\01\00\01"
  "\0b\07\01\00\41\00\0b\01\78")

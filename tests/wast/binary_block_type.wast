;; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;; A block type is one byte (empty or a value type) or a non-negative signed LEB128 of 33 bits: an over-long form of
;; a negative number is no value type and not the empty type.
;; C0 7F and C0 FF 7F: -64 in two and three bytes
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\0a\08\01\06\00\02\c0\7f\0b\0b")
  "malformed block type")
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\0a\09\01\07\00\02\c0\ff\7f\0b\0b")
  "malformed block type")
;; FF 7F: -1, the number of i32, in two bytes
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\0a\0b\01\09\00\02\ff\7f\41\00\0b\1a\0b")
  "malformed block type")
;; 80 80 80 80 70: negative with all 33 bits
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\0a\0b\01\09\00\02\80\80\80\80\70\0b\0b")
  "malformed block type")
;; six bytes
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\0a\0c\01\0a\00\02\80\80\80\80\80\00\0b\0b")
  "integer representation too long")
;; type 7 of 1
(assert_invalid (module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\0a\07\01\05\00\02\07\0b\0b")
  "unknown type")
;; type 0 in one, two and five bytes; i32 in one byte
(module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\0a\07\01\05\00\02\00\0b\0b")
(module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\0a\08\01\06\00\02\80\00\0b\0b")
(module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\0a\0b\01\09\00\02\80\80\80\80\00\0b\0b")
(module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\0a\0a\01\08\00\02\7f\41\00\0b\1a\0b")

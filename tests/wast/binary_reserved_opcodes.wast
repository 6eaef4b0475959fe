;; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;; Opcodes that no feature defines are rejected, the prefixed ones by their whole sub-opcode; a padded LEB128 of a
;; known sub-opcode is that opcode.
;; 0x27
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\05\03\01\00\01"
  "\0a\05\01\03\00\27\0b")
  "illegal opcode")
;; 0xc5
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\05\03\01\00\01"
  "\0a\05\01\03\00\c5\0b")
  "illegal opcode")
;; 0xff
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\05\03\01\00\01"
  "\0a\05\01\03\00\ff\0b")
  "illegal opcode")
;; 0xfc 127
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\05\03\01\00\01"
  "\0a\06\01\04\00\fc\7f\0b")
  "illegal opcode")
;; 0xfc 23
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\05\03\01\00\01"
  "\0a\06\01\04\00\fc\17\0b")
  "illegal opcode")
;; 0xfc 0x108: the low byte is that of memory.init
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\05\03\01\00\01"
  "\0a\07\01\05\00\fc\88\02\0b")
  "illegal opcode")
;; 0xfd 165
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\05\03\01\00\01"
  "\0a\07\01\05\00\fd\a5\01\0b")
  "illegal opcode")
;; 0xfd 0x277e8c
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\05\03\01\00\01"
  "\0a\09\01\07\00\fd\8c\fd\9d\01\0b")
  "illegal opcode")
;; 0xfe 127
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\05\03\01\00\01"
  "\0a\06\01\04\00\fe\7f\0b")
  "illegal opcode")
;; 0xfc 8 in two bytes: memory.init
(module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\05\03\01\00\01"
  "\0c\01\01"
  "\0a\0f\01\0d\00\41\00\41\00\41\00\fc\88\00\00\00\0b"
  "\0b\03\01\01\00")
;; 0xfc 11 in five bytes: memory.fill
(module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\05\03\01\00\01"
  "\0a\11\01\0f\00\41\00\41\00\41\00\fc\8b\80\80\80\00\00\0b")
;; in six bytes: too long
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\05\03\01\00\01"
  "\0a\12\01\10\00\41\00\41\00\41\00\fc\8b\80\80\80\80\00\00\0b")
  "integer representation too long")

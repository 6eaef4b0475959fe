;; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;; Integers: at most ceil(bits/7) bytes, and the unused bits of the last one must repeat the sign (or be 0).
;; i32.const: six bytes; unused bits 001 (too large); unused bits of both signs mixed
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\0a\0c\01\0a\00\41\80\80\80\80\80\00\1a\0b")
  "integer representation too long")
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\0a\0b\01\09\00\41\80\80\80\80\10\1a\0b")
  "integer too large")
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\0a\0b\01\09\00\41\80\80\80\80\70\1a\0b")
  "integer too large")
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\0a\0b\01\09\00\41\ff\ff\ff\ff\4f\1a\0b")
  "integer too large")
;; i64.const: eleven bytes; unused bits of the tenth
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\0a\11\01\0f\00\42\80\80\80\80\80\80\80\80\80\80\00\1a\0b")
  "integer representation too long")
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\0a\10\01\0e\00\42\80\80\80\80\80\80\80\80\80\7e\1a\0b")
  "integer too large")
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\0a\10\01\0e\00\42\80\80\80\80\80\80\80\80\80\01\1a\0b")
  "integer too large")
;; function index: six bytes, unused bits; vector count; section size
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\0a\0b\01\09\00\10\80\80\80\80\80\00\0b")
  "integer representation too long")
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\0a\0a\01\08\00\10\80\80\80\80\40\0b")
  "integer too large")
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\01\09\81\80\80\80\80\00\60\00\00")
  "integer representation too long")
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\01\84\80\80\80\10\01\60\00\00")
  "integer too large")
;; padding within the length is fine: i32.const -1, 0 and the minimum; i64.const -1 and the minimum; call 0; a section size
(module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\0a\0b\01\09\00\41\ff\ff\ff\ff\7f\1a\0b")
(module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\0a\0b\01\09\00\41\80\80\80\80\00\1a\0b")
(module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\0a\0b\01\09\00\41\80\80\80\80\78\1a\0b")
(module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\0a\10\01\0e\00\42\ff\ff\ff\ff\ff\ff\ff\ff\ff\7f\1a\0b")
(module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\0a\10\01\0e\00\42\80\80\80\80\80\80\80\80\80\7f\1a\0b")
(module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\0a\0a\01\08\00\10\80\80\80\80\00\0b")
(module binary "\00asm" "\01\00\00\00"
  "\01\84\80\80\80\00\01\60\00\00")

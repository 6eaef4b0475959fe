;; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;; Declared locals: the sum of the groups must not wrap around, a large number of them is fine, empty groups too.
;; two groups of 2^32-1; three that sum to 2^32+2
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\0a\10\01\0e\02\ff\ff\ff\ff\0f\7f\ff\ff\ff\ff\0f\7e\0b")
  "too many locals")
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\0a\12\01\10\03\80\80\80\80\08\7f\80\80\80\80\08\7e\02\7d\0b")
  "too many locals")
;; an unknown type, a group cut short
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\0a\06\01\04\01\01\40\0b")
  "malformed value type")
;; 50,000 locals with the parameter: the last one is 0, then holds what is set
(module binary "\00asm" "\01\00\00\00"
  "\01\07\01\60\01\7e\02\7e\7e"
  "\03\02\01\00"
  "\07\05\01\01\66\00\00"
  "\0a\1c\01\1a\03\a0\9c\01\7e\00\7f\af\ea\01\7e\20\cf\86\03\20\00\21\cf\86\03\20\cf\86\03\0b")
(assert_return (invoke "f" (i64.const 5)) (i64.const 0) (i64.const 5))

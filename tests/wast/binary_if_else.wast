;; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;; An if has at most one else, a block and a loop none, and no body ends early or late.
;; if else nop else end end
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\0a\0c\01\0a\00\41\00\04\40\05\01\05\0b\0b")
  "unexpected else")
;; else in a block, in a loop, in the function
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\0a\08\01\06\00\02\40\05\0b\0b")
  "unexpected else")
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\0a\08\01\06\00\03\40\05\0b\0b")
  "unexpected else")
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\0a\05\01\03\00\05\0b")
  "unexpected else")
;; one end too few, one too many
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\0a\06\01\04\00\02\40\0b")
  "unexpected end")
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\0a\05\01\03\00\0b\0b")
  "operators remaining after end of function")
;; else after both arms have left is fine
(module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\0a\0c\01\0a\00\41\00\04\40\0f\05\00\0b\0b")

;; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;; A module runs although a custom section that engines read (names, hints, producers) is malformed; only the name of
;; the section itself must be well-formed.
;; branch hints of function 0, which has no branches: two hints; of a function that is not there
(module binary "\00asm" "\01\00\00\00"
  "\01\05\01\60\00\01\7f"
  "\03\02\01\00"
  "\07\05\01\01\66\00\00"
  "\00\23\19\6d\65\74\61\64\61\74\61\2e\63\6f\64\65\2e\62\72\61\6e\63\68\5f\68\69\6e\74\01\00\02\01\01\00\03\01\01"
  "\0a\06\01\04\00\41\07\0b")
(assert_return (invoke "f") (i32.const 7))
(module binary "\00asm" "\01\00\00\00"
  "\01\05\01\60\00\01\7f"
  "\03\02\01\00"
  "\07\05\01\01\66\00\00"
  "\00\20\19\6d\65\74\61\64\61\74\61\2e\63\6f\64\65\2e\62\72\61\6e\63\68\5f\68\69\6e\74\01\63\01\05\01\00"
  "\0a\06\01\04\00\41\07\0b")
(assert_return (invoke "f") (i32.const 7))
;; name section: subsection longer than the section; not UTF-8; index beyond the functions; twice the same; cut count; empty
(module binary "\00asm" "\01\00\00\00"
  "\01\05\01\60\00\01\7f"
  "\03\02\01\00"
  "\07\05\01\01\66\00\00"
  "\0a\06\01\04\00\41\07\0b"
  "\00\0b\04\6e\61\6d\65\01\7f\01\00\01\66")
(assert_return (invoke "f") (i32.const 7))
(module binary "\00asm" "\01\00\00\00"
  "\01\05\01\60\00\01\7f"
  "\03\02\01\00"
  "\07\05\01\01\66\00\00"
  "\0a\06\01\04\00\41\07\0b"
  "\00\0b\04\6e\61\6d\65\01\04\01\00\01\ff")
(assert_return (invoke "f") (i32.const 7))
(module binary "\00asm" "\01\00\00\00"
  "\01\05\01\60\00\01\7f"
  "\03\02\01\00"
  "\07\05\01\01\66\00\00"
  "\0a\06\01\04\00\41\07\0b"
  "\00\0b\04\6e\61\6d\65\01\04\01\63\01\66")
(assert_return (invoke "f") (i32.const 7))
(module binary "\00asm" "\01\00\00\00"
  "\01\05\01\60\00\01\7f"
  "\03\02\01\00"
  "\07\05\01\01\66\00\00"
  "\0a\06\01\04\00\41\07\0b"
  "\00\0e\04\6e\61\6d\65\01\07\02\00\01\66\00\01\67")
(assert_return (invoke "f") (i32.const 7))
(module binary "\00asm" "\01\00\00\00"
  "\01\05\01\60\00\01\7f"
  "\03\02\01\00"
  "\07\05\01\01\66\00\00"
  "\0a\06\01\04\00\41\07\0b"
  "\00\09\04\6e\61\6d\65\01\02\ff\ff")
(assert_return (invoke "f") (i32.const 7))
(module binary "\00asm" "\01\00\00\00"
  "\01\05\01\60\00\01\7f"
  "\03\02\01\00"
  "\07\05\01\01\66\00\00"
  "\0a\06\01\04\00\41\07\0b"
  "\00\05\04\6e\61\6d\65")
(assert_return (invoke "f") (i32.const 7))
;; name section before the code, and two of them; unknown subsection
(module binary "\00asm" "\01\00\00\00"
  "\01\05\01\60\00\01\7f"
  "\03\02\01\00"
  "\00\0b\04\6e\61\6d\65\01\04\01\00\01\66"
  "\07\05\01\01\66\00\00"
  "\0a\06\01\04\00\41\07\0b"
  "\00\0b\04\6e\61\6d\65\01\04\01\00\01\67")
(assert_return (invoke "f") (i32.const 7))
(module binary "\00asm" "\01\00\00\00"
  "\01\05\01\60\00\01\7f"
  "\03\02\01\00"
  "\07\05\01\01\66\00\00"
  "\0a\06\01\04\00\41\07\0b"
  "\00\08\04\6e\61\6d\65\55\01\00")
(assert_return (invoke "f") (i32.const 7))
;; other custom sections, also with nothing or rubbish in them, anywhere
(module binary "\00asm" "\01\00\00\00"
  "\00\01\00"
  "\00\0b\09\70\72\6f\64\75\63\65\72\73\ff"
  "\01\05\01\60\00\01\7f"
  "\03\02\01\00"
  "\00\05\01\78\00\01\02"
  "\07\05\01\01\66\00\00"
  "\00\11\0f\74\61\72\67\65\74\5f\66\65\61\74\75\72\65\73\03"
  "\0a\06\01\04\00\41\07\0b"
  "\00\08\07\6c\69\6e\6b\69\6e\67")
(assert_return (invoke "f") (i32.const 7))
;; the name of a custom section: not UTF-8; longer than the section; none
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\00\02\01\ff")
  "malformed UTF-8 encoding")
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\00\04\05\61\62\63")
  "length out of bounds")
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\00\00")
  "unexpected end")

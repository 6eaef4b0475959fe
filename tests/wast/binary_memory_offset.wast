;; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;; The static offset of a 32-bit memory has 32 bits, the alignment is at most that of the access.
;; offset 2^32 
(assert_invalid (module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\05\03\01\00\01"
  "\0a\0e\01\0c\00\41\00\28\02\80\80\80\80\10\1a\0b")
  "offset out of range")
;; offset 2^32-1 is valid, also in five bytes with padding
(module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\05\03\01\00\01"
  "\0a\0e\01\0c\00\41\00\28\02\ff\ff\ff\ff\0f\1a\0b")
(module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\05\03\01\00\01"
  "\0a\0e\01\0c\00\41\00\28\02\80\80\80\80\00\1a\0b")
;; alignment 8 of i32.load, 2 of i32.load8_u, 2^32, flags of more than 7 bits, no memory
(assert_invalid (module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\05\03\01\00\01"
  "\0a\0a\01\08\00\41\00\28\03\00\1a\0b")
  "alignment must not be larger than natural")
(assert_invalid (module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\05\03\01\00\01"
  "\0a\0a\01\08\00\41\00\2d\01\00\1a\0b")
  "alignment must not be larger than natural")
(assert_invalid (module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\05\03\01\00\01"
  "\0a\0a\01\08\00\41\00\28\20\00\1a\0b")
  "alignment must not be larger than natural")
(assert_malformed (module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\05\03\01\00\01"
  "\0a\0b\01\09\00\41\00\28\80\01\00\1a\0b")
  "malformed memop flags")
(assert_invalid (module binary "\00asm" "\01\00\00\00"
  "\01\04\01\60\00\00"
  "\03\02\01\00"
  "\0a\0a\01\08\00\41\00\28\02\00\1a\0b")
  "unknown memory")

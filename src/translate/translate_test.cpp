// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small modules and their IR as translated, without rules.
#include "translate/translate_test_support.hpp"

namespace hoist::translate::testing {
namespace {

TEST(Translate, UnusedLocalsCostTheirZeros) {
  EXPECT_EQ(body_of(R"((module (func (param i32 i64 f32 f64) (result f64) (local i32 i64)
  (local.set 4 (local.get 0)) (local.get 3))))"),
            R"(
block0(v0: i64, v1: i32, v2: i64, v3: f32, v4: f64):
v5 = iconst.i32 0
v6 = iconst.i64 0
return v4
)");
}

TEST(Translate, LabelWithValue) {
  EXPECT_EQ(body_of(R"((module (func (param i32) (result i32)
  (block (result i32)
    (br_if 0 (i32.const 7) (local.get 0)) (drop) (i32.const 8)))))"),
            R"(
block0(v0: i64, v1: i32):
v2 = iconst.i32 7
brif v1, block2(v2), block1
block1:
v4 = iconst.i32 8
jump block2(v4)
block2(v3: i32):
return v3
)");
}

TEST(Translate, BlockWithoutBranchesIsFree) {
  EXPECT_EQ(body_of(R"((module (func (param i32) (result i32)
  (block (result i32) (i32.add (local.get 0) (i32.const 8))))))"),
            R"(
block0(v0: i64, v1: i32):
v2 = iconst.i32 8
v3 = iadd v1, v2
return v3
)");
}

TEST(Translate, IfElse) {
  EXPECT_EQ(body_of(R"((module (func (param i32) (result i32)
  (if (result i32) (local.get 0) (then (i32.const 1)) (else (i32.const 2))))))"),
            R"(
block0(v0: i64, v1: i32):
brif v1, block1, block2
block1:
v2 = iconst.i32 1
jump block3(v2)
block2:
v4 = iconst.i32 2
jump block3(v4)
block3(v3: i32):
return v3
)");
}

TEST(Translate, IfWithoutElseHasNoElseBlock) {
  EXPECT_EQ(body_of(R"((module (func (param i32)
  (if (i32.eqz (local.get 0)) (then (nop))))))"),
            R"(
block0(v0: i64, v1: i32):
v2 = iconst.i32 0
v3 = icmp eq v1, v2
v4 = uextend.i32 v3
brif v3, block1, block2
block1:
jump block2
block2:
return
)");
}

TEST(Translate, IfWithoutElseKeepsItsParameters) {
  EXPECT_EQ(body_of(R"((module (func (param i32 i32) (result i32)
  (local.get 1)
  (if (param i32) (result i32) (local.get 0) (then (i32.const 1) (i32.add))))))"),
            R"(
block0(v0: i64, v1: i32, v2: i32):
brif v1, block1, block2
block1:
v3 = iconst.i32 1
v4 = iadd.i32 v2, v3
jump block3(v4)
block2:
jump block3(v2)
block3(v5: i32):
return v5
)");
}

TEST(Translate, ThenReachesTheEndButElseDoesNot) {
  EXPECT_EQ(body_of(R"((module (func (param i32) (result i32)
  (block
    (if (local.get 0) (then (nop)) (else (br 1)))
    (return (i32.const 5)))
  (i32.const 6))))"),
            R"(
block0(v0: i64, v1: i32):
brif v1, block1, block2
block1:
jump block3
block2:
jump block4
block3:
v2 = iconst.i32 5
return v2
block4:
v3 = iconst.i32 6
return v3
)");
}

TEST(Translate, LoopWithParameter) {
  EXPECT_EQ(body_of(R"((module (func (param i32) (result i32)
  (local.get 0)
  (loop (param i32) (result i32)
    (i32.const 1) (i32.sub) (local.tee 0) (br_if 0 (local.get 0))))))"),
            R"(
block0(v0: i64, v1: i32):
jump block1(v1)
block1(v2: i32):
v3 = iconst.i32 1
v4 = isub v2, v3
brif v4, block1(v4), block2
block2:
return v4
)");
}

TEST(Translate, LoopVariable) {
  EXPECT_EQ(body_of(R"((module (memory 1) (func (param i32 i32) (result i32) (local i32)
  (loop
    (local.set 2 (i32.add (local.get 2) (i32.load offset=4 (local.get 0))))
    (local.set 0 (i32.add (local.get 0) (i32.const 4)))
    (br_if 0 (i32.lt_u (local.get 0) (local.get 1))))
  (local.get 2))))"),
            R"(
block0(v0: i64, v1: i32, v2: i32):
v6 = load.i64 notrap aligned readonly can_move v0+32
v3 = iconst.i32 0
jump block1(v3, v1)
block1(v4: i32, v5: i32):
v7 = uextend.i64 v5
v8 = iadd.i64 v6, v7
v9 = load.i32 little region0 v8+4
v10 = iadd v4, v9
v11 = iconst.i32 4
v12 = iadd v5, v11
v14 = icmp ult v12, v2
v15 = uextend.i32 v14
brif v14, block1(v10, v12), block2
block2:
return v10
)");
}

TEST(Translate, BrTableWithValues) {
  EXPECT_EQ(body_of(R"((module (func (param i32) (result i32)
  (block (result i32)
    (block (result i32) (br_table 0 1 0 2 1 (i32.const 5) (local.get 0)))
    (i32.const 1) (i32.add)))))"),
            R"(
block0(v0: i64, v1: i32):
v2 = iconst.i32 5
br_table v1, block3, [block1, block3, block1, block5]
block1:
jump block2(v2)
block3:
jump block4(v2)
block5:
jump block6(v2)
block2(v3: i32):
v6 = iconst.i32 1
v7 = iadd v3, v6
jump block4(v7)
block4(v4: i32):
return v4
block6(v5: i32):
return v5
)");
}

TEST(Translate, BrTableWithoutValues) {
  EXPECT_EQ(body_of(R"((module (func (param i32)
  (block (block (br_table 0 1 0 (local.get 0))) (unreachable)))))"),
            R"(
block0(v0: i64, v1: i32):
br_table v1, block1, [block1, block2]
block1 cold:
trap user1
block2:
return
)");
}

TEST(Translate, DeadCodeIsNotTranslated) {
  EXPECT_EQ(body_of(R"((module (func (param i32) (result i32)
  (return (local.get 0)) (loop (br 0)) (i32.add (i32.const 1)))))"),
            R"(
block0(v0: i64, v1: i32):
return v1
)");
}

TEST(Translate, SeveralResults) {
  EXPECT_EQ(body_of(R"((module
  (func $f (param i32) (result i32 i64) (i32.const 1) (i64.const 2))
  (func (result i64) (local i64)
    (call $f (i32.const 3)) (local.set 0) (drop) (local.get 0))))",
                    1),
            R"(
fn0 = colocated u0:0 sig0
block0(v0: i64):
v1 = iconst.i64 0
v2 = iconst.i32 3
v3, v4 = call fn0(v0, v2)
return v4
)");
}

TEST(Translate, ImportIsCalledThroughTheInstance) {
  EXPECT_EQ(body_of(R"((module (import "a" "b" (func $i (param f32) (result i32)))
  (func (result i32) (call $i (f32.const 1)))))",
                    1),
            R"(
block0(v0: i64):
v1 = f32const 0x1.000000p0
v2 = load.i64 notrap aligned readonly can_move v0+32
v3 = load.i64 notrap aligned readonly can_move v0+40
v4 = call_indirect sig0, v2(v3, v1)
return v4
)");
}

TEST(Translate, CallIndirectOfAGrowingTable) {
  EXPECT_EQ(body_of(R"((module (type $t (func (param i32) (result i32))) (table 4 8 funcref)
  (func (param i32) (result i32)
    (call_indirect (type $t) (i32.const 3) (local.get 0)))))"),
            R"(
block0(v0: i64, v1: i32):
v2 = iconst.i32 3
v3 = uextend.i64 v1
v4 = load.i64 notrap aligned readonly can_move v0+32
v5 = load.i64 notrap aligned can_move region0 v4+8
v6 = icmp uge v3, v5
trapnz v6, user3
v7 = load.i64 notrap aligned readonly can_move v0+32
v8 = load.i64 notrap aligned can_move region0 v7
v9 = iconst.i64 3
v10 = ishl v3, v9
v11 = iadd v8, v10
v12 = load.i64 notrap aligned region1 v11
trapz v12, user4
v13 = load.i32 notrap aligned readonly can_move v0+40
v14 = load.i32 notrap aligned readonly v12+24
v15 = icmp ne v14, v13
trapnz v15, user5
v16 = load.i64 notrap aligned readonly v12
v17 = load.i64 notrap aligned readonly v12+8
v18 = call_indirect sig0, v16(v17, v2)
return v18
)");
}

TEST(Translate, CallIndirectOfAFixedTable) {
  EXPECT_EQ(body_of(R"((module (type $t (func (param i32) (result i32))) (table 4 4 funcref)
  (func (param i32) (result i32)
    (call_indirect (type $t) (i32.const 3) (local.get 0)))))"),
            R"(
block0(v0: i64, v1: i32):
v2 = iconst.i32 3
v3 = uextend.i64 v1
v4 = iconst.i32 4
v5 = icmp uge v1, v4
trapnz v5, user3
v6 = load.i64 notrap aligned readonly can_move v0+32
v7 = load.i64 notrap aligned readonly can_move v6
v8 = iconst.i64 3
v9 = ishl v3, v8
v10 = iadd v7, v9
v11 = load.i64 notrap aligned region0 v10
trapz v11, user4
v12 = load.i32 notrap aligned readonly can_move v0+40
v13 = load.i32 notrap aligned readonly v11+24
v14 = icmp ne v13, v12
trapnz v14, user5
v15 = load.i64 notrap aligned readonly v11
v16 = load.i64 notrap aligned readonly v11+8
v17 = call_indirect sig0, v15(v16, v2)
return v17
)");
}

TEST(Translate, NarrowAccesses) {
  EXPECT_EQ(body_of(R"((module (memory 1) (func (param i32)
  (i64.store32 offset=16 (local.get 0) (i64.load8_s (i32.const 8))))))"),
            R"(
block0(v0: i64, v1: i32):
v3 = load.i64 notrap aligned readonly can_move v0+32
v2 = iconst.i32 8
v4 = sload8.i64 little region0 v3+8
v5 = uextend.i64 v1
v6 = iadd v3, v5
istore32 little region0 v4, v6+16
return
)");
}

TEST(Translate, LargestUncheckedOffset) {
  EXPECT_EQ(body_of(R"((module (memory 1) (func (param i32) (result f32)
  (f32.load offset=0x7ffffff0 (local.get 0)))))"),
            R"(
block0(v0: i64, v1: i32):
v2 = load.i64 notrap aligned readonly can_move v0+32
v3 = uextend.i64 v1
v4 = iadd v2, v3
v5 = load.f32 little region0 v4+0x7fff_fff0
return v5
)");
}

TEST(Translate, LargerOffsetIsCompared) {
  EXPECT_EQ(body_of(R"((module (memory 1) (func (param i32) (result f32)
  (f32.load offset=0x7ffffff1 (local.get 0)))))"),
            R"(
block0(v0: i64, v1: i32):
v2 = load.i64 notrap aligned readonly can_move v0+32
v3 = uextend.i64 v1
v4 = iconst.i64 0x7fff_fff5
v5 = iadd v3, v4
v6 = load.i64 notrap aligned readonly can_move v0+40
v7 = load.i64 notrap aligned can_move region1 v6+8
v8 = icmp ugt v5, v7
trapnz v8, heap_oob
v9 = iconst.i64 0x7fff_fff1
v10 = iadd v3, v9
v11 = iadd v2, v10
v12 = load.f32 little region0 v11
return v12
)");
}

TEST(Translate, ConstantAddressDoesNotOverflowTheOffset) {
  EXPECT_EQ(body_of(R"((module (memory 1) (func (result i32)
  (i32.load offset=0x7ffffff0 (i32.const 1)))))"),
            R"(
block0(v0: i64):
v2 = load.i64 notrap aligned readonly can_move v0+32
v1 = iconst.i32 1
v3 = uextend.i64 v1
v4 = iadd v2, v3
v5 = load.i32 little region0 v4+0x7fff_fff0
return v5
)");
}

TEST(Translate, MemorySizeAndGrow) {
  EXPECT_EQ(body_of(R"((module (memory 1) (func (param i32) (result i32)
  (drop (memory.grow (local.get 0))) (memory.size))))"),
            R"(
fn0 = colocated u50331648:0 sig0
block0(v0: i64, v1: i32):
v2 = iconst.i32 0
v3 = uextend.i64 v1
v4 = call fn0(v0, v2, v3)
v5 = ireduce.i32 v4
v6 = load.i64 notrap aligned readonly can_move v0+40
v7 = load.i64 notrap aligned can_move region0 v6+8
v8 = iconst.i64 16
v9 = ushr v7, v8
v10 = ireduce.i32 v9
return v10
)");
}

TEST(Translate, BulkMemory) {
  EXPECT_EQ(body_of(R"((module (memory 1) (data $d "x") (func (param i32)
  (memory.fill (local.get 0) (i32.const 1) (i32.const 2))
  (memory.init $d (local.get 0) (i32.const 0) (i32.const 1))
  (memory.copy (local.get 0) (i32.const 0) (i32.const 1))
  (data.drop $d))))"),
            R"(
fn0 = colocated u50331648:1 sig0
fn1 = colocated u50331648:3 sig1
fn2 = colocated u50331648:2 sig2
fn3 = colocated u50331648:7 sig3
block0(v0: i64, v1: i32):
v2 = iconst.i32 1
v3 = iconst.i32 2
v4 = iconst.i32 0
v5 = uextend.i64 v1
v6 = uextend.i64 v3
call fn0(v0, v4, v5, v2, v6)
v7 = iconst.i32 0
v8 = iconst.i32 1
v9 = iconst.i32 0
v10 = iconst.i32 0
v11 = uextend.i64 v1
v12 = uextend.i64 v7
v13 = uextend.i64 v8
call fn1(v0, v9, v10, v11, v12, v13)
v14 = iconst.i32 0
v15 = iconst.i32 1
v16 = iconst.i32 0
v17 = iconst.i32 0
v18 = uextend.i64 v1
v19 = uextend.i64 v14
v20 = uextend.i64 v15
call fn2(v0, v16, v17, v18, v19, v20)
v21 = iconst.i32 0
call fn3(v0, v21)
return
)");
}

TEST(Translate, Globals) {
  EXPECT_EQ(body_of(R"((module
  (import "a" "g" (global $i i32)) (import "a" "m" (global $m (mut f64)))
  (global $g (mut i64) (i64.const 5)) (global $c f32 (f32.const 1.5))
  (func (result f32)
    (global.set $g (i64.add (global.get $g) (i64.extend_i32_u (global.get $i))))
    (global.set $m (f64.const 0))
    (global.get $c))))"),
            R"(
block0(v0: i64):
v1 = load.i64 notrap aligned region0 v0+32
v2 = load.i64 notrap aligned readonly can_move v0+64
v3 = load.i32 notrap aligned readonly can_move v2
v4 = uextend.i64 v3
v5 = iadd v1, v4
store notrap aligned region0 v5, v0+32
v6 = f64const 0.0
v7 = load.i64 notrap aligned readonly can_move v0+72
store notrap aligned region1 v6, v7
v8 = f32const 0x1.800000p0
return v8
)");
}

TEST(Translate, TableAccess) {
  EXPECT_EQ(body_of(R"((module (table $t 2 externref) (func (param i32 externref) (result externref)
  (table.set $t (local.get 0) (local.get 1)) (table.get $t (i32.const 0)))))"),
            R"(
block0(v0: i64, v1: i32, v2: i64):
v3 = uextend.i64 v1
v4 = load.i64 notrap aligned readonly can_move v0+32
v5 = load.i64 notrap aligned can_move region0 v4+8
v6 = icmp uge v3, v5
trapnz v6, user2
v7 = load.i64 notrap aligned readonly can_move v0+32
v8 = load.i64 notrap aligned can_move region0 v7
v9 = iconst.i64 3
v10 = ishl v3, v9
v11 = iadd v8, v10
store notrap aligned region1 v2, v11
v12 = iconst.i32 0
v13 = uextend.i64 v12
v14 = load.i64 notrap aligned readonly can_move v0+32
v15 = load.i64 notrap aligned can_move region0 v14+8
v16 = icmp uge v13, v15
trapnz v16, user2
v17 = load.i64 notrap aligned readonly can_move v0+32
v18 = load.i64 notrap aligned can_move region0 v17
v19 = iconst.i64 3
v20 = ishl v13, v19
v21 = iadd v18, v20
v22 = load.i64 notrap aligned region1 v21
return v22
)");
}

TEST(Translate, TablesAndReferences) {
  EXPECT_EQ(
      body_of(R"((module (table $t 2 2 funcref) (elem declare func 0) (func (param i32) (result i32)
  (drop (table.grow $t (ref.func 0) (local.get 0)))
  (table.fill $t (i32.const 0) (ref.null func) (local.get 0))
  (i32.add (table.size $t) (ref.is_null (table.get $t (local.get 0)))))))"),
      R"(
fn0 = colocated u50331648:8 sig0
fn1 = colocated u50331648:9 sig1
block0(v0: i64, v1: i32):
v2 = iconst.i64 40
v3 = iadd v0, v2
v4 = iconst.i32 0
v5 = uextend.i64 v1
v6 = call fn0(v0, v4, v3, v5)
v7 = ireduce.i32 v6
v8 = iconst.i32 0
v9 = iconst.i64 0
v10 = iconst.i32 0
v11 = uextend.i64 v8
v12 = uextend.i64 v1
call fn1(v0, v10, v11, v9, v12)
v13 = iconst.i32 2
v14 = uextend.i64 v1
v15 = iconst.i32 2
v16 = icmp uge v1, v15
trapnz v16, user2
v17 = load.i64 notrap aligned readonly can_move v0+32
v18 = load.i64 notrap aligned readonly can_move v17
v19 = iconst.i64 3
v20 = ishl v14, v19
v21 = iadd v18, v20
v22 = load.i64 notrap aligned region0 v21
v23 = iconst.i64 0
v24 = icmp eq v22, v23
v25 = uextend.i32 v24
v26 = iadd v13, v25
return v26
)");
}

TEST(Translate, Numbers) {
  EXPECT_EQ(body_of(R"((module (func (param i32 i64 f32) (result i32)
  (i32.extend8_s (i32.trunc_sat_f32_u (f32.convert_i64_u (local.get 1))))
  (i32.div_s (local.get 0))
  (i32.rotl (f32.lt (local.get 2) (f32.const 1))))))"),
            R"(
block0(v0: i64, v1: i32, v2: i64, v3: f32):
v4 = fcvt_from_uint.f32 v2
v5 = fcvt_to_uint_sat.i32 v4
v6 = ireduce.i8 v5
v7 = sextend.i32 v6
v8 = sdiv v7, v1
v9 = f32const 0x1.000000p0
v10 = fcmp lt v3, v9
v11 = uextend.i32 v10
v12 = rotl v8, v11
return v12
)");
}

}  // namespace
}  // namespace hoist::translate::testing

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "translate/translate_test_support.hpp"

namespace hoist::translate::testing {
namespace {

TEST(Exceptions, ThrowInTheSameFunctionIsAJump) {
  const std::string text = body_of(R"((module (tag $t (param i32)) (tag $u)
    (func (param i32) (result i32)
      (block $out
        (block $h (result i32)
          (try_table (catch $u $out) (catch $t $h) (throw $t (local.get 0))) (unreachable))
        (return))
      (i32.const 5))))");
  EXPECT_EQ(text.find("call"), std::string::npos) << text;
  EXPECT_NE(text.find("(v1)"), std::string::npos) << text;
}

TEST(Exceptions, ImportedTagsOfOneTypeAreCompared) {
  const std::string text = body_of(R"((module
    (tag $t (import "" "t")) (tag $u (import "" "u")) (tag $other (import "" "o") (param i32))
    (func (block $h (block $g (result i32) (try_table (catch $other $g) (catch $u $h) (throw $t)) (unreachable)) (drop)))))");
  EXPECT_NE(text.find("icmp eq"), std::string::npos) << text;
  EXPECT_EQ(text.find("icmp eq"), text.rfind("icmp eq")) << text;
}

TEST(Exceptions, CallsInATryTableHaveHandlers) {
  EXPECT_EQ(body_of(R"((module (tag $t (param i32)) (func $f (param i32) (result i32) (local.get 0))
    (func (param i32) (result i32)
      (block $h (result i32) (try_table (result i32) (catch $t $h) (call $f (local.get 0)))))))",
                    1),
            R"(
fn0 = colocated u0:0 sig0
block0(v0: i64, v1: i32):
try_call fn0(v0, v1), sig0, block2(ret0), [ context v0, tag0: block3(exn0) ]
block2(v3: i32):
jump block4(v3)
block3(v6: i64) cold:
v8 = load.i32 notrap aligned v6+32
jump block1(v8)
block4(v7: i32):
jump block1(v7)
block1(v2: i32):
return v2
)");
}

TEST(Exceptions, CallsOutsideHaveNone) {
  const std::string text = body_of(R"((module (tag $t) (func $f)
    (func (block $h (try_table (catch $t $h))) (call $f))))",
                                   1);
  EXPECT_EQ(text.find("try_call"), std::string::npos) << text;
}

TEST(Exceptions, HiddenClausesAreNotListed) {
  const std::string text = body_of(R"((module (tag $t) (tag $u) (func $f)
    (func (block $h
      (try_table (catch $t $h) (catch $u $h)
        (try_table (catch $t $h) (catch_all $h)
          (try_table (catch $u $h) (catch $u $h) (call $f))))))))",
                                   1);
  EXPECT_NE(text.find("[ context v0, tag2: block"), std::string::npos) << text;
  EXPECT_NE(text.find(", tag0: block"), std::string::npos) << text;
  EXPECT_NE(text.find(", tag4294967294: block"), std::string::npos) << text;
  EXPECT_EQ(text.find("tag2", text.find("tag2") + 1), std::string::npos) << text;
}

TEST(Exceptions, TailCallsLeaveTheHandlers) {
  const std::string text = body_of(R"((module (tag $t) (func $f)
    (func (block $h (try_table (catch $t $h) (return_call $f))))))",
                                   1);
  EXPECT_NE(text.find("return_call fn0(v0)"), std::string::npos) << text;
  EXPECT_EQ(text.find("try_call"), std::string::npos) << text;
}

}  // namespace
}  // namespace hoist::translate::testing

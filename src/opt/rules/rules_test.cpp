// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each rule: that it fires, and that both sides mean the same for corner values in the interpreter.
// `T` in an expression is replaced by each of the row's types.
#include "opt/rules/expression_test_support.hpp"

#include <algorithm>

#include "opt/pipeline.hpp"

namespace hoist::opt::testing {
namespace {

struct Row {
  const char* types;   // of T: "i8 i16 i32 i64"
  const char* params;  // of v0, v1, v2
  const char* result;
  const char* before;
  const char* after;
};

constexpr const char* kInts = "i8 i16 i32 i64";
constexpr const char* kWide = "i32 i64";

const Row kRows[] = {
    // integer.cpp
    {kInts, "T T T", "T", "iadd(3, v0)", "iadd(v0, 3)"},
    {kInts, "T T T", "T", "iadd(v0, 0)", "v0"},
    {kInts, "T T T", "T", "iadd(iadd(v0, 3), 4)", "iadd(v0, 7)"},
    {kInts, "T T T", "T", "iadd(iadd(v0, 3), -3)", "v0"},
    {kInts, "T T T", "T", "iadd(isub(5, v0), 2)", "isub(7, v0)"},
    {kInts, "T T T", "T", "iadd(bnot(v0), 1)", "ineg(v0)"},
    {kInts, "T T T", "T", "iadd(v0, ineg(v1))", "isub(v0, v1)"},
    {kInts, "T T T", "T", "iadd(ineg(v0), v1)", "isub(v1, v0)"},
    {kInts, "T T T", "T", "iadd(isub(v0, v1), v1)", "v0"},
    {kInts, "T T T", "T", "iadd(v1, isub(v0, v1))", "v0"},
    {kInts, "T T T", "T", "iadd(bnot(v0), v0)", "-1"},
    {kInts, "T T T", "T", "isub(v0, 3)", "iadd(v0, -3)"},
    {kInts, "T T T", "T", "isub(v0, 0)", "v0"},
    {kInts, "T T T", "T", "isub(v0, v0)", "0"},
    {kInts, "T T T", "T", "isub(0, v0)", "ineg(v0)"},
    {kInts, "T T T", "T", "isub(-1, v0)", "bnot(v0)"},
    {kInts, "T T T", "T", "isub(7, iadd(v0, 2))", "isub(5, v0)"},
    {kInts, "T T T", "T", "isub(v0, ineg(v1))", "iadd(v0, v1)"},
    {kInts, "T T T", "T", "isub(iadd(v0, v1), v0)", "v1"},
    {kInts, "T T T", "T", "isub(iadd(v0, v1), v1)", "v0"},
    {kInts, "T T T", "T", "isub(v0, isub(v0, v1))", "v1"},
    {"i64", "T T T", "T", "isub(v0, -2147483648)", "isub(v0, -2147483648)"},
    {kInts, "T T T", "T", "imul(v0, 0)", "0"},
    {kInts, "T T T", "T", "imul(v0, 1)", "v0"},
    {kInts, "T T T", "T", "imul(v0, -1)", "ineg(v0)"},
    {kInts, "T T T", "T", "imul(8, v0)", "ishl(v0, 3)"},
    {kInts, "T T T", "T", "imul(imul(v0, 3), 5)", "imul(v0, 15)"},
    {kInts, "T T T", "T", "imul(ishl(v0, 2), 5)", "imul(v0, 20)"},
    {kInts, "T T T", "T", "imul(ineg(v0), 5)", "imul(v0, -5)"},
    {kInts, "T T T", "T", "ineg(ineg(v0))", "v0"},
    {kInts, "T T T", "T", "ineg(isub(v0, v1))", "isub(v1, v0)"},
    {kInts, "T T T", "T", "iabs(iabs(v0))", "iabs(v0)"},
    {kInts, "T T T", "T", "iabs(ineg(v0))", "iabs(v0)"},
    {kInts, "T T T", "T", "udiv(v0, 1)", "v0"},
    {kInts, "T T T", "T", "udiv(v0, 16)", "ushr(v0, 4)"},
    {kInts, "T T T", "T", "udiv(v0, 0)", "udiv(v0, 0)"},
    {kInts, "T T T", "T", "udiv(7, 0)", "udiv(7, 0)"},
    {kInts, "T T T", "T", "urem(v0, 16)", "band(v0, 15)"},
    {kInts, "T T T", "T", "urem(v0, 1)", "0"},
    {kInts, "T T T", "T", "sdiv(v0, 1)", "v0"},
    {kInts, "T T T", "T", "sdiv(v0, -1)", "sdiv(v0, -1)"},
    {kInts, "T T T", "T", "srem(v0, 1)", "0"},
    {kInts, "T T T", "T", "srem(v0, -1)", "0"},
    {kInts, "T T T", "T", "srem(v0, 0)", "srem(v0, 0)"},
    {kInts, "T T T", "T", "smin(v0, v0)", "v0"},
    {kInts, "T T T", "T", "umax(v0, 0)", "v0"},
    {kInts, "T T T", "T", "umin(v0, 0)", "0"},
    {kInts, "T T T", "T", "umax(v0, -1)", "-1"},
    {"i8", "T T T", "T", "smax(v0, -128)", "v0"},
    {"i8", "T T T", "T", "smin(127, v0)", "v0"},
    // bits.cpp
    {kInts, "T T T", "T", "band(v0, 0)", "0"},
    {kInts, "T T T", "T", "band(v0, -1)", "v0"},
    {kInts, "T T T", "T", "band(v0, v0)", "v0"},
    {kInts, "T T T", "T", "band(v0, bnot(v0))", "0"},
    {kInts, "T T T", "T", "band(band(v0, 12), 6)", "band(v0, 4)"},
    {kInts, "T T T", "T", "band(bor(v0, 12), 4)", "4"},
    {kInts, "T T T", "T", "band(bor(v0, 8), 7)", "band(v0, 7)"},
    {kInts, "T T T", "T", "band(bxor(v0, 8), 7)", "band(v0, 7)"},
    {kInts, "T T T", "T", "band(v0, bor(v1, v0))", "v0"},
    {kInts, "T T T", "T", "bor(v0, band(v0, v1))", "v0"},
    {kInts, "T T T", "T", "band(ushr(v0, 4), -1)", "ushr(v0, 4)"},
    {"i32", "T T T", "T", "band(ushr(v0, 24), 255)", "ushr(v0, 24)"},
    {"i32", "T T T", "T", "band(ishl(v0, 24), 255)", "0"},
    {kInts, "T T T", "T", "bor(v0, 0)", "v0"},
    {kInts, "T T T", "T", "bor(v0, -1)", "-1"},
    {kInts, "T T T", "T", "bor(v0, v0)", "v0"},
    {kInts, "T T T", "T", "bor(v0, bnot(v0))", "-1"},
    {kInts, "T T T", "T", "bor(bor(v0, 12), 3)", "bor(v0, 15)"},
    {"i32", "T T T", "T", "bor(ishl(v0, 8), ushr(v0, 24))", "rotl(v0, 8)"},
    {"i32", "T T T", "T", "bor(ushr(v0, 8), ishl(v0, 24))", "rotl(v0, 24)"},
    {"i32", "T T T", "T", "bor(ushr(v0, 32), ishl(v1, 32))", "bor(v0, v1)"},
    {kInts, "T T T", "T", "bxor(v0, 0)", "v0"},
    {kInts, "T T T", "T", "bxor(v0, v0)", "0"},
    {kInts, "T T T", "T", "bxor(v0, -1)", "bnot(v0)"},
    {kInts, "T T T", "T", "bxor(v0, bnot(v0))", "-1"},
    {kInts, "T T T", "T", "bxor(bxor(v0, 12), 10)", "bxor(v0, 6)"},
    {kInts, "T T T", "T", "bnot(bnot(v0))", "v0"},
    {kInts, "T T T", "i8", "bxor(icmp_slt(v0, v1), 1)", "icmp_sge(v0, v1)"},
    {kInts, "T T T", "i32", "bxor(uextend.i32(icmp_eq(v0, v1)), 1)",
     "uextend.i32(icmp_ne(v0, v1))"},
    // shift.cpp
    {kInts, "T T T", "T", "ishl(v0, 0)", "v0"},
    {"i32", "T T T", "T", "ishl(v0, 32)", "v0"},
    {"i32", "T T T", "T", "ishl(v0, 33)", "ishl(v0, 1)"},
    {"i32", "T T T", "T", "rotr(v0, 3)", "rotl(v0, 29)"},
    {"i32", "T T T", "T", "rotl(rotl(v0, 30), 5)", "rotl(v0, 3)"},
    {kInts, "T T T", "T", "ishl(ishl(v0, 2), 3)", "ishl(v0, 5)"},
    {kInts, "T T T", "T", "ushr(ushr(v0, 2), 3)", "ushr(v0, 5)"},
    {kInts, "T T T", "T", "sshr(sshr(v0, 2), 3)", "sshr(v0, 5)"},
    {"i8", "T T T", "T", "ishl(ishl(v0, 4), 5)", "0"},
    {"i8", "T T T", "T", "sshr(sshr(v0, 4), 5)", "sshr(v0, 7)"},
    {"i32", "T T T", "T", "ushr(ishl(v0, 8), 8)", "band(v0, 16777215)"},
    {"i32", "T T T", "T", "ishl(ushr(v0, 8), 8)", "band(v0, -256)"},
    {"i32", "T T T", "T", "ishl(sshr(v0, 8), 8)", "band(v0, -256)"},
    {"i32", "T T T", "T", "sshr(ishl(v0, 24), 24)", "sextend.i32(ireduce.i8(v0))"},
    {"i32", "T T T", "T", "sshr(ishl(v0, 16), 16)", "sextend.i32(ireduce.i16(v0))"},
    {"i64", "T T T", "T", "sshr(ishl(v0, 32), 32)", "sextend.i64(ireduce.i32(v0))"},
    {"i64", "T T T", "T", "ushr(ishl(v0, 8), 8)", "ushr(ishl(v0, 8), 8)"},
    {"i32", "T T T", "T", "ishl(v0, band(v1, 31))", "ishl(v0, v1)"},
    {"i32", "T T T", "T", "ishl(v0, band(v1, 15))", "ishl(v0, band(v1, 15))"},
    {"i64", "i64 i32 i32", "i64", "sshr(v0, uextend.i64(v1))", "sshr(v0, v1)"},
    {"i32", "i32 i64 i64", "i32", "rotr(v0, ireduce.i32(v1))", "rotr(v0, v1)"},
    {"i32", "T T T", "T", "ishl(0, v1)", "0"},
    {"i32", "T T T", "T", "sshr(-1, v1)", "-1"},
    {"i32", "T T T", "T", "sshr(band(v0, 255), 2)", "ushr(band(v0, 255), 2)"},
    {"i32", "T T T", "T", "ushr(band(v0, 255), 8)", "0"},
    // compare.cpp
    {kInts, "T T T", "i8", "icmp_slt(3, v0)", "icmp_sgt(v0, 3)"},
    {kInts, "T T T", "i8", "icmp_eq(v0, v0)", "1"},
    {kInts, "T T T", "i8", "icmp_ult(v0, v0)", "0"},
    {kInts, "T T T", "i8", "icmp_ult(v0, 0)", "0"},
    {kInts, "T T T", "i8", "icmp_uge(v0, 0)", "1"},
    {kInts, "T T T", "i8", "icmp_ult(v0, 1)", "icmp_eq(v0, 0)"},
    {kInts, "T T T", "i8", "icmp_ugt(v0, 0)", "icmp_ne(v0, 0)"},
    {kInts, "T T T", "i8", "icmp_uge(v0, 1)", "icmp_ne(v0, 0)"},
    {kInts, "T T T", "i8", "icmp_ule(v0, 0)", "icmp_eq(v0, 0)"},
    {kInts, "T T T", "i8", "icmp_ugt(v0, -1)", "0"},
    {kInts, "T T T", "i8", "icmp_ule(v0, -1)", "1"},
    {kInts, "T T T", "i8", "icmp_ult(v0, -1)", "icmp_ne(v0, -1)"},
    {kInts, "T T T", "i8", "icmp_uge(v0, -1)", "icmp_eq(v0, -1)"},
    {kInts, "T T T", "i8", "icmp_ugt(v0, -2)", "icmp_eq(v0, -1)"},
    {kInts, "T T T", "i8", "icmp_ule(v0, -2)", "icmp_ne(v0, -1)"},
    {"i8", "T T T", "i8", "icmp_slt(v0, -128)", "0"},
    {"i8", "T T T", "i8", "icmp_sge(v0, -128)", "1"},
    {"i8", "T T T", "i8", "icmp_sgt(v0, 127)", "0"},
    {"i8", "T T T", "i8", "icmp_sle(v0, 127)", "1"},
    {"i8", "T T T", "i8", "icmp_slt(v0, -127)", "icmp_eq(v0, -128)"},
    {"i8", "T T T", "i8", "icmp_sge(v0, -127)", "icmp_ne(v0, -128)"},
    {"i8", "T T T", "i8", "icmp_sgt(v0, 126)", "icmp_eq(v0, 127)"},
    {"i8", "T T T", "i8", "icmp_sle(v0, 126)", "icmp_ne(v0, 127)"},
    {kInts, "T T T", "i8", "icmp_eq(icmp_slt(v0, v1), 0)", "icmp_sge(v0, v1)"},
    {kInts, "T T T", "i8", "icmp_ne(icmp_slt(v0, v1), 0)", "icmp_slt(v0, v1)"},
    {kInts, "T T T", "i8", "icmp_eq(icmp_slt(v0, v1), 1)", "icmp_slt(v0, v1)"},
    {kInts, "T T T", "i8", "icmp_eq(uextend.i32(icmp_slt(v0, v1)), 0)", "icmp_sge(v0, v1)"},
    {kInts, "T T T", "i8", "icmp_ne(uextend.i64(icmp_slt(v0, v1)), 0)", "icmp_slt(v0, v1)"},
    {kInts, "T T T", "i8", "icmp_ne(uextend.i64(icmp_slt(v0, v1)), 1)", "icmp_sge(v0, v1)"},
    {kInts, "T T T", "i8", "icmp_eq(uextend.i32(icmp_eq(uextend.i32(icmp_ult(v0, v1)), 0)), 0)",
     "icmp_ult(v0, v1)"},
    {kInts, "T T T", "i8", "icmp_eq(iadd(v0, 3), 10)", "icmp_eq(v0, 7)"},
    {kInts, "T T T", "i8", "icmp_ne(bxor(v0, 3), 10)", "icmp_ne(v0, 9)"},
    {kInts, "T T T", "i8", "icmp_eq(isub(v0, v1), 0)", "icmp_eq(v0, v1)"},
    {kInts, "T T T", "i8", "icmp_ne(bxor(v0, v1), 0)", "icmp_ne(v0, v1)"},
    {kInts, "T T T", "i8", "icmp_eq(ineg(v0), 0)", "icmp_eq(v0, 0)"},
    {kInts, "T T T", "i8", "icmp_eq(band(v0, 1), 1)", "icmp_ne(band(v0, 1), 0)"},
    {kInts, "T T T", "i8", "icmp_eq(band(v0, 1), 2)", "0"},
    {kInts, "T T T", "i8", "icmp_eq(select(v2, 5, 9), 9)", "icmp_eq(v2, 0)"},
    {kInts, "T T T", "i8", "icmp_ne(select(v2, 5, 9), 9)", "icmp_ne(v2, 0)"},
    {"i64", "i32 i32 i32", "i8", "icmp_slt(uextend.i64(v0), 100)", "icmp_ult(v0, 100)"},
    {"i64", "i32 i32 i32", "i8", "icmp_eq(uextend.i64(v0), 0x100000000)", "0"},
    {"i64", "i32 i32 i32", "i8", "icmp_slt(sextend.i64(v0), -100)", "icmp_slt(v0, -100)"},
    {"i64", "i32 i32 i32", "i8", "icmp_slt(uextend.i64(v0), uextend.i64(v1))", "icmp_ult(v0, v1)"},
    {"i64", "i32 i32 i32", "i8", "icmp_slt(sextend.i64(v0), sextend.i64(v1))", "icmp_slt(v0, v1)"},
    {"i64", "i32 i32 i32", "i8", "icmp_eq(uextend.i64(v0), uextend.i64(v1))", "icmp_eq(v0, v1)"},
    // extend.cpp
    {"i64", "i8 i16 i32", "T", "uextend.i64(uextend.i32(v0))", "uextend.i64(v0)"},
    {"i64", "i8 i16 i32", "T", "sextend.i64(uextend.i32(v0))", "uextend.i64(v0)"},
    {"i64", "i8 i16 i32", "T", "sextend.i64(sextend.i32(v0))", "sextend.i64(v0)"},
    {"i64", "i8 i16 i32", "i8", "ireduce.i8(ireduce.i16(uextend.i64(v0)))", "v0"},
    {"i64", "i8 i16 i32", "i32", "ireduce.i32(sextend.i64(v1))", "sextend.i32(v1)"},
    {"i64", "i8 i16 i32", "i8", "ireduce.i8(sextend.i64(v1))", "ireduce.i8(v1)"},
    {"i64", "T T T", "i32", "ireduce.i32(band(v0, 0xffffffff))", "ireduce.i32(v0)"},
    {"i64", "T T T", "T", "uextend.i64(ireduce.i8(v0))", "band(v0, 255)"},
    {"i64", "T T T", "T", "uextend.i64(ireduce.i32(ushr(v0, 32)))", "ushr(v0, 32)"},
    {"i64", "i32 i32 i32", "T", "sextend.i64(band(v0, 65535))", "uextend.i64(band(v0, 65535))"},
    {"i32", "i8 i8 i8", "T", "sextend.i32(ireduce.i8(sextend.i32(v0)))", "sextend.i32(v0)"},
    {"i32", "T T T", "T", "bitcast.i32(bitcast.f32(v0))", "v0"},
    {"i32", "i8 i8 i8", "i32", "uextend.i32(icmp_eq(v0, v0))", "1"},
    // vector.cpp
    {"i32x4", "T T T", "T", "bitcast.i32x4(bitcast.f32x4(v0))", "v0"},
    {"i32x4", "T T T", "T", "bnot(bnot(v0))", "v0"},
    {"i32x4", "T T T", "T", "band(v1, v1)", "v1"},
    {"i32x4", "T T T", "T", "bor(v1, v1)", "v1"},
    {"i32x4", "T T T", "T", "bitselect(v0, v1, v1)", "v1"},
    {"i32x4", "T T T", "T", "bxor(v1, bnot(v1))", ""},
    {"i32x4", "T T T", "T", "smin(v1, v1)", ""},
    // select.cpp
    {kInts, "i8 T T", "T", "select(1, v1, v2)", "v1"},
    {kInts, "i8 T T", "T", "select(0, v1, v2)", "v2"},
    {kInts, "i8 T T", "T", "select(v0, v1, v1)", "v1"},
    {kInts, "i8 T T", "T", "select(uextend.i32(icmp_eq(v1, v2)), v1, v2)",
     "select(icmp_eq(v1, v2), v1, v2)"},
    {kInts, "i8 T T", "T", "select(icmp_ne(v0, 0), v1, v2)", "select(v0, v1, v2)"},
    {kInts, "i8 T T", "T", "select(icmp_eq(v0, 0), v1, v2)", "select(v0, v2, v1)"},
    {kInts, "i8 T T", "T", "select(v0, select(v0, v1, 3), v2)", "select(v0, v1, v2)"},
    {kInts, "i8 T T", "T", "select(v0, v1, select(v0, 3, v2))", "select(v0, v1, v2)"},
    {kWide, "i8 T T", "T", "select(icmp_slt(v1, v2), iadd(1, 0), 0)",
     "uextend.T(icmp_slt(v1, v2))"},
    {kWide, "i8 T T", "T", "select(icmp_slt(v1, v2), isub(1, 1), 1)",
     "uextend.T(icmp_sge(v1, v2))"},
    {kInts, "T T T", "T", "bitselect(v0, v1, v1)", "v1"},
    {kInts, "T T T", "T", "bitselect(0, v1, v2)", "v2"},
    {kInts, "T T T", "T", "bitselect(-1, v1, v2)", "v1"},
    // float.cpp
    {"f32 f64", "T T T", "T", "fneg(fneg(v0))", "v0"},
    {"f32 f64", "T T T", "T", "fabs(fneg(v0))", "fabs(v0)"},
    {"f32 f64", "T T T", "T", "fabs(fabs(v0))", "fabs(v0)"},
    {"f32 f64", "T T T", "T", "fabs(fcopysign(v0, v1))", "fabs(v0)"},
    {"f32 f64", "T T T", "T", "fcopysign(v0, v0)", "v0"},
    {"f32 f64", "T T T", "T", "fcopysign(fabs(v0), v1)", "fcopysign(v0, v1)"},
    {"f32 f64", "T T T", "T", "fcopysign(v0, fcopysign(v1, v2))", "fcopysign(v0, v2)"},
    {"f32 f64", "T T T", "T", "fcopysign(v0, 1.5)", "fabs(v0)"},
    {"f32 f64", "T T T", "T", "fcopysign(v0, -1.5)", "fcopysign(v0, -1.500000)"},
    {"f32 f64", "T T T", "T", "fdiv(v0, 8)", "fmul(v0, 0.125000)"},
    {"f32 f64", "T T T", "T", "fdiv(v0, 3)", "fdiv(v0, 3.000000)"},
    {"f32 f64", "T T T", "T", "fmul(v0, 1)", "fmul(v0, 1.000000)"},
    // constants.cpp, a few by hand; the random test below does the rest.
    {"i32", "T T T", "T", "iadd(2, imul(3, 4))", "14"},
    {"i32", "T T T", "T", "rotl(235, 0)", "235"},
    {"i32", "T T T", "T", "bor(ushr(24, 32), ishl(1, 0))", "25"},
    {"i64", "T T T", "T", "ushr(32, -19)", "0"},
    {"i32", "T T T", "T", "sdiv(0x80000000, -1)", "sdiv(-2147483648, -1)"},
    {"f32 f64", "T T T", "T", "fmin(-0.0, 0.0)", "-0.000000"},
    {"f32 f64", "T T T", "T", "fmax(-0.0, 0.0)", "0.000000"},
    {"f32 f64", "T T T", "T", "nearest(2.5)", "2.000000"},
    {"f32 f64", "T T T", "T", "fsub(0x1p+1000, 0x1p+1000)", ""},
};

std::string replaced(std::string text, const std::string& type) {
  for (std::size_t at = 0; (at = text.find('T', at)) != std::string::npos;)
    text.replace(at, 1, type);
  return text;
}

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> out(1);
  for (const char c : text) {
    if (c == ' ') {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  return out;
}

std::vector<std::uint64_t> corners(Type type) {
  if (type == ir::F32) {
    return {0, 0x8000'0000, 0x3f80'0000, 0xbfc0'0000, 0x7f80'0000, 0x0000'0001, 0x7f7f'ffff};
  }
  if (type == ir::F64) {
    return {0, sign_bit(64), 0x3ff0'0000'0000'0000, 0xbff8'0000'0000'0000, 0x7ff0'0000'0000'0000,
            1};
  }
  const unsigned bits = std::min<unsigned>(type.bits(), 64);  // the low words of wider ones
  std::vector<std::uint64_t> out = {0,
                                    1,
                                    2,
                                    7,
                                    31,
                                    0x5a5a'5a5a'1234'5678,
                                    sign_bit(bits),
                                    sign_bit(bits) - 1,
                                    mask_of(bits),
                                    mask_of(bits) - 1};
  for (std::uint64_t& value : out) value = base::zero_extend(value, bits);
  return out;
}

/// What both functions do for all corner values must be the same.
void expect_same(const ir::Function& before, const ir::Function& after, const std::string& what) {
  ir::Interpreter interpreter;
  std::vector<std::vector<std::uint64_t>> choices;
  std::size_t total = 1;
  for (const ir::AbiParam& param : before.signature.params) {
    choices.push_back(corners(param.type));
    total *= choices.back().size();
  }
  for (std::size_t n = 0; n < total; ++n) {
    std::vector<ir::DataValue> args;
    std::size_t rest = n;
    for (std::size_t i = 0; i < choices.size(); ++i) {
      args.push_back({before.signature.params[i].type, choices[i][rest % choices[i].size()], 0});
      rest /= choices[i].size();
    }
    const auto x = interpreter.run(before, args);
    const auto y = interpreter.run(after, args);
    ASSERT_TRUE(x.has_value() && y.has_value()) << what << (x ? "" : x.error().message());
    ASSERT_EQ(x->kind, y->kind) << what << " for case " << n;
    ASSERT_EQ(x->trap, y->trap) << what << " for case " << n;
    ASSERT_EQ(x->values, y->values) << what << " for case " << n;
  }
}

void check(const Row& row, const std::string& type) {
  std::vector<Type> params;
  for (const std::string& param : words(replaced(row.params, type)))
    params.push_back(type_named(param));
  const Type result = type_named(replaced(row.result, type));
  const std::string text = replaced(row.before, type);
  ir::Function plain;
  ir::Function built;
  ir::Function walked;
  build(plain, nullptr, text, params, result);
  build(built, simplify_while_building, text, params, result);
  build(walked, nullptr, text, params, result);
  OptContext context;
  optimise(walked, context);
  for (const ir::Function* func : {&built, &walked}) {
    const auto fine = ir::verify(*func);
    ASSERT_TRUE(fine.has_value()) << fine.error().message() << ir::to_string(*func);
    if (*row.after != '\0') {
      EXPECT_EQ(returned_expression(*func), replaced(row.after, type))
          << text << (func == &built ? " while building" : " in the walk");
    }
    expect_same(plain, *func, text);
  }
}

TEST(Rules, RewriteAsListedAndKeepTheMeaning) {
  for (const Row& row : kRows) {
    for (const std::string& type : words(row.types)) check(row, type);
  }
}

}  // namespace
}  // namespace hoist::opt::testing

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// What most files of the layer include, precompiled: see cmake/precompiled.cmake.

#include "base/bits.hpp"
#include "base/precompiled.hpp"
#include "wasm/decode/byte_reader.hpp"
#include "wasm/format/module.hpp"

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// What most files of the layer include, precompiled: see cmake/precompiled.cmake.

#include "base/precompiled.hpp"
#include "translate/ir_sink.hpp"
#include "wasm/decode/sink.hpp"

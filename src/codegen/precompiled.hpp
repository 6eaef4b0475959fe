// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// What most files of the layer include, precompiled: see cmake/precompiled.cmake.

#include "base/precompiled.hpp"
#include "base/result.hpp"
#include "codegen/regalloc/allocation.hpp"
#include "codegen/regalloc/flow.hpp"
#include "ir/function.hpp"

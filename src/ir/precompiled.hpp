// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// What most files of the layer include, precompiled: see cmake/precompiled.cmake.

#include "base/check.hpp"
#include "base/precompiled.hpp"
#include "ir/builder.hpp"
#include "ir/function.hpp"

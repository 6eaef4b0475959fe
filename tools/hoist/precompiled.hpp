// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// What most files of the command include, precompiled: see cmake/precompiled.cmake. Without CLI11,
/// which has objects with constructors in its header: every file would compile them.

#include "base/precompiled.hpp"
#include "hoist/hoist.hpp"

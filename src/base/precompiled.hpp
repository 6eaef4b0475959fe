// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// What most files include of the standard library, and {fmt}: see cmake/precompiled.cmake. No file
/// may need it: each includes what it uses.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

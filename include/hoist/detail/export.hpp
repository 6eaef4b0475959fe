// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// HOIST_API marks what the library exports; everything else in it is hidden.

#define HOIST_API __attribute__((visibility("default")))

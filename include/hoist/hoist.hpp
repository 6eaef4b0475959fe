// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Hoist: WebAssembly for C++ programs. This header brings everything.
///
///   auto engine = hoist::Engine::create();
///   auto module = hoist::Module::from_file(*engine, "plugin.wasm");
///   hoist::Store store(*engine);
///   hoist::Linker linker(*engine);
///   linker.define_func("env", "log", [](hoist::guest_string_view text) { ... });
///   auto instance = linker.instantiate(store, *module);
///   auto add = instance->typed<std::int32_t(std::int32_t, std::int32_t)>("add");
///   hoist::Result<std::int32_t> sum = (*add)(2, 3);
///
/// Everything that can fail returns a hoist::Result. Nothing throws but what the embedder's own
/// host functions throw. Reading order: engine, module, store, linker, instance, func.

#include "hoist/code_listener.hpp"
#include "hoist/config.hpp"
#include "hoist/engine.hpp"
#include "hoist/exception.hpp"
#include "hoist/extern.hpp"
#include "hoist/func.hpp"
#include "hoist/global.hpp"
#include "hoist/guest.hpp"
#include "hoist/instance.hpp"
#include "hoist/linker.hpp"
#include "hoist/memory.hpp"
#include "hoist/module.hpp"
#include "hoist/profiler.hpp"
#include "hoist/reference.hpp"
#include "hoist/result.hpp"
#include "hoist/shared_memory.hpp"
#include "hoist/store.hpp"
#include "hoist/table.hpp"
#include "hoist/trap.hpp"
#include "hoist/types.hpp"
#include "hoist/value.hpp"
#include "hoist/wasi.hpp"
#include "hoist/wasi_threads.hpp"

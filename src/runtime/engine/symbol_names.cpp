// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/engine/symbol_names.hpp"

#include <fmt/core.h>

#include "base/text/printable.hpp"
#include "image/layout/builtin.hpp"

namespace hoist::runtime {

using image::FuncKey;
using image::FuncKind;

SymbolNames::SymbolNames(const wasm::Module& module)
    : module_(module), names_(wasm::read_names(module)), export_names_(module.functions.size()) {
  for (const wasm::Export& item : module.exports) {
    if (item.kind == wasm::ExternKind::Func && export_names_[item.index].empty()) {
      export_names_[item.index] = item.name;
    }
  }
}

std::string_view SymbolNames::function(std::uint32_t func) const {
  const std::string_view name = names_.function(func);
  if (!name.empty()) return name;
  return func < export_names_.size() ? export_names_[func] : std::string_view();
}

std::string SymbolNames::operator()(FuncKey key) const {
  // Those of inlined calls are not checked when an image is loaded: any number is possible.
  const auto type = [&] {
    return key.index() < module_.types.size() ? wasm::to_string(module_.types[key.index()])
                                              : std::string("?");
  };
  switch (key.kind()) {
    case FuncKind::WasmFunction: {
      const std::string_view name = function(key.index());
      return name.empty() ? fmt::format("func[{}]", key.index()) : std::string(name);
    }
    case FuncKind::EntryTrampoline: return "entry trampoline " + type();
    case FuncKind::ExitTrampoline: return "exit trampoline " + type();
    case FuncKind::BuiltinTrampoline:
      return std::string("builtin trampoline ") +
             (key.index() < image::kBuiltinCount ? image::kBuiltins[key.index()].name : "?");
    case FuncKind::User: return fmt::format("user[{}]", key.index());
  }
  return {};
}

std::vector<image::ImageSymbol> image_symbols(const wasm::Module& module,
                                              const image::Image& image) {
  constexpr std::size_t kLongest = 1024;
  const SymbolNames names(module);
  std::vector<image::ImageSymbol> out;
  out.reserve(image.functions().size());
  for (std::uint32_t i = 0; i < image.functions().size(); ++i) {
    out.push_back({i, base::printable(names(image.functions()[i].key), kLongest)});
  }
  return out;
}

}  // namespace hoist::runtime

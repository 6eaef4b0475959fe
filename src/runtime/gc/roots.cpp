// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a store's references are besides the heap's own roots: its globals and tables, frames of
// compiled code, exceptions on their way.
#include "jit/unwinder.hpp"
#include "runtime/gc/reference_types.hpp"
#include "runtime/store/instance.hpp"
#include "runtime/store/store.hpp"

namespace hoist::runtime {

using image::VmException;

void Store::mark_roots(Heap::Marker& marker) {
  for (const std::unique_ptr<Instance>& instance : instances_) instance->mark_globals(marker);
  for (const HostGlobal& global : globals_) {
    if (is_collected(global.global.type.type)) marker.mark(global.own.bits[0]);
  }
  for (const std::unique_ptr<TableObject>& table : tables_) {
    if (!is_collected(table->type().element)) continue;
    for (std::uint64_t i = 0; i < table->size(); ++i) marker.mark(table->elements()[i]);
  }
  drop_ended_holders();
  for (VmException* at = exceptions_; at != nullptr; at = at->next) {
    if (at->pins != 0) marker.mark(reinterpret_cast<std::uintptr_t>(at));
  }
  if (in_flight_ != nullptr && in_flight_->is_listed) {
    marker.mark(reinterpret_cast<std::uintptr_t>(in_flight_));
  } else if (in_flight_ != nullptr) {
    mark_payload(*in_flight_, marker);
  }
  const auto mark = [&](std::uint64_t word) { marker.mark(word); };
  std::uint64_t pc = context_.exit_pc;
  std::uint64_t fp = context_.exit_fp;
  std::uint64_t end = context_.entry_fp;
  for (const jit::Activation* at = jit::current_activation(); at != nullptr; at = at->outer) {
    if (at->context != &context_) continue;
    jit::visit_references(pc, fp, end, mark);
    pc = at->outer_exit_pc;
    fp = at->outer_exit_fp;
    end = at->outer_entry_fp;
  }
}

void Store::mark_payload(const VmException& exception, Heap::Marker& marker) {
  const std::span<const wasm::ValType> types = payload_types(exception);
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (is_collected(types[i])) marker.mark(exception.payload()[i].bits[0]);
  }
}

void Store::sweep_exceptions() {
  for (VmException** place = &exceptions_; *place != nullptr;) {
    VmException* exception = *place;
    if (exception->is_marked) {
      exception->is_marked = false;
      place = &exception->next;
      continue;
    }
    *place = exception->next;
    heap_.remove_exception(exception_bytes(*exception));
    free_exception(exception);
  }
}

}  // namespace hoist::runtime

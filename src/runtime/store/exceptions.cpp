// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exceptions of a store: their memory, and the way from a throw to a handler or out of compiled
// code.
//
// An exception that no reference exists of (thrown and caught by `catch` or `catch_all`) is owned
// by whoever carries it: its memory is used again for the next exception, so that the handler must
// read the payload first thing. All others are in the store's list; which of those are alive is the
// collector's question.
#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>

#include "base/check.hpp"
#include "jit/unwinder.hpp"
#include "runtime/gc/reference_types.hpp"
#include "runtime/store/instance.hpp"
#include "runtime/store/store.hpp"
#include "runtime/trap/thrown.hpp"

namespace hoist::runtime {

using image::VmException;

namespace {

/// Room that small exceptions have, so that they can use each other's memory.
constexpr std::uint32_t kSmallPayload = 6;

/// What the runtime has in front of an exception, out of compiled code's sight; the payload is
/// behind.
struct alignas(VmException) Allocation {
  std::uint64_t serial = 0;
  VmException exception;
};

VmException* allocate_exception(std::uint32_t capacity) {
  const std::size_t bytes = sizeof(Allocation) + std::size_t{capacity} * sizeof(image::VmGlobal);
  void* memory = std::aligned_alloc(alignof(Allocation), bytes);
  if (memory == nullptr) return nullptr;
  VmException* made = &(new (memory) Allocation)->exception;
  made->capacity = capacity;
  return made;
}

std::uintptr_t allocation_of(const VmException& exception) {
  static_assert(sizeof(Allocation) == offsetof(Allocation, exception) + sizeof(VmException));
  return reinterpret_cast<std::uintptr_t>(&exception) - offsetof(Allocation, exception);
}

}  // namespace

TagObject* Store::new_tag(const wasm::FuncType& type) {
  TagObject& made = host_tags_.emplace_back();
  made.type_id = engine_->types().acquire(type);
  return &made;
}

std::span<const wasm::ValType> Store::payload_types(const VmException& exception) const {
  const auto& tag = *static_cast<const TagObject*>(exception.tag);
  return engine_->types().get(tag.type_id).params();
}

Result<VmException*> Store::new_exception(const TagObject& tag, bool listed) {
  const auto count = static_cast<std::uint32_t>(engine_->types().get(tag.type_id).params().size());
  HOIST_TRY_VOID(heap_.make_room(sizeof(VmException) + count * sizeof(image::VmGlobal)));
  VmException* made = spare_exception_;
  if (made != nullptr && made->capacity >= count) {
    spare_exception_ = nullptr;
  } else {
    made = allocate_exception(std::max(count, kSmallPayload));
    if (made == nullptr) {
      return Error(ErrorKind::OutOfMemory,
                   fmt::format("no memory for an exception of {} values", count));
    }
  }
  made->tag = &tag;
  made->count = count;
  if (listed) list_exception(*made);
  return made;
}

void Store::list_exception(VmException& exception) {
  if (exception.is_listed) return;
  exception.is_listed = true;
  reinterpret_cast<Allocation*>(allocation_of(exception))->serial = ++last_exception_;
  heap_.add_exception(exception_bytes(exception));
  exception.next = exceptions_;
  exceptions_ = &exception;
}

void Store::free_exception(VmException* exception) {
  if (exception != nullptr) std::free(reinterpret_cast<void*>(allocation_of(*exception)));
}

std::uint64_t Store::serial_of(const VmException& exception) {
  return reinterpret_cast<const Allocation*>(allocation_of(exception))->serial;
}

// Whatever holds an exception may end on another thread, at any time: the store looks.
std::shared_ptr<const void> Store::hold_exception(VmException& exception) {
  if (holders_.size() >= most_holders_) {
    drop_ended_holders();
    most_holders_ = std::max<std::size_t>(64, 2 * holders_.size());
  }
  auto token = std::make_shared<const char>();
  holders_.push_back({&exception, token});
  ++exception.pins;
  return token;
}

void Store::drop_ended_holders() {
  std::erase_if(holders_, [](const Holder& holder) {
    if (!holder.token.expired()) return false;
    --holder.exception->pins;
    return true;
  });
}

void Store::end_exceptions() {
  for (VmException* at = exceptions_; at != nullptr;) {
    VmException* next = at->next;
    free_exception(at);
    at = next;
  }
  free_exception(spare_exception_);
  if (in_flight_ != nullptr && !in_flight_->is_listed) free_exception(in_flight_);
  for (const TagObject& tag : host_tags_) engine_->types().release(tag.type_id);
}

Error Store::exception_error_of(VmException& exception) {
  list_exception(exception);
  return exception_error(*this, exception);
}

bool Store::throw_pending_error() {
  if (!error_) return false;
  const ThrownDetail* thrown = thrown_of(*error_);
  if (thrown == nullptr || thrown->store != ref_) return false;
  in_flight_ = thrown->exception;
  return true;
}

/// Whether a handler takes `exception`. What compiler and runtime agree on: image::handler_tag.
static bool takes(const VmException& exception, std::uint32_t tag,
                  const std::optional<std::uint64_t>& context) {
  const std::uint32_t index = tag >> 1;
  if (index == image::kAnyTag) return true;
  HOIST_DCHECK(context.has_value(), "handlers of tags have a context");
  const auto* header =
      reinterpret_cast<const image::VmContextHeader*>(static_cast<std::uintptr_t>(*context));
  return static_cast<const Instance*>(header->instance)->tag(index) == exception.tag;
}

Store::Resumption Store::leave() {
  if (in_flight_ != nullptr) {
    VmException& exception = *in_flight_;
    in_flight_ = nullptr;
    bool with_reference = false;
    const auto matches = [&](std::uint32_t tag, const std::optional<std::uint64_t>& context) {
      with_reference = (tag & 1) != 0;
      return takes(exception, tag, context);
    };
    const auto handler =
        jit::find_handler(context_.exit_pc, context_.exit_fp, context_.entry_fp, matches);
    if (handler) {
      error_.reset();
      if (with_reference) {
        list_exception(exception);
      } else if (!exception.is_listed) {
        free_exception(std::exchange(spare_exception_, &exception));
      }
      return {handler->pc, handler->sp, handler->fp, reinterpret_cast<std::uintptr_t>(&exception)};
    }
    if (!error_) error_ = exception_error_of(exception);
    add_frames();
  }
  return {context_.resume_pc, context_.resume_sp, context_.resume_fp, 0};
}

}  // namespace hoist::runtime

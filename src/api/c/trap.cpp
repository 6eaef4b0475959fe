// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Traps, frames and errors.
#include <string>
#include <utility>

#include "api/c/objects.hpp"
#include "api/c/types.hpp"
#include "api/impl.hpp"
#include "runtime/store/instance.hpp"

namespace hoist::c_api {

wasm_trap_t* new_trap(wasm_store_t& store, Error error) {
  wasm_trap_t* returned = std::exchange(store.pending, nullptr);
  if (returned == nullptr) return new wasm_trap_t(store.store.ref(), std::move(error));
  // The same trap, with the frames that it passed.
  returned->error = std::move(error);
  return returned;
}

wasm_trap_t* misuse(StoreRef store, std::string message) {
  return new wasm_trap_t(store, Error(ErrorKind::BadArgument, std::move(message)));
}

void set_error(hoist_error_t** out, Error error) {
  if (out != nullptr) *out = new hoist_error_t{std::move(error)};
}

using detail::Access;

static wasm_frame_t* new_frame(const wasm_trap_t& trap, const Frame& frame) {
  wasm_instance_t* instance = nullptr;
  if (wasm_store_t* store = store_of(&trap)) {
    const StoreRef ref = store->store.ref();
    if (runtime::Instance* only = Access::store(ref)->only_instance_of(frame.code)) {
      // The store keeps it: the frame needs no reference of its own.
      instance = reference(*store, Access::make<Instance>(ref, only));
      drop_reference(instance);
    }
  }
  return new wasm_frame_t{frame, trap.store, instance};
}

static const SourcePlace& source_of(wasm_frame_t& frame) {
  if (!frame.source) frame.source = frame.frame.source();
  return *frame.source;
}

static std::span<const Frame> frames_of(const wasm_trap_t* trap) {
  const Trap* found = trap == nullptr ? nullptr : Trap::of(trap->error);
  return found == nullptr ? std::span<const Frame>() : found->frames();
}

static std::size_t offset_of(std::uint64_t offset) {
  static_assert(Frame::kNoOffset == SIZE_MAX);
  return offset;
}

}  // namespace hoist::c_api

extern "C" {

wasm_trap_t* wasm_trap_new(wasm_store_t* store, const wasm_message_t* message) {
  if (store == nullptr) return nullptr;
  std::string text;
  if (message != nullptr && message->data != nullptr) text.assign(message->data, message->size);
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return new wasm_trap_t(store->store.ref(), hoist::Error(hoist::ErrorKind::Host, text));
}

void wasm_trap_message(const wasm_trap_t* trap, wasm_message_t* out) {
  if (out == nullptr) return;
  if (trap == nullptr) {
    wasm_name_new_empty(out);
    return;
  }
  const std::string& text = trap->error.message();
  wasm_name_new(out, text.size() + 1, text.c_str());
}

wasm_frame_t* wasm_trap_origin(const wasm_trap_t* trap) {
  const auto frames = hoist::c_api::frames_of(trap);
  return frames.empty() ? nullptr : hoist::c_api::new_frame(*trap, frames.front());
}

void wasm_trap_trace(const wasm_trap_t* trap, wasm_frame_vec_t* out) {
  if (out == nullptr) return;
  const auto frames = hoist::c_api::frames_of(trap);
  wasm_frame_vec_new_uninitialized(out, frames.size());
  for (std::size_t i = 0; i < out->size; ++i) {
    out->data[i] = hoist::c_api::new_frame(*trap, frames[i]);
  }
}

uint8_t hoist_trap_code(const wasm_trap_t* trap) {
  if (trap == nullptr || trap->error.kind() != hoist::ErrorKind::Trap) return 0;
  return static_cast<std::uint8_t>(trap->error.code());
}
bool hoist_trap_exit_status(const wasm_trap_t* trap, int32_t* status) {
  if (trap == nullptr || trap->error.kind() != hoist::ErrorKind::Exit) return false;
  if (status != nullptr) *status = trap->error.code();
  return true;
}
hoist_error_kind_t hoist_trap_error_kind(const wasm_trap_t* trap) {
  if (trap == nullptr) return HOIST_ERROR_BAD_ARGUMENT;
  return static_cast<hoist_error_kind_t>(trap->error.kind());
}

void wasm_frame_delete(wasm_frame_t* frame) {
  delete frame;
}
wasm_frame_t* wasm_frame_copy(const wasm_frame_t* frame) {
  return frame == nullptr ? nullptr : new wasm_frame_t(*frame);
}
wasm_instance_t* wasm_frame_instance(const wasm_frame_t* frame) {
  return frame != nullptr && frame->store.alive() ? frame->instance : nullptr;
}
uint32_t wasm_frame_func_index(const wasm_frame_t* frame) {
  return frame == nullptr ? 0 : frame->frame.function_index;
}
size_t wasm_frame_func_offset(const wasm_frame_t* frame) {
  return frame == nullptr ? SIZE_MAX : hoist::c_api::offset_of(frame->frame.function_offset);
}
size_t wasm_frame_module_offset(const wasm_frame_t* frame) {
  return frame == nullptr ? SIZE_MAX : hoist::c_api::offset_of(frame->frame.module_offset);
}
const char* hoist_frame_function_name(const wasm_frame_t* frame) {
  return frame == nullptr ? "" : frame->frame.function.c_str();
}
const char* hoist_frame_source_file(wasm_frame_t* frame) {
  return frame == nullptr ? "" : hoist::c_api::source_of(*frame).file.c_str();
}
uint32_t hoist_frame_source_line(wasm_frame_t* frame) {
  return frame == nullptr ? 0 : hoist::c_api::source_of(*frame).line;
}
bool hoist_frame_is_inlined(const wasm_frame_t* frame) {
  return frame != nullptr && frame->frame.is_inlined;
}
const char* hoist_frame_module_name(const wasm_frame_t* frame) {
  return frame == nullptr ? "" : frame->frame.module.c_str();
}

// ---- Errors of hoist.h.

void hoist_error_delete(hoist_error_t* error) {
  delete error;
}
hoist_error_kind_t hoist_error_kind(const hoist_error_t* error) {
  if (error == nullptr) return HOIST_ERROR_BAD_ARGUMENT;
  return static_cast<hoist_error_kind_t>(error->error.kind());
}
const char* hoist_error_message(const hoist_error_t* error) {
  return error == nullptr ? "" : error->error.message().c_str();
}
uint64_t hoist_error_offset(const hoist_error_t* error) {
  return error == nullptr ? hoist::Error::kNoOffset : error->error.offset();
}
uint32_t hoist_error_line(const hoist_error_t* error) {
  return error == nullptr ? 0 : error->error.line();
}
uint32_t hoist_error_column(const hoist_error_t* error) {
  return error == nullptr ? 0 : error->error.column();
}

static_assert(HOIST_ERROR_MALFORMED == static_cast<int>(hoist::ErrorKind::Malformed));
static_assert(HOIST_ERROR_UNSUPPORTED == static_cast<int>(hoist::ErrorKind::Unsupported));
static_assert(HOIST_ERROR_BAD_ARGUMENT == static_cast<int>(hoist::ErrorKind::BadArgument));
static_assert(HOIST_ERROR_TRAP == static_cast<int>(hoist::ErrorKind::Trap));
static_assert(HOIST_ERROR_INTERNAL == static_cast<int>(hoist::ErrorKind::Internal));
static_assert(HOIST_ERROR_EXCEPTION == static_cast<int>(hoist::ErrorKind::Exception));

}  // extern "C"

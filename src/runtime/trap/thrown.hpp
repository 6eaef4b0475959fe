// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// An exception of WebAssembly outside of it: an Error of kind Exception, which keeps the exception
/// alive and can be thrown again. What is read belongs to the store's thread; it may end on any,
/// and outlive the store.

#include <memory>
#include <utility>

#include "hoist/store.hpp"
#include "image/layout/vm_layout.hpp"
#include "runtime/trap/trap_error.hpp"

namespace hoist::runtime {

class Store;
struct TagObject;

struct ThrownDetail : TrapDetail {
  ThrownDetail(hoist::Trap::Parts parts, StoreRef its_store, image::VmException* thrown,
               std::shared_ptr<const void> its_hold);
  ThrownDetail(const ThrownDetail&) = delete;
  ThrownDetail& operator=(const ThrownDetail&) = delete;

  StoreRef store;
  image::VmException* exception;
  std::shared_ptr<const void> hold;  ///< Store::hold_exception
};

/// Without frames: "uncaught exception: tag "oops" (i32:7)".
Error exception_error(Store& store, image::VmException& exception);
/// The detail of an error of kind Exception, else null.
const ThrownDetail* thrown_of(const Error& error);
/// The name section's name of a tag, else an export's, else "tag[2]"; for messages.
std::string display_name(const TagObject& tag);

}  // namespace hoist::runtime

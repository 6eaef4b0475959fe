// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Heap: the host objects of one store (externrefs with a finaliser), the scoped and manual roots,
/// and the collector, which also decides about the store's exceptions: mark and sweep, precise,
/// nothing moves. docs/gc.md says what it assumes, guarantees and costs.
///
/// One thread at a time, as its store. What is not reachable from roots ends at a collection;
/// there is one only where all references are in roots, in compiled frames too: when something is
/// allocated, and in Store::collect.

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "base/function_ref.hpp"
#include "base/result.hpp"
#include "image/layout/vm_layout.hpp"

namespace hoist::runtime {

/// What a reference names besides null; see image::kHostWord.
inline image::VmObject* object_of(std::uint64_t word) {
  if ((word >> 62) != 1) return nullptr;
  return reinterpret_cast<image::VmObject*>(
      static_cast<std::uintptr_t>(word & ~image::kHostObject));
}
inline image::VmException* exception_of(std::uint64_t word) {
  if ((word >> 62) != 0) return nullptr;
  return reinterpret_cast<image::VmException*>(static_cast<std::uintptr_t>(word));
}
inline std::uint64_t word_of(const image::VmObject& object) {
  return reinterpret_cast<std::uintptr_t>(&object) | image::kHostObject;
}

class Heap {
 public:
  struct Limits {
    std::uint64_t objects = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t bytes = std::numeric_limits<std::uint64_t>::max();
  };
  /// Handed to whoever enumerates references.
  class Marker {
   public:
    /// Null and pointers of the host are fine.
    void mark(std::uint64_t word) {
      ++heap_.looked_at_;
      if (word == 0 || (word & image::kHostWord) != 0) return;
      heap_.mark(word);
    }

   private:
    friend class Heap;
    explicit Marker(Heap& heap) : heap_(heap) {}
    Heap& heap_;
  };
  /// What the store knows and the heap does not.
  class Owner {
   public:
    virtual void mark_roots(Marker& marker) = 0;
    virtual void mark_payload(const image::VmException& exception, Marker& marker) = 0;
    /// Frees all listed exceptions that are neither marked nor pinned and clears the marks.
    virtual void sweep_exceptions() = 0;
    /// What is said when a limit is reached.
    virtual Error references_full() const = 0;

   protected:
    ~Owner() = default;
  };

  explicit Heap(Owner& owner) : owner_(owner) {}
  /// Finalises everything.
  ~Heap();
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  Limits limits;
  /// Collect at every allocation: for tests.
  bool stress = false;

  /// A new object, which is a scoped root. @error Limit: too many objects or bytes even after a
  /// collection. The finaliser is not called then.
  Result<image::VmObject*> new_object(void* host, void (*finalize)(void*));
  /// Before something of this size is made: collects if it is time to. At a limit, it is so at
  /// once, unless the last collection freed less than a 16th: then only after as many attempts, so
  /// that allocations pay for collections whatever the guest does. @error as above
  Result<void> make_room(std::uint64_t bytes);
  /// Exceptions that references may exist of count as objects.
  void add_exception(std::uint64_t bytes) {
    ++objects_;
    bytes_ += bytes;
  }
  void remove_exception(std::uint64_t bytes) {
    --objects_;
    bytes_ -= bytes;
  }

  // ---- Scoped roots: a stack.
  std::size_t scope() const { return scoped_.size(); }
  void push(std::uint64_t word);
  void pop_to(std::size_t scope) {
    if (scope < scoped_.size()) scoped_.resize(scope);
  }

  // ---- Manual roots. The number is good until `drop_root`.
  std::uint32_t add_root(std::uint64_t word);
  std::uint64_t root(std::uint32_t number) const { return roots_[number]; }
  void drop_root(std::uint32_t number);

  /// Finalisers run when everything else is done.
  void collect();

  std::uint64_t objects() const { return objects_; }  ///< exceptions included
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t collections() const { return collections_; }

 private:
  static constexpr std::size_t kSlab = 256;  ///< objects
  static constexpr std::uint64_t kFirstThreshold = 4096;
  static constexpr std::uint64_t kWorkForAllocation = 16;  ///< words that each one pays for

  void mark(std::uint64_t word);
  void collect_for(std::uint64_t bytes);

  Owner& owner_;
  std::vector<std::unique_ptr<image::VmObject[]>> slabs_;
  image::VmObject* free_ = nullptr;
  std::vector<image::VmException*> work_;  // marked, not yet looked into
  std::vector<std::uint64_t> scoped_;
  std::vector<std::uint64_t> roots_;
  std::vector<std::uint32_t> free_roots_;
  std::uint64_t objects_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t collections_ = 0;
  // The next collection is due at.
  std::uint64_t object_threshold_ = kFirstThreshold;
  std::uint64_t byte_threshold_ = kFirstThreshold * 64;
  std::uint64_t looked_at_ = 0;  // of the last collection: words and objects looked at
  std::uint64_t attempts_ = 0;   // to allocate, since then
  std::uint64_t patience_ = 0;   // attempts before the next collection at a limit
  std::uint64_t next_serial_ = 0, end_serial_ = 0;
  bool collecting_ = false;
};

}  // namespace hoist::runtime

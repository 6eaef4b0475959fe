// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A small C++ runtime for guests that throw: what clang's code calls with -fwasm-exceptions, for
// programs without the standard library. Type descriptions of classes (single and multiple
// inheritance), fundamental types and pointers; no exception specifications, one thread.
// Interface: Itanium C++ ABI, "Exception Handling" and "Run-Time Type Information"; clang's
// conventions for WebAssembly.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void* operator new(size_t size) {
  return malloc(size == 0 ? 1 : size);
}
void* operator new[](size_t size) {
  return operator new(size);
}
void operator delete(void* p) noexcept {
  free(p);
}
void operator delete(void* p, size_t) noexcept {
  free(p);
}
void operator delete[](void* p) noexcept {
  free(p);
}
void operator delete[](void* p, size_t) noexcept {
  free(p);
}
extern "C" void __cxa_pure_virtual() {
  abort();
}

// ---- Type descriptions: the compiler lays out the data and refers to the tables of virtual
// functions.
namespace std {
class type_info {
 public:
  virtual ~type_info();
  /// Whether a handler of this type takes `thrown`; moves `object` to the part that it wants.
  virtual bool catches(const type_info* thrown, void** object) const;
  /// Whether this type is `base` or has it as a public base class; moves `object` likewise.
  virtual bool has_base(const type_info* base, void** object) const;
  virtual const type_info* pointee() const { return nullptr; }
  bool is(const type_info* other) const {
    return name == other->name || strcmp(name, other->name) == 0;
  }
  const char* name;
};
type_info::~type_info() {}
bool type_info::catches(const type_info* thrown, void** object) const {
  return thrown->has_base(this, object);
}
bool type_info::has_base(const type_info* base, void**) const {
  return is(base);
}
}  // namespace std

namespace __cxxabiv1 {
struct __fundamental_type_info : std::type_info {
  ~__fundamental_type_info();
};
__fundamental_type_info::~__fundamental_type_info() {}

struct __class_type_info : std::type_info {
  ~__class_type_info();
};
__class_type_info::~__class_type_info() {}

struct __si_class_type_info : __class_type_info {
  ~__si_class_type_info();
  bool has_base(const type_info* wanted, void** object) const override {
    return is(wanted) || base->has_base(wanted, object);
  }
  const __class_type_info* base;
};
__si_class_type_info::~__si_class_type_info() {}

struct __vmi_class_type_info : __class_type_info {
  ~__vmi_class_type_info();
  bool has_base(const type_info* wanted, void** object) const override {
    if (is(wanted)) return true;
    for (unsigned i = 0; i < count; ++i) {
      constexpr long kVirtual = 1, kPublic = 2;
      if ((bases[i].flags & kPublic) == 0) continue;
      long offset = bases[i].flags >> 8;
      char* at = static_cast<char*>(*object);
      if ((bases[i].flags & kVirtual) != 0) {
        offset = *reinterpret_cast<long*>(*reinterpret_cast<char**>(at) + offset);
      }
      void* part = at + offset;
      if (!bases[i].type->has_base(wanted, &part)) continue;
      *object = part;
      return true;
    }
    return false;
  }
  unsigned flags;
  unsigned count;
  struct {
    const __class_type_info* type;
    long flags;
  } bases[1];
};
__vmi_class_type_info::~__vmi_class_type_info() {}

struct __pointer_type_info : std::type_info {
  ~__pointer_type_info();
  const type_info* pointee() const override { return target; }
  bool catches(const type_info* thrown, void** object) const override {
    if (is(thrown)) {
      *object = *static_cast<void**>(*object);
      return true;
    }
    const type_info* other = thrown->pointee();
    if (other == nullptr) return false;
    void* pointer = *static_cast<void**>(*object);
    if (strcmp(target->name, "v") != 0 && !other->has_base(target, &pointer)) return false;
    *object = pointer;
    return true;
  }
  unsigned flags;
  const type_info* target;
};
__pointer_type_info::~__pointer_type_info() {}

// The compiler makes the descriptions of fundamental types, and pointers to them, where the
// destructor of the class above is defined: here.
}  // namespace __cxxabiv1

// ---- Exceptions.
namespace {

struct Thrown {
  void* unwind_header[4];  // what compiled code passes around points here
  const std::type_info* type;
  void* (*destroy)(void*);  // destructors return the object on this target
  void* adjusted;           // the object, as the handler wants it
  Thrown* next_caught;
  int handlers;
  bool thrown_again;
};
constexpr size_t kHeader = (sizeof(Thrown) + 15) / 16 * 16;

Thrown* caught = nullptr;  // innermost

void* object_of(Thrown* thrown) {
  return reinterpret_cast<char*>(thrown) + kHeader;
}
Thrown* header_of(void* object) {
  return reinterpret_cast<Thrown*>(static_cast<char*>(object) - kHeader);
}

/// A reader of the compiler's table of a function.
struct Reader {
  const uint8_t* at;
  uint32_t unsigned_number() {
    uint32_t value = 0;
    for (int shift = 0;; shift += 7) {
      const uint8_t byte = *at++;
      value |= static_cast<uint32_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
  }
  int32_t signed_number() {
    uint32_t value = 0;
    for (int shift = 0;;) {
      const uint8_t byte = *at++;
      value |= static_cast<uint32_t>(byte & 0x7f) << shift;
      shift += 7;
      if ((byte & 0x80) != 0) continue;
      if ((byte & 0x40) != 0 && shift < 32) value |= ~0u << shift;
      return static_cast<int32_t>(value);
    }
  }
};

}  // namespace

extern "C" {

struct {
  uintptr_t lpad_index;
  uintptr_t lsda;
  uintptr_t selector;
} __wasm_lpad_context;

/// Finds which of the catch clauses of landing pad `lpad_index` takes the exception.
int _Unwind_CallPersonality(void* exception) {
  auto* thrown = static_cast<Thrown*>(exception);
  __wasm_lpad_context.selector = 0;
  if (__wasm_lpad_context.lsda == 0) return 0;
  Reader in{reinterpret_cast<const uint8_t*>(__wasm_lpad_context.lsda)};
  constexpr uint8_t kOmitted = 0xff;
  if (*in.at++ != kOmitted) in.unsigned_number();
  const std::type_info* const* types = nullptr;
  if (*in.at++ != kOmitted) {
    const uint32_t offset = in.unsigned_number();
    types = reinterpret_cast<const std::type_info* const*>(in.at + offset);
  }
  ++in.at;
  const uint32_t length = in.unsigned_number();
  const uint8_t* actions = in.at + length;
  for (uintptr_t i = 0; i < __wasm_lpad_context.lpad_index; ++i) {
    in.unsigned_number();
    in.unsigned_number();
  }
  in.unsigned_number();
  const uint32_t action = in.unsigned_number();
  if (action == 0) return 0;
  in.at = actions + action - 1;
  for (;;) {
    const int32_t number = in.signed_number();
    if (number > 0) {
      const std::type_info* wanted = types[-number];
      void* object = object_of(thrown);
      if (wanted == nullptr || wanted->catches(thrown->type, &object)) {
        thrown->adjusted = object;
        __wasm_lpad_context.selector = static_cast<uintptr_t>(number);
        return 0;
      }
    }
    const uint8_t* here = in.at;
    const int32_t next = in.signed_number();
    if (next == 0) return 0;
    in.at = here + next;
  }
}

int __gxx_personality_wasm0(...) {
  return 0;
}

void* __cxa_allocate_exception(size_t size) {
  auto* thrown = static_cast<Thrown*>(calloc(1, kHeader + size));
  return object_of(thrown);
}
void __cxa_free_exception(void* object) {
  free(header_of(object));
}

_Noreturn void __cxa_throw(void* object, std::type_info* type, void* (*destroy)(void*)) {
  Thrown* thrown = header_of(object);
  thrown->type = type;
  thrown->destroy = destroy;
  __builtin_wasm_throw(0, thrown);
}

void* __cxa_begin_catch(void* exception) {
  auto* thrown = static_cast<Thrown*>(exception);
  thrown->thrown_again = false;
  if (thrown->handlers++ == 0) {
    thrown->next_caught = caught;
    caught = thrown;
  }
  return thrown->adjusted;
}
void* __cxa_get_exception_ptr(void* exception) {
  return static_cast<Thrown*>(exception)->adjusted;
}

void __cxa_end_catch() {
  Thrown* thrown = caught;
  if (--thrown->handlers != 0) return;
  caught = thrown->next_caught;
  if (thrown->thrown_again) return;
  if (thrown->destroy != nullptr) thrown->destroy(object_of(thrown));
  free(thrown);
}

_Noreturn void __cxa_rethrow() {
  if (caught == nullptr) abort();
  caught->thrown_again = true;
  __builtin_wasm_throw(0, caught);
}

_Noreturn void _Unwind_Resume(void* exception) {
  __builtin_wasm_throw(0, exception);
}
_Noreturn void __clang_call_terminate(void*) {
  fputs("terminate called\n", stderr);
  abort();
}
}
namespace std {
[[noreturn]] void terminate() noexcept {
  fputs("terminate called\n", stderr);
  abort();
}
}  // namespace std

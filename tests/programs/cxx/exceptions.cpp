// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// C++ exceptions of all kinds: the output is the same as that of the native program.
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

namespace {

int live = 0;
struct Counted {
  explicit Counted(int the_value) : value(the_value) { ++live; }
  Counted(const Counted& other) : value(other.value) { ++live; }
  ~Counted() { --live; }
  int value;
};

struct Base {
  virtual ~Base() {}
  virtual int id() const { return 1; }
  int base = 11;
};
struct Derived : Base {
  int id() const override { return 2; }
  int derived = 22;
};
struct Other {
  virtual ~Other() {}
  long other = 33;
};
struct Both : Other, Derived {
  int id() const override { return 3; }
};
struct Virtual : virtual Base {
  int id() const override { return 4; }
};

#define NOINLINE __attribute__((noinline))

NOINLINE void throw_kind(int kind) {
  const Counted local(kind);
  switch (kind) {
    case 0: throw 42;
    case 1: throw 4.5;
    case 2: throw "text";
    case 3: throw Derived();
    case 4: throw Both();
    case 5: throw Counted(5);
    case 6: throw 7LL;
    case 7: {
      static Derived object;
      throw &object;
    }
    case 8: throw Virtual();
    default: return;
  }
}

NOINLINE int describe(int kind) {
  try {
    throw_kind(kind);
    printf("kind %d: nothing\n", kind);
    return 0;
  } catch (int value) {
    printf("kind %d: int %d\n", kind, value);
  } catch (double value) {
    printf("kind %d: double %g\n", kind, value);
  } catch (const char* text) {
    printf("kind %d: text %s\n", kind, text);
  } catch (const Base& base) {
    printf("kind %d: base %d %d\n", kind, base.id(), base.base);
  } catch (const Base* base) {
    printf("kind %d: pointer %d\n", kind, base->id());
  } catch (const Counted& counted) {
    printf("kind %d: counted %d\n", kind, counted.value);
  } catch (...) {
    printf("kind %d: something else\n", kind);
  }
  return kind;
}

// Each level cleans up, and throws on, again, or something else.
NOINLINE int nested(int depth, int mode) {
  const Counted local(depth);
  if (depth == 0) throw Counted(mode);
  try {
    return nested(depth - 1, mode) + 1;
  } catch (Counted& counted) {
    counted.value += 1;
    if (mode == 1) throw;
    if (mode == 2) throw Counted(counted.value + 10);
    if (mode == 3 && depth < 4) throw;
    return counted.value;
  }
}

NOINLINE int within_handler(int n) {
  try {
    throw n;
  } catch (int outer) {
    int sum = outer;
    for (int i = 0; i < 3; ++i) {
      try {
        if (i != 1) throw Counted(i);
        sum += 100;
      } catch (const Counted& counted) {
        sum += counted.value;
      }
    }
    return sum;
  }
}

struct FromConstructor {
  Counted first{1};
  Counted second;
  explicit FromConstructor(int n) : second(check(n)) {}
  static int check(int n) {
    if (n < 0) throw Counted(n);
    return n;
  }
};

NOINLINE long many(int count) {
  long sum = 0;
  for (int i = 0; i < count; ++i) {
    try {
      throw_kind(i % 7);
    } catch (int value) {
      sum += value;
    } catch (const Counted& counted) {
      sum += counted.value;
    } catch (...) {
      sum += 1;
    }
  }
  return sum;
}

// ---- setjmp beside exceptions.
jmp_buf target;
NOINLINE void jump(int depth) {
  if (depth == 0) longjmp(target, 9);
  jump(depth - 1);
}
NOINLINE int with_jump() {
  volatile int before = 3;
  const int got = setjmp(target);
  if (got == 0) {
    before = 4;
    jump(10);
  }
  return got * 10 + before;
}

}  // namespace

int main() {
  for (int kind = 0; kind < 10; ++kind) describe(kind);
  for (int mode = 0; mode < 4; ++mode) {
    try {
      printf("mode %d: returned %d\n", mode, nested(6, mode));
    } catch (const Counted& counted) {
      printf("mode %d: caught %d\n", mode, counted.value);
    }
  }
  printf("in a handler: %d\n", within_handler(5));
  try {
    FromConstructor fine(1);
    printf("constructed %d, live %d\n", fine.second.value, live);
    FromConstructor wrong(-1);
    printf("never\n");
  } catch (const Counted& counted) {
    printf("not constructed: %d\n", counted.value);
  }
  printf("many: %ld\n", many(20000));
  printf("jump: %d\n", with_jump());
  printf("live at the end: %d\n", live);
  return 0;
}

// Names of C++: a template in a namespace.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

namespace shop {

template <typename T>
struct Basket {
  [[gnu::noinline]] T mix(T x, uint32_t turns) const {
    for (uint32_t i = 0; i < turns; ++i) x = x * 2862933555777941757u + i;  // HOT
    return x;
  }
};

}  // namespace shop

int main(int argc, char** argv) {
  const shop::Basket<uint64_t> basket;
  uint64_t sum = 0;
  const int rounds = argc > 1 ? atoi(argv[1]) : 100;
  for (int i = 0; i < rounds; ++i) sum += basket.mix(static_cast<uint64_t>(i), 1000000);
  printf("%llu\n", static_cast<unsigned long long>(sum));
}

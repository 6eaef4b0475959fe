// Most of its time is in `hot_loop`, at the line that says so; some in a host call.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint32_t table[256];

__attribute__((noinline)) uint32_t hot_loop(uint32_t seed, uint32_t turns) {
  uint32_t x = seed;
  for (uint32_t i = 0; i < turns; ++i) {
    x = table[(x >> 8) & 255] ^ (x * 2654435761u + i);  // HOT
  }
  return x;
}

__attribute__((noinline)) uint32_t cold(uint32_t seed) {
  uint32_t x = seed;
  for (int i = 0; i < 1000; ++i) x = x * 33 + 7;
  return x;
}

__attribute__((noinline)) void waits(long ms) {
  struct timespec time = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&time, NULL);
}

int main(int argc, char** argv) {
  uint32_t rounds = argc > 1 ? (uint32_t)atoi(argv[1]) : 100;
  for (uint32_t i = 0; i < 256; ++i) table[i] = i * 0x01010101u;
  uint32_t sum = 0;
  for (uint32_t i = 0; i < rounds; ++i) {
    sum += hot_loop(i, 1000000);
    sum += cold(i);
  }
  if (argc > 2) waits(atoi(argv[2]));
  printf("%u\n", sum);
  return 0;
}

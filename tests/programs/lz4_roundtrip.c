// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compresses a deterministic text with LZ4 (fast and high compression), decompresses, compares, and
// prints sizes and hashes. Usage: lz4_roundtrip [MEGABYTES].
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lz4.h"
#include "lz4hc.h"

static uint32_t seed = 12345;
static uint32_t next_random(void) {
  seed = seed * 1664525u + 1013904223u;
  return seed >> 8;
}

static uint64_t fnv(const char* data, size_t size) {
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; i < size; ++i) hash = (hash ^ (unsigned char)data[i]) * 1099511628211u;
  return hash;
}

int main(int argc, char** argv) {
  const size_t size = (size_t)(argc > 1 ? atoi(argv[1]) : 4) << 20;
  static const char* words[] = {"alpha ", "beta ", "gamma ", "delta ", "epsilon, ", "zeta\n", "eta ", "theta. "};
  char* text = malloc(size + 16);
  for (size_t i = 0; i < size;) {
    const char* word = words[next_random() % 8];
    const size_t length = strlen(word);
    memcpy(text + i, word, length);
    i += length;
    if (next_random() % 5 == 0 && i < size) text[i++] = (char)('a' + next_random() % 26);
  }
  const int bound = LZ4_compressBound((int)size);
  char* packed = malloc((size_t)bound);
  char* again = malloc(size);
  for (int level = 0; level <= 9; level += 9) {
    const int n = level == 0 ? LZ4_compress_default(text, packed, (int)size, bound)
                             : LZ4_compress_HC(text, packed, (int)size, bound, level);
    const int m = LZ4_decompress_safe(packed, again, n, (int)size);
    // The fast compressor hashes by machine word: its output differs between 32 and 64 bits.
    if (level != 0) printf("%zu -> %d bytes, hash %016llx, ", size, n, (unsigned long long)fnv(packed, (size_t)n));
    printf("level %d round trip %s\n", level,
           m == (int)size && memcmp(text, again, size) == 0 ? "ok" : "BROKEN");
  }
  free(text);
  free(packed);
  free(again);
  return 0;
}

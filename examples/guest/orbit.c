// A guest program for `make run`: draws the Mandelbrot set as text, sorts, formats and prints: the
// ordinary life of a command-line program. Usage: orbit [ROWS].
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int escape_time(double cr, double ci, int limit) {
  double zr = 0.0, zi = 0.0;
  int n = 0;
  while (n < limit && zr * zr + zi * zi <= 4.0) {
    const double next = zr * zr - zi * zi + cr;
    zi = 2.0 * zr * zi + ci;
    zr = next;
    ++n;
  }
  return n;
}

static int compare_ints(const void* a, const void* b) {
  const int x = *(const int*)a, y = *(const int*)b;
  return (x > y) - (x < y);
}

int main(int argc, char** argv) {
  const int rows = argc > 1 ? atoi(argv[1]) : 16;
  if (rows < 1 || rows > 200) {
    fprintf(stderr, "orbit: ROWS is a number from 1 to 200, not '%s'\n", argc > 1 ? argv[1] : "");
    return 2;
  }
  const int columns = rows * 4, limit = 2000;
  static const char shades[] = " .:-=+*#%@";
  int* times = malloc(sizeof(int) * (size_t)(rows * columns));
  for (int y = 0; y < rows; ++y) {
    for (int x = 0; x < columns; ++x) {
      const double cr = -2.2 + 3.2 * x / columns, ci = -1.2 + 2.4 * y / rows;
      const int n = escape_time(cr, ci, limit);
      times[y * columns + x] = n;
      putchar(shades[n == limit ? 9 : (int)(log2(n + 1.0) * 1.2) % 9]);
    }
    putchar('\n');
  }
  qsort(times, (size_t)(rows * columns), sizeof(int), compare_ints);
  double sum = 0;
  for (int i = 0; i < rows * columns; ++i) sum += times[i];
  printf("points %d, median escape time %d, mean %.3f\n", rows * columns, times[rows * columns / 2],
         sum / (rows * columns));
  free(times);
  return 0;
}

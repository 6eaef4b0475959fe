#include <gtest/gtest.h>
TEST(Smoke, x) {}

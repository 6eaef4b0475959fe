# Warnings that both compilers must be free of. -Wconversion is not optional in a code generator:
# truncated immediates are its typical bug.
set(HOIST_WARNINGS
    -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wswitch -Wimplicit-fallthrough
    -Wextra-semi -Wold-style-cast -Wcast-qual -Wnon-virtual-dtor -Woverloaded-virtual -Wformat=2
    -Wdouble-promotion)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  list(APPEND HOIST_WARNINGS -Wshadow -Wmissing-prototypes -Wcovered-switch-default -Wglobal-constructors
       -Wexit-time-destructors -Wzero-as-null-pointer-constant)
else()
  # g++ takes the enumerators of a scoped enum for hidden by a global name (clang checks that right), and has
  # well-known false positives in the last three when std::vector is inlined.
  list(APPEND HOIST_WARNINGS -Wshadow=local -Wmissing-declarations -Wduplicated-cond -Wno-array-bounds
       -Wno-stringop-overflow -Wno-maybe-uninitialized)
endif()
if(HOIST_WERROR)
  list(APPEND HOIST_WARNINGS -Werror)
endif()
# Test frameworks register tests in static constructors.
set(HOIST_TEST_WARNINGS ${HOIST_WARNINGS})
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  list(APPEND HOIST_TEST_WARNINGS -Wno-global-constructors)
endif()

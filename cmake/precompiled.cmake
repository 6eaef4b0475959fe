# Precompiled headers. Four fifths of the time that a file takes to compile are its headers, so what
# most files of a layer include is compiled once: src/<layer>/precompiled.hpp, or that of the first
# layer it depends on that has one.
#
# For release builds with Clang and Ninja: those without it show that every file includes what it uses,
# and compile less again after a change of a header.
#
# Not target_precompile_headers: that has the build folder's path in its output, and ccache could not
# share objects between build folders.

set(precompiled OFF)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND CMAKE_GENERATOR STREQUAL "Ninja" AND
   CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT HOIST_SANITIZE AND NOT HOIST_FUZZ)
  set(precompiled ON)
endif()
option(HOIST_PRECOMPILED "Precompiled headers; needs Clang and Ninja" ${precompiled})

# An object library whose object is `header` (relative to this folder), precompiled. The caller gives it
# the options of the targets that use it; with -fPIE if these are executables, as CMake gives them.
function(hoist_add_precompiled target header)
  cmake_path(ABSOLUTE_PATH header)
  add_library(${target} OBJECT ${header})
  # Without times of files in it, which differ between checkouts: Ninja knows what is newer.
  set_source_files_properties(${header} PROPERTIES LANGUAGE CXX
    COMPILE_OPTIONS "-xc++-header;-Xclang;-fno-pch-timestamp")
  # Absolute paths, which CCACHE_BASEDIR would make relative to the build folder, are part of the output.
  if(CCACHE)
    set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND};-E;env;CCACHE_NOHASHDIR=1;CCACHE_SLOPPINESS=${HOIST_CCACHE_SLOPPINESS};${CCACHE}")
  endif()
endfunction()

# Sources of `target`, of this folder like `precompiled`, begin with that one's header.
function(hoist_use_precompiled target precompiled)
  get_target_property(header ${precompiled} SOURCES)
  file(RELATIVE_PATH folder ${CMAKE_BINARY_DIR} ${CMAKE_CURRENT_BINARY_DIR})
  file(RELATIVE_PATH name ${CMAKE_CURRENT_SOURCE_DIR} ${header})
  cmake_path(APPEND folder CMakeFiles/${precompiled}.dir/${name}.o OUTPUT_VARIABLE object)
  get_target_property(sources ${target} SOURCES)
  # That file compiles {fmt} with other macros than everything else.
  list(FILTER sources EXCLUDE REGEX "/fmt_impl\\.cpp$")
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  # Relative to the build folder, where Ninja runs: the same text in each.
  set_property(SOURCE ${sources} APPEND PROPERTY COMPILE_OPTIONS -include-pch ${object})
  set_property(SOURCE ${sources} APPEND PROPERTY OBJECT_DEPENDS ${CMAKE_BINARY_DIR}/${object})
endfunction()

# Puts the flame graph's page together from src/profiling/sampler/page: style and script go into the
# HTML, which is cut where the data belongs. Run by the build:
# cmake -DOUTPUT=FILE -DPAGE=DIR -P flame_graph_page.cmake
file(READ ${PAGE}/page.html html)
file(READ ${PAGE}/page.css style)
file(READ ${PAGE}/page.js script)
foreach(text IN ITEMS "${html}" "${style}" "${script}")
  if(text MATCHES "\\)page\"")
    message(FATAL_ERROR "the flame graph's page must not contain the end of a C++ string")
  endif()
endforeach()
string(REPLACE "/*STYLE*/" "${style}" html "${html}")
string(REPLACE "/*SCRIPT*/" "${script}" html "${html}")
string(FIND "${html}" "/*DATA*/" at)
if(at EQUAL -1)
  message(FATAL_ERROR "page.html has no place for the data")
endif()
string(SUBSTRING "${html}" 0 ${at} head)
math(EXPR at "${at} + 8")
string(SUBSTRING "${html}" ${at} -1 tail)
file(WRITE ${OUTPUT} "#pragma once
// Made by cmake/flame_graph_page.cmake.
namespace hoist::profiling {
inline constexpr const char* kFlameGraphHead = R\"page(${head})page\";
inline constexpr const char* kFlameGraphTail = R\"page(${tail})page\";
}  // namespace hoist::profiling
")

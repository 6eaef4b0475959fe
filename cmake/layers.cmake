# Builds one object library per folder of src/ from the layer list, so that the build graph is the
# include graph: see scripts/layers/layers.txt.

# Reads "name: dep dep" lines; sets HOIST_LAYERS and HOIST_DEPS_<name> (direct dependencies).
function(hoist_read_layers file)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(STRINGS ${file} lines REGEX "^[a-z]")
  set(names "")
  foreach(line IN LISTS lines)
    string(REGEX MATCH "^([a-z0-9]+): *(.*)$" _ "${line}")
    set(name ${CMAKE_MATCH_1})
    separate_arguments(deps UNIX_COMMAND "${CMAKE_MATCH_2}")
    list(APPEND names ${name})
    set(HOIST_DEPS_${name} "${deps}" PARENT_SCOPE)
  endforeach()
  set(HOIST_LAYERS "${names}" PARENT_SCOPE)
endfunction()

# Transitive closure of a layer's dependencies, itself included.
function(hoist_closure name out)
  set(todo ${name})
  set(seen "")
  while(todo)
    list(POP_FRONT todo next)
    if(NOT next IN_LIST seen)
      list(APPEND seen ${next})
      list(APPEND todo ${HOIST_DEPS_${next}})
    endif()
  endwhile()
  set(${out} "${seen}" PARENT_SCOPE)
endfunction()

macro(hoist_add_layers file)
  hoist_read_layers(${file})
  set(HOIST_OBJECTS "")
  foreach(layer IN LISTS HOIST_LAYERS)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${layer}/*.cpp)
    list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
    if(sources)
      add_library(hoist_${layer} OBJECT ${sources})
      target_include_directories(hoist_${layer} PUBLIC ${CMAKE_SOURCE_DIR}/include
                                 ${CMAKE_SOURCE_DIR}/src)
      target_compile_options(hoist_${layer} PRIVATE ${HOIST_WARNINGS} -fno-exceptions -fno-rtti
                             -fvisibility=hidden)
      target_link_libraries(hoist_${layer} PUBLIC fmt::fmt Threads::Threads)
      list(APPEND HOIST_OBJECTS $<TARGET_OBJECTS:hoist_${layer}>)
    endif()
  endforeach()
  add_library(hoist STATIC ${HOIST_OBJECTS})
  target_include_directories(hoist PUBLIC ${CMAKE_SOURCE_DIR}/include)
  target_link_libraries(hoist PUBLIC fmt::fmt Threads::Threads)
endmacro()

# test_<layer> links the objects of the layers it may use and nothing else: a unit test that needs
# more shows a missing edge.
function(hoist_add_unit_tests)
  foreach(layer IN LISTS HOIST_LAYERS)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${layer}/*_test.cpp)
    if(sources)
      add_executable(test_${layer} ${sources})
      # Tests are compiled once and run once: optimising them costs more than it saves.
      target_compile_options(test_${layer} PRIVATE ${HOIST_TEST_WARNINGS} -O0)
      target_include_directories(test_${layer} PRIVATE ${CMAKE_SOURCE_DIR}/include
                                 ${CMAKE_SOURCE_DIR}/src)
      hoist_closure(${layer} closure)
      foreach(dep IN LISTS closure)
        if(TARGET hoist_${dep})
          target_sources(test_${layer} PRIVATE $<TARGET_OBJECTS:hoist_${dep}>)
        endif()
      endforeach()
      target_link_libraries(test_${layer} PRIVATE GTest::gtest_main fmt::fmt Threads::Threads)
      if(layer STREQUAL "asm")
        # The encoder's tests disassemble with Capstone.
        target_link_libraries(test_${layer} PRIVATE capstone)
        target_compile_definitions(test_${layer} PRIVATE
                                   HOIST_TESTDATA="${CMAKE_SOURCE_DIR}/src/asm/x64/testdata")
      endif()
      add_test(NAME unit_${layer} COMMAND test_${layer})
    endif()
  endforeach()
endfunction()

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

# Layers and files that a feature switch takes out of the library.
macro(hoist_apply_features)
  set(HOIST_FILES_OFF "_test\\.cpp$")
  if(HOIST_COMPILER)
    list(APPEND HOIST_FILES_OFF "/api/no_compiler\\.cpp$")
  else()
    list(REMOVE_ITEM HOIST_LAYERS ir asm opt codegen isa translate compiler native)
    list(APPEND HOIST_FILES_OFF "/wasm/text/")
  endif()
  if(HOIST_WASI)
    list(APPEND HOIST_FILES_OFF "/api/no_wasi\\.cpp$")
  else()
    list(REMOVE_ITEM HOIST_LAYERS wasi)
    list(APPEND HOIST_FILES_OFF "/api/wasi\\.cpp$")
  endif()
  if(NOT HOIST_C_API)
    list(APPEND HOIST_FILES_OFF "/api/c/")
  endif()
endmacro()

# Generates hoist_layout_hash.hpp for src/image/version.cpp.
function(hoist_add_layout_hash)
  set(image ${PROJECT_SOURCE_DIR}/src/image)
  file(GLOB files CONFIGURE_DEPENDS ${image}/layout/*.hpp ${image}/layout/*.def ${image}/tables/*.hpp)
  list(APPEND files ${image}/address_map.hpp ${image}/header.hpp ${image}/image.hpp
       ${image}/settings.hpp ${PROJECT_SOURCE_DIR}/src/platform/cpu_features.def
       ${PROJECT_SOURCE_DIR}/src/wasm/format/features.def)
  set(output ${PROJECT_BINARY_DIR}/generated/hoist_layout_hash.hpp)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} "-DFILES=${files}"
            -P ${PROJECT_SOURCE_DIR}/cmake/layout_hash.cmake
    DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/layout_hash.cmake
    VERBATIM)
  target_sources(hoist_image PRIVATE ${output})
  target_include_directories(hoist_image PRIVATE ${PROJECT_BINARY_DIR}/generated)
  set_source_files_properties(${image}/version.cpp PROPERTIES
    COMPILE_DEFINITIONS HOIST_VERSION_TEXT="${PROJECT_VERSION}")
  set_property(SOURCE ${image}/version.cpp APPEND PROPERTY OBJECT_DEPENDS ${output})
endfunction()

function(hoist_set_layer_options target)
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_compile_options(${target} PRIVATE ${HOIST_WARNINGS} -fno-exceptions -fno-rtti
                         -fvisibility=hidden)
  target_link_libraries(${target} PUBLIC fmt::fmt Threads::Threads)
endfunction()

# Sets `out` to the layer whose precompiled header the files of `layer` begin with: its own, or that of
# the first layer it depends on that has one.
function(hoist_precompiled_layer layer out)
  hoist_closure(${layer} closure)
  foreach(dep IN LISTS closure)
    if(EXISTS ${PROJECT_SOURCE_DIR}/src/${dep}/precompiled.hpp)
      set(${out} ${dep} PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

# Files of `prefix`_`layer` begin with the precompiled header of the layer, which has the options that
# the function `set_options` gives.
function(hoist_precompile prefix layer set_options)
  hoist_precompiled_layer(${layer} from)
  set(precompiled ${prefix}_${from}_precompiled)
  if(NOT TARGET ${precompiled})
    hoist_add_precompiled(${precompiled} src/${from}/precompiled.hpp)
    cmake_language(CALL ${set_options} ${precompiled})
  endif()
  hoist_use_precompiled(${prefix}_${layer} ${precompiled})
endfunction()

function(hoist_set_precompiled_test_options target)
  hoist_set_test_options(${target})
  target_compile_options(${target} PRIVATE -fPIE "SHELL:-include gtest/gtest.h")
endfunction()

# Generates hoist_flame_graph_page.hpp for src/profiling/sampler/flame_graph.cpp.
function(hoist_add_flame_graph_page)
  set(page ${PROJECT_SOURCE_DIR}/src/profiling/sampler/page)
  set(make ${PROJECT_SOURCE_DIR}/cmake/flame_graph_page.cmake)
  set(output ${PROJECT_BINARY_DIR}/generated/hoist_flame_graph_page.hpp)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DPAGE=${page} -P ${make}
    DEPENDS ${page}/page.html ${page}/page.css ${page}/page.js ${make}
    VERBATIM)
  target_sources(hoist_profiling PRIVATE ${output})
  target_include_directories(hoist_profiling PRIVATE ${PROJECT_BINARY_DIR}/generated)
endfunction()

macro(hoist_add_layers file)
  hoist_read_layers(${file})
  hoist_apply_features()
  set(HOIST_OBJECTS "")
  foreach(layer IN LISTS HOIST_LAYERS)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${layer}/*.cpp)
    foreach(off IN LISTS HOIST_FILES_OFF)
      list(FILTER sources EXCLUDE REGEX "${off}")
    endforeach()
    if(sources)
      add_library(hoist_${layer} OBJECT ${sources})
      hoist_set_layer_options(hoist_${layer})
      if(HOIST_PRECOMPILED)
        hoist_precompile(hoist ${layer} hoist_set_layer_options)
      endif()
      list(APPEND HOIST_OBJECTS $<TARGET_OBJECTS:hoist_${layer}>)
    endif()
  endforeach()
  # Where exceptions of the embedder's functions end.
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/platform/embedder_call.cpp
                              ${PROJECT_SOURCE_DIR}/src/runtime/objects/host_function_call.cpp PROPERTIES
                              COMPILE_OPTIONS -fexceptions SKIP_PRECOMPILE_HEADERS ON
                              SKIP_UNITY_BUILD_INCLUSION ON)
  hoist_add_layout_hash()
  hoist_add_flame_graph_page()
  if(HOIST_IBERTY_LIBRARY)
    target_compile_definitions(hoist_demangle PRIVATE HOIST_HAS_IBERTY)
  endif()
  add_library(hoist STATIC ${HOIST_OBJECTS})
  target_include_directories(hoist PUBLIC ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(hoist PUBLIC fmt::fmt Threads::Threads ${CMAKE_DL_LIBS} ${HOIST_IBERTY_LIBRARY})
  add_library(Hoist::hoist ALIAS hoist)
endmacro()

function(hoist_set_test_options target)
  # Tests are compiled once and run once: optimising them costs more than it saves.
  target_compile_options(${target} PRIVATE ${HOIST_TEST_WARNINGS} -O0)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${target} PRIVATE GTest::gtest_main fmt::fmt Threads::Threads)
endfunction()

# test_<layer> links the objects of the layers it may use and nothing else: a unit test that needs
# more shows a missing edge.
function(hoist_add_unit_tests)
  foreach(layer IN LISTS HOIST_LAYERS)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${layer}/*_test.cpp)
    if(sources)
      add_executable(test_${layer} ${sources})
      hoist_set_test_options(test_${layer})
      if(HOIST_PRECOMPILED)
        hoist_precompile(test ${layer} hoist_set_precompiled_test_options)
      endif()
      hoist_closure(${layer} closure)
      foreach(dep IN LISTS closure)
        if(TARGET hoist_${dep})
          target_sources(test_${layer} PRIVATE $<TARGET_OBJECTS:hoist_${dep}>)
        endif()
      endforeach()
      target_link_libraries(test_${layer} PRIVATE ${CMAKE_DL_LIBS} ${HOIST_IBERTY_LIBRARY})
      if(layer STREQUAL "asm")
        # The encoder's tests disassemble with Capstone.
        target_link_libraries(test_${layer} PRIVATE capstone)
        target_compile_definitions(test_${layer} PRIVATE
                                   HOIST_TESTDATA="${PROJECT_SOURCE_DIR}/src/asm/x64/testdata")
      endif()
      add_test(NAME unit_${layer} COMMAND test_${layer})
    endif()
  endforeach()
endfunction()

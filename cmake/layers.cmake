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
       ${image}/settings.hpp ${PROJECT_SOURCE_DIR}/src/platform/cpu_features.def)
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
    COMPILE_DEFINITIONS HOIST_VERSION_TEXT="${PROJECT_VERSION}" OBJECT_DEPENDS ${output})
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
      target_include_directories(hoist_${layer} PUBLIC ${PROJECT_SOURCE_DIR}/include
                                 ${PROJECT_SOURCE_DIR}/src)
      target_compile_options(hoist_${layer} PRIVATE ${HOIST_WARNINGS} -fno-exceptions -fno-rtti
                             -fvisibility=hidden)
      target_link_libraries(hoist_${layer} PUBLIC fmt::fmt Threads::Threads)
      list(APPEND HOIST_OBJECTS $<TARGET_OBJECTS:hoist_${layer}>)
    endif()
  endforeach()
  hoist_add_layout_hash()
  if(HOIST_IBERTY_LIBRARY)
    target_compile_definitions(hoist_demangle PRIVATE HOIST_HAS_IBERTY)
  endif()
  add_library(hoist STATIC ${HOIST_OBJECTS})
  target_include_directories(hoist PUBLIC ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(hoist PUBLIC fmt::fmt Threads::Threads ${CMAKE_DL_LIBS} ${HOIST_IBERTY_LIBRARY})
  add_library(Hoist::hoist ALIAS hoist)
endmacro()

# test_<layer> links the objects of the layers it may use and nothing else: a unit test that needs
# more shows a missing edge.
function(hoist_add_unit_tests)
  foreach(layer IN LISTS HOIST_LAYERS)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${layer}/*_test.cpp)
    if(sources)
      add_executable(test_${layer} ${sources})
      # Tests are compiled once and run once: optimising them costs more than it saves.
      target_compile_options(test_${layer} PRIVATE ${HOIST_TEST_WARNINGS} -O0)
      target_include_directories(test_${layer} PRIVATE ${PROJECT_SOURCE_DIR}/include
                                 ${PROJECT_SOURCE_DIR}/src)
      hoist_closure(${layer} closure)
      foreach(dep IN LISTS closure)
        if(TARGET hoist_${dep})
          target_sources(test_${layer} PRIVATE $<TARGET_OBJECTS:hoist_${dep}>)
        endif()
      endforeach()
      target_link_libraries(test_${layer} PRIVATE GTest::gtest_main fmt::fmt Threads::Threads ${CMAKE_DL_LIBS}
                            ${HOIST_IBERTY_LIBRARY})
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

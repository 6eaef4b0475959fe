# What is installed: headers, libhoist.a, libhoist.so, a CMake package and a pkg-config file.
#
# libhoist.a holds one relocatable object in which everything but HOIST_API is local, so that nothing
# of Hoist, its copy of {fmt}, or the C++ library's templates as compiled for it (without exceptions)
# can take the place of a symbol of the program it is linked into.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(HOIST_EXPORTS ${PROJECT_SOURCE_DIR}/cmake/exports.map)

# ---- The shared library.
add_library(hoist_shared SHARED ${HOIST_OBJECTS})
set_target_properties(hoist_shared PROPERTIES
  OUTPUT_NAME hoist VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
  LINK_DEPENDS ${HOIST_EXPORTS}
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
target_link_options(hoist_shared PRIVATE LINKER:--version-script=${HOIST_EXPORTS} LINKER:--gc-sections)
if(NOT HOIST_SANITIZE)
  target_link_options(hoist_shared PRIVATE LINKER:--no-undefined)
endif()
target_link_libraries(hoist_shared PRIVATE Threads::Threads ${CMAKE_DL_LIBS} ${HOIST_IBERTY_LIBRARY})

# ---- The static library.
find_program(HOIST_LD NAMES ld.bfd ld)
find_program(HOIST_OBJCOPY NAMES objcopy)
set(bundle_object ${PROJECT_BINARY_DIR}/lib/hoist_bundle.o)
set(HOIST_BUNDLE ${PROJECT_BINARY_DIR}/lib/libhoist.a)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/lib/bundle.rsp CONTENT "$<JOIN:${HOIST_OBJECTS},\n>\n")
add_custom_command(
  OUTPUT ${HOIST_BUNDLE}
  COMMAND ${HOIST_LD} -r --force-group-allocation -o ${bundle_object}
          @${PROJECT_BINARY_DIR}/lib/bundle.rsp ${HOIST_IBERTY_LIBRARY}
  COMMAND ${HOIST_OBJCOPY} --localize-hidden --wildcard "--keep-global-symbol=_ZN5hoist*"
          "--keep-global-symbol=_ZNK5hoist*" "--keep-global-symbol=wasm_*"
          "--keep-global-symbol=hoist_*" ${bundle_object}
  COMMAND ${CMAKE_COMMAND} -E rm -f ${HOIST_BUNDLE}
  COMMAND ${CMAKE_AR} qcs ${HOIST_BUNDLE} ${bundle_object}
  COMMAND ${CMAKE_COMMAND} -E rm -f ${bundle_object}
  DEPENDS ${HOIST_OBJECTS} ${PROJECT_BINARY_DIR}/lib/bundle.rsp
  COMMAND_EXPAND_LISTS VERBATIM
  COMMENT "Linking libhoist.a, one object with hidden symbols")
add_custom_target(hoist_bundle ALL DEPENDS ${HOIST_BUNDLE})

# ---- Headers and package files.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/hoist DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        COMPONENT devel FILES_MATCHING PATTERN "*.hpp")
if(HOIST_C_API)
  install(FILES ${PROJECT_SOURCE_DIR}/include/wasm.h ${PROJECT_SOURCE_DIR}/include/hoist.h
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT devel)
endif()
install(FILES ${HOIST_BUNDLE} DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT devel)
install(TARGETS hoist_shared
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT devel)
if(HOIST_TOOLS)
  install(PROGRAMS ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/hoist DESTINATION ${CMAKE_INSTALL_BINDIR}
          COMPONENT tools OPTIONAL)
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Hoist)
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/HoistConfig.cmake.in ${PROJECT_BINARY_DIR}/HoistConfig.cmake
  INSTALL_DESTINATION ${package_dir}
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/HoistConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/HoistConfig.cmake
              ${PROJECT_BINARY_DIR}/HoistConfigVersion.cmake
        DESTINATION ${package_dir} COMPONENT devel)

# The package can be moved as a whole: paths are relative to the pkg-config file.
file(RELATIVE_PATH HOIST_PC_PREFIX /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
configure_file(${PROJECT_SOURCE_DIR}/cmake/hoist.pc.in ${PROJECT_BINARY_DIR}/hoist.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/hoist.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT devel)

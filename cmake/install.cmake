# The program, its plug-ins (cmake/plugins.cmake), the library with its headers, and the files for find_package(Hearth).
# A component becomes a Debian package (packaging/deb.cmake).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
install(TARGETS hearth RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)

# Manual pages and completion, which the program writes itself.
set(written ${PROJECT_BINARY_DIR}/share)
install(CODE "execute_process(COMMAND ${PROJECT_SOURCE_DIR}/packaging/write_share $<TARGET_FILE:hearth> ${written}
                              COMMAND_ERROR_IS_FATAL ANY)" COMPONENT program)
install(DIRECTORY ${written}/ DESTINATION ${CMAKE_INSTALL_DATAROOTDIR} COMPONENT program)

# The public headers: those in include/ and all that they include.
file(GLOB waiting CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/include/hearth/*.h)
set(public_headers "")
while(waiting)
  list(POP_FRONT waiting header)
  if(header IN_LIST public_headers)
    continue()
  endif()
  list(APPEND public_headers ${header})
  set(file ${PROJECT_SOURCE_DIR}/${header})
  if(NOT EXISTS ${file})
    set(file ${PROJECT_SOURCE_DIR}/include/${header})
  endif()
  cmake_path(GET header PARENT_PATH folder)
  install(FILES ${file} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder} COMPONENT development)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(STRINGS ${file} includes REGEX "^#include \"hearth/")
  list(TRANSFORM includes REPLACE "^#include \"([^\"]*)\".*" "\\1")
  list(APPEND waiting ${includes})
endwhile()

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Hearth)
install(TARGETS hearth_shared EXPORT HearthShared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library
        NAMELINK_COMPONENT development)
install(TARGETS hearth_static hearth_onednn EXPORT HearthStatic ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        COMPONENT development)
foreach(kind Shared Static)
  install(EXPORT Hearth${kind} NAMESPACE Hearth:: DESTINATION ${package_folder} COMPONENT development)
endforeach()
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/HearthConfig.cmake.in ${PROJECT_BINARY_DIR}/HearthConfig.cmake
                              INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/HearthConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/HearthConfig.cmake ${PROJECT_BINARY_DIR}/HearthConfigVersion.cmake
        DESTINATION ${package_folder} COMPONENT development)
if(PROJECT_IS_TOP_LEVEL)
  include(packaging/deb.cmake)
endif()

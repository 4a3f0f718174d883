# libhearth, shared and static: all modules but those of the program. Programs link Hearth::hearth, which is the static
# library for a project that takes Hearth in with add_subdirectory.
set(library_modules base cpu kernels tensor autograd ops nn optim io hub metrics tokenizer data models comm parallel launch
                    train report accelerate)
set(library_dependencies fmt::fmt OpenMP::OpenMP_CXX Threads::Threads PkgConfig::hwloc PkgConfig::libcurl PkgConfig::highway
                         PkgConfig::yaml_cpp PkgConfig::zlib PkgConfig::zstd PkgConfig::snappy
                         PkgConfig::lz4 hearth_onednn ${CMAKE_DL_LIBS})
set(objects "")
foreach(module IN LISTS library_modules)
  list(APPEND objects $<TARGET_OBJECTS:hearth_${module}>)
endforeach()

foreach(kind shared static)
  string(TOUPPER ${kind} type)
  set(library hearth_${kind})
  add_library(${library} ${type} ${objects})
  target_link_libraries(${library} PRIVATE ${library_dependencies})
  target_compile_features(${library} INTERFACE cxx_std_20)
  target_include_directories(${library} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                             $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
  set_target_properties(${library} PROPERTIES OUTPUT_NAME hearth EXPORT_NAME hearth LINKER_LANGUAGE CXX
                        ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
endforeach()
set_target_properties(hearth_shared PROPERTIES VERSION ${PROJECT_VERSION}
                      SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
add_library(Hearth::hearth ALIAS hearth_static)

# Third-party libraries, each fenced to the module that names it in CMakeLists.txt; docs/dependencies.md says why.
find_package(OpenMP REQUIRED COMPONENTS CXX)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)  # GNU OpenMP as with GCC, because oneDNN uses it
  set_target_properties(OpenMP::OpenMP_CXX PROPERTIES INTERFACE_LINK_LIBRARIES gomp)
endif()
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
pkg_check_modules(hwloc REQUIRED IMPORTED_TARGET hwloc)
pkg_check_modules(highway REQUIRED IMPORTED_TARGET libhwy)
pkg_check_modules(libcurl REQUIRED IMPORTED_TARGET libcurl)
pkg_check_modules(libedit REQUIRED IMPORTED_TARGET libedit)
pkg_check_modules(yaml_cpp REQUIRED IMPORTED_TARGET yaml-cpp)
pkg_check_modules(zlib REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(snappy REQUIRED IMPORTED_TARGET snappy)
pkg_check_modules(lz4 REQUIRED IMPORTED_TARGET liblz4)

# oneDNN: v2 (Debian 12) or v3, over GNU OpenMP, which cpu/parallel.cc keeps to one thread inside a task. Found by its files: Debian's CMake
# package asks for OpenCL, which only its GPU part needs.
find_path(ONEDNN_INCLUDE dnnl.hpp HINTS ${HEARTH_ONEDNN_ROOT}/include REQUIRED)
find_library(ONEDNN_LIBRARY dnnl HINTS ${HEARTH_ONEDNN_ROOT}/lib REQUIRED)
add_library(hearth_onednn INTERFACE)
target_include_directories(hearth_onednn SYSTEM INTERFACE ${ONEDNN_INCLUDE})
target_link_libraries(hearth_onednn INTERFACE ${ONEDNN_LIBRARY})

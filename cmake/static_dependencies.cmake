# The same targets as dependencies.cmake, from static archives, for `make static`: HEARTH_ARCHIVES is the folder that
# packaging/archives fills; the other archives are those of Debian's development packages. glibc stays shared.
find_package(Threads REQUIRED)
find_package(nlohmann_json REQUIRED)
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libgomp.a OUTPUT_VARIABLE gomp OUTPUT_STRIP_TRAILING_WHITESPACE)
set(OpenMP_gomp_LIBRARY ${gomp} CACHE FILEPATH "")
find_package(OpenMP REQUIRED COMPONENTS CXX)

# hearth_archives(TARGET library...): in the order in which a linker needs them.
function(hearth_archives target)
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  foreach(name IN LISTS ARGN)
    find_library(ARCHIVE_${name} lib${name}.a HINTS ${HEARTH_ARCHIVES}/lib REQUIRED)
    target_link_libraries(${target} INTERFACE ${ARCHIVE_${name}})
  endforeach()
endfunction()
hearth_archives(fmt::fmt fmt)
hearth_archives(PkgConfig::hwloc hwloc)
hearth_archives(PkgConfig::highway hwy)
hearth_archives(PkgConfig::libcurl curl ssl crypto z)
hearth_archives(PkgConfig::libedit edit tinfo bsd md)
hearth_archives(PkgConfig::yaml_cpp yaml-cpp)
hearth_archives(PkgConfig::zlib z)
hearth_archives(PkgConfig::zstd zstd)
hearth_archives(PkgConfig::snappy snappy)
hearth_archives(PkgConfig::lz4 lz4)
add_library(hearth_onednn INTERFACE)
target_link_libraries(hearth_onednn INTERFACE ${HEARTH_ARCHIVES}/onednn/lib/libdnnl.a)

# All sources but one are compiled as for the shared libraries, so that a compiler cache serves both: Debian's headers, which
# have the versions of the archives, and the definitions that its packages give. oneDNN's headers are the archive's.
target_compile_definitions(fmt::fmt INTERFACE FMT_SHARED)
target_compile_options(PkgConfig::highway INTERFACE -DHWY_SHARED_DEFINE)
set_source_files_properties(hearth/kernels/gemm/onednn.cc PROPERTIES COMPILE_OPTIONS "-isystem;${HEARTH_ARCHIVES}/onednn/include")

# Plug-ins, too, bring the C++ runtime along; gloo is the archive.
set(CMAKE_EXE_LINKER_FLAGS "-static-libstdc++ -static-libgcc")
set(CMAKE_MODULE_LINKER_FLAGS "-static-libstdc++ -static-libgcc")
set(HEARTH_gloo_INCLUDE ${HEARTH_ARCHIVES}/gloo/include CACHE PATH "")
set(HEARTH_gloo_LIBRARY ${HEARTH_ARCHIVES}/gloo/lib/libgloo.a CACHE FILEPATH "")

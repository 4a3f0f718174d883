# The same targets as dependencies.cmake, from static archives, for `make static`: HEARTH_ARCHIVES is the folder that
# packaging/archives fills; the other archives are those of Debian's development packages. glibc stays shared.
find_package(Threads REQUIRED)
find_package(nlohmann_json REQUIRED)
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libgomp.a OUTPUT_VARIABLE gomp OUTPUT_STRIP_TRAILING_WHITESPACE)
set(OpenMP_gomp_LIBRARY ${gomp} CACHE FILEPATH "")
find_package(OpenMP REQUIRED COMPONENTS CXX)

# hearth_archives(TARGET library...): in the order in which a linker needs them.
function(hearth_archives target)
  add_library(${target} INTERFACE IMPORTED)
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
hearth_archives(hearth_onednn dnnl)
target_link_options(hearth_onednn INTERFACE -static-libstdc++ -static-libgcc)  # of the program, not of plug-ins
# The headers of the others are those of Debian's packages, which have the same versions.
set_source_files_properties(hearth/kernels/gemm/onednn.cc PROPERTIES COMPILE_OPTIONS "-isystem;${HEARTH_ARCHIVES}/include")

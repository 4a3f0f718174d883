# Precompiled headers: one of the standard library and fmt, which all modules share, and one with GTest, which all tests
# share. They save 0.7 to 0.9 of the 2.4 to 3.8 seconds that a file of a module took (six files, GCC 12). Files include what
# they use all the same: the presets clang and fuzz compile without. JSON is not among the headers: two thirds of the files
# do without it, and would take longer.
option(HEARTH_PRECOMPILED_HEADERS "Compile with precompiled headers" ${PROJECT_IS_TOP_LEVEL})
set(HEARTH_PRECOMPILED <algorithm> <array> <chrono> <cmath> <cstdint> <cstring> <filesystem> <functional> <map> <memory>
                       <mutex> <numeric> <optional> <span> <string> <string_view> <thread> <unordered_map> <utility> <vector>
                       <fmt/format.h>)

# hearth_precompiled_header(TARGET LIBRARIES target... HEADERS header...): builds the header. TARGET is there already, with
# the compile options of those that use the header.
function(hearth_precompiled_header target)
  cmake_parse_arguments(ARG "" "" "LIBRARIES;HEADERS" ${ARGN})
  target_link_libraries(${target} PRIVATE fmt::fmt OpenMP::OpenMP_CXX ${ARG_LIBRARIES})
  target_precompile_headers(${target} PRIVATE ${HEARTH_PRECOMPILED} ${ARG_HEADERS})
endfunction()

# hearth_use_precompiled_header(TARGET FROM): TARGET reads the header that FROM built. It is compiled with OpenMP as the
# header is: a compiler does not take a header that was built with other options. With a precompiled header GCC 12 reports
# what it otherwise keeps to itself, overflows in the standard library that do not exist; and it would begin to collect
# garbage early, because the header counts as memory.
function(hearth_use_precompiled_header target from)
  if(HEARTH_PRECOMPILED_HEADERS)
    target_compile_options(${target} PRIVATE ${OpenMP_CXX_FLAGS})
    if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
      target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread
                                               --param=ggc-min-heapsize=500000)
    endif()
    target_precompile_headers(${target} REUSE_FROM ${from})
  endif()
endfunction()

set(HEARTH_EMPTY_PROGRAM ${PROJECT_BINARY_DIR}/generated/empty_program.cc)
file(CONFIGURE OUTPUT ${HEARTH_EMPTY_PROGRAM} CONTENT "int main() {}\n")
if(HEARTH_PRECOMPILED_HEADERS)
  add_library(hearth_precompiled STATIC ${HEARTH_EMPTY_PROGRAM})
  target_compile_options(hearth_precompiled PRIVATE ${HEARTH_WARNINGS})
  hearth_precompiled_header(hearth_precompiled)
endif()

# Communication plug-ins, which the program finds at run time: lib/hearth/libhearth_comm_NAME.so beside its bin. NAME is
# the backend's name; if each launcher needs a plug-in of its own, the launcher's name follows: mpi_mpich.
# A plug-in is built if its library is installed; scripts/install_backends installs all of them. The program knows those
# that are not built, too, to say which package they need (comm/known_plugins.h).
include(GNUInstallDirs)
set(HEARTH_BACKENDS ${PROJECT_BINARY_DIR}/backends CACHE PATH "Virtual environment with oneCCL and Intel MPI")

set(plugins_built "")
set(plugins_missing "")
set(plugins_known "")

# hearth_plugin(NAME SOURCES file... [HEADER file INCLUDES folder... LIBRARY name FOLDERS folder...] PACKAGE to install
#               [RPATH folder...] [DEFINITIONS ...])
# The header and the library are looked for only in the folders given, because those of every MPI have the same names.
# RPATH: where the plug-in finds its library; an installed plug-in does not look into the build folder.
function(hearth_plugin name)
  cmake_parse_arguments(ARG "" "HEADER;LIBRARY;PACKAGE" "SOURCES;INCLUDES;FOLDERS;RPATH;DEFINITIONS" ${ARGN})
  string(APPEND plugins_known "\n      {\"${name}\", \"${ARG_PACKAGE}\"},")
  set(plugins_known ${plugins_known} PARENT_SCOPE)
  if(ARG_LIBRARY)
    find_path(HEARTH_${name}_INCLUDE ${ARG_HEADER} PATHS ${ARG_INCLUDES} NO_DEFAULT_PATH)
    find_library(HEARTH_${name}_LIBRARY ${ARG_LIBRARY} PATHS ${ARG_FOLDERS} NO_DEFAULT_PATH)
  endif()
  if(ARG_LIBRARY AND (NOT HEARTH_${name}_INCLUDE OR NOT HEARTH_${name}_LIBRARY))
    list(APPEND plugins_missing "${name} (${ARG_PACKAGE})")
    set(plugins_missing ${plugins_missing} PARENT_SCOPE)
    return()
  endif()
  set(target hearth_comm_${name})
  list(TRANSFORM ARG_SOURCES PREPEND ${PROJECT_SOURCE_DIR}/plugins/)
  add_library(${target} MODULE ${ARG_SOURCES} ${PROJECT_SOURCE_DIR}/plugins/backend.cc)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_include_directories(${target} SYSTEM PRIVATE ${HEARTH_${name}_INCLUDE})
  target_compile_definitions(${target} PRIVATE ${ARG_DEFINITIONS})
  target_compile_options(${target} PRIVATE ${HEARTH_WARNINGS} -fvisibility=hidden)
  target_link_libraries(${target} PRIVATE ${HEARTH_${name}_LIBRARY} Threads::Threads ${CMAKE_DL_LIBS})
  set(installed_rpath "")
  set(same_rpath ON)
  foreach(folder IN LISTS ARG_RPATH)
    cmake_path(IS_PREFIX PROJECT_BINARY_DIR ${folder} inside)
    if(inside)
      set(same_rpath OFF)
    else()
      list(APPEND installed_rpath ${folder})
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/hearth
    BUILD_WITH_INSTALL_RPATH ${same_rpath}
    BUILD_RPATH "${ARG_RPATH}"
    INSTALL_RPATH "${installed_rpath}")
  if(HEARTH_INSTALL)
    install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/hearth COMPONENT comm_${name})
  endif()
  add_dependencies(hearth ${target})
  list(APPEND plugins_built ${name})
  set(plugins_built ${plugins_built} PARENT_SCOPE)
endfunction()

set(multiarch /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE})
set(intel ${HEARTH_BACKENDS} $ENV{VIRTUAL_ENV} $ENV{I_MPI_ROOT} /opt/intel/oneapi/mpi/latest)
set(oneccl ${HEARTH_BACKENDS} $ENV{VIRTUAL_ENV} $ENV{CCL_ROOT} /opt/intel/oneapi/ccl/latest)
list(TRANSFORM intel APPEND /include OUTPUT_VARIABLE intel_includes)
list(TRANSFORM intel APPEND /lib OUTPUT_VARIABLE intel_folders)
list(TRANSFORM oneccl APPEND /include OUTPUT_VARIABLE oneccl_includes)
list(TRANSFORM oneccl APPEND /lib OUTPUT_VARIABLE oneccl_folders)

# The first known plug-in of a backend that is there serves ranks of launchers that have none of their own.
hearth_plugin(gloo SOURCES gloo.cc HEADER gloo/allreduce.h LIBRARY gloo PACKAGE "the package libgloo-dev"
  INCLUDES /usr/include /usr/local/include FOLDERS /usr/lib ${multiarch} /usr/local/lib)
hearth_plugin(shm SOURCES shm.cc shared_segment.cc messages.cc PACKAGE "the whole of Hearth")
hearth_plugin(mpi_mpich SOURCES mpi.cc environment.cc HEADER mpi.h LIBRARY mpich
  PACKAGE "the packages mpich and libmpich-dev"
  INCLUDES /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}/mpich FOLDERS ${multiarch}
  DEFINITIONS HEARTH_MPI="MPICH" HEARTH_MPI_LAUNCHER="mpich")
hearth_plugin(mpi_intel SOURCES mpi.cc environment.cc HEADER mpi.h LIBRARY mpi
  PACKAGE "impi-devel==2021.16.2 and impi-rt==2021.16.2 with pip"
  INCLUDES ${intel_includes} FOLDERS ${intel_folders} RPATH "$ORIGIN/.." ${intel_folders}
  DEFINITIONS HEARTH_MPI="Intel MPI" HEARTH_MPI_LAUNCHER="intel" MPICH_SKIP_MPICXX)
hearth_plugin(mpi_openmpi SOURCES mpi.cc environment.cc HEADER mpi.h LIBRARY mpi
  PACKAGE "the packages openmpi-bin and libopenmpi-dev"
  INCLUDES ${multiarch}/openmpi/include FOLDERS ${multiarch}/openmpi/lib
  DEFINITIONS HEARTH_MPI="Open MPI" HEARTH_MPI_LAUNCHER="openmpi" OMPI_SKIP_MPICXX)
hearth_plugin(ccl SOURCES ccl.cc messages.cc environment.cc HEADER oneapi/ccl.hpp LIBRARY ccl
  PACKAGE "oneccl-cpu-devel==2021.16.2 with pip"
  INCLUDES ${oneccl_includes} FOLDERS ${oneccl_folders} RPATH "$ORIGIN/.." ${oneccl_folders})

configure_file(${PROJECT_SOURCE_DIR}/cmake/known_plugins.cc.in ${PROJECT_BINARY_DIR}/known_plugins.cc @ONLY)
target_sources(hearth_comm PRIVATE ${PROJECT_BINARY_DIR}/known_plugins.cc)

list(JOIN plugins_built ", " names)
set(plugins "Communication plug-ins: ${names}")
if(plugins_missing)
  list(JOIN plugins_missing ", " names)
  string(APPEND plugins "; not built, because their libraries are not installed: ${names}")
endif()
if(PROJECT_IS_TOP_LEVEL)
  message(NOTICE "${plugins}")  # `make build` shows notices, and no other line of cmake
else()
  message(STATUS "${plugins}")
endif()

# Debian packages, one per component of cmake/install.cmake and per plug-in, made by CPack: `make deb`. CPack takes the
# files that `make install` takes and asks dpkg-shlibdeps for dependencies, so that nothing is listed twice.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME hearth)
set(CPACK_PACKAGE_CONTACT "Hearth developers <hearth@lists.invalid>")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/packaging/deb_files.cmake)
set(CPACK_COMPONENTS_ALL program library development)

# hearth_package(COMPONENT NAME package SECTION section SUMMARY line TEXT paragraph [DEPENDS ...] [RECOMMENDS ...])
macro(hearth_package component)
  cmake_parse_arguments(ARG "" "NAME;SECTION;SUMMARY;TEXT;DEPENDS;RECOMMENDS" "" ${ARGN})
  string(TOUPPER ${component} key)
  set(CPACK_DEBIAN_${key}_PACKAGE_NAME ${ARG_NAME})
  set(CPACK_DEBIAN_${key}_PACKAGE_SECTION ${ARG_SECTION})
  set(CPACK_DEBIAN_${key}_DESCRIPTION "${ARG_SUMMARY}\n${ARG_TEXT}")
  set(CPACK_DEBIAN_${key}_PACKAGE_DEPENDS "${ARG_DEPENDS}")
  set(CPACK_DEBIAN_${key}_PACKAGE_RECOMMENDS "${ARG_RECOMMENDS}")
endmacro()

set(library_package libhearth${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(about "Hearth takes the commands and flags of the Hugging Face Trainer, reads and
writes the same files, and trains in fp32, bf16 or fp16.\n.\n")
hearth_package(program NAME hearth SECTION science SUMMARY "fine-tune transformers on CPUs"
  TEXT "${about}This package contains the program, its manual pages and completion for\nbash, zsh and fish."
  RECOMMENDS "ca-certificates, hearth-comm-shm, hearth-comm-gloo")
hearth_package(library NAME ${library_package} SECTION libs SUMMARY "fine-tune transformers on CPUs (library)"
  TEXT "${about}This package contains the shared library for programs with models and\ntraining loops of their own."
  RECOMMENDS "ca-certificates, hearth-comm-shm, hearth-comm-gloo")
hearth_package(development NAME libhearth-dev SECTION libdevel SUMMARY "fine-tune transformers on CPUs (development files)"
  TEXT "${about}This package contains the headers, the static library and the files for\nCMake. The static library needs the packages that are recommended."
  DEPENDS "${library_package} (= ${PROJECT_VERSION}-1)"
  RECOMMENDS "libcurl4-openssl-dev, libdnnl-dev, libfmt-dev, libhwloc-dev, libhwy-dev, liblz4-dev, libsnappy-dev, libyaml-cpp-dev, libzstd-dev, pkg-config, zlib1g-dev")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/deb/triggers ${PROJECT_BINARY_DIR}/deb/shlibs)
file(WRITE ${PROJECT_BINARY_DIR}/deb/triggers "activate-noawait ldconfig\n")
file(WRITE ${PROJECT_BINARY_DIR}/deb/shlibs
     "libhearth ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} ${library_package} (>= ${PROJECT_VERSION})\n")

# The commands that start the ranks of a plug-in's library, and whether that library is outside Debian.
set(recommended_mpi_mpich mpich)
set(recommended_mpi_openmpi openmpi-bin)
set(outside_debian mpi_intel ccl)
list(TRANSFORM outside_debian PREPEND comm_ OUTPUT_VARIABLE CPACK_HEARTH_OUTSIDE_DEBIAN)  # for deb_files.cmake
foreach(plugin IN LISTS plugins_built)
  list(APPEND CPACK_COMPONENTS_ALL comm_${plugin})
  string(REPLACE "_" "-" name hearth-comm-${plugin})
  hearth_package(comm_${plugin} NAME ${name} SECTION science
    SUMMARY "communication between training processes of Hearth (${plugin})"
    TEXT "${about}This package contains the plug-in that connects several training processes\nby ${plugin}."
    RECOMMENDS "${recommended_${plugin}}")
  string(TOUPPER CPACK_DEBIAN_COMM_${plugin} key)
  set(${key}_PACKAGE_ENHANCES "hearth, ${library_package}")
  if(plugin IN_LIST outside_debian)
    set(${key}_PACKAGE_SHLIBDEPS OFF)
    set(${key}_PACKAGE_DEPENDS "libc6 (>= 2.36), libgcc-s1 (>= 12), libstdc++6 (>= 12)")
    string(APPEND ${key}_DESCRIPTION
           "\nThe library itself is Intel's: the plug-in looks for it below\n/opt/intel/oneapi and in LD_LIBRARY_PATH.")
  endif()
endforeach()
include(CPack)

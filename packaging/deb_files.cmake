# CPack runs this after it has installed each component into a folder of its own, and before it packs the folders: adds what
# Debian's policy wants in each package, and compresses manual pages.
cmake_policy(VERSION 3.25)
set(changelog "${CMAKE_CURRENT_LIST_DIR}/../CHANGELOG.md")
set(seconds "$ENV{SOURCE_DATE_EPOCH}")
if(seconds STREQUAL "")
  execute_process(COMMAND git -C "${CMAKE_CURRENT_LIST_DIR}" log -1 --format=%ct OUTPUT_VARIABLE seconds
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(seconds STREQUAL "")
  set(seconds 0)
endif()
execute_process(COMMAND date -R -u -d @${seconds} OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE)

function(compress file)
  execute_process(COMMAND gzip -9n "${file}" COMMAND_ERROR_IS_FATAL ANY)
endfunction()

foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} key)
  set(root "${CPACK_TEMPORARY_DIRECTORY}/${component}/usr")
  set(docs "${root}/share/doc/${CPACK_DEBIAN_${key}_PACKAGE_NAME}")
  file(MAKE_DIRECTORY "${docs}")
  file(COPY_FILE "${changelog}" "${docs}/changelog")
  file(WRITE "${docs}/changelog.Debian"
"hearth (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium

  * Version ${CPACK_PACKAGE_VERSION}.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
  compress("${docs}/changelog")
  compress("${docs}/changelog.Debian")
  file(WRITE "${docs}/copyright"
"Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Hearth

Files: *
Copyright: 2026, the Hearth developers
License: Apache-2.0
 On Debian systems, the text of the Apache License, version 2.0, is in
 /usr/share/common-licenses/Apache-2.0.
")
  set(overrides "# Not from Debian's own archive.\ninitial-upload-closes-no-bugs\n")
  if(component IN_LIST CPACK_HEARTH_OUTSIDE_DEBIAN)
    string(APPEND overrides "# Intel installs its libraries there.\ncustom-library-search-path\n")
  endif()
  file(WRITE "${root}/share/lintian/overrides/${CPACK_DEBIAN_${key}_PACKAGE_NAME}" "${overrides}")
  file(GLOB pages "${root}/share/man/man1/*.1")
  foreach(page IN LISTS pages)
    compress("${page}")
  endforeach()
endforeach()

# Writes OUTPUT, the source file of hearth/apps/build_info.h, if it changes: run at each build, with SOURCE, OUTPUT and FLAGS.
# The commit is that of the clone or, in an archive made by `git archive`, the one in source_commit.txt.
set(commit unknown)
set(seconds "")
file(STRINGS ${SOURCE}/cmake/source_commit.txt archived LIMIT_COUNT 1)
if(EXISTS ${SOURCE}/.git)
  find_program(GIT git)
  if(GIT)
    execute_process(COMMAND ${GIT} describe --tags --always --dirty --abbrev=12 WORKING_DIRECTORY ${SOURCE}
                    OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    execute_process(COMMAND ${GIT} log -1 --format=%ct WORKING_DIRECTORY ${SOURCE}
                    OUTPUT_VARIABLE seconds OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(found)
      set(commit ${found})
    endif()
  endif()
elseif(archived MATCHES "^([0-9a-f]+) ([0-9]+)$")
  string(SUBSTRING ${CMAKE_MATCH_1} 0 12 commit)
  set(seconds ${CMAKE_MATCH_2})
endif()
if(DEFINED ENV{SOURCE_DATE_EPOCH})
  set(seconds $ENV{SOURCE_DATE_EPOCH})
endif()
set(date "")
if(NOT seconds STREQUAL "")
  set(ENV{SOURCE_DATE_EPOCH} ${seconds})  # the moment that string(TIMESTAMP) formats
  string(TIMESTAMP date "%Y-%m-%d" UTC)
endif()
configure_file(${SOURCE}/cmake/build_info.cc.in ${OUTPUT} @ONLY)

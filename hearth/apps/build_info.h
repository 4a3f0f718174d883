#pragma once

#include <string>
#include <string_view>

namespace hearth::apps {

// How this program was built. cmake/build_info.cmake writes the values at each build.
struct BuildInfo {
  std::string_view commit;  // of git, "-dirty" if files had changed; "unknown" outside a clone or a release
  std::string_view date;    // of the commit, or SOURCE_DATE_EPOCH, so that equal sources give equal programs; may be ""
  std::string_view flags;   // of the compiler
};
extern const BuildInfo kBuild;

std::string_view compiler();  // "g++ 12.2.0"

// The lines of `hearth --version --verbose`.
std::string build_report();

}  // namespace hearth::apps

#include "hearth/apps/build_info.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hearth/base/version.h"
#include "hearth/comm/plugin_files.h"
#include "hearth/kernels/gemm/onednn.h"
#include "hearth/kernels/simd/simd.h"

namespace hearth::apps {
namespace {

std::string plugins() {
  std::vector<std::string> names;
  for (const comm::PluginFile& file : comm::plugin_files())
    if (file.path) names.push_back(file.name);
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::string_view compiler() {
#ifdef __clang__
  return __VERSION__;  // "Clang 14.0.6"
#else
  return "g++ " __VERSION__;
#endif
}

std::string build_report() {
  return fmt::format(
      "hearth {}\n"
      "commit:    {}\n"
      "date:      {}\n"
      "compiler:  {}\n"
      "flags:     {}\n"
      "oneDNN:    {}\n"
      "Highway:   {}\n"
      "plug-ins:  {}\n",
      kVersion, kBuild.commit, kBuild.date.empty() ? "unknown" : kBuild.date, compiler(), kBuild.flags,
      kernels::onednn_version(), kernels::highway_version(), plugins());
}

}  // namespace hearth::apps

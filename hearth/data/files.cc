#include "hearth/data/files.h"

#include <glob.h>

#include "hearth/base/check.h"

namespace hearth::data {
namespace {

bool is_pattern(const std::string& name) {
  std::error_code error;
  return name.find_first_of("*?[") != name.npos && !std::filesystem::exists(name, error);
}

Files matches_of(const std::string& pattern) {
  glob_t found{};
  const int result = ::glob(pattern.c_str(), GLOB_ERR, nullptr, &found);
  Files files(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  check(result == 0 && !files.empty(), "no file matches {}; check the folder and the pattern", pattern);
  return files;
}

}  // namespace

Files files_of(std::span<const std::string> names) {
  Files files;
  for (const std::string& name : names) {
    if (!is_pattern(name)) {
      files.emplace_back(name);
      continue;
    }
    const Files matches = matches_of(name);
    files.insert(files.end(), matches.begin(), matches.end());
  }
  return files;
}

std::string name_of(const Files& files) {
  if (files.empty()) return "";
  if (files.size() == 1) return files.front().string();
  return fmt::format("{} and {} more", files.front().string(), files.size() - 1);
}

}  // namespace hearth::data

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "hearth/hub/settings.h"

namespace hearth::hub {

// Which files of a repository `hearth download` fetches: all, or those whose names match one of `include` (shell
// patterns in which * matches slashes too) and none of `exclude`. A pattern that ends in a slash is a whole folder.
struct FilePatterns {
  std::vector<std::string> include, exclude;

  bool accepts(const std::string& file) const;
};

// Downloads the files that are missing, and returns the folder of the snapshot.
std::filesystem::path download_repository(const Repository& repository, const std::string& revision,
                                          const FilePatterns& patterns, const Access& access);

}  // namespace hearth::hub

#include "hearth/hub/repository_download.h"

#include <fnmatch.h>

#include <algorithm>

#include "hearth/base/check.h"
#include "hearth/hub/snapshot.h"

namespace hearth::hub {
namespace {

bool matches_one_of(const std::vector<std::string>& patterns, const std::string& file) {
  return std::ranges::any_of(patterns, [&](const std::string& pattern) {
    return ::fnmatch((pattern + (pattern.ends_with('/') ? "*" : "")).c_str(), file.c_str(), 0) == 0;
  });
}

}  // namespace

bool FilePatterns::accepts(const std::string& file) const {
  return (include.empty() || matches_one_of(include, file)) && !matches_one_of(exclude, file);
}

std::filesystem::path download_repository(const Repository& repository, const std::string& revision,
                                          const FilePatterns& patterns, const Access& access) {
  check(is_repository_name(repository.name),
        "'{}' is not the name of a repository, such as google-bert/bert-base-uncased", repository.name);
  Selection selection;
  selection.choose = [&](const Selection::Names& files) {
    Selection::Names chosen;
    std::ranges::copy_if(files, std::back_inserter(chosen), [&](const auto& file) { return patterns.accepts(file); });
    check(!chosen.empty(), "{} has no file that was asked for; it has {} files", repository.text(), files.size());
    return chosen;
  };
  return update_snapshot(repository, revision, selection, access).folder;
}

}  // namespace hearth::hub

#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "hearth/hub/repository.h"
#include "hearth/hub/settings.h"

namespace hearth::hub {

// Which files of a repository somebody needs.
struct Selection {
  using Names = std::vector<std::string>;

  // Those to download, of all that the repository has. Throws Error where what is needed is not among them.
  std::function<Names(const Names& files)> choose;
  // Whether the files of a snapshot that another program cached are enough, so that the Hub need not be asked.
  std::function<bool(const Names& cached)> is_enough = [](const Names&) { return false; };
  // Optional files: those that the repository lacks are noted, as huggingface_hub notes them.
  Names expected;
};

struct Snapshot {
  std::string commit;
  std::filesystem::path folder;
  std::vector<std::string> files;  // of the repository; without the Hub, those that are cached
};

// The folder of a commit in the cache, with the selected files. The cache comes first: a commit whose selected files
// are all there is used as it is, without a request. Otherwise the missing ones are downloaded. Where the Hub must not
// or cannot be asked, the cached commit has to do; without one that is an Error.
Snapshot get_snapshot(const Repository& repository, const std::string& revision, const Selection& selection,
                      const Access& access);

// The same, but the Hub is always asked what the revision stands for today.
Snapshot update_snapshot(const Repository& repository, const std::string& revision, const Selection& selection,
                         const Access& access);

}  // namespace hearth::hub

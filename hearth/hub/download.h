#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "hearth/hub/client.h"
#include "hearth/hub/repository_cache.h"

namespace hearth::hub {

// Puts the files of a commit that are missing into the cache, one after another: each under a lock, continued where a
// former process stopped, and checked before it gets its name.
void download(Client& client, const RepositoryCache& cache, const std::string& commit,
              std::span<const std::string> files, bool quiet);

}  // namespace hearth::hub

#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "hearth/base/api.h"

namespace hearth::data {

// The files that hold the records of one split, in order: one file, or the shards of a data set.
using Files = std::vector<std::filesystem::path>;

// The files that paths and patterns name. A pattern (*, ?, [...]) stands for its matches, sorted; one without a match
// is an Error. A path that exists stands for itself, whatever characters it has.
HEARTH_API Files files_of(std::span<const std::string> names);

// Their name in messages: the path, or "PATH and 3 more".
HEARTH_API std::string name_of(const Files& files);

}  // namespace hearth::data

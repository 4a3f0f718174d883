#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "hearth/base/api.h"
#include "hearth/hub/dataset_card.h"
#include "hearth/hub/settings.h"

namespace hearth::hub {

// The local files of a data set.
struct DatasetFiles {
  std::map<std::string, std::vector<std::filesystem::path>> splits;  // those that are needed
  std::vector<std::string> names;                                    // of all splits that the data set has
  ClassNames class_names;  // of columns whose classes the README.md names; a Parquet file may name more
};

struct DatasetChoice {
  std::string name;    // on the Hub (squad, nyu-mll/glue), or a folder
  std::string config;  // empty: the only one, or the default one
  std::string revision{kMainRevision};
};

// The files of a data set by split, downloaded if they are not in the cache. The README.md says which files belong to
// which split; without it the names of the files tell, as for `datasets`. A repository that has only a script, which is
// never run, is taken from the Hub's own conversion to Parquet. `needed` are the splits to download, where the data set
// has them; empty: all.
HEARTH_API DatasetFiles find_dataset(const DatasetChoice& choice, std::span<const std::string> needed = {},
                                     const Access& access = {});

}  // namespace hearth::hub

#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::hub {

// The names of classes, by number, of each column that holds classes.
using ClassNames = std::map<std::string, std::vector<std::string>>;

// A configuration of a data set: a part of a repository with files of its own, such as glue's mrpc.
struct DatasetConfig {
  struct Split {
    std::string name;
    std::vector<std::string> patterns;
  };

  std::string name;
  std::vector<Split> splits;  // empty: told by the names of the files below data_dir
  std::string data_dir;       // empty: the whole repository
  bool is_default = false;
};

// What the head of a data set's README.md says.
struct DatasetCard {
  std::vector<DatasetConfig> configs;
  std::map<std::string, ClassNames> class_names;  // by configuration
};

// `name` is the text's in errors. A README.md without a head describes nothing.
DatasetCard parse_dataset_card(std::string_view readme, const std::string& name);

}  // namespace hearth::hub

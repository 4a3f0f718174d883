// The README.md of a data set, and the names that it has for files.
#include "hearth/hub/dataset_card.h"

#include "hearth/hub/data_patterns.h"
#include "tests/fuzz/fuzz.h"

using namespace hearth;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::run(data, size, [](std::string_view bytes) {
    for (const hub::DatasetConfig& config : hub::parse_dataset_card(bytes, "README.md").configs)
      for (const hub::DatasetConfig::Split& split : config.splits)
        for (const std::string& pattern : split.patterns) {
          hub::matches_path(pattern, "data/train-00000-of-00001.parquet");
          hub::splits_by_name({pattern});
        }
  });
}

#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::hub {

// Files of a data set by split: train, validation, test, or a name of its own.
using SplitFiles = std::map<std::string, std::vector<std::string>>;

// Whether a path matches a pattern as `datasets` understands it: * stays within a name, ** as a whole name stands for
// any number of folders. Names that begin with a dot, and folders that begin with two underscores, match only if the
// pattern says so.
bool matches_path(std::string_view pattern, std::string_view path);

// The files that can hold records (Parquet, JSON, CSV, TSV and text, also compressed).
std::vector<std::string> data_files_of(const std::vector<std::string>& files);

// The splits of files that nothing describes, told by their names as `datasets` does:
// data/train-00000-of-00001.parquet, train/a.csv, my_train.jsonl, ...; where no name tells a split, everything is
// train.
SplitFiles splits_by_name(const std::vector<std::string>& files);

// Drops files of all formats but the one that most files have, as `datasets` does.
void keep_one_format(SplitFiles& splits);

}  // namespace hearth::hub

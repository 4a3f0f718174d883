#pragma once

#include <string>
#include <vector>

#include "hearth/data/parquet/metadata.h"

namespace hearth::data::parquet {

// The names of the labels of a column, or of the items of a column of lists, that Hugging Face's datasets calls
// ClassLabel; empty where it says nothing of the kind.
std::vector<std::string> class_names(const FileMetadata& metadata, const std::string& column, const std::string& file);

}  // namespace hearth::data::parquet

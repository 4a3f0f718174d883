#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hearth/data/column.h"
#include "hearth/io/json_fwd.h"

namespace hearth::data {

// A cell that pandas.read_csv takes for a missing value: empty, NA, null, ...
bool is_missing_cell(std::string_view cell);

// The column that pandas.read_csv makes of these cells, all of them strings.
Column csv_column(const std::string& file, std::string name, const std::vector<io::Json>& cells);

}  // namespace hearth::data

#pragma once

#include <string>
#include <vector>

#include "hearth/data/column.h"
#include "hearth/io/json_fwd.h"

namespace hearth::data {

// The column of these JSON values; null and NaN are missing. Values of mixed kinds are an Error that names the first
// record of each kind.
Column json_column(const std::string& file, std::string name, const std::vector<io::Json>& values);

}  // namespace hearth::data

#pragma once

#include <string_view>

#include "hearth/io/json_fwd.h"
#include "hearth/metrics/metrics.h"

namespace hearth {

io::Json to_json(const Metrics& metrics);

// `file` is the name in errors; every value has to be a number.
Metrics metrics_from_json(const io::Json& json, std::string_view file);

}  // namespace hearth

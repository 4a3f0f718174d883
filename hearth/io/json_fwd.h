#pragma once

#include <nlohmann/json_fwd.hpp>

namespace hearth::io {

// Objects keep the order of their keys. For headers; json.h has the definition.
using Json = nlohmann::ordered_json;

}  // namespace hearth::io

#pragma once

#include <span>
#include <string>
#include <string_view>

namespace hearth {

// The known name that the fewest inserted, deleted or replaced letters turn `name` into, the first of equals; empty
// where none is known.
std::string nearest_name(std::string_view name, std::span<const std::string> known);

}  // namespace hearth

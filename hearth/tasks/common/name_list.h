#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hearth::tasks {

// The names in a flag's value: "a,b" -> {"a", "b"}. Empty ones do not count.
std::vector<std::string> names_in(std::string_view list);

}  // namespace hearth::tasks

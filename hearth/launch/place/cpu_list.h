#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hearth::launch {

// Converts between "0-3,8" and its numbers; `label` names the option in errors.
std::vector<int> parse_cpu_list(std::string_view text, std::string_view label);
std::string cpu_list_text(std::vector<int> numbers);

}  // namespace hearth::launch

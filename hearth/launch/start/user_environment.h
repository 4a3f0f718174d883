#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::launch {

// A variable as the user set it; nothing if it is not set.
std::optional<std::string> text_in_environment(std::string_view variable);
// A number, or the first number of a list, as in OMP_NUM_THREADS=4,2.
std::optional<std::int64_t> number_in_environment(std::string_view variable);

// The list in CCL_WORKER_AFFINITY; empty for `auto`.
std::vector<int> communication_affinity();

}  // namespace hearth::launch

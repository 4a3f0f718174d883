#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::launch {

// Variables as the user set them; nothing where one is not set.
std::optional<std::string> text_in_environment(std::string_view variable);
// A number, or a list of which the first counts, as in OMP_NUM_THREADS.
std::optional<std::int64_t> number_in_environment(std::string_view variable);

// CCL_WORKER_AFFINITY; `auto` is no list.
std::vector<int> communication_affinity();

}  // namespace hearth::launch

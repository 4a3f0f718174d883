#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

namespace hearth::cpu {

// From now on the threads of this process that are bound to a single one of the processors move to the next whenever
// the period has passed, from processors[own] on, by the clock that all processes of a host share: processes that are
// given the same processors, each with another `own`, take turns on them. So each gets as much of the slow ones as of
// the fast ones.
void rotate_process(const std::vector<int>& processors, std::size_t own, std::chrono::milliseconds period);

}  // namespace hearth::cpu

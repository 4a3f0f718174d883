#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

namespace hearth::cpu {

// Rotates this process over `processors` (hardware threads), starting at processors[own]. After each period every
// thread of this process that is bound to exactly one of them moves to the next. All processes of a host go by the same
// clock: processes that are given the same list, each with its own `own`, take turns, so each gets an equal share of
// the slow and of the fast ones.
void rotate_process(const std::vector<int>& processors, std::size_t own, std::chrono::milliseconds period);

}  // namespace hearth::cpu

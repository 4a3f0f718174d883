#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

namespace hearth::cpu {

// The hardware threads that the threads of parallel_for may run on, all together, in ascending order.
std::vector<int> processors_of_compute_threads();

// Rotates this process over `seats`, starting at seats[own]. A seat is a list of hardware threads; all have the same
// length. After each period every thread of this process moves from its hardware threads to those at the same places of
// the next seat. All processes of a host go by the same clock: processes that are given the same seats, each with its
// own `own`, take turns, so each gets an equal share of the slow and of the fast ones.
void rotate_process(const std::vector<std::vector<int>>& seats, std::size_t own, std::chrono::milliseconds period);

}  // namespace hearth::cpu

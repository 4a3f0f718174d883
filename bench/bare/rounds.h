// The all_reduce of a library, called with nothing in between.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

inline int number_in(const char* variable) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? -1 : std::atoi(text);
}

// As `hearth bench allreduce`: once to warm up, then rounds, each from a barrier until all ranks are done. Rank 0
// prints the seconds, one number per line.
template <class AllReduce, class Barrier>
void time_rounds(int rank, std::size_t bytes, int rounds, const AllReduce& all_reduce, const Barrier& barrier) {
  std::vector<float> values(bytes / sizeof(float));
  for (int round = -1; round < rounds; ++round) {
    barrier();
    const auto start = std::chrono::steady_clock::now();
    all_reduce(values.data(), values.size());
    barrier();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (rank == 0 && round >= 0) std::printf("%.6f\n", seconds);
  }
}

#include "hearth/cpu/thread_places.h"

#include <omp.h>
#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>

namespace hearth::cpu {
namespace {

std::optional<PlacePolicy> policy_of_openmp() {
  if (omp_get_num_places() == 0) return std::nullopt;
  switch (omp_get_proc_bind()) {
    case omp_proc_bind_false:
      return std::nullopt;
    case omp_proc_bind_spread:
      return PlacePolicy::spread;
    case omp_proc_bind_master:
      return PlacePolicy::together;
    default:
      return PlacePolicy::close;
  }
}

std::vector<int> processors_of_place(int place) {
  std::vector<int> processors(static_cast<std::size_t>(omp_get_place_num_procs(place)));
  omp_get_place_proc_ids(place, processors.data());
  return processors;
}

}  // namespace

std::vector<int> distribute_threads(PlacePolicy policy, int threads, int places, int first) {
  std::vector<int> result;
  for (int position = 0; position < threads; ++position) {
    int step = 0;
    if (policy == PlacePolicy::spread || (policy == PlacePolicy::close && threads > places))
      step = static_cast<int>(std::int64_t{position} * places / threads);
    else if (policy == PlacePolicy::close)
      step = position;
    result.push_back((first + step) % places);
  }
  return result;
}

ThreadPlaces::ThreadPlaces(int threads) {
  if (const auto policy = policy_of_openmp()) {
    std::set<int> all;
    const int first = std::max(0, omp_get_place_num());
    for (const int place : distribute_threads(*policy, threads, omp_get_num_places(), first)) {
      places_.push_back(processors_of_place(place));
      all.insert(places_.back().begin(), places_.back().end());
    }
    processors_ = static_cast<int>(all.size());
  } else {
    cpu_set_t mask;
    processors_ = sched_getaffinity(0, sizeof mask, &mask) == 0 ? CPU_COUNT(&mask) : threads;
  }
}

void ThreadPlaces::bind(int position) const {
  if (places_.empty()) return;
  // The runtime binds a thread to the first place when it first meets it, which may be inside a library. It does so
  // here.
  omp_get_place_num();
  cpu_set_t mask;
  CPU_ZERO(&mask);
  for (const int processor : places_[static_cast<std::size_t>(position)])
    if (processor < CPU_SETSIZE) CPU_SET(static_cast<std::size_t>(processor), &mask);
  sched_setaffinity(0, sizeof mask, &mask);
}

}  // namespace hearth::cpu

#pragma once

#include <vector>

namespace hearth::cpu {

// The processors that the threads of a team are bound to by OMP_PROC_BIND, OMP_PLACES and GOMP_CPU_AFFINITY, which
// users or `hearth launch` set. The OpenMP runtime reads these variables, but it binds its own threads only; and it
// binds the first thread of the process, so that threads which inherit its mask would all share one place.
class ThreadPlaces {
 public:
  // Of a team of the calling thread. The runtime binds the calling thread if that has not happened yet.
  explicit ThreadPlaces(int threads);

  int processors() const { return processors_; }  // that the team may use, all together
  // Binds the calling thread, which is not the team's first. Without such variables it keeps its mask.
  void bind(int position) const;

 private:
  std::vector<std::vector<int>> places_;  // per position, or empty
  int processors_ = 0;
};

// How OpenMP distributes threads over places: place after place from the first thread's on, evenly over all places, or
// all in the place of the first thread. More threads than places are distributed evenly unless `together`.
enum class PlacePolicy { close, spread, together };
std::vector<int> distribute_threads(PlacePolicy policy, int threads, int places, int first);

}  // namespace hearth::cpu

#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "hearth/autograd/parameter.h"
#include "hearth/base/api.h"
#include "hearth/parallel/partition.h"
#include "hearth/parallel/team.h"

namespace hearth::parallel {

// The 16-bit copies of weights that the ranks of one host share (SharedArenas::has_weights): the copies exist once, and
// after an update each rank rebuilds a part of them. shared_copies.cc describes how.
class HEARTH_API SharedCopies {
 public:
  SharedCopies(ParameterStore& parameters, const Partition& partition, Team team);
  ~SharedCopies();  // drops the shared copies; each rank makes its own at their next use
  SharedCopies(const SharedCopies&) = delete;
  SharedCopies& operator=(const SharedCopies&) = delete;

  // Before the update: which copies the ranks share from now on.
  void agree();
  // After the update of all ranks. When it returns, every rank may read the copies.
  void rebuild();

 private:
  struct Region {
    std::shared_ptr<std::byte> memory;
    std::size_t bytes = 0;
  };

  bool is_shared(const WeightCopy& copy) const;
  bool is_rebuilt_by_owner(const Parameter& parameter) const;

  ParameterStore& parameters_;
  const Partition& partition_;
  Team team_;
  std::vector<Region> regions_;
};

}  // namespace hearth::parallel

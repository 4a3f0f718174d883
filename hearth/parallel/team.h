#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hearth/base/api.h"
#include "hearth/comm/process_group.h"
#include "hearth/tensor/tensor.h"

namespace hearth::parallel {

// The processes that train one model together. Every member calls the same functions in the same order.
class HEARTH_API Team {
 public:
  Team();  // this process alone
  // `overlaps`: sending gradients while backward runs is faster than sending them afterwards.
  Team(std::shared_ptr<comm::ProcessGroup> group, int local_rank, bool overlaps = true);

  int rank() const { return group_->rank(); }
  int size() const { return group_->size(); }
  bool is_first() const { return rank() == 0; }               // logs, and writes files
  bool is_first_of_host() const { return local_rank_ == 0; }  // prepares files that the other ranks of its host read
  bool overlaps() const { return overlaps_; }
  comm::ProcessGroup& group() const { return *group_; }

  void barrier() const;
  bool any(bool mine) const;  // whether it is true for any member
  // All members get the values or text of rank 0.
  void broadcast(const Tensor& values) const;
  std::string broadcast(std::string text) const;
  double smallest(double value) const;  // of all members' values
  // On rank 0 the texts of all ranks, in order; empty on the others.
  std::vector<std::string> gather(std::string_view text) const;

  // Values that all members must share, by name. If some differ, all members throw an Error that says which.
  using NamedValues = std::vector<std::pair<std::string, std::string>>;
  void check_agreement(const NamedValues& facts) const;

  // Calls `make` on the first process of each host, then on the others, which find what the first put in a cache.
  template <class Make>
  auto first_of_host_first(const Make& make) const {
    if (!is_first_of_host()) barrier();
    auto made = make();
    if (is_first_of_host()) barrier();
    return made;
  }

 private:
  std::shared_ptr<comm::ProcessGroup> group_;
  int local_rank_ = 0;
  bool overlaps_ = true;
};

}  // namespace hearth::parallel

#pragma once

#include "hearth/ops/row_exchange.h"
#include "hearth/parallel/team.h"

namespace hearth::tasks {

// Rows of all ranks of a team; each has as many.
class TeamExchange final : public ops::RowExchange {
 public:
  explicit TeamExchange(parallel::Team team) : team_(std::move(team)) {}

  int rank() const override { return team_.rank(); }
  int size() const override { return team_.size(); }
  Tensor gathered(const Tensor& own) const override;
  Tensor sum_of_own(const Tensor& gathered) const override;

 private:
  parallel::Team team_;
};

}  // namespace hearth::tasks

#include "hearth/tasks/embedding/team_exchange.h"

#include "hearth/comm/process_group.h"

namespace hearth::tasks {

Tensor TeamExchange::gathered(const Tensor& own) const {
  Tensor all({own.rows() * size(), own.row_size()}, DType::f32);
  team_.group().all_gather(own.raw(), all.raw(), static_cast<std::size_t>(own.size()), DType::f32)->wait();
  return all;
}

Tensor TeamExchange::sum_of_own(const Tensor& gathered) const {
  Tensor own({gathered.rows() / size(), gathered.row_size()}, DType::f32);
  team_.group()
      .reduce_scatter(gathered.raw(), own.raw(), static_cast<std::size_t>(own.size()), DType::f32, comm::ReduceOp::sum)
      ->wait();
  return own;
}

}  // namespace hearth::tasks

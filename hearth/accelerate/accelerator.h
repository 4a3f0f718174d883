#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "hearth/accelerate/prepared.h"
#include "hearth/base/api.h"
#include "hearth/data/data_loader.h"
#include "hearth/nn/model.h"
#include "hearth/optim/lr_scheduler.h"
#include "hearth/optim/optimizer.h"
#include "hearth/parallel/team.h"

namespace hearth {

struct AcceleratorOptions {
  // "no", "fp16" or "bf16"; not given: what `hearth launch` or `accelerate launch` was told, otherwise "no".
  std::optional<std::string> mixed_precision = {};
  std::int64_t gradient_accumulation_steps = 1;
  std::uint64_t seed = 42;                  // of dropout
  std::optional<std::string> backend = {};  // gloo, shm, mpi or ccl; not given: the best for this launcher
};

// Runs a training loop of one's own in one process or in many without a change, as Accelerate does in Python: prepare()
// the model, the optimizer, the data and the schedule, call backward() here instead of on the loss, and
// gather_for_metrics() what the ranks predict. Constructing it joins the processes of this job (init_process_group).
class HEARTH_API Accelerator {
 public:
  explicit Accelerator(const AcceleratorOptions& options = {});
  Accelerator(const AcceleratorOptions& options, parallel::Team team);  // of a job that was joined already
  ~Accelerator();
  Accelerator(const Accelerator&) = delete;
  Accelerator& operator=(const Accelerator&) = delete;

  // Rank 0's weights go to all ranks.
  PreparedModel prepare(std::shared_ptr<nn::Model> model);
  // The model that it updates must have been prepared.
  PreparedOptimizer prepare(std::shared_ptr<optim::Optimizer> optimizer);
  // Its options are those of one process: each rank gets its share of the batches.
  DataLoader prepare(const DataLoader& loader);
  // Steps once per rank for every update: its steps were counted before the data was shared out.
  PreparedScheduler prepare(const optim::LrScheduler& schedule);
  // auto [model, optimizer, loader] = accelerator.prepare(...): several of them, from left to right.
  template <class... Objects>
  requires(sizeof...(Objects) > 1) auto prepare(Objects&&... objects) {
    return std::tuple{prepare(std::forward<Objects>(objects))...};
  }

  // The backward pass of a loss that a prepared model made. Gradients are averaged over the micro-batches and, in the
  // last one of an update, over the ranks.
  void backward(const Var& loss);
  // Whether the last backward() completed the gradients of an update. Otherwise steps of prepared optimizers and
  // schedules do nothing: more micro-batches follow.
  bool sync_gradients() const;

  // The values of all ranks, in the order of ranks, on every rank.
  template <class T>
  requires std::is_trivially_copyable_v<T> std::vector<T> gather(std::span<const T> values)
  const {
    const std::vector<std::byte> all = gather_bytes(std::as_bytes(values));
    std::vector<T> result(all.size() / sizeof(T));
    std::copy(all.begin(), all.end(), reinterpret_cast<std::byte*>(result.data()));
    return result;
  }
  template <class T>
  requires std::is_trivially_copyable_v<T> std::vector<T> gather(const std::vector<T>& values)
  const { return gather(std::span<const T>(values)); }
  // The same with as many values for each item of the batch, in the present round of a prepared loader; items that the
  // last round repeats are left out.
  template <class T>
  requires std::is_trivially_copyable_v<T> std::vector<T> gather_for_metrics(const std::vector<T>& values)
  const {
    std::vector<T> all = gather(values);
    all.resize(values_of_round(all.size()));
    return all;
  }

  bool is_main_process() const { return team().is_first(); }
  int process_index() const { return team().rank(); }
  int num_processes() const { return team().size(); }
  void wait_for_everyone() const { team().barrier(); }
  void print(const std::string& line) const;  // in the main process
  const parallel::Team& team() const;

 private:
  std::vector<std::byte> gather_bytes(std::span<const std::byte> bytes) const;
  std::size_t values_of_round(std::size_t gathered) const;

  std::shared_ptr<AcceleratorState> state_;
};

}  // namespace hearth

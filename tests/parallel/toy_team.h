// A world of threads, a group that notes what is asked of it, and a model whose gradients are known, with its training.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "hearth/autograd/tape.h"
#include "hearth/comm/thread_world.h"
#include "hearth/cpu/parallel.h"
#include "hearth/parallel/sharded_optimizer.h"
#include "hearth/parallel/team.h"
#include "tests/parallel/forwarding_group.h"

namespace hearth::parallel {

// A group that lives on elsewhere.
inline Team team_of(comm::ProcessGroup& group, int local_rank = 0, bool overlaps = true) {
  return Team(std::shared_ptr<comm::ProcessGroup>(&group, [](comm::ProcessGroup*) {}), local_rank, overlaps);
}

// Runs `body` once per rank, each with one compute thread.
inline void run_team(int size, const std::function<void(const Team&)>& body, bool shares_memory = false) {
  comm::ThreadWorldOptions options;
  options.shares_memory = shares_memory;
  cpu::set_num_threads(1);
  comm::run_threads(
      size, [&](comm::ProcessGroup& group) { body(team_of(group, group.rank())); }, options);
  cpu::set_num_threads(0);
}

class NotingGroup final : public comm::ForwardingGroup {
 public:
  NotingGroup(comm::ProcessGroup& inner, std::vector<std::string>& notes) : ForwardingGroup(inner), notes_(notes) {}

  comm::WorkPtr all_reduce(void* data, std::size_t count, DType type, comm::ReduceOp op) override {
    note("all_reduce", count, type);
    return ForwardingGroup::all_reduce(data, count, type, op);
  }
  comm::WorkPtr reduce_scatter(const void* whole, void* part, std::size_t count, DType type,
                               comm::ReduceOp op) override {
    note("reduce_scatter", count, type);
    return ForwardingGroup::reduce_scatter(whole, part, count, type, op);
  }
  comm::WorkPtr all_gather(const void* part, void* whole, std::size_t count, DType type) override {
    note("all_gather", count, type);
    return ForwardingGroup::all_gather(part, whole, count, type);
  }

 private:
  void note(const char* operation, std::size_t count, DType type) {
    notes_.push_back(fmt::format("{} {} {}", operation, count, name_of(type)));
  }

  std::vector<std::string>& notes_;
};

// Gradients averaged over the ranks, and the optimizer that applies them, sharded as the Trainer does it.
struct Training {
  Training(ParameterStore& parameters, const optim::OptimizerOptions& options, const Team& team = {},
           DataParallelOptions parallel = {})
      : ddp(parameters, team, completed(parallel, options, team)), optimizer(options, ddp) {}

  DistributedDataParallel ddp;
  ShardedOptimizer optimizer;

 private:
  static DataParallelOptions completed(DataParallelOptions parallel, const optim::OptimizerOptions& options,
                                       const Team& team) {
    parallel.partition.sharded |= shards_by_itself(team, options.name, parallel.wire);
    return parallel;
  }
};

// Parameters "w0", "w1", ..., used in that order. The gradient of w[k], element i, is seed * (k + 1) * (factor + i),
// added once a pass.
class ToyParameters {
 public:
  // The parameters of these names are frozen.
  explicit ToyParameters(const std::vector<std::int64_t>& sizes, const std::set<std::string>& frozen = {}) {
    for (std::size_t k = 0; k < sizes.size(); ++k)
      parameters_.push_back(&store.add({{"w" + std::to_string(k), Shape({sizes[k]})}}));
    store.freeze([&](std::string_view name) { return frozen.contains(std::string(name)); });
    store.allocate();
    for (const Parameter* parameter : parameters_)
      if (!parameter->trainable) std::fill_n(parameter->master.data<float>(), parameter->master.size(), 0.5f);
    for (std::int64_t i = 0; i < store.size(); ++i) store.master().data<float>()[i] = 0.01f * static_cast<float>(i % 7);
    store.mark_changed();
  }

  // A forward pass over the parameters for which `uses` holds; backward notes "grad K" where a list is given.
  Var forward(Tape& tape, float factor, const std::function<bool(std::size_t)>& uses = {},
              std::vector<std::string>* notes = nullptr) {
    Tensor one({}, DType::f32);
    *one.data<float>() = 1;
    Var value = tape.record(one, [](const Tensor&) {});
    for (std::size_t k = 0; k < parameters_.size(); ++k) {
      if ((uses && !uses(k)) || !parameters_[k]->trainable) continue;
      tape.use(*parameters_[k]);
      value = tape.record(one, [this, k, factor, notes, before = value](Tensor dy) {
        add_gradient(k, factor, dy.item());
        if (notes != nullptr) notes->push_back("grad " + std::to_string(k));
        before.grad() = std::move(dy);
      });
    }
    return value;
  }

  float gradient(std::size_t k, std::int64_t i) const { return parameters_[k]->grad.data<float>()[i]; }
  const Parameter& operator[](std::size_t k) const { return *parameters_[k]; }

  ParameterStore store;

 private:
  void add_gradient(std::size_t k, float factor, float seed) {
    Parameter& parameter = *parameters_[k];
    for (std::int64_t i = 0; i < parameter.grad.size(); ++i) {
      float& value = parameter.grad.data<float>()[i];
      value = (parameter.has_grad ? value : 0) + seed * static_cast<float>(k + 1) * (factor + static_cast<float>(i));
    }
    parameter.has_grad = true;
  }

  std::vector<Parameter*> parameters_;
};

}  // namespace hearth::parallel

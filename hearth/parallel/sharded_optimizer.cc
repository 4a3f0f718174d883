#include "hearth/parallel/sharded_optimizer.h"

#include "hearth/base/profiler.h"
#include "hearth/optim/moments.h"
#include "hearth/optim/optimizers.h"
#include "hearth/parallel/span_names.h"

namespace hearth::parallel {

bool shards_by_itself(const Team& team, std::string_view optimizer, DType wire) {
  return team.group().shares_memory() && wire == DType::f32 && optim::can_shard(optimizer);
}

ShardedOptimizer::ShardedOptimizer(const optim::OptimizerOptions& options, const DistributedDataParallel& gradients)
    : parameters_(gradients.parameters()),
      partition_(gradients.partition()),
      team_(gradients.team()),
      optimizer_(optim::make_optimizer(options, parameters_, partition_.own())) {
  if (gradients.shared() != nullptr && gradients.shared()->has_weights())
    shared_copies_.emplace(parameters_, partition_, team_);
}

void ShardedOptimizer::step(double lr, float grad_scale) {
  if (shared_copies_) shared_copies_->agree();
  optimizer_->step(lr, grad_scale);
  if (shared_copies_) {
    wait_for_updates();
    shared_copies_->rebuild();
  } else if (partition_.sharded()) {
    gather_weights();
  }
}

void ShardedOptimizer::wait_for_updates() {
  const Span span(kGatheringWeights);
  team_.barrier();
}

void ShardedOptimizer::gather_weights() {
  const Span span(kGatheringWeights);
  float* const weights = parameters_.master().data<float>();
  struct Gathering {
    optim::Interval bucket;
    Tensor mine, whole;  // undefined if the arena itself is sent and received into
    comm::WorkPtr work;
  };
  std::vector<Gathering> gatherings;
  for (const optim::Interval& bucket : partition_.buckets()) {
    const std::int64_t part = partition_.part_size(bucket);
    const optim::Interval own = partition_.own(bucket);
    Gathering gathering;
    gathering.bucket = bucket;
    const float* from = weights + own.begin;
    float* to = weights + bucket.begin;
    if (!partition_.is_even(bucket)) {  // the last bucket before a table, a table, or the very last
      gathering.mine = Tensor({part}, DType::f32);
      gathering.whole = Tensor({part * team_.size()}, DType::f32);
      gathering.mine.slice(0, own.size()).copy_from(parameters_.master().slice(own.begin, own.end));
      gathering.mine.slice(own.size(), part).fill_zero();
      from = gathering.mine.data<float>();
      to = gathering.whole.data<float>();
    }
    gathering.work = team_.group().all_gather(from, to, static_cast<std::size_t>(part), DType::f32);
    gatherings.push_back(std::move(gathering));
  }
  for (const Gathering& gathering : gatherings) {
    gathering.work->wait();
    if (gathering.whole.defined())
      parameters_.master()
          .slice(gathering.bucket.begin, gathering.bucket.end)
          .copy_from(gathering.whole.slice(0, gathering.bucket.size()));
  }
}

Tensor ShardedOptimizer::gathered(const Tensor& moments) const {
  Tensor arena;
  const DType type = moments.type();
  if (team_.is_first()) arena = Tensor({parameters_.size()}, type);
  std::int64_t at = 0;  // index of the moments that are sent next
  for (const optim::Interval& bucket : partition_.buckets()) {
    const std::int64_t part = partition_.part_size(bucket), own = partition_.own(bucket).size();
    const Tensor sent = Tensor::zeros({part}, type);
    sent.slice(0, own).copy_from(moments.slice(at, at + own));
    at += own;
    const Tensor whole({team_.is_first() ? part * team_.size() : 0}, type);
    team_.group().gather(sent.raw(), whole.raw(), static_cast<std::size_t>(part), type, 0)->wait();
    if (team_.is_first()) arena.slice(bucket.begin, bucket.end).copy_from(whole.slice(0, bucket.size()));
  }
  return arena;
}

optim::Optimizer::State ShardedOptimizer::state() const {
  if (!partition_.sharded()) return optimizer_->state();
  optim::Optimizer::State state;
  for (const auto& [name, moments] : optimizer_->moments()) {
    const Tensor arena = gathered(moments);
    if (!team_.is_first()) continue;
    for (auto& view : optim::named_views(parameters_, arena, name)) state.push_back(std::move(view));
  }
  return state;
}

void ShardedOptimizer::load_state(std::int64_t steps, std::int64_t moment_steps,
                                  const std::function<void(const optim::Optimizer::State&)>& read) {
  earlier_steps_ = steps - moment_steps;
  optimizer_->set_steps(moment_steps);
  const auto read_and_send = [&](const optim::Optimizer::State& arrays) {
    if (team_.is_first()) read(arrays);
    for (const auto& [name, values] : arrays) team_.broadcast(values);
  };
  if (!partition_.sharded()) return read_and_send(optimizer_->state());
  for (const auto& [name, moments] : optimizer_->moments()) {
    const Tensor arena = Tensor::zeros({parameters_.size()}, moments.type());
    read_and_send(optim::named_views(parameters_, arena, name));
    std::int64_t at = 0;
    for (const optim::Interval& own : partition_.own()) {
      moments.slice(at, at + own.size()).copy_from(arena.slice(own.begin, own.end));
      at += own.size();
    }
  }
}

}  // namespace hearth::parallel

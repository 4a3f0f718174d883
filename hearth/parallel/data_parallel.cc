#include "hearth/parallel/data_parallel.h"

#include <cmath>
#include <cstring>

#include "hearth/base/profiler.h"
#include "hearth/kernels/optimizer.h"
#include "hearth/optim/moments.h"

namespace hearth::parallel {
namespace {

std::vector<optim::Interval> intervals_of(const std::vector<Parameter*>& parameters) {
  std::vector<optim::Interval> intervals;
  for (const Parameter* parameter : parameters) intervals.push_back({parameter->offset, parameter->arena_end()});
  return intervals;
}

}  // namespace

DataParallel::DataParallel(ParameterStore& parameters, const optim::OptimizerOptions& optimizer, Team team,
                           const DataParallelOptions& options)
    : parameters_(parameters),
      team_(std::move(team)),
      tables_(large_tables(parameters, options.partition.bucket_bytes)),
      partition_(parameters.size(), team_.rank(), team_.size(), options.partition, intervals_of(tables_)),
      reducer_(parameters, team_, partition_, options.wire, tables_),
      optimizer_(optim::make_optimizer(optimizer, parameters, partition_.own())) {}

void DataParallel::backward(Tape& tape, const Var& loss, float seed, std::span<const double> reports) {
  reports_.assign(reports.begin(), reports.end());
  if (team_.size() > 1) reporting_ = team_.group().all_reduce(reports_.data(), reports_.size(), DType::f64);
  reducer_.backward(tape, loss, seed);
}

std::span<const double> DataParallel::finish() {
  reducer_.finish();
  if (reporting_ != nullptr) reporting_->wait();
  return reports_;
}

double DataParallel::grad_norm() const {
  const Span span("gradient norm");
  double squares = 0;
  for (const optim::Interval& own : partition_.own())
    squares += kernels::sum_of_squares(own.size(), parameters_.grad().data<float>() + own.begin);
  if (partition_.sharded()) team_.group().all_reduce(&squares, 1, DType::f64)->wait();
  return std::sqrt(squares);
}

void DataParallel::step(double lr, float grad_scale) {
  optimizer_->step(lr, grad_scale);
  if (partition_.sharded()) share_weights();
}

void DataParallel::share_weights() {
  const Span span("sharing weights");
  float* const weights = parameters_.master().data<float>();
  std::vector<comm::WorkPtr> works;
  for (const optim::Interval& bucket : partition_.buckets()) {
    const auto part = static_cast<std::size_t>(partition_.part_size(bucket));
    if (partition_.is_even(bucket)) {
      works.push_back(
          team_.group().all_gather(weights + partition_.own(bucket).begin, weights + bucket.begin, part, DType::f32));
    } else {  // the last one before a table, or of all
      const optim::Interval own = partition_.own(bucket);
      std::vector<float> mine(part), whole(part * static_cast<std::size_t>(team_.size()));
      std::copy(weights + own.begin, weights + own.end, mine.begin());
      team_.group().all_gather(mine.data(), whole.data(), part, DType::f32)->wait();
      std::copy(whole.begin(), whole.begin() + bucket.size(), weights + bucket.begin);
    }
  }
  for (const comm::WorkPtr& work : works) work->wait();
}

Tensor DataParallel::gathered(const Tensor& moments) const {
  Tensor arena;
  if (team_.is_first()) arena = Tensor({parameters_.size()}, DType::f32);
  const float* mine = moments.data<float>();
  for (const optim::Interval& bucket : partition_.buckets()) {
    const std::int64_t part = partition_.part_size(bucket), own = partition_.own(bucket).size();
    const Tensor sent = Tensor::zeros({part}, DType::f32);
    std::memcpy(sent.raw(), mine, static_cast<std::size_t>(own) * sizeof(float));
    mine += own;
    const Tensor whole({team_.is_first() ? part * team_.size() : 0}, DType::f32);
    team_.group().gather(sent.raw(), whole.raw(), static_cast<std::size_t>(part), DType::f32, 0)->wait();
    if (team_.is_first()) arena.slice(bucket.begin, bucket.end).copy_from(whole.slice(0, bucket.size()));
  }
  return arena;
}

optim::Optimizer::State DataParallel::state() const {
  if (!partition_.sharded()) return optimizer_->state();
  optim::Optimizer::State state;
  for (const auto& [name, moments] : optimizer_->moments()) {
    const Tensor arena = gathered(moments);
    if (!team_.is_first()) continue;
    for (auto& view : optim::named_views(parameters_, arena, name)) state.push_back(std::move(view));
  }
  return state;
}

void DataParallel::load_state(std::int64_t steps, const std::function<void(const optim::Optimizer::State&)>& read) {
  optimizer_->set_steps(steps);
  if (!partition_.sharded()) return read(optimizer_->state());
  for (const auto& [name, moments] : optimizer_->moments()) {
    const Tensor arena = Tensor::zeros({parameters_.size()}, DType::f32);
    read(optim::named_views(parameters_, arena, name));
    std::int64_t at = 0;
    for (const optim::Interval& own : partition_.own()) {
      moments.slice(at, at + own.size()).copy_from(arena.slice(own.begin, own.end));
      at += own.size();
    }
  }
}

}  // namespace hearth::parallel

#include "hearth/parallel/distributed_data_parallel.h"

#include <algorithm>
#include <cmath>

#include "hearth/base/check.h"
#include "hearth/base/profiler.h"
#include "hearth/kernels/update/optimizer.h"
#include "hearth/parallel/broadcast_weights.h"

namespace hearth::parallel {
namespace {

std::vector<optim::Interval> intervals_of(const std::vector<Parameter*>& parameters) {
  std::vector<optim::Interval> intervals;
  for (const Parameter* parameter : parameters) intervals.push_back({parameter->offset, parameter->arena_end()});
  return intervals;
}

// The sum of squares of the gradients in an interval of the arena. For embeddings only rows that may differ from zero
// are read, and, with `uses_squares`, nothing is read for parameters whose sum of squares is known.
double sum_of_squares(const ParameterStore& parameters, const optim::Interval& interval, bool uses_squares) {
  const float* const grads = parameters.grad().data<float>();
  double squares = 0;
  std::int64_t next = interval.begin;  // what comes before it is counted
  for (const Parameter* parameter : parameters.in_arena_order()) {
    const std::int64_t begin = parameter->offset, end = begin + parameter->shape.size();
    const bool is_known = uses_squares && parameter->grad_squares.has_value();
    if ((parameter->grad_rows.is_all() && !is_known) || begin < next || end > interval.end) continue;
    squares += kernels::sum_of_squares(begin - next, grads + next);
    squares += is_known ? *parameter->grad_squares
                        : kernels::sum_of_squares_of_rows(parameter->grad_rows.list(), parameter->grad.row_size(),
                                                          grads + begin);
    next = end;
  }
  return squares + kernels::sum_of_squares(interval.end - next, grads + next);
}

ParameterStore& allocated(ParameterStore& parameters) {
  parameters.check_allocated();
  return parameters;
}

}  // namespace

DistributedDataParallel::DistributedDataParallel(ParameterStore& parameters, Team team,
                                                 const DataParallelOptions& options)
    : parameters_(allocated(parameters)),
      team_(std::move(team)),
      partition_(parameters.size(), team_.rank(), team_.size(), options.partition,
                 intervals_of(large_tables(parameters))),
      shared_(options.wire == DType::f32 ? SharedArenas::make(parameters, team_, partition_.sharded()) : nullptr),
      reducer_(parameters, team_, partition_, options.wire, large_tables(parameters), shared_.get()) {}

void DistributedDataParallel::broadcast_weights() const { parallel::broadcast_weights(parameters_, team_); }

// A second sum over the ranks would count the first one several times.
void DistributedDataParallel::check_not_reduced() {
  const auto has_grad = [](const Parameter* parameter) { return parameter->has_grad; };
  check(!reduced_ || std::ranges::none_of(parameters_.trainable(), has_grad),
        "[backward] the gradients are averaged over the ranks already: call zero_grad() after each update, and "
        "accumulate micro-batches with backward_without_sync() or gradient_accumulation_steps");
  reduced_ = false;
}

void DistributedDataParallel::backward(const Var& loss, float loss_grad) {
  check_not_reduced();
  start_backward(loss.require_tape(), loss, loss_grad / static_cast<float>(team_.size()), {});
  finish();
}

void DistributedDataParallel::backward_without_sync(const Var& loss, float loss_grad) {
  check_not_reduced();
  Tape& tape = loss.require_tape();
  tape.check_belongs(parameters_);
  tape.backward(loss, loss_grad / static_cast<float>(team_.size()));
}

void DistributedDataParallel::start_backward(Tape& tape, const Var& loss, float loss_grad,
                                             std::span<const double> numbers) {
  sums_.assign(numbers.begin(), numbers.end());
  if (team_.size() > 1 && !sums_.empty()) summing_ = team_.group().all_reduce(sums_.data(), sums_.size(), DType::f64);
  reducer_.backward(tape, loss, loss_grad);
}

std::span<const double> DistributedDataParallel::finish() {
  reducer_.finish();
  reduced_ = team_.size() > 1;
  if (summing_ != nullptr) summing_->wait();
  return sums_;
}

double DistributedDataParallel::grad_norm() const { return grad_norm(false); }

// With several ranks the gradients are sums over them, which backward has not seen.
double DistributedDataParallel::grad_norm_after_backward() const { return grad_norm(team_.size() == 1); }

double DistributedDataParallel::grad_norm(bool uses_squares) const {
  const Span span("gradient norm");
  double squares = 0;
  for (const optim::Interval& own : partition_.own()) squares += sum_of_squares(parameters_, own, uses_squares);
  if (partition_.sharded()) team_.group().all_reduce(&squares, 1, DType::f64)->wait();
  return std::sqrt(squares);
}

}  // namespace hearth::parallel

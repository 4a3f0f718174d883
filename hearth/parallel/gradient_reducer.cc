// How gradients get from backward to the other ranks.
//
// Terms:
//   arena      the f32 gradients of all parameters in one array, in the order in which backward completes them.
//   bucket     an interval of the arena that is sent in one operation; parallel/partition.h cuts them.
//   own part   what this rank updates: a part of each bucket if the optimizer is sharded, otherwise all of it.
//   pending_   per bucket, how many parameters in it still wait for their gradient.
//   next_      the first bucket that was not sent yet. Buckets are sent strictly in order: collectives must be called
//              in the same order on every rank.
//   under_way_ sent buckets whose result has not been taken over, oldest first. "Landing" one waits for the operation
//              and writes the sums into the arena.
//   table      a large embedding. Its bucket is sent row-wise if few rows are used.
//
// One step:
//   begin()    starts the max all-reduce of each table's row mask, counts pending_, and completes the gradients of
//              parameters that this pass does not use.
//   ready()    is called by the tape when a parameter's gradient is complete. It lowers pending_ and, if the team
//              overlaps, sends every bucket whose turn has come and that is complete (launch_complete).
//   launch()   sends one bucket: all_reduce, or reduce_scatter if sharded. f32 buckets are reduced in the arena itself;
//              a bf16 wire dtype, or a bucket that does not divide evenly among the ranks, goes through a copy.
//   finish()   sends the rest and lands everything.
// Ranks that share their arenas (shared_) send nothing. In finish() all ranks meet, each sums its own part from the
// gradients of all ranks into its own arena (sum_shared), and all meet again. Then, unless the optimizer is sharded,
// each rank copies the other parts from their owners. Sending during backward would be no faster: summing is memory
// traffic of the very cores that compute, and takes as long later. The loss is divided by the number of ranks
// beforehand (training_step.cc), so a sum over ranks is the average.

#include "hearth/parallel/gradient_reducer.h"

#include <algorithm>
#include <iterator>

#include "hearth/base/check.h"
#include "hearth/base/profiler.h"
#include "hearth/kernels/rows/elementwise.h"
#include "hearth/kernels/rows/embedding.h"
#include "hearth/parallel/span_names.h"

namespace hearth::parallel {
namespace {

// The most buckets under way that are copies. If that many are waiting, backward is ahead of the network and loses
// nothing by waiting for the first.
constexpr std::ptrdiff_t kMostCopies = 4;

constexpr std::size_t kLargeTableBytes = std::size_t{4} << 20;

void wait_for(const comm::WorkPtr& work) {
  const Span span(kWaitingForGradients);
  work->wait();
}

}  // namespace

std::vector<Parameter*> large_tables(const ParameterStore& parameters) {
  std::vector<Parameter*> tables;
  for (Parameter* parameter : parameters.in_arena_order())
    if (parameter->is_embedding && parameter->grad.bytes() >= kLargeTableBytes) tables.push_back(parameter);
  return tables;
}

GradientReducer::GradientReducer(ParameterStore& parameters, Team team, const Partition& partition, DType wire,
                                 const std::vector<Parameter*>& tables, const SharedArenas* shared)
    : parameters_(parameters), team_(std::move(team)), partition_(partition), wire_(wire), shared_(shared) {
  for (Parameter* table : tables) tables_.push_back({table, {}, nullptr});
  check(wire == DType::f32 || wire == DType::bf16, "[GradientReducer] gradients are sent as fp32 or bf16, not as {}",
        name_of(wire));
}

void GradientReducer::backward(Tape& tape, const Var& loss, float loss_grad) {
  begin(tape);
  tape.backward(loss, loss_grad, [this](Parameter& parameter) { ready(parameter); });
}

void GradientReducer::begin(Tape& tape) {
  tape.check_belongs(parameters_);  // a foreign parameter has no bucket here
  next_ = 0;
  sent_bytes_ = 0;
  if (team_.size() > 1) agree_on_rows(tape);
  pending_.assign(partition_.buckets().size(), 0);
  for (Parameter* parameter : parameters_.trainable()) {
    if (tape.uses(*parameter)) {
      add_pending(*parameter, 1);
    } else {
      complete(*parameter);
    }
  }
  if (overlaps()) launch_complete();
}

// Earlier micro-batches of the step have used rows too: those are in grad_rows already. All ranks send all rows of a
// gradient that the program of one of them may write to.
void GradientReducer::agree_on_rows(Tape& tape) {
  for (Table& table : tables_) {
    Parameter& parameter = *table.parameter;
    RowSet rows = RowSet::none(parameter.shape[0]);
    if (parameter.has_grad) rows.add(parameter.grad_rows);
    if (tape.uses(parameter)) rows.add(tape.used_rows(parameter));
    if (parameter.grad_is_exposed) rows.add_all();
    table.used = rows.flags(parameter.shape[0]);
    table.agreeing = team_.group().all_reduce(table.used.data(), table.used.size(), DType::u8, comm::ReduceOp::max);
  }
}

void GradientReducer::ready(Parameter& parameter) {
  complete(parameter);
  add_pending(parameter, -1);
  if (overlaps()) launch_complete();
}

void GradientReducer::complete(Parameter& parameter) {
  parameter.complete_grad();
  if (team_.size() > 1) parameter.grad_rows.add_all();  // the sums may have rows that this rank did not use
}

void GradientReducer::add_pending(const Parameter& parameter, int count) {
  const std::vector<optim::Interval>& buckets = partition_.buckets();
  const std::int64_t end = parameter.offset + parameter.shape.size();
  const auto first = std::ranges::upper_bound(buckets, parameter.offset, {}, &optim::Interval::end);
  for (auto bucket = first; bucket != buckets.end() && bucket->begin < end; ++bucket)
    pending_[static_cast<std::size_t>(bucket - buckets.begin())] += count;
}

void GradientReducer::launch_complete() {
  while (next_ < pending_.size() && pending_[next_] == 0) launch(partition_.buckets()[next_++]);
  while (!under_way_.empty() && under_way_.front().work->done()) take_over_first();
}

void GradientReducer::launch(const optim::Interval& bucket) {
  if (team_.size() == 1) return;
  const Span span("sending gradients");
  if (const Table* const table = table_of(bucket)) {
    wait_for(table->agreeing);
    if (sends_rows(*table)) return launch_rows(*table, bucket);
  }
  const std::int64_t part = partition_.part_size(bucket);
  const bool sharded = partition_.sharded(), copies = wire_ != DType::f32 || (sharded && !partition_.is_even(bucket));
  const auto is_copy = [](const Sending& other) { return other.sent.defined(); };
  while (copies && std::ranges::count_if(under_way_, is_copy) >= kMostCopies) take_over_first();
  Sending sending;
  sending.bucket = bucket;
  float* const gradients = parameters_.grad().data<float>() + bucket.begin;
  void* whole = gradients;
  if (copies) {
    sending.sent = Tensor({sharded ? part * team_.size() : bucket.size()}, wire_);
    kernels::convert(DType::f32, gradients, wire_, sending.sent.raw(), bucket.size());
    sending.sent.slice(bucket.size(), sending.sent.size()).fill_zero();
    whole = sending.sent.raw();
  }
  if (sharded) {
    if (copies) sending.received = Tensor({part}, wire_);
    void* const sums = copies ? sending.received.raw() : gradients + team_.rank() * part;
    sending.work =
        team_.group().reduce_scatter(whole, sums, static_cast<std::size_t>(part), wire_, comm::ReduceOp::sum);
  } else {
    sending.received = sending.sent;
    sending.work = team_.group().all_reduce(whole, static_cast<std::size_t>(bucket.size()), wire_);
  }
  sent_bytes_ += static_cast<std::size_t>(bucket.size()) * size_of(wire_);
  under_way_.push_back(std::move(sending));
}

// The table whose gradient the bucket is; null if it is no table's.
const GradientReducer::Table* GradientReducer::table_of(const optim::Interval& bucket) const {
  const auto table = std::ranges::find(tables_, bucket.begin, [](const Table& t) { return t.parameter->offset; });
  return table == tables_.end() ? nullptr : &*table;
}

// Used rows are all-reduced, whole tables of a sharded optimizer reduce-scattered, which moves half as many bytes.
bool GradientReducer::sends_rows(const Table& table) const {
  return std::ranges::count(table.used, 1) * (partition_.sharded() ? 2 : 1) < std::ssize(table.used);
}

void GradientReducer::launch_rows(const Table& table, const optim::Interval& bucket) {
  table.parameter->grad_rows = RowSet(table.used);
  Sending sending;
  sending.bucket = bucket;
  sending.table = table.parameter;
  sending.rows = table.parameter->grad_rows.list();
  const Tensor& grad = table.parameter->grad;
  sending.sent = Tensor({std::ssize(sending.rows), grad.row_size()}, wire_);
  kernels::embedding_forward(wire_, sending.sent.rows(), grad.row_size(), sending.rows.data(), grad.data<float>(),
                             sending.sent.raw(), false);
  sending.work = team_.group().all_reduce(sending.sent.raw(), static_cast<std::size_t>(sending.sent.size()), wire_);
  sent_bytes_ += sending.sent.bytes();
  under_way_.push_back(std::move(sending));
}

// Rows sent from a table come back as sums: zero the table's gradient, then add the rows.
void GradientReducer::take_over_first() {
  const Sending& sending = under_way_.front();
  wait_for(sending.work);
  if (sending.table != nullptr) {
    const Tensor& grad = sending.table->grad;
    sending.table->clear_grad();
    sending.table->grad_rows.add(sending.rows);
    kernels::embedding_backward(wire_, sending.sent.rows(), grad.row_size(), sending.rows.data(), sending.sent.raw(),
                                grad.rows(), -1, grad.data<float>());
  }
  if (sending.received.defined()) {
    const optim::Interval own = partition_.own(sending.bucket);
    kernels::convert(wire_, sending.received.raw(), DType::f32, parameters_.grad().data<float>() + own.begin,
                     own.size());
  }
  under_way_.pop_front();
}

void GradientReducer::finish() {
  if (shared_ == nullptr) {
    launch_complete();
  } else {
    next_ = static_cast<std::size_t>(std::ranges::find_if(pending_, [](int count) { return count > 0; }) -
                                     pending_.begin());
  }
  check(next_ == partition_.buckets().size(),
        "[GradientReducer] only {} of {} buckets are complete: finish() was called before backward ended", next_,
        partition_.buckets().size());
  while (!under_way_.empty()) take_over_first();
  if (shared_ != nullptr) sum_shared();
}

void GradientReducer::sum_shared() {
  const auto meet = [&] { wait_for(team_.group().barrier()); };
  for (const Table& table : tables_) {
    wait_for(table.agreeing);
    if (has_unused_rows(table)) table.parameter->grad_rows = RowSet(table.used);
  }
  meet();  // the gradients of all ranks are complete
  const Span span(kSummingGradients);
  for (int rank = 0; rank < team_.size(); ++rank) {
    const std::vector<optim::Interval> used = used_of_part(rank);
    if (rank == team_.rank()) shared_->sum(used);
    for (const optim::Interval& one : used) sent_bytes_ += static_cast<std::size_t>(one.size()) * sizeof(float);
  }
  meet();  // all sums are complete, and nobody reads this rank's gradients any longer
  if (partition_.sharded()) return;
  for (int rank = 0; rank < team_.size(); ++rank)
    if (rank != team_.rank()) shared_->copy_from(rank, used_of_part(rank));
  meet();
}

bool GradientReducer::has_unused_rows(const Table& table) { return std::ranges::count(table.used, 0) > 0; }

// The gradients that `rank` sums: its part of each bucket, without table rows that no rank has used, which are zero.
std::vector<optim::Interval> GradientReducer::used_of_part(int rank) const {
  std::vector<optim::Interval> intervals;
  for (const optim::Interval& bucket : partition_.buckets()) {
    const optim::Interval part = partition_.part(bucket, rank);
    const Table* const table = table_of(bucket);
    if (table == nullptr || !has_unused_rows(*table)) {
      intervals.push_back(part);
      continue;
    }
    const std::int64_t columns = table->parameter->grad.row_size();
    for (std::int64_t row = (part.begin - bucket.begin) / columns; row * columns < part.end - bucket.begin; ++row) {
      if (row >= std::ssize(table->used) || table->used[static_cast<std::size_t>(row)] == 0) continue;
      const std::int64_t begin = bucket.begin + row * columns;
      intervals.push_back({std::max(part.begin, begin), std::min(part.end, begin + columns)});
    }
  }
  return intervals;
}

}  // namespace hearth::parallel

#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "hearth/autograd/tape.h"
#include "hearth/parallel/partition.h"
#include "hearth/parallel/team.h"

namespace hearth::parallel {

// Tables as large as a bucket, from which rows are looked up, in the arenas' order: each is to be a bucket of its own.
std::vector<Parameter*> large_tables(const ParameterStore& parameters, std::size_t bucket_bytes);

// Sums gradients over the team, bucket by bucket while backward runs: gradients complete from the arena's beginning to
// its end, and a bucket is sent as soon as it and all before it are complete, so in the same order on every rank.
// Of a table only those rows are sent that some rank used. Which they are the ranks tell each other before backward:
// it is the last gradient to complete, and nothing is left to hide its sending behind.
class GradientReducer {
 public:
  // `wire`: the format that gradients are sent in, f32 or bf16. `tables`: parameters that are a bucket each.
  GradientReducer(ParameterStore& parameters, Team team, const Partition& partition, DType wire,
                  const std::vector<Parameter*>& tables = {});

  // The backward pass of a step's last micro-batch. Gradients that the step never began become zero.
  void backward(Tape& tape, const Var& loss, float seed);
  // Waits for the others. Then the gradients that this rank owns are sums; the rest of the arena means nothing.
  void finish();

  std::size_t launched() const { return next_; }  // buckets of this step

 private:
  struct Sending {
    optim::Interval bucket;
    comm::WorkPtr work;
    Tensor sent, received;  // undefined where the arena itself serves
    Parameter* table = nullptr;
    std::vector<std::int64_t> rows;  // of the table, which `sent` holds
  };
  struct Table {
    Parameter* parameter;
    std::vector<std::uint8_t> is_used;  // by row, by any rank
    comm::WorkPtr telling;
  };

  void begin(Tape& tape);
  void ready(Parameter& parameter);
  void complete(Parameter& parameter);
  void add_pending(const Parameter& parameter, int count);
  void launch_complete();
  void tell_rows(Tape& tape);
  void launch(const optim::Interval& bucket);
  void launch_rows(const Table& table, const optim::Interval& bucket);
  void land_first();
  void land_rows(const Sending& sending);

  ParameterStore& parameters_;
  Team team_;
  const Partition& partition_;
  DType wire_;
  std::vector<Table> tables_;
  std::vector<int> pending_;  // by bucket: parameters whose gradient is to come
  std::size_t next_ = 0;      // the next bucket to send
  std::deque<Sending> under_way_;
};

}  // namespace hearth::parallel

#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "hearth/autograd/tape.h"
#include "hearth/parallel/partition.h"
#include "hearth/parallel/team.h"

namespace hearth::parallel {

// Tables from which rows are looked up and of which sending only some pays, in the arenas' order: each is to be a
// bucket of its own.
std::vector<Parameter*> large_tables(const ParameterStore& parameters);

// Sums gradients over the team, bucket by bucket while backward runs: gradients complete from the arena's beginning to
// its end, and a bucket is sent as soon as it and all before it are complete, so in the same order on every rank. A
// team that gains nothing from that sends them when backward has ended. Of a table only those rows are sent that some
// rank used, where they are few. Which they are the ranks tell each other before backward: it is the last gradient to
// complete, and nothing is left to hide its sending behind.
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
  std::size_t launched_bytes() const { return sent_bytes_; }

 private:
  struct Sending {
    optim::Interval bucket;
    Tensor sent, received;       // undefined where the arena itself serves
    Parameter* table = nullptr;  // of which `sent` holds the `rows`
    std::vector<std::int32_t> rows;
    comm::WorkPtr work;
  };
  struct Table {
    Parameter* parameter;
    std::vector<std::uint8_t> used;  // by row: 1 where any rank uses it
    comm::WorkPtr telling;
  };

  void begin(Tape& tape);
  void ready(Parameter& parameter);
  void complete(Parameter& parameter);
  void add_pending(const Parameter& parameter, int count);
  void launch_complete();
  void tell_rows(Tape& tape);
  void launch(const optim::Interval& bucket);
  bool sends_rows(const Table& table) const;
  void launch_rows(const Table& table, const optim::Interval& bucket);
  void land_first();

  ParameterStore& parameters_;
  Team team_;
  const Partition& partition_;
  DType wire_;
  std::vector<Table> tables_;
  std::vector<int> pending_;  // by bucket: parameters whose gradient is to come
  std::size_t next_ = 0;      // the next bucket to send
  std::size_t sent_bytes_ = 0;
  std::deque<Sending> under_way_;
};

}  // namespace hearth::parallel
